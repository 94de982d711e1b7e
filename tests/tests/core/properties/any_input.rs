//! Random inputs to the machine in any order. Ids are from small sets, so that reports refer to each other. No host is
//! simulated.

use proptest::prelude::*;
use proptest::sample::select;
use rawr_core::boundary::Boundaries;
use rawr_core::event::{
    ActionReported, ActionStatus, BranchChanged, Capabilities, Choice, CommitMade,
    CompactionOrigin, CompactionReportStatus, CompactionReported, DirectiveCleared, DirectiveGiven,
    Event, GuardCleared, GuardEnd, HostInfo, InputCancelled, JudgeReply, JudgmentAnswered,
    JudgmentSource, Overflow, PhaseEnded, PlanUpdated, PrCheckpoint, Repo, RepoObserved,
    ThreadClosed, ThreadOpened, ToolFinished, ToolStarted, TurnCompleted, TurnOrigin, TurnStarted,
    TurnStatus, Usage, UsageReported, UserMessage,
};
use rawr_core::machine::{InputKind, Response, ShellCommand};
use rawr_core::signal::plan::{PlanItem, StepStatus};
use rawr_core::units::{
    ActionId, CallId, DirectiveId, GuardId, InputId, JudgeRequestId, Tokens, TurnId,
};
use rawr_core::{Input, Thread};

pub const WINDOW: u64 = 1000;

/// An input, as far as it does not depend on the thread.
#[derive(Debug, Clone)]
pub enum GeneratedStep {
    Open {
        window: Option<u64>,
        can: Capabilities,
        running: Option<TurnId>,
    },
    Event(Event),
    Command {
        turn: Option<TurnId>,
        command: &'static str,
        exit_code: i64,
    },
    TurnOfAction {
        turn: TurnId,
        action: usize,
        origin: TurnOrigin,
    },
    MarkedTurn {
        turn: TurnId,
        action: usize,
    },
    Report {
        action: usize,
        status: ActionStatus,
        turn: Option<TurnId>,
        text: Option<String>,
    },
    Submit {
        input: InputId,
        text: String,
        kind: InputKind,
    },
    Respond {
        choice: Choice,
        named: bool,
        turns: Option<u32>,
        packet: Option<String>,
    },
    Guard(GuardEnd),
    Unguard(usize),
    /// `asked`: answers the open question, or else an unknown one. `says`: `None` if the judge failed.
    Judged {
        asked: bool,
        says: Option<bool>,
    },
    Tick,
}

impl GeneratedStep {
    /// Whether any client may send it, regardless of which client owns the thread.
    pub const fn is_a_persons(&self) -> bool {
        matches!(
            self,
            Self::Respond { .. }
                | Self::Guard(_)
                | Self::Unguard(_)
                | Self::Event(
                    Event::InputCancelled(_)
                        | Event::DirectiveGiven(_)
                        | Event::DirectiveCleared(_)
                )
        )
    }

    /// The input itself. The actions and guards of the thread determine which one is meant.
    pub fn input(&self, thread: &Thread) -> Input {
        let action = |nth: usize| {
            let known = thread.actions.len();
            match thread.actions.get(nth % (known + 1)) {
                Some(issued) => issued.id.clone(),
                None => ActionId::new("s9-none.1"),
            }
        };
        match self.clone() {
            Self::Open { window, can, running } => Input::Saw(opened(window, can, running)),
            Self::Event(event) => Input::Saw(event),
            Self::Command { turn, command, exit_code } => Input::Command {
                turn,
                signal: None,
                command: ShellCommand::Line(command.to_owned()),
                exit_code,
                cwd: None,
            },
            Self::TurnOfAction { turn, action: nth, origin } => {
                Input::Saw(started(turn, origin, Some(action(nth)), None))
            }
            Self::MarkedTurn { turn, action: nth } => {
                let issued = thread.action(&action(nth));
                let text = issued.map(|issued| format!("{:?}", issued.kind));
                Input::Saw(started(turn, TurnOrigin::User, None, text))
            }
            Self::Report { action: nth, status, turn, text } => {
                let error = (status == ActionStatus::Failed).then(|| "no".to_owned());
                let action = action(nth);
                Input::Saw(ActionReported { action, status, turn, text, error }.into())
            }
            Self::Submit { input, text, kind } => Input::Submitted { input, text, kind },
            Self::Respond { choice, named, turns, packet } => {
                let running = thread.sequence().filter(|_| named);
                let sequence = running.map(|running| running.id.clone());
                let by = Some("a client".to_owned());
                Input::Respond(Response { choice, sequence, turns, minutes: None, packet, by })
            }
            Self::Guard(until) => Input::SetGuard { until, note: None, by: None },
            Self::Unguard(nth) => {
                let known = thread.guards.len();
                let guard = thread.guards.get(nth % (known + 1));
                let guard = guard.map_or_else(|| GuardId::new("g99"), |guard| guard.id.clone());
                Input::Saw(GuardCleared { guard }.into())
            }
            Self::Judged { asked, says } => {
                let open = thread.judging().filter(|_| asked);
                let request = open
                    .map_or_else(|| JudgeRequestId::new("none"), |judging| judging.request.clone());
                Input::Judged(judged(request, says))
            }
            Self::Tick => Input::Tick,
        }
    }
}

/// A host that only supports turns and compactions.
pub const fn plain() -> Capabilities {
    Capabilities {
        inject_turn: true,
        compact: true,
        compact_by_person: false,
        steer: false,
        sample: false,
        queue: false,
        queue_in_place: false,
        queue_above_tokens: None,
        mid_turn_compact: false,
        inject_items: false,
        judge: false,
        cache_seconds: None,
    }
}

pub fn judged(request: JudgeRequestId, says: Option<bool>) -> JudgmentAnswered {
    let answer = match says {
        Some(should_compact) => JudgeReply::Says { should_compact, reason: "so it is".to_owned() },
        None => JudgeReply::Failed { error: "no".to_owned() },
    };
    let (source, usage) = (JudgmentSource::Host, None);
    JudgmentAnswered { request, source, answer, usage, rate_limits: Vec::new() }
}

pub fn opened(window: Option<u64>, can: Capabilities, running_turn: Option<TurnId>) -> Event {
    let host = HostInfo { name: "any".to_owned(), version: None, can };
    let (model, agent) = (None, None);
    let window = window.map(Tokens);
    ThreadOpened {
        cwd: "/x".to_owned(),
        host,
        model,
        window,
        window_is_assumed: false,
        compacts_above: None,
        baseline: Tokens(0),
        agent,
        transcript: None,
        began_at: None,
        running_turn,
    }
    .into()
}

pub fn started(
    turn: TurnId,
    origin: TurnOrigin,
    action: Option<ActionId>,
    text: Option<String>,
) -> Event {
    TurnStarted { turn, origin, action, text, directives: Vec::new() }.into()
}

pub fn reported(turn: TurnId, context: u64, needs_follow_up: bool) -> Event {
    UsageReported {
        turn,
        usage: Some(usage(context)),
        window: None,
        compacts_above: None,
        cache_seconds: None,
        model: None,
        needs_follow_up,
        last_message: None,
        boundaries: Boundaries::NONE,
        heard: None,
    }
    .into()
}

pub const fn usage(context: u64) -> Usage {
    Usage { context: Tokens(context), input: None, cached: None, output: None, reasoning: None }
}

fn turn() -> impl Strategy<Value = TurnId> {
    (0..6_u8).prop_map(|number| TurnId::new(format!("t{number}")))
}

fn maybe_turn() -> impl Strategy<Value = Option<TurnId>> {
    proptest::option::of(turn())
}

fn message() -> impl Strategy<Value = Option<String>> {
    const TEXTS: [&str; 5] = [
        "All done: the parser is written.",
        "State: waiting_for_user\nGoal: the parser. Next: the docs.",
        "Moving on to the docs.",
        "ok",
        "",
    ];
    proptest::option::of(select(TEXTS.to_vec()).prop_map(str::to_owned))
}

fn context() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..WINDOW + 200, 1 => select(&[0, u64::MAX, WINDOW][..])]
}

/// Inputs of persons and hosts, weighted so that much of it has an effect.
pub fn step() -> impl Strategy<Value = GeneratedStep> {
    prop_oneof![
        10 => turn_step(),
        6 => signal(),
        6 => report(),
        4 => compaction(),
        4 => person(),
        3 => Just(GeneratedStep::Tick),
        1 => (proptest::option::of(Just(WINDOW)), capabilities(), maybe_turn())
            .prop_map(|(window, can, running)| GeneratedStep::Open { window, can, running }),
        2 => (proptest::bool::weighted(0.8), proptest::option::of(any::<bool>()))
            .prop_map(|(asked, says)| GeneratedStep::Judged { asked, says }),
    ]
}

pub fn capabilities() -> impl Strategy<Value = Capabilities> {
    let often = || proptest::bool::weighted(0.8);
    let some = any::<[bool; 4]>();
    (often(), often(), some).prop_map(
        |(inject_turn, compact, [steer, mid_turn_compact, judge, sample])| Capabilities {
            inject_turn,
            compact,
            steer,
            mid_turn_compact,
            judge,
            sample,
            ..Capabilities::default()
        },
    )
}

fn turn_step() -> impl Strategy<Value = GeneratedStep> {
    let origin =
        select(&[TurnOrigin::User, TurnOrigin::User, TurnOrigin::Synthetic, TurnOrigin::Host][..]);
    let end = (turn(), any_ending(), message(), proptest::option::of(context()), any_rarely());
    prop_oneof![
        3 => (turn(), origin.clone(), message())
            .prop_map(|(turn, origin, text)| GeneratedStep::Event(started(turn, origin, None, text))),
        1 => (turn(), any::<usize>(), origin)
            .prop_map(|(turn, action, origin)| GeneratedStep::TurnOfAction { turn, action, origin }),
        1 => (turn(), any::<usize>()).prop_map(|(turn, action)| GeneratedStep::MarkedTurn { turn, action }),
        2 => (turn(), context(), any::<bool>()).prop_map(|(turn, context, follow_up)| {
            GeneratedStep::Event(reported(turn, context, follow_up))
        }),
        5 => end.prop_map(|(turn, (status, overflow), last_message, context, review_mode)| {
            let (usage, boundaries) = (context.map(usage), Boundaries::NONE);
            let ended = TurnCompleted {
                turn, status, overflow, last_message, usage, queued_inputs: 0, review_mode, boundaries,
                heard: None,
            };
            GeneratedStep::Event(ended.into())
        }),
    ]
}

fn any_ending() -> impl Strategy<Value = (TurnStatus, Option<Overflow>)> {
    let tokens = || proptest::option::of(context().prop_map(Tokens));
    let overflow = (tokens(), tokens()).prop_map(|(size, window)| Overflow { size, window });
    prop_oneof![
        4 => turn_status().prop_map(|status| (status, None)),
        1 => overflow.prop_map(|overflow| (TurnStatus::Failed, Some(overflow))),
    ]
}

fn any_rarely() -> impl Strategy<Value = bool> {
    proptest::bool::weighted(0.05)
}

fn turn_status() -> impl Strategy<Value = TurnStatus> {
    use TurnStatus::{Completed, Failed, Interrupted};
    select(&[Completed, Completed, Completed, Failed, Interrupted][..])
}

fn signal() -> impl Strategy<Value = GeneratedStep> {
    const COMMANDS: [&str; 3] = ["git commit -m x", "cargo test", "gh pr create --fill"];
    let call = || (0..3_u8).prop_map(|number| CallId::new(format!("c{number}")));
    let event = |event: Event| GeneratedStep::Event(event);
    prop_oneof![
        3 => (maybe_turn(), plan()).prop_map(move |(turn, steps)| {
            let (explanation, boundaries) = (None, Boundaries::NONE);
            event(PlanUpdated { turn, signal: None, steps, explanation, boundaries }.into())
        }),
        3 => (maybe_turn(), select(COMMANDS.to_vec()), select(&[0, 0, 1][..]))
            .prop_map(|(turn, command, exit_code)| GeneratedStep::Command { turn, command, exit_code }),
        2 => maybe_turn().prop_map(move |turn| event(CommitMade { turn, signal: None, hash: None, subject: None }.into())),
        1 => maybe_turn().prop_map(move |turn| event(PrCheckpoint { turn, signal: None, action: "create".to_owned(), url: None }.into())),
        2 => maybe_turn().prop_map(move |turn| event(UserMessage { turn, text: "one more thing".to_owned(), directives: Vec::new() }.into())),
        1 => maybe_turn().prop_map(move |turn| event(PhaseEnded { turn, signal: None, label: "a phase".to_owned(), by: None, boundaries: Boundaries::NONE }.into())),
        1 => Just(event(BranchChanged { branch: "b".to_owned(), boundaries: Boundaries::NONE }.into())),
        1 => Just(event(DirectiveGiven { text: "never push".to_owned(), pinned: true, by: None }.into())),
        1 => (1..4_u32).prop_map(move |nth| event(DirectiveCleared { directive: DirectiveId::new(format!("p{nth}")) }.into())),
        1 => (0..4_u32).prop_map(move |dirty| event(RepoObserved { repo: repo(dirty), committed: (dirty > 2).then(|| "c".to_owned()) }.into())),
        1 => call().prop_map(move |call| event(ToolStarted { call, name: None }.into())),
        1 => call().prop_map(move |call| event(ToolFinished { call }.into())),
    ]
}

fn repo(dirty: u32) -> Repo {
    let files = (0..dirty).map(|nth| format!("src/{nth}.rs")).collect();
    let (branch, head) = (Some("b".to_owned()), Some(format!("{dirty:040}")));
    Repo { branch, head, dirty, files, changed: Vec::new(), stack: None }
}

fn plan() -> impl Strategy<Value = Vec<PlanItem>> {
    use StepStatus::{Completed, InProgress, Pending};
    let status = select(&[Completed, InProgress, Pending][..]);
    proptest::collection::vec(status, 0..3).prop_map(|list| {
        let steps = list.into_iter().enumerate();
        steps.map(|(at, status)| PlanItem { step: format!("step {at}"), status }).collect()
    })
}

fn report() -> impl Strategy<Value = GeneratedStep> {
    use ActionStatus::{Accepted, Completed, Failed};
    let status = select(&[Accepted, Accepted, Completed, Completed, Failed][..]);
    (any::<usize>(), status, maybe_turn(), message()).prop_map(|(action, status, turn, text)| {
        GeneratedStep::Report { action, status, turn, text }
    })
}

fn compaction() -> impl Strategy<Value = GeneratedStep> {
    use CompactionReportStatus::{Completed, Failed, Started};
    let status = select(&[Started, Completed, Completed, Failed][..]);
    let origin = select(
        &[
            CompactionOrigin::Rawr,
            CompactionOrigin::Rawr,
            CompactionOrigin::Host,
            CompactionOrigin::User,
        ][..],
    );
    let tokens = || proptest::option::of(context().prop_map(Tokens));
    (status, origin, tokens(), tokens()).prop_map(
        |(status, origin, tokens_before, tokens_after)| {
            let (action, error) = (None, None);
            let report =
                CompactionReported { status, origin, action, tokens_before, tokens_after, error };
            GeneratedStep::Event(report.into())
        },
    )
}

fn person() -> impl Strategy<Value = GeneratedStep> {
    let input = || (0..4_u8).prop_map(|number| InputId::new(format!("i{number}")));
    let until =
        [GuardEnd::Turns(1), GuardEnd::Minutes(5), GuardEnd::NextCommit, GuardEnd::Released];
    let kinds = [InputKind::Message, InputKind::Message, InputKind::LocalCommand];
    prop_oneof![
        4 => (input(), select(kinds.to_vec()))
            .prop_map(|(input, kind)| GeneratedStep::Submit { text: format!("text of {input}"), input, kind }),
        1 => input().prop_map(|input| GeneratedStep::Event(InputCancelled { input }.into())),
        4 => (select(super::CHOICES.to_vec()), any::<bool>(), proptest::option::of(0..3_u32), message())
            .prop_map(|(choice, named, turns, packet)| GeneratedStep::Respond { choice, named, turns, packet }),
        1 => select(until.to_vec()).prop_map(GeneratedStep::Guard),
        1 => any::<usize>().prop_map(GeneratedStep::Unguard),
        1 => Just(GeneratedStep::Event(ThreadClosed {}.into())),
    ]
}
