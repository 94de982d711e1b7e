//! Observations of the environment, `[rawr_auto_compaction.semantic_signals]` and `repo_observation`, and archiving of
//! idle threads.

use crate::config_effects::script::{ASAP, CaseStep, LOOKED, Runs, ShownState, commit, says, then};
use crate::config_effects::story::AwaitedSign;
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
            vec![CaseStep::Rested(60), CaseStep::Show(ShownState::Threads)],
            expect![[r#"
                - shown rested
            "#]],
        ),
        case(
            "rawr_auto_compaction.semantic_signals.agent_done",
            r#"["kurzum"]"#,
            says(ASAP, "Kurzum: I looked around in the folder."),
            expect![[r#"
                - verdict "nothing": no boundary in this turn
                - decided turn_complete nothing asap: no boundary in this turn
                + verdict "compact": 60% left (asap) at agent done
                + decided turn_complete compact asap: 60% left (asap) at agent done
                +   boundaries ["agent_done"]
                -   boundary fail: no boundary in this turn
                +   boundary pass: agent done ('kurzum')
                -   semantic_break not_reached: no boundary counts
                +   semantic_break pass: not only plan boundaries
                - thread idle asap 60%
                + heads-up will_compact asap, packet by agent
                + perform inject_turn packet_request: HEADS-UP a phase ended here (agent done) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + thread awaiting_packet asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.semantic_signals.topic_shift",
            r#"["kurzum"]"#,
            says(ASAP, "Kurzum: I looked around in the folder."),
            expect![[r#"
                - verdict "nothing": no boundary in this turn
                - decided turn_complete nothing asap: no boundary in this turn
                + verdict "compact": 60% left (asap) at new topic
                + decided turn_complete compact asap: 60% left (asap) at new topic
                +   boundaries ["topic_shift"]
                -   boundary fail: no boundary in this turn
                +   boundary pass: new topic ('kurzum')
                -   semantic_break not_reached: no boundary counts
                +   semantic_break pass: not only plan boundaries
                - thread idle asap 60%
                + heads-up will_compact asap, packet by agent
                + perform inject_turn packet_request: HEADS-UP a phase ended here (new topic) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + thread awaiting_packet asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.semantic_signals.concluding_thought",
            r#"["kurzum"]"#,
            says(ASAP, "Kurzum: I looked around in the folder."),
            expect![[r#"
                - verdict "nothing": no boundary in this turn
                - decided turn_complete nothing asap: no boundary in this turn
                + verdict "compact": 60% left (asap) at conclusion
                + decided turn_complete compact asap: 60% left (asap) at conclusion
                +   boundaries ["concluding_thought"]
                -   boundary fail: no boundary in this turn
                +   boundary pass: conclusion ('kurzum')
                -   semantic_break not_reached: no boundary counts
                +   semantic_break pass: not only plan boundaries
                - thread idle asap 60%
                + heads-up will_compact asap, packet by agent
                + perform inject_turn packet_request: HEADS-UP a phase ended here (conclusion) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + thread awaiting_packet asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.semantic_signals.directive",
            r#"["immer"]"#,
            vec![
                CaseStep::User("Immer erst testen."),
                CaseStep::Says(1000, LOOKED),
                CaseStep::Show(ShownState::Directives),
            ],
            expect![[r#"
                + thread idle - null%
                + shown Immer erst testen.
            "#]],
        ),
        case(
            "rawr_auto_compaction.repo_observation.enabled",
            "false",
            seen(Runs::Without),
            expect![[r#"
                - shown null
            "#]],
        )
        .in_repository(STACK),
        case(
            "rawr_auto_compaction.repo_observation.timeout_seconds",
            "20",
            seen(Runs::Both),
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
            seen(Runs::Both),
            expect![[r#"
                - shown null
                + shown "◉ feature\n◯ main"
            "#]],
        )
        .in_repository(STACK),
        case(
            "rawr_auto_compaction.repo_observation.graphite_max_chars",
            "8",
            seen(Runs::Both),
            expect![[r#"
                - shown "◉ feature\n◯ main"
                + shown "◉ featu…"
            "#]],
        )
        .also(&[GRAPHITE])
        .in_repository(STACK),
    ]
}

/// The repository's state in the log; waits for it in these runs.
fn seen(runs: Runs) -> Vec<CaseStep> {
    then(
        commit(ASAP),
        &[CaseStep::Await(AwaitedSign::Repository, runs), CaseStep::Show(ShownState::Repository)],
    )
}

const STACK: &str = "printf '◉ feature\\n◯ main\\n'";
/// Slower than the default limit, faster than the case's.
const SLOW_STACK: &str = "sleep 3; printf '◉ feature\\n◯ main\\n'";
