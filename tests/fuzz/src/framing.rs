//! Frames: however the bytes are cut on their way, the same messages come out, and what came out can be framed again.

use bytes::BytesMut;
use rawr_protocol::framing::{Frame, Framing, FramingError};
use tokio_util::codec::{Decoder, Encoder};

/// Small, so that little input is enough to go over it.
const BODY_LIMIT: u64 = 512;

/// The first byte says how the rest is cut.
pub fn run(data: &[u8]) {
    let Some((step, bytes)) = data.split_first() else { return };
    let (frames, error) = read([bytes]);
    let (in_pieces, in_pieces_error) = read(bytes.chunks(usize::from(*step).max(1)));
    assert_eq!(frames, in_pieces, "cut into pieces of {step}");
    // Where a header is too long and none at all, the cut decides which of it is seen first.
    assert_eq!(error.is_some(), in_pieces_error.is_some(), "{error:?} and {in_pieces_error:?}");
    let mut again = BytesMut::new();
    let mut messages = Vec::new();
    for frame in frames {
        match frame {
            Frame::Message(body) => {
                assert!(body.len() as u64 <= BODY_LIMIT);
                Framing::new().encode(&body, &mut again).unwrap();
                messages.push(Frame::Message(body));
            }
            Frame::TooLarge { length } => assert!(length > BODY_LIMIT),
        }
    }
    let (read_again, error) = read([&again[..]]);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(read_again, messages, "framed again");
}

fn read<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Frame>, Option<FramingError>) {
    let mut framing = Framing::with_body_limit(BODY_LIMIT);
    let (mut buffer, mut frames) = (BytesMut::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match framing.decode(&mut buffer) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    loop {
        match framing.decode_eof(&mut buffer) {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error)),
        }
    }
}
