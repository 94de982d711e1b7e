//! Messages that wait for the driver's word, in order within each thread. Whoever does not answer has nothing against it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::question::{PreflightReply, Question};

/// How long nobody may answer at all.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// How long a driver that holds a message may give no sign of life.
const SILENCE: Duration = Duration::from_secs(10);

pub(super) struct Held {
    driver: PathBuf,
    /// By thread; the first of each is asked about.
    waiting: HashMap<String, VecDeque<(Question, Vec<u8>)>>,
    asked: FuturesUnordered<BoxFuture<'static, String>>,
}

impl Held {
    pub(super) fn new(driver: PathBuf) -> Self {
        Self { driver, waiting: HashMap::new(), asked: FuturesUnordered::new() }
    }

    pub(super) fn add(&mut self, question: Question, bytes: Vec<u8>) {
        let thread_id = question.thread_id.clone();
        let waiting = self.waiting.entry(thread_id.clone()).or_default();
        waiting.push_back((question, bytes));
        if waiting.len() == 1 {
            self.ask(thread_id);
        }
    }

    /// What may go on next. Waits for ever while nothing may. May be cancelled at any time.
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

    /// All of it, nobody being asked any more.
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
            // Why there is no answer makes no difference.
            let _ = until_it_may_pass(&driver, &question).await;
            thread_id
        }));
    }
}

async fn until_it_may_pass(driver: &Path, question: &Question) -> io::Result<()> {
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
