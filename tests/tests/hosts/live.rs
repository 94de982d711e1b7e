//! Live agents: what only the real Codex and Claude Code can show. What a scripted host shows as well belongs to the driver's
//! tests in `editor-clients/host/src/drive/tests`, to `embedded`, or to the scripts of the core.
//!
//! | topic | what only the real agent shows |
//! | --- | --- |
//! | `codex_adapter` | that the app-server's messages are read as Codex sends them |
//! | `codex::races`, `questions` | in which order Codex takes a person's message, a running turn, a compaction and a handoff |
//! | `codex::preflight`, `between` | what Codex's screen does with a message that is held, refused, or cut off from its server |
//! | `codex::cut_off`, `deaths`, `leaving` | which of Codex's processes live on after a terminal, a shell or a driver |
//! | `codex::once`, `missed`, `model`, `titles` | what Codex records and reports of what happened without rawr |
//! | `codex::goals`, `sub_agents`, `sample` | turns that Codex starts by itself, and questions beside the conversation |
//! | `codex::screen`, `options` | what a person sees and types |
//! | `codex_judge`, `codex_restore` | what an ephemeral thread and a fork leave in Codex's records |
//! | `claude_mod` | the plugin inside of Claude Code: its input box, its queue, its processes, `/clear`, `/compact` and Esc |
//! | `player` | what a person may do to either at any moment: a random player, and the rules for its messages |
//! | `exec` | what both agents of `rawr exec` keep and record when a process dies or another session runs |
//! | `exec_codex`, `exec_claude` | whole sessions of `rawr exec`, and what the model of each agent is sent |
//! | `hooks` | that each agent runs the hooks, and what it does with their answers |

#[cfg(target_os = "linux")]
mod claude_mod;
mod codex;
mod codex_adapter;
mod codex_judge;
mod codex_restore;
#[cfg(target_os = "linux")]
mod exec;
mod exec_claude;
mod exec_codex;
mod hooks;
#[cfg(target_os = "linux")]
mod player;
