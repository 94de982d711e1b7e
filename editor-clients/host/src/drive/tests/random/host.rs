//! A host that does what hosts do, in any order: it is busy, refuses, does not answer, fails.

use std::collections::VecDeque;
use std::path::PathBuf;

use rawr_protocol::{
    CompactionOrigin, Host, HostCapabilities, PendingAction, TokenUsage, TurnStatus,
};
use rawr_records::turns::{RecordedCompaction, RecordedTurn};

use super::super::world::message_at;
use super::Dice;
use crate::drive::port::AccessKind;
use crate::host::record::fate;
use crate::host::{
    HostError, HostEvent, HostThread, NextRequest, RecordedOutcome, ThreadOrigin, TurnKind,
};

pub struct RandomHost {
    pub access: AccessKind,
    turns: Vec<RecordedTurn>,
    events: VecDeque<HostEvent>,
    /// What follows once the agent is resumed.
    paused: VecDeque<HostEvent>,
    /// The turn that runs, until its end is read.
    running: Option<String>,
    /// The next message that a sender releases joins the running turn.
    pub is_joined_by_held: bool,
    /// After so many events one is lost.
    pub loses: Option<u64>,
    /// Ends what it runs when it is interrupted.
    pub stops: bool,
}

impl RandomHost {
    pub fn new(access: AccessKind) -> Self {
        Self {
            access,
            turns: Vec::new(),
            events: VecDeque::new(),
            paused: VecDeque::new(),
            running: None,
            is_joined_by_held: false,
            loses: None,
            stops: true,
        }
    }

    pub fn thread(&self) -> HostThread {
        let capabilities = HostCapabilities {
            inject_turn: true,
            compact: true,
            queue: true,
            mid_turn_compact: self.access == AccessKind::InProcess,
            ..HostCapabilities::default()
        };
        HostThread {
            thread_id: "t".to_owned(),
            origin: ThreadOrigin::Person,
            cwd: PathBuf::from("/work"),
            host: Host { name: "random".to_owned(), version: None, capabilities },
            model: None,
            context_window: Some(100_000),
            context_window_assumed: false,
            compacts_above_tokens: None,
            baseline_tokens: 0,
            transcript: None,
            began_at_ms: None,
        }
    }

    /// How often the agent got this message.
    pub fn received(&self, text: &str) -> usize {
        let sent = self.turns.iter().flat_map(|turn| &turn.sent);
        sent.filter(|sent| sent.text.split("\n\n").any(|part| part == text)).count()
    }

    pub fn next_event(&mut self) -> Option<HostEvent> {
        let mut event = self.events.pop_front()?;
        if let Some(left) = self.loses.as_mut().filter(|left| **left < u64::MAX) {
            match *left {
                0 => {
                    *left = u64::MAX;
                    event = self.events.pop_front()?;
                }
                _ => *left -= 1,
            }
        }
        if let HostEvent::TurnCompleted { turn_id, .. } = &event
            && self.running.as_ref() == Some(turn_id)
        {
            self.running = None;
            if let Some(turn) = self.turns.iter_mut().find(|turn| turn.turn_id == *turn_id) {
                turn.has_ended = true;
            }
        }
        Some(event)
    }

    /// Whether a request for a packet or a compaction runs.
    pub fn runs_request(&self) -> bool {
        let running = self.turns.iter().find(|turn| self.running.as_ref() == Some(&turn.turn_id));
        let is_request = |turn: &RecordedTurn| {
            turn.sent.is_empty() || turn.sent[0].text.contains(":packet_request]")
        };
        running.is_some_and(is_request)
    }

    fn begin(&mut self, now: i64, texts: &[String], kind: TurnKind) -> String {
        let turn_id = format!("turn-{}", self.turns.len() + 1);
        let sent = texts.iter().map(|text| message_at(now, text)).collect();
        let began_at_ms = Some(now);
        let id = turn_id.clone();
        self.turns.push(RecordedTurn { turn_id: id, began_at_ms, sent, ..RecordedTurn::default() });
        self.running = Some(turn_id.clone());
        self.events.push_back(HostEvent::TurnStarted { turn_id: turn_id.clone(), kind });
        turn_id
    }

    fn works(&mut self, turn_id: &str, fails: bool) {
        let id = || turn_id.to_owned();
        let usage = TokenUsage {
            context_tokens: 70_000,
            input_tokens: None,
            cached_input_tokens: None,
            output_tokens: None,
            reasoning_tokens: None,
            cache_seconds: None,
        };
        self.events.extend([
            HostEvent::AgentMessage { turn_id: id(), text: "done".to_owned() },
            HostEvent::Usage { turn_id: id(), usage, context_window: None, needs_follow_up: false },
        ]);
        let status = if fails { TurnStatus::Failed } else { TurnStatus::Completed };
        let end = ends(turn_id, status);
        if self.access == AccessKind::InProcess {
            self.paused.push_back(end);
        } else {
            self.events.push_back(end);
        }
    }

    pub fn resumes(&mut self, next: NextRequest) {
        let _ = next;
        self.events.append(&mut self.paused);
    }

    pub fn start_turn(
        &mut self,
        dice: &mut Dice,
        now: i64,
        texts: &[String],
    ) -> Result<String, HostError> {
        if self.running.is_some() || dice.comes(30) {
            // A host is busy only as long as something of it is still to be read.
            if self.events.is_empty() {
                self.events.push_back(HostEvent::Notice("busy no longer".to_owned()));
            }
            return Err(HostError::Busy);
        }
        match if dice.is_calm() { u64::MAX } else { dice.below(60) } {
            0 => Err(HostError::Refused { method: "turn/start", message: "no".to_owned() }),
            1 => Err(HostError::Silent { method: "turn/start", seconds: 60 }),
            2 => {
                let turn_id = self.begin(now, texts, TurnKind::Asked);
                self.works(&turn_id, false);
                Err(HostError::Silent { method: "turn/start", seconds: 60 })
            }
            other => {
                let turn_id = self.begin(now, texts, TurnKind::Asked);
                self.works(&turn_id, other == 3);
                Ok(turn_id)
            }
        }
    }

    pub fn steer(&mut self, now: i64, text: &str) -> Result<String, HostError> {
        let turn_id = self.running.clone().ok_or(HostError::NoTurn)?;
        let turn = self.turns.iter_mut().find(|turn| turn.turn_id == turn_id);
        turn.ok_or(HostError::NoTurn)?.sent.push(message_at(now, text));
        Ok(turn_id)
    }

    /// A person's message that is not held any longer.
    pub fn says(&mut self, now: i64, text: &str) {
        let joins = std::mem::take(&mut self.is_joined_by_held);
        match self.steer(now, text) {
            Ok(_) if joins => {}
            Ok(turn_id) => {
                // Before the end of that turn, which is not read yet.
                let event = HostEvent::UserMessage { turn_id, text: text.to_owned() };
                let at = self.events.len().saturating_sub(1);
                self.events.insert(at, event);
            }
            Err(_) => {
                let text = text.to_owned();
                let kind = TurnKind::Person { text: text.clone() };
                let turn_id = self.begin(now, &[text], kind);
                self.works(&turn_id, false);
            }
        }
    }

    pub fn compact(&mut self, dice: &mut Dice, now: i64) -> Result<(), HostError> {
        if self.running.is_some() {
            return Err(HostError::Busy);
        }
        if dice.comes(30) {
            return Err(HostError::Refused { method: "compact", message: "no".to_owned() });
        }
        let turn_id = self.begin(now, &[], TurnKind::Compaction);
        let origin = CompactionOrigin::Rawr;
        let (id, fails) = (|| turn_id.clone(), dice.comes(50));
        self.events.push_back(HostEvent::CompactionStarted { turn_id: id(), origin });
        if fails {
            let error = "no answer".to_owned();
            self.events.push_back(HostEvent::CompactionFailed { turn_id: id(), origin, error });
            self.events.push_back(ends(&turn_id, TurnStatus::Failed));
            return Ok(());
        }
        let done = RecordedCompaction { before: Some(70_000), after: Some(5_000) };
        if let Some(turn) = self.turns.last_mut() {
            turn.compacted = Some(done);
        }
        let tokens_after = Some(5_000);
        self.events.push_back(HostEvent::CompactionCompleted {
            turn_id: id(),
            origin,
            tokens_after,
        });
        self.events.push_back(ends(&turn_id, TurnStatus::Completed));
        Ok(())
    }

    pub fn interrupt(&mut self) -> Result<(), HostError> {
        let turn_id = self.running.clone().ok_or(HostError::NoTurn)?;
        if !self.stops {
            return Ok(());
        }
        self.paused.clear();
        let is_end = |event: &HostEvent| matches!(event, HostEvent::TurnCompleted { .. });
        if !self.events.iter().any(is_end) {
            self.events.push_back(ends(&turn_id, TurnStatus::Interrupted));
        }
        Ok(())
    }

    pub fn outcome(&self, action: &PendingAction) -> RecordedOutcome {
        fate(&self.turns, action, self.running.is_none())
    }
}

fn ends(turn_id: &str, status: TurnStatus) -> HostEvent {
    HostEvent::TurnCompleted {
        turn_id: turn_id.to_owned(),
        status,
        last_agent_message: None,
        error: (status == TurnStatus::Failed).then(|| "scripted".to_owned()),
        overflow: None,
    }
}
