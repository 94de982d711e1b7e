//! The agent with a model behind an endpoint: tools, errors, compaction.

use std::process::Command;

use rawr_tests::mock_chat::{ChatPurpose, ChatScript, call, cut, http, reply, stall};
use rawr_tests::{ExecOutput, MockChat};
use serde_json::json;

use super::fixture::{EmbeddedFixture, shell};

const PACKET: &str = "<continuation_packet>\nState: working\nGoal: a parser with docs\nDecisions: plain text\n\
    Next: write the docs\n</continuation_packet>";

#[test]
fn tools_work_in_the_folder_and_return_their_results() {
    let steps =
        json!([{"step": "write", "status": "completed"}, {"step": "test", "status": "pending"}]);
    let model = MockChat::start(
        ChatScript::default().on(
            "go",
            [
                call("update_plan", json!({ "plan": steps }))
                    .and_call("write_file", json!({"path": "src/a.txt", "content": "one\ntwo\n"})),
                call("read_file", json!({"path": "src/a.txt", "first_line": 2})).and_call(
                    "shell",
                    json!({"command": "wc -l < src/a.txt; echo \"key=$OPENAI_API_KEY\"; exit 3"}),
                ),
                call("write_file", json!({"path": "../out.txt", "content": "x"}))
                    .and_call("browse", json!({})),
                reply("Written."),
            ],
        ),
    );
    let fixture = EmbeddedFixture::on_endpoint(&model, 100_000);
    let done = fixture.exec(&["go"]);
    done.expect_success();
    assert_eq!((fixture.file("src/a.txt").as_str(), done.said()), ("one\ntwo\n", vec!["Written."]));
    assert_eq!(done.all("plan_updated")[0]["steps"][0]["status"], "completed");
    assert_eq!(done.all("command_finished")[0]["exitCode"], 3);
    assert_eq!(done.all("tool_started").len(), done.all("tool_finished").len());

    let requests = model.requests();
    let last = requests.last().unwrap();
    assert_eq!(last.authorization.as_deref(), Some("Bearer sk-secret-of-the-test"));
    assert_eq!((&last.body["model"], &last.body["stream"]), (&json!("scripted-1"), &json!(true)));
    let results: Vec<_> =
        last.transcript().into_iter().filter(|line| line.starts_with("tool:")).collect();
    for (at, words) in [
        (0, "the plan is updated"),
        (1, "src/a.txt is written"),
        (2, "2\ttwo"),
        (3, "exit code 3\n2\nkey=\n"),
        (4, "../out.txt is not below the working directory"),
        (5, "there is no tool \"browse\""),
    ] {
        assert!(results[at].contains(words), "{words}: {results:?}");
    }
    let ids = |role: &str, field: &str| -> Vec<String> {
        let messages = last.body["messages"].as_array().unwrap().iter();
        let of_role = messages.filter(|message| message["role"] == role);
        of_role
            .flat_map(|message| match message[field].as_array() {
                Some(calls) => calls.iter().map(|call| call["id"].to_string()).collect(),
                None => vec![message[field].to_string()],
            })
            .filter(|id| id != "null")
            .collect()
    };
    assert_eq!(ids("assistant", "tool_calls"), ids("tool", "tool_call_id"));
}

#[test]
fn the_providers_token_count_is_reported() {
    let model = MockChat::start(
        ChatScript::default()
            .on("go", [shell("true").input_tokens(4_000), reply("ok").input_tokens(5_000)]),
    );
    let done = EmbeddedFixture::on_endpoint(&model, 100_000).exec(&["go"]);
    let usage: Vec<_> = done.all("usage").iter().map(|event| event["usage"].clone()).collect();
    assert_eq!(
        (&usage[0]["inputTokens"], &usage[1]["inputTokens"]),
        (&json!(4_000), &json!(5_000))
    );
    assert_eq!(usage[1]["contextTokens"], 5_001, "{usage:?}");
}

#[test]
fn transient_errors_are_retried_and_reported() {
    let failing = [
        http(429, "slow down").retry_after(0),
        http(500, "oh no").retry_after(0),
        cut("half an ans"),
    ];
    let script = ChatScript::default().first(failing).on("go", [reply("a whole answer")]);
    let model = MockChat::start(script);
    let done = EmbeddedFixture::on_endpoint(&model, 100_000).exec(&["go"]);
    done.expect_success();
    assert_eq!((done.said(), model.requests().len()), (vec!["a whole answer"], 4));
    let notices = done.notices().join("\n");
    for words in [
        "429 Too Many Requests: slow down",
        "(1 of 4)",
        "500 ",
        "the answer ended early",
        "(3 of 4)",
    ] {
        assert!(notices.contains(words), "{words}: {notices}");
    }
}

#[test]
fn an_endpoint_that_refuses_stream_options_is_asked_without_them() {
    let script = ChatScript::default()
        .first([http(400, "Unknown parameter: 'stream_options'.")])
        .on("go", [reply("ok")])
        .on("again", [reply("here")]);
    let model = MockChat::start(script);
    let done = EmbeddedFixture::on_endpoint(&model, 100_000).exec(&["go", "again"]);
    done.expect_success();
    assert_eq!(done.said(), ["ok", "here"]);
    let requests = model.requests();
    let asks: Vec<_> = requests.iter().map(|request| &request.body["stream_options"]).collect();
    assert_eq!(asks, [&json!({"include_usage": true}), &json!(null), &json!(null)]);
}

#[test]
fn permanent_errors_end_the_turn_and_not_the_session() {
    let refusing = [http(401, "No such key: sk-secret"), reply("here I am")];
    let model = MockChat::start(ChatScript::default().first(refusing));
    let fixture = EmbeddedFixture::on_endpoint(&model, 100_000);
    let done = fixture.exec(&["go", "again"]);
    assert_eq!(done.output.status.code(), Some(1));
    let statuses: Vec<_> =
        done.all("turn_completed").iter().map(|event| &event["status"]).collect();
    assert_eq!(statuses, ["failed", "completed"], "{}", done.dump());
    let error = done.notices().join("\n");
    for words in ["401 Unauthorized: No such key", "/v1/chat/completions", "--api-key-env"] {
        assert!(error.contains(words), "{error}");
    }
    let told = done.dump() + &fixture.stored();
    assert!(!told.contains("sk-secret-of-the-test"), "the key is nowhere to be read");
}

#[test]
fn a_session_with_a_failed_last_turn_exits_with_an_error() {
    let busy = || http(503, "busy").retry_after(0);
    let model =
        MockChat::start(ChatScript::default().first([busy(), busy(), busy(), busy(), busy()]));
    let done = EmbeddedFixture::on_endpoint(&model, 100_000).exec(&["go"]);
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let notices = done.notices().join("\n");
    assert!(notices.contains("503 ") && notices.contains("(tried 5 times)"), "{notices}");
    assert_eq!(model.requests().len(), 5);
}

/// Works for three requests; the second one leaves too little room.
fn worker() -> ChatScript {
    ChatScript::default()
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY BY THE MODEL")])
        .on("packet_request]", [reply(PACKET).input_tokens(9_200)])
        .on(":handoff]", [shell("echo docs > docs.txt"), reply("The docs are written.")])
        .on("A SUMMARY BY", [shell("echo docs > docs.txt"), reply("The docs are written.")])
        .on(
            "write the parser",
            [
                shell("true").input_tokens(3_000),
                shell("echo parse > parser.txt").input_tokens(9_000),
                reply("All is written."),
            ],
        )
}

// rule: mid-turn.context-lasts
#[test]
fn packet_compaction_and_handoff_happen_inside_the_turn() {
    let model = MockChat::start(worker());
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    let done = fixture.exec(&["write the parser"]);
    done.expect_success();
    expect_test::expect![[r#"
        user: write the parser
          ran true
          ran echo parse > parser.txt
        [compact by mid_turn]
        [heads-up will_compact]
        rawr: packet_request
          agent: <continuation_packet>
        [packet by agent]
        [compaction in_progress]
        [compaction completed]
        rawr: handoff
          ran echo docs > docs.txt
          agent: The docs are written.
        turn completed
    "#]]
    .assert_eq(&done.story());
    assert_eq!(
        (fixture.file("parser.txt"), fixture.file("docs.txt")),
        ("parse\n".into(), "docs\n".into())
    );
    let requests = model.requests();
    let purposes: Vec<_> = requests.iter().map(|request| request.purpose).collect();
    let (turn, summary) = (ChatPurpose::Turn, ChatPurpose::Summary);
    assert_eq!(purposes, [turn, turn, turn, summary, turn, turn]);
    // Instructions, the user's message, the summary, the handoff; nothing of the work before.
    let after = requests[4].transcript();
    assert_eq!(after.len(), 4, "{after:?}");
    for (at, words) in
        [(1, "user: write the parser"), (2, "A SUMMARY BY THE MODEL"), (3, "Next: write the docs")]
    {
        assert!(after[at].contains(words), "{words}: {after:?}");
    }
}

// rule: host.compaction-settings
#[test]
fn a_summary_uses_the_configured_summary_model() {
    let model = MockChat::start(worker());
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    fixture.configure(
        "[rawr_auto_compaction]\ncompaction_model = \"big-1\"\ncompaction_reasoning_effort = \"high\"\ncompaction_verbosity = \"low\"\n",
    );
    fixture.exec(&["write the parser"]).expect_success();
    let requests = model.requests();
    let summary = requests.iter().find(|request| request.purpose == ChatPurpose::Summary).unwrap();
    let told = ["model", "reasoning_effort", "verbosity"].map(|field| summary.body[field].clone());
    assert_eq!(told, [json!("big-1"), json!("high"), json!("low")]);
    assert_eq!(requests[0].body["model"], "scripted-1");
}

#[test]
fn the_packet_alone_replaces_the_history_where_that_is_configured() {
    let model = MockChat::start(worker());
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    fixture.configure("[rawr_auto_compaction]\ncompaction_packet_only = true\n");
    fixture.exec(&["write the parser"]).expect_success();
    let requests = model.requests();
    assert!(requests.iter().all(|request| request.purpose != ChatPurpose::Summary), "{requests:?}");
    let after = requests.last().unwrap().transcript().join("\n");
    for words in ["user: write the parser", "compacted without a summary", "Next: write the docs"] {
        assert!(after.contains(words), "{words}: {after}");
    }
}

// rule: judgment.outside-transcript
#[test]
fn the_judge_is_the_agents_model_outside_the_conversation() {
    let judging = |answer: &str| {
        worker().on_each(ChatPurpose::Judgment, [reply(answer)]).on(
            "commit it",
            [
                shell("git commit -q --allow-empty -m x").input_tokens(3_000),
                reply("It is committed now.").input_tokens(3_000),
            ],
        )
    };
    let policy = "[rawr_auto_compaction.policy.ready]\ndecision_prompt_path = \"judgment.md\"\nplan_boundaries_require_semantic_break = false\n";
    for (answer, expected) in [
        (r#"{"should_compact": false, "reason": "half an edit"}"#, 0),
        ("```json\n{\"should_compact\": true, \"reason\": \"committed\"}\n```", 1),
    ] {
        let model = MockChat::start(judging(answer));
        let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
        fixture.configure(policy);
        let done = fixture.exec(&["commit it"]);
        done.expect_success();
        let requests = model.requests();
        let judged: Vec<_> =
            requests.iter().filter(|request| request.purpose == ChatPurpose::Judgment).collect();
        assert!(!judged.is_empty(), "{}", done.dump());
        assert!(judged.iter().all(|request| request.transcript().len() == 2), "it stands alone");
        assert_eq!(done.all("handoff").len(), expected, "{}", done.dump());
        let conversation =
            |request: &rawr_tests::mock_chat::ChatRequest| request.transcript().join("\n");
        let leaked = requests.iter().filter(|it| it.purpose == ChatPurpose::Turn);
        assert!(leaked.map(conversation).all(|text| !text.contains("should_compact")));
    }
}

// rule: built-in.local-once
#[test]
fn the_endpoints_compaction_is_tried_first_and_not_again_after_a_failure() {
    let long = "sealed ".repeat(5_000);
    for (answer, expected) in
        [(reply("SEALED BY THE PROVIDER"), 0), (reply(&long), 1), (http(404, "no"), 1)]
    {
        let script =
            worker().on_each(ChatPurpose::Compaction, [answer]).on("SEALED", [reply("I went on.")]);
        let model = MockChat::start(script);
        let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
        fixture.configure(
            "[features]\nrawr_auto_compaction = false\n[auto_compact]\nenabled = true\n",
        );
        let done = ExecOutput::of(
            fixture.command(&["--remote-compaction", "write the parser"]).output().unwrap(),
        );
        done.expect_success();
        let count = |purpose: ChatPurpose| {
            model.requests().iter().filter(|request| request.purpose == purpose).count()
        };
        let asked = (count(ChatPurpose::Compaction), count(ChatPurpose::Summary));
        assert_eq!(asked, (1, expected), "{}", done.dump());
    }
}

#[test]
fn ctrl_c_during_an_answer_interrupts_the_turn() {
    let model = MockChat::start(ChatScript::default().on("go", [stall("I begin to")]));
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    let rawr = fixture.start(&["go", "never said"]);
    model.wait_for("go");
    let interrupted = Command::new("kill").args(["-INT", &rawr.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let done = ExecOutput::of(rawr.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(130), "{}", done.dump());
    assert_eq!(done.all("turn_completed")[0]["status"], "interrupted");
    assert!(fixture.stored().contains("turn_completed"), "{}", fixture.stored());
}

fn check_usage(arguments: &[&str], words: &str) {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(rawr_tests::rawr())
        .args(["exec", "--host"])
        .args(arguments)
        .arg("hello")
        .env("RAWR_HOME", home.path())
        .env_remove("NO_KEY_HERE")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    assert!(error.contains(words), "{arguments:?}: {error}");
}

#[test]
fn conflicting_options_have_a_hint() {
    check_usage(&["embedded", "--model", "m"], "--base-url");
    check_usage(&["embedded", "--base-url", "http://127.0.0.1:1/v1"], "--model");
    check_usage(&["embedded", "--model", "m", "--base-url", "ftp://x"], "not a base URL");
    check_usage(&["embedded", "--remote-compaction"], "--model");
    check_usage(&["embedded", "--sandbox", "read-only"], "--host codex");
    check_usage(&["embedded", "--script", "/no/such/file"], "/no/such/file");
    check_usage(&["codex", "--base-url", "http://127.0.0.1:1/v1"], "--host embedded");
    let key = ["--api-key-env", "NO_KEY_HERE"];
    let model = ["embedded", "--model", "m", "--base-url", "http://127.0.0.1:1/v1"];
    check_usage(&[&model[..], &key].concat(), "NO_KEY_HERE is empty");
}
