//! The whole sidecar on one pair of pipes: any messages, one a line. What is a request gets exactly one answer, what is
//! not a message gets one too, nothing else gets any, and no answer reports an internal error.

use bytes::BytesMut;
use rawr_protocol::ErrorCode;
use rawr_protocol::framing::{Frame, Framing};
use rawr_server::serve_on;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_util::codec::{Decoder, Encoder};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}"#;
/// Stands for the one folder that threads may work in.
const FOLDER: &str = "FOLDER";
const MOST_MESSAGES: usize = 40;
/// Only a missing answer takes this long.
const LIMIT: Duration = Duration::from_secs(20);
/// No external judge is asked, so that every answer comes without help.
const CONFIGURATION: &str = "[rawr_auto_compaction.judgment]\nbackend = \"heuristic\"\n\
    [rawr_auto_compaction.repo_observation]\nenabled = false\n";

pub fn run(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let (home, work) = (folder.path().join("home"), folder.path().join("work"));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&work).unwrap();
    std::fs::write(home.join("rawr.toml"), CONFIGURATION).unwrap();
    let lines = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut messages = vec![RoutedMessage::of(HELLO.as_bytes().to_vec())];
    messages
        .extend(lines.take(MOST_MESSAGES).filter_map(|line| RoutedMessage::in_folder(line, &work)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answers = runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let (_, answers) = tokio::join!(serve_on(input, output, Some(home)), talk(ours, &messages));
        answers
    });
    runtime.shutdown_background();
    check(&messages, &answers);
}

struct RoutedMessage {
    body: Vec<u8>,
    owes: Owes,
}

#[derive(PartialEq)]
enum Owes {
    Nothing,
    /// Under this id, or `null` where the message has none that could be repeated.
    Answer(Option<Value>),
}

#[derive(Deserialize)]
struct RoutedEnvelope<'b> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'b, str>>,
    #[serde(borrow, default, deserialize_with = "even_null")]
    id: Option<&'b RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'b, str>>,
    #[serde(borrow, default, deserialize_with = "even_null")]
    result: Option<&'b RawValue>,
    #[serde(borrow)]
    error: Option<&'b RawValue>,
    #[serde(borrow, rename = "params")]
    _params: Option<&'b RawValue>,
}

fn even_null<'de: 'b, 'b, D: Deserializer<'de>>(json: D) -> Result<Option<&'b RawValue>, D::Error> {
    <&RawValue>::deserialize(json).map(Some)
}

impl RoutedMessage {
    /// Only what leaves the rest of this machine alone, and does not end the conversation.
    fn in_folder(line: &[u8], work: &Path) -> Option<Self> {
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else {
            let is_message = serde_json::from_slice::<RoutedEnvelope<'_>>(line).is_ok();
            return (!is_message).then(|| Self::of(line.to_vec()));
        };
        if message["method"] == "exit" {
            return None;
        }
        let Some(cwd) = message.get_mut("params").and_then(|params| params.get_mut("cwd")) else {
            return Some(Self::of(line.to_vec()));
        };
        *cwd = match cwd.as_str() {
            Some(FOLDER) => Value::from(work.display().to_string()),
            _ => Value::from("nowhere"),
        };
        Some(Self::of(message.to_string().into_bytes()))
    }

    fn of(body: Vec<u8>) -> Self {
        let owes = owed(&body);
        Self { body, owes }
    }
}

fn owed(body: &[u8]) -> Owes {
    let is_batch = body.trim_ascii_start().first() == Some(&b'[');
    let Some(envelope) =
        serde_json::from_slice::<RoutedEnvelope<'_>>(body).ok().filter(|_| !is_batch)
    else {
        return Owes::Answer(None);
    };
    let is_ours = envelope.jsonrpc.as_deref() == Some("2.0");
    let is_response = envelope.result.is_some() || envelope.error.is_some();
    match (envelope.id, envelope.method) {
        (_, None) if is_ours && is_response => Owes::Nothing,
        (None, Some(_)) if is_ours => Owes::Nothing,
        (id, _) => {
            let id = id.and_then(|id| serde_json::from_str::<Value>(id.get()).ok());
            Owes::Answer(id.filter(|id| id.is_u64() || id.is_string()))
        }
    }
}

async fn talk(mut pipe: DuplexStream, messages: &[RoutedMessage]) -> Vec<Value> {
    let (mut framing, mut bytes) = (Framing::new(), BytesMut::new());
    for message in messages {
        framing.encode(&message.body, &mut bytes).unwrap();
    }
    pipe.write_all(&bytes).await.unwrap();
    let wanted = messages.iter().filter(|message| message.owes != Owes::Nothing).count();
    let (mut answers, mut arrived) = (Vec::new(), BytesMut::new());
    while answers.len() < wanted {
        let read = tokio::time::timeout(LIMIT, pipe.read_buf(&mut arrived)).await;
        match read {
            Ok(Ok(1..)) => take(&mut framing, &mut arrived, &mut answers),
            other => panic!("{other:?} after {answers:#?}, {wanted} are owed"),
        }
    }
    pipe.shutdown().await.unwrap();
    while pipe.read_buf(&mut arrived).await.unwrap() > 0 {}
    take(&mut framing, &mut arrived, &mut answers);
    answers
}

fn take(framing: &mut Framing, arrived: &mut BytesMut, answers: &mut Vec<Value>) {
    while let Some(Frame::Message(body)) = framing.decode(arrived).unwrap() {
        let message: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message.get("id").is_some() {
            answers.push(message);
        } else {
            assert!(message["method"].is_string(), "{message}");
        }
    }
}

fn check(messages: &[RoutedMessage], answers: &[Value]) {
    let owed: Vec<_> = messages.iter().filter(|message| message.owes != Owes::Nothing).collect();
    assert_eq!(answers.len(), owed.len(), "{answers:#?}");
    for answer in answers {
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        if let Some(error) = answer.get("error") {
            let code = error["code"].as_i64().and_then(|code| i32::try_from(code).ok());
            let code = code.and_then(ErrorCode::from_code);
            assert!(code.is_some() && code != Some(ErrorCode::InternalError), "{answer}");
        }
    }
    for message in owed {
        if let Owes::Answer(Some(id)) = &message.owes {
            let same = |other: &&RoutedMessage| other.owes == message.owes;
            let asked = messages.iter().filter(same).count();
            let answered = answers.iter().filter(|answer| &answer["id"] == id).count();
            // What was no request may have had such an id, too.
            assert!(answered >= asked, "{id}: asked {asked} times, answered {answered} times");
        }
    }
}
