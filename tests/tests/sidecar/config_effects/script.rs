//! What happens to a thread in a case, step by step, and the scripts that many cases share.

use super::story::Sign;
use rawr_protocol::StepStatus;

#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// A turn of the user's begins with this message.
    User(&'static str),
    Commit,
    PullRequest,
    /// The status of the plan's two steps.
    Plan(StepStatus, StepStatus),
    /// A request of the turn comes back, and the agent goes on.
    Usage(u64),
    /// The turn ends with so many tokens in the context and this message.
    Says(u64, &'static str),
    /// The host carries out the next action that it was asked for; after a compaction so many tokens are left.
    DoTo(u64),
    /// It carries out everything, until it is asked for nothing more.
    DoAll,
    /// It takes the next action up, and no more.
    Accept,
    Refuse,
    /// What the log has of the last opening was so many seconds ago: deadlines count from there.
    Ago(i64),
    /// Another thread was used so many days ago for the last time.
    Rested(u64),
    /// Waits for a sign, in these runs.
    Await(Sign, Runs),
    /// Shows something more of the thread.
    Show(Show),
}

/// With the key, without it, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    With,
    Without,
    Both,
}

#[derive(Debug, Clone, Copy)]
pub enum Show {
    Directives,
    Packet,
    /// A prompt as hosts are given it.
    Prompt(&'static str),
    /// What becomes of a history of one message.
    Rewritten,
    /// What the judge is asked about a case.
    Judgment,
    Repository,
    /// The threads that are listed after a sidecar has left.
    Threads,
    /// What came in at the endpoint.
    Endpoint,
}

pub const DONE: &str = "The parser is written and committed.";
pub const LOOKED: &str = "I looked at two more files of the parser.";
const TASK: &str = "Write the parser";

/// So many tokens of 100,000 leave the tier in which everything may be compacted.
pub const ASAP: u64 = 40_000;
pub const READY: u64 = 30_000;
pub const EARLY: u64 = 20_000;
pub const EMERGENCY: u64 = 90_000;
pub const AFTER_COMPACTION: u64 = 12_000;
pub const DO: Step = Step::DoTo(AFTER_COMPACTION);

pub fn commit(context: u64) -> Vec<Step> {
    vec![Step::User(TASK), Step::Commit, Step::Says(context, DONE)]
}

pub fn pull_request(context: u64) -> Vec<Step> {
    vec![Step::User(TASK), Step::PullRequest, Step::Says(context, LOOKED)]
}

/// A step of the plan is done, and the agent does not say so.
pub fn plan_step(context: u64) -> Vec<Step> {
    use StepStatus::{Completed, InProgress, Pending};
    vec![
        Step::User(TASK),
        Step::Plan(InProgress, Pending),
        Step::Plan(Completed, InProgress),
        Step::Says(context, LOOKED),
    ]
}

pub fn says(context: u64, message: &'static str) -> Vec<Step> {
    vec![Step::User(TASK), Step::Says(context, message)]
}

pub fn mid_turn(context: u64) -> Vec<Step> {
    vec![Step::User(TASK), Step::Usage(context)]
}

/// A commit in a turn whose first request told how small the context can be.
pub fn above_floor() -> Vec<Step> {
    vec![Step::User(TASK), Step::Usage(AFTER_COMPACTION), Step::Commit, Step::Says(ASAP, DONE)]
}

pub fn then(first: Vec<Step>, steps: &[Step]) -> Vec<Step> {
    [first.as_slice(), steps].concat()
}

/// Compacted once, and then under pressure at a boundary again.
pub fn compacted_then_commit(context: u64) -> Vec<Step> {
    then(then(commit(ASAP), &[Step::DoAll]), &commit(context))
}
