//! A line of a transcript, and what is in it.

use crate::lenient::{self, AnyValue, Count, Text};
use crate::tokens::TokenCounts;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::hash::{Hash, Hasher};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'l> {
    #[serde(borrow, default, deserialize_with = "lenient::text", rename = "type")]
    pub(super) kind: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) uuid: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) request_id: Option<Text<'l>>,
    /// A line of the session that this one was forked from.
    pub(super) forked_from: Option<IgnoredAny>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) subtype: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) timestamp: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) session_id: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) cwd: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) version: Option<Text<'l>>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub(super) is_sidechain: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub(super) is_meta: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub(super) is_compact_summary: bool,
    #[serde(borrow, default, deserialize_with = "lenient::object")]
    pub(super) message: Option<Message<'l>>,
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) compact_metadata: Option<CompactMetadata>,
    /// Who wrote a message that started a turn. Claude Code on a terminal writes it.
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) origin: Option<PromptOrigin>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    prompt_source: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::object")]
    pub(super) attachment: Option<Attachment<'l>>,
    /// What a tool answered, as data.
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'l RawValue>,
}

impl Line<'_> {
    /// Whether the program that runs `claude -p` sent it.
    pub(super) fn is_sdks(&self) -> bool {
        self.prompt_source.as_deref() == Some("sdk")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompactMetadata {
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) trigger: Option<String>,
    #[serde(default, deserialize_with = "lenient::count")]
    pub(super) pre_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    pub(super) post_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptOrigin {
    #[serde(default, deserialize_with = "lenient::owned")]
    kind: Option<String>,
    /// The plugin submitted what the user had typed.
    #[serde(default, deserialize_with = "lenient::flag")]
    as_user: bool,
}

impl PromptOrigin {
    pub(super) fn is_users(&self) -> bool {
        self.kind.as_deref() != Some("plugin") || self.as_user
    }
}

/// What Claude Code adds to a conversation.
#[derive(Deserialize)]
pub(super) struct Attachment<'l> {
    #[serde(borrow, default, deserialize_with = "lenient::text", rename = "type")]
    pub(super) kind: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) content: Option<&'l RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Message<'l> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) id: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) model: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    stop_reason: Option<Text<'l>>,
    #[serde(borrow, default)]
    pub(super) content: Content<'l>,
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) usage: Option<MessageUsage>,
}

impl Message<'_> {
    pub(super) fn hash_texts(&self, hasher: &mut impl Hasher) {
        match &self.content {
            Content::Text(text) => text.hash(hasher),
            Content::Blocks(blocks) => {
                for block in blocks {
                    for text in [&block.text, &block.id, &block.tool_use_id] {
                        text.as_deref().hash(hasher);
                    }
                }
            }
        }
    }

    /// Whether the agent wants nothing more after it.
    pub(super) fn ends_turn(&self) -> bool {
        self.stop_reason.as_deref() == Some("end_turn")
    }
}

#[derive(Deserialize)]
pub(super) struct MessageUsage {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    cache_creation_input_tokens: Count,
    #[serde(default, deserialize_with = "lenient::object")]
    cache_creation: Option<CacheWrites>,
    #[serde(default)]
    cache_read_input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
}

/// The tokens that go into the cache, by how long they stay.
#[derive(Deserialize)]
struct CacheWrites {
    #[serde(default, deserialize_with = "lenient::count")]
    ephemeral_1h_input_tokens: Option<u64>,
}

impl MessageUsage {
    /// What is no count is 0: a message is worth more than its usage.
    pub(super) fn counts(&self) -> TokenCounts {
        let written = self.cache_creation_input_tokens.or_zero();
        let for_hour = self.cache_creation.as_ref().and_then(|of| of.ephemeral_1h_input_tokens);
        let for_hour = for_hour.unwrap_or(0).min(written);
        TokenCounts {
            requests: 1,
            input: self.input_tokens.or_zero(),
            cached: self.cache_read_input_tokens.or_zero(),
            written: written - for_hour,
            written_for_hour: for_hour,
            output: self.output_tokens.or_zero(),
        }
    }

    /// Whether something in it is no count: the others alone would look like an emptier context.
    pub(super) fn is_odd(&self) -> bool {
        let read = [
            self.input_tokens,
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
            self.output_tokens,
        ];
        read.contains(&Count::Odd)
    }
}

#[derive(Deserialize)]
pub(super) struct Block<'l> {
    #[serde(borrow, default, deserialize_with = "lenient::text", rename = "type")]
    kind: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) text: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) id: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) name: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) input: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) tool_use_id: Option<Text<'l>>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub(super) is_error: bool,
    #[serde(borrow)]
    pub(super) content: Option<&'l RawValue>,
}

impl<'l> Block<'l> {
    fn of_text(text: Text<'l>) -> Self {
        let (id, name, input, tool_use_id, is_error, content) = Default::default();
        let kind = Some("text".into());
        Self { kind, text: Some(text), id, name, input, tool_use_id, is_error, content }
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }
}

#[derive(Deserialize)]
pub(super) struct ShellInput {
    pub(super) command: String,
}

#[derive(Deserialize)]
pub(super) struct ReadInput {
    pub(super) file_path: String,
}

/// Content is a text, or a list of blocks.
pub(super) enum Content<'l> {
    Text(Text<'l>),
    Blocks(Vec<Block<'l>>),
}

impl<'l> Content<'l> {
    pub(super) fn into_blocks(self) -> Vec<Block<'l>> {
        match self {
            Self::Text(text) => vec![Block::of_text(text)],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for Content<'l> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        type Value<'l> = AnyValue<'l, Block<'l>, AnyValue<'l, Block<'l>>>;
        Ok(match Value::deserialize(from)? {
            AnyValue::Text(text) => Content::Text(text),
            AnyValue::List(entries) => Content::Blocks(lenient::objects(entries)),
            AnyValue::Object(block) => Content::Blocks(vec![block]),
            _ => Content::default(),
        })
    }
}
