//! Renders the events of a session, as a transcript for users or as JSON Lines for programs.

mod banner;
mod decisions;
mod human;
pub(crate) mod junit;
pub(crate) mod label;
mod names;
mod palette;
pub(crate) mod policy_tests;
pub(crate) mod replay;
mod restore;
pub(crate) mod stats;
mod text;
mod threads;
pub(crate) mod tune;

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

pub use self::banner::banner_words;
pub use self::decisions::{compacted_to, decided, decision, decision_line, fact, outcome_of};
use self::human::TranscriptRenderer;
pub use self::human::{compaction, plan_step};
pub use self::names::{handles, thread_name};
pub use self::palette::{BAD, BOLD, DIM, GOOD, OURS, WARN};
pub use self::restore::{capsule_line, packet_lines, place, restored, restoring};
pub use self::text::{LocalNow, ago, plain};
pub(crate) use self::text::{bytes, causes, counted, number, wrapped};
pub use self::threads::{
    cleared, directive, guard, guarded, marked, pressure, recorded, status, thread_line, tier_style,
};
use rawr_host::event::{JsonLines, Reporter, SessionEvent};

/// How much of a session people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One line for each decision.
    Brief,
    /// Also every gate, what rawr tells the agent, decisions inside a turn, and the files.
    Full,
}

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Person(Detail),
    Program,
}

/// Renders events to an output. Silent after an error, which means that the reader is gone.
pub struct Renderer {
    to: RenderOutput,
    out: Box<dyn Write + Send>,
    is_gone: bool,
}

enum RenderOutput {
    Person(TranscriptRenderer),
    Program(JsonLines),
}

impl Renderer {
    /// Renders to stdout, with colors and a live line on a terminal.
    pub fn stdout(reader: OutputFormat) -> Self {
        let stdout = io::stdout();
        let columns = if stdout.is_terminal() { terminal_columns } else { || None };
        match reader {
            OutputFormat::Person(detail) => {
                let stdout = AutoStream::auto(stdout);
                let is_live = io::stdout().is_terminal() && can_be_drawn_over(&stdout);
                Self::to_person(Box::new(stdout), is_live, columns, detail)
            }
            OutputFormat::Program => Self::to_program(Box::new(stdout)),
        }
    }

    pub(crate) fn to_person(
        out: Box<dyn Write + Send>,
        is_live: bool,
        columns: TerminalWidth,
        detail: Detail,
    ) -> Self {
        Self {
            to: RenderOutput::Person(TranscriptRenderer::new(is_live, columns, detail)),
            out,
            is_gone: false,
        }
    }

    pub(crate) fn to_program(out: Box<dyn Write + Send>) -> Self {
        Self { to: RenderOutput::Program(JsonLines), out, is_gone: false }
    }

    /// Disables the live line, because the user types on the same lines.
    pub fn keep_still(&mut self) {
        if let RenderOutput::Person(human) = &mut self.to {
            human.keep_still();
        }
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut RenderOutput, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        let written = write(&mut self.to, &mut *self.out).and_then(|()| self.out.flush());
        self.is_gone = written.is_err();
        written
    }
}

impl Reporter for Renderer {
    fn report(&mut self, event: &SessionEvent<'_>) -> io::Result<()> {
        self.write(|to, out| match to {
            RenderOutput::Person(human) => human.show(event, out),
            RenderOutput::Program(json) => json.write(event, out),
        })
    }

    fn is_live(&self) -> bool {
        !self.is_gone && matches!(&self.to, RenderOutput::Person(human) if human.is_live())
    }

    fn tick(&mut self) -> io::Result<()> {
        self.write(|to, out| match to {
            RenderOutput::Person(human) => human.tick(out),
            RenderOutput::Program(_) => Ok(()),
        })
    }
}

/// The current width of the terminal, if there is one.
pub(crate) type TerminalWidth = fn() -> Option<usize>;

pub(crate) fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then(|| size.ws_col.into())
}

/// Whether the terminal supports the escape sequence that erases the live line.
fn can_be_drawn_over(stdout: &AutoStream<io::Stdout>) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    stdout.current_choice() != ColorChoice::Never && !is_dumb
}

#[cfg(test)]
mod tests;
