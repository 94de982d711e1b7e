//! Reads framed messages strictly: any deviation from the framing fails the test.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::Sender;

/// Reads until the stream ends or the receiver is dropped. An incomplete last message is ignored.
pub fn read_all(stream: impl Read, listener: &Sender<Value>) {
    let mut stream = BufReader::new(stream);
    while let Some(message) = read_one(&mut stream) {
        if listener.send(message).is_err() {
            return;
        }
    }
}

fn read_one(stream: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    stream.read_line(&mut header).ok()?;
    let length = header.strip_prefix("Content-Length: ")?.strip_suffix("\r\n")?.parse().ok()?;
    let mut blank = String::new();
    stream.read_line(&mut blank).ok()?;
    if blank != "\r\n" {
        return None;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
