//! The demo's script: the user's messages, the agent's answers, and the sample files.

use std::fmt::Write;

use rawr_protocol::{PlanStep, StepStatus};

use rawr_host::host::embedded::{Scene, SceneCue, Script, ScriptLine, Tool};

/// The context window in tokens, small enough that a short session fills more than half of it.
pub(super) const CONTEXT_WINDOW: u64 = 10_000;

pub(super) const INSTRUCTIONS: &str = "You are a coding agent. You work in the current folder with a shell, keep a plan, and say in short what you did.";

pub(super) const PROMPTS: [&str; 3] = [
    "Look at the sample files in samples/ and write kv.sh: it prints the value of a key.",
    "Now test it against every sample, and commit.",
    "Thanks, that works. Next, write the README with two examples.",
];

const KV: &str = r#"#!/bin/sh
# Prints the value of a key in a file of `key = value` lines: kv.sh FILE KEY
status=1
while IFS= read -r line || [ -n "$line" ]; do
    case $line in
        '' | '#'*) continue ;;
    esac
    key=${line%%=*}
    key=${key%"${key##*[! ]}"}
    value=${line#*=}
    value=${value#"${value%%[! ]*}"}
    if [ "$key" = "$2" ]; then
        printf '%s\n' "$value"
        status=0
    fi
done <"$1"
exit $status
"#;

const TEST: &str = r#"#!/bin/sh
# Every key of every sample is found, with the value that stands in the file; a key that is not there is not.
count=0
failed=0
check() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        printf 'ok %d - %s: %s\n' "$count" "$1" "$2"
    else
        printf 'not ok %d - %s: expected [%s], found [%s]\n' "$count" "$1" "$2" "$3"
        failed=1
    fi
}
for file in samples/*.conf; do
    while IFS= read -r line; do
        case $line in '' | '#'*) continue ;; esac
        check "$file ${line%% =*}" "${line#*= }" "$(sh kv.sh "$file" "${line%% =*}")"
    done <"$file"
    check "$file without such a key" "" "$(sh kv.sh "$file" nothing)"
done
printf '%d checks\n' "$count"
exit $failed
"#;

const README: &str = "\
# kv.sh

Prints the value of a key in a file of `key = value` lines.

    $ sh kv.sh samples/service-1.conf port
    8001
    $ sh kv.sh samples/service-2.conf log_level
    info

Blank lines and lines that begin with `#` are skipped. A key that is not there prints nothing and ends with exit
code 1. The tests are in `test.sh`; run them in this folder.
";

const PACKET: &str = "\
<continuation_packet>
State: waiting_for_user
Goal: a small, tested kv.sh that prints the value of a key from `key = value` files, with a README.
Done: kv.sh is written; test.sh checks every key of every sample in samples/ and passes; both are committed.
Decisions: plain sh without other programs; comments begin with `#`; a missing key prints nothing and exits with 1.
Constraints: the sample files stay as they are.
Next step: write README.md with two examples that are taken from samples/.
</continuation_packet>";

const SUMMARY: &str = "\
The user asked for kv.sh, a shell script that prints the value of a key from files of `key = value` lines, and for \
tests of it. The script and test.sh are written, all checks pass, and both are committed. A README is still to be \
written.";

/// The sample files, by name.
pub(super) fn samples() -> Vec<(String, String)> {
    let keys = [
        "name",
        "port",
        "log_level",
        "data_dir",
        "cache_size",
        "time_limit",
        "retries",
        "workers",
        "queue",
        "region",
    ];
    let sample = |number: usize| {
        let mut text =
            format!("# Settings of service {number}, as they run in the example region.\n\n");
        for (at, key) in keys.iter().enumerate() {
            let value = match *key {
                "name" => format!("service-{number}"),
                "port" => format!("{}", 8000 + number),
                "log_level" => "info".to_owned(),
                "data_dir" => format!("/srv/example/service-{number}/data"),
                "region" => "example-north-1".to_owned(),
                "queue" => format!("service-{number}-jobs"),
                _ => format!("{}", 10 * number + at),
            };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "# The {key} of service {number}. Ask its owners before you change it,\n# and restart the service after the change: it reads this file once.\n{key} = {value}\n\n"
            );
        }
        (format!("samples/service-{number}.conf"), text)
    };
    (1..=8).map(sample).collect()
}

const JUDGMENT: &str =
    r#"{"should_compact": true, "reason": "kv.sh is committed, and the README is another task"}"#;

/// The agent's answers.
pub(super) fn script() -> Script {
    let scene = |cue, replies| Scene { cue, replies };
    Script::new(vec![
        scene(SceneCue::Summary, vec![ScriptLine::says(SUMMARY)]),
        scene(SceneCue::Judgment, vec![ScriptLine::says(JUDGMENT)]),
        scene(SceneCue::words(":packet_request]"), vec![ScriptLine::says(PACKET)]),
        scene(SceneCue::words("write the README"), documentation()),
        scene(SceneCue::words("write kv.sh"), parser()),
        scene(SceneCue::words("test it"), tests()),
    ])
}

fn parser() -> Vec<ScriptLine> {
    vec![
        ScriptLine::says("I look at the samples first.")
            .and(vec![plan(0), shell("cat samples/*.conf")]),
        ScriptLine::does(vec![plan(1), write_file("kv.sh", KV)]),
        ScriptLine::does(vec![shell("sh kv.sh samples/service-1.conf port")]),
        ScriptLine::does(vec![plan(2)]),
        ScriptLine::says(
            "I am not done yet: kv.sh prints the value of a key, and its tests are still to be written.",
        ),
    ]
}

fn tests() -> Vec<ScriptLine> {
    vec![
        ScriptLine::does(vec![write_file("test.sh", TEST), shell("sh test.sh")]),
        ScriptLine::says("Every check passes, so I commit.").and(vec![shell(
            "git add kv.sh test.sh && git commit --quiet --message 'Print the value of a key'",
        )]),
        ScriptLine::does(vec![plan(3)]),
        ScriptLine::says(
            "kv.sh is tested against every sample and committed. The README is what remains.",
        ),
    ]
}

fn documentation() -> Vec<ScriptLine> {
    vec![
        ScriptLine::says("Next, the README.").and(vec![write_file("README.md", README)]),
        ScriptLine::does(vec![
            shell("sh kv.sh samples/service-1.conf port"),
            shell("sh kv.sh samples/service-2.conf log_level"),
        ]),
        ScriptLine::does(vec![
            shell("git add README.md && git commit --quiet --message 'Explain kv.sh'"),
            plan(4),
        ]),
        ScriptLine::says("Both examples print what the README says, and it is committed."),
    ]
}

fn shell(command: &str) -> Tool {
    Tool::Shell { command: command.to_owned(), timeout_seconds: None }
}

fn write_file(path: &str, content: &str) -> Tool {
    Tool::WriteFile { path: path.to_owned(), content: content.to_owned() }
}

/// The plan with this many completed steps.
fn plan(done: usize) -> Tool {
    let steps = ["read the samples", "write kv.sh", "test it and commit", "write the README"];
    let status = |at: usize| match at.cmp(&done) {
        std::cmp::Ordering::Less => StepStatus::Completed,
        std::cmp::Ordering::Equal => StepStatus::InProgress,
        std::cmp::Ordering::Greater => StepStatus::Pending,
    };
    let step =
        |(at, step): (usize, &&str)| PlanStep { step: (*step).to_owned(), status: status(at) };
    Tool::UpdatePlan { plan: steps.iter().enumerate().map(step).collect(), explanation: None }
}
