//! A prompt that is edited during a sequence is used by the next sequence.

use super::{folder, start, write};
use crate::fixture::agent_shell;
use rawr_protocol::methods::PromptChanged;
use rawr_tests::mock_chat::{ChatPurpose, ChatScript, reply};
use rawr_tests::{ExecOutput, MockChat, Repository, StandIn, TestHome, rawr};
use std::process::Command;

#[test]
fn a_sequence_uses_the_prompts_that_it_started_with() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let mut host = StandIn::new("t");
    assert!(host.open(&home, &mut sidecar));
    let file = folder(&home).join("handoff.md");
    let handoff = |edit: &str| format!("{edit}\n{{packet}}\n");
    write(&file, &handoff("BEFORE"));
    sidecar.expect::<PromptChanged>();
    host.user_turn_with_boundaries();
    let mut edited = false;
    let mut told = 0;
    let run = host.run_and(&mut sidecar, |note| {
        // The packet has been requested.
        if note.method == "rawr/action/perform" && !edited {
            edited = true;
            write(&file, &handoff("AFTER"));
        }
        told += usize::from(note.method == "rawr/prompt/changed");
    });
    assert!(run && edited);
    assert_eq!(host.performed, ["packet_request", "compact", "handoff"]);
    let log = home.lines("t").join("\n");
    assert!(log.contains("BEFORE"), "{log}");
    if told == 0 {
        sidecar.allow_news_of_others();
        sidecar.allow::<PromptChanged>();
        sidecar.wait_for::<PromptChanged>();
    }
    sidecar.allow_news_of_others();
    sidecar.allow::<PromptChanged>();
    sidecar.leave();
    let handed = home.lines("t").into_iter().filter(|line| line.contains(":handoff]"));
    let handed: Vec<_> = handed.collect();
    assert!(handed.iter().any(|line| line.contains("BEFORE")), "{handed:?}");
    assert!(handed.iter().all(|line| !line.contains("AFTER")), "{handed:?}");
}

/// The agent edits the handoff prompt while it is asked for its packet.
#[test]
fn in_the_embedded_host_the_next_sequence_uses_it() {
    let (home, repository) = (TestHome::new(), Repository::new());
    let file = folder(&home).join("handoff.md");
    std::fs::create_dir_all(folder(&home)).unwrap();
    write(&file, "FIRST handoff\n{packet}\n");
    let edit = format!("printf 'SECOND handoff\\n{{packet}}\\n' > {}", file.display());
    let packet = "<continuation_packet>\nState: working\nGoal: a parser with docs\nNext: write the docs\n</continuation_packet>";
    let commit =
        || agent_shell("git commit -q --allow-empty -m 'Add the parser'").input_tokens(3_000);
    let done = || reply("It is written and committed.").input_tokens(3_100);
    let script = ChatScript::default()
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY.")])
        .on(
            ":packet_request]",
            [
                agent_shell(&edit),
                reply(packet).input_tokens(3_200),
                reply(packet).input_tokens(3_200),
            ],
        )
        .on(":handoff]", [reply("I go on."), reply("I go on again.")])
        .on("the parser", [commit(), done()])
        .on("the docs", [commit(), done()])
        .on("", [reply("Here you are.").input_tokens(1_000)]);
    let model = MockChat::start(script);
    home.configure("[rawr_auto_compaction]\nturn_based_handoff = false\ncooldown_turns = 0\nrearm_tokens = 1\n");
    let output = Command::new(rawr())
        .args(["exec", "--host", "embedded", "--json", "--cd"])
        .arg(repository.path())
        .args(["--model", "scripted-1", "--context-window", "10000", "--base-url"])
        .args([&model.base_url(), "the parser", "the docs"])
        .env("RAWR_HOME", home.path())
        .env("OPENAI_API_KEY", "sk-secret-of-the-test")
        .output()
        .unwrap();
    let session = ExecOutput::of(output);
    session.expect_success();
    let seen: Vec<_> =
        model.requests().iter().map(|request| request.transcript().join("\n")).collect();
    let first = |word: &str| seen.iter().position(|transcript| transcript.contains(word));
    let (old, new) = (first("FIRST handoff"), first("SECOND handoff"));
    assert!(
        old.is_some() && new > old,
        "{old:?} {new:?}\n{}\n{}",
        session.story(),
        seen.join("\n---\n")
    );
}
