//! Language features for prompts and configuration files in an editor: text in, answers out. Positions are byte
//! offsets. Knows no registry, no client and no wire format.

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

pub use completion::{Proposal, ProposalKind, complete};
pub use history::{DAYS, explained, told, would_have_fired};
pub use hover::{config_key, field_at, hover};
pub use problems::{QuickFix, fix, problems};
pub use settings::{links, references, tiers};
pub use text::{EditorPosition, EditorText, PositionEncoding, TextChange};
pub(crate) use values::values_of;
pub use world::{Doc, DocumentKind, LanguageContext, PlaceholderValues};

use std::ops::Range;
use std::path::PathBuf;

/// Go to definition: the file that a value comes from or names, and the position in it if known.
pub fn definition(
    doc: &Doc<'_>,
    world: &LanguageContext,
    at: usize,
) -> Option<(PathBuf, Range<usize>)> {
    if let Some((_, path)) = links(doc, world).into_iter().find(|(span, _)| touches(span, at)) {
        return Some((path, 0..0));
    }
    // The configuration overrides values of the front matter.
    doc.kind.prompt()?;
    let key = config_key(&field_at(doc.text, at)?.path)?;
    world.config(doc, None).0.standing(key)?.place
}

pub fn touches(span: &Range<usize>, at: usize) -> bool {
    span.start <= at && at <= span.end
}

/// The range of problems that concern a whole document: its first line of text.
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
