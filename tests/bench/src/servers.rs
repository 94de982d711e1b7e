//! The servers under test: how each is started and prepared, and how its answers are checked.

use std::{
    env,
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{
    frame::{self, RequestFrame},
    home::{BenchHome, THREAD},
    link::{Dialect, LaunchCommand, Link},
    node,
};

const TURN: &str = "turn-1";
/// So large that no tier is ever reached: the bench measures recording, not deciding.
const CONTEXT_WINDOW: u64 = 100_000_000;
const TEXT: &str = "The arbiter decides when the context is compacted. It waits for a boundary, asks for a packet \
    while the agent still knows what it is doing, compacts, and hands the packet back with the next step.";

/// How a server answers requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    SameBytes,
    SameParams,
    /// One observation is appended to the thread's log before the answer.
    Recorded,
    /// The tokens of a text; nothing is appended.
    Counted,
}

#[derive(Debug, Clone)]
pub struct Subject {
    pub name: &'static str,
    pub answers: Answers,
    launch: LaunchCommand,
}

/// The servers that can be measured here, and why others cannot.
#[derive(Debug, Default)]
pub struct Roster {
    pub present: Vec<Subject>,
    pub absent: Vec<(&'static str, String)>,
}

impl Roster {
    /// Everyone whose name is in `only`, or all when it is empty. `rawr` names every row of rawr.
    pub fn call(only: &[String], rawr: Option<&Path>) -> Self {
        let bare = |program: PathBuf| LaunchCommand { program, args: Vec::new(), env: Vec::new() };
        let peer = |name| sibling(name).map(bare);
        let serve = || {
            let program = rawr.map(Path::to_path_buf).map_or_else(|| sibling("rawr"), existing)?;
            Ok(LaunchCommand { program, args: vec!["serve".into()], env: Vec::new() })
        };
        type Start<'a> = &'a dyn Fn() -> Result<LaunchCommand, String>;
        let everyone: [(_, _, Start<'_>); 7] = [
            ("cat", Answers::SameBytes, &|| Ok(bare("cat".into()))),
            ("copy", Answers::SameBytes, &|| peer("peer-copy")),
            ("lsp-server", Answers::SameParams, &|| peer("peer-lsp-server")),
            ("jsonrpsee", Answers::SameParams, &|| peer("peer-jsonrpsee")),
            ("vscode-jsonrpc", Answers::SameParams, &node::vscode_jsonrpc),
            ("rawr-usage", Answers::Recorded, &serve),
            ("rawr-count", Answers::Counted, &serve),
        ];
        let mut roster = Self::default();
        for (name, answers, start) in everyone {
            let wanted = |only: &String| name == only || name.split('-').next() == Some(only);
            if !only.is_empty() && !only.iter().any(wanted) {
                continue;
            }
            match start() {
                Ok(launch) => roster.present.push(Subject { name, answers, launch }),
                Err(reason) => roster.absent.push((name, reason)),
            }
        }
        roster
    }
}

/// An echo server that appends and syncs this many bytes before it answers, on its only thread or apart from it.
pub fn synced_echo(home: &BenchHome, bytes: usize, apart: bool) -> Result<Link> {
    let program = sibling("peer-jsonrpsee").map_err(anyhow::Error::msg)?;
    let file = home.path().join(if apart { "apart.jsonl" } else { "echo.jsonl" });
    let mut args = vec![file.into(), bytes.to_string().into()];
    args.extend(apart.then(|| "apart".into()));
    let mut link =
        Link::start(&LaunchCommand { program, args, env: Vec::new() }, Dialect::JsonRpc)?;
    link.call(1, "initialize", json!({}))?;
    Ok(link)
}

/// A program that was built together with this one.
fn sibling(name: &str) -> Result<PathBuf, String> {
    let here = env::current_exe().map_err(|error| error.to_string())?;
    existing(here.with_file_name(name))
}

fn existing(program: PathBuf) -> Result<PathBuf, String> {
    if program.is_file() {
        return Ok(program);
    }
    let name = program.file_name().unwrap_or_default().display();
    Err(format!("{} is not there: build {name} in the same profile, or name it", program.display()))
}

impl Subject {
    pub fn is_rawr(&self) -> bool {
        matches!(self.answers, Answers::Recorded | Answers::Counted)
    }

    pub fn program(&self) -> &Path {
        &self.launch.program
    }

    /// Runs a server until it has seen the end of its input.
    pub fn empty_run(&self) -> Result<()> {
        let mut command = Command::new(&self.launch.program);
        let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).output()?;
        ensure!(output.status.success(), "{} failed", self.name);
        Ok(())
    }

    /// Runs rawr as the hook of an agent that has nothing to do: it is `Stop` in a turn that goes on.
    pub fn idle_hook(&self, home: &BenchHome) -> Result<()> {
        let mut hook = Command::new(&self.launch.program)
            .args(["hook", "Stop", "--host", "claude"])
            .env("RAWR_HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = json!({
            "session_id": "hooked", "transcript_path": "/nowhere", "cwd": env::temp_dir(),
            "hook_event_name": "Stop", "stop_hook_active": true,
        });
        hook.stdin.take().context("no pipe")?.write_all(input.to_string().as_bytes())?;
        let output = hook.wait_with_output()?;
        ensure!(
            output.status.success() && output.stdout.is_empty(),
            "the hook had something to do"
        );
        Ok(())
    }

    /// Starts the server and waits for the answer to `initialize`.
    pub fn start(&self, home: Option<&BenchHome>) -> Result<Link> {
        let mut launch = self.launch.clone();
        launch.env.extend(home.map(|home| ("RAWR_HOME", home.path().into())));
        let params = json!({
            "processId": process::id(),
            "clientInfo": {"name": "rawr-bench"},
            "capabilities": {},
        });
        if self.answers == Answers::SameBytes {
            let mut link = Link::start(&launch, Dialect::Bytes)?;
            let request =
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            link.send(&frame::message(&request))?;
            link.reply()?;
            return Ok(link);
        }
        let mut link = Link::start(&launch, Dialect::JsonRpc)?;
        link.call(1, "initialize", params)?;
        Ok(link)
    }

    /// Another client's sidecar on a home, subscribed to what happens in it. All its messages count as replies.
    pub fn watcher(&self, home: &BenchHome) -> Result<Link> {
        let mut link = self.listening(home)?;
        link.call(2, "rawr/thread/watch", json!({}))?;
        Ok(link)
    }

    /// A sidecar of rawr's whose notifications count as replies, too.
    pub fn listening(&self, home: &BenchHome) -> Result<Link> {
        let mut launch = self.launch.clone();
        launch.env.push(("RAWR_HOME", home.path().into()));
        let mut link = Link::start(&launch, Dialect::Bytes)?;
        link.call(1, "initialize", json!({"capabilities": {}}))?;
        Ok(link)
    }

    /// This subject, started with more in its environment.
    pub fn with(&self, environment: impl IntoIterator<Item = (&'static str, OsString)>) -> Self {
        let mut subject = self.clone();
        subject.launch.env.extend(environment);
        subject
    }

    /// A server that is ready for requests, in a new home.
    pub fn open(&self) -> Result<ServerSession> {
        let home = if self.is_rawr() { Some(BenchHome::new()?) } else { None };
        let mut link = self.start(home.as_ref())?;
        if self.answers != Answers::SameBytes {
            link.notify("initialized", json!({}))?;
        }
        if self.is_rawr() {
            open_thread(&mut link)?;
        }
        let request = match self.answers {
            Answers::Counted => RequestFrame::new("rawr/tokens/count", json!({"text": TEXT})),
            // The peers get what rawr gets, byte for byte.
            _ => RequestFrame::new(
                "rawr/turn/usage",
                json!({"threadId": THREAD, "turnId": TURN, "usage": {"contextTokens": 0}}),
            ),
        };
        Ok(ServerSession { link, request, answers: self.answers, home, sent: 0 })
    }
}

fn open_thread(link: &mut Link) -> Result<()> {
    open_named(link, 2, THREAD)
}

/// Opens a thread under `id` and begins a turn in it under the id that follows.
pub fn open_named(link: &mut Link, id: u64, thread: &str) -> Result<()> {
    let capabilities = json!({
        "injectTurn": false, "steer": false, "sample": false, "queue": false, "compact": false,
        "midTurnCompact": false, "injectItems": false, "judge": false,
    });
    let params = json!({
        "threadId": thread,
        "cwd": env::temp_dir(),
        "role": "owner",
        "host": {"name": "bench", "capabilities": capabilities},
        "contextWindow": CONTEXT_WINDOW,
    });
    link.call(id, "rawr/thread/open", params)?;
    let params = json!({"threadId": thread, "turnId": TURN, "origin": "user", "text": "go on"});
    link.call(id + 1, "rawr/turn/started", params).map(drop)
}

/// Reports usage of the turn that runs.
pub fn use_tokens(link: &mut Link, id: u64, thread: &str, context: u64) -> Result<()> {
    let params = json!({"threadId": thread, "turnId": TURN, "usage": {"contextTokens": context}});
    link.call(id, "rawr/turn/usage", params).map(drop)
}

/// Tells the sidecar that a user's turn runs.
pub fn start_turn(link: &mut Link, id: u64, turn: &str) -> Result<()> {
    let params = json!({"threadId": THREAD, "turnId": turn, "origin": "user", "text": "go on"});
    link.call(id, "rawr/turn/started", params).map(drop)
}

/// One running server, made ready.
pub struct ServerSession {
    // Before `home`: the process ends before its files are removed.
    pub link: Link,
    pub request: RequestFrame,
    answers: Answers,
    pub home: Option<BenchHome>,
    /// How many requests the server got so far; the next one's number.
    pub sent: u64,
}

impl ServerSession {
    /// The request that a reply answers, after checking the answer.
    pub fn check(&self, reply: &[u8]) -> Result<u64> {
        let reply: Value = serde_json::from_slice(reply).context("a reply is no JSON")?;
        let id = reply["id"].as_u64().with_context(|| format!("a reply without id: {reply}"))?;
        let n = RequestFrame::number_of(id)
            .with_context(|| format!("an id that was never sent: {id}"))?;
        if let Some(error) = reply.get("error") {
            bail!("request {n} got an error: {error}");
        }
        let result = &reply["result"];
        let sane = match self.answers {
            Answers::SameBytes => reply["params"] == self.request.params_of(n),
            Answers::SameParams => *result == self.request.params_of(n),
            Answers::Recorded => result.is_object(),
            Answers::Counted => result["tokens"].as_u64().is_some_and(plausible),
        };
        ensure!(sane, "request {n} got a reply that does not fit: {reply}");
        Ok(n)
    }

    /// The lines that the server's log must have grown by when it recorded `requests`.
    pub fn lines_owed(&self, requests: u64) -> u64 {
        if self.answers == Answers::Recorded { requests } else { 0 }
    }
}

/// English prose has three to seven bytes a token.
fn plausible(tokens: u64) -> bool {
    let length = TEXT.len() as u64;
    (length / 7..=length / 3).contains(&tokens)
}
