//! Whether the next message confirms that a phase of work ended before it, or the turn confirms that itself.

use super::{GateContext, Question};
use crate::boundary::{Boundaries, Boundary};
use crate::event::TurnStatus;
use crate::policy::ConfirmRule;
use crate::thread::{Speaker, Thread, Turn, Utterance};
use crate::words::closing;
use crate::words::go_on::only_goes_on;
use crate::words::next::{self, NextMessage};
use crate::words::phase::{self, TurnFacts};
use crate::words::{Probability, WorkAtHand};

/// What a message does to the work before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageEffect {
    GoesOn,
    Closes,
    OpensNew,
}

impl MessageEffect {
    /// For people, after "the next message".
    const fn verb(self) -> &'static str {
        match self {
            Self::GoesOn => "goes on with the same work",
            Self::Closes => "closes the work",
            Self::OpensNew => "opens something new",
        }
    }
}

/// What the next message says of the work before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Confirmation {
    pub message: NextMessage,
    /// That a phase of work ended before the message.
    pub ended: Probability,
    /// Facts say that the work is finished, and the message says no more than to go on: it opens what comes next.
    pub by_facts: Option<Boundaries>,
}

impl Confirmation {
    /// Whether this message, which was read so, asks for nothing but to put away what there is.
    pub fn closes(&self, message: &str) -> bool {
        let closes = self.by_facts.is_none() && self.likeliest().1 == MessageEffect::Closes;
        closes && !closing::asks_for_more(message)
    }

    /// Whether it confirms without a judge, where this probability is needed.
    pub fn suffices(&self, needed: Probability) -> bool {
        self.by_facts.is_some() || self.ended >= needed
    }

    /// What the message does and why it is read so, for people.
    pub fn evidence(&self) -> String {
        if let Some(facts) = self.by_facts {
            return format!(
                "the next message goes on after {}, with nothing left in the plan",
                facts.labels()
            );
        }
        let (share, effect) = self.likeliest();
        let does = effect.verb();
        let quotes: Vec<_> = self.message.evidence.iter().map(ToString::to_string).collect();
        let because =
            if quotes.is_empty() { String::new() } else { format!(": {}", quotes.join(", ")) };
        format!("the next message {does} ({share}{because})")
    }

    /// What confirms, for people. A message that more likely goes on than opens or closes says nothing of its own.
    pub fn confirms(&self) -> String {
        match self.likeliest().1 {
            _ if self.by_facts.is_some() => self.evidence(),
            MessageEffect::GoesOn => {
                format!("a phase ended before the next message ({})", self.ended)
            }
            MessageEffect::Closes | MessageEffect::OpensNew => self.evidence(),
        }
    }

    /// What confirms, with all figures, for people.
    pub fn confirmation(&self) -> String {
        match self.likeliest().1 {
            _ if self.by_facts.is_some() => self.evidence(),
            MessageEffect::GoesOn => self.confirms(),
            MessageEffect::Closes | MessageEffect::OpensNew => {
                format!("{}; a phase ended before it ({})", self.evidence(), self.ended)
            }
        }
    }

    /// The part that keeps it from confirming, for people.
    pub fn objection(&self, needed: Probability) -> String {
        let message = self.evidence();
        if self.likeliest().1 == MessageEffect::GoesOn {
            return message;
        }
        // Rounded down, because 64.6% is not the 65% that are needed.
        let ended = self.ended.thousandths() / 10;
        format!("the end of a phase is only {ended}% likely, needed {needed}; {message}")
    }

    fn likeliest(&self) -> (Probability, MessageEffect) {
        let NextMessage { new, close, same, .. } = &self.message;
        let all = [
            (*same, MessageEffect::GoesOn),
            (*close, MessageEffect::Closes),
            (*new, MessageEffect::OpensNew),
        ];
        all.into_iter().max_by_key(|(share, _)| *share).unwrap_or((*same, MessageEffect::GoesOn))
    }
}

/// What in a turn may confirm a proposal, before anyone speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfirmedBy {
    /// A person or a program ended the phase explicitly.
    Mark,
    /// The message of the turn closed the work, and the turn carried it out.
    ClosingMessage,
    /// These happened in the turn, and this likely a phase of work ended with it.
    Facts(Boundaries, Probability),
}

/// What a turn says of its own proposal. Something happened in it that may confirm by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TurnEvidence {
    by: ConfirmedBy,
    /// What keeps it from confirming, for people.
    pub objection: Option<String>,
}

impl TurnEvidence {
    /// Someone said so: there is nothing to judge.
    pub fn is_certain(&self) -> bool {
        matches!(self.by, ConfirmedBy::Mark | ConfirmedBy::ClosingMessage)
    }

    /// What confirms, for people.
    pub fn confirmed_by(&self) -> String {
        match self.by {
            ConfirmedBy::Mark => "a phase was ended explicitly".to_owned(),
            ConfirmedBy::ClosingMessage => {
                "confirmed by a message that closed the work, which is carried out".to_owned()
            }
            ConfirmedBy::Facts(by, _) => {
                let facts = by.without(Boundaries::of(&[Boundary::AgentDone]));
                let by = match facts.is_empty() {
                    true => String::new(),
                    false => format!("{} with ", facts.labels()),
                };
                format!("confirmed by {by}a claim to be done")
            }
        }
    }

    /// With how likely a phase ended, for people.
    pub fn evidence(&self) -> String {
        let confirmed_by = self.confirmed_by();
        match self.by {
            ConfirmedBy::Facts(_, ended) => {
                format!("{confirmed_by}; a phase ended with the turn ({ended})")
            }
            ConfirmedBy::Mark | ConfirmedBy::ClosingMessage => confirmed_by,
        }
    }
}

impl GateContext<'_> {
    /// Reads the next message, where it decides about a proposal.
    pub(super) fn next_message(&self) -> Option<Confirmation> {
        let Question::Preflight { turn, message } = self.question else { return None };
        if self.confirm() == ConfirmRule::None {
            return None;
        }
        let work = work_at_hand(self.thread);
        let facts = facts(self.thread, self.thread.turn(turn), self.present());
        let message_is = next::of(message, &work);
        let ended = phase::ended(&work, &message_is, facts);
        let by_facts = self.finished_by_facts().filter(|_| only_goes_on(message));
        Some(Confirmation { message: message_is, ended, by_facts })
    }

    /// Facts that say that the work is finished, whatever words say: it was merged, or all steps of its plan are done and it was
    /// committed.
    fn finished_by_facts(&self) -> Option<Boundaries> {
        const MERGED: Boundaries = Boundaries::of(&[Boundary::Merged]);
        const RECORDED: Boundaries =
            Boundaries::of(&[Boundary::Commit, Boundary::Pushed, Boundary::PrCheckpoint]);
        let (known, present) = (&self.thread.known, self.present());
        let is_open = known.open_steps().next().is_some() || !known.failed_checks.is_empty();
        let of_a_plan = if known.plan.is_empty() { MERGED } else { MERGED.or(RECORDED) };
        let facts = present.and(of_a_plan);
        (!is_open && !facts.is_empty()).then_some(facts)
    }

    /// Reads the turn that ended, where something in it may confirm its proposal.
    pub(super) fn turn_evidence(&self) -> Option<TurnEvidence> {
        let Question::TurnEnd(turn) = self.question else { return None };
        if self.confirm() == ConfirmRule::None {
            return None;
        }
        let marked = self.counting.and(Boundaries::of(&[Boundary::PhaseEnded]));
        if !marked.is_empty() {
            return Some(TurnEvidence { by: ConfirmedBy::Mark, objection: None });
        }
        if self.closing().is_some() {
            let objection = self.not_carried_out();
            return Some(TurnEvidence { by: ConfirmedBy::ClosingMessage, objection });
        }
        let by = self.counting.and(self.rule()?.1.confirms_itself);
        let rule = self.policy.self_confirmation;
        let applies = rule.everywhere || !self.thread.session.host.can.queue;
        if by.is_empty() || !applies {
            return None;
        }
        let work = work_at_hand(self.thread);
        let facts = facts(self.thread, self.thread.turn(turn), self.present());
        let ended = phase::ended_with_turn(&work, self.opening().as_ref(), facts);
        let objection = self.objection(&work, ended);
        Some(TurnEvidence { by: ConfirmedBy::Facts(by, ended), objection })
    }

    /// What speaks against that the turn carried out a message that closes the work.
    fn not_carried_out(&self) -> Option<String> {
        let check = self.turn.and_then(|turn| turn.checked);
        let failed = self.thread.known.failed_checks.first().filter(|_| check == Some(false));
        if let Some(check) = failed {
            return Some(format!("`{check}` failed"));
        }
        let asks = || work_at_hand(self.thread).asks();
        asks().then(|| "the agent asks something".to_owned())
    }

    /// What keeps the turn from confirming itself, however likely a phase ended with it.
    fn objection(&self, work: &WorkAtHand, ended: Probability) -> Option<String> {
        let known = &self.thread.known;
        let needed = self.policy.self_confirmation.percent;
        let needed = Probability::of_percent(needed);
        if let Some(check) = known.failed_checks.first() {
            return Some(format!("`{check}` failed and has not passed since"));
        }
        if let Some(step) = known.open_steps().next() {
            return Some(format!("a step of the plan is open: {}", step.step));
        }
        if !self.present().has(Boundary::AgentDone) {
            return Some("the agent does not say that the work is done".to_owned());
        }
        if work.asks() {
            return Some("the agent asks something".to_owned());
        }
        // Rounded down, because 74.6% is not the 75% that are needed.
        let likely = ended.thousandths() / 10;
        (ended < needed).then(|| {
            format!("that a phase ended with the turn is only {likely}% likely, needed {needed}")
        })
    }

    /// What the turn's own message was to the work before it.
    fn opening(&self) -> Option<NextMessage> {
        let said: Vec<_> = self.thread.known.said.iter().collect();
        let of = |said: &[&Utterance], by: Speaker| said.iter().rposition(|one| one.by == by);
        let message = of(&said, Speaker::User)?;
        let answer = of(&said[..message], Speaker::Agent)?;
        let asked: Vec<&str> = said[..message]
            .iter()
            .filter(|said| said.by == Speaker::User)
            .map(|said| said.text.as_str())
            .collect();
        let before = WorkAtHand::new(&asked, &said[answer].text);
        Some(next::of(&said[message].text, &before))
    }
}

/// What the person asked for last and the agent said last.
pub(super) fn work_at_hand(thread: &Thread) -> WorkAtHand {
    let known = &thread.known;
    let asked: Vec<&str> = known
        .said
        .iter()
        .filter(|said| said.by == Speaker::User)
        .map(|said| said.text.as_str())
        .collect();
    WorkAtHand::new(&asked, known.last_message.as_deref().unwrap_or_default())
}

/// What is known for certain of the turn that proposed.
fn facts(thread: &Thread, turn: Option<&Turn>, present: Boundaries) -> TurnFacts {
    const COMMITS: Boundaries =
        Boundaries::of(&[Boundary::Commit, Boundary::Pushed, Boundary::Merged]);
    let checked = turn.and_then(|turn| turn.checked);
    let ended = turn.and_then(|turn| turn.end.as_ref());
    let known = &thread.known;
    TurnFacts {
        committed: !present.and(COMMITS).is_empty(),
        tests_passed: checked == Some(true),
        tests_failed: checked == Some(false),
        plan_finished: present.has(Boundary::PlanCheckpoint) && known.open_steps().next().is_none(),
        plan_open: known.open_steps().next().is_some(),
        interrupted: ended.is_some_and(|end| end.status != TurnStatus::Completed),
    }
}
