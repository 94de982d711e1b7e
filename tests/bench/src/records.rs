//! Recorded sessions replayed, beside the least that any reader of them does: parsing each line, in Python, and with serde
//! on one core.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rawr_analysis::replay::{ReplayRequest, replay};
use rawr_settings::config::Home;
use serde_json::json;
use tempfile::TempDir;

use crate::report::{BARE_SERDE, Cells, PYTHON};
use crate::system::{self, Pinned};

/// Two of them need `python3`; without it the run reports the case as failed.
pub const RECORDS: &[&str] = &[PYTHON, BARE_SERDE, "one core", "all cores"];

const SCRIPT: &str = "
import glob, json, sys
for path in glob.glob(sys.argv[1] + '/*.jsonl'):
    with open(path, 'rb') as lines:
        for line in lines:
            json.loads(line)
";
/// Real records hold this much in a line, on average, most of it the output of tools.
const OUTPUT: &str = "    at src/session/store.rs:214: assertion `left == right` failed\n";
const TURNS: usize = 40;
const CALLS: usize = 8;

/// A folder of generated records, half of them of Codex and half of Claude Code.
pub struct GeneratedRecords {
    folder: TempDir,
    bytes: u64,
}

impl GeneratedRecords {
    pub fn generate(sessions: usize) -> Result<Self> {
        let folder = TempDir::new()?;
        let mut bytes = 0;
        for session in 0..sessions {
            let path = folder.path().join(format!("{session}.jsonl"));
            let mut file = BufWriter::new(File::create(&path)?);
            for line in if session % 2 == 0 { codex(session) } else { claude(session) } {
                writeln!(file, "{line}")?;
            }
            file.flush()?;
            bytes += path.metadata()?.len();
        }
        Ok(Self { folder, bytes })
    }

    pub fn replay(&self) -> Result<Vec<Cells>> {
        let python = self.rate(|| self.python())?;
        let pinned = Pinned::to_last_core()?;
        let serde = self.rate(|| self.serde())?;
        let one_core = self.rawr_with_memory()?;
        drop(pinned);
        Ok(vec![python, serde, one_core, self.rawr_with_memory()?])
    }

    fn rate(&self, work: impl FnOnce() -> Result<()>) -> Result<Cells> {
        let start = Instant::now();
        work()?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(vec![("mbPerS", self.bytes as f64 / 1e6 / seconds)])
    }

    /// The replay runs in this process, whose memory is looked at.
    fn rawr_with_memory(&self) -> Result<Cells> {
        let before = system::reset_peak_mb()?;
        let mut cells = self.rate(|| self.rawr())?;
        cells.push(("peakMb", system::peak_mb()? - before));
        Ok(cells)
    }

    fn python(&self) -> Result<()> {
        let mut python = Command::new("python3");
        let python = python.arg("-c").arg(SCRIPT).arg(self.folder.path()).stdout(Stdio::null());
        ensure!(python.status().context("failed to start python3")?.success(), "python3 failed");
        Ok(())
    }

    fn serde(&self) -> Result<()> {
        for file in fs::read_dir(self.folder.path())? {
            let mut lines = BufReader::new(File::open(file?.path())?);
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line)? > 0 {
                serde_json::from_slice::<serde::de::IgnoredAny>(&line)?;
                line.clear();
            }
        }
        Ok(())
    }

    fn rawr(&self) -> Result<()> {
        let home = TempDir::new()?;
        let paths = vec![self.folder.path().to_owned()];
        let request = ReplayRequest::new(Home::at(home.path()), paths);
        let result = replay(&request, &AtomicBool::new(false), &|_, _| {})?;
        let expected = fs::read_dir(self.folder.path())?.count() * TURNS;
        let turns = result.totals.first().map_or(0, |totals| totals.turns as usize);
        ensure!(turns == expected, "{turns} turns instead of {expected}");
        Ok(())
    }
}

fn time(turn: usize, call: usize) -> String {
    format!("2026-10-01T{:02}:{:02}:{:02}.000Z", turn / 3, turn % 3 * 20 + call, call)
}

fn request(turn: usize) -> String {
    format!("Move part {turn} of the session store behind the trait, and run the tests.")
}

fn answer(turn: usize) -> String {
    format!(
        "Part {turn} is behind the trait now, and all 214 tests pass. I committed it as `a1b2c{turn}`."
    )
}

fn used(turn: usize, call: usize) -> u64 {
    (20_000 + turn * 3_000 + call * 300) as u64
}

fn codex(session: usize) -> Vec<String> {
    let line = |at: String, kind: &str, payload: serde_json::Value| {
        // The order of keys is that of Codex.
        format!("{{\"timestamp\":\"{at}\",\"type\":\"{kind}\",\"payload\":{payload}}}")
    };
    let mut lines = vec![line(
        time(0, 0),
        "session_meta",
        json!({ "id": format!("s{session}"), "cwd": "/home/dev/store", "cli_version": "0.91.0" }),
    )];
    for turn in 0..TURNS {
        let at = |call| time(turn, call);
        lines.push(line(at(0), "event_msg", json!({ "type": "task_started" })));
        lines.push(line(
            at(0),
            "event_msg",
            json!({ "type": "user_message", "message": request(turn) }),
        ));
        for call in 0..CALLS {
            let id = format!("c{turn}-{call}");
            let arguments = json!({ "cmd": "cargo test" }).to_string();
            lines.push(line(at(call), "response_item", json!({
                "type": "function_call", "name": "exec_command", "call_id": id, "arguments": arguments,
            })));
            let output = format!("Process exited with code 0\n{}", OUTPUT.repeat(60));
            lines.push(line(
                at(call),
                "response_item",
                json!({
                    "type": "function_call_output", "call_id": id, "output": output,
                }),
            ));
            lines.push(line(
                at(call),
                "event_msg",
                json!({
                    "type": "token_count",
                    "info": {
                        "last_token_usage": { "total_tokens": used(turn, call) },
                        "model_context_window": 258_400,
                    },
                }),
            ));
        }
        let said = json!({ "type": "task_complete", "last_agent_message": answer(turn) });
        lines.push(line(at(CALLS), "event_msg", said));
    }
    lines
}

fn claude(session: usize) -> Vec<String> {
    let id = format!("s{session}");
    let line = |at: String, kind: &str, message: serde_json::Value| {
        json!({
            "parentUuid": null, "isSidechain": false, "cwd": "/home/dev/store", "sessionId": id,
            "version": "2.1.300", "type": kind, "message": message, "timestamp": at,
        })
        .to_string()
    };
    let mut lines = Vec::new();
    for turn in 0..TURNS {
        let at = |call| time(turn, call);
        lines.push(line(at(0), "user", json!({ "role": "user", "content": request(turn) })));
        let usage = |call| json!({ "input_tokens": used(turn, call), "output_tokens": 200 });
        for call in 0..CALLS {
            let tool = format!("toolu_{turn}_{call}");
            lines.push(line(
                at(call),
                "assistant",
                json!({
                    "model": "claude-opus-5", "usage": usage(call),
                    "content": [{
                        "type": "tool_use", "id": tool, "name": "Bash",
                        "input": { "command": "cargo test" },
                    }],
                }),
            ));
            lines.push(line(
                at(call),
                "user",
                json!({
                    "role": "user",
                    "content": [{
                        "type": "tool_result", "tool_use_id": tool, "content": OUTPUT.repeat(60),
                    }],
                }),
            ));
        }
        lines.push(line(
            at(CALLS),
            "assistant",
            json!({
                "model": "claude-opus-5", "usage": usage(CALLS),
                "content": [{ "type": "text", "text": answer(turn) }],
            }),
        ));
    }
    lines
}
