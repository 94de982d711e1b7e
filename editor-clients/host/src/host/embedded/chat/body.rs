//! Histories as the endpoint's JSON, and back. Pure.

use serde_json::{Map, Value, json};

use crate::host::Tuning;
use crate::host::embedded::history::Item;
use crate::host::embedded::model::{Call, ModelError, ModelRequest};
use crate::host::embedded::tools;

/// The request for one completion.
pub(super) fn of(model: &str, history: &[Item], want: ModelRequest<'_>) -> Value {
    let mut messages: Vec<_> = history.iter().map(message).collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
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
            body.insert("response_format".to_owned(), format);
        }
    }
    if !matches!(want, ModelRequest::Judgment { .. }) {
        body.insert("tools".to_owned(), tools::definitions().into());
    }
    // A history with calls needs the tools all the same, and a provider's cache the same beginning.
    if matches!(want, ModelRequest::Summary { .. } | ModelRequest::Aside { .. }) {
        body.insert("tool_choice".to_owned(), "none".into());
    }
    body.insert("messages".to_owned(), messages.into());
    body.into()
}

fn tune(body: &mut Map<String, Value>, tuning: &Tuning) {
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

fn message(item: &Item) -> Value {
    match item {
        Item::System { text } => json!({"role": "system", "content": text}),
        Item::User { text } | Item::Summary { text } => json!({"role": "user", "content": text}),
        Item::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text.as_deref().unwrap_or_default()})
        }
        Item::Assistant { text, calls } => {
            let calls: Vec<_> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        Item::Result { call_id, text } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": text})
        }
    }
}

fn call(call: &Call) -> Value {
    // Providers that read the arguments refuse the whole history for one call that is no JSON.
    let readable = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if readable { call.arguments.as_str() } else { "{}" };
    let function = json!({"name": call.name, "arguments": arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

/// The instructions and the other items, in the words of the responses API.
pub(super) fn as_responses_input(history: &[Item]) -> (&str, Vec<Value>) {
    let mut instructions = "";
    let mut input = Vec::new();
    for item in history {
        match item {
            Item::System { text } => instructions = text,
            Item::User { text } | Item::Summary { text } => {
                input.push(spoken("user", "input_text", text));
            }
            Item::Assistant { text, calls } => {
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
            Item::Result { call_id, text } => {
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

/// The new history. What is sealed for the provider alone is of no use to chat completions.
pub(super) fn from_responses_output(output: &[Value]) -> Result<Vec<Item>, ModelError> {
    let mut items = Vec::new();
    for item in output {
        let sealed = item["encrypted_content"].is_string();
        if sealed || item["type"] != "message" {
            let kind = item["type"].as_str().unwrap_or("?");
            return Err(ModelError::Failed(format!(
                "the endpoint's compaction gives an item of type {kind}, which chat completions cannot carry"
            )));
        }
        let parts = item["content"].as_array().into_iter().flatten();
        let parts = parts.filter_map(|part| part["text"].as_str());
        let text = item["content"].as_str().map(str::to_owned);
        let text = text.unwrap_or_else(|| parts.collect::<Vec<_>>().join("\n"));
        items.push(match item["role"].as_str() {
            Some("user") => Item::User { text },
            // Endpoints want something to answer; what the provider says of the past stands for all of it.
            _ => Item::Summary { text },
        });
    }
    if items.is_empty() {
        return Err(ModelError::Failed("the endpoint's compaction gives nothing".to_owned()));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn history() -> Vec<Item> {
        let calls = ["{\"command\": \"ls\"}", "{\"comm"].into_iter().zip(["a", "b"]);
        let calls = calls.map(|(arguments, id)| Call {
            id: id.to_owned(),
            name: "shell".to_owned(),
            arguments: arguments.to_owned(),
        });
        let result = |id: &str| Item::Result { call_id: id.to_owned(), text: "out".to_owned() };
        vec![
            Item::System { text: "You work.".to_owned() },
            Item::user("go"),
            Item::Assistant { text: None, calls: calls.collect() },
            result("a"),
            result("b"),
            Item::Assistant { text: Some("done".to_owned()), calls: Vec::new() },
        ]
    }

    /// The tools are left out: another test holds them.
    fn check(want: ModelRequest<'_>, expected: Expect) {
        let mut body = of("m", &history(), want);
        let fields = body.as_object_mut().unwrap();
        let has_tools = fields.remove("tools").is_some();
        let messages = fields.remove("messages").unwrap();
        let mut lines = format!("tools {has_tools} {body}\n");
        for message in messages.as_array().unwrap() {
            lines.push_str(&format!("{message}\n"));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn a_step_carries_the_conversation_with_calls_and_results() {
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
    fn a_summary_is_asked_for_last_of_the_model_that_was_chosen_for_it() {
        let tuning = Tuning {
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
    fn a_judgment_stands_alone_and_is_held_to_its_schema() {
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
    fn a_provider_gets_the_conversation_in_its_own_words_and_gives_messages_back() {
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
        assert_eq!(back, [Item::user("go"), Item::Summary { text: "so far".to_owned() }]);
    }

    #[test]
    fn what_chat_completions_cannot_carry_is_refused() {
        for output in [
            vec![json!({"type": "compaction", "encrypted_content": "xyz"})],
            vec![json!({"type": "reasoning"})],
            vec![],
        ] {
            assert!(from_responses_output(&output).is_err(), "{output:?}");
        }
    }
}
