//! Simulated faults of the disk: the operations that may fail, and the outcomes that a test may choose.

use std::fmt::Debug;
use std::path::Path;

/// An operation on a file or a folder that is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskOperation<'o> {
    CreateFolder,
    /// Open or create a file.
    Open,
    /// Lock a file.
    Lock,
    /// Unlock a file.
    Unlock,
    /// Append to the end of the file.
    Append(&'o [u8]),
    /// Overwrite bytes in place.
    Rewrite {
        /// The offset in the file.
        at: u64,
        /// The new bytes.
        bytes: &'o [u8],
    },
    /// Truncate or extend the file to this length.
    SetLength(u64),
    /// Sync the file.
    Sync,
    SyncFolder,
    /// Write a whole file under a temporary name.
    Prepare(&'o [u8]),
    /// Rename the prepared file to its final name.
    Rename,
    /// Delete the file.
    Remove,
}

/// The simulated outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationOutcome {
    /// Performs the operation.
    Passes,
    /// Reports success without doing anything.
    Pretended,
    /// Writes that many bytes, then fails with this OS error.
    Fails {
        /// How many bytes are written before that.
        after: usize,
        /// The OS error number.
        errno: i32,
    },
    /// Writes that many bytes, then the process dies.
    Kills {
        /// How many bytes are written before that.
        after: usize,
    },
}

/// Decides the outcome of every operation. It may also block.
pub trait DiskFaults: Debug + Send + Sync {
    /// The outcome of this operation on this file or folder.
    fn meet(&self, operation: &DiskOperation<'_>, path: &Path) -> OperationOutcome;
}

impl DiskOperation<'_> {
    /// The bytes that it writes. Empty for other operations.
    pub const fn bytes(&self) -> &[u8] {
        match self {
            Self::Append(bytes) | Self::Rewrite { bytes, .. } | Self::Prepare(bytes) => bytes,
            _ => &[],
        }
    }
}
