//! Plays a session or a scenario against the decision core, as a host would: every moment becomes the input that a host
//! reports, and what the core asks for is carried out by a host that always obeys.

mod host;

use crate::report::{
    ContextPoint, REWORK_TURNS, RecordedCompaction, ReplayOrder, ReplayedDecision, ReplayedTurn,
    SessionReport, TurnTexts,
};
use crate::tokens::TokenMeter;
use host::{turn_completed, turn_started, usage};
use rawr_core::assess::{DecisionRecord, GateOutcome};
use rawr_core::event::{
    Capabilities, CompactionOrigin, CompactionReportStatus, CompactionReported, Entrance, HostInfo,
    Outcome, PlanUpdated, ThreadOpened, TurnOrigin, TurnStatus, UsageReported, UserMessage,
};
use rawr_core::excerpt::{head, tail};
use rawr_core::machine::{InputKind, ShellCommand};
use rawr_core::policy::{Mode, PacketAuthor, Policy, Tier};
use rawr_core::prompt::Prompts;
use rawr_core::thread::{Issued, Turn};
use rawr_core::units::{InputId, Percent, SignalId, ThreadId, Timestamp, Tokens, TurnId};
use rawr_core::{Effect, Event, Input, Machine, Rules, Thread};
use rawr_records::moment::{CompactionPoint, Moment, RecordedHost, TimedMoment};
use rawr_records::tokens::TokenCounts;
use std::collections::{HashMap, VecDeque};

/// How much of the window is in use after a compaction that the replay starts, in percent.
pub const LANDS_AT_PERCENT: u64 = 12;
/// So many characters of a message are kept.
const TEXT_CHARS: usize = 700;
/// A longer pause is no work.
const LONGEST_PAUSE_MS: i64 = 600_000;
/// How many seconds of silence follow a record.
const SILENCE_AT_END: u64 = 86_400;
/// The last line of every message that rawr injects begins with it.
const MARK: &str = "[rawr:";

fn is_injected(text: &str) -> bool {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    last.starts_with(MARK) && last.ends_with(']')
}
/// Timeouts and actions that may follow from one input. More would be a loop.
const MOST_STEPS: usize = 200;

/// The window of a session whose record does not tell it.
pub const ASSUMED_WINDOW: Tokens = Tokens(200_000);
const LONG_WINDOW: Tokens = Tokens(1_000_000);

/// What is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayMode {
    /// What happened once. rawr counts as switched on, the replay's own compactions are taken off the recorded context, and
    /// only decisions under pressure are kept.
    Record,
    /// What an author made up. The configuration may switch rawr off, the context is what the author says it is, and every
    /// decision is kept with the gates that failed.
    Scenario(ScriptedJudge),
}

/// What the judge answers in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScriptedJudge {
    /// Nothing.
    #[default]
    Silent,
    /// A compaction is right.
    Yes,
    /// A compaction is wrong.
    No,
}

/// Settings of a replay.
#[derive(Debug, Clone, Copy)]
pub struct ReplaySettings {
    /// What is played.
    pub mode: PlayMode,
    /// What becomes of the context after a compaction.
    pub order: ReplayOrder,
    /// The context window, instead of the record's.
    pub window: Option<Tokens>,
    /// Keep what was said in each turn.
    pub keeps_texts: bool,
}

/// One session that is being played.
#[derive(Debug)]
pub struct Player<'p> {
    machine: Machine,
    policy: Policy,
    /// Decides nothing, for the order in which nothing is carried out.
    off: Policy,
    prompts: &'p Prompts,
    settings: ReplaySettings,
    report: SessionReport,
    now: Timestamp,
    /// The last moment of the record, whatever timeouts came since.
    recorded_at: Option<Timestamp>,
    /// When the host of the record compacts by itself.
    compacts: CompactionPoint,
    /// A person's message that the next turn begins with.
    prompt: Option<String>,
    turn: Option<TurnId>,
    /// What is counted of the turn.
    counted: TurnCounts,
    /// The turn is one of rawr's own, from a session that rawr ran.
    in_own_turn: bool,
    last_message: Option<String>,
    /// The message came since the last request.
    says: bool,
    /// Tokens that the replay's own compactions took out of the recorded context.
    freed: u64,
    /// The context as recorded, and as the replay has it.
    recorded: Tokens,
    context: Tokens,
    inputs: u64,
    actions: VecDeque<Issued>,
    /// Room for the effects of one step.
    effects: Vec<Effect>,
    /// After how many recorded compactions each file was last read.
    read: HashMap<String, usize>,
    /// The turns before the last recorded compaction.
    compacted_after: u32,
    meter: TokenMeter,
}

#[derive(Debug, Default)]
struct TurnCounts {
    started_at: Timestamp,
    active_ms: u64,
    requests: u32,
    commands: u32,
    failed_commands: u32,
    files_read_again: u32,
    percent: Option<Percent>,
    request: Option<String>,
}

impl<'p> Player<'p> {
    /// Plays under this policy. Who writes packets, and whether a person is asked first, plays no part in when it decides:
    /// here rawr writes them at once, and compacts by itself.
    pub fn new(policy: &Policy, prompts: &'p Prompts, settings: ReplaySettings) -> Self {
        let mut policy = policy.clone();
        policy.enabled |= settings.mode == PlayMode::Record;
        policy.mode = Mode::Auto;
        policy.packet_author = PacketAuthor::Watcher;
        policy.packet_ahead = false;
        let off = Policy { enabled: false, ..policy.clone() };
        let below = |tier| (tier, Percent(policy.tiers.rule(tier).percent_remaining_lt));
        let tiers = Tier::ALL.map(below).into();
        Self {
            machine: Machine::new(Thread::new(ThreadId::new("replay"))),
            policy,
            off,
            prompts,
            settings,
            report: SessionReport { tiers, ..SessionReport::default() },
            now: Timestamp(0),
            recorded_at: None,
            compacts: CompactionPoint::Never,
            prompt: None,
            turn: None,
            counted: TurnCounts::default(),
            in_own_turn: false,
            last_message: None,
            says: false,
            freed: 0,
            recorded: Tokens(0),
            context: Tokens(0),
            inputs: 0,
            actions: VecDeque::new(),
            effects: Vec::new(),
            read: HashMap::new(),
            compacted_after: 0,
            meter: TokenMeter::default(),
        }
    }

    /// Plays one moment.
    pub fn play(&mut self, moment: TimedMoment) {
        let TimedMoment { at, what } = moment;
        self.wait_until(at);
        let pause = self.recorded_at.map_or(0, |before| at.0.saturating_sub(before.0));
        if (0..=LONGEST_PAUSE_MS).contains(&pause) {
            self.report.active_ms += pause.unsigned_abs();
            self.counted.active_ms += pause.unsigned_abs();
        }
        self.recorded_at = self.recorded_at.max(Some(at));
        self.now = self.now.max(at);
        let spans = self.report.spans.get_or_insert((at, at));
        spans.1 = self.now;
        match what {
            Moment::Opened(host) => self.open(host),
            Moment::Model(model) => self.report.model = Some(model),
            Moment::Attended(_) => {}
            Moment::Prompt(text) => self.prompt(text),
            Moment::TurnStarted => self.start_turn(),
            Moment::Compacted(by) => self.compacted(by),
            _ if self.in_own_turn => self.in_own_turn = !matches!(what, Moment::TurnEnded(_)),
            Moment::Said(text) => (self.last_message, self.says) = (Some(text), true),
            Moment::Usage { context, window, counts, is_part, needs_follow_up } => {
                self.usage(context, window, needs_follow_up);
                self.count(counts, is_part);
            }
            Moment::Command { id, words, exit_code, cwd } => {
                let command = match <[String; 1]>::try_from(words) {
                    Ok([line]) => ShellCommand::Line(line),
                    Err(words) => ShellCommand::Words(words),
                };
                self.counted.commands += 1;
                self.counted.failed_commands += u32::from(exit_code != 0);
                let signal = id.map(SignalId::new);
                let turn = self.turn.clone();
                self.handle(Input::Command { turn, signal, command, exit_code, cwd });
            }
            Moment::Plan { items: steps, explanation } => self.saw(PlanUpdated {
                turn: self.turn.clone(),
                signal: None,
                steps,
                explanation,
                boundaries: Default::default(),
            }),
            Moment::FileRead(path) => self.file_read(path),
            Moment::TurnEnded(status) => self.end_turn(status),
            Moment::Recorded(event) => self.saw(*event),
        }
    }

    /// The report, once all moments have been played.
    pub fn finish(mut self) -> SessionReport {
        // After the end there is silence.
        self.wait_until(self.now.plus_seconds(SILENCE_AT_END));
        let mut report = self.report;
        report.window = self.machine.thread().gauge.window.unwrap_or(ASSUMED_WINDOW);
        (report.tokens, report.recorded_tokens) = self.meter.finish();
        report
    }

    /// Lets time pass after the last moment.
    pub fn wait(&mut self, until: Timestamp) {
        self.wait_until(until);
        self.now = self.now.max(until);
    }

    /// The decisions so far.
    pub fn decisions(&self) -> &[ReplayedDecision] {
        &self.report.decisions
    }

    /// Whether a compaction is proposed, or comes before the next message.
    pub fn is_pending(&self) -> bool {
        self.machine.thread().stage.waiting().is_some()
    }

    /// Percent of the context window left; `None` before the first request.
    pub fn percent_remaining(&self) -> Option<Percent> {
        self.machine.thread().percent_remaining(&self.policy)
    }

    /// Sends the timeouts that come before the next moment, such as the silence that confirms a proposal.
    fn wait_until(&mut self, at: Timestamp) {
        for _ in 0..MOST_STEPS {
            match self.machine.wakes_at(&self.policy, self.now) {
                Some(due) if due < at => {
                    self.now = self.now.max(due);
                    self.handle(Input::Tick);
                }
                _ => return,
            }
        }
    }

    fn open(&mut self, host: RecordedHost) {
        self.report.session.clone_from(&host.session);
        self.report.cwd.clone_from(&host.cwd);
        let window = self.settings.window.unwrap_or(ASSUMED_WINDOW);
        self.compacts = host.compacts;
        self.saw(ThreadOpened {
            cwd: host.cwd,
            host: HostInfo {
                name: "replay".to_owned(),
                version: host.version,
                can: Capabilities {
                    inject_turn: true,
                    queue: true,
                    compact: true,
                    steer: host.takes_messages_inside_turn,
                    judge: self.judge().is_some(),
                    ..Capabilities::default()
                },
            },
            model: None,
            window: Some(window),
            window_is_assumed: true,
            compacts_above: host.compacts.of(window),
            baseline: host.baseline,
            agent: None,
            transcript: None,
            began_at: None,
            running_turn: None,
        });
    }

    fn prompt(&mut self, text: String) {
        if is_injected(&text) {
            // Inside a turn it is only a message.
            self.in_own_turn = self.turn.is_none();
            return;
        }
        self.in_own_turn = false;
        if self.turn.is_some() {
            self.saw(UserMessage { turn: self.turn.clone(), text, directives: Vec::new() });
            return;
        }
        self.inputs += 1;
        let input = InputId::new(format!("i{}", self.inputs));
        self.handle(Input::Submitted { input, text: text.clone(), kind: InputKind::Message });
        self.prompt = Some(text);
    }

    fn start_turn(&mut self) {
        if self.in_own_turn {
            return;
        }
        self.last_message = None;
        let turn = TurnId::new(format!("t{}", self.report.turns + 1));
        self.turn = Some(turn.clone());
        let text = self.prompt.take();
        let request = text.clone().filter(|_| self.settings.keeps_texts);
        self.counted = TurnCounts { started_at: self.now, request, ..TurnCounts::default() };
        self.saw(turn_started(turn, TurnOrigin::User, None, text));
    }

    fn usage(&mut self, recorded: Tokens, window: Option<Tokens>, needs_follow_up: bool) {
        let Some(turn) = self.turn.clone() else { return };
        // Where the record shrinks by itself, what it lost was freed before by the replay's own compaction.
        let lost = std::mem::replace(&mut self.recorded, recorded).0.saturating_sub(recorded.0);
        self.freed = match self.settings.mode {
            PlayMode::Record => self.freed.saturating_sub(lost).min(recorded.0),
            PlayMode::Scenario(_) => 0,
        };
        self.context = Tokens(recorded.0 - self.freed);
        let known = self.machine.thread().gauge.window.unwrap_or(ASSUMED_WINDOW);
        let window = match self.settings.window {
            Some(window) => window,
            // More than fits: the session had the long window.
            None if window.is_none() && recorded > known => LONG_WINDOW,
            None => window.unwrap_or(known),
        };
        // Said once, heard once.
        let says = std::mem::take(&mut self.says);
        let last_message = self.last_message.clone().filter(|_| says);
        self.saw(UsageReported {
            turn,
            usage: Some(usage(self.context)),
            window: Some(window),
            compacts_above: self.compacts.of(window),
            cache_seconds: None,
            model: None,
            needs_follow_up,
            last_message,
            boundaries: Default::default(),
            heard: None,
        });
        let gauge = &self.machine.thread().gauge;
        let percent = gauge.percent_of_window(&self.policy);
        if let Some((percent, percent_left)) = percent.zip(self.percent_remaining()) {
            self.counted.percent = Some(percent_left);
            let (at, turn) = (self.now, self.report.turns + 1);
            self.report.context.push(ContextPoint { at, turn, percent, percent_left });
        }
    }

    fn count(&mut self, counts: TokenCounts, is_part: bool) {
        if self.turn.is_none() {
            return;
        }
        self.counted.requests += u32::from(!is_part || self.counted.requests == 0);
        self.meter.request(self.report.model.as_deref(), counts, self.freed, is_part);
    }

    fn end_turn(&mut self, status: TurnStatus) {
        let Some(turn) = self.turn.take() else { return };
        self.report.turns += 1;
        let last_message = self.last_message.take();
        let counted = std::mem::take(&mut self.counted);
        self.report.ended.push(ReplayedTurn {
            turn: self.report.turns,
            started_at: counted.started_at,
            ended_at: self.now,
            active_ms: counted.active_ms,
            ending: status,
            requests: counted.requests,
            commands: counted.commands,
            failed_commands: counted.failed_commands,
            files_read_again: counted.files_read_again,
            tokens_read: self.meter.read_since(),
            tokens: (counted.requests > 0).then_some(self.context),
            percent: counted.percent,
            texts: self.settings.keeps_texts.then(|| TurnTexts {
                request: counted.request.map(|text| head(&text, TEXT_CHARS)),
                last_message: last_message.as_deref().map(|text| tail(text, TEXT_CHARS)),
            }),
        });
        self.saw(turn_completed(turn, status, last_message, None));
    }

    fn compacted(&mut self, by: CompactionOrigin) {
        self.report.recorded.push(RecordedCompaction {
            at: self.now,
            turn: self.report.turns + 1,
            by,
            tokens_before: Tokens(self.context.0 + self.freed),
            inside_turn: self.turn.is_some(),
        });
        self.compacted_after = self.report.turns;
        let before = std::mem::take(&mut self.freed).saturating_add(self.context.0);
        self.meter.compacted(self.report.model.as_deref(), before, self.context.0);
        self.recorded = Tokens(0);
        self.saw(CompactionReported {
            status: CompactionReportStatus::Completed,
            origin: by,
            action: None,
            tokens_before: Some(Tokens(before)),
            tokens_after: None,
            error: None,
        });
    }

    fn file_read(&mut self, path: String) {
        let compactions = self.report.recorded.len();
        let before = self.read.insert(path, compactions);
        let is_rework = before.is_some_and(|read| read < compactions)
            && self.report.turns < self.compacted_after + REWORK_TURNS;
        self.report.files_read_again += u32::from(is_rework);
        self.counted.files_read_again += u32::from(is_rework);
    }

    fn saw(&mut self, event: impl Into<Event>) {
        self.handle(Input::Saw(event.into()));
    }

    /// Hands an input to the core, and carries out what follows from it.
    fn handle(&mut self, input: Input) {
        self.step(input);
        for _ in 0..MOST_STEPS {
            let Some(action) = self.actions.pop_front() else { return };
            self.perform(action);
        }
        self.actions.clear();
    }

    fn step(&mut self, input: Input) {
        let before = (self.settings.order == ReplayOrder::First)
            .then(|| (self.machine.clone(), input.clone()));
        let rules = Rules { policy: &self.policy, prompts: self.prompts, notes_exist: false };
        let mut effects = std::mem::take(&mut self.effects);
        if self.machine.handle_into(input, &rules, self.now, &mut effects).is_err() {
            self.report.refused += 1;
            effects.clear();
        }
        let fires = effects
            .iter()
            .any(|effect| matches!(effect, Effect::Decided(it) if it.outcome == Outcome::Compact));
        for effect in effects.drain(..) {
            match effect {
                Effect::Decided(decision) => {
                    if self.keeps(&decision) {
                        self.decided(*decision);
                    }
                }
                Effect::Perform(action) => self.actions.push_back(*action),
                Effect::Record(_) | Effect::Tell(_) => {}
            }
        }
        self.effects = effects;
        if fires && let Some((machine, input)) = before {
            // As if nothing had been decided.
            self.machine = machine;
            self.actions.clear();
            let rules = Rules { policy: &self.off, prompts: self.prompts, notes_exist: false };
            let again = self.machine.handle(input, &rules, self.now);
            self.report.refused += u32::from(again.is_err());
        }
    }

    fn keeps(&self, decision: &DecisionRecord) -> bool {
        let thread = self.machine.thread();
        let turn = decision.turn.as_ref().and_then(|turn| thread.turn(turn));
        let is_own = turn.is_some_and(Turn::is_synthetic);
        decision.is_worth_storing(thread) || self.settings.mode != PlayMode::Record && !is_own
    }

    fn decided(&mut self, decision: DecisionRecord) {
        let (drops, vetoed) = (decision.drops(), decision.is_vetoed());
        let mut failed = decision.gates;
        failed.retain(|gate| gate.outcome == GateOutcome::Fail);
        let stopped_by = match failed.as_slice() {
            [gate] if decision.tier.is_some() && decision.proposal.is_none() => Some(gate.gate),
            _ => None,
        };
        let stopped_by = stopped_by.filter(|_| decision.outcome == Outcome::Nothing);
        self.report.decisions.push(ReplayedDecision {
            at: self.now,
            turn: self.report.turns + u32::from(self.turn.is_some()),
            entrance: decision.entrance,
            outcome: decision.outcome,
            tier: decision.tier,
            percent: decision.percent,
            tokens: decision.tokens,
            boundaries: decision.boundaries,
            reason: decision.reason,
            proposes: decision.outcome == Outcome::Defer
                && decision.confirm.is_some()
                && !decision.after_turn,
            confirms: decision.after_turn,
            after_closing: decision.proposal.is_some()
                && decision.turn.is_some()
                && decision.entrance == Entrance::TurnComplete,
            drops,
            vetoed,
            stopped_by,
            failed: if self.settings.mode == PlayMode::Record { Vec::new() } else { failed },
        });
    }
}
