//! `[rawr_auto_compaction.prompts]`.

use crate::config_effects::script::{CaseStep, ShownState};
use crate::config_effects::{KeyCase, case, check};
use expect_test::expect;

const WATCHER: &str = r#"rawr_auto_compaction.packet_author = "watcher""#;
const SCRATCH: &str = "rawr_auto_compaction.scratch_write_enabled = true";

#[test]
fn prompt_keys_have_their_effects() {
    check(&cases());
}

pub fn cases() -> Vec<KeyCase> {
    vec![
        case(
            "rawr_auto_compaction.prompts.auto-compact",
            r#""my-auto-compact.md""#,
            &[CaseStep::Commit],
            expect![[r#"
                - perform packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + perform packet_request: HEADS-UP a phase ended here (commit) / MY-WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            "#]],
        ),
        case(
            "rawr_auto_compaction.prompts.heads-up",
            r#""my-heads-up.md""#,
            &[CaseStep::Commit],
            expect![[r#"
                - perform packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + perform packet_request: MY-HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            "#]],
        ),
        case(
            "rawr_auto_compaction.prompts.scratch-write",
            r#""my-scratch-write.md""#,
            &[CaseStep::Commit],
            expect![[r#"
                - perform packet_request: HEADS-UP a phase ended here (commit) / SCRATCH .scratch/agent-delta-860202a3.scratch.md / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
                + perform packet_request: HEADS-UP a phase ended here (commit) / MY-SCRATCH .scratch/agent-delta-860202a3.scratch.md / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            "#]],
        )
        .also(&[SCRATCH]),
        case(
            "rawr_auto_compaction.prompts.judgment",
            r#""my-judgment.md""#,
            &[CaseStep::Show(ShownState::Judgment)],
            expect![[r#"
                - perform judge: JUDGE | CASE ready
                + perform judge: MY-JUDGE | CASE ready
            "#]],
        ),
        case(
            "rawr_auto_compaction.prompts.judgment-context",
            r#""my-judgment-context.md""#,
            &[CaseStep::Show(ShownState::Judgment)],
            expect![[r#"
                - perform judge: JUDGE | CASE ready
                + perform judge: JUDGE | MY-CASE ready
            "#]],
        ),
        case(
            "rawr_auto_compaction.prompts.watcher-packet",
            r#""my-watcher-packet.md""#,
            &[CaseStep::Commit, CaseStep::Do, CaseStep::Show(ShownState::Packet)],
            expect![[r#"
                - shown BY-RAWR goal=Write the parser last=I put the parser into a commit of its own.
                + shown MY-BY-RAWR goal=Write the parser last=I put the parser into a commit of its own.
            "#]],
        )
        .also(&[WATCHER]),
        case(
            "rawr_auto_compaction.prompts.handoff",
            r#""my-handoff.md""#,
            &[CaseStep::Commit, CaseStep::Do, CaseStep::Do],
            expect![[r#"
                - perform handoff: HANDOFF ``` / State: working / Goal: parser / Next: docs / ``` (none known) / [rawr:s1-860202a3:handoff]
                + perform handoff: MY-HANDOFF ``` / State: working / Goal: parser / Next: docs / ``` (none known) / [rawr:s1-860202a3:handoff]
            "#]],
        ),
        case(
            "rawr_auto_compaction.prompts.called-off",
            r#""my-called-off.md""#,
            &[CaseStep::Show(ShownState::Prompt("called-off"))],
            expect![[r#"
                - shown CALLED OFF
                + shown MY-CALLED OFF
            "#]],
        ),
        case(
            "rawr_auto_compaction.prompts.compact",
            r#""my-compact.md""#,
            &[CaseStep::Show(ShownState::Prompt("compact"))],
            expect![[r#"
                - shown SUMMARISE
                + shown MY-SUMMARISE
            "#]],
        ),
        case(
            "rawr_auto_compaction.prompts.summary-prefix",
            r#""my-summary-prefix.md""#,
            &[CaseStep::Show(ShownState::Rewritten)],
            expect![[r#"
                - shown SUMMARY: / The parser is written.
                + shown MY-SUMMARY: / The parser is written.
            "#]],
        ),
    ]
}
