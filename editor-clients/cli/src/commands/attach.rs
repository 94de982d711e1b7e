//! `rawr attach`: attaches to running Codex sessions. Each thread gets its own driver and sidecar.

mod alert;
mod followed;
mod log;
mod preflight_listener;
mod server;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow, bail};
use futures::future::LocalBoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use rawr_protocol::ErrorCode;
use tokio::time::{Instant, sleep_until, timeout};

use self::alert::{Alerting, PersonTerminal};
use super::common::{CommonOptions, overrides};
use super::exec::FeatureSwitches;
use super::lease;
use super::threads::stored_thread;
use super::user_files::UserFiles;
use crate::args::AttachArgs;
use crate::render::{OutputFormat, Renderer, causes};
use followed::FollowedThreads;
use log::EventLog;
use rawr_host::drive::{Drive, DriveError, PromptQueue, SessionEnd};
use rawr_host::event::{NoticeLevel, Reporter, SessionEvent};
use rawr_host::host::codex::{self, Attachment, Codex, Experimental, MissedTurns};
use rawr_host::host::{AgentHost, HostError, ThreadOrigin};
use rawr_host::presence::Presence;
use rawr_host::sidecar::{Launch, SidecarSettings};
use rawr_host::stop::{HUNG_UP, StopRequest};
use rawr_host::text::one_line;
use server::{AfterServerEnd, OpenError, ServerConnection, ServerEvent};

pub(super) async fn run(common: &CommonOptions, args: AttachArgs) -> anyhow::Result<ExitCode> {
    let beside = args.beside.clone();
    let done = follow(common, args).await;
    if let (Some(folder), Err(error)) = (&beside, &done) {
        let why = one_line(&causes(error), WIDTH);
        leave_word(folder, &format!("{why}; Codex continued without it"));
    }
    done
}

/// The file with an error message of one line, which `rawr codex` prints after Codex has ended.
pub(super) const WORD: &str = "word";

/// The file with the id of the thread that was joined last, which `rawr codex` prints after Codex has ended.
pub(super) const THREAD: &str = "thread";

/// Exists until the driver is asked to stop. If the driver ends earlier, `rawr codex` reports that.
pub(super) const WANTED: &str = "wanted";

/// The width of a message.
pub(super) const WIDTH: usize = 160;

/// A failure here cannot be reported anywhere else.
fn leave_word(folder: &Path, word: &str) {
    let _ = std::fs::write(folder.join(WORD), format!("rawr: {word}\n"));
}

async fn follow(common: &CommonOptions, mut args: AttachArgs) -> anyhow::Result<ExitCode> {
    let since_ms = now_ms();
    let socket = match &args.socket {
        Some(socket) => std::path::absolute(socket)?,
        None => control_socket()?,
    };
    let home = common.home()?.dir;
    let mut stop = StopRequest::on_signals()?;
    let after_end = match &args.beside {
        Some(_) => AfterServerEnd::Leave,
        None => AfterServerEnd::Reconnect,
    };
    let server = ServerConnection::open(socket.clone(), after_end, is_compacting(common)?).await;
    let mut server = match server {
        Err(OpenError::Host(error)) => return Err(error).context(NO_CODEX),
        server => server?,
    };
    if let Some(wanted) = &mut args.thread {
        *wanted = stored_thread(common, wanted, codex::NAME).await?.id;
        if let Some(threads) = server.threads()
            && !threads.has(wanted).await?
        {
            bail!("Codex has no thread {wanted}; `codex resume` lists its threads");
        }
    }
    let presence =
        Presence::announce(&home, &socket).context("failed to write to the home folder")?;
    let place = AttachContext::of(common, &args, socket, home, since_ms)?;
    if let ShownAs::Terminal(OutputFormat::Person(_)) = place.shown {
        let only = args.thread.as_ref().map(|id| format!(", as soon as thread {id} is open there"));
        let only = only.unwrap_or_default();
        let message =
            format!("attached to Codex at {}{only}; Ctrl-C detaches", place.socket.display());
        place
            .renderer()?
            .report(&SessionEvent::Notice { level: NoticeLevel::Info, message: &message })?;
    }
    let mut asked = std::pin::pin!(place.answer_the_relay(&args)?);
    let mut parent = std::pin::pin!(orphaned());
    let mut sessions: FuturesUnordered<LocalBoxFuture<'_, FollowResult>> = FuturesUnordered::new();
    let mut followed = FollowedThreads::default();
    let mut failure = None;
    let mut is_there = true;
    let mut orphaned_at = None;
    while is_there || !sessions.is_empty() {
        tokio::select! {
            biased;
            () = stop.asked(), if is_there => {
                is_there = false;
                no_longer_wanted(&args);
            }
            () = &mut parent, if is_there && args.beside.is_some() => {
                is_there = false;
                orphaned_at = Some(Instant::now());
                stop.ask(HUNG_UP);
            }
            () = too_late(orphaned_at) => sessions.clear(),
            () = &mut asked => {}
            Some((thread_id, done)) = sessions.next(), if !sessions.is_empty() => {
                if let Some(threads) = server.threads() {
                    threads.forget(&thread_id);
                }
                if let Err(error) = done {
                    failure = Some(error);
                    // With --thread, only that thread is followed.
                    is_there &= args.thread.is_none() && args.beside.is_none();
                }
                if followed.ended(&thread_id) && is_there {
                    sessions.push(place.follow(thread_id, &stop));
                }
            }
            found = server.next(), if is_there => match found {
                ServerEvent::Thread(thread_id) => {
                    let is_wanted = args.thread.as_ref().is_none_or(|only| *only == thread_id);
                    if is_wanted && followed.starts(&thread_id) {
                        sessions.push(place.follow(thread_id, &stop));
                    }
                }
                ServerEvent::Lost { reason } => {
                    place.say(NoticeLevel::Warning, &format!("{reason}; waiting for Codex to start it again"))?;
                }
                ServerEvent::Back => place.say(NoticeLevel::Info, "attached to Codex again")?,
                ServerEvent::Ended => is_there = false,
                ServerEvent::GivenUp => {
                    is_there = false;
                    failure = Some(anyhow!(
                        "Codex's server at {} did not start again within {} s; run `rawr attach` again when Codex runs",
                        place.socket.display(),
                        server::LIMIT.as_secs()
                    ));
                }
                ServerEvent::TokenBudget => {
                    is_there = false;
                    failure = Some(OpenError::TokenBudget.into());
                }
            }
        }
    }
    server.close().await;
    if orphaned_at.is_some() {
        end_the_app_server(&args).await;
    }
    let is_detached = stop.was_asked() && presence.is_detached();
    drop(presence);
    if let Some(error) = failure {
        return Err(error);
    }
    let why = match &place.shown {
        _ if is_detached => Some(
            "rawr was detached by `rawr detach` in another terminal; Codex continues without it",
        ),
        ShownAs::Terminal(OutputFormat::Person(_)) if stop.was_asked() => {
            Some("rawr detached; Codex continues without it")
        }
        _ => None,
    };
    if let Some(message) = why {
        place.renderer()?.report(&SessionEvent::Notice { level: NoticeLevel::Info, message })?;
    }
    Ok(match stop.was_asked() && !is_detached {
        true => ExitCode::from(stop.exit_code()),
        false => ExitCode::SUCCESS,
    })
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Whether rawr's own compaction is on.
fn is_compacting(common: &CommonOptions) -> anyhow::Result<bool> {
    let config = UserFiles::read(&common.home()?, None, None).config;
    Ok(FeatureSwitches(config.effective()).all_are(&[("features.rawr_auto_compaction", true)]))
}

/// Interval of the check whether the parent process lives.
const LOOK: Duration = Duration::from_secs(1);

/// Resolves once the parent process has ended.
pub(super) async fn orphaned() {
    let parent = rustix::process::getppid();
    while rustix::process::getppid() == parent {
        tokio::time::sleep(LOOK).await;
    }
}

/// How long the sessions may take to detach from a Codex that lost its terminal.
const LEAVE: Duration = Duration::from_secs(5);

async fn too_late(orphaned_at: Option<Instant>) {
    match orphaned_at {
        Some(at) => sleep_until(at + LEAVE).await,
        None => std::future::pending().await,
    }
}

/// Stops the app-server after the waiting shell was killed. The sessions have detached before, so that the interrupted turns
/// do not count as a user's decision.
async fn end_the_app_server(args: &AttachArgs) {
    let Some((folder, owner)) = args.beside.as_deref().zip(args.lease) else { return };
    if !lease::ask_to_end(folder, owner) {
        lease::end_without_owner(folder).await;
    }
}

/// Waits until the folder is removed, which happens when Codex ends.
fn no_longer_wanted(args: &AttachArgs) {
    let _ = args.beside.as_ref().map(|folder| std::fs::remove_file(folder.join(WANTED)));
}

const NO_CODEX: &str = "no Codex to attach to: only a recent `codex` shares its background server, a few seconds after it starts; \
     `codex --no-daemon` and `codex exec` do not; `rawr codex resume` opens any session with rawr, and --socket PATH \
     names another server";

/// The id of a thread and why it is no longer followed.
type FollowResult = (String, anyhow::Result<()>);

/// The socket of Codex's background server.
fn control_socket() -> anyhow::Result<PathBuf> {
    let Some(codex_home) = codex::codex_home() else {
        bail!("no home folder; pass Codex's socket with --socket PATH")
    };
    Ok(codex_home.join("app-server-control").join("app-server-control.sock"))
}

/// The shared state of all sessions.
struct AttachContext {
    socket: PathBuf,
    /// The folder of the `rawr codex` that started this process.
    beside: Option<PathBuf>,
    home: PathBuf,
    /// When this process started, in Unix milliseconds.
    since_ms: i64,
    /// The last turn of each thread that this process reported to its end.
    last_turns: RefCell<HashMap<String, String>>,
    settings: SidecarSettings,
    experimental: Experimental,
    shown: ShownAs,
    /// The sessions that decide about typed messages.
    typed: Option<preflight_listener::TypedMessageSessions>,
}

/// Why a thread is no longer followed.
#[derive(Debug, thiserror::Error)]
enum FollowFailure {
    #[error(transparent)]
    Drive(DriveError),
    #[error(transparent)]
    Output(anyhow::Error),
}

/// How often a thread is joined again after its sidecar died twice in a short time.
const LIVES: u32 = 3;

/// How long to look whether a thread that was not joined can be resumed, before this process ends.
const LAST_LOOK: Duration = Duration::from_secs(1);

enum ShownAs {
    Terminal(OutputFormat),
    Log(PathBuf),
}

impl AttachContext {
    /// Does not return.
    fn answer_the_relay(&self, args: &AttachArgs) -> anyhow::Result<impl Future<Output = ()>> {
        let door = match (&self.typed, &args.beside) {
            (Some(sessions), Some(folder)) => Some(preflight_listener::open(folder, sessions)?),
            _ => None,
        };
        Ok(async {
            match door {
                Some(door) => door.await,
                None => std::future::pending().await,
            }
        })
    }

    fn typed(&self) -> codex::UserMessageRoute {
        match self.typed {
            Some(_) => codex::UserMessageRoute::MayBeHeld,
            None => codex::UserMessageRoute::GoesToCodex,
        }
    }

    fn with_typed_inputs<'r>(&self, drive: Drive<'r>) -> Drive<'r> {
        match &self.typed {
            Some(sessions) => {
                let typed = sessions.of(drive.thread_id());
                drive.with_typed_inputs(typed)
            }
            None => drive,
        }
    }

    fn of(
        common: &CommonOptions,
        args: &AttachArgs,
        socket: PathBuf,
        home: PathBuf,
        since_ms: i64,
    ) -> anyhow::Result<Self> {
        let mut settings = common.sidecar(overrides(&args.config)?)?;
        if args.beside.is_some() {
            "rawr codex".clone_into(&mut settings.client);
        }
        Ok(Self {
            socket,
            beside: args.beside.clone(),
            settings,
            experimental: match args.without_experimental {
                true => Experimental::Refused,
                false => Experimental::Wanted,
            },
            shown: match (&args.beside, args.output.json) {
                (Some(_), _) => ShownAs::Log(home.join("rawr").join("codex.log")),
                (None, as_json) => ShownAs::Terminal(common.format(as_json)),
            },
            typed: args.preflight.then(preflight_listener::TypedMessageSessions::default),
            home,
            since_ms,
            last_turns: RefCell::default(),
        })
    }

    fn renderer(&self) -> anyhow::Result<Renderer> {
        Ok(match &self.shown {
            ShownAs::Terminal(format) => {
                let mut renderer = Renderer::stdout(*format);
                // Several threads print to the same terminal.
                renderer.keep_still();
                renderer
            }
            ShownAs::Log(path) => {
                let log = EventLog::open(path.clone());
                let log = log.with_context(|| path.display().to_string())?;
                Renderer::to_program(Box::new(log))
            }
        })
    }

    /// What happened to the connection, where it is shown.
    fn say(&self, level: NoticeLevel, message: &str) -> anyhow::Result<()> {
        Ok(self.renderer()?.report(&SessionEvent::Notice { level, message })?)
    }

    /// Follows a thread, with its id.
    fn follow(&self, thread_id: String, stop: &StopRequest) -> LocalBoxFuture<'_, FollowResult> {
        let session = self.session(thread_id.clone(), stop.clone());
        Box::pin(async { (thread_id, session.await) })
    }

    /// Follows one thread until it ends. A dead sidecar is replaced; rawr detaches only if sidecars keep dying.
    async fn session(&self, thread_id: String, stop: StopRequest) -> anyhow::Result<()> {
        for _ in 1..LIVES {
            match self.join(&thread_id, stop.clone()).await {
                Err(FollowFailure::Drive(
                    DriveError::Sidecar(error) | DriveError::SidecarEndedAgain(error),
                )) if error.is_end() => {}
                joined => return Ok(joined?),
            }
        }
        Ok(self.join(&thread_id, stop).await?)
    }

    /// The end of Codex, or another rawr that owns the thread, is not a failure.
    async fn join(&self, thread_id: &str, mut stop: StopRequest) -> Result<(), FollowFailure> {
        let attachment = Attachment {
            socket: self.socket.clone(),
            thread_id: thread_id.to_owned(),
            home: self.home.clone(),
            experimental: self.experimental,
            typed: self.typed(),
            missed: MissedTurns {
                since_ms: self.since_ms,
                after: self.last_turns.borrow().get(thread_id).cloned(),
            },
        };
        let attached = tokio::select! {
            attached = Codex::attach(&attachment) => attached,
            () = stop.asked() => {
                self.look_once_more(&attachment).await;
                return Ok(());
            }
        };
        let host = match attached {
            Ok(Some(host)) => {
                if host.thread().origin == ThreadOrigin::Person {
                    self.note_for_going_on(thread_id);
                }
                host
            }
            Ok(None) | Err(HostError::Gone { .. } | HostError::NotReached { .. }) => return Ok(()),
            Err(error) => return Err(FollowFailure::Drive(error.into())),
        };
        let reporter = self.renderer().map_err(FollowFailure::Output)?;
        let terminal = match self.beside {
            Some(_) => PersonTerminal::of_this_process(),
            None => PersonTerminal::nowhere(),
        };
        let mut renderer = Alerting { reporter, terminal, last_turn: None };
        let done = self.drive(host, &mut renderer, &mut stop).await;
        if let Some(last) = renderer.last_turn.take() {
            self.last_turns.borrow_mut().insert(thread_id.to_owned(), last);
        }
        match done {
            Ok(_) | Err(DriveError::Host(HostError::Gone { .. })) => Ok(()),
            Err(DriveError::Sidecar(error)) if error.code() == Some(ErrorCode::OwnedElsewhere) => {
                let message = format!(
                    "another rawr is already attached to thread {thread_id}; `rawr detach` stops it"
                );
                let notice = SessionEvent::Notice { level: NoticeLevel::Info, message: &message };
                renderer.report(&notice).map_err(|error| FollowFailure::Drive(error.into()))
            }
            Err(error) => Err(FollowFailure::Drive(error)),
        }
    }

    /// Codex may have stored the thread a moment ago. Only `rawr codex` needs to know.
    async fn look_once_more(&self, attachment: &Attachment) {
        if self.beside.is_some()
            && let Ok(Ok(true)) = timeout(LAST_LOOK, Codex::can_be_resumed(attachment)).await
        {
            self.note_for_going_on(&attachment.thread_id);
        }
    }

    /// Records the thread's id for the last line of `rawr codex`. Without it that line names the newest session.
    fn note_for_going_on(&self, thread_id: &str) {
        if let Some(folder) = &self.beside {
            let _ = std::fs::write(folder.join(THREAD), thread_id);
        }
    }

    async fn drive(
        &self,
        host: Codex,
        renderer: &mut Alerting<Renderer>,
        stop: &mut StopRequest,
    ) -> Result<SessionEnd, DriveError> {
        let sidecar = self.settings.launch().await?;
        let drive = Drive::open(host, self.settings.clone(), sidecar, renderer).await?;
        let done = self.with_typed_inputs(drive).run(&mut PromptQueue::elsewhere(), stop).await?;
        if let (Some(folder), true) = (&self.beside, done.kept_messages > 0) {
            leave_word(
                folder,
                "a message of yours waits in this session, which sends it when you resume it",
            );
        }
        Ok(done.ended)
    }
}
