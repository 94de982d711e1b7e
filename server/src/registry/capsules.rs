//! When a capsule of an open thread is written, and what it holds. A part that cannot be kept is logged and left out.

use super::thread::OpenThread;
use rawr_core::event::{
    CompactionOrigin, CompactionReportStatus, CompactionReported, HostAction, Phase, Trigger,
};
use rawr_core::thread::{Thread, Turn};
use rawr_core::units::{SequenceId, Timestamp, Tokens, stable_hash};
use rawr_core::{Event, Record};
use rawr_storage::capsule::{
    CapsuleMessage, CapsuleNotes, CapsuleState, CapsuleStore, CapsuleTranscript, StoredCapsule,
};
use rawr_storage::redact::redact_counting;
use rawr_storage::store::Disk;
use std::path::Path;

/// Only the hash of longer notes is kept.
const SCRATCH_KEPT: usize = 64 << 10;

/// The reason for a capsule.
struct PendingCapsule {
    id: String,
    trigger: Trigger,
    sequence: Option<SequenceId>,
    at: Timestamp,
    /// Tokens in the context before the compaction.
    context: Option<Tokens>,
}

impl OpenThread {
    /// Captures the state before these records are stored, if they order a compaction or report that the host began
    /// one.
    pub(super) fn keep_capsules(&mut self, records: &[Record]) {
        if !self.is_owned() {
            return;
        }
        let disk = self.store().disk();
        let owed = records.iter().filter_map(|record| owed(self, disk, record));
        let capsule = |owed: PendingCapsule| {
            let (capsule, at) = (owed.id.clone(), owed.at);
            StoredCapsule::new(capsule, self.thread().id.clone(), at, self.kept(owed))
        };
        let capsules: Vec<_> = owed.map(capsule).collect();
        self.batch.capsules.extend(capsules);
    }

    fn kept(&self, owed: PendingCapsule) -> CapsuleState {
        let PendingCapsule { trigger, sequence, context, .. } = owed;
        let thread = self.thread();
        let running = thread.sequence().filter(|running| Some(&running.id) == sequence.as_ref());
        let packet = match running {
            Some(running) => running.packet.clone(),
            None => thread.fresh_packet().cloned(),
        };
        let mut kept = CapsuleState {
            trigger,
            sequence,
            host: thread.session.host.clone(),
            cwd: thread.session.cwd.clone(),
            model: thread.session.model.clone(),
            window: thread.gauge.window,
            context,
            transcript: thread.session.transcript.as_deref().map(position),
            last_turn: turns(thread).find(|turn| turn.end.is_some()).map(|turn| turn.id.clone()),
            inside_turn: turns(thread)
                .next()
                .filter(|turn| turn.is_open())
                .map(|turn| turn.id.clone()),
            turns_ended: thread.turns_ended,
            packet,
            scratch: self.notes_kept(),
            plan: thread.known.plan.clone(),
            directives: thread.known.directives.clone(),
            repo: thread.known.repo.clone(),
            repo_seen_at: thread.known.repo_seen_at,
            held: thread
                .held
                .iter()
                .filter(|held| held.action.is_none())
                .map(|held| CapsuleMessage { id: held.id.clone(), text: held.text.clone() })
                .collect(),
        };
        cleaned(&mut kept);
        kept
    }

    fn notes_kept(&self) -> Option<CapsuleNotes> {
        let thread = &self.thread().id;
        let notes = self
            .notes()
            .read(None)
            .inspect_err(
                |error| tracing::warn!(%thread, %error, "left the notes out of the capsule"),
            )
            .ok()
            .filter(|notes| !notes.text.is_empty())?;
        let content = (notes.text.len() <= SCRATCH_KEPT).then(|| notes.text.clone());
        Some(CapsuleNotes {
            file: notes.file,
            hash: format!("{:016x}", stable_hash(&notes.text)),
            content,
        })
    }
}

/// The compaction that needs a capsule: one that the host or a person is asked for, unless it is a retry, or one that
/// the host begins or reports late.
fn owed(open: &OpenThread, disk: &Disk, record: &Record) -> Option<PendingCapsule> {
    let thread = open.machine.thread();
    match &record.event {
        Event::ActionIssued(issued) => match &issued.kind {
            HostAction::Compact { trigger, local: false, .. } => Some(PendingCapsule {
                id: issued.sequence.to_string(),
                trigger: trigger.clone(),
                sequence: Some(issued.sequence.clone()),
                at: record.at,
                context: thread.gauge.context,
            }),
            _ => None,
        },
        // A manual compaction is preceded by no action.
        Event::PacketTaken(taken) if thread.phase() == Phase::AwaitingCompaction => {
            Some(PendingCapsule {
                id: taken.sequence.to_string(),
                trigger: thread.sequence()?.trigger.clone(),
                sequence: Some(taken.sequence.clone()),
                at: record.at,
                context: thread.gauge.context,
            })
        }
        Event::CompactionReported(reported) => hosts_own(open, disk, reported, record.at),
        _ => None,
    }
}

fn hosts_own(
    open: &OpenThread,
    disk: &Disk,
    reported: &CompactionReported,
    at: Timestamp,
) -> Option<PendingCapsule> {
    let trigger = match reported.origin {
        CompactionOrigin::Rawr => return None,
        CompactionOrigin::Host => Trigger::Host,
        CompactionOrigin::User => Trigger::User,
    };
    let thread = open.machine.thread();
    let last = thread.compactions.last.as_ref();
    let (before, is_too_late, context) = match reported.status {
        CompactionReportStatus::Started => (last, false, thread.gauge.context),
        CompactionReportStatus::Completed => {
            (thread.compactions.earlier.back(), true, last.and_then(|last| last.before))
        }
        CompactionReportStatus::Failed => return None,
    };
    // The id contains the time of the previous compaction, so that it is the same at the start, at the end and after a
    // restart.
    let before = before.map_or(0, |compaction| compaction.at.0);
    let id = format!("h{:08x}", stable_hash(&format!("{}/{before}", thread.id)) as u32);
    let is_kept = is_too_late && CapsuleStore::on(disk.clone(), &open.folder).has(&id);
    (!is_kept).then_some(PendingCapsule { id, trigger, sequence: None, at, context })
}

/// Newest first, without the turns of compactions.
fn turns(thread: &Thread) -> impl Iterator<Item = &Turn> {
    let compacts = |turn: &Turn| {
        let action = turn.action.as_ref().and_then(|action| thread.action(action));
        action.is_some_and(|issued| matches!(issued.kind, HostAction::Compact { .. }))
    };
    thread.turns.iter().rev().filter(move |turn| !compacts(turn))
}

fn position(path: &str) -> CapsuleTranscript {
    let bytes = Path::new(path).metadata().ok().map(|about| about.len());
    CapsuleTranscript { path: path.to_owned(), bytes }
}

/// Most texts were redacted when they were reported. Held messages and the records of older releases were not.
fn cleaned(kept: &mut CapsuleState) {
    let clean = |text: &mut String| {
        let (cleaned, secrets) = redact_counting(text);
        if secrets > 0 {
            *text = cleaned.into_owned();
        }
    };
    kept.packet.iter_mut().for_each(|packet| clean(&mut packet.text));
    kept.plan.iter_mut().for_each(|step| clean(&mut step.step));
    kept.directives.iter_mut().for_each(|directive| clean(&mut directive.text));
    kept.held.iter_mut().for_each(|held| clean(&mut held.text));
}
