//! The desk's side of capsules: what is kept of a thread before its history is rewritten, and when. That something
//! cannot be kept stops nothing; it is told in the log.

use super::settings::{ConfigScope, configure};
use super::{Desk, DeskError, Open, Setup};
use crate::capsule::{Capsule, Capsules, Held, Item, Kept, Scratch, Transcript};
use crate::config::RepoObservation;
use crate::prompts::PacketFrontMatter;
use crate::recall::Source;
use crate::redact::redact_counting;
use crate::store::{Disk, Store};
use rawr_core::event::{
    Action, CompactionOrigin, CompactionReported, CompactionStatus, Phase, Trigger,
};
use rawr_core::thread::{Thread, Turn};
use rawr_core::units::{SequenceId, ThreadId, Timestamp, Tokens, stable_hash};
use rawr_core::{Event, Record, scratch};
use serde_json::Value;
use std::path::{Path, PathBuf};

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

impl Desk {
    /// Before these records are stored: with them an order to compact leaves, or a compaction of the host's own begins.
    pub(super) fn keep_capsules(&mut self, id: &ThreadId, records: &[Record]) {
        let Some(open) = self.threads.get(id).filter(|open| open.owner.is_some()) else { return };
        let disk = self.store.disk();
        let owed = records.iter().filter_map(|record| owed(open, disk, record));
        let capsule = |owed: PendingCapsule| {
            let (capsule, at) = (owed.id.clone(), owed.at);
            Capsule::new(capsule, id.clone(), at, self.kept(open, id, owed))
        };
        let capsules: Vec<_> = owed.map(capsule).collect();
        if let Some(open) = self.threads.get_mut(id) {
            open.capsules.extend(capsules);
        }
    }

    fn kept(&self, open: &Open, id: &ThreadId, owed: PendingCapsule) -> Kept {
        let PendingCapsule { trigger, sequence, context, .. } = owed;
        let thread = open.machine.thread();
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
            scratch: self.notes_kept(id),
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

    fn notes_kept(&self, id: &ThreadId) -> Option<Scratch> {
        let notes = self
            .scratch_read(id, None)
            .inspect_err(
                |error| tracing::warn!(thread = %id, %error, "notes are left out of the capsule"),
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

    /// To be read where it may take its time.
    pub fn capsules(&self, id: &ThreadId) -> Result<Capsules, DeskError> {
        Ok(capsules(self.store.disk(), &self.open_thread(id)?.folder))
    }

    /// What there is to search: of one thread that is open, or of all. Threads at rest are only read once it is called,
    /// which takes its time.
    pub fn sources(
        &self,
        id: Option<&ThreadId>,
    ) -> Result<impl FnOnce() -> Vec<Source> + Send + use<>, DeskError> {
        let open = match id {
            Some(id) => vec![source_of_open(self.open_thread(id)?)],
            None => self.threads.values().map(source_of_open).collect(),
        };
        let mut rest = if id.is_none() { self.store.thread_ids()? } else { Vec::new() };
        rest.retain(|id| !self.threads.contains_key(id));
        let (store, setup) = (self.store.clone(), self.setup.clone());
        let front_matter = self.prompts.set().packet_front_matter().clone();
        Ok(move || {
            let resting = rest.iter().filter_map(|id| at_rest(&store, &setup, &front_matter, id));
            open.into_iter().chain(resting).collect()
        })
    }

    /// What the thread's repository looks like is looked up in this folder, and so.
    pub fn repository(&self, id: &ThreadId) -> Result<(PathBuf, RepoObservation), DeskError> {
        let open = self.open_thread(id)?;
        Ok((PathBuf::from(&open.machine.thread().cwd), open.config.repo_observation))
    }

    /// Keeps the history of a host that keeps none itself, once the result is called, which takes its time. Returns how
    /// many secrets were taken out of it.
    pub fn attach_history(
        &self,
        id: &ThreadId,
        capsule: &str,
        mut history: Vec<Item>,
    ) -> Result<impl FnOnce() -> Result<usize, DeskError> + Send + use<>, DeskError> {
        if self.open_thread(id)?.owner.is_none() {
            return Err(DeskError::NotOwner(id.clone()));
        }
        let capsules = self.capsules(id)?;
        if !capsules.has(capsule) {
            return Err(DeskError::UnknownName { what: "capsule", name: capsule.to_owned() });
        }
        let capsule = capsule.to_owned();
        Ok(move || {
            let fields = history.iter_mut().flat_map(Item::values_mut);
            let secrets = fields.map(without_secrets).sum();
            capsules.attach(&capsule, &history)?;
            Ok(secrets)
        })
    }
}

fn capsules(disk: &Disk, thread_folder: &Path) -> Capsules {
    Capsules::on(disk.clone(), thread_folder)
}

fn source_of_open(open: &Open) -> Source {
    let template = &open.config.policy.scratch_file_template;
    source(open.machine.thread(), &open.folder, template)
}

/// A thread that cannot be read does not hide the others.
fn at_rest(
    store: &Store,
    setup: &Setup,
    front_matter: &PacketFrontMatter,
    id: &ThreadId,
) -> Option<Source> {
    let read = store.glance(id).inspect_err(|error| {
        tracing::warn!(thread = %id, %error, "left out of the search");
    });
    let thread = read.ok()?;
    let (config, _) = configure(setup, front_matter, &ConfigScope::recorded(&thread));
    Some(source(&thread, &store.folder(id), &config.policy.scratch_file_template))
}

fn source(thread: &Thread, folder: &Path, scratch_file_template: &str) -> Source {
    let agent = thread.agent.as_deref();
    Source {
        thread: thread.id.clone(),
        folder: folder.to_owned(),
        cwd: PathBuf::from(&thread.cwd),
        scratch_file: scratch::file(scratch_file_template, &thread.id, agent),
        transcript: thread.transcript.as_ref().map(PathBuf::from),
    }
}

/// A compaction that is asked for, of the host or of a person, unless it is the second try of one; or one that the host
/// begins, or tells of too late.
fn owed(open: &Open, disk: &Disk, record: &Record) -> Option<PendingCapsule> {
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
    open: &Open,
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
    let is_kept = is_too_late && capsules(disk, &open.folder).has(&id);
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

/// Returns how many there were.
fn without_secrets(value: &mut Value) -> usize {
    match value {
        Value::String(text) => {
            let (cleaned, secrets) = redact_counting(text);
            if secrets > 0 {
                *text = cleaned.into_owned();
            }
            secrets
        }
        Value::Array(values) => values.iter_mut().map(without_secrets).sum(),
        Value::Object(fields) => fields.values_mut().map(without_secrets).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
