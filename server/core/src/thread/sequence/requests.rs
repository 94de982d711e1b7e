//! What the agent is asked for before a compaction: a queue that heads-up, scratch notes and packet go through alike.

use super::super::{Progress, Thread};
use super::{Aim, Sequence};
use crate::event::{AgentRequest, Packet, Phase, Purpose};
use crate::policy::{Deadlines, PacketAuthor, PacketChannel};
use crate::units::ActionId;
use serde::{Deserialize, Serialize};

/// The requests of a sequence, in the order in which they are made.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RequestQueue {
    requests: Vec<QueuedRequest>,
    /// Whether the packet is asked for in the conversation or outside of it.
    pub channel: PacketChannel,
}

/// A request of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QueuedRequest {
    /// What is asked for.
    pub request: AgentRequest,
    /// The actions that asked for it since the last work, oldest first. The newest tells what came of it.
    pub actions: Vec<ActionId>,
}

/// A request of the queue as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PreCompactRequest {
    /// What is asked for.
    pub request: AgentRequest,
    /// Who is to write what it asks for, or wrote it.
    pub author: PacketAuthor,
    /// How far it has come.
    pub state: RequestState,
    /// The newest action that asked for it.
    pub action: Option<ActionId>,
    /// What came of it, for people.
    pub result: Option<String>,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// The agent has not been asked for it yet.
    Queued,
    /// The agent was asked and has not answered.
    Asked,
    /// The agent has answered, or rawr wrote it.
    Answered,
    /// The host refused it, or no answer came.
    Failed,
}

impl RequestQueue {
    pub(super) fn new(requests: &[AgentRequest], sampled: bool) -> Self {
        let queued =
            |request: &AgentRequest| QueuedRequest { request: *request, actions: Vec::new() };
        Self {
            requests: requests.iter().map(queued).collect(),
            channel: if sampled { PacketChannel::Sample } else { PacketChannel::Transcript },
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, QueuedRequest> {
        self.requests.iter()
    }

    /// Whether the agent is to write the packet.
    pub(crate) fn has_packet(&self) -> bool {
        asks_for(&self.requests, AgentRequest::Packet)
    }

    /// How often the packet was asked for since the last work.
    pub(crate) fn packet_requests(&self) -> usize {
        self.only_packet().iter().map(|packet| packet.actions.len()).sum()
    }

    /// The requests, grouped into turns. An agent gets all of them in one turn, because each turn costs a full request.
    /// A sample is separate, because it cannot write the scratch file.
    pub(crate) fn turns(&self) -> impl Iterator<Item = &[QueuedRequest]> {
        self.requests.chunks(self.turn_size())
    }

    fn turn_size(&self) -> usize {
        let writes_notes = asks_for(&self.requests, AgentRequest::ScratchWrite);
        let all = self.requests.len().max(1);
        match (self.has_packet(), self.channel) {
            (false, _) => 1,
            (true, PacketChannel::Sample) if writes_notes => all - 1,
            (true, PacketChannel::Sample | PacketChannel::Transcript) => all,
        }
    }

    /// The turn that is to be asked for next.
    pub(crate) fn next_turn(&self) -> Option<&[QueuedRequest]> {
        self.turns().find(|turn| !has_begun(turn))
    }

    /// The turn that asks for the packet once more.
    pub(crate) fn only_packet(&self) -> &[QueuedRequest] {
        let packet = self.requests.iter().position(|of| of.request == AgentRequest::Packet);
        packet.map_or(&[], |at| &self.requests[at..=at])
    }

    pub(super) fn has_begun(&self) -> bool {
        self.turns().next().is_some_and(has_begun)
    }

    /// What the agent is doing, or will be asked first.
    fn purpose(&self) -> Purpose {
        let asked = self.turns().take_while(|turn| has_begun(turn)).last();
        purpose(asked.or_else(|| self.turns().next()).unwrap_or_default())
    }

    pub(super) fn phase(&self) -> Phase {
        match self.purpose() {
            Purpose::HeadsUp => Phase::AwaitingHeadsUp,
            Purpose::ScratchWrite => Phase::AwaitingScratchWrite,
            Purpose::PacketRequest | Purpose::Handoff | Purpose::Notice => Phase::AwaitingPacket,
        }
    }

    /// In seconds.
    pub(super) fn deadline(&self, deadlines: &Deadlines) -> u64 {
        match self.purpose() {
            Purpose::HeadsUp => deadlines.heads_up,
            Purpose::ScratchWrite => deadlines.scratch_write,
            Purpose::PacketRequest | Purpose::Handoff | Purpose::Notice => deadlines.packet,
        }
    }

    /// The next turn was asked for by this action, or the packet once more.
    pub(super) fn asked(&mut self, purpose: Purpose, action: &ActionId) {
        let size = self.turn_size();
        let next = self.requests.chunks_mut(size).find(|turn| !has_begun(turn));
        if let Some(turn) = next {
            turn.iter_mut().for_each(|queued| queued.actions.push(action.clone()));
        } else if purpose == Purpose::PacketRequest {
            let packet =
                self.requests.iter_mut().find(|queued| queued.request == AgentRequest::Packet);
            packet.into_iter().for_each(|queued| queued.actions.push(action.clone()));
        }
    }

    /// Puts the turn with the packet back into the queue. False where the agent is not to write it.
    pub(super) fn ask_packet_again(&mut self) -> bool {
        let (size, has_packet) = (self.turn_size(), self.has_packet());
        if let Some(last) = self.requests.chunks_mut(size).last().filter(|_| has_packet) {
            last.iter_mut().for_each(|queued| queued.actions.clear());
        }
        has_packet
    }
}

impl Sequence {
    /// What the agent is asked for before the compaction, in order, and what came of each. The packet that rawr writes
    /// is the last of them, too.
    pub fn pre_compact_requests(&self, thread: &Thread) -> Vec<PreCompactRequest> {
        let asked = self.requests.iter().map(|queued| self.as_seen(queued, thread));
        let compacts = match self.aim {
            Aim::Compact | Aim::Recover => !self.is_inline(),
            Aim::HandOver | Aim::CallOff => false,
        };
        let by_rawr = (compacts && !self.requests.has_packet()).then(|| PreCompactRequest {
            request: AgentRequest::Packet,
            author: self.packet.as_ref().map_or(PacketAuthor::Watcher, |packet| packet.author),
            state: match self.packet {
                Some(_) => RequestState::Answered,
                None => RequestState::Queued,
            },
            action: None,
            result: self.packet.as_ref().map(size_of),
        });
        asked.chain(by_rawr).collect()
    }

    fn as_seen(&self, queued: &QueuedRequest, thread: &Thread) -> PreCompactRequest {
        let action = queued.actions.last();
        let progress = action.and_then(|id| thread.action(id)).map(|issued| &issued.progress);
        let asked = match (action, progress) {
            (None, _) => (RequestState::Queued, None),
            (Some(_), None | Some(Progress::Issued | Progress::Accepted)) => {
                (RequestState::Asked, None)
            }
            (_, Some(Progress::Completed(_))) => (RequestState::Answered, None),
            (_, Some(Progress::Failed(error))) => (RequestState::Failed, Some(error.clone())),
            (_, Some(Progress::Withdrawn)) => (RequestState::Failed, None),
        };
        let packet = self.packet.as_ref().filter(|_| queued.request == AgentRequest::Packet);
        let (state, result) = match packet {
            Some(packet) if packet.author == PacketAuthor::Agent => {
                (RequestState::Answered, Some(size_of(packet)))
            }
            Some(packet) => (RequestState::Failed, Some(size_of(packet))),
            None => asked,
        };
        PreCompactRequest {
            request: queued.request,
            author: packet.map_or(PacketAuthor::Agent, |packet| packet.author),
            state,
            action: action.cloned(),
            result,
        }
    }
}

fn size_of(packet: &Packet) -> String {
    let by = match packet.author {
        PacketAuthor::Agent => "the agent",
        PacketAuthor::Watcher => "rawr",
        PacketAuthor::Person => "a person",
    };
    format!("a packet of {} characters by {by}", packet.text.chars().count())
}

fn has_begun(turn: &[QueuedRequest]) -> bool {
    turn.iter().any(|queued| !queued.actions.is_empty())
}

/// Whether a turn asks for this.
pub(crate) fn asks_for(turn: &[QueuedRequest], request: AgentRequest) -> bool {
    turn.iter().any(|queued| queued.request == request)
}

pub(crate) fn purpose(turn: &[QueuedRequest]) -> Purpose {
    if asks_for(turn, AgentRequest::Packet) {
        Purpose::PacketRequest
    } else if asks_for(turn, AgentRequest::ScratchWrite) {
        Purpose::ScratchWrite
    } else {
        Purpose::HeadsUp
    }
}
