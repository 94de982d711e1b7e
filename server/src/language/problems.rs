//! What is wrong with a text, each problem at its place, and what would put it right. Found by those that read such files
//! in earnest.

use super::settings::paths_in;
use super::world::{Doc, File, Kind, World};
use crate::problem::{Help, Problem};
use crate::prompts::parse;
use rawr_core::prompt::PromptName;
use std::ops::Range;
use std::path::Path;

/// A change that puts a problem right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub span: Range<usize>,
    pub text: String,
}

/// Every one has a place in the text.
pub fn problems(doc: &Doc<'_>, world: &World) -> Vec<Problem> {
    let mut found = match doc.kind {
        Kind::Prompt(name) => of_prompt(name, doc),
        Kind::Decision => of_prompt(PromptName::Judgment, doc),
        Kind::Config(_) => Vec::new(),
    };
    if matches!(doc.kind, Kind::Config(_) | Kind::Prompt(PromptName::AutoCompact)) {
        let of_this = |problem: &Problem| problem.file.as_deref() == Some(doc.path);
        found.extend(world.config(doc, None).1.into_iter().filter(of_this));
    }
    if let Kind::Config(File::Rawr | File::Codex) = doc.kind {
        found.extend(lost_prompts(doc, world));
    }
    for problem in &mut found {
        problem.span = Some(place(doc.text, problem.span.take()));
    }
    found.sort_by_key(|problem| problem.span.as_ref().map(|span| (span.start, span.end)));
    found.dedup();
    found
}

fn of_prompt(name: PromptName, doc: &Doc<'_>) -> Vec<Problem> {
    match parse(name, doc.text, Some(doc.path)) {
        Ok(parsed) => parsed.problems,
        Err(problems) => problems,
    }
}

/// What is wrong with the whole of a text is told at its first line.
fn place(text: &str, span: Option<Range<usize>>) -> Range<usize> {
    match span {
        Some(span) => span.start.min(text.len())..span.end.min(text.len()),
        None => 0..text.lines().next().unwrap_or_default().len(),
    }
}

/// Prompts that are named and not there.
fn lost_prompts(doc: &Doc<'_>, world: &World) -> Vec<Problem> {
    let lost = |path: &Path| world.text_of(path).is_none() && !path.exists();
    paths_in(doc.text)
        .into_iter()
        .map(|named| (world.prompt_path(&named.written), named))
        .filter(|(path, _)| lost(path))
        .map(|(path, named)| {
            let (what, instead) = match named.prompt {
                None => ("decision prompt", "`judgment.md`"),
                Some(_) => ("prompt", "the shipped text"),
            };
            let message = format!("there is no such {what}: {}", path.display());
            Problem::warning("no-file", message)
                .help(format!("{instead} is used instead"))
                .in_file(Some(doc.path))
                .at(named.span)
        })
        .collect()
}

/// The name that was meant, in the notation that stands there.
pub fn fix(text: &str, problem: &Problem) -> Option<Fix> {
    let (Some(Help::Meant(meant)), Some(span)) = (&problem.help, problem.span.clone()) else {
        return None;
    };
    let written = text.get(span.clone())?;
    let new = match written.chars().next()? {
        '{' => format!("{{{meant}}}"),
        quote @ ('"' | '\'') => format!("{quote}{meant}{quote}"),
        _ => (*meant).to_owned(),
    };
    Some(Fix { title: format!("Write `{meant}`"), span, text: new })
}
