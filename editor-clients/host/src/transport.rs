//! The pipes between a sidecar and the JSON-RPC client. Separates notifications from answers, in order.

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

/// What arrived and is not the client's to see, and where among it the answers were.
#[derive(Debug)]
pub enum Arrival {
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// The client has an answer that came at this place.
    Answer,
}

/// Longer than any request to the sidecar takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client over these pipes. It hears answers alone: a notification that passed through it could be dropped there,
/// and a request of the sidecar's would be taken for one. The receiver ends when the sidecar hangs up.
pub fn connect(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> (Client, mpsc::UnboundedReceiver<Arrival>) {
    let (outgoing, bodies) = mpsc::unbounded_channel();
    // On its own, so that a sidecar that does not read for a while never keeps us from reading.
    tokio::spawn(write(writer, bodies));
    let (arrivals, arrived) = mpsc::unbounded_channel();
    let frames = FramedRead::new(reader, Framing::new());
    let receiver = Receiver { frames, arrivals, outgoing: outgoing.clone() };
    let client = ClientBuilder::default()
        .request_timeout(PATIENCE)
        .build_with_tokio(Sender { outgoing }, receiver);
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

struct Sender {
    outgoing: mpsc::UnboundedSender<String>,
}

impl TransportSenderT for Sender {
    type Error = TransportError;

    async fn send(&mut self, body: String) -> Result<(), TransportError> {
        self.outgoing.send(body).map_err(|_| TransportError::HungUp)
    }
}

struct Receiver<R> {
    frames: FramedRead<R, Framing>,
    arrivals: mpsc::UnboundedSender<Arrival>,
    outgoing: mpsc::UnboundedSender<String>,
}

impl<R: AsyncRead + Send + Unpin + 'static> TransportReceiverT for Receiver<R> {
    type Error = TransportError;

    async fn receive(&mut self) -> Result<ReceivedMessage, TransportError> {
        loop {
            let body = match self.frames.next().await.ok_or(TransportError::HungUp)?? {
                Frame::Message(body) => body,
                Frame::TooLarge { length } => return Err(TransportError::TooLarge { length }),
            };
            let message: Message<'_> = serde_json::from_slice(&body)?;
            // Without a receiver for arrivals there is none to lose them.
            match (message.method, message.id) {
                (None, _) => {
                    let _ = self.arrivals.send(Arrival::Answer);
                    return Ok(ReceivedMessage::Bytes(body.to_vec()));
                }
                (Some(method), None) => {
                    let params = message.params.map(ToOwned::to_owned);
                    let method = method.into_owned();
                    let _ = self.arrivals.send(Arrival::Notification { method, params });
                }
                (Some(method), Some(id)) => {
                    let _ = self.outgoing.send(refusal(id, &method));
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Message<'m> {
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
