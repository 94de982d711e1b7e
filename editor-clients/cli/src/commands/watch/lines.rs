//! `rawr watch` for programs: the threads, then each recorded event as one JSON line. Events that `rawr exec --json` also prints
//! have the same names and fields.

use std::io::{self, Write};
use std::pin::pin;

use rawr_protocol::ThreadSummary;
use serde::Serialize;
use serde_json::json;

use super::link::{WatchLink, WatchNews};
use crate::render::{OutputFormat, Renderer};
use rawr_host::event::{Reporter, SessionEvent, json_line as event_line};
use rawr_host::sidecar::{SidecarError, SidecarNotification};
use rawr_host::stop::StopRequest;

/// Prints until it is interrupted, its output is closed, or the sidecar ends.
pub(super) async fn print(
    link: &mut WatchLink,
    stop: &mut StopRequest,
) -> Result<LinesEnd, LinesError> {
    let mut renderer = Renderer::stdout(OutputFormat::Program);
    let mut stdout_closed = pin!(stdout_closed());
    loop {
        let news = tokio::select! {
            () = stop.asked() => return Ok(LinesEnd::Interrupted),
            () = &mut stdout_closed => return Ok(LinesEnd::Unread),
            news = link.next() => news,
        };
        match news {
            Some(WatchNews::Lost(error)) => return Err(error.into()),
            Some(news) => line(&mut renderer, &news)?,
            None => return Ok(LinesEnd::Unread),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinesEnd {
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

fn line(renderer: &mut Renderer, news: &WatchNews) -> io::Result<()> {
    let note = match news {
        WatchNews::Watched(threads) => {
            #[derive(Serialize)]
            struct ThreadListLine<'s> {
                threads: &'s [ThreadSummary],
            }
            return print_event("snapshot", &ThreadListLine { threads });
        }
        WatchNews::Restarted(error) => {
            return print_event("sidecar_restarted", &json!({ "error": error }));
        }
        WatchNews::Note(note) => &**note,
        // Results of requests, which this command does not send.
        WatchNews::Listed(_)
        | WatchNews::Looked(_)
        | WatchNews::NotSeen { .. }
        | WatchNews::Done { .. }
        | WatchNews::Refused(_)
        | WatchNews::Lost(_) => return Ok(()),
    };
    match note {
        SidecarNotification::ListChanged(changed) => print_event("thread_list_changed", changed),
        SidecarNotification::Changed(changed) => {
            renderer.report(&SessionEvent::ThreadChanged(changed))
        }
        SidecarNotification::HeadsUp(heads_up) => renderer.report(&SessionEvent::HeadsUp(heads_up)),
        SidecarNotification::Decided(decided) => renderer.report(&SessionEvent::Verdict(decided)),
        SidecarNotification::Compaction(update) => {
            renderer.report(&SessionEvent::Compaction(update))
        }
        SidecarNotification::Prompt(changed) => {
            renderer.report(&SessionEvent::PromptChanged(changed))
        }
        SidecarNotification::Config(changed) => {
            renderer.report(&SessionEvent::ConfigChanged(changed))
        }
        SidecarNotification::Log(line) => renderer.report(&SessionEvent::Log(line)),
        SidecarNotification::Responded(responded) => print_event("responded", responded),
        SidecarNotification::JudgeAsked(asked) => print_event("judgment_requested", asked),
        SidecarNotification::Judged(judged) => print_event("judgment_result", judged),
        SidecarNotification::Garbled { method, error } => {
            print_event("garbled", &json!({"method": method, "error": error}))
        }
        // Sent only to owners.
        SidecarNotification::Perform(_)
        | SidecarNotification::StoreFailed(_)
        | SidecarNotification::StoreRecovered(_) => Ok(()),
    }
}

fn print_event(event: &str, body: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout();
    event_line(&mut out, event, body)?;
    out.flush()
}

/// Resolves once the reader of stdout is gone, which a write would detect only at the next event. Pending for a file.
async fn stdout_closed() {
    use rustix::event::{PollFd, PollFlags, poll};
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let stdout = io::stdout();
        // Polls for no event; errors and hang-ups are always reported.
        let mut output = [PollFd::new(&stdout, PollFlags::empty())];
        loop {
            match poll(&mut output, None) {
                Ok(_) => {
                    // A failed send means that the program is about to end.
                    let _ = tell.send(());
                    break;
                }
                Err(rustix::io::Errno::INTR) => {}
                // The next write detects it.
                Err(_) => break,
            }
        }
    });
    if told.await.is_err() {
        std::future::pending().await
    }
}
