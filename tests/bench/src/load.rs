//! The load on a running server: one request at a time, or many in flight, and the pass that reads the replies. The
//! timed passes must not parse replies, because that would measure this program.

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::servers::ServerSession;

/// Sends the next request when the last one is answered. Returns the round trips in microseconds.
pub fn sequential(session: &mut ServerSession, count: u64) -> Result<Vec<f64>> {
    let mut micros = Vec::with_capacity(count as usize);
    for n in session.sent..session.sent + count {
        let frame = session.request.patch(n);
        let start = Instant::now();
        session.link.send(frame)?;
        session.link.reply()?;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
    }
    session.sent += count;
    Ok(micros)
}

/// Keeps `window` requests in flight. Returns the seconds from the first send to the last reply.
pub fn pipelined(session: &mut ServerSession, count: u64, window: u64) -> Result<f64> {
    let ServerSession { link, request, sent, .. } = session;
    let first = *sent;
    let start = Instant::now();
    link.pump((count, window), |n, out| request.append(first + n, out), |_| Ok(()))?;
    *sent += count;
    Ok(start.elapsed().as_secs_f64())
}

/// Like [`pipelined`], but checks every reply: each request is answered once, correctly, and recorded if it should be.
pub fn verify(session: &mut ServerSession, count: u64, window: u64) -> Result<()> {
    let before = session.home.as_ref().map(|home| home.events_lines()).transpose()?;
    let ServerSession { link, request, sent, .. } = session;
    let first = *sent;
    let mut replies = Vec::new();
    let append = |n, out: &mut Vec<u8>| request.append(first + n, out);
    link.pump((count, window), append, |reply| {
        replies.push(reply.to_vec());
        Ok(())
    })?;
    *sent += count;
    let mut answered =
        replies.iter().map(|reply| session.check(reply)).collect::<Result<Vec<_>>>()?;
    answered.sort_unstable();
    ensure!(
        answered.iter().copied().eq(first..first + count),
        "not every request was answered exactly once"
    );
    if let (Some(before), Some(home)) = (before, &session.home) {
        let grown = home.events_lines()? - before;
        let owed = session.lines_owed(count);
        ensure!(
            grown >= owed,
            "{count} answers, but the log grew by {grown} lines instead of {owed}"
        );
    }
    Ok(())
}
