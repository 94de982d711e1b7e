//! Folds turns: who began them, what was said and used in them.

use crate::boundary::Boundaries;
use crate::event::{
    DirectiveGiven, HostAction, Overflow, Purpose, TurnCompleted, TurnOrigin, TurnStarted,
    TurnStatus, Usage, UsageReported, UserMessage,
};
use crate::packet;
use crate::thread::fate::Fate;
use crate::thread::{Issued, Overflowed, Progress, Speaker, Thread, Turn, TurnEnd};
use crate::units::{ActionId, Timestamp, Tokens, TurnId};

/// Whether the text has the first line of the action, and not only its marker.
fn begins_as(text: &str, kind: &HostAction) -> bool {
    let HostAction::InjectTurn { text: said, .. } = kind else { return true };
    said.lines().next().is_none_or(|first| text.contains(first))
}

impl Thread {
    pub(super) fn turn_started(&mut self, started: &TurnStarted, at: Timestamp, v: u16) {
        self.silent_since = None;
        let is_new = self.turn(&started.turn).is_none();
        let action = started.action.clone().or_else(|| {
            // People quote markers. A turn of rawr's has its own as the last line of its text, and an order that was called
            // off may be on its way.
            let text = started.text.as_deref()?;
            let last = text.trim_end().lines().next_back()?.trim();
            let may_come = |issued: &&Issued| {
                let ended = matches!(issued.progress, Progress::Completed(_) | Progress::Failed(_));
                let is_its_marker = marker(&issued.kind) == Some(last);
                !ended && issued.turn.is_none() && is_its_marker && begins_as(text, &issued.kind)
            };
            self.actions.iter().find(may_come).map(|issued| issued.id.clone())
        });
        self.handoffs.waits &= !is_new;
        let entry = self.turn_entry(&started.turn);
        entry.lost = false;
        let is_repeat = std::mem::replace(&mut entry.started, true);
        // An earlier report takes precedence: a host may call every turn a user's.
        if entry.action.is_none() {
            entry.origin = started.origin;
        }
        if let Some(action) = action {
            self.bind(&started.turn, &action, v);
        }
        // A host may name the running turn before it reports older ones.
        if v > 1 && !is_repeat {
            self.make_newest(&started.turn);
        }
        let Some(turn) = self.turn(&started.turn) else { return };
        let (origin, is_over) = (turn.origin, self.is_over(turn));
        if v > 1 && is_repeat {
            return;
        }
        // Whatever the host did before is over, even if its end was never reported.
        if v > 1 {
            let compacts = !is_new || self.compacts(&started.turn);
            self.compactions.running_since = self.compactions.running_since.filter(|_| compacts);
        } else {
            let compacts = origin != TurnOrigin::User;
            self.compactions.running_since = self.compactions.running_since.filter(|_| compacts);
        }
        if origin != TurnOrigin::Synthetic {
            self.person_wrote(started.text.as_deref(), &started.directives, at);
            // A late start says nothing about what runs and waits now.
            if v > 1 && is_over {
                return;
            }
            self.person_went_on();
            let asked_by = self.judging().map(|judging| &judging.asked_by);
            let waiting = self.stage.waiting().filter(|waiting| !waiting.after_turn);
            if let Some(assessed) = asked_by.or(waiting) {
                let turn = assessed.turn.clone();
                let why = "the next message did not wait for it".to_owned();
                self.settle_waiting(&Fate::Dropped { why }, at);
                self.end_waiting();
                self.leave_boundaries_behind(turn.as_ref(), v);
            }
            self.mid_turn_tier = None;
            self.known.tools_running.clear();
            self.boundaries.retain(|mark| !mark.assessed);
        }
    }

    /// A check ran in this turn, or in the running one.
    pub(super) fn checked(&mut self, check: &str, passed: bool, turn: Option<&TurnId>) {
        self.known.checked(check, passed);
        let is_meant = |known: &&mut Turn| turn.is_none_or(|turn| known.id == *turn);
        if let Some(turn) = self.turns.iter_mut().rev().find(is_meant) {
            turn.checked = Some(passed);
        }
    }

    fn person_wrote(&mut self, text: Option<&str>, directives: &[String], at: Timestamp) {
        if let Some(text) = text {
            self.known.first_message.get_or_insert_with(|| text.to_owned());
            self.known.remember(Speaker::User, text);
            self.known.asked(text);
        }
        for text in directives {
            let given = DirectiveGiven { text: text.clone(), pinned: false, by: None };
            self.known.directed(&given, at);
        }
    }

    /// A sequence's turn becomes the user's when the user writes into it: what the agent says then is meant for the
    /// user.
    pub(super) fn user_message(&mut self, said: &UserMessage, at: Timestamp) {
        self.silent_since = None;
        self.person_wrote(Some(&said.text), &said.directives, at);
        let running = self.turns.back().filter(|turn| turn.is_open());
        let Some(id) = said.turn.clone().or_else(|| running.map(|turn| turn.id.clone())) else {
            return;
        };
        let turn = self.turn_entry(&id);
        if turn.end.is_some() {
            return;
        }
        turn.lost = false;
        turn.joined = true;
        if turn.is_synthetic() {
            turn.origin = TurnOrigin::User;
        }
        let (action, steers) = (turn.action.clone(), turn.steers.clone());
        self.person_went_on();
        // A compaction's own turn takes no message.
        self.handoffs.compacted_in = self.handoffs.compacted_in.take().filter(|own| *own != id);
        let unanswered = |issued: &Issued| issued.is_open() && steers.contains(&issued.id);
        for issued in &mut self.actions {
            issued.talked_over |= Some(&issued.id) == action.as_ref() || unanswered(issued);
        }
    }

    /// Whether the turn carries out a compaction.
    fn compacts(&self, turn: &TurnId) -> bool {
        let action = self.turn(turn).and_then(|turn| turn.action.as_ref());
        let issued = action.and_then(|action| self.action(action));
        issued.is_some_and(|issued| matches!(issued.kind, HostAction::Compact { .. }))
    }

    /// The host came back: of the turns without an end, only this one is still running.
    pub(super) fn only_runs(&mut self, running: Option<&TurnId>, at: Timestamp) {
        if let Some(running) = running {
            self.turn_entry(running);
            self.make_newest(running);
        }
        for turn in &mut self.turns {
            turn.lost = turn.end.is_none() && running != Some(&turn.id);
        }
        let asked_in = self.judging().and_then(|judging| judging.asked_by.turn.as_ref());
        if asked_in.and_then(|turn| self.turn(turn)).is_some_and(|turn| turn.lost) {
            let why = "its turn ended with the host that ran it".to_owned();
            self.settle_waiting(&Fate::Dropped { why }, at);
            self.drop_question();
        }
        self.mid_turn_tier = self.mid_turn_tier.filter(|_| running.is_some());
        self.forget_old();
    }

    /// The running turn began after all others, in whatever order they were reported.
    fn make_newest(&mut self, running: &TurnId) {
        let open = |turn: &Turn| turn.id == *running && turn.end.is_none();
        if let Some(turn) = self.turns.iter().rposition(open).and_then(|at| self.turns.remove(at)) {
            self.turns.push_back(turn);
        }
    }

    pub(super) fn usage_reported(&mut self, reported: &UsageReported, at: Timestamp, v: u16) {
        if let Some(turn) = self.turns.iter_mut().rev().find(|turn| turn.id == reported.turn) {
            turn.lost = false;
        }
        if reported.model.is_some() {
            self.uses_model(reported.model.as_ref());
        }
        // A request that the model answered fits, whatever it refused before.
        let fits = |most: &Tokens| reported.usage.is_none_or(|usage| usage.context <= *most);
        self.gauge.learned_window = self.gauge.learned_window.filter(fits);
        if reported.window.is_some() {
            (self.gauge.window, self.gauge.window_is_assumed) = (reported.window, false);
            self.gauge.keep_learned_window();
        }
        self.gauge.compacts_above = reported.compacts_above.or(self.gauge.compacts_above);
        let can = &mut self.session.host.can;
        can.cache_seconds = reported.cache_seconds.or(can.cache_seconds);
        // The usage of an older turn is not what the context holds now.
        if v > 1 && self.is_followed(&reported.turn) {
            return;
        }
        if let Some(usage) = reported.usage {
            self.used(usage, at);
        }
        self.between_requests = reported.needs_follow_up.then(|| reported.turn.clone());
        let Some(message) = &reported.last_message else { return };
        if self.takes_packet(message, v) {
            return;
        }
        let turn = self.turn(&reported.turn);
        let not_its_own = |turn: &Turn| {
            let answers_request = !turn.steers.is_empty() && packet::is_packet(message);
            turn.is_synthetic() || v > 1 && (self.is_over(turn) || answers_request)
        };
        if !turn.is_some_and(not_its_own) {
            self.known.last_message = Some(message.clone());
            self.only_newest_message(&reported.turn);
            self.signaled(reported.boundaries, Some(&reported.turn), None, v);
            self.label(Boundaries::SEMANTIC, Some(&reported.turn), reported.heard.as_deref());
        }
    }

    /// Takes the answer to a packet request that was put into the running turn.
    pub(super) fn takes_packet(&mut self, message: &str, v: u16) -> bool {
        let current = self.sequence().and_then(|sequence| sequence.current.clone());
        let Some(action) = current else { return false };
        let steers = |issued: &Issued| {
            issued.kind.is_steer()
                && issued.is_open()
                && !issued.talked_over
                && (v == 1 || asks_for_packet(&issued.kind))
        };
        let takes = self.action(&action).is_some_and(steers) && packet::is_packet(message);
        if takes {
            self.progressed(&action, Progress::Completed(Some(message.to_owned())));
        }
        takes
    }

    pub(super) fn used(&mut self, usage: Usage, at: Timestamp) {
        // During a compaction the host reports the usage of the summary request.
        if self.compactions.running_since.is_some() {
            return;
        }
        self.model_answered();
        // What a provider reports that counts nothing. No context is empty.
        if usage.context == Tokens(0) {
            return;
        }
        let starts = self.gauge.context.is_none() && self.compactions.last.is_none();
        if starts {
            self.gauge.first_cached = usage.cached;
        }
        self.gauge.context = Some(usage.context);
        let compacted = self.compactions.last.as_mut().filter(|last| !last.measured);
        if starts || compacted.is_some() {
            let known = self.gauge.floor.unwrap_or(usage.context);
            self.gauge.floor = Some(known.min(usage.context));
        }
        if let Some(last) = compacted {
            last.after = Some(usage.context);
            last.measured = true;
            self.judge_compaction(at);
        }
    }

    /// What was refused before fits now.
    fn model_answered(&mut self) {
        self.gauge.overflowed = None;
        if let Some(last) = &mut self.compactions.last {
            last.answered = true;
        }
    }

    /// The conversation fills the window, whatever was known of both before.
    fn overflowed(&mut self, turn: &TurnId, overflow: Overflow) {
        let earlier = self.gauge.overflowed.take();
        let answered = match &earlier {
            Some(earlier) => earlier.answered,
            None => self
                .gauge
                .context
                .filter(|_| self.compactions.last.as_ref().is_none_or(|last| last.answered)),
        };
        let tried = earlier.is_some_and(|earlier| earlier.tried);
        self.gauge.overflowed = Some(Overflowed { turn: turn.clone(), answered, tried });
        self.gauge.context = self.gauge.context.max(overflow.size);
        let refused = overflow.size.and(self.gauge.context);
        let learned = [self.gauge.learned_window, overflow.window, refused].into_iter().flatten();
        self.gauge.learned_window = learned.filter(|most| *most > Tokens(0)).min();
        self.gauge.keep_learned_window();
    }

    /// What was learned of another model's window does not hold for this one.
    pub(super) fn uses_model(&mut self, model: Option<&String>) {
        let is_another = self.session.model.as_ref().zip(model).is_some_and(|(of, now)| of != now);
        self.gauge.learned_window = self.gauge.learned_window.filter(|_| !is_another);
        self.session.model = model.cloned();
    }

    pub(super) fn turn_completed(&mut self, completed: &TurnCompleted, at: Timestamp, v: u16) {
        let known = self.turn(&completed.turn).is_some();
        let entry = self.turn_entry(&completed.turn);
        if entry.end.is_some() {
            return;
        }
        let end = TurnEnd { status: completed.status, message: completed.last_message.clone() };
        entry.end = Some(end.clone());
        // A turn ends once, so its last message is news, whatever it said before.
        entry.counted = entry.counted.without(Boundaries::SEMANTIC);
        let (synthetic, action) = (entry.is_synthetic(), entry.action.clone());
        let steers = entry.steers.clone();
        self.unassessed = Some(completed.turn.clone());
        self.session.review_mode = completed.review_mode;
        self.drop_question();
        self.mid_turn_tier = None;
        if let Some(usage) = completed.usage {
            self.used(usage, at);
        }
        let is_of_agent =
            self.turn(&completed.turn).is_some_and(|turn| turn.origin != TurnOrigin::Host);
        if completed.status == TurnStatus::Completed
            && is_of_agent
            && !self.compacts(&completed.turn)
        {
            self.model_answered();
        }
        if let Some(overflow) = completed.overflow {
            self.overflowed(&completed.turn, overflow);
        }
        if let Some(action) = &action {
            self.turn_of_action_ended(action, &end);
        }
        let open = |action: &&ActionId| self.action(action).is_some_and(Issued::is_open);
        let answered: Vec<_> = steers.iter().filter(open).cloned().collect();
        for action in &answered {
            self.turn_of_action_ended(action, &end);
        }
        // A turn whose start was not reported may be the injected turn that is awaited. A report will show.
        if !synthetic && (known || !self.awaits_unbound_turn()) {
            self.turns_ended += 1;
            // The packet that was taken during the turn may also be its last message.
            let message = completed.last_message.as_deref();
            let ends_with_packet = !steers.is_empty() && message.is_some_and(packet::is_packet);
            if answered.is_empty() && !ends_with_packet {
                self.turn_ended_with(completed, v);
                if !self.is_asked_by_sequence(action.as_ref()) {
                    self.packet_grew_stale();
                }
            }
        }
        self.forget_old();
    }

    /// Work in the turn that the packet is asked for in comes before the packet.
    fn is_asked_by_sequence(&self, action: Option<&ActionId>) -> bool {
        let current = self.sequence().and_then(|sequence| sequence.current.as_ref());
        action.is_some_and(|action| current == Some(action))
    }

    pub(super) fn turn_ended_with(&mut self, completed: &TurnCompleted, v: u16) {
        if let Some(message) = &completed.last_message {
            self.known.remember(Speaker::Agent, message);
            self.known.last_message = Some(message.clone());
        }
        self.only_newest_message(&completed.turn);
        self.signaled(completed.boundaries, Some(&completed.turn), None, v);
        self.label(Boundaries::SEMANTIC, Some(&completed.turn), completed.heard.as_deref());
    }

    pub(super) fn awaits_unbound_turn(&self) -> bool {
        let current = self.sequence().and_then(|sequence| sequence.current.as_ref());
        let awaits = |issued: &Issued| issued.turn.is_none() && !issued.kind.is_sample();
        current.and_then(|action| self.action(action)).is_some_and(awaits)
    }

    /// Work was done since the packet or the sample, so it is asked for again. An injected turn that has not begun
    /// comes after that work.
    pub(super) fn packet_grew_stale(&mut self) {
        let draft = self.stage.draft_mut().and_then(Option::take);
        self.withdraw_draft(draft);
        let current = self.sequence().and_then(|sequence| sequence.current.as_ref());
        let comes_later = |issued: &Issued| issued.is_open() && !issued.kind.is_sample();
        let in_flight = current.and_then(|action| self.action(action)).is_some_and(comes_later);
        if let Some(sequence) = self.sequence_mut().filter(|_| !in_flight) {
            sequence.packet_grew_stale();
        }
    }

    /// The entry of a turn. Reports come in any order, so the first one to name a turn creates it.
    pub(super) fn turn_entry(&mut self, id: &TurnId) -> &mut Turn {
        let at = self.turns.iter().rposition(|turn| turn.id == *id).unwrap_or_else(|| {
            self.turns.push_back(Turn {
                id: id.clone(),
                origin: TurnOrigin::User,
                action: None,
                steers: Vec::new(),
                joined: false,
                started: false,
                end: None,
                lost: false,
                counted: Boundaries::NONE,
                checked: None,
            });
            self.turns.len() - 1
        });
        &mut self.turns[at]
    }

    pub(super) fn bind(&mut self, turn: &TurnId, action: &ActionId, v: u16) {
        let inside = self.sequence().is_some_and(|of| of.turn.as_ref() == Some(turn));
        if inside && self.action(action).is_some_and(|issued| issued.kind.is_steer()) {
            self.steered(turn, action);
            return;
        }
        // In format 1 a turn that began with a handoff belonged to the sequence, even with a user's message.
        let users_own = self.action(action).is_some_and(|issued| {
            issued.kind.delivered_text().is_some() && (v > 1 || !issued.kind.hands_over())
        });
        let entry = self.turn_entry(turn);
        let joined = entry.joined;
        entry.origin = if users_own || joined { TurnOrigin::User } else { TurnOrigin::Synthetic };
        entry.action = Some(action.clone());
        let end = entry.end.clone();
        if entry.is_synthetic() {
            self.boundaries
                .retain(|mark| mark.turn.as_ref() != Some(turn) || mark.spent_by.is_some());
        }
        if let Some(issued) = self.actions.iter_mut().find(|issued| issued.id == *action) {
            issued.turn = Some(turn.clone());
            issued.talked_over |= joined;
            if issued.progress == Progress::Issued {
                self.progressed(action, Progress::Accepted);
            }
        }
        self.late_handoff_progressed(action);
        if let Some(end) = end {
            self.turn_of_action_ended(action, &end);
        }
        self.forget_old();
    }

    /// An injected message does not change whose turn it is.
    pub(super) fn steered(&mut self, turn: &TurnId, action: &ActionId) {
        let entry = self.turn_entry(turn);
        if !entry.steers.contains(action) {
            entry.steers.push(action.clone());
        }
        if let Some(issued) = self.actions.iter_mut().find(|issued| issued.id == *action) {
            issued.turn = Some(turn.clone());
        }
        if self.action(action).is_some_and(|issued| issued.progress == Progress::Issued) {
            self.progressed(action, Progress::Accepted);
        }
    }

    pub(super) fn turn_of_action_ended(&mut self, action: &ActionId, end: &TurnEnd) {
        let compacts = self
            .action(action)
            .is_some_and(|issued| matches!(issued.kind, HostAction::Compact { .. }));
        let progress = match end.status {
            TurnStatus::Completed => Progress::Completed(end.message.clone()),
            TurnStatus::Interrupted | TurnStatus::Failed if compacts => {
                Progress::Failed(format!("the compaction turn ended {}", end.status.name()))
            }
            TurnStatus::Interrupted | TurnStatus::Failed => Progress::Completed(None),
        };
        self.progressed(action, progress);
    }
}

const fn asks_for_packet(action: &HostAction) -> bool {
    matches!(action, HostAction::InjectTurn { purpose: Purpose::PacketRequest, .. })
}

fn marker(action: &HostAction) -> Option<&str> {
    match action {
        HostAction::InjectTurn { marker, .. } => Some(marker),
        HostAction::Compact { .. }
        | HostAction::DeliverInput { .. }
        | HostAction::Judge { .. }
        | HostAction::SamplePacket { .. } => None,
    }
}
