//! A fake sidecar over the real framing, for behavior that a real one does not show on demand, such as dying.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use rawr_protocol::InitializeResult;
use rawr_protocol::framing::{Frame, Framing};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Encoder, FramedRead};

use crate::sidecar::{Launch, SidecarClient, SidecarError};

/// A reaction to a call.
pub enum Do {
    Note(&'static str, Value),
    Answer(Value),
    Refuse,
    HangUp,
}

/// The reactions of a sidecar. `None` is the default answer.
pub type Life = Box<dyn FnMut(&str, &Value) -> Option<Vec<Do>> + Send>;

/// Sidecars, one after the other.
pub struct Fake {
    lives: Mutex<VecDeque<Life>>,
    pub heard: Arc<Mutex<String>>,
}

impl Fake {
    pub fn new(lives: impl IntoIterator<Item = Life>) -> Self {
        Self { lives: Mutex::new(lives.into_iter().collect()), heard: Arc::default() }
    }
}

#[async_trait]
impl Launch for Fake {
    async fn launch(&self) -> Result<SidecarClient, SidecarError> {
        let life = self.lives.lock().unwrap().pop_front().expect("no more sidecars");
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        tokio::spawn(live(theirs, life, Arc::clone(&self.heard)));
        let (reader, writer) = tokio::io::split(ours);
        let mut sidecar = SidecarClient::over(reader, writer);
        sidecar.greet("rawr exec", None, &Map::new()).await?;
        Ok(sidecar)
    }
}

async fn live(pipe: DuplexStream, mut life: Life, heard: Arc<Mutex<String>>) {
    let (reader, mut writer) = tokio::io::split(pipe);
    let mut frames = FramedRead::new(reader, Framing::new());
    while let Some(Ok(Frame::Message(body))) = frames.next().await {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let (method, params) = (message["method"].as_str().unwrap(), &message["params"]);
        if method == "exit" {
            return;
        }
        let Some(id) = message.get("id") else { continue };
        if method.starts_with("rawr/") {
            let _ = writeln!(heard.lock().unwrap(), "{}", brief(method, params));
        }
        let todo = life(method, params).unwrap_or_else(|| vec![Do::Answer(plain(method, params))]);
        let mut buffer = BytesMut::new();
        for step in todo {
            let reply = match step {
                Do::Note(method, params) => {
                    json!({"jsonrpc": "2.0", "method": method, "params": params})
                }
                Do::Answer(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Do::Refuse => json!({
                    "jsonrpc": "2.0",
                    "id": id,
                    "error": {"code": -31004, "message": "the disk is full", "data": {"hint": "make room"}},
                }),
                Do::HangUp => return,
            };
            Framing::new().encode(reply.to_string(), &mut buffer).unwrap();
        }
        writer.write_all_buf(&mut buffer).await.unwrap();
    }
}

fn plain(method: &str, params: &Value) -> Value {
    match method {
        "initialize" => serde_json::to_value(InitializeResult::new("0")).unwrap(),
        "shutdown" => Value::Null,
        "rawr/thread/open" => opened(&params["threadId"], &json!([])),
        "rawr/input/submit" => json!({"disposition": "deliver"}),
        "rawr/turn/completed" => json!({
            "verdict": {"decisionId": "d1", "outcome": "nothing", "reason": "quiet"},
        }),
        "rawr/signal/report" => json!({"boundaries": []}),
        "rawr/packet/get" => json!({
            "packet": "the packet",
            "author": "agent",
            "sequenceId": params["sequenceId"],
            "resumeState": "working",
            "checked": {"ok": true, "missing": [], "tokens": 2, "redactions": 0},
        }),
        "rawr/input/cancel" => json!({"cancelled": true}),
        "rawr/judgment/answer" => json!({"accepted": true}),
        _ => json!({}),
    }
}

pub fn opened(thread_id: &Value, pending: &Value) -> Value {
    json!({
        "threadId": thread_id,
        "phase": "idle",
        "scratchFile": ".scratch/agent-x.scratch.md",
        "pendingActions": pending,
        "owner": true,
    })
}

/// A call in one line.
fn brief(method: &str, params: &Value) -> String {
    const FIELDS: [&str; 8] =
        ["origin", "status", "actionId", "turnId", "text", "error", "tokensBefore", "tokensAfter"];
    let mut line = method.trim_start_matches("rawr/").to_owned();
    if let Some(kind) = params["signal"]["kind"].as_str() {
        let _ = write!(line, " {kind}");
    }
    if let Some(kind) = params["failure"]["kind"].as_str() {
        let _ = write!(line, " {kind} {}", params["failure"]["requestTokens"]);
    }
    for field in FIELDS {
        match &params[field] {
            Value::Null => {}
            Value::String(text) => {
                let _ = write!(line, " {text}");
            }
            other => {
                let _ = write!(line, " {other}");
            }
        }
    }
    line
}
