//! Runs the fuzz targets without a fuzzer: every file of their corpora, and mutations from a fixed seed. `cargo fuzz`
//! runs the same targets for longer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The factor by which the number of mutations is increased.
fn times() -> usize {
    std::env::var("RAWR_FUZZ_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

fn check(target: &str, run: fn(&[u8]), mutations: usize) {
    let corpus = corpus(target);
    assert!(!corpus.is_empty(), "no corpus of {target}");
    for (name, bytes) in &corpus {
        attempt(run, bytes, &format!("{target}/{name}"));
    }
    let seeds: Vec<_> = corpus.into_iter().map(|(_, bytes)| bytes).collect();
    let mut dice = SeededDice(0x5eed);
    for number in 0..mutations * times() {
        let bytes = dice.mutated(&seeds);
        attempt(run, &bytes, &format!("mutation {number} of {target}"));
    }
}

fn attempt(run: fn(&[u8]), bytes: &[u8], what: &str) {
    if catch_unwind(AssertUnwindSafe(|| run(bytes))).is_err() {
        panic!("{what} violates a property: b\"{}\"", bytes.escape_ascii());
    }
}

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let read = |entry: std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, std::fs::read(entry.path()).unwrap())
    };
    let mut files: Vec<_> = entries.map(read).collect();
    // Folders are listed in no order, but the mutations must be reproducible.
    files.sort();
    files
}

/// Gives the same sequence on every machine.
struct SeededDice(u64);

impl SeededDice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap()
    }

    fn mutated(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(4) {
            self.mutate(&mut bytes, seeds);
        }
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        const ODD: [&[u8]; 16] = [
            b"\0",
            b"\n",
            b"\r\n",
            b"\x1b[2J",
            b"\"",
            b"'",
            b"\\",
            b"{",
            b"}",
            b"[",
            b"---\n",
            b"&a *a",
            b"\xff",
            "\u{feff}".as_bytes(),
            "\u{1f980}".as_bytes(),
            b"18446744073709551616",
        ];
        let from = self.below(bytes.len());
        let to = from + self.below((bytes.len() - from).min(24) + 1);
        match self.below(6) {
            0 => drop(bytes.drain(from..to)),
            1 => bytes.truncate(from),
            2 => drop(bytes.splice(from..from, ODD[self.below(ODD.len())].iter().copied())),
            3 => {
                let again = bytes[from..to].to_vec();
                bytes.splice(to..to, again);
            }
            4 => {
                let other = &seeds[self.below(seeds.len())];
                let start = self.below(other.len());
                let end = start + self.below((other.len() - start).min(80) + 1);
                bytes.splice(from..to, other[start..end].iter().copied());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte ^= 1 << self.below(8);
                }
            }
        }
    }
}

#[test]
fn framing() {
    check("framing", targets::framing::run, 4_000);
}

#[test]
fn router() {
    check("router", targets::router::run, 60);
}

#[test]
fn front_matter() {
    check("front_matter", targets::front_matter::run, 3_000);
}

#[test]
fn placeholders() {
    check("placeholders", targets::placeholders::run, 4_000);
}

#[test]
fn config() {
    check("config", targets::config::run, 300);
}

#[test]
fn events() {
    check("events", targets::events::run, 1_500);
}

#[test]
fn command() {
    check("command", targets::command::run, 4_000);
}

#[test]
fn message() {
    check("message", targets::message::run, 1_000);
}

#[test]
fn redact() {
    check("redact", targets::redact::run, 4_000);
}
