//! Tests of the client against a scripted peer.

use std::io::ErrorKind;

use rawr_protocol::framing::{Frame, Framing};
use rawr_protocol::{InitializeResult, ThreadListParams};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder};

use super::*;

/// The peer's end of the pipes.
struct Peer {
    pipe: DuplexStream,
    codec: Framing,
    unread: BytesMut,
}

impl Peer {
    fn pair() -> (Self, SidecarClient) {
        let (pipe, ours) = tokio::io::duplex(1024 * 1024);
        let (reader, writer) = tokio::io::split(ours);
        let peer = Self { pipe, codec: Framing::new(), unread: BytesMut::new() };
        (peer, SidecarClient::over(reader, writer))
    }

    async fn receive(&mut self) -> Value {
        loop {
            if let Some(Frame::Message(body)) = self.codec.decode(&mut self.unread).unwrap() {
                return serde_json::from_slice(&body).unwrap();
            }
            let count = self.pipe.read_buf(&mut self.unread).await.unwrap();
            assert!(count > 0, "the client hung up");
        }
    }

    async fn send(&mut self, messages: &[Value]) {
        let mut buffer = BytesMut::new();
        for message in messages {
            Framing::new().encode(message.to_string(), &mut buffer).unwrap();
        }
        self.pipe.write_all_buf(&mut buffer).await.unwrap();
    }

    /// Waits for a call and answers it, with these messages before and after.
    async fn answer(&mut self, method: &str, result: Value, before: &[Value], after: &[Value]) {
        let call = self.receive().await;
        assert_eq!(call["method"], method);
        let answer = json!({"jsonrpc": "2.0", "id": call["id"], "result": result});
        self.send(&[before, &[answer], after].concat()).await;
    }
}

fn changed(phase: &str) -> Value {
    let params = json!({"threadId": "t", "phase": phase, "guards": []});
    json!({"jsonrpc": "2.0", "method": "rawr/thread/changed", "params": params})
}

fn phases(notes: impl IntoIterator<Item = SidecarNotification>) -> Vec<&'static str> {
    let phase = |note| match note {
        SidecarNotification::Changed(changed) => changed.phase.as_str(),
        _ => "another note",
    };
    notes.into_iter().map(phase).collect()
}

async fn list(sidecar: &mut SidecarClient) -> Result<(), SidecarError> {
    sidecar.call::<methods::ThreadList>(ThreadListParams {}).await.map(drop)
}

#[tokio::test]
async fn notifications_keep_their_order_among_the_answers() {
    let (mut peer, mut sidecar) = Peer::pair();
    let threads = || json!({"threads": []});
    let server = async {
        let (before, after) = ([changed("compacting")], [changed("awaiting_handoff")]);
        peer.answer("rawr/thread/list", threads(), &before, &after).await;
        peer.answer("rawr/thread/list", threads(), &[changed("idle")], &[]).await;
        peer
    };
    let client = async {
        list(&mut sidecar).await.unwrap();
        let first = phases(sidecar.notes());
        list(&mut sidecar).await.unwrap();
        (first, phases(sidecar.notes()))
    };
    let (_peer, (first, second)) = tokio::join!(server, client);
    assert_eq!((first, second), (vec!["compacting"], vec!["awaiting_handoff", "idle"]));
}

#[tokio::test]
async fn a_request_from_the_sidecar_is_refused() {
    let (mut peer, mut sidecar) = Peer::pair();
    let server = async {
        peer.send(&[json!({"jsonrpc": "2.0", "id": "q", "method": "window/ask", "params": {}})])
            .await;
        // Either may come first.
        let (one, other) = (peer.receive().await, peer.receive().await);
        let (refusal, call) = if one["id"] == "q" { (one, other) } else { (other, one) };
        let result = json!({"threads": []});
        peer.send(&[json!({"jsonrpc": "2.0", "id": call["id"], "result": result})]).await;
        (refusal, peer)
    };
    let client = async {
        let listed = list(&mut sidecar).await;
        (listed.is_ok(), sidecar.notes().len())
    };
    let ((refusal, _peer), listed) = tokio::join!(server, client);
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!("q"), &json!(-32601)));
    assert_eq!(listed, (true, 0));
}

#[tokio::test]
async fn unknown_notifications_are_ignored_and_invalid_ones_are_reported() {
    let (mut peer, mut sidecar) = Peer::pair();
    let note =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    peer.send(&[
        note("rawr/future/thing", json!({})),
        note("rawr/thread/changed", json!({"phase": 7})),
        changed("idle"),
    ])
    .await;
    let first = sidecar.next_note().await;
    assert!(
        matches!(first, Some(SidecarNotification::Garbled { ref method, .. }) if method == "rawr/thread/changed"),
        "{first:?}"
    );
    assert_eq!(phases(sidecar.next_note().await), ["idle"]);
    drop(peer);
    assert!(sidecar.next_note().await.is_none());
}

#[tokio::test]
async fn a_refusal_has_a_hint() {
    let (mut peer, mut sidecar) = Peer::pair();
    let server = async {
        let call = peer.receive().await;
        let error =
            json!({"code": -31009, "message": "not now", "data": {"hint": "wait for the handoff"}});
        peer.send(&[json!({"jsonrpc": "2.0", "id": call["id"], "error": error})]).await;
        peer
    };
    let (_peer, refused) = tokio::join!(server, list(&mut sidecar));
    let error = refused.unwrap_err();
    assert_eq!((error.code(), error.is_end()), (Some(ErrorCode::NotNow), false));
    assert_eq!(error.to_string(), "not now: wait for the handoff");
}

#[tokio::test]
async fn another_protocol_version_is_refused() {
    let (mut peer, mut sidecar) = Peer::pair();
    let mut other = serde_json::to_value(InitializeResult::new("9.0.0")).unwrap();
    other["capabilities"]["experimental"]["rawr"]["protocolVersion"] = json!(99);
    let config = Map::new();
    let (_, greeted) = tokio::join!(
        peer.answer("initialize", other, &[], &[]),
        sidecar.greet("rawr exec", None, &config)
    );
    let error = greeted.unwrap_err().to_string();
    assert!(error.contains("speaks protocol 99"), "{error}");
}

#[tokio::test]
async fn stopping_sends_shutdown_and_exit_and_hangs_up() {
    let (mut peer, sidecar) = Peer::pair();
    let whole = async move {
        peer.answer("shutdown", Value::Null, &[], &[]).await;
        assert_eq!(peer.receive().await["method"], "exit");
    };
    tokio::join!(whole, sidecar.stop());
}

#[tokio::test]
async fn a_sidecar_that_hangs_up_has_ended() {
    let (peer, mut sidecar) = Peer::pair();
    drop(peer);
    let error = list(&mut sidecar).await.unwrap_err();
    assert!(error.is_end(), "{error}");
}

#[test]
fn the_log_is_private_and_rotated() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("rawr").join("sidecar.log");
    open_log(&path).unwrap();
    std::fs::write(&path, vec![b'x'; 1024 * 1024 + 1]).unwrap();
    open_log(&path).unwrap();
    assert_eq!(path.metadata().unwrap().len(), 0);
    assert_eq!(
        path.with_extension("log.old").metadata().map_err(|e| e.kind()).map(|it| it.len()),
        Ok::<_, ErrorKind>(1024 * 1024 + 1)
    );
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}
