//! Where the relay of `rawr codex --preflight` asks about what people type. ThreadOrigin thread it is decides who answers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;

use rawr_host::drive::{Answer, HoldReply, Typed};
use rawr_host::relay::{DRIVER, PreflightReply, Question};

const PAUSE: Duration = Duration::from_millis(100);

/// The sessions that can be asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Sessions(Rc<RefCell<HashMap<String, UnboundedSender<Typed>>>>);

impl Sessions {
    /// What is typed into this thread, from here on.
    pub(super) fn of(&self, thread_id: &str) -> UnboundedReceiver<Typed> {
        let (ask, asked) = unbounded_channel();
        self.0.borrow_mut().insert(thread_id.to_owned(), ask);
        asked
    }

    fn find(&self, thread_id: &str) -> Option<UnboundedSender<Typed>> {
        let sessions = self.0.borrow();
        sessions.get(thread_id).filter(|session| !session.is_closed()).cloned()
    }
}

/// Listens within the folder, until the program ends.
pub(super) fn open(folder: &Path, sessions: &Sessions) -> io::Result<impl Future<Output = ()>> {
    let listener = UnixListener::bind(folder.join(DRIVER))?;
    let sessions = sessions.clone();
    Ok(async move {
        let mut asked = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => asked.push(answer(stream, sessions.clone())),
                    // Too many open files: whoever asks lets the message pass meanwhile.
                    Err(_) => sleep(PAUSE).await,
                },
                // A relay that has hung up needs no answer.
                Some(_) = asked.next() => {}
            }
        }
    })
}

async fn answer(stream: UnixStream, sessions: Sessions) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut lines = BufReader::new(from).lines();
    let Some(line) = lines.next_line().await? else { return Ok(()) };
    let Question { thread_id, text } = serde_json::from_str(&line)?;
    let (say, mut said) = unbounded_channel();
    if let Some(session) = sessions.find(&thread_id) {
        // It may have something else to do first.
        to.write_all(&line_of(PreflightReply::Hold)?).await?;
        // A session that has just ended holds nothing.
        let _ = session.send(Typed { text, answer: Answer(say) });
        loop {
            tokio::select! {
                word = said.recv() => match word {
                    Some(HoldReply::StillHeld) => to.write_all(&line_of(PreflightReply::Hold)?).await?,
                    Some(HoldReply::Go) | None => break,
                },
                () = hangs_up(lines.get_mut()) => return Ok(()),
            }
        }
    }
    to.write_all(&line_of(PreflightReply::Pass)?).await
}

fn line_of(word: PreflightReply) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&word)?;
    line.push(b'\n');
    Ok(line)
}

/// Nothing more is said there: what comes is its end.
async fn hangs_up(from: &mut (impl AsyncRead + Unpin)) {
    let mut rest = [0; 64];
    while from.read(&mut rest).await.is_ok_and(|count| count > 0) {}
}
