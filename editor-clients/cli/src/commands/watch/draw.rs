//! Draws a view on a screen of any size: the banner, the threads, the selected thread, and the keys. Pure: returns the last
//! scroll position of the page.

mod details;
mod threads;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, BorderType, Borders, Paragraph};

use self::details::{deadline, details};
use self::threads::threads;
use super::ink::{ScreenColors, wrapped};
use super::keys::{KEYS, key_of};
use super::view::{View, WatchBanner, WatchPage, WatchQuestion};
use crate::render::{self, BAD, BOLD, DIM, LocalNow, OURS, WARN};
use rawr_host::event::NoticeLevel;
use rawr_host::text::{columns, one_line};
use rawr_protocol::OfferedChoice;

/// Below this width, the selected thread is drawn below the others instead of beside them.
const SIDE_BY_SIDE: u16 = 72;
/// Below this height, the selected thread is not shown.
const STACKED: u16 = 12;
/// Below this height, only threads are shown.
const FULL: u16 = 6;

/// The largest number of lines of a message.
const MOST_SAID: usize = 3;

/// The inputs of a drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawing<'v> {
    pub view: &'v View,
    pub now: &'v LocalNow,
    pub ink: ScreenColors,
}

impl Drawing<'_> {
    /// Draws. Returns the last scroll position of the page.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) -> usize {
        let mut area = frame.area();
        if area.height >= FULL {
            let footer = self.footer(area.width);
            let height = u16::try_from(footer.len()).unwrap_or(u16::MAX);
            frame.render_widget(Text::from(footer), take_bottom(&mut area, height));
            self.header(frame, take_top(&mut area, 1));
        }
        match self.view.page {
            WatchPage::Threads => {
                if let Some(banner) = self.view.banner() {
                    self.banner(frame, &mut area, banner);
                }
                self.body(frame, area)
            }
            WatchPage::Explain(back) => self.text(frame, area, &self.explained(back)),
            WatchPage::Help => self.text(frame, area, &self.help()),
        }
    }

    fn header(&self, frame: &mut Frame<'_>, area: Rect) {
        let threads = match self.view.threads.len() {
            1 => "1 thread".to_owned(),
            many => format!("{many} threads"),
        };
        let mut spans = vec![self.ink.span(BOLD, "rawr watch"), format!(" · {threads}").into()];
        let busy = self.view.threads.iter().filter(|row| row.sequence_id.is_some()).count();
        if busy > 0 {
            spans.push(self.ink.span(WARN, format!(" · {busy} compacting")));
        }
        frame.render_widget(Line::from(spans), area);
    }

    /// The message, the question, and the keys.
    fn footer(&self, width: u16) -> Vec<Line<'static>> {
        let width = usize::from(width).max(1);
        let mut lines = Vec::new();
        if let Some(said) = &self.view.said {
            let style = match said.level {
                NoticeLevel::Info => OURS,
                NoticeLevel::Warning => WARN,
                NoticeLevel::Error => BAD,
            };
            let text = self.ink.span(style, one_line(&said.text, usize::MAX));
            lines.extend(wrapped(&text.into(), width, 0).into_iter().take(MOST_SAID));
        }
        if let Some(question) = &self.view.question {
            lines.push(self.ink.span(BOLD, one_line(&self.asked(question), width)).into());
        }
        lines.push(self.ink.span(DIM, fitting(self.view.hints(), width)).into());
        lines
    }

    fn asked(&self, question: &WatchQuestion) -> String {
        match question {
            WatchQuestion::Cancel { target, .. } => {
                format!("Cancel the compaction of {}?", self.name(&target.thread_id))
            }
            WatchQuestion::ClearGuards { target, guards: 1 } => {
                format!("Clear the guard of {}?", self.name(&target.thread_id))
            }
            WatchQuestion::ClearGuards { target, guards } => {
                format!("Clear all {guards} guards of {}?", self.name(&target.thread_id))
            }
            WatchQuestion::Snooze { typed, .. } => {
                format!("Snooze for how many turns, or minutes as in 20m: {typed}▏")
            }
        }
    }

    /// The thread's name for people.
    fn name(&self, thread_id: &str) -> String {
        let row = self.view.threads.iter().find(|row| row.id() == thread_id);
        row.map_or_else(|| thread_id.to_owned(), |row| render::thread_name(&row.thread))
    }

    fn banner(&self, frame: &mut Frame<'_>, area: &mut Rect, banner: &WatchBanner) {
        let heads_up = &banner.heads_up;
        let inside = usize::from(area.width.saturating_sub(4)).max(1);
        let mut lines: Vec<_> = render::banner_words(heads_up, inside);
        lines.extend(deadline(heads_up, self.now.ms));
        let is_selected = self.view.selected.as_ref() == Some(&banner.thread_id);
        if is_selected {
            let key = |offered: &OfferedChoice| {
                Some(format!("{} {}", key_of(offered.choice)?, offered.label))
            };
            let keys: Vec<_> = heads_up.choices.iter().filter_map(key).collect();
            lines.extend((!keys.is_empty()).then(|| keys.join(" · ")));
        } else {
            lines.push("Tab selects it.".to_owned());
        }
        // Leave room for the threads below.
        let room = usize::from(area.height / 2).saturating_sub(2);
        if lines.len() > room {
            lines.retain(|line| !line.is_empty());
        }
        if room == 0 {
            return;
        }
        while lines.len() > room && lines.len() > 1 {
            lines.remove(lines.len() - 2);
        }
        lines.truncate(room);
        let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
        let title = format!(
            " {}: {} ",
            one_line(&heads_up.title, inside),
            one_line(&self.name(&banner.thread_id), inside)
        );
        let style = self.ink.style(WARN);
        let block = Block::new()
            .borders(Borders::ALL)
            .border_type(BorderType::Rounded)
            .border_style(style)
            .title(title);
        let text: Vec<_> = lines.into_iter().map(|line| Line::from(format!(" {line}"))).collect();
        frame.render_widget(Paragraph::new(text).block(block), take_top(area, height));
    }

    fn body(&self, frame: &mut Frame<'_>, mut area: Rect) -> usize {
        if area.width >= SIDE_BY_SIDE {
            let width = (area.width * 2 / 5).clamp(30, 56);
            let left = take_left(&mut area, width);
            threads(self, frame, left);
            let line = Block::new().borders(Borders::LEFT).border_style(self.ink.style(DIM));
            let inner = line.inner(area);
            frame.render_widget(line, area);
            return self.text(frame, inner, &self.indented(details(self)));
        }
        if area.height >= STACKED {
            let below = area.height / 2;
            let below = take_bottom(&mut area, below);
            threads(self, frame, area);
            let line = Block::new().borders(Borders::TOP).border_style(self.ink.style(DIM));
            let inner = line.inner(below);
            frame.render_widget(line, below);
            return self.text(frame, inner, &self.indented(details(self)));
        }
        threads(self, frame, area);
        0
    }

    /// The width of the column of names.
    fn indented(&self, lines: Vec<Line<'static>>) -> WrappedLines {
        WrappedLines { lines, indent: 13 }
    }

    fn explained(&self, back: usize) -> WrappedLines {
        let details = self.view.details.as_ref();
        let decision = details.and_then(|details| details.decisions.iter().rev().nth(back));
        let (Some(details), Some(decision)) = (details, decision) else {
            return WrappedLines { lines: vec![self.ink.span(DIM, "…").into()], indent: 0 };
        };
        let printed = render::decision(&details.thread.thread, decision, self.now);
        WrappedLines { lines: self.ink.lines(&printed), indent: 20 }
    }

    fn help(&self) -> WrappedLines {
        let key = |(key, what): &(&str, &str)| {
            Line::from(vec![self.ink.span(OURS, format!("  {key:<10}")), format!(" {what}").into()])
        };
        let mut lines = vec![Line::from(self.ink.span(BOLD, "Keys")), Line::default()];
        lines.extend(KEYS.iter().map(key));
        WrappedLines { lines, indent: 13 }
    }

    /// The visible part of a text at the scroll position.
    fn text(&self, frame: &mut Frame<'_>, area: Rect, text: &WrappedLines) -> usize {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        if width == 0 || height == 0 {
            return 0;
        }
        let broken = text.lines.iter().flat_map(|line| wrapped(line, width, text.indent));
        let broken: Vec<_> = broken.collect();
        let furthest = broken.len().saturating_sub(height);
        let from = self.view.scroll.min(furthest);
        let shown: Vec<_> = broken.into_iter().skip(from).take(height).collect();
        frame.render_widget(Text::from(shown), area);
        furthest
    }
}

/// Lines to wrap, with the indent of continuation lines.
struct WrappedLines {
    lines: Vec<Line<'static>>,
    indent: usize,
}

/// The hints that fit; the last two say how to get help and how to leave.
fn fitting(hints: &str, width: usize) -> String {
    let mut hints: Vec<_> = hints.split(" · ").collect();
    while hints.len() > 2 && columns(&hints.join(" · ")) > width {
        hints.remove(hints.len() - 3);
    }
    hints.join(" · ")
}

fn take_top(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    let top = Rect { height, ..*area };
    (area.y, area.height) = (area.y + height, area.height - height);
    top
}

fn take_bottom(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    area.height -= height;
    Rect { y: area.y + area.height, height, ..*area }
}

fn take_left(area: &mut Rect, width: u16) -> Rect {
    let width = width.min(area.width);
    let left = Rect { width, ..*area };
    (area.x, area.width) = (area.x + width, area.width - width);
    left
}
