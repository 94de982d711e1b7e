//! The connection alone, on an in-memory pipe, with methods that the real sidecar does not have: slow ones, and one
//! that panics.

use super::requests::MAX_IN_FLIGHT;
use super::*;
use crate::methods;
use expect_test::{Expect, expect};
use jsonrpsee::RpcModule;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{DuplexStream, ReadBuf, duplex};

fn router() -> Router {
    let mut module = RpcModule::new(());
    module.register_method("initialize", |_, (), _| "ready").unwrap();
    module.register_method("shutdown", |_, (), _| "down").unwrap();
    module
        .register_method("echo", |params, (), _| params.as_str().unwrap_or("nothing").to_owned())
        .unwrap();
    module.register_method("panic", |_, (), _| -> String { panic!("on purpose") }).unwrap();
    let never = |_, _, _| async { std::future::pending::<String>().await };
    module.register_async_method("never", never).unwrap();
    let later = |_, _, _| async {
        tokio::task::yield_now().await;
        panic!("on purpose, later");
        #[expect(unreachable_code, reason = "it names the type")]
        String::new()
    };
    module.register_async_method("panic-later", later).unwrap();
    module.register_async_method("at-hand", |_, _, _| async { "at hand" }).unwrap();
    Router::new(module)
}

/// A session for methods that need no registry.
fn session(outbox: &Outbox) -> Arc<ClientSession> {
    Arc::new(ClientSession::new(outbox.clone(), WorkTrace::default(), Default::default(), None))
}

/// Sends the messages after `initialize`, waits for `answers` of them, ends the input, and prints what came.
async fn check(messages: &[&str], answers: usize, expected: Expect) {
    let outbox = Outbox::default();
    let session = session(&outbox);
    let (mut client, server) = duplex(1 << 20);
    let (reader, writer) = tokio::io::split(server);
    let connection = Connection::new(router(), outbox, session);
    let run = async { connection.run(reader, writer).await };
    let talk = async {
        let initialize = r#"{"jsonrpc":"2.0","id":"i","method":"initialize"}"#;
        for message in std::iter::once(&initialize).chain(messages) {
            let frame = format!("Content-Length: {}\r\n\r\n{message}", message.len());
            client.write_all(frame.as_bytes()).await.unwrap();
        }
        let mut shown = String::new();
        for _ in 0..=answers {
            shown.push_str(&read(&mut client).await);
            shown.push('\n');
        }
        drop(client);
        shown
    };
    let (closed, shown) = tokio::join!(run, talk);
    assert_eq!(closed, CloseReason::Normally);
    expected.assert_eq(
        shown.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":\"ready\"}\n").unwrap(),
    );
}

async fn read(client: &mut DuplexStream) -> String {
    let (mut framing, mut buffer) = (Framing::default(), BytesMut::new());
    loop {
        let mut byte = [0];
        client.read_exact(&mut byte).await.unwrap();
        buffer.extend_from_slice(&byte);
        if let Some(Frame::Message(body)) = framing.decode(&mut buffer).unwrap() {
            return String::from_utf8(body.to_vec()).unwrap();
        }
    }
}

// rule: client.one-answer
#[tokio::test]
async fn a_panic_ends_its_own_request_only() {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"panic"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"panic-later"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"echo","params":{"a":1}}"#,
    ];
    check(&messages, 3, expect![[r#"
        {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error","data":{"hint":"this is a bug in rawr; see the log. Other requests are not affected"}}}
        {"jsonrpc":"2.0","id":3,"result":"{\"a\":1}"}
        {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"internal error","data":{"hint":"this is a bug in rawr; see the log. Other requests are not affected"}}}
    "#]])
    .await;
}

// rule: client.one-answer
#[tokio::test]
async fn a_cancelled_request_is_answered_once_and_immediately() {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"never"}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"unknown"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#,
    ];
    check(&messages, 2, expect![[r#"
        {"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"the request was cancelled","data":{"hint":"nothing to do"}}}
        {"jsonrpc":"2.0","id":2,"result":"nothing"}
    "#]])
    .await;
}

#[tokio::test]
async fn a_ready_answer_does_not_wait_and_does_not_count_as_in_flight() {
    let many = MAX_IN_FLIGHT + 1;
    let at_hand = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"at-hand"}}"#);
    let messages: Vec<_> = (0..many).map(at_hand).collect();
    let messages: Vec<_> = messages.iter().map(String::as_str).collect();
    let answer = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\"at hand\"}}\n");
    let in_order: String = (0..many).map(answer).collect();
    let mut expected = expect![[]];
    expected.data = in_order.leak();
    check(&messages, many, expected).await;
}

#[tokio::test]
async fn an_id_in_flight_cannot_be_used_twice() {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"never"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"never"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#,
    ];
    check(&messages, 2, expect![[r#"
        {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the message is not a request that can be served now","data":{"hint":"use an id that is not in use"}}}
        {"jsonrpc":"2.0","id":2,"result":"nothing"}
    "#]])
    .await;
}

#[tokio::test]
async fn requests_over_the_limit_are_refused() {
    let flood: Vec<_> = (0..=MAX_IN_FLIGHT)
        .map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"never"}}"#))
        .collect();
    let messages: Vec<_> = flood.iter().map(String::as_str).collect();
    check(&messages, 1, expect![[r#"
        {"jsonrpc":"2.0","id":256,"error":{"code":-32009,"message":"too many requests are in flight","data":{"hint":"wait for some answers first"}}}
    "#]])
    .await;
}

/// A client that never pauses. It opens a thread, writes the thread's notes, and sends messages until it receives the
/// notification.
struct Flood {
    opening: VecDeque<String>,
    notes: PathBuf,
    told: Arc<AtomicBool>,
    gives_up: Instant,
}

impl AsyncRead for Flood {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let flood = || r#"{"jsonrpc":"2.0","method":"$/more"}"#.to_owned();
        if self.told.load(Ordering::Relaxed) || Instant::now() > self.gives_up {
            return Poll::Ready(Ok(()));
        }
        let body = self.opening.pop_front().unwrap_or_else(|| {
            std::fs::write(&self.notes, "a note").unwrap();
            flood()
        });
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        buffer.put_slice(frame.as_bytes());
        Poll::Ready(Ok(()))
    }
}

/// Searches the client's output for one word.
struct Listener {
    sent: Vec<u8>,
    word: &'static str,
    told: Arc<AtomicBool>,
}

impl AsyncWrite for Listener {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.sent.extend_from_slice(bytes);
        if String::from_utf8_lossy(&self.sent).contains(self.word) {
            self.told.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn deadlines_fire_while_a_client_floods_the_input() {
    let home = tempfile::tempdir().unwrap();
    let config = "[rawr_auto_compaction]\nscratch_file_template = \"notes.md\"\n";
    std::fs::write(home.path().join("rawr.toml"), config).unwrap();
    let told = Arc::new(AtomicBool::new(false));
    let outbox = Outbox::default();
    let session = Arc::new(ClientSession::new(
        outbox.clone(),
        WorkTrace::default(),
        Default::default(),
        Some(home.path().to_owned()),
    ));
    let router = Router::new(methods::module(Arc::clone(&session)).unwrap());
    let open = serde_json::json!({
        "jsonrpc": "2.0", "id": 2, "method": "rawr/thread/open", "params": {
            "threadId": "t", "cwd": home.path(), "role": "owner",
            "host": { "name": "test", "capabilities": {} },
        },
    });
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let flood = Flood {
        opening: [initialize.to_owned(), open.to_string()].into(),
        notes: home.path().join("notes.md"),
        told: Arc::clone(&told),
        gives_up: Instant::now() + Duration::from_secs(60),
    };
    let (sent, word) = (Vec::new(), "rawr/scratch/changed");
    let listener = Listener { sent, word, told: Arc::clone(&told) };
    let connection = Connection::new(router, outbox, session);
    assert_eq!(connection.run(flood, listener).await, CloseReason::Normally);
    assert!(told.load(Ordering::Relaxed), "no notification of the changed notes");
}
