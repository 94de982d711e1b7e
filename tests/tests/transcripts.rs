//! Conversations as data: every file in `transcripts/` is a script of inputs with what the core answered under each.
//! The file's name is the rule that it holds. `UPDATE=1 cargo nextest run -p rawr-tests transcripts` rewrites the answers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use rawr_core::assess::{Decision, GateOutcome};
use rawr_core::boundary::Boundaries;
use rawr_core::event::{
    Action, ActionReported, ActionStatus, Capabilities, Choice, CommitMade, CompactionOrigin,
    CompactionReported, CompactionStatus, DirectiveGiven, Event, GuardCleared, HostInfo,
    InputCancelled, Item, Origin, PhaseEnded, PlanUpdated, PrCheckpoint, ThreadOpened,
    ToolFinished, ToolStarted, TurnCompleted, TurnStarted, TurnStatus, Until, Usage, UsageReported,
};
use rawr_core::machine::{InputKind, Machine, Notice, Response, ShellCommand};
use rawr_core::policy::{Mode, PacketAuthor, Policy, Tier};
use rawr_core::prompt::{PromptName, Prompts};
use rawr_core::signal::plan::{PlanStep, StepStatus};
use rawr_core::units::{
    ActionId, CallId, GuardId, InputId, SequenceId, ThreadId, Timestamp, Tokens, TurnId,
};
use rawr_core::{Effect, Input, Record, Rules, Thread};
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn every_transcript_says_what_the_core_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 20, "the transcripts are gone");
    let mut different = Vec::new();
    for file in files {
        let stored = std::fs::read_to_string(&file).unwrap();
        let played = Player::default().play(&stored);
        if stored != played {
            different.push(format!("{}:\n{}", file.display(), difference(&stored, &played)));
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&file, played).unwrap();
            }
        }
    }
    assert!(
        different.is_empty(),
        "run with UPDATE=1 and look at the difference:\n{}",
        different.join("\n")
    );
}

fn difference(stored: &str, played: &str) -> String {
    let mut text = String::new();
    for (at, line) in played.lines().enumerate() {
        let before = stored.lines().nth(at).unwrap_or_default();
        if line != before {
            let _ = writeln!(text, "  line {}\n  - {before}\n  + {line}", at + 1);
        }
    }
    text
}

/// Plays one script. A line is a command; indented lines are answers and are made anew; `#` and blank lines stay.
struct Player {
    machine: Machine,
    policy: Policy,
    prompts: Prompts,
    now: Timestamp,
    log: Vec<Record>,
}

impl Default for Player {
    fn default() -> Self {
        let prompts = Prompts::new(|name| match name {
            PromptName::Handoff => "HANDOFF by {author}: {packet} / {resume}".to_owned(),
            PromptName::WatcherPacket => {
                "BUILT BY RAWR state={state} goal={goal} last={lastAgentMessage}".to_owned()
            }
            PromptName::HeadsUp => "HEADS-UP {reason}".to_owned(),
            PromptName::ScratchWrite => "SCRATCH {scratchFile}".to_owned(),
            PromptName::AutoCompact => "WRITE-PACKET".to_owned(),
            other => other.name().to_owned(),
        });
        Self {
            machine: Machine::new(Thread::new(ThreadId::new("t"))),
            policy: Policy::default(),
            prompts,
            now: Timestamp(1_000_000),
            log: Vec::new(),
        }
    }
}

impl Player {
    fn play(mut self, script: &str) -> String {
        let mut out = String::new();
        for line in script.lines() {
            if line.starts_with("  ") {
                continue;
            }
            out.push_str(line);
            out.push('\n');
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            for answer in self.command(line) {
                let _ = writeln!(out, "  {answer}");
            }
            self.replay_equals_live();
        }
        out
    }

    fn replay_equals_live(&self) {
        let mut replayed = Thread::new(ThreadId::new("t"));
        for record in &self.log {
            let line = serde_json::to_string(record).unwrap();
            replayed.apply(&serde_json::from_str(&line).unwrap());
        }
        assert_eq!(replayed, *self.machine.thread());
    }

    fn command(&mut self, line: &str) -> Vec<String> {
        let (words, text) = split(line);
        let text = text.map(str::to_owned);
        let option =
            |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let turn =
            || words.iter().find(|word| word.starts_with('t') && word[1..].parse::<u32>().is_ok());
        let turn_id = || turn().map(|turn| TurnId::new(*turn));
        let number = |name: &str| option(name).map(|value| value.parse().unwrap());
        let usage = number("context").map(|n: u64| usage(n));
        let input = match words[0] {
            "policy" => {
                words[1..].iter().for_each(|word| self.set(word));
                return Vec::new();
            }
            "pass" => {
                self.now = self.now.plus_seconds(words[1].trim_end_matches('s').parse().unwrap());
                Input::Tick
            }
            "crash" => return self.crash(),
            "open" => Input::Saw(opened(number("window"), words.contains(&"cannot-compact"))),
            "start" => Input::Saw(Event::TurnStarted(TurnStarted {
                turn: turn_id().unwrap(),
                origin: match option("origin") {
                    Some("synthetic") => Origin::Synthetic,
                    Some("host") => Origin::Host,
                    _ => Origin::User,
                },
                action: option("action").map(|n| self.action(n)),
                text,
            })),
            "usage" => Input::Saw(Event::UsageReported(UsageReported {
                turn: turn_id().unwrap(),
                usage: usage.unwrap(),
                window: number("window").map(Tokens),
                needs_follow_up: false,
            })),
            "end" => Input::Saw(Event::TurnCompleted(TurnCompleted {
                turn: turn_id().unwrap(),
                status: match option("status") {
                    Some("interrupted") => TurnStatus::Interrupted,
                    Some("failed") => TurnStatus::Failed,
                    _ => TurnStatus::Completed,
                },
                last_message: text,
                usage,
                queued_inputs: 0,
                review_mode: words.contains(&"review"),
                boundaries: Boundaries::NONE,
            })),
            "plan" => Input::Saw(Event::PlanUpdated(PlanUpdated {
                turn: turn_id(),
                steps: plan(&text.unwrap()),
                explanation: None,
                boundaries: Boundaries::NONE,
            })),
            "command" => Input::Command {
                turn: turn_id(),
                command: ShellCommand::Line(text.unwrap()),
                exit_code: number("exit").map_or(0, |code| code as i64),
            },
            "commit" => Input::Saw(Event::CommitMade(CommitMade {
                turn: turn_id(),
                hash: None,
                subject: text,
            })),
            "pr" => Input::Saw(Event::PrCheckpoint(PrCheckpoint {
                turn: turn_id(),
                action: "create".to_owned(),
                url: None,
            })),
            "phase" => {
                Input::Saw(Event::PhaseEnded(PhaseEnded { turn: turn_id(), label: text.unwrap() }))
            }
            "directive" => Input::Saw(Event::DirectiveGiven(DirectiveGiven {
                text: text.unwrap(),
                pinned: false,
            })),
            "tool-start" => Input::Saw(Event::ToolStarted(ToolStarted {
                call: CallId::new(words[1]),
                name: None,
            })),
            "tool-end" => {
                Input::Saw(Event::ToolFinished(ToolFinished { call: CallId::new(words[1]) }))
            }
            "submit" => Input::Submitted {
                input: InputId::new(words[1]),
                text: text.unwrap(),
                kind: if words.contains(&"local") {
                    InputKind::LocalCommand
                } else {
                    InputKind::Message
                },
            },
            "unsubmit" => {
                Input::Saw(Event::InputCancelled(InputCancelled { input: InputId::new(words[1]) }))
            }
            "action" => Input::Saw(Event::ActionReported(ActionReported {
                action: self.action(words[1]),
                status: match words[2] {
                    "accepted" => ActionStatus::Accepted,
                    "completed" => ActionStatus::Completed,
                    _ => ActionStatus::Failed,
                },
                turn: turn_id(),
                text: text.clone().filter(|_| words[2] != "failed"),
                error: text.filter(|_| words[2] == "failed"),
            })),
            "compaction" => Input::Saw(Event::CompactionReported(CompactionReported {
                status: match words[1] {
                    "started" => CompactionStatus::Started,
                    "completed" => CompactionStatus::Completed,
                    _ => CompactionStatus::Failed,
                },
                origin: match option("by") {
                    Some("host") => CompactionOrigin::Host,
                    Some("user") => CompactionOrigin::User,
                    _ => CompactionOrigin::Rawr,
                },
                action: None,
                tokens_before: number("before").map(Tokens),
                tokens_after: number("after").map(Tokens),
                error: text,
            })),
            "respond" => Input::Respond(Response {
                choice: match words[1] {
                    "compact_now" => Choice::CompactNow,
                    "approve" => Choice::Approve,
                    "snooze" => Choice::Snooze,
                    "cancel" => Choice::Cancel,
                    _ => Choice::EditPacket,
                },
                sequence: option("sequence").map(SequenceId::new),
                turns: number("turns").map(|n: u64| n as u32),
                minutes: number("minutes").map(|n: u64| n as u32),
                packet: text,
                by: Some("nvim".to_owned()),
            }),
            "guard" => {
                Input::SetGuard { until: until(words[1], number("n")), note: text, by: None }
            }
            "unguard" => {
                Input::Saw(Event::GuardCleared(GuardCleared { guard: GuardId::new(words[1]) }))
            }
            other => panic!("no command {other:?}"),
        };
        self.handle(input)
    }

    fn action(&self, number: &str) -> ActionId {
        let thread = self.machine.thread();
        let found = thread
            .actions
            .iter()
            .rev()
            .find(|issued| issued.id.as_str().rsplit('.').next() == Some(number));
        found.map_or_else(|| ActionId::new(number), |issued| issued.id.clone())
    }

    fn handle(&mut self, input: Input) -> Vec<String> {
        let rules = Rules { policy: &self.policy, prompts: &self.prompts };
        match self.machine.handle(input, &rules, self.now) {
            Err(refusal) => vec![format!("refused: {refusal:?}")],
            Ok(effects) => {
                let told = effects.iter().filter_map(tell).collect();
                self.log.extend(effects.into_iter().filter_map(|effect| match effect {
                    Effect::Record(record) => Some(record),
                    _ => None,
                }));
                told
            }
        }
    }

    /// The process dies and another takes the thread up from what was stored.
    fn crash(&mut self) -> Vec<String> {
        let mut thread = Thread::new(ThreadId::new("t"));
        self.log.iter().for_each(|record| thread.apply(record));
        self.machine = Machine::new(thread);
        let mut told = self.handle(Input::Tick);
        told.extend(
            self.machine
                .thread()
                .pending_actions()
                .map(|issued| format!("pending {}", action(&issued.kind))),
        );
        told
    }

    fn set(&mut self, word: &str) {
        let (key, value) = word.split_once('=').unwrap();
        let policy = &mut self.policy;
        match key {
            "enabled" => policy.enabled = value == "true",
            "mode" => {
                policy.mode = match value {
                    "tag" => Mode::Tag,
                    "suggest" => Mode::Suggest,
                    "ask" => Mode::Ask,
                    _ => Mode::Auto,
                }
            }
            "author" => {
                policy.packet_author =
                    if value == "watcher" { PacketAuthor::Watcher } else { PacketAuthor::Agent }
            }
            "scratch" => policy.scratch_write_enabled = value == "true",
            "cooldown_turns" => policy.cooldown_turns = value.parse().unwrap(),
            "cooldown_seconds" => policy.cooldown_seconds = value.parse().unwrap(),
            "rearm_tokens" => policy.rearm_tokens = Some(Tokens(value.parse().unwrap())),
            tiered => {
                let (tier, field) = tiered.split_once('.').unwrap();
                let tier = Tier::ALL.into_iter().find(|t| t.name() == tier).unwrap();
                let rule = policy.tiers.rule_mut(tier);
                match field {
                    "below" => rule.percent_remaining_lt = value.parse().unwrap(),
                    "semantic" => rule.plan_needs_semantic_break = Some(value == "true"),
                    "judge" => rule.decision_prompt_path = Some(value.to_owned()),
                    _ => {
                        let names =
                            value.split(',').filter_map(rawr_core::boundary::Boundary::from_name);
                        rule.required = Some(names.collect());
                    }
                }
            }
        }
    }
}

fn split(line: &str) -> (Vec<&str>, Option<&str>) {
    let (head, text) = match line.split_once('"') {
        Some((head, rest)) => (head, Some(rest.trim_end_matches('"'))),
        None => (line, None),
    };
    (head.split_whitespace().collect(), text)
}

fn usage(context: u64) -> Usage {
    Usage { context: Tokens(context), input: None, cached: None, output: None, reasoning: None }
}

fn opened(window: Option<u64>, cannot_compact: bool) -> Event {
    let can =
        Capabilities { inject_turn: true, compact: !cannot_compact, ..Capabilities::default() };
    Event::ThreadOpened(ThreadOpened {
        cwd: "/repo".to_owned(),
        host: HostInfo { name: "script".to_owned(), version: None, can },
        model: None,
        window: window.map(Tokens),
        baseline: Tokens(0),
        agent: None,
    })
}

fn plan(text: &str) -> Vec<PlanStep> {
    let status = |mark: &str| match mark {
        "x" => StepStatus::Completed,
        ">" => StepStatus::InProgress,
        _ => StepStatus::Pending,
    };
    text.split(", ")
        .map(|step| PlanStep { step: step[1..].to_owned(), status: status(&step[..1]) })
        .collect()
}

fn until(kind: &str, n: Option<u64>) -> Until {
    match kind {
        "turns" => Until::Turns(n.unwrap() as u32),
        "minutes" => Until::Minutes(n.unwrap() as u32),
        "next_commit" => Until::NextCommit,
        _ => Until::Released,
    }
}

fn tell(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Record(record) => match &record.event {
            Event::PacketTaken(taken) => {
                format!("packet by {:?}: {}", taken.packet.author, one_line(&taken.packet.text))
            }
            Event::DeadlinePassed(passed) => format!("deadline of {} passed", passed.phase.name()),
            Event::InputHeld(held) => format!("held {}", held.input),
            Event::TurnCompleted(TurnCompleted { boundaries, .. })
            | Event::PlanUpdated(PlanUpdated { boundaries, .. })
                if !boundaries.is_empty() =>
            {
                format!("boundaries: {boundaries}")
            }
            Event::CommandFinished(finished) => format!("boundaries: {}", finished.boundaries),
            _ => return None,
        },
        Effect::Decided(decision) => decided(decision),
        Effect::Perform(issued) => format!("perform {} {}", issued.id, action(&issued.kind)),
        Effect::Tell(Notice::HeadsUp(heads_up)) => {
            format!(
                "heads-up {:?}: {} (packet by {:?})",
                heads_up.stage, heads_up.reason, heads_up.author
            )
        }
        Effect::Tell(Notice::Compaction { report, sequence, .. }) => {
            let of = sequence.as_ref().map_or("no sequence", SequenceId::as_str);
            format!("compaction {:?} by {:?} of {of}", report.status, report.origin)
        }
        Effect::Tell(Notice::SequenceEnded(ended)) => {
            format!("{:?} {}: {}", ended.ending, ended.sequence, ended.reason)
        }
        Effect::Tell(Notice::InputRefused { input, error }) => {
            format!("{input} was not taken: {error}")
        }
        Effect::Tell(Notice::GuardBypassed) => "guard bypassed".to_owned(),
        Effect::Tell(Notice::Changed) => return None,
    })
}

fn decided(decision: &Decision) -> String {
    let mut text = format!("verdict {:?}: {}", decision.outcome, decision.reason);
    for gate in decision
        .gates
        .iter()
        .filter(|gate| matches!(gate.outcome, GateOutcome::Fail | GateOutcome::Bypassed))
    {
        let _ = write!(text, "\n    {:?} {:?}: {}", gate.gate, gate.outcome, gate.evidence);
    }
    text
}

fn action(action: &Action) -> String {
    let item = |item: &Item| format!("{:?} {:?}", item.role, one_line(&item.text));
    match action {
        Action::InjectTurn { purpose, text, .. } => {
            format!("inject {}: {}", purpose.name(), one_line(text))
        }
        Action::Compact { author, .. } => format!("compact, packet by {author:?}"),
        Action::DeliverInput { input, items } => {
            format!("deliver {input}: {}", items.iter().map(item).collect::<Vec<_>>().join(" + "))
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
