//! The request of each wire format, and strict parsing of answers. No network.

use super::*;
use expect_test::{Expect, expect};
use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_core::policy::JudgeBackend;
use serde_json::{Value, json};
use wire::ModelOutput;

fn foreign() -> ForeignText<'static> {
    ForeignText::beside(None)
}

fn check_body(wire: JudgeApi, effort: Option<&str>, expected: Expect) {
    let question = JudgeQuestion {
        instructions: "Judge.".to_owned(),
        context: "ghp_0123456789abcdefghijABCDEFGHIJ456789".to_owned(),
    };
    let body = wire.body("m", effort, &question);
    expected.assert_eq(&serde_json::to_string_pretty(&body).unwrap());
}

#[test]
fn the_request_of_the_responses_api() {
    check_body(
        JudgeApi::Responses,
        Some("low"),
        expect![[r#"
            {
              "input": [
                {
                  "content": [
                    {
                      "text": "[redacted:github-token]",
                      "type": "input_text"
                    }
                  ],
                  "role": "user"
                }
              ],
              "instructions": "Judge.",
              "model": "m",
              "reasoning": {
                "effort": "low"
              },
              "store": false,
              "text": {
                "format": {
                  "name": "compaction_judgment",
                  "schema": {
                    "additionalProperties": false,
                    "properties": {
                      "reason": {
                        "type": "string"
                      },
                      "should_compact": {
                        "type": "boolean"
                      }
                    },
                    "required": [
                      "should_compact",
                      "reason"
                    ],
                    "type": "object"
                  },
                  "strict": true,
                  "type": "json_schema"
                }
              }
            }"#]],
    );
}

#[test]
fn the_request_of_the_chat_api() {
    check_body(
        JudgeApi::Chat,
        Some("low"),
        expect![[r#"
            {
              "messages": [
                {
                  "content": "Judge.",
                  "role": "system"
                },
                {
                  "content": "[redacted:github-token]",
                  "role": "user"
                }
              ],
              "model": "m",
              "reasoning_effort": "low",
              "response_format": {
                "json_schema": {
                  "name": "compaction_judgment",
                  "schema": {
                    "additionalProperties": false,
                    "properties": {
                      "reason": {
                        "type": "string"
                      },
                      "should_compact": {
                        "type": "boolean"
                      }
                    },
                    "required": [
                      "should_compact",
                      "reason"
                    ],
                    "type": "object"
                  },
                  "strict": true
                },
                "type": "json_schema"
              }
            }"#]],
    );
}

#[test]
fn an_unset_effort_is_not_sent() {
    let question = JudgeQuestion { instructions: String::new(), context: String::new() };
    for (wire, name) in [(JudgeApi::Responses, "reasoning"), (JudgeApi::Chat, "reasoning_effort")] {
        assert!(wire.body("m", None, &question).get(name).is_none(), "{wire:?}");
    }
}

#[test]
fn only_endpoints_have_a_wire_format() {
    use JudgeBackend::{Auto, Chat, Heuristic, Host, Off, Responses};
    for (backend, expected) in [
        (Responses, Some(JudgeApi::Responses)),
        (Chat, Some(JudgeApi::Chat)),
        (Auto, None),
        (Host, None),
        (Heuristic, None),
        (Off, None),
    ] {
        assert_eq!(JudgeApi::of(backend), expected, "{backend:?}");
    }
}

fn check_verdict(text: &str, expected: &str) {
    let found = match answer::parse(text, foreign()) {
        Ok(verdict) => format!("{} {}", verdict.should_compact, verdict.reason),
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected, "{text}");
}

#[test]
fn an_answer_must_match_the_schema() {
    check_verdict(r#" {"reason": "committed", "should_compact": true}"#, "true committed");
    check_verdict(r#"{"should_compact": false, "reason": ""}"#, "false ");
    for (text, detail) in [
        (r#"{"should_compact": true}"#, "missing field `reason`"),
        (r#"{"reason": "x"}"#, "missing field `should_compact`"),
        (
            r#"{"should_compact": "yes", "reason": "x"}"#,
            "invalid type: string \"yes\", expected a boolean",
        ),
        (r#"{"should_compact": null, "reason": "x"}"#, "invalid type: null, expected a boolean"),
        (
            r#"{"should_compact": true, "reason": 1}"#,
            "invalid type: integer `1`, expected a string",
        ),
        (
            r#"{"should_compact": true, "reason": "x", "sure": 1}"#,
            "unknown field `sure`, expected `should_compact` or `reason`",
        ),
        (
            r#"{"should_compact": true, "should_compact": false, "reason": "x"}"#,
            "duplicate field `should_compact`",
        ),
        ("true", "not an object"),
        (r#"[true, "in the order of the schema"]"#, "not an object"),
    ] {
        check_refused(text, "the model's answer does not match the schema: ", detail);
    }
}

#[test]
fn an_answer_must_be_json() {
    for (text, detail) in [
        ("Yes, compact.", "expected value"),
        (r#"{"should_compact": true, "reason": "x""#, "EOF while parsing an object"),
        (r#"{"should_compact": true, "reason": "x"} Done."#, "trailing characters"),
        ("```json\n{\"should_compact\": true, \"reason\": \"x\"}\n```", "expected value"),
    ] {
        check_refused(text, "the model's answer is not JSON: ", detail);
    }
    check_verdict(" \n", "the model's answer is empty");
}

#[track_caller]
fn check_refused(text: &str, kind: &str, detail: &str) {
    let told = answer::parse(text, foreign()).unwrap_err().to_string();
    assert!(told.starts_with(&format!("{kind}{detail}")), "{text}: {told}");
}

#[test]
fn a_reason_is_one_redacted_line_of_at_most_500_characters() {
    let said = json!({"should_compact": true, "reason": format!("a\n{}", "é".repeat(600))});
    let reason = answer::parse(&said.to_string(), foreign()).unwrap().reason;
    assert_eq!(reason, format!("a {}…", "é".repeat(497)));
    check_verdict(
        r#"{"should_compact": true, "reason": "the key is ghp_0123456789abcdefghijABCDEFGHIJ456789"}"#,
        "true the key is [redacted:github-token]",
    );
}

// rule: prompt.judgment
// rule: judgment.schema
#[test]
fn the_schema_is_a_strict_one() {
    expect![[r#"{"additionalProperties":false,"properties":{"reason":{"type":"string"},"should_compact":{"type":"boolean"}},"required":["should_compact","reason"],"type":"object"}"#]].assert_eq(&json!(*OUTPUT_SCHEMA).to_string());
}

fn check_spoken(wire: JudgeApi, body: &Value, expected: &str) {
    let found = match wire.read(&body.to_string(), foreign()) {
        Ok(ModelOutput { text, usage: None }) => text,
        Ok(ModelOutput { text, usage: Some(usage) }) => {
            format!("{text} ({} in, {} out)", usage.input, usage.output)
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected, "{body}");
}

#[test]
fn the_text_of_a_response_is_in_its_messages() {
    let message = json!({"type": "message", "content": [
        {"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"},
    ]});
    let thought = json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]});
    let usage = json!({"input_tokens": 7, "output_tokens": 2, "total_tokens": 9});
    let answered =
        json!({"status": "completed", "error": null, "output": [thought, message], "usage": usage});
    check_spoken(JudgeApi::Responses, &answered, "ab (7 in, 2 out)");
    check_spoken(JudgeApi::Responses, &json!({"output": [message]}), "ab");
    check_spoken(
        JudgeApi::Responses,
        &json!({"output": [message], "usage": {"input_tokens": "7"}}),
        "ab",
    );
    check_spoken(
        JudgeApi::Responses,
        &json!({"output": [{"type": "reasoning", "content": null}]}),
        "",
    );
}

#[test]
fn a_response_without_an_answer_is_an_error_with_its_cause() {
    let refused =
        json!({"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]});
    for (body, expected) in [
        (json!({"output": [refused]}), "the model refused: I will not."),
        (
            json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}),
            "the model did not finish: max_output_tokens",
        ),
        (json!({"status": "queued", "output": []}), "the model did not finish: queued"),
        (
            json!({"status": "failed", "error": {"code": "server_error", "message": "oh no"}}),
            "the endpoint failed: oh no",
        ),
        (json!({"error": "oh no"}), "the endpoint failed: oh no"),
        (json!({}), "the endpoint's answer does not match its API: missing `output`"),
    ] {
        check_spoken(JudgeApi::Responses, &body, expected);
    }
}

fn choice(message: Value, finish_reason: Value) -> Value {
    json!({"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]})
}

#[test]
fn the_text_of_a_chat_is_in_its_first_choice() {
    let mut answered =
        choice(json!({"role": "assistant", "content": "a", "refusal": null}), json!("stop"));
    check_spoken(JudgeApi::Chat, &answered, "a");
    answered["usage"] = json!({"prompt_tokens": 7, "completion_tokens": 2});
    check_spoken(JudgeApi::Chat, &answered, "a (7 in, 2 out)");
    check_spoken(JudgeApi::Chat, &choice(json!({"content": "a", "refusal": ""}), Value::Null), "a");
}

#[test]
fn a_fence_around_a_whole_answer_is_removed() {
    for (said, expected) in [
        ("```json\n{}\n```", "{}\n"),
        ("\n```\n{}\n```\n", "{}\n"),
        ("```json\r\n{}\r\n```", "\n{}\r\n"),
        ("``` {} ```", "{} "),
        ("```json {} ```", "{} "),
        ("Here it is:\n```json\n{}\n```", "Here it is:\n```json\n{}\n```"),
        ("```json\n{}\n``` I hope that helps.", "```json\n{}\n``` I hope that helps."),
        ("```jsonc\n{}\n```", "```jsonc\n{}\n```"),
        ("```", "```"),
    ] {
        check_spoken(JudgeApi::Chat, &choice(json!({"content": said}), json!("stop")), expected);
    }
}

#[test]
fn a_chat_without_an_answer_is_an_error_with_its_cause() {
    for (body, expected) in [
        (
            choice(json!({"content": null, "refusal": "I will not."}), json!("stop")),
            "the model refused: I will not.",
        ),
        (choice(json!({"content": "{"}), json!("length")), "the model did not finish: length"),
        (
            choice(json!({"content": null}), json!("content_filter")),
            "the model did not finish: content_filter",
        ),
        (json!({"choices": []}), "the model's answer is empty"),
        (json!({"error": {"message": "oh no"}}), "the endpoint failed: oh no"),
        (json!({"output": []}), "the endpoint's answer does not match its API: missing `choices`"),
    ] {
        check_spoken(JudgeApi::Chat, &body, expected);
    }
}

#[test]
fn error_messages_are_found_in_every_known_layout() {
    for (body, code, message) in [
        (
            r#"{"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}"#,
            Some("rate_limit_exceeded"),
            "slow down",
        ),
        (
            r#"{"error": {"message": "slow down", "type": "requests", "code": null}}"#,
            Some("requests"),
            "slow down",
        ),
        (r#"{"error": "slow down"}"#, None, "slow down"),
        (r#"{"message": "slow down"}"#, None, "slow down"),
        ("<html>\n<h1>Bad gateway</h1>", None, "<html> <h1>Bad gateway</h1>"),
        ("", None, ""),
    ] {
        let expected = (code.map(str::to_owned), message.to_owned());
        assert_eq!(wire::complaint(body, foreign()), expected, "{body}");
    }
}
