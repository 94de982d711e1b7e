//! A `config` line, read by the server's own loader: a script shows a key from its TOML to what the core does.

use crate::scripts::player::Player;
use rawr_core::policy::Policy;
use rawr_settings::config::{ConfigSources, Home, UnsavedTexts};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The keys that a script has set, with their values as TOML.
pub struct ScriptConfig(BTreeMap<String, String>);

impl Default for ScriptConfig {
    /// As `policy` lines begin: with the preset whose policy is the core's default.
    fn default() -> Self {
        let preset = ("rawr_auto_compaction.preset".to_owned(), "\"spec\"".to_owned());
        Self(BTreeMap::from([preset]))
    }
}

impl ScriptConfig {
    /// The policy and the problems of the file with these keys.
    fn load(&self) -> (Policy, Vec<String>) {
        let mut text = String::new();
        for (key, value) in &self.0 {
            let _ = writeln!(text, "{key} = {value}");
        }
        let home = Home::at("/no-folder-of-scripts");
        let unsaved = UnsavedTexts::from([(home.rawr_toml(), text)]);
        let sources = ConfigSources { unsaved: Some(&unsaved), ..ConfigSources::at(&home) };
        let (config, problems) = sources.load();
        let told = problems.into_iter().map(|problem| {
            let help = problem.help.map(|help| format!("; {help}")).unwrap_or_default();
            format!("problem: {}{help}", problem.message)
        });
        (config.policy, told.collect())
    }
}

impl Player {
    /// `key = value`, as in `rawr.toml`. A later line replaces an earlier one of the same key. Answers with the problems
    /// of all lines so far.
    pub fn set_config(&mut self, line: &str) -> Vec<String> {
        let (before, _) = self.config.load();
        assert_eq!(self.policy, before, "a script has `policy` lines or `config` lines, not both");
        let (key, value) = line.split_once('=').unwrap();
        self.config.0.insert(key.trim().to_owned(), value.trim().to_owned());
        let (policy, problems) = self.config.load();
        self.policy = policy;
        problems
    }
}
