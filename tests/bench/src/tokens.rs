//! Exact token counts measured inside this process, compared with another implementation and with counting each piece
//! of a growing text separately.

use std::{thread, time::Instant};

use anyhow::{Result, anyhow, ensure};
use rawr_server::tokens::{TokenCounter, TokenEncoding};

use crate::report::{Cells, EXACT, OTHER_TOKENIZER, PIECES};

/// What an agent reads: prose, source code, data.
const TEXT: [&str; 9] = [
    include_str!("../README.md"),
    include_str!("../../../README.md"),
    include_str!("../../../ARCHITECTURE.md"),
    include_str!("../../../protocol-schema/src/framing.rs"),
    include_str!("../../../server/src/connection.rs"),
    include_str!("../../../server/src/registry.rs"),
    include_str!("../../../server/core/src/machine.rs"),
    include_str!("../../../editor-clients/host/src/drive.rs"),
    include_str!("../../../Cargo.lock"),
];
const ENCODING: TokenEncoding = TokenEncoding::O200kBase;
/// A sentence or a few lines.
const APPENDED: usize = 400;

pub const COUNT: &[&str] = &[OTHER_TOKENIZER, EXACT];

/// Counts the text for the first time, without any cache of earlier counts.
pub fn count(texts: usize) -> Result<Vec<Cells>> {
    let text = TEXT[..texts.min(TEXT.len())].concat();
    let other = tiktoken_rs::o200k_base_singleton();
    // The vocabularies are read before anything is timed.
    let (warm, expected) = (exact("hello"), other.count_ordinary("hello"));
    ensure!(warm == expected as u64, "{warm} tokens instead of {expected}");
    let (expected, slow) = on_a_new_thread(|| other.count_ordinary(&text) as u64)?;
    let (found, fast) = on_a_new_thread(|| exact(&text))?;
    ensure!(found == expected, "{found} tokens instead of {expected}");
    let rate = |seconds: f64| vec![("mbPerS", text.len() as f64 / 1e6 / seconds)];
    Ok(vec![rate(slow), rate(fast)])
}

pub const GROW: &[&str] = &[PIECES, EXACT];

/// Appends the text bit by bit and wants the count after each: the bits counted alone, which is wrong at their seams,
/// and
/// the exact count.
pub fn grow(texts: usize) -> Result<Vec<Cells>> {
    let text = TEXT[..texts.min(TEXT.len())].concat();
    let bits = bits(&text);
    exact("hello");
    let (_, alone) = on_a_new_thread(|| bits.iter().map(|bit| exact(bit)).sum::<u64>())?;
    let (found, growing) = on_a_new_thread(|| {
        let mut counter = TokenCounter::new(ENCODING);
        bits.iter().fold(0, |_, bit| {
            counter.push(bit);
            counter.tokens()
        })
    })?;
    let expected = exact(&text);
    ensure!(found == expected, "{found} tokens instead of {expected}");
    let each = |seconds: f64| vec![("meanUs", seconds * 1e6 / bits.len() as f64)];
    Ok(vec![each(alone), each(growing)])
}

fn exact(text: &str) -> u64 {
    let mut counter = TokenCounter::new(ENCODING);
    counter.push(text);
    counter.tokens()
}

fn bits(text: &str) -> Vec<&str> {
    let mut bits = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let to = (APPENDED..rest.len()).find(|at| rest.is_char_boundary(*at));
        let (bit, next) = rest.split_at(to.unwrap_or(rest.len()));
        bits.push(bit);
        rest = next;
    }
    bits
}

/// The result, and the seconds that it took.
fn on_a_new_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<(T, f64)> {
    let timed = || {
        let start = Instant::now();
        (work(), start.elapsed().as_secs_f64())
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, timed)?;
        thread.join().map_err(|_| anyhow!("the count panicked"))
    })
}
