//! Tests of the relay between a screen, an app-server that only listens, and a scripted driver.

use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::*;

const GREETING: &[u8] = b"GET /rpc HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n";
const WELCOME: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n";

struct RelayFixture {
    folder: TempDir,
    driver: Option<UnixListener>,
    screen: UnixStream,
    codex: UnixStream,
}

impl RelayFixture {
    /// Completes the handshake.
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let listen = |name: &str| UnixListener::bind(folder.path().join(name)).unwrap();
        let (codex, driver, listener) = (listen(CODEX), listen(DRIVER), listen(SCREEN));
        let path = folder.path().to_owned();
        tokio::spawn(async move { serve(listener, &path).await });
        let mut screen = UnixStream::connect(folder.path().join(SCREEN)).await.unwrap();
        let (mut codex, _) = codex.accept().await.unwrap();
        screen.write_all(GREETING).await.unwrap();
        assert_eq!(read(&mut codex, GREETING.len()).await, GREETING);
        codex.write_all(WELCOME).await.unwrap();
        assert_eq!(read(&mut screen, WELCOME.len()).await, WELCOME);
        Self { folder, driver: Some(driver), screen, codex }
    }

    async fn sends(&mut self, message: &str) {
        self.screen.write_all(&frame(message)).await.unwrap();
    }

    /// The next bytes that the app-server receives.
    async fn hears(&mut self, message: &str) {
        let expected = frame(message);
        assert_eq!(read(&mut self.codex, expected.len()).await, expected);
    }

    async fn is_asked(&self) -> Asked {
        let (stream, _) = self.driver.as_ref().unwrap().accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        Asked { question: serde_json::from_str(&line).unwrap(), stream }
    }
}

struct Asked {
    question: PreflightQuestion,
    stream: BufReader<UnixStream>,
}

impl Asked {
    async fn says(&mut self, word: PreflightReply) {
        let line = format!("{}\n", serde_json::to_string(&word).unwrap());
        self.stream.write_all(line.as_bytes()).await.unwrap();
    }
}

async fn read(stream: &mut UnixStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).await.unwrap();
    bytes
}

fn frame(message: &str) -> Vec<u8> {
    let mask = [1, 2, 3, 4];
    let mut bytes = vec![0x81, 0x80 | 127];
    bytes.extend((message.len() as u64).to_be_bytes());
    bytes.extend(mask);
    bytes.extend(message.bytes().zip(mask.into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

fn says(thread_id: &str, words: &str) -> String {
    let input = json!([{"type": "text", "text": words}]);
    let params = json!({"threadId": thread_id, "input": input});
    json!({"id": 1, "method": "turn/start", "params": params}).to_string()
}

const INTERRUPT: &str = r#"{"id": 2, "method": "turn/interrupt", "params": {"threadId": "t"}}"#;

#[tokio::test]
async fn other_messages_overtake_a_held_message_which_arrives_unchanged() {
    let mut lab = RelayFixture::new().await;
    lab.sends(&says("t", "one")).await;
    let mut asked = lab.is_asked().await;
    assert_eq!(
        asked.question,
        PreflightQuestion { thread_id: "t".to_owned(), text: "one".to_owned() }
    );
    asked.says(PreflightReply::Hold).await;
    lab.sends(INTERRUPT).await;
    lab.hears(INTERRUPT).await;
    asked.says(PreflightReply::Pass).await;
    lab.hears(&says("t", "one")).await;
}

#[tokio::test]
async fn messages_of_one_thread_stay_in_order_and_those_of_others_do_not_wait() {
    let mut lab = RelayFixture::new().await;
    lab.sends(&says("t", "one")).await;
    let mut first = lab.is_asked().await;
    first.says(PreflightReply::Hold).await;
    lab.sends(&says("t", "two")).await;
    lab.sends(&says("u", "other")).await;
    let mut other = lab.is_asked().await;
    assert_eq!(other.question.text, "other");
    other.says(PreflightReply::Pass).await;
    lab.hears(&says("u", "other")).await;
    first.says(PreflightReply::Pass).await;
    lab.hears(&says("t", "one")).await;
    let mut second = lab.is_asked().await;
    assert_eq!(second.question.text, "two");
    second.says(PreflightReply::Pass).await;
    lab.hears(&says("t", "two")).await;
}

#[tokio::test]
async fn without_a_driver_messages_pass() {
    let mut lab = RelayFixture::new().await;
    lab.driver = None;
    std::fs::remove_file(lab.folder.path().join(DRIVER)).unwrap();
    lab.sends(&says("t", "one")).await;
    lab.hears(&says("t", "one")).await;
}

#[tokio::test]
async fn a_driver_without_a_valid_reply_holds_nothing() {
    let mut lab = RelayFixture::new().await;
    lab.sends(&says("t", "silence")).await;
    let silent = lab.is_asked().await;
    lab.hears(&says("t", "silence")).await;
    drop(silent);
    lab.sends(&says("t", "an end")).await;
    let mut asked = lab.is_asked().await;
    asked.says(PreflightReply::Hold).await;
    drop(asked);
    lab.hears(&says("t", "an end")).await;
    lab.sends(&says("t", "a riddle")).await;
    let mut asked = lab.is_asked().await;
    asked.stream.write_all(b"perhaps\n").await.unwrap();
    lab.hears(&says("t", "a riddle")).await;
}

#[tokio::test]
async fn an_unknown_frame_releases_the_held_messages() {
    let mut lab = RelayFixture::new().await;
    lab.sends(&says("t", "one")).await;
    let mut asked = lab.is_asked().await;
    asked.says(PreflightReply::Hold).await;
    let foreign = [0xff, 0x00, 0x17];
    lab.screen.write_all(&foreign).await.unwrap();
    lab.hears(&says("t", "one")).await;
    assert_eq!(read(&mut lab.codex, foreign.len()).await, foreign);
    lab.sends(&says("t", "two")).await;
    lab.hears(&says("t", "two")).await;
}

/// An unknown frame cannot wait for a held message and must not overtake it.
#[tokio::test]
async fn a_message_after_an_oversized_one_is_held() {
    let mut lab = RelayFixture::new().await;
    lab.sends(&says("t", "one")).await;
    let mut asked = lab.is_asked().await;
    asked.says(PreflightReply::Hold).await;
    let large = says("t", &"x".repeat(17 << 20));
    let bytes = frame(&large);
    let RelayFixture { screen, codex, .. } = &mut lab;
    let heard = async {
        let one = frame(&says("t", "one"));
        assert_eq!(read(codex, one.len()).await, one);
        read(codex, bytes.len()).await
    };
    let (sent, heard) = tokio::join!(screen.write_all(&bytes), heard);
    sent.unwrap();
    assert!(heard == bytes);
    lab.sends(&says("t", "two")).await;
    let mut asked = lab.is_asked().await;
    assert_eq!(asked.question.text, "two");
    asked.says(PreflightReply::Hold).await;
    lab.sends(INTERRUPT).await;
    lab.hears(INTERRUPT).await;
    asked.says(PreflightReply::Pass).await;
    lab.hears(&says("t", "two")).await;
}

#[tokio::test]
async fn the_driver_is_told_when_the_screen_closes_over_a_held_message() {
    let lab = RelayFixture::new().await;
    let RelayFixture { folder, driver, mut screen, mut codex } = lab;
    screen.write_all(&frame(&says("t", "one"))).await.unwrap();
    let (stream, _) = driver.unwrap().accept().await.unwrap();
    let mut words = BufReader::new(stream).lines();
    assert!(words.next_line().await.unwrap().is_some());
    words.get_mut().write_all(b"\"hold\"\n").await.unwrap();
    drop(screen);
    let end = words.next_line().await.unwrap().unwrap();
    assert_eq!(end, r#""screen_closed""#);
    // A held message of a closed screen is dropped.
    let mut rest = Vec::new();
    codex.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
    drop(folder);
}

#[tokio::test]
async fn the_app_servers_bytes_are_forwarded_unchanged() {
    let RelayFixture { folder, mut codex, mut screen, .. } = RelayFixture::new().await;
    let said: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let (sent, heard) = tokio::join!(codex.write_all(&said), read(&mut screen, said.len()));
    sent.unwrap();
    assert_eq!(heard, said);
    drop(codex);
    assert_eq!(screen.read(&mut [0; 8]).await.unwrap(), 0);
    drop(folder);
}
