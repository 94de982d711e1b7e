//! The store measured inside this process, beside what no store can undercut: bare writes, and splitting lines.
//! It must not start a server.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::PathBuf,
    time::Instant,
};

use anyhow::Result;
use tempfile::TempDir;

use crate::{
    home::{bare_file, scratch_dir},
    report::{BARE_WRITE, Cells, SPLIT_LINES},
    stats::{mean, quantile},
};

const BLOCK: usize = 1 << 20;

/// One line of an event log for an observation of usage.
// Until the store can be called from here, these two stand in for the lines that it would write.
fn observation(n: u64) -> String {
    let (at, tokens) = (1_760_000_000_000 + n, 10_000 + n % 90_000);
    format!(
        r#"{{"v":1,"seq":{n},"atMs":{at},"event":"usage","turnId":"turn-1","usage":{{"contextTokens":{tokens}}}}}"#
    ) + "\n"
}

/// One line of middle length: a turn's end with what the agent said.
fn turn_end(n: u64) -> String {
    let (at, tokens) = (1_760_000_000_000 + n, 10_000 + n % 90_000);
    let said = "I changed the parser, ran its tests and looked at both callers. The first one needs no change; \
        the second one passed a path that was never normalised, so I did that there and added a case for it. \
        Next I run the whole suite again and write the summary.";
    format!(
        r#"{{"v":1,"seq":{n},"atMs":{at},"event":"turn_completed","turnId":"turn-{n}","status":"completed","lastAgentMessage":"{said}","usage":{{"contextTokens":{tokens}}}}}"#
    ) + "\n"
}

pub const APPEND: &[&str] = &[BARE_WRITE];

/// Appends the same observations with bare writes, then through the store.
pub fn append(count: u64) -> Result<Vec<Cells>> {
    let dir = scratch_dir()?;
    let mut file = bare_file(dir.path())?;
    let lines: Vec<String> = (0..count).map(observation).collect();
    let mut micros = Vec::with_capacity(lines.len());
    for line in &lines {
        let start = Instant::now();
        file.write_all(line.as_bytes())?;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
    }
    // STORE, append side: the same observations through the store; a second set of cells, and "store" in `APPEND`.
    Ok(vec![cells(&mut micros)])
}

fn cells(micros: &mut [f64]) -> Cells {
    let all = mean(micros);
    let (p50, p99) = (quantile(micros, 0.5), quantile(micros, 0.99));
    vec![("meanUs", all), ("p50Us", p50), ("p99Us", p99)]
}

pub const REPLAY: &[&str] = &[SPLIT_LINES];

/// A generated event log, gone with the value.
pub struct Log {
    path: PathBuf,
    lines: u64,
    _dir: TempDir,
}

impl Log {
    pub fn generate(lines: u64) -> Result<Self> {
        let dir = scratch_dir()?;
        let path = dir.path().join("events.jsonl");
        let mut file = BufWriter::new(File::create(&path)?);
        for n in 0..lines {
            file.write_all(turn_end(n).as_bytes())?;
        }
        file.flush()?;
        Ok(Self { path, lines, _dir: dir })
    }

    /// Reads the log back: lines split and nothing else, then through the store.
    pub fn replay(&self) -> Result<Vec<Cells>> {
        let start = Instant::now();
        let (lines, bytes) = split_lines(File::open(&self.path)?)?;
        let floor = start.elapsed().as_secs_f64();
        anyhow::ensure!(lines == self.lines, "{lines} lines read of {}", self.lines);
        // STORE, replay side: fold the same file into a thread; a second set of cells, and "store" in `REPLAY`.
        Ok(vec![rate(lines, bytes, floor)])
    }
}

fn rate(lines: u64, bytes: u64, seconds: f64) -> Cells {
    let (mb, thousands) = (bytes as f64 / 1e6, lines as f64 / 1e3);
    vec![("mbPerS", mb / seconds), ("kEventsPerS", thousands / seconds)]
}

/// Constant memory, as the store must do it too.
fn split_lines(file: File) -> Result<(u64, u64)> {
    let mut file = BufReader::with_capacity(BLOCK, file);
    let (mut lines, mut bytes) = (0, 0);
    loop {
        match file.skip_until(b'\n')? {
            0 => return Ok((lines, bytes)),
            length => bytes += length as u64,
        }
        lines += 1;
    }
}
