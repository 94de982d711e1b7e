//! Hover, completion, links, definitions and references.

use super::lsp::{self, DocumentText};
use super::open::{OpenDocument, OpenDocuments};
use super::{DocumentContext, on, uri, with_doc};
use crate::language::{self, EditorText, PlaceholderValues};
use crate::methods::Module;
use crate::wire::RpcError;
use crate::workspace::ConfigScope;
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Thread;
use rawr_core::prompt::PromptName;
use std::ops::Range;
use std::path::PathBuf;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<lsp::HoverRequest>(module, hover)?;
    on::<lsp::CompletionRequest>(module, complete)?;
    on::<lsp::DocumentLinkRequest>(module, links)?;
    on::<lsp::DefinitionRequest>(module, definition)?;
    on::<lsp::ReferencesRequest>(module, references)
}

pub fn place<'o>(editor: &OpenDocuments, open: &'o OpenDocument) -> Option<DocumentText<'o>> {
    open.text.text().map(|text| editor.place(text))
}

/// The values of a prompt's placeholders in the newest thread that has them all, otherwise in the newest thread. If threads
/// cannot be read, there are none.
pub fn values(context: &DocumentContext, name: PromptName) -> Option<PlaceholderValues> {
    let read = |thread: &Thread| {
        let settings = context.reader.read(&ConfigScope::recorded(thread));
        language::values_of(thread, &settings.config.policy, name)
    };
    let has_all = |found: &PlaceholderValues| {
        name.placeholders().iter().all(|known| found.values.contains_key(known.camel))
    };
    let mut newest = context.newest.borrow_mut();
    newest.with_newest(&context.store, read, has_all).unwrap_or_else(|error| {
        tracing::warn!(%error, "failed to read the newest thread; placeholders have no values");
        None
    })
}

fn hover(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::HoverParams,
) -> Result<Option<lsp::Hover>, RpcError> {
    let params = params.text_document_position_params;
    let found =
        with_doc(context, editor, &params.text_document.uri.0, |editor, open, doc, world| {
            let Some(place) = place(editor, open) else { return Ok(None) };
            let values = doc.kind.prompt().and_then(|name| values(context, name));
            let at = place.offset(params.position);
            let found = language::hover(&doc, world, values.as_ref(), at);
            Ok(found.map(|found| lsp::Hover {
                contents: lsp::markdown(found.markdown).into(),
                range: Some(place.range(&found.span)),
            }))
        })?;
    Ok(found.flatten())
}

fn complete(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::CompletionParams,
) -> Result<Option<lsp::CompletionResponse>, RpcError> {
    let params = params.text_document_position_params;
    let found = with_doc(context, editor, &params.text_document.uri.0, |editor, open, doc, _| {
        let Some(place) = place(editor, open) else { return Ok(Vec::new()) };
        let proposals = language::complete(&doc, place.offset(params.position));
        let numbered = proposals.into_iter().enumerate();
        Ok(numbered.map(|(rank, proposal)| place.proposal(proposal, rank)).collect())
    })?;
    Ok(found.map(lsp::CompletionResponse::CompletionItemList))
}

fn links(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::DocumentLinkParams,
) -> Result<Option<Vec<lsp::DocumentLink>>, RpcError> {
    with_doc(context, editor, &params.text_document.uri.0, |editor, open, doc, world| {
        let Some(place) = place(editor, open) else { return Ok(Vec::new()) };
        let link = |(span, path): (Range<usize>, PathBuf)| lsp::DocumentLink {
            range: place.range(&span),
            target: Some(lsp::Uri(uri::uri_of(&path))),
            tooltip: Some("Open the prompt".to_owned()),
            data: None,
        };
        Ok(language::links(&doc, world).into_iter().map(link).collect())
    })
}

fn definition(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::DefinitionParams,
) -> Result<Option<lsp::DefinitionResponse>, RpcError> {
    let params = params.text_document_position_params;
    let found =
        with_doc(context, editor, &params.text_document.uri.0, |editor, open, doc, world| {
            let Some(place) = place(editor, open) else { return Ok(None) };
            let found = language::definition(&doc, world, place.offset(params.position));
            Ok(found.map(|(path, span)| location(editor, world, path, &span)))
        })?;
    let found = found.flatten().map(lsp::Definition::Location);
    Ok(found.map(lsp::DefinitionResponse::Definition))
}

/// For a prompt: where the configuration names it. For a path in the configuration: all positions that name the same
/// file.
fn references(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::ReferenceParams,
) -> Result<Option<Vec<lsp::Location>>, RpcError> {
    let params = params.text_document_position_params;
    with_doc(context, editor, &params.text_document.uri.0, |editor, open, doc, world| {
        let Some(place) = place(editor, open) else { return Ok(Vec::new()) };
        let at = place.offset(params.position);
        let path = match doc.kind.prompt() {
            Some(_) => Some(doc.path.to_owned()),
            None => {
                let links = language::links(&doc, world).into_iter();
                links.filter(|(span, _)| language::touches(span, at)).map(|(_, path)| path).next()
            }
        };
        let found = path.map_or_else(Vec::new, |path| language::references(&path, world));
        let found = found.into_iter().map(|(path, span)| location(editor, world, path, &span));
        Ok(found.collect())
    })
}

/// A position in another document, under the client's URI for it.
fn location(
    editor: &OpenDocuments,
    world: &language::LanguageContext,
    path: PathBuf,
    span: &Range<usize>,
) -> lsp::Location {
    let known = editor.iter().find(|(_, open)| open.path == path);
    let uri = known.map_or_else(|| uri::uri_of(&path), |(uri, _)| uri.to_owned());
    let text = EditorText::from(world.text_of(&path).unwrap_or_default());
    lsp::Location { uri: lsp::Uri(uri), range: editor.place(&text).range(span) }
}
