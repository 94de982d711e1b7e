//! Tests with agents: the embedded agent with a scripted endpoint, hooks and the process of the plugin without an agent,
//! and, in `live`, the real Codex and Claude Code with scripted models. No test uses a network or a login.
//!
//! The tests in `live` are slow, because the programs are large. `tests/run agents` installs both programs by lock file
//! (`npm ci --prefix` with `tests/codex`, `tests/claude` and `tests/claude/sdk`) and runs these tests; `tests/run` leaves them out.
//! Run one topic, or one test of it:
//!
//! ```sh
//! cargo nextest run -p rawr-tests --test hosts live::exec_codex::
//! cargo nextest run -p rawr-tests --test hosts -E 'test(/races::/)'
//! ```
//!
//! `conformance/rows.toml` says which of these tests shows which promise with which host.
//!
//! Add a test to the topic that it fits: start its fixture with a `TurnScript` of what the model says (`rawr_tests::mock_responses`),
//! then compare the session's story. A message that holds none of the script's markers is answered with `ok`.
//!
//! Tests of one binary may share a process: none may change the environment, the current folder or a signal's handler.
//! Set these on the child process that the test starts.

mod absent;
mod claude_process;
#[cfg(target_os = "linux")]
mod conformance;
mod embedded;
mod fixture;
mod hooks;
mod live;
mod processes;
