//! The store measured inside this process, compared with lower bounds: bare writes, and splitting lines.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::PathBuf,
    time::Instant,
};

use anyhow::Result;
use rawr_core::{
    Record,
    boundary::{Boundaries, Boundary},
    event::{
        Assessed, CommandFinished, Entrance, Event, FORMAT, Outcome, PlanUpdated, TurnCompleted,
        TurnOrigin, TurnStarted, TurnStatus, Usage, UsageReported,
    },
    signal::plan::{PlanItem, StepStatus},
    units::{DecisionId, EventId, ThreadId, Timestamp, Tokens, TurnId},
};
use rawr_storage::store::Store;
use tempfile::TempDir;

use crate::{
    home::{bare_file, scratch_dir},
    report::{BARE_WRITE, Cells, SPLIT_LINES, STORE},
    stats::{mean, quantile},
};

const BLOCK: usize = 1 << 20;

const THREAD: &str = "bench";

fn record(n: u64, event: impl Into<Event>) -> Record {
    let at = Timestamp(1_760_000_000_000 + n as i64);
    let thread = Some(ThreadId::new(THREAD));
    Record { v: FORMAT, id: Some(EventId(n + 1)), thread, at, event: event.into() }
}

fn usage(n: u64) -> Usage {
    let context = Tokens(10_000 + n % 90_000);
    Usage {
        context,
        input: Some(context),
        cached: None,
        output: Some(Tokens(500)),
        reasoning: None,
    }
}

fn observation(n: u64) -> Record {
    let turn = TurnId::new("turn-1");
    record(
        n,
        UsageReported {
            turn,
            usage: Some(usage(n)),
            window: None,
            compacts_above: None,
            cache_seconds: None,
            model: None,
            needs_follow_up: false,
            last_message: None,
            boundaries: Boundaries::NONE,
            heard: None,
        },
    )
}

/// Ten events of a working day, over and over: a turn with its requests, commands, plan, end and assessment.
fn event(n: u64) -> Record {
    let turn = TurnId::new(format!("turn-{}", n / 10));
    match n % 10 {
        0 => record(
            n,
            TurnStarted {
                turn,
                origin: TurnOrigin::User,
                action: None,
                text: Some(ASKED.to_owned()),
                directives: Vec::new(),
            },
        ),
        1 | 3 | 5 | 7 => record(
            n,
            UsageReported {
                turn,
                usage: Some(usage(n)),
                window: None,
                compacts_above: None,
                cache_seconds: None,
                model: None,
                needs_follow_up: true,
                last_message: None,
                boundaries: Boundaries::NONE,
                heard: None,
            },
        ),
        2 | 6 => record(
            n,
            CommandFinished {
                tests_passed: false,
                check: None,
                turn: Some(turn),
                signal: None,
                command: "bash -lc 'cargo nextest run -p parser --no-fail-fast 2>&1 | tail -20'"
                    .to_owned(),
                exit_code: 0,
                boundaries: Boundaries::NONE,
            },
        ),
        4 => record(
            n,
            PlanUpdated {
                turn: Some(turn),
                signal: None,
                steps: [
                    "write the parser",
                    "write its tests",
                    "write the docs",
                    "open a pull request",
                ]
                .map(|step| PlanItem { step: step.to_owned(), status: StepStatus::InProgress })
                .into(),
                explanation: None,
                boundaries: Boundaries::of(&[Boundary::PlanUpdate]),
            },
        ),
        8 => record(
            n,
            TurnCompleted {
                turn,
                status: TurnStatus::Completed,
                overflow: None,
                last_message: Some(SAID.to_owned()),
                usage: Some(usage(n)),
                queued_inputs: 0,
                review_mode: false,
                boundaries: Boundaries::NONE,
                heard: None,
            },
        ),
        _ => record(
            n,
            Assessed {
                vetoed: false,
                confirm: None,
                after_turn: false,
                dropped: None,
                decision: DecisionId::new(format!("d{}-b56a5e16", n / 10)),
                entrance: Entrance::TurnComplete,
                outcome: Outcome::Nothing,
                turn: Some(turn),
                tier: None,
                percent: None,
                boundaries: Boundaries::NONE,
            },
        ),
    }
}

const ASKED: &str = "The parser drops the last line of a file that does not end in a newline. Find out why, mend it, \
    add a case for it, and look whether the same is true of the tokenizer; leave the public interface as it is.";
const SAID: &str = "I changed the parser, ran its tests and looked at both callers. The first one needs no change; \
    the second one passed a path that was never normalised, so I did that there and added a case for it. The \
    tokenizer has the same loop with the same end, and the same mend; its case failed before and passes now. I did not \
    touch the public interface. Next I run the whole suite again and write the summary of what was done and why, \
    with the two places that I would look at again once the pull request is open.";

pub const APPEND: &[&str] = &[BARE_WRITE, STORE];

/// Appends the same observations with bare writes, then through the store: lock, look, serialise, write, unlock.
pub fn append(count: u64) -> Result<Vec<Cells>> {
    let dir = scratch_dir()?;
    let mut file = bare_file(dir.path())?;
    let records: Vec<Record> = (0..count).map(observation).collect();
    let lines: Vec<String> = records
        .iter()
        .map(|record| Ok(serde_json::to_string(record)? + "\n"))
        .collect::<Result<_>>()?;
    let mut micros = Vec::with_capacity(lines.len());
    for line in &lines {
        let start = Instant::now();
        file.write_all(line.as_bytes())?;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let bare = cells(&mut micros);
    let (mut log, _) = Store::new(dir.path()).open(&ThreadId::new(THREAD))?;
    micros.clear();
    for record in &records {
        let start = Instant::now();
        log.begin(|_| {})?;
        log.push(record, false)?;
        log.commit()?;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(vec![bare, cells(&mut micros)])
}

fn cells(micros: &mut [f64]) -> Cells {
    let all = mean(micros);
    let (p50, p99) = (quantile(micros, 0.5), quantile(micros, 0.99));
    vec![("meanUs", all), ("p50Us", p50), ("p99Us", p99)]
}

pub const REPLAY: &[&str] = &[SPLIT_LINES, STORE];

/// A generated event log, gone with the value.
pub struct GeneratedLog {
    path: PathBuf,
    lines: u64,
    dir: TempDir,
}

impl GeneratedLog {
    pub fn generate(lines: u64) -> Result<Self> {
        let dir = scratch_dir()?;
        let folder = Store::new(dir.path()).folder(&ThreadId::new(THREAD));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("events.jsonl");
        let mut file = BufWriter::new(File::create(&path)?);
        for n in 0..lines {
            serde_json::to_writer(&mut file, &event(n))?;
            file.write_all(b"\n")?;
        }
        file.flush()?;
        Ok(Self { path, lines, dir })
    }

    /// Reads the log back: lines split and nothing else, then through the store.
    pub fn replay(&self) -> Result<Vec<Cells>> {
        let start = Instant::now();
        let (lines, bytes) = split_lines(File::open(&self.path)?)?;
        let floor = start.elapsed().as_secs_f64();
        anyhow::ensure!(lines == self.lines, "{lines} lines read of {}", self.lines);
        let start = Instant::now();
        let (_, (thread, replay)) = Store::new(self.dir.path()).open(&ThreadId::new(THREAD))?;
        let folded = start.elapsed().as_secs_f64();
        anyhow::ensure!(
            replay.records == self.lines,
            "{} records of {}",
            replay.records,
            self.lines
        );
        anyhow::ensure!(u64::from(thread.turns_ended) == self.lines / 10, "the fold lost turns");
        Ok(vec![rate(lines, bytes, floor), rate(lines, bytes, folded)])
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
