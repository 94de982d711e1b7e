//! Parts that several topics share: a running host.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use rawr_tests::{StandIn, TestHome, TestSidecar};

/// A running host with its own sidecar.
pub struct RunningHost {
    pub sidecar: TestSidecar,
    pub host: StandIn,
}

impl RunningHost {
    pub fn on(home: &TestHome, thread: &str) -> Self {
        Self::after(home, thread, 0)
    }

    /// A host that resumes a conversation with this many turns.
    pub fn after(home: &TestHome, thread: &str, turns: u32) -> Self {
        let (mut sidecar, mut host) = (TestSidecar::start(home), StandIn::new(thread));
        host.turns = turns;
        assert!(host.open(home, &mut sidecar));
        Self { sidecar, host }
    }

    pub fn turn(&mut self) {
        self.host.user_turn();
        assert!(self.host.run(&mut self.sidecar));
    }

    pub fn turn_with_boundaries(&mut self) {
        self.host.user_turn_with_boundaries();
        assert!(self.host.run(&mut self.sidecar));
    }

    pub fn owner(&self) -> String {
        format!("test for stand-in (process {})", self.sidecar.process_id())
    }

    pub fn last_reason(&self) -> String {
        self.host.verdicts.last().unwrap()["reason"].as_str().unwrap().to_owned()
    }

    /// Stops the sidecar. Notifications about other clients' requests may still arrive.
    pub fn leave(mut self) {
        self.sidecar.allow_news_of_others();
        self.sidecar.discard_and_leave();
    }
}
