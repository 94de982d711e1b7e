//! The watch's sidecar: what it says becomes news, what a person wishes becomes calls. It runs beside the screen, so that
//! a slow answer holds up no key. It shows nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rawr_protocol::{
    Choice, Decision, DecisionListParams, ErrorCode, GuardClearParams, GuardSetParams, Request,
    SequenceRespondParams, ThreadCloseParams, ThreadGetParams, ThreadGetResult, ThreadListParams,
    ThreadSummary, ThreadWatchParams, Until, methods,
};
use rawr_server::config::is_within;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::commands::threads::{takes_effect, to_look_on};
use crate::render;
use rawr_host::sidecar::{Launch, Note, Sidecar, SidecarError, SidecarSettings};

/// Which threads are of interest; with neither, all.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub thread: Option<String>,
    pub folder: Option<PathBuf>,
}

impl Scope {
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

/// A thread as a person sees it while a key is pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub thread_id: String,
    pub cwd: String,
    pub owner: Option<String>,
}

/// What a person wants of the sidecar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WatchRequest {
    /// All threads; what becomes of the list is told.
    List,
    Look(Target),
    Respond {
        target: Target,
        choice: Choice,
        /// The sequence on the screen: an answer to it is none to the next one.
        sequence_id: Option<String>,
        until: Option<Until>,
    },
    Guard(Target),
    ClearGuards(Target),
}

/// One thread in full.
#[derive(Debug, Clone)]
pub(super) struct Details {
    pub thread: ThreadGetResult,
    /// The latest last.
    pub decisions: Vec<Decision>,
}

/// What there is to hear.
#[derive(Debug)]
pub(super) enum News {
    /// Where the watch begins, also after the sidecar was started again.
    Watched(Vec<ThreadSummary>),
    Listed(Vec<ThreadSummary>),
    Looked(Box<Details>),
    /// The thread cannot be looked at.
    NotSeen {
        thread_id: String,
        error: String,
    },
    Note(Box<Note>),
    /// A wish was recorded.
    Done {
        thread_id: String,
        said: String,
    },
    Refused(String),
    /// The sidecar ended and another took its place.
    Restarted(String),
    /// And that one ended as well.
    Lost(SidecarError),
}

/// How many decisions are kept at hand for each look.
const DECISIONS: u64 = 30;
/// How long an orderly end may take.
const ORDERLY: Duration = Duration::from_secs(10);

/// The other end of both is the sidecar's task.
#[derive(Debug)]
pub(super) struct Link {
    wishes: mpsc::UnboundedSender<WatchRequest>,
    news: mpsc::UnboundedReceiver<News>,
    task: JoinHandle<()>,
}

impl Link {
    /// Watches from here on. `sidecar` is one that `settings` launched.
    pub(super) async fn begin(
        sidecar: Sidecar,
        settings: SidecarSettings,
        scope: Scope,
    ) -> Result<Self, SidecarError> {
        let (wishes, wished) = mpsc::unbounded_channel();
        let (tell, news) = mpsc::unbounded_channel();
        let mut line =
            LogNote { sidecar, settings, scope, wishes: wished, news: tell, is_second: false };
        line.watch().await?;
        Ok(Self { wishes, news, task: tokio::spawn(line.run()) })
    }

    /// May be cancelled at any time. `None` after [`News::Lost`].
    pub(super) async fn next(&mut self) -> Option<News> {
        self.news.recv().await
    }

    /// What has come already.
    pub(super) fn take(&mut self) -> Option<News> {
        self.news.try_recv().ok()
    }

    pub(super) fn ask(&self, wish: WatchRequest) {
        // Where nobody listens any more, the news says why.
        let _ = self.wishes.send(wish);
    }

    /// Ends the sidecar.
    pub(super) async fn end(self) {
        let Self { wishes, mut task, .. } = self;
        drop(wishes);
        if timeout(ORDERLY, &mut task).await.is_err() {
            // With it goes the sidecar.
            task.abort();
        }
    }
}

struct LogNote {
    sidecar: Sidecar,
    settings: SidecarSettings,
    scope: Scope,
    wishes: mpsc::UnboundedReceiver<WatchRequest>,
    news: mpsc::UnboundedSender<News>,
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
                        self.tell(News::Note(Box::new(note)));
                        Ok(())
                    }
                    None => Err(self.sidecar.exit_error("it hung up").await),
                },
            };
            if let Err(error) = done
                && let Err(error) = self.start_again(error).await
            {
                self.tell(News::Lost(error));
                return;
            }
        }
        self.sidecar.stop().await;
    }

    /// Where nobody listens there is nobody to tell.
    fn tell(&self, news: News) {
        let _ = self.news.send(news);
    }

    async fn watch(&mut self) -> Result<(), SidecarError> {
        let params = self.scope.params();
        let watched = self.call::<methods::ThreadWatch>(params).await?.threads;
        self.tell(News::Watched(watched));
        Ok(())
    }

    async fn start_again(&mut self, error: SidecarError) -> Result<(), SidecarError> {
        if std::mem::replace(&mut self.is_second, true) {
            return Err(error);
        }
        self.sidecar = self.settings.launch().await?;
        self.tell(News::Restarted(error.to_string()));
        self.watch().await
    }

    /// What was said before the answer is told before it.
    async fn call<R: Request>(&mut self, params: R::Params) -> Result<R::Result, SidecarError> {
        let answer = self.sidecar.call::<R>(params).await;
        for note in self.sidecar.notes() {
            self.tell(News::Note(Box::new(note)));
        }
        answer
    }

    /// Threads that nothing happened in for long are not kept by the sidecar unless they are opened.
    async fn on<R: Request>(
        &mut self,
        target: &Target,
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

    /// An error is the sidecar's end; whatever it refuses is news.
    async fn grant(&mut self, wish: WatchRequest) -> Result<(), SidecarError> {
        let news = match wish {
            WatchRequest::List => self.list().await,
            WatchRequest::Look(target) => match self.look(&target).await {
                Err(error) if !error.is_end() => {
                    let thread_id = target.thread_id;
                    Ok(News::NotSeen { thread_id, error: reason(&error) })
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
            Ok(news) => self.tell(news),
            Err(error) if error.is_end() => return Err(error),
            Err(error) => self.tell(News::Refused(reason(&error))),
        }
        Ok(())
    }

    async fn list(&mut self) -> Result<News, SidecarError> {
        let mut threads = self.call::<methods::ThreadList>(ThreadListParams {}).await?.threads;
        threads.retain(|thread| self.scope.holds(thread));
        Ok(News::Listed(threads))
    }

    async fn look(&mut self, target: &Target) -> Result<News, SidecarError> {
        let thread_id = target.thread_id.clone();
        let params = ThreadGetParams { thread_id: thread_id.clone() };
        let thread = self.on::<methods::ThreadGet>(target, params).await?;
        let params = DecisionListParams { thread_id, limit: Some(DECISIONS), before: None };
        let decisions = self.on::<methods::DecisionList>(target, params).await?.decisions;
        Ok(News::Looked(Box::new(Details { thread, decisions })))
    }

    async fn respond(
        &mut self,
        target: Target,
        choice: Choice,
        sequence_id: Option<String>,
        until: Option<Until>,
    ) -> Result<News, SidecarError> {
        let (turns, minutes) = match until {
            Some(Until::Turns { turns }) => (Some(turns), None),
            Some(Until::Minutes { minutes }) => (None, Some(minutes)),
            _ => (None, None),
        };
        let thread_id = target.thread_id.clone();
        let params =
            SequenceRespondParams { thread_id, choice, sequence_id, turns, minutes, packet: None };
        self.on::<methods::SequenceRespond>(&target, params).await?;
        let said = render::recorded(choice, until.as_ref());
        Ok(done(target, &said))
    }

    async fn guard(&mut self, target: Target) -> Result<News, SidecarError> {
        let until = Until::Released;
        let thread_id = target.thread_id.clone();
        let params = GuardSetParams { thread_id, until: until.clone(), note: None };
        let guard_id = self.on::<methods::GuardSet>(&target, params).await?.guard_id;
        Ok(done(target, &render::guarded(&guard_id, &until)))
    }

    async fn clear_guards(&mut self, target: Target) -> Result<News, SidecarError> {
        let params = GuardClearParams { thread_id: target.thread_id.clone(), guard_id: None };
        let cleared = self.on::<methods::GuardClear>(&target, params).await?.cleared;
        Ok(done(target, &render::cleared(cleared)))
    }
}

fn done(target: Target, said: &str) -> News {
    let said = format!("{said} {}", takes_effect(target.owner.as_deref()));
    News::Done { thread_id: target.thread_id, said }
}

/// For a person: hints are for who writes a client.
fn reason(error: &SidecarError) -> String {
    match error {
        SidecarError::Refused { message, .. } => message.clone(),
        other => other.to_string(),
    }
}
