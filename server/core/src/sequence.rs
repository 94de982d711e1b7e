//! The next step of a sequence, derived from the state alone. The state is not changed here.

use crate::boundary::Boundaries;
use crate::compose::{self, Continue, RequestParts};
use crate::coverage;
use crate::event::{
    ActionIssued, AgentRequest, DeliveredMessage, Ending, Event, HostAction, ItemRole, Packet,
    PacketTaken, Purpose, SequenceEnded, Trigger, TurnStatus,
};
use crate::packet;
use crate::policy::{PacketAuthor, PacketChannel};
use crate::rewrite;
use crate::rules::Rules;
use crate::thread::sequence::{
    Aim, QueuedRequest, Rewrite, Sequence, Step, asks_for, marked, marker, purpose,
};
use crate::thread::{Issued, Progress, Thread, WaitingInput};
use crate::units::{ActionId, Percent};

/// The next event of the running sequence; `None` while it has to wait.
pub fn next(thread: &Thread, sequence: &Sequence, rules: &Rules<'_>) -> Option<Event> {
    let step = SequenceStep { thread, sequence, rules };
    match &sequence.step {
        Step::Approval => {
            let late = sequence.is_overdue();
            late.then(|| step.end(Ending::Cancelled, "no answer came in time"))
        }
        Step::Overtaken => Some(step.end(Ending::Cancelled, "the context was compacted meanwhile")),
        Step::CalledOff { why, .. } => Some(step.end(Ending::Cancelled, why)),
        Step::Compacting { failure: Some(error), .. } => Some(step.compaction_failed(error)),
        Step::Preparing if sequence.is_inline() => {
            step.when_free(step.may_compact(), || step.compact(false))
        }
        Step::Preparing => match &sequence.packet {
            None => step.ask_or_take_packet(),
            Some(packet) => match step.late_answer(packet) {
                Some(packet) => Some(step.packet_taken(packet)),
                None if thread.session.host.can.compact_by_person => None,
                None => step.when_free(step.may_compact(), || step.compact(false)),
            },
        },
        Step::Compacting { action, failure: None } => step.await_compaction(action),
        Step::HandingOff { .. } if sequence.is_inline() => step.compact_again_or_end(),
        Step::HandingOff { action: Some(handoff), .. } => step.await_handoff(handoff),
        Step::HandingOff { rewrite, action: None } => step.hand_off_after(rewrite),
    }
}

/// How the agent goes on after this sequence's handoff.
pub fn continuation(thread: &Thread, sequence: &Sequence) -> Continue {
    match waiting_message(thread, sequence) {
        Some(_) => Continue::AsNextMessage,
        None if sequence.only_informs() => Continue::AsAsked,
        None => Continue::AsInPacket,
    }
}

/// The message that goes with the handoff. It cannot be delivered into a running turn.
fn waiting_message<'t>(thread: &'t Thread, sequence: &Sequence) -> Option<&'t WaitingInput> {
    let inside = sequence.is_inside(thread);
    thread.held.iter().find(|held| held.action.is_none() && !inside)
}

/// The packet request of a sequence that has not started, if it is a sample and nothing has to come before it.
pub fn request_ahead(
    thread: &Thread,
    sequence: &Sequence,
    rules: &Rules<'_>,
) -> Option<HostAction> {
    let mut turns = sequence.requests.turns();
    let (Some(only), None) = (turns.next(), turns.next()) else { return None };
    match (SequenceStep { thread, sequence, rules }).request(only) {
        HostAction::SamplePacket { prompt, .. } => {
            Some(HostAction::SamplePacket { prompt, ahead: true })
        }
        _ => None,
    }
}

/// How often the agent is asked. After that rawr writes the packet.
const MOST_PACKET_REQUESTS: usize = 2;

struct SequenceStep<'s> {
    thread: &'s Thread,
    sequence: &'s Sequence,
    rules: &'s Rules<'s>,
}

impl SequenceStep<'_> {
    /// Asks the agent for what stands in the queue. The packet is the last of it, else rawr writes one.
    fn ask_or_take_packet(&self) -> Option<Event> {
        if self.sequence.awaits_answer(self.thread) && !self.sequence.is_overdue() {
            return None;
        }
        if self.was_interrupted() {
            return Some(self.end(Ending::Cancelled, "the turn was interrupted"));
        }
        let free = self.sequence.may_act(self.thread);
        if let Some(prompt) = self.refused_sample()
            && !self.thread.session.host.can.queue_in_place
        {
            return self.when_free(free, || self.inject(Purpose::PacketRequest, prompt));
        }
        match self.sequence.requests.next_turn() {
            // The turn did not answer in time and is still running: skip the other requests.
            Some(_) if !free && self.current().is_some_and(Issued::is_open) => {
                Some(self.take_packet())
            }
            Some(turn) if !self.has_room_for(turn) => Some(self.take_packet()),
            Some(turn) => self.when_free(free, || self.ask(turn)),
            None if self.may_ask_again() => {
                self.when_free(free, || self.ask(self.sequence.requests.only_packet()))
            }
            None => Some(self.take_packet()),
        }
    }

    /// The host was asked, and neither success nor failure has been reported. An action that failed fails the sequence.
    /// One that is done leaves the report to be awaited, but not past the deadline: a history that was rewritten needs its
    /// packet.
    fn await_compaction(&self, action: &ActionId) -> Option<Event> {
        let progress = self.thread.action(action).map(|issued| &issued.progress);
        if let Some(Progress::Failed(error)) = progress {
            return Some(self.compaction_failed(error));
        }
        if !self.sequence.is_overdue() {
            return None;
        }
        let is_done = matches!(progress, Some(Progress::Completed(_) | Progress::Withdrawn));
        if is_done && !self.sequence.is_inline() {
            return self.hand_off();
        }
        Some(self.end(Ending::Failed, "the compaction did not finish in time"))
    }

    /// If the built-in compaction of the provider frees too little, the host's own follows, once (rule
    /// `built-in.local-once`).
    fn compact_again_or_end(&self) -> Option<Event> {
        let action = self.sequence.compact().and_then(|id| self.thread.action(id));
        let was_local = action
            .is_some_and(|issued| matches!(issued.kind, HostAction::Compact { local: true, .. }));
        let threshold = self.rules.policy.inline.threshold_percent;
        let too_full = |left: Percent| left.0 < threshold;
        if !was_local && self.thread.percent_remaining(self.rules.policy).is_some_and(too_full) {
            return self.when_free(self.may_compact(), || self.compact(true));
        }
        Some(self.end(Ending::Completed, "compacted"))
    }

    fn may_compact(&self) -> bool {
        let inside =
            self.thread.session.host.can.mid_turn_compact && self.sequence.is_inside(self.thread);
        self.thread.is_idle() || inside
    }

    fn when_free(&self, free: bool, event: impl FnOnce() -> Event) -> Option<Event> {
        if free {
            return Some(event());
        }
        let late = self.sequence.is_overdue();
        late.then(|| self.end(Ending::Failed, "the host found no quiet moment"))
    }

    /// The plan step or phase after which it starts.
    fn finished(&self) -> Option<&str> {
        let at_checkpoint = match &self.sequence.trigger {
            Trigger::Rawr { boundaries, .. } => !boundaries.and(Boundaries::FINISHED).is_empty(),
            Trigger::Inline { .. } | Trigger::Host | Trigger::User => false,
        };
        self.thread.known.finished.as_deref().filter(|_| at_checkpoint)
    }

    fn ask(&self, turn: &[QueuedRequest]) -> Event {
        self.issue(self.request(turn))
    }

    /// Whether the request fits. A window that was learned from a refusal has no reserve behind it.
    fn has_room_for(&self, turn: &[QueuedRequest]) -> bool {
        let (Some(most), Some(context)) =
            (self.thread.gauge.learned_window, self.thread.gauge.context)
        else {
            return true;
        };
        let text = match self.request(turn) {
            HostAction::InjectTurn { text, .. } => text,
            HostAction::SamplePacket { prompt, .. } => prompt,
            HostAction::Compact { .. }
            | HostAction::DeliverInput { .. }
            | HostAction::Judge { .. } => return true,
        };
        context.0.saturating_add(rewrite::estimate(&text)) <= most.0
    }

    fn request(&self, turn: &[QueuedRequest]) -> HostAction {
        let reason = self.sequence.trigger.reason();
        let parts = RequestParts {
            heads_up: asks_for(turn, AgentRequest::HeadsUp),
            scratch_write: asks_for(turn, AgentRequest::ScratchWrite),
            packet: asks_for(turn, AgentRequest::Packet),
            reason: &reason,
            finished: self.finished(),
            scratch_file: &self.sequence.terms.scratch_file,
            thread_id: self.thread.id.as_str(),
        };
        let text = compose::request_text(&self.sequence.terms.prompts, parts);
        if parts.packet && self.sequence.requests.channel == PacketChannel::Sample {
            return HostAction::SamplePacket { prompt: text, ahead: false };
        }
        self.injection(purpose(turn), &text)
    }

    /// The prompt of a failed sample, to be asked in a turn.
    fn refused_sample(&self) -> Option<&str> {
        let issued = self.current().filter(|_| !self.sequence.is_overdue())?;
        match (&issued.kind, &issued.progress) {
            (HostAction::SamplePacket { prompt, .. }, Progress::Failed(_)) => Some(prompt),
            _ => None,
        }
    }

    /// Whether to ask an agent again that said something else instead: only it can write its own packet.
    fn may_ask_again(&self) -> bool {
        let said_something = self.current().is_some_and(|issued| match &issued.progress {
            Progress::Completed(Some(text)) => !text.trim().is_empty(),
            Progress::Completed(None) => issued.talked_over,
            _ => false,
        });
        self.sequence.requests.has_packet()
            && self.sequence.requests.packet_requests() < MOST_PACKET_REQUESTS
            && said_something
            && self.answer().is_none()
            && !self.sequence.is_overdue()
    }

    /// The agent's packet, or one by rawr if the answer is missing or empty.
    fn take_packet(&self) -> Event {
        let packet = self.answer().filter(|_| !self.sequence.is_overdue()).unwrap_or_else(|| {
            let max = self.rules.policy.packet_max_tail_chars;
            let template = &self.sequence.terms.prompts.watcher_packet;
            let notes = self.rules.notes(&self.sequence.terms.scratch_file);
            compose::by_watcher(self.thread, template, notes, max)
        });
        self.packet_taken(packet)
    }

    /// Adds the facts that the packet does not name.
    fn packet_taken(&self, packet: Packet) -> Event {
        let packet = coverage::completed(packet, self.thread);
        PacketTaken { sequence: self.sequence.id.clone(), packet }.into()
    }

    fn answer(&self) -> Option<Packet> {
        if !self.sequence.requests.has_packet() {
            return None;
        }
        let issued = self.current().filter(|issued| !issued.talked_over)?;
        match &issued.progress {
            Progress::Completed(text) => {
                packet::from_agent(text.as_deref()?, &self.sequence.terms.prompts.packet_request)
            }
            _ => None,
        }
    }

    /// The agent's packet, if it came after rawr wrote one and before the compaction.
    fn late_answer(&self, taken: &Packet) -> Option<Packet> {
        self.answer().filter(|_| taken.author == PacketAuthor::Watcher)
    }

    fn compact(&self, local: bool) -> Event {
        let inline = self.rules.policy.inline;
        self.issue(HostAction::Compact {
            local,
            interrupt: self.sequence.is_inline() && inline.interrupt_mid_turn,
            trigger: self.sequence.trigger.clone(),
            author: self
                .sequence
                .packet
                .as_ref()
                .map_or(self.sequence.terms.author, |packet| packet.author),
            settings: self.rules.policy.compaction.clone(),
        })
    }

    /// The compaction and the end of its turn are reported in either order. The handoff waits for both, but not past
    /// the deadline.
    fn hand_off_after(&self, rewrite: &Rewrite) -> Option<Event> {
        let runs = match rewrite {
            // Inside a turn there is no other turn whose end could be awaited.
            Rewrite::Asked(action) | Rewrite::Unconfirmed(action) => {
                self.thread.action(action).is_some_and(Issued::is_open)
                    && !self.sequence.is_inside(self.thread)
            }
            Rewrite::Unasked => false,
        };
        if runs && !self.sequence.is_overdue() {
            return None;
        }
        self.hand_off()
    }

    fn hand_off(&self) -> Option<Event> {
        if self.sequence.aim == Aim::CallOff {
            let free = self.sequence.may_act(self.thread) || self.sequence.is_overdue();
            return free.then(|| self.hand_over(&self.sequence.terms.prompts.handoff));
        }
        let Some(packet) = &self.sequence.packet else {
            // The host compacted while the agent is still writing the packet.
            let writes =
                self.sequence.runs(self.thread) && self.sequence.awaits_answer(self.thread);
            return (!writes || self.sequence.is_overdue()).then(|| self.take_packet());
        };
        if !self.sequence.may_act(self.thread) && !self.sequence.is_overdue() {
            return None;
        }
        let continuation = continuation(self.thread, self.sequence);
        let notes = self.rules.notes(&self.sequence.terms.scratch_file);
        let template = &self.sequence.terms.prompts.handoff;
        let text = compose::handoff(self.thread, template, packet, continuation, notes);
        Some(self.hand_over(&text))
    }

    /// With the message that waits, or in a turn.
    fn hand_over(&self, text: &str) -> Event {
        let (role, purpose) = match self.sequence.aim {
            Aim::CallOff => (ItemRole::Notice, Purpose::Notice),
            Aim::Compact | Aim::Recover | Aim::HandOver => (ItemRole::Handoff, Purpose::Handoff),
        };
        match waiting_message(self.thread, self.sequence) {
            None => self.inject(purpose, text),
            Some(held) => self.issue(HostAction::DeliverInput {
                input: held.id.clone(),
                items: vec![
                    DeliveredMessage { role, text: marked(text, &self.sequence.id, purpose) },
                    DeliveredMessage { role: ItemRole::Input, text: held.text.clone() },
                ],
            }),
        }
    }

    fn await_handoff(&self, handoff: &ActionId) -> Option<Event> {
        match self.thread.action(handoff).map(|issued| &issued.progress) {
            Some(Progress::Accepted | Progress::Completed(_)) => {
                let reason = match self.sequence.aim {
                    Aim::CallOff => "the agent knows that nothing was compacted",
                    Aim::Compact | Aim::Recover | Aim::HandOver => "handed over",
                };
                Some(self.end(Ending::Completed, reason))
            }
            Some(Progress::Failed(error)) => {
                Some(self.end(Ending::Failed, &format!("the handoff was refused: {error}")))
            }
            Some(Progress::Issued | Progress::Withdrawn) | None => {
                let late = self.sequence.is_overdue();
                late.then(|| self.end(Ending::Failed, "the handoff was not taken in time"))
            }
        }
    }

    fn current(&self) -> Option<&Issued> {
        self.sequence.newest_action(self.thread)
    }

    /// A user who interrupts the packet turn wants no compaction.
    fn was_interrupted(&self) -> bool {
        let end = self.sequence.current.as_ref().and_then(|action| self.thread.turn_end_of(action));
        end.is_some_and(|end| end.status == TurnStatus::Interrupted)
    }

    fn inject(&self, purpose: Purpose, text: &str) -> Event {
        self.issue(self.injection(purpose, text))
    }

    fn injection(&self, purpose: Purpose, text: &str) -> HostAction {
        let marker = marker(&self.sequence.id, purpose);
        let (text, via_steer) =
            (marked(text, &self.sequence.id, purpose), self.sequence.is_inside(self.thread));
        HostAction::InjectTurn { purpose, text, marker, via_steer }
    }

    fn issue(&self, kind: HostAction) -> Event {
        let action = ActionId::new(format!("{}.{}", self.sequence.id, self.sequence.actions + 1));
        ActionIssued { action, sequence: self.sequence.id.clone(), kind }.into()
    }

    fn compaction_failed(&self, error: &str) -> Event {
        self.end(Ending::Failed, &format!("the compaction failed: {error}"))
    }

    fn end(&self, ending: Ending, reason: &str) -> Event {
        SequenceEnded { sequence: self.sequence.id.clone(), ending, reason: reason.to_owned() }
            .into()
    }
}
