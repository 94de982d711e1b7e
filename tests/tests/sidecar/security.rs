//! What a stranger's repository, prompt file, packet, transcript or model answer may try. ARCHITECTURE.md lists it under
//! "Threats"; what is held elsewhere is named there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod fences;
mod files;
mod licences;
mod logs;
mod sockets;
mod terminal;
