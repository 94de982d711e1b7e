//! `[rawr_auto_compaction.judgment]`, with a local mock endpoint.

use crate::config_effects::script::{AwaitedSign, CaseStep, Runs, ShownState};
use crate::config_effects::{KeyCase, case, check};
use expect_test::expect;
use rawr_tests::mock_endpoint::{ScriptedReply, by_chat, reply};

const READY_JUDGED: &str =
    r#"rawr_auto_compaction.policy.ready.decision_prompt_path = "judgment.md""#;
const CHAT: &str = r#"rawr_auto_compaction.judgment.backend = "chat""#;
const MODEL: &str = r#"rawr_auto_compaction.judgment.model = "judge""#;
const ENDPOINT: &str = r#"rawr_auto_compaction.judgment.base_url = "{endpoint}/v1""#;

#[test]
fn judgment_keys_have_their_effects() {
    check(&cases());
}

pub fn cases() -> Vec<KeyCase> {
    vec![
        case("rawr_auto_compaction.judgment.model", r#""judge""#, JUDGED, expect![[r#"
            - problem at 2:41: a judge that uses an endpoint needs a model; set `rawr_auto_compaction.judgment.model`
            - judged by chat: null, , error no model is configured: set `rawr_auto_compaction.judgment.model`
            - decided defer: chat gave no answer: no model is configured: set `rawr_auto_compaction.judgment.model`
            + judged by chat: true, yes, error -
            + decided compact: 70% left (ready) at commit
            + perform packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            + shown POST /v1/chat/completions
            + shown Bearer usual
            + shown model "judge"
            + shown effort null
        "#]]).also(&[READY_JUDGED, CHAT, ENDPOINT]).replying(&[yes()]),
        case("rawr_auto_compaction.judgment.base_url", r#""{endpoint}/v2""#, JUDGED, expect![[r#"
            - shown POST /v1/chat/completions
            + shown POST /v2/chat/completions
        "#]]).also(&[READY_JUDGED, CHAT, MODEL]).replying(&[yes()]).otherwise(r#""{endpoint}/v1""#),
        case("rawr_auto_compaction.judgment.api_key_env", r#""MY_KEY""#, JUDGED, expect![[r#"
            - shown Bearer usual
            + shown Bearer mine
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[yes()]),
        case("rawr_auto_compaction.judgment.timeout_seconds", "1", GIVEN_UP, expect![[r#"
            + judged by chat: null, , error no answer within 1s, in 1 request(s)
            + decided defer: chat gave no answer: no answer within 1s, in 1 request(s)
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[ScriptedReply::Stall]),
        case("rawr_auto_compaction.judgment.max_retries", "0", JUDGED, expect![[r#"
            - judged by chat: true, yes, error -
            - decided compact: 70% left (ready) at commit
            - perform packet_request: HEADS-UP a phase ended here (commit) / WRITE-PACKET / [rawr:s1-860202a3:packet_request]
            - shown POST /v1/chat/completions
            - shown Bearer usual
            - shown model "judge"
            - shown effort null
            + judged by chat: null, , error the endpoint answered 503: busy
            + decided defer: chat gave no answer: the endpoint answered 503: busy
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[busy(), yes()]),
        case("rawr_auto_compaction.judgment.reasoning_effort", r#""low""#, JUDGED, expect![[r#"
            - shown effort null
            + shown effort "low"
        "#]]).also(&[READY_JUDGED, CHAT, MODEL, ENDPOINT]).replying(&[yes()]),
    ]
}

/// Waits for the endpoint's answer and prints its requests.
const JUDGED: &[CaseStep] = &[
    CaseStep::Commit,
    CaseStep::Await(AwaitedSign::Judged, Runs::Both),
    CaseStep::Show(ShownState::Endpoint),
];

/// With the key, the sidecar waits for the endpoint for a shorter time.
const GIVEN_UP: &[CaseStep] = &[CaseStep::Commit, CaseStep::Await(AwaitedSign::Judged, Runs::With)];

fn yes() -> ScriptedReply {
    by_chat(r#"{"should_compact": true, "reason": "yes"}"#)
}

fn busy() -> ScriptedReply {
    reply(503, "busy").with("retry-after", "0")
}
