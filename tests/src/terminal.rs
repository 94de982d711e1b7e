//! Runs a program on a pseudo terminal and reads its screen.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::place_as;

/// Only a hang takes this long.
const LIMIT: Duration = Duration::from_secs(60);

/// The variables of the test runner that change colors. Continuous integration counts as a terminal with colors.
const DECIDE_ON_COLORS: [&str; 4] = ["CI", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"];

/// No program writes it, and no screen shows it.
const END: u8 = 0;

/// The screen of the program.
struct Shown {
    parser: vt100::Parser,
    /// Whatever was written, for what is not on the screen any more.
    written: Vec<u8>,
}

/// A program, its terminal, and its screen.
pub struct Terminal {
    child: Child,
    /// Until it hangs up.
    keyboard: Option<File>,
    /// Keeps the terminal, and its modes, while no program runs on it.
    line: OwnedFd,
    before: Termios,
    shown: Arc<(Mutex<Shown>, Condvar)>,
}

impl Terminal {
    /// The program is its own session's first, and the terminal is its controlling one. It answers no question.
    pub fn run(command: &Command, rows: u16, columns: u16) -> Self {
        Self::start(command, rows, columns, &[])
    }

    /// Like [`Self::run`], for a terminal that answers queries.
    pub fn that_answers(command: &Command, rows: u16, columns: u16) -> Self {
        Self::start(command, rows, columns, &ANSWERS)
    }

    fn start(
        command: &Command,
        rows: u16,
        columns: u16,
        answers: &'static [TerminalAnswer],
    ) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let path = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(path).unwrap();
        let keyboard = File::from(keyboard);
        resize(&keyboard, rows, columns);
        let mut leader = Command::new("setsid");
        leader.arg("--ctty").arg(command.get_program()).args(command.get_args());
        for name in DECIDE_ON_COLORS {
            leader.env_remove(name);
        }
        place_as(&mut leader, command);
        let stream = || Stdio::from(line.try_clone().unwrap());
        let child = leader.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
        let parser = vt100::Parser::new(size_of(rows), size_of(columns), 0);
        let shown = Arc::new((Mutex::new(Shown { parser, written: Vec::new() }), Condvar::new()));
        let screen = keyboard.try_clone().unwrap();
        let listener = Arc::clone(&shown);
        thread::spawn(move || follow(screen, &listener, answers));
        let before = tcgetattr(&line).unwrap();
        Self { child, keyboard: Some(keyboard), line: line.into(), before, shown }
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    pub fn resize(&mut self, rows: u16, columns: u16) {
        let (lines, width) = (size_of(rows), size_of(columns));
        self.shown.0.lock().unwrap().parser.screen_mut().set_size(lines, width);
        resize(self.keyboard.as_ref().unwrap(), rows, columns);
    }

    /// Types a line and presses Enter once the screen shows `shown`, because an Enter together with the text would count as pasted.
    pub fn enter(&mut self, text: &str, shown: &str) {
        self.press(text);
        self.wait_for(&[shown]);
        self.press("\r");
    }

    /// Waits until the screen shows all of these.
    pub fn wait_for(&self, words: &[&str]) -> String {
        self.wait(&format!("{words:?}"), |shown| {
            let text = shown.parser.screen().contents();
            words.iter().all(|word| text.contains(word)).then_some(text)
        })
    }

    /// What the screen shows now.
    pub fn screen(&self) -> String {
        self.shown.0.lock().unwrap().parser.screen().contents()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until the screen shows this no longer.
    pub fn wait_until_gone(&self, word: &str) {
        self.wait(&format!("no {word:?}"), |shown| {
            (!shown.parser.screen().contents().contains(word)).then_some(())
        });
    }

    fn wait<T>(&self, what: &str, mut look: impl FnMut(&Shown) -> Option<T>) -> T {
        let give_up = Instant::now() + LIMIT;
        let (lock, changed) = &*self.shown;
        let mut shown = lock.lock().unwrap();
        loop {
            if let Some(found) = look(&shown) {
                return found;
            }
            let left = give_up.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what} did not come:\n{}", shown.parser.screen().contents());
            shown = changed.wait_timeout(shown, left).unwrap().0;
        }
    }

    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.shown.0.lock().unwrap().written).into_owned()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The window is closed.
    pub fn hang_up(&mut self) {
        self.keyboard = None;
        // The thread that reads holds the terminal, too; it is told by its own end.
        drop(std::mem::replace(&mut self.line, File::open("/dev/null").unwrap().into()));
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the program's end and checks that screen, cursor and line modes are restored.
    pub fn wait_for_a_clean_end(&mut self) -> ExitStatus {
        let status = self.wait_for_the_end();
        self.wait("the usual screen", |shown| {
            let screen = shown.parser.screen();
            (!screen.alternate_screen() && !screen.hide_cursor()).then_some(())
        });
        let after = tcgetattr(&self.line).unwrap();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        status
    }

    /// Waits for the program's end, and until all that it has written was read.
    pub fn wait_for_the_end(&mut self) -> ExitStatus {
        let give_up = Instant::now() + LIMIT;
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => {
                    self.read_to_here();
                    return status;
                }
                None if Instant::now() > give_up => panic!("it does not end\n{}", self.written()),
                None => thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// What ends a program's output on a terminal that stays open is a byte written behind it.
    fn read_to_here(&mut self) {
        if self.keyboard.is_none() {
            return;
        }
        rustix::io::write(&self.line, &[END]).unwrap();
        let end = self.wait("what was written last", |shown| {
            shown.written.iter().rposition(|byte| *byte == END)
        });
        self.shown.0.lock().unwrap().written.remove(end);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn size_of(side: u16) -> NonZero<u16> {
    NonZero::new(side).unwrap()
}

fn resize(terminal: &File, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

/// What is asked for, and what is said to it.
type TerminalAnswer = (&'static str, &'static str);

/// Where the cursor is, what the terminal can do, and its colors.
const ANSWERS: [TerminalAnswer; 5] = [
    ("\x1b[6n", "\x1b[1;1R"),
    ("\x1b[c", "\x1b[?1;2c"),
    ("\x1b[?u", "\x1b[?0u"),
    ("\x1b]10;?", "\x1b]10;rgb:ff/ff/ff\x1b\\"),
    ("\x1b]11;?", "\x1b]11;rgb:00/00/00\x1b\\"),
];

fn follow(mut screen: File, shown: &(Mutex<Shown>, Condvar), answers: &[TerminalAnswer]) {
    let mut bytes = [0; 8192];
    while let Ok(count @ 1..) = screen.read(&mut bytes) {
        let text = String::from_utf8_lossy(&bytes[..count]);
        for (_, answer) in answers.iter().filter(|(question, _)| text.contains(question)) {
            // A program that has just ended needs none.
            drop(screen.write_all(answer.as_bytes()));
        }
        let mut now = shown.0.lock().unwrap();
        now.parser.process(&bytes[..count]);
        now.written.extend_from_slice(&bytes[..count]);
        shown.1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_output_is_read_at_the_end() {
        let mut command = Command::new("sh");
        command.args(["-c", "yes 'a line' | head -n 20000"]);
        let mut terminal = Terminal::run(&command, 24, 100);
        assert!(terminal.wait_for_the_end().success());
        assert_eq!(terminal.written().matches("a line\r\n").count(), 20_000);
    }
}
