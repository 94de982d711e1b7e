//! The documents that a client has open, with their unsaved texts, up to a limit. Errors are sentences for the client.

use super::lsp::{Diagnostic, DocumentCapabilities, DocumentText};
use super::shown::ShownFiles;
use super::versions::VersionedText;
use crate::language::{Doc, DocumentKind, EditorText, PositionEncoding, TextChange};
use rawr_core::prompt::PromptName;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// More prompts and configuration files than people edit at once.
pub const MOST_OPEN: usize = 128;

/// The requests to the client whose answers matter.
#[derive(Debug, Clone)]
pub enum ClientRequest {
    /// Replace a prompt with its shipped text in the editor.
    Reset(PromptName),
    Other(&'static str),
}

#[derive(Debug, Default)]
pub struct OpenDocuments {
    pub can: DocumentCapabilities,
    pub encoding: PositionEncoding,
    /// By the client's URI.
    open: BTreeMap<String, OpenDocument>,
    /// Prompts whose preview was requested.
    pub previews: BTreeSet<PromptName>,
    pub asked: HashMap<String, ClientRequest>,
    pub questions: u64,
    /// Texts that are shown as files.
    pub shown: ShownFiles,
}

#[derive(Debug)]
pub struct OpenDocument {
    pub kind: DocumentKind,
    /// The path by which the configuration names it.
    pub path: PathBuf,
    pub text: VersionedText,
    /// The diagnostics that were last published.
    pub published: Option<Vec<Diagnostic>>,
}

impl OpenDocument {
    pub fn doc(&self) -> Option<Doc<'_>> {
        let text = self.text.text()?.as_str();
        Some(Doc { kind: self.kind, path: &self.path, text })
    }

    /// Whether the problems of other documents depend on it.
    pub const fn is_shared(&self) -> bool {
        matches!(
            self.kind,
            DocumentKind::Config(_)
                | DocumentKind::Prompt(PromptName::AutoCompact)
                | DocumentKind::Decision
        )
    }
}

impl OpenDocuments {
    pub fn open(
        &mut self,
        uri: String,
        (kind, path): (DocumentKind, PathBuf),
        version: i32,
        text: String,
    ) -> Result<(), String> {
        if self.open.len() >= MOST_OPEN && !self.open.contains_key(&uri) {
            return Err(format!("{MOST_OPEN} documents are open: close some before {uri}"));
        }
        let text = VersionedText::new(text, version);
        self.open.insert(uri, OpenDocument { kind, path, text, published: None });
        Ok(())
    }

    /// All changes of one message, in order.
    pub fn change(
        &mut self,
        uri: &str,
        version: i32,
        changes: Vec<TextChange>,
    ) -> Result<(), String> {
        let encoding = self.encoding;
        let open = self.open.get_mut(uri).ok_or_else(|| format!("{uri} is not open"))?;
        if open.text.change(version, changes, encoding) {
            return Ok(());
        }
        let known = open.text.version();
        Err(format!("{uri} already has version {known}: ignored version {version}"))
    }

    pub fn close(&mut self, uri: &str) -> Option<OpenDocument> {
        self.open.remove(uri)
    }

    pub fn get(&self, uri: &str) -> Option<&OpenDocument> {
        self.open.get(uri)
    }

    pub fn get_mut(&mut self, uri: &str) -> Option<&mut OpenDocument> {
        self.open.get_mut(uri)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &OpenDocument)> {
        self.open.iter().map(|(uri, open)| (uri.as_str(), open))
    }

    pub const fn place<'t>(&self, text: &'t EditorText) -> DocumentText<'t> {
        DocumentText { text, encoding: self.encoding }
    }

    /// The document in which a prompt is being edited.
    pub fn prompt(&self, name: PromptName) -> Option<(&str, &OpenDocument)> {
        self.iter().find(|(_, open)| open.kind == DocumentKind::Prompt(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::EditorPosition;

    fn editor(text: &str) -> OpenDocuments {
        let mut editor = OpenDocuments::default();
        let kind = (DocumentKind::Decision, PathBuf::from("/h/mine.md"));
        editor.open("u".to_owned(), kind, 1, text.to_owned()).unwrap();
        editor
    }

    fn text(editor: &OpenDocuments) -> Option<&str> {
        editor.get("u").unwrap().text.text().map(EditorText::as_str)
    }

    fn insert(character: u32, text: &str) -> TextChange {
        let at = EditorPosition { line: 0, character };
        TextChange { at: Some(at..at), text: text.to_owned() }
    }

    #[test]
    fn changes_of_one_message_are_applied_in_order() {
        let mut editor = editor("ac");
        editor.change("u", 2, vec![insert(1, "b"), insert(3, "d")]).unwrap();
        assert_eq!(text(&editor), Some("abcd"));
    }

    #[test]
    fn an_older_version_and_an_unknown_document_change_nothing() {
        let mut editor = editor("a");
        let refused = editor.change("u", 1, vec![insert(0, "x")]).unwrap_err();
        assert_eq!(refused, "u already has version 1: ignored version 1");
        assert_eq!(editor.change("v", 2, vec![]).unwrap_err(), "v is not open");
        assert_eq!(text(&editor), Some("a"));
    }

    #[test]
    fn the_number_of_open_documents_is_limited() {
        let mut editor = OpenDocuments::default();
        let kind = || (DocumentKind::Decision, PathBuf::from("/h/mine.md"));
        for number in 0..MOST_OPEN {
            editor.open(number.to_string(), kind(), 1, String::new()).unwrap();
        }
        assert!(editor.open("0".to_owned(), kind(), 2, String::new()).is_ok());
        let refused = editor.open("more".to_owned(), kind(), 1, String::new()).unwrap_err();
        assert_eq!(refused, "128 documents are open: close some before more");
        editor.close("0");
        assert!(editor.open("more".to_owned(), kind(), 1, String::new()).is_ok());
    }
}
