//! Chooses the reply of a request by the script. Pure.

use super::recorded::ResponsesRequest;
use super::script::{TurnReply, TurnScript};

/// Notes the marker in `request` and returns the reply; `before` counts the requests of its purpose.
pub(super) fn reply<'s>(
    script: &'s TurnScript,
    request: &mut ResponsesRequest,
    before: usize,
) -> &'s TurnReply {
    if let Some(replies) = script.replies_for(request.purpose) {
        return nth_or_last(replies, before);
    }
    let text = request.last_user_message().unwrap_or_default();
    let found = script.turns.iter().find(|(marker, _)| text.contains(marker));
    request.marker = found.map(|(marker, _)| marker.clone());
    nth_or_last(found.map_or(&script.otherwise, |(_, replies)| replies), request.step)
}

pub(crate) fn nth_or_last(replies: &[TurnReply], n: usize) -> &TurnReply {
    &replies[n.min(replies.len() - 1)]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::script::{ScriptedAnswer, ScriptedItem, call, reply};
    use super::*;

    fn user(text: &str) -> Value {
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
    }

    fn output() -> Value {
        json!({"type": "function_call_output", "call_id": "c", "output": "done"})
    }

    fn check(input: Vec<Value>, expected: &str) {
        let script = TurnScript::default()
            .on("WORK", [call("update_plan", json!({})), reply("worked")])
            .otherwise([reply("otherwise")])
            .on_compaction([reply("first summary"), reply("second summary")]);
        let mut request = ResponsesRequest::new(json!({ "input": input }));
        let reply = super::reply(&script, &mut request, 1);
        let ScriptedAnswer::Items(items) = &reply.answer else { panic!("{reply:?}") };
        let found = match &items[0] {
            ScriptedItem::Say(text) => text,
            ScriptedItem::Call { name, .. } | ScriptedItem::CustomCall { name, .. } => name,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_marker_in_the_last_user_message_chooses_and_outputs_count_the_steps() {
        check(vec![user("please WORK")], "update_plan");
        check(vec![user("please WORK"), output()], "worked");
        check(vec![user("please WORK"), output(), output(), output()], "worked");
        check(vec![user("please WORK"), output(), user("thanks")], "otherwise");
        check(vec![user("thanks"), output(), user("WORK")], "update_plan");
    }

    #[test]
    fn text_that_codex_writes_as_the_user_is_passed_over() {
        check(
            vec![user("WORK"), user("<environment_context>here</environment_context>")],
            "update_plan",
        );
    }

    #[test]
    fn a_compaction_has_replies_of_its_own() {
        check(
            vec![user("WORK"), user("You are performing a CONTEXT CHECKPOINT COMPACTION.")],
            "second summary",
        );
        check(vec![user("WORK"), json!({"type": "compaction_trigger"})], "second summary");
    }

    #[test]
    fn a_judge_has_replies_of_its_own_whatever_the_messages_it_reads_hold() {
        let question = "Tier: ready\n<next_message_of_the_user>\nWORK\n</next_message_of_the_user>";
        check(vec![user(question)], r#"{"should_compact": true, "reason": "The work is done."}"#);
    }
}
