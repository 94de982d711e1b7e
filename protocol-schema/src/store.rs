//! Payloads about a thread's files that cannot be written.

use serde::{Deserialize, Serialize};

/// `rawr/store/failed`: nothing can be recorded, so no action leaves; told to the owner once until
/// `rawr/store/recovered`, and again where more inputs wait.
///
/// The host delivers `heldInputs` itself, at once and in this order. When the files are back it says `rawr/input/cancel`
/// for each of them, and repeats the reports that were refused. It goes on carrying out actions that it was asked for
/// before. Should it be asked later to deliver one of these inputs all the same, it delivers the other items only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StoreFailedNotification {
    /// The thread.
    pub thread_id: String,
    /// What failed, with the file, and what to do.
    pub error: String,
    /// Ids of user inputs that waited for the sequence, in order.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub held_inputs: Vec<String>,
}

/// `rawr/store/recovered`: what is said now is recorded again. Actions that were not reported done are asked for once more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StoreRecoveredNotification {
    /// The thread.
    pub thread_id: String,
}
