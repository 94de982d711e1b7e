//! Messages that are held until the driver releases them, in order within each thread. If the driver does not answer, the
//! message passes. If the screen closes, the driver is told that it has the messages now.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::question::{PreflightEnd, PreflightQuestion, PreflightReply};

/// Timeout of the driver's first reply.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// Timeout between the replies of a driver that holds a message.
const SILENCE: Duration = Duration::from_secs(10);

pub(super) struct HeldMessages {
    driver: PathBuf,
    /// By thread. The driver is asked about the first of each.
    waiting: HashMap<String, VecDeque<(PreflightQuestion, Vec<u8>)>>,
    asked: FuturesUnordered<BoxFuture<'static, String>>,
    is_screen_closed: watch::Sender<bool>,
}

impl HeldMessages {
    pub(super) fn new(driver: PathBuf) -> Self {
        Self {
            driver,
            waiting: HashMap::new(),
            asked: FuturesUnordered::new(),
            is_screen_closed: watch::Sender::new(false),
        }
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
            match self.take().await {
                Some(Some(bytes)) => return bytes,
                Some(None) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Tells the driver that the screen closed, so that it delivers the messages itself. Drops them. Cancel safe.
    pub(super) async fn leave_to_driver(&mut self) {
        self.is_screen_closed.send_replace(true);
        while self.take().await.is_some() {}
    }

    /// Takes a message about which the driver was asked, and asks about the next one. `None` without one.
    async fn take(&mut self) -> Option<Option<Vec<u8>>> {
        let thread_id = self.asked.next().await?;
        let first = self.waiting.get_mut(&thread_id).and_then(VecDeque::pop_front);
        self.ask(thread_id);
        Some(first.map(|(_, bytes)| bytes))
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
        let is_screen_closed = self.is_screen_closed.subscribe();
        self.asked.push(Box::pin(async move {
            // Without an answer the message passes.
            let _ = until_it_may_pass(&driver, &question, is_screen_closed).await;
            thread_id
        }));
    }
}

async fn until_it_may_pass(
    driver: &Path,
    question: &PreflightQuestion,
    mut is_screen_closed: watch::Receiver<bool>,
) -> io::Result<()> {
    let ask = async {
        let mut stream = UnixStream::connect(driver).await?;
        stream.write_all(&line_of(question)?).await?;
        io::Result::Ok(BufReader::new(stream).lines())
    };
    let mut words = timeout(FIRST_WORD, ask).await??;
    let mut patience = FIRST_WORD;
    loop {
        let word = tokio::select! {
            biased;
            () = is_true(&mut is_screen_closed) => {
                let end = line_of(&PreflightEnd::ScreenClosed)?;
                return timeout(FIRST_WORD, words.get_mut().write_all(&end)).await?;
            }
            word = timeout(patience, words.next_line()) => word??,
        };
        let Some(word) = word else { return Ok(()) };
        match serde_json::from_str(&word)? {
            PreflightReply::Hold => patience = SILENCE,
            PreflightReply::Pass => return Ok(()),
        }
    }
}

async fn is_true(flag: &mut watch::Receiver<bool>) {
    // The flag's sender lives as long as the future that waits here.
    let _ = flag.wait_for(|is_set| *is_set).await;
}

fn line_of(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}
