//! A language client of the real sidecar that behaves like a generic editor, with its position encoding.

use rawr_tests::{LaunchOptions, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::path::Path;

pub struct Editor {
    pub sidecar: TestSidecar,
    /// The server's capabilities.
    pub can: Value,
    pub version: i64,
}

pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The capabilities of typical editors.
pub fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "textDocument": { "codeLens": {}, "inlayHint": {}, "publishDiagnostics": { "versionSupport": true } },
        "workspace": { "applyEdit": true },
    })
}

impl Editor {
    pub fn start(home: &TestHome) -> Self {
        Self::with(home, &capabilities())
    }

    pub fn with(home: &TestHome, capabilities: &Value) -> Self {
        let mut sidecar = TestSidecar::spawn(home, &LaunchOptions::default());
        let answer = sidecar.request(
            "initialize",
            &json!({ "processId": null, "rootUri": null, "capabilities": capabilities }),
        );
        let can = answer.expect("an answer").expect("a server")["capabilities"].clone();
        sidecar.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        Self { sidecar, can, version: 0 }
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.sidecar.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.sidecar.request(method, &params).expect("an answer");
        answer.unwrap_or_else(|failure| panic!("{method}: {failure:?}"))
    }

    /// Opens a document and returns its diagnostics.
    pub fn open(&mut self, path: &Path, text: &str) -> Value {
        self.version += 1;
        let document =
            json!({ "uri": uri(path), "languageId": "any", "version": self.version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(path)
    }

    /// One message with these changes.
    pub fn change(&mut self, path: &Path, changes: Value) -> Value {
        self.version += 1;
        let document = json!({ "uri": uri(path), "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
        self.diagnostics(path)
    }

    /// The next diagnostics of this document, which must be of the latest version.
    pub fn diagnostics(&mut self, path: &Path) -> Value {
        loop {
            let note = self.sidecar.next_note();
            assert_eq!(note.method, "textDocument/publishDiagnostics", "{}", note.params);
            if note.params["uri"] == uri(path) {
                assert_eq!(note.params["version"], self.version, "{}", note.params);
                return note.params["diagnostics"].clone();
            }
        }
    }

    /// A request about one position.
    pub fn at(&mut self, method: &str, path: &Path, line: u64, character: u64) -> Value {
        let position = json!({ "line": line, "character": character });
        let document = json!({ "uri": uri(path) });
        let context = json!({ "includeDeclaration": true, "triggerKind": 1 });
        self.ask(
            method,
            json!({ "textDocument": document, "position": position, "context": context }),
        )
    }

    /// A request about a whole document.
    pub fn of(&mut self, method: &str, path: &Path) -> Value {
        let end = json!({ "line": 9999, "character": 0 });
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
        let context = json!({ "diagnostics": [] });
        let document = json!({ "uri": uri(path) });
        self.ask(method, json!({ "textDocument": document, "range": range, "context": context }))
    }

    pub fn execute(&mut self, command: &str, argument: &str) -> Value {
        self.ask("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }))
    }
}

/// `line:from-line:to code`, in the order of the answer.
pub fn shown(diagnostics: &Value) -> Vec<String> {
    let at = |place: &Value| format!("{}:{}", place["line"], place["character"]);
    let one = |diagnostic: &Value| {
        let range = &diagnostic["range"];
        let code = diagnostic["code"].as_str().unwrap_or_default();
        format!("{}-{} {code}", at(&range["start"]), at(&range["end"]))
    };
    diagnostics.as_array().into_iter().flatten().map(one).collect()
}
