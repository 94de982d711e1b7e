//! Real repositories in temporary folders, including unusual ones, and fake programs that misbehave.

use super::*;
use expect_test::{Expect, expect};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use tempfile::TempDir;

mod moves;
mod odd;
mod quiet;
mod stack;

const SETTINGS: RepoObservation = RepoObservation {
    enabled: true,
    timeout_seconds: 20,
    graphite_enabled: false,
    graphite_max_chars: 4096,
};

/// A folder with a repository `r` in it, on a branch `main` without commits.
struct RepositoryFixture {
    folder: TempDir,
}

impl RepositoryFixture {
    fn new() -> Self {
        let lab = Self { folder: TempDir::new().unwrap() };
        fs::create_dir(lab.path("r")).unwrap();
        lab.git("r", &["init", "--quiet", "--initial-branch", "main"]);
        lab
    }

    /// With a commit of `a` and `b`.
    fn with_commit() -> Self {
        let lab = Self::new();
        lab.write("r/a", "one\n");
        lab.write("r/b", "one\n");
        lab.commit("r", "begin");
        lab
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes an executable script.
    fn script(&self, path: &str, text: &str) -> PathBuf {
        self.write(path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
        self.path(path)
    }

    fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.invalid"])
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(self.path(folder))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Returns the hash of the new commit.
    fn commit(&self, folder: &str, subject: &str) -> String {
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "--allow-empty", "--no-verify", "-m", subject]);
        self.git(folder, &["rev-parse", "HEAD"])
    }

    async fn check(&self, folder: &str, since: Option<&str>, expected: Expect) {
        let seen = observe(&self.path(folder), &SETTINGS, since, None).await;
        expected.assert_eq(&self.shown(folder, seen.map(|seen| seen.repo)));
    }

    /// Prints the state with symbolic names of commits instead of hashes.
    fn shown(&self, folder: &str, seen: Option<Repo>) -> String {
        let Some(mut state) = seen else { return "nothing".to_owned() };
        if let Some(head) = &mut state.head {
            assert_eq!(*head, self.git(folder, &["rev-parse", "HEAD"]));
            *head = "HEAD".to_owned();
        }
        let Repo { branch, head, dirty, files, changed, stack } = state;
        let mut shown = format!("{branch:?} at {head:?}, {dirty} dirty: {files:?}");
        if !changed.is_empty() {
            shown.push_str(&format!(", changed: {changed:?}"));
        }
        if let Some(stack) = stack {
            shown.push_str(&format!(", stack: {stack:?}"));
        }
        shown
    }
}

#[tokio::test]
async fn a_clean_work_tree_has_a_branch_and_a_commit() {
    RepositoryFixture::with_commit()
        .check("r", None, expect![[r#"Some("main") at Some("HEAD"), 0 dirty: []"#]])
        .await;
}

#[tokio::test]
async fn everything_that_differs_from_the_commit_is_dirty() {
    let lab = RepositoryFixture::with_commit();
    lab.write("r/a", "two\n");
    lab.write("r/staged", "new\n");
    lab.git("r", &["add", "staged"]);
    fs::remove_file(lab.path("r/b")).unwrap();
    lab.write("r/untracked", "new\n");
    lab.write("r/folder/1", "new\n");
    lab.write("r/folder/2", "new\n");
    lab.write("r/.gitignore", "ignored\n");
    lab.write("r/ignored", "new\n");
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 6 dirty: ["a", "b", "staged", ".gitignore", "folder/", "untracked"]"#]]).await;
}

#[tokio::test]
async fn a_renamed_file_counts_twice() {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["mv", "a", "c"]);
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 2 dirty: ["a", "c"]"#]]).await;
}

#[tokio::test]
async fn a_conflict_is_dirty_once() {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["checkout", "--quiet", "-b", "other"]);
    lab.write("r/a", "theirs\n");
    lab.commit("r", "theirs");
    lab.git("r", &["checkout", "--quiet", "main"]);
    lab.write("r/a", "ours\n");
    lab.commit("r", "ours");
    let merged = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.invalid", "merge", "other"])
        .current_dir(lab.path("r"))
        .output();
    assert!(!merged.unwrap().status.success(), "the merge conflicts");
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 1 dirty: ["a"]"#]]).await;
}

#[tokio::test]
async fn files_of_commits_since_are_listed_besides_dirty_ones() {
    let lab = RepositoryFixture::with_commit();
    let since = lab.git("r", &["rev-parse", "HEAD"]);
    lab.write("r/a", "two\n");
    lab.write("r/folder/c", "new\n");
    lab.commit("r", "more");
    fs::remove_file(lab.path("r/b")).unwrap();
    lab.commit("r", "less");
    lab.write("r/d", "new\n");
    lab.check(
        "r",
        Some(&since),
        expect![[
            r#"Some("main") at Some("HEAD"), 1 dirty: ["d"], changed: ["a", "b", "folder/c"]"#
        ]],
    )
    .await;
    lab.git("r", &["config", "diff.relative", "true"]);
    lab.check(
        "r/folder",
        Some(&since),
        expect![[
            r#"Some("main") at Some("HEAD"), 1 dirty: ["d"], changed: ["a", "b", "folder/c"]"#
        ]],
    )
    .await;
}

#[tokio::test]
async fn an_invalid_commit_is_ignored() {
    let lab = RepositoryFixture::with_commit();
    let head = lab.git("r", &["rev-parse", "HEAD"]);
    let unknown = "0123456789abcdef0123456789abcdef01234567";
    lab.script("evil", "touch ran");
    let option = format!("--ext-diff={}", lab.path("evil").display());
    for since in [head.as_str(), unknown, &head[..10], "HEAD", "main", "", "--", &option] {
        lab.check("r", Some(since), expect![[r#"Some("main") at Some("HEAD"), 0 dirty: []"#]])
            .await;
    }
    assert!(!lab.path("r/ran").exists());
}

#[tokio::test]
async fn many_paths_are_counted_and_the_first_fifty_listed() {
    let lab = RepositoryFixture::with_commit();
    let since = lab.git("r", &["rev-parse", "HEAD"]);
    for at in 0..120 {
        lab.write(&format!("r/committed-{at:03}"), "new\n");
    }
    lab.commit("r", "many");
    for at in 0..3000 {
        lab.write(&format!("r/new-{at:04}"), "");
    }
    let seen = observe(&lab.path("r"), &SETTINGS, Some(&since), None).await.unwrap().repo;
    assert_eq!((seen.dirty, seen.files.len(), seen.changed.len()), (3000, 50, 50));
    assert_eq!((seen.files[49].as_str(), seen.changed[49].as_str()), ("new-0049", "committed-049"));
}
