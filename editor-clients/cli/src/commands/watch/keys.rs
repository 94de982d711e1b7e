//! The keys of each page, the line of keys at the bottom, and the help page.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rawr_protocol::{Choice, Phase, Until};

use super::link::{WatchRequest, WatchTarget};
use super::view::{View, ViewEnd, WatchPage, WatchQuestion};
use rawr_host::event::NoticeLevel;

/// The help page.
pub(super) const KEYS: [(&str, &str); 13] = [
    ("↑ ↓, j k", "the thread above, below; PgUp and PgDn go a page, Home and End to the ends"),
    ("Tab", "the thread that the banner is about"),
    ("Space, b", "scroll the details of the thread"),
    ("Enter, e", "explain the last decision, gate by gate; ← and → show earlier and later ones"),
    ("s", "snooze: no compaction for one turn"),
    ("S", "snooze for a number of turns or minutes"),
    ("c", "compact as soon as the agent is idle, or approve the pending compaction"),
    ("x", "cancel the compaction"),
    ("g", "guard: no compaction until it is cleared; again to clear"),
    ("?", "this page"),
    ("Esc", "back; on the first page: quit"),
    ("Ctrl-Z", "suspend; `fg` resumes"),
    ("q, Ctrl-C", "quit; the threads keep running"),
];

/// The key of an answer. Packets cannot be edited here.
pub(super) const fn key_of(choice: Choice) -> Option<char> {
    match choice {
        Choice::Approve | Choice::CompactNow => Some('c'),
        Choice::Snooze => Some('s'),
        Choice::Cancel => Some('x'),
        Choice::EditPacket => None,
    }
}

/// The number of rows of a page key.
const A_PAGE: isize = 10;

impl View {
    /// The line of keys for the current page or question.
    pub(super) fn hints(&self) -> &'static str {
        match (&self.question, self.page) {
            (Some(WatchQuestion::Snooze { .. }), _) => "Enter snooze · Esc back",
            (Some(_), _) => "y yes · n no",
            (None, WatchPage::Explain(_)) => "↑↓ scroll · ←→ other decisions · Esc back · q quit",
            (None, WatchPage::Help) => "↑↓ scroll · Esc back · q quit",
            (None, WatchPage::Threads) => {
                "↑↓ thread · s snooze · c compact · x cancel · g guard · e why · ? help · q quit"
            }
        }
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Vec<WatchRequest> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        self.said = None;
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control {
            match key.code {
                KeyCode::Char('c') => self.end = Some(ViewEnd::Left),
                KeyCode::Char('z') => self.end = Some(ViewEnd::Suspended),
                _ => {}
            }
            return Vec::new();
        }
        if let Some(question) = self.question.take() {
            return self.answer(question, key.code);
        }
        match (key.code, self.page) {
            (KeyCode::Char('q'), _) | (KeyCode::Esc, WatchPage::Threads) => {
                self.end = Some(ViewEnd::Left);
                Vec::new()
            }
            (KeyCode::Esc, _) => self.back(),
            (KeyCode::Char('?'), WatchPage::Help) => self.back(),
            (KeyCode::Char('?'), _) => {
                self.turn_to(WatchPage::Help);
                Vec::new()
            }
            (code, WatchPage::Threads) => self.press_on_threads(code),
            (code, page) => {
                self.press_on_text(code, page);
                Vec::new()
            }
        }
    }

    fn back(&mut self) -> Vec<WatchRequest> {
        self.turn_to(WatchPage::Threads);
        Vec::new()
    }

    fn press_on_threads(&mut self, code: KeyCode) -> Vec<WatchRequest> {
        match code {
            KeyCode::Up | KeyCode::Char('k') => self.move_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.move_by(1),
            KeyCode::PageUp => self.move_by(-A_PAGE),
            KeyCode::PageDown => self.move_by(A_PAGE),
            KeyCode::Home => self.move_by(isize::MIN),
            KeyCode::End => self.move_by(isize::MAX),
            KeyCode::Tab => match self.banners.last() {
                Some(banner) => self.go_to(Some(banner.thread_id.clone())),
                None => Vec::new(),
            },
            KeyCode::Char(' ') => {
                self.scroll_by(A_PAGE / 2);
                Vec::new()
            }
            KeyCode::Char('b') => {
                self.scroll_by(-A_PAGE / 2);
                Vec::new()
            }
            KeyCode::Char('e') | KeyCode::Enter => self.explain(),
            KeyCode::Char('s' | 'S' | 'c' | 'x' | 'g') => self.step_in(code),
            _ => Vec::new(),
        }
    }

    fn press_on_text(&mut self, code: KeyCode, page: WatchPage) {
        match (code, page) {
            (KeyCode::Up | KeyCode::Char('k'), _) => self.scroll_by(-1),
            (KeyCode::Down | KeyCode::Char('j'), _) => self.scroll_by(1),
            (KeyCode::PageUp | KeyCode::Char('b'), _) => self.scroll_by(-A_PAGE),
            (KeyCode::PageDown | KeyCode::Char(' '), _) => self.scroll_by(A_PAGE),
            (KeyCode::Home, _) => self.scroll_by(isize::MIN),
            (KeyCode::End, _) => self.scroll_by(isize::MAX),
            (KeyCode::Left | KeyCode::Char('h'), WatchPage::Explain(back)) => {
                let oldest = self.decisions().saturating_sub(1);
                self.turn_to(WatchPage::Explain((back + 1).min(oldest)));
            }
            (KeyCode::Right | KeyCode::Char('l'), WatchPage::Explain(back)) => {
                self.turn_to(WatchPage::Explain(back.saturating_sub(1)));
            }
            (KeyCode::Char('e') | KeyCode::Enter, WatchPage::Explain(_)) => {
                self.turn_to(WatchPage::Threads);
            }
            _ => {}
        }
    }

    fn explain(&mut self) -> Vec<WatchRequest> {
        match (&self.details, self.decisions()) {
            (Some(_), 0) => {
                self.show_message(NoticeLevel::Info, "no decision is recorded for this thread yet");
            }
            (Some(_), _) => self.turn_to(WatchPage::Explain(0)),
            (None, _) => {}
        }
        self.look()
    }

    /// Responds to the selected thread, or asks for confirmation first.
    fn step_in(&mut self, code: KeyCode) -> Vec<WatchRequest> {
        let Some(row) = self.row() else { return Vec::new() };
        // The banner names its sequence before the row does.
        let banner = self.banner_of(row.id());
        let sequence_id = banner.map(|banner| banner.heads_up.sequence_id.clone());
        let is_asked = banner.is_some();
        let (target, sequence_id) = (row.target(), sequence_id.or_else(|| row.sequence_id.clone()));
        let (phase, guards) = (row.thread.phase, row.guards);
        match code {
            KeyCode::Char('s') => {
                return snooze(target, sequence_id, Until::Turns { turns: 1 });
            }
            KeyCode::Char('S') => {
                self.question =
                    Some(WatchQuestion::Snooze { target, sequence_id, typed: String::new() });
            }
            KeyCode::Char('c') => {
                return vec![WatchRequest::Respond {
                    target,
                    choice: Choice::CompactNow,
                    sequence_id,
                    until: None,
                }];
            }
            KeyCode::Char('x') if is_asked || phase != Phase::Idle => {
                self.question = Some(WatchQuestion::Cancel { target, sequence_id });
            }
            KeyCode::Char('x') => return cancel(target, sequence_id),
            KeyCode::Char('g') if guards > 0 => {
                self.question = Some(WatchQuestion::ClearGuards { target, guards });
            }
            KeyCode::Char('g') => return vec![WatchRequest::Guard(target)],
            _ => {}
        }
        Vec::new()
    }

    /// Handles a key while a question is open. An unknown key means no.
    fn answer(&mut self, question: WatchQuestion, code: KeyCode) -> Vec<WatchRequest> {
        match (question, code) {
            (WatchQuestion::Cancel { target, sequence_id }, KeyCode::Char('y' | 'Y')) => {
                cancel(target, sequence_id)
            }
            (WatchQuestion::ClearGuards { target, .. }, KeyCode::Char('y' | 'Y')) => {
                vec![WatchRequest::ClearGuards(target)]
            }
            (WatchQuestion::Cancel { .. } | WatchQuestion::ClearGuards { .. }, _) => Vec::new(),
            (WatchQuestion::Snooze { target, sequence_id, typed }, KeyCode::Enter) => {
                match how_long(&typed) {
                    Some(until) => snooze(target, sequence_id, until),
                    None => {
                        self.show_message(
                            NoticeLevel::Error,
                            "Type a number of turns, or of minutes as in 20m.",
                        );
                        self.question = Some(WatchQuestion::Snooze { target, sequence_id, typed });
                        Vec::new()
                    }
                }
            }
            (WatchQuestion::Snooze { .. }, KeyCode::Esc) => Vec::new(),
            (WatchQuestion::Snooze { target, sequence_id, mut typed }, code) => {
                match code {
                    KeyCode::Backspace => drop(typed.pop()),
                    KeyCode::Char(letter) if typed.len() < LONGEST && is_of_a_time(letter) => {
                        typed.push(letter);
                    }
                    _ => {}
                }
                self.question = Some(WatchQuestion::Snooze { target, sequence_id, typed });
                Vec::new()
            }
        }
    }
}

/// The largest number of digits.
const LONGEST: usize = 8;

const fn is_of_a_time(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, 'm' | 't' | ' ')
}

fn how_long(typed: &str) -> Option<Until> {
    let typed = typed.trim();
    let (number, unit) = match typed.find(|letter: char| !letter.is_ascii_digit()) {
        Some(at) => typed.split_at(at),
        None => (typed, "t"),
    };
    let count = number.parse().ok().filter(|count| *count > 0)?;
    match unit.trim() {
        "t" => Some(Until::Turns { turns: count }),
        "m" => Some(Until::Minutes { minutes: count }),
        _ => None,
    }
}

fn snooze(target: WatchTarget, sequence_id: Option<String>, until: Until) -> Vec<WatchRequest> {
    vec![WatchRequest::Respond { target, choice: Choice::Snooze, sequence_id, until: Some(until) }]
}

fn cancel(target: WatchTarget, sequence_id: Option<String>) -> Vec<WatchRequest> {
    vec![WatchRequest::Respond { target, choice: Choice::Cancel, sequence_id, until: None }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snooze_takes_turns_or_minutes() {
        let turns = |turns| Some(Until::Turns { turns });
        let minutes = |minutes| Some(Until::Minutes { minutes });
        for (typed, until) in [
            ("3", turns(3)),
            (" 3 t", turns(3)),
            ("20m", minutes(20)),
            ("20 m", minutes(20)),
            ("0", None),
            ("", None),
            ("m", None),
            ("3mm", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(how_long(typed), until, "{typed:?}");
        }
    }
}
