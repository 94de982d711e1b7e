//! `rawr snooze`: records that compaction is postponed. The thread's owner acts on it.

use std::process::ExitCode;

use rawr_protocol::{Choice, Until};

use super::common::CommonOptions;
use super::respond::{UserResponse, respond};
use super::threads::on_thread;
use crate::args::SnoozeArgs;

pub(super) async fn run(common: &CommonOptions, args: SnoozeArgs) -> anyhow::Result<ExitCode> {
    let until = match args.minutes {
        Some(minutes) => Until::Minutes { minutes: minutes.into() },
        None => Until::Turns { turns: args.turns.unwrap_or(1).into() },
    };
    let wish = UserResponse { choice: Choice::Snooze, until: Some(until) };
    on_thread(common, &args.thread.id, async |looker, thread| {
        respond(looker, thread, &wish, args.output.json).await
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
