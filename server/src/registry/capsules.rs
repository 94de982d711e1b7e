//! When a capsule of an open thread is written, and what goes into it. If part of it cannot be kept, that is logged and stops
//! nothing.

use super::OpenThread;
use crate::capsule::{Capsule, Capsules, Held, Kept, Scratch, Transcript};
use crate::redact::redact_counting;
use crate::store::Disk;
use rawr_core::event::{
    Action, CompactionOrigin, CompactionReported, CompactionStatus, Phase, Trigger,
};
use rawr_core::thread::{Thread, Turn};
use rawr_core::units::{SequenceId, Timestamp, Tokens, stable_hash};
use rawr_core::{Event, Record};
use std::path::Path;

/// Notes longer than this are known by their hash only.
const SCRATCH_KEPT: usize = 64 << 10;

/// What a capsule is to be written for.
struct PendingCapsule {
    id: String,
    trigger: Trigger,
    sequence: Option<SequenceId>,
    at: Timestamp,
    /// Tokens in the context before.
    context: Option<Tokens>,
}

impl OpenThread {
    /// Keeps the state before these records are stored: with them an order to compact leaves, or a compaction of the host's
    /// own begins.
    pub(super) fn keep_capsules(&mut self, disk: &Disk, records: &[Record]) {
        if !self.is_owned() {
            return;
        }
        let owed = records.iter().filter_map(|record| owed(self, disk, record));
        let capsule = |owed: PendingCapsule| {
            let (capsule, at) = (owed.id.clone(), owed.at);
            Capsule::new(capsule, self.thread().id.clone(), at, self.kept(owed))
        };
        let capsules: Vec<_> = owed.map(capsule).collect();
        self.capsules.extend(capsules);
    }

    fn kept(&self, owed: PendingCapsule) -> Kept {
        let PendingCapsule { trigger, sequence, context, .. } = owed;
        let thread = self.thread();
        let running =
            thread.sequence.as_ref().filter(|running| Some(&running.id) == sequence.as_ref());
        let packet = match running {
            Some(running) => running.packet.clone(),
            None => thread.fresh_packet().cloned(),
        };
        let mut kept = Kept {
            trigger,
            sequence,
            host: thread.host.clone(),
            cwd: thread.cwd.clone(),
            model: thread.model.clone(),
            window: thread.window,
            context,
            transcript: thread.transcript.as_deref().map(position),
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
                .map(|held| Held { id: held.id.clone(), text: held.text.clone() })
                .collect(),
        };
        cleaned(&mut kept);
        kept
    }

    fn notes_kept(&self) -> Option<Scratch> {
        let thread = &self.thread().id;
        let notes = self
            .notes()
            .read(None)
            .inspect_err(
                |error| tracing::warn!(%thread, %error, "notes are left out of the capsule"),
            )
            .ok()
            .filter(|notes| !notes.text.is_empty())?;
        let content = (notes.text.len() <= SCRATCH_KEPT).then(|| notes.text.clone());
        Some(Scratch {
            file: notes.file,
            hash: format!("{:016x}", stable_hash(&notes.text)),
            content,
        })
    }
}

/// A compaction that is asked for, of the host or of a person, unless it is the second try of one; or one that the host
/// begins, or tells of too late.
fn owed(open: &OpenThread, disk: &Disk, record: &Record) -> Option<PendingCapsule> {
    let thread = open.machine.thread();
    match &record.event {
        Event::ActionIssued(issued) => match &issued.kind {
            Action::Compact { trigger, local: false, .. } => Some(PendingCapsule {
                id: issued.sequence.to_string(),
                trigger: trigger.clone(),
                sequence: Some(issued.sequence.clone()),
                at: record.at,
                context: thread.context,
            }),
            _ => None,
        },
        // No order comes before a person's compaction.
        Event::PacketTaken(taken) if thread.phase() == Phase::AwaitingCompaction => {
            Some(PendingCapsule {
                id: taken.sequence.to_string(),
                trigger: thread.sequence.as_ref()?.trigger.clone(),
                sequence: Some(taken.sequence.clone()),
                at: record.at,
                context: thread.context,
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
    let last = thread.last_compaction.as_ref();
    let (before, is_too_late, context) = match reported.status {
        CompactionStatus::Started => (last, false, thread.context),
        CompactionStatus::Completed => {
            (thread.compactions.back(), true, last.and_then(|last| last.before))
        }
        CompactionStatus::Failed => return None,
    };
    // Named after the compaction before it: the same at its start and at its end, and after a restart.
    let before = before.map_or(0, |compaction| compaction.at.0);
    let id = format!("h{:08x}", stable_hash(&format!("{}/{before}", thread.id)) as u32);
    let is_kept = is_too_late && Capsules::on(disk.clone(), &open.folder).has(&id);
    (!is_kept).then_some(PendingCapsule { id, trigger, sequence: None, at, context })
}

/// The newest first, without those of compactions.
fn turns(thread: &Thread) -> impl Iterator<Item = &Turn> {
    let compacts = |turn: &Turn| {
        let action = turn.action.as_ref().and_then(|action| thread.action(action));
        action.is_some_and(|issued| matches!(issued.kind, Action::Compact { .. }))
    };
    thread.turns.iter().rev().filter(move |turn| !compacts(turn))
}

fn position(path: &str) -> Transcript {
    let bytes = Path::new(path).metadata().ok().map(|about| about.len());
    Transcript { path: path.to_owned(), bytes }
}

/// Most of it was cleaned when it was reported; messages that wait and older releases' records were not.
fn cleaned(kept: &mut Kept) {
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
