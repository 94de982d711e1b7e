//! Code actions and commands: quick fixes, resetting to the shipped text, and the texts that rawr serves.

use super::answers::{place, values};
use super::open::{ClientRequest, OpenDocuments};
use super::uri::{self, ServedText};
use super::{
    DocumentContext, MOST_PROBLEMS, is_ours, lsp, on, on_async, out_of_step, with_doc, world,
};
use crate::language::{self, DocumentKind, PlaceholderValues};
use crate::methods::{ClientSession, Module};
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use rawr_core::prompt::{PromptName, render};
use rawr_protocol::ErrorCode;
use rawr_settings::prompts::{parse, sample, shipped};
use serde_json::{Value, json};
use similar::TextDiff;
use std::path::PathBuf;
use std::sync::Arc;

pub const PREVIEW: &str = "rawr.previewPrompt";
pub const DIFF: &str = "rawr.diffPrompt";
pub const RESET: &str = "rawr.resetPrompt";
pub const COMMANDS: [&str; 3] = [PREVIEW, DIFF, RESET];

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<lsp::CodeActionRequest>(module, actions)?;
    on_async::<lsp::ExecuteCommandRequest, _>(module, execute)?;
    on::<lsp::TextDocumentContentRequest>(module, content)
}

fn actions(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::CodeActionParams,
) -> Result<Option<Vec<lsp::CodeActionResponse>>, RpcError> {
    let uri = params.text_document.uri.0;
    let only = params.context.only;
    let wanted = |kind: &lsp::CodeActionKind| {
        let is_it = |of: &lsp::CodeActionKind| of == kind || *of == lsp::CodeActionKind::Empty;
        only.as_ref().is_none_or(|only| only.iter().any(is_it))
    };
    with_doc(context, editor, &uri, |editor, open, doc, world| {
        let Some(place) = place(editor, open) else { return Ok(Vec::new()) };
        let here = place.span(params.range);
        let mut found = Vec::new();
        if wanted(&lsp::CodeActionKind::QuickFix) {
            for problem in language::problems(&doc, world).into_iter().take(MOST_PROBLEMS) {
                let Some(fix) = language::fix(doc.text, &problem) else { continue };
                if fix.span.start <= here.end && here.start <= fix.span.end {
                    found.push(place.fix(&uri, fix, vec![place.diagnostic(&problem)]));
                }
            }
        }
        // Elsewhere a code lens previews.
        if doc.kind.prompt().is_some()
            && wanted(&lsp::CodeActionKind::Source)
            && !editor.can.show_lenses
        {
            let title = "Preview with the values of a thread".to_owned();
            found.push(lsp::CodeAction {
                title: title.clone(),
                kind: Some(lsp::CodeActionKind::Source),
                command: Some(lsp::command(title, PREVIEW, &uri)),
                ..lsp::CodeAction::default()
            });
        }
        if let DocumentKind::Prompt(name) = doc.kind
            && wanted(&lsp::CodeActionKind::Source)
            && doc.text != shipped(name)
        {
            let edit = lsp::edit_of(&uri, vec![place.whole(shipped(name).to_owned())]);
            found.push(lsp::CodeAction {
                title: "Reset to the shipped text".to_owned(),
                kind: Some(lsp::CodeActionKind::Source),
                edit: Some(edit),
                ..lsp::CodeAction::default()
            });
            let title = "Compare with the shipped text".to_owned();
            found.push(lsp::CodeAction {
                title: title.clone(),
                kind: Some(lsp::CodeActionKind::Source),
                command: Some(lsp::command(title, DIFF, &uri)),
                ..lsp::CodeAction::default()
            });
        }
        Ok(found.into_iter().map(lsp::CodeActionResponse::CodeAction).collect())
    })
}

/// By the document's URI or the prompt's name.
fn prompt_of(
    context: &DocumentContext,
    editor: &OpenDocuments,
    arguments: Option<&[Value]>,
) -> Result<PromptName, RpcError> {
    let named = arguments.and_then(|all| all.first()).and_then(Value::as_str).unwrap_or_default();
    if let Some(name) = PromptName::from_name(named) {
        return Ok(name);
    }
    let kind = match editor.get(named) {
        Some(open) => Some(open.kind),
        None => match uri::path_of(named) {
            Some(path) => world(context, editor).kind_of(&path).map(|(kind, _)| kind),
            None => None,
        },
    };
    kind.and_then(DocumentKind::prompt).ok_or_else(|| {
        RpcError::bad_field("arguments", format!("{named:?} is neither a prompt nor its document"))
    })
}

async fn execute(
    session: Arc<ClientSession>,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>, RpcError> {
    let documents = session.documents()?;
    let done = documents.ask(move |context, editor| carry_out(context, editor, &params)).await?;
    Ok(Some(match done {
        CarriedOut::Done(result) => result,
        CarriedOut::MustResetFile(name) => {
            let workspace = session.workspace()?;
            let reset = workspace.ask(move |workspace| workspace.reset_prompt(name)).await;
            reset.map_err(not_written)?;
            json!({ "name": name.name(), "applied": "file" })
        }
    }))
}

/// How far a command is carried out by the open documents alone.
enum CarriedOut {
    Done(Value),
    /// The prompt is not open in an editor that applies edits.
    MustResetFile(PromptName),
}

fn carry_out(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: &lsp::ExecuteCommandParams,
) -> Result<CarriedOut, RpcError> {
    let arguments = params.arguments.as_deref();
    Ok(CarriedOut::Done(match params.command.as_str() {
        PREVIEW => {
            let name = prompt_of(context, editor, arguments)?;
            let text = preview(context, editor, name);
            editor.previews.insert(name);
            let uri = ServedText::Preview(name).uri();
            show(context, editor, ServedText::Preview(name), &text)?;
            json!({ "name": name.name(), "uri": uri, "text": text })
        }
        DIFF => {
            let name = prompt_of(context, editor, arguments)?;
            let diff = diff(context, editor, name);
            show(context, editor, ServedText::Diff(name), &diff)?;
            json!({
                "name": name.name(),
                "uri": ServedText::Diff(name).uri(),
                "shippedUri": ServedText::Shipped(name).uri(),
                "diff": diff,
            })
        }
        RESET => {
            let name = prompt_of(context, editor, arguments)?;
            if !reset_in_editor(context, editor, name) {
                return Ok(CarriedOut::MustResetFile(name));
            }
            json!({ "name": name.name(), "applied": "edit" })
        }
        other => {
            let message = format!("unknown command `{other}`");
            return Err(RpcError::new(ErrorCode::UnknownName, message, COMMANDS.join(", ")));
        }
    }))
}

/// Opens a text of ours in the client. A client that cannot ask for it gets a private file, or its path in a message.
fn show(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    served: ServedText,
    text: &str,
) -> Result<(), RpcError> {
    let uri = if editor.can.ask_for_texts {
        served.uri()
    } else {
        let home = context.files.home.dir.clone();
        let path = editor.shown.write(&home, served, text).map_err(not_written)?;
        if !editor.can.show_documents {
            let message = format!("rawr: the {} is in {}", served.words(), path.display());
            context
                .outbox
                .notify_lsp("window/showMessage", &json!({ "type": INFO, "message": message }));
        }
        uri::uri_of(&path)
    };
    if editor.can.show_documents {
        let params = lsp::ShowDocumentParams {
            uri: lsp::Uri(uri),
            external: None,
            take_focus: Some(false),
            selection: None,
        };
        let asked = ClientRequest::Other("window/showDocument");
        context.ask::<lsp::ShowDocumentRequest>(editor, asked, &params);
    }
    Ok(())
}

/// LSP's number of a message that is no warning.
const INFO: u8 = 3;

/// Resets the document if it is open in an editor that applies edits.
fn reset_in_editor(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    name: PromptName,
) -> bool {
    let open = editor.prompt(name).filter(|_| editor.can.apply_edits);
    let edit = open.and_then(|(uri, open)| {
        let place = place(editor, open)?;
        Some(lsp::edit_of(uri, vec![place.whole(shipped(name).to_owned())]))
    });
    let Some(edit) = edit else { return false };
    let label = Some(format!("Reset {} to the shipped text", name.name()));
    let params = lsp::ApplyWorkspaceEditParams { label, edit, metadata: None };
    let asked = ClientRequest::Reset(name);
    context.ask::<lsp::ApplyWorkspaceEditRequest>(editor, asked, &params);
    true
}

fn not_written((path, error): (PathBuf, std::io::Error)) -> RpcError {
    let message = format!("cannot write {}: {error}", path.display());
    let mut answer = RpcError::new(
        ErrorCode::StoreFailed,
        message,
        "check the permissions of the file and its folder",
    );
    answer.data.file = Some(path.display().to_string());
    answer
}

/// If the editor did not apply the edit, the file is left unchanged, too.
pub fn reset_answered(context: &DocumentContext, name: PromptName, outcome: Result<&str, &str>) {
    let why = match outcome.map(serde_json::from_str::<lsp::ApplyWorkspaceEditResult>) {
        Ok(Ok(result)) if result.applied => return,
        Ok(Ok(result)) => result.failure_reason.unwrap_or_else(|| "no reason given".to_owned()),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_owned(),
    };
    context.log(format!("{} was not reset: the editor did not apply the edit: {why}", name.name()));
}

fn content(
    context: &DocumentContext,
    editor: &mut OpenDocuments,
    params: lsp::TextDocumentContentParams,
) -> Result<lsp::TextDocumentContentResult, RpcError> {
    let uri = params.uri.0;
    let text = match ServedText::of(&uri) {
        Some(ServedText::Shipped(name)) => shipped(name).to_owned(),
        Some(ServedText::Diff(name)) => diff(context, editor, name),
        Some(ServedText::Preview(name)) => {
            editor.previews.insert(name);
            preview(context, editor, name)
        }
        None if is_ours(context, editor, &uri) => {
            return Err(out_of_step(format!("{uri} is a file")));
        }
        None => {
            let names = PromptName::ALL.map(PromptName::name).join(", ");
            let message = format!("unknown document {uri}");
            let hint = format!(
                "use rawr://preview/<name>, rawr://shipped/<name> or rawr://diff/<name> with one of {names}"
            );
            return Err(RpcError::new(ErrorCode::UnknownName, message, hint));
        }
    };
    Ok(lsp::TextDocumentContentResult { text })
}

/// In the format of `diff -u`. Empty if both are the same.
fn diff(context: &DocumentContext, editor: &OpenDocuments, name: PromptName) -> String {
    let (shipped, text) = (shipped(name), source(context, editor, name));
    let diff = TextDiff::from_lines(shipped, text.as_str());
    diff.unified_diff().header("shipped", name.name()).to_string()
}

/// The whole file of a prompt, with unsaved changes if it is open.
fn source(context: &DocumentContext, editor: &OpenDocuments, name: PromptName) -> String {
    if let Some(text) = editor.prompt(name).and_then(|(_, open)| open.text.text()) {
        return text.as_str().to_owned();
    }
    let world = world(context, editor);
    let path = world.files.prompts.iter().find(|(of, _)| *of == name).map(|(_, path)| path);
    let text = path.and_then(|path| world.text_of(path));
    text.unwrap_or_else(|| shipped(name).to_owned())
}

pub fn preview(context: &DocumentContext, editor: &OpenDocuments, name: PromptName) -> String {
    let values = values(context, name);
    rendered(name, &source(context, editor, name), values.as_ref())
}

/// Placeholders without a value show an example.
pub fn rendered(name: PromptName, source: &str, values: Option<&PlaceholderValues>) -> String {
    let text = match parse(name, source, None) {
        Ok(parsed) => parsed.text,
        Err(_) => source.to_owned(),
    };
    render(name, &text, |camel| {
        let value = values.and_then(|values| values.values.get(camel));
        value.map(String::as_str).or_else(|| sample(camel))
    })
}
