//! The cost of an answer that promises "synced": `rawr/turn/completed` compared with a bare write and fdatasync of the
//! same size, and with two echo servers that do this before they answer, one of them on another thread. They take turns, so
//! that all use the same disk. The start of a turn is not counted: it is recorded but not synced.

use std::{fs::File, io::Write as _, time::Instant};

use anyhow::{Context, Result};
use rustix::fs::fdatasync;
use serde_json::json;

use crate::{
    home::{BenchHome, THREAD},
    link::Link,
    report::{BARE_SYNC, Cells, SYNCED_APART, SYNCED_ECHO},
    servers::{self, ServerSession, Subject},
    stats::{mean, quantile},
};

pub const SERVERS: &[&str] = &[BARE_SYNC, SYNCED_ECHO, SYNCED_APART, "rawr"];
/// Ids of this pass, different from those of the load.
const FIRST_ID: u64 = 1_000;
const TRIAL: u64 = 10;

/// One sample of `turns` turns on a fresh thread.
pub fn completed(subject: &Subject, turns: u64) -> Result<Vec<Cells>> {
    let ServerSession { mut link, home, .. } = subject.open()?;
    let home = home.context("a server without a home syncs nothing")?;
    let mut size = 0;
    for turn in 0..TRIAL {
        servers::start_turn(&mut link, FIRST_ID + 2 * turn, &format!("trial-{turn}"))?;
        let before = home.events_len()?;
        complete(&mut link, FIRST_ID + 2 * turn + 1, &format!("trial-{turn}"))?;
        size += home.events_len()? - before;
    }
    let mut bare = PlainWrites::new(&home, size / TRIAL)?;
    let mut echo = servers::synced_echo(&home, bare.line.len(), false)?;
    let mut apart = servers::synced_echo(&home, bare.line.len(), true)?;
    let mut micros = [const { Vec::new() }; SERVERS.len()];
    for turn in TRIAL..TRIAL + turns {
        let name = format!("turn-{turn}");
        micros[0].push(timed(|| bare.write())?);
        micros[1].push(timed(|| complete(&mut echo, FIRST_ID + 2 * turn + 1, &name))?);
        micros[2].push(timed(|| complete(&mut apart, FIRST_ID + 2 * turn + 1, &name))?);
        servers::start_turn(&mut link, FIRST_ID + 2 * turn, &name)?;
        micros[3].push(timed(|| complete(&mut link, FIRST_ID + 2 * turn + 1, &name))?);
    }
    Ok(micros.iter_mut().map(|micros| cells(micros, bare.line.len())).collect())
}

fn complete(link: &mut Link, id: u64, turn: &str) -> Result<()> {
    let params = json!({
        "threadId": THREAD,
        "turnId": turn,
        "status": "completed",
        "lastAgentMessage": "I changed the parser and ran its tests. Next I look at the two callers.",
        "usage": {"contextTokens": 20_000},
    });
    link.call(id, "rawr/turn/completed", params).map(drop)
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

fn cells(micros: &mut [f64], size: usize) -> Cells {
    let all = mean(micros);
    let (p50, p99) = (quantile(micros, 0.5), quantile(micros, 0.99));
    vec![("p50Us", p50), ("p99Us", p99), ("meanUs", all), ("bytes", size as f64)]
}

struct PlainWrites {
    file: File,
    line: Vec<u8>,
}

impl PlainWrites {
    fn new(home: &BenchHome, size: u64) -> Result<Self> {
        let mut line = vec![b'x'; (size as usize).saturating_sub(1)];
        line.push(b'\n');
        Ok(Self { file: home.bare_file()?, line })
    }

    fn write(&mut self) -> Result<()> {
        self.file.write_all(&self.line)?;
        Ok(fdatasync(&self.file)?)
    }
}
