//! The sidecar of `rawr watch`: turns notifications into news and requests into calls. It runs as a task, so that a slow answer
//! does not block the keys.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rawr_protocol::{
    Choice, Decision, DecisionListParams, ErrorCode, GuardClearParams, GuardSetParams, Request,
    SequenceRespondParams, ThreadCloseParams, ThreadGetParams, ThreadGetResult, ThreadListParams,
    ThreadSummary, ThreadWatchParams, Until, methods,
};
use rawr_settings::config::is_within;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::commands::threads::{takes_effect, to_look_on};
use crate::render;
use rawr_host::sidecar::{
    Launch, SidecarClient, SidecarError, SidecarNotification, SidecarSettings,
};

/// Filters the threads; all if neither is set.
#[derive(Debug, Clone, Default)]
pub(super) struct WatchScope {
    pub thread: Option<String>,
    pub folder: Option<PathBuf>,
}

impl WatchScope {
    fn holds(&self, thread: &ThreadSummary) -> bool {
        self.thread.as_ref().is_none_or(|id| *id == thread.thread_id)
            && self.folder.as_ref().is_none_or(|it| is_within(it, Path::new(&thread.cwd)))
    }

    fn params(&self) -> ThreadWatchParams {
        ThreadWatchParams {
            thread_id: self.thread.clone(),
            workspace_folder: self.folder.as_ref().map(|folder| folder.display().to_string()),
        }
    }
}

/// The thread and the sequence that were shown when a key was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchTarget {
    pub thread_id: String,
    pub cwd: String,
    pub owner: Option<String>,
}

/// A request to the sidecar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WatchRequest {
    /// List all threads.
    List,
    Look(WatchTarget),
    Respond {
        target: WatchTarget,
        choice: Choice,
        /// The shown sequence, so that an answer cannot reach a later one.
        sequence_id: Option<String>,
        until: Option<Until>,
    },
    Guard(WatchTarget),
    ClearGuards(WatchTarget),
}

/// A thread in full.
#[derive(Debug, Clone)]
pub(super) struct ThreadDetails {
    pub thread: ThreadGetResult,
    /// The decisions, latest last.
    pub decisions: Vec<Decision>,
}

/// A message from the sidecar's task.
#[derive(Debug)]
pub(super) enum WatchNews {
    /// The initial list, also after a restart of the sidecar.
    Watched(Vec<ThreadSummary>),
    Listed(Vec<ThreadSummary>),
    Looked(Box<ThreadDetails>),
    /// A thread could not be read.
    NotSeen {
        thread_id: String,
        error: String,
    },
    Note(Box<SidecarNotification>),
    /// A request was recorded.
    Done {
        thread_id: String,
        said: String,
    },
    Refused(String),
    /// The sidecar ended and was restarted.
    Restarted(String),
    /// The restarted sidecar ended as well.
    Lost(SidecarError),
}

/// The number of decisions to load.
const DECISIONS: u64 = 30;
/// Timeout of an orderly shutdown.
const ORDERLY: Duration = Duration::from_secs(10);

/// The channels to the sidecar's task.
#[derive(Debug)]
pub(super) struct WatchLink {
    wishes: mpsc::UnboundedSender<WatchRequest>,
    news: mpsc::UnboundedReceiver<WatchNews>,
    task: JoinHandle<()>,
}

impl WatchLink {
    /// Starts the task. `sidecar` was launched with `settings`.
    pub(super) async fn begin(
        sidecar: SidecarClient,
        settings: SidecarSettings,
        scope: WatchScope,
    ) -> Result<Self, SidecarError> {
        let (wishes, wished) = mpsc::unbounded_channel();
        let (tell, news) = mpsc::unbounded_channel();
        let mut line =
            LogNote { sidecar, settings, scope, wishes: wished, news: tell, is_second: false };
        line.watch().await?;
        Ok(Self { wishes, news, task: tokio::spawn(line.run()) })
    }

    /// Waits for the next news; `None` after [`WatchNews::Lost`]. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<WatchNews> {
        self.news.recv().await
    }

    /// News that has already arrived.
    pub(super) fn take(&mut self) -> Option<WatchNews> {
        self.news.try_recv().ok()
    }

    pub(super) fn ask(&self, wish: WatchRequest) {
        // A failed send means that the task ended, which is reported as news.
        let _ = self.wishes.send(wish);
    }

    /// Stops the sidecar.
    pub(super) async fn end(self) {
        let Self { wishes, mut task, .. } = self;
        drop(wishes);
        if timeout(ORDERLY, &mut task).await.is_err() {
            // Dropping the task kills the sidecar.
            task.abort();
        }
    }
}

struct LogNote {
    sidecar: SidecarClient,
    settings: SidecarSettings,
    scope: WatchScope,
    wishes: mpsc::UnboundedReceiver<WatchRequest>,
    news: mpsc::UnboundedSender<WatchNews>,
    is_second: bool,
}

impl LogNote {
    async fn run(mut self) {
        loop {
            let done = tokio::select! {
                wish = self.wishes.recv() => match wish {
                    Some(wish) => self.grant(wish).await,
                    None => break,
                },
                note = self.sidecar.next_note() => match note {
                    Some(note) => {
                        self.send(WatchNews::Note(Box::new(note)));
                        Ok(())
                    }
                    None => Err(self.sidecar.exit_error("it hung up").await),
                },
            };
            if let Err(error) = done
                && let Err(error) = self.start_again(error).await
            {
                self.send(WatchNews::Lost(error));
                return;
            }
        }
        self.sidecar.stop().await;
    }

    /// Sends news. A failed send means that the view was dropped.
    fn send(&self, news: WatchNews) {
        let _ = self.news.send(news);
    }

    async fn watch(&mut self) -> Result<(), SidecarError> {
        let params = self.scope.params();
        let watched = self.call::<methods::ThreadWatch>(params).await?.threads;
        self.send(WatchNews::Watched(watched));
        Ok(())
    }

    async fn start_again(&mut self, error: SidecarError) -> Result<(), SidecarError> {
        if std::mem::replace(&mut self.is_second, true) {
            return Err(error);
        }
        self.sidecar = self.settings.launch().await?;
        self.send(WatchNews::Restarted(error.to_string()));
        self.watch().await
    }

    /// Calls the sidecar and forwards the earlier notifications before the answer.
    async fn call<R: Request>(&mut self, params: R::Params) -> Result<R::Result, SidecarError> {
        let answer = self.sidecar.call::<R>(params).await;
        for note in self.sidecar.notes() {
            self.send(WatchNews::Note(Box::new(note)));
        }
        answer
    }

    /// Opens a thread for the call, because the sidecar unloads idle threads.
    async fn on<R: Request>(
        &mut self,
        target: &WatchTarget,
        params: R::Params,
    ) -> Result<R::Result, SidecarError>
    where
        R::Params: Clone,
    {
        let answer = self.call::<R>(params.clone()).await;
        let is_kept =
            !matches!(&answer, Err(error) if error.code() == Some(ErrorCode::UnknownThread));
        if is_kept {
            return answer;
        }
        let opening = to_look_on(target.thread_id.clone(), target.cwd.clone());
        self.call::<methods::ThreadOpen>(opening).await?;
        let answer = self.call::<R>(params).await;
        let closing = ThreadCloseParams { thread_id: target.thread_id.clone() };
        self.call::<methods::ThreadClose>(closing).await?;
        answer
    }

    /// Handles a request. An error means that the sidecar ended; a refusal is news.
    async fn grant(&mut self, wish: WatchRequest) -> Result<(), SidecarError> {
        let news = match wish {
            WatchRequest::List => self.list().await,
            WatchRequest::Look(target) => match self.look(&target).await {
                Err(error) if !error.is_end() => {
                    let thread_id = target.thread_id;
                    Ok(WatchNews::NotSeen { thread_id, error: reason(&error) })
                }
                looked => looked,
            },
            WatchRequest::Respond { target, choice, sequence_id, until } => {
                self.respond(target, choice, sequence_id, until).await
            }
            WatchRequest::Guard(target) => self.guard(target).await,
            WatchRequest::ClearGuards(target) => self.clear_guards(target).await,
        };
        match news {
            Ok(news) => self.send(news),
            Err(error) if error.is_end() => return Err(error),
            Err(error) => self.send(WatchNews::Refused(reason(&error))),
        }
        Ok(())
    }

    async fn list(&mut self) -> Result<WatchNews, SidecarError> {
        let mut threads = self.call::<methods::ThreadList>(ThreadListParams {}).await?.threads;
        threads.retain(|thread| self.scope.holds(thread));
        Ok(WatchNews::Listed(threads))
    }

    async fn look(&mut self, target: &WatchTarget) -> Result<WatchNews, SidecarError> {
        let thread_id = target.thread_id.clone();
        let params = ThreadGetParams { thread_id: thread_id.clone() };
        let thread = self.on::<methods::ThreadGet>(target, params).await?;
        let params = DecisionListParams { thread_id, limit: Some(DECISIONS), before: None };
        let decisions = self.on::<methods::DecisionList>(target, params).await?.decisions;
        Ok(WatchNews::Looked(Box::new(ThreadDetails { thread, decisions })))
    }

    async fn respond(
        &mut self,
        target: WatchTarget,
        choice: Choice,
        sequence_id: Option<String>,
        until: Option<Until>,
    ) -> Result<WatchNews, SidecarError> {
        let (turns, minutes) = match until {
            Some(Until::Turns { turns }) => (Some(turns), None),
            Some(Until::Minutes { minutes }) => (None, Some(minutes)),
            _ => (None, None),
        };
        let thread_id = target.thread_id.clone();
        let params =
            SequenceRespondParams { thread_id, choice, sequence_id, turns, minutes, packet: None };
        let answer = self.on::<methods::SequenceRespond>(&target, params).await?;
        let said = render::recorded(answer.choice, until.as_ref());
        Ok(done(target, &said))
    }

    async fn guard(&mut self, target: WatchTarget) -> Result<WatchNews, SidecarError> {
        let until = Until::Released;
        let thread_id = target.thread_id.clone();
        let params = GuardSetParams { thread_id, until: until.clone(), note: None };
        let guard_id = self.on::<methods::GuardSet>(&target, params).await?.guard_id;
        Ok(done(target, &render::guarded(&guard_id, &until)))
    }

    async fn clear_guards(&mut self, target: WatchTarget) -> Result<WatchNews, SidecarError> {
        let params = GuardClearParams { thread_id: target.thread_id.clone(), guard_id: None };
        let cleared = self.on::<methods::GuardClear>(&target, params).await?.cleared;
        Ok(done(target, &render::cleared(cleared)))
    }
}

fn done(target: WatchTarget, said: &str) -> WatchNews {
    let said = format!("{said} Saved. {}", takes_effect(target.owner.as_deref()));
    WatchNews::Done { thread_id: target.thread_id, said }
}

/// An error without the hint, which is for authors of clients.
fn reason(error: &SidecarError) -> String {
    match error {
        SidecarError::Refused { message, .. } => message.clone(),
        other => other.to_string(),
    }
}
