//! Sub-agents that the agent has spawned: to the arbiter each is a tool that runs for as long as it works. Pure; sends nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::message::{CollabCall, Item, Note, Status};
use crate::host::{HostEvent, TurnKind};
use crate::text::one_line;

#[derive(Debug, Default)]
pub(super) struct Children {
    /// What each was told to do, by its thread.
    tasks: BTreeMap<String, String>,
    /// Other threads that work, children or not: a child may be at work before it is known to be one.
    at_work: BTreeSet<String>,
}

/// Of what a child was told.
const WIDTH: usize = 80;

impl Children {
    /// What a note, and what the conversation made of it, say of children. It comes after the latter.
    pub(super) fn read(
        &mut self,
        note: &Note,
        thread_id: &str,
        turn_id: Option<&str>,
        made: &[HostEvent],
    ) -> Vec<HostEvent> {
        let Some(turn_id) = turn_id else { return Vec::new() };
        let mut events = self.told(note, thread_id, turn_id);
        // Whatever runs when a turn of the user's begins is forgotten there.
        let begins = |event: &HostEvent| {
            let HostEvent::TurnStarted { kind, .. } = event else { return false };
            matches!(kind, TurnKind::Asked | TurnKind::Person { .. } | TurnKind::Host)
        };
        if made.iter().any(begins) {
            let at_work = self.tasks.keys().filter(|child| self.at_work.contains(*child));
            events.extend(at_work.map(|child| self.started(child, turn_id)));
        }
        events
    }

    fn told(&mut self, note: &Note, thread_id: &str, turn_id: &str) -> Vec<HostEvent> {
        match note {
            Note::ItemCompleted(note) if note.thread_id == thread_id => match &note.item {
                Item::CollabAgentToolCall(call) => self.spawned(call, turn_id),
                _ => Vec::new(),
            },
            Note::StatusChanged(note) if note.thread_id != thread_id => {
                self.changed(&note.thread_id, note.status == Status::Active, turn_id)
            }
            Note::Closed(note) => self.changed(&note.thread_id, false, turn_id),
            _ => Vec::new(),
        }
    }

    fn spawned(&mut self, call: &CollabCall, turn_id: &str) -> Vec<HostEvent> {
        let Some(task) = call.prompt.as_ref().filter(|_| call.tool == "spawnAgent") else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for child in &call.receiver_thread_ids {
            let is_new = self.tasks.insert(child.clone(), one_line(task, WIDTH)).is_none();
            if is_new && self.at_work.contains(child) {
                events.push(self.started(child, turn_id));
            }
        }
        events
    }

    fn changed(&mut self, child: &str, works: bool, turn_id: &str) -> Vec<HostEvent> {
        let is_news = match works {
            true => self.at_work.insert(child.to_owned()),
            false => self.at_work.remove(child),
        };
        if !is_news || !self.tasks.contains_key(child) {
            return Vec::new();
        }
        let (turn_id, call_id) = (turn_id.to_owned(), child.to_owned());
        vec![match works {
            true => self.started(child, &turn_id),
            false => HostEvent::ToolFinished { turn_id, call_id },
        }]
    }

    fn started(&self, child: &str, turn_id: &str) -> HostEvent {
        let task = self.tasks.get(child).map_or("", String::as_str);
        HostEvent::ToolStarted {
            turn_id: turn_id.to_owned(),
            call_id: child.to_owned(),
            name: format!("sub-agent {child}: {task}"),
        }
    }
}
