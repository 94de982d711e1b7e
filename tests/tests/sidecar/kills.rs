//! Three real sidecars on one home, a host and two people at editors, and SIGKILL at any moment to any of the three, again
//! and again: what was answered is in the log, nothing is done twice, every message arrives once and in order.
//!
//! `RAWR_KILLS` says how many kills (a few hundred by default), `RAWR_KILLS_SEED` where the dice begin.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod log;
mod random;
mod session;

use session::Session;

const KILLS: u64 = 300;
/// A log that grows for ever shows nothing new.
const KILLS_OF_A_SESSION: u64 = 30;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn nothing_is_lost_and_nothing_done_twice_whenever_a_process_dies() {
    let kills = number("RAWR_KILLS").unwrap_or(KILLS);
    let first = number("RAWR_KILLS_SEED").unwrap_or(1);
    let mut told = session::Told::default();
    for seed in first..first + kills.div_ceil(KILLS_OF_A_SESSION) {
        let mut session = Session::new(seed);
        for _ in 0..KILLS_OF_A_SESSION {
            session.round();
        }
        told += session.end();
    }
    println!("{told}");
    assert!(told.compactions > 0 && told.messages > 0, "{told}");
}
