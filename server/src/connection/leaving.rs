//! The end of a connection: requests in progress are finished or answered with an error, and what is left is written.

use super::router::error;
use super::{Connection, bytes};
use futures::{FutureExt, StreamExt};
use rawr_protocol::ErrorCode;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout};

/// How long the last writes to the client may take.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);
/// How long the sidecar waits without any progress before it gives up on a disk that hangs. Longer than any lock is
/// waited for.
pub(super) const LEAVE_LIMIT: Duration = Duration::from_secs(10);

impl Connection {
    /// Answers what the client has sent, in case it still reads. Returns false if some of it did not finish in time.
    pub(super) async fn finish_pending(&mut self) -> bool {
        while self.session.owes_answers() {
            tokio::select! {
                Some(done) = self.in_flight.next() => self.finish(done),
                () = self.session.progress() => {}
                () = tokio::time::sleep(LEAVE_LIMIT) => return false,
            }
        }
        true
    }

    /// Stores everything. Returns false if it did not finish in time.
    pub(super) async fn leave(&mut self) -> bool {
        let session = Arc::clone(&self.session);
        let mut leaving = pin!(AssertUnwindSafe(session.leave()).catch_unwind());
        loop {
            tokio::select! {
                left = &mut leaving => return left.is_ok(),
                () = session.progress() => {}
                () = tokio::time::sleep(LEAVE_LIMIT) => return false,
            }
        }
    }

    /// Answers every open request with an error, also those that may have been stored.
    pub(super) fn leave_unfinished(&mut self) {
        tracing::error!(
            waited = ?LEAVE_LIMIT,
            "the disk does not answer; exiting without storing unacknowledged records"
        );
        let mut open: Vec<_> = self.table.drain().collect();
        open.sort_by_key(|(_, open)| open.number);
        for (id, _) in open {
            let message = "the disk did not answer before the sidecar left".to_owned();
            let hint = "it may not have been recorded: check the disk, then retry";
            let answer = error(id.into(), ErrorCode::StoreFailed, message, hint);
            self.outbox.send(bytes(answer));
        }
    }

    /// Writes what is left for the client, as long as it reads.
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
