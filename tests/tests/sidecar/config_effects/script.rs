//! The steps of a case.

#[derive(Debug, Clone, Copy)]
pub enum CaseStep {
    /// A turn of the user with a commit, after which the context is so full that rawr compacts.
    Commit,
    /// The host performs the next pending action.
    Do,
    /// Another thread was last used this many days ago.
    Rested(u64),
    /// Waits for a sign, in these runs.
    Await(AwaitedSign, Runs),
    /// Prints more of the thread.
    Show(ShownState),
}

/// What a script may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitedSign {
    /// The judge has answered or failed.
    Judged,
    /// The repository's state is in the log.
    Repository,
}

/// The runs with the key, without it, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    With,
    Without,
    Both,
}

#[derive(Debug, Clone, Copy)]
pub enum ShownState {
    Packet,
    /// A prompt as hosts get it.
    Prompt(&'static str),
    /// The rewritten history of one message.
    Rewritten,
    /// The judge's question about a case.
    Judgment,
    Repository,
    /// The threads that are listed after a sidecar has left.
    Threads,
    /// The requests that the endpoint got.
    Endpoint,
}
