//! The client of a sidecar: starts `rawr serve` as a child process, sends requests, receives notifications, stops it. What a
//! notification means is the caller's concern.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use jsonrpsee::core::client::{Client, ClientT, Error as ClientError};
use jsonrpsee::core::traits::ToRpcParams;
use rawr_protocol::{
    ActionPerformNotification, CompactionUpdateNotification, ConfigChangedNotification,
    DecisionRecordedNotification, Empty, ErrorCode, ErrorData, InitializationOptions,
    InitializeParams, JudgmentRequestedNotification, JudgmentResultNotification, LogMessageParams,
    Notification, PROTOCOL_VERSION, PeerInfo, PromptChangedNotification, Request,
    SequenceHeadsUpNotification, SequenceRespondedNotification, StoreFailedNotification,
    StoreRecoveredNotification, ThreadChangedNotification, ThreadListChangedNotification, methods,
    read_params,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::Instrument;

use crate::private_fs::open_log;
use crate::transport::{TransportArrival, connect};

/// Starts a sidecar. Called again to replace one that ended.
#[async_trait]
pub trait Launch: Send + Sync {
    /// Starts a sidecar and completes the `initialize` handshake.
    ///
    /// # Errors
    ///
    /// Fails if the process does not start, ends, or speaks another protocol version.
    async fn launch(&self) -> Result<SidecarClient, SidecarError>;
}

/// Settings for a sidecar child process.
#[derive(Debug, Clone)]
pub struct SidecarSettings {
    /// The `rawr` executable.
    pub program: PathBuf,
    /// The client's name, such as `rawr exec`. Other clients see it in notifications.
    pub client: String,
    /// rawr's home. `None` selects the default.
    pub home: Option<PathBuf>,
    /// Configuration that overrides every file, with the same keys as in the files.
    pub config: Map<String, Value>,
    /// Where its log goes.
    pub log: SidecarLog,
}

/// Where the sidecar's stderr goes.
#[derive(Debug, Clone)]
pub enum SidecarLog {
    /// To this program's stderr.
    Terminal,
    /// Appended to this file.
    File(PathBuf),
    /// Discarded.
    Nowhere,
}

/// A connection to a sidecar. Call [`greet`](Self::greet) first. Dropping it kills the child process.
#[derive(Debug)]
pub struct SidecarClient {
    client: Client,
    arrivals: mpsc::UnboundedReceiver<TransportArrival>,
    notes: VecDeque<SidecarNotification>,
    /// Numbers of requests sent and of answers seen among the arrivals. If equal, all earlier notifications are in `notes`.
    asked: u64,
    answered: u64,
    child: Option<Child>,
    version: Option<String>,
}

/// A notification from the sidecar.
#[derive(Debug, Clone)]
pub enum SidecarNotification {
    /// `action/perform`.
    Perform(Box<ActionPerformNotification>),
    /// `sequence/headsUp`.
    HeadsUp(SequenceHeadsUpNotification),
    /// `thread/changed`.
    Changed(Box<ThreadChangedNotification>),
    /// `thread/listChanged`.
    ListChanged(ThreadListChangedNotification),
    /// `decision/recorded`.
    Decided(Box<DecisionRecordedNotification>),
    /// `compaction/update`.
    Compaction(CompactionUpdateNotification),
    /// `sequence/responded`.
    Responded(SequenceRespondedNotification),
    /// `judgment/requested`.
    JudgeAsked(JudgmentRequestedNotification),
    /// `judgment/result`.
    Judged(JudgmentResultNotification),
    StoreFailed(StoreFailedNotification),
    StoreRecovered(StoreRecoveredNotification),
    /// `prompt/changed`.
    Prompt(PromptChangedNotification),
    /// `config/changed`.
    Config(ConfigChangedNotification),
    /// `window/logMessage`.
    Log(LogMessageParams),
    /// A known notification whose parameters failed to parse.
    Garbled {
        /// The notification's method.
        method: String,
        /// What is wrong with its parameters.
        error: String,
    },
}

#[async_trait]
impl Launch for SidecarSettings {
    async fn launch(&self) -> Result<SidecarClient, SidecarError> {
        let not_started = |source| SidecarError::NotStarted { path: self.program.clone(), source };
        let mut child = self.command()?.spawn().map_err(not_started)?;
        let missing = || not_started(io::Error::other("a pipe is missing"));
        let reader = child.stdout.take().ok_or_else(missing)?;
        let writer = child.stdin.take().ok_or_else(missing)?;
        let mut sidecar = SidecarClient::over(reader, writer);
        sidecar.child = Some(child);
        sidecar.greet(&self.client, self.home.as_ref(), &self.config).await?;
        Ok(sidecar)
    }
}

impl SidecarSettings {
    fn command(&self) -> Result<Command, SidecarError> {
        let mut command = Command::new(&self.program);
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        command.stderr(match &self.log {
            SidecarLog::Terminal => Stdio::inherit(),
            SidecarLog::File(path) => Stdio::from(
                open_log(path)
                    .map_err(|source| SidecarError::NotStarted { path: path.clone(), source })?,
            ),
            SidecarLog::Nowhere => Stdio::null(),
        });
        // Ctrl-C must reach only this program, which then stops the sidecar in an orderly way.
        command.process_group(0);
        Ok(command)
    }
}

/// Timeout of each step of an orderly shutdown.
const ORDERLY: Duration = Duration::from_secs(3);

impl SidecarClient {
    /// Connects over any pipes, without the handshake.
    pub fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (client, arrivals) = connect(reader, writer);
        let notes = VecDeque::new();
        Self { client, arrivals, notes, asked: 0, answered: 0, child: None, version: None }
    }

    /// Sends `initialize` and `initialized`.
    ///
    /// # Errors
    ///
    /// Fails if the sidecar refuses, ends, or speaks another protocol version.
    pub async fn greet(
        &mut self,
        client: &str,
        home: Option<&PathBuf>,
        config: &Map<String, Value>,
    ) -> Result<(), SidecarError> {
        let params = InitializeParams {
            process_id: Some(i64::from(std::process::id())),
            client_info: Some(PeerInfo {
                name: client.to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            initialization_options: InitializationOptions {
                home: home.map(|home| home.display().to_string()),
                config: config.clone(),
                ..Default::default()
            },
            ..Default::default()
        };
        let answer = self.call::<methods::Initialize>(params).await?;
        if answer.protocol_version() != Some(PROTOCOL_VERSION) {
            return Err(SidecarError::OtherProtocol { theirs: answer.protocol_version() });
        }
        self.version = answer.server_info.version;
        self.notify::<methods::Initialized>(Empty {}).await
    }

    /// Sends a request and waits for the answer. [`notes`](Self::notes) then returns exactly the notifications that arrived
    /// before the answer.
    ///
    /// # Errors
    ///
    /// Fails if the sidecar refuses, does not answer within 60 seconds, or ends.
    pub async fn call<R: Request>(&mut self, params: R::Params) -> Result<R::Result, SidecarError> {
        let answer = self.request_raw(R::METHOD, raw_params::<R>(&params)?).await?;
        read_answer::<R>(&answer)
    }

    /// Like [`call`](Self::call), without types.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub async fn request_raw(
        &mut self,
        method: &'static str,
        params: Box<RawValue>,
    ) -> Result<Box<RawValue>, SidecarError> {
        self.asked += 1;
        let span = tracing::info_span!("request", method);
        let params = RawParams(params);
        let answer = self.client.request(method, params).instrument(span.clone()).await;
        span.in_scope(|| tracing::debug!(is_error = answer.is_err(), "answered"));
        self.catch_up();
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.failure(method, error).await),
        }
    }

    async fn notify<N: Notification>(&mut self, params: N::Params) -> Result<(), SidecarError> {
        let params = RawParams::of(N::METHOD, &params)?;
        match self.client.notification(N::METHOD, params).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.failure(N::METHOD, error).await),
        }
    }

    /// Takes the notifications that arrived before the last answer, in order.
    pub fn notes(&mut self) -> VecDeque<SidecarNotification> {
        std::mem::take(&mut self.notes)
    }

    /// Waits for the next notification; `None` once the sidecar has hung up. Cancel safe.
    pub async fn next_note(&mut self) -> Option<SidecarNotification> {
        loop {
            if let Some(note) = self.notes.pop_front() {
                return Some(note);
            }
            let arrival = self.arrivals.recv().await?;
            self.take(arrival);
        }
    }

    fn catch_up(&mut self) {
        while self.answered < self.asked {
            // A request that failed has no answer among the arrivals.
            let Ok(arrival) = self.arrivals.try_recv() else { return };
            self.take(arrival);
        }
    }

    fn take(&mut self, arrival: TransportArrival) {
        match arrival {
            TransportArrival::Answer => self.answered += 1,
            TransportArrival::Notification { method, params } => {
                self.notes.extend(SidecarNotification::read(method, params.as_deref()));
            }
        }
    }

    async fn failure(&mut self, method: &'static str, error: ClientError) -> SidecarError {
        match error {
            ClientError::Call(error) => SidecarError::Refused {
                method,
                code: error.code(),
                message: error.message().to_owned(),
                hint: error
                    .data()
                    .and_then(|data| serde_json::from_str::<ErrorData>(data.get()).ok())
                    .map(|data| data.hint)
                    .filter(|hint| !hint.is_empty()),
            },
            ClientError::ParseError(source) => SidecarError::NotUnderstood { method, source },
            ClientError::RequestTimeout => SidecarError::Silent { method },
            other => self.exit_error(&other.to_string()).await,
        }
    }

    /// Waits for the child's exit and describes it; `otherwise` if there is no exit status.
    pub async fn exit_error(&mut self, otherwise: &str) -> SidecarError {
        let status = match &mut self.child {
            Some(child) => timeout(ORDERLY, child.wait()).await.ok().and_then(Result::ok),
            None => None,
        };
        SidecarError::Ended { how: status.map_or_else(|| otherwise.to_owned(), describe) }
    }

    /// Stops the sidecar: `shutdown`, `exit`, closing the pipes; kills the process if it does not end.
    pub async fn stop(mut self) {
        // Each step runs even if the one before failed.
        let _ = timeout(ORDERLY, self.call::<methods::Shutdown>(Empty {})).await;
        let _ = self.notify::<methods::Exit>(Empty {}).await;
        // Dropping the client would lose a queued notification.
        let _ = timeout(ORDERLY, self.client.on_disconnect()).await;
        if let Some(mut child) = self.child
            && timeout(ORDERLY, child.wait()).await.is_err()
        {
            let _ = child.kill().await;
        }
    }

    /// The child's process id; `None` without a child or after it ended.
    pub fn process_id(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// The sidecar's version, from its answer to `initialize`.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

fn describe(status: ExitStatus) -> String {
    status.to_string()
}

impl SidecarNotification {
    /// `None` for a notification that this client does not use.
    pub(crate) fn read(method: String, params: Option<&RawValue>) -> Option<Self> {
        fn shape<N: Notification>(
            params: Option<&RawValue>,
            note: impl FnOnce(N::Params) -> SidecarNotification,
        ) -> Result<SidecarNotification, serde_json::Error> {
            read_params(params.map(RawValue::get)).map(note)
        }
        let note = match method.as_str() {
            methods::ActionPerform::METHOD => {
                shape::<methods::ActionPerform>(params, |it| Self::Perform(Box::new(it)))
            }
            methods::SequenceHeadsUp::METHOD => {
                shape::<methods::SequenceHeadsUp>(params, Self::HeadsUp)
            }
            methods::ThreadChanged::METHOD => {
                shape::<methods::ThreadChanged>(params, |changed| Self::Changed(Box::new(changed)))
            }
            methods::ThreadListChanged::METHOD => {
                shape::<methods::ThreadListChanged>(params, Self::ListChanged)
            }
            methods::DecisionRecorded::METHOD => {
                shape::<methods::DecisionRecorded>(params, |it| Self::Decided(Box::new(it)))
            }
            methods::CompactionUpdate::METHOD => {
                shape::<methods::CompactionUpdate>(params, Self::Compaction)
            }
            methods::StoreFailed::METHOD => {
                shape::<methods::StoreFailed>(params, Self::StoreFailed)
            }
            methods::StoreRecovered::METHOD => {
                shape::<methods::StoreRecovered>(params, Self::StoreRecovered)
            }
            methods::SequenceResponded::METHOD => {
                shape::<methods::SequenceResponded>(params, Self::Responded)
            }
            methods::JudgmentRequested::METHOD => {
                shape::<methods::JudgmentRequested>(params, Self::JudgeAsked)
            }
            methods::JudgmentResult::METHOD => {
                shape::<methods::JudgmentResult>(params, Self::Judged)
            }
            methods::PromptChanged::METHOD => shape::<methods::PromptChanged>(params, Self::Prompt),
            methods::ConfigChanged::METHOD => shape::<methods::ConfigChanged>(params, Self::Config),
            methods::LogMessage::METHOD => shape::<methods::LogMessage>(params, Self::Log),
            _ => return None,
        };
        Some(note.unwrap_or_else(|error| Self::Garbled { method, error: error.to_string() }))
    }
}

/// The parameters of a request as they are sent.
pub(crate) fn raw_params<R: Request>(params: &R::Params) -> Result<Box<RawValue>, SidecarError> {
    RawParams::of(R::METHOD, params).map(|RawParams(params)| params)
}

/// The answer to a request.
pub(crate) fn read_answer<R: Request>(answer: &RawValue) -> Result<R::Result, SidecarError> {
    let broken = |source| SidecarError::NotUnderstood { method: R::METHOD, source };
    serde_json::from_str(answer.get()).map_err(broken)
}

struct RawParams(Box<RawValue>);

impl RawParams {
    fn of(method: &'static str, params: &impl serde::Serialize) -> Result<Self, SidecarError> {
        serde_json::value::to_raw_value(params)
            .map(Self)
            .map_err(|source| SidecarError::NotUnderstood { method, source })
    }
}

impl ToRpcParams for RawParams {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        Ok(Some(self.0))
    }
}

/// Why a request to the sidecar failed.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// The process could not be started, or its log file not opened.
    #[error("failed to start the sidecar {}: {source}", .path.display())]
    NotStarted {
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The process ended or hung up.
    #[error("the sidecar ended ({how}); `--verbose` shows its log")]
    Ended {
        /// How it ended.
        how: String,
    },
    /// No answer came within 60 seconds.
    #[error("the sidecar did not answer {method}; `--verbose` shows its log")]
    Silent {
        /// The method of the request.
        method: &'static str,
    },
    /// The sidecar answered with an error.
    #[error("{message}{}", .hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default())]
    Refused {
        /// The method of the request.
        method: &'static str,
        /// The JSON-RPC error code.
        code: i32,
        /// The other side's message.
        message: String,
        /// What to do, if the sidecar suggests something.
        hint: Option<String>,
    },
    /// The answer has an unknown shape.
    #[error("failed to parse the sidecar's {method}: {source}")]
    NotUnderstood {
        /// The method of the request.
        method: &'static str,
        /// The cause.
        source: serde_json::Error,
    },
    #[error(
        "the sidecar speaks protocol {}, this program {PROTOCOL_VERSION}: both must be of one release",
        .theirs.map_or_else(|| "of another kind".to_owned(), |theirs| theirs.to_string())
    )]
    /// The sidecar speaks another protocol version.
    OtherProtocol {
        /// The sidecar's protocol version; `None` if it did not send one.
        theirs: Option<u64>,
    },
}

impl SidecarError {
    /// Whether the sidecar must be replaced; false if it only refused the request.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::NotStarted { .. } | Self::Ended { .. } | Self::Silent { .. })
    }

    /// The protocol's error code of a refusal.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } => ErrorCode::from_code(*code),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
