//! Live agents: what only the real Codex and Claude Code can show. A race that a scripted host shows as well belongs to the
//! driver's tests in `editor-clients/host/src/drive/tests`.
//!
//! | topic | what runs |
//! | --- | --- |
//! | `codex_adapter` | the adapter alone on Codex's app-server |
//! | `codex` | `rawr codex`: a user's own Codex, on a terminal or with a second client |
//! | `codex_judge` | a Codex that is asked for a judgment, by `rawr exec` |
//! | `codex_restore` | `rawr restore` with Codex |
//! | `claude_mod` | rawr's plugin in a user's own Claude Code |
//! | `exec_codex`, `exec_claude` | `rawr exec --host codex` and `--host claude` |
//! | `hooks` | rawr's hooks in sessions that rawr does not run |

#[cfg(target_os = "linux")]
mod claude_mod;
mod codex;
mod codex_adapter;
mod codex_judge;
mod codex_restore;
mod exec_claude;
mod exec_codex;
mod hooks;
