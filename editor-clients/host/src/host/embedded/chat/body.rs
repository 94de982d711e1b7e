//! Converts histories to the endpoint's JSON and back. Pure.

use serde_json::{Map, Value, json};

use crate::host::SummaryTuning;
use crate::host::embedded::history::AgentItem;
use crate::host::embedded::model::{ModelError, ModelRequest};
use crate::host::embedded::tools;
use crate::host::embedded::tools::ModelToolCall;

/// The field that asks for the usage.
pub(super) const USAGE: &str = "stream_options";
/// The schema of an answer. The instructions ask for JSON, too.
const SCHEMA: &str = "response_format";

/// The field that an endpoint may have meant when it refused this request. Without it, the request still does its work.
pub(super) fn dispensable(body: &Map<String, Value>, refusal: &str) -> Option<&'static str> {
    let names_usage = refusal.contains(USAGE) || refusal.contains("include_usage");
    let meant = if names_usage { USAGE } else { SCHEMA };
    body.contains_key(meant).then_some(meant)
}

/// The body of a completion request.
pub(super) fn of(model: &str, history: &[AgentItem], want: ModelRequest<'_>) -> Map<String, Value> {
    let mut messages: Vec<_> = history.iter().map(message).collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("stream".to_owned(), true.into());
    body.insert(USAGE.to_owned(), json!({"include_usage": true}));
    match want {
        ModelRequest::Step => {}
        ModelRequest::Summary { instructions, tuning } => {
            messages.push(json!({"role": "user", "content": instructions}));
            tune(&mut body, tuning);
        }
        ModelRequest::Aside { question } => {
            messages.push(json!({"role": "user", "content": question}))
        }
        ModelRequest::Judgment { instructions, question, schema } => {
            messages = vec![
                json!({"role": "system", "content": instructions}),
                json!({"role": "user", "content": question}),
            ];
            let schema = json!({"name": "judgment", "strict": true, "schema": schema});
            let format = json!({"type": "json_schema", "json_schema": schema});
            body.insert(SCHEMA.to_owned(), format);
        }
    }
    if !matches!(want, ModelRequest::Judgment { .. }) {
        body.insert("tools".to_owned(), tools::definitions().into());
    }
    // A history with calls requires the tool definitions, and the provider's cache requires the same prefix.
    if matches!(want, ModelRequest::Summary { .. } | ModelRequest::Aside { .. }) {
        body.insert("tool_choice".to_owned(), "none".into());
    }
    body.insert("messages".to_owned(), messages.into());
    body
}

fn tune(body: &mut Map<String, Value>, tuning: &SummaryTuning) {
    let fields = [
        ("model", &tuning.model),
        ("reasoning_effort", &tuning.reasoning_effort),
        ("verbosity", &tuning.verbosity),
    ];
    for (field, value) in fields {
        if let Some(value) = value {
            body.insert(field.to_owned(), value.as_str().into());
        }
    }
}

fn message(item: &AgentItem) -> Value {
    match item {
        AgentItem::System { text } => json!({"role": "system", "content": text}),
        AgentItem::User { text } | AgentItem::Summary { text } => {
            json!({"role": "user", "content": text})
        }
        AgentItem::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text.as_deref().unwrap_or_default()})
        }
        AgentItem::Assistant { text, calls } => {
            let calls: Vec<_> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        AgentItem::Result { call_id, text } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": text})
        }
    }
}

fn call(call: &ModelToolCall) -> Value {
    // Some providers refuse the whole history if the arguments of one call are not JSON.
    let readable = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if readable { call.arguments.as_str() } else { "{}" };
    let function = json!({"name": call.name, "arguments": arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

/// The instructions and the items in the format of the responses API.
pub(super) fn as_responses_input(history: &[AgentItem]) -> (&str, Vec<Value>) {
    let mut instructions = "";
    let mut input = Vec::new();
    for item in history {
        match item {
            AgentItem::System { text } => instructions = text,
            AgentItem::User { text } | AgentItem::Summary { text } => {
                input.push(spoken("user", "input_text", text));
            }
            AgentItem::Assistant { text, calls } => {
                let text = text.iter().filter(|text| !text.is_empty());
                input.extend(text.map(|text| spoken("assistant", "output_text", text)));
                input.extend(calls.iter().map(|call| {
                    json!({
                        "type": "function_call",
                        "call_id": call.id,
                        "name": call.name,
                        "arguments": call.arguments,
                    })
                }));
            }
            AgentItem::Result { call_id, text } => {
                let kind = "function_call_output";
                input.push(json!({"type": kind, "call_id": call_id, "output": text}));
            }
        }
    }
    (instructions, input)
}

fn spoken(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// The new history. Encrypted items are refused, because chat completions cannot carry them.
pub(super) fn from_responses_output(output: &[Value]) -> Result<Vec<AgentItem>, ModelError> {
    let mut items = Vec::new();
    for item in output {
        let sealed = item["encrypted_content"].is_string();
        if sealed || item["type"] != "message" {
            let kind = item["type"].as_str().unwrap_or("?");
            return Err(ModelError::Failed(format!(
                "the endpoint's compaction returned an item of type {kind}, which chat completions do not support"
            )));
        }
        let parts = item["content"].as_array().into_iter().flatten();
        let parts = parts.filter_map(|part| part["text"].as_str());
        let text = item["content"].as_str().map(str::to_owned);
        let text = text.unwrap_or_else(|| parts.collect::<Vec<_>>().join("\n"));
        items.push(match item["role"].as_str() {
            Some("user") => AgentItem::User { text },
            // The provider's text replaces the past; as a user message it is something to answer.
            _ => AgentItem::Summary { text },
        });
    }
    if items.is_empty() {
        return Err(ModelError::Failed("the endpoint's compaction returned no items".to_owned()));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn history() -> Vec<AgentItem> {
        let calls = ["{\"command\": \"ls\"}", "{\"comm"].into_iter().zip(["a", "b"]);
        let calls = calls.map(|(arguments, id)| ModelToolCall {
            id: id.to_owned(),
            name: "shell".to_owned(),
            arguments: arguments.to_owned(),
        });
        let result =
            |id: &str| AgentItem::Result { call_id: id.to_owned(), text: "out".to_owned() };
        vec![
            AgentItem::System { text: "You work.".to_owned() },
            AgentItem::user("go"),
            AgentItem::Assistant { text: None, calls: calls.collect() },
            result("a"),
            result("b"),
            AgentItem::Assistant { text: Some("done".to_owned()), calls: Vec::new() },
        ]
    }

    /// Without the tools, which another test covers.
    fn check(want: ModelRequest<'_>, expected: Expect) {
        let mut body = of("m", &history(), want);
        let has_tools = body.remove("tools").is_some();
        let messages = body.remove("messages").unwrap();
        let mut lines = format!("tools {has_tools} {}\n", Value::from(body));
        for message in messages.as_array().unwrap() {
            lines.push_str(&format!("{message}\n"));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn a_step_sends_the_conversation_with_calls_and_results() {
        check(
            ModelRequest::Step,
            expect![[r#"
            tools true {"model":"m","stream":true,"stream_options":{"include_usage":true}}
            {"content":"You work.","role":"system"}
            {"content":"go","role":"user"}
            {"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"command\": \"ls\"}","name":"shell"},"id":"a","type":"function"},{"function":{"arguments":"{}","name":"shell"},"id":"b","type":"function"}]}
            {"content":"out","role":"tool","tool_call_id":"a"}
            {"content":"out","role":"tool","tool_call_id":"b"}
            {"content":"done","role":"assistant"}
        "#]],
        );
    }

    #[test]
    fn a_summary_uses_the_configured_model() {
        let tuning = SummaryTuning {
            model: Some("big".to_owned()),
            reasoning_effort: Some("high".to_owned()),
            verbosity: Some("low".to_owned()),
        };
        check(
            ModelRequest::Summary { instructions: "Sum up.", tuning: &tuning },
            expect![[r#"
            tools true {"model":"big","reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true},"tool_choice":"none","verbosity":"low"}
            {"content":"You work.","role":"system"}
            {"content":"go","role":"user"}
            {"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"command\": \"ls\"}","name":"shell"},"id":"a","type":"function"},{"function":{"arguments":"{}","name":"shell"},"id":"b","type":"function"}]}
            {"content":"out","role":"tool","tool_call_id":"a"}
            {"content":"out","role":"tool","tool_call_id":"b"}
            {"content":"done","role":"assistant"}
            {"content":"Sum up.","role":"user"}
        "#]],
        );
    }

    #[test]
    fn a_judgment_is_sent_without_the_conversation_and_with_its_schema() {
        let schema = json!({"type": "object"});
        let want = ModelRequest::Judgment {
            instructions: "You judge.",
            question: "Now?",
            schema: &schema,
        };
        check(
            want,
            expect![[r#"
            tools false {"model":"m","response_format":{"json_schema":{"name":"judgment","schema":{"type":"object"},"strict":true},"type":"json_schema"},"stream":true,"stream_options":{"include_usage":true}}
            {"content":"You judge.","role":"system"}
            {"content":"Now?","role":"user"}
        "#]],
        );
    }

    #[test]
    fn an_endpoint_may_refuse_what_a_request_can_do_without() {
        let check = |want: ModelRequest<'_>, refusal: &str, expected: Option<&str>| {
            let mut body = of("m", &history(), want);
            assert_eq!(dispensable(&body, refusal), expected, "{refusal}");
            body.remove(USAGE);
            body.remove(SCHEMA);
            assert_eq!(dispensable(&body, refusal), None, "{refusal}");
        };
        let no_usage = "400 Bad Request: Unknown parameter: 'stream_options'.";
        let schema = Value::Null;
        let judgment = ModelRequest::Judgment { instructions: "", question: "", schema: &schema };
        check(ModelRequest::Step, no_usage, Some("stream_options"));
        check(judgment, no_usage, Some("stream_options"));
        check(judgment, "400 Bad Request: no schemas", Some("response_format"));
        check(ModelRequest::Step, "400 Bad Request: no tools", None);
    }

    #[test]
    fn a_history_is_converted_to_the_responses_api_and_back() {
        let history = history();
        let (instructions, input) = as_responses_input(&history);
        assert_eq!(instructions, "You work.");
        let lines: Vec<_> = input.iter().map(Value::to_string).collect();
        expect![[r#"
            {"content":[{"text":"go","type":"input_text"}],"role":"user","type":"message"}
            {"arguments":"{\"command\": \"ls\"}","call_id":"a","name":"shell","type":"function_call"}
            {"arguments":"{\"comm","call_id":"b","name":"shell","type":"function_call"}
            {"call_id":"a","output":"out","type":"function_call_output"}
            {"call_id":"b","output":"out","type":"function_call_output"}
            {"content":[{"text":"done","type":"output_text"}],"role":"assistant","type":"message"}"#]].assert_eq(&lines.join("\n"));
        let output =
            [spoken("user", "input_text", "go"), spoken("assistant", "output_text", "so far")];
        let back = from_responses_output(&output).unwrap();
        assert_eq!(back, [AgentItem::user("go"), AgentItem::Summary { text: "so far".to_owned() }]);
    }

    #[test]
    fn items_that_chat_completions_do_not_support_are_refused() {
        for output in [
            vec![json!({"type": "compaction", "encrypted_content": "xyz"})],
            vec![json!({"type": "reasoning"})],
            vec![],
        ] {
            assert!(from_responses_output(&output).is_err(), "{output:?}");
        }
    }
}
