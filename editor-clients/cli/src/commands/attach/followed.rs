//! The threads that `rawr attach` follows: one session at a time for each.

use std::collections::HashSet;

/// The threads that are followed. After a restart of the server a thread is found again, perhaps before its session with the
/// old server has ended.
#[derive(Debug, Default)]
pub(super) struct FollowedThreads {
    now: HashSet<String>,
    again: HashSet<String>,
}

impl FollowedThreads {
    /// Whether to start a session. If one is running, another one follows it.
    pub(super) fn starts(&mut self, thread_id: &str) -> bool {
        let is_new = self.now.insert(thread_id.to_owned());
        if !is_new {
            self.again.insert(thread_id.to_owned());
        }
        is_new
    }

    /// A session ended. Whether to start another one.
    pub(super) fn ended(&mut self, thread_id: &str) -> bool {
        let again = self.again.remove(thread_id);
        if !again {
            self.now.remove(thread_id);
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_found_twice_is_followed_again_after_its_session() {
        let mut followed = FollowedThreads::default();
        assert!(followed.starts("t"));
        assert!(!followed.starts("t"));
        assert!(followed.ended("t"), "a second session");
        assert!(!followed.ended("t"));
        assert!(followed.starts("t"));
    }
}
