//! The rawr sidecar: a JSON-RPC process on stdio around the decision system of `rawr-core`.

pub mod config;
pub mod problem;
pub mod prompts;
pub mod redact;
