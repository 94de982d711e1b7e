//! What an observation of the repository shows that was not signaled: a commit, another branch.

use crate::boundary::{Boundaries, Boundary};
use crate::event::{BranchChanged, CommitMade, Event, RepoObserved};
use crate::thread::Thread;

/// The events that follow from an observation. The first one has nothing to compare with. After a signaled commit, the
/// next move of HEAD is taken for that commit: a second commit in between is missed, but none counts twice. A commit
/// found while a sequence runs belongs to the work being carried over and is no reason for the next compaction.
pub fn news(thread: &Thread, seen: &RepoObserved) -> Vec<Event> {
    let known = &thread.known;
    let Some(before) = &known.repo else { return Vec::new() };
    let branch = seen.repo.branch.clone().filter(|branch| known.branch.as_ref() != Some(branch));
    let switched = branch.map(|branch| {
        let boundaries = switched(thread, &branch);
        BranchChanged { branch, boundaries }.into()
    });
    let moved = before.head != seen.repo.head;
    let is_news = moved && !known.commit_told && thread.sequence().is_none();
    let subject = seen.committed.clone().filter(|_| is_news);
    let hash = seen.repo.head.clone();
    let committed = subject.map(|subject| {
        CommitMade { turn: None, signal: None, hash, subject: Some(subject) }.into()
    });
    switched.into_iter().chain(committed).collect()
}

/// Another branch than the one that was known is a boundary, unless a sequence carries the work over.
pub fn switched(thread: &Thread, branch: &str) -> Boundaries {
    let before = thread.known.branch.as_deref();
    let is_news = before.is_some_and(|before| before != branch) && thread.sequence().is_none();
    [Boundary::BranchChanged].into_iter().filter(|_| is_news).collect()
}
