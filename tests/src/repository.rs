//! A temporary git repository for agents. It must not read the user's git settings.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A repository with one commit and an identity of its own.
#[derive(Debug)]
pub struct Repository {
    folder: TempDir,
}

impl Default for Repository {
    fn default() -> Self {
        Self::new()
    }
}

impl Repository {
    /// Makes it in a temporary folder.
    pub fn new() -> Self {
        let folder =
            TempDir::new().unwrap_or_else(|error| panic!("no folder for a repository: {error}"));
        let repository = Self { folder };
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        for (key, value) in [
            ("user.name", "Test"),
            ("user.email", "test@example.invalid"),
            ("commit.gpgsign", "false"),
        ] {
            repository.git(&["config", key, value]);
        }
        repository.git(&["commit", "--quiet", "--allow-empty", "--message", "begin"]);
        repository
    }

    /// The work tree.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The subjects of its commits, newest first.
    pub fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// Runs git in it and returns what git prints. Panics when git fails.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap_or_else(|error| panic!("git cannot be started: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?} failed: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
