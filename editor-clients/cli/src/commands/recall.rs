//! `rawr recall`: searches conversations, including text from before compactions. Changes nothing.

use std::process::ExitCode;

use rawr_protocol::{RecallSearchParams, RecallSearchResult, methods};
use serde::Serialize;

use super::common::{CommonOptions, now_ms};
use super::threads::{ThreadReader, complain, no_thread, print_result};
use crate::args::RecallArgs;
use crate::render;

pub(super) async fn run(common: &CommonOptions, args: RecallArgs) -> anyhow::Result<ExitCode> {
    let Some(mut looker) = ThreadReader::start(common).await? else {
        anyhow::bail!("{}", no_thread(common)?);
    };
    let searched = search(&mut looker, &args).await;
    looker.leave().await;
    let found = searched?;
    show(&found, &args)?;
    Ok(if found.places.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn search(
    looker: &mut ThreadReader,
    args: &RecallArgs,
) -> anyhow::Result<RecallSearchResult> {
    let thread_id = match args.all {
        true => None,
        false => {
            let thread = looker.find(args.thread.as_deref().unwrap_or("last")).await?;
            Some(thread.thread.thread_id)
        }
    };
    let (words, limit) = (args.words.clone(), Some(args.limit));
    let params = RecallSearchParams { words, thread_id, limit };
    Ok(looker.call::<methods::RecallSearch>(params).await?)
}

/// The last line of the JSON output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RecallEnd<'e> {
    places: usize,
    more: u64,
    unread: &'e [rawr_protocol::Unread],
}

fn show(found: &RecallSearchResult, args: &RecallArgs) -> anyhow::Result<()> {
    for place in &found.places {
        let lines = render::place(place, &args.words, args.all, now_ms());
        print_result(args.output.json, "place", place, &lines)?;
    }
    if args.output.json {
        let RecallSearchResult { places, more, unread } = found;
        return print_result(
            true,
            "recalled",
            &RecallEnd { places: places.len(), more: *more, unread },
            &[],
        );
    }
    for unread in &found.unread {
        complain(&format!("not searched: {}: {}", unread.file, unread.error));
    }
    match (found.places.len(), found.more) {
        (0, _) if args.all => complain("no matches"),
        (0, _) => complain("no matches in this thread; --all searches all threads"),
        (_, 0) => {}
        (_, more) => complain(&format!("{more} older matches are not shown; --limit shows more")),
    }
    Ok(())
}
