//! What the framing must hold. Every case is read whole and byte by byte: the answer may not depend on the pipe.

use super::{BODY_LIMIT, Frame, Framing, FramingError, HEADER_LIMIT};
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use tokio_util::codec::{Decoder, Encoder};

const LIMIT: u64 = 100;

fn read(
    limit: u64,
    chunks: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> (Vec<Frame>, Option<FramingError>) {
    let (mut framing, mut buffer, mut frames) =
        (Framing::with_body_limit(limit), BytesMut::new(), Vec::new());
    let mut take_all = |end: bool, buffer: &mut BytesMut| {
        loop {
            match if end { framing.decode_eof(buffer) } else { framing.decode(buffer) } {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => return None,
                Err(error) => return Some(error),
            }
        }
    };
    for chunk in chunks {
        buffer.extend_from_slice(chunk.as_ref());
        if let Some(error) = take_all(false, &mut buffer) {
            return (frames, Some(error));
        }
    }
    let error = take_all(true, &mut buffer);
    (frames, error)
}

/// One line a frame, then the error or `end`.
fn check(input: &str, expected: &[&str]) {
    let bytes: Vec<[u8; 1]> = input.bytes().map(|byte| [byte]).collect();
    for (frames, error) in [read(LIMIT, [input]), read(LIMIT, bytes)] {
        let mut found: Vec<String> = frames.iter().map(show).collect();
        found.push(error.map_or("end".to_owned(), |error| error.to_string()));
        assert_eq!(found, expected, "{input:?}");
    }
}

fn show(frame: &Frame) -> String {
    match frame {
        Frame::Message(body) => String::from_utf8_lossy(body).into_owned(),
        Frame::TooLarge { length } => format!("too large: {length}"),
    }
}

#[test]
fn messages_follow_each_other_without_a_gap() {
    check("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", &["{}", "[1]", "end"]);
}

#[test]
fn a_body_may_be_empty() {
    check("Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", &["", "{}", "end"]);
}

#[test]
fn length_counts_bytes() {
    check("Content-Length: 4\r\n\r\n\"ä\"", &["\"ä\"", "end"]);
}

#[test]
fn header_names_have_no_case_and_no_order() {
    let kind = "Content-Type: application/vscode-jsonrpc; charset=utf-8";
    check(&format!("content-length: 2\r\n{kind}\r\n\r\n{{}}"), &["{}", "end"]);
    check(&format!("{kind}\r\nCONTENT-LENGTH:2\r\n\r\n{{}}"), &["{}", "end"]);
}

#[test]
fn unknown_headers_are_ignored() {
    check("X-Trace: a:b\r\nContent-Length: 2\r\n\r\n{}", &["{}", "end"]);
}

#[test]
fn bare_line_feeds_and_blank_lines_between_messages_are_tolerated() {
    check("Content-Length: 2 \n\n{}\r\n\nContent-Length: 2\r\n\r\n{}\r\n", &["{}", "{}", "end"]);
}

#[test]
fn an_oversized_body_is_skipped_and_reported() {
    let long = "x".repeat(101);
    check(
        &format!("Content-Length: 101\r\n\r\n{long}Content-Length: 2\r\n\r\n{{}}"),
        &["too large: 101", "{}", "end"],
    );
    let full = "x".repeat(100);
    check(&format!("Content-Length: 100\r\n\r\n{full}"), &[&full, "end"]);
}

#[test]
fn a_length_beyond_all_memory_takes_none() {
    let mut framing = Framing::new();
    let mut buffer = BytesMut::from("Content-Length: 18446744073709551615\r\n\r\n");
    assert!(matches!(framing.decode(&mut buffer), Ok(Some(Frame::TooLarge { length: u64::MAX }))));

    let mut buffer = BytesMut::from(format!("Content-Length: {BODY_LIMIT}\r\n\r\n{{").as_str());
    assert!(matches!(Framing::new().decode(&mut buffer), Ok(None)));
    assert!(buffer.capacity() < BODY_LIMIT as usize / 8, "{}", buffer.capacity());
}

#[test]
fn the_end_of_input_between_messages_is_clean() {
    check("", &["end"]);
    check("\r\n", &["end"]);
}

#[test]
fn the_end_of_input_inside_a_message_is_an_error() {
    check("Content-Le", &["the input ended inside a header"]);
    check("Content-Length: 2\r\n", &["the input ended inside a header"]);
    check("Content-Length: 9\r\n\r\n{}", &["the input ended 7 bytes before the end of a message"]);
    check(
        "Content-Length: 200\r\n\r\n{}",
        &["too large: 200", "the input ended 198 bytes before the end of a message"],
    );
}

#[test]
fn malformed_headers_are_named() {
    let not_a_header =
        |found| format!("expected a header such as `Content-Length: 42`, found `{found}`");
    check("nonsense\r\n\r\n", &[&not_a_header("nonsense")]);
    check("a b: 1\r\n\r\n", &[&not_a_header("a b: 1")]);
    check("X: 1\r\n\r\n", &["the header has no Content-Length"]);
    for value in ["", "-1", "+1", "1 2", "0x1", "18446744073709551616"] {
        let told = format!("the value of Content-Length is not a number of bytes: `{value}`");
        check(&format!("Content-Length: {value}\r\n\r\n"), &[&told]);
    }
    check(
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        &["the header gives two lengths, 1 and 2"],
    );
    check("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", &["{}", "end"]);
}

#[test]
fn bare_json_is_reported_before_its_line_ends() {
    let (frames, error) = read(LIMIT, ["{\"jsonrpc\":\"2.0\""]);
    assert!(frames.is_empty());
    assert!(matches!(error, Some(FramingError::NotAHeader { .. })), "{error:?}");
}

#[test]
fn a_header_has_an_end() {
    let told = format!("the header is longer than {HEADER_LIMIT} bytes");
    check(&format!("X: {}", "x".repeat(HEADER_LIMIT)), &[&told]);
    check(&"X: y\r\n".repeat(HEADER_LIMIT / 6 + 1), &[&told]);
    let fits = format!("X: {}\r\nContent-Length: 2\r\n\r\n{{}}", "x".repeat(HEADER_LIMIT - 26));
    check(&fits, &["{}", "end"]);
}

// rule: client.json-rpc
#[test]
fn writing_gives_the_plain_header() {
    let mut out = BytesMut::new();
    for body in ["", "{}", "0123456789"] {
        assert!(Framing::new().encode(body, &mut out).is_ok());
    }
    assert_eq!(
        out,
        "Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}Content-Length: 10\r\n\r\n0123456789",
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_however_the_pipe_cuts_it(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..150), 0..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut out = BytesMut::new();
        for body in &bodies {
            prop_assert!(Framing::new().encode(body, &mut out).is_ok());
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(out.len() + 1)).collect();
        cuts.extend([0, out.len()]);
        cuts.sort_unstable();
        let (frames, error) = read(LIMIT, cuts.windows(2).map(|pair| &out[pair[0]..pair[1]]));

        let expected: Vec<Frame> = bodies.into_iter().map(|body| match body.len() as u64 {
            length if length > LIMIT => Frame::TooLarge { length },
            _ => Frame::Message(Bytes::from(body)),
        }).collect();
        prop_assert!(error.is_none(), "{error:?}");
        prop_assert_eq!(frames, expected);
    }

    #[test]
    fn no_input_panics(input in prop::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>()) {
        let (start, end) = input.split_at(at.index(input.len() + 1));
        read(LIMIT, [start, end]);
    }
}
