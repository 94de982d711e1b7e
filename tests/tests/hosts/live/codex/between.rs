//! The driver's answers to the relay about held messages, without a relay.

use std::process::{Child, Command, Stdio};

use rawr_tests::mock_responses::{ReplyGate, RequestPurpose, TurnScript, reply};
use rawr_tests::{rawr, wait_until};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;

use super::fixture::{LiveFixture, TASK, agent};
use super::person::{Person, start_server, until_it_listens};
use super::preflight::{BEFORE_THE_NEXT, NEXT, last_heard, said_in_order};

struct Between {
    fixture: LiveFixture,
    person: Person,
    folder: TempDir,
    server: Child,
    driver: Child,
}

impl Drop for Between {
    fn drop(&mut self) {
        for child in [&mut self.driver, &mut self.server] {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

impl Between {
    /// A turn has ended, and a compaction is put off until the next message.
    async fn defer_compaction(options: &[&str]) -> Self {
        Self::defer_compaction_with(agent(), options).await
    }

    async fn defer_compaction_with(script: TurnScript, options: &[&str]) -> Self {
        let gate = ReplyGate::new();
        let fixture = LiveFixture::new(script.behind("WRITE-PARSER", 0, &gate));
        fixture.set(BEFORE_THE_NEXT);
        let folder = TempDir::new().unwrap();
        let socket = folder.path().join("codex.sock");
        let server = start_server(&fixture, &socket);
        let mut person = until_it_listens(&socket).await;
        person.opens_a_thread(fixture.repository.path()).await;
        let driver = start_driver(&fixture, &folder, &server, options);
        person.says(TASK).await.unwrap();
        wait_until("rawr at its side", || fixture.log().contains(r#""event":"session""#));
        gate.open();
        person.hears("The parser is written.").await;
        wait_until("a compaction put off", || fixture.log().contains(r#""phase":"deferred""#));
        Self { fixture, person, folder, server, driver }
    }

    /// The driver dies without a word, and another takes its place.
    fn replace_the_driver(&mut self) {
        self.driver.kill().unwrap();
        self.driver.wait().unwrap();
        std::fs::remove_file(self.folder.path().join("driver.sock")).unwrap();
        self.driver = start_driver(&self.fixture, &self.folder, &self.server, &[]);
    }

    async fn ask(&self, text: &str) -> Lines<BufReader<UnixStream>> {
        let mut driver = UnixStream::connect(self.folder.path().join("driver.sock")).await.unwrap();
        let question = json!({"threadId": self.person.thread_id, "text": text});
        driver.write_all(format!("{question}\n").as_bytes()).await.unwrap();
        BufReader::new(driver).lines()
    }
}

fn start_driver(
    fixture: &LiveFixture,
    folder: &TempDir,
    server: &Child,
    options: &[&str],
) -> Child {
    let mut command = Command::new(rawr());
    fixture.in_place(&mut command);
    command.arg("attach").arg("--socket").arg(folder.path().join("codex.sock"));
    command.arg("--beside").arg(folder.path()).arg("--lease").arg(server.id().to_string());
    command.arg("--preflight").args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

async fn until_it_may_pass(words: &mut Lines<BufReader<UnixStream>>) {
    while let Some(word) = words.next_line().await.unwrap() {
        if word == r#""pass""# {
            return;
        }
        assert_eq!(word, r#""hold""#);
    }
    panic!("it hung up");
}

async fn the_handoff_is_in_when_the_message_may_pass(options: &[&str]) {
    let mut between = Between::defer_compaction(options).await;
    let mut words = between.ask(NEXT).await;
    until_it_may_pass(&mut words).await;
    between.person.says(NEXT).await.unwrap();
    between.person.hears("Here you are.").await;
    let heard = last_heard(&between.fixture);
    assert_eq!(heard, ["task", "handoff", "next"], "{}", between.fixture.log());
    assert_eq!(between.fixture.compactions(), 1);
}

#[tokio::test]
async fn the_handoff_is_in_before_the_message() {
    the_handoff_is_in_when_the_message_may_pass(&[]).await;
}

/// Without a line of Codex's, rawr starts the handoff's turn itself.
#[tokio::test]
async fn the_handoff_is_in_before_the_message_without_experimental_methods() {
    the_handoff_is_in_when_the_message_may_pass(&["--without-experimental"]).await;
}

#[tokio::test]
async fn several_messages_are_released_in_order() {
    let mut between = Between::defer_compaction(&[]).await;
    let mut first = between.ask(NEXT).await;
    let held = || between.fixture.log().matches("input_held").count();
    wait_until("one held", || held() == 1);
    let mut other = between.ask("LAST-WORD").await;
    wait_until("both held", || held() == 2);
    until_it_may_pass(&mut first).await;
    between.person.says(NEXT).await.unwrap();
    between.person.hears("Here you are.").await;
    until_it_may_pass(&mut other).await;
    assert_eq!(last_heard(&between.fixture), ["task", "handoff", "next"]);
}

#[tokio::test]
async fn a_thread_that_rawr_does_not_drive_is_not_held() {
    let mut between = Between::defer_compaction(&[]).await;
    between.person.thread_id = "another".to_owned();
    let mut words = between.ask(NEXT).await;
    assert_eq!(words.next_line().await.unwrap().as_deref(), Some(r#""pass""#));
}

/// The sender has gone with the driver: the next driver delivers the message itself.
async fn a_message_outlives_its_driver_and_its_sender(
    script: TurnScript,
    gate: &ReplyGate,
    asked: &str,
) {
    let mut between = Between::defer_compaction_with(script, &[]).await;
    let words = between.ask(NEXT).await;
    wait_until("the request", || is_asked(&between.fixture, asked));
    between.replace_the_driver();
    drop(words);
    let joined = || between.fixture.log().matches(r#""event":"session""#).count() == 2;
    wait_until("another driver", joined);
    gate.open();
    wait_until("the message", || said_in_order(&between.fixture).contains(&"next"));
    assert_eq!(
        said_in_order(&between.fixture),
        ["task", "handoff", "next"],
        "{}",
        between.fixture.log()
    );
    assert_eq!(between.fixture.compactions(), 1);
}

fn is_asked(fixture: &LiveFixture, what: &str) -> bool {
    fixture.requests().iter().any(|request| match what {
        "compaction" => request.purpose != RequestPurpose::Turn,
        marker => request.marker.as_deref() == Some(marker),
    })
}

#[tokio::test]
async fn a_message_held_for_the_packet_survives_its_driver_and_its_sender() {
    let gate = ReplyGate::new();
    let script = agent().behind(":packet_request]", 0, &gate);
    a_message_outlives_its_driver_and_its_sender(script, &gate, ":packet_request]").await;
}

#[tokio::test]
async fn a_message_held_for_the_compaction_survives_its_driver_and_its_sender() {
    let gate = ReplyGate::new();
    let summary = reply("A summary by the model.").input_tokens(146_000).behind(&gate);
    let script = agent().on_compaction([summary]);
    a_message_outlives_its_driver_and_its_sender(script, &gate, "compaction").await;
}
