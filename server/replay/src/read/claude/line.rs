//! A line of a transcript, and what is in it.

use super::super::Text;
use crate::tokens::TokenCounts;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'l> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) subtype: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) timestamp: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) session_id: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) cwd: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) version: Option<Text<'l>>,
    pub(super) is_sidechain: Option<bool>,
    pub(super) is_meta: Option<bool>,
    pub(super) is_compact_summary: Option<bool>,
    #[serde(borrow)]
    pub(super) message: Option<Message<'l>>,
    pub(super) compact_metadata: Option<CompactMetadata>,
    /// What a tool answered, as data.
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'l RawValue>,
}

#[derive(Deserialize)]
pub(super) struct CompactMetadata {
    pub(super) trigger: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Message<'l> {
    #[serde(borrow)]
    pub(super) id: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) model: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) content: Option<Content<'l>>,
    pub(super) usage: Option<MessageUsage>,
}

#[derive(Deserialize)]
pub(super) struct MessageUsage {
    #[serde(default, deserialize_with = "count")]
    pub(super) input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    pub(super) cache_creation_input_tokens: u64,
    #[serde(default, rename = "cache_creation", deserialize_with = "for_hour")]
    for_hour: u64,
    #[serde(default, deserialize_with = "count")]
    pub(super) cache_read_input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    pub(super) output_tokens: u64,
}

impl MessageUsage {
    pub(super) fn counts(&self) -> TokenCounts {
        TokenCounts {
            requests: 1,
            input: self.input_tokens,
            cached: self.cache_read_input_tokens,
            written: self.cache_creation_input_tokens.saturating_sub(self.for_hour),
            written_for_hour: self.for_hour.min(self.cache_creation_input_tokens),
            output: self.output_tokens,
        }
    }
}

/// What is no count is 0: a message is worth more than its usage.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(Value::deserialize(from)?.as_u64().unwrap_or(0))
}

/// The part of the tokens that go into the cache that stays for an hour.
fn for_hour<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let kinds = Value::deserialize(from)?;
    Ok(kinds.get("ephemeral_1h_input_tokens").and_then(Value::as_u64).unwrap_or(0))
}

#[derive(Deserialize)]
pub(super) struct Block<'l> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'l, str>,
    #[serde(borrow)]
    pub(super) text: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) id: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) name: Option<Text<'l>>,
    #[serde(borrow)]
    pub(super) input: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(super) tool_use_id: Option<Text<'l>>,
    pub(super) is_error: Option<bool>,
    #[serde(borrow)]
    pub(super) content: Option<&'l RawValue>,
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
    Text(Cow<'l, str>),
    Blocks(Vec<Block<'l>>),
}

impl<'de: 'l, 'l> Deserialize<'de> for Content<'l> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;
        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of blocks")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        from.deserialize_any(TextOrBlocks)
    }
}
