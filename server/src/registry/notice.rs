//! What leaves the registry for clients, once it is stored. It knows no client and no wire.

use super::held::with_original;
use super::{Listener, OpenThread, spans};
use crate::config::Config;
use crate::query::ThreadOverview;
use crate::store::{Damage, DecisionFile, StoredDecision};
use rawr_core::assess::Decision;
use rawr_core::machine::{self, HeadsUp};
use rawr_core::thread::Issued;
use rawr_core::units::{InputId, ThreadId, Timestamp};
use rawr_core::{Effect, Thread};
use std::path::Path;

/// What a client may hear, in the order in which it happened.
#[derive(Debug)]
pub enum Notice<'n> {
    /// The core has something to tell about an open thread.
    Thread {
        thread: &'n Thread,
        config: &'n Config,
        now: Timestamp,
        notice: &'n machine::Notice,
        /// The banner that stands now, where the notice is that something changed.
        heads_up: Option<HeadsUp>,
    },
    /// A watched thread has come, or another process runs it than before.
    Listed { overview: &'n ThreadOverview },
    /// A watched thread's files are gone.
    Gone { thread: &'n ThreadId },
    /// A decision was stored.
    Decided { thread: &'n Thread, decision: &'n Decision },
    /// The thread's host has an action to carry out.
    Perform { thread: &'n Thread, issued: &'n Issued },
    /// An agent's notes were written to.
    Notes {
        thread: &'n ThreadId,
        /// Relative to the thread's folder.
        file: &'n str,
        path: &'n Path,
        /// `None` where they are gone.
        bytes: Option<u64>,
        /// The client that added to them; `None` for the agent, and for every other process.
        by: Option<&'n str>,
    },
    /// Something on disk was damaged, and was dealt with.
    Damaged { thread: &'n ThreadId, damage: &'n Damage },
    /// A thread's files cannot be written. Its sequence stops, and its host is to deliver the `held` messages.
    StoreFailed { thread: &'n ThreadId, error: &'n str, held: &'n [InputId] },
    /// They can be written again.
    StoreRecovered { thread: &'n ThreadId },
}

/// Tells what the effects say. Their records are stored.
pub(super) fn publish(
    open: &mut OpenThread,
    tell: &mut Listener,
    effects: Vec<Effect>,
    now: Timestamp,
) {
    for effect in effects {
        let thread = open.machine.thread();
        match effect {
            Effect::Record(_) => {}
            Effect::Decided(decision) => {
                if decision.is_worth_storing(thread) {
                    store_decision(&mut open.decisions, &decision);
                    tell(Notice::Decided { thread: open.machine.thread(), decision: &decision });
                }
            }
            Effect::Perform(issued) => {
                let issued = with_original(&open.folder, issued);
                spans::performing(&issued, || tell(Notice::Perform { thread, issued: &issued }));
            }
            Effect::Tell(notice) => {
                let is_change = notice == machine::Notice::Changed;
                let heads_up = is_change.then(|| open.heads_up()).flatten();
                let config = &open.config;
                tell(Notice::Thread { thread, config, now, notice: &notice, heads_up });
            }
        }
    }
}

/// A record of why; the events carry the truth, so that a disk that is full here stops nothing.
fn store_decision(decisions: &mut DecisionFile, decision: &Decision) {
    let mut line = serde_json::to_vec(&StoredDecision::of(decision)).unwrap_or_default();
    line.push(b'\n');
    if let Err(error) = decisions.append(&line) {
        tracing::error!(%error, "a decision could not be stored");
    }
}

pub(super) fn tell_damage(tell: &mut Listener, thread: &ThreadId, damage: &[Damage]) {
    for damage in damage {
        tell(Notice::Damaged { thread, damage });
    }
}
