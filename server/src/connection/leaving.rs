//! The end of a connection: what was begun comes to its end or is answered with an error, and what is left is written.

use super::router::error;
use super::{Answer, Connection, bytes, envelope};
use envelope::Envelope;
use futures::StreamExt;
use rawr_protocol::ErrorCode;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout};

/// How long the last words may take when the end has come.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);
/// How long nothing may come of what was begun when the end has come: a disk that hangs must not keep the process. More than
/// any lock is waited for.
pub(super) const LEAVE_LIMIT: Duration = Duration::from_secs(10);

impl Connection {
    /// The client sends nothing more. What it has sent is stored, and answered in case the client still reads. False where
    /// some of it does not finish.
    pub(super) async fn finish_what_was_begun(&mut self) -> bool {
        loop {
            self.settle();
            let is_reading = self.session.is_reading();
            if self.is_settled() && !is_reading {
                return true;
            }
            tokio::select! {
                worked = self.workers.next() => self.go_on(worked),
                Some(done) = self.in_flight.next(), if is_reading => self.finish(done),
                () = tokio::time::sleep(LEAVE_LIMIT) => return false,
            }
        }
    }

    /// Exactly one answer, also for what may or may not be stored.
    pub(super) fn leave_unfinished(&mut self) {
        tracing::error!(
            waited = ?LEAVE_LIMIT,
            "the disk does not answer; leaving without what was not stored, of which nothing was acknowledged"
        );
        let mut open = Vec::new();
        for answer in std::mem::take(&mut self.answers) {
            match answer {
                Answer::Anyway(message) => self.outbox.send(message),
                Answer::IfStored(_, id, _) => open.push(id),
            }
        }
        open.extend(self.table.drain().map(|(id, _)| id));
        open.extend(self.parked.ids());
        let shutdown = self.shutdown.take();
        if let Some(Ok(Envelope::Request { id, .. })) = shutdown.as_deref().map(envelope::parse) {
            open.push(id);
        }
        for id in open {
            let message = "the disk did not answer before the sidecar left".to_owned();
            let hint = "it may not have been recorded: look at the disk, then repeat";
            let answer = error(id.into(), ErrorCode::StoreFailed, message, hint);
            self.outbox.send(bytes(answer));
        }
    }

    /// Writes what is left for the client, as far as it still reads.
    pub(super) async fn flush(&mut self, writer: &mut (impl AsyncWrite + Unpin)) {
        let deadline = Instant::now() + FLUSH_LIMIT;
        loop {
            self.fill_output();
            if self.output.is_empty() {
                break;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match timeout(left, writer.write_buf(&mut self.output)).await {
                Ok(Ok(written)) if written > 0 => {}
                _ => break,
            }
        }
        let _ = timeout(FLUSH_LIMIT, writer.flush()).await;
    }
}
