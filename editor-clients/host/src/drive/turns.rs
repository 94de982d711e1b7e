//! The running turns and the running compaction, as the driver knows them.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rawr_protocol::{Purpose, TurnOrigin};

use crate::host::NextRequest;

/// The running turns and the running compaction.
#[derive(Debug, Default)]
pub(super) struct TurnLedger {
    running: HashMap<String, DriverTurn>,
    pub(super) compaction: Option<RequestedCompaction>,
    /// The last known size of the context, in tokens.
    pub(super) context_tokens: Option<u64>,
    pub(super) review_mode: bool,
    /// What rawr started runs on although nothing waits for its answer.
    pub(super) overdue: Option<OverdueRequest>,
    /// When such a request was given up. The host has ended nothing since.
    given_up_at: Option<Instant>,
    /// The turns that were given up.
    given_up: HashSet<String>,
    /// A turn of the agent's work failed.
    pub(super) has_failed: bool,
    /// The last turn did not fit the model's window.
    pub(super) is_refused: bool,
}

/// A request of rawr that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnRequest {
    /// The action of a compaction, or the turn.
    pub(super) id: String,
    /// Only the end of its turn is still to come.
    pub(super) is_answered: bool,
}

/// How far it is with a request that nothing waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OverdueRequest {
    pub(super) request: OwnRequest,
    pub(super) stage: OverdueStage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OverdueStage {
    /// Nothing has waited for it since then.
    Since(Instant),
    /// The host was asked to stop it.
    Interrupted(Instant),
    /// The end is up to the people who share the conversation.
    Left,
}

/// For notifications that are on their way.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the end of an answered turn may take.
const END: Duration = Duration::from_secs(30);
/// How long a host may take to end an interrupted turn.
pub(super) const WIND_UP: Duration = Duration::from_secs(5);

impl OverdueRequest {
    /// Until when it may run.
    pub(super) fn until(&self) -> Option<Instant> {
        match self.stage {
            OverdueStage::Since(at) if self.request.is_answered => Some(at + END),
            OverdueStage::Since(at) => Some(at + PATIENCE),
            OverdueStage::Interrupted(at) => Some(at + WIND_UP),
            OverdueStage::Left => None,
        }
    }
}

/// A running turn.
#[derive(Debug, Clone, Default)]
pub(super) struct DriverTurn {
    pub(super) started_by: StartedBy,
    /// The actions that end with this turn.
    pub(super) actions: Vec<String>,
    pub(super) last_agent_message: Option<String>,
    /// The model has answered a request of it.
    pub(super) is_answered: bool,
    /// The agent's last message since its last sampling request ended.
    pub(super) said: Option<String>,
    pub(super) stand: TurnPause,
    /// Unanswered texts from rawr in this turn.
    pub(super) steered: Vec<SteeredText>,
    /// The agent had unfinished work when rawr asked it for something else.
    pub(super) owes_work: bool,
    /// A person has written into it.
    pub(super) is_joined: bool,
}

/// Whether a turn is paused between its sampling requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TurnPause {
    /// The agent samples or runs a tool.
    #[default]
    AtWork,
    /// A sampling request ended, and the host waits until the driver resumes it.
    Paused { needs_follow_up: bool },
}

/// A text from rawr in a turn that rawr did not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SteeredText {
    pub(super) action_id: String,
    /// A sampling request has started since it was added. Before that, an answer is not an answer to this text.
    pub(super) is_seen: bool,
}

/// What started a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum StartedBy {
    /// A user message.
    Prompt { text: String },
    /// A held user message that an action delivered.
    Delivery { text: String },
    /// A request of rawr to the agent, such as for a packet.
    Request,
    /// A handoff, with which the agent continues its work.
    Handoff,
    /// The host itself.
    #[default]
    Host,
    /// A requested compaction. It is reported as a compaction, never as a turn.
    Compaction,
}

/// A compaction that an action requested.
#[derive(Debug, Clone)]
pub(super) struct RequestedCompaction {
    pub(super) action_id: String,
    pub(super) tokens_before: Option<u64>,
    /// The history is rewritten; the end of its turn is still pending.
    pub(super) done: bool,
}

/// The opening tag of a packet.
const PACKET: &str = "<continuation_packet>";

impl StartedBy {
    pub(super) fn origin(&self) -> TurnOrigin {
        match self {
            Self::Prompt { .. } | Self::Delivery { .. } => TurnOrigin::User,
            Self::Request | Self::Handoff => TurnOrigin::Synthetic,
            Self::Host | Self::Compaction => TurnOrigin::Host,
        }
    }

    /// The user's message, if it has words.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Prompt { text } | Self::Delivery { text } => {
                Some(text.as_str()).filter(|text| !text.is_empty())
            }
            Self::Request | Self::Handoff | Self::Host | Self::Compaction => None,
        }
    }

    /// What a text with this purpose starts.
    pub(super) fn injection(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Handoff | Purpose::Notice => Self::Handoff,
            Purpose::HeadsUp | Purpose::ScratchWrite | Purpose::PacketRequest => Self::Request,
        }
    }

    /// Whether rawr asked the host for it.
    pub(super) fn is_asked_for(&self) -> bool {
        self.is_by_rawr() || matches!(self, Self::Delivery { .. } | Self::Compaction)
    }

    pub(super) fn is_by_rawr(&self) -> bool {
        matches!(self, Self::Request | Self::Handoff)
    }
}

impl TurnLedger {
    /// Whether a turn or a compaction runs, so that no other can start.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty() || self.compaction.is_some()
    }

    /// The running turn that the sidecar is told of. A compaction's turn is not reported as a turn.
    pub(super) fn running_turn(&self) -> Option<&str> {
        let told = |(_, turn): &(&String, &DriverTurn)| turn.started_by != StartedBy::Compaction;
        self.running.iter().find(told).map(|(turn_id, _)| turn_id.as_str())
    }

    pub(super) fn begin(&mut self, turn_id: &str, started_by: StartedBy, action: Option<&str>) {
        let turn = self.running.entry(turn_id.to_owned()).or_default();
        turn.started_by = started_by;
        turn.actions.extend(action.map(str::to_owned));
    }

    /// `None` if the turn has ended: hosts may report events late.
    pub(super) fn running(&mut self, turn_id: &str) -> Option<&mut DriverTurn> {
        self.running.get_mut(turn_id)
    }

    pub(super) fn carries_action(&self, turn_id: &str) -> bool {
        self.running.get(turn_id).is_some_and(|turn| !turn.actions.is_empty())
    }

    pub(super) fn end(&mut self, turn_id: &str) -> DriverTurn {
        self.running.remove(turn_id).unwrap_or_default()
    }

    /// Whether a turn is paused and will sample again.
    pub(super) fn is_between_requests(&self) -> bool {
        self.running.values().any(|turn| turn.is_paused() && turn.goes_on())
    }

    /// A compaction or a request of rawr to the agent that runs alone. `None` while the agent works for a person, or after a
    /// person has joined.
    pub(super) fn own_request(&self) -> Option<OwnRequest> {
        let is_own = |turn: &DriverTurn| match turn.started_by {
            StartedBy::Compaction => true,
            StartedBy::Request => !turn.is_joined,
            _ => false,
        };
        if !self.running.values().all(is_own) {
            return None;
        }
        if let Some(RequestedCompaction { action_id, done, .. }) = &self.compaction {
            return Some(OwnRequest { id: action_id.clone(), is_answered: *done });
        }
        let (turn_id, turn) = self.running.iter().next()?;
        Some(OwnRequest { id: turn_id.clone(), is_answered: turn.actions.is_empty() })
    }

    /// Whether a turn runs that rawr asked the host for.
    pub(super) fn runs_what_was_asked(&self) -> bool {
        self.running.values().any(|turn| turn.started_by.is_asked_for())
    }

    pub(super) fn overdue_until(&self) -> Option<Instant> {
        self.overdue.as_ref()?.until()
    }

    /// Gives up what runs, because the host reports no end. Returns the turns that the sidecar knows, and the compaction.
    pub(super) fn give_up(&mut self, now: Instant) -> (Vec<String>, Option<RequestedCompaction>) {
        self.overdue = None;
        self.given_up_at = Some(now);
        self.given_up.extend(self.running.keys().cloned());
        // The compaction's turn has no end of its own to report.
        self.running.retain(|_, turn| turn.started_by != StartedBy::Compaction);
        (self.running.keys().cloned().collect(), self.compaction.take())
    }

    /// How long a host is waited for that was given up.
    pub(super) fn given_up_until(&self) -> Option<Instant> {
        Some(self.given_up_at? + END)
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.given_up_at.is_some()
    }

    /// A turn has ended. Returns true if it was given up before.
    pub(super) fn ended_late(&mut self, turn_id: &str) -> bool {
        self.given_up_at = None;
        self.given_up.remove(turn_id)
    }

    /// Resumes the paused turns that `hold` does not keep. Returns how each continues.
    pub(super) fn resume(&mut self, hold: GateHold) -> Vec<(String, NextRequest)> {
        let free =
            |turn: &DriverTurn| turn.is_paused() && !(hold == GateHold::Midway && turn.goes_on());
        let free = self.running.iter_mut().filter(|(_, turn)| free(turn));
        free.map(|(turn_id, turn)| (turn_id.clone(), turn.resume())).collect()
    }
}

/// Which paused turns stay paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GateHold {
    None,
    /// Those that will sample again.
    Midway,
}

impl DriverTurn {
    fn is_paused(&self) -> bool {
        self.stand != TurnPause::AtWork
    }

    /// Whether another sampling request will follow.
    pub(super) fn goes_on(&self) -> bool {
        self.stand == TurnPause::Paused { needs_follow_up: true } || self.owes_work
    }

    /// A sampling request ended. Returns the actions that it answered and the text of the answer.
    pub(super) fn sampled(&mut self, needs_follow_up: bool) -> (Vec<String>, Option<String>) {
        let said = self.said.take();
        let is_packet = said.as_ref().is_some_and(|said| said.contains(PACKET));
        let mut answered = Vec::new();
        self.steered.retain_mut(|steered| {
            let is_answer = steered.is_seen && !needs_follow_up || is_packet;
            steered.is_seen = true;
            if is_answer {
                answered.push(steered.action_id.clone());
            }
            !is_answer
        });
        self.actions.retain(|action_id| !answered.contains(action_id));
        // An agent that calls tools without a request from rawr has resumed its own work.
        self.owes_work &= !(needs_follow_up && self.steered.is_empty() && answered.is_empty());
        (answered, said)
    }

    /// The host waits until the driver resumes the turn.
    pub(super) fn pause(&mut self, needs_follow_up: bool) {
        self.stand = TurnPause::Paused { needs_follow_up };
    }

    /// A text from rawr was added. The agent answers it before it continues its own work.
    pub(super) fn asked(&mut self, action_id: &str) {
        let is_seen = self.is_paused();
        self.owes_work |= self.stand == TurnPause::Paused { needs_follow_up: true };
        self.steered.push(SteeredText { action_id: action_id.to_owned(), is_seen });
    }

    fn resume(&mut self) -> NextRequest {
        self.stand = TurnPause::AtWork;
        if self.owes_work && self.steered.is_empty() {
            self.owes_work = false;
            NextRequest::More
        } else {
            NextRequest::AsAnswered
        }
    }
}
