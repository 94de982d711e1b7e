//! `rawr mark`: records the end of a phase of work. The thread's owner acts on it.

use std::process::ExitCode;

use anyhow::bail;
use rawr_protocol::{Signal, SignalReportParams, methods};
use serde_json::json;

use super::common::CommonOptions;
use super::threads::{OfThread, on_thread, print_result, saved_for};
use crate::args::MarkArgs;
use crate::render;

pub(super) async fn run(common: &CommonOptions, args: MarkArgs) -> anyhow::Result<ExitCode> {
    let label = args.label.trim();
    if label.is_empty() {
        bail!("empty label: name the phase that ends here");
    }
    on_thread(common, &args.thread.id, async |looker, thread| {
        let (thread_id, owner) = (thread.thread.thread_id.as_str(), thread.thread.owner.as_deref());
        let params = SignalReportParams {
            thread_id: thread_id.to_owned(),
            turn_id: None,
            signal_id: None,
            signal: Signal::PhaseBoundary { label: label.to_owned() },
        };
        let boundaries = looker.call::<methods::SignalReport>(params).await?.boundaries;
        let lines = [render::marked(thread_id, label), saved_for(&thread.thread, &looker.threads)];
        let body = json!({ "label": label, "boundaries": boundaries });
        print_result(args.output.json, "phase_marked", &OfThread { thread_id, body, owner }, &lines)
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
