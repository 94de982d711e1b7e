//! `[features]`, `[rawr_auto_compaction]` and `[auto_compact]`.

use crate::config_effects::script::{
    ASAP, CaseStep, DO, EARLY, EMERGENCY, LOOKED, READY, ShownState, above_floor, commit,
    compacted_then_commit, mid_turn, pull_request, says, then,
};
use crate::config_effects::{HostAbility, KeyCase, case, check};
use expect_test::expect;

const WATCHER: &str = r#"rawr_auto_compaction.packet_author = "watcher""#;
const OFF: &str = "features.rawr_auto_compaction = false";
const INLINE: &str = "auto_compact.enabled = true";

#[test]
fn general_keys_have_their_effects() {
    check(&cases());
}

pub fn cases() -> Vec<KeyCase> {
    vec![
        case("features.rawr_auto_compaction", "false", commit(ASAP), expect![[r#"
            - verdict "compact": 60% left (asap) at commit
            - decided turn_complete compact asap: 60% left (asap) at commit
            -   boundaries ["commit"]
            -   feature pass: features.rawr_auto_compaction is on
            + verdict "nothing": features.rawr_auto_compaction is off
            + decided turn_complete nothing asap: features.rawr_auto_compaction is off
            +   feature fail: features.rawr_auto_compaction is off
            - heads-up will_compact asap, packet by agent
            - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            - thread awaiting_packet asap 60%
            + thread idle asap 60%
        "#]]),
        case("rawr_auto_compaction.mode", r#""tag""#, commit(ASAP), expect![[r#"
            - verdict "compact": 60% left (asap) at commit
            - decided turn_complete compact asap: 60% left (asap) at commit
            -   boundaries ["commit"]
            + verdict "tag": tag: would compact here
            + decided turn_complete tag asap: tag: would compact here
            -   mode pass: auto
            - heads-up will_compact asap, packet by agent
            - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            - thread awaiting_packet asap 60%
            +   mode fail: tag: would compact here
            + heads-up tagged asap, packet by agent
            + thread idle asap 60%
        "#]]),
        case(
            "rawr_auto_compaction.packet_author",
            r#""watcher""#,
            then(commit(ASAP), &[CaseStep::DoAll]),
            expect![[r#"
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + heads-up will_compact asap, packet by watcher
                + perform inject_turn heads_up: HEADS-UP a phase ended here (commit) / [rawr:s1-860202a3:heads_up]
                + thread awaiting_heads_up asap 60%
                - perform inject_turn handoff: HANDOFF ``` / State: working / Goal: parser / Next: docs / ``` (none known) / [rawr:s1-860202a3:handoff]
                + perform inject_turn handoff: HANDOFF ``` / BY-RAWR goal=Write the parser last=I put the parser into a commit of its own. / ``` (none known) / [rawr:s1-860202a3:handoff]
            "#]],
        ),
        case(
            "rawr_auto_compaction.packet_channel",
            r#""sample""#,
            then(commit(ASAP), &[CaseStep::DoAll]),
            expect![[r#"
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + perform sample_packet for -, prompt "HEADS-UP a phase ended here (commit)\n\nWRITE-PACKET"
            "#]],
        )
        .can(&[HostAbility::Sample]),
        case("rawr_auto_compaction.packet_ahead", "false", commit(ASAP), expect![[r#"
            - perform sample_packet for -, ahead true, prompt "HEADS-UP a phase ended here (commit)\n\nWRITE-PACKET"
        "#]])
            .also(&[
                r#"rawr_auto_compaction.policy.asap.confirm = "idle""#,
                r#"rawr_auto_compaction.packet_channel = "sample""#,
            ])
            .can(&[HostAbility::Sample]),
        case("rawr_auto_compaction.mid_turn", r#""off""#, mid_turn(EMERGENCY), expect![[r#"
            - verdict "compact": 10% left: emergency, inside the turn
            - decided mid_turn compact emergency: 10% left: emergency, inside the turn
            -   boundaries []
            + verdict "nothing": mid_turn = off
            + decided mid_turn nothing emergency: mid_turn = off
            -   mode pass: mid_turn = emergency
            - heads-up will_compact emergency, packet by agent
            - perform inject_turn packet_request inside the turn: HEADS-UP the context is nearly full / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            - thread awaiting_packet emergency 10%
            +   mode fail: mid_turn = off
            + thread idle emergency 10%
        "#]])
            .can(&[HostAbility::Steer]),
        case("rawr_auto_compaction.turn_based_handoff", "false", commit(ASAP), expect![[r#"
            - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            + perform inject_turn packet_request: WRITE-PACKET / [rawr:s1-860202a3:packet_request]
        "#]]),
        case(
            "rawr_auto_compaction.early_percent_remaining_lt",
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
        case("rawr_auto_compaction.ready_percent_remaining_lt", "68", commit(READY), expect![[r#"
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
        "#]]),
        case("rawr_auto_compaction.asap_percent_remaining_lt", "55", commit(ASAP), expect![[r#"
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
        "#]]),
        case(
            "rawr_auto_compaction.emergency_percent_remaining_lt",
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
            "rawr_auto_compaction.auto_requires_any_boundary",
            r#"["pr_checkpoint"]"#,
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
            "rawr_auto_compaction.cooldown_turns",
            "3",
            compacted_then_commit(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                -   boundaries ["commit"]
                + verdict "nothing": 1 of 3 turns since the last compaction
                + decided turn_complete nothing asap: 1 of 3 turns since the last compaction
                -   cooldown pass: # turn and # seconds since the last compaction
                +   cooldown fail: 1 of 3 turns since the last compaction
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s2-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread idle asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.cooldown_seconds",
            "3600",
            compacted_then_commit(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                -   boundaries ["commit"]
                + verdict "nothing": # of # seconds since the last compaction
                + decided turn_complete nothing asap: # of # seconds since the last compaction
                -   cooldown pass: # turn and # seconds since the last compaction
                +   cooldown fail: # of # seconds since the last compaction
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s2-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread idle asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.rearm_tokens",
            "50000",
            compacted_then_commit(ASAP),
            expect![[r#"
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                -   boundaries ["commit"]
                + verdict "nothing": 27,000 of 50,000 new tokens since the last compaction
                + decided turn_complete nothing asap: 27,000 of 50,000 new tokens since the last compaction
                -   rearm pass: 27,000 new tokens since the last compaction
                +   rearm fail: 27,000 of 50,000 new tokens since the last compaction
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s2-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread idle asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.breaker_strikes",
            "1",
            then(then(commit(ASAP), &[DO, CaseStep::Refuse]), &commit(ASAP)),
            expect![[r#"
                -   breaker pass: 0 of 3 strikes
                +   breaker pass: 0 of 1 strikes
                + log thread t: rawr pauses compactions: the last compaction failed; it compacts again when less than 15% is left (emergency), or a compaction frees enough, or 30 minutes pass
                - verdict "compact": 60% left (asap) at commit
                - decided turn_complete compact asap: 60% left (asap) at commit
                -   boundaries ["commit"]
                + verdict "nothing": the last compaction failed
                + decided turn_complete nothing asap: the last compaction failed
                -   breaker pass: 1 of 3 strikes
                +   breaker fail: the last compaction failed
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s2-860202a3:packet_request]
                - thread awaiting_packet asap 60%
            "#]],
        ),
        case(
            "rawr_auto_compaction.breaker_land_at_percent",
            "50",
            then(then(above_floor(), &[DO, CaseStep::DoTo(30_000), CaseStep::DoTo(30_000)]), &commit(ASAP)),
            expect![[r#"
                -   breaker pass: 0 of 3 strikes
                +   breaker pass: 1 of 3 strikes
            "#]],
        ),
        case(
            "rawr_auto_compaction.breaker_reset_seconds",
            "0",
            then(commit(ASAP), &[DO, CaseStep::Refuse]),
            expect![[r#"
                - log thread t: rawr pauses compactions: the last compaction failed; it compacts again when less than 15% is left (emergency), or a compaction frees enough, or 30 minutes pass
                + log thread t: rawr pauses compactions: the last compaction failed; it compacts again when less than 15% is left (emergency), or a compaction frees enough
            "#]],
        )
        .also(&["rawr_auto_compaction.breaker_strikes = 1"]),
        case("rawr_auto_compaction.scratch_write_enabled", "true", commit(ASAP), expect![[r#"
            - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            + perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / SCRATCH .scratch/agent-delta.scratch.md / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
        "#]]),
        case(
            "rawr_auto_compaction.scratch_file_template",
            r#""notes/{agentName}.md""#,
            Vec::new(),
            expect![[r#"
                - opened with notes in .scratch/agent-delta.scratch.md
                + opened with notes in notes/delta.md
            "#]],
        ),
        case(
            "rawr_auto_compaction.packet_max_tail_chars",
            "6",
            then(commit(ASAP), &[CaseStep::DoAll, CaseStep::Show(ShownState::Packet)]),
            expect![[r#"
                - perform inject_turn handoff: HANDOFF ``` / BY-RAWR goal=Write the parser last=I put the parser into a commit of its own. / ``` (none known) / [rawr:s1-860202a3:handoff]
                + perform inject_turn handoff: HANDOFF ``` / BY-RAWR goal=Write  … last=… s own. / ``` (none known) / [rawr:s1-860202a3:handoff]
                - shown BY-RAWR goal=Write the parser last=I put the parser into a commit of its own.
                + shown BY-RAWR goal=Write  … last=… s own.
            "#]],
        )
        .also(&[WATCHER]),
        case(
            "rawr_auto_compaction.compaction_model",
            r#""small""#,
            then(commit(ASAP), &[DO]),
            expect![[r#"
                - perform compact for rawr
                + perform compact for rawr, model "small"
            "#]],
        ),
        case(
            "rawr_auto_compaction.compaction_reasoning_effort",
            r#""low""#,
            then(commit(ASAP), &[DO]),
            expect![[r#"
                - perform compact for rawr
                + perform compact for rawr, reasoningEffort "low"
            "#]],
        ),
        case(
            "rawr_auto_compaction.compaction_verbosity",
            r#""low""#,
            then(commit(ASAP), &[DO]),
            expect![[r#"
                - perform compact for rawr
                + perform compact for rawr, verbosity "low"
            "#]],
        ),
        case(
            "rawr_auto_compaction.compaction_packet_only",
            "true",
            then(commit(ASAP), &[DO]),
            expect![[r#"
                - perform compact for rawr
                + perform compact for rawr, packetOnly true
            "#]],
        ),
        case("auto_compact.enabled", "true", says(EMERGENCY, LOOKED), expect![[r#"
            - verdict "nothing": features.rawr_auto_compaction is off
            - decided turn_complete nothing emergency: features.rawr_auto_compaction is off
            -   feature fail: features.rawr_auto_compaction is off
            -   pressure pass: 10% left is below 15% (emergency)
            -   origin pass: a turn of the user or the host
            + verdict "compact": 10% left is below 15% (auto_compact)
            + decided inline compact -: 10% left is below 15% (auto_compact)
            +   feature pass: features.rawr_auto_compaction is off, and auto_compact.enabled is on
            +   pressure pass: 10% left is below 15% (auto_compact)
            +   origin pass: not the compaction's own turn
            -   cooldown pass: never compacted
            -   boundary bypassed: no boundary in this turn
            -   weak_boundary pass: not a plan update alone
            -   semantic_break not_reached: no boundary counts
            -   active_work pass: nothing is running
            -   packet_worth pass: there is something to carry over
            -   confirmation pass: not configured
            -   judgment pass: not configured
            -   mode pass: auto
            - thread idle emergency 10%
            +   cooldown not_reached: does not apply to the built-in compaction
            +   boundary not_reached: does not apply to the built-in compaction
            +   weak_boundary not_reached: does not apply to the built-in compaction
            +   semantic_break not_reached: does not apply to the built-in compaction
            +   active_work not_reached: does not apply to the built-in compaction
            +   packet_worth not_reached: does not apply to the built-in compaction
            +   confirmation not_reached: does not apply to the built-in compaction
            +   judgment not_reached: does not apply to the built-in compaction
            +   mode not_reached: does not apply to the built-in compaction
            + perform compact for inline
            + thread compacting emergency 10%
        "#]])
            .also(&[OFF]),
        case("auto_compact.threshold_percent", "61", says(ASAP, LOOKED), expect![[r#"
            - verdict "nothing": 60% left is not below 15% (auto_compact)
            - thread idle asap 60%
            + verdict "compact": 60% left is below 61% (auto_compact)
            + decided inline compact -: 60% left is below 61% (auto_compact)
            +   feature pass: features.rawr_auto_compaction is off, and auto_compact.enabled is on
            +   pressure pass: 60% left is below 61% (auto_compact)
            +   origin pass: not the compaction's own turn
            +   mode_of_host pass: the host allows it
            +   guard pass: no guard is active
            +   breaker pass: 0 of 3 strikes
            +   rearm pass: never compacted
            +   cooldown not_reached: does not apply to the built-in compaction
            +   boundary not_reached: does not apply to the built-in compaction
            +   weak_boundary not_reached: does not apply to the built-in compaction
            +   semantic_break not_reached: does not apply to the built-in compaction
            +   active_work not_reached: does not apply to the built-in compaction
            +   packet_worth not_reached: does not apply to the built-in compaction
            +   confirmation not_reached: does not apply to the built-in compaction
            +   judgment not_reached: does not apply to the built-in compaction
            +   mode not_reached: does not apply to the built-in compaction
            + perform compact for inline
            + thread compacting asap 60%
        "#]])
            .also(&[OFF, INLINE]),
        case("auto_compact.interrupt_mid_turn", "true", mid_turn(EMERGENCY), expect![[r#"
            - perform compact for inline
            + perform compact for inline, interrupt true
        "#]])
            .also(&[OFF, INLINE])
            .can(&[HostAbility::MidTurnCompact]),
        case("rawr_auto_compaction.preset", r#""calm""#, commit(ASAP), expect![[r#"
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
        "#]]),
        case(
            "rawr_auto_compaction.confirm_percent",
            "100",
            then(commit(ASAP), &[CaseStep::Submit("commit and push")]),
            expect![[r#"
                - submitted: Held
                - decided preflight compact asap: 60% left (asap) at commit; the next message closes the work (100%: 'commit', 'push', speaks of a commit or a release)
                -   boundaries ["commit"]
                + submitted: Deliver
                + decided preflight nothing asap: proposed at commit; dropped, because the end of a phase is only 97% likely, needed 100%; the next message closes the work (100%: 'commit', 'push', speaks of a commit or a release)
                -   confirmation pass: the next message closes the work (100%: 'commit', 'push', speaks of a commit or a release); a phase ended before it (98%)
                +   confirmation fail: the end of a phase is only 97% likely, needed 100%; the next message closes the work (100%: 'commit', 'push', speaks of a commit or a release)
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread idle asap 60%
            "#]],
        )
        .also(&[r#"rawr_auto_compaction.preset = "calm""#])
        .can(&[HostAbility::Queue]),
        case("rawr_auto_compaction.idle_seconds", "30", commit(ASAP), expect![[r#"
            - verdict "defer": 60% left (asap) at commit; 4 minutes of silence decides
            - decided preflight defer asap: 60% left (asap) at commit; 4 minutes of silence decides
            + verdict "defer": 60% left (asap) at commit; 30 seconds of silence decides
            + decided preflight defer asap: 60% left (asap) at commit; 30 seconds of silence decides
        "#]])
            .also(&[r#"rawr_auto_compaction.policy.asap.confirm = "idle""#]),
        case("rawr_auto_compaction.cache_seconds", "200", commit(ASAP), expect![[r#"
            - verdict "defer": 60% left (asap) at commit; 4 minutes of silence decides
            - decided preflight defer asap: 60% left (asap) at commit; 4 minutes of silence decides
            + verdict "defer": 60% left (asap) at commit; 140 seconds of silence decides
            + decided preflight defer asap: 60% left (asap) at commit; 140 seconds of silence decides
        "#]])
            .also(&[r#"rawr_auto_compaction.policy.asap.confirm = "idle""#]),
        case(
            "rawr_auto_compaction.semantic_signals.not_done",
            r#"["for now"]"#,
            says(ASAP, "All done for now: the parser is written."),
            expect![[r#"
                - verdict "compact": 60% left (asap) at agent done
                - decided turn_complete compact asap: 60% left (asap) at agent done
                -   boundaries ["agent_done"]
                + verdict "nothing": no boundary in this turn
                + decided turn_complete nothing asap: no boundary in this turn
                -   boundary pass: agent done ('parser is')
                +   boundary fail: no boundary in this turn
                -   semantic_break pass: not only plan boundaries
                +   semantic_break not_reached: no boundary counts
                - heads-up will_compact asap, packet by agent
                - perform inject_turn packet_request: HEADS-UP a phase ended here (agent done) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                - thread awaiting_packet asap 60%
                + thread idle asap 60%
            "#]],
        ),
    ]
}
