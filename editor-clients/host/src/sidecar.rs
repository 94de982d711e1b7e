//! The sidecar as this program's child: started, spoken to, stopped. It knows the protocol and nothing of what is done with it.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

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
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::Instrument;

use crate::private_fs::open_log;
use crate::transport::{Arrival, connect};

/// How a sidecar comes to be, also for a second time.
pub trait Launch {
    fn launch(&self) -> impl Future<Output = Result<Sidecar, SidecarError>>;
}

/// A sidecar as a child process, and what it is told first.
#[derive(Debug, Clone)]
pub struct SidecarSettings {
    /// This very program.
    pub program: PathBuf,
    /// The command that starts it, as a person types it: others are told who did something.
    pub client: String,
    pub home: Option<PathBuf>,
    /// Values that go before every configuration file's, under the files' keys.
    pub config: Map<String, Value>,
    pub log: SidecarLog,
}

/// Where the sidecar's stderr goes.
#[derive(Debug, Clone)]
pub enum SidecarLog {
    Terminal,
    File(PathBuf),
    Nowhere,
}

/// A sidecar that has been greeted. Dropping it kills the process.
#[derive(Debug)]
pub struct Sidecar {
    client: Client,
    arrivals: mpsc::UnboundedReceiver<Arrival>,
    notes: VecDeque<Note>,
    /// Calls made and answers seen among the arrivals: equal means that all earlier notifications are in `notes`.
    asked: u64,
    answered: u64,
    child: Option<Child>,
    version: Option<String>,
}

/// What a sidecar says unasked.
#[derive(Debug, Clone)]
pub enum Note {
    Perform(Box<ActionPerformNotification>),
    HeadsUp(SequenceHeadsUpNotification),
    Changed(Box<ThreadChangedNotification>),
    ListChanged(ThreadListChangedNotification),
    Decided(Box<DecisionRecordedNotification>),
    Compaction(CompactionUpdateNotification),
    Responded(SequenceRespondedNotification),
    JudgeAsked(JudgmentRequestedNotification),
    Judged(JudgmentResultNotification),
    StoreFailed(StoreFailedNotification),
    StoreRecovered(StoreRecoveredNotification),
    Prompt(PromptChangedNotification),
    Config(ConfigChangedNotification),
    Log(LogMessageParams),
    /// It is known by name and not understood.
    Garbled {
        method: String,
        error: String,
    },
}

impl Launch for SidecarSettings {
    async fn launch(&self) -> Result<Sidecar, SidecarError> {
        let not_started = |source| SidecarError::NotStarted { path: self.program.clone(), source };
        let mut child = self.command()?.spawn().map_err(not_started)?;
        let missing = || not_started(io::Error::other("a pipe is missing"));
        let reader = child.stdout.take().ok_or_else(missing)?;
        let writer = child.stdin.take().ok_or_else(missing)?;
        let mut sidecar = Sidecar::over(reader, writer);
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
        // Ctrl-C in a terminal is for this program, which then ends the sidecar in order.
        command.process_group(0);
        Ok(command)
    }
}

/// How long each step of an orderly end may take.
const ORDERLY: Duration = Duration::from_secs(3);

impl Sidecar {
    /// Over any pipes, not greeted yet.
    pub fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (client, arrivals) = connect(reader, writer);
        let notes = VecDeque::new();
        Self { client, arrivals, notes, asked: 0, answered: 0, child: None, version: None }
    }

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
        self.tell::<methods::Initialized>(Empty {}).await
    }

    /// Asks and waits for the answer. What the sidecar had said before it is then what [`notes`](Self::notes) gives,
    /// and nothing that it said after.
    pub async fn call<R: Request>(&mut self, params: R::Params) -> Result<R::Result, SidecarError> {
        self.request(R::METHOD, &params).await
    }

    /// A call that was made before; what it answers was of use only then.
    pub async fn repeat(
        &mut self,
        method: &'static str,
        params: &Value,
    ) -> Result<(), SidecarError> {
        self.request::<Value>(method, params).await.map(drop)
    }

    async fn request<A: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &impl serde::Serialize,
    ) -> Result<A, SidecarError> {
        let params = Params::of(method, params)?;
        self.asked += 1;
        let span = tracing::info_span!("request", method);
        let answer = self.client.request::<A, _>(method, params).instrument(span.clone()).await;
        span.in_scope(|| tracing::debug!(is_error = answer.is_err(), "answered"));
        self.catch_up();
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.failure(method, error).await),
        }
    }

    async fn tell<N: Notification>(&mut self, params: N::Params) -> Result<(), SidecarError> {
        let params = Params::of(N::METHOD, &params)?;
        match self.client.notification(N::METHOD, params).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.failure(N::METHOD, error).await),
        }
    }

    /// What the sidecar has said up to its last answer, in order.
    pub fn notes(&mut self) -> VecDeque<Note> {
        std::mem::take(&mut self.notes)
    }

    /// What it says next; `None` once it has hung up. May be cancelled at any time.
    pub async fn next_note(&mut self) -> Option<Note> {
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
            // An answer that never came has left no mark.
            let Ok(arrival) = self.arrivals.try_recv() else { return };
            self.take(arrival);
        }
    }

    fn take(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Answer => self.answered += 1,
            Arrival::Notification { method, params } => {
                self.notes.extend(Note::read(method, params.as_deref()));
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

    /// Why there is nobody any more.
    pub async fn exit_error(&mut self, otherwise: &str) -> SidecarError {
        let status = match &mut self.child {
            Some(child) => timeout(ORDERLY, child.wait()).await.ok().and_then(Result::ok),
            None => None,
        };
        SidecarError::Ended { how: status.map_or_else(|| otherwise.to_owned(), describe) }
    }

    /// Ends it in order: shutdown, exit, hang-up; and by force if it does not take the hints.
    pub async fn stop(mut self) {
        // Each step is tried whatever came of the one before: what counts is that the process ends.
        let _ = timeout(ORDERLY, self.call::<methods::Shutdown>(Empty {})).await;
        let _ = self.tell::<methods::Exit>(Empty {}).await;
        // A client that is dropped with a notification in hand loses it.
        let _ = timeout(ORDERLY, self.client.on_disconnect()).await;
        if let Some(mut child) = self.child
            && timeout(ORDERLY, child.wait()).await.is_err()
        {
            let _ = child.kill().await;
        }
    }

    pub fn process_id(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

fn describe(status: ExitStatus) -> String {
    status.to_string()
}

impl Note {
    /// `None` for what this client has no use for.
    fn read(method: String, params: Option<&RawValue>) -> Option<Self> {
        fn shape<N: Notification>(
            params: Option<&RawValue>,
            note: impl FnOnce(N::Params) -> Note,
        ) -> Result<Note, serde_json::Error> {
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

struct Params(Box<RawValue>);

impl Params {
    fn of(method: &'static str, params: &impl serde::Serialize) -> Result<Self, SidecarError> {
        serde_json::value::to_raw_value(params)
            .map(Self)
            .map_err(|source| SidecarError::NotUnderstood { method, source })
    }
}

impl ToRpcParams for Params {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        Ok(Some(self.0))
    }
}

/// Why the sidecar did not do as it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    #[error("the sidecar cannot be started: {}: {source}", .path.display())]
    NotStarted { path: PathBuf, source: io::Error },
    #[error("the sidecar ended ({how}); `--verbose` shows its log")]
    Ended { how: String },
    #[error("the sidecar did not answer {method}; `--verbose` shows its log")]
    Silent { method: &'static str },
    #[error("{message}{}", .hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default())]
    Refused { method: &'static str, code: i32, message: String, hint: Option<String> },
    #[error("the sidecar's {method} is not understood: {source}")]
    NotUnderstood { method: &'static str, source: serde_json::Error },
    #[error(
        "the sidecar speaks protocol {}, this program {PROTOCOL_VERSION}: both must be of one release",
        .theirs.map_or_else(|| "of another kind".to_owned(), |theirs| theirs.to_string())
    )]
    OtherProtocol { theirs: Option<u64> },
}

impl SidecarError {
    /// Whether the sidecar is of no more use, rather than of another opinion.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::NotStarted { .. } | Self::Ended { .. } | Self::Silent { .. })
    }

    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } => ErrorCode::from_code(*code),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
