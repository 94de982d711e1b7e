//! Three real sidecars on one home, a host and two editors, and SIGKILL to any of the three at random times: every
//! answered request is in the log, nothing is done twice, every message is delivered once and in order.
//!
//! `RAWR_KILLS` sets the number of kills (a few hundred by default), `RAWR_KILLS_SEED` the random seed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod log;
mod random;
mod session;

use session::KillSession;

const KILLS: u64 = 300;
/// A longer log shows nothing new.
const KILLS_OF_A_SESSION: u64 = 30;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

// rule: recovery.nothing-twice
#[test]
fn kills_at_any_time_lose_nothing_and_repeat_nothing() {
    let kills = number("RAWR_KILLS").unwrap_or(KILLS);
    let first = number("RAWR_KILLS_SEED").unwrap_or(1);
    let mut told = session::SessionReport::default();
    for seed in first..first + kills.div_ceil(KILLS_OF_A_SESSION) {
        let mut session = KillSession::new(seed);
        for _ in 0..KILLS_OF_A_SESSION {
            session.round();
        }
        told += session.end();
    }
    println!("{told}");
    assert!(told.compactions > 0 && told.messages > 0, "{told}");
}
