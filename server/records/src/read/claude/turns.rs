//! Folds a transcript into its turns.

use super::line::{Block, Line, Message};
use crate::lenient::{Text, parse, value_in};
use crate::read::{LineKind, RecordReader, Told};
use crate::time;
use crate::turns::{RecordedCompaction, RecordedMessage, RecordedTurn};
use memchr::memmem;
use serde_json::Value;

/// Only lines with one of these are parsed; most other lines are long.
const WORDS: [&str; 5] = [
    "\"type\":\"user\"",
    "\"type\":\"assistant\"",
    "\"compact_boundary\"",
    "\"turn_duration\"",
    "\"plugin_note\"",
];

#[derive(Debug, Default)]
pub(crate) struct TurnsReader {
    pub(crate) turns: Vec<RecordedTurn>,
    /// Whether `claude -p` runs the newest turn: only its end is not recorded.
    is_sdks: bool,
}

impl RecordReader for TurnsReader {
    fn line(&mut self, line: &[u8], _: &mut Told) -> LineKind {
        if !WORDS.iter().any(|word| memmem::find(line, word.as_bytes()).is_some()) {
            return LineKind::Known;
        }
        match parse(line) {
            Ok(line) => {
                self.read(line);
                LineKind::Known
            }
            Err(_) => LineKind::Malformed,
        }
    }

    fn end(&mut self, _: &mut Told) {}
}

impl TurnsReader {
    fn read(&mut self, line: Line<'_>) {
        if line.is_sidechain {
            return;
        }
        let at = line.timestamp.as_deref().and_then(time::parse);
        let at_ms = at.map(|at| at.0);
        match (line.kind.as_deref().unwrap_or_default(), line.subtype.as_deref()) {
            // A message that started a turn of `claude -p` has no origin.
            ("user", _) if line.origin.is_some() || line.is_sdks() => {
                self.is_sdks = line.origin.is_none();
                let is_users = line.origin.as_ref().is_none_or(|by| by.is_users());
                let sent = texts(line.message)
                    .map(|text| RecordedMessage { text, at_ms, is_users })
                    .collect();
                self.end_turn();
                self.turns.push(RecordedTurn { sent, ..new_turn(&line.uuid, at_ms) });
            }
            ("assistant", _) => {
                let Some(turn) = self.turns.last_mut() else { return };
                turn.has_ended |=
                    self.is_sdks && line.message.as_ref().is_some_and(Message::ends_turn);
                if let Some(said) = texts(line.message).last() {
                    turn.last_agent_message = Some(said);
                }
            }
            ("attachment", _) => {
                let note = line.attachment.filter(|it| it.kind.as_deref() == Some("plugin_note"));
                if let Some((note, turn)) = note.zip(self.turns.last_mut()) {
                    let text = |text| RecordedMessage { text, at_ms, is_users: false };
                    let notes = note.content.and_then(|notes| value_in::<Vec<Value>>(notes.get()));
                    let notes = notes.unwrap_or_default();
                    let texts = notes.iter().filter_map(Value::as_str).map(str::to_owned);
                    turn.sent.extend(texts.map(text));
                }
            }
            ("system", Some("turn_duration")) => self.end_turn(),
            ("system", Some("compact_boundary")) => {
                let about = line.compact_metadata;
                let compacted = RecordedCompaction {
                    before: about.as_ref().and_then(|about| about.pre_tokens),
                    after: about.as_ref().and_then(|about| about.post_tokens),
                };
                self.turns.push(RecordedTurn {
                    has_ended: true,
                    compacted: Some(compacted),
                    ..new_turn(&line.uuid, at_ms)
                });
            }
            _ => {}
        }
    }

    fn end_turn(&mut self) {
        if let Some(turn) = self.turns.last_mut() {
            turn.has_ended = true;
        }
    }
}

fn new_turn(id: &Option<Text<'_>>, began_at_ms: Option<i64>) -> RecordedTurn {
    let turn_id = id.as_deref().unwrap_or_default().to_owned();
    RecordedTurn { turn_id, began_at_ms, ..RecordedTurn::default() }
}

fn texts(message: Option<Message<'_>>) -> impl Iterator<Item = String> {
    let blocks = message.map(|message| message.content.into_blocks()).unwrap_or_default();
    let texts = blocks.into_iter().filter(|block| block.is("text"));
    texts.filter_map(|Block { text, .. }| text).map(Text::into_owned)
}
