//! From what a host saw to the boundaries it amounts to: plans, commands, last messages.
//! Detection runs once, when the signal arrives; its result is stored with the event, so that a later release
//! with better detection replays an old thread just as it was lived.

pub mod command;
pub mod message;
pub mod plan;
