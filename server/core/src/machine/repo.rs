//! What a look at the repository tells that nobody has signaled: a commit by whatever hand, another branch.

use crate::event::{BranchChanged, CommitMade, Event, RepoObserved};
use crate::thread::Thread;

/// The first look has nothing to compare with. A commit that was told of already is not told of again: the next move of
/// HEAD is taken for that commit, so a second one in between goes unheard rather than one counting twice. One that is
/// found while a sequence runs ends the work that is being carried over, and is no reason for the next compaction.
pub fn news(thread: &Thread, seen: &RepoObserved) -> Vec<Event> {
    let known = &thread.known;
    let Some(before) = &known.repo else { return Vec::new() };
    let branch = seen.repo.branch.clone().filter(|branch| known.branch.as_ref() != Some(branch));
    let switched = branch.map(|branch| BranchChanged { branch }.into());
    let moved = before.head != seen.repo.head;
    let is_news = moved && !known.commit_told && thread.sequence.is_none();
    let subject = seen.committed.clone().filter(|_| is_news);
    let hash = seen.repo.head.clone();
    let committed = subject.map(|subject| {
        CommitMade { turn: None, signal: None, hash, subject: Some(subject) }.into()
    });
    switched.into_iter().chain(committed).collect()
}
