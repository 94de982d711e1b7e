//! Finds the thread that an argument names, and opens it in a sidecar as an observer. Requests are only recorded: the thread's
//! owner acts on them.

use std::cmp::Reverse;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rawr_protocol::{
    Host, HostCapabilities, MessageType, Request, Role, ThreadGetParams, ThreadGetResult,
    ThreadListParams, ThreadOpenParams, ThreadSummary, methods,
};
use serde::Serialize;
use serde_json::Map;

use super::common::{CommonOptions, threads_folder};
use crate::render::thread_name;
use rawr_host::event::json_line as event_line;
use rawr_host::sidecar::{Launch, SidecarClient, SidecarError, SidecarNotification};
use rawr_host::text::sanitize_terminal;

/// A sidecar that observes threads, and the threads of its home folder.
pub(super) struct ThreadReader {
    sidecar: SidecarClient,
    /// Most recently used first.
    pub threads: Vec<ThreadSummary>,
}

impl ThreadReader {
    /// Returns `None` if there is no thread yet. In that case no sidecar is started and no file is created.
    pub(super) async fn start(common: &CommonOptions) -> anyhow::Result<Option<Self>> {
        let folder = threads_folder(&common.home()?.dir);
        match std::fs::read_dir(&folder) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("failed to read {}", folder.display()));
            }
        }
        let mut sidecar = common.sidecar(Map::new())?.launch().await?;
        let listed = sidecar.call::<methods::ThreadList>(ThreadListParams {}).await;
        let mut threads = listed?.threads;
        if threads.is_empty() {
            sidecar.stop().await;
            return Ok(None);
        }
        threads.sort_by_key(|thread| Reverse(thread.updated_at_ms));
        Ok(Some(Self { sidecar, threads }))
    }

    /// Opens the thread that an argument names, as an observer.
    pub(super) async fn find(&mut self, wanted: &str) -> anyhow::Result<ThreadGetResult> {
        let thread = which(wanted, &self.threads)?.clone();
        Ok(self.open(thread).await?)
    }

    /// Opens a thread as an observer.
    pub(super) async fn open(
        &mut self,
        thread: ThreadSummary,
    ) -> Result<ThreadGetResult, SidecarError> {
        let thread_id = thread.thread_id;
        self.call::<methods::ThreadOpen>(to_look_on(thread_id.clone(), thread.cwd)).await?;
        self.call::<methods::ThreadGet>(ThreadGetParams { thread_id }).await
    }

    pub(super) async fn call<R: Request>(
        &mut self,
        params: R::Params,
    ) -> Result<R::Result, SidecarError> {
        self.sidecar.call::<R>(params).await
    }

    /// Stops the sidecar and prints its warnings.
    pub(super) async fn leave(mut self) {
        for note in self.sidecar.notes() {
            if let SidecarNotification::Log(said) = note
                && matches!(said.level, MessageType::Error | MessageType::Warning)
            {
                complain(&said.message);
            }
        }
        self.sidecar.stop().await;
    }
}

/// The parameters to open a thread as an observer.
pub(super) fn to_look_on(thread_id: String, cwd: String) -> ThreadOpenParams {
    ThreadOpenParams {
        thread_id,
        cwd,
        role: Role::Observer,
        host: Host {
            name: "rawr-cli".to_owned(),
            version: None,
            capabilities: HostCapabilities::default(),
        },
        model: None,
        context_window: None,
        context_window_assumed: false,
        compacts_above_tokens: None,
        baseline_tokens: 0,
        session_source: None,
        transcript: None,
        began_at_ms: None,
        running_turn: None,
    }
}

/// Runs `work` on one thread: finds it, opens it, and stops the sidecar afterwards.
pub(super) async fn on_thread(
    common: &CommonOptions,
    wanted: &str,
    work: impl AsyncFnOnce(&mut ThreadReader, &ThreadGetResult) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some(mut looker) = ThreadReader::start(common).await? else {
        bail!("{}", no_thread(common)?);
    };
    let done = match looker.find(wanted).await {
        Ok(thread) => work(&mut looker, &thread).await,
        Err(error) => Err(error),
    };
    looker.leave().await;
    done
}

/// Prints a message to stderr. A failure is ignored.
pub(super) fn complain(message: &str) {
    let _ = writeln!(anstream::stderr(), "rawr: {}", sanitize_terminal(message));
}

pub(super) fn no_thread(common: &CommonOptions) -> anyhow::Result<String> {
    let home = common.home()?.dir;
    Ok(format!(
        "there are no threads in {} yet; start one with `rawr exec --host codex \"…\"`, or try `rawr demo`",
        home.display()
    ))
}

/// For which thread a request was recorded, and when it takes effect. Where it does not run, another may be meant.
pub(super) fn saved_for(thread: &ThreadSummary, all: &[ThreadSummary]) -> String {
    let name = thread_name(thread);
    let saved = format!("Saved for thread {name}. {}", takes_effect(thread.owner.as_deref()));
    let runs = |other: &&ThreadSummary| other.owner.is_some() && other.sub_agent.is_none();
    match all.iter().find(runs).filter(|_| thread.owner.is_none()) {
        Some(other) => format!("{saved} Thread {} runs now.", thread_name(other)),
        None => saved,
    }
}

/// When a recorded request takes effect.
pub(super) fn takes_effect(owner: Option<&str>) -> String {
    match owner {
        Some(owner) => format!("The session that runs this thread ({owner}) applies it now."),
        None => "Takes effect when the thread next runs.".to_owned(),
    }
}

/// Prints a result as text or JSON.
pub(super) fn print_result(
    as_json: bool,
    event: &str,
    body: &impl Serialize,
    lines: &[String],
) -> anyhow::Result<()> {
    if as_json {
        return Ok(event_line(&mut std::io::stdout(), event, body)?);
    }
    let mut out = anstream::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A JSON object about a thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfThread<'t, T> {
    pub thread_id: &'t str,
    #[serde(flatten)]
    pub body: T,
    /// The session that acts on it; absent if the thread does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<&'t str>,
}

/// Resolves a thread name: an id, the beginning or the end of one, or `last`.
pub(super) fn which<'t>(
    wanted: &str,
    threads: &'t [ThreadSummary],
) -> anyhow::Result<&'t ThreadSummary> {
    let threads = nearest_first(threads);
    let ids: Vec<_> = threads.iter().map(|thread| thread.thread_id.as_str()).collect();
    threads.get(pick(wanted, &ids)?).copied().context("there is no thread")
}

/// The threads in the order in which one of them is `last`.
pub(super) fn nearest_first(threads: &[ThreadSummary]) -> Vec<&ThreadSummary> {
    let here = std::env::current_dir().ok();
    let mut threads: Vec<_> = threads.iter().collect();
    threads.sort_by_key(|thread| nearness(thread, here.as_deref()));
    threads
}

/// How far a thread is from being `last`: what runs here, otherwise what ran here last, otherwise the same elsewhere. A thread
/// of a sub-agent comes after all others. Among equals, the most recently used one comes first.
fn nearness(thread: &ThreadSummary, here: Option<&Path>) -> (bool, bool, bool) {
    let works_in = Path::new(&thread.cwd);
    let is_near = |here: &Path| here.starts_with(works_in) || works_in.starts_with(here);
    let is_here = !thread.cwd.is_empty() && here.is_some_and(is_near);
    (thread.sub_agent.is_some(), !is_here, !thread.running)
}

/// A thread that a host has stored.
pub(super) struct StoredThread {
    pub id: String,
    /// Where its agent worked, if rawr has seen it.
    pub cwd: Option<PathBuf>,
    /// Who runs it now.
    pub owner: Option<String>,
}

/// The stored thread of this host that an argument names. A whole id may be of a thread that rawr has not seen.
pub(super) async fn stored_thread(
    common: &CommonOptions,
    wanted: &str,
    host: &str,
) -> anyhow::Result<StoredThread> {
    let unseen = || StoredThread { id: wanted.to_owned(), cwd: None, owner: None };
    let Some(reader) = ThreadReader::start(common).await? else {
        return match is_whole_id(wanted) {
            true => Ok(unseen()),
            false => bail!("{}", no_thread(common)?),
        };
    };
    let is_of_host = |thread: &&ThreadSummary| thread.host.as_deref().is_none_or(|it| it == host);
    let threads: Vec<_> = reader.threads.iter().filter(is_of_host).cloned().collect();
    let found = match which(wanted, &threads) {
        Err(_) if is_whole_id(wanted) => Ok(unseen()),
        found => found.map(|thread| StoredThread {
            id: thread.thread_id.clone(),
            cwd: Some(thread.cwd.clone().into()),
            owner: thread.owner.clone(),
        }),
    };
    reader.leave().await;
    found
}

/// Codex and Claude Code name threads by UUIDs.
fn is_whole_id(name: &str) -> bool {
    name.len() == 36 && name.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-')
}

/// Resolves a name among ids, most recently used first.
pub(super) fn pick(wanted: &str, ids: &[&str]) -> anyhow::Result<usize> {
    match find(wanted, ids) {
        FoundThread::One(at) => Ok(at),
        FoundThread::Nothing if wanted == "last" => Ok(0),
        FoundThread::Several(several) => {
            bail!("`{wanted}` is ambiguous: {}; pass more of the id", listed(&several))
        }
        FoundThread::Nothing => {
            let near = nearest(wanted, ids);
            if near.is_empty() {
                bail!("there is no thread `{wanted}`; `rawr status` lists them");
            }
            bail!("there is no thread `{wanted}`; similar: {}", listed(&near))
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FoundThread<'i> {
    One(usize),
    Several(Vec<&'i str>),
    Nothing,
}

/// Prefers an exact id, then a beginning up to a dash or an end, as lists show it, then any beginning.
pub(super) fn find<'i>(wanted: &str, ids: &[&'i str]) -> FoundThread<'i> {
    let begins = |id: &str| !wanted.is_empty() && id.starts_with(wanted);
    let ends = |id: &str| !wanted.is_empty() && id.ends_with(wanted);
    let is_part = |id: &str| begins(id) && id[wanted.len()..].starts_with('-') || ends(id);
    let rules: [&dyn Fn(&str) -> bool; 3] =
        [&|id: &str| id == wanted, &is_part, &|id: &str| begins(id) || ends(id)];
    for fits in rules {
        let fitting: Vec<_> = (0..).zip(ids).filter(|(_, id)| fits(id)).collect();
        match fitting.as_slice() {
            [] => {}
            [(at, _)] => return FoundThread::One(*at),
            several => return FoundThread::Several(several.iter().map(|(_, id)| **id).collect()),
        }
    }
    FoundThread::Nothing
}

/// The largest number of suggested ids.
const OFFERED: usize = 5;

fn nearest<'i>(wanted: &str, ids: &[&'i str]) -> Vec<&'i str> {
    let differs = |id: &str| match id.contains(wanted) {
        true => 0,
        false => strsim::osa_distance(wanted, id),
    };
    let mut near: Vec<_> = ids.iter().map(|id| (differs(id), *id)).collect();
    near.retain(|(differs, _)| *differs <= wanted.chars().count() / 2);
    near.sort_by_key(|(differs, _)| *differs);
    near.truncate(OFFERED);
    near.into_iter().map(|(_, id)| id).collect()
}

fn listed(ids: &[&str]) -> String {
    let more = ids.len().saturating_sub(OFFERED);
    let shown = ids.iter().take(OFFERED).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} or {more} others") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_id_is_preferred_to_a_prefix() {
        let ids = ["d1-ab", "d10-ab", "d2-ab", "alpha", "alphabet"];
        let check = |wanted: &str, found: FoundThread<'_>| {
            assert_eq!(find(wanted, &ids), found, "{wanted}")
        };
        check("alpha", FoundThread::One(3));
        check("alphab", FoundThread::One(4));
        check("d1", FoundThread::One(0));
        check("d1-ab", FoundThread::One(0));
        check("d10", FoundThread::One(1));
        check("d", FoundThread::Several(vec!["d1-ab", "d10-ab", "d2-ab"]));
        check("phabet", FoundThread::One(4));
        check("ab", FoundThread::Several(vec!["d1-ab", "d10-ab", "d2-ab"]));
        check("al", FoundThread::Several(vec!["alpha", "alphabet"]));
        // One begins as the other ends.
        let several = |wanted: &str, ids: &[&'static str]| {
            assert_eq!(find(wanted, ids), FoundThread::Several(ids.to_vec()));
        };
        several("35fb", &["35fb-1", "x-35fb"]);
        assert_eq!(find("35fb", &["35fb1", "x-35fb"]), FoundThread::One(1));
        check("x", FoundThread::Nothing);
        check("", FoundThread::Nothing);
    }

    #[test]
    fn last_is_what_runs_here_or_ran_here_last() {
        let thread =
            |id: &str, cwd: &str, owner: Option<&str>, sub_agent: Option<&str>| ThreadSummary {
                thread_id: id.to_owned(),
                cwd: cwd.to_owned(),
                title: None,
                phase: rawr_protocol::Phase::Idle,
                tier: None,
                percent_remaining: None,
                updated_at_ms: 0,
                open: false,
                running: owner.is_some(),
                owner: owner.map(str::to_owned),
                sub_agent: sub_agent.map(str::to_owned),
                breaker: None,
                last_fate: None,
                proposal: None,
                runs_by_hooks: false,
                host: None,
            };
        // The most recently used first.
        let threads = [
            thread("sub", "/code/app", Some("1"), Some("Ohm")),
            thread("once", "/code/app", None, None),
            thread("runs", "/code/app/web", Some("2"), None),
            thread("old", "/code/app", Some("3"), None),
            thread("other", "/code/lib", None, None),
            thread("nowhere", "", None, None),
            thread("elsewhere", "/home/a", Some("4"), None),
        ];
        let check = |here: &str, threads: &[ThreadSummary], found: &str| {
            let mut threads: Vec<_> = threads.iter().collect();
            threads.sort_by_key(|thread| nearness(thread, Some(Path::new(here))));
            assert_eq!(threads[0].thread_id, found, "{here}");
        };
        check("/code/app", &threads, "runs");
        check("/code/app/web/src", &threads, "runs");
        check("/code/app/docs", &threads, "old");
        check("/code/lib", &threads, "other");
        check("/tmp", &threads, "runs");
        check("/code/app", &threads[..2], "once");
        check("/code/app", &threads[..1], "sub");
        assert_eq!(which("sub", &threads).unwrap().thread_id, "sub");
        assert!(which("last", &[]).is_err());
    }

    #[test]
    fn similar_ids_are_suggested() {
        assert_eq!(nearest("beta-2", &["gamma", "my-beta-2", "beta-1"]), ["my-beta-2", "beta-1"]);
        assert!(nearest("zzz", &["gamma", "beta"]).is_empty());
        assert_eq!(listed(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e or 2 others");
    }
}
