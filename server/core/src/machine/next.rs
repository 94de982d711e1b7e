//! The next event that follows from a thread's state. The state itself is not changed here.

use super::{Effect, Machine, Notice};
use crate::assess::{
    DecisionRecord, Gate, GateEvidence, GateOutcome, Inline, Question, assess, is_nothing, judge,
};
use crate::boundary::{Boundaries, Boundary};
use crate::compose;
use crate::coverage;
use crate::event::{
    ActionIssued, AgentRequest, Assessed, CompactionOrigin, DeliveredMessage, Entrance, Event,
    HostAction, ItemRole, JudgmentSource, Outcome, Packet, SequenceStarted, Trigger, TurnOrigin,
};
use crate::judgment;
use crate::policy::Worth;
use crate::policy::{Mode, PacketAuthor, PacketChannel, Policy, Tier};
use crate::prompt::{PromptName, SequencePrompts};
use crate::rewrite;
use crate::rules::Rules;
use crate::sequence;
use crate::thread::sequence::Sequence;
use crate::thread::{Judging, Proposed, Stage, Starting, WaitingInput};
use crate::units::{ActionId, Timestamp, Tokens, TurnId};

impl Machine {
    /// The next event; `None` when nothing follows without another input. `on_message` is the decision on the message
    /// that was just submitted.
    pub(super) fn next(
        &self,
        on_message: Option<DecisionRecord>,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Option<Event> {
        let (thread, policy) = (&self.thread, rules.policy);
        // A turn's end is assessed before anything else: a decision may follow from it at any stage.
        if let Some(turn) = &thread.unassessed {
            let question = if policy.built_in_decides() {
                Question::Inline(Inline::TurnEnd(turn))
            } else {
                Question::TurnEnd(turn)
            };
            return Some(self.assess(question, rules, now, effects));
        }
        match &thread.stage {
            // An emergency in the meantime does not wait for the judge.
            Stage::Judging(judging) => self
                .assess_emergency(rules, now, effects)
                .or_else(|| self.ask_judge(judging, rules, now, effects)),
            Stage::Starting(starting) => Some(self.start(starting.clone(), None, rules).into()),
            Stage::Running(sequence) => {
                let waits =
                    thread.held.front().filter(|_| thread.is_idle() && thread.awaits_person());
                let release =
                    || Some(self.deliver_held(waits.filter(|held| held.action.is_none())?));
                sequence::next(thread, sequence, rules).or_else(release)
            }
            Stage::Idle | Stage::Deferred(_) | Stage::Proposed(_) => {
                self.next_between_sequences(on_message, rules, now, effects)
            }
        }
    }

    /// Where nothing is under way. What the agent is owed comes first, so that it reads it before it is asked or told
    /// anything else; then decisions inside of the turn; once the host is idle, a person's wish before what only silence
    /// confirmed; at last the messages that wait.
    fn next_between_sequences(
        &self,
        on_message: Option<DecisionRecord>,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Option<Event> {
        let (thread, policy) = (&self.thread, rules.policy);
        if let Some((starting, packet)) = self.late_handoff(rules) {
            return Some(self.start(starting, Some(packet), rules).into());
        }
        if let Some(starting) = self.notice() {
            return Some(self.closing(starting, rules).into());
        }
        if let Some(turn) = &thread.between_requests {
            return self.assess_inside_turn(turn, rules, now, effects);
        }
        if !thread.is_idle() {
            return None;
        }
        if thread.asked_at.is_some() {
            return Some(self.assess(Question::Person, rules, now, effects));
        }
        let by_silence = |proposed: &&Proposed| proposed.confirmed_at.is_some();
        if let Some(proposed) = thread.proposal().filter(by_silence)
            && thread.held.is_empty()
        {
            let question = Question::Silence(proposed.assessed.turn.as_ref()?);
            return Some(self.assess(question, rules, now, effects));
        }
        if let Some(sample) = self.packet_ahead(rules) {
            return Some(sample);
        }
        let held = thread.held.front().filter(|held| held.action.is_none())?;
        let question = self.before_input(&held.text, policy).filter(|_| !held.assessed);
        match question {
            Some(question) => {
                let assessed = || assess(thread, policy, question, now);
                debug_assert!(on_message.as_ref().is_none_or(|known| *known == assessed()));
                Some(self.decided(on_message.unwrap_or_else(assessed), policy, effects))
            }
            None => Some(self.deliver_held(held)),
        }
    }

    /// The handoff after a compaction outside of a sequence, once the host can take it: in the running turn, with the next
    /// message, or at once if neither is possible.
    fn late_handoff(&self, rules: &Rules<'_>) -> Option<(Starting, Packet)> {
        let (thread, can) = (&self.thread, self.thread.session.host.can);
        if thread.handoffs.waits || thread.is_handing_over() {
            return None;
        }
        let packet = self.late_packet(rules)?;
        let trigger = match thread.handoffs.late? {
            // The compaction of a sequence that had given up: the agent continues where that sequence would have.
            CompactionOrigin::Rawr if thread.fresh_packet().is_some() => {
                thread.compactions.last.as_ref()?.trigger.clone()?
            }
            CompactionOrigin::User => Trigger::User,
            CompactionOrigin::Rawr | CompactionOrigin::Host => Trigger::Host,
        };
        let newest = thread.turns.back().filter(|_| !thread.is_idle()).map(|turn| &turn.id);
        let running = newest.filter(|id| thread.is_in_turn(id));
        let turn = match running {
            // A compaction's own turn takes no message; a turn that makes another request is not one.
            Some(turn) if can.steer && thread.handoffs.compacted_in.as_ref() != Some(turn) => {
                Some(turn)
            }
            Some(turn) if can.steer && thread.between_requests.as_ref() == Some(turn) => Some(turn),
            Some(_) => return None,
            None if !thread.is_idle() => return None,
            None if matches!(trigger, Trigger::Rawr { .. }) => None,
            None if can.queue && !thread.held.iter().any(|held| held.action.is_none()) => {
                return None;
            }
            None if can.steer && !can.queue => return None,
            None => None,
        };
        let turn = turn.cloned();
        Some((
            Starting { trigger, turn, needs_approval: false, closing: None, draft: None },
            packet,
        ))
    }

    /// What closes a heads-up whose compaction did not come, once the host can take it: with the next message, or in the
    /// next turn where no message is held. It starts no turn of its own.
    fn notice(&self) -> Option<Starting> {
        let (thread, can) = (&self.thread, self.thread.session.host.can);
        if !thread.handoffs.unclosed || thread.handoffs.late.is_some() {
            return None;
        }
        let newest = thread.turns.back().filter(|turn| turn.origin == TurnOrigin::User);
        let running = newest.map(|turn| &turn.id).filter(|id| thread.is_in_turn(id));
        let turn = match running {
            Some(turn) if can.steer && !can.queue => Some(turn.clone()),
            None if thread.is_idle() && thread.held.iter().any(|held| held.action.is_none()) => {
                None
            }
            _ => return None,
        };
        let trigger = Trigger::Host;
        Some(Starting { trigger, turn, needs_approval: false, closing: None, draft: None })
    }

    /// Whether the next message carries such a notice.
    pub(super) fn closes_with_message(&self) -> bool {
        self.thread.handoffs.unclosed && self.thread.session.host.can.queue
    }

    /// The sequence that tells so. Its handoff is the notice.
    fn closing(&self, starting: Starting, rules: &Rules<'_>) -> SequenceStarted {
        let mut started = self.start(starting, None, rules);
        rules.prompts.text(PromptName::CalledOff).clone_into(&mut started.prompts.handoff);
        let (requests, draft) = (Vec::new(), None);
        SequenceStarted {
            requests,
            draft,
            sampled: false,
            recovers: false,
            closes: true,
            ..started
        }
    }

    /// The packet that was not handed over yet, else one by rawr if enough is known.
    fn late_packet(&self, rules: &Rules<'_>) -> Option<Packet> {
        let (thread, policy) = (&self.thread, rules.policy);
        thread.handoffs.late.filter(|_| Self::hands_over(policy))?;
        if let Some(packet) = thread.owed_packet() {
            return Some(packet.clone());
        }
        let template = rules.prompts.text(PromptName::WatcherPacket);
        let (scratch, max) = (self.thread.scratch_file(policy), policy.packet_max_tail_chars);
        let may = thread.session.host.can.inject_turn && thread.has_packet_material();
        may.then(|| {
            let packet = compose::by_watcher(thread, template, rules.notes(&scratch), max);
            coverage::completed(packet, thread)
        })
    }

    /// In mode `tag` rawr tells the agent nothing.
    fn hands_over(policy: &Policy) -> bool {
        policy.enabled && policy.mode != Mode::Tag
    }

    /// Whether the next message carries a late handoff.
    pub(super) fn hands_over_with_message(&self, policy: &Policy) -> bool {
        let (thread, can) = (&self.thread, self.thread.session.host.can);
        let owed = thread.handoffs.late.is_some() && Self::hands_over(policy);
        owed && can.inject_turn
            && can.queue
            && (thread.owed_packet().is_some() || thread.has_packet_material())
    }

    /// The question to assess before a message is sent.
    pub(super) fn before_input<'q>(
        &'q self,
        text: &'q str,
        policy: &Policy,
    ) -> Option<Question<'q>> {
        if policy.built_in_decides() {
            let more = Tokens(rewrite::estimate(text));
            return Some(Question::Inline(Inline::BeforeInput(more)));
        }
        let turn = self.thread.stage.waiting()?.turn.as_ref()?;
        Some(Question::Preflight { turn, message: text })
    }

    /// Assesses between two sampling requests of a turn. There are many of these, so "nothing" is recorded only if the
    /// tier became more urgent.
    fn assess_inside_turn(
        &self,
        turn: &TurnId,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Option<Event> {
        let (thread, policy) = (&self.thread, rules.policy);
        if thread.percent_remaining(policy).is_none() || !thread.is_in_turn(turn) {
            return None;
        }
        let inline = policy.built_in_decides();
        let question = if inline {
            Question::Inline(Inline::MidTurn(turn))
        } else {
            thread.tier(policy)?;
            Question::MidTurn(turn)
        };
        let more_urgent = !inline && thread.tier(policy) > thread.mid_turn_tier;
        let decide = || assess(thread, policy, question, now);
        if !more_urgent && is_nothing(thread, policy, question, now) {
            debug_assert!(decide().is_nothing());
            return None;
        }
        let decision = decide();
        debug_assert!(more_urgent || !decision.is_nothing());
        Some(self.decided(decision, policy, effects))
    }

    fn assess_emergency(
        &self,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Option<Event> {
        let tier = self.thread.tier(rules.policy)?;
        let turn = self.thread.between_requests.as_ref()?;
        (tier == Tier::Emergency).then(|| self.assess_inside_turn(turn, rules, now, effects))?
    }

    /// Asks the judge once. When there is an answer, assesses the same question again.
    fn ask_judge(
        &self,
        judging: &Judging,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Option<Event> {
        let asked_by = &judging.asked_by;
        let turn = asked_by.turn.as_ref()?;
        let by = asked_by.tier.and_then(|tier| judge(rules.policy, tier, &self.thread));
        let by = by.filter(|source| *source != JudgmentSource::Heuristic);
        let Some(by) = by.filter(|_| judging.answer.is_none()) else {
            let held = self.thread.held.front();
            let question = match (asked_by.entrance, held) {
                (Entrance::MidTurn, _) => Question::MidTurn(turn),
                (Entrance::Preflight, Some(held)) => {
                    Question::Preflight { turn, message: &held.text }
                }
                (Entrance::Preflight, None) => Question::Silence(turn),
                (Entrance::TurnComplete | Entrance::Inline, _) => Question::TurnEnd(turn),
            };
            return Some(self.assess(question, rules, now, effects));
        };
        if judging.action.is_some() {
            return None;
        }
        let (tier, percent) = (asked_by.tier?, asked_by.percent?);
        let path = rules.policy.tiers.rule(tier).decision_prompt_path.as_deref();
        let case = judgment::JudgmentCase {
            thread: &self.thread,
            tier,
            percent,
            boundaries: asked_by.boundaries,
            last_message: self.thread.known.last_message.as_deref(),
            next_message: self.thread.held.front().map(|held| held.text.as_str()),
            excerpt: None,
        };
        let kind = HostAction::Judge {
            request: judging.request.clone(),
            by,
            instructions: rules.prompts.decision(path.unwrap_or_default()).to_owned(),
            context: judgment::context(&case, rules.prompts.text(PromptName::JudgmentContext)),
        };
        let action = ActionId::new(judging.request.as_str());
        Some(ActionIssued { action, sequence: self.thread.next_sequence_id(), kind }.into())
    }

    fn assess(
        &self,
        question: Question<'_>,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Event {
        let decision = assess(&self.thread, rules.policy, question, now);
        self.decided(decision, rules.policy, effects)
    }

    pub(super) fn decided(
        &self,
        mut decision: DecisionRecord,
        policy: &Policy,
        effects: &mut Vec<Effect>,
    ) -> Event {
        let event = Assessed {
            decision: decision.id.clone(),
            entrance: decision.entrance,
            outcome: decision.outcome,
            turn: decision.turn.clone(),
            tier: decision.tier,
            percent: decision.percent,
            boundaries: decision.boundaries,
            vetoed: decision.is_vetoed(),
            confirm: decision.confirm,
            after_turn: decision.after_turn,
            dropped: decision.drops(),
        };
        let bypassed = |result: &GateEvidence| {
            result.gate == Gate::Guard && result.outcome == GateOutcome::Bypassed
        };
        let goes_on = matches!(decision.outcome, Outcome::Compact | Outcome::Ask);
        if goes_on {
            let starting = self.thread.starting_of(&event);
            let inside = starting.turn.is_some();
            let turn = event.turn.as_ref();
            decision.requests = self.requests(&starting.trigger, inside, turn, policy);
        }
        let over_a_guard = goes_on && decision.gates.iter().any(bypassed);
        effects.push(Effect::Decided(Box::new(decision)));
        effects.extend(over_a_guard.then_some(Effect::Tell(Notice::GuardBypassed)));
        event.into()
    }

    /// What is to be asked of the agent before the compaction. Scratch notes are not asked for in an emergency, and only
    /// at a boundary that is worth noting.
    /// A conversation that the model refuses has no room for any of it.
    fn requests(
        &self,
        trigger: &Trigger,
        inside_turn: bool,
        assessed: Option<&TurnId>,
        policy: &Policy,
    ) -> Vec<AgentRequest> {
        if self.thread.gauge.overflowed.is_some() {
            return Vec::new();
        }
        use crate::boundary::Boundary::{AgentDone, Commit, PlanUpdate, PrCheckpoint};
        const NOTEWORTHY: Boundaries =
            Boundaries::of(&[Commit, PlanUpdate, PrCheckpoint, AgentDone]).or(Boundaries::FINISHED);
        let noteworthy = match trigger {
            Trigger::Rawr { tier, .. } => {
                *tier != Tier::Emergency
                    && !self.thread.present(assessed).and(NOTEWORTHY).is_empty()
            }
            Trigger::Inline { .. } => return Vec::new(),
            Trigger::Host | Trigger::User => false,
        };
        let scratch = policy.scratch_write_enabled && noteworthy;
        // Inside a turn only the agent knows what it is doing (rule `mid-turn.agent-writes`).
        let packet = policy.packet_author == PacketAuthor::Agent || inside_turn;
        let may_start_turns =
            !self.thread.session.host.can.queue_in_place || self.thread.held.is_empty();
        let queue = [
            (policy.turn_based_handoff && may_start_turns, AgentRequest::HeadsUp),
            (scratch && may_start_turns, AgentRequest::ScratchWrite),
            (packet, AgentRequest::Packet),
        ];
        queue.into_iter().filter_map(|(wanted, request)| wanted.then_some(request)).collect()
    }

    /// The packet of a compaction that is only proposed, asked for while the person reads. It is asked for once.
    fn packet_ahead(&self, rules: &Rules<'_>) -> Option<Event> {
        let thread = &self.thread;
        let compacts = matches!(rules.policy.mode, Mode::Auto | Mode::Ask);
        let wanted = rules.policy.packet_ahead
            && compacts
            && thread.stage.draft().is_none()
            && thread.held.is_empty();
        let proposal = &thread.proposal().filter(|_| wanted)?.assessed;
        // That a turn completed says too little to pay for a packet that may be thrown away.
        if proposal.boundaries == Boundaries::of(&[Boundary::TurnComplete]) {
            return None;
        }
        let action = ActionId::new(format!("{}.packet", proposal.decision));
        if thread.action(&action).is_some() {
            return None;
        }
        let started = self.start(thread.starting_of(proposal), None, rules);
        let sequence = Sequence::new(&started, thread.updated_at);
        let kind = sequence::request_ahead(thread, &sequence, rules)?;
        Some(ActionIssued { action, sequence: started.sequence, kind }.into())
    }

    fn start(
        &self,
        starting: Starting,
        late: Option<Packet>,
        rules: &Rules<'_>,
    ) -> SequenceStarted {
        let policy = rules.policy;
        let Starting { trigger, turn, needs_approval, .. } = starting;
        let assessed = self.thread.decided.last.as_ref().and_then(|last| last.turn.as_ref());
        let requests = match &late {
            Some(_) => Vec::new(),
            None => self.requests(&trigger, turn.is_some(), assessed, policy),
        };
        let recovers = late.is_none() && self.thread.gauge.overflowed.is_some();
        let author = match recovers {
            true => PacketAuthor::Watcher,
            false if turn.is_some() => PacketAuthor::Agent,
            false => policy.packet_author,
        };
        // Inside a turn a sample would not end the turn, and the compaction waits for that end.
        let can = self.thread.session.host.can;
        let sampled = (policy.packet_channel == PacketChannel::Sample || can.queue_in_place)
            && can.sample
            && turn.is_none()
            && requests.contains(&AgentRequest::Packet);
        let draft = self.thread.usable_draft().filter(|_| sampled && late.is_none()).cloned();
        SequenceStarted {
            sequence: self.thread.next_sequence_id(),
            trigger,
            author,
            sampled,
            recovers,
            turn,
            requests,
            needs_approval,
            scratch_file: self.thread.scratch_file(policy),
            worth: Worth::AboveFloor(policy.breaker.land_at_percent),
            prompts: SequencePrompts::of(rules.prompts),
            draft,
            late,
            closes: false,
        }
    }

    /// Sends the messages that waited, one at a time and in order.
    fn deliver_held(&self, first: &WaitingInput) -> Event {
        let sequence =
            self.thread.last_sequence.clone().unwrap_or_else(|| self.thread.next_sequence_id());
        // A message's id may be used again, and its host may remember each action.
        let number = self.thread.counts.deliveries + 1;
        let action = ActionId::new(format!("{sequence}.input{number}.{}", first.id));
        let items = vec![DeliveredMessage { role: ItemRole::Input, text: first.text.clone() }];
        let kind = HostAction::DeliverInput { input: first.id.clone(), items };
        ActionIssued { action, sequence, kind }.into()
    }
}
