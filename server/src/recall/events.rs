//! rawr's own log of a thread: packets, handoffs and directives, and what was said where nobody else has it.

use super::lines::{Lines, Problem};
use super::{Kind, RecalledText, Search, Seen, Source, Spot};
use rawr_core::event::{Action, ItemRole, Origin, Purpose};
use rawr_core::units::{SequenceId, Timestamp};
use rawr_core::{Event, Record};
use std::path::Path;

/// How an agent's packet begins. The packet that was taken of it is a place of its own.
const PACKET: &str = "<continuation_packet>";

/// What has been met, so that a text is named once.
struct Met<'m> {
    /// What was said stands in the host's own record.
    has_transcript: bool,
    /// In the histories that were kept.
    seen: &'m Seen,
    /// The sequence whose packet was the last that fitted: its handoff says the same.
    packet_of: Option<SequenceId>,
    /// The agent's last words that fitted: the end of its turn repeats them.
    last_words: Option<String>,
}

impl Search<'_> {
    pub(super) fn events(&mut self, source: &Source, has_transcript: bool, seen: &Seen) {
        let file = source.folder.join("events.jsonl");
        let met = Met { has_transcript, seen, packet_of: None, last_words: None };
        if let Err(problem) = self.records(source, &file, met) {
            self.could_not(&file, &problem);
        }
    }

    fn records(&mut self, source: &Source, file: &Path, mut met: Met<'_>) -> Result<(), Problem> {
        let Some(mut lines) = Lines::of(file)? else { return Ok(()) };
        let (mut room, mut unreadable) = (Vec::new(), 0);
        while let Some((line, text)) = lines.next()?.filter(|_| !self.is_over()) {
            if !self.words.may_be_in(text, &mut room) {
                continue;
            }
            match serde_json::from_slice::<Record>(text) {
                Ok(record) => {
                    let spot = Spot { thread: &source.thread, file, line };
                    self.event(&spot, &record.event, Some(record.at), &mut met);
                }
                Err(_) => unreadable += u64::from(!lines.is_torn()),
            }
        }
        match unreadable + lines.skipped {
            0 => Ok(()),
            many => Err(Problem::Lines(many)),
        }
    }

    fn event(&mut self, spot: &Spot<'_>, event: &Event, at: Option<Timestamp>, met: &mut Met<'_>) {
        match event {
            Event::PacketTaken(taken) => {
                let said = RecalledText { kind: Kind::Packet, at, text: &taken.packet.text };
                if self.met(spot, &said) {
                    met.packet_of = Some(taken.sequence.clone());
                }
            }
            Event::ActionIssued(issued) if met.packet_of.as_ref() != Some(&issued.sequence) => {
                if let Some(text) = handoff(&issued.kind) {
                    self.met(spot, &RecalledText { kind: Kind::Handoff, at, text });
                }
            }
            Event::DirectiveGiven(given) => {
                self.met(spot, &RecalledText { kind: Kind::Directive, at, text: &given.text });
            }
            Event::TurnStarted(started) => {
                let message = started.text.as_deref().filter(|_| started.origin == Origin::User);
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
        spot: &Spot<'_>,
        text: Option<&str>,
        directives: &[String],
        at: Option<Timestamp>,
        met: &Met<'_>,
    ) {
        let text = text.filter(|text| met.is_news(text));
        let message = text.is_some_and(|text| {
            self.met(spot, &RecalledText { kind: Kind::UserMessage, at, text })
        });
        // Where the whole message is a place, its sentences are none.
        for text in directives.iter().filter(|_| !message) {
            self.met(spot, &RecalledText { kind: Kind::Directive, at, text });
        }
    }

    fn agent_said(
        &mut self,
        spot: &Spot<'_>,
        text: Option<&str>,
        at: Option<Timestamp>,
        met: &mut Met<'_>,
    ) {
        let is_news = |text: &&str| {
            let is_packet = text.trim_start().starts_with(PACKET);
            met.is_news(text) && !is_packet && met.last_words.as_deref() != Some(*text)
        };
        let Some(text) = text.filter(is_news) else { return };
        if self.met(spot, &RecalledText { kind: Kind::AgentMessage, at, text }) {
            met.last_words = Some(text.to_owned());
        }
    }
}

impl Met<'_> {
    /// Nobody but this log has it.
    fn is_news(&self, text: &str) -> bool {
        !self.has_transcript && !self.seen.has(text)
    }
}

fn handoff(action: &Action) -> Option<&str> {
    match action {
        Action::InjectTurn { purpose: Purpose::Handoff, text, .. } => Some(text),
        Action::DeliverInput { items, .. } => {
            let handoff = items.iter().find(|item| item.role == ItemRole::Handoff)?;
            Some(&handoff.text)
        }
        _ => None,
    }
}
