//! Messages that are held until the driver releases them, in order within each thread. If the driver does not answer, the
//! message passes.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::question::{PreflightQuestion, PreflightReply};

/// Timeout of the driver's first reply.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// Timeout between the replies of a driver that holds a message.
const SILENCE: Duration = Duration::from_secs(10);

pub(super) struct HeldMessages {
    driver: PathBuf,
    /// By thread. The driver is asked about the first of each.
    waiting: HashMap<String, VecDeque<(PreflightQuestion, Vec<u8>)>>,
    asked: FuturesUnordered<BoxFuture<'static, String>>,
}

impl HeldMessages {
    pub(super) fn new(driver: PathBuf) -> Self {
        Self { driver, waiting: HashMap::new(), asked: FuturesUnordered::new() }
    }

    pub(super) fn add(&mut self, question: PreflightQuestion, bytes: Vec<u8>) {
        let thread_id = question.thread_id.clone();
        let waiting = self.waiting.entry(thread_id.clone()).or_default();
        waiting.push_back((question, bytes));
        if waiting.len() == 1 {
            self.ask(thread_id);
        }
    }

    /// Waits for the next released message. Cancel safe.
    pub(super) async fn next(&mut self) -> Vec<u8> {
        loop {
            let Some(thread_id) = self.asked.next().await else {
                return std::future::pending().await;
            };
            let waiting = self.waiting.get_mut(&thread_id);
            let first = waiting.and_then(VecDeque::pop_front);
            self.ask(thread_id);
            if let Some((_, bytes)) = first {
                return bytes;
            }
        }
    }

    /// Releases all messages without an answer.
    pub(super) fn let_go(&mut self) -> Vec<Vec<u8>> {
        self.asked.clear();
        self.waiting.drain().flat_map(|(_, waiting)| waiting).map(|(_, bytes)| bytes).collect()
    }

    fn ask(&mut self, thread_id: String) {
        let first = self.waiting.get(&thread_id).and_then(VecDeque::front);
        let Some((question, _)) = first else {
            self.waiting.remove(&thread_id);
            return;
        };
        let (driver, question) = (self.driver.clone(), question.clone());
        self.asked.push(Box::pin(async move {
            // Without an answer the message passes.
            let _ = until_it_may_pass(&driver, &question).await;
            thread_id
        }));
    }
}

async fn until_it_may_pass(driver: &Path, question: &PreflightQuestion) -> io::Result<()> {
    let mut line = serde_json::to_vec(question)?;
    line.push(b'\n');
    let ask = async {
        let mut stream = UnixStream::connect(driver).await?;
        stream.write_all(&line).await?;
        io::Result::Ok(BufReader::new(stream).lines())
    };
    let mut words = timeout(FIRST_WORD, ask).await??;
    let mut patience = FIRST_WORD;
    while let Some(word) = timeout(patience, words.next_line()).await?? {
        match serde_json::from_str(&word)? {
            PreflightReply::Hold => patience = SILENCE,
            PreflightReply::Pass => break,
        }
    }
    Ok(())
}
