//! LSP types, and conversions of rawr's answers to them. The only file that uses the crate of these types.

pub use gen_lsp_types::{
    ApplyWorkspaceEditParams, ApplyWorkspaceEditRequest, ApplyWorkspaceEditResult, CodeAction,
    CodeActionKind, CodeActionParams, CodeActionRequest, CodeActionResponse, CodeLens,
    CodeLensParams, CodeLensRequest, Command, CompletionItem, CompletionItemKind,
    CompletionItemTextEdit, CompletionParams, CompletionRequest, CompletionResponse, Definition,
    DefinitionParams, DefinitionRequest, DefinitionResponse, Diagnostic, DiagnosticSeverity,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, DocumentLink, DocumentLinkParams, DocumentLinkRequest,
    ExecuteCommandParams, ExecuteCommandRequest, Hover, HoverParams, HoverRequest, InlayHint,
    InlayHintParams, InlayHintRequest, Location, MarkupContent, MarkupKind,
    PublishDiagnosticsParams, ReferenceParams, ReferencesRequest, Request, ShowDocumentParams,
    ShowDocumentRequest, TextDocumentContentChangeEvent, TextDocumentContentParams,
    TextDocumentContentRefreshParams, TextDocumentContentRefreshRequest,
    TextDocumentContentRequest, TextDocumentContentResult, TextEdit, Uri, WorkspaceEdit,
};

use crate::language::{
    EditorPosition, EditorText, PositionEncoding, Proposal, ProposalKind, QuickFix, TextChange,
};
use rawr_settings::problem::{FileProblem, ProblemHelp, ProblemSeverity};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ops::Range;

/// The server capabilities for the answer to `initialize`.
pub fn capabilities(
    encoding: PositionEncoding,
    commands: &[&str],
    scheme: &str,
) -> Map<String, Value> {
    let encoding = match encoding {
        PositionEncoding::Utf8 => "utf-8",
        PositionEncoding::Utf16 => "utf-16",
    };
    let incremental = 2;
    let all = json!({
        "positionEncoding": encoding,
        "textDocumentSync": { "openClose": true, "change": incremental, "save": true },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": ["{", "[", ".", "\"", "="] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentLinkProvider": {},
        "codeLensProvider": {},
        "inlayHintProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix", "source"] },
        "executeCommandProvider": { "commands": commands },
        "workspace": { "textDocumentContent": { "schemes": [scheme] } },
    });
    match all {
        Value::Object(all) => all,
        _ => Map::new(),
    }
}

/// The client capabilities that matter here.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocumentCapabilities {
    /// The client edits documents at all.
    pub edit: bool,
    pub apply_edits: bool,
    pub show_documents: bool,
    /// The client requests `rawr://` documents, and again when notified.
    pub ask_for_texts: bool,
    pub show_inlay_hints: bool,
    pub show_lenses: bool,
    pub refresh_lenses: bool,
    pub refresh_hints: bool,
    pub utf8: bool,
}

impl DocumentCapabilities {
    pub fn of(capabilities: &Map<String, Value>) -> Self {
        let at = |path: &[&str]| {
            let mut value = capabilities.get(*path.first()?)?;
            for name in &path[1..] {
                value = value.get(name)?;
            }
            Some(value)
        };
        let has = |path: &[&str]| at(path).is_some_and(|value| !value.is_null() && value != false);
        let encodings = at(&["general", "positionEncodings"]).and_then(Value::as_array);
        Self {
            edit: has(&["textDocument"]),
            apply_edits: has(&["workspace", "applyEdit"]),
            show_documents: at(&["window", "showDocument", "support"]) == Some(&Value::Bool(true)),
            ask_for_texts: has(&["workspace", "textDocumentContent"]),
            refresh_lenses: has(&["workspace", "codeLens", "refreshSupport"]),
            refresh_hints: has(&["workspace", "inlayHint", "refreshSupport"]),
            show_inlay_hints: has(&["textDocument", "inlayHint"]),
            show_lenses: has(&["textDocument", "codeLens"]),
            utf8: encodings.is_some_and(|all| all.iter().any(|encoding| encoding == "utf-8")),
        }
    }
}

/// A text and its client's position encoding.
#[derive(Debug, Clone, Copy)]
pub struct DocumentText<'t> {
    pub text: &'t EditorText,
    pub encoding: PositionEncoding,
}

const fn position(at: EditorPosition) -> gen_lsp_types::Position {
    gen_lsp_types::Position { line: at.line, character: at.character }
}

const fn from_position(at: gen_lsp_types::Position) -> EditorPosition {
    EditorPosition { line: at.line, character: at.character }
}

impl DocumentText<'_> {
    pub fn range(&self, span: &Range<usize>) -> gen_lsp_types::Range {
        let found = self.text.positions(span, self.encoding);
        gen_lsp_types::Range { start: position(found.start), end: position(found.end) }
    }

    pub fn offset(&self, at: gen_lsp_types::Position) -> usize {
        self.text.offset(from_position(at), self.encoding)
    }

    pub fn span(&self, range: gen_lsp_types::Range) -> Range<usize> {
        self.offset(range.start)..self.offset(range.end)
    }

    pub fn edit(&self, span: &Range<usize>, text: String) -> TextEdit {
        TextEdit { range: self.range(span), new_text: text }
    }

    pub fn diagnostic(&self, problem: &FileProblem) -> Diagnostic {
        let severity = match problem.severity {
            ProblemSeverity::Error => DiagnosticSeverity::Error,
            ProblemSeverity::Warning => DiagnosticSeverity::Warning,
            ProblemSeverity::Hint => DiagnosticSeverity::Hint,
        };
        let data = match problem.help {
            Some(ProblemHelp::Meant(name)) => Some(json!({ "meant": name })),
            _ => None,
        };
        let help = problem.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
        Diagnostic {
            range: self.range(&problem.span.clone().unwrap_or(0..0)),
            severity: Some(severity),
            code: Some(problem.code.into()),
            source: Some("rawr".to_owned()),
            message: format!("{}{help}", problem.message).into(),
            data,
            ..Diagnostic::default()
        }
    }

    pub fn proposal(&self, proposal: Proposal, rank: usize) -> CompletionItem {
        let kind = match proposal.sort {
            ProposalKind::Placeholder => CompletionItemKind::Variable,
            ProposalKind::Table => CompletionItemKind::Module,
            ProposalKind::Key => CompletionItemKind::Property,
            ProposalKind::Value => CompletionItemKind::Value,
        };
        let edit = self.edit(&proposal.span, proposal.text);
        CompletionItem {
            label: proposal.label,
            kind: Some(kind),
            documentation: (!proposal.about.is_empty()).then(|| markdown(proposal.about).into()),
            // Sorted by the order of the file, not alphabetically.
            sort_text: Some(format!("{rank:03}")),
            text_edit: Some(CompletionItemTextEdit::TextEdit(edit)),
            ..CompletionItem::default()
        }
    }

    pub fn fix(&self, uri: &str, fix: QuickFix, diagnostics: Vec<Diagnostic>) -> CodeAction {
        CodeAction {
            title: fix.title,
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(diagnostics),
            is_preferred: Some(true),
            edit: Some(edit_of(uri, vec![self.edit(&fix.span, fix.text)])),
            ..CodeAction::default()
        }
    }

    pub fn whole(&self, text: String) -> TextEdit {
        self.edit(&(0..self.text.as_str().len()), text)
    }

    pub fn hint(&self, at: usize, label: String, tooltip: String) -> InlayHint {
        InlayHint {
            position: position(self.text.position(at, self.encoding)),
            label: label.into(),
            kind: None,
            text_edits: None,
            tooltip: Some(gen_lsp_types::Tooltip::String(tooltip)),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        }
    }

    pub fn lens(&self, span: &Range<usize>, command: Command) -> CodeLens {
        // A lens covers a single line.
        let range = self.range(&(span.start..span.start));
        CodeLens { range, command: Some(command), data: None }
    }
}

pub fn edit_of(uri: &str, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let changes = HashMap::from([(Uri(uri.to_owned()), edits)]);
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

pub fn command(title: String, command: &str, argument: &str) -> Command {
    Command {
        title,
        tooltip: None,
        command: command.to_owned(),
        arguments: Some(vec![json!(argument)]),
    }
}

pub fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

pub fn changes(events: Vec<TextDocumentContentChangeEvent>) -> Vec<TextChange> {
    let change = |event| match event {
        TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
            let at = from_position(part.range.start)..from_position(part.range.end);
            TextChange { at: Some(at), text: part.text }
        }
        TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
            TextChange { at: None, text: whole.text }
        }
    };
    events.into_iter().map(change).collect()
}
