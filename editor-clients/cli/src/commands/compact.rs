//! `rawr compact`: records a request for a compaction, or the answer to one. The thread's owner acts on it.

use std::process::ExitCode;

use rawr_protocol::Choice;

use super::CommonOptions;
use super::respond::{UserResponse, respond};
use super::threads::on_thread;
use crate::args::CompactArgs;
use crate::render;

pub(super) async fn run(common: &CommonOptions, args: CompactArgs) -> anyhow::Result<ExitCode> {
    let choice = match (args.approve, args.cancel) {
        (true, _) => Choice::Approve,
        (_, true) => Choice::Cancel,
        (false, false) => Choice::CompactNow,
    };
    let wish = UserResponse { choice, until: None, said: render::recorded(choice, None) };
    on_thread(common, &args.thread.id, async |looker, thread| {
        respond(looker, thread, &wish, args.output.json).await
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
