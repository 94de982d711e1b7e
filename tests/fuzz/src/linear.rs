//! What long text costs: twice as much of the same piece may cost twice the steps, and a bounded part more.

use rawr_core::steps;

/// Bytes in the longer of the two texts, approximately.
const LONG: usize = 10_000;
/// What the first bytes cost more than the others.
const START: usize = 2048;

/// Runs the work on a text made of the piece again and again, and on one twice as long.
pub fn check(piece: &str, work: impl Fn(&str)) {
    if piece.is_empty() {
        return;
    }
    let times = (LONG / 2).div_ceil(piece.len());
    let cost = |times: usize| {
        let text = piece.repeat(times);
        steps::take();
        work(&text);
        (steps::take(), text.len())
    };
    let (once, _) = cost(times);
    let (twice, length) = cost(times * 2);
    assert!(
        twice <= once * 2 + once / 4 + START,
        "{length} bytes of {:?} cost {twice} steps, half of them {once}",
        piece.get(..200).unwrap_or(piece)
    );
}
