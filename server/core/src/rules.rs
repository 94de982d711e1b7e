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
    /// Whether the thread's scratch file exists. Not looked at where the policy has the agent write it.
    pub notes_exist: bool,
}

/// What the agent reads instead of the path of a scratch file.
const NO_NOTES: &str = "none";

impl Rules<'_> {
    /// The scratch file as packets and handoffs name it. A file that does not exist is named only where the agent is
    /// asked to write one.
    pub fn notes<'n>(&self, scratch_file: &'n str) -> &'n str {
        if self.notes_exist || self.policy.scratch_write_enabled { scratch_file } else { NO_NOTES }
    }
}
