//! `rawr exec --host codex`: the whole path on the real Codex, its model played by a script. One case a promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use rawr_tests::codex::{CodexHome, Config, binary};
use rawr_tests::mock_responses::{Purpose, Reply, Script, call, http_error, say, stall};
use rawr_tests::{MockModel, Repository, rawr};
use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};

const PACKET: &str = "<continuation_packet>\nState: working\nGoal: a parser with docs\nDecisions: plain text, no macros\n\
    Next: write the docs of parser.txt\n</continuation_packet>";

/// The agent plans, writes a file, commits it and updates its plan; then it answers the packet request.
fn session(packet: &str) -> Script {
    let plan = |parser: &str, docs: &str| {
        let steps = json!([{"step": "write the parser", "status": parser}, {"step": "write the docs", "status": docs}]);
        call("update_plan", json!({"plan": steps}))
    };
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    Script::default()
        .on(
            "WRITE-PARSER",
            [
                plan("in_progress", "pending").input_tokens(121_000),
                shell(commit).input_tokens(131_000),
                plan("completed", "in_progress").input_tokens(140_000),
                say("The parser is written and committed.").input_tokens(143_000),
            ],
        )
        .on("packet_request]", [say(packet).input_tokens(145_000)])
        .on(":handoff]", [say("Writing the docs now.").input_tokens(144_000)])
        .on("AND-NOW", [say("The docs are written, as you asked.").input_tokens(145_500)])
        .on_compaction([say("A summary by the model.").input_tokens(146_000)])
}

fn shell(command: &str) -> Reply {
    call("exec_command", json!({ "cmd": command }))
}

struct Lab {
    model: MockModel,
    home: CodexHome,
    repository: Repository,
}

struct Done {
    output: Output,
    events: Vec<Value>,
}

impl Lab {
    fn new(script: Script) -> Self {
        let model = MockModel::start(script);
        let home = CodexHome::new(&model, &Config::default());
        Self { model, home, repository: Repository::new() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command
            .args(["exec", "--host", "codex", "--json", "--codex"])
            .arg(binary())
            .arg("--cd")
            .arg(self.repository.path())
            .args(arguments)
            .envs(self.home.environment())
            .env_remove("RAWR_HOME")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn exec(&self, options: &[&str], prompts: &[&str]) -> Done {
        Done::of(self.command(&[options, prompts].concat()).output().unwrap())
    }
}

impl Done {
    fn of(output: Output) -> Self {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { output, events }
    }

    fn all(&self, name: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == name).collect()
    }

    fn one<'e>(&'e self, name: &str, fits: impl Fn(&Value) -> bool) -> &'e Value {
        let found: Vec<_> = self.all(name).into_iter().filter(|event| fits(event)).collect();
        assert_eq!(found.len(), 1, "{name}: {}", self.dump());
        found[0]
    }

    fn dump(&self) -> String {
        let lines: Vec<_> = self.events.iter().map(ToString::to_string).collect();
        format!("{}\n{}", lines.join("\n"), String::from_utf8_lossy(&self.output.stderr))
    }
}

#[test]
fn a_real_codex_is_carried_across_and_the_same_pressure_does_not_compact_it_again() {
    let lab = Lab::new(session(PACKET));
    let done = lab.exec(&[], &["WRITE-PARSER please", "AND-NOW the docs"]);
    assert!(done.output.status.success(), "{}", done.dump());
    assert_eq!(lab.repository.subjects().first().map(String::as_str), Some("Add the parser"));

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
    let requests = lab.model.requests();
    let compaction =
        requests.iter().position(|request| request.purpose == Purpose::LocalCompaction).unwrap();
    let next = &requests[compaction + 1];
    let handoff = next.user_messages().last().unwrap().clone();
    assert!(handoff.contains("Next: write the docs of parser.txt"), "{handoff}");
    assert!(handoff.contains(&format!("[rawr:{sequence}:handoff]")), "{handoff}");
    assert_eq!(next.messages("assistant"), Vec::<String>::new());
    assert_eq!(
        requests.iter().filter(|request| request.purpose == Purpose::LocalCompaction).count(),
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
fn a_compaction_that_the_model_refuses_is_told_and_the_session_goes_on() {
    let lab = Lab::new(session(PACKET).on_compaction([http_error(500)]));
    let done = lab.exec(&[], &["WRITE-PARSER please", "AND-NOW the docs"]);
    assert!(done.output.status.success(), "{}", done.dump());
    done.one("compaction", |event| event["status"] == "failed");
    assert!(done.all("handoff").is_empty(), "{}", done.dump());
    let said: Vec<_> =
        done.all("agent_message").iter().map(|event| event["text"].to_string()).collect();
    assert!(said.last().unwrap().contains("The docs are written"), "{said:?}");
}

#[test]
fn an_empty_packet_is_stood_in_for_and_labelled() {
    let lab = Lab::new(session(""));
    let done = lab.exec(&[], &["WRITE-PARSER please"]);
    let packet = done.one("packet", |_| true);
    assert_eq!(packet["author"], "watcher", "{packet}");
    assert!(packet["packet"].as_str().unwrap().contains("Built by rawr"), "{packet}");
    let requests = lab.model.requests();
    assert!(requests.last().unwrap().user_messages().last().unwrap().contains("Built by rawr"));
}

#[test]
fn an_empty_summary_still_gets_its_handoff() {
    let lab = Lab::new(session(PACKET).on_compaction([say("").input_tokens(146_000)]));
    let done = lab.exec(&[], &["WRITE-PARSER please"]);
    assert!(done.output.status.success(), "{}", done.dump());
    done.one("handoff", |_| true);
    let requests = lab.model.requests();
    let handoff = requests.last().unwrap().user_messages().last().unwrap().clone();
    assert!(handoff.contains("Next: write the docs of parser.txt"), "{handoff}");
}

#[test]
fn suggest_only_recommends() {
    let lab = Lab::new(session(PACKET));
    let done = lab.exec(&["-c", "rawr_auto_compaction.mode=suggest"], &["WRITE-PARSER please"]);
    done.one("verdict", |event| event["outcome"] == "suggest");
    assert!(lab.model.requests().iter().all(|request| request.purpose == Purpose::Turn));
}

fn without_codex(options: &[&str]) -> String {
    let empty = tempfile::tempdir().unwrap();
    let output = Command::new(rawr())
        .args(["exec", "--host", "codex", "hello"])
        .args(options)
        .env("RAWR_HOME", empty.path())
        .env("PATH", empty.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_missing_codex_says_how_to_get_one() {
    let error = without_codex(&[]);
    assert!(
        error.contains("npm install -g @openai/codex") && error.contains("--codex PATH"),
        "{error}"
    );
    let error = without_codex(&["--codex", "/no/such/codex"]);
    assert!(error.contains("/no/such/codex"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_codex_that_dies_in_the_middle_is_told_and_nothing_of_the_thread_is_lost() {
    let lab = Lab::new(session(PACKET).on("HANG", [stall()]));
    let rawr = lab.command(&["WRITE-PARSER please", "HANG now"]).spawn().unwrap();
    wait_until(|| {
        lab.model.requests().iter().any(|request| request.marker.as_deref() == Some("HANG"))
    });
    for child in children(rawr.id()) {
        // The sidecar is a child, too: only the agent dies.
        if std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap().contains("app-server")
        {
            Command::new("kill").args(["-9", &child]).status().unwrap();
        }
    }
    let done = Done::of(rawr.wait_with_output().unwrap());
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let error = String::from_utf8_lossy(&done.output.stderr).into_owned();
    assert!(error.contains("codex ended (signal: 9"), "{error}");
    let threads = lab.home.path().join("rawr/auto_compaction/threads");
    let thread = std::fs::read_dir(threads).unwrap().next().unwrap().unwrap().path();
    let events = std::fs::read_to_string(thread.join("events.jsonl")).unwrap();
    assert!(events.ends_with('\n') && events.contains("sequence_ended"), "{events}");
}

#[cfg(target_os = "linux")]
fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..600 {
        if done() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("it never came to that");
}

#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<String> {
    let list = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
    list.split_whitespace().map(str::to_owned).collect()
}
