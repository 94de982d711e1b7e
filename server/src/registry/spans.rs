//! Log spans below a request: the thread, its sequence, the action. They contain ids and no texts.

use rawr_core::Event;
use rawr_core::event::ActionStatus;
use rawr_core::thread::Issued;
use rawr_core::units::{ActionId, SequenceId, ThreadId};
use tracing::Span;

pub(super) fn of_thread(id: &ThreadId) -> Span {
    tracing::info_span!("thread", %id)
}

fn of_sequence(id: &SequenceId) -> Span {
    tracing::info_span!("sequence", %id)
}

/// `what`: the kind of the action, or its outcome.
fn of_action(id: &ActionId, what: &str) -> Span {
    tracing::info_span!("action", %id, what)
}

/// Logs an event within the spans of its thread, sequence and action.
pub(super) fn recorded(event: &Event) {
    let sequence = match event {
        Event::SequenceStarted(started) => Some(&started.sequence),
        Event::ActionIssued(issued) => Some(&issued.sequence),
        Event::PacketTaken(taken) => Some(&taken.sequence),
        Event::DeadlinePassed(passed) => Some(&passed.sequence),
        Event::SequenceEnded(ended) => Some(&ended.sequence),
        _ => None,
    };
    let _sequence = sequence.map(|id| of_sequence(id).entered());
    let action = match event {
        Event::ActionIssued(issued) => Some(of_action(&issued.action, issued.kind.name())),
        Event::ActionReported(reported) => {
            let status = match reported.status {
                ActionStatus::Accepted => "accepted",
                ActionStatus::Completed => "completed",
                ActionStatus::Failed => "failed",
            };
            Some(of_action(&reported.action, status))
        }
        _ => None,
    };
    let _action = action.map(Span::entered);
    tracing::debug!(event = event.name(), "recorded");
}

/// The span around an order to perform an action.
pub(super) fn performing<T>(issued: &Issued, work: impl FnOnce() -> T) -> T {
    let action = || of_action(&issued.id, issued.kind.name());
    of_sequence(&issued.sequence).in_scope(|| action().in_scope(work))
}
