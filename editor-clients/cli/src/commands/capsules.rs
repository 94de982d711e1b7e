//! `rawr capsules`: what was kept before each compaction of a thread. It looks and changes nothing.

use std::process::ExitCode;

use rawr_protocol::{CapsuleListParams, methods};

use super::threads::{complain, on_thread, tell};
use super::{Common, now_ms};
use crate::args::CapsulesArgs;
use crate::render;

pub(super) async fn run(common: &Common, args: CapsulesArgs) -> anyhow::Result<ExitCode> {
    let wanted = args.thread.as_deref().unwrap_or("last");
    on_thread(common, wanted, async |looker, thread| {
        let thread_id = thread.thread.thread_id.clone();
        let params = CapsuleListParams { thread_id: thread_id.clone() };
        let listed = looker.call::<methods::CapsuleList>(params).await?;
        for capsule in &listed.capsules {
            tell(args.output.json, "capsule", capsule, &[render::capsule_line(capsule, now_ms())])?;
        }
        for unread in &listed.unread {
            complain(&unread.error);
        }
        if listed.capsules.is_empty() && !args.output.json {
            let line = format!("Nothing is kept of thread {thread_id}: it was not compacted yet.");
            tell(false, "", &(), &[line])?;
        }
        Ok(())
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
