//! `[rawr_auto_compaction.deadlines]`. No test waits for a deadline: the log is dated back instead.

use crate::config_effects::script::{ASAP, CaseStep, DO, EARLY, Runs, commit, pull_request, then};
use crate::config_effects::story::AwaitedSign;
use crate::config_effects::{HostAbility, KeyCase, case, check};
use expect_test::expect;

const WATCHER: &str = r#"rawr_auto_compaction.packet_author = "watcher""#;
const SCRATCH: &str = "rawr_auto_compaction.scratch_write_enabled = true";
const ASK: &str = r#"rawr_auto_compaction.mode = "ask""#;
const EARLY_JUDGED: &str =
    r#"rawr_auto_compaction.policy.early.decision_prompt_path = "judgment.md""#;

#[test]
fn deadline_keys_have_their_effects() {
    check(&cases());
}

pub fn cases() -> Vec<KeyCase> {
    vec![
        case("rawr_auto_compaction.deadlines.judgment_seconds", "20", late(pull_request(EARLY)), expect![[r#"
            + judged by host: null, , error the judge did not answer in time
            + decided turn_complete defer early: host gave no answer: the judge did not answer in time
            +   feature pass: features.rawr_auto_compaction is on
            +   pressure pass: 80% left is below 85% (early)
            +   origin pass: a turn of the user or the host
            +   mode_of_host pass: the host allows it
            +   guard pass: no guard is active
            +   breaker pass: 0 of 3 strikes
            +   rearm pass: never compacted
            +   cooldown pass: never compacted
            +   boundary pass: pull request
            +   weak_boundary pass: not a plan update alone
            +   semantic_break pass: not only plan boundaries
            +   active_work pass: nothing is running
            +   packet_worth pass: there is something to carry over
            +   confirmation pass: not configured
            +   judgment fail: host gave no answer: the judge did not answer in time
            +   mode pass: auto
            + thread idle early 80%
        "#]]).also(&[EARLY_JUDGED]).can(&[HostAbility::Judge]),
        case("rawr_auto_compaction.deadlines.approval_seconds", "20", commit(ASAP), expect![[r#"
            - heads-up awaiting_approval asap, packet by agent, goes on in 600 s
            + heads-up awaiting_approval asap, packet by agent, goes on in 20 s
        "#]]).also(&[ASK]),
        case("rawr_auto_compaction.deadlines.heads_up_seconds", "20", late(commit(ASAP)), expect![[r#"
            + thread awaiting_heads_up asap 60%
            + rawr/packet/changed
            + perform compact for rawr
            + thread compacting asap 60%
        "#]]).also(&[WATCHER]),
        case("rawr_auto_compaction.deadlines.scratch_write_seconds", "20", late(then(commit(ASAP), &[DO])), expect![[r#"
            + thread awaiting_scratch_write asap 60%
            + rawr/packet/changed
            + perform compact for rawr
            + thread compacting asap 60%
        "#]]).also(&[WATCHER, SCRATCH]),
        case("rawr_auto_compaction.deadlines.packet_seconds", "20", late(commit(ASAP)), expect![[r#"
            + thread awaiting_packet asap 60%
            + rawr/packet/changed
            + perform compact for rawr
            + thread compacting asap 60%
        "#]]),
        case("rawr_auto_compaction.deadlines.compaction_seconds", "20", late(then(commit(ASAP), &[DO, CaseStep::Accept])), expect![[r#"
            + log thread t: s1-860202a3 failed: the compaction did not finish in time
            + thread idle asap 60%
        "#]]),
        case("rawr_auto_compaction.deadlines.handoff_seconds", "20", late(then(commit(ASAP), &[DO, DO])), expect![[r#"
            + thread awaiting_handoff - 88%
            + log thread t: s1-860202a3 failed: the handoff was not taken in time
            + thread idle - 88%
        "#]]),
    ]
}

/// Then waits longer than the key's value, but shorter than any default.
fn late(steps: Vec<CaseStep>) -> Vec<CaseStep> {
    then(steps, &[CaseStep::Ago(30), CaseStep::Await(AwaitedSign::Changed, Runs::With)])
}
