//! Plays one script against the core and writes the answers below its lines. `command` parses lines, `print` formats
//! answers.

use crate::scripts::config::ScriptConfig;
use crate::scripts::{print, show};
use rawr_core::assess::DecisionRecord;
use rawr_core::policy::Policy;
use rawr_core::prompt::{PromptName, Prompts};
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Effect, Input, Machine, Record, Rules, Thread};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A line is a command; indented lines are answers and are rewritten; `#` and blank lines are kept.
pub struct Player {
    pub machine: Machine,
    pub policy: Policy,
    /// The `config` lines so far.
    pub config: ScriptConfig,
    /// Prompts that the script defines, by name.
    pub prompts: BTreeMap<&'static str, String>,
    /// Decision prompts of the script, by the path that a tier names.
    pub decisions: BTreeMap<String, String>,
    pub now: Timestamp,
    /// Whether the scratch file exists.
    pub notes_exist: bool,
    pub log: Vec<Record>,
    /// The newest decision, and whether it is recorded.
    pub decision: Option<(DecisionRecord, bool)>,
}

impl Default for Player {
    fn default() -> Self {
        Self {
            machine: Machine::new(thread()),
            policy: Policy::default(),
            config: ScriptConfig::default(),
            prompts: BTreeMap::new(),
            decisions: BTreeMap::new(),
            now: Timestamp(1_000_000),
            notes_exist: false,
            log: Vec::new(),
            decision: None,
        }
    }
}

fn thread() -> Thread {
    Thread::new(ThreadId::new("t"))
}

/// Short texts in place of the shipped ones, so that scripts do not depend on their wording.
fn built_in_prompt(name: PromptName) -> &'static str {
    match name {
        PromptName::Handoff => "HANDOFF by {author}: {packet} / {resume}",
        PromptName::WatcherPacket => {
            "BUILT BY RAWR state={state} goal={goal} last={lastAgentMessage}"
        }
        PromptName::HeadsUp => "HEADS-UP {reason}",
        PromptName::ScratchWrite => "SCRATCH {scratchFile}",
        PromptName::AutoCompact => "WRITE-PACKET",
        other => other.name(),
    }
}

impl Player {
    pub fn play(mut self, script: &str) -> String {
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

    fn command(&mut self, line: &str) -> Vec<String> {
        let line = self.with_names(line);
        let words: Vec<_> = line.split('"').next().unwrap_or_default().split_whitespace().collect();
        match words[0] {
            "policy" => {
                for word in &words[1..] {
                    self.set_policy(word);
                }
                Vec::new()
            }
            "config" => self.set_config(line.strip_prefix("config").unwrap()),
            "prompt" => {
                self.set_prompt(words[1], line.split_once('"').unwrap().1);
                Vec::new()
            }
            "notes" => {
                self.notes_exist = words[1] == "exist";
                Vec::new()
            }
            "decision" => {
                let text = line.split_once('"').unwrap().1.trim_end_matches('"');
                self.decisions.insert(words[1].to_owned(), text.to_owned());
                Vec::new()
            }
            "pass" => {
                self.now = self.now.plus_seconds(words[1].trim_end_matches('s').parse().unwrap());
                self.handle(Input::Tick)
            }
            "crash" => self.crash(),
            "show" => words[1..].iter().map(|what| show::state(self, what)).collect(),
            "explain" => show::decision(self),
            "log" => show::log(self, &words[1..]),
            _ => {
                let input = self.input(&line);
                self.handle(input)
            }
        }
    }

    /// `{s2}` is the id of the second sequence, `{d3}` of the third decision, so that scripts do not contain generated
    /// ids.
    fn with_names(&self, line: &str) -> String {
        let next = self.machine.thread().next_sequence_id();
        let suffix = next.as_str().split_once('-').unwrap().1;
        let names = (1..10).flat_map(|n| [format!("s{n}"), format!("d{n}")]);
        names.fold(line.to_owned(), |line, name| {
            line.replace(&format!("{{{name}}}"), &format!("{name}-{suffix}"))
        })
    }

    fn set_prompt(&mut self, name: &str, text: &str) {
        let name = PromptName::from_name(name).unwrap();
        self.prompts.insert(name.name(), text.trim_end_matches('"').replace("\\n", "\n"));
    }

    pub fn handle(&mut self, input: Input) -> Vec<String> {
        let prompts = Prompts::new(|name| {
            let own = self.prompts.get(name.name()).map(String::as_str);
            own.unwrap_or_else(|| built_in_prompt(name)).to_owned()
        })
        .with_decisions(self.decisions.clone());
        let rules =
            Rules { policy: &self.policy, prompts: &prompts, notes_exist: self.notes_exist };
        match self.machine.handle(input, &rules, self.now) {
            Err(refusal) => vec![format!("refused: {refusal:?}")],
            Ok(effects) => {
                let told = effects.iter().filter_map(print::effect).collect();
                for effect in effects {
                    match effect {
                        Effect::Record(record) => self.log.push(record),
                        Effect::Decided(decision) => {
                            let stored = decision.is_worth_storing(self.machine.thread());
                            self.decision = Some((*decision, stored));
                        }
                        Effect::Perform(_) | Effect::Tell(_) => {}
                    }
                }
                told
            }
        }
    }

    /// The process dies and another one opens the thread from what was stored.
    fn crash(&mut self) -> Vec<String> {
        self.machine = Machine::new(self.replayed());
        let mut told = self.handle(Input::Tick);
        let pending = self.machine.thread().pending_actions();
        told.extend(pending.map(|issued| format!("pending {}", print::action(&issued.kind))));
        told
    }

    fn replayed(&self) -> Thread {
        let mut thread = thread();
        for record in &self.log {
            let line = serde_json::to_string(record).unwrap();
            thread.apply(&serde_json::from_str(&line).unwrap());
        }
        thread
    }

    fn replay_equals_live(&self) {
        assert_eq!(self.replayed(), *self.machine.thread());
    }
}
