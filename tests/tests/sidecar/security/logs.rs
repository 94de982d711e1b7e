//! Secrets are not in the sidecar's logs and traces, at any level.

use rawr_protocol::Role;
use rawr_protocol::methods::ThreadOpen;
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};
use serde_json::json;

/// Assembled, so that secret scanners do not report this file.
fn secret() -> String {
    ["ghp", "_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1w2"].concat()
}

#[test]
fn no_secret_reaches_the_log() {
    let home = TestHome::new();
    let launch = LaunchOptions {
        environment: vec![("RAWR_LOG", "trace".into())],
        ..LaunchOptions::default()
    };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    sidecar.call::<ThreadOpen>(&StandIn::new("t1").opening(&home, Role::Owner));
    let secret = secret();
    let said = |sidecar: &mut TestSidecar, method: &str, params| {
        // Errors could repeat the params in the log.
        let _ = sidecar.request(method, &params).unwrap();
    };
    for text in [format!("use {secret} now"), format!("x\n{secret}\n{}", "y".repeat(2000))] {
        let started = json!({"threadId": "t1", "turnId": "u1", "origin": "user", "text": text});
        said(&mut sidecar, "rawr/turn/started", started);
        let command = json!({"kind": "command_finished", "command": text, "exitCode": 0});
        said(&mut sidecar, "rawr/signal/report", json!({"threadId": "t1", "signal": command}));
        let submitted = json!({"threadId": "t1", "inputId": "i", "text": text, "kind": "message"});
        said(&mut sidecar, "rawr/input/submit", submitted);
        said(&mut sidecar, "rawr/input/submit", json!({"threadId": "t1", "text": text}));
        said(&mut sidecar, "rawr/packet/check", json!({"threadId": "t1", "packet": text}));
        said(&mut sidecar, "rawr/recall/search", json!({"words": [text]}));
        let judged = json!({"threadId": "t1", "tier": "ready", "percentRemaining": 60,
            "boundariesPresent": ["commit"], "lastAgentMessage": text});
        said(&mut sidecar, "rawr/judgment/evaluate", judged);
        sidecar.notify::<rawr_protocol::methods::Initialized>(&rawr_protocol::Empty {});
        sidecar.send_body(
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{text:?}}}").as_bytes(),
        );
    }
    sidecar.call::<rawr_protocol::methods::ThreadList>(&rawr_protocol::ThreadListParams {});
    let log = sidecar.log();
    assert!(log.contains("TRACE") || log.contains("DEBUG") || log.contains("WARN"), "{log:?}");
    assert!(!log.contains(&secret), "{log}");
    sidecar.take_notes();
    drop(sidecar);
}
