//! The rawr wire protocol: every method, every payload, the error codes and the framing. It depends on nothing of the
//! sidecar.
//!
//! Read `methods` first, the table of all calls, then the file of the subject (`opening`, `thread`, `turn`,
//! `signal`, `input`, `decision`, `sequence`, `action`, `judgment`, `packet`, `compaction`, `guard`, `directive`,
//! `scratch`, `capsule`, `recall`, `replay`, `prompt`, `config`, `tokens`); then `names` for the vocabularies that they
//! share, `problem`, `progress`, `id` and `error`.
//! `lifecycle` holds the LSP base protocol, `lsp` the LSP methods that editors call, `lenient` the reading of optional
//! fields and of other programs' texts, `framing` the framing of messages on a pipe, and `schema` the generation of
//! `schema.json` and `openrpc.json`.
//!
//! Rules of every payload: camelCase fields and snake_case values; times in Unix milliseconds (`…AtMs`), tokens and
//! percentages (0 to 100) are integers; an absent field means "not known" and is left out, never `null`; `null` is
//! read as absent; unknown fields are ignored. In lists that are shown or chosen from, entries that this release does
//! not know are left out. What a host reports comes from models and agents: a fraction is rounded, and a negative count
//! or a value of another type is read as absent. Paths in doc comments, such as `docs/spec/clients.md#actions`, name the section that states
//! the rule.

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
mod opening;
mod packet;
mod problem;
mod progress;
mod prompt;
mod recall;
mod replay;
mod scratch;
mod sequence;
mod signal;
mod store;
mod thread;
mod tokens;
mod turn;
mod turn_row;

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
pub use lenient::{count_if_known, if_known, mended_json, params_text, read_json, read_params};
pub use lifecycle::*;
pub use methods::{Direction, METHODS, Method, MethodKind};
pub use names::*;
pub use opening::*;
pub use packet::*;
pub use problem::*;
pub use progress::*;
pub use prompt::*;
pub use recall::*;
pub use replay::*;
pub use scratch::*;
pub use sequence::*;
pub use signal::*;
pub use store::*;
pub use thread::*;
pub use tokens::*;
pub use turn::*;
pub use turn_row::*;

/// Raised when an older peer would misunderstand a newer one. Additions do not raise it.
pub const PROTOCOL_VERSION: u64 = 1;

/// A method that is answered exactly once.
pub trait Request {
    /// The params; read them with [`read_params`].
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The result.
    type Result: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The method's name on the wire.
    const METHOD: &'static str;
}

/// A method that is never answered.
pub trait Notification {
    /// The params; read them with [`read_params`].
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The method's name on the wire.
    const METHOD: &'static str;
}
