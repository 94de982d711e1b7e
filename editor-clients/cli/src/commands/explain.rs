//! `rawr explain`: shows why a compaction happened, or why none did. Changes nothing.

use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_protocol::{
    ConfigGetParams, Decision, DecisionListParams, ThreadGetResult, ThreadSummary, methods,
};
use serde_json::Value;

use super::common::{CommonOptions, local_now};
use super::threads::{FoundThread, OfThread, ThreadReader, find, on_thread, print_result};
use crate::args::ExplainArgs;
use crate::render;

pub(super) async fn run(common: &CommonOptions, args: ExplainArgs) -> anyhow::Result<ExitCode> {
    on_thread(common, &args.thread.id, async |looker, thread| explain(looker, thread, &args).await)
        .await?;
    Ok(ExitCode::SUCCESS)
}

async fn explain(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    args: &ExplainArgs,
) -> anyhow::Result<()> {
    let thread_id = thread.thread.thread_id.as_str();
    let params = DecisionListParams { thread_id: thread_id.to_owned(), limit: None, before: None };
    let decisions = looker.call::<methods::DecisionList>(params).await?.decisions;
    let say = |decision: &Decision, lines: &[String]| {
        let body = OfThread { thread_id, body: decision, owner: None };
        print_result(args.output.json, "decision", &body, lines)
    };
    if args.list {
        // The newest first, as all lists.
        for decision in decisions.iter().rev() {
            say(decision, &[render::decision_line(decision, &local_now())])?;
        }
        if decisions.is_empty() {
            return none_yet(looker, &thread.thread, args.output.json).await;
        }
        return Ok(());
    }
    let decision = match &args.decision {
        Some(wanted) => Some(named(wanted, &decisions, thread_id)?),
        None => decisions.last(),
    };
    match decision {
        Some(decision) => say(decision, &render::decision(&thread.thread, decision, &local_now())),
        None => none_yet(looker, &thread.thread, args.output.json).await,
    }
}

fn named<'d>(
    wanted: &str,
    decisions: &'d [Decision],
    thread_id: &str,
) -> anyhow::Result<&'d Decision> {
    let ids: Vec<_> = decisions.iter().map(|decision| decision.decision_id.as_str()).collect();
    match find(wanted, &ids) {
        FoundThread::One(at) => decisions.get(at).context("there is no decision"),
        FoundThread::Several(several) => bail!("`{wanted}` is ambiguous: {}", several.join(", ")),
        FoundThread::Nothing => bail!(
            "thread {thread_id} has no decision `{wanted}`; list its decisions with `rawr explain {thread_id} --list`"
        ),
    }
}

/// Explains why there is no decision yet.
async fn none_yet(
    looker: &mut ThreadReader,
    summary: &ThreadSummary,
    as_json: bool,
) -> anyhow::Result<()> {
    let params = ConfigGetParams { thread_id: Some(summary.thread_id.clone()) };
    let config = looker.call::<methods::ConfigGet>(params).await?.effective;
    let value = |key: &str| config.get(key).and_then(|shown| shown.get("value"));
    let is_off = value("features.rawr_auto_compaction") == Some(&Value::Bool(false));
    let threshold = |tier: &str| {
        value(&format!("rawr_auto_compaction.policy.{tier}.percent_remaining_lt"))?.as_u64()
    };
    let highest = ["early", "ready", "asap", "emergency"].into_iter().filter_map(threshold).max();
    let below = highest.unwrap_or(100);
    let is_built_in = is_off && value("auto_compact.enabled") == Some(&Value::Bool(true));
    let built_in_below = value("auto_compact.threshold_percent").and_then(Value::as_u64);
    let when = match (is_off, summary.percent_remaining, summary.tier) {
        (true, ..) if !is_built_in => {
            "rawr is off here (features.rawr_auto_compaction = false), so none will come".to_owned()
        }
        (_, None, _) => {
            "the host has not reported how full the context is; one comes at the end of a turn after that"
                .to_owned()
        }
        (true, Some(left), _) => {
            let below = built_in_below.unwrap_or_default();
            format!(
                "the built-in compaction decides here (auto_compact.enabled = true), and {left}% of the context is left; decisions are kept at the end of each turn once less than {below}% is left (auto_compact.threshold_percent)"
            )
        }
        (_, Some(left), None) => format!(
            "{left}% of the context is left, which is above every tier; decisions are kept at the end of each turn once less than {below}% is left"
        ),
        (_, Some(left), Some(tier)) => format!(
            "{left}% of the context is left ({tier}); one comes at the end of the turn"
        ),
    };
    let line = format!("No decision is recorded for thread {}: {when}.", summary.thread_id);
    print_result(as_json, "no_decision", summary, &[line])
}
