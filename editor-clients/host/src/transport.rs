//! The JSON-RPC transport over a sidecar's pipes. It separates notifications from answers and keeps their order.

use std::borrow::Cow;
use std::time::Duration;

use futures::StreamExt;
use jsonrpsee::core::client::{
    Client, ClientBuilder, ReceivedMessage, TransportReceiverT, TransportSenderT,
};
use rawr_protocol::ErrorCode;
use rawr_protocol::framing::{Frame, Framing, FramingError};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Encoder, FramedRead};

/// A notification, or the position of an answer among the notifications.
#[derive(Debug)]
pub enum TransportArrival {
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// The client received an answer here.
    Answer,
}

/// Timeout of a request. No request to the sidecar takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates a client over these pipes. The client receives only answers, because it could drop a notification and would
/// mistake a request for one. The receiver ends when the sidecar hangs up.
pub fn connect(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> (Client, mpsc::UnboundedReceiver<TransportArrival>) {
    let (outgoing, bodies) = mpsc::unbounded_channel();
    // A separate task, so that a sidecar that does not read cannot block our reading.
    tokio::spawn(write(writer, bodies));
    let (arrivals, arrived) = mpsc::unbounded_channel();
    let frames = FramedRead::new(reader, Framing::new());
    let receiver = FrameReceiver { frames, arrivals, outgoing: outgoing.clone() };
    let client = ClientBuilder::default()
        .request_timeout(PATIENCE)
        .build_with_tokio(FrameSender { outgoing }, receiver);
    (client, arrived)
}

async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut bodies: mpsc::UnboundedReceiver<String>,
) -> Result<(), FramingError> {
    let mut buffer = BytesMut::new();
    while let Some(body) = bodies.recv().await {
        Framing::new().encode(body, &mut buffer)?;
        writer.write_all_buf(&mut buffer).await?;
        writer.flush().await?;
    }
    Ok(())
}

struct FrameSender {
    outgoing: mpsc::UnboundedSender<String>,
}

impl TransportSenderT for FrameSender {
    type Error = TransportError;

    async fn send(&mut self, body: String) -> Result<(), TransportError> {
        self.outgoing.send(body).map_err(|_| TransportError::HungUp)
    }
}

struct FrameReceiver<R> {
    frames: FramedRead<R, Framing>,
    arrivals: mpsc::UnboundedSender<TransportArrival>,
    outgoing: mpsc::UnboundedSender<String>,
}

impl<R: AsyncRead + Send + Unpin + 'static> TransportReceiverT for FrameReceiver<R> {
    type Error = TransportError;

    async fn receive(&mut self) -> Result<ReceivedMessage, TransportError> {
        loop {
            let body = match self.frames.next().await.ok_or(TransportError::HungUp)?? {
                Frame::Message(body) => body,
                Frame::TooLarge { length } => return Err(TransportError::TooLarge { length }),
            };
            let message: RpcMessage<'_> = serde_json::from_slice(&body)?;
            // A send fails only if the receiver was dropped.
            match (message.method, message.id) {
                (None, _) => {
                    let _ = self.arrivals.send(TransportArrival::Answer);
                    return Ok(ReceivedMessage::Bytes(body.to_vec()));
                }
                (Some(method), None) => {
                    let params = message.params.map(ToOwned::to_owned);
                    let method = method.into_owned();
                    let _ = self.arrivals.send(TransportArrival::Notification { method, params });
                }
                (Some(method), Some(id)) => {
                    let _ = self.outgoing.send(refusal(id, &method));
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct RpcMessage<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
}

/// The sidecar sends no requests to a client. An unexpected one gets an error instead of no answer.
fn refusal(id: &RawValue, method: &str) -> String {
    let error = json!({
        "code": ErrorCode::MethodNotFound.code(),
        "message": format!("the client does not support {method}"),
    });
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

/// Why the pipes failed.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("the sidecar closed the connection")]
    HungUp,
    #[error("the sidecar sent a message of {length} bytes")]
    TooLarge { length: u64 },
    #[error(transparent)]
    Framing(#[from] FramingError),
    #[error("the sidecar sent an invalid message: {0}")]
    NotAMessage(#[from] serde_json::Error),
}
