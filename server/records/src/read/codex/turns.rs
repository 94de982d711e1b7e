//! Folds a rollout into its turns.

use super::line::{Line, Payload, TokenInfo, TurnLine, parse_turn_line};
use crate::read::{LineKind, RecordReader, Told};
use crate::turns::{RecordedCompaction, RecordedMessage, RecordedTurn, RecordedUsage};
use memchr::memmem;

/// Only lines with one of these are parsed; most other lines are long.
const WORDS: [&str; 6] = [
    "\"token_count\"",
    "\"task_started\"",
    "\"task_complete\"",
    "\"turn_",
    "\"compacted\"",
    "\"user\"",
];

/// Codex's kind of a text that a client sent.
const USERS: &str = "user.text";

/// The time in the id of a turn or message: the first 48 bits are Unix milliseconds.
fn named_at_ms(name: &str) -> Option<i64> {
    let name = name.strip_prefix("msg_").unwrap_or(name);
    let digits: String = name.chars().filter(|digit| *digit != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok()
}

#[derive(Debug, Default)]
pub(crate) struct TurnsReader {
    pub(crate) turns: Vec<RecordedTurn>,
    /// The size of the context in tokens, at the end of the turns before the newest.
    before_turn: Option<u64>,
    /// Likewise in the newest turn.
    in_turn: Option<u64>,
}

impl RecordReader for TurnsReader {
    fn line(&mut self, line: &[u8], _: &mut Told) -> LineKind {
        if !WORDS.iter().any(|word| memmem::find(line, word.as_bytes()).is_some()) {
            return LineKind::Known;
        }
        match parse_turn_line(line) {
            Ok(TurnLine::Message(said)) if said.role.as_deref() == Some("user") => {
                let Some(turn) = self.turns.last_mut() else { return LineKind::Known };
                let at_ms = said.id.as_deref().and_then(named_at_ms);
                let kinds = said.about.map(|about| about.content_item_kinds).unwrap_or_default();
                // Each part of a message is a separate entry.
                turn.sent.extend(said.content.into_iter().enumerate().map(|(at, part)| {
                    RecordedMessage {
                        text: part.text.unwrap_or_default(),
                        at_ms,
                        is_users: kinds.get(at).is_some_and(|kind| kind == USERS),
                    }
                }));
            }
            Ok(TurnLine::Other(line)) => match *line {
                Line::EventMsg(event) => self.event(event),
                Line::Compacted => self.compacted(),
                _ => {}
            },
            Ok(TurnLine::Message(_)) => {}
            Err(_) => return LineKind::Malformed,
        }
        LineKind::Known
    }

    fn end(&mut self, _: &mut Told) {}
}

impl TurnsReader {
    fn event(&mut self, event: Payload<'_>) {
        let turn_id = event.turn_id.as_deref().unwrap_or_default();
        match event.kind.as_deref().unwrap_or_default() {
            "task_started" | "turn_started" => {
                self.before_turn = self.in_turn.take().or(self.before_turn);
                self.turns.push(RecordedTurn {
                    turn_id: turn_id.to_owned(),
                    began_at_ms: named_at_ms(turn_id),
                    ..RecordedTurn::default()
                });
            }
            "token_count" => {
                if let Some(info) = event.info {
                    self.used(&info);
                }
            }
            "task_complete" | "turn_complete" => {
                let newest = self.turns.last_mut().filter(|turn| turn.turn_id == turn_id);
                if let Some(turn) = newest {
                    turn.has_ended = true;
                    turn.last_agent_message =
                        event.last_agent_message.as_deref().map(str::to_owned);
                }
            }
            "turn_aborted" => {
                if let Some(turn) = self.turns.last_mut() {
                    turn.was_aborted = true;
                }
            }
            _ => {}
        }
    }

    fn compacted(&mut self) {
        let before = self.before_turn.or(self.in_turn);
        if let Some(turn) = self.turns.last_mut() {
            // Earlier usage in the same turn is that of the summary's own request.
            turn.last = None;
            turn.compacted = Some(RecordedCompaction { before, after: None });
        }
    }

    fn used(&mut self, info: &TokenInfo) {
        let Some(tokens) = &info.last_token_usage else { return };
        let usage = tokens.to_usage();
        if self.turns.is_empty() {
            // Older releases store no starts of turns.
            self.turns.push(RecordedTurn { has_ended: true, ..RecordedTurn::default() });
        }
        let Some(turn) = self.turns.last_mut() else { return };
        self.in_turn = Some(usage.context_tokens);
        // The estimate of the new history is reported without input tokens.
        if let Some(compacted) = &mut turn.compacted
            && compacted.after.is_none()
            && usage.input_tokens == Some(0)
        {
            compacted.after = Some(usage.context_tokens);
        }
        turn.last = Some(RecordedUsage { usage, context_window: info.model_context_window });
    }
}
