//! `rawr hook`: what an agent's hooks call. Whatever goes wrong here, the agent goes on: then nothing is said, and the exit code is 0.

mod input;
mod open;
mod session;
mod transcript;

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};

use self::input::Input;
use self::open::{AwaitedReply, PendingRequest};
use self::transcript::{LastTurn, TranscriptSummary};
use super::user_files::UserFiles;
use super::{Common, now_ms, threads_folder};
use crate::args::{HookArgs, HookHost};
use crate::render::causes;
use rawr_host::host::claude::HOOKS_OFF;
use rawr_host::private_fs::make_folder;

/// Never an error: an agent may take any other exit code for a reason not to end its turn.
pub(super) fn run(common: &Common, args: &HookArgs) -> ExitCode {
    let (off, value) = HOOKS_OFF;
    if std::env::var(off).is_ok_and(|set| set == value) {
        return ExitCode::SUCCESS;
    }
    // What a panic prints would be shown in the agent.
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(|| answer(common, args)));
    let done = done.unwrap_or_else(|_| Err(anyhow::anyhow!("internal error in rawr")));
    if let Err(error) = done {
        log(common, &format!("{} {}: {}", args.host.name(), args.event, causes(&error)));
    }
    ExitCode::SUCCESS
}

impl HookHost {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => rawr_host::host::claude::NAME,
            Self::Codex => rawr_host::host::codex::NAME,
        }
    }
}

/// Longer than any judge; an agent gives its hooks more.
const PATIENCE: Duration = Duration::from_secs(45);

fn answer(common: &Common, args: &HookArgs) -> anyhow::Result<()> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).context("standard input")?;
    let input: Input = serde_json::from_str(&text).context("failed to parse the hook's input")?;
    let open = PendingRequest::of(&common.home()?.dir, &input.session_id)?;
    if !concerns(common, args, &input, &open)? {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        let work = session::go(common, args, &input, &open);
        tokio::time::timeout(PATIENCE, work).await.context("it took too long")?
    });
    runtime.shutdown_background();
    if let Some(answer) = answer? {
        let mut line = serde_json::to_string(&answer)?;
        line.push('\n');
        std::io::stdout().write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Whether there is anything to do. It mostly is not, and the agent waits: no sidecar is started to find that out.
fn concerns(
    common: &Common,
    args: &HookArgs,
    input: &Input,
    open: &PendingRequest,
) -> anyhow::Result<bool> {
    match args.event.as_str() {
        "Stop" if open.is_there() => Ok(true),
        // Somebody else's hook goes on with the turn: it has not ended.
        "Stop" if input.stop_hook_active => Ok(false),
        "Stop" => under_pressure(common, args, input),
        "UserPromptSubmit" => Ok(awaits_compaction(open)),
        // With a packet, all of it is told together when it is over: until then the person may go on instead.
        "PreCompact" => Ok(is_known(common, input, open)? && !awaits_compaction(open)),
        // Whoever ended the agent after a compaction hears of that only now.
        "SessionStart" if input.source.as_deref() == Some("resume") => {
            let waits = matches!(open.read(), Some(AwaitedReply::Compaction));
            Ok(waits && LastTurn::of(args.host, input.transcript()?)?.used.is_none())
        }
        "SessionStart" => {
            Ok(input.source.as_deref() == Some("compact") && is_known(common, input, open)?)
        }
        other => bail!("rawr has no hook for {other}"),
    }
}

/// Something is asked of the agent for a compaction of rawr's, or there already.
fn awaits_compaction(open: &PendingRequest) -> bool {
    matches!(open.read(), Some(AwaitedReply::Answer { .. } | AwaitedReply::Compaction))
}

fn is_known(common: &Common, input: &Input, open: &PendingRequest) -> anyhow::Result<bool> {
    let threads = threads_folder(&common.home()?.dir);
    Ok(open.is_there() || threads.join(&input.session_id).is_dir())
}

fn under_pressure(common: &Common, args: &HookArgs, input: &Input) -> anyhow::Result<bool> {
    let said = input.last_assistant_message.as_deref();
    let Some(summary) = TranscriptSummary::at_end(args, input.transcript()?, said)? else {
        return Ok(false);
    };
    let (cwd, model) = (Path::new(&input.cwd), input.model.as_deref().or(summary.model.as_deref()));
    let config = UserFiles::read(&common.home()?, Some(cwd), model).config.effective();
    let value = |key: &str| config.get(key).and_then(|entry| entry.get("value"));
    if value("features.rawr_auto_compaction") != Some(&serde_json::Value::Bool(true)) {
        return Ok(false);
    }
    let threshold = |tier: &str| {
        value(&format!("rawr_auto_compaction.policy.{tier}.percent_remaining_lt"))?.as_u64()
    };
    let highest = ["early", "ready", "asap", "emergency"].into_iter().filter_map(threshold).max();
    Ok(highest.is_some_and(|highest| summary.percent_remaining() < highest))
}

/// One line for each failure, up to a limit: nobody looks here until something seems wrong.
fn log(common: &Common, message: &str) {
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
            file.write_all(format!("{} {line}\n", now_ms()).as_bytes())?;
        }
        Ok(())
    };
    // Where not even this can be written, nothing is left to say it with.
    drop(write());
}
