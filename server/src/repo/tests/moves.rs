//! Which moves of HEAD count as commits.

use super::*;

async fn observe_since(lab: &RepositoryFixture, folder: &str, last: Option<&Repo>) -> RepoObserved {
    observe(&lab.path(folder), &SETTINGS, None, last).await.unwrap()
}

/// The commit that is reported after these moves of HEAD since the last inspection.
async fn check(moves: &[&[&str]], expected: Option<&str>) {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["config", "user.name", "T"]);
    lab.git("r", &["config", "user.email", "t@example.invalid"]);
    lab.git("r", &["branch", "side"]);
    lab.git("r", &["switch", "--quiet", "-c", "ahead"]);
    lab.write("r/c", "one\n");
    lab.commit("r", "of the other branch");
    lab.git("r", &["switch", "--quiet", "main"]);
    let before = observe_since(&lab, "r", None).await;
    assert_eq!(before.committed, None, "there is nothing to compare with");
    for arguments in moves {
        lab.git("r", arguments);
    }
    let seen = observe_since(&lab, "r", Some(&before.repo)).await;
    assert_eq!(seen.committed.as_deref(), expected, "{moves:?}");
}

const COMMIT: &[&str] = &["commit", "--quiet", "--allow-empty", "--message", "by a script"];

// rule: signal.unreported-commit
#[tokio::test]
async fn commits_cherry_picks_and_reverts_count_as_commits() {
    check(&[COMMIT], Some("by a script")).await;
    check(&[&["commit", "--quiet", "--amend", "--message", "again"]], Some("again")).await;
    check(&[&["cherry-pick", "ahead"]], Some("of the other branch")).await;
    let revert: &[&str] = &["revert", "--no-edit", "HEAD"];
    check(&[COMMIT, &["cherry-pick", "ahead"], revert], Some("Revert \"of the other branch\""))
        .await;
}

#[tokio::test]
async fn other_moves_of_head_are_not_commits() {
    check(&[], None).await;
    check(&[&["switch", "--quiet", "ahead"]], None).await;
    check(&[&["merge", "--quiet", "ahead"]], None).await;
    check(&[&["reset", "--quiet", "--hard", "ahead"]], None).await;
    check(&[&["rebase", "--quiet", "ahead"]], None).await;
    check(&[&["pull", "--quiet", ".", "ahead"]], None).await;
}

#[tokio::test]
async fn a_commit_before_or_after_another_move_is_reported() {
    let back: &[&str] = &["reset", "--quiet", "--hard", "HEAD~1"];
    check(&[&["switch", "--quiet", "ahead"], COMMIT], Some("by a script")).await;
    check(&[COMMIT, &["merge", "--quiet", "--no-edit", "ahead"]], Some("by a script")).await;
    check(&[COMMIT, back], None).await;
}

#[tokio::test]
async fn the_first_commit_of_a_repository_is_reported() {
    let lab = RepositoryFixture::new();
    let before = observe_since(&lab, "r", None).await;
    lab.write("r/a", "one\n");
    lab.commit("r", "begin");
    let seen = observe_since(&lab, "r", Some(&before.repo)).await;
    assert_eq!(seen.committed.as_deref(), Some("begin"));
}

#[tokio::test]
async fn without_a_reflog_no_commit_is_reported() {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["config", "core.logAllRefUpdates", "false"]);
    fs::remove_dir_all(lab.path("r/.git/logs")).unwrap();
    let before = observe_since(&lab, "r", None).await;
    lab.commit("r", "unrecorded");
    let seen = observe_since(&lab, "r", Some(&before.repo)).await;
    assert_eq!((seen.repo.head == before.repo.head, seen.committed), (false, None));
}
