//! `[rawr_auto_compaction.repo_observation]`, and archiving of idle threads.

use crate::config_effects::script::{AwaitedSign, CaseStep, Runs, ShownState};
use crate::config_effects::{KeyCase, case, check};
use expect_test::expect;

const GRAPHITE: &str = "rawr_auto_compaction.repo_observation.graphite_enabled = true";

#[test]
fn observation_and_retention_keys_have_their_effects() {
    check(&cases());
}

pub fn cases() -> Vec<KeyCase> {
    vec![
        case(
            "rawr_auto_compaction.retention_days",
            "30",
            &[CaseStep::Rested(60), CaseStep::Show(ShownState::Threads)],
            expect![[r#"
                - shown rested
            "#]],
        ),
        case(
            "rawr_auto_compaction.repo_observation.enabled",
            "false",
            &[CaseStep::Commit, CaseStep::Await(AwaitedSign::Repository, Runs::Without), SHOW],
            expect![[r#"
                - shown null
            "#]],
        )
        .in_repository(STACK),
        case(
            "rawr_auto_compaction.repo_observation.timeout_seconds",
            "20",
            SEEN,
            expect![[r#"
                - shown null
                + shown "◉ feature\n◯ main"
            "#]],
        )
        .also(&[GRAPHITE])
        .in_repository(SLOW_STACK),
        case(
            "rawr_auto_compaction.repo_observation.graphite_enabled",
            "true",
            SEEN,
            expect![[r#"
                - shown null
                + shown "◉ feature\n◯ main"
            "#]],
        )
        .in_repository(STACK),
        case(
            "rawr_auto_compaction.repo_observation.graphite_max_chars",
            "8",
            SEEN,
            expect![[r#"
                - shown "◉ feature\n◯ main"
                + shown "◉ featu…"
            "#]],
        )
        .also(&[GRAPHITE])
        .in_repository(STACK),
    ]
}

const SHOW: CaseStep = CaseStep::Show(ShownState::Repository);
const SEEN: &[CaseStep] =
    &[CaseStep::Commit, CaseStep::Await(AwaitedSign::Repository, Runs::Both), SHOW];

const STACK: &str = "printf '◉ feature\\n◯ main\\n'";
/// Slower than the default limit, faster than the case's.
const SLOW_STACK: &str = "sleep 3; printf '◉ feature\\n◯ main\\n'";
