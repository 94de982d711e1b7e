//! The protocol's document names exactly the methods that are served and the notifications that are sent.

use super::{
    ClientSession, Module, document, lifecycle, module, on_async_named, serialized, thread,
};
use crate::connection::{Connection, NOTIFICATIONS, Router};
use crate::outbox::Outbox;
use crate::wire::RpcError;
use jsonrpsee::RpcModule;
use rawr_core::Input;
use rawr_core::event::DirectiveGiven;
use rawr_core::units::ThreadId;
use rawr_protocol::framing::{Frame, Framing};
use rawr_protocol::lsp::LSP_METHODS;
use rawr_protocol::methods::{Direction, METHODS, MethodKind};
use rawr_protocol::read_params;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_util::codec::Decoder;

/// As in `openrpc.json`, which is generated from the same tables.
fn documented(direction: Direction, kind: Option<MethodKind>) -> BTreeSet<&'static str> {
    let ours = METHODS.iter().map(|method| (method.name, method.direction, method.kind));
    let lsp = LSP_METHODS.iter().map(|method| (method.name, method.direction, method.kind));
    let is_meant = |(_, of, is): &(_, Direction, MethodKind)| {
        *of == direction && kind.is_none_or(|kind| kind == *is)
    };
    ours.chain(lsp).filter(is_meant).map(|(name, ..)| name).collect()
}

#[test]
fn exactly_the_served_requests_are_documented() {
    let session =
        ClientSession::new(Default::default(), Default::default(), Default::default(), None);
    let module = module(Arc::new(session)).unwrap();
    let served: BTreeSet<_> = module.method_names().collect();
    assert_eq!(served, documented(Direction::ToServer, Some(MethodKind::Request)));
}

#[test]
fn exactly_the_accepted_notifications_are_documented() {
    let taken =
        NOTIFICATIONS.into_iter().chain(document::NOTIFICATIONS.iter().map(|(name, _)| *name));
    let taken: BTreeSet<_> = taken.collect();
    assert_eq!(taken, documented(Direction::ToServer, Some(MethodKind::Notification)));
}

fn sources(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if !path.ends_with("tests.rs") {
            found.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn every_documented_notification_is_sent() {
    let mut source = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut source);
    for name in documented(Direction::ToClient, None) {
        // Sent by a marker type that is named like the method, or by the method's name.
        let words = name.split('/').filter(|word| !["rawr", "window", "$"].contains(word));
        let marker: String = words.map(capitalized).collect();
        // This one has a marker type with another name.
        let last = if name == "workspace/applyEdit" { "applyWorkspaceEdit" } else { name };
        let lsp = last.rsplit('/').next().map(capitalized);
        let sent = |how: &str, marker: &str| source.contains(&format!("{how}::<{marker}>"));
        let is_sent = sent("notify", &marker)
            || sent("order", &marker)
            || source.contains(&format!("\"{name}\""))
            || lsp.is_some_and(|lsp| source.contains(&format!("lsp::{lsp}")));
        assert!(is_sent, "{name} is never sent");
    }
}

static PARSED: AtomicUsize = AtomicUsize::new(0);

/// Counts how often it is parsed.
struct CountedParams;

impl<'de> Deserialize<'de> for CountedParams {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        PARSED.fetch_add(1, Ordering::Relaxed);
        IgnoredAny::deserialize(json).map(|_| Self)
    }
}

async fn give(session: Arc<ClientSession>, _: CountedParams) -> Result<(), RpcError> {
    let given = DirectiveGiven { text: "keep the API".to_owned(), pinned: true, by: None };
    let given = Input::Saw(given.into());
    Ok(session.registry()?.handle(&ThreadId::new("a"), given, |_, _| ()).await?)
}

/// A client of one connection.
struct TestClient {
    stream: DuplexStream,
    framing: Framing,
    input: bytes::BytesMut,
}

impl TestClient {
    async fn send(&mut self, id: u64, method: &str, params: Value) {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let body = body.to_string();
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.stream.write_all(frame.as_bytes()).await.unwrap();
    }

    /// The next answer. Notifications are skipped.
    async fn answer(&mut self) -> Value {
        loop {
            if let Some(Frame::Message(body)) = self.framing.decode(&mut self.input).unwrap() {
                let message: Value = serde_json::from_slice(&body).unwrap();
                if message.get("id").is_some() {
                    return message;
                }
                continue;
            }
            assert!(self.stream.read_buf(&mut self.input).await.unwrap() > 0);
        }
    }
}

#[tokio::test]
async fn a_request_that_waits_for_its_thread_is_parsed_once() {
    let home = tempfile::tempdir().unwrap();
    let outbox = Outbox::default();
    let home_folder = Some(home.path().to_owned());
    let session =
        ClientSession::new(outbox.clone(), Default::default(), Default::default(), home_folder);
    let session = Arc::new(session);
    let mut module: Module = RpcModule::new(Arc::clone(&session));
    lifecycle::register(&mut module).unwrap();
    thread::register(&mut module).unwrap();
    on_async_named(&mut module, "test/give", give, |result| serialized(&result?)).unwrap();
    let (stream, server) = duplex(1 << 20);
    let (reader, writer) = tokio::io::split(server);
    let serve = Connection::new(Router::new(module), outbox, session).run(reader, writer);
    let talk = async {
        let mut client =
            TestClient { stream, framing: Framing::default(), input: Default::default() };
        client.send(1, "initialize", json!({})).await;
        client.answer().await;
        let host = json!({ "name": "test", "capabilities": {} });
        let open = json!({ "threadId": "a", "cwd": home.path(), "role": "owner", "host": host });
        client.send(2, "rawr/thread/open", open).await;
        assert_eq!(client.answer().await["error"], Value::Null);
        let events = home.path().join("rawr/auto_compaction/threads/a/events.jsonl");
        let lock = std::fs::File::open(events).unwrap();
        lock.lock().unwrap();
        client.send(3, "test/give", json!({ "threadId": "a", "big": "x".repeat(1000) })).await;
        // Another request is served meanwhile.
        client.send(4, "rawr/connection/check", json!({})).await;
        assert_eq!(client.answer().await["id"], 4);
        drop(lock);
        let answer = client.answer().await;
        assert_eq!((&answer["id"], &answer["error"]), (&json!(3), &Value::Null));
        assert_eq!(PARSED.load(Ordering::Relaxed), 1);
    };
    tokio::join!(serve, talk);
    // The counter counts.
    assert!(read_params::<CountedParams>(Some("{}")).is_ok());
    assert_eq!(PARSED.load(Ordering::Relaxed), 2);
}
