//! Tells a person at the terminal that rawr asks something, while Codex draws the screen: rings the bell and sends a desktop
//! notification, neither of which draws anything.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use rawr_host::event::{Reporter, SessionEvent};
use rawr_host::host::HostEvent;
use rawr_host::text::one_line;
use rawr_protocol::{BannerStage, SequenceHeadsUpNotification};
use rustix::fs::OFlags;
use rustix::termios::{LocalModes, tcgetattr};

use super::WIDTH;

/// A reporter that also alerts the person at the terminal of this process, and remembers the last turn that ended.
pub(super) struct Alerting<R> {
    pub(super) reporter: R,
    pub(super) terminal: PersonTerminal,
    pub(super) last_turn: Option<String>,
}

/// The terminal at which a person may be; `None` without one.
pub(super) struct PersonTerminal(Option<(File, NotificationFormat)>);

/// The escape sequence for a desktop notification. Terminals that know both would show two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotificationFormat {
    /// iTerm2's, which most terminals know.
    Osc9,
    /// Urxvt's, which terminals on VTE and foot know.
    Osc777,
    /// Only the bell.
    None,
}

impl PersonTerminal {
    pub(super) fn nowhere() -> Self {
        Self(None)
    }

    /// The controlling terminal, in the format that the environment tells of.
    pub(super) fn of_this_process() -> Self {
        // A terminal that is stopped must not stop rawr.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let terminal = File::options().write(true).custom_flags(flags).open("/dev/tty").ok();
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let format = format(&variable("TERM"), !variable("VTE_VERSION").is_empty());
        Self(terminal.map(|terminal| (terminal, format)))
    }

    fn alert(&mut self, heads_up: &SequenceHeadsUpNotification) {
        let Some((terminal, format)) = &mut self.0 else { return };
        // There, a process in the background that writes is stopped.
        let stops_writers =
            tcgetattr(&*terminal).is_ok_and(|modes| modes.local_modes.contains(LocalModes::TOSTOP));
        if !stops_writers {
            // A terminal that is gone or busy has no person who could be alerted.
            let _ = terminal.write(alert(heads_up, *format).as_bytes());
        }
    }
}

impl<R: Reporter> Reporter for Alerting<R> {
    fn report(&mut self, event: &SessionEvent<'_>) -> io::Result<()> {
        if let SessionEvent::HeadsUp(heads_up) = event
            && matches!(heads_up.stage, BannerStage::AwaitingApproval | BannerStage::Recommended)
        {
            self.terminal.alert(heads_up);
        }
        if let SessionEvent::Host(HostEvent::TurnCompleted { turn_id, .. }) = event {
            self.last_turn = Some(turn_id.clone());
        }
        self.reporter.report(event)
    }

    fn is_live(&self) -> bool {
        self.reporter.is_live()
    }

    fn tick(&mut self) -> io::Result<()> {
        self.reporter.tick()
    }
}

fn format(term: &str, is_vte: bool) -> NotificationFormat {
    match term {
        "" | "dumb" | "linux" => NotificationFormat::None,
        _ if is_vte || term.starts_with("rxvt") || term.starts_with("foot") => {
            NotificationFormat::Osc777
        }
        _ => NotificationFormat::Osc9,
    }
}

fn alert(heads_up: &SequenceHeadsUpNotification, format: NotificationFormat) -> String {
    let left = heads_up.percent_remaining.map(|percent| format!(" ({percent}% left)"));
    let approve = if heads_up.stage == BannerStage::AwaitingApproval { " --approve" } else { "" };
    let answer = format!("rawr compact {}{approve}", heads_up.thread_id);
    let text = format!("{}{}: {answer}", heads_up.title, left.unwrap_or_default());
    // A semicolon would begin another field.
    let text = one_line(&text, WIDTH).replace(';', ",");
    match format {
        NotificationFormat::Osc9 => format!("\u{7}\u{1b}]9;rawr: {text}\u{7}"),
        NotificationFormat::Osc777 => format!("\u{7}\u{1b}]777;notify;rawr;{text}\u{7}"),
        NotificationFormat::None => "\u{7}".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_format_follows_the_terminal() {
        let check = |term: &str, is_vte: bool, expected: NotificationFormat| {
            assert_eq!(format(term, is_vte), expected, "{term}");
        };
        check("xterm-256color", false, NotificationFormat::Osc9);
        check("xterm-256color", true, NotificationFormat::Osc777);
        check("rxvt-unicode", false, NotificationFormat::Osc777);
        check("foot", false, NotificationFormat::Osc777);
        check("linux", false, NotificationFormat::None);
        check("dumb", false, NotificationFormat::None);
    }

    #[test]
    fn a_title_cannot_end_the_escape_sequence() {
        let heads_up = json!({ "threadId": "t", "sequenceId": "s1", "stage": "recommended",
            "title": "Compact?\u{7}\u{1b}]0;x", "message": "m", "percentRemaining": 62, "reason": "r",
            "boundaries": [], "packetAuthor": "agent", "choices": [] });
        let heads_up = serde_json::from_value(heads_up).unwrap();
        assert_eq!(
            alert(&heads_up, NotificationFormat::Osc9),
            "\u{7}\u{1b}]9;rawr: Compact?\u{fffd}\u{fffd}]0,x (62% left): rawr compact t\u{7}"
        );
    }
}
