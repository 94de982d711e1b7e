//! `rawr capsules`: lists the capsules of a thread. Changes nothing.

use std::process::ExitCode;

use rawr_protocol::{CapsuleGetParams, CapsuleListParams, methods};

use super::common::{CommonOptions, local_now};
use super::threads::{complain, on_thread, print_result};
use crate::args::CapsulesArgs;
use crate::render;

pub(super) async fn run(common: &CommonOptions, args: CapsulesArgs) -> anyhow::Result<ExitCode> {
    let wanted = args.thread.as_deref().unwrap_or("last");
    on_thread(common, wanted, async |looker, thread| {
        let thread_id = thread.thread.thread_id.clone();
        let params = CapsuleListParams { thread_id: thread_id.clone() };
        let listed = looker.call::<methods::CapsuleList>(params).await?;
        for capsule in &listed.capsules {
            let mut lines = vec![render::capsule_line(capsule, &local_now())];
            if !args.output.json && capsule.packet_author.is_some() {
                let params = CapsuleGetParams {
                    thread_id: thread_id.clone(),
                    capsule_id: capsule.capsule_id.clone(),
                    with_history: false,
                };
                let got = looker.call::<methods::CapsuleGet>(params).await?;
                let packet = got.capsule.packet.map(|packet| packet.text).unwrap_or_default();
                lines.extend(render::packet_lines(&packet));
            }
            print_result(args.output.json, "capsule", capsule, &lines)?;
        }
        for unread in &listed.unread {
            complain(&unread.error);
        }
        if listed.capsules.is_empty() && !args.output.json {
            let line = format!("Thread {thread_id} has no capsules: it has not been compacted.");
            print_result(false, "", &(), &[line])?;
        }
        Ok(())
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
