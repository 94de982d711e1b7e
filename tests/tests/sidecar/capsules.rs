//! Capsules, restoring them, and recall: with a sidecar alone and the embedded agent.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod embedded;
mod kept;
mod killed;
mod recall;

use crate::fixture::run;
use std::process::Output;

use rawr_protocol::methods::{CapsuleGet, CapsuleList};
use rawr_protocol::{CapsuleGetParams, CapsuleGetResult, CapsuleListParams, CapsuleListResult};
use rawr_tests::{TestSidecar, err, out};
use serde_json::Value;

fn list(sidecar: &mut TestSidecar, thread: &str) -> CapsuleListResult {
    sidecar.call::<CapsuleList>(&CapsuleListParams { thread_id: thread.to_owned() })
}

fn get(sidecar: &mut TestSidecar, thread: &str, capsule: &str) -> CapsuleGetResult {
    sidecar.call::<CapsuleGet>(&CapsuleGetParams {
        thread_id: thread.to_owned(),
        capsule_id: capsule.to_owned(),
        with_history: true,
    })
}

/// The machine-readable output of a command that succeeds.
fn events(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}{}", err(output), out(output));
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
