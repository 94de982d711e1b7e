//! What a thread keeps is bounded, and records of format 1 fold as before.

use super::*;
use crate::policy::Mode;
use crate::prompt::Prompts;
use crate::thread::Turn;
use crate::units::ThreadId;
use serde_json::{Value, json};

struct Play {
    machine: Machine,
    policy: Policy,
    prompts: Prompts,
    records: Vec<Record>,
}

fn play(policy: Policy) -> Play {
    let machine = Machine::new(Thread::new(ThreadId::new("t")));
    Play { machine, policy, prompts: Prompts::new(|_| String::new()), records: Vec::new() }
}

impl Play {
    fn told(&mut self, input: Input) -> Result<(), Refusal> {
        let rules = Rules { policy: &self.policy, prompts: &self.prompts, notes_exist: false };
        let effects = self.machine.handle(input, &rules, Timestamp(0))?;
        self.records.extend(effects.into_iter().filter_map(|effect| match effect {
            Effect::Record(record) => Some(record),
            _ => None,
        }));
        Ok(())
    }

    fn saw(&mut self, event: &Value) -> Result<(), Refusal> {
        self.told(Input::Saw(serde_json::from_value(event.clone()).unwrap()))
    }

    fn submitted(&mut self, nth: usize) -> Result<(), Refusal> {
        let (input, text) = (InputId::new(format!("i{nth}")), "go on".to_owned());
        self.told(Input::Submitted { input, text, kind: InputKind::Message })
    }

    fn guarded(&mut self) -> Result<(), Refusal> {
        self.told(Input::SetGuard { until: GuardEnd::Released, note: None, by: None })
    }
}

#[test]
fn boundaries_of_unknown_turns_are_limited() {
    let mut play = play(Policy::default());
    for nth in 0..100 {
        let turn = format!("t{nth}");
        play.saw(&json!({ "commit_made": { "turn": turn, "signal": turn } })).unwrap();
    }
    let thread = play.machine.thread();
    assert_eq!((thread.boundaries.len(), thread.signals.len()), (64, 64));
    let newest = thread.boundaries.last().and_then(|mark| mark.turn.as_ref());
    assert_eq!(newest, Some(&TurnId::new("t99")));
}

#[test]
fn old_messages_are_cut_to_their_last_kilobytes() {
    let mut play = play(Policy::default());
    for nth in 0..6 {
        let message = "ä".repeat(5000);
        let end =
            json!({ "turn": format!("t{nth}"), "status": "completed", "last_message": message });
        play.saw(&json!({ "turn_completed": end })).unwrap();
    }
    let message = |turn: &Turn| turn.end.as_ref()?.message.as_ref().map(String::len);
    let kept: Vec<_> = play.machine.thread().turns.iter().filter_map(message).collect();
    assert_eq!(kept, [4096, 4096, 10000, 10000, 10000, 10000]);
}

#[test]
fn guards_directives_and_messages_beyond_the_limit_are_refused() {
    let mut play = play(Policy::default());
    for _ in 0..Bound::Guards.most() {
        play.guarded().unwrap();
    }
    assert_eq!(play.guarded(), Err(Refusal::Full(Bound::Guards)));
    let directive =
        |nth| json!({ "directive_given": { "text": format!("rule {nth}"), "pinned": true } });
    for nth in 0..Bound::Directives.most() {
        play.saw(&directive(nth)).unwrap();
    }
    let more = play.saw(&directive(Bound::Directives.most()));
    assert_eq!(more, Err(Refusal::Full(Bound::Directives)));
    assert_eq!(play.saw(&directive(0)), Ok(()), "it is known");
    play.saw(&json!({ "input_held": { "input": "i0", "text": "first" } })).unwrap();
    for nth in 1..Bound::HeldMessages.most() {
        play.submitted(nth).unwrap();
    }
    let more = play.submitted(Bound::HeldMessages.most());
    assert_eq!(more, Err(Refusal::Full(Bound::HeldMessages)));
}

/// There a question took the compaction that came before its answer.
#[test]
fn in_format_1_a_sequence_that_waits_for_approval_takes_a_compaction_without_a_handoff() {
    let mut play = play(Policy { mode: Mode::Ask, ..Policy::default() });
    let host =
        json!({ "name": "h", "can": { "inject_turn": true, "compact": true, "queue": true } });
    let usage = json!({ "context": 60_000 });
    for event in [
        json!({ "thread_opened": { "cwd": "/", "host": host, "window": 100_000, "baseline": 0 } }),
        json!({ "turn_started": { "turn": "t1", "origin": "user", "text": "write it" } }),
        json!({ "commit_made": { "turn": "t1", "subject": "parser" } }),
        json!({ "turn_completed": { "turn": "t1", "status": "completed", "usage": usage } }),
        json!({ "compaction_reported": { "status": "completed", "origin": "user" } }),
    ] {
        play.saw(&event).unwrap();
    }
    let known = |thread: &Thread| (thread.known.milestones.len(), thread.handoffs.late.is_some());
    assert_eq!(known(play.machine.thread()), (1, true));
    let mut thread = Thread::new(ThreadId::new("t"));
    for record in play.records {
        thread.apply(&Record { v: 1, ..record });
    }
    assert_eq!(known(&thread), (0, false));
}
