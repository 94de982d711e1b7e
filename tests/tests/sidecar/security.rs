//! Attacks by an untrusted repository, prompt file, packet, transcript or model answer. SECURITY.md lists the threats
//! and their tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod fences;
mod files;
mod licences;
mod logs;
mod sockets;
mod terminal;
