//! The documents that a client has open: their texts as they stand in the editor, kept within bounds. What is wrong with
//! a message about them comes back as a sentence.

use super::lsp::{Can, Diagnostic, DocumentText};
use crate::language::{Change, Doc, Encoding, Kind, Text};
use crate::problem::MAX_BYTES;
use rawr_core::prompt::PromptName;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// More prompts and configuration files than anybody edits at once.
pub const MOST_OPEN: usize = 128;

/// What the client was asked, to be looked at when it answers.
#[derive(Debug, Clone)]
pub enum Asked {
    /// To put a prompt's shipped text into its editor.
    Reset(PromptName),
    Other(&'static str),
}

#[derive(Debug, Default)]
pub struct Editor {
    pub can: Can,
    pub encoding: Encoding,
    /// By the name that the client gives them.
    open: BTreeMap<String, Open>,
    /// Prompts whose preview somebody has asked for.
    pub previews: BTreeSet<PromptName>,
    pub asked: HashMap<String, Asked>,
    pub questions: u64,
}

#[derive(Debug)]
pub struct Open {
    pub kind: Kind,
    /// As the configuration knows it.
    pub path: PathBuf,
    /// `None`: too large to be looked at.
    pub text: Option<Text>,
    pub version: i32,
    /// What the client was told last.
    pub told: Option<Vec<Diagnostic>>,
}

impl Open {
    pub fn doc(&self) -> Option<Doc<'_>> {
        let text = self.text.as_ref()?.as_str();
        Some(Doc { kind: self.kind, path: &self.path, text })
    }

    /// Other documents' problems depend on it.
    pub const fn is_shared(&self) -> bool {
        matches!(
            self.kind,
            Kind::Config(_) | Kind::Prompt(PromptName::AutoCompact) | Kind::Decision
        )
    }
}

impl Editor {
    pub fn open(
        &mut self,
        uri: String,
        (kind, path): (Kind, PathBuf),
        version: i32,
        text: String,
    ) -> Result<(), String> {
        if self.open.len() >= MOST_OPEN && !self.open.contains_key(&uri) {
            return Err(format!("{MOST_OPEN} documents are open: close some before {uri}"));
        }
        let text = (text.len() <= MAX_BYTES).then(|| Text::from(text));
        self.open.insert(uri, Open { kind, path, text, version, told: None });
        Ok(())
    }

    /// All changes of one message, in their order.
    pub fn change(&mut self, uri: &str, version: i32, changes: &[Change]) -> Result<(), String> {
        let encoding = self.encoding;
        let open = self.open.get_mut(uri).ok_or_else(|| format!("{uri} is not open"))?;
        if version <= open.version {
            let known = open.version;
            return Err(format!("{uri} has version {known} already: version {version} is ignored"));
        }
        open.version = version;
        for change in changes {
            match (&mut open.text, change.at.is_some()) {
                (Some(text), _) => text.change(change, encoding),
                (None, false) => open.text = Some(Text::from(change.text.clone())),
                (None, true) => {}
            }
            if open.text.as_ref().is_some_and(|text| text.as_str().len() > MAX_BYTES) {
                open.text = None;
            }
        }
        Ok(())
    }

    pub fn close(&mut self, uri: &str) -> Option<Open> {
        self.open.remove(uri)
    }

    pub fn get(&self, uri: &str) -> Option<&Open> {
        self.open.get(uri)
    }

    pub fn get_mut(&mut self, uri: &str) -> Option<&mut Open> {
        self.open.get_mut(uri)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Open)> {
        self.open.iter().map(|(uri, open)| (uri.as_str(), open))
    }

    pub const fn place<'t>(&self, text: &'t Text) -> DocumentText<'t> {
        DocumentText { text, encoding: self.encoding }
    }

    /// The document in which a prompt is being edited.
    pub fn prompt(&self, name: PromptName) -> Option<(&str, &Open)> {
        self.iter().find(|(_, open)| open.kind == Kind::Prompt(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Position;

    fn editor(text: &str) -> Editor {
        let mut editor = Editor::default();
        let kind = (Kind::Decision, PathBuf::from("/h/mine.md"));
        editor.open("u".to_owned(), kind, 1, text.to_owned()).unwrap();
        editor
    }

    fn text(editor: &Editor) -> Option<&str> {
        editor.get("u").unwrap().text.as_ref().map(Text::as_str)
    }

    fn insert(character: u32, text: &str) -> Change {
        let at = Position { line: 0, character };
        Change { at: Some(at..at), text: text.to_owned() }
    }

    #[test]
    fn changes_of_one_message_follow_each_other() {
        let mut editor = editor("ac");
        editor.change("u", 2, &[insert(1, "b"), insert(3, "d")]).unwrap();
        assert_eq!(text(&editor), Some("abcd"));
    }

    #[test]
    fn an_older_version_and_an_unknown_document_change_nothing() {
        let mut editor = editor("a");
        let told = editor.change("u", 1, &[insert(0, "x")]).unwrap_err();
        assert_eq!(told, "u has version 1 already: version 1 is ignored");
        assert_eq!(editor.change("v", 2, &[]).unwrap_err(), "v is not open");
        assert_eq!(text(&editor), Some("a"));
    }

    #[test]
    fn a_text_that_grows_too_large_is_let_go_until_it_is_sent_whole() {
        let mut editor = editor("a");
        editor.change("u", 2, &[insert(1, &"x".repeat(MAX_BYTES))]).unwrap();
        assert_eq!(text(&editor), None);
        editor.change("u", 3, &[insert(0, "y")]).unwrap();
        assert_eq!(text(&editor), None);
        editor.change("u", 4, &[Change { at: None, text: "z".to_owned() }]).unwrap();
        assert_eq!(text(&editor), Some("z"));
    }

    #[test]
    fn no_more_documents_are_kept_than_there_is_room_for() {
        let mut editor = Editor::default();
        let kind = || (Kind::Decision, PathBuf::from("/h/mine.md"));
        for number in 0..MOST_OPEN {
            editor.open(number.to_string(), kind(), 1, String::new()).unwrap();
        }
        assert!(editor.open("0".to_owned(), kind(), 2, String::new()).is_ok());
        let told = editor.open("more".to_owned(), kind(), 1, String::new()).unwrap_err();
        assert_eq!(told, "128 documents are open: close some before more");
        editor.close("0");
        assert!(editor.open("more".to_owned(), kind(), 1, String::new()).is_ok());
    }
}
