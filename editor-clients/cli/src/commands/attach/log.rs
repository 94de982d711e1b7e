//! The event log of `rawr codex`: the JSON lines of `rawr exec --json` without conversation text, because the conversation may
//! contain secrets and Codex already stores it.

use rawr_storage::redact::redact;
use serde_json::Value;
use std::io::{self, Write};
use std::path::PathBuf;

use rawr_host::private_fs::open_log;

/// Fields that quote the conversation, in any event.
const QUOTES: [&str; 9] = [
    "text",
    "title",
    "lastAgentMessage",
    "packet",
    "steps",
    "explanation",
    "command",
    "facts",
    "added",
];

#[derive(Debug)]
pub(super) struct EventLog {
    path: PathBuf,
    /// The incomplete line.
    line: Vec<u8>,
}

impl EventLog {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        open_log(&path)?;
        Ok(Self { path, line: Vec::new() })
    }
}

impl Write for EventLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.ends_with(b"\n") {
                let line = kept(&String::from_utf8_lossy(&std::mem::take(&mut self.line)));
                // Opened for each line, so that the file is rotated even if other processes write to it.
                open_log(&self.path)?.write_all(line.as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn kept(line: &str) -> String {
    let Ok(mut event) = serde_json::from_str(line) else { return redact(line).into_owned() };
    without_quotes(&mut event);
    let mut line = redact(&event.to_string()).into_owned();
    line.push('\n');
    line
}

/// Replaces a text by its length.
fn without_quotes(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if QUOTES.contains(&name.as_str()) && !value.is_null() {
                    let size = value.as_str().map_or_else(|| value.to_string().len(), str::len);
                    *value = Value::String(format!("({size} bytes)"));
                } else {
                    without_quotes(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_quotes),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_contains_events_without_conversation_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rawr/codex.log");
        let mut log = EventLog::open(path.clone()).unwrap();
        let token = format!("ghp_{}", "7yX6wV5uT4".repeat(4));
        for line in [
            r#"{"event":"user_message","turnId":"t","text":"use the blue key"}"#,
            r#"{"event":"packet","packet":{"text":"Goal: blue"},"sequenceId":"s1"}"#,
            r#"{"event":"thread_changed","title":"use the blue key"}"#,
            &format!(r#"{{"event":"notice","message":"failed with {token}"}}"#),
        ] {
            let (start, end) = line.split_at(line.len() / 2);
            log.write_all(start.as_bytes()).unwrap();
            log.write_all(end.as_bytes()).unwrap();
            log.write_all(b"\n").unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap();
        assert!(!written.contains("blue") && !written.contains(&token), "{written}");
        let events = ["user_message", "packet", "notice", "(16 bytes)", "[redacted:github-token]"];
        assert!(events.iter().all(|event| written.contains(event)), "{written}");
        assert_eq!(written.lines().count(), 4);
    }

    #[test]
    fn the_log_is_rotated_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codex.log");
        let mut log = EventLog::open(path.clone()).unwrap();
        let line = format!("{{\"event\":\"notice\",\"message\":\"{}\"}}\n", "word ".repeat(20_000));
        for _ in 0..40 {
            log.write_all(line.as_bytes()).unwrap();
        }
        let size = |path: &std::path::Path| path.metadata().unwrap().len();
        assert!(size(&path) < 2 << 20 && size(&path.with_extension("log.old")) < 2 << 20);
    }
}
