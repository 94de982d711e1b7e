//! The next step of a sequence, derived from the state alone. The state is not changed here.

use crate::boundary::Boundaries;
use crate::compose::{self, Continue, RequestParts};
use crate::coverage;
use crate::event::{
    ActionIssued, AgentRequest, DeliveredMessage, Ending, Event, HostAction, MessagePurpose,
    MessageRole, Packet, PacketTaken, SequenceEnded, Trigger, TurnEnding,
};
use crate::packet;
use crate::policy::PacketSource;
use crate::rewrite;
use crate::rules::Rules;
use crate::thread::sequence::{CompactionSeen, Sequence, marked, marker, purpose};
use crate::thread::{Issued, Progress, Thread, WaitingInput};
use crate::units::{ActionId, Percent};

/// The next event of the running sequence; `None` while it has to wait.
pub fn next(thread: &Thread, rules: &Rules<'_>) -> Option<Event> {
    let sequence = thread.sequence.as_ref()?;
    let step = SequenceStep { thread, sequence, rules };
    if let Some(reason) = &sequence.cancelled {
        return Some(step.end(Ending::Cancelled, reason));
    }
    if !sequence.approved {
        return match (sequence.compacted(), sequence.overdue) {
            (true, _) => Some(step.end(Ending::Cancelled, "the context was compacted meanwhile")),
            (false, true) => Some(step.end(Ending::Cancelled, "no answer came in time")),
            (false, false) => None,
        };
    }
    if sequence.is_inline() {
        return step.inline();
    }
    if sequence.compacted() || sequence.compact.is_some() {
        return step.compaction_and_handoff();
    }
    match &sequence.packet {
        None => step.pre_compact(),
        Some(packet) => match step.late_answer(packet) {
            Some(packet) => Some(step.packet_taken(packet)),
            None if thread.host.can.compact_by_person => None,
            None => step.when_free(step.may_compact(), || step.compact(false)),
        },
    }
}

/// How the agent goes on after this sequence's handoff.
pub fn go_on(thread: &Thread, sequence: &Sequence) -> Continue {
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
    let mut turns = sequence.turns();
    let (Some(only), None) = (turns.next(), turns.next()) else { return None };
    match (SequenceStep { thread, sequence, rules }).request(only) {
        HostAction::SamplePacket { prompt, .. } => {
            Some(HostAction::SamplePacket { prompt, ahead: true })
        }
        _ => None,
    }
}

/// How often the agent is asked. After that rawr writes the packet.
const MOST_PACKET_REQUESTS: u32 = 2;

struct SequenceStep<'s> {
    thread: &'s Thread,
    sequence: &'s Sequence,
    rules: &'s Rules<'s>,
}

impl SequenceStep<'_> {
    fn pre_compact(&self) -> Option<Event> {
        if self.sequence.awaits_answer(self.thread) && !self.sequence.overdue {
            return None;
        }
        if self.was_interrupted() {
            return Some(self.end(Ending::Cancelled, "the turn was interrupted"));
        }
        let free = self.sequence.may_act(self.thread);
        if let Some(prompt) = self.refused_sample()
            && !self.thread.host.can.queue_in_place
        {
            return self.when_free(free, || self.inject(MessagePurpose::PacketRequest, prompt));
        }
        match self.sequence.turns().nth(self.sequence.turns_issued) {
            // The turn did not answer in time and is still running: skip the other requests.
            Some(_) if !free && self.current().is_some_and(Issued::is_open) => {
                Some(self.take_packet())
            }
            Some(turn) if !self.has_room_for(turn) => Some(self.take_packet()),
            Some(turn) => self.when_free(free, || self.ask(turn)),
            None if self.may_ask_again() => {
                self.when_free(free, || self.ask(&[AgentRequest::Packet]))
            }
            None => Some(self.take_packet()),
        }
    }

    /// The built-in compaction, without packet and handoff. If the provider's compaction frees too little, the host's
    /// own follows, once (rule `built-in.local-once`).
    fn inline(&self) -> Option<Event> {
        if let CompactionSeen::Failed(error) = &self.sequence.compaction {
            return Some(self.end(Ending::Failed, &format!("the compaction failed: {error}")));
        }
        let action = self.sequence.compact.as_ref().and_then(|id| self.thread.action(id));
        match action.map(|issued| &issued.progress) {
            None => return self.when_free(self.may_compact(), || self.compact(false)),
            Some(Progress::Failed(error)) if !self.sequence.compacted() => {
                return Some(self.end(Ending::Failed, &format!("the compaction failed: {error}")));
            }
            Some(_) => {}
        }
        if !self.sequence.compacted() {
            let late = self.sequence.overdue;
            return late.then(|| self.end(Ending::Failed, "the compaction did not finish in time"));
        }
        let threshold = self.rules.policy.inline.threshold_percent;
        let still = |left: Percent| left.0 < threshold;
        if !self.sequence.fell_back
            && self.thread.percent_remaining(self.rules.policy).is_some_and(still)
        {
            return self.when_free(self.may_compact(), || self.compact(true));
        }
        Some(self.end(Ending::Completed, "compacted"))
    }

    fn may_compact(&self) -> bool {
        let inside = self.thread.host.can.mid_turn_compact && self.sequence.is_inside(self.thread);
        self.thread.is_idle() || inside
    }

    fn when_free(&self, free: bool, event: impl FnOnce() -> Event) -> Option<Event> {
        if free {
            return Some(event());
        }
        let late = self.sequence.overdue;
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

    fn ask(&self, turn: &[AgentRequest]) -> Event {
        self.issue(self.request(turn))
    }

    /// Whether the request fits. A window that was learned from a refusal has no reserve behind it.
    fn has_room_for(&self, turn: &[AgentRequest]) -> bool {
        let (Some(most), Some(context)) = (self.thread.learned_window, self.thread.context) else {
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

    fn request(&self, turn: &[AgentRequest]) -> HostAction {
        let reason = self.sequence.trigger.reason();
        let parts = RequestParts {
            heads_up: turn.contains(&AgentRequest::HeadsUp),
            scratch_write: turn.contains(&AgentRequest::ScratchWrite),
            packet: turn.contains(&AgentRequest::Packet),
            reason: &reason,
            finished: self.finished(),
            scratch_file: &self.sequence.scratch_file,
            thread_id: self.thread.id.as_str(),
        };
        let text = compose::request_text(&self.sequence.prompts, parts);
        if parts.packet && self.sequence.sampled {
            return HostAction::SamplePacket { prompt: text, ahead: false };
        }
        self.injection(purpose(turn), &text)
    }

    /// The prompt of a failed sample, to be asked in a turn.
    fn refused_sample(&self) -> Option<&str> {
        let issued = self.current().filter(|_| !self.sequence.overdue)?;
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
        self.sequence.requests.contains(&AgentRequest::Packet)
            && self.sequence.packet_requests < MOST_PACKET_REQUESTS
            && said_something
            && self.answer().is_none()
            && !self.sequence.overdue
    }

    /// The agent's packet, or one by rawr if the answer is missing or empty.
    fn take_packet(&self) -> Event {
        let packet = self.answer().filter(|_| !self.sequence.overdue).unwrap_or_else(|| {
            let max = self.rules.policy.packet_max_tail_chars;
            let template = &self.sequence.prompts.watcher_packet;
            let notes = self.rules.notes(&self.sequence.scratch_file);
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
        if !self.sequence.requests.contains(&AgentRequest::Packet) {
            return None;
        }
        let issued = self.current().filter(|issued| !issued.talked_over)?;
        match &issued.progress {
            Progress::Completed(text) => {
                packet::from_agent(text.as_deref()?, &self.sequence.prompts.packet_request)
            }
            _ => None,
        }
    }

    /// The agent's packet, if it came after rawr wrote one and before the compaction.
    fn late_answer(&self, taken: &Packet) -> Option<Packet> {
        self.answer().filter(|_| taken.author == PacketSource::Watcher)
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
                .map_or(self.sequence.author, |packet| packet.author),
            settings: self.rules.policy.compaction.clone(),
        })
    }

    /// The compaction and the end of its turn are reported in either order. The handoff waits for both, but not past
    /// the deadline: a rewritten history needs its packet.
    fn compaction_and_handoff(&self) -> Option<Event> {
        if let CompactionSeen::Failed(error) = &self.sequence.compaction {
            return Some(self.end(Ending::Failed, &format!("the compaction failed: {error}")));
        }
        let action = self.sequence.compact.as_ref().and_then(|id| self.thread.action(id));
        let closed = match action.map(|issued| &issued.progress) {
            Some(Progress::Failed(error)) if !self.sequence.compacted() => {
                return Some(self.end(Ending::Failed, &format!("the compaction failed: {error}")));
            }
            // Inside a turn there is no other turn whose end could be awaited.
            Some(Progress::Issued | Progress::Accepted) => {
                self.sequence.compacted() && self.sequence.is_inside(self.thread)
            }
            _ => true,
        };
        let compacted = self.sequence.compacted();
        if self.sequence.handoff.is_some() {
            return self.finish();
        }
        if compacted && closed || self.sequence.overdue && (compacted || closed && action.is_some())
        {
            return self.hand_off();
        }
        self.sequence
            .overdue
            .then(|| self.end(Ending::Failed, "the compaction did not finish in time"))
    }

    fn hand_off(&self) -> Option<Event> {
        if self.sequence.closes {
            let free = self.sequence.may_act(self.thread) || self.sequence.overdue;
            return free.then(|| self.hand_over(&self.sequence.prompts.handoff));
        }
        let Some(packet) = &self.sequence.packet else {
            // The host compacted while the agent is still writing the packet.
            let writes =
                self.sequence.runs(self.thread) && self.sequence.awaits_answer(self.thread);
            return (!writes || self.sequence.overdue).then(|| self.take_packet());
        };
        if !self.sequence.may_act(self.thread) && !self.sequence.overdue {
            return None;
        }
        let go_on = go_on(self.thread, self.sequence);
        let notes = self.rules.notes(&self.sequence.scratch_file);
        let template = &self.sequence.prompts.handoff;
        let text = compose::handoff(self.thread, template, packet, go_on, notes);
        Some(self.hand_over(&text))
    }

    /// With the message that waits, or in a turn.
    fn hand_over(&self, text: &str) -> Event {
        let (role, purpose) = match self.sequence.closes {
            true => (MessageRole::Notice, MessagePurpose::Notice),
            false => (MessageRole::Handoff, MessagePurpose::Handoff),
        };
        match waiting_message(self.thread, self.sequence) {
            None => self.inject(purpose, text),
            Some(held) => self.issue(HostAction::DeliverInput {
                input: held.id.clone(),
                items: vec![
                    DeliveredMessage { role, text: marked(text, &self.sequence.id, purpose) },
                    DeliveredMessage { role: MessageRole::Input, text: held.text.clone() },
                ],
            }),
        }
    }

    fn finish(&self) -> Option<Event> {
        let handoff = self.sequence.handoff.as_ref().and_then(|id| self.thread.action(id));
        match handoff.map(|issued| &issued.progress) {
            Some(Progress::Accepted | Progress::Completed(_)) => {
                let told = "the agent knows that nothing was compacted";
                let reason = if self.sequence.closes { told } else { "handed over" };
                Some(self.end(Ending::Completed, reason))
            }
            Some(Progress::Failed(error)) => {
                Some(self.end(Ending::Failed, &format!("the handoff was refused: {error}")))
            }
            _ => self
                .sequence
                .overdue
                .then(|| self.end(Ending::Failed, "the handoff was not taken in time")),
        }
    }

    fn current(&self) -> Option<&Issued> {
        self.sequence.newest_action(self.thread)
    }

    /// A user who interrupts the packet turn wants no compaction.
    fn was_interrupted(&self) -> bool {
        let end = self.sequence.current.as_ref().and_then(|action| self.thread.turn_end_of(action));
        end.is_some_and(|end| end.status == TurnEnding::Interrupted)
    }

    fn inject(&self, purpose: MessagePurpose, text: &str) -> Event {
        self.issue(self.injection(purpose, text))
    }

    fn injection(&self, purpose: MessagePurpose, text: &str) -> HostAction {
        let marker = marker(&self.sequence.id, purpose);
        let (text, via_steer) =
            (marked(text, &self.sequence.id, purpose), self.sequence.is_inside(self.thread));
        HostAction::InjectTurn { purpose, text, marker, via_steer }
    }

    fn issue(&self, kind: HostAction) -> Event {
        let action = ActionId::new(format!("{}.{}", self.sequence.id, self.sequence.actions + 1));
        ActionIssued { action, sequence: self.sequence.id.clone(), kind }.into()
    }

    fn end(&self, ending: Ending, reason: &str) -> Event {
        SequenceEnded { sequence: self.sequence.id.clone(), ending, reason: reason.to_owned() }
            .into()
    }
}
