//! The prompts, their placeholders, and how they are rendered.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The prompt files, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PromptName {
    /// Asks the agent for the packet.
    AutoCompact,
    /// Tells the agent that a compaction comes.
    HeadsUp,
    /// Asks the agent to update its scratch file.
    ScratchWrite,
    /// The judge's instructions.
    Judgment,
    /// What the judge is told about the thread.
    JudgmentContext,
    /// The template of the packet that rawr writes itself.
    WatcherPacket,
    /// Gives the packet back after the compaction.
    Handoff,
    /// Tells the agent that no compaction came.
    CalledOff,
    /// Asks a model for a summary, where rawr rewrites the history itself.
    Compact,
    /// Introduces the summary in a rewritten history.
    SummaryPrefix,
}

/// A value that a prompt may contain, in both spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder {
    /// The name in camel case, without braces.
    pub camel: &'static str,
    /// The name in snake case, without braces.
    pub snake: &'static str,
    /// A prompt without it cannot do its job.
    pub required: bool,
    /// The value is often empty, so a prompt may well do without it.
    pub may_be_empty: bool,
    /// What is filled in, for people.
    pub meaning: &'static str,
}

const fn placeholder(
    camel: &'static str,
    snake: &'static str,
    required: bool,
    meaning: &'static str,
) -> Placeholder {
    Placeholder { camel, snake, required, may_be_empty: false, meaning }
}

const SCRATCH_FILE: Placeholder = placeholder(
    "scratchFile",
    "scratch_file",
    false,
    "the thread's scratch file, relative to its folder",
);
const SCRATCH_FILE_REQUIRED: Placeholder =
    placeholder("scratchFile", "scratch_file", true, SCRATCH_FILE.meaning);
const THREAD_ID: Placeholder =
    placeholder("threadId", "thread_id", false, "the host's id of the thread");
const REASON: Placeholder =
    placeholder("reason", "reason", false, "why the compaction comes now, in a few words");
const FINISHED: Placeholder = Placeholder {
    may_be_empty: true,
    ..placeholder(
        "finished",
        "finished",
        false,
        "a sentence that names the plan step or phase that ended here, followed by a space; empty if none did",
    )
};
const PACKET: Placeholder =
    placeholder("packet", "packet", true, "the continuation packet, word for word");

impl PromptName {
    /// Every prompt, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::AutoCompact,
        Self::HeadsUp,
        Self::ScratchWrite,
        Self::Judgment,
        Self::JudgmentContext,
        Self::WatcherPacket,
        Self::Handoff,
        Self::CalledOff,
        Self::Compact,
        Self::SummaryPrefix,
    ];

    /// The name on the wire, and of the file without `.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AutoCompact => "auto-compact",
            Self::HeadsUp => "heads-up",
            Self::ScratchWrite => "scratch-write",
            Self::Judgment => "judgment",
            Self::JudgmentContext => "judgment-context",
            Self::WatcherPacket => "watcher-packet",
            Self::Handoff => "handoff",
            Self::CalledOff => "called-off",
            Self::Compact => "compact",
            Self::SummaryPrefix => "summary-prefix",
        }
    }

    /// The inverse of [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|prompt| prompt.name() == name)
    }

    /// How many tokens a prompt should have at most, without values: about twice the shipped text. Every token is in
    /// the context of the agent or the judge, and heads-up and handoff take up room in what hosts keep of user
    /// messages.
    pub const fn token_budget(self) -> u64 {
        match self {
            Self::AutoCompact | Self::Judgment => 600,
            Self::JudgmentContext | Self::WatcherPacket | Self::Compact => 400,
            Self::Handoff => 250,
            Self::HeadsUp | Self::ScratchWrite => 150,
            Self::CalledOff | Self::SummaryPrefix => 100,
        }
    }

    /// The placeholders that the prompt may hold.
    pub const fn placeholders(self) -> &'static [Placeholder] {
        match self {
            Self::AutoCompact => &[SCRATCH_FILE, THREAD_ID],
            Self::HeadsUp => &[REASON, FINISHED, THREAD_ID],
            Self::ScratchWrite => &[SCRATCH_FILE_REQUIRED, THREAD_ID],
            Self::Judgment | Self::CalledOff | Self::Compact | Self::SummaryPrefix => &[],
            Self::JudgmentContext => {
                const {
                    &[
                        placeholder("tier", "tier", false, "early, ready, asap or emergency"),
                        placeholder(
                            "percentRemaining",
                            "percent_remaining",
                            false,
                            "percent of the context window left",
                        ),
                        placeholder(
                            "boundariesJson",
                            "boundaries_json",
                            false,
                            "the boundaries present, a JSON list",
                        ),
                        placeholder(
                            "lastAgentMessage",
                            "last_agent_message",
                            false,
                            "the agent's last message",
                        ),
                        placeholder(
                            "nextMessage",
                            "next_message",
                            false,
                            "the user's next message, if the agent's work ends before it",
                        ),
                        placeholder(
                            "liveState",
                            "live_state",
                            false,
                            "what runs, what is uncommitted, how the last check went",
                        ),
                        placeholder(
                            "transcriptExcerpt",
                            "transcript_excerpt",
                            false,
                            "the newest messages, the newest first",
                        ),
                        THREAD_ID,
                        placeholder("turnId", "turn_id", false, "the host's id of the turn"),
                        placeholder(
                            "totalUsageTokens",
                            "total_usage_tokens",
                            false,
                            "tokens in the context now",
                        ),
                        placeholder(
                            "modelContextWindow",
                            "model_context_window",
                            false,
                            "tokens that the window holds",
                        ),
                        placeholder(
                            "firstMessage",
                            "first_message",
                            false,
                            "the user's first message of the thread",
                        ),
                        placeholder(
                            "planTrail",
                            "plan_trail",
                            false,
                            "the plan, and how its steps went since the last compaction",
                        ),
                        placeholder(
                            "directives",
                            "directives",
                            false,
                            "the user's standing instructions, word for word",
                        ),
                        placeholder(
                            "changes",
                            "changes",
                            false,
                            "commits, files and branches since the last compaction, the newest first",
                        ),
                    ]
                }
            }
            Self::WatcherPacket => {
                const {
                    &[
                        placeholder(
                            "goal",
                            "goal",
                            false,
                            "the user's first message of the thread",
                        ),
                        placeholder("plan", "plan", false, "the plan's steps with their status"),
                        placeholder(
                            "done",
                            "done",
                            false,
                            "commits and pull requests since the last compaction",
                        ),
                        placeholder(
                            "directives",
                            "directives",
                            false,
                            "the user's standing instructions, word for word",
                        ),
                        placeholder(
                            "lastAgentMessage",
                            "last_agent_message",
                            false,
                            "the end of the agent's last message",
                        ),
                        placeholder("state", "state", false, "working, waiting_for_user or done"),
                        SCRATCH_FILE,
                        THREAD_ID,
                    ]
                }
            }
            Self::Handoff => {
                const {
                    &[
                        PACKET,
                        placeholder("author", "author", false, "who wrote the packet"),
                        placeholder(
                            "resume",
                            "resume",
                            false,
                            "what to do now, by the packet's state",
                        ),
                        placeholder(
                            "directives",
                            "directives",
                            false,
                            "the user's standing instructions, word for word",
                        ),
                        SCRATCH_FILE,
                        THREAD_ID,
                    ]
                }
            }
        }
    }
}

/// The texts in force, without front matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompts {
    texts: [String; PromptName::ALL.len()],
    /// The decision prompts of the tiers, by configured path.
    decisions: BTreeMap<String, String>,
}

impl Prompts {
    /// Takes the text of each prompt.
    pub fn new(text: impl FnMut(PromptName) -> String) -> Self {
        Self { texts: PromptName::ALL.map(text), decisions: BTreeMap::new() }
    }

    /// Adds the decision prompts, by the path that is configured.
    #[must_use]
    pub fn with_decisions(mut self, decisions: BTreeMap<String, String>) -> Self {
        self.decisions = decisions;
        self
    }

    /// The decision prompt of this path; `judgment.md` if it was not loaded.
    pub fn decision(&self, path: &str) -> &str {
        self.decisions.get(path).map_or_else(|| self.text(PromptName::Judgment), String::as_str)
    }

    /// The text of a prompt.
    pub fn text(&self, name: PromptName) -> &str {
        &self.texts[name as usize]
    }
}

/// The prompts of a running sequence. It keeps the texts that it started with, even across a restart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SequencePrompts {
    /// [`PromptName::AutoCompact`].
    pub packet_request: String,
    /// [`PromptName::HeadsUp`].
    pub heads_up: String,
    /// [`PromptName::ScratchWrite`].
    pub scratch_write: String,
    /// [`PromptName::WatcherPacket`].
    pub watcher_packet: String,
    /// [`PromptName::Handoff`].
    pub handoff: String,
}

impl SequencePrompts {
    /// The texts that a sequence needs.
    pub fn of(prompts: &Prompts) -> Self {
        let text = |name| prompts.text(name).to_owned();
        Self {
            packet_request: text(PromptName::AutoCompact),
            heads_up: text(PromptName::HeadsUp),
            scratch_write: text(PromptName::ScratchWrite),
            watcher_packet: text(PromptName::WatcherPacket),
            handoff: text(PromptName::Handoff),
        }
    }
}

/// What looks like a placeholder: an identifier in braces, `{name}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceholderUse<'t> {
    /// The name between the braces.
    pub name: &'t str,
    /// The bytes in the template, braces included.
    pub span: Range<usize>,
}

/// All `{identifier}`s of a template. Braces of JSON and code do not match: they contain quotes, spaces or nothing.
pub fn scan(template: &str) -> impl Iterator<Item = PlaceholderUse<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let open = at + template[at..].find('{')?;
            let rest = &template[open + 1..];
            let length = rest
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                .count();
            let closed = rest.as_bytes().get(length) == Some(&b'}');
            let named = rest.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
            at = open + 1;
            if closed && named {
                at = open + length + 2;
                return Some(PlaceholderUse { name: &rest[..length], span: open..at });
            }
        }
    })
}

/// Fills in the declared placeholders. Everything else in braces is left unchanged.
pub fn render<'v>(
    name: PromptName,
    template: &str,
    value: impl Fn(&str) -> Option<&'v str>,
) -> String {
    let mut text = String::with_capacity(template.len());
    let mut copied = 0;
    for found in scan(template) {
        let declared =
            name.placeholders().iter().find(|p| p.camel == found.name || p.snake == found.name);
        if let Some(declared) = declared {
            text.push_str(&template[copied..found.span.start]);
            text.push_str(value(declared.camel).unwrap_or_default());
            copied = found.span.end;
        }
    }
    text.push_str(&template[copied..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_filled_and_json_braces_pass_through() {
        let template = "{scratchFile} {scratch_file} {\"a\": {}} { x } {unknown} {threadId";
        let text = render(PromptName::ScratchWrite, template, |name| {
            (name == "scratchFile").then_some("notes.md {threadId}")
        });
        assert_eq!(
            text, "notes.md {threadId} notes.md {threadId} {\"a\": {}} { x } {unknown} {threadId",
            "a value is never scanned again"
        );
    }
}
