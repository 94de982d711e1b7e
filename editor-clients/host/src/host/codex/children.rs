//! Sub-agents of the agent. Each is reported as a tool call that runs while the sub-agent works. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::message::{CodexItem, CodexNotification, CodexThreadStatus, CollabCall};
use crate::host::{HostEvent, TurnKind};
use crate::text::one_line;

#[derive(Debug, Default)]
pub(super) struct SubAgents {
    /// The task of each sub-agent, by thread id.
    tasks: BTreeMap<String, String>,
    /// Active threads other than the conversation. A sub-agent may be active before it is known to be one.
    at_work: BTreeSet<String>,
}

/// The width of a task in the tool's name.
const WIDTH: usize = 80;

impl SubAgents {
    /// The events that a notification causes, to be reported after `made`, the conversation's own events.
    pub(super) fn read(
        &mut self,
        note: &CodexNotification,
        thread_id: &str,
        turn_id: Option<&str>,
        made: &[HostEvent],
    ) -> Vec<HostEvent> {
        let Some(turn_id) = turn_id else { return Vec::new() };
        let mut events = self.told(note, thread_id, turn_id);
        // A new turn resets the running tools, so the active sub-agents are reported again.
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

    fn told(&mut self, note: &CodexNotification, thread_id: &str, turn_id: &str) -> Vec<HostEvent> {
        match note {
            CodexNotification::ItemCompleted(note) if note.thread_id == thread_id => {
                match &note.item {
                    CodexItem::CollabAgentToolCall(call) => self.spawned(call, turn_id),
                    _ => Vec::new(),
                }
            }
            CodexNotification::StatusChanged(note) if note.thread_id != thread_id => {
                self.changed(&note.thread_id, note.status == CodexThreadStatus::Active, turn_id)
            }
            CodexNotification::Closed(note) => self.changed(&note.thread_id, false, turn_id),
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
