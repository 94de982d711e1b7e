//! Graphite's stack, with a fake `gt`.

use super::*;

const STACK: &str = "printf '◯   top\\n◉   \\033[36mmiddle\\033[39m   \\n◯   main\\n\\n'";

fn look<'s>(
    lab: &RepositoryFixture,
    folder: &str,
    gt: PathBuf,
    settings: &'s RepoObservation,
) -> RepoProbe<'s> {
    let git = find("git", &env::var_os("PATH").unwrap()).unwrap();
    RepoProbe { git, gt: Some(gt), cwd: lab.path(folder), settings }
}

/// The arguments of `gt` and the resulting state, if `gt` prints this.
async fn check_with(
    lab: &RepositoryFixture,
    says: &str,
    settings: RepoObservation,
    expected: Expect,
) {
    let asked = lab.path("asked");
    let gt = lab.script("gt", &format!("echo \"gt $*\" > '{}'\n{says}", asked.display()));
    let seen = look(lab, "r", gt, &settings).observe(None, None).await;
    let asked = fs::read_to_string(asked).unwrap_or("not asked\n".to_owned());
    expected.assert_eq(&format!("{asked}{}", lab.shown("r", seen.map(|seen| seen.repo))));
}

fn known_to_graphite() -> RepositoryFixture {
    let lab = RepositoryFixture::with_commit();
    lab.write("r/.git/.graphite_repo_config", "{}");
    lab
}

async fn check(says: &str, graphite_max_chars: usize, expected: Expect) {
    let settings = RepoObservation { graphite_max_chars, ..SETTINGS };
    check_with(&known_to_graphite(), says, settings, expected).await;
}

// rule: signal.graphite-stack
#[tokio::test]
async fn the_stack_has_no_colors() {
    check(
        STACK,
        100,
        expect![[r#"
        gt log short --stack --no-interactive
        Some("main") at Some("HEAD"), 0 dirty: [], stack: "◯   top\n◉   middle\n◯   main""#]],
    )
    .await;
}

// rule: signal.graphite-stack
#[tokio::test]
async fn a_long_stack_is_truncated_at_a_character() {
    check(
        STACK,
        12,
        expect![[r#"
        gt log short --stack --no-interactive
        Some("main") at Some("HEAD"), 0 dirty: [], stack: "◯   top\n◉  …""#]],
    )
    .await;
    check(
        STACK,
        1,
        expect![[r#"
        gt log short --stack --no-interactive
        Some("main") at Some("HEAD"), 0 dirty: [], stack: "…""#]],
    )
    .await;
}

#[tokio::test]
async fn with_a_limit_of_zero_graphite_is_not_run() {
    check(
        STACK,
        0,
        expect![[r#"
        not asked
        Some("main") at Some("HEAD"), 0 dirty: []"#]],
    )
    .await;
}

#[tokio::test]
async fn graphite_is_not_run_in_a_repository_without_it() {
    check_with(
        &RepositoryFixture::with_commit(),
        STACK,
        SETTINGS,
        expect![[r#"
        not asked
        Some("main") at Some("HEAD"), 0 dirty: []"#]],
    )
    .await;
}

#[tokio::test]
async fn error_messages_of_graphite_are_not_a_stack() {
    check(
        "echo 'ERROR: untracked branch'; exit 1",
        100,
        expect![[r#"
        gt log short --stack --no-interactive
        Some("main") at Some("HEAD"), 0 dirty: []"#]],
    )
    .await;
    check(
        "exit 0",
        100,
        expect![[r#"
        gt log short --stack --no-interactive
        Some("main") at Some("HEAD"), 0 dirty: []"#]],
    )
    .await;
}

#[tokio::test]
async fn a_slow_graphite_costs_only_the_stack() {
    let settings = RepoObservation { timeout_seconds: 4, ..SETTINGS };
    check_with(
        &known_to_graphite(),
        "sleep 600",
        settings,
        expect![[r#"
        gt log short --stack --no-interactive
        Some("main") at Some("HEAD"), 0 dirty: []"#]],
    )
    .await;
}

#[tokio::test]
async fn a_linked_work_tree_belongs_to_a_repository_that_graphite_knows() {
    let lab = known_to_graphite();
    lab.git("r", &["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let gt = lab.script("gt", "echo side");
    let seen = look(&lab, "linked", gt, &SETTINGS).observe(None, None).await;
    assert_eq!(seen.unwrap().repo.stack.as_deref(), Some("side"));
}
