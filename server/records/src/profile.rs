//! What is known of each agent without asking it. The only place of the server where their names stand.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An agent that records its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostProfile {
    /// As a host.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// The variable that names its folder.
    pub folder_variable: &'static str,
    /// Where it keeps its files otherwise, in the user's home.
    pub folder: &'static str,
    /// The folders of records in it.
    sessions: &'static [&'static str],
    /// In that folder.
    pub configuration_file: &'static str,
}

/// All agents whose records are read.
pub const PROFILES: [HostProfile; 2] = [CODEX, CLAUDE];

/// The agent in whose folder and configuration file rawr's own may stand.
pub const SHARED: HostProfile = CODEX;

/// Where Codex keeps sessions, and those that were archived.
pub(crate) const CODEX_SESSIONS: [&str; 2] = ["sessions", "archived_sessions"];

pub(crate) const CLAUDE: HostProfile = HostProfile {
    name: "claude",
    title: "Claude Code",
    folder_variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    sessions: &["projects"],
    configuration_file: "settings.json",
};

pub(crate) const CODEX: HostProfile = HostProfile {
    name: "codex",
    title: "Codex",
    folder_variable: "CODEX_HOME",
    folder: ".codex",
    sessions: &CODEX_SESSIONS,
    configuration_file: "config.toml",
};

impl HostProfile {
    /// Where it keeps records, if the user's home or its variable is known.
    pub fn session_folders(
        &self,
        variable: impl Fn(&str) -> Option<OsString>,
        home: Option<&Path>,
    ) -> Vec<PathBuf> {
        let set = variable(self.folder_variable).filter(|value| !value.is_empty());
        let folder = set.map(PathBuf::from).or_else(|| Some(home?.join(self.folder)));
        let within = |folder: PathBuf| self.sessions.iter().map(move |name| folder.join(name));
        folder.into_iter().flat_map(within).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_in_the_folder_that_is_set_or_in_the_home() {
        let folders = |of: &HostProfile, set: Option<&str>, home: Option<&str>| {
            of.session_folders(|_| set.map(OsString::from), home.map(Path::new))
        };
        let [codex, claude] = &PROFILES;
        let expected = ["/u/.codex/sessions", "/u/.codex/archived_sessions"].map(PathBuf::from);
        assert_eq!(folders(codex, None, Some("/u")), expected);
        assert_eq!(folders(claude, Some("/c"), Some("/u")), [PathBuf::from("/c/projects")]);
        assert_eq!(folders(claude, Some(""), Some("/u")), [PathBuf::from("/u/.claude/projects")]);
        assert!(folders(claude, None, None).is_empty());
    }
}
