//! What the registry sends to clients once it is stored. Knows no client and no wire format.

use super::held::with_original;
use super::spans;
use super::thread::OpenThread;
use crate::query::ThreadOverview;
use rawr_core::assess::DecisionRecord;
use rawr_core::event::{HostAction, JudgmentSource};
use rawr_core::machine::{self, HeadsUpBanner};
use rawr_core::thread::Issued;
use rawr_core::units::{InputId, ThreadId, Timestamp};
use rawr_core::{Effect, Thread};
use rawr_settings::config::Config;
use rawr_storage::store::{DecisionFile, LogDamage, StoredDecision};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// Gets the notices of all threads.
pub type NoticeListener = Arc<dyn Fn(RegistryNotice<'_>) + Send + Sync>;

/// A notification, in the order in which things happened.
#[derive(Debug)]
pub enum RegistryNotice<'n> {
    /// A notice of the core about an open thread.
    Thread {
        /// The thread, after the notice.
        thread: &'n Thread,
        /// The thread's configuration.
        config: &'n Config,
        /// The time of the notice.
        now: Timestamp,
        /// What the core reports.
        notice: &'n machine::Notice,
        /// The current banner, if the notice is that something changed.
        heads_up: Option<HeadsUpBanner>,
    },
    /// A watched thread is new, or another process runs it than before.
    Listed {
        /// The thread's overview.
        overview: &'n ThreadOverview,
    },
    /// The files of a watched thread are gone.
    Gone { thread: &'n ThreadId },
    /// A decision was stored.
    Decided { thread: &'n Thread, decision: &'n DecisionRecord },
    /// The thread's host has to perform an action.
    Perform {
        thread: &'n Thread,
        /// The action.
        issued: &'n Issued,
    },
    /// For the first time in this home, a model on the person's login is asked.
    FirstQuestion { thread: &'n Thread },
    /// An agent's notes have changed.
    Notes {
        /// A thread of this agent.
        thread: &'n ThreadId,
        /// Relative to the thread's folder.
        file: &'n str,
        /// The absolute path.
        path: &'n Path,
        /// Size in bytes. `None` if the file is gone.
        bytes: Option<u64>,
        /// The client that appended to them. `None` for the agent and for other processes.
        by: Option<&'n str>,
    },
    /// A file was damaged, and rawr has worked around it.
    Damaged {
        thread: &'n ThreadId,
        /// What is damaged.
        damage: &'n LogDamage,
    },
    /// A thread's files cannot be written. Its sequence stops, and its host has to deliver the `held` messages.
    StoreFailed {
        thread: &'n ThreadId,
        /// The error, for people.
        error: &'n str,
        /// The messages that the host must deliver.
        held: &'n [InputId],
    },
    /// The files can be written again.
    StoreRecovered { thread: &'n ThreadId },
}

/// Sends the notices of effects whose records are stored.
pub(super) fn publish(open: &mut OpenThread, effects: Vec<Effect>, now: Timestamp) {
    let listener = Arc::clone(&open.context.listener);
    for effect in effects {
        let thread = open.machine.thread();
        match effect {
            Effect::Record(_) => {}
            Effect::Decided(decision) => {
                if decision.is_worth_storing(thread) {
                    store_decision(&mut open.decisions, &decision);
                    listener(RegistryNotice::Decided {
                        thread: open.machine.thread(),
                        decision: &decision,
                    });
                }
            }
            Effect::Perform(issued) => {
                let issued = with_original(&open.folder, *issued);
                let asks_host =
                    matches!(issued.kind, HostAction::Judge { by: JudgmentSource::Host, .. });
                if asks_host && is_first_question(&open.folder) {
                    listener(RegistryNotice::FirstQuestion { thread });
                }
                spans::performing(&issued, || {
                    listener(RegistryNotice::Perform { thread, issued: &issued })
                });
            }
            Effect::Tell(notice) => {
                let is_change = notice == machine::Notice::Changed;
                let heads_up = is_change.then(|| open.heads_up()).flatten();
                if is_change {
                    open.shows_banner = heads_up.is_some();
                }
                let thread = open.machine.thread();
                let config = open.config();
                listener(RegistryNotice::Thread { thread, config, now, notice: &notice, heads_up });
            }
        }
    }
}

/// Whether it is the first question of this home, as far as a file can tell.
fn is_first_question(thread: &Path) -> bool {
    let Some(home) = thread.ancestors().nth(2) else { return false };
    let stamp = home.join("judge-asked.stamp");
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&stamp) {
        Ok(_) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => {
            tracing::warn!(%error, stamp = %stamp.display(), "failed to note the first question");
            false
        }
    }
}

/// Failures are only logged: decisions are explanations, and the events hold the truth.
fn store_decision(decisions: &mut DecisionFile, decision: &DecisionRecord) {
    let mut line = serde_json::to_vec(&StoredDecision::of(decision)).unwrap_or_default();
    line.push(b'\n');
    if let Err(error) = decisions.append(&line) {
        tracing::error!(%error, "failed to store a decision");
    }
}

pub(super) fn report_damage(listener: &NoticeListener, thread: &ThreadId, damage: &[LogDamage]) {
    for damage in damage {
        listener(RegistryNotice::Damaged { thread, damage });
    }
}
