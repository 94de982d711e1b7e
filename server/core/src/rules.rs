//! The configuration in force, passed to the core with every call.

use crate::policy::Policy;
use crate::prompt::Prompts;

/// The policy and the prompts that apply to a thread at the moment of the call.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'r> {
    /// Thresholds, modes and limits.
    pub policy: &'r Policy,
    /// The texts of the prompts.
    pub prompts: &'r Prompts,
}
