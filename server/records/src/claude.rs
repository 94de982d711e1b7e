//! What a session of Claude Code and its record tell in the same way.

pub mod calls;
pub mod person;
pub mod plan;
pub mod windows;
