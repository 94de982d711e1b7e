//! The embedded host through the real binary: on a model behind an endpoint, and along every path of a compaction. What Codex does is tested elsewhere.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod commands;
mod endpoint;
mod lab;
mod paths;
mod pause;
