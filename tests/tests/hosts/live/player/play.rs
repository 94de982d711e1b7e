//! Plays a plan: presses the keys, disturbs rawr, and writes down what was done and seen.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rawr_tests::Terminal;
use rustix::process::{Pid, Signal, kill_process};

use super::agents::{Agent, SESSION_LIST};
use super::plan::{AgentKind, Move, Pause, Piece, PieceId, Plan, RawrPart};
use super::record::{Deed, Record, now, without_blanks};
use super::verdict::{self, Fault};
use crate::live::codex::deaths::close;

const ESC: &str = "\x1b";
/// How often the screen is looked at.
const GLANCE: Duration = Duration::from_millis(40);
/// Nothing new for this long: the agent has nothing to do.
const QUIET: Duration = Duration::from_millis(1_500);
/// Only an agent that is stuck takes as long.
const AT_MOST: Duration = Duration::from_secs(20);
/// Longer than each of rawr's deadlines.
const IN_THE_END: Duration = Duration::from_secs(45);
const START: Duration = Duration::from_secs(60);
const RESUMED_SESSIONS: usize = 4;
const LAST_SCREENS: usize = 6;

pub struct Player {
    plan: Plan,
    agent: Agent,
    terminal: Terminal,
    record: Record,
    /// Typed since the last Enter.
    typed: BTreeSet<PieceId>,
    /// Stopped processes, and when they continue.
    stopped: Vec<(Instant, Pid)>,
    screens: Vec<String>,
}

/// Plays the whole plan. Returns what went wrong, and a report of the run.
pub fn play(plan: Plan, alone: bool) -> (Vec<Fault>, String) {
    let agent = Agent::new(&plan, alone);
    let record = Record::new(plan.kind, plan.preflight, plan.pieces.clone());
    let terminal = agent.start(None);
    let mut player = Player {
        plan,
        agent,
        terminal,
        record,
        typed: BTreeSet::new(),
        stopped: Vec::new(),
        screens: Vec::new(),
    };
    player.until_started();
    for (pause, then) in player.plan.moves.clone() {
        match pause {
            Pause::Ms(ms) => player.watch(Duration::from_millis(ms)),
            Pause::UntilQuiet => player.until_quiet(QUIET, AT_MOST),
        }
        player.note(format!("{then:?}"));
        player.carry_out(then);
    }
    player.end();
    let faults = verdict::faults(&player.record);
    let report =
        super::report::report(&player.plan, &player.record, &player.agent, &player.screens);
    (faults, report)
}

impl Player {
    fn note(&mut self, what: String) {
        self.record.log.push((now(), what));
    }

    fn deed(&mut self, deed: Deed) {
        self.record.deeds.push((now(), deed));
    }

    fn piece(&self, id: PieceId) -> Piece {
        self.plan.pieces[id].clone()
    }

    fn input_box(&self) -> Option<String> {
        self.agent.input_box(&self.terminal.screen())
    }

    /// Looks at the screen, continues what was stopped long enough, and notes what came back into the input box.
    fn glance(&mut self) -> Option<String> {
        let due = Instant::now();
        self.stopped.retain(|(until, pid)| {
            if *until <= due {
                // The process may have ended meanwhile.
                let _ = kill_process(*pid, Signal::CONT);
            }
            *until > due
        });
        let content = self.input_box();
        if let Some(content) = &content {
            for id in self.record.pieces_in(content) {
                self.record.astray.remove(&id);
                let settled = now().saturating_sub(400);
                let entered = self.record.entered.get(&id).and_then(|times| times.last());
                if !self.typed.contains(&id) && entered.is_some_and(|at| *at < settled) {
                    self.record.returned.insert(id);
                }
            }
        }
        content
    }

    fn watch(&mut self, time: Duration) {
        let end = Instant::now() + time;
        loop {
            self.glance();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            sleep(left.min(GLANCE));
        }
    }

    /// Until this is so, or the time is over.
    fn watch_for(&mut self, time: Duration, mut is_so: impl FnMut(&Self) -> bool) -> bool {
        let end = Instant::now() + time;
        while !is_so(self) {
            if Instant::now() >= end {
                return false;
            }
            self.glance();
            sleep(GLANCE);
        }
        true
    }

    fn until_quiet(&mut self, quiet: Duration, at_most: Duration) {
        let end = Instant::now() + at_most;
        let mut since = Instant::now();
        let mut requests = self.agent.count_of_requests();
        while since.elapsed() < quiet && Instant::now() < end {
            self.glance();
            sleep(GLANCE);
            let count = self.agent.count_of_requests();
            let is_busy = self.agent.is_answering()
                || !self.stopped.is_empty()
                || self.agent.looks_busy(&self.terminal.screen());
            if is_busy || count != requests {
                (since, requests) = (Instant::now(), count);
            }
        }
    }

    fn press(&mut self, keys: &str) {
        if !self.terminal.has_ended() {
            self.terminal.press(keys);
        }
    }

    fn keep_screen(&mut self) {
        let at = self.record.log.last().map(|(_, what)| what.clone()).unwrap_or_default();
        self.screens.push(format!("after {at}:\n{}", self.terminal.screen()));
        if self.screens.len() > LAST_SCREENS {
            self.screens.remove(0);
        }
    }

    fn until_started(&mut self) {
        let has_box = |player: &Self| player.input_box().is_some();
        let is_elsewhere = |player: &Self| player.terminal.screen().contains("`claude attach ");
        let mut started = self.watch_for(START, |player| has_box(player) || is_elsewhere(player))
            && has_box(self);
        if let Some(terminal) = self.agent.attach(&self.terminal.screen()) {
            self.note("the session runs in the background: attaches".to_owned());
            self.terminal = terminal;
            started = self.watch_for(START, has_box);
        }
        assert!(started, "{}", self.told_of("it does not start"));
        // rawr joins while the agent starts.
        self.watch(Duration::from_millis(700));
    }

    fn told_of(&self, what: &str) -> String {
        let report = super::report::report(&self.plan, &self.record, &self.agent, &self.screens);
        format!("{what}:\n{}\n{report}", self.terminal.screen())
    }

    /// Where no input box is shown, leaves what covers it.
    fn at_the_box(&mut self) {
        for _ in 0..5 {
            if self.terminal.has_ended() {
                self.note_end("the program has ended");
                self.resume();
            }
            if self.watch_for(Duration::from_millis(600), |player| player.input_box().is_some()) {
                // A command that a rewind left there would take a message as its argument.
                if self.input_box().is_some_and(|content| content.starts_with('/')) {
                    self.press("\x15");
                    self.watch(Duration::from_millis(200));
                }
                return;
            }
            self.press(ESC);
            self.watch(Duration::from_millis(500));
        }
        self.note("no input box: the terminal is closed".to_owned());
        self.keep_screen();
        self.close();
        self.resume();
    }

    fn type_piece(&mut self, id: PieceId) {
        let piece = self.piece(id);
        let before = self.input_box();
        if before.as_ref().is_some_and(|content| !self.record.pieces_in(content).is_empty()) {
            self.press(" ");
        }
        self.record.typed.insert(id, now());
        self.record.astray.insert(id);
        self.typed.insert(id);
        for word in piece.text.split_inclusive(' ') {
            self.press(word);
            sleep(Duration::from_millis(4));
        }
        let last = piece.last_word();
        let shows = |player: &Self| {
            player.input_box().is_some_and(|content| without_blanks(&content).contains(&last))
        };
        let shown = self.watch_for(Duration::from_secs(2), shows);
        // A box that was there all the time took the text, even where rawr has emptied it since.
        if shown || (before.is_some() && self.input_box().is_some()) {
            self.record.astray.remove(&id);
        }
    }

    fn enter(&mut self) {
        let content = self.glance();
        let mut sent = self.typed.clone();
        sent.extend(content.iter().flat_map(|content| self.record.pieces_in(content)));
        if content.is_some() {
            self.deed(Deed::Enter);
            let at = now();
            for id in &sent {
                self.record.entered.entry(*id).or_default().push(at);
                self.record.returned.remove(id);
            }
            self.note(format!("Enter with {sent:?}"));
            self.typed.clear();
        }
        self.press("\r");
    }

    /// Sends what is in the input box: it would become a part of a command. Whether the box is empty then.
    fn empty_box(&mut self) -> bool {
        self.at_the_box();
        let has_draft = |player: &Self| {
            player.input_box().is_some_and(|content| !player.record.pieces_in(&content).is_empty())
        };
        if has_draft(self) {
            self.enter();
            self.watch(Duration::from_millis(800));
        }
        let is_empty = !has_draft(self);
        if !is_empty {
            self.note("the input box is not empty: no command".to_owned());
        }
        is_empty
    }

    /// Types it and presses Enter. Whether that was possible.
    fn command(&mut self, command: &str, deed: Deed) -> bool {
        if !self.empty_box() {
            return false;
        }
        self.press(command);
        let shows =
            |player: &Self| player.input_box().is_some_and(|content| content.contains(command));
        self.watch_for(Duration::from_secs(2), shows);
        self.deed(Deed::Enter);
        if deed != Deed::Enter {
            self.deed(deed);
        }
        self.press("\r");
        true
    }

    fn escape(&mut self) {
        // In a picker it is no answer to rawr.
        if self.input_box().is_some() {
            self.deed(Deed::Escape);
        }
        self.press(ESC);
    }

    fn carry_out(&mut self, next: Move) {
        match next {
            Move::Escape | Move::EscapeTwice(_) | Move::CtrlC => {}
            Move::Stop(..) | Move::Kill(_) | Move::Close(_) => {}
            _ => self.at_the_box(),
        }
        match next {
            Move::Send(id) => {
                self.type_piece(id);
                self.enter();
            }
            Move::SendTwo(first, second, gap) => {
                self.type_piece(first);
                self.enter();
                self.watch(Duration::from_millis(gap));
                self.type_piece(second);
                self.enter();
            }
            Move::SendAndType(message, draft, gap) => {
                self.type_piece(message);
                self.enter();
                sleep(Duration::from_millis(gap));
                self.type_piece(draft);
            }
            Move::Draft(id) => self.type_piece(id),
            Move::Enter => self.enter(),
            Move::Escape => self.escape(),
            Move::EscapeTwice(gap) => {
                self.escape();
                self.watch(Duration::from_millis(gap));
                self.deed(Deed::Clear);
                self.press(ESC);
            }
            Move::Picker(command, open) => {
                self.command(command, Deed::Enter);
                self.watch(Duration::from_millis(open));
                if self.input_box().is_none() {
                    self.press(ESC);
                }
            }
            Move::OtherSession(down, wait) => self.other_session(down, wait),
            Move::Rewind(back) => self.rewind(back),
            Move::Background(how, wait) => self.background(how, wait),
            Move::Command(command) => {
                let switches = matches!(command, "/clear" | "/new");
                self.command(command, if switches { Deed::Switch } else { Deed::Enter });
            }
            Move::CtrlC => {
                self.deed(Deed::Clear);
                self.press("\x03");
            }
            Move::Close(wait) => {
                self.close();
                self.watch(Duration::from_millis(wait));
                self.resume();
            }
            Move::Stop(part, ms) => self.stop(part, ms),
            Move::Kill(part) => {
                for pid in self.agent.rawr_processes(part) {
                    // The process may have ended meanwhile.
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        }
    }

    fn other_session(&mut self, down: u64, wait: u64) {
        if !self.command("/resume", Deed::Switch) {
            return;
        }
        if !self.watch_for(Duration::from_secs(3), |player| player.input_box().is_none()) {
            return;
        }
        self.watch(Duration::from_millis(wait));
        for _ in 0..down {
            self.press("\x1b[B");
            self.watch(Duration::from_millis(150));
        }
        self.keep_screen();
        self.press("\r");
        self.watch(Duration::from_millis(1_500));
    }

    fn rewind(&mut self, back: u64) {
        if self.plan.kind == AgentKind::Codex {
            self.deed(Deed::Switch);
            self.deed(Deed::Clear);
            self.press(ESC);
            self.watch(Duration::from_millis(300));
            self.press(ESC);
            self.watch(Duration::from_millis(700));
            for _ in 1..back {
                self.press(ESC);
                self.watch(Duration::from_millis(300));
            }
            // A draft keeps the conversation from being chosen from, and would be sent.
            let is_draft = |draft: String| {
                let of = |piece: &Piece| {
                    draft.contains(&piece.first_word()) || draft.contains(&piece.last_word())
                };
                self.plan.pieces.iter().any(of)
            };
            if !self.input_box().is_some_and(is_draft) {
                self.press("\r");
            }
            self.watch(Duration::from_millis(1_500));
            return;
        }
        if !self.command("/rewind", Deed::Switch) {
            return;
        }
        let shows =
            |words: &'static str| move |player: &Self| player.terminal.screen().contains(words);
        if !self.watch_for(Duration::from_secs(3), shows("Restore the code and/or conversation")) {
            return;
        }
        for _ in 0..back {
            self.press("\x1b[A");
            self.watch(Duration::from_millis(150));
        }
        self.press("\r");
        if self.watch_for(Duration::from_secs(2), shows("Restore conversation")) {
            self.press("\r");
        }
        self.watch(Duration::from_millis(1_500));
    }

    fn background(&mut self, how: &str, wait: u64) {
        if how.starts_with('/') {
            self.command(how, Deed::Switch);
        } else if self.empty_box() {
            self.deed(Deed::Switch);
            self.press(how);
        }
        // The list waits for a running tool.
        let shows_list = |player: &Self| player.terminal.screen().contains(SESSION_LIST);
        self.watch_for(Duration::from_secs(6), shows_list);
        self.watch(Duration::from_millis(wait));
        self.keep_screen();
        if !self.terminal.has_ended() && shows_list(self) {
            self.note("opens the session of the list".to_owned());
            self.press("\r");
            self.watch_for(Duration::from_secs(10), |player| player.input_box().is_some());
            self.keep_screen();
        }
    }

    fn stop(&mut self, part: RawrPart, ms: u64) {
        let until = Instant::now() + Duration::from_millis(ms);
        self.record.stalls.push((now(), now() + ms));
        for pid in self.agent.rawr_processes(part) {
            if kill_process(pid, Signal::STOP).is_ok() {
                self.stopped.push((until, pid));
            }
        }
    }

    fn continue_all(&mut self) {
        for (_, pid) in self.stopped.drain(..) {
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    fn note_end(&mut self, how: &str) {
        self.note(how.to_owned());
        self.deed(Deed::End);
        let mut lost = self.typed.clone();
        lost.extend(self.input_box().iter().flat_map(|content| self.record.pieces_in(content)));
        self.record.ended_with.extend(lost);
        self.typed.clear();
    }

    fn close(&mut self) {
        self.note_end("the terminal is closed");
        if !self.terminal.has_ended() {
            close(&mut self.terminal);
        }
        self.watch_for(Duration::from_secs(15), |player| {
            !player.agent.processes().iter().any(|(_, line)| player.agent.is_agent(line))
        });
    }

    /// The newest session, or a new one.
    fn resume(&mut self) {
        let newest = self.agent.sessions().into_iter().next();
        self.open(newest.as_deref());
    }

    fn open(&mut self, session: Option<&str>) {
        self.note(format!("opens {}", session.unwrap_or("a new session")));
        self.terminal = self.agent.start(session);
        self.until_started();
    }

    /// What a person does who wants to see everything answered.
    fn end(&mut self) {
        self.note("the end".to_owned());
        self.keep_screen();
        self.continue_all();
        self.at_the_box();
        self.until_quiet(Duration::from_secs(3), IN_THE_END);
        self.keep_screen();
        self.read_box();
        let sessions = self.agent.sessions();
        for session in sessions.iter().take(RESUMED_SESSIONS) {
            let missing = self.missing();
            if missing.is_empty() {
                break;
            }
            self.note(format!("not said: {missing:?}"));
            self.record.late.extend(missing);
            self.close();
            self.open(Some(session));
            self.until_quiet(Duration::from_secs(3), IN_THE_END);
            self.keep_screen();
            self.read_box();
        }
        self.leave();
        self.look_back();
    }

    /// What the agent and rawr have recorded.
    fn look_back(&mut self) {
        self.record.heard = self.agent.heard();
        self.record.events = self.agent.events();
        let stored = self.agent.stored();
        let is_stored = |piece: &&Piece| {
            stored
                .iter()
                .any(|line| line.contains(&piece.first_word()) && line.contains(&piece.last_word()))
        };
        self.record.stored =
            self.plan.pieces.iter().filter(is_stored).map(|piece| piece.number).collect();
    }

    fn read_box(&mut self) {
        let content = self.glance();
        self.record.boxes.extend(content);
    }

    fn missing(&mut self) -> BTreeSet<PieceId> {
        self.look_back();
        verdict::missing(&self.record)
    }

    /// Nothing of rawr lives longer than the agent.
    fn leave(&mut self) {
        if !self.terminal.has_ended() {
            close(&mut self.terminal);
        }
        let is_agent = |player: &Self, line: &str| player.agent.is_agent(line);
        self.watch_for(Duration::from_secs(10), |player| {
            !player.agent.processes().iter().any(|(_, line)| is_agent(player, line))
        });
        // Sessions in the background.
        for (pid, line) in self.agent.processes() {
            if self.agent.is_agent(&line) {
                self.note(format!("ends {line:.120}"));
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        self.watch_for(Duration::from_secs(20), |player| player.agent.processes().is_empty());
        let left = self.agent.processes().into_iter();
        let rawr = left.filter(|(_, line)| line.contains("rawr")).map(|(_, line)| line);
        self.record.left = rawr.collect();
    }

    fn end_all(&mut self) {
        self.continue_all();
        for (pid, _) in self.agent.processes() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.end_all();
    }
}
