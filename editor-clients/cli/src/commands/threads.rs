//! Which thread a person means, and a sidecar that looks at it. What is said of a thread here is only recorded: its owner acts on it.

use std::cmp::Reverse;
use std::io::{ErrorKind, Write};

use anyhow::{Context, bail};
use rawr_protocol::{
    Host, HostCapabilities, MessageType, Request, Role, ThreadGetParams, ThreadGetResult,
    ThreadListParams, ThreadOpenParams, ThreadSummary, methods,
};
use serde::Serialize;
use serde_json::Map;

use super::{Common, threads_folder};
use rawr_host::event::json_line as event_line;
use rawr_host::sidecar::{Launch, Note, Sidecar, SidecarError};
use rawr_host::text::sanitize_terminal;

/// A sidecar that owns no thread, and the threads of its home folder.
pub(super) struct ThreadReader {
    sidecar: Sidecar,
    /// The one used last first.
    pub threads: Vec<ThreadSummary>,
}

impl ThreadReader {
    /// Returns `None` if there is no thread yet. In that case no sidecar is started and no file is created.
    pub(super) async fn start(common: &Common) -> anyhow::Result<Option<Self>> {
        let folder = threads_folder(&common.home()?.dir);
        match std::fs::read_dir(&folder) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("{} cannot be read", folder.display()));
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

    /// The thread that is meant, open to look on.
    pub(super) async fn find(&mut self, wanted: &str) -> anyhow::Result<ThreadGetResult> {
        let thread = which(wanted, &self.threads)?.clone();
        Ok(self.open(thread).await?)
    }

    /// Opens a thread to look on.
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

    /// Ends the sidecar, and passes on what it found wrong.
    pub(super) async fn leave(mut self) {
        for note in self.sidecar.notes() {
            if let Note::Log(said) = note
                && matches!(said.level, MessageType::Error | MessageType::Warning)
            {
                complain(&said.message);
            }
        }
        self.sidecar.stop().await;
    }
}

/// How a thread is opened that somebody else runs.
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
        baseline_tokens: 0,
        session_source: None,
        transcript: None,
        running_turn: None,
    }
}

/// Work on one thread, from its name to the end of the sidecar.
pub(super) async fn on_thread(
    common: &Common,
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

/// Where nobody reads errors there is nobody to tell.
pub(super) fn complain(message: &str) {
    let _ = writeln!(anstream::stderr(), "rawr: {}", sanitize_terminal(message));
}

pub(super) fn no_thread(common: &Common) -> anyhow::Result<String> {
    let home = common.home()?.dir;
    Ok(format!(
        "no thread is known in {} yet: `rawr exec --host codex \"…\"` begins one, `rawr demo` shows what would be seen",
        home.display()
    ))
}

/// When a word that was recorded takes effect.
pub(super) fn takes_effect(owner: Option<&str>) -> String {
    match owner {
        Some(owner) => {
            format!("Recorded; the session that runs this thread ({owner}) takes it up now.")
        }
        None => "Saved. Takes effect when the thread next runs.".to_owned(),
    }
}

/// What was done, for a person or a program.
pub(super) fn tell(
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

/// What is said of a thread, under its name.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfThread<'t, T> {
    pub thread_id: &'t str,
    #[serde(flatten)]
    pub body: T,
    /// Who is to act on it; absent where nobody runs the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<&'t str>,
}

/// A name as people write it: whole, cut short, or `last`.
pub(super) fn which<'t>(
    wanted: &str,
    threads: &'t [ThreadSummary],
) -> anyhow::Result<&'t ThreadSummary> {
    let mut threads: Vec<_> = threads.iter().collect();
    // What a sub-agent did last is not what a person means by `last`.
    threads.sort_by_key(|thread| thread.sub_agent.is_some());
    let ids: Vec<_> = threads.iter().map(|thread| thread.thread_id.as_str()).collect();
    threads.get(pick(wanted, &ids)?).copied().context("there is no thread")
}

/// The same among names, the one used last first.
pub(super) fn pick(wanted: &str, ids: &[&str]) -> anyhow::Result<usize> {
    match find(wanted, ids) {
        FoundThread::One(at) => Ok(at),
        FoundThread::Nothing if wanted == "last" => Ok(0),
        FoundThread::Several(several) => {
            bail!("`{wanted}` may be {}: give more of the name", listed(&several))
        }
        FoundThread::Nothing => {
            let near = nearest(wanted, ids);
            bail!("there is no thread `{wanted}`; near it: {}", listed(&near))
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FoundThread<'i> {
    One(usize),
    Several(Vec<&'i str>),
    Nothing,
}

/// The whole name goes before its beginning, and a beginning that ends at a dash before one that does not.
pub(super) fn find<'i>(wanted: &str, ids: &[&'i str]) -> FoundThread<'i> {
    let begins = |id: &str| !wanted.is_empty() && id.starts_with(wanted);
    let ends_at_dash = |id: &str| begins(id) && id[wanted.len()..].starts_with('-');
    for fits in [&|id: &str| id == wanted, &ends_at_dash, &begins] as [&dyn Fn(&str) -> bool; 3] {
        let fitting: Vec<_> = (0..).zip(ids).filter(|(_, id)| fits(id)).collect();
        match fitting.as_slice() {
            [] => {}
            [(at, _)] => return FoundThread::One(*at),
            several => return FoundThread::Several(several.iter().map(|(_, id)| **id).collect()),
        }
    }
    FoundThread::Nothing
}

/// How many names are worth offering.
const OFFERED: usize = 5;

fn nearest<'i>(wanted: &str, ids: &[&'i str]) -> Vec<&'i str> {
    let mut near = ids.to_vec();
    near.sort_by_key(|id| (!id.contains(wanted), strsim::osa_distance(wanted, id)));
    near.truncate(OFFERED);
    near
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
    fn names_are_found_whole_before_by_their_beginning() {
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
        check("x", FoundThread::Nothing);
        check("", FoundThread::Nothing);
    }

    #[test]
    fn the_last_thread_is_a_persons_where_there_is_one() {
        let thread = |id: &str, sub_agent: Option<&str>| ThreadSummary {
            thread_id: id.to_owned(),
            cwd: String::new(),
            phase: rawr_protocol::Phase::Idle,
            tier: None,
            percent_remaining: None,
            updated_at_ms: 0,
            open: false,
            owner: None,
            sub_agent: sub_agent.map(str::to_owned),
            breaker: None,
            last_fate: None,
            runs_by_hooks: false,
        };
        let threads = [thread("a", Some("Ohm")), thread("b", None), thread("c", None)];
        let check = |wanted: &str, threads: &[ThreadSummary], found: &str| {
            assert_eq!(which(wanted, threads).unwrap().thread_id, found);
        };
        check("last", &threads, "b");
        check("a", &threads, "a");
        check("last", &threads[..1], "a");
        assert!(which("last", &[]).is_err());
    }

    #[test]
    fn what_is_near_is_offered() {
        assert_eq!(
            nearest("beta-2", &["gamma", "my-beta-2", "beta-1"]),
            ["my-beta-2", "beta-1", "gamma"]
        );
        assert_eq!(listed(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e or 2 others");
    }
}
