//! Tests with random input and chunk sizes: every byte passes in order, and messages that start a turn are found.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const GREETING: &[u8] = b"GET /rpc HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n";

/// A frame as a client sends it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..126 => bytes.push(0x80 | u8::try_from(length).unwrap()),
        length @ 126..0x1_0000 => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        length => {
            bytes.push(0x80 | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    let mask = [0x17, 0xf3, 0x00, 0x9a];
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

fn text(message: &str) -> Vec<u8> {
    frame(0x81, message.as_bytes())
}

fn says(words: &str) -> String {
    let input = json!([{"type": "text", "text": words}]);
    json!({"id": 1, "method": "turn/start", "params": {"threadId": "t", "input": input}})
        .to_string()
}

fn question(words: &str) -> PreflightQuestion {
    PreflightQuestion { thread_id: "t".to_owned(), text: words.to_owned() }
}

/// The output for these chunks, including the rest at the end.
fn pass<'c>(
    chunks: impl IntoIterator<Item = &'c [u8]>,
    welcome: HandshakeAnswer,
) -> Vec<RelayChunk> {
    pass_by(RelayBuffer::default(), chunks, welcome)
}

fn pass_by<'c>(
    mut passage: RelayBuffer,
    chunks: impl IntoIterator<Item = &'c [u8]>,
    welcome: HandshakeAnswer,
) -> Vec<RelayChunk> {
    let mut pieces: Vec<_> =
        chunks.into_iter().flat_map(|chunk| passage.take(chunk, welcome)).collect();
    pieces.extend(passage.rest().map(|bytes| RelayChunk { bytes, turn: ChunkTiming::AtOnce }));
    pieces
}

fn bytes_of(pieces: &[RelayChunk]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.bytes.clone()).collect()
}

fn questions_of(pieces: &[RelayChunk]) -> Vec<(Vec<u8>, PreflightQuestion)> {
    let asked = |piece: &RelayChunk| match &piece.turn {
        ChunkTiming::Asks(question) => Some((piece.bytes.clone(), question.clone())),
        ChunkTiming::AtOnce | ChunkTiming::Unseen => None,
    };
    pieces.iter().filter_map(asked).collect()
}

/// The handshake, then these frames.
fn stream(frames: &[Vec<u8>]) -> Vec<u8> {
    [GREETING.to_vec(), frames.concat()].concat()
}

fn questions(frames: &[Vec<u8>]) -> Vec<PreflightQuestion> {
    let stream = stream(frames);
    let pieces = pass([stream.as_slice()], HandshakeAnswer::Plain);
    assert_eq!(bytes_of(&pieces), stream);
    questions_of(&pieces).into_iter().map(|(_, question)| question).collect()
}

#[test]
fn only_messages_that_start_a_turn_are_questions() {
    let other = text(r#"{"id": 2, "method": "turn/interrupt", "params": {"threadId": "t"}}"#);
    let frames = [text(&says("one")), other, frame(0x89, b"ping"), text(&says("two"))];
    assert_eq!(questions(&frames), [question("one"), question("two")]);
}

#[test]
fn a_fragmented_message_is_assembled() {
    let message = says("one");
    let (begin, end) = message.as_bytes().split_at(30);
    let fragments = [frame(0x01, begin), frame(0x00, b""), frame(0x80, end)];
    assert_eq!(questions(&fragments), [question("one")]);
}

#[test]
fn a_ping_inside_a_message_is_not_held() {
    let message = says("one");
    let (begin, end) = message.as_bytes().split_at(30);
    let frames = [frame(0x01, begin), frame(0x89, b"?"), frame(0x80, end), text(&says("two"))];
    assert_eq!(questions(&frames), [question("two")]);
}

#[test]
fn long_messages_are_understood() {
    let words = "x".repeat(70_000);
    assert_eq!(questions(&[text(&says(&words[..300])), text(&says(&words))]).len(), 2);
}

#[test]
fn after_an_unknown_frame_everything_passes() {
    let unmasked = vec![0x81, 0x00];
    let compressed = frame(0xc1, b"x");
    let of_another_kind = frame(0x83, b"x");
    let a_second_beginning = [frame(0x01, b"x"), frame(0x81, b"y")].concat();
    let an_end_of_nothing = frame(0x80, b"x");
    let a_long_ping = frame(0x89, &[0; 126]);
    let without_end = [vec![0x81, 0xff], u64::MAX.to_be_bytes().to_vec()].concat();
    for foreign in [
        unmasked,
        compressed,
        of_another_kind,
        a_second_beginning,
        an_end_of_nothing,
        a_long_ping,
        without_end,
    ] {
        let frames = [text(&says("one")), foreign, text(&says("two"))];
        assert_eq!(questions(&frames), [question("one")]);
    }
}

#[test]
fn with_extensions_everything_passes() {
    let stream = stream(&[text(&says("one"))]);
    let pieces = pass([stream.as_slice()], HandshakeAnswer::Other);
    assert_eq!(bytes_of(&pieces), stream);
    assert_eq!(questions_of(&pieces), []);
}

#[test]
fn a_welcome_without_extensions_is_plain() {
    let plain = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n";
    assert!(units::is_plain_welcome(plain.as_bytes()));
    for more in [
        "Sec-WebSocket-Extensions: permessage-deflate",
        "x-codex-app-server-compression: zstd-stream-v1",
    ] {
        assert!(!units::is_plain_welcome(format!("{plain}{more}\r\n\r\n").as_bytes()), "{more}");
    }
    assert!(!units::is_plain_welcome(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
}

/// Random frames, including invalid ones.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[a-z ]{0,40}".prop_map(|words| text(&says(&words))),
        2 => vec(any::<u8>(), 0..200).prop_map(|payload| frame(0x82, &payload)),
        2 => vec(any::<u8>(), 0..60).prop_map(|payload| frame(0x89, &payload)),
        1 => "[a-z]{0,300}".prop_map(|words| {
            let message = says(&words);
            let (begin, end) = message.as_bytes().split_at(message.len() / 2);
            [frame(0x01, begin), frame(0x8a, b"pong"), frame(0x80, end)].concat()
        }),
        1 => vec(any::<u8>(), 1..40),
    ]
}

/// Splits the bytes into chunks with these repeating sizes.
fn chunks<'b>(bytes: &'b [u8], sizes: &[usize]) -> Vec<&'b [u8]> {
    let (mut rest, mut cut) = (bytes, Vec::new());
    let mut sizes = sizes.iter().copied().cycle();
    while let Some(size) = sizes.next().filter(|_| !rest.is_empty()) {
        let (chunk, more) = rest.split_at(size.min(rest.len()));
        cut.push(chunk);
        rest = more;
    }
    cut
}

proptest! {
    // Each case takes a second, so there are few of them.
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 0, ..ProptestConfig::default() })]

    /// An oversized message, such as a pasted image, is not buffered, in one frame or in several.
    #[test]
    fn behind_a_message_that_is_too_large_the_next_one_is_asked_about(
        sizes in vec(1_usize..100_000, 1..40),
        is_in_fragments: bool,
    ) {
        let large = says(&"x".repeat(17 << 20));
        let (begin, end) = large.as_bytes().split_at(9 << 20);
        let large = match is_in_fragments {
            true => [frame(0x01, begin), frame(0x89, b"?"), frame(0x80, end)].concat(),
            false => text(&large),
        };
        let stream = stream(&[text(&says("one")), large, text(&says("two"))]);
        let (mut passage, mut pieces) = (RelayBuffer::default(), Vec::new());
        for chunk in chunks(&stream, &sizes) {
            pieces.extend(passage.take(chunk, HandshakeAnswer::Plain));
            prop_assert!(passage.waiting.len() <= units::LARGEST);
        }
        prop_assert!(bytes_of(&pieces) == stream);
        let questions: Vec<_> = questions_of(&pieces).into_iter().map(|(_, it)| it).collect();
        prop_assert_eq!(questions, [question("one"), question("two")]);
    }
}

proptest! {
    #[test]
    fn all_of_it_goes_on_in_any_chunks(
        frames in vec(any_frame(), 0..12),
        sizes in vec(1_usize..200, 1..8),
        is_plain: bool,
        largest in 20_usize..600,
    ) {
        let welcome = if is_plain { HandshakeAnswer::Plain } else { HandshakeAnswer::Other };
        let stream = stream(&frames);
        let whole = pass_by(RelayBuffer::up_to(largest), [stream.as_slice()], welcome);
        let cut = pass_by(RelayBuffer::up_to(largest), chunks(&stream, &sizes), welcome);
        prop_assert_eq!(bytes_of(&whole), stream.clone());
        prop_assert_eq!(bytes_of(&cut), stream);
        prop_assert_eq!(questions_of(&cut), questions_of(&whole));
    }

    #[test]
    fn garbage_goes_on_in_any_chunks(
        bytes in vec(any::<u8>(), 0..2000),
        sizes in vec(1_usize..200, 1..8),
    ) {
        prop_assert_eq!(bytes_of(&pass(chunks(&bytes, &sizes), HandshakeAnswer::Plain)), bytes);
    }
}
