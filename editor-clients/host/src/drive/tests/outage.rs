//! A sidecar whose disk fails: user messages are delivered once and in order, and are reported after the outage.

use super::*;

fn failed(thread: &Value, held: &[&Value]) -> Do {
    let params =
        json!({"threadId": thread, "error": "cannot write it: no space", "heldInputs": held});
    Do::Note("rawr/store/failed", params)
}

fn recovered(thread: &Value) -> Do {
    Do::Note("rawr/store/recovered", json!({ "threadId": thread }))
}

fn texts(done: &Done) -> Vec<&Value> {
    events_of(done, "user_message").into_iter().map(|line| &line["text"]).collect()
}

#[tokio::test]
async fn held_messages_are_delivered_during_an_outage_and_reported_later() {
    let lives = vec![life(|method, params| {
        let thread = &params["threadId"];
        let text = params["text"].as_str().filter(|_| method == "rawr/input/submit")?;
        Some(match text {
            "second" => vec![
                Do::Answer(json!({"disposition": "held"})),
                failed(thread, &[&params["inputId"]]),
            ],
            "third" => vec![Do::Refuse],
            "fourth" => vec![recovered(thread), Do::Answer(json!({"disposition": "deliver"}))],
            _ => return None,
        })
    })];
    let done = check(
        &["first", "second", "third", "fourth"],
        lives,
        expect![[r#"
        thread/open
        input/submit first
        turn/started user turn-1 first
        turn/usage turn-1
        turn/completed completed turn-1
        input/submit second
        input/submit third
        input/submit fourth
        input/cancel
        input/cancel
        turn/started user turn-2 second
        turn/usage turn-2
        turn/completed completed turn-2
        turn/started user turn-3 third
        turn/usage turn-3
        turn/completed completed turn-3
        turn/started user turn-4 fourth
        turn/usage turn-4
        turn/completed completed turn-4
        thread/close
    "#]],
    )
    .await;
    assert_eq!(texts(&done), ["first", "second", "third", "fourth"]);
}

#[tokio::test]
async fn a_message_delivered_during_an_outage_is_not_delivered_again() {
    let mut input_id = Value::Null;
    let lives = vec![life(move |method, params| {
        let thread = &params["threadId"];
        match (method, params["text"].as_str()) {
            ("rawr/input/submit", Some("second")) => {
                input_id = params["inputId"].clone();
                let held = Do::Answer(json!({"disposition": "held"}));
                Some(vec![held, failed(thread, &[&input_id])])
            }
            ("rawr/input/submit", Some("third")) => {
                let deliver = |action_id, items| {
                    let action =
                        json!({"kind": "deliver_input", "inputId": input_id, "items": items});
                    perform(thread, action_id, action)
                };
                let input = json!({"role": "input", "text": "second"});
                let handoff = json!({"role": "handoff", "text": "packet back"});
                let back = Do::Answer(json!({"disposition": "deliver"}));
                let (with, alone) =
                    (deliver("a1", json!([handoff, input])), deliver("a2", json!([input])));
                Some(vec![recovered(thread), with, alone, back])
            }
            _ => None,
        }
    })];
    let done = check(
        &["first", "second", "third"],
        lives,
        expect![[r#"
        thread/open
        input/submit first
        turn/started user turn-1 first
        turn/usage turn-1
        turn/completed completed turn-1
        input/submit second
        input/submit third
        input/cancel
        turn/started user turn-2 second
        turn/usage turn-2
        turn/completed completed turn-2
        action/report accepted a1 turn-3
        turn/started synthetic a1 turn-3
        turn/usage turn-3
        turn/completed completed turn-3
        action/report completed a1 turn-3 the packet
        action/report completed a2
        turn/started user turn-4 third
        turn/usage turn-4
        turn/completed completed turn-4
        thread/close
    "#]],
    )
    .await;
    assert_eq!(texts(&done), ["first", "second", "third"]);
    assert_eq!(events_of(&done, "handoff").len(), 1);
}

#[tokio::test]
async fn a_second_outage_keeps_the_remaining_reports() {
    let mut starts = 0;
    let lives = vec![life(move |method, params| {
        let thread = &params["threadId"];
        match (method, params["text"].as_str()) {
            ("rawr/turn/started", _) => {
                starts += 1;
                (starts <= 2).then(|| vec![failed(thread, &[]), Do::Refuse])
            }
            ("rawr/input/submit", Some("second" | "third")) => {
                let answer = Do::Answer(json!({"disposition": "deliver"}));
                Some(vec![recovered(thread), answer])
            }
            _ => None,
        }
    })];
    check(
        &["first", "second", "third"],
        lives,
        expect![[r#"
        thread/open
        input/submit first
        turn/started user turn-1 first
        input/submit second
        turn/started user turn-1 first
        input/submit third
        turn/started user turn-1 first
        turn/usage turn-1
        turn/completed completed turn-1
        turn/started user turn-2 second
        turn/usage turn-2
        turn/completed completed turn-2
        turn/started user turn-3 third
        turn/usage turn-3
        turn/completed completed turn-3
        thread/close
    "#]],
    )
    .await;
}
