//! `rawr pin`: records an instruction that is kept verbatim across every compaction. The thread's owner acts on it.

use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_protocol::{
    Directive, DirectiveClearParams, DirectiveListParams, Signal, SignalReportParams,
    ThreadGetResult, methods,
};
use serde_json::json;

use super::common::{CommonOptions, now_ms};
use super::threads::{OfThread, ThreadReader, on_thread, print_result, saved_for};
use crate::args::PinArgs;
use crate::render;

pub(super) async fn run(common: &CommonOptions, args: PinArgs) -> anyhow::Result<ExitCode> {
    if args.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
        bail!("empty text: pass the instruction to keep");
    }
    on_thread(common, &args.thread.id, async |looker, thread| match (&args.text, &args.remove) {
        (Some(text), _) => pin(looker, thread, text, args.output.json).await,
        (None, Some(id)) => remove(looker, thread, id, args.output.json).await,
        (None, None) => list(looker, thread, args.output.json).await,
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

async fn pin(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    text: &str,
    as_json: bool,
) -> anyhow::Result<()> {
    let (thread_id, owner) = (thread.thread.thread_id.as_str(), thread.thread.owner.as_deref());
    let params = SignalReportParams {
        thread_id: thread_id.to_owned(),
        turn_id: None,
        signal_id: None,
        signal: Signal::Directive { text: text.trim().to_owned(), pinned: true },
    };
    looker.call::<methods::SignalReport>(params).await?;
    // If a secret was redacted, the stored text differs: it is the newest directive.
    let directives = directives(looker, thread_id).await?;
    let same = directives.iter().find(|directive| directive.text == text.trim());
    let pinned = same.or(directives.last()).context("the sidecar did not store the text")?;
    let mut lines = vec![format!(
        "{} is pinned: it is kept verbatim across every compaction.",
        pinned.directive_id
    )];
    if same.is_none() {
        lines.push(format!("A possible secret was redacted: {}", pinned.text));
    }
    lines.push(saved_for(&thread.thread, &looker.threads));
    let body = OfThread { thread_id, body: pinned, owner };
    print_result(as_json, "directive_given", &body, &lines)
}

async fn remove(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    id: &str,
    as_json: bool,
) -> anyhow::Result<()> {
    let (thread_id, owner) = (thread.thread.thread_id.as_str(), thread.thread.owner.as_deref());
    let params =
        DirectiveClearParams { thread_id: thread_id.to_owned(), directive_id: id.to_owned() };
    if !looker.call::<methods::DirectiveClear>(params).await?.cleared {
        bail!(
            "thread {thread_id} has no instruction `{id}`; list its instructions with `rawr pin {thread_id} --list`"
        );
    }
    let lines = [format!("{id} is removed."), saved_for(&thread.thread, &looker.threads)];
    let body = OfThread { thread_id, body: json!({ "directiveId": id, "cleared": true }), owner };
    print_result(as_json, "directive_cleared", &body, &lines)
}

async fn list(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    as_json: bool,
) -> anyhow::Result<()> {
    let thread_id = thread.thread.thread_id.as_str();
    let directives = directives(looker, thread_id).await?;
    for directive in &directives {
        let body = OfThread { thread_id, body: directive, owner: None };
        print_result(as_json, "directive", &body, &render::directive(directive, now_ms()))?;
    }
    if directives.is_empty() && !as_json {
        let line = format!("Thread {thread_id} has no kept instructions.");
        print_result(false, "", &(), &[line])?;
    }
    Ok(())
}

async fn directives(looker: &mut ThreadReader, thread_id: &str) -> anyhow::Result<Vec<Directive>> {
    let params = DirectiveListParams { thread_id: thread_id.to_owned() };
    Ok(looker.call::<methods::DirectiveList>(params).await?.directives)
}
