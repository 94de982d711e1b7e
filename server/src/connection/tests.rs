//! The loop alone, on a pipe in memory, with methods that no real sidecar has: slow ones, and one that panics.

use super::*;
use crate::config::RepoObservation;
use crate::jobs::Job;
use expect_test::{Expect, expect};
use jsonrpsee::RpcModule;
use rawr_core::units::ThreadId;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{DuplexStream, duplex};

#[derive(Clone, Default)]
struct Nothing;

impl Backing for Nothing {
    fn begins(&self, _: Ticket, _: Option<&ThreadId>) {}

    fn commit(&self) -> Commit {
        Commit::default()
    }

    fn due_in(&self) -> Option<Duration> {
        None
    }

    fn tick(&self) {}

    fn rung(&self) {}

    fn jobs(&self) -> Vec<Job> {
        Vec::new()
    }

    fn done(&self, _: Done) {}
}

/// After every request it wants something done outside, and says what came of it.
#[derive(Clone, Default)]
struct Wanting {
    jobs: Arc<Mutex<Vec<Job>>>,
    outbox: Outbox,
}

impl Backing for Wanting {
    fn begins(&self, ticket: Ticket, _: Option<&ThreadId>) {
        self.jobs.lock().unwrap().push(Job::Observe {
            thread: ThreadId::new(ticket.to_string()),
            cwd: "/no/such/folder".into(),
            since: None,
            last: None,
            settings: RepoObservation::default(),
        });
    }

    fn commit(&self) -> Commit {
        Commit::default()
    }

    fn due_in(&self) -> Option<Duration> {
        None
    }

    fn tick(&self) {}

    fn rung(&self) {}

    fn jobs(&self) -> Vec<Job> {
        std::mem::take(&mut self.jobs.lock().unwrap())
    }

    fn done(&self, done: Done) {
        self.outbox.send(format!("{done:?}").into_bytes().into());
    }
}

fn router(panics: &Arc<AtomicU32>) -> Router {
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
    let panics = Arc::clone(panics);
    Router::new(module, move || {
        panics.fetch_add(1, Ordering::Relaxed);
    })
}

/// Sends the messages after `initialize`, waits for `answers` of them, ends the input, and shows what came.
async fn check(messages: &[&str], answers: usize, expected: Expect) -> u32 {
    check_with(Nothing, Outbox::default(), messages, answers, expected).await
}

async fn check_with(
    backing: impl Backing,
    outbox: Outbox,
    messages: &[&str],
    answers: usize,
    expected: Expect,
) -> u32 {
    let panics = Arc::new(AtomicU32::new(0));
    let (mut client, server) = duplex(1 << 20);
    let (reader, writer) = tokio::io::split(server);
    let connection = Connection::new(router(&panics), outbox, Bell::default(), backing);
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
    assert_eq!(closed, Closed::Normally);
    expected.assert_eq(
        shown.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":\"ready\"}\n").unwrap(),
    );
    panics.load(Ordering::Relaxed)
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

#[tokio::test]
async fn a_panic_ends_its_own_request_only() {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"panic"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"panic-later"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"echo","params":{"a":1}}"#,
    ];
    let panics = check(&messages, 3, expect![[r#"
        {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the request failed inside the sidecar","data":{"hint":"this is a defect; the log has more. Other requests are not affected"}}}
        {"jsonrpc":"2.0","id":3,"result":"{\"a\":1}"}
        {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the request failed inside the sidecar","data":{"hint":"this is a defect; the log has more. Other requests are not affected"}}}
    "#]])
    .await;
    assert_eq!(panics, 2, "the desk is told of each");
}

#[tokio::test]
async fn a_cancelled_request_is_answered_once_and_at_once() {
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
async fn an_answer_at_hand_waits_for_nobody_and_takes_no_place_among_those_in_flight() {
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
        {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the message is not a request that can be served now","data":{"hint":"this id is in use"}}}
        {"jsonrpc":"2.0","id":2,"result":"nothing"}
    "#]])
    .await;
}

#[tokio::test]
async fn too_many_requests_in_flight_are_told_to_wait() {
    let flood: Vec<_> = (0..=MAX_IN_FLIGHT)
        .map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"never"}}"#))
        .collect();
    let messages: Vec<_> = flood.iter().map(String::as_str).collect();
    check(&messages, 1, expect![[r#"
        {"jsonrpc":"2.0","id":256,"error":{"code":-32009,"message":"too many requests are in flight","data":{"hint":"wait for some answers first"}}}
    "#]])
    .await;
}

#[tokio::test]
async fn what_comes_of_work_outside_is_told_when_it_comes() {
    let wanting = Wanting::default();
    let outbox = wanting.outbox.clone();
    let echo = r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#;
    check_with(
        wanting,
        outbox,
        &[echo],
        3,
        expect![[r#"
        {"jsonrpc":"2.0","id":1,"result":"nothing"}
        Observed { thread: ThreadId("1"), seen: None }
        Observed { thread: ThreadId("2"), seen: None }
    "#]],
    )
    .await;
}

/// Is due until it has been told so.
#[derive(Clone, Default)]
struct Due(Arc<AtomicU32>);

impl Backing for Due {
    fn begins(&self, _: Ticket, _: Option<&ThreadId>) {}

    fn commit(&self) -> Commit {
        Commit::default()
    }

    fn due_in(&self) -> Option<Duration> {
        (self.0.load(Ordering::Relaxed) == 0).then_some(Duration::ZERO)
    }

    fn tick(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn rung(&self) {}

    fn jobs(&self) -> Vec<Job> {
        Vec::new()
    }

    fn done(&self, _: Done) {}
}

/// A client that never pauses, until what is due was dealt with or it has said all.
struct Flood {
    ticks: Arc<AtomicU32>,
    left: u32,
}

impl AsyncRead for Flood {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        if self.left > 0 && self.ticks.load(Ordering::Relaxed) == 0 {
            self.left -= 1;
            let body = r#"{"jsonrpc":"2.0","method":"$/more"}"#;
            let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
            buffer.put_slice(frame.as_bytes());
        }
        std::task::Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn what_is_due_does_not_wait_for_a_client_to_pause() {
    let ticks = Arc::new(AtomicU32::new(0));
    let flood = Flood { ticks: Arc::clone(&ticks), left: 1000 };
    let router = router(&Arc::default());
    let due = Due(Arc::clone(&ticks));
    let connection = Connection::new(router, Outbox::default(), Bell::default(), due);
    assert_eq!(connection.run(flood, tokio::io::sink()).await, Closed::Normally);
    assert_eq!(ticks.load(Ordering::Relaxed), 1);
}
