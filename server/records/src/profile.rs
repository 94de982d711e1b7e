//! What is known of each agent without asking it. The only place of the server where their names stand.

use crate::moment::CompactionPoint;
use rawr_core::units::Tokens;
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
    /// Windows by the beginning of a model's name, where its records do not tell them; the longest beginning counts.
    pub(crate) windows: &'static [(&'static str, u64)],
    pub hints: HostHints,
}

/// What an agent is like, as long as it does not say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostHints {
    /// In tokens. Subtracted from usage and window before the agent shows a percentage.
    pub baseline: u64,
    pub compacts: CompactionPoint,
    /// How long the provider's prompt cache lasts at least.
    pub cache_seconds: u64,
    pub takes_messages_inside_turn: bool,
}

/// All agents whose records are read.
pub const PROFILES: [HostProfile; 2] = [CODEX, CLAUDE];

/// The agent in whose folder and configuration file rawr's own may stand.
pub const SHARED: HostProfile = CODEX;

/// Where Codex keeps sessions, and those that were archived.
pub(crate) const CODEX_SESSIONS: [&str; 2] = ["sessions", "archived_sessions"];

/// As in Claude Code 2.1.329.
const CLAUDE_WINDOWS: [(&str, u64); 9] = [
    ("claude-3", 200_000),
    ("claude-haiku-3", 200_000),
    ("claude-haiku-4", 200_000),
    ("claude-sonnet-3", 200_000),
    ("claude-sonnet-4", 200_000),
    ("claude-opus-3", 200_000),
    ("claude-opus-4", 200_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
];

pub const CLAUDE: HostProfile = HostProfile {
    name: "claude",
    title: "Claude Code",
    folder_variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    sessions: &["projects"],
    configuration_file: "settings.json",
    windows: &CLAUDE_WINDOWS,
    hints: HostHints {
        baseline: 0,
        // Claude Code keeps room for an answer, and for the summary of a compaction.
        compacts: CompactionPoint::Before(Tokens(33_000)),
        // On a subscription it is an hour, which Claude Code does not report beforehand.
        cache_seconds: 300,
        takes_messages_inside_turn: false,
    },
};

pub const CODEX: HostProfile = HostProfile {
    name: "codex",
    title: "Codex",
    folder_variable: "CODEX_HOME",
    folder: ".codex",
    sessions: &CODEX_SESSIONS,
    configuration_file: "config.toml",
    windows: &[],
    hints: HostHints {
        // What its status line subtracts.
        baseline: 12_000,
        // At 90% of the model's window, of which it reports 95% as the window.
        compacts: CompactionPoint::Above(947),
        // "5 to 10 minutes of inactivity".
        cache_seconds: 300,
        takes_messages_inside_turn: true,
    },
};

impl HostProfile {
    /// Above how many tokens it compacts by itself in a window of this size, without a setting.
    pub fn compacts_above(&self, window: u64) -> Option<u64> {
        self.hints.compacts.of(Tokens(window)).map(|tokens| tokens.0)
    }

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
