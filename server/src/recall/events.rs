//! Searches rawr's own log of a thread: packets, handoffs and directives, and messages that no other source has.

use super::SearchError;
use super::{HitKind, RecallSearch, RecallSource, RecalledText, SearchPosition, SeenTexts};
use rawr_core::event::{HostAction, ItemRole, Purpose, TurnOrigin};
use rawr_core::units::{SequenceId, Timestamp};
use rawr_core::{Event, Record};
use rawr_records::lines::FileLines;
use std::path::Path;

/// The start of an agent's packet. The packet that a sequence took is a separate hit.
const PACKET: &str = "<continuation_packet>";

/// What was already read, so that each text is reported once.
struct LogSearch<'m> {
    /// The host's own transcript has the messages.
    has_transcript: bool,
    /// Texts of the stored histories.
    seen: &'m SeenTexts,
    /// The sequence whose packet was the last hit: its handoff contains the same text.
    packet_of: Option<SequenceId>,
    /// The agent's last message that was a hit: the end of its turn repeats it.
    last_words: Option<String>,
}

impl RecallSearch<'_> {
    pub(super) fn events(&mut self, source: &RecallSource, has_transcript: bool, seen: &SeenTexts) {
        let file = source.folder.join("events.jsonl");
        let met = LogSearch { has_transcript, seen, packet_of: None, last_words: None };
        if let Err(problem) = self.records(source, &file, met) {
            self.mark_failed(&file, &problem);
        }
    }

    fn records(
        &mut self,
        source: &RecallSource,
        file: &Path,
        mut met: LogSearch<'_>,
    ) -> Result<(), SearchError> {
        let Some(mut lines) = FileLines::of(file)? else { return Ok(()) };
        let (mut room, mut unreadable) = (Vec::new(), 0);
        while let Some((line, text)) = lines.next_line()?.filter(|_| !self.is_over()) {
            if !self.words.may_be_in(text, &mut room) {
                continue;
            }
            match str::from_utf8(text).ok().and_then(|text| Record::parse(text).ok()) {
                Some(record) => {
                    let spot = SearchPosition { thread: &source.thread, file, line };
                    self.event(&spot, &record.event, Some(record.at), &mut met);
                }
                None => unreadable += u64::from(!lines.is_torn()),
            }
        }
        match unreadable + lines.skipped {
            0 => Ok(()),
            many => Err(SearchError::Lines(many)),
        }
    }

    fn event(
        &mut self,
        spot: &SearchPosition<'_>,
        event: &Event,
        at: Option<Timestamp>,
        met: &mut LogSearch<'_>,
    ) {
        match event {
            Event::PacketTaken(taken) => {
                let said = RecalledText { kind: HitKind::Packet, at, text: &taken.packet.text };
                if self.met(spot, &said) {
                    met.packet_of = Some(taken.sequence.clone());
                }
            }
            Event::ActionIssued(issued) if met.packet_of.as_ref() != Some(&issued.sequence) => {
                if let Some(text) = handoff(&issued.kind) {
                    self.met(spot, &RecalledText { kind: HitKind::Handoff, at, text });
                }
            }
            Event::DirectiveGiven(given) => {
                self.met(spot, &RecalledText { kind: HitKind::Directive, at, text: &given.text });
            }
            Event::TurnStarted(started) => {
                let message =
                    started.text.as_deref().filter(|_| started.origin == TurnOrigin::User);
                self.person_said(spot, message, &started.directives, at, met);
            }
            Event::UserMessage(said) => {
                self.person_said(spot, Some(&said.text), &said.directives, at, met);
            }
            Event::UsageReported(reported) => {
                self.agent_said(spot, reported.last_message.as_deref(), at, met);
            }
            Event::TurnCompleted(completed) => {
                self.agent_said(spot, completed.last_message.as_deref(), at, met);
            }
            _ => {}
        }
    }

    fn person_said(
        &mut self,
        spot: &SearchPosition<'_>,
        text: Option<&str>,
        directives: &[String],
        at: Option<Timestamp>,
        met: &LogSearch<'_>,
    ) {
        let text = text.filter(|text| met.is_news(text));
        let message = text.is_some_and(|text| {
            self.met(spot, &RecalledText { kind: HitKind::UserMessage, at, text })
        });
        // If the whole message is a hit, its sentences are not reported again.
        for text in directives.iter().filter(|_| !message) {
            self.met(spot, &RecalledText { kind: HitKind::Directive, at, text });
        }
    }

    fn agent_said(
        &mut self,
        spot: &SearchPosition<'_>,
        text: Option<&str>,
        at: Option<Timestamp>,
        met: &mut LogSearch<'_>,
    ) {
        let is_news = |text: &&str| {
            let is_packet = text.trim_start().starts_with(PACKET);
            met.is_news(text) && !is_packet && met.last_words.as_deref() != Some(*text)
        };
        let Some(text) = text.filter(is_news) else { return };
        if self.met(spot, &RecalledText { kind: HitKind::AgentMessage, at, text }) {
            met.last_words = Some(text.to_owned());
        }
    }
}

impl LogSearch<'_> {
    /// Whether only this log has the text.
    fn is_news(&self, text: &str) -> bool {
        !self.has_transcript && !self.seen.has(text)
    }
}

fn handoff(action: &HostAction) -> Option<&str> {
    match action {
        HostAction::InjectTurn { purpose: Purpose::Handoff, text, .. } => Some(text),
        HostAction::DeliverInput { items, .. } => {
            let handoff = items.iter().find(|item| item.role == ItemRole::Handoff)?;
            Some(&handoff.text)
        }
        _ => None,
    }
}
