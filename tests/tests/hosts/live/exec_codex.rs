//! `rawr exec --host codex` with the real Codex and a scripted model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

pub mod fixture;
mod long;
mod paths;
mod refused;
mod stopped;
mod unreadable;
mod window;

use std::process::Command;

use fixture::{CodexExecFixture, PACKET, shell};
use rawr_tests::codex::binary;
use rawr_tests::mock_responses::{
    RequestPurpose, ResponsesRequest, TurnScript, call, http_error, reply, stall,
};
use rawr_tests::{ExecOutput, rawr, wait_until};
use serde_json::{Value, json};

/// The agent plans, writes a file, commits it and updates its plan; then it answers the packet request.
pub fn session(packet: &str) -> TurnScript {
    let plan = |parser: &str, docs: &str| {
        let steps = json!([{"step": "write the parser", "status": parser}, {"step": "write the docs", "status": docs}]);
        call("update_plan", json!({"plan": steps}))
    };
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    TurnScript::default()
        .on(
            "WRITE-PARSER",
            [
                plan("in_progress", "pending").input_tokens(121_000),
                shell(commit).input_tokens(131_000),
                plan("completed", "in_progress").input_tokens(140_000),
                reply("The parser is written and committed.").input_tokens(143_000),
            ],
        )
        .on("packet_request]", [reply(packet).input_tokens(145_000)])
        .on(":handoff]", [reply("Writing the docs now.").input_tokens(144_000)])
        .on("AND-NOW", [reply("Here is an outline of the docs.").input_tokens(145_500)])
        .on_compaction([reply("A summary by the model.").input_tokens(146_000)])
}

#[test]
fn images_come_with_the_first_prompt_only() {
    let script = TurnScript::default()
        .on("LOOK", [reply("It shows a dot.").input_tokens(20_000)])
        .on("AND-NOW", [reply("Here you are.").input_tokens(21_000)]);
    let fixture = CodexExecFixture::new(script);
    let image = fixture.repository.path().join("dot.png");
    std::fs::write(&image, DOT).unwrap();
    let image = image.display().to_string();
    fixture.exec(&["--image", &image, "LOOK at this", "AND-NOW"]).expect_success();
    let requests = fixture.model.requests();
    let images = |request: &ResponsesRequest| {
        request.input().iter().map(|item| item.to_string().matches("input_image").count()).sum()
    };
    let counts: Vec<usize> = requests.iter().map(|request| images(request)).collect();
    // The second request repeats the history.
    assert_eq!(counts, [1, 1], "{requests:?}");
    let missing = fixture.exec(&["--image", "nothing.png", "LOOK"]);
    let errors = String::from_utf8_lossy(&missing.output.stderr);
    assert!(!missing.output.status.success() && errors.contains("no such image"), "{errors}");
}

/// A picture of one pixel.
const DOT: [u8; 67] = [
    0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0,
    0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, b'I', b'D', b'A', b'T',
    0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf, 0xa4, 0x71, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

#[test]
fn a_session_with_codex_continues_after_a_compaction_without_a_second_one() {
    let fixture = CodexExecFixture::new(session(PACKET));
    let done = fixture.exec(&["WRITE-PARSER please", "AND-NOW the docs"]);
    done.expect_success();
    assert_eq!(fixture.repository.subjects().first().map(String::as_str), Some("Add the parser"));

    let verdict = done.one("verdict", |event| event["outcome"] == "compact");
    let boundary = verdict["gates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|gate| gate["gate"] == "boundary")
        .unwrap();
    assert!(boundary["evidence"].as_str().unwrap().contains("commit"), "{boundary}");
    let sequence = verdict["sequenceId"].as_str().unwrap();
    let of_sequence = |event: &&Value| event["sequenceId"] == sequence;
    let order: Vec<_> = done
        .events
        .iter()
        .filter(of_sequence)
        .filter(|event| event["event"] != "compaction" || event["status"] == "completed")
        .map(|event| event["event"].as_str().unwrap())
        .filter(|name| ["verdict", "heads_up", "packet", "compaction", "handoff"].contains(name))
        .collect();
    assert_eq!(
        order,
        ["verdict", "heads_up", "packet", "compaction", "handoff"],
        "{}",
        done.dump()
    );
    assert_eq!(done.one("packet", |_| true)["author"], "agent");

    // The first model request after the compaction: the handoff with the packet, and nothing that an assistant said.
    let requests = fixture.model.requests();
    let compaction = requests
        .iter()
        .position(|request| request.purpose == RequestPurpose::LocalCompaction)
        .unwrap();
    let next = &requests[compaction + 1];
    let handoff = next.user_messages().last().unwrap().clone();
    assert!(handoff.contains("Next: write the docs of parser.txt"), "{handoff}");
    assert!(handoff.contains(&format!("[rawr:{sequence}:handoff]")), "{handoff}");
    assert_eq!(next.messages("assistant"), Vec::<String>::new());
    assert_eq!(
        requests
            .iter()
            .filter(|request| request.purpose == RequestPurpose::LocalCompaction)
            .count(),
        1
    );

    // The turn after it ends under the same pressure, and nothing starts.
    let last = done.all("verdict").last().copied().unwrap();
    assert_eq!(last["outcome"], "nothing", "{last}");
    let failed: Vec<_> = last["gates"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|gate| gate["outcome"] == "fail")
        .map(|gate| gate["gate"].as_str().unwrap())
        .collect();
    assert!(failed.contains(&"rearm") && failed.contains(&"boundary"), "{last}");
}

#[test]
fn a_session_continues_with_its_history_and_settings_of_codex() {
    let script = TurnScript::default()
        .on("AND-NOW", [reply("Here is an outline of the docs.").input_tokens(22_000)])
        .on("WRITE-PARSER", [reply("The parser is written.").input_tokens(21_000)]);
    let fixture = CodexExecFixture::new(script);
    let settings = ["--codex-config", "model_reasoning_effort=low", "WRITE-PARSER please"];
    let first = fixture.exec(&settings);
    first.expect_success();
    let effort = |request: &ResponsesRequest| request.body["reasoning"]["effort"].clone();
    assert_eq!(effort(fixture.model.requests().last().unwrap()), "low");
    let thread = first.one("session", |_| true)["threadId"].as_str().unwrap().to_owned();
    assert_eq!(first.one("next_steps", |_| true)["resume"], format!("rawr codex resume {thread}"));

    let second = fixture.exec(&["--resume", "last", "AND-NOW the docs"]);
    second.expect_success();
    assert_eq!(second.one("session", |_| true)["threadId"], thread.as_str());
    let requests = fixture.model.requests();
    let last = requests.last().unwrap();
    assert!(last.user_messages().iter().any(|text| text == "WRITE-PARSER please"), "{last:?}");

    let profile = fixture.exec(&["--profile", "nope", "AND-NOW the docs"]);
    let error = String::from_utf8_lossy(&profile.output.stderr);
    assert!(!profile.output.status.success());
    assert!(error.contains("Codex has no profile `nope`"), "{error}");

    let unknown = fixture.exec(&["--resume", "nope", "AND-NOW the docs"]);
    let error = String::from_utf8_lossy(&unknown.output.stderr);
    assert!(!unknown.output.status.success());
    assert!(error.contains("there is no thread `nope`"), "{error}");
}

/// The rollout that Codex wrote, and what the sidecar decided meanwhile.
#[test]
fn a_rollout_is_decided_as_its_session_was() {
    let fixture = CodexExecFixture::new(session(PACKET));
    let done = fixture.exec(&["WRITE-PARSER please", "AND-NOW the docs"]);
    done.expect_success();
    let begun =
        |decision: &&Value| ["compact", "defer"].contains(&decision["outcome"].as_str().unwrap());
    let shown = |decision: &Value, percent: &str| {
        ["outcome", "tier", percent, "reason"].map(|key| decision[key].to_string()).join(" ")
    };
    let live: Vec<_> = done
        .all("verdict")
        .into_iter()
        .filter(begun)
        .map(|it| shown(it, "percentRemaining"))
        .collect();
    assert!(live.iter().any(|decision| decision.starts_with("\"compact\"")), "{live:?}");

    let mut replay = Command::new(rawr());
    replay.args(["replay", "--json"]).arg(fixture.home.path().join("sessions"));
    let replayed =
        replay.envs(fixture.home.environment()).env_remove("RAWR_HOME").output().unwrap();
    let replayed: Value = serde_json::from_slice(&replayed.stdout).unwrap();
    let decisions = replayed["files"][0]["reports"][0]["decisions"].as_array().unwrap();
    let replayed: Vec<_> = decisions.iter().filter(begun).map(|it| shown(it, "percent")).collect();
    assert_eq!(replayed, live);
}

#[test]
fn a_refused_compaction_is_reported_and_the_session_continues() {
    let fixture = CodexExecFixture::new(session(PACKET).on_compaction([http_error(500)]));
    let done = fixture.exec(&["WRITE-PARSER please", "AND-NOW the docs"]);
    done.expect_success();
    done.one("compaction", |event| event["status"] == "failed");
    assert!(done.all("handoff").is_empty(), "{}", done.dump());
    let said: Vec<_> =
        done.all("agent_message").iter().map(|event| event["text"].to_string()).collect();
    assert!(said.last().unwrap().contains("Here is an outline"), "{said:?}");
}

#[test]
fn the_doctor_explains_compaction_inside_a_turn() {
    let inline = "features.rawr_auto_compaction = false\nauto_compact.enabled = true\n";
    for (config, status, words) in [
        ("", "ok", "emergency: the agent writes its packet inside the turn"),
        ("rawr_auto_compaction.mid_turn = \"off\"", "ok", "no compaction inside a turn"),
        ("features.rawr_auto_compaction = false", "ok", "Codex compacts by itself"),
        (inline, "ok", "after the turn"),
        (&format!("{inline}auto_compact.interrupt_mid_turn = true"), "warn", "is not interrupted"),
    ] {
        let fixture = CodexExecFixture::new(TurnScript::default());
        fixture.configure(config);
        let mut doctor = Command::new(rawr());
        doctor.args(["doctor", "--json", "--codex"]).arg(binary());
        let doctor = doctor.envs(fixture.home.environment()).env_remove("RAWR_HOME").output();
        let checks = ExecOutput::of(doctor.unwrap());
        let check = checks.one("check", |check| check["name"] == "mid-turn");
        assert_eq!(check["status"], status, "{check}");
        assert!(check["message"].as_str().unwrap().contains(words), "{check}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_death_of_codex_is_reported_and_the_thread_is_stored() {
    let fixture = CodexExecFixture::new(session(PACKET).on("HANG", [stall()]));
    let rawr = fixture.command(&["WRITE-PARSER please", "HANG now"]).spawn().unwrap();
    wait_until("the request", || {
        fixture.model.requests().iter().any(|request| request.marker.as_deref() == Some("HANG"))
    });
    for child in children(rawr.id()) {
        // The sidecar is a child, too: only the agent dies.
        if std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap().contains("app-server")
        {
            Command::new("kill").args(["-9", &child]).status().unwrap();
        }
    }
    let done = ExecOutput::of(rawr.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let error = String::from_utf8_lossy(&done.output.stderr).into_owned();
    assert!(error.contains("codex ended (signal: 9"), "{error}");
    let threads = fixture.home.path().join("rawr/auto_compaction/threads");
    let thread = std::fs::read_dir(threads).unwrap().next().unwrap().unwrap().path();
    let events = std::fs::read_to_string(thread.join("events.jsonl")).unwrap();
    assert!(events.ends_with('\n') && events.contains("sequence_ended"), "{events}");
}

/// The agent was told to write its packet between two requests, and had no other to come.
#[cfg(target_os = "linux")]
#[test]
fn a_late_packet_request_starts_a_separate_turn() {
    let wait = "touch begun; until test -e go; do sleep 0.05; done; rm begun go";
    let fixture = CodexExecFixture::new(session(PACKET).on(
        "WAIT",
        [shell(wait).input_tokens(175_000), reply("All is done.").input_tokens(175_500)],
    ));
    let rawr = fixture.command(&["WAIT for it"]).spawn().unwrap();
    let (begun, go) =
        (fixture.repository.path().join("begun"), fixture.repository.path().join("go"));
    wait_until("the command", || begun.exists());
    // Whatever Codex says from now on is read only when its turn is over.
    signal(rawr.id(), "-STOP");
    std::fs::write(go, "").unwrap();
    wait_until("the end of the turn", || fixture.home.rollouts().contains("task_complete"));
    signal(rawr.id(), "-CONT");
    let done = ExecOutput::of(rawr.wait_with_output().unwrap());
    done.expect_success();
    expect_test::expect![[r#"
        user: WAIT for it
          ran touch begun; until test -e go; do sleep 0.05; done; rm begun go
        [compact by mid_turn]
        [heads-up will_compact]
          agent: All is done.
        turn completed
        rawr: packet_request
          agent: <continuation_packet>
        turn completed
        [packet by agent]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
          agent: Writing the docs now.
        turn completed
    "#]]
    .assert_eq(&done.story());
}

#[cfg(target_os = "linux")]
fn signal(process: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<String> {
    let list = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
    list.split_whitespace().map(str::to_owned).collect()
}
