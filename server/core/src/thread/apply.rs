//! The fold: what each event changes. It must depend on nothing but the state and the event.

use super::{
    Guard, HeldInput, Issued, Judging, LastCompaction, LastPacket, Mark, Progress, Speaker,
    Starting, Thread, Turn, TurnEnd,
};
use crate::boundary::{Boundaries, Boundary};
use crate::event::{
    Action, ActionIssued, ActionReported, ActionStatus, Answer, Assessed, Choice, CompactionOrigin,
    CompactionReported, CompactionStatus, DirectiveGiven, Ending, Entrance, Event, JudgeSource,
    JudgmentAnswered, Origin, Outcome, Phase, Record, Responded, SequenceEnded, ThreadOpened,
    Trigger, TurnCompleted, TurnStarted, TurnStatus, Until, Usage, UsageReported,
};
use crate::packet;
use crate::sequence::Sequence;
use crate::units::{ActionId, Timestamp, Tokens, TurnId};

/// How many turns and actions are remembered for reports that come late.
const REMEMBERED: usize = 32;
const COMPACTIONS: usize = 16;

impl Thread {
    pub fn apply(&mut self, record: &Record) {
        let at = record.at;
        self.updated_at = at;
        self.between_requests = None;
        match &record.event {
            Event::ThreadOpened(opened) => self.opened(opened, at),
            Event::ThreadClosed(_) => {}
            Event::TurnStarted(started) => self.turn_started(started, at),
            Event::UsageReported(reported) => self.usage_reported(reported),
            Event::TurnCompleted(completed) => self.turn_completed(completed),
            Event::PlanUpdated(updated) => {
                self.known.planned(&updated.steps, at);
                self.mark(updated.boundaries, updated.turn.as_ref());
            }
            Event::CommandFinished(finished) => {
                self.mark(finished.boundaries, finished.turn.as_ref());
                if !finished.boundaries.is_empty() {
                    self.known.milestone(&finished.command);
                }
                if finished.boundaries.has(Boundary::Commit) {
                    self.guards.retain(|guard| guard.until != Until::NextCommit);
                }
                if finished.tests_passed {
                    self.guards.retain(|guard| guard.until != Until::TestsPass);
                }
            }
            Event::CommitMade(made) => {
                self.mark(Boundaries::of(&[Boundary::Commit]), made.turn.as_ref());
                let hash = made.hash.as_deref().unwrap_or("commit");
                let subject = made.subject.as_deref().unwrap_or_default();
                self.known.milestone(&format!("{hash} {subject}"));
                self.guards.retain(|guard| guard.until != Until::NextCommit);
            }
            Event::PrCheckpoint(pr) => {
                self.mark(Boundaries::of(&[Boundary::PrCheckpoint]), pr.turn.as_ref());
                let url = pr.url.as_deref().unwrap_or_default();
                self.known.milestone(&format!("pull request: {} {url}", pr.action));
            }
            Event::BranchChanged(changed) => self.known.branch = Some(changed.branch.clone()),
            Event::ToolStarted(started) => {
                self.known.tools_running.insert(started.call.clone(), started.name.clone());
            }
            Event::ToolFinished(finished) => {
                self.known.tools_running.remove(&finished.call);
            }
            Event::PhaseEnded(ended) => {
                self.mark(Boundaries::of(&[Boundary::PlanCheckpoint]), ended.turn.as_ref());
                self.known.milestone(&ended.label);
            }
            Event::DirectiveGiven(given) => self.known.directed(given, at),
            Event::DirectiveCleared(cleared) => {
                self.known.directives.retain(|known| known.id != cleared.directive);
            }
            Event::RepoObserved(observed) => self.known.looked_at(&observed.repo, at),
            Event::InputHeld(held) => {
                self.held.push_back(HeldInput {
                    id: held.input.clone(),
                    text: held.text.clone(),
                    action: None,
                    assessed: false,
                });
            }
            Event::InputCancelled(cancelled) => self.held.retain(|held| held.id != cancelled.input),
            Event::GuardSet(set) => {
                self.guards_set += 1;
                self.guards.push(Guard {
                    id: set.guard.clone(),
                    until: set.until.clone(),
                    note: set.note.clone(),
                    by: set.by.clone(),
                    set_at: at,
                    set_at_turn: self.turns_ended,
                });
            }
            Event::GuardCleared(cleared) => self.guards.retain(|guard| guard.id != cleared.guard),
            Event::CompactionReported(reported) => self.compaction_reported(reported, at),
            Event::Assessed(assessed) => self.assessed(assessed, at),
            Event::JudgmentAnswered(answered) => self.judgment_answered(answered),
            Event::SequenceStarted(started) => {
                self.sequences += 1;
                self.starting = None;
                self.late_handoff = None;
                self.boundaries.retain(|mark| mark.spent_by.is_none());
                for mark in &mut self.boundaries {
                    mark.spent_by = Some(started.sequence.clone());
                }
                self.sequence = Some(Sequence::new(started, at));
            }
            Event::ActionIssued(issued) => self.action_issued(issued, at),
            Event::ActionReported(reported) => self.action_reported(reported),
            Event::PacketTaken(taken) => {
                self.last_packet = Some(LastPacket {
                    sequence: taken.sequence.clone(),
                    packet: taken.packet.clone(),
                    turns_ended: self.turns_ended,
                    handed_over: false,
                });
                if let Some(sequence) = &mut self.sequence {
                    sequence.took(&taken.packet, at);
                }
            }
            Event::Responded(responded) => self.responded(responded, at),
            Event::DeadlinePassed(passed) => match &mut self.sequence {
                Some(sequence) => sequence.overdue = true,
                None if passed.phase == Phase::AwaitingJudgment => {
                    self.judge_failed("the judge did not answer in time");
                }
                None => self.silent = true,
            },
            Event::SequenceEnded(ended) => self.sequence_ended(ended),
        }
    }

    fn action_issued(&mut self, issued: &ActionIssued, at: Timestamp) {
        match &issued.kind {
            Action::DeliverInput { input, .. } => {
                for held in self.held.iter_mut().filter(|held| held.id == *input) {
                    held.action = Some(issued.action.clone());
                }
            }
            Action::Judge { .. } => {
                if let Some(judging) = &mut self.judging {
                    judging.action = Some(issued.action.clone());
                    judging.since = at;
                }
                self.judged.calls += 1;
            }
            Action::InjectTurn { .. } | Action::Compact { .. } => {}
        }
        let running = self.sequence.as_mut().filter(|sequence| sequence.id == issued.sequence);
        if let Some(sequence) = running {
            sequence.issued(issued, at);
        }
        self.actions.push_back(Issued {
            id: issued.action.clone(),
            sequence: issued.sequence.clone(),
            kind: issued.kind.clone(),
            progress: Progress::Issued,
            turn: None,
        });
        self.forget_old();
    }

    fn action_reported(&mut self, reported: &ActionReported) {
        let progress = match reported.status {
            ActionStatus::Accepted => Progress::Accepted,
            ActionStatus::Completed => Progress::Completed(reported.text.clone()),
            ActionStatus::Failed => Progress::Failed(reported.error.clone().unwrap_or_default()),
        };
        let failed = matches!(progress, Progress::Failed(_));
        self.progressed(&reported.action, progress);
        if let Some(turn) = &reported.turn {
            self.bind(turn, &reported.action);
        }
        let judges = |judging: &Judging| judging.action.as_ref() == Some(&reported.action);
        if failed && self.judging.as_ref().is_some_and(judges) {
            self.judge_failed(reported.error.as_deref().unwrap_or("the host gave no reason"));
        }
    }

    fn judgment_answered(&mut self, answered: &JudgmentAnswered) {
        if let Some(usage) = answered.usage {
            let sum = &mut self.judged.usage;
            sum.input = Tokens(sum.input.0.saturating_add(usage.input.0));
            sum.output = Tokens(sum.output.0.saturating_add(usage.output.0));
        }
        if !answered.rate_limits.is_empty() {
            self.judged.rate_limits.clone_from(&answered.rate_limits);
        }
        self.judge_said(answered.source, answered.answer.clone());
    }

    fn judge_failed(&mut self, error: &str) {
        let action = self.judging.as_ref().and_then(|judging| judging.action.as_ref());
        let by = match action.and_then(|action| self.action(action)).map(|issued| &issued.kind) {
            Some(Action::Judge { by, .. }) => *by,
            _ => JudgeSource::Host,
        };
        self.judge_said(by, Answer::Failed { error: error.to_owned() });
    }

    fn judge_said(&mut self, source: JudgeSource, answer: Answer) {
        self.judged.failures += u32::from(matches!(answer, Answer::Failed { .. }));
        let Some(judging) = &mut self.judging else { return };
        judging.answer.get_or_insert((source, answer));
        if let Some(action) = judging.action.clone() {
            self.progressed(&action, Progress::Completed(None));
        }
    }

    /// The moment that the judge was asked about has passed.
    fn drop_question(&mut self) {
        if let Some(action) = self.judging.take().and_then(|judging| judging.action) {
            self.progressed(&action, Progress::Withdrawn);
        }
    }

    fn responded(&mut self, responded: &Responded, at: Timestamp) {
        if let Some(sequence) = &mut self.sequence {
            sequence.responded(responded, at);
            return;
        }
        match responded.choice {
            Choice::CompactNow => self.asked_for = true,
            Choice::Snooze | Choice::Cancel => {
                self.drop_question();
                self.deferred = None;
                self.leave_boundaries_behind();
            }
            Choice::Approve | Choice::EditPacket => {}
        }
    }

    /// A host that opens a thread again starts with a clean slate of running things, and the deadlines of a running
    /// sequence start anew: the time in between was nobody's.
    fn opened(&mut self, opened: &ThreadOpened, at: Timestamp) {
        self.cwd.clone_from(&opened.cwd);
        self.host.clone_from(&opened.host);
        self.model.clone_from(&opened.model);
        self.agent.clone_from(&opened.agent);
        self.window = opened.window.or(self.window);
        self.baseline = opened.baseline;
        self.known.tools_running.clear();
        self.compaction_running = false;
        if let Some(sequence) = &mut self.sequence {
            sequence.since = at;
        }
        if let Some(judging) = &mut self.judging {
            judging.since = at;
        }
    }

    fn usage_reported(&mut self, reported: &UsageReported) {
        self.window = reported.window.or(self.window);
        self.used(reported.usage);
        self.between_requests = reported.needs_follow_up.then(|| reported.turn.clone());
        let Some(message) = &reported.last_message else { return };
        if self.takes_packet(message) {
            return;
        }
        let synthetic = self.turn(&reported.turn).is_some_and(Turn::is_synthetic);
        if !synthetic {
            self.known.last_message = Some(message.clone());
            self.only_newest_message(&reported.turn);
            self.mark(reported.boundaries, Some(&reported.turn));
        }
    }

    /// The answer to a packet request that was put into the running turn.
    fn takes_packet(&mut self, message: &str) -> bool {
        let current = self.sequence.as_ref().and_then(|sequence| sequence.current.clone());
        let Some(action) = current else { return false };
        let steers = |issued: &Issued| issued.kind.is_steer() && issued.is_open();
        let takes = self.action(&action).is_some_and(steers) && packet::is_packet(message);
        if takes {
            self.progressed(&action, Progress::Completed(Some(message.to_owned())));
        }
        takes
    }

    /// What an agent says along the way is outdated by what it says next.
    fn only_newest_message(&mut self, turn: &TurnId) {
        self.boundaries.retain(|mark| {
            let semantic = Boundaries::SEMANTIC.has(mark.boundary);
            !semantic || mark.turn.as_ref() != Some(turn) || mark.spent_by.is_some()
        });
    }

    fn used(&mut self, usage: Usage) {
        // A host's numbers during a compaction are the summary request's own.
        if self.compaction_running {
            return;
        }
        self.context = Some(usage.context);
        if let Some(last) = self.last_compaction.as_mut().filter(|last| !last.measured) {
            last.after = Some(usage.context);
            last.measured = true;
            match last.was_worth_it() {
                Some(true) => self.strikes = 0,
                Some(false) => self.strikes += 1,
                None => {}
            }
        }
    }

    fn turn_started(&mut self, started: &TurnStarted, at: Timestamp) {
        self.silent = false;
        let action = started.action.clone().or_else(|| {
            let text = started.text.as_deref()?;
            self.actions
                .iter()
                .find(|issued| marker(&issued.kind).is_some_and(|m| text.contains(m)))
                .map(|i| i.id.clone())
        });
        self.turn_entry(&started.turn).origin = started.origin;
        if let Some(action) = action {
            self.bind(&started.turn, &action);
        }
        let Some(origin) = self.turn(&started.turn).map(|turn| turn.origin) else { return };
        if origin != Origin::Synthetic {
            if let Some(text) = &started.text {
                self.known.first_message.get_or_insert_with(|| text.clone());
                self.known.heard(Speaker::User, text);
            }
            for text in &started.directives {
                let given = DirectiveGiven { text: text.clone(), pinned: false, by: None };
                self.known.directed(&given, at);
            }
            if self.judging.is_some() || self.deferred.is_some() {
                self.drop_question();
                self.deferred = None;
                self.leave_boundaries_behind();
            }
            self.mid_turn_tier = None;
            self.known.tools_running.clear();
            // Whatever the host did by itself before is over, even if its end was never told.
            self.compaction_running &= origin != Origin::User;
            self.boundaries.retain(|mark| !mark.assessed);
        }
    }

    /// Reports come in any order: whoever names a turn first makes its entry.
    fn turn_entry(&mut self, id: &TurnId) -> &mut Turn {
        let at = self.turns.iter().position(|turn| turn.id == *id).unwrap_or_else(|| {
            self.turns.push_back(Turn {
                id: id.clone(),
                origin: Origin::User,
                action: None,
                steers: Vec::new(),
                end: None,
            });
            self.turns.len() - 1
        });
        &mut self.turns[at]
    }

    fn bind(&mut self, turn: &TurnId, action: &ActionId) {
        let inside = self.sequence.as_ref().is_some_and(|of| of.turn.as_ref() == Some(turn));
        if inside && self.action(action).is_some_and(|issued| issued.kind.is_steer()) {
            self.steered(turn, action);
            return;
        }
        let users_own = self.action(action).is_some_and(Issued::delivers_only_input);
        let entry = self.turn_entry(turn);
        entry.origin = if users_own { Origin::User } else { Origin::Synthetic };
        entry.action = Some(action.clone());
        let end = entry.end.clone();
        if !users_own {
            self.boundaries
                .retain(|mark| mark.turn.as_ref() != Some(turn) || mark.spent_by.is_some());
        }
        if let Some(issued) = self.actions.iter_mut().find(|issued| issued.id == *action) {
            issued.turn = Some(turn.clone());
            if issued.progress == Progress::Issued {
                self.progressed(action, Progress::Accepted);
            }
        }
        if let Some(end) = end {
            self.turn_of_action_ended(action, &end);
        }
        self.forget_old();
    }

    /// A turn that took a text in stays whose it was.
    fn steered(&mut self, turn: &TurnId, action: &ActionId) {
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

    fn turn_of_action_ended(&mut self, action: &ActionId, end: &TurnEnd) {
        let compacts =
            self.action(action).is_some_and(|issued| matches!(issued.kind, Action::Compact { .. }));
        let progress = match end.status {
            TurnStatus::Completed => Progress::Completed(end.message.clone()),
            TurnStatus::Interrupted | TurnStatus::Failed if compacts => {
                Progress::Failed(format!("the compaction turn ended {}", end.status.name()))
            }
            TurnStatus::Interrupted | TurnStatus::Failed => Progress::Completed(None),
        };
        self.progressed(action, progress);
    }

    fn turn_completed(&mut self, completed: &TurnCompleted) {
        let known = self.turn(&completed.turn).is_some();
        let entry = self.turn_entry(&completed.turn);
        if entry.end.is_some() {
            return;
        }
        let end = TurnEnd { status: completed.status, message: completed.last_message.clone() };
        entry.end = Some(end.clone());
        let (synthetic, action) = (entry.is_synthetic(), entry.action.clone());
        let steers = entry.steers.clone();
        self.unassessed = Some(completed.turn.clone());
        self.review_mode = completed.review_mode;
        self.drop_question();
        self.mid_turn_tier = None;
        if let Some(usage) = completed.usage {
            self.used(usage);
        }
        if let Some(action) = action {
            self.turn_of_action_ended(&action, &end);
        }
        let open = |action: &&ActionId| self.action(action).is_some_and(Issued::is_open);
        let answered: Vec<_> = steers.iter().filter(open).cloned().collect();
        for action in &answered {
            self.turn_of_action_ended(action, &end);
        }
        // A turn that nobody announced, while an injected one is awaited, may be that one: its report will tell.
        if !synthetic && (known || !self.awaits_unbound_turn()) {
            self.turns_ended += 1;
            if answered.is_empty() {
                self.turn_said(completed);
                self.packet_grew_stale();
            }
        }
        self.forget_old();
    }

    fn turn_said(&mut self, completed: &TurnCompleted) {
        if let Some(message) = &completed.last_message {
            self.known.heard(Speaker::Agent, message);
            self.known.last_message = Some(message.clone());
        }
        self.only_newest_message(&completed.turn);
        self.mark(completed.boundaries, Some(&completed.turn));
    }

    fn awaits_unbound_turn(&self) -> bool {
        let current = self.sequence.as_ref().and_then(|sequence| sequence.current.as_ref());
        current.and_then(|action| self.action(action)).is_some_and(|issued| issued.turn.is_none())
    }

    /// Work was done after the packet was written: it is asked for again.
    fn packet_grew_stale(&mut self) {
        let current = self.sequence.as_ref().and_then(|sequence| sequence.current.clone());
        let in_flight =
            current.and_then(|action| self.action(&action).map(Issued::is_open)).unwrap_or(false);
        if let Some(sequence) = self.sequence.as_mut().filter(|_| !in_flight) {
            sequence.packet_grew_stale();
        }
    }

    /// Boundaries of a sequence's own turns never count. A signal that names no turn belongs to the running one, which
    /// may turn out to be a sequence's later.
    fn mark(&mut self, boundaries: Boundaries, turn: Option<&TurnId>) {
        let running = self.turns.back().filter(|turn| turn.end.is_none());
        let turn = turn.or(running.map(|turn| &turn.id)).cloned();
        if turn.as_ref().and_then(|id| self.turn(id)).is_some_and(Turn::is_synthetic) {
            return;
        }
        for boundary in boundaries.iter() {
            let turn = turn.clone();
            self.boundaries.push(Mark { boundary, turn, spent_by: None, assessed: false });
        }
    }

    fn assessed(&mut self, assessed: &Assessed, at: Timestamp) {
        self.decisions += 1;
        self.asked_for = false;
        self.unassessed = None;
        self.deferred = None;
        self.drop_question();
        self.last_assessed = Some(assessed.clone());
        if assessed.entrance == Entrance::MidTurn {
            self.mid_turn_tier = self.mid_turn_tier.max(assessed.tier);
        }
        let for_input = matches!(assessed.entrance, Entrance::Preflight | Entrance::Inline);
        if let Some(held) = self.held.front_mut().filter(|_| for_input) {
            held.assessed = true;
        }
        match assessed.outcome {
            Outcome::Compact | Outcome::Ask => self.starting = Some(self.starting_of(assessed)),
            Outcome::Judge => {
                self.judging = Some(Judging {
                    request: Self::request_id(&assessed.decision),
                    asked_by: assessed.clone(),
                    since: at,
                    action: None,
                    answer: None,
                });
            }
            Outcome::Defer if assessed.entrance == Entrance::Preflight => {
                self.deferred = Some(assessed.clone());
            }
            Outcome::Nothing if assessed.entrance == Entrance::MidTurn && !assessed.vetoed => {}
            Outcome::Defer | Outcome::Nothing | Outcome::Tag | Outcome::Suggest => {
                // A sequence's own turn leaves the marks of others alone.
                let turn = assessed.turn.as_ref().and_then(|turn| self.turn(turn));
                if !turn.is_none_or(Turn::is_synthetic) && self.sequence.is_none() {
                    self.leave_boundaries_behind();
                }
            }
        }
    }

    fn starting_of(&self, assessed: &Assessed) -> Starting {
        let trigger = match (assessed.turn.as_ref(), assessed.tier, assessed.percent) {
            (_, _, Some(percent)) if assessed.entrance == Entrance::Inline => {
                Trigger::Inline { percent }
            }
            (Some(_), Some(tier), Some(percent)) => Trigger::Rawr {
                entrance: assessed.entrance,
                tier,
                percent,
                boundaries: assessed.boundaries,
            },
            _ => Trigger::User,
        };
        let turn = assessed.turn.clone().filter(|turn| self.is_in_turn(turn));
        Starting { trigger, turn, needs_approval: assessed.outcome == Outcome::Ask }
    }

    /// Boundaries stay behind with the turn that they belonged to.
    fn leave_boundaries_behind(&mut self) {
        for mark in &mut self.boundaries {
            mark.assessed = true;
        }
    }

    fn progressed(&mut self, action: &ActionId, progress: Progress) {
        let Some(issued) = self.actions.iter_mut().find(|issued| issued.id == *action) else {
            return;
        };
        let delivers = matches!(issued.kind, Action::DeliverInput { .. });
        let adds_text = issued.progress == Progress::Completed(None)
            && matches!(progress, Progress::Completed(Some(_)));
        // A late "accepted" does not undo a "completed", and the first ending stands; only its text may still come.
        if issued.is_open() || adds_text {
            issued.progress = progress;
        }
        if delivers && !matches!(issued.progress, Progress::Issued) {
            self.held.retain(|held| held.action.as_ref() != Some(action));
        }
    }

    fn compaction_reported(&mut self, reported: &CompactionReported, at: Timestamp) {
        match reported.status {
            CompactionStatus::Started => (self.compaction_running, self.silent) = (true, false),
            CompactionStatus::Failed => self.compaction_running = false,
            CompactionStatus::Completed => {
                self.compaction_running = false;
                let before = reported.tokens_before.or(self.context);
                let late = self.gave_up_on.take().filter(|_| {
                    self.sequence.is_none() && reported.origin == CompactionOrigin::Rawr
                });
                let running = self.sequence.as_ref().filter(|sequence| !sequence.compacted());
                let ours = running.or(late.as_deref());
                let packet = ours.and_then(|sequence| sequence.packet.as_ref());
                let compaction = LastCompaction {
                    at,
                    turns_ended: self.turns_ended,
                    origin: reported.origin,
                    trigger: ours.map(|sequence| sequence.trigger.clone()),
                    sequence: ours.map(|sequence| sequence.id.clone()),
                    author: packet.map(|packet| packet.author),
                    before,
                    after: reported.tokens_after,
                    measured: false,
                    land_at_percent: ours.map(|sequence| sequence.land_at_percent),
                    added: packet.map(|packet| packet.added.clone()).unwrap_or_default(),
                };
                self.compactions.extend(self.last_compaction.replace(compaction));
                let many = self.compactions.len().saturating_sub(COMPACTIONS);
                self.compactions.drain(..many);
                self.context = reported.tokens_after;
                self.known.compacted();
                let fresh = self.fresh_packet().is_some();
                let not_ours = reported.origin != CompactionOrigin::Rawr;
                if self.sequence.is_none() && fresh && (not_ours || late.is_some()) {
                    self.late_handoff = Some(reported.origin);
                }
            }
        }
        if let Some(sequence) = &mut self.sequence {
            sequence.compaction_reported(reported);
        }
    }

    fn sequence_ended(&mut self, ended: &SequenceEnded) {
        let Some(sequence) = self.sequence.take() else { return };
        self.last_sequence = Some(sequence.id.clone());
        match ended.ending {
            Ending::Completed => {
                let handed_over = sequence.handoff.is_some();
                if let Some(last) = self.last_packet.as_mut().filter(|_| handed_over) {
                    last.handed_over = true;
                }
            }
            Ending::Failed => self.strikes += 1,
            Ending::Cancelled => {}
        }
        for issued in self.actions.iter_mut().filter(|issued| issued.sequence == sequence.id) {
            let deliver = matches!(issued.kind, Action::DeliverInput { .. });
            if !deliver && issued.is_open() {
                issued.progress = Progress::Withdrawn;
            }
        }
        if sequence.compact.is_some() && !sequence.compacted() && sequence.handoff.is_none() {
            self.gave_up_on = Some(Box::new(sequence));
        }
    }

    /// Old turns and finished actions are dropped; an action that is still open never is.
    fn forget_old(&mut self) {
        let many = self.turns.len().saturating_sub(REMEMBERED);
        self.turns.drain(..many);
        while self.actions.len() > REMEMBERED
            && let Some(at) = self.actions.iter().position(|issued| !issued.is_open())
        {
            self.actions.remove(at);
        }
    }
}

fn marker(action: &Action) -> Option<&str> {
    match action {
        Action::InjectTurn { marker, .. } => Some(marker),
        Action::Compact { .. } | Action::DeliverInput { .. } | Action::Judge { .. } => None,
    }
}
