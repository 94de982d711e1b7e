//! Judgments through the real sidecar and the embedded agent: who is asked, what follows from the answer or from none, and
//! that the transcript contains nothing of it. Replies of endpoints are tested in `judge_endpoint`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod embedded;
mod endpoint;
mod evaluate;
mod fixture;
mod host;
mod killed;
mod traces;
