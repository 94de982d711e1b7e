//! `rawr compact`: a person asks for a compaction, or answers one. It only records; the thread's owner acts on it.

use std::process::ExitCode;

use rawr_protocol::Choice;

use super::Common;
use super::threads::on_thread;
use super::wish::{Wish, respond};
use crate::args::CompactArgs;

pub(super) async fn run(common: &Common, args: CompactArgs) -> anyhow::Result<ExitCode> {
    let (choice, said) = match (args.approve, args.cancel) {
        (true, _) => (Choice::Approve, "Approved: the compaction goes on."),
        (_, true) => (Choice::Cancel, "Called off: the history stays as it is."),
        (false, false) => {
            (Choice::CompactNow, "Asked for: a compaction as soon as the agent is idle.")
        }
    };
    let wish = Wish { choice, until: None, said: said.to_owned() };
    on_thread(common, &args.thread, async |looker, thread| {
        respond(looker, thread, &wish, args.json).await
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}
