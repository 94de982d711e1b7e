//! `[rawr_auto_compaction.policy.<tier>]`.

use crate::config_effects::script::{
    ASAP, EARLY, EMERGENCY, LOOKED, READY, commit, plan_step, pull_request, says,
};
use crate::config_effects::{HostAbility, KeyCase, case, check};
use expect_test::expect;

#[test]
fn tier_keys_have_their_effects() {
    check(&cases());
}

pub fn cases() -> Vec<KeyCase> {
    vec![
        case(
            "rawr_auto_compaction.policy.early.percent_remaining_lt",
            "78",
            pull_request(EARLY),
            expect![[r#"
                - verdict "compact": 80% left (early) at pull request
                - decided turn_complete compact early: 80% left (early) at pull request
                -   boundaries ["pr_checkpoint"]
                -   feature pass: features.rawr_auto_compaction is on
                -   pressure pass: 80% left is below 85% (early)
                -   origin pass: a turn of the user or the host
                -   mode_of_host pass: the host allows it
                -   guard pass: no guard is active
                -   breaker pass: 0 of 3 strikes
                -   rearm pass: never compacted
                -   cooldown pass: never compacted
                -   boundary pass: pull request
                -   weak_boundary pass: not a plan update alone
                -   semantic_break pass: not only plan boundaries
                -   active_work pass: nothing is running
                -   packet_worth pass: there is something to carry over
                -   confirmation pass: not configured
                -   judgment pass: not configured
                -   mode pass: auto
                - heads-up will_compact early, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (pull request) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet early 80%
                + verdict "nothing": 80% left is above every tier
                + thread idle - 80%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.early.requires_any_boundary",
            r#"["topic_shift"]"#,
            pull_request(EARLY),
            expect![[r#"
                - verdict "compact": 80% left (early) at pull request
                - decided turn_complete compact early: 80% left (early) at pull request
                -   boundaries ["pr_checkpoint"]
                + verdict "nothing": pull request does not count at early
                + decided turn_complete nothing early: pull request does not count at early
                -   boundary pass: pull request
                +   boundary fail: pull request does not count at early
                -   semantic_break pass: not only plan boundaries
                +   semantic_break not_reached: no boundary counts
                - heads-up will_compact early, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (pull request) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet early 80%
                + thread idle early 80%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.early.plan_boundaries_require_semantic_break",
            "false",
            plan_step(EARLY),
            expect![[r#"
                - verdict "nothing": only plan boundaries
                - decided turn_complete nothing early: only plan boundaries
                + verdict "compact": 80% left (early) at plan step done, plan changed
                + decided turn_complete compact early: 80% left (early) at plan step done, plan changed
                +   boundaries ["plan_checkpoint","plan_update"]
                -   semantic_break fail: only plan boundaries
                +   semantic_break pass: early does not ask for one
                - thread idle early 80%
                + heads-up will_compact early, packet by agent
                + perform inject_turn packet_request: HEADS-UP a phase ended here (plan step done, plan changed) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + thread awaiting_packet early 80%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.early.decision_prompt_path",
            r#""my-judgment.md""#,
            pull_request(EARLY),
            expect![[r#"
                - verdict "compact": 80% left (early) at pull request
                - decided turn_complete compact early: 80% left (early) at pull request
                -   boundaries ["pr_checkpoint"]
                + verdict "judge": 80% left (early) at pull request; the judge is asked
                + decided turn_complete judge early: 80% left (early) at pull request; the judge is asked
                -   judgment pass: not configured
                +   judgment not_reached: the judge is asked
                - heads-up will_compact early, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (pull request) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet early 80%
                + the judge is asked
                + perform judge MY-JUDGE | CASE early
                + thread awaiting_judgment early 80%
            "#]],
        )
        .can(&[HostAbility::Judge]),
        case(
            "rawr_auto_compaction.policy.ready.percent_remaining_lt",
            "68",
            commit(READY),
            expect![[r#"
                - verdict "compact": 70% left (ready) at commit
                - decided turn_complete compact ready: 70% left (ready) at commit
                -   boundaries ["commit"]
                + verdict "nothing": commit does not count at early
                + decided turn_complete nothing early: commit does not count at early
                -   pressure pass: 70% left is below 75% (ready)
                +   pressure pass: 70% left is below 85% (early)
                -   boundary pass: commit
                +   boundary fail: commit does not count at early
                -   semantic_break pass: not only plan boundaries
                +   semantic_break not_reached: no boundary counts
                - heads-up will_compact ready, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet ready 70%
                + thread idle early 70%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.ready.requires_any_boundary",
            r#"["turn_complete"]"#,
            commit(READY),
            expect![[r#"
                - verdict "compact": 70% left (ready) at commit
                - decided turn_complete compact ready: 70% left (ready) at commit
                -   boundaries ["commit"]
                + verdict "defer": 70% left (ready) at turn ended
                + decided preflight defer ready: 70% left (ready) at turn ended
                -   boundary pass: commit
                +   boundary pass: turn ended
                - heads-up will_compact ready, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet ready 70%
                + heads-up deferred ready, packet by agent
                + thread deferred ready 70%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.ready.plan_boundaries_require_semantic_break",
            "false",
            plan_step(READY),
            expect![[r#"
                - verdict "nothing": only plan boundaries
                - decided turn_complete nothing ready: only plan boundaries
                + verdict "compact": 70% left (ready) at plan step done, plan changed
                + decided turn_complete compact ready: 70% left (ready) at plan step done, plan changed
                +   boundaries ["plan_checkpoint","plan_update"]
                -   semantic_break fail: only plan boundaries
                +   semantic_break pass: ready does not ask for one
                - thread idle ready 70%
                + heads-up will_compact ready, packet by agent
                + perform inject_turn packet_request: HEADS-UP a phase ended here (plan step done, plan changed) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + thread awaiting_packet ready 70%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.ready.decision_prompt_path",
            r#""my-judgment.md""#,
            commit(READY),
            expect![[r#"
                -   judgment pass: not configured
                +   judgment pass: heuristic: score 4, 3 needed: a commit +3, ready +1
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.asap.percent_remaining_lt",
            "55",
            commit(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                + verdict "compact": 60% left (ready) at commit
                + decided turn_complete compact ready: 60% left (ready) at commit
                -   pressure pass: 60% left is below 65% (asap)
                +   pressure pass: 60% left is below 75% (ready)
                - heads-up will_compact asap, packet by agent
                + heads-up will_compact ready, packet by agent
                - thread awaiting_packet asap 60%
                + thread awaiting_packet ready 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.asap.requires_any_boundary",
            r#"["agent_done"]"#,
            commit(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                -   boundaries ["commit"]
                + verdict "nothing": commit does not count at asap
                + decided turn_complete nothing asap: commit does not count at asap
                -   boundary pass: commit
                +   boundary fail: commit does not count at asap
                -   semantic_break pass: not only plan boundaries
                +   semantic_break not_reached: no boundary counts
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread idle asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.asap.plan_boundaries_require_semantic_break",
            "true",
            plan_step(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at plan step done, plan changed
                - decided turn_complete compact asap: 60% left (asap) at plan step done, plan changed
                -   boundaries ["plan_checkpoint","plan_update"]
                + verdict "nothing": only plan boundaries
                + decided turn_complete nothing asap: only plan boundaries
                -   semantic_break pass: asap does not ask for one
                +   semantic_break fail: only plan boundaries
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (plan step done, plan changed) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread idle asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.asap.decision_prompt_path",
            r#""my-judgment.md""#,
            commit(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                -   boundaries ["commit"]
                + verdict "judge": 60% left (asap) at commit; the judge is asked
                + decided turn_complete judge asap: 60% left (asap) at commit; the judge is asked
                -   judgment pass: not configured
                +   judgment not_reached: the judge is asked
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + the judge is asked
                + perform judge MY-JUDGE | CASE asap
                + thread awaiting_judgment asap 60%
            "#]],
        )
        .can(&[HostAbility::Judge]),
        case(
            "rawr_auto_compaction.policy.emergency.percent_remaining_lt",
            "5",
            says(EMERGENCY, LOOKED),
            expect![[r#"
                - verdict "compact": 10% left: emergency
                - decided turn_complete compact emergency: 10% left: emergency
                -   boundaries []
                + verdict "nothing": no boundary in this turn
                + decided turn_complete nothing asap: no boundary in this turn
                -   pressure pass: 10% left is below 15% (emergency)
                +   pressure pass: 10% left is below 65% (asap)
                -   boundary bypassed: no boundary in this turn
                +   boundary fail: no boundary in this turn
                - heads-up will_compact emergency, packet by agent
                - perform inject_turn packet_request: HEADS-UP the context is nearly full / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet emergency 10%
                + thread idle asap 10%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.emergency.requires_any_boundary",
            r#"["commit"]"#,
            pull_request(EMERGENCY),
            expect![[r#"
                -   boundaries ["pr_checkpoint"]
                +   boundaries []
                -   boundary pass: pull request
                +   boundary bypassed: pull request does not count at emergency
                -   semantic_break pass: not only plan boundaries
                +   semantic_break not_reached: no boundary counts
                - perform inject_turn packet_request: HEADS-UP a phase ended here (pull request) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + perform inject_turn packet_request: HEADS-UP the context is nearly full / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.emergency.plan_boundaries_require_semantic_break",
            "true",
            plan_step(EMERGENCY),
            expect![[r#"
                -   semantic_break pass: emergency does not ask for one
                +   semantic_break bypassed: only plan boundaries
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.emergency.decision_prompt_path",
            r#""my-judgment.md""#,
            commit(EMERGENCY),
            expect![[r#"
                -   judgment pass: not configured
                +   judgment bypassed: no judge is asked in an emergency
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.early.confirm",
            r#""idle""#,
            pull_request(EARLY),
            expect![[r#"
                - verdict "compact": 80% left (early) at pull request
                - decided turn_complete compact early: 80% left (early) at pull request
                -   boundaries ["pr_checkpoint"]
                + verdict "defer": 80% left (early) at pull request; 4 minutes of silence decides
                + decided preflight defer early: 80% left (early) at pull request; 4 minutes of silence decides
                -   confirmation pass: not configured
                +   confirmation not_reached: not confirmed yet
                - heads-up will_compact early, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (pull request) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet early 80%
                + thread proposed early 80%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.early.tokens_used_gt",
            "1000",
            says(1_001, LOOKED),
            expect![[r#"
                - verdict "nothing": 99% left is above every tier
                - thread idle - 99%
                + verdict "nothing": no boundary in this turn
                + decided turn_complete nothing early: no boundary in this turn
                +   feature pass: features.rawr_auto_compaction is on
                +   pressure pass: 1,001 tokens used are above 1,000 (early)
                +   origin pass: a turn of the user or the host
                +   mode_of_host pass: the host allows it
                +   guard pass: no guard is active
                +   breaker pass: 0 of 3 strikes
                +   rearm pass: never compacted
                +   cooldown pass: never compacted
                +   boundary fail: no boundary in this turn
                +   weak_boundary pass: not a plan update alone
                +   semantic_break not_reached: no boundary counts
                +   active_work pass: nothing is running
                +   packet_worth pass: there is something to carry over
                +   confirmation pass: not configured
                +   judgment pass: not configured
                +   mode pass: auto
                + thread idle early 99%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.ready.confirm",
            r#""idle""#,
            commit(READY),
            expect![[r#"
                - verdict "compact": 70% left (ready) at commit
                - decided turn_complete compact ready: 70% left (ready) at commit
                -   boundaries ["commit"]
                + verdict "defer": 70% left (ready) at commit; 4 minutes of silence decides
                + decided preflight defer ready: 70% left (ready) at commit; 4 minutes of silence decides
                -   confirmation pass: not configured
                +   confirmation not_reached: not confirmed yet
                - heads-up will_compact ready, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet ready 70%
                + thread proposed ready 70%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.ready.tokens_used_gt",
            "1000",
            says(1_001, LOOKED),
            expect![[r#"
                - verdict "nothing": 99% left is above every tier
                - thread idle - 99%
                + verdict "nothing": no boundary in this turn
                + decided turn_complete nothing ready: no boundary in this turn
                +   feature pass: features.rawr_auto_compaction is on
                +   pressure pass: 1,001 tokens used are above 1,000 (ready)
                +   origin pass: a turn of the user or the host
                +   mode_of_host pass: the host allows it
                +   guard pass: no guard is active
                +   breaker pass: 0 of 3 strikes
                +   rearm pass: never compacted
                +   cooldown pass: never compacted
                +   boundary fail: no boundary in this turn
                +   weak_boundary pass: not a plan update alone
                +   semantic_break not_reached: no boundary counts
                +   active_work pass: nothing is running
                +   packet_worth pass: there is something to carry over
                +   confirmation pass: not configured
                +   judgment pass: not configured
                +   mode pass: auto
                + thread idle ready 99%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.asap.confirm",
            r#""idle""#,
            commit(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                -   boundaries ["commit"]
                + verdict "defer": 60% left (asap) at commit; 4 minutes of silence decides
                + decided preflight defer asap: 60% left (asap) at commit; 4 minutes of silence decides
                -   confirmation pass: not configured
                +   confirmation not_reached: not confirmed yet
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread proposed asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.asap.tokens_used_gt",
            "1000",
            says(1_001, LOOKED),
            expect![[r#"
                - verdict "nothing": 99% left is above every tier
                - thread idle - 99%
                + verdict "nothing": no boundary in this turn
                + decided turn_complete nothing asap: no boundary in this turn
                +   feature pass: features.rawr_auto_compaction is on
                +   pressure pass: 1,001 tokens used are above 1,000 (asap)
                +   origin pass: a turn of the user or the host
                +   mode_of_host pass: the host allows it
                +   guard pass: no guard is active
                +   breaker pass: 0 of 3 strikes
                +   rearm pass: never compacted
                +   cooldown pass: never compacted
                +   boundary fail: no boundary in this turn
                +   weak_boundary pass: not a plan update alone
                +   semantic_break not_reached: no boundary counts
                +   active_work pass: nothing is running
                +   packet_worth pass: there is something to carry over
                +   confirmation pass: not configured
                +   judgment pass: not configured
                +   mode pass: auto
                + thread idle asap 99%
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.emergency.confirm",
            r#""idle""#,
            commit(EMERGENCY),
            expect![[r#"
                -   confirmation pass: not configured
                +   confirmation bypassed: an emergency waits for no confirmation
            "#]],
        ),
        case(
            "rawr_auto_compaction.policy.emergency.tokens_used_gt",
            "1000",
            says(1_001, LOOKED),
            expect![[r#"
                - verdict "nothing": 99% left is above every tier
                - thread idle - 99%
                + verdict "compact": 99% left: emergency
                + decided turn_complete compact emergency: 99% left: emergency
                +   boundaries []
                +   feature pass: features.rawr_auto_compaction is on
                +   pressure pass: 1,001 tokens used are above 1,000 (emergency)
                +   origin pass: a turn of the user or the host
                +   mode_of_host pass: the host allows it
                +   guard pass: no guard is active
                +   breaker pass: 0 of 3 strikes
                +   rearm pass: never compacted
                +   cooldown pass: never compacted
                +   boundary bypassed: no boundary in this turn
                +   weak_boundary pass: not a plan update alone
                +   semantic_break not_reached: no boundary counts
                +   active_work pass: nothing is running
                +   packet_worth pass: there is something to carry over
                +   confirmation pass: not configured
                +   judgment pass: not configured
                +   mode pass: auto
                + heads-up will_compact emergency, packet by agent
                + perform inject_turn packet_request: HEADS-UP the context is nearly full / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + thread awaiting_packet emergency 99%
            "#]],
        ),
    ]
}
