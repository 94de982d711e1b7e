//! What happened in a run: what the player did, what the model was sent, and what stood in the input box at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::plan::{AgentKind, Piece, PieceId};

/// Since 1970, as in rawr's events.
pub type Ms = u64;

pub fn since_1970(time: SystemTime) -> Ms {
    let passed = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    passed.as_millis().try_into().unwrap_or(Ms::MAX)
}

pub fn now() -> Ms {
    since_1970(SystemTime::now())
}

/// A part of a conversation that the model was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// What the person said, or the agent's program in the person's role.
    User(String),
    /// In the person's role, by rawr.
    Rawr(String),
    Summary,
    Agent,
}

/// A request to the model.
#[derive(Debug, Clone)]
pub struct Heard {
    pub at: Ms,
    /// The agent's id of the conversation.
    pub session: String,
    pub is_compaction: bool,
    /// A turn of the conversation, and not a title or another question beside it.
    pub is_turn: bool,
    pub parts: Vec<Part>,
    /// The whole request, for what files held.
    pub body: String,
}

/// A key or command of the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Enter,
    /// Reached the agent, and no picker.
    Escape,
    /// May clear the input box.
    Clear,
    /// Changes the conversation: `/clear`, `/resume`, `/rewind`.
    Switch,
    /// The agent's program has ended, or its terminal was closed.
    End,
}

#[derive(Debug)]
pub struct Record {
    pub kind: AgentKind,
    pub preflight: bool,
    pub pieces: Vec<Piece>,
    pub deeds: Vec<(Ms, Deed)>,
    /// When typing began.
    pub typed: BTreeMap<PieceId, Ms>,
    /// Typed where no input box was, and not seen in one.
    pub astray: BTreeSet<PieceId>,
    /// When Enter was pressed with this in the input box.
    pub entered: BTreeMap<PieceId, Vec<Ms>>,
    /// Came back into the input box.
    pub returned: BTreeSet<PieceId>,
    /// Was in the input box when the program ended.
    pub ended_with: BTreeSet<PieceId>,
    pub heard: Vec<Heard>,
    /// The input boxes of the end, one for each session that was opened.
    pub boxes: Vec<String>,
    /// Stands as a message of the person in the session that the agent has stored, where a resume shows it.
    pub stored: BTreeSet<PieceId>,
    /// The player resumed sessions, and this was not yet said before.
    pub late: BTreeSet<PieceId>,
    /// From when to when a process of rawr was stopped: what it records after that may have happened before.
    pub stalls: Vec<(Ms, Ms)>,
    /// rawr's events of all threads.
    pub events: Vec<Value>,
    /// Processes of rawr that did not end.
    pub left: Vec<String>,
    /// For a person who reads it.
    pub log: Vec<(Ms, String)>,
}

impl Record {
    pub fn new(kind: AgentKind, preflight: bool, pieces: Vec<Piece>) -> Self {
        Self {
            kind,
            preflight,
            pieces,
            deeds: Vec::new(),
            typed: BTreeMap::new(),
            astray: BTreeSet::new(),
            entered: BTreeMap::new(),
            returned: BTreeSet::new(),
            ended_with: BTreeSet::new(),
            heard: Vec::new(),
            boxes: Vec::new(),
            stored: BTreeSet::new(),
            late: BTreeSet::new(),
            stalls: Vec::new(),
            events: Vec::new(),
            left: Vec::new(),
            log: Vec::new(),
        }
    }

    /// The pieces with a word in this text, which lines may have broken anywhere.
    pub fn pieces_in(&self, text: &str) -> Vec<PieceId> {
        let text = without_blanks(text);
        let is_in = |piece: &&Piece| {
            text.contains(&piece.first_word()) || text.contains(&piece.last_word())
        };
        self.pieces.iter().filter(is_in).map(|piece| piece.number).collect()
    }
}

/// Lines of the screen are broken anywhere.
pub fn without_blanks(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}
