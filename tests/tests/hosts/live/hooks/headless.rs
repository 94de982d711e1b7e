//! Non-interactive runs of Claude Code, whose output must not change.

use std::process::Command;

use rawr_tests::claude::binary;
use serde_json::Value;

use super::session;
use crate::hooks::fixture::HooksFixture;

/// What one run of `claude -p` prints, and how many requests it costs.
fn run(fixture: &HooksFixture, format: &str) -> (String, usize) {
    let mut claude = Command::new(binary());
    claude
        .args(["-p", "--output-format", format, "--permission-mode", "bypassPermissions"])
        .arg("WRITE-PARSER please")
        .current_dir(fixture.repository.path());
    fixture.home.equip(&mut claude);
    claude.env("RAWR_HOME", fixture.home.path());
    let output = claude.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    (String::from_utf8(output.stdout).unwrap(), fixture.model.requests().len())
}

/// Without what differs from run to run.
fn stable(json: &str) -> Value {
    let mut result: Value = serde_json::from_str(json).unwrap();
    let fields = result.as_object_mut().unwrap();
    let volatile = |name: &str| name.ends_with("_id") || name.ends_with("_ms") || name == "uuid";
    fields.retain(|name, _| !volatile(name));
    result
}

#[test]
fn a_non_interactive_claude_run_is_not_changed() {
    for format in ["text", "json"] {
        let without = HooksFixture::new(session());
        let with = HooksFixture::new(session());
        with.says(&["hooks", "install", "--claude"]);
        let ((said, requests), (said_with, requests_with)) =
            (run(&without, format), run(&with, format));
        assert!(said.contains("The parser is written and committed."), "{said}");
        match format {
            "json" => assert_eq!(stable(&said_with), stable(&said)),
            _ => assert_eq!(said_with, said),
        }
        assert_eq!(requests_with, requests);
        // The run is known all the same, and why nothing was asked.
        let events = with.events();
        assert!(events.contains("turn_completed"), "{events}");
        assert!(!events.contains("sequence_started"), "{events}");
        assert_eq!((with.is_open(), with.log()), (false, String::new()));
    }
}

#[test]
fn headless_hooks_request_packets_in_non_interactive_runs() {
    let fixture = HooksFixture::new(session());
    fixture.has_hooks_in_every_run();
    let (said, _) = run(&fixture, "text");
    assert!(said.contains("<continuation_packet>"), "{said}");
}
