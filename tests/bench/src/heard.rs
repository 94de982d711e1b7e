//! How long after a client reports something another client's sidecar notifies of it, compared with a bare file and a
//! bare watcher in this process, alternating. Synced events are not counted: another table measures the disk.

use std::{
    fs::File,
    io::Write as _,
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use serde_json::{Value, json};

use crate::{
    home::THREAD,
    report::{BARE_WATCH, Cells},
    servers::{ServerSession, Subject},
    stats::quantile,
};

pub const SERVERS: &[&str] = &[BARE_WATCH, "rawr"];
const FIRST_ID: u64 = 1_000;
const TRIAL: u64 = 10;
/// Far from every tier, and one percent of the window apart, so that each report is a change.
const CONTEXTS: [u64; 2] = [1_000_000, 3_000_000];
const PATIENCE: Duration = Duration::from_secs(10);

/// One sample of `turns` changes, each received in the other process.
pub fn changes(subject: &Subject, turns: u64) -> Result<Vec<Cells>> {
    let ServerSession { mut link, home, .. } = subject.open()?;
    let home = home.context("a server without a home notifies no one")?;
    let mut other = subject.watcher(&home)?;
    let mut bare = PlainWatch::new(&home)?;
    let mut micros = [Vec::new(), Vec::new()];
    for turn in 0..TRIAL + turns {
        let heard = bare.write()?;
        let context = CONTEXTS[(turn % 2) as usize];
        let params =
            json!({"threadId": THREAD, "turnId": "turn-1", "usage": {"contextTokens": context}});
        let start = Instant::now();
        link.ask(FIRST_ID + turn, "rawr/turn/usage", params)?;
        let told: Value = serde_json::from_slice(other.reply()?)?;
        let elapsed = start.elapsed().as_secs_f64() * 1e6;
        if told["method"] != "rawr/thread/changed" {
            bail!("it was told something else: {told}");
        }
        link.reply()?;
        if turn >= TRIAL {
            micros[0].push(heard);
            micros[1].push(elapsed);
        }
    }
    Ok(micros.iter_mut().map(|micros| cells(micros)).collect())
}

fn cells(micros: &mut [f64]) -> Cells {
    vec![("p50Us", quantile(micros, 0.5)), ("p99Us", quantile(micros, 0.99))]
}

struct PlainWatch {
    file: File,
    heard: Receiver<()>,
    _watcher: RecommendedWatcher,
}

impl PlainWatch {
    fn new(home: &crate::home::BenchHome) -> Result<Self> {
        let file = home.bare_file()?;
        let (sender, heard) = channel();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                if event.is_ok_and(|event| matches!(event.kind, EventKind::Modify(_))) {
                    // The receiver is gone with the sample.
                    let _ = sender.send(());
                }
            })?;
        watcher.watch(&home.path().join("bare.jsonl"), RecursiveMode::NonRecursive)?;
        Ok(Self { file, heard, _watcher: watcher })
    }

    fn write(&mut self) -> Result<f64> {
        let start = Instant::now();
        self.file.write_all(b"{\"v\":1,\"at\":1,\"event\":{}}\n")?;
        self.heard.recv_timeout(PATIENCE).context("the bare watcher heard nothing")?;
        let elapsed = start.elapsed().as_secs_f64() * 1e6;
        while self.heard.try_recv().is_ok() {}
        Ok(elapsed)
    }
}
