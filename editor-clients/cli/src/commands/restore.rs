//! `rawr restore`: restores the state before a compaction in a new thread of the same host. The old thread and the user's files
//! are not changed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_protocol::{
    Capsule, CapsuleGetParams, CapsuleGetResult, CapsuleListParams, CapsuleSummary, WorkTree,
    methods,
};
use serde::Serialize;

use super::common::{CommonOptions, local_now, overrides};
use super::exec::{ExecSession, codex_settings, folder};
use super::threads::{FoundThread, ThreadReader, find, nearest_first, no_thread, print_result};
use crate::args::RestoreArgs;
use crate::render::{self, Renderer};
use rawr_host::drive::PromptQueue;
use rawr_host::host::codex::{
    self, Codex, CodexSettings, RestorePoint, RestoreTarget, RestoredThread,
};
use rawr_host::host::{AgentHost, claude, embedded};

pub(super) async fn run(common: &CommonOptions, args: RestoreArgs) -> anyhow::Result<ExitCode> {
    let got = look_up(common, &args).await?;
    let capsule = &got.capsule;
    let way = way(&got);
    let (then, now) = (capsule.work_tree.as_ref(), got.work_tree_now.as_ref());
    let digits = if args.output.json { usize::MAX } else { SHORT_HASH };
    let differences = differences(then, now, digits);
    let (possible, obstacle) = (way.as_ref().ok().copied(), way.as_ref().err().cloned());
    if args.dry_run || possible.is_some() {
        let plan = RestorePlan {
            capsule,
            way: possible,
            obstacle: obstacle.as_deref(),
            differences: &differences,
            dry_run: args.dry_run,
        };
        let shown = way.as_deref().map_err(String::as_str);
        let lines = render::restoring(capsule, shown, &differences, &local_now());
        print_result(args.output.json, "restoring", &plan, &lines)?;
    }
    if args.dry_run {
        return Ok(if obstacle.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if let Some(obstacle) = obstacle {
        bail!(obstacle);
    }
    let cwd = folder(Some(args.cd.as_deref().unwrap_or(Path::new(&capsule.cwd))))
        .context("failed to open the thread's working folder")?;
    match capsule.host.name.as_str() {
        codex::NAME => on_codex(common, &args, capsule, cwd).await,
        _ => on_embedded(common, &args, &got, cwd).await,
    }
}

/// The planned restore, for output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestorePlan<'p> {
    #[serde(flatten)]
    capsule: &'p Capsule,
    /// Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    way: Option<&'static str>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<&'p str>,
    differences: &'p [String],
    dry_run: bool,
}

/// The method to try first, chosen by the capsule's content, or why there is none.
fn way(got: &CapsuleGetResult) -> Result<&'static str, String> {
    let Capsule { host, summary, packet, last_turn_id, .. } = &got.capsule;
    match host.name.as_str() {
        codex::NAME if last_turn_id.is_some() => Ok("fork"),
        codex::NAME if packet.is_some() => Ok("message"),
        codex::NAME => Err("this thread has no saved state to restore".to_owned()),
        embedded::NAME if summary.has_history => Ok("history"),
        embedded::NAME => Err("this capsule does not contain the agent's history".to_owned()),
        other => {
            let (name, instead) = match other {
                claude::NAME => ("Claude Code", "go back with `/rewind` in Claude Code, or see"),
                other => (other, "see"),
            };
            let CapsuleSummary { capsule_id, thread_id, .. } = summary;
            Err(format!(
                "rawr cannot restore threads of {name}; {instead} what is saved with `rawr restore {capsule_id} {thread_id} --json --dry-run`"
            ))
        }
    }
}

/// Loads the requested capsule.
async fn look_up(common: &CommonOptions, args: &RestoreArgs) -> anyhow::Result<CapsuleGetResult> {
    let Some(mut looker) = ThreadReader::start(common).await? else {
        bail!("{}", no_thread(common)?);
    };
    let got = get(&mut looker, args).await;
    looker.leave().await;
    got
}

async fn get(looker: &mut ThreadReader, args: &RestoreArgs) -> anyhow::Result<CapsuleGetResult> {
    let CapsuleSummary { capsule_id, thread_id, has_history, .. } = named(looker, args).await?;
    let with_history = has_history && !args.dry_run;
    let params = CapsuleGetParams { thread_id, capsule_id, with_history };
    Ok(looker.call::<methods::CapsuleGet>(params).await?)
}

/// Finds the capsule in the named thread, or in the first thread that has it, in the order of `last`.
async fn named(looker: &mut ThreadReader, args: &RestoreArgs) -> anyhow::Result<CapsuleSummary> {
    let wanted = args.capsule.as_str();
    if let Some(thread) = &args.thread {
        let thread_id = looker.find(thread).await?.thread.thread_id;
        return one_of(wanted, list(looker, &thread_id).await?)?.with_context(|| {
            format!("thread {thread_id} has no capsule `{wanted}`; list its capsules with `rawr capsules {thread_id}`")
        });
    }
    let threads: Vec<_> = nearest_first(&looker.threads).into_iter().cloned().collect();
    for thread in threads {
        let thread_id = looker.open(thread).await?.thread.thread_id;
        if let Some(capsule) = one_of(wanted, list(looker, &thread_id).await?)? {
            return Ok(capsule);
        }
    }
    bail!("no capsule `{wanted}`; list a thread's capsules with `rawr capsules THREAD`")
}

async fn list(looker: &mut ThreadReader, thread_id: &str) -> anyhow::Result<Vec<CapsuleSummary>> {
    let params = CapsuleListParams { thread_id: thread_id.to_owned() };
    Ok(looker.call::<methods::CapsuleList>(params).await?.capsules)
}

fn one_of(
    wanted: &str,
    mut capsules: Vec<CapsuleSummary>,
) -> anyhow::Result<Option<CapsuleSummary>> {
    let ids: Vec<_> = capsules.iter().map(|capsule| capsule.capsule_id.as_str()).collect();
    match find(wanted, &ids) {
        FoundThread::One(at) => Ok(Some(capsules.swap_remove(at))),
        FoundThread::Nothing if wanted == "last" && !capsules.is_empty() => {
            Ok(Some(capsules.swap_remove(0)))
        }
        FoundThread::Nothing => Ok(None),
        FoundThread::Several(several) => bail!("`{wanted}` is ambiguous: {}", several.join(", ")),
    }
}

/// Describes how the user's files differ from their state in the capsule. rawr does not change them. Commits have
/// at most this many digits.
fn differences(then: Option<&WorkTree>, now: Option<&WorkTree>, digits: usize) -> Vec<String> {
    let (Some(then), Some(now)) = (then, now) else {
        return match (then, now) {
            (Some(_), None) => vec!["the current state of your files is unknown".to_owned()],
            (None, Some(now)) if now.dirty > 0 => vec![changed(now, NOW)],
            _ => Vec::new(),
        };
    };
    let differs = |then: &Option<String>, now: &Option<String>, what: &str| {
        let name = |name: &Option<String>| name.as_deref().unwrap_or("none").to_owned();
        (then != now).then(|| format!("{what} was {}, it is {} now", name(then), name(now)))
    };
    let mut lines: Vec<_> = differs(&then.branch, &now.branch, "the branch").into_iter().collect();
    let short = |hash: &Option<String>| Some(hash.as_ref()?.chars().take(digits).collect());
    if then.head != now.head {
        lines.extend(differs(&short(&then.head), &short(&now.head), "the commit"));
    }
    if then.dirty > 0 && (then.dirty, &then.files) != (now.dirty, &now.files) {
        lines.push(changed(then, THEN));
    }
    if now.dirty > 0 {
        lines.push(changed(now, NOW));
    }
    lines
}

/// The digits of a commit for people.
const SHORT_HASH: usize = 12;

const NOW: [&str; 2] = ["is changed now", "are changed now"];
const THEN: [&str; 2] =
    ["was changed then, and is not kept", "were changed then, and are not kept"];

/// Lists files, with a verb for one file and one for several.
fn changed(tree: &WorkTree, [one, many]: [&str; 2]) -> String {
    let files = tree.files.join(", ");
    match tree.dirty {
        1 => format!("1 file {one}: {files}"),
        dirty => format!("{dirty} files {many}: {files}"),
    }
}

/// The restored thread, for output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestoreResult<'o> {
    thread_id: &'o str,
    way: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'o Path>,
    /// Why better methods failed.
    tried: &'o [String],
}

async fn on_codex(
    common: &CommonOptions,
    args: &RestoreArgs,
    capsule: &Capsule,
    cwd: PathBuf,
) -> anyhow::Result<ExitCode> {
    let settings = codex_settings(&args.agent, cwd)?;
    let point = RestorePoint {
        thread_id: capsule.summary.thread_id.clone(),
        transcript: capsule.transcript.as_ref().map(|transcript| transcript.path.clone().into()),
        last_turn_id: capsule.last_turn_id.clone(),
        message: capsule.packet.as_ref().map(|packet| first_message(&packet.text)),
    };
    if args.prompts.is_empty() {
        let restored = restore(&settings, &point, RestoreTarget::Leave, args.output.json).await?;
        restored.codex.leave().await;
        return Ok(ExitCode::SUCCESS);
    }
    let session = session(common, args, capsule)?;
    session
        .on_codex(async |own_compaction| {
            let settings = CodexSettings { own_compaction, ..settings };
            Ok(restore(&settings, &point, RestoreTarget::Work, args.output.json).await?.codex)
        })
        .await
}

async fn restore(
    settings: &CodexSettings,
    point: &RestorePoint,
    then: RestoreTarget,
    as_json: bool,
) -> anyhow::Result<RestoredThread> {
    let restored = Codex::restore(settings, point, then).await?;
    let thread = restored.codex.thread();
    let (way, tried) = (restored.way, restored.tried.as_slice());
    let opened = RestoreResult {
        thread_id: &thread.thread_id,
        way: way.name(),
        transcript: thread.transcript.as_deref(),
        tried,
    };
    print_result(as_json, "restored", &opened, &render::restored(&thread.thread_id, way, tried))?;
    Ok(restored)
}

/// Starts a new conversation with the packet if the old one cannot be opened.
fn first_message(packet: &str) -> String {
    format!(
        "[rawr] This continues an earlier conversation that cannot be opened any more. These are the notes that its \
         agent wrote for you. Wait for the user before you go on.\n\n{packet}"
    )
}

async fn on_embedded(
    common: &CommonOptions,
    args: &RestoreArgs,
    got: &CapsuleGetResult,
    cwd: PathBuf,
) -> anyhow::Result<ExitCode> {
    let mut session = session(common, args, &got.capsule)?;
    if session.prompts.is_empty().await {
        bail!("the embedded agent ends with this command; pass its task with --prompt");
    }
    session.on_embedded(&args.agent, cwd, Some(got.history.clone())).await
}

fn session(
    common: &CommonOptions,
    args: &RestoreArgs,
    capsule: &Capsule,
) -> anyhow::Result<ExecSession> {
    let prompts = match args.prompts.is_empty() {
        true => PromptQueue::from_stdin().context("failed to read stdin")?,
        false => PromptQueue::known(args.prompts.iter().cloned()),
    };
    Ok(ExecSession {
        settings: common.sidecar(overrides(&args.agent.config)?)?,
        prompts,
        directives: capsule.directives.clone(),
        renderer: Renderer::stdout(common.format(args.output.json)),
        home: common.home()?.dir,
        named_home: common.home.clone(),
    })
}
