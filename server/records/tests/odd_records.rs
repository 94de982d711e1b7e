//! Records as programs leave them after a crash, and values that no schema allows. Drawn at random: what is odd in one
//! place costs only that place.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use proptest::prelude::*;
use proptest::sample::Index;
use rawr_records::lines::FileLines;
use rawr_records::moment::{Moment, TimedMoment};
use rawr_records::read::{LineCounts, read};
use serde_json::{Value, json};
use std::io::Cursor;
use std::sync::atomic::AtomicBool;

const TURNS: u32 = 4;
/// What is left where an emoji was cut, in JSON of JavaScript and in bytes.
const HALVES: [&[u8]; 4] = [b"\\ud83d", b"\\udc00", b"\xff", b"\xf0\x9f"];

fn at(seconds: u32) -> String {
    format!("2026-11-02T09:{:02}:{:02}.000Z", seconds / 60, seconds % 60)
}

fn claude() -> Vec<Value> {
    let line = |turn: u32, nth: u32, kind: &str, message: Value| {
        let (seconds, id) = (turn * 100 + nth, turn * 10 + nth);
        json!({
            "parentUuid": null, "isSidechain": false, "sessionId": "s", "cwd": "/w",
            "uuid": format!("{id:08}-0000-4000-8000-000000000000"),
            "timestamp": at(seconds), "type": kind, "message": message,
        })
    };
    let turn = |turn: u32| {
        let usage = |context: u32| json!({"input_tokens": 9, "cache_read_input_tokens": context, "output_tokens": 3});
        let says = json!([{"type": "text", "text": "It \u{1f980} works."}]);
        let runs = json!([{"type": "tool_use", "id": format!("c{turn}"), "name": "Bash", "input": {"command": "make"}}]);
        let result =
            json!([{"type": "tool_result", "tool_use_id": format!("c{turn}"), "content": "ok"}]);
        [
            line(turn, 0, "user", json!({"role": "user", "content": format!("Step {turn}.")})),
            line(
                turn,
                1,
                "assistant",
                json!({"id": format!("a{turn}"), "model": "claude-sonnet-4-5", "content": runs, "usage": usage(1000 * turn)}),
            ),
            line(turn, 2, "user", json!({"role": "user", "content": result})),
            line(
                turn,
                3,
                "assistant",
                json!({"id": format!("b{turn}"), "model": "claude-sonnet-4-5", "content": says, "usage": usage(2000 * turn)}),
            ),
        ]
    };
    (1..=TURNS).flat_map(turn).collect()
}

fn codex() -> Vec<Value> {
    let line = |seconds: u32, kind: &str, payload: Value| json!({"timestamp": at(seconds), "type": kind, "payload": payload});
    let event = |seconds, payload| line(seconds, "event_msg", payload);
    let mut lines = vec![line(0, "session_meta", json!({"id": "s", "cwd": "/w"}))];
    for turn in 1..=TURNS {
        let now = turn * 100;
        let usage = |tokens: u32| json!({"total_tokens": tokens, "input_tokens": tokens - 5, "cached_input_tokens": 10, "output_tokens": 5});
        let info = json!({"last_token_usage": usage(1000 * turn), "total_token_usage": usage(9000 * turn), "model_context_window": 200_000});
        lines.extend([
            event(now, json!({"type": "task_started", "turn_id": format!("t{turn}")})),
            event(now, json!({"type": "user_message", "message": format!("Step {turn}.")})),
            line(now + 1, "response_item", json!({"type": "function_call", "name": "shell", "call_id": format!("c{turn}"), "arguments": r#"{"command":["bash","-lc","make"]}"#})),
            line(now + 2, "response_item", json!({"type": "function_call_output", "call_id": format!("c{turn}"), "output": "Exit code: 0"})),
            event(now + 3, json!({"type": "token_count", "info": info})),
            event(now + 4, json!({"type": "agent_message", "message": "It \u{1f980} works."})),
            event(now + 5, json!({"type": "task_complete", "turn_id": format!("t{turn}")})),
        ]);
    }
    lines
}

fn moments_of(bytes: Vec<u8>) -> (Vec<TimedMoment>, LineCounts) {
    let mut moments = Vec::new();
    let mut lines = FileLines::new(Box::new(Cursor::new(bytes)));
    let (_, counts) =
        read(&mut lines, &AtomicBool::new(false), &mut |moment| moments.push(moment)).unwrap();
    (moments, counts)
}

fn texts(lines: &[Value]) -> Vec<Vec<u8>> {
    lines.iter().map(|line| line.to_string().into_bytes()).collect()
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect()
}

fn turns(moments: &[TimedMoment]) -> usize {
    moments.iter().filter(|moment| matches!(moment.what, Moment::TurnEnded(_))).count()
}

fn either() -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![Just(claude()), Just(codex())]
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[7], {"a": null}, "b"])),
        Just(json!({"text": {"text": 7}})),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ]
}

/// All places of a value, as paths.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    let mut within = |key: String, inner: &Value| {
        let path = format!("{path}/{key}");
        found.push(path.clone());
        places(inner, &path, found);
    };
    match value {
        Value::Object(object) => object.iter().for_each(|(key, inner)| within(key.clone(), inner)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, inner)| within(at.to_string(), inner));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_value_of_another_kind_costs_only_its_line(lines in either(), nth: Index, place: Index, value in odd_value()) {
        let at = nth.index(lines.len());
        let mut odd = lines.clone();
        let mut found = Vec::new();
        places(&odd[at], "", &mut found);
        let path = place.get(&found);
        *odd[at].pointer_mut(path).unwrap() = value;
        let (moments, counts) = moments_of(joined(&texts(&odd)));
        prop_assert_eq!(counts.malformed, 0, "{}: {}", path, &odd[at]);
        let mut without = lines;
        without.remove(at);
        let (least, _) = moments_of(joined(&texts(&without)));
        prop_assert!(turns(&moments) >= turns(&least), "{}: {}", path, &odd[at]);
    }

    #[test]
    fn records_on_one_line_are_read_each(lines in either(), glued in prop::collection::vec(any::<bool>(), 40), zeros in 0usize..9) {
        let (expected, _) = moments_of(joined(&texts(&lines)));
        let mut bytes = Vec::new();
        for (line, glue) in texts(&lines).iter().zip(glued) {
            bytes.extend_from_slice(line);
            // The first line shows the format.
            if glue && !bytes.is_empty() {
                bytes.extend(vec![0; zeros]);
            } else {
                bytes.push(b'\n');
            }
        }
        let (moments, counts) = moments_of(bytes);
        prop_assert_eq!((moments, counts.malformed), (expected, 0));
    }

    #[test]
    fn a_part_of_a_record_before_another_costs_only_itself(lines in either(), nth: Index, cut: Index, zeros: bool) {
        let mut texts = texts(&lines);
        let (expected, _) = moments_of(joined(&texts));
        let at = 1 + nth.index(texts.len() - 1);
        let mut part = texts[at].clone();
        part.truncate(1 + cut.index(part.len() - 1));
        if zeros {
            part.extend([0; 20]);
        }
        texts[at].splice(0..0, part);
        let (moments, counts) = moments_of(joined(&texts));
        prop_assert_eq!((moments, counts.malformed), (expected, 1));
    }

    #[test]
    fn half_an_emoji_costs_one_character(lines in either(), half in prop::sample::select(HALVES.to_vec())) {
        let texts: Vec<_> = texts(&lines).into_iter().map(|line| {
            let whole = "\u{1f980}".as_bytes();
            match line.windows(whole.len()).position(|part| part == whole) {
                Some(at) => [&line[..at], half, &line[at + whole.len()..]].concat(),
                None => line,
            }
        }).collect();
        let (moments, counts) = moments_of(joined(&texts));
        prop_assert_eq!((turns(&moments), counts.malformed), (TURNS as usize, 0));
        let said = moments.iter().filter(|moment| matches!(&moment.what, Moment::Said(text) if text == "It \u{fffd} works."));
        prop_assert_eq!(said.count(), TURNS as usize);
    }

    #[test]
    fn lines_that_are_written_twice_count_once(nth: Index, later: Index) {
        let mut lines = texts(&claude());
        let (expected, _) = moments_of(joined(&lines));
        let at = nth.index(lines.len());
        let copy = lines[at].clone();
        let to = at + 1 + later.index(lines.len() - at);
        lines.insert(to, copy);
        prop_assert_eq!(moments_of(joined(&lines)).0, expected);
    }

    #[test]
    fn a_count_that_is_told_again_counts_once(times in 1usize..4) {
        let lines = texts(&codex());
        let (expected, _) = moments_of(joined(&lines));
        let again = lines.iter().flat_map(|line| {
            let is_count = line.windows(11).any(|part| part == b"token_count");
            vec![line.clone(); if is_count { times } else { 1 }]
        });
        prop_assert_eq!(moments_of(joined(&again.collect::<Vec<_>>())).0, expected);
    }

    #[test]
    fn the_history_of_a_fork_is_of_the_session_it_was_forked_from(turns_of_fork in 0usize..3) {
        let parent = codex();
        let when = at(1000);
        let mut fork = vec![json!({"timestamp": at(990), "type": "session_meta", "payload": {"id": "f", "forked_from_id": "s"}})];
        fork.extend(parent.iter().cloned().map(|mut line| {
            line["timestamp"] = json!(when);
            line
        }));
        // Each turn has seven lines.
        let own = parent[1..].iter().take(7 * turns_of_fork).enumerate();
        fork.extend(own.map(|(nth, line)| {
            let mut line = line.clone();
            line["timestamp"] = json!(at(1100 + u32::try_from(nth).unwrap()));
            line
        }));
        let (moments, _) = moments_of(joined(&texts(&fork)));
        prop_assert_eq!(turns(&moments), turns_of_fork);
    }

    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..400), first in either()) {
        let mut all = joined(&texts(&first[..1]));
        all.extend(bytes);
        moments_of(all);
    }
}

/// The time is in the length of the line, whatever stands in it.
#[test]
fn a_line_of_many_beginnings_is_read_in_time() {
    let mut line = texts(&claude()[..1]);
    line.push(br#"{"type":"summary","summary":"s","sessionId":"s"}"#.to_vec());
    line.push(br#"{"timestamp":"#.repeat(500_000));
    line.push(br#"{"type":{"#.repeat(800_000));
    line.push(br#"{"cwd":{"cwd":1}"#.repeat(500_000));
    line.push(
        [br#"{"message":{"content":["#.as_slice(), &b"{},0,".repeat(900_000), b"0]}}"].concat(),
    );
    assert_eq!(moments_of(joined(&line)).1.malformed, 3);
}
