//! Encodes a reply as server-sent events of the Responses API.

use serde_json::{Value, json};

use super::recorded::{RequestPurpose, ResponsesRequest};
use super::script::{SUB_AGENT, ScriptedAnswer, ScriptedItem, TurnReply};

/// The events of an answer up to its end, or up to where it stalls.
pub(super) fn events(number: usize, request: &ResponsesRequest, reply: &TurnReply) -> String {
    let id = format!("resp_{number}");
    let mut stream = String::new();
    push(&mut stream, "response.created", json!({"response": {"id": id, "status": "in_progress"}}));
    match &reply.answer {
        ScriptedAnswer::Items(items) => {
            let items: Vec<_> =
                items.iter().enumerate().map(|(at, item)| raw(number, at, item, request)).collect();
            for (index, item) in items.iter().enumerate() {
                push(
                    &mut stream,
                    "response.output_item.added",
                    json!({"output_index": index, "item": opened(item)}),
                );
                if let Some(text) = item["content"][0]["text"].as_str() {
                    let delta = json!({"item_id": item["id"], "output_index": index, "content_index": 0, "delta": text});
                    push(&mut stream, "response.output_text.delta", delta);
                }
                push(
                    &mut stream,
                    "response.output_item.done",
                    json!({"output_index": index, "item": item}),
                );
            }
            let usage = usage(request, reply, &items);
            let response =
                json!({"id": id, "status": "completed", "output": items, "usage": usage});
            push(&mut stream, "response.completed", json!({ "response": response }));
        }
        ScriptedAnswer::Failed { code, message } => {
            let error = json!({"code": code, "message": message});
            push(
                &mut stream,
                "response.failed",
                json!({"response": {"id": id, "status": "failed", "error": error}}),
            );
        }
        ScriptedAnswer::Stall | ScriptedAnswer::Http { .. } => {}
    }
    stream
}

fn push(stream: &mut String, kind: &str, mut event: Value) {
    event["type"] = kind.into();
    stream.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
}

fn raw(number: usize, at: usize, item: &ScriptedItem, request: &ResponsesRequest) -> Value {
    let call_id = format!("call_{number}_{at}");
    match item {
        ScriptedItem::Say(text) if request.purpose == RequestPurpose::RemoteCompaction => {
            json!({"type": "compaction", "id": format!("cmp_{number}_{at}"), "encrypted_content": text})
        }
        ScriptedItem::Say(text) => {
            json!({"type": "message", "role": "assistant", "id": format!("msg_{number}_{at}"),
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        ScriptedItem::Call { namespace, name, arguments } => {
            let mut call = json!({"type": "function_call", "id": format!("fc_{number}_{at}"),
            "call_id": call_id, "name": name, "arguments": addressed(arguments, request)});
            if let Some(namespace) = namespace {
                call["namespace"] = namespace.as_str().into();
            }
            call
        }
        ScriptedItem::CustomCall { name, input } => {
            json!({"type": "custom_tool_call", "id": format!("ctc_{number}_{at}"),
            "call_id": call_id, "name": name, "input": input, "status": "completed"})
        }
    }
}

/// No script knows what a sub-agent will be called; the request does that follows its beginning.
fn addressed(arguments: &Value, request: &ResponsesRequest) -> String {
    let arguments = arguments.to_string();
    let name = request.input().iter().rev().find_map(|item| {
        let output: Value = serde_json::from_str(item["output"].as_str()?).ok()?;
        Some(output["agent_id"].as_str()?.to_owned())
    });
    name.map_or(arguments.clone(), |name| arguments.replace(SUB_AGENT, &name))
}

/// A message is announced empty; its text comes as a delta.
fn opened(item: &Value) -> Value {
    let mut item = item.clone();
    if item["type"] == "message" {
        item["content"] = json!([]);
    }
    item
}

fn usage(request: &ResponsesRequest, reply: &TurnReply, items: &[Value]) -> Value {
    // Four characters a token is what providers' own rules of thumb say; tests that care state a number.
    let counted = || reply.prefix_tokens + request.body.to_string().len() as u64 / 4;
    let input = reply.input_tokens.unwrap_or_else(counted);
    let output = items.iter().map(|item| item.to_string().len() as u64 / 4).sum::<u64>().max(1);
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    })
}
