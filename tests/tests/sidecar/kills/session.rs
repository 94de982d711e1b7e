//! One home with its host and editors, and random kills.

use crate::fixture::THREAD;
use crate::kills::log::LoggedEvents;
use crate::kills::random::Dice;
use rawr_protocol::methods::{
    GuardClear, GuardSet, LogMessage, SequenceRespond, SignalReport, ThreadGet, ThreadOpen,
    ThreadWatch, TurnCompleted, TurnStarted,
};
use rawr_protocol::{Phase, Request, Role, ThreadGetParams};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fmt;
use std::ops::AddAssign;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The approximate time of a whole sequence in a debug build.
const LONGEST_LIFE_MICROS: u64 = 20_000;

#[derive(Debug, Clone, Copy, Default)]
pub struct SessionReport {
    pub kills: u64,
    pub compactions: u64,
    pub messages: u64,
    answered: u64,
}

impl AddAssign for SessionReport {
    fn add_assign(&mut self, other: Self) {
        self.kills += other.kills;
        self.compactions += other.compactions;
        self.messages += other.messages;
        self.answered += other.answered;
    }
}

impl fmt::Display for SessionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, compactions, messages, answered } = self;
        write!(
            f,
            "{kills} kills, {compactions} compactions, {messages} messages, {answered} answers"
        )
    }
}

pub struct KillSession {
    home: TestHome,
    dice: Dice,
    seed: u64,
    host: StandIn,
    /// The host's sidecar, and those of two editors.
    sidecars: [TestSidecar; 3],
    guards: Vec<String>,
    rules: Vec<String>,
    kills: u64,
}

const OWNER: usize = 0;

impl KillSession {
    pub fn new(seed: u64) -> Self {
        let home = TestHome::new();
        let sidecars = [(); 3].map(|()| start(&home));
        let mut session = Self {
            home,
            dice: Dice(seed),
            seed,
            host: StandIn::new(THREAD),
            sidecars,
            guards: Vec::new(),
            rules: Vec::new(),
            kills: 0,
        };
        for who in 0..3 {
            session.take_up(who);
        }
        session
    }

    /// One client acts, and one sidecar dies.
    pub fn round(&mut self) {
        let victim = self.dice.below(3) as usize;
        let actor = if self.dice.below(2) == 0 { OWNER } else { self.dice.below(3) as usize };
        let killer = self.kill_later(victim);
        if actor == OWNER {
            self.host_works();
        } else {
            self.person_speaks(actor);
        }
        killer.join().unwrap();
        self.kills += 1;
        self.sidecars[victim].wait();
        self.sidecars[victim].take_notes();
        if victim == OWNER && self.dice.below(2) == 0 {
            self.host.driver_dies_alone();
        }
        self.sidecars[victim] = start(&self.home);
        self.take_up(victim);
    }

    fn kill_later(&mut self, victim: usize) -> JoinHandle<()> {
        let process = i32::try_from(self.sidecars[victim].process_id()).unwrap();
        let process = rustix::process::Pid::from_raw(process).unwrap();
        let life = Duration::from_micros(self.dice.below(LONGEST_LIFE_MICROS));
        thread::spawn(move || {
            thread::sleep(life);
            rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
        })
    }

    fn take_up(&mut self, who: usize) {
        let sidecar = &mut self.sidecars[who];
        if who == OWNER {
            assert!(self.host.open(&self.home, sidecar), "seed {}", self.seed);
        } else {
            sidecar.request(ThreadWatch::METHOD, &json!({}));
            let opening = self.host.opening(&self.home, Role::Observer);
            sidecar.request(ThreadOpen::METHOD, &serde_json::to_value(opening).unwrap());
        }
    }

    fn host_works(&mut self) {
        match self.dice.below(4) {
            0 => self.host.user_turn(),
            1 => self.host.message(),
            _ => self.host.user_turn_with_boundaries(),
        }
        self.host.run(&mut self.sidecars[OWNER]);
    }

    fn person_speaks(&mut self, who: usize) {
        let rule = format!("rule {} of seed {}", self.rules.len(), self.seed);
        let (method, mut params) = match self.dice.below(7) {
            0 => (SequenceRespond::METHOD, json!({ "choice": "snooze", "turns": 1 })),
            1 => (SequenceRespond::METHOD, json!({ "choice": "cancel" })),
            2 | 3 => (SequenceRespond::METHOD, json!({ "choice": "compact_now" })),
            4 => (GuardSet::METHOD, json!({ "until": { "kind": "turns", "turns": 1 } })),
            5 => (GuardClear::METHOD, json!({})),
            _ => (
                SignalReport::METHOD,
                json!({ "signal": { "kind": "directive", "text": rule, "pinned": false } }),
            ),
        };
        params["threadId"] = THREAD.into();
        // A refusal is an answer: there may be nothing to snooze.
        let Some(Ok(answer)) = self.sidecars[who].request(method, &params) else { return };
        if let Some(guard) = answer.get("guardId").and_then(Value::as_str) {
            self.guards.push(guard.to_owned());
        }
        if method == SignalReport::METHOD {
            self.rules.push(rule);
        }
    }

    /// Waits until the thread is idle, without kills, and checks the log.
    pub fn end(mut self) -> SessionReport {
        self.settle();
        let log = LoggedEvents::read(&self.home, THREAD);
        let seed = self.seed;
        log.assert_every_action_once();
        assert_eq!(self.host.delivered, self.host.written, "seed {seed}");
        assert_eq!(self.host.count("compact"), self.host.count("handoff"), "seed {seed}");
        for what in ["packet_request", "compact", "handoff"] {
            let (done, issued) = (self.host.count(what), log.times_issued(what));
            assert!(
                done <= issued,
                "seed {seed}: {what} was done {done} times for {issued} orders"
            );
        }
        let started = log.all("turn_started", "turn");
        let ended = log.all("turn_completed", "turn");
        let times = |all: &[String], turn: &str| all.iter().filter(|it| *it == turn).count();
        for (method, turn) in &self.host.acknowledged {
            match *method {
                // Repeated if its answer was lost.
                TurnStarted::METHOD => {
                    assert!(times(&started, turn) > 0, "seed {seed}: {turn} never began");
                }
                TurnCompleted::METHOD => {
                    assert_eq!(times(&ended, turn), 1, "seed {seed}: {turn} ended");
                }
                _ => {}
            }
        }
        let (guards, rules) = (log.all("guard_set", "guard"), log.all("directive_given", "text"));
        assert!(self.guards.iter().all(|guard| guards.contains(guard)), "seed {seed}: {guards:?}");
        assert!(self.rules.iter().all(|rule| rules.contains(rule)), "seed {seed}: {rules:?}");
        for sidecar in &mut self.sidecars {
            sidecar.take_notes();
        }
        SessionReport {
            kills: self.kills,
            compactions: self.host.count("compact") as u64,
            messages: self.host.written.len() as u64,
            answered: (self.host.acknowledged.len() + self.guards.len() + self.rules.len()) as u64,
        }
    }

    fn settle(&mut self) {
        const ONE_LOOK: Duration = Duration::from_millis(5);
        const LOOKS: u32 = 2000;
        for _ in 0..LOOKS {
            let owner = &mut self.sidecars[OWNER];
            assert!(self.host.run(owner), "seed {}: it ended without a kill", self.seed);
            let thread = owner.call::<ThreadGet>(&ThreadGetParams { thread_id: THREAD.to_owned() });
            let quiet = thread.thread.phase == Phase::Idle
                && thread.pending_actions.is_empty()
                && thread.held_inputs.is_empty()
                && !thread.compaction_asked_for;
            if quiet && self.host.has_said_all() {
                return;
            }
            thread::sleep(ONE_LOOK);
        }
        panic!("seed {}: it does not become idle\n{}", self.seed, self.sidecars[OWNER].told());
    }
}

fn start(home: &TestHome) -> TestSidecar {
    let mut sidecar = TestSidecar::start(home);
    sidecar.allow::<LogMessage>();
    sidecar.allow_news_of_others();
    sidecar
}
