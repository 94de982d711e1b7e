//! The running turns and the running compaction, as far as the driver knows them.

use std::collections::HashMap;

use rawr_protocol::TurnOrigin;

use crate::host::Next;

/// The turns that run, and the compaction.
#[derive(Debug, Default)]
pub(super) struct Turns {
    running: HashMap<String, Turn>,
    pub(super) compaction: Option<Compaction>,
    /// The last known size of the context.
    pub(super) context_tokens: Option<u64>,
    pub(super) review_mode: bool,
}

/// A turn that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) started_by: StartedBy,
    /// The actions that wait for its end.
    pub(super) actions: Vec<String>,
    pub(super) last_agent_message: Option<String>,
    /// What the agent has said since its last sampling request.
    pub(super) said: Option<String>,
    pub(super) stand: TurnPause,
    /// Texts of rawr's that were added to it and have no answer.
    pub(super) steered: Vec<Steered>,
    /// The agent had more to do when it was asked for something else.
    pub(super) owes_work: bool,
}

/// Where a turn stands between its sampling requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TurnPause {
    /// The agent samples, or runs a tool.
    #[default]
    AtWork,
    /// A sampling request ended, and the host waits until it is let go.
    Paused { needs_follow_up: bool },
}

/// A text of rawr's in a turn that is not rawr's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steered {
    pub(super) action_id: String,
    /// The request that ran when it was added answers something else.
    pub(super) is_seen: bool,
}

/// Why there is a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum StartedBy {
    /// A person's input.
    Prompt { text: String },
    /// A held input that an action delivers.
    Delivery { text: String },
    /// A text of rawr's.
    Injection,
    /// The host itself.
    #[default]
    Host,
    /// A compaction that was asked for: its turn is told as a compaction, never as a turn.
    Compaction,
}

/// A compaction that an action asked for.
#[derive(Debug, Clone)]
pub(super) struct Compaction {
    pub(super) action_id: String,
    pub(super) tokens_before: Option<u64>,
    /// Whether the history was rewritten; its turn's end is still to come.
    pub(super) done: bool,
}

/// How a packet begins wherever it stands.
const PACKET: &str = "<continuation_packet>";

impl StartedBy {
    pub(super) fn origin(&self) -> TurnOrigin {
        match self {
            Self::Prompt { .. } | Self::Delivery { .. } => TurnOrigin::User,
            Self::Injection => TurnOrigin::Synthetic,
            Self::Host | Self::Compaction => TurnOrigin::Host,
        }
    }

    /// What a person wrote.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Prompt { text } | Self::Delivery { text } => Some(text),
            Self::Injection | Self::Host | Self::Compaction => None,
        }
    }
}

impl Turns {
    /// Nothing may be started meanwhile.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty() || self.compaction.is_some()
    }

    /// The turn that a sidecar is told of. A compaction's own is told as a compaction.
    pub(super) fn running_turn(&self) -> Option<&str> {
        let told = |(_, turn): &(&String, &Turn)| turn.started_by != StartedBy::Compaction;
        self.running.iter().find(told).map(|(turn_id, _)| turn_id.as_str())
    }

    pub(super) fn begin(&mut self, turn_id: &str, started_by: StartedBy, action: Option<&str>) {
        let turn = self.running.entry(turn_id.to_owned()).or_default();
        turn.started_by = started_by;
        turn.actions.extend(action.map(str::to_owned));
    }

    /// `None` once it has ended: hosts say things late.
    pub(super) fn running(&mut self, turn_id: &str) -> Option<&mut Turn> {
        self.running.get_mut(turn_id)
    }

    pub(super) fn carries_action(&self, turn_id: &str) -> bool {
        self.running.get(turn_id).is_some_and(|turn| !turn.actions.is_empty())
    }

    pub(super) fn end(&mut self, turn_id: &str) -> Turn {
        self.running.remove(turn_id).unwrap_or_default()
    }

    /// Whether a turn stands between two of its sampling requests. After its last one it only ends.
    pub(super) fn is_between_requests(&self) -> bool {
        self.running.values().any(|turn| turn.is_paused() && turn.goes_on())
    }

    /// The turns that wait for a word, and how each goes on. From here on they are at work.
    pub(super) fn let_go(&mut self, hold: GateHold) -> Vec<(String, Next)> {
        let free = |turn: &Turn| turn.is_paused() && !(hold == GateHold::Midway && turn.goes_on());
        let free = self.running.iter_mut().filter(|(_, turn)| free(turn));
        free.map(|(turn_id, turn)| (turn_id.clone(), turn.let_go())).collect()
    }
}

/// Which of the paused turns stay so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GateHold {
    None,
    /// Those that are to sample again.
    Midway,
}

impl Turn {
    fn is_paused(&self) -> bool {
        self.stand != TurnPause::AtWork
    }

    /// Whether another sampling request is to come.
    pub(super) fn goes_on(&self) -> bool {
        self.stand == TurnPause::Paused { needs_follow_up: true } || self.owes_work
    }

    /// A sampling request ended. Returns the actions that it answered, and with what it did.
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
        // An agent that calls tools of its own accord is at its work again.
        self.owes_work &= !(needs_follow_up && self.steered.is_empty() && answered.is_empty());
        (answered, said)
    }

    /// The host waits for a word.
    pub(super) fn pause(&mut self, needs_follow_up: bool) {
        self.stand = TurnPause::Paused { needs_follow_up };
    }

    /// A text that is to be answered before the turn goes on with its own work.
    pub(super) fn asked(&mut self, action_id: &str) {
        let is_seen = self.is_paused();
        self.owes_work |= self.stand == TurnPause::Paused { needs_follow_up: true };
        self.steered.push(Steered { action_id: action_id.to_owned(), is_seen });
    }

    fn let_go(&mut self) -> Next {
        self.stand = TurnPause::AtWork;
        if self.owes_work && self.steered.is_empty() {
            self.owes_work = false;
            Next::More
        } else {
            Next::AsAnswered
        }
    }
}
