//! `rawr hook`: called by an agent's hooks. A failure must not stop the agent: it prints nothing and exits with code 0.

mod agent;
mod drive;
mod input;
mod open;
mod transcript;

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};

use self::input::HookInput;
use self::open::{AwaitedReply, PendingRequest};
use self::transcript::{LastTurn, TranscriptSummary};
use super::common::{CommonOptions, now_ms, threads_folder};
use super::user_files::UserFiles;
use crate::args::{HookArgs, HookHost};
use crate::render::causes;
use rawr_host::drive::DriveError;
use rawr_host::host::claude::HOOKS_OFF;
use rawr_host::private_fs::make_folder;
use rawr_host::stop::{INTERRUPTED, StopRequest};
use rawr_protocol::{ErrorCode, read_json};
use serde_json::Value;

/// Always succeeds, because an agent may read another exit code as a request not to end its turn.
pub(super) fn run(common: &CommonOptions, args: &HookArgs) -> ExitCode {
    let (off, value) = HOOKS_OFF;
    if std::env::var(off).is_ok_and(|set| set == value) {
        return ExitCode::SUCCESS;
    }
    // The message of a panic would be shown in the agent.
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(|| answer(common, args)));
    let done = done.unwrap_or_else(|_| Err(anyhow::anyhow!("internal error in rawr")));
    if let Err(error) = done
        && !is_run_elsewhere(&error)
    {
        log(common, args, &causes(&error));
    }
    ExitCode::SUCCESS
}

/// Another rawr runs the session, for example by the plugin.
fn is_run_elsewhere(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<DriveError>() {
        Some(DriveError::Sidecar(refusal)) => refusal.code() == Some(ErrorCode::OwnedElsewhere),
        _ => false,
    }
}

impl HookHost {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => rawr_host::host::claude::NAME,
            Self::Codex => rawr_host::host::codex::NAME,
        }
    }
}

/// Timeout of a hook. Longer than a judgment, shorter than an agent's own timeout.
const PATIENCE: Duration = Duration::from_secs(45);

fn answer(common: &CommonOptions, args: &HookArgs) -> anyhow::Result<()> {
    let mut json = Vec::new();
    std::io::stdin().lock().read_to_end(&mut json).context("standard input")?;
    let input: HookInput = read_json(&json).context("failed to parse the hook's input")?;
    let open = PendingRequest::of(&common.home()?.dir, &input.session_id)?;
    if !concerns(common, args, &input, &open)? {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let driven = runtime.block_on(async {
        let mut stop = StopRequest::on_signals()?;
        let late = stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            late.ask(INTERRUPTED);
        });
        drive::drive(common, args, &input, &open, &mut stop).await
    });
    runtime.shutdown_background();
    let drive::Driven { answer, warnings } = driven?;
    for warning in warnings {
        log(common, args, &warning);
    }
    if let Some(answer) = answer {
        let mut line = serde_json::to_string(&answer)?;
        line.push('\n');
        std::io::stdout().write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Whether the event needs work. Usually it does not, and the agent waits, so no sidecar is started to find that out.
fn concerns(
    common: &CommonOptions,
    args: &HookArgs,
    input: &HookInput,
    open: &PendingRequest,
) -> anyhow::Result<bool> {
    match args.event.as_str() {
        // The user wrote while the agent answered a request. The turn was reported when it was asked.
        "Stop" if input.is_continued() && open.read() == Some(AwaitedReply::TurnsEnd) => {
            open.write(None)?;
            Ok(false)
        }
        "Stop" if open.is_there() => Ok(true),
        // Another hook continues the turn, so it has not ended.
        "Stop" if input.is_continued() => Ok(false),
        "Stop" => under_pressure(common, args, input),
        "UserPromptSubmit" => Ok(awaits_compaction(open)),
        // With a packet, everything is reported after the compaction: until then the user may continue instead.
        "PreCompact" => Ok(is_known(common, input, open)? && !has_packet(open)),
        // If the agent was ended after a compaction, the handoff happens on resume.
        "SessionStart" if input.source.as_deref() == Some("resume") => {
            Ok(has_packet(open) && LastTurn::of(args.host, input.transcript()?)?.used.is_none())
        }
        "SessionStart" => {
            Ok(input.source.as_deref() == Some("compact") && is_known(common, input, open)?)
        }
        other => bail!("rawr has no hook for {other}"),
    }
}

/// Whether a compaction of rawr waits for the agent, or its packet is ready.
fn awaits_compaction(open: &PendingRequest) -> bool {
    matches!(open.read(), Some(AwaitedReply::Answer | AwaitedReply::Compaction))
}

fn has_packet(open: &PendingRequest) -> bool {
    matches!(open.read(), Some(AwaitedReply::Compaction))
}

fn is_known(
    common: &CommonOptions,
    input: &HookInput,
    open: &PendingRequest,
) -> anyhow::Result<bool> {
    let threads = threads_folder(&common.home()?.dir);
    Ok(open.is_there() || threads.join(&input.session_id).is_dir())
}

fn under_pressure(
    common: &CommonOptions,
    args: &HookArgs,
    input: &HookInput,
) -> anyhow::Result<bool> {
    let said = input.last_assistant_message.as_deref();
    let Some(summary) = TranscriptSummary::at_end(args, input.transcript()?, said)? else {
        return Ok(false);
    };
    let (cwd, model) = (Path::new(&input.cwd), input.model.as_deref().or(summary.model.as_deref()));
    let config = UserFiles::read(&common.home()?, Some(cwd), model).config.effective();
    let value = |key: &str| config.get(key).and_then(|entry| entry.get("value"));
    if value("features.rawr_auto_compaction") != Some(&Value::Bool(true)) {
        return Ok(false);
    }
    Ok(["early", "ready", "asap", "emergency"].into_iter().any(|tier| {
        let threshold = |key: &str| {
            value(&format!("rawr_auto_compaction.policy.{tier}.{key}")).and_then(Value::as_u64)
        };
        threshold("percent_remaining_lt").is_some_and(|least| summary.percent_remaining() < least)
            || threshold("tokens_used_gt").is_some_and(|most| summary.context_tokens > most)
    }))
}

/// Logs a failure as one line, in a file with a size limit.
fn log(common: &CommonOptions, args: &HookArgs, message: &str) {
    const LONGEST: u64 = 1 << 20;
    let write = || -> anyhow::Result<()> {
        let folder = common.home()?.dir.join("rawr");
        make_folder(&folder)?;
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(folder.join("hooks.log"))?;
        if file.metadata()?.len() < LONGEST {
            let line = message.replace(char::is_control, " ");
            let (at, host, event) = (now_ms(), args.host.name(), &args.event);
            file.write_all(format!("{at} {host} {event}: {line}\n").as_bytes())?;
        }
        Ok(())
    };
    // A failure to write the log cannot be reported.
    drop(write());
}
