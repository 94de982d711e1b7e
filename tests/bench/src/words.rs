//! What it costs to hear an agent's report of 2 kB and the person's message after it, beside putting the report's words into
//! lowercase, which is the least that any lookup of phrases does.

use std::{hint::black_box, time::Instant};

use anyhow::Result;
use rawr_core::words::{WorkAtHand, claim, next};

use crate::report::{Cells, LOWERCASE};

const REPORT: &str = include_str!("../data/report-of-an-agent.md");
const ASKED: &str = "Move the session store behind a trait, please, and look at why sessions live for a day too long.";
const NEXT: &str = "Looks good. But `is_expired` in src/session/store.rs still reads the clock twice, doesn't it? \
                    Fix that first, then commit and push.";

pub const HEAR: &[&str] = &[LOWERCASE, "claim", "work at hand", "next message"];

/// The mean over many messages, each.
pub fn read(messages: u64) -> Result<Vec<Cells>> {
    let work = WorkAtHand::new(&[ASKED], REPORT);
    let each = |run: &dyn Fn()| {
        let start = Instant::now();
        (0..messages).for_each(|_| run());
        vec![("meanUs", start.elapsed().as_secs_f64() * 1e6 / messages as f64)]
    };
    Ok(vec![
        each(&|| {
            let words = black_box(REPORT).split_whitespace().map(str::to_lowercase);
            black_box(words.collect::<Vec<_>>());
        }),
        each(&|| drop(black_box(claim::of(black_box(REPORT))))),
        each(&|| drop(black_box(WorkAtHand::new(&[ASKED], black_box(REPORT))))),
        each(&|| drop(black_box(next::of(black_box(NEXT), &work)))),
    ])
}
