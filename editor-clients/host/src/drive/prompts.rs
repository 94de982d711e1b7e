//! The source of a session's user messages and of the user's answers.

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Read};

use tokio::sync::mpsc;

/// User messages in order: first the known ones, then lines of standard input.
#[derive(Debug)]
pub struct PromptQueue {
    known: VecDeque<String>,
    /// Lines of standard input, once a thread reads it.
    lines: Option<mpsc::UnboundedReceiver<String>>,
    /// Whether lines are messages. Otherwise they only answer questions.
    lines_are_prompts: bool,
    /// Whether standard input is a terminal.
    is_terminal: bool,
    /// Keeps `lines` open if no line will ever be sent.
    _elsewhere: Option<mpsc::UnboundedSender<String>>,
}

/// How it stands with the person's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptState {
    /// There will be none.
    pub is_at_end: bool,
    /// A user may type one at any time.
    pub is_live: bool,
    /// A user is there to be asked.
    pub can_be_asked: bool,
    /// Lines of standard input are messages.
    pub takes_lines: bool,
}

/// What the session can take now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedLine {
    #[default]
    Nothing,
    Prompt,
    /// An answer to the open question.
    Answer,
}

impl PromptQueue {
    /// Only these messages. A user at a terminal can still answer questions.
    pub fn known(prompts: impl IntoIterator<Item = String>) -> Self {
        Self {
            known: prompts.into_iter().collect(),
            lines: None,
            lines_are_prompts: false,
            is_terminal: io::stdin().is_terminal(),
            _elsewhere: None,
        }
    }

    /// What standard input says: each line as it is typed on a terminal, else the whole of it as one message.
    ///
    /// # Errors
    ///
    /// Fails if standard input cannot be read.
    pub fn from_stdin() -> io::Result<Self> {
        if io::stdin().is_terminal() {
            return Ok(Self::lines_of_stdin());
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(without_mark(&bytes)).trim().to_owned();
        Ok(Self::known((!text.is_empty()).then_some(text)))
    }

    /// One message per line of standard input.
    pub fn lines_of_stdin() -> Self {
        Self {
            known: VecDeque::new(),
            lines: Some(read_stdin()),
            lines_are_prompts: true,
            is_terminal: io::stdin().is_terminal(),
            _elsewhere: None,
        }
    }

    /// No messages: people type into the host itself. The session lasts as long as the host.
    pub fn elsewhere() -> Self {
        let (keep, lines) = mpsc::unbounded_channel();
        Self {
            known: VecDeque::new(),
            lines: Some(lines),
            lines_are_prompts: true,
            is_terminal: false,
            _elsewhere: Some(keep),
        }
    }

    /// No messages. The session ends after what the host has to report.
    pub fn none() -> Self {
        let (_, lines) = mpsc::unbounded_channel();
        Self { _elsewhere: None, lines: Some(lines), ..Self::elsewhere() }
    }

    /// Whether there is no message at all. Waits for the first one, unless a user types it.
    pub async fn is_empty(&mut self) -> bool {
        if self.known.is_empty() && !self.is_live() {
            let first = self.prompt().await;
            self.known.extend(first);
        }
        self.is_at_end()
    }

    /// The next line of the wanted kind; `None` at the end of input. Cancel safe.
    pub(super) async fn line(&mut self, wanted: WantedLine) -> Option<String> {
        match wanted {
            WantedLine::Nothing => None,
            WantedLine::Prompt => self.prompt().await,
            WantedLine::Answer => {
                if self.lines.is_none() && self.is_terminal {
                    self.lines = Some(read_stdin());
                }
                self.next_line().await
            }
        }
    }

    async fn prompt(&mut self) -> Option<String> {
        match self.known.pop_front() {
            Some(prompt) => Some(prompt),
            None if self.lines_are_prompts => self.next_line().await,
            None => None,
        }
    }

    async fn next_line(&mut self) -> Option<String> {
        let line = match &mut self.lines {
            Some(lines) => lines.recv().await,
            None => None,
        };
        if line.is_none() {
            self.lines = None;
            self.is_terminal = false;
        }
        line
    }

    /// Takes the messages that arrived and were not taken.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let mut rest: Vec<_> = self.known.drain(..).collect();
        let lines = self.lines.as_mut().filter(|_| self.lines_are_prompts);
        rest.extend(
            lines.into_iter().flat_map(|lines| std::iter::from_fn(|| lines.try_recv().ok())),
        );
        rest
    }

    pub(super) fn state(&self) -> PromptState {
        PromptState {
            is_at_end: self.is_at_end(),
            is_live: self.is_live(),
            can_be_asked: self.is_terminal,
            takes_lines: self.lines_are_prompts,
        }
    }

    fn is_at_end(&self) -> bool {
        self.known.is_empty() && !(self.lines_are_prompts && self.lines.is_some())
    }

    /// Whether a user may type a message at any time.
    pub fn is_live(&self) -> bool {
        self.is_terminal && self.lines_are_prompts && self.lines.is_some()
    }
}

/// Without the byte order mark that some Windows programs write at the start of a file.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The text of each line. A blank line has none.
fn texts(input: impl BufRead) -> impl Iterator<Item = String> {
    // A closed terminal counts as end of file.
    let lines = input.split(b'\n').map_while(Result::ok).enumerate();
    lines.filter_map(|(at, bytes)| {
        let bytes = if at == 0 { without_mark(&bytes) } else { &bytes };
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        // An invalid byte must not lose this message or the following ones.
        let text = String::from_utf8_lossy(bytes).into_owned();
        (!text.trim().is_empty()).then_some(text)
    })
}

fn read_stdin() -> mpsc::UnboundedReceiver<String> {
    let (line, lines) = mpsc::unbounded_channel();
    // A separate thread, because a blocked read must not keep the program from exiting.
    std::thread::spawn(move || {
        for text in texts(io::stdin().lock()) {
            if line.send(text).is_err() {
                return;
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_prompt_without_the_marks_of_its_file() {
        let input = b"\xef\xbb\xbfone\r\n\n  \ntwo\xff\r\n\xef\xbb\xbfthree".as_slice();
        let texts: Vec<_> = texts(input).collect();
        assert_eq!(texts, ["one", "two\u{fffd}", "\u{feff}three"]);
    }
}
