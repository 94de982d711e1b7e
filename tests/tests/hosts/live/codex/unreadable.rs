//! rawr hears what it cannot read of an app-server that it shares with a person.

use std::path::{Path, PathBuf};

use futures::{SinkExt, StreamExt};
use tokio::net::{UnixListener, UnixStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{accept_async, client_async};

use super::fixture::{GOES_ON, TASK};
use super::person::Beside;
use super::races::agent;

/// No JSON, half of a message, no UTF-8, JSON of no meaning, kinds that rawr does not know, and parts of another type.
pub const NOISE: [&[u8]; 12] = [
    b"no JSON at all",
    br#"{"method":"turn/completed","params":{"threadId":"#,
    b"\xff\xfe not in UTF-8",
    b"null",
    br#"[{"method":"turn/completed"}]"#,
    br#"{"id":"none","result":{}}"#,
    br#"{"id":1000000,"error":7}"#,
    br#"{"method":7,"params":{}}"#,
    br#"{"method":"no/such/thing","params":{"turn":{"status":"failed"}}}"#,
    br#"{"id":1000000,"method":"no/such/request","params":null}"#,
    br#"{"method":"turn/completed","params":{"threadId":"other","turn":7}}"#,
    br#"{"method":"item/completed","params":[]}"#,
];

/// What a person is told of it, each once.
pub const TOLD: [&str; 5] = [
    "unexpected output from codex: no JSON at all",
    "unexpected output from codex: {\"method\":\"turn/completed\"",
    "unexpected output from codex: \u{fffd}\u{fffd} not in UTF-8",
    "failed to parse codex's turn/completed: ",
    "failed to parse codex's item/completed: ",
];

/// A socket between rawr and the app-server: with each turn that starts, rawr hears the noise as well.
fn noisy(server: &Path, folder: &Path) -> PathBuf {
    let (server, socket) = (server.to_owned(), folder.join("noisy.sock"));
    let listener = UnixListener::bind(&socket).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(pass_on(stream, server.clone()));
        }
    });
    socket
}

async fn pass_on(rawr: UnixStream, server: PathBuf) {
    let mut rawr = accept_async(rawr).await.unwrap();
    let server = UnixStream::connect(server).await.unwrap();
    let (mut server, _) = client_async("ws://localhost/", server).await.unwrap();
    loop {
        tokio::select! {
            Some(Ok(said)) = rawr.next() => drop(server.send(said).await),
            Some(Ok(heard)) = server.next() => {
                let starts = heard.to_text().is_ok_and(|text| text.contains("\"turn/started\""));
                drop(rawr.send(heard).await);
                for noise in NOISE.iter().filter(|_| starts) {
                    drop(rawr.send(Message::binary(noise.to_vec())).await);
                }
            }
            else => return,
        }
    }
}

#[tokio::test]
async fn messages_that_cannot_be_read_are_told_and_change_nothing() {
    let mut beside = Beside::new(agent()).await;
    beside.leave();
    let socket = noisy(&beside.socket(), beside.folder());
    beside.attach_through(&socket);
    beside.person.says(TASK).await.unwrap();
    beside.person.hears(GOES_ON).await;
    beside.person.says("AND-NOW the docs").await.unwrap();
    beside.person.hears("Here you are.").await;
    for told in TOLD {
        beside.tells("notice", |it| it["message"].as_str().unwrap().starts_with(told)).await;
    }
    beside.check(&["WRITE-PARSER", "HANDOFF", "AND-NOW", "LAST-WORD"]).await;
    beside.compacted(1);
}
