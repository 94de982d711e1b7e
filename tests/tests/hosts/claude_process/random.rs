//! A scripted Claude Code that obeys the plugin's protocol, with a random person at its prompt: messages, Escape, `/compact`
//! and failures at any moment.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use rawr_tests::{Dice, Repository, TestHome};

use super::bridge::{Bridge, Order, OrderKind, Outcome, Question, Reply};
use crate::fixture::PACKET;

/// The default preset, with deadlines that a test can wait for.
const SETTINGS: &str = "[rawr_auto_compaction]\n[rawr_auto_compaction.deadlines]\n\
    packet_seconds = 2\nheads_up_seconds = 2\ncompaction_seconds = 3\nhandoff_seconds = 2\n";

/// Longer than all deadlines together.
const STUCK: Duration = Duration::from_secs(20);

/// An order may be on its way when the person says no.
const ON_ITS_WAY: Duration = Duration::from_millis(500);

/// How a message begins that is carried out before the compaction.
const CLOSES: &str = "Great. Commit and push everything, please";

const PRESSURE: u64 = 150_000;
const AFTER_COMPACTION: u64 = 12_000;

/// A message of the person that a hook of the plugin has not passed on yet.
struct Waiting {
    name: String,
    text: String,
    question: Question,
    is_held: bool,
}

/// What the agent does.
enum Activity {
    Idle,
    Turn { id: String, text: String, steps: u64, is_rawrs: bool },
}

struct ScriptedClaude {
    bridge: Bridge,
    dice: Dice,
    activity: Activity,
    waiting: Option<Waiting>,
    /// Texts that start the next turns: typed while a turn ran, or submitted by rawr.
    queue: VecDeque<(String, bool)>,
    tokens: u64,
    count: u64,
    /// When the person took back the last message, until the next one.
    withdrawn: Option<Instant>,
    /// The turn of a message that closes the work was the last one, so rawr may compact without another message.
    is_closed: bool,
    /// A compaction is done, and the agent has not got its packet back.
    owes_handoff: bool,
    log: Vec<String>,
}

/// What went wrong, and the log.
type Failure = String;

impl ScriptedClaude {
    fn new(home: &Path, folder: &Path, session: &str, dice: Dice) -> Self {
        Self {
            bridge: Bridge::start(home, folder, session),
            dice,
            activity: Activity::Idle,
            waiting: None,
            queue: VecDeque::new(),
            tokens: 24_000,
            count: 0,
            withdrawn: None,
            is_closed: false,
            owes_handoff: false,
            log: Vec::new(),
        }
    }

    fn fresh(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}{}", self.count)
    }

    fn note(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }

    fn is_idle(&self) -> bool {
        matches!(self.activity, Activity::Idle) && self.waiting.is_none() && self.queue.is_empty()
    }

    /// Whether rawr took an event. One that is not taken ends the run.
    fn taken(&self, is_taken: bool, what: &str) -> Result<(), Failure> {
        if is_taken { Ok(()) } else { Err(format!("{what} was not taken")) }
    }

    fn play(&mut self) -> Result<(), Failure> {
        for _ in 0..self.dice.between(8, 20) {
            self.act()?;
            for _ in 0..self.dice.between(0, 3) {
                self.advance()?;
            }
        }
        let end = Instant::now() + STUCK;
        let mut quiet = 0;
        while quiet < 5 {
            let is_idle = self.is_idle();
            self.advance()?;
            quiet = if is_idle && self.is_idle() { quiet + 1 } else { 0 };
            if Instant::now() > end {
                let held = self.waiting.as_ref().map(|waiting| waiting.is_held);
                return Err(format!("stuck: a message waits, held: {held:?}"));
            }
        }
        if self.bridge.leave() { Ok(()) } else { Err("rawr does not end".to_owned()) }
    }

    /// The person does something.
    fn act(&mut self) -> Result<(), Failure> {
        match self.dice.between(1, 100) {
            1..=55 => self.types(),
            56..=75 => self.escapes(),
            76..=80 if self.is_idle() => {
                self.note("/compact");
                self.tokens = AFTER_COMPACTION;
                let is_taken = self.bridge.compacts_by_hand(AFTER_COMPACTION);
                self.taken(is_taken, "a compaction by hand")
            }
            _ => {
                std::thread::sleep(Duration::from_millis(self.dice.between(0, 60)));
                Ok(())
            }
        }
    }

    fn types(&mut self) -> Result<(), Failure> {
        let name = self.fresh("m");
        let text = match self.dice.between(1, 10) {
            1..=2 => format!("Please write part {name} of the parser"),
            3..=4 => format!("{CLOSES}, for {name}"),
            5..=8 => format!("Great, that works. Next: write part {name}"),
            _ => format!("It still fails in the same place, look at {name}"),
        };
        if !self.is_idle() {
            self.note(format!("queued: {text}"));
            self.queue.push_back((text, false));
            return Ok(());
        }
        self.note(format!("typed: {text}"));
        self.withdrawn = None;
        let question = self.bridge.may_pass(&name, &text, self.tokens);
        self.waiting = Some(Waiting { name, text, question, is_held: false });
        Ok(())
    }

    fn escapes(&mut self) -> Result<(), Failure> {
        if let Some(waiting) = self.waiting.take() {
            self.note(format!("Escape: {} is withdrawn", waiting.name));
            let is_taken = self.bridge.withdrawn(&waiting.name);
            self.withdrawn = Some(Instant::now());
            return self.taken(is_taken, "a withdrawal");
        }
        if let Activity::Turn { id, .. } = std::mem::replace(&mut self.activity, Activity::Idle) {
            self.note(format!("Escape: {id} is aborted"));
            // What was queued goes back into the input box.
            self.queue.clear();
            let is_taken = self.bridge.turn_ends(&id, "aborted", "");
            return self.taken(is_taken, "an aborted turn");
        }
        Ok(())
    }

    /// One step of Claude Code: an order, an answer to its question, or a step of the turn.
    fn advance(&mut self) -> Result<(), Failure> {
        let patience = Duration::from_millis(self.dice.between(0, 15));
        if let Some(order) = self.bridge.next_order_within(patience) {
            return self.obey(order);
        }
        if let Some(waiting) = &mut self.waiting {
            match waiting.question.reply() {
                Reply::Waiting => return Ok(()),
                Reply::Late => return Err(format!("no answer about {}", waiting.name)),
                Reply::Hold => {
                    waiting.is_held = true;
                    waiting.question = self.bridge.still_held(&waiting.name);
                    return Ok(());
                }
                Reply::Pass => {}
            }
            let Some(waiting) = self.waiting.take() else { return Ok(()) };
            return self.passes(waiting);
        }
        self.step()
    }

    fn passes(&mut self, waiting: Waiting) -> Result<(), Failure> {
        // What rawr has ordered before the message was released.
        while let Some(order) = self.bridge.next_order() {
            self.obey(order)?;
        }
        if self.owes_handoff {
            return Err(format!("{} is released without the handoff", waiting.name));
        }
        self.note(format!("{} passes", waiting.name));
        self.begin(waiting.text, false)
    }

    fn begin(&mut self, text: String, is_rawrs: bool) -> Result<(), Failure> {
        let id = self.fresh("t");
        self.note(format!("{id} starts: {:.60}", text));
        let is_taken = self.bridge.turn_starts(&id, &text);
        let steps = self.dice.between(1, 3);
        self.activity = Activity::Turn { id, text, steps, is_rawrs };
        self.taken(is_taken, "a turn's start")
    }

    fn step(&mut self) -> Result<(), Failure> {
        match std::mem::replace(&mut self.activity, Activity::Idle) {
            Activity::Idle => match self.queue.pop_front() {
                Some((text, is_rawrs)) => self.begin(text, is_rawrs),
                None => Ok(()),
            },
            Activity::Turn { id, text, steps, is_rawrs } if steps > 1 => {
                let writes = text.contains("write part");
                let is_taken = !writes || {
                    self.tokens = PRESSURE;
                    let call = format!("{id}c{steps}");
                    self.bridge.answers("", PRESSURE, true) && self.bridge.commits(&call)
                };
                self.activity = Activity::Turn { id, text, steps: steps - 1, is_rawrs };
                self.taken(is_taken, "a tool")
            }
            Activity::Turn { id, text, is_rawrs, .. } => {
                let answer = match (is_rawrs, text.contains("write part")) {
                    (true, _) => PACKET,
                    (false, true) => "All of it is written and committed; the tests pass.",
                    (false, false) => "I looked at two more files.",
                };
                let fails = self.dice.chance(8);
                let reason = if fails { "error" } else { "answer" };
                self.note(format!("{id} ends: {reason}"));
                self.is_closed = !fails && text.starts_with(CLOSES);
                let is_taken = (fails || self.bridge.answers(answer, self.tokens, false))
                    && self.bridge.turn_ends(&id, reason, if fails { "" } else { answer });
                self.taken(is_taken, "a turn's end")
            }
        }
    }

    fn obey(&mut self, order: Order) -> Result<(), Failure> {
        self.note(format!("{:.120}", format!("order {}: {:?}", order.id, order.kind)));
        let outcome = match &order.kind {
            OrderKind::GiveUp(reason) => return Err(format!("rawr gives up: {reason}")),
            OrderKind::Submit(text) => {
                self.owes_handoff &= !text.contains(":handoff]");
                if self.waiting.is_some() {
                    Outcome::Joined
                } else if self.dice.chance(4) {
                    Outcome::Failed("the session was stopped")
                } else {
                    self.queue.push_back((text.clone(), true));
                    Outcome::Done
                }
            }
            OrderKind::Append(text) => {
                self.owes_handoff &= !text.contains(":handoff]");
                Outcome::Done
            }
            OrderKind::Sample if self.dice.chance(8) => Outcome::Failed("error"),
            OrderKind::Sample => Outcome::Text(PACKET.to_owned()),
            OrderKind::Abort(turn) => match &self.activity {
                Activity::Turn { id, .. } if id == turn => {
                    let id = id.clone();
                    self.activity = Activity::Idle;
                    let is_taken = self.bridge.turn_ends(&id, "aborted", "");
                    self.taken(is_taken, "an aborted turn")?;
                    Outcome::Done
                }
                _ => Outcome::Failed("no such turn"),
            },
            OrderKind::Compact => self.compact(&order)?,
        };
        let is_taken = self.bridge.done(order.id, &outcome);
        self.taken(is_taken, "an outcome")
    }

    fn compact(&mut self, order: &Order) -> Result<Outcome, Failure> {
        if self.is_closed && !matches!(self.activity, Activity::Idle) {
            return Ok(Outcome::Failed("a turn runs"));
        }
        if self.waiting.is_none() && !self.is_closed {
            let is_late = self.withdrawn.is_none_or(|at| order.at > at + ON_ITS_WAY);
            if is_late {
                return Err("a compaction that no message confirms".to_owned());
            }
            return Ok(Outcome::Failed("the message was taken back"));
        }
        std::thread::sleep(Duration::from_millis(self.dice.between(0, 30)));
        if self.dice.chance(10) {
            return Ok(Outcome::Failed("the summary failed"));
        }
        self.tokens = AFTER_COMPACTION;
        self.is_closed = false;
        self.owes_handoff = true;
        Ok(Outcome::Compacted(AFTER_COMPACTION))
    }
}

fn run(home: &TestHome, repository: &Repository, seed: u64) -> Result<(), Failure> {
    let session = format!("session-{seed}");
    let mut claude =
        ScriptedClaude::new(&home.path(), repository.path(), &session, Dice::new(seed));
    let played = claude.play();
    played.map_err(|failure| {
        let (log, events) = (claude.log.join("\n"), last_events(home, &session));
        format!("seed {seed}: {failure}\n{log}\nrawr's log ends with:\n{events}")
    })
}

fn last_events(home: &TestHome, session: &str) -> String {
    let events = std::fs::read_to_string(home.thread(session).join("events.jsonl"));
    let events = events.unwrap_or_else(|error| error.to_string());
    let lines: Vec<_> = events.lines().map(|line| format!("{line:.400}")).collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}

/// So many runs from this seed on, some at a time. Returns what failed.
pub fn runs(first: u64, count: u64, at_once: u64) -> Vec<Failure> {
    let play = |part: u64| {
        let (home, repository) = (TestHome::empty(), Repository::new());
        std::fs::write(home.path().join("rawr.toml"), SETTINGS).unwrap();
        let seeds = (first..first + count).filter(|seed| seed % at_once == part);
        let failed: Vec<_> = seeds.filter_map(|seed| run(&home, &repository, seed).err()).collect();
        failed
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..at_once).map(|part| scope.spawn(move || play(part))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}
