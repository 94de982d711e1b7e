//! Scenarios: what a person and an agent do, step by step, and what rawr is expected to make of it. The steps become
//! [`Moment`]s, and a [`Player`] decides. Reads no file.

mod expect;

pub use expect::{Expectation, PlacedDecision, PlayedScenario, ScenarioOutcome};

use crate::play::{PlayMode, Player, ReplaySettings, ScriptedJudge};
use crate::report::ReplayOrder;
use rawr_core::event::{CompactionOrigin, TurnStatus};
use rawr_core::policy::Policy;
use rawr_core::prompt::Prompts;
use rawr_core::signal::plan::{PlanItem, StepStatus};
use rawr_core::units::{Seconds, Timestamp, Tokens};
use rawr_records::moment::{CompactionPoint, Moment, RecordedHost, TimedMoment};
use rawr_records::tokens::TokenCounts;
use std::fmt;

/// How many seconds a step takes, unless it is a wait.
pub const STEP_SECONDS: u64 = 60;
/// When the first step begins. 0 would be no time to the core.
const START: Timestamp = Timestamp(STEP_SECONDS as i64 * 1000);
/// A folder that is none for temporary files, whose commits would not count.
const FOLDER: &str = "/repository";

/// What happens, and what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// The size of the context window.
    pub window: Tokens,
    /// What the judge answers, at tiers with one.
    pub judge: ScriptedJudge,
    /// What happens, in order.
    pub steps: Vec<ScenarioStep>,
    /// What is expected; all of it has to come true.
    pub expected: Vec<Expectation>,
}

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScenarioStep {
    /// A person's message, with which a turn begins.
    User(String),
    /// A person's message inside the turn.
    Steer(String),
    /// The agent says something and works on.
    Say(String),
    /// A sampling request completed with so much in the context.
    Usage(ContextSize),
    /// A shell command finished.
    Run {
        /// The line for the shell.
        command: String,
        /// The command's exit code.
        exit_code: i64,
    },
    /// The agent set its plan.
    Plan(Vec<PlanItem>),
    /// The agent's last message, which ends the turn.
    Agent(String),
    /// The turn ended without another message.
    End(TurnStatus),
    /// The host compacted by its own rules, or for a person.
    Compacted(CompactionOrigin),
    /// Nothing happens for so many seconds.
    Wait(u64),
}

/// How full the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextSize {
    /// Percent of the window in use.
    Used(u8),
    /// Percent of the window left.
    Left(u8),
    /// Tokens in the context.
    Tokens(Tokens),
}

/// Why a step cannot come where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MisplacedStep {
    /// A turn would begin inside another.
    #[error("a message begins a turn, but the turn before it has not ended")]
    InsideTurn,
    /// Only a turn has such a step.
    #[error("no turn is running here")]
    OutsideTurn,
}

impl MisplacedStep {
    /// What to do about it.
    pub const fn help(self) -> &'static str {
        match self {
            Self::InsideTurn => {
                "end that turn with an `agent` step first, or use `steer` for a message inside it"
            }
            Self::OutsideTurn => "begin a turn with a `user` step before it",
        }
    }
}

impl Scenario {
    /// The steps that cannot come where they are, counted from 0.
    pub fn misplaced(steps: &[ScenarioStep]) -> Vec<(usize, MisplacedStep)> {
        let mut in_turn = false;
        let mut found = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let is_misplaced = match step {
                ScenarioStep::User(_) => in_turn.then_some(MisplacedStep::InsideTurn),
                ScenarioStep::Wait(_) | ScenarioStep::Compacted(_) => None,
                _ => (!in_turn).then_some(MisplacedStep::OutsideTurn),
            };
            found.extend(is_misplaced.map(|why| (at, why)));
            match step {
                ScenarioStep::User(_) => in_turn = true,
                ScenarioStep::Agent(_) | ScenarioStep::End(_) => in_turn = false,
                _ => {}
            }
        }
        found
    }

    /// Plays it under this policy. After the last step there is no silence: what is pending then stays so.
    pub fn play(&self, policy: &Policy, prompts: &Prompts) -> PlayedScenario {
        let settings = ReplaySettings {
            mode: PlayMode::Scenario(self.judge),
            order: ReplayOrder::Second,
            window: Some(self.window),
            keeps_texts: false,
        };
        let mut player = Player::new(policy, prompts, settings);
        let host = RecordedHost {
            session: "scenario".to_owned(),
            cwd: FOLDER.to_owned(),
            version: None,
            takes_messages_inside_turn: true,
            baseline: Tokens(0),
            compacts: CompactionPoint::Never,
        };
        let mut now = START;
        player.play(TimedMoment { at: now, what: Moment::Opened(host) });
        let mut decisions = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            let before = player.decisions().len();
            for what in self.moments(at, step) {
                player.play(TimedMoment { at: now, what });
            }
            now = now.plus_seconds(step.seconds());
            player.wait(now);
            let new = player.decisions().iter().skip(before).cloned();
            decisions.extend(new.map(|decision| PlacedDecision::new(at + 1, decision)));
        }
        PlayedScenario::new(decisions, &player)
    }

    /// What a step tells, as a host's record would.
    fn moments(&self, at: usize, step: &ScenarioStep) -> Vec<Moment> {
        match step {
            ScenarioStep::User(text) => vec![Moment::Prompt(text.clone()), Moment::TurnStarted],
            ScenarioStep::Steer(text) => vec![Moment::Prompt(text.clone())],
            ScenarioStep::Say(text) => vec![Moment::Said(text.clone())],
            ScenarioStep::Usage(size) => vec![Moment::Usage {
                context: size.tokens(self.window),
                window: Some(self.window),
                counts: TokenCounts::default(),
                is_part: false,
                needs_follow_up: !self.is_last_request(at),
            }],
            ScenarioStep::Run { command, exit_code } => vec![Moment::Command {
                id: None,
                words: vec![command.clone()],
                exit_code: *exit_code,
                cwd: None,
            }],
            ScenarioStep::Plan(plan) => {
                vec![Moment::Plan { items: plan.clone(), explanation: None }]
            }
            ScenarioStep::Agent(text) => {
                vec![Moment::Said(text.clone()), Moment::TurnEnded(TurnStatus::Completed)]
            }
            ScenarioStep::End(ending) => vec![Moment::TurnEnded(*ending)],
            ScenarioStep::Compacted(by) => vec![Moment::Compacted(*by)],
            ScenarioStep::Wait(_) => Vec::new(),
        }
    }

    /// Whether the request of this step is the one that wrote the turn's last message.
    fn is_last_request(&self, at: usize) -> bool {
        let mut later =
            self.steps.iter().skip(at + 1).filter(|it| !matches!(it, ScenarioStep::Wait(_)));
        matches!(later.next(), Some(ScenarioStep::Agent(_)))
    }
}

impl ScenarioStep {
    const fn seconds(&self) -> u64 {
        match self {
            Self::Wait(seconds) => *seconds,
            _ => STEP_SECONDS,
        }
    }
}

impl ContextSize {
    fn tokens(self, window: Tokens) -> Tokens {
        let share = |percent: u8| {
            let tokens = u128::from(window.0) * u128::from(percent) / 100;
            u64::try_from(tokens).unwrap_or(window.0)
        };
        match self {
            Self::Used(percent) => Tokens(share(percent)),
            Self::Left(percent) => Tokens(window.0 - share(percent).min(window.0)),
            Self::Tokens(tokens) => tokens,
        }
    }
}

impl fmt::Display for ScenarioStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(text) => write!(f, "user = {text:?}"),
            Self::Steer(text) => write!(f, "steer = {text:?}"),
            Self::Say(text) => write!(f, "say = {text:?}"),
            Self::Usage(ContextSize::Used(percent)) => write!(f, "used = \"{percent}%\""),
            Self::Usage(ContextSize::Left(percent)) => write!(f, "left = \"{percent}%\""),
            Self::Usage(ContextSize::Tokens(tokens)) => write!(f, "tokens = {}", tokens.0),
            Self::Run { command, exit_code: 0 } => write!(f, "run = {command:?}"),
            Self::Run { command, exit_code } => write!(f, "run = {command:?}, exit = {exit_code}"),
            Self::Plan(plan) => {
                let done = plan.iter().filter(|item| item.status == StepStatus::Completed);
                write!(f, "plan, {} of {} done", done.count(), plan.len())
            }
            Self::Agent(text) => write!(f, "agent = {text:?}"),
            Self::End(ending) => write!(f, "end = \"{}\"", ending.name()),
            Self::Compacted(by) => {
                let by = if *by == CompactionOrigin::User { "user" } else { "host" };
                write!(f, "compacted = \"{by}\"")
            }
            Self::Wait(seconds) => write!(f, "wait {}", Seconds(*seconds)),
        }
    }
}
