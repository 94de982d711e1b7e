//! Many threads: a home with a thousand old ones, a sidecar with a hundred open ones, and one next to a busy one. Other
//! tables measure a single thread.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

use anyhow::{Context, Result};
use serde_json::json;

use crate::{
    home::{BenchHome, scratch_dir},
    link::Link,
    load,
    report::Cells,
    servers::{self, ServerSession, Subject},
    slow,
    stats::quantile,
    system::{private_mb, resident_mb},
};

pub const STORED: &[&str] = &["1000 threads stored"];
pub const LIVE: &[&str] = &[
    "alone",
    "beside 99",
    "beside a locked one",
    "beside a busy one",
    "beside a slow sync",
    "beside 1999",
];
const FIRST_ID: u64 = 10_000;

/// A home in which this many threads were opened, used and closed.
pub fn stored(subject: &Subject, threads: u64) -> Result<BenchHome> {
    let home = BenchHome::new()?;
    let mut link = subject.start(Some(&home))?;
    for nth in 0..threads {
        let name = format!("stored-{nth}");
        servers::open_named(&mut link, FIRST_ID + 3 * nth, &name)?;
        let params = json!({"threadId": name});
        link.call(FIRST_ID + 3 * nth + 2, "rawr/thread/close", params)?;
    }
    Ok(home)
}

/// Start, list and watch in such a home.
pub fn start(subject: &Subject, home: &BenchHome) -> Result<Vec<Cells>> {
    let begin = Instant::now();
    let mut link = subject.start(Some(home))?;
    let started = millis(begin);
    let mut timed = |id, method| -> Result<f64> {
        let begin = Instant::now();
        link.call(id, method, json!({}))?;
        Ok(millis(begin))
    };
    let watch = timed(2, "rawr/thread/watch")?;
    let list = timed(3, "rawr/thread/list")?;
    let resident = resident_mb(link.pid())?;
    Ok(vec![vec![("ms", started), ("watchMs", watch), ("listMs", list), ("residentMb", resident)]])
}

fn millis(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

/// One thread's calls: alone, with 99 more open in its sidecar, with another process holding the lock of one of them,
/// with
/// another sidecar of the home busy, while another thread's sync hangs, and with 1,999 more open.
pub fn live(subject: &Subject, calls: u64) -> Result<Vec<Cells>> {
    let mut session = subject.open()?;
    let alone = called(&mut session, calls)?;
    for nth in 0..99 {
        servers::open_named(&mut session.link, FIRST_ID + 2 * nth, &format!("live-{nth}"))?;
    }
    let beside_many = called(&mut session, calls)?;
    let home = session.home.take().context("a server without a home has no threads")?;
    let beside_locked = beside_locked(&home, &mut session, calls)?;
    let beside_busy = beside_busy(subject, &home, &mut session, calls)?;
    let beside_slow = beside_slow_sync(subject, calls)?;
    session.home = Some(home);
    for nth in 99..1999 {
        servers::open_named(&mut session.link, FIRST_ID + 2 * nth, &format!("live-{nth}"))?;
    }
    let beside_very_many = called(&mut session, calls)?;
    Ok(vec![alone, beside_many, beside_locked, beside_busy, beside_slow, beside_very_many])
}

/// Shorter than the sidecar's timeout for a lock, after which it would answer.
fn beside_locked(home: &BenchHome, session: &mut ServerSession, calls: u64) -> Result<Cells> {
    let log = fs::File::open(home.events_of("live-0"))?;
    log.lock()?;
    let params = json!({"threadId": "live-0", "turnId": "t2", "origin": "user"});
    session.link.ask(FIRST_ID, "rawr/turn/started", params)?;
    let cells = called(session, calls.min(5_000))?;
    log.unlock()?;
    // The answer to it.
    session.link.reply()?;
    Ok(cells)
}

/// In a separate sidecar.
fn beside_slow_sync(subject: &Subject, calls: u64) -> Result<Cells> {
    let scratch = scratch_dir()?;
    let hold = scratch.path().join("hold");
    let environment = slow::environment(scratch.path(), "slow", &hold)?;
    let mut session = subject.with(environment).open()?;
    servers::open_named(&mut session.link, FIRST_ID, "slow")?;
    fs::write(&hold, "")?;
    let signal = json!({"kind": "directive", "text": "keep the API", "pinned": true});
    let params = json!({"threadId": "slow", "signal": signal});
    session.link.ask(FIRST_ID + 2, "rawr/signal/report", params)?;
    let cells = called(&mut session, calls.min(5_000))?;
    fs::remove_file(&hold)?;
    // The answer to it, which had to wait.
    session.link.reply()?;
    Ok(cells)
}

fn called(session: &mut ServerSession, calls: u64) -> Result<Cells> {
    let mut micros = load::sequential(session, calls)?;
    let (p50, p99) = (quantile(&mut micros, 0.5), quantile(&mut micros, 0.99));
    let pid = session.link.pid();
    Ok(vec![
        ("p50Us", p50),
        ("p99Us", p99),
        ("residentMb", resident_mb(pid)?),
        ("privateMb", private_mb(pid)?),
    ])
}

fn beside_busy(
    subject: &Subject,
    home: &BenchHome,
    session: &mut ServerSession,
    calls: u64,
) -> Result<Cells> {
    let mut busy = subject.start(Some(home))?;
    servers::open_named(&mut busy, 2, "busy")?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = scope.spawn(|| work_until(&mut busy, "busy", &stop));
        let cells = called(session, calls);
        stop.store(true, Ordering::Relaxed);
        let worked = worker.join().map_err(|_| anyhow::anyhow!("the busy client panicked"))?;
        worked.and(cells)
    })
}

fn work_until(link: &mut Link, thread: &str, stop: &AtomicBool) -> Result<()> {
    let mut id = FIRST_ID;
    while !stop.load(Ordering::Relaxed) {
        id += 1;
        servers::use_tokens(link, id, thread, id % 1000)?;
    }
    Ok(())
}
