//! Encodes a reply of the messages API: as server-sent events, or whole.

use serde_json::{Value, json};

use super::recorded::AnthropicRequest;
use crate::mock_responses::{HALF_AN_EMOJI, ScriptedAnswer, ScriptedItem, TurnReply};

/// The answer to a request that wants no stream.
pub(super) fn whole(
    number: usize,
    request: &AnthropicRequest,
    items: &[ScriptedItem],
    reply: &TurnReply,
) -> String {
    let text = |item: &ScriptedItem| match item {
        ScriptedItem::Say(text) => json!({"type": "text", "text": text}),
        call => panic!("{call:?}: only a stream has calls here"),
    };
    let content: Vec<_> = items.iter().map(text).collect();
    let message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "content": content,
        "model": request.body["model"], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": usage(input_tokens(request, reply), 20),
    });
    message.to_string()
}

/// Four characters a token is what providers' own rules of thumb say; tests that care state a number.
fn input_tokens(request: &AnthropicRequest, reply: &TurnReply) -> u64 {
    reply.input_tokens.unwrap_or_else(|| request.body.to_string().len() as u64 / 4)
}

/// The events of an answer up to its end, or up to where it stalls.
pub(super) fn events(number: usize, request: &AnthropicRequest, reply: &TurnReply) -> String {
    let mut stream = String::new();
    let input = input_tokens(request, reply);
    let message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "content": [],
        "model": request.body["model"], "stop_reason": null, "stop_sequence": null,
        "usage": usage(input, 1),
    });
    push(&mut stream, "message_start", json!({ "message": message }));
    match &reply.answer {
        ScriptedAnswer::Items(items) => {
            for (index, item) in items.iter().enumerate() {
                block(&mut stream, number, index, item);
            }
            let calls = items.iter().any(|item| !matches!(item, ScriptedItem::Say(_)));
            let stop = json!({
                "delta": {"stop_reason": if calls { "tool_use" } else { "end_turn" }},
                "usage": usage(input, 20),
            });
            push(&mut stream, "message_delta", stop);
            push(&mut stream, "message_stop", json!({}));
        }
        ScriptedAnswer::Failed { code, message } => {
            push(&mut stream, "error", json!({"error": {"type": code, "message": message}}));
        }
        ScriptedAnswer::Stall | ScriptedAnswer::Http { .. } => {}
    }
    stream
}

fn block(stream: &mut String, number: usize, index: usize, item: &ScriptedItem) {
    let (opened, delta) = match item {
        ScriptedItem::Say(text) => {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
        }
        ScriptedItem::Call { name, arguments, .. } => (
            call(number, index, name),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
        ),
        ScriptedItem::CustomCall { name, .. } => {
            panic!("{name}: this model has no calls of free text")
        }
    };
    push(stream, "content_block_start", json!({"index": index, "content_block": opened}));
    push(stream, "content_block_delta", json!({"index": index, "delta": delta}));
    push(stream, "content_block_stop", json!({ "index": index }));
}

fn call(number: usize, index: usize, name: &str) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": name, "input": {}})
}

fn usage(input: u64, output: u64) -> Value {
    json!({
        "input_tokens": input, "output_tokens": output,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    })
}

fn push(stream: &mut String, kind: &str, mut event: Value) {
    event["type"] = kind.into();
    let event = event.to_string().replace(HALF_AN_EMOJI, r"\ud83d");
    stream.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
}
