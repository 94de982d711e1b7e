//! What an editor shows of prompts and configuration files while they are edited: text in, answers out. Places are bytes
//! of the text. It knows no registry, no client and nothing of how answers are sent.

mod completion;
mod front_matter;
mod history;
mod hover;
mod problems;
mod settings;
mod text;
mod toml;
mod values;
mod world;

pub use completion::{Proposal, Sort, complete};
pub use history::{DAYS, told, would_have_fired};
pub use hover::{config_key, field_at, hover};
pub use problems::{Fix, fix, problems};
pub use settings::{links, references, tiers};
pub use text::{Change, Encoding, Position, Text};
pub(crate) use values::values_of;
pub use world::{Doc, Kind, Values, World};

use std::ops::Range;
use std::path::PathBuf;

/// Where a value that the cursor is on comes from, or leads to: a file, and a place in it where one is known.
pub fn definition(doc: &Doc<'_>, world: &World, at: usize) -> Option<(PathBuf, Range<usize>)> {
    if let Some((_, path)) = links(doc, world).into_iter().find(|(span, _)| touches(span, at)) {
        return Some((path, 0..0));
    }
    // A value of the front matter gives way to the configuration's.
    doc.kind.prompt()?;
    let key = config_key(&field_at(doc.text, at)?.path)?;
    world.config(doc, None).0.standing(key)?.place
}

pub fn touches(span: &Range<usize>, at: usize) -> bool {
    span.start <= at && at <= span.end
}

/// Where what concerns the whole of a document is shown: its first line of text.
pub fn first_line(text: &str) -> Range<usize> {
    let front = front_matter::FrontMatter::of(text).span.end;
    let start = if front == 0 { 0 } else { front + line_length(&text[front..]) };
    let start = start.min(text.len());
    start..start + text[start..].lines().next().unwrap_or_default().len()
}

fn line_length(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests;
