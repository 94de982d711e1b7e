//! A scripted user: a second client of an app-server.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use rawr_tests::codex::binary;
use rawr_tests::mock_responses::{RequestPurpose, TurnScript};
use rawr_tests::rawr;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::fixture::{HANDOFF, LiveFixture};

/// Only a hang takes this long.
const LIMIT: Duration = Duration::from_secs(60);

pub struct Person {
    stream: WebSocketStream<UnixStream>,
    last_id: u64,
    pub thread_id: String,
    /// Everything that was told, and up to where it was looked at.
    told: Vec<Value>,
    looked_at: usize,
}

impl Person {
    pub async fn at(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).await.unwrap();
        let (stream, _) = client_async("ws://localhost/", stream).await.unwrap();
        let (thread_id, told) = (String::new(), Vec::new());
        let mut person = Self { stream, last_id: 0, thread_id, told, looked_at: 0 };
        let hello = json!({
            "clientInfo": {"name": "person", "title": "person", "version": "1"},
            "capabilities": {"experimentalApi": true, "requestAttestation": false},
        });
        person.ask("initialize", hello).await.unwrap();
        person.send(&json!({"method": "initialized"})).await;
        person
    }

    pub async fn opens_a_thread(&mut self, folder: &Path) {
        self.opens_a_thread_with(folder, json!({})).await;
    }

    /// With more configuration of Codex's for it.
    pub async fn opens_a_thread_with(&mut self, folder: &Path, config: Value) {
        let params = json!({"cwd": folder, "config": config});
        let opened = self.ask("thread/start", params).await.unwrap();
        self.thread_id = opened["thread"]["id"].as_str().unwrap().to_owned();
    }

    pub async fn joins(&mut self, thread_id: &str) {
        self.ask("thread/resume", json!({"threadId": thread_id})).await.unwrap();
        self.thread_id = thread_id.to_owned();
    }

    /// The turn that takes it in, or why none does.
    pub async fn says(&mut self, text: &str) -> Result<String, Value> {
        self.says_with(text, json!({})).await
    }

    /// With settings that hold from here on, as `/model` sends them.
    pub async fn says_with(&mut self, text: &str, mut params: Value) -> Result<String, Value> {
        params["threadId"] = json!(self.thread_id);
        params["input"] = json!([{"type": "text", "text": text, "text_elements": []}]);
        let answer = self.ask("turn/start", params).await?;
        Ok(answer["turn"]["id"].as_str().unwrap().to_owned())
    }

    /// As the Codex on the screen does it: what is refused while it compacts is said again when that is over.
    pub async fn says_as_soon_as_possible(&mut self, text: &str) {
        while self.says(text).await.is_err() {
            self.sees("turn/completed").await;
        }
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"id": id, "method": method, "params": params})).await;
        loop {
            let message = self.next(method).await;
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            self.told.push(message);
        }
    }

    /// The next notification of this kind that was not looked at yet.
    pub async fn sees(&mut self, method: &str) -> Value {
        self.sees_that(method, |_| true).await
    }

    pub async fn sees_that(&mut self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            while self.looked_at < self.told.len() {
                let message = &self.told[self.looked_at];
                self.looked_at += 1;
                let of_thread = message["params"]["threadId"] == self.thread_id.as_str();
                if message["method"] == method && of_thread && fits(&message["params"]) {
                    return message["params"].clone();
                }
            }
            let message = self.next(method).await;
            self.told.push(message);
        }
    }

    /// The end of a turn in which the agent says this last.
    pub async fn hears(&mut self, words: &str) {
        let says = |params: &Value| {
            let items = params["turn"]["items"].as_array().cloned().unwrap_or_default();
            items.iter().any(|item| item["text"].as_str().is_some_and(|it| it.contains(words)))
        };
        self.sees_that("turn/completed", says).await;
    }

    async fn send(&mut self, message: &Value) {
        self.stream.send(Message::text(message.to_string())).await.unwrap();
    }

    async fn next(&mut self, what_for: &str) -> Value {
        loop {
            let message = timeout(LIMIT, self.stream.next()).await;
            let message = message.unwrap_or_else(|_| {
                let told: Vec<_> = self.told.iter().map(brief).collect();
                panic!("{what_for} never came:\n{}", told.join("\n"))
            });
            if let Message::Text(text) = message.unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }
}

/// Enough to see what happened.
fn brief(message: &Value) -> String {
    message.to_string().chars().take(300).collect()
}

/// An app-server that a person uses, and rawr beside it.
pub struct Beside {
    pub fixture: LiveFixture,
    pub person: Person,
    pub server: Child,
    pub rawr: Child,
    folder: TempDir,
}

impl Drop for Beside {
    fn drop(&mut self) {
        for child in [&mut self.rawr, &mut self.server] {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

impl Beside {
    pub async fn new(script: TurnScript) -> Self {
        Self::with(script, &[]).await
    }

    /// With options of rawr's.
    pub async fn with(script: TurnScript, options: &[&str]) -> Self {
        Self::in_fixture(LiveFixture::new(script), options).await
    }

    pub async fn in_fixture(fixture: LiveFixture, options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let socket = folder.path().join("codex.sock");
        let server = start_server(&fixture, &socket);
        let mut person = until_it_listens(&socket).await;
        person.opens_a_thread(fixture.repository.path()).await;
        let rawr = attach(&fixture, &folder, "told", options);
        Self { fixture, person, server, rawr, folder }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("codex.sock")
    }

    pub async fn another_person(&self) -> Person {
        self.a_person_in(&self.person.thread_id).await
    }

    pub async fn a_person_in(&self, thread_id: &str) -> Person {
        let mut other = Person::at(&self.socket()).await;
        other.joins(thread_id).await;
        other
    }

    /// One with a thread of their own, and more configuration of Codex's for it.
    pub async fn a_person_apart(&self, config: Value) -> Person {
        let mut other = Person::at(&self.socket()).await;
        other.opens_a_thread_with(self.fixture.repository.path(), config).await;
        other
    }

    pub fn another_rawr(&self) -> Child {
        attach(&self.fixture, &self.folder, "second", &[])
    }

    /// One whose words are for a person; see [`Self::other_tells`].
    pub fn another_rawr_in_words(&self, options: &[&str]) -> Child {
        start(&self.fixture, &self.folder, "second", options)
    }

    /// Waits until the other rawr has told this.
    pub async fn other_tells(&self, words: &str) {
        let told = || std::fs::read_to_string(self.folder.path().join("second")).unwrap();
        for _ in 0..600 {
            if told().contains(words) {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("{words} is not in {}", told())
    }

    /// rawr goes.
    pub fn leave(&mut self) {
        kill_process(Pid::from_child(&self.rawr), Signal::TERM).unwrap();
        self.rawr.wait().unwrap();
    }

    pub fn attach_again(&mut self) {
        self.attach_with(&[]);
    }

    pub fn attach_with(&mut self, options: &[&str]) {
        self.rawr = attach(&self.fixture, &self.folder, "told", options);
    }

    /// By another socket than that of the app-server.
    pub fn attach_through(&mut self, socket: &Path) {
        self.rawr = start_at(socket, &self.fixture, &self.folder, "told", &["--json"]);
    }

    /// A new one; the person takes the thread up there.
    pub async fn restart_the_server(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        drop(std::fs::remove_file(self.socket()));
        self.server = start_server(&self.fixture, &self.socket());
        let thread_id = self.person.thread_id.clone();
        self.person = until_it_listens(&self.socket()).await;
        self.person.joins(&thread_id).await;
    }

    pub fn told(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("told")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub fn dump(&self) -> String {
        let told: Vec<_> = self.told().iter().map(brief).collect();
        let errors = std::fs::read_to_string(self.folder.path().join("errors")).unwrap_or_default();
        format!("{}\n{errors}", told.join("\n"))
    }

    /// Waits until rawr tells something of this kind.
    pub async fn tells(&self, event: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let found = || self.told().into_iter().find(|told| told["event"] == event && fits(told));
        for _ in 0..1200 {
            if let Some(found) = found() {
                return found;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("{event} never came:\n{}", self.dump())
    }

    /// Waits until the model was asked by this.
    pub async fn model_is_asked(&self, marker: &str) {
        let asks = || {
            self.fixture.requests().iter().any(|request| match marker {
                "compaction" => request.purpose != RequestPurpose::Turn,
                marker => request.marker.as_deref() == Some(marker),
            })
        };
        for _ in 0..1200 {
            if asks() {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("the model was never asked by {marker}:\n{}", self.dump())
    }

    /// One more turn, so that the model is sent all of it: what stands there of the person's words and the handoff.
    pub async fn said_in_the_end(&mut self) -> Vec<&'static str> {
        self.person.says_as_soon_as_possible("LAST-WORD").await;
        self.person.hears("the end").await;
        let last = self.fixture.requests().pop().unwrap();
        // A handoff may quote the others.
        let words = [HANDOFF, "WRITE-PARSER", "AND-NOW", "AND-THEN", "LAST-WORD"];
        let said = last.user_messages();
        let found =
            said.iter().filter_map(|text| words.into_iter().find(|word| text.contains(word)));
        found.map(|word| if word == HANDOFF { "HANDOFF" } else { word }).collect()
    }

    /// Everything once and in order.
    pub async fn check(&mut self, expected: &[&str]) {
        assert_eq!(self.said_in_the_end().await, expected, "{}", self.dump());
    }

    pub fn compacted(&self, times: usize) {
        assert_eq!(self.fixture.compactions(), times, "{}", self.dump());
    }
}

pub fn start_server(fixture: &LiveFixture, socket: &Path) -> Child {
    let mut command = Command::new(binary());
    fixture.in_place(&mut command);
    let listen = format!("unix://{}", socket.display());
    command.args(["app-server", "--listen", &listen]).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

pub async fn until_it_listens(socket: &Path) -> Person {
    for _ in 0..1200 {
        if UnixStream::connect(socket).await.is_ok() {
            return Person::at(socket).await;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("{} never listened", socket.display())
}

/// What it tells goes into a file of this name.
fn attach(fixture: &LiveFixture, folder: &TempDir, told: &str, options: &[&str]) -> Child {
    start(fixture, folder, told, &[&["--json"], options].concat())
}

fn start(fixture: &LiveFixture, folder: &TempDir, told: &str, options: &[&str]) -> Child {
    start_at(&folder.path().join("codex.sock"), fixture, folder, told, options)
}

fn start_at(
    socket: &Path,
    fixture: &LiveFixture,
    folder: &TempDir,
    told: &str,
    options: &[&str],
) -> Child {
    let file = |name: &str| std::fs::File::create(folder.path().join(name)).unwrap();
    let mut command = Command::new(rawr());
    fixture.in_place(&mut command);
    command.args(["attach", "--socket"]).arg(socket);
    command.args(options);
    command.stdin(Stdio::null()).stdout(file(told)).stderr(file("errors")).spawn().unwrap()
}
