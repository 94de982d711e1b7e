//! What Claude Code's screen shows of rawr: a line of state, a band while rawr asks or announces something, and short messages.

use std::io::{self, ErrorKind};

use rawr_host::event::{NoticeLevel, Reporter, SessionEvent};
use rawr_host::host::HostEvent;
use rawr_host::host::claude_mod::{ModBand, ModButton, ModOrder, ModScreen};
use rawr_protocol::{
    Choice, CompactionStatus, CompactionUpdateNotification, HeadsUp, Phase,
    ThreadChangedNotification,
};
use tokio::sync::mpsc::UnboundedSender;

const PROPOSED: &str = "a compaction is proposed";

/// Shows a session on Claude Code's screen.
pub(super) struct ScreenReporter {
    thread_id: String,
    orders: UnboundedSender<ModOrder>,
    shown: ModScreen,
}

impl ScreenReporter {
    pub(super) fn new(thread_id: String, orders: UnboundedSender<ModOrder>) -> Self {
        Self { thread_id, orders, shown: ModScreen::default() }
    }

    fn order(&self, order: ModOrder) -> io::Result<()> {
        self.orders.send(order).map_err(|_| io::Error::from(ErrorKind::BrokenPipe))
    }

    fn show(&mut self, screen: ModScreen) -> io::Result<()> {
        if self.shown == screen {
            return Ok(());
        }
        self.shown.clone_from(&screen);
        self.order(ModOrder::Show(screen))
    }

    fn toast(&self, text: String) -> io::Result<()> {
        self.order(ModOrder::Toast { text })
    }
}

impl Reporter for ScreenReporter {
    fn report(&mut self, event: &SessionEvent<'_>) -> io::Result<()> {
        match event {
            // After a restart of the sidecar the screen stays as it is.
            SessionEvent::Session { opened, .. } if self.shown == ModScreen::default() => {
                let state = (opened.phase == Phase::Proposed).then(|| PROPOSED.to_owned());
                let status = status(opened.percent_remaining, state);
                self.show(ModScreen { status, band: None })
            }
            SessionEvent::ThreadChanged(changed) => self.show(screen(&self.thread_id, changed)),
            SessionEvent::Compaction(update) => match compacted(update) {
                Some(message) => self.toast(message),
                None => Ok(()),
            },
            SessionEvent::Notice { level: NoticeLevel::Warning | NoticeLevel::Error, message } => {
                self.toast((*message).to_owned())
            }
            SessionEvent::Host(HostEvent::Notice(message)) => self.toast(message.clone()),
            SessionEvent::SidecarRestarted { error, .. } => {
                self.toast(format!("the sidecar was restarted: {error}"))
            }
            SessionEvent::Session { .. }
            | SessionEvent::UserMessage { .. }
            | SessionEvent::InputHeld { .. }
            | SessionEvent::MessageLeft { .. }
            | SessionEvent::Injected { .. }
            | SessionEvent::Handoff(_)
            | SessionEvent::Host(_)
            | SessionEvent::Verdict(_)
            | SessionEvent::HeadsUp(_)
            | SessionEvent::Packet(_)
            | SessionEvent::PromptChanged(_)
            | SessionEvent::ConfigChanged(_)
            | SessionEvent::Log(_)
            | SessionEvent::Notice { level: NoticeLevel::Info, .. }
            | SessionEvent::Saved(_)
            | SessionEvent::NextSteps(_) => Ok(()),
        }
    }
}

fn screen(thread_id: &str, changed: &ThreadChangedNotification) -> ModScreen {
    let state = if let Some(heads_up) = &changed.heads_up {
        Some(heads_up.title.clone())
    } else if changed.proposal.is_some() {
        Some(PROPOSED.to_owned())
    } else if changed.breaker.is_some() {
        Some("paused".to_owned())
    } else if !changed.guards.is_empty() {
        Some("guarded".to_owned())
    } else {
        None
    };
    let band = changed.heads_up.as_ref().map(|heads_up| band(thread_id, heads_up));
    ModScreen { status: status(changed.percent_remaining, state), band }
}

fn status(percent: Option<u8>, state: Option<String>) -> String {
    let left = percent.map(|percent| format!("{percent}% left"));
    let parts: Vec<_> = left.into_iter().chain(state).collect();
    if parts.is_empty() { "watching".to_owned() } else { parts.join(" · ") }
}

fn band(thread_id: &str, heads_up: &HeadsUp) -> ModBand {
    let buttons = heads_up.choices.iter().filter_map(|offered| {
        let arguments = arguments(thread_id, offered.choice)?;
        Some(ModButton { label: offered.label.clone(), arguments })
    });
    let (title, message) = (&heads_up.title, &heads_up.message);
    ModBand {
        title: title.clone(),
        text: match heads_up.reason.as_str() {
            "" => message.clone(),
            reason => format!("{message} Reason: {reason}."),
        },
        buttons: buttons.collect(),
    }
}

/// The command that gives the answer. `None` for an answer that needs an editor.
fn arguments(thread_id: &str, choice: Choice) -> Option<Vec<String>> {
    let words: &[&str] = match choice {
        Choice::CompactNow => &["compact", thread_id],
        Choice::Approve => &["compact", thread_id, "--approve"],
        Choice::Snooze => &["snooze", thread_id],
        Choice::Cancel => &["compact", thread_id, "--cancel"],
        Choice::EditPacket => return None,
    };
    Some(words.iter().map(|word| (*word).to_owned()).collect())
}

fn compacted(update: &CompactionUpdateNotification) -> Option<String> {
    match update.status {
        CompactionStatus::Completed => Some("compacted; work continues".to_owned()),
        CompactionStatus::Failed => {
            let why = update.error.as_deref().unwrap_or("no reason was given");
            Some(format!("the compaction failed: {why}"))
        }
        CompactionStatus::InProgress | CompactionStatus::Cancelled => None,
    }
}
