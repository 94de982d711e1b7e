//! Fuzz targets for untrusted input: one function per target, which panics if an invariant is broken. cargo-fuzz and
//! the plain test `fuzz_corpus` call the same functions.

pub mod command;
pub mod config;
pub mod events;
pub mod framing;
pub mod front_matter;
mod linear;
pub mod message;
pub mod placeholders;
pub mod redact;
pub mod router;
