//! The rawr wire protocol: every method, every payload, the error codes and the framing. It must not decide anything, nor know how the sidecar works.
//!
//! Read `methods` first, it is the table of all calls; then the file of the noun that concerns you (`thread`, `turn`,
//! `signal`, `input`, `decision`, `sequence`, `action`, `judgment`, `packet`, `compaction`, `guard`, `directive`,
//! `scratch`, `capsule`, `recall`, `prompt`, `config`, `tokens`); then `names` for the vocabularies that they share, `problem`, `id` and `error`.
//! `lifecycle` holds what LSP prescribes, `lsp` names what an editor asks in its words, `lenient` how things are read, `framing` how messages are told apart on a
//! pipe, and `schema` how the tables become `schema.json` and `openrpc.json`.
//!
//! Rules of every payload: camelCase fields and snake_case values; times in Unix milliseconds (`…AtMs`), tokens and
//! percentages (0 to 100) are integers; an absent field means "not known" and is left out, never `null`; `null` is
//! read as absent; unknown fields are ignored. In lists that are shown or chosen from, entries that this release does
//! not know are left out. "Design" and "spec" in doc comments name the documents that a rule comes from.

#![deny(missing_docs)]

pub mod error;
#[cfg(feature = "framing")]
pub mod framing;
pub mod lsp;
pub mod methods;
#[cfg(feature = "schema")]
pub mod schema;

mod action;
mod capsule;
mod compaction;
mod config;
mod decision;
mod directive;
mod guard;
mod id;
mod input;
mod judgment;
mod lenient;
mod lifecycle;
mod names;
mod packet;
mod problem;
mod prompt;
mod recall;
mod scratch;
mod sequence;
mod signal;
mod store;
mod thread;
mod tokens;
mod turn;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use action::*;
pub use capsule::*;
pub use compaction::*;
pub use config::*;
pub use decision::*;
pub use directive::*;
pub use error::{ErrorCode, ErrorData};
pub use guard::*;
pub use id::{IdProblem, MAX_ID_BYTES, check_id};
pub use input::*;
pub use judgment::*;
pub use lenient::read_params;
pub use lifecycle::*;
pub use methods::{Direction, METHODS, Method, MethodKind};
pub use names::*;
pub use packet::*;
pub use problem::*;
pub use prompt::*;
pub use recall::*;
pub use scratch::*;
pub use sequence::*;
pub use signal::*;
pub use store::*;
pub use thread::*;
pub use tokens::*;
pub use turn::*;

/// Raised when an older peer would misunderstand a newer one. Additions do not raise it.
pub const PROTOCOL_VERSION: u64 = 1;

/// A method that is answered exactly once.
pub trait Request {
    /// What is asked; read it with [`read_params`].
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What is answered.
    type Result: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The method's name on the wire.
    const METHOD: &'static str;
}

/// A method that is never answered.
pub trait Notification {
    /// What is told; read it with [`read_params`].
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The method's name on the wire.
    const METHOD: &'static str;
}
