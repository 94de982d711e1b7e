//! The output of a finished command as text.

use std::process::Output;

use crate::sidecar::must;

/// What it wrote to stdout.
pub fn out(output: &Output) -> String {
    must(String::from_utf8(output.stdout.clone()), "read stdout as text")
}

/// What it wrote to stderr.
pub fn err(output: &Output) -> String {
    must(String::from_utf8(output.stderr.clone()), "read stderr as text")
}
