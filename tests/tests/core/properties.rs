//! Properties of the machine for random inputs in any order, and for a host that loses, repeats and reorders its
//! reports while the machine is killed. In memory only.

mod any_input;
mod session;

use any_input::GeneratedStep;
use proptest::prelude::*;
use proptest::sample::select;
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::event::{Choice, Entrance, Event, Outcome};
use rawr_core::machine::ProcessRole;
use rawr_core::policy::{
    ConfirmRule, InlineCompact, JudgeBackend, MidTurn, Mode, PacketAuthor, PacketChannel, Policy,
    SelfConfirmation, Tiers,
};
use rawr_core::prompt::Prompts;
use rawr_core::units::{ActionId, InputId, ThreadId, Timestamp};
use rawr_core::{Effect, Input, Machine, Record, Refusal, Rules, Thread};
use session::{Act, PerformedAction, ReportOrder, SimulatedSession};
use std::collections::{BTreeMap, BTreeSet};

/// `PROPTEST_CASES` raises the number of cases.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// The relevant parts of a policy. A whole policy would make failure reports unreadable.
#[derive(Debug, Clone)]
struct TestPolicy {
    mode: Mode,
    author: PacketAuthor,
    channel: PacketChannel,
    scratch: bool,
    cooldown_turns: u32,
    heads_up: bool,
    mid_turn: MidTurn,
    /// Instead of everything else.
    inline: Option<InlineCompact>,
    judge: JudgeBackend,
    confirm: ConfirmRule,
    /// Turns confirm themselves as soon as they may.
    confirms_itself: bool,
}

impl TestPolicy {
    fn policy(&self) -> Policy {
        let mut policy = Policy {
            enabled: self.inline.is_none(),
            mode: self.mode,
            packet_author: self.author,
            packet_channel: self.channel,
            scratch_write_enabled: self.scratch,
            cooldown_turns: self.cooldown_turns,
            turn_based_handoff: self.heads_up,
            mid_turn: self.mid_turn,
            judge: self.judge,
            ..Policy::default()
        };
        policy.inline = self.inline.unwrap_or(policy.inline);
        let Tiers { early, ready, asap, emergency } = &mut policy.tiers;
        for tier in [early, ready, asap, emergency] {
            tier.decision_prompt_path = Some("judge.md".to_owned());
            tier.confirm = self.confirm;
            tier.confirms_itself =
                if self.confirms_itself { Boundaries::ALL } else { Boundaries::NONE };
        }
        policy.self_confirmation = SelfConfirmation { percent: 1, everywhere: true };
        policy
    }
}

fn setting() -> impl Strategy<Value = TestPolicy> {
    const AUTO: Mode = Mode::Auto;
    const OFF: JudgeBackend = JudgeBackend::Off;
    let mode = select(&[AUTO, AUTO, AUTO, AUTO, Mode::Ask, Mode::Suggest, Mode::Tag][..]);
    let author = select(&[PacketAuthor::Agent, PacketAuthor::Watcher][..]);
    let channel = select(&[PacketChannel::Transcript, PacketChannel::Sample][..]);
    let mid_turn = select(&[MidTurn::Off, MidTurn::Emergency, MidTurn::Policy][..]);
    let judge = select(&[OFF, OFF, JudgeBackend::Host, JudgeBackend::Heuristic][..]);
    let scratch = (any::<bool>(), 0..2_u32);
    let packet = (author, channel);
    let confirm = select(
        &[ConfirmRule::None, ConfirmRule::Message, ConfirmRule::Idle, ConfirmRule::Either][..],
    );
    let judge = (judge, confirm, any::<bool>());
    (mode, packet, scratch, any::<bool>(), mid_turn, inline(), judge).prop_map(
        |(mode, packet, (scratch, cooldown_turns), heads_up, mid_turn, inline, judge)| TestPolicy {
            confirm: judge.1,
            confirms_itself: judge.2,
            mode,
            author: packet.0,
            channel: packet.1,
            scratch,
            cooldown_turns,
            heads_up,
            mid_turn,
            inline,
            judge: judge.0,
        },
    )
}

fn inline() -> impl Strategy<Value = Option<InlineCompact>> {
    let inline = (any::<bool>(), select(&[15, 60][..])).prop_map(|(inside, threshold_percent)| {
        InlineCompact { enabled: true, threshold_percent, interrupt_mid_turn: inside }
    });
    proptest::option::weighted(0.15, inline)
}

/// A running machine and everything that it stored, by input.
struct Live {
    machine: Machine,
    prompts: Prompts,
    now: Timestamp,
    batches: Vec<Batch>,
}

/// The result of one input.
struct Batch {
    policy: Policy,
    role: ProcessRole,
    now: Timestamp,
    records: Vec<Record>,
}

#[derive(Debug, Clone)]
struct TimedStep {
    step: GeneratedStep,
    /// Since the last step. The clock may be set back.
    seconds: i64,
    /// Which of two policies applies: a person may edit it at any time.
    setting: usize,
    /// Which process receives the input, if it is a person's.
    role: ProcessRole,
}

impl Live {
    fn run(settings: &[TestPolicy; 2], moments: &[TimedStep]) -> Self {
        let policies = settings.each_ref().map(TestPolicy::policy);
        let mut live = Self {
            machine: Machine::new(Thread::new(ThreadId::new("t"))),
            prompts: Prompts::new(|name| format!("{} {{packet}}", name.name())),
            now: Timestamp(0),
            batches: Vec::new(),
        };
        let (window, can) = (Some(any_input::WINDOW), any_input::plain());
        let open = GeneratedStep::Open { window, can, running: None };
        live.take(&open, ProcessRole::Owner, &policies[0]);
        for moment in moments {
            live.now = Timestamp(live.now.0 + moment.seconds * 1000);
            let policy = &policies[moment.setting];
            live.take(&GeneratedStep::Tick, ProcessRole::Owner, policy);
            let role = if moment.step.is_a_persons() { moment.role } else { ProcessRole::Owner };
            live.take(&moment.step, role, policy);
        }
        live
    }

    fn take(&mut self, step: &GeneratedStep, role: ProcessRole, policy: &Policy) {
        let before = self.machine.thread().clone();
        let (input, now) = (step.input(&before), self.now);
        let rules = Rules { policy, prompts: &self.prompts, notes_exist: false };
        let effects = match role {
            ProcessRole::Owner => self.machine.handle(input, &rules, now),
            ProcessRole::Observer => self.machine.note(input, &rules, now),
        };
        let records = stored(effects);
        // The report of a turn that was given up for lost tells that it goes on.
        let mut at = before;
        for record in &records {
            assert_no_synthetic_turn_triggers(&at, record);
            at.apply(record);
        }
        self.batches.push(Batch { policy: policy.clone(), role, now, records });
    }

    fn records(&self) -> impl Iterator<Item = &Record> {
        self.batches.iter().flat_map(|batch| &batch.records)
    }
}

fn stored(effects: Result<Vec<Effect>, Refusal>) -> Vec<Record> {
    let record = |effect| if let Effect::Record(record) = effect { Some(record) } else { None };
    effects.unwrap_or_default().into_iter().filter_map(record).collect()
}

/// After its sequence has ended, a handoff's turn is the agent's own work: between its requests it may trigger, and at its
/// end if the model refused the conversation as too long. The built-in compaction depends only on the context.
fn assert_no_synthetic_turn_triggers(before: &Thread, record: &Record) {
    if let Event::Assessed(assessed) = &record.event
        && matches!(assessed.outcome, Outcome::Compact | Outcome::Ask)
        && assessed.entrance != Entrance::Inline
        && let Some(turn) = assessed.turn.as_ref().and_then(|turn| before.turn(turn))
    {
        let is_refused = before.gauge.overflowed.as_ref().is_some_and(|of| of.turn == turn.id);
        let goes_on = before.sequence().is_none() && (before.is_in_turn(&turn.id) || is_refused);
        assert!(!turn.is_synthetic() || goes_on, "{turn:?} of a sequence starts another");
    }
}

/// Follows from the state alone, so that a restart records it again. What drops a proposal follows from a message, and so
/// does what is only told at a message or a request after the policy has changed.
fn is_derived(event: &Event) -> bool {
    match event {
        Event::Assessed(assessed) => {
            let at_once = matches!(assessed.entrance, Entrance::Preflight | Entrance::Inline);
            let only_told =
                matches!(assessed.outcome, Outcome::Nothing | Outcome::Tag | Outcome::Suggest);
            assessed.dropped.is_none() && !(at_once && only_told)
        }
        Event::SequenceStarted(_)
        | Event::ActionIssued(_)
        | Event::PacketTaken(_)
        | Event::SequenceEnded(_) => true,
        _ => false,
    }
}

/// In seconds.
const YEAR: i64 = 366 * 24 * 60 * 60;

fn moments() -> impl Strategy<Value = Vec<TimedStep>> {
    let seconds = prop_oneof![
        12 => Just(0),
        6 => 1..30_i64,
        2 => 100..700_i64,
        1 => -700..0_i64,
        1 => Just(-YEAR),
        1 => Just(YEAR),
    ];
    let role = select(&[ProcessRole::Owner, ProcessRole::Observer][..]);
    let moment = (any_input::step(), seconds, 0..2_usize, role)
        .prop_map(|(step, seconds, setting, role)| TimedStep { step, seconds, setting, role });
    proptest::collection::vec(moment, 0..80)
}

proptest! {
    #![proptest_config(config())]

    // rule: signal.replayed
    #[test]
    fn replay_equals_live(settings in [setting(), setting()], moments in moments()) {
        let live = Live::run(&settings, &moments);
        let (mut straight, mut from_json) = (Thread::new(ThreadId::new("t")), Thread::new(ThreadId::new("t")));
        for record in live.records() {
            straight.apply(record);
            let line = serde_json::to_string(record).unwrap();
            let read: Record = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(&read, record, "{}", line);
            from_json.apply(&read);
        }
        prop_assert_eq!(&straight, live.machine.thread());
        prop_assert_eq!(&from_json, live.machine.thread());
        let cached: Thread = serde_json::from_str(&serde_json::to_string(&straight).unwrap()).unwrap();
        prop_assert_eq!(&cached, &straight);
    }

    #[test]
    fn a_restart_at_any_prefix_adds_only_derived_events(
        settings in [setting(), setting()],
        moments in moments(),
    ) {
        let live = Live::run(&settings, &moments);
        let mut restored = Machine::new(Thread::new(ThreadId::new("t")));
        for Batch { policy, role, now, records } in &live.batches {
            let observed = records.iter().take_while(|record| !is_derived(&record.event)).count();
            for at in 0..=records.len() {
                if at > 0 {
                    restored.apply(&records[at - 1]);
                }
                let mut woken = restored.clone();
                let due = woken.wakes_at(policy, *now).is_some_and(|due| due <= *now);
                // An observer leaves derived events to the owner's next input, which is in the next batch.
                if at < observed || due || *role == ProcessRole::Observer {
                    continue;
                }
                let rules = Rules { policy, prompts: &live.prompts, notes_exist: false };
                let added = stored(woken.handle(Input::Tick, &rules, *now));
                prop_assert_eq!(&added[..], &records[at..]);
            }
        }
        prop_assert_eq!(&restored, &live.machine);
    }
}

/// All that a person can answer.
const CHOICES: [Choice; 5] =
    [Choice::CompactNow, Choice::Approve, Choice::Snooze, Choice::Cancel, Choice::EditPacket];

fn act(lossy: bool, longest_wait: u64) -> impl Strategy<Value = Act> {
    let lost = move |act: Act| if lossy { act } else { Act::Arrive(1) };
    prop_oneof![
        6 => Just(Act::Message),
        1 => Just(Act::LocalCommand),
        1 => any::<usize>().prop_map(Act::TakeBack),
        2 => select(CHOICES.to_vec()).prop_map(Act::Respond),
        1 => Just(Act::Guard),
        1 => Just(Act::Unguard),
        14 => (1..8_usize).prop_map(Act::Arrive),
        2 => Just(lost(Act::Lose)),
        2 => Just(Act::Repeat),
        2 => Just(lost(Act::Swap)),
        2 => (0..=longest_wait).prop_map(Act::Wait),
        1 => prop_oneof![-1000..1000_i64, Just(-YEAR), Just(YEAR)]
            .prop_map(move |seconds| lost(Act::SetClock(seconds))),
        1 => Just(Act::Reopen),
        3 => (0..6_usize, any::<bool>()).prop_map(move |(written, again)| {
            Act::Crash { written, again: again || !lossy }
        }),
    ]
}

/// A session as data, so that proptest can shrink it.
#[derive(Debug, Clone)]
struct RandomScript {
    manner: ReportOrder,
    lands_at: u64,
    setting: TestPolicy,
    acts: Vec<Act>,
}

impl RandomScript {
    fn play(&self) -> SimulatedSession {
        let mut session = SimulatedSession::new(self.manner, self.lands_at, self.setting.policy());
        self.acts.iter().for_each(|act| session.act(act));
        session
    }
}

fn script(lossy: bool, longest_wait: u64) -> impl Strategy<Value = RandomScript> {
    use ReportOrder::{AcceptsThenStarts, BindsLate, BindsMidway, Marks, StartsThenAccepts};
    let manner = select(&[AcceptsThenStarts, StartsThenAccepts, Marks, BindsLate, BindsMidway][..]);
    let acts = proptest::collection::vec(act(lossy, longest_wait), 5..80);
    (manner, select(&[500, 9000][..]), setting(), acts).prop_map(
        |(manner, lands_at, setting, acts)| RandomScript { manner, lands_at, setting, acts },
    )
}

/// What a session that does not become idle is waiting for.
fn unsettled(session: &SimulatedSession) -> String {
    let thread = session.machine.thread();
    let running: Vec<_> = thread.turns.iter().filter(|turn| turn.end.is_none()).collect();
    let open: Vec<_> =
        thread.pending_actions().map(|issued| (&issued.id, &issued.progress)).collect();
    let (phase, held) = (thread.phase(), &thread.held);
    format!("still {phase:?}; running {running:?}; open {open:?}; held {held:?}")
}

fn most_for_one_sequence(
    session: &SimulatedSession,
    what: impl Fn(&PerformedAction) -> bool,
) -> usize {
    let mut counts = BTreeMap::new();
    for done in session.done.iter().filter(|done| what(done)) {
        *counts.entry(&done.sequence).or_insert(0) += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

fn issued_ids(log: &[Record]) -> Vec<ActionId> {
    let id = |record: &Record| match &record.event {
        Event::ActionIssued(issued) => Some(issued.action.clone()),
        _ => None,
    };
    log.iter().filter_map(id).collect()
}

proptest! {
    #![proptest_config(config())]

    // rule: client.action-once
    // rule: sequence.every-phase-ends
    #[test]
    fn one_action_once_and_every_sequence_ends(script in script(true, 1000)) {
        let mut session = script.play();
        prop_assert!(session.settle(), "{}", unsettled(&session));
        // The built-in compaction may use the host's own after the provider's freed too little.
        for local in [false, true] {
            let compacts = |done: &PerformedAction| done.compacts() == Some(local);
            prop_assert!(most_for_one_sequence(&session, compacts) <= 1);
        }
        prop_assert!(most_for_one_sequence(&session, PerformedAction::hands_over) <= 1);
        let issued = issued_ids(&session.log);
        let distinct: BTreeSet<_> = issued.iter().collect();
        prop_assert_eq!(distinct.len(), issued.len(), "duplicate id: {:?}", issued);
        let mut owed = 0;
        for done in &session.done {
            owed += i32::from(done.compacts().is_some()) - i32::from(done.hands_over());
            prop_assert!(owed >= 0, "a handoff without a compaction before it");
        }
    }

    // rule: handoff.never-skipped
    #[test]
    fn a_reported_compaction_gets_a_handoff(script in script(false, 20)) {
        let mut session = script.play();
        prop_assert!(session.settle(), "{}", unsettled(&session));
        for done in session.done.iter().filter(|done| done.compacts().is_some()) {
            let of_it = |other: &&PerformedAction| other.hands_over() && other.sequence == done.sequence;
            // The built-in compaction continues without a handoff.
            let owed = usize::from(script.setting.inline.is_none());
            prop_assert_eq!(session.done.iter().filter(of_it).count(), owed, "{}", done.sequence);
        }
    }

    // rule: synthetic-turn.triggers-nothing
    // rule: boundary.not-from-synthetic-turns
    #[test]
    fn no_synthetic_turn_triggers(script in script(false, 20)) {
        let mut session = script.play();
        prop_assert!(session.settle(), "{}", unsettled(&session));
        for record in &session.log {
            if let Event::Assessed(assessed) = &record.event
                && matches!(assessed.outcome, Outcome::Compact | Outcome::Ask)
            {
                let turn = assessed.turn.as_ref();
                prop_assert!(!turn.is_some_and(|turn| session.synthetic.contains(turn)), "{turn:?}");
                prop_assert!(!assessed.boundaries.has(Boundary::PrCheckpoint), "{assessed:?}");
            }
        }
        for mark in &session.machine.thread().boundaries {
            prop_assert_ne!(mark.boundary, Boundary::PrCheckpoint, "{:?}", mark);
        }
    }

    // rule: delivery.once-in-order-unchanged
    #[test]
    fn user_input_is_delivered_once_and_in_order(script in script(true, 1000)) {
        let mut session = script.play();
        prop_assert!(session.settle(), "{}", unsettled(&session));
        let kept = |(input, _): &&(InputId, String)| !session.taken_back.contains(input);
        let expected: Vec<_> = session.submitted.iter().filter(kept).collect();
        prop_assert_eq!(session.delivered.iter().collect::<Vec<_>>(), expected);
    }
}
