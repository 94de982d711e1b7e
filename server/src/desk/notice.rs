//! What the desk lets the world hear, once it is stored. It knows no client and no wire.

use super::held::with_original;
use super::{Listener, Open, spans};
use crate::config::Config;
use crate::problem::Problem;
use crate::store::{Damage, DecisionFile, StoredDecision};
use rawr_core::assess::Decision;
use rawr_core::breaker::Hold;
use rawr_core::event::{
    Answer, CompactionReported, JudgeSource, Responded, SequenceEnded, Trigger,
};
use rawr_core::machine::{self, HeadsUp, PacketChange};
use rawr_core::policy::{PacketAuthor, Tier};
use rawr_core::thread::Issued;
use rawr_core::units::{InputId, RequestId, SequenceId, ThreadId, Timestamp};
use rawr_core::{Effect, Thread};
use std::path::Path;

/// What the world should hear, in the order in which it happened.
#[derive(Debug)]
pub enum Notice<'n> {
    /// A decision was stored.
    Decided {
        thread: &'n Thread,
        decision: &'n Decision,
    },
    Perform {
        thread: &'n Thread,
        issued: &'n Issued,
    },
    HeadsUp {
        thread: &'n Thread,
        heads_up: &'n HeadsUp,
    },
    Changed {
        thread: &'n Thread,
        config: &'n Config,
        now: Timestamp,
    },
    Compaction {
        thread: &'n Thread,
        report: &'n CompactionReported,
        sequence: Option<&'n SequenceId>,
        trigger: Option<&'n Trigger>,
    },
    JudgmentAsked {
        thread: &'n Thread,
        request: &'n RequestId,
        tier: Option<Tier>,
    },
    JudgmentAnswered {
        thread: &'n Thread,
        request: &'n RequestId,
        tier: Option<Tier>,
        source: JudgeSource,
        answer: &'n Answer,
    },
    /// At another client.
    Responded {
        thread: &'n Thread,
        responded: &'n Responded,
    },
    Packet {
        thread: &'n Thread,
        sequence: &'n SequenceId,
        author: PacketAuthor,
        change: PacketChange,
        by: Option<&'n str>,
    },
    /// An agent's notes were written to.
    Notes {
        thread: &'n ThreadId,
        /// Relative to the thread's folder.
        file: &'n str,
        path: &'n Path,
        /// `None`: they are gone.
        bytes: Option<u64>,
        /// The client that added to them; `None` for the agent, and for everybody elsewhere.
        by: Option<&'n str>,
    },
    SequenceEnded {
        thread: &'n Thread,
        ended: &'n SequenceEnded,
    },
    InputRefused {
        thread: &'n Thread,
        input: &'n InputId,
        error: &'n str,
    },
    GuardBypassed {
        thread: &'n Thread,
    },
    /// The breaker holds back what it did not before.
    HeldBack {
        thread: &'n Thread,
        hold: &'n Hold,
    },
    /// Something on disk was not as it should be, and was dealt with.
    Damaged {
        thread: &'n ThreadId,
        damage: &'n Damage,
    },
    /// A thread's files cannot be written. Its sequence stands still, and `held` is its host's to deliver.
    StoreFailed {
        thread: &'n ThreadId,
        error: &'n str,
        held: &'n [InputId],
    },
    /// They can be written again.
    StoreRecovered {
        thread: &'n ThreadId,
    },
    Problems {
        problems: &'n [Problem],
    },
    /// A prompt file was edited.
    PromptChanged {
        /// Of a decision prompt: its path, as a tier names it.
        name: &'n str,
        version: &'n str,
        problems: &'n [Problem],
    },
    /// A configuration file was edited.
    ConfigChanged {
        /// Of whatever has no project and no model.
        config: &'n Config,
        /// Of every open thread, too.
        problems: &'n [Problem],
    },
}

/// Everything is stored; now the world may hear of it.
pub(super) fn publish(open: &mut Open, tell: &mut Listener, effects: Vec<Effect>, now: Timestamp) {
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
            Effect::Tell(machine::Notice::HeadsUp(heads_up)) => {
                tell(Notice::HeadsUp { thread, heads_up: &heads_up })
            }
            Effect::Tell(machine::Notice::Changed) => {
                tell(Notice::Changed { thread, config: &open.config, now })
            }
            Effect::Tell(machine::Notice::Compaction { report, sequence, trigger }) => {
                tell(Notice::Compaction {
                    thread,
                    report: &report,
                    sequence: sequence.as_ref(),
                    trigger: trigger.as_ref(),
                })
            }
            Effect::Tell(machine::Notice::JudgmentAsked { request, tier }) => {
                tell(Notice::JudgmentAsked { thread, request: &request, tier });
            }
            Effect::Tell(machine::Notice::JudgmentAnswered { request, tier, source, answer }) => {
                let (request, answer) = (&request, &answer);
                tell(Notice::JudgmentAnswered { thread, request, tier, source, answer });
            }
            Effect::Tell(machine::Notice::Responded(responded)) => {
                tell(Notice::Responded { thread, responded: &responded });
            }
            Effect::Tell(machine::Notice::Packet { sequence, author, change, by }) => {
                let (sequence, by) = (&sequence, by.as_deref());
                tell(Notice::Packet { thread, sequence, author, change, by });
            }
            Effect::Tell(machine::Notice::SequenceEnded(ended)) => {
                tell(Notice::SequenceEnded { thread, ended: &ended });
            }
            Effect::Tell(machine::Notice::InputRefused { input, error }) => {
                tell(Notice::InputRefused { thread, input: &input, error: &error });
            }
            Effect::Tell(machine::Notice::HeldBack(hold)) => {
                tell(Notice::HeldBack { thread, hold: &hold });
            }
            Effect::Tell(machine::Notice::GuardBypassed) => tell(Notice::GuardBypassed { thread }),
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
