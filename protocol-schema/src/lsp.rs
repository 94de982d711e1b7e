//! The language server protocol's methods that the sidecar serves or sends beside its own, for a client that edits texts.
//! Their payloads are that protocol's; they are named here so that `openrpc.json` leaves none out.

use crate::methods::{Direction, MethodKind};

/// A method of the language server protocol.
#[derive(Debug, Clone, Copy)]
pub struct LspMethod {
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// Who sends it to whom.
    pub direction: Direction,
    /// What it is for here, in one sentence.
    pub summary: &'static str,
    /// What that protocol calls its params.
    pub params: Option<&'static str>,
}

const fn asked(name: &'static str, params: &'static str, summary: &'static str) -> LspMethod {
    let (kind, direction) = (MethodKind::Request, Direction::ToServer);
    LspMethod { name, kind, direction, summary, params: Some(params) }
}

const fn told(name: &'static str, params: &'static str, summary: &'static str) -> LspMethod {
    let (kind, direction) = (MethodKind::Notification, Direction::ToServer);
    LspMethod { name, kind, direction, summary, params: Some(params) }
}

const fn asks(
    name: &'static str,
    params: Option<&'static str>,
    summary: &'static str,
) -> LspMethod {
    let (kind, direction) = (MethodKind::Request, Direction::ToClient);
    LspMethod { name, kind, direction, summary, params }
}

/// All of them.
pub const LSP_METHODS: &[LspMethod] = &[
    told(
        "textDocument/didOpen",
        "DidOpenTextDocumentParams",
        "Says that a prompt or a configuration file is edited.",
    ),
    told("textDocument/didChange", "DidChangeTextDocumentParams", "Tells what was typed into it."),
    told("textDocument/didSave", "DidSaveTextDocumentParams", "Says that it was saved."),
    told(
        "textDocument/didClose",
        "DidCloseTextDocumentParams",
        "Says that it is not edited any more.",
    ),
    asked("textDocument/hover", "HoverParams", "Explains a key, a value or a placeholder."),
    asked("textDocument/completion", "CompletionParams", "Gives what may be typed at a position."),
    asked("textDocument/definition", "DefinitionParams", "Gives the file that a text names."),
    asked("textDocument/references", "ReferenceParams", "Gives the texts that name a prompt."),
    asked("textDocument/documentLink", "DocumentLinkParams", "Gives the files that a text names."),
    asked("textDocument/codeLens", "CodeLensParams", "Gives what can be done with a prompt."),
    asked(
        "textDocument/inlayHint",
        "InlayHintParams",
        "Gives what placeholders and tiers come to now.",
    ),
    asked("textDocument/codeAction", "CodeActionParams", "Gives ways to mend what is wrong."),
    asked("workspace/executeCommand", "ExecuteCommandParams", "Does what a lens offers."),
    asked(
        "workspace/textDocumentContent",
        "TextDocumentContentParams",
        "Gives a `rawr://` text: a preview, a shipped prompt, a difference.",
    ),
    LspMethod {
        name: "textDocument/publishDiagnostics",
        kind: MethodKind::Notification,
        direction: Direction::ToClient,
        summary: "Tells what is wrong with a text.",
        params: Some("PublishDiagnosticsParams"),
    },
    asks("workspace/applyEdit", Some("ApplyWorkspaceEditParams"), "Asks to change a text."),
    asks("window/showDocument", Some("ShowDocumentParams"), "Asks to show a text."),
    asks("workspace/codeLens/refresh", None, "Asks to ask for lenses again."),
    asks("workspace/inlayHint/refresh", None, "Asks to ask for hints again."),
    asks(
        "workspace/textDocumentContent/refresh",
        Some("TextDocumentContentRefreshParams"),
        "Asks to ask for a `rawr://` text again.",
    ),
];
