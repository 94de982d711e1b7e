//! `[rawr_auto_compaction.judgment]`, with a local mock endpoint.

use crate::config_effects::script::{CaseStep, READY, Runs, ShownState, commit, then};
use crate::config_effects::story::AwaitedSign;
use crate::config_effects::{KeyCase, case, check};
use expect_test::expect;
use rawr_tests::mock_endpoint::{ScriptedReply, reply};
use serde_json::json;

const READY_JUDGED: &str =
    r#"rawr_auto_compaction.policy.ready.decision_prompt_path = "judgment.md""#;
const CHAT: &str = r#"rawr_auto_compaction.judgment.backend = "chat""#;
const MODEL: &str = r#"rawr_auto_compaction.judgment.model = "judge""#;
const TAG: &str = r#"rawr_auto_compaction.mode = "tag""#;
const ENDPOINT: &str = r#"rawr_auto_compaction.judgment.base_url = "{endpoint}/v1""#;

#[test]
fn judgment_keys_have_their_effects() {
    check(&cases());
}

pub fn cases() -> Vec<KeyCase> {
    vec![
        case("rawr_auto_compaction.judgment.backend", r#""off""#, commit(READY), expect![[r#"
            -   judgment pass: heuristic: score 4, 3 needed: a commit +3, ready +1
            +   judgment pass: judgment.backend = off
        "#]]).also(&[READY_JUDGED]),
        case("rawr_auto_compaction.judgment.model", r#""judge""#, judged(), expect![[r#"
            - problem at 2:41: a judge that uses an endpoint needs a model; set `rawr_auto_compaction.judgment.model`
            - judged by chat: null, , error no model is configured: set `rawr_auto_compaction.judgment.model`
            - decided turn_complete defer ready: chat gave no answer: no model is configured: set `rawr_auto_compaction.judgment.model`
            + judged by chat: true, yes, error -
            + decided turn_complete compact ready: 70% left (ready) at commit
            +   boundaries ["commit"]
            -   judgment fail: chat gave no answer: no model is configured: set `rawr_auto_compaction.judgment.model`
            +   judgment pass: chat: yes
            - thread idle ready 70%
            + heads-up will_compact ready, packet by agent
            + perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            + thread awaiting_packet ready 70%
            + shown POST /v1/chat/completions
            + shown Bearer usual
            + shown model "judge"
            + shown effort null
        "#]]).also(&[READY_JUDGED, CHAT, ENDPOINT]).replying(&[said("yes")]),
        case("rawr_auto_compaction.judgment.base_url", r#""{endpoint}/v2""#, judged(), expect![[r#"
            - shown POST /v1/chat/completions
            + shown POST /v2/chat/completions
        "#]]).also(&[READY_JUDGED, CHAT, MODEL]).replying(&[said("yes")]).otherwise(r#""{endpoint}/v1""#),
        case("rawr_auto_compaction.judgment.api_key_env", r#""MY_KEY""#, judged(), expect![[r#"
            - shown Bearer usual
            + shown Bearer mine
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[said("yes")]),
        case("rawr_auto_compaction.judgment.timeout_seconds", "1", given_up(), expect![[r#"
            + judged by chat: null, , error no answer within 1s, in 1 request(s)
            + decided turn_complete defer ready: chat gave no answer: no answer within 1s, in 1 request(s)
            +   feature pass: features.rawr_auto_compaction is on
            +   pressure pass: 70% left is below 75% (ready)
            +   origin pass: a turn of the user or the host
            +   mode_of_host pass: the host allows it
            +   guard pass: no guard is active
            +   breaker pass: 0 of 3 strikes
            +   rearm pass: never compacted
            +   cooldown pass: never compacted
            +   boundary pass: commit
            +   weak_boundary pass: not a plan update alone
            +   semantic_break pass: not only plan boundaries
            +   active_work pass: nothing is running
            +   packet_worth pass: there is something to carry over
            +   confirmation pass: not configured
            +   judgment fail: chat gave no answer: no answer within 1s, in 1 request(s)
            +   mode pass: auto
            + thread idle ready 70%
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[ScriptedReply::Stall]),
        case("rawr_auto_compaction.judgment.for_advice", "true", advised(), expect![[r#"
            - verdict "tag": tag: would compact here
            + verdict "judge": 70% left (ready) at commit; the judge is asked
            + decided turn_complete judge ready: 70% left (ready) at commit; the judge is asked
            +   feature pass: features.rawr_auto_compaction is on
            +   pressure pass: 70% left is below 75% (ready)
            +   origin pass: a turn of the user or the host
            +   mode_of_host pass: the host allows it
            +   guard pass: no guard is active
            +   breaker pass: 0 of 3 strikes
            +   rearm pass: never compacted
            +   cooldown pass: never compacted
            +   boundary pass: commit
            +   weak_boundary pass: not a plan update alone
            +   semantic_break pass: not only plan boundaries
            +   active_work pass: nothing is running
            +   packet_worth pass: there is something to carry over
            +   confirmation pass: not configured
            +   judgment not_reached: the judge is asked
            +   mode fail: tag: would compact here
            + the judge is asked
            + thread awaiting_judgment ready 70%
            + judged by chat: true, yes, error -
            -   judgment not_reached: mode compacts nothing, so no model is asked
            +   judgment pass: chat: yes
            + shown POST /v1/chat/completions
            + shown Bearer usual
            + shown model "judge"
            + shown effort null
        "#]])
            .also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT, TAG])
            .replying(&[said("yes")]),
        case("rawr_auto_compaction.judgment.max_retries", "0", judged(), expect![[r#"
            - judged by chat: true, yes, error -
            - decided turn_complete compact ready: 70% left (ready) at commit
            -   boundaries ["commit"]
            + judged by chat: null, , error the endpoint answered 503: busy
            + decided turn_complete defer ready: chat gave no answer: the endpoint answered 503: busy
            -   judgment pass: chat: yes
            +   judgment fail: chat gave no answer: the endpoint answered 503: busy
            - heads-up will_compact ready, packet by agent
            - perform inject_turn packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            - thread awaiting_packet ready 70%
            - shown POST /v1/chat/completions
            - shown Bearer usual
            - shown model "judge"
            - shown effort null
            + thread idle ready 70%
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[busy(), said("yes")]),
        case("rawr_auto_compaction.judgment.reasoning_effort", r#""low""#, judged(), expect![[r#"
            - shown effort null
            + shown effort "low"
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[said("yes")]),
    ]
}

/// Waits for the endpoint's answer and prints its requests.
fn judged() -> Vec<CaseStep> {
    let shown =
        [CaseStep::Await(AwaitedSign::Judged, Runs::Both), CaseStep::Show(ShownState::Endpoint)];
    then(commit(READY), &shown)
}

/// The endpoint is asked only with the key.
fn advised() -> Vec<CaseStep> {
    let shown =
        [CaseStep::Await(AwaitedSign::Judged, Runs::With), CaseStep::Show(ShownState::Endpoint)];
    then(commit(READY), &shown)
}

/// With the key, the sidecar waits for the endpoint for a shorter time.
fn given_up() -> Vec<CaseStep> {
    then(commit(READY), &[CaseStep::Await(AwaitedSign::Judged, Runs::With)])
}

/// A reply of a chat completions endpoint.
fn said(reason: &str) -> ScriptedReply {
    let answer = json!({"should_compact": true, "reason": reason}).to_string();
    let message = json!({"role": "assistant", "content": answer});
    reply(200, json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string())
}

fn busy() -> ScriptedReply {
    reply(503, "busy").with("retry-after", "0")
}
