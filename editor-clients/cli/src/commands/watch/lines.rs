//! The watch for programs: the threads, then whatever is recorded, one JSON object a line. Names and shapes are those of
//! `rawr exec --json` where both say the same.

use std::io::{self, Write};
use std::pin::pin;

use rawr_protocol::ThreadSummary;
use serde::Serialize;
use serde_json::json;

use super::link::{Link, News};
use crate::render::{Reader, Renderer};
use rawr_host::event::{Reporter, SessionEvent, json_line as event_line};
use rawr_host::sidecar::{Note, SidecarError};
use rawr_host::stop::Stop;

/// Prints until somebody interrupts it, nobody reads it, or there is nothing more to hear.
pub(super) async fn print(link: &mut Link, stop: &mut Stop) -> Result<Ended, LinesError> {
    let mut renderer = Renderer::stdout(Reader::Program);
    let mut nobody_reads = pin!(nobody_reads());
    loop {
        let news = tokio::select! {
            () = stop.asked() => return Ok(Ended::Interrupted),
            () = &mut nobody_reads => return Ok(Ended::Unread),
            news = link.next() => news,
        };
        match news {
            Some(News::Lost(error)) => return Err(error.into()),
            Some(news) => line(&mut renderer, &news)?,
            None => return Ok(Ended::Unread),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Interrupted,
    /// A reader that hung up is a normal end.
    Unread,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum LinesError {
    #[error(transparent)]
    Output(#[from] io::Error),
    #[error(transparent)]
    Sidecar(#[from] SidecarError),
}

fn line(renderer: &mut Renderer, news: &News) -> io::Result<()> {
    let note = match news {
        News::Watched(threads) => {
            #[derive(Serialize)]
            struct Snapshot<'s> {
                threads: &'s [ThreadSummary],
            }
            return say("snapshot", &Snapshot { threads });
        }
        News::Restarted(error) => return say("sidecar_restarted", &json!({ "error": error })),
        News::Note(note) => &**note,
        // Answers to wishes, and nobody wishes for anything here.
        News::Listed(_)
        | News::Looked(_)
        | News::NotSeen { .. }
        | News::Done { .. }
        | News::Refused(_)
        | News::Lost(_) => return Ok(()),
    };
    match note {
        Note::ListChanged(changed) => say("thread_list_changed", changed),
        Note::Changed(changed) => renderer.report(&SessionEvent::ThreadChanged(changed)),
        Note::HeadsUp(heads_up) => renderer.report(&SessionEvent::HeadsUp(heads_up)),
        Note::Decided(decided) => renderer.report(&SessionEvent::Verdict(decided)),
        Note::Compaction(update) => renderer.report(&SessionEvent::Compaction(update)),
        Note::Prompt(changed) => renderer.report(&SessionEvent::PromptChanged(changed)),
        Note::Config(changed) => renderer.report(&SessionEvent::ConfigChanged(changed)),
        Note::Log(line) => renderer.report(&SessionEvent::Log(line)),
        Note::Responded(responded) => say("responded", responded),
        Note::JudgeAsked(asked) => say("judgment_requested", asked),
        Note::Judged(judged) => say("judgment_result", judged),
        Note::Garbled { method, error } => {
            say("garbled", &json!({"method": method, "error": error}))
        }
        // Told to owners, and a watcher is none.
        Note::Perform(_) | Note::StoreFailed(_) | Note::StoreRecovered(_) => Ok(()),
    }
}

fn say(event: &str, body: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout();
    event_line(&mut out, event, body)?;
    out.flush()
}

/// Resolves once nobody reads standard output any more: threads may be quiet for hours, and a write would be the first to
/// tell. Never for a file.
async fn nobody_reads() {
    use rustix::event::{PollFd, PollFlags, poll};
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let stdout = io::stdout();
        // Nothing is asked for: what is told in any case is a reader that has gone.
        let mut output = [PollFd::new(&stdout, PollFlags::empty())];
        loop {
            match poll(&mut output, None) {
                Ok(_) => {
                    // Where nobody waits for it, the program is about to end.
                    let _ = tell.send(());
                    break;
                }
                Err(rustix::io::Errno::INTR) => {}
                // Then a write tells it.
                Err(_) => break,
            }
        }
    });
    if told.await.is_err() {
        std::future::pending().await
    }
}
