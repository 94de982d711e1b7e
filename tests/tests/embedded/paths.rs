//! The six paths of a compaction, each as the session tells it; and the golden path as the agent's transcript has it.

use expect_test::{Expect, expect};
use rawr_tests::MockChat;
use rawr_tests::mock_chat::{Purpose, Script, call, say};
use serde_json::json;

use super::lab::Lab;

/// An agent that fills its window, commits, and goes on where it is told to. Its packet is asked for by every path
/// that wants one.
const AGENT: &str = r#"
context_window = 2000

[[scenes]]
on = "summary"
replies = [{ message = "A SUMMARY." }]

[[scenes]]
on = { words = ":packet_request]" }
replies = [{ message = """<continuation_packet>
State: working
Goal: a parser with docs
Decisions: plain text
Next: write the docs
</continuation_packet>""" }]

[[scenes]]
on = { words = ":handoff]" }
replies = [{ message = "I go on with the docs." }]

[[scenes]]
on = { words = "A SUMMARY." }
replies = [{ message = "I go on after the summary." }]

[[scenes]]
on = { words = "the parser" }
replies = [
    { message = "Reading what there is. ", times = 70, calls = [{ tool = "shell", command = "true" }] },
    { calls = [{ tool = "shell", command = "git commit -q --allow-empty -m 'Add the parser'" }] },
    { message = "The parser is written and committed. Next I will turn to the docs." },
]

[[scenes]]
on = { words = "fill the window" }
replies = [
    { message = "So much to read. ", times = 410, calls = [{ tool = "shell", command = "true" }] },
    { calls = [{ tool = "shell", command = "echo done" }] },
    { message = "All is read." },
]

[[scenes]]
on = "anything"
replies = [{ message = "Here you are." }]
"#;

fn check(config: &str, prompts: &[&str], expected: Expect) -> Lab {
    let lab = Lab::on_script(AGENT);
    lab.configure(config);
    let done = lab.exec(prompts);
    done.expect_success();
    expected.assert_eq(&done.story());
    lab
}

#[test]
fn path_1_suggest_recommends_and_does_nothing() {
    check(
        "[rawr_auto_compaction]\nmode = \"suggest\"\n",
        &["the parser", "thanks"],
        expect![[r#"
            user: the parser
              agent: Reading what there is. Reading what there is. Reading what there is. Reading wha…
              ran true
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed. Next I will turn to the docs.
            turn completed
            [suggest by turn_complete]
            [heads-up recommended]
            user: thanks
              agent: Here you are.
            turn completed
        "#]],
    );
}

#[test]
fn path_2_auto_with_a_packet_by_rawr() {
    let config = "[rawr_auto_compaction]\npacket_author = \"watcher\"\n";
    check(
        config,
        &["the parser", "thanks"],
        expect![[r#"
            user: the parser
              agent: Reading what there is. Reading what there is. Reading what there is. Reading wha…
              ran true
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed. Next I will turn to the docs.
            turn completed
            [compact by turn_complete]
            [heads-up will_compact]
            rawr: heads_up
              agent: Here you are.
            turn completed
            [packet by watcher]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
              agent: I go on with the docs.
            turn completed
            user: thanks
              agent: Here you are.
            turn completed
        "#]],
    );
}

#[test]
fn path_3_auto_with_a_packet_by_the_agent() {
    check(
        "",
        &["the parser", "thanks"],
        expect![[r#"
            user: the parser
              agent: Reading what there is. Reading what there is. Reading what there is. Reading wha…
              ran true
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed. Next I will turn to the docs.
            turn completed
            [compact by turn_complete]
            [heads-up will_compact]
            rawr: packet_request
              agent: <continuation_packet>
            turn completed
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
              agent: I go on with the docs.
            turn completed
            user: thanks
              agent: Here you are.
            turn completed
        "#]],
    );
}

#[test]
fn path_4_preflight_waits_for_the_next_message_and_delivers_it_after_the_handoff() {
    let config =
        "[rawr_auto_compaction.policy.ready]\nrequires_any_boundary = [\"turn_complete\"]\n";
    check(
        config,
        &["the parser", "now the docs"],
        expect![[r#"
            user: the parser
              agent: Reading what there is. Reading what there is. Reading what there is. Reading wha…
              ran true
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed. Next I will turn to the docs.
            turn completed
            [defer by preflight]
            [heads-up deferred]
            [compact by preflight]
            [heads-up will_compact]
            [held: now the docs]
            rawr: packet_request
              agent: <continuation_packet>
            turn completed
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
            user: now the docs
              agent: Here you are.
            turn completed
        "#]],
    );
}

#[test]
fn path_5_mid_turn_compacts_between_two_requests_and_the_turn_goes_on() {
    check(
        "",
        &["fill the window"],
        expect![[r#"
            user: fill the window
              agent: So much to read. So much to read. So much to read. So much to read. So much to r…
              ran true
            [compact by mid_turn]
            [heads-up will_compact]
            rawr: packet_request
              agent: <continuation_packet>
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            rawr: handoff
              agent: I go on with the docs.
            turn completed
        "#]],
    );
}

#[test]
fn path_5_mid_turn_by_policy_at_a_boundary() {
    let config = "[rawr_auto_compaction]\nmid_turn = \"policy\"\n";
    check(
        config,
        &["the parser"],
        expect![[r#"
            user: the parser
              agent: Reading what there is. Reading what there is. Reading what there is. Reading wha…
              ran true
              ran git commit -q --allow-empty -m 'Add the parser'
            [compact by mid_turn]
            [heads-up will_compact]
            rawr: packet_request
              agent: <continuation_packet>
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            rawr: handoff
              agent: I go on with the docs.
            turn completed
        "#]],
    );
}

const INLINE: &str = "[features]\nrawr_auto_compaction = false\n[auto_compact]\nenabled = true\n";

#[test]
fn path_6_inline_compacts_inside_the_turn_without_packet_and_handoff() {
    check(
        INLINE,
        &["fill the window"],
        expect![[r#"
            user: fill the window
              agent: So much to read. So much to read. So much to read. So much to read. So much to r…
              ran true
            [compact by inline]
            [compaction in_progress]
            [compaction completed]
              agent: I go on after the summary.
            turn completed
        "#]],
    );
}

#[test]
fn path_6_inline_compacts_before_a_message_that_would_not_fit() {
    let message = format!("fits hardly: {}", "word ".repeat(1400));
    let lab = Lab::on_script(AGENT);
    lab.configure(INLINE);
    let done = lab.exec(&["hello", &message]);
    done.expect_success();
    expect![[r#"
        user: hello
          agent: Here you are.
        turn completed
        [compact by inline]
        [held: fits hardly: word word word word word word word word word word word word word wo…]
        [compaction in_progress]
        [compaction completed]
        turn completed
        user: fits hardly: word word word word word word word word word word word word word wo…
          agent: Here you are.
        turn completed
    "#]]
    .assert_eq(&done.story());
}

#[test]
fn path_6_inline_cuts_off_an_answer_where_it_may() {
    let script = r#"
context_window = 2000
[[scenes]]
on = "summary"
replies = [{ message = "A SUMMARY." }]
[[scenes]]
on = { words = "A SUMMARY." }
replies = [{ message = "I go on after the summary." }]
[[scenes]]
on = "anything"
replies = [{ message = "And so on and on. ", times = 420, hangs = true }]
"#;
    let lab = Lab::on_script(script);
    lab.configure(&format!("{INLINE}interrupt_mid_turn = true\n"));
    let done = lab.exec(&["talk"]);
    done.expect_success();
    expect![[r#"
        user: talk
        [compact by inline]
          agent: And so on and on. And so on and on. And so on and on. And so on and on. And so o…
        [compaction in_progress]
        [compaction completed]
          agent: I go on after the summary.
        turn completed
    "#]]
    .assert_eq(&done.story());
}

/// Spec 2's transcript: notice and packet request by the user, packet by the agent, compaction, packet back by the user,
/// and the agent goes on; each as the model itself gets it.
#[test]
fn the_golden_path_is_what_the_model_sees() {
    let packet = "<continuation_packet>\nState: working\nGoal: a parser with docs\nDecisions: plain text\n\
        Next: write the docs\n</continuation_packet>";
    let commit = json!({"command": "git commit -q --allow-empty -m 'Add the parser'"});
    let model = MockChat::start(
        Script::default()
            .on_each(Purpose::Summary, [say("A SUMMARY.")])
            .on(":packet_request]", [say(packet).input_tokens(3_200)])
            .on(":handoff]", [say("I go on with the docs.")])
            .on(
                "the parser",
                [
                    call("shell", commit).input_tokens(3_000),
                    say("It is committed.").input_tokens(3_100),
                ],
            ),
    );
    let lab = Lab::on_endpoint(&model, 10_000);
    let done = lab.exec(&["the parser"]);
    done.expect_success();
    let requests = model.requests();
    let seen = |at: usize| {
        let lines = requests[at].transcript();
        let short = |line: &String| {
            let marker = line.rfind("[rawr:").map(|at| line[at..].to_owned());
            let first: String = line.lines().next().unwrap_or_default().chars().take(60).collect();
            match marker {
                // The sequence's name is another one every time.
                Some(marker) => format!("{first} … {}", marker.rsplit(':').next().unwrap()),
                None => first,
            }
        };
        lines.iter().skip(1).map(short).collect::<Vec<_>>().join("\n") + "\n"
    };
    assert_eq!(requests.len(), 5, "{}", done.dump());
    expect![[r#"
        user: the parser
        assistant:  <shell>
        tool: exit code 0
        assistant: It is committed.
        user: [rawr] This thread's context will be compacted next, b … packet_request]
    "#]]
    .assert_eq(&seen(2));
    expect![[r#"
        user: the parser
        user: The conversation before this point was compacted. You 
        user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
    "#]]
    .assert_eq(&seen(4));
    let handoff = done.all("handoff")[0]["text"].as_str().unwrap();
    assert!(handoff.contains("Goal: a parser with docs\nDecisions: plain text"), "{handoff}");
    assert!(
        !handoff.contains('%') && !done.all("injected")[0]["text"].as_str().unwrap().contains('%')
    );
}

#[test]
fn off_is_off() {
    let config = "[features]\nrawr_auto_compaction = false\n";
    check(
        config,
        &["fill the window", "the parser"],
        expect![[r#"
            user: fill the window
              agent: So much to read. So much to read. So much to read. So much to read. So much to r…
              ran true
              ran echo done
              agent: All is read.
            turn completed
            user: the parser
              agent: Reading what there is. Reading what there is. Reading what there is. Reading wha…
              ran true
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed. Next I will turn to the docs.
            turn completed
        "#]],
    );
}
