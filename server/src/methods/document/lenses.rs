//! Lenses and inlay hints: the length of a prompt once it is rendered, and how often a tier would have fired. Both are
//! computed in the background, while other requests are served.

use super::answers::{place, values};
use super::past::{MOST_THREADS, read_past};
use super::{actions, lsp, on_async, with_doc};
use crate::language::{self, DocumentKind};
use crate::methods::tokens::error;
use crate::methods::{ClientSession, Module, now};
use crate::prompts::shipped;
use crate::registry::RegistryError;
use crate::store::DECISIONS;
use crate::tokens::CountMethod;
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use rawr_core::policy::Policy;
use rawr_core::prompt::PromptName;
use rawr_core::units::{Timestamp, Tokens};
use rawr_protocol::ErrorCode;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_async::<lsp::CodeLensRequest, _>(module, lenses)?;
    on_async::<lsp::InlayHintRequest, _>(module, hints)
}

/// What must be counted for the lens of a prompt.
struct PromptToCount {
    text: String,
    model: Option<String>,
    span: Range<usize>,
    edited: bool,
}

async fn lenses(
    session: Arc<ClientSession>,
    params: lsp::CodeLensParams,
) -> Result<Option<Vec<lsp::CodeLens>>, RpcError> {
    let uri = params.text_document.uri.0;
    let found = with_doc(&session, &uri, |editor, _, doc, world| {
        let Some(name) = doc.kind.prompt() else {
            let in_lenses = !editor.can.show_inlay_hints;
            return Ok(Err(in_lenses.then(|| tiers(doc, world)).filter(|(at, _)| !at.is_empty())));
        };
        to_count(&session, doc, name).map(Ok)
    })?;
    match found {
        None => Ok(None),
        Some(Ok(counted)) => of_prompt(&session, &uri, counted).await.map(Some),
        Some(Err(None)) => Ok(Some(Vec::new())),
        Some(Err(Some((at, policy)))) => {
            let told = told(&session, at, policy).await?;
            with_doc(&session, &uri, |editor, open, _, _| {
                let Some(place) = place(editor, open) else { return Ok(Vec::new()) };
                let lens = |(at, label, _): (usize, String, String)| {
                    // A command without a name is a lens that does nothing.
                    place.lens(&(at..at), lsp::Command { title: label, ..lsp::Command::default() })
                };
                Ok(told.into_iter().map(lens).collect())
            })
        }
    }
}

fn to_count(
    session: &ClientSession,
    doc: language::Doc<'_>,
    name: PromptName,
) -> Result<PromptToCount, RpcError> {
    let now = values(session, name)?;
    let edited = doc.kind == DocumentKind::Prompt(name) && doc.text != shipped(name);
    let text = actions::rendered(name, doc.text, now.as_ref());
    let model = now.and_then(|now| now.model);
    Ok(PromptToCount { text, model, span: language::first_line(doc.text), edited })
}

/// The length of a rendered prompt, in words.
async fn counted(
    session: &ClientSession,
    text: String,
    model: Option<&str>,
) -> Result<String, RpcError> {
    let method = CountMethod::choose(None, model);
    let tokens = session.tokens.count(method, text).await.map_err(error)?;
    let about = if matches!(method, CountMethod::Estimate) { "about " } else { "" };
    Ok(format!("renders to {about}{} tokens", Tokens(tokens)))
}

async fn of_prompt(
    session: &ClientSession,
    uri: &str,
    prompt: PromptToCount,
) -> Result<Vec<lsp::CodeLens>, RpcError> {
    let PromptToCount { text, model, span, edited } = prompt;
    let title = counted(session, text, model.as_deref()).await?;
    let lenses = with_doc(session, uri, |editor, open, _, _| {
        let Some(place) = place(editor, open) else { return Ok(Vec::new()) };
        let preview = lsp::command(title, actions::PREVIEW, uri);
        let diff = || lsp::command("differs from the shipped text".to_owned(), actions::DIFF, uri);
        let commands = std::iter::once(preview).chain(edited.then(diff));
        Ok(commands.map(|command| place.lens(&span, command)).collect())
    })?;
    Ok(lenses.unwrap_or_default())
}

/// The positions of tiers, and the policy that the text results in.
type TierHints = (Vec<(rawr_core::policy::Tier, usize)>, Box<Policy>);

fn tiers(doc: language::Doc<'_>, world: &language::LanguageContext) -> TierHints {
    (language::tiers(&doc), Box::new(world.config(&doc, None).0.policy))
}

/// What hints are about.
enum Hinted {
    Tiers(TierHints),
    /// A prompt, for clients without lenses.
    Prompt(PromptToCount),
}

async fn hints(
    session: Arc<ClientSession>,
    params: lsp::InlayHintParams,
) -> Result<Option<Vec<lsp::InlayHint>>, RpcError> {
    let uri = params.text_document.uri.0;
    let found = with_doc(&session, &uri, |editor, open, doc, world| {
        let Some(place) = place(editor, open) else { return Ok(Hinted::Tiers(Default::default())) };
        let wanted = place.span(params.range);
        if let Some(name) = doc.kind.prompt().filter(|_| !editor.can.show_lenses) {
            let prompt = to_count(&session, doc, name)?;
            if language::touches(&wanted, prompt.span.end) {
                return Ok(Hinted::Prompt(prompt));
            }
        }
        let (mut at, policy) = tiers(doc, world);
        at.retain(|(_, at)| language::touches(&wanted, *at));
        Ok(Hinted::Tiers((at, policy)))
    })?;
    let told = match found {
        None => return Ok(None),
        Some(Hinted::Tiers((at, policy))) => told(&session, at, policy).await?,
        Some(Hinted::Prompt(PromptToCount { text, model, span, .. })) => {
            let label = counted(&session, text, model.as_deref()).await?;
            vec![(span.end, label, "With the values of a thread, or examples.".to_owned())]
        }
    };
    with_doc(&session, &uri, |editor, open, _, _| {
        let Some(place) = place(editor, open) else { return Ok(Vec::new()) };
        let hint = |(at, label, tooltip)| place.hint(at, label, tooltip);
        Ok(told.into_iter().map(hint).collect())
    })
}

/// How often each tier would have fired, given the stored decisions.
async fn told(
    session: &ClientSession,
    at: Vec<(rawr_core::policy::Tier, usize)>,
    policy: Box<Policy>,
) -> Result<Vec<(usize, String, String)>, RpcError> {
    if at.is_empty() {
        return Ok(Vec::new());
    }
    let store = session.registry()?.store().clone();
    let newest = store.newest(MOST_THREADS).map_err(RegistryError::from)?;
    let files: Vec<_> = newest.iter().map(|id| store.folder(id).join(DECISIONS)).collect();
    let memory = Arc::clone(&session.past);
    let since = Timestamp(now().0 - DAY_MS * i64::try_from(language::DAYS).unwrap_or(7));
    let work = move || {
        let mut past = memory.lock().unwrap_or_else(PoisonError::into_inner);
        let (threads, partly) = read_past(&files, since, &mut past);
        let stored: usize = threads.iter().map(Vec::len).sum();
        (language::would_have_fired(&threads, &policy, since), stored, partly)
    };
    let (counts, stored, partly) = tokio::task::spawn_blocking(work).await.map_err(|error| {
        RpcError::new(ErrorCode::InternalError, error.to_string(), "see the log")
    })?;
    let rest = if partly { "; some could not be read" } else { "" };
    let told = |(tier, at): (rawr_core::policy::Tier, usize)| {
        let count = counts[tier as usize];
        let explained = language::explained(tier, count);
        let tooltip = format!("{explained} From {stored} stored decisions{rest}.");
        (at, language::told(tier, count), tooltip)
    };
    Ok(at.into_iter().map(told).collect())
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
