//! What a person or a program sees of a session. It shows what it is given and keeps no more of it than that takes.

mod back;
mod banner;
mod decisions;
mod human;
mod json;
mod text;
mod threads;

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use rawr_protocol::{
    CompactionUpdateNotification, ConfigChangedNotification, DecisionRecordedNotification,
    LogMessageParams, PacketGetResult, PromptChangedNotification, Purpose,
    SequenceHeadsUpNotification, ThreadChangedNotification, ThreadOpenResult,
};
use serde::Serialize;

pub use self::back::{capsule_line, place, restored, restoring};
pub use self::banner::{answer, banner_title, banner_words};
pub use self::decisions::{compacted_to, decided, decision, decision_line, fact, outcome_of};
use self::human::Human;
pub use self::human::{BAD, BOLD, DIM, GOOD, OURS, WARN, compaction, plan_step};
use self::json::Json;
pub(crate) use self::json::line as event_line;
pub use self::text::{ago, one_line, plain};
pub(crate) use self::text::{bytes, causes, harmless, number};
pub use self::threads::{
    cleared, directive, doing, guard, guarded, marked, pressure, recorded, status, tier_style,
};
use crate::host::{HostEvent, HostThread};
use crate::saved::Saved;

/// One thing to show.
#[derive(Debug)]
pub enum Shown<'s> {
    Session {
        host: &'s HostThread,
        opened: &'s ThreadOpenResult,
        /// The sidecar's process.
        sidecar: Option<u32>,
    },
    SidecarRestarted {
        error: &'s str,
        pending: usize,
    },
    /// A person's, given to the agent.
    UserMessage {
        turn_id: &'s str,
        text: &'s str,
    },
    /// A person's, kept until the handoff.
    InputHeld {
        input_id: &'s str,
        text: &'s str,
    },
    Injected {
        purpose: Purpose,
        injected: Injected<'s>,
    },
    Handoff(Injected<'s>),
    Host(&'s HostEvent),
    ThreadChanged(&'s ThreadChangedNotification),
    Verdict(&'s DecisionRecordedNotification),
    HeadsUp(&'s SequenceHeadsUpNotification),
    Packet(&'s PacketGetResult),
    Compaction(&'s CompactionUpdateNotification),
    PromptChanged(&'s PromptChangedNotification),
    ConfigChanged(&'s ConfigChangedNotification),
    Log(&'s LogMessageParams),
    Notice {
        level: Level,
        message: &'s str,
    },
    Saved(&'s Saved),
}

/// A text of rawr's, given to the agent.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Injected<'s> {
    pub sequence_id: &'s str,
    pub action_id: &'s str,
    pub turn_id: &'s str,
    pub text: &'s str,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// Who reads the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    Person,
    Program,
}

/// Where things are shown. After an error it is silent: whoever read is gone.
pub struct Renderer {
    to: To,
    out: Box<dyn Write + Send>,
    is_gone: bool,
}

enum To {
    Person(Human),
    Program(Json),
}

impl Renderer {
    /// On standard output, with colours and motion where there is a terminal.
    pub fn stdout(reader: Reader) -> Self {
        let stdout = io::stdout();
        let columns = if stdout.is_terminal() { terminal_columns } else { || None };
        match reader {
            Reader::Person => {
                let stdout = AutoStream::auto(stdout);
                let is_live = io::stdout().is_terminal() && can_be_drawn_over(&stdout);
                Self::to_person(Box::new(stdout), is_live, columns)
            }
            Reader::Program => Self::to_program(Box::new(stdout)),
        }
    }

    pub(crate) fn to_person(out: Box<dyn Write + Send>, is_live: bool, columns: Columns) -> Self {
        Self { to: To::Person(Human::new(is_live, columns)), out, is_gone: false }
    }

    pub(crate) fn to_program(out: Box<dyn Write + Send>) -> Self {
        Self { to: To::Program(Json), out, is_gone: false }
    }

    pub fn show(&mut self, shown: &Shown<'_>) -> io::Result<()> {
        self.write(|to, out| match to {
            To::Person(human) => human.show(shown, out),
            To::Program(json) => json.show(shown, out),
        })
    }

    /// Nothing moves from here on: a person types on the same lines.
    pub fn keep_still(&mut self) {
        if let To::Person(human) = &mut self.to {
            human.keep_still();
        }
    }

    /// Whether [`tick`](Self::tick) is of use.
    pub fn is_live(&self) -> bool {
        !self.is_gone && matches!(&self.to, To::Person(human) if human.is_live())
    }

    /// Time has passed.
    pub fn tick(&mut self) -> io::Result<()> {
        self.write(|to, out| match to {
            To::Person(human) => human.tick(out),
            To::Program(_) => Ok(()),
        })
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut To, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        let written = write(&mut self.to, &mut *self.out).and_then(|()| self.out.flush());
        self.is_gone = written.is_err();
        written
    }
}

/// How wide the terminal is now, if there is one.
pub(crate) type Columns = fn() -> Option<usize>;

fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then(|| size.ws_col.into())
}

/// What moves is wiped by an escape, which must arrive and be understood.
fn can_be_drawn_over(stdout: &AutoStream<io::Stdout>) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    stdout.current_choice() != ColorChoice::Never && !is_dumb
}

#[cfg(test)]
mod tests;
