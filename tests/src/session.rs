//! The output of a finished `rawr exec --json`, and its summary.

use std::process::Output;

use serde_json::Value;

/// The result of a session.
#[derive(Debug)]
pub struct ExecOutput {
    pub output: Output,
    pub events: Vec<Value>,
}

impl ExecOutput {
    /// Panics where a line is not JSON: whatever else it is, no program can read it.
    pub fn of(output: Output) -> Self {
        let event = |line: &[u8]| {
            serde_json::from_slice(line)
                .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(line)))
        };
        let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let events = lines.map(event).collect();
        Self { output, events }
    }

    pub fn all(&self, name: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == name).collect()
    }

    /// The only event of this name that fits.
    pub fn one<'e>(&'e self, name: &str, fits: impl Fn(&Value) -> bool) -> &'e Value {
        let found: Vec<_> = self.all(name).into_iter().filter(|event| fits(event)).collect();
        assert_eq!(found.len(), 1, "{name}: {}", self.dump());
        found[0]
    }

    pub fn said(&self) -> Vec<&str> {
        self.all("agent_message").iter().filter_map(|event| event["text"].as_str()).collect()
    }

    pub fn notices(&self) -> Vec<&str> {
        self.all("notice").iter().filter_map(|event| event["message"].as_str()).collect()
    }

    pub fn dump(&self) -> String {
        let lines: Vec<_> = self.events.iter().map(ToString::to_string).collect();
        format!("{}\n{}", lines.join("\n"), String::from_utf8_lossy(&self.output.stderr))
    }

    pub fn expect_success(&self) {
        assert!(self.output.status.success(), "{}", self.dump());
    }

    /// A summary of the session: one line for each event that concerns a compaction, without ids and numbers.
    pub fn story(&self) -> String {
        let lines: Vec<_> = self.events.iter().filter_map(line).collect();
        lines.join("\n") + "\n"
    }
}

fn line(event: &Value) -> Option<String> {
    let word = |field: &str| event[field].as_str().unwrap_or("?");
    let first = |field: &str| shortened(word(field).lines().next().unwrap_or_default());
    Some(match word("event") {
        "user_message" => format!("user: {}", first("text")),
        "turn_completed" => format!("turn {}", word("status")),
        "agent_message" => format!("  agent: {}", first("text")),
        "command_finished" => format!("  ran {}", shortened(without_shell(word("command")))),
        "verdict" if event["outcome"] == "nothing" => return None,
        "verdict" => format!("[{} by {}]", word("outcome"), word("entrance")),
        "heads_up" => format!("[heads-up {}]", word("stage")),
        "input_held" => format!("[held: {}]", first("text")),
        "message_left" if event["kept"] == true => format!("[kept: {}]", first("text")),
        "message_left" => format!("[not sent: {}]", first("text")),
        "injected" => format!("rawr: {}", word("purpose")),
        "handoff" => "rawr: handoff".to_owned(),
        "packet" => format!("[packet by {}]", word("author")),
        "compaction" => format!("[compaction {}]", word("status")),
        "notice" => format!("[notice: {}]", first("message")),
        "log" => format!("[log: {}]", shortened(without_thread(word("message")))),
        _ => return None,
    })
}

/// The shell is the user's own, so that its path differs from machine to machine.
fn without_shell(command: &str) -> &str {
    let Some((_, command)) = command.split_once(" -lc ") else { return command };
    let unquoted = |quote: char| command.strip_prefix(quote)?.strip_suffix(quote);
    unquoted('"').or_else(|| unquoted('\'')).unwrap_or(command)
}

/// Lines of the log begin with the thread's id.
fn without_thread(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    line.strip_prefix("thread ")
        .and_then(|rest| rest.split_once(": "))
        .map_or(line, |(_, rest)| rest)
}

/// The beginning of a long line: how long it got may hang on the moment at which it was cut off.
fn shortened(line: &str) -> String {
    const LETTERS: usize = 80;
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
