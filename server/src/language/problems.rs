//! Diagnostics: the problems of a text with their positions, and quick fixes. Found by the parsers that the sidecar
//! itself uses.

use super::settings::paths_in;
use super::world::{ConfigFile, Doc, DocumentKind, LanguageContext};
use rawr_core::prompt::PromptName;
use rawr_settings::problem::{FileProblem, ProblemHelp};
use rawr_settings::prompts::parse;
use std::ops::Range;
use std::path::Path;

/// A text edit that fixes a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickFix {
    pub title: String,
    pub span: Range<usize>,
    pub text: String,
}

/// Every problem has a position in the text.
pub fn problems(doc: &Doc<'_>, world: &LanguageContext) -> Vec<FileProblem> {
    let mut found = match doc.kind {
        DocumentKind::Prompt(name) => of_prompt(name, doc),
        DocumentKind::Decision => of_prompt(PromptName::Judgment, doc),
        DocumentKind::Config(_) => Vec::new(),
    };
    if matches!(doc.kind, DocumentKind::Config(_) | DocumentKind::Prompt(PromptName::AutoCompact)) {
        let of_this = |problem: &FileProblem| problem.file.as_deref() == Some(doc.path);
        found.extend(world.config(doc, None).1.into_iter().filter(of_this));
    }
    if let DocumentKind::Config(ConfigFile::Rawr | ConfigFile::Host) = doc.kind {
        found.extend(lost_prompts(doc, world));
    }
    for problem in &mut found {
        problem.span = Some(place(doc.text, problem.span.take()));
    }
    found.sort_by_key(|problem| problem.span.as_ref().map(|span| (span.start, span.end)));
    found.dedup();
    found
}

fn of_prompt(name: PromptName, doc: &Doc<'_>) -> Vec<FileProblem> {
    match parse(name, doc.text, Some(doc.path)) {
        Ok(parsed) => parsed.problems,
        Err(problems) => problems,
    }
}

/// Problems of the whole text are reported at its first line.
fn place(text: &str, span: Option<Range<usize>>) -> Range<usize> {
    match span {
        Some(span) => span.start.min(text.len())..span.end.min(text.len()),
        None => 0..text.lines().next().unwrap_or_default().len(),
    }
}

/// Prompt files that are named and do not exist.
fn lost_prompts(doc: &Doc<'_>, world: &LanguageContext) -> Vec<FileProblem> {
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
            let message = format!("{what} not found: {}", path.display());
            FileProblem::warning("no-file", message)
                .help(format!("rawr uses {instead} instead"))
                .in_file(Some(doc.path))
                .at(named.span)
        })
        .collect()
}

/// The suggested name, in the spelling of the text.
pub fn fix(text: &str, problem: &FileProblem) -> Option<QuickFix> {
    let (Some(ProblemHelp::Meant(meant)), Some(span)) = (&problem.help, problem.span.clone())
    else {
        return None;
    };
    let written = text.get(span.clone())?;
    let new = match written.chars().next()? {
        '{' => format!("{{{meant}}}"),
        quote @ ('"' | '\'') => format!("{quote}{meant}{quote}"),
        _ => (*meant).to_owned(),
    };
    Some(QuickFix { title: format!("Write `{meant}`"), span, text: new })
}
