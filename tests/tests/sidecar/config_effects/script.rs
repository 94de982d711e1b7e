//! The steps of a case, and scripts that many cases share.

use super::story::AwaitedSign;
use rawr_protocol::StepStatus;

#[derive(Debug, Clone, Copy)]
pub enum CaseStep {
    /// A turn of the user begins with this message.
    User(&'static str),
    Commit,
    PullRequest,
    /// The status of the two steps of the plan.
    Plan(StepStatus, StepStatus),
    /// A request of the turn ends with this usage, and the agent continues.
    Usage(u64),
    /// The turn ends with this many tokens in the context and this message.
    Says(u64, &'static str),
    /// The user sends this message, which the host would hold.
    Submit(&'static str),
    /// The host performs the next pending action. After a compaction, this many tokens are left.
    DoTo(u64),
    /// It performs all actions until none is pending.
    DoAll,
    /// It accepts the next action and does no more.
    Accept,
    Refuse,
    /// Dates the log back by this many seconds to the last opening, from where deadlines count.
    Ago(i64),
    /// Another thread was last used this many days ago.
    Rested(u64),
    /// Waits for a sign, in these runs.
    Await(AwaitedSign, Runs),
    /// Prints more of the thread.
    Show(ShownState),
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
    Directives,
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

pub const DONE: &str = "I put the parser into a commit of its own.";
pub const LOOKED: &str = "I looked at two more files of the parser.";
const TASK: &str = "Write the parser";

/// With this many of 100,000 tokens, the tier is the one that allows every boundary.
pub const ASAP: u64 = 40_000;
pub const READY: u64 = 30_000;
pub const EARLY: u64 = 20_000;
pub const EMERGENCY: u64 = 90_000;
pub const AFTER_COMPACTION: u64 = 12_000;
pub const DO: CaseStep = CaseStep::DoTo(AFTER_COMPACTION);

pub fn commit(context: u64) -> Vec<CaseStep> {
    vec![CaseStep::User(TASK), CaseStep::Commit, CaseStep::Says(context, DONE)]
}

pub fn pull_request(context: u64) -> Vec<CaseStep> {
    vec![CaseStep::User(TASK), CaseStep::PullRequest, CaseStep::Says(context, LOOKED)]
}

/// A step of the plan is done, without a phrase of the agent.
pub fn plan_step(context: u64) -> Vec<CaseStep> {
    use StepStatus::{Completed, InProgress, Pending};
    vec![
        CaseStep::User(TASK),
        CaseStep::Plan(InProgress, Pending),
        CaseStep::Plan(Completed, InProgress),
        CaseStep::Says(context, LOOKED),
    ]
}

pub fn says(context: u64, message: &'static str) -> Vec<CaseStep> {
    vec![CaseStep::User(TASK), CaseStep::Says(context, message)]
}

pub fn mid_turn(context: u64) -> Vec<CaseStep> {
    vec![CaseStep::User(TASK), CaseStep::Usage(context)]
}

/// A commit in a turn whose first request reported the minimum size of the context.
pub fn above_floor() -> Vec<CaseStep> {
    vec![
        CaseStep::User(TASK),
        CaseStep::Usage(AFTER_COMPACTION),
        CaseStep::Commit,
        CaseStep::Says(ASAP, DONE),
    ]
}

pub fn then(first: Vec<CaseStep>, steps: &[CaseStep]) -> Vec<CaseStep> {
    [first.as_slice(), steps].concat()
}

/// Compacted once, and then under pressure at a boundary again.
pub fn compacted_then_commit(context: u64) -> Vec<CaseStep> {
    then(then(commit(ASAP), &[CaseStep::DoAll]), &commit(context))
}
