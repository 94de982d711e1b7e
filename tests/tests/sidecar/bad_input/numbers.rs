//! Numbers at the limits of their types and beyond.

use rawr_tests::{TestHome, TestSidecar};
use serde_json::{Value, json};

#[test]
fn the_largest_numbers_are_accepted_unchanged() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    // Larger counts are unknown: not every program reads them exactly.
    let max = (1u64 << 53) - 1;
    let mut say = |method: &str, params: Value| {
        let answer = sidecar.request(method, &params).unwrap();
        answer.unwrap_or_else(|failure| panic!("{method}: {failure:?}"))
    };
    let host = json!({ "name": "h", "capabilities": { "injectTurn": true, "compact": true } });
    let opening = |window: u64, baseline: u64| {
        json!({ "threadId": "t", "cwd": "/", "role": "owner", "host": host, "contextWindow": window,
            "baselineTokens": baseline })
    };
    let usage = |tokens: u64| json!({ "contextTokens": tokens, "inputTokens": tokens });
    let end = |turn: &str, tokens: u64| {
        json!({ "threadId": "t", "turnId": turn, "status": "completed", "usage": usage(tokens),
            "queuedInputs": max, "lastAgentMessage": "Everything is done." })
    };
    let percent = |verdict: &Value| verdict["verdict"]["percentRemaining"].clone();
    say("rawr/thread/open", opening(max, max));
    assert_eq!(percent(&say("rawr/turn/completed", end("t1", max))), Value::Null);
    say("rawr/thread/open", opening(max, 0));
    assert_eq!(percent(&say("rawr/turn/completed", end("t2", 1))), json!(100));
    for until in
        [json!({ "kind": "minutes", "minutes": max }), json!({ "kind": "turns", "turns": max })]
    {
        say("rawr/guard/set", json!({ "threadId": "t", "until": until }));
    }
    let command = json!({ "kind": "command_finished", "command": "x", "exitCode": i64::MIN });
    say("rawr/signal/report", json!({ "threadId": "t", "signal": command }));
    let ended = say("rawr/turn/completed", end("t3", max));
    assert_eq!(ended["verdict"]["tier"], "emergency");
    assert_eq!(percent(&ended), json!(0));
    say(
        "rawr/compaction/report",
        json!({ "threadId": "t", "status": "completed", "origin": "user",
        "tokensBefore": max, "tokensAfter": max }),
    );
    say("rawr/decision/list", json!({ "threadId": "t", "limit": max }));
    say("rawr/scratch/read", json!({ "threadId": "t", "maxBytes": max }));
    let items = json!([{ "role": "user", "text": "words" }]);
    say(
        "rawr/compaction/rewrite",
        json!({ "items": items, "summary": "s", "recentUserTokens": max }),
    );
    say("rawr/thread/get", json!({ "threadId": "t" }));
    sidecar.discard_and_leave();
}

/// The usage is a model's, the exit code a shell's.
// rule: client.lenient-reports
#[test]
fn odd_numbers_in_a_report_lose_no_turn() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\npreset = \"spec\"\nmode = \"suggest\"\n");
    let mut sidecar = TestSidecar::start(&home);
    let mut say = |method: &str, mut params: Value| {
        params["threadId"] = json!("t");
        let answer = sidecar.request(method, &params).unwrap();
        answer.unwrap_or_else(|failure| panic!("{method}: {failure:?}"))
    };
    let host = json!({ "name": "h", "capabilities": { "injectTurn": true, "compact": true,
        "cacheSeconds": -1 } });
    let opening = json!({ "cwd": home.work(), "role": "owner", "host": host,
        "contextWindow": 100_000.0, "baselineTokens": null });
    say("rawr/thread/open", opening);
    let decided = |say: &mut dyn FnMut(&str, Value) -> Value, turn: &str, usage: Value| {
        let text = "Write the parser.";
        say("rawr/turn/started", json!({ "turnId": turn, "origin": "user", "text": text }));
        let command = "git commit -m x";
        let commit = json!({ "kind": "command_finished", "command": command, "exitCode": 0.0 });
        say("rawr/signal/report", json!({ "turnId": turn, "signal": commit }));
        say("rawr/turn/usage", json!({ "turnId": turn, "usage": usage, "needsFollowUp": false }));
        let ended = say(
            "rawr/turn/completed",
            json!({ "turnId": turn, "status": "completed", "usage": usage, "queuedInputs": -1,
                "lastAgentMessage": "The parser is written and committed." }),
        );
        let verdict = &ended["verdict"];
        format!("{} {}", verdict["outcome"], verdict["percentRemaining"])
    };
    let unknown = [json!({ "contextTokens": null }), json!({ "contextTokens": "many" }), json!({})];
    for (at, usage) in unknown.into_iter().enumerate() {
        assert_eq!(decided(&mut say, &format!("u{at}"), usage), "\"nothing\" null");
    }
    let fraction = json!({ "contextTokens": 59_999.6, "inputTokens": -1, "outputTokens": [] });
    assert_eq!(decided(&mut say, "t1", fraction), "\"suggest\" 40");
    // What was known stays.
    assert_eq!(decided(&mut say, "t2", json!({ "contextTokens": -1 })), "\"suggest\" 40");
    sidecar.discard_and_leave();
}
