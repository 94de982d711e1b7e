//! Lenses and inlay hints: the length of a prompt once it is rendered, and how often a tier would have fired. Both are
//! computed in the background, while other requests are served.

use super::answers::{place, values};
use super::open::{OpenDocument, OpenDocuments};
use super::past::{MOST_THREADS, read_past};
use super::{DocumentContext, actions, lsp, on_slow, with_doc};
use crate::language::{self, Doc, DocumentKind, LanguageContext};
use crate::methods::tokens::error;
use crate::methods::{ClientSession, Module, now};
use crate::registry::RegistryError;
use crate::tokens::CountMethod;
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use rawr_core::policy::Policy;
use rawr_core::prompt::PromptName;
use rawr_core::units::{Timestamp, Tokens};
use rawr_protocol::ErrorCode;
use rawr_settings::prompts::shipped;
use rawr_storage::store::DECISIONS;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_slow::<lsp::CodeLensRequest, _>(module, lenses)?;
    on_slow::<lsp::InlayHintRequest, _>(module, hints)
}

/// Runs `work` on an open document. Returns `None` for a document that is not ours.
async fn in_document<T: Send + 'static>(
    session: &ClientSession,
    uri: &str,
    work: impl FnOnce(&DocumentContext, &OpenDocuments, &OpenDocument, Doc<'_>, &LanguageContext) -> T
    + Send
    + 'static,
) -> Result<Option<T>, RpcError> {
    let uri = uri.to_owned();
    let ask = move |context: &DocumentContext, editor: &mut OpenDocuments| {
        with_doc(context, editor, &uri, |editor, open, doc, world| {
            Ok(work(context, editor, open, doc, world))
        })
    };
    session.documents()?.ask(ask).await
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
    let found = in_document(&session, &uri, |context, editor, _, doc, world| {
        let Some(name) = doc.kind.prompt() else {
            let in_lenses = !editor.can.show_inlay_hints;
            return Err(in_lenses.then(|| tiers(doc, world)).filter(|(at, _)| !at.is_empty()));
        };
        Ok(to_count(context, doc, name))
    })
    .await?;
    match found {
        None => Ok(None),
        Some(Ok(counted)) => of_prompt(&session, &uri, counted).await.map(Some),
        Some(Err(None)) => Ok(Some(Vec::new())),
        Some(Err(Some((at, policy)))) => {
            let counts = fire_counts(&session, at, policy).await?;
            in_document(&session, &uri, |_, editor, open, _, _| {
                let Some(place) = place(editor, open) else { return Vec::new() };
                let lens = |(at, label, _): (usize, String, String)| {
                    // A command without a name is a lens that does nothing.
                    place.lens(&(at..at), lsp::Command { title: label, ..lsp::Command::default() })
                };
                counts.into_iter().map(lens).collect()
            })
            .await
        }
    }
}

fn to_count(context: &DocumentContext, doc: Doc<'_>, name: PromptName) -> PromptToCount {
    let now = values(context, name);
    let edited = doc.kind == DocumentKind::Prompt(name) && doc.text != shipped(name);
    let text = actions::rendered(name, doc.text, now.as_ref());
    let model = now.and_then(|now| now.model);
    PromptToCount { text, model, span: language::first_line(doc.text), edited }
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
    let preview = lsp::command(title, actions::PREVIEW, uri);
    let diff = || lsp::command("differs from the shipped text".to_owned(), actions::DIFF, uri);
    let commands: Vec<_> = std::iter::once(preview).chain(edited.then(diff)).collect();
    let lenses = in_document(session, uri, move |_, editor, open, _, _| {
        let Some(place) = place(editor, open) else { return Vec::new() };
        commands.into_iter().map(|command| place.lens(&span, command)).collect()
    })
    .await?;
    Ok(lenses.unwrap_or_default())
}

/// The positions of tiers, and the policy that the text results in.
type TierHints = (Vec<(rawr_core::policy::Tier, usize)>, Box<Policy>);

fn tiers(doc: Doc<'_>, world: &LanguageContext) -> TierHints {
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
    let found = in_document(&session, &uri, move |context, editor, open, doc, world| {
        let Some(place) = place(editor, open) else { return Hinted::Tiers(Default::default()) };
        let wanted = place.span(params.range);
        if let Some(name) = doc.kind.prompt().filter(|_| !editor.can.show_lenses) {
            let prompt = to_count(context, doc, name);
            if language::touches(&wanted, prompt.span.end) {
                return Hinted::Prompt(prompt);
            }
        }
        let (mut at, policy) = tiers(doc, world);
        at.retain(|(_, at)| language::touches(&wanted, *at));
        Hinted::Tiers((at, policy))
    })
    .await?;
    let hints = match found {
        None => return Ok(None),
        Some(Hinted::Tiers((at, policy))) => fire_counts(&session, at, policy).await?,
        Some(Hinted::Prompt(PromptToCount { text, model, span, .. })) => {
            let label = counted(&session, text, model.as_deref()).await?;
            vec![(span.end, label, "With the values of a thread, or examples.".to_owned())]
        }
    };
    in_document(&session, &uri, |_, editor, open, _, _| {
        let Some(place) = place(editor, open) else { return Vec::new() };
        let hint = |(at, label, tooltip)| place.hint(at, label, tooltip);
        hints.into_iter().map(hint).collect()
    })
    .await
}

/// How often each tier would have fired, given the stored decisions.
async fn fire_counts(
    session: &ClientSession,
    at: Vec<(rawr_core::policy::Tier, usize)>,
    policy: Box<Policy>,
) -> Result<Vec<(usize, String, String)>, RpcError> {
    if at.is_empty() {
        return Ok(Vec::new());
    }
    let store = session.registry()?.context().store.clone();
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
    let hint = |(tier, at): (rawr_core::policy::Tier, usize)| {
        let count = counts[tier as usize];
        let explained = language::explained(tier, count);
        let tooltip = format!("{explained} From {stored} stored decisions{rest}.");
        (at, language::told(tier, count), tooltip)
    };
    Ok(at.into_iter().map(hint).collect())
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
