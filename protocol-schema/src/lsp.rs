//! The LSP methods that the sidecar serves or sends, for clients that edit texts.
//! Their payloads are that protocol's; they are named here so that `openrpc.json` leaves none out.

use crate::methods::{Direction, MethodKind};

/// A method of the language server protocol.
#[derive(Debug, Clone, Copy)]
pub struct LspMethod {
    /// The method's name on the wire.
    pub name: &'static str,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// The sender and the receiver.
    pub direction: Direction,
    /// What it is for here, in one sentence.
    pub summary: &'static str,
    /// What that protocol calls its params.
    pub params: Option<&'static str>,
}

type Sort = (MethodKind, Direction);

const ASKED: Sort = (MethodKind::Request, Direction::ToServer);
const TOLD: Sort = (MethodKind::Notification, Direction::ToServer);
const ASKS: Sort = (MethodKind::Request, Direction::ToClient);
const TELLS: Sort = (MethodKind::Notification, Direction::ToClient);

const fn lsp(
    (kind, direction): Sort,
    name: &'static str,
    params: Option<&'static str>,
    summary: &'static str,
) -> LspMethod {
    LspMethod { name, kind, direction, summary, params }
}

/// All of them.
pub const LSP_METHODS: &[LspMethod] = &[
    lsp(
        TOLD,
        "textDocument/didOpen",
        Some("DidOpenTextDocumentParams"),
        "Says that a prompt or a configuration file is edited.",
    ),
    lsp(
        TOLD,
        "textDocument/didChange",
        Some("DidChangeTextDocumentParams"),
        "Tells what was typed into it.",
    ),
    lsp(TOLD, "textDocument/didSave", Some("DidSaveTextDocumentParams"), "Says that it was saved."),
    lsp(
        TOLD,
        "textDocument/didClose",
        Some("DidCloseTextDocumentParams"),
        "Says that it is not edited any more.",
    ),
    lsp(
        ASKED,
        "textDocument/hover",
        Some("HoverParams"),
        "Explains a key, a value or a placeholder.",
    ),
    lsp(
        ASKED,
        "textDocument/completion",
        Some("CompletionParams"),
        "Gives what may be typed at a position.",
    ),
    lsp(
        ASKED,
        "textDocument/definition",
        Some("DefinitionParams"),
        "Gives the file that a text names.",
    ),
    lsp(
        ASKED,
        "textDocument/references",
        Some("ReferenceParams"),
        "Gives the texts that name a prompt.",
    ),
    lsp(
        ASKED,
        "textDocument/documentLink",
        Some("DocumentLinkParams"),
        "Gives the files that a text names.",
    ),
    lsp(
        ASKED,
        "textDocument/codeLens",
        Some("CodeLensParams"),
        "Gives what can be done with a prompt.",
    ),
    lsp(
        ASKED,
        "textDocument/inlayHint",
        Some("InlayHintParams"),
        "Gives what placeholders and tiers come to now.",
    ),
    lsp(
        ASKED,
        "textDocument/codeAction",
        Some("CodeActionParams"),
        "Gives ways to mend what is wrong.",
    ),
    lsp(
        ASKED,
        "workspace/executeCommand",
        Some("ExecuteCommandParams"),
        "Does what a lens offers.",
    ),
    lsp(
        ASKED,
        "workspace/textDocumentContent",
        Some("TextDocumentContentParams"),
        "Gives a `rawr://` text: a preview, a shipped prompt, a difference.",
    ),
    lsp(
        TELLS,
        "textDocument/publishDiagnostics",
        Some("PublishDiagnosticsParams"),
        "Tells what is wrong with a text.",
    ),
    lsp(ASKS, "workspace/applyEdit", Some("ApplyWorkspaceEditParams"), "Asks to change a text."),
    lsp(ASKS, "window/showDocument", Some("ShowDocumentParams"), "Asks to show a text."),
    lsp(ASKS, "workspace/codeLens/refresh", None, "Asks to ask for lenses again."),
    lsp(ASKS, "workspace/inlayHint/refresh", None, "Asks to ask for hints again."),
    lsp(
        ASKS,
        "workspace/textDocumentContent/refresh",
        Some("TextDocumentContentRefreshParams"),
        "Asks to ask for a `rawr://` text again.",
    ),
];
