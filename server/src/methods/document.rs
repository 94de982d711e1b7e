//! `textDocument/*`: language features for prompts and configuration. The module `language` computes the answers; this
//! one stores open documents, reads files and the newest thread, and converts answers to LSP types.

mod actions;
mod answers;
mod lenses;
mod lsp;
mod open;
mod past;
mod shown;
mod uri;
mod versions;

pub use lsp::DocumentCapabilities;
pub use open::OpenDocuments;
pub use past::PastDecisions;

use super::{ClientSession, Module, on_async_named, on_named, parsed, serialized};
use crate::language::{self, Doc, DocumentKind, LanguageContext, PositionEncoding};
use crate::problem::{FileProblem, MAX_BYTES};
use crate::prompts::parse;
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use lsp::Diagnostic;
use open::{ClientRequest, OpenDocument};
use rawr_core::prompt::PromptName;
use rawr_protocol::methods::{LogMessage, PromptPreviewChanged};
use rawr_protocol::{ErrorCode, LogMessageParams, MessageType, PromptPreviewChangedNotification};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use uri::ServedText;

/// The most problems that are shown of one document. More help no reader and slow down typing.
const MOST_PROBLEMS: usize = 100;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    answers::register(module)?;
    lenses::register(module)?;
    actions::register(module)
}

/// Registers a request of the language server protocol.
fn on<M: lsp::Request + 'static>(
    module: &mut Module,
    handler: fn(&ClientSession, M::Params) -> Result<M::Result, RpcError>,
) -> Result<(), RegisterMethodError> {
    on_named(module, M::METHOD.as_str(), handler)
}

/// Like [`on`], for a request that waits.
fn on_async<M: lsp::Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    Work: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
{
    on_async_named(module, M::METHOD.as_str(), handler, |result| serialized(&result?))
}

/// The number of unanswered requests to the client that are remembered.
const MOST_ASKED: usize = 256;

/// The document capabilities for `initialize`. Empty for a client that edits no documents.
pub fn greet(session: &ClientSession, capabilities: &Map<String, Value>) -> Map<String, Value> {
    let can = DocumentCapabilities::of(capabilities);
    let mut editor = session.editor();
    editor.can = can;
    editor.encoding = if can.utf8 { PositionEncoding::Utf8 } else { PositionEncoding::Utf16 };
    if can.edit {
        lsp::capabilities(editor.encoding, &actions::COMMANDS, uri::SCHEME)
    } else {
        Map::new()
    }
}

type NotificationHandler = fn(&ClientSession, Option<&str>) -> Result<(), RpcError>;

/// Notifications about documents.
pub const TOLD: [(&str, NotificationHandler); 4] = [
    ("textDocument/didOpen", |session, params| opened(session, parsed(params)?)),
    ("textDocument/didChange", |session, params| changed(session, parsed(params)?)),
    ("textDocument/didSave", |session, params| saved(session, &parsed(params)?)),
    ("textDocument/didClose", |session, params| closed(session, &parsed(params)?)),
];

/// Returns false if the notification is not one about documents.
pub fn notified(session: &ClientSession, method: &str, params: Option<&str>) -> bool {
    let Some((_, told)) = TOLD.iter().find(|(name, _)| *name == method) else { return false };
    if let Err(error) = told(session, params) {
        log(session, format!("{method}: {}; {}", error.message, error.data.hint));
    }
    true
}

/// Files have changed on disk, so that diagnostics of open documents may have changed, too.
pub fn files_changed(session: &ClientSession) {
    if !session.edited.swap(false, Ordering::Relaxed) {
        return;
    }
    let mut editor = session.editor();
    if editor.iter().next().is_none() {
        return;
    }
    match world(session, &editor) {
        Ok(world) => publish_others(session, &mut editor, "", &world),
        Err(error) => {
            log(session, format!("failed to check open documents again: {}", error.message))
        }
    }
    for (can, method) in [
        (editor.can.refresh_lenses, "workspace/codeLens/refresh"),
        (editor.can.refresh_hints, "workspace/inlayHint/refresh"),
    ] {
        if can {
            session.ask_for(&mut editor, ClientRequest::Other(method), method, &Value::Null);
        }
    }
}

/// The client's answer to a request of ours.
pub fn answered(session: &ClientSession, id: &str, outcome: Result<&str, &str>) {
    let Some(asked) = session.editor().asked.remove(id) else {
        tracing::warn!(id, "ignored an answer without a matching request");
        return;
    };
    match (asked, outcome) {
        (ClientRequest::Reset(name), outcome) => actions::reset_answered(session, name, outcome),
        (ClientRequest::Other(method), Err(error)) => {
            tracing::warn!(method, error, "the client failed to handle a request")
        }
        (ClientRequest::Other(_), Ok(_)) => {}
    }
}

fn log(session: &ClientSession, message: String) {
    let level = MessageType::Warning;
    session.outbox.notify::<LogMessage>(&LogMessageParams { level, message });
}

/// The message does not match the documents as they are known here.
fn out_of_step(message: String) -> RpcError {
    RpcError::new(ErrorCode::InvalidParams, message, "close the document and open it again")
}

impl ClientSession {
    pub(super) fn editor(&self) -> MutexGuard<'_, OpenDocuments> {
        self.editor.lock().unwrap_or_else(PoisonError::into_inner)
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
fn world(session: &ClientSession, editor: &OpenDocuments) -> Result<LanguageContext, RpcError> {
    let files = session.registry()?.workspace().user_sources();
    let mut world = LanguageContext { files, unsaved: BTreeMap::new() };
    for doc in editor.iter().filter_map(|(_, open)| open.doc()) {
        world.unsaved.insert(doc.path.to_owned(), doc.text.to_owned());
        if doc.kind == DocumentKind::Prompt(PromptName::AutoCompact)
            && let Ok(parsed) = parse(PromptName::AutoCompact, doc.text, Some(doc.path))
        {
            world.files.front_matter = parsed.packet;
        }
    }
    Ok(world)
}

fn opened(session: &ClientSession, params: lsp::DidOpenTextDocumentParams) -> Result<(), RpcError> {
    let document = params.text_document;
    let mut editor = session.editor();
    let world = world(session, &editor)?;
    let Some(kind) = uri::path_of(&document.uri.0).and_then(|path| world.kind_of(&path)) else {
        return Ok(());
    };
    let uri = document.uri.0;
    editor.open(uri.clone(), kind, document.version, document.text).map_err(out_of_step)?;
    publish_problems(session, &mut editor, &uri)
}

fn changed(
    session: &ClientSession,
    params: lsp::DidChangeTextDocumentParams,
) -> Result<(), RpcError> {
    let uri = params.text_document.text_document_identifier.uri.0;
    let mut editor = session.editor();
    if !is_ours(session, &editor, &uri)? {
        return Ok(());
    }
    let changes = lsp::changes(params.content_changes);
    editor.change(&uri, params.text_document.version, changes).map_err(out_of_step)?;
    publish_problems(session, &mut editor, &uri)?;
    notify_preview(session, &mut editor, &uri)
}

fn saved(session: &ClientSession, params: &lsp::DidSaveTextDocumentParams) -> Result<(), RpcError> {
    let uri = &params.text_document.uri.0;
    session.registry()?.workspace_mut().refresh_prompts();
    let mut editor = session.editor();
    if editor.get(uri).is_some() { publish_problems(session, &mut editor, uri) } else { Ok(()) }
}

fn closed(
    session: &ClientSession,
    params: &lsp::DidCloseTextDocumentParams,
) -> Result<(), RpcError> {
    let uri = &params.text_document.uri.0;
    let mut editor = session.editor();
    if !is_ours(session, &editor, uri)? {
        return Ok(());
    }
    let open = editor.close(uri).ok_or_else(|| out_of_step(format!("{uri} is not open")))?;
    publish(session, uri, None, Vec::new());
    if open.is_shared() {
        let world = world(session, &editor)?;
        publish_others(session, &mut editor, uri, &world);
    }
    Ok(())
}

/// Whether the document is open here, or is a file that would be.
fn is_ours(session: &ClientSession, editor: &OpenDocuments, uri: &str) -> Result<bool, RpcError> {
    if editor.get(uri).is_some() {
        return Ok(true);
    }
    let Some(path) = uri::path_of(uri) else { return Ok(false) };
    Ok(world(session, editor)?.kind_of(&path).is_some())
}

fn publish_problems(
    session: &ClientSession,
    editor: &mut OpenDocuments,
    uri: &str,
) -> Result<(), RpcError> {
    let world = world(session, editor)?;
    let Some(open) = editor.get(uri) else { return Ok(()) };
    let (version, shared) = (open.text.version(), open.is_shared());
    let found = diagnostics(editor, open, &world);
    publish(session, uri, Some(version), found.clone());
    if let Some(open) = editor.get_mut(uri) {
        open.told = Some(found);
    }
    if shared {
        publish_others(session, editor, uri, &world);
    }
    Ok(())
}

/// Publishes diagnostics of other documents that depend on the changed one, if they are different now.
fn publish_others(
    session: &ClientSession,
    editor: &mut OpenDocuments,
    uri: &str,
    world: &LanguageContext,
) {
    let others = editor.iter().filter(|(other, open)| *other != uri && open.is_shared());
    let found = others.map(|(uri, open)| (uri.to_owned(), diagnostics(editor, open, world)));
    for (uri, found) in found.collect::<Vec<_>>() {
        if let Some(open) = editor.get_mut(&uri)
            && open.told.as_ref() != Some(&found)
        {
            publish(session, &uri, Some(open.text.version()), found.clone());
            open.told = Some(found);
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

fn publish(session: &ClientSession, uri: &str, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
    let uri = lsp::Uri(uri.to_owned());
    let params = lsp::PublishDiagnosticsParams { uri, version, diagnostics };
    session.outbox.notify_lsp("textDocument/publishDiagnostics", &json!(params));
}

/// Notifies clients that show the preview of this prompt.
fn notify_preview(
    session: &ClientSession,
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
        session.ask::<lsp::TextDocumentContentRefreshRequest>(editor, asked, &params);
        return Ok(());
    }
    let text = actions::preview(session, editor, name)?;
    editor.shown.update(ServedText::Preview(name), &text);
    session.outbox.notify::<PromptPreviewChanged>(&PromptPreviewChangedNotification {
        name: name.name().to_owned(),
        uri,
        text,
    });
    Ok(())
}

/// Runs `work` on an open document. Returns `None` for a document that is not ours.
fn with_doc<T>(
    session: &ClientSession,
    uri: &str,
    answer: impl FnOnce(&OpenDocuments, &OpenDocument, Doc<'_>, &LanguageContext) -> Result<T, RpcError>,
) -> Result<Option<T>, RpcError> {
    let editor = session.editor();
    let Some(open) = editor.get(uri) else {
        return match is_ours(session, &editor, uri)? {
            true => Err(out_of_step(format!("{uri} is not open"))),
            false => Ok(None),
        };
    };
    let Some(doc) = open.doc() else { return Ok(None) };
    let world = world(session, &editor)?;
    answer(&editor, open, doc, &world).map(Some)
}
