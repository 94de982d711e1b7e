//! URIs of documents: files, and the texts that rawr serves.

use rawr_core::prompt::PromptName;
use std::path::{Path, PathBuf};
use url::Url;

pub const SCHEME: &str = "rawr";

/// A text without a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedText {
    /// A prompt as it would be sent now, with unsaved changes.
    Preview(PromptName),
    /// A prompt as shipped with rawr.
    Shipped(PromptName),
    /// The diff between the shipped prompt and the edited one.
    Diff(PromptName),
}

impl ServedText {
    pub fn uri(self) -> String {
        match self {
            Self::Preview(name) => format!("{SCHEME}://preview/{}", name.name()),
            Self::Shipped(name) => format!("{SCHEME}://shipped/{}", name.name()),
            Self::Diff(name) => format!("{SCHEME}://diff/{}", name.name()),
        }
    }

    /// The name of its file, where it is shown as one.
    pub fn file_name(self) -> String {
        match self {
            Self::Preview(name) => format!("{}.preview.md", name.name()),
            Self::Shipped(name) => format!("{}.shipped.md", name.name()),
            Self::Diff(name) => format!("{}.diff", name.name()),
        }
    }

    /// For people.
    pub fn words(self) -> String {
        match self {
            Self::Preview(name) => format!("preview of {}", name.name()),
            Self::Shipped(name) => format!("shipped text of {}", name.name()),
            Self::Diff(name) => format!("difference of {} from the shipped text", name.name()),
        }
    }

    pub fn of(uri: &str) -> Option<Self> {
        let uri = Url::parse(uri).ok().filter(|uri| uri.scheme() == SCHEME)?;
        let name = PromptName::from_name(uri.path().trim_start_matches('/'))?;
        match uri.host_str()? {
            "preview" => Some(Self::Preview(name)),
            "shipped" => Some(Self::Shipped(name)),
            "diff" => Some(Self::Diff(name)),
            _ => None,
        }
    }
}

/// `None`: not a local file.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|uri| uri.scheme() == "file")?.to_file_path().ok()
}

pub fn uri_of(path: &Path) -> String {
    Url::from_file_path(path).map_or_else(|()| path.display().to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_decoded_and_encoded() {
        for (uri, path) in [
            ("file:///h/rawr.toml", Some("/h/rawr.toml")),
            ("file:///h/a%20b%25/%C3%A9.md", Some("/h/a b%/é.md")),
            ("file://localhost/h/x", Some("/h/x")),
            ("file://elsewhere/h/x", None),
            ("untitled:1", None),
            ("/h/x", None),
            ("", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), path.map(Path::new), "{uri}");
        }
        assert_eq!(uri_of(Path::new("/h/a b%/é.md")), "file:///h/a%20b%25/%C3%A9.md");
    }

    #[test]
    fn served_texts_have_names() {
        for of in [ServedText::Preview, ServedText::Shipped, ServedText::Diff] {
            let served = of(PromptName::HeadsUp);
            assert_eq!(ServedText::of(&served.uri()), Some(served));
        }
        for uri in ["rawr://preview/none", "rawr://other/heads-up", "file:///heads-up", "rawr:x"] {
            assert_eq!(ServedText::of(uri), None, "{uri}");
        }
    }
}
