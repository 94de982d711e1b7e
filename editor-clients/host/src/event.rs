//! What a session reports while it runs: the interface between the driver and whatever shows a session. A new event or
//! field is a change for everything that shows sessions.

mod json;

use std::io;

use rawr_protocol::{
    CompactionUpdateNotification, ConfigChangedNotification, DecisionRecordedNotification,
    LogMessageParams, PacketGetResult, PromptChangedNotification, Purpose,
    SequenceHeadsUpNotification, ThreadChangedNotification, ThreadOpenResult,
};
use serde::Serialize;

pub use self::json::{JsonLines, line as json_line};
use crate::host::{HostEvent, HostThread};
use crate::session_files::SessionFiles;

/// An event of a session. The driver reports events in order; a reporter shows or records them.
#[derive(Debug)]
pub enum SessionEvent<'s> {
    /// The thread is open, and the session begins.
    Session {
        /// The conversation and the host that runs it.
        host: &'s HostThread,
        /// What the sidecar answered.
        opened: &'s ThreadOpenResult,
        /// The sidecar's process id.
        sidecar: Option<u32>,
    },
    /// The sidecar died and runs again.
    SidecarRestarted {
        /// How it died.
        error: &'s str,
        /// How many actions it still asks for.
        pending: usize,
    },
    /// A user message was given to the agent.
    UserMessage {
        /// The turn that it is in.
        turn_id: &'s str,
        /// What the person wrote.
        text: &'s str,
    },
    /// A user message is held until the handoff.
    InputHeld {
        /// The input's id.
        input_id: &'s str,
        /// What the person wrote.
        text: &'s str,
    },
    /// The session ends before the agent got a user message.
    MessageLeft {
        /// What the person wrote.
        text: &'s str,
        /// What becomes of it.
        fate: LeftMessage,
    },
    /// rawr gave the agent a text other than a handoff.
    Injected {
        /// What the text asks for.
        purpose: Purpose,
        /// The text.
        injected: InjectedText<'s>,
    },
    /// rawr gave the packet back to the agent.
    Handoff(InjectedText<'s>),
    /// The host reported something.
    Host(&'s HostEvent),
    /// Phase, tier, percent, guards or the last compaction changed.
    ThreadChanged(&'s ThreadChangedNotification),
    /// The sidecar assessed the thread.
    Verdict(&'s DecisionRecordedNotification),
    /// A compaction is announced, recommended, or waits for approval.
    HeadsUp(&'s SequenceHeadsUpNotification),
    /// The continuation packet was taken.
    Packet(&'s PacketGetResult),
    /// A compaction started, completed or failed.
    Compaction(&'s CompactionUpdateNotification),
    /// A prompt file was edited.
    PromptChanged(&'s PromptChangedNotification),
    /// A configuration file was edited.
    ConfigChanged(&'s ConfigChangedNotification),
    /// The sidecar logged something for people.
    Log(&'s LogMessageParams),
    /// A message from the driver.
    Notice {
        /// How much it matters.
        level: NoticeLevel,
        /// One sentence.
        message: &'s str,
    },
    /// What the session left on disk.
    Saved(&'s SessionFiles),
    /// The session is over. Commands that look back and go on.
    NextSteps(&'s NextSteps),
}

/// What becomes of a message that the agent did not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftMessage {
    /// Waits in the thread. The next session delivers it before anything else that the user says.
    Kept,
    /// Stored nowhere.
    NotSent,
    /// The sidecar ended while it was given the message. The next session delivers it if it was stored before.
    Unknown,
}

/// Commands for people after a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextSteps {
    /// Continues the conversation; absent if the host does not store it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Explains the decisions.
    pub explain: String,
}

/// A text that rawr gave to the agent.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InjectedText<'s> {
    /// The sequence that it belongs to.
    pub sequence_id: &'s str,
    /// The action that asked for it.
    pub action_id: &'s str,
    /// The host's turn; absent if it stands between two turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<&'s str>,
    /// The text, with rawr's marker.
    pub text: &'s str,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something did not go as asked, and the session continues.
    Warning,
    /// Something is broken.
    Error,
}

/// Shows or records the events of a session.
pub trait Reporter: Send {
    /// Reports one event.
    ///
    /// # Errors
    ///
    /// Fails once the reader is gone. The driver then reports nothing further, and the session ends.
    fn report(&mut self, event: &SessionEvent<'_>) -> io::Result<()>;

    /// Whether [`tick`](Self::tick) must be called regularly.
    fn is_live(&self) -> bool {
        false
    }

    /// Redraws what changes with time. Called every 120 ms while [`is_live`](Self::is_live) is true.
    ///
    /// # Errors
    ///
    /// As [`report`](Self::report).
    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }
}
