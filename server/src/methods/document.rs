//! `textDocument/*`: language features for prompts and configuration. The module `language` computes the answers; this
//! one stores open documents, reads files and the newest thread, and converts answers to LSP types.

mod actions;
mod answers;
mod lenses;
mod lsp;
mod open;
mod past;
mod shown;
mod task;
mod uri;
mod versions;

pub use lsp::DocumentCapabilities;
pub use past::PastDecisions;
pub use task::DocumentsHandle;

use super::{ClientSession, Module, on_async_named, on_slow_named, parsed, serialized};
use crate::language::{self, Doc, DocumentKind, LanguageContext, PositionEncoding};
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use lsp::Diagnostic;
use open::{ClientRequest, OpenDocument, OpenDocuments};
use rawr_core::prompt::PromptName;
use rawr_protocol::methods::{LogMessage, PromptPreviewChanged};
use rawr_protocol::{ErrorCode, LogMessageParams, MessageType, PromptPreviewChangedNotification};
use rawr_settings::problem::{FileProblem, MAX_BYTES};
use rawr_settings::prompts::parse;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use task::DocumentContext;
use uri::ServedText;

/// The most problems that are shown of one document. More help no reader and slow down typing.
const MOST_PROBLEMS: usize = 100;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    answers::register(module)?;
    lenses::register(module)?;
    actions::register(module)
}

/// Answers a request from the open documents.
type DocumentHandler<P, R> = fn(&DocumentContext, &mut OpenDocuments, P) -> Result<R, RpcError>;

/// Registers a request of the language server protocol that the open documents answer.
fn on<M: lsp::Request + 'static>(
    module: &mut Module,
    handler: DocumentHandler<M::Params, M::Result>,
) -> Result<(), RegisterMethodError>
where
    M::Params: Send,
    M::Result: Send,
{
    let handler = move |session: Arc<ClientSession>, params| async move {
        let documents = session.documents()?;
        documents.ask(move |context, editor| handler(context, editor, params)).await
    };
    on_async_named(module, M::METHOD.as_str(), handler, |result| serialized(&result?))
}

/// Like [`on`], for a request that needs more than the open documents.
fn on_async<M: lsp::Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    Work: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
{
    on_async_named(module, M::METHOD.as_str(), handler, |result| serialized(&result?))
}

/// Like [`on_async`], for a request that may be left unanswered at the end of the input.
fn on_slow<M: lsp::Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    Work: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
{
    on_slow_named(module, M::METHOD.as_str(), handler, |result| serialized(&result?))
}

/// The number of unanswered requests to the client that are remembered.
const MOST_ASKED: usize = 256;

/// The document capabilities for `initialize`. Empty for a client that edits no documents.
pub fn capabilities(can: &DocumentCapabilities) -> Map<String, Value> {
    if can.edit {
        lsp::capabilities(encoding(can), &actions::COMMANDS, uri::SCHEME)
    } else {
        Map::new()
    }
}

const fn encoding(can: &DocumentCapabilities) -> PositionEncoding {
    if can.utf8 { PositionEncoding::Utf8 } else { PositionEncoding::Utf16 }
}

type NotificationHandler =
    fn(&DocumentContext, &mut OpenDocuments, Option<&str>) -> Result<(), RpcError>;

/// Notifications about documents.
pub const NOTIFICATIONS: [(&str, NotificationHandler); 4] = [
    ("textDocument/didOpen", |context, editor, params| opened(context, editor, parsed(params)?)),
    ("textDocument/didChange", |context, editor, params| changed(context, editor, parsed(params)?)),
    ("textDocument/didSave", |context, editor, params| saved(context, editor, &parsed(params)?)),
    ("textDocument/didClose", |context, editor, params| closed(context, editor, &parsed(params)?)),
];

/// Handles a notification. Returns false if it is not one about documents.
pub fn notified(session: &ClientSession, method: &str, params: Option<&str>) -> bool {
    let known = NOTIFICATIONS.iter().find(|(name, _)| *name == method);
    let (Some((name, handler)), Ok(documents)) = (known, session.documents()) else {
        return known.is_some();
    };
    let params = params.map(str::to_owned);
    documents.order(*name == "textDocument/didSave", move |context, editor| {
        if let Err(error) = handler(context, editor, params.as_deref()) {
            context.log(format!("{name}: {}; {}", error.message, error.data.hint));
        }
    });
    true
}

/// Files have changed on disk, so that diagnostics of open documents may have changed, too.
fn files_changed(context: &DocumentContext, editor: &mut OpenDocuments) {
    if editor.iter().next().is_none() {
        return;
    }
    let world = world(context, editor);
    publish_others(context, editor, "", &world);
    for (can, method) in [
        (editor.can.refresh_lenses, "workspace/codeLens/refresh"),
        (editor.can.refresh_hints, "workspace/inlayHint/refresh"),
    ] {
        if can {
            context.ask_for(editor, ClientRequest::Other(method), method, &Value::Null);
        }
    }
}

/// The client's answer to a request of ours.
pub fn answered(session: &ClientSession, id: &str, outcome: Result<&str, &str>) {
    let Ok(documents) = session.documents() else { return };
    let (id, outcome) = (id.to_owned(), outcome.map(str::to_owned).map_err(str::to_owned));
    documents.order(false, move |context, editor| {
        let Some(asked) = editor.asked.remove(&id) else {
            tracing::warn!(id, "ignored an answer without a matching request");
            return;
        };
        let outcome = outcome.as_deref().map_err(String::as_str);
        match (asked, outcome) {
            (ClientRequest::Reset(name), outcome) => {
                actions::reset_answered(context, name, outcome);
            }
            (ClientRequest::Other(method), Err(error)) => {
                tracing::warn!(method, error, "the client failed to handle a request")
            }
            (ClientRequest::Other(_), Ok(_)) => {}
        }
    });
}

/// The message does not match the documents as they are known here.
fn out_of_step(message: String) -> RpcError {
    RpcError::new(ErrorCode::InvalidParams, message, "close the document and open it again")
}

impl DocumentContext {
    fn log(&self, message: String) {
        let level = MessageType::Warning;
        self.outbox.notify::<LogMessage>(&LogMessageParams { level, message });
    }

    /// Sends a request to the client.
    fn ask<M: lsp::Request>(
        &self,
        editor: &mut OpenDocuments,
        asked: ClientRequest,
        params: &M::Params,
    ) {
        let params = serde_json::to_value(params).unwrap_or_default();
        self.ask_for(editor, asked, M::METHOD.as_str(), &params);
    }

    fn ask_for(
        &self,
        editor: &mut OpenDocuments,
        asked: ClientRequest,
        method: &str,
        params: &Value,
    ) {
        editor.questions += 1;
        let id = format!("rawr/{}", editor.questions);
        self.outbox.ask(&id, method, params);
        if editor.asked.len() >= MOST_ASKED {
            tracing::warn!("the client leaves too many requests unanswered");
            editor.asked.clear();
        }
        editor.asked.insert(id, asked);
    }
}

/// What answers depend on now, with the texts of all open documents.
fn world(context: &DocumentContext, editor: &OpenDocuments) -> LanguageContext {
    let files = context.files.clone();
    let mut world = LanguageContext { files, unsaved: BTreeMap::new() };
    for doc in editor.iter().filter_map(|(_, open)| open.doc()) {
        world.unsaved.insert(doc.path.to_owned(), doc.text.to_owned());
        if doc.kind == DocumentKind::Prompt(PromptName::AutoCompact)
            && let Ok(parsed) = parse(PromptName::AutoCompact, doc.text, Some(doc.path))
        {
            world.files.front_matter = parsed.packet;
        }
    }
    world
}

fn opened(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::DidOpenTextDocumentParams,
) -> Result<(), RpcError> {
    let document = params.text_document;
    let world = world(context, editor);
    let Some(kind) = uri::path_of(&document.uri.0).and_then(|path| world.kind_of(&path)) else {
        return Ok(());
    };
    let uri = document.uri.0;
    editor.open(uri.clone(), kind, document.version, document.text).map_err(out_of_step)?;
    publish_problems(context, editor, &uri)
}

fn changed(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::DidChangeTextDocumentParams,
) -> Result<(), RpcError> {
    let uri = params.text_document.text_document_identifier.uri.0;
    if !is_ours(context, editor, &uri) {
        return Ok(());
    }
    let changes = lsp::changes(params.content_changes);
    editor.change(&uri, params.text_document.version, changes).map_err(out_of_step)?;
    publish_problems(context, editor, &uri)?;
    notify_preview(context, editor, &uri)
}

fn saved(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: &lsp::DidSaveTextDocumentParams,
) -> Result<(), RpcError> {
    let uri = &params.text_document.uri.0;
    if editor.get(uri).is_some() { publish_problems(context, editor, uri) } else { Ok(()) }
}

fn closed(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: &lsp::DidCloseTextDocumentParams,
) -> Result<(), RpcError> {
    let uri = &params.text_document.uri.0;
    if !is_ours(context, editor, uri) {
        return Ok(());
    }
    let open = editor.close(uri).ok_or_else(|| out_of_step(format!("{uri} is not open")))?;
    publish(context, uri, None, Vec::new());
    if open.is_shared() {
        let world = world(context, editor);
        publish_others(context, editor, uri, &world);
    }
    Ok(())
}

/// Whether the document is open here, or is a file that would be.
fn is_ours(context: &DocumentContext, editor: &OpenDocuments, uri: &str) -> bool {
    if editor.get(uri).is_some() {
        return true;
    }
    let Some(path) = uri::path_of(uri) else { return false };
    world(context, editor).kind_of(&path).is_some()
}

fn publish_problems(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    uri: &str,
) -> Result<(), RpcError> {
    let world = world(context, editor);
    let Some(open) = editor.get(uri) else { return Ok(()) };
    let (version, shared) = (open.text.version(), open.is_shared());
    let found = diagnostics(editor, open, &world);
    publish(context, uri, Some(version), found.clone());
    if let Some(open) = editor.get_mut(uri) {
        open.published = Some(found);
    }
    if shared {
        publish_others(context, editor, uri, &world);
    }
    Ok(())
}

/// Publishes diagnostics of other documents that depend on the changed one, if they are different now.
fn publish_others(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    uri: &str,
    world: &LanguageContext,
) {
    let others = editor.iter().filter(|(other, open)| *other != uri && open.is_shared());
    let found = others.map(|(uri, open)| (uri.to_owned(), diagnostics(editor, open, world)));
    for (uri, found) in found.collect::<Vec<_>>() {
        if let Some(open) = editor.get_mut(&uri)
            && open.published.as_ref() != Some(&found)
        {
            publish(context, &uri, Some(open.text.version()), found.clone());
            open.published = Some(found);
        }
    }
}

fn diagnostics(
    editor: &OpenDocuments,
    open: &OpenDocument,
    world: &LanguageContext,
) -> Vec<Diagnostic> {
    match (open.text.text(), open.doc()) {
        (Some(text), Some(doc)) => {
            let place = editor.place(text);
            let found = language::problems(&doc, world);
            found.iter().take(MOST_PROBLEMS).map(|of| place.diagnostic(of)).collect()
        }
        _ => {
            let message = format!("larger than {} KiB: not checked", MAX_BYTES / 1024);
            let problem = FileProblem::error("file-too-large", message);
            vec![editor.place(&language::EditorText::default()).diagnostic(&problem)]
        }
    }
}

fn publish(
    context: &DocumentContext,
    uri: &str,
    version: Option<i32>,
    diagnostics: Vec<Diagnostic>,
) {
    let uri = lsp::Uri(uri.to_owned());
    let params = lsp::PublishDiagnosticsParams { uri, version, diagnostics };
    context.outbox.notify_lsp("textDocument/publishDiagnostics", &json!(params));
}

/// Notifies clients that show the preview of this prompt.
fn notify_preview(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    uri: &str,
) -> Result<(), RpcError> {
    let Some(DocumentKind::Prompt(name)) = editor.get(uri).map(|open| open.kind) else {
        return Ok(());
    };
    if !editor.previews.contains(&name) {
        return Ok(());
    }
    let uri = ServedText::Preview(name).uri();
    if editor.can.ask_for_texts {
        let params = lsp::TextDocumentContentRefreshParams { uri: lsp::Uri(uri) };
        let asked = ClientRequest::Other("workspace/textDocumentContent/refresh");
        context.ask::<lsp::TextDocumentContentRefreshRequest>(editor, asked, &params);
        return Ok(());
    }
    let text = actions::preview(context, editor, name);
    editor.shown.update(ServedText::Preview(name), &text);
    context.outbox.notify::<PromptPreviewChanged>(&PromptPreviewChangedNotification {
        name: name.name().to_owned(),
        uri,
        text,
    });
    Ok(())
}

/// Runs `work` on an open document. Returns `None` for a document that is not ours.
fn with_doc<T>(
    context: &DocumentContext,
    editor: &OpenDocuments,
    uri: &str,
    work: impl FnOnce(&OpenDocuments, &OpenDocument, Doc<'_>, &LanguageContext) -> Result<T, RpcError>,
) -> Result<Option<T>, RpcError> {
    let Some(open) = editor.get(uri) else {
        return match is_ours(context, editor, uri) {
            true => Err(out_of_step(format!("{uri} is not open"))),
            false => Ok(None),
        };
    };
    let Some(doc) = open.doc() else { return Ok(None) };
    work(editor, open, doc, &world(context, editor)).map(Some)
}
