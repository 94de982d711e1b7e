//! Accepts the questions of the relay of `rawr codex --preflight` about typed messages. The session of the thread answers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;

use rawr_host::drive::{HoldReply, TypedMessage, hold_channel};
use rawr_host::relay::{DRIVER, PreflightEnd, PreflightQuestion, PreflightReply};

const PAUSE: Duration = Duration::from_millis(100);

/// The sessions, by thread id.
#[derive(Debug, Clone, Default)]
pub(super) struct TypedMessageSessions(Rc<RefCell<HashMap<String, UnboundedSender<TypedMessage>>>>);

impl TypedMessageSessions {
    /// Registers a session. Returns the messages that are typed into its thread.
    pub(super) fn of(&self, thread_id: &str) -> UnboundedReceiver<TypedMessage> {
        let (ask, asked) = unbounded_channel();
        self.0.borrow_mut().insert(thread_id.to_owned(), ask);
        asked
    }

    fn find(&self, thread_id: &str) -> Option<UnboundedSender<TypedMessage>> {
        let sessions = self.0.borrow();
        sessions.get(thread_id).filter(|session| !session.is_closed()).cloned()
    }
}

/// Listens in the folder until the program ends.
pub(super) fn open(
    folder: &Path,
    sessions: &TypedMessageSessions,
) -> io::Result<impl Future<Output = ()>> {
    let listener = UnixListener::bind(folder.join(DRIVER))?;
    let sessions = sessions.clone();
    Ok(async move {
        let mut asked = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => asked.push(answer(stream, sessions.clone())),
                    // Too many open files: the relay passes its message after a timeout.
                    Err(_) => sleep(PAUSE).await,
                },
                // An error means that the relay hung up.
                Some(_) = asked.next() => {}
            }
        }
    })
}

async fn answer(stream: UnixStream, sessions: TypedMessageSessions) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut lines = BufReader::new(from).lines();
    let Some(line) = lines.next_line().await? else { return Ok(()) };
    let PreflightQuestion { thread_id, text } = serde_json::from_str(&line)?;
    if let Some(session) = sessions.find(&thread_id) {
        // The session may be busy.
        to.write_all(&line_of(PreflightReply::Hold)?).await?;
        // A session that has just ended holds no message.
        let (answer, mut replies) = hold_channel();
        let _ = session.send(TypedMessage { text, answer });
        let mut is_held = true;
        let end = loop {
            tokio::select! {
                end = lines.next_line() => break end?,
                reply = replies.next(), if is_held => {
                    is_held = reply == Some(HoldReply::StillHeld);
                    let word = if is_held { PreflightReply::Hold } else { PreflightReply::Pass };
                    to.write_all(&line_of(word)?).await?;
                }
            }
        };
        let screen_closed =
            |end: String| matches!(serde_json::from_str(&end), Ok(PreflightEnd::ScreenClosed));
        if end.is_some_and(screen_closed) {
            replies.orphan();
        }
        return Ok(());
    }
    to.write_all(&line_of(PreflightReply::Pass)?).await
}

fn line_of(word: PreflightReply) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&word)?;
    line.push(b'\n');
    Ok(line)
}
