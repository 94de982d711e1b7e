//! Tests with agents: the real Codex and Claude Code with scripted models, and the embedded agent with a scripted endpoint. No
//! test uses a network or a login. These tests are slow, because the programs are large.
//!
//! `tests/run` installs both programs by lock file (`npm ci --prefix tests/codex`, `npm ci --prefix tests/claude`).
//! Run one topic, or one test of it:
//!
//! ```sh
//! cargo nextest run -p rawr-tests --test hosts exec_codex::
//! cargo nextest run -p rawr-tests --test hosts -E 'test(/races::/)'
//! ```
//!
//! | topic | what runs |
//! | --- | --- |
//! | `codex_adapter` | the adapter alone on Codex's app-server |
//! | `codex_live` | `rawr codex`: a user's own Codex, on a terminal or with a second client |
//! | `claude_mod` | rawr's plugin in a user's own Claude Code |
//! | `exec_codex`, `exec_claude` | `rawr exec --host codex` and `--host claude` |
//! | `hooks` | rawr's hooks in sessions that rawr does not run |
//! | `embedded` | `rawr exec` with the embedded agent |
//!
//! Add a test to the topic that it fits: start its fixture with a `TurnScript` of what the model says (`rawr_tests::mock_responses`),
//! then compare the session's story. A message that holds none of the script's markers is answered with `ok`.
//!
//! A new topic that runs Codex or Claude Code belongs to the filter in `.config/nextest.toml`.
//!
//! Tests of one binary may share a process: none may change the environment, the current folder or a signal's handler.
//! Set these on the child process that the test starts.

#[cfg(target_os = "linux")]
mod claude_mod;
mod codex_adapter;
mod codex_live;
mod embedded;
mod exec_claude;
mod exec_codex;
mod fixture;
mod hooks;
mod processes;
