//! What this process wrote and no good sync has covered. After a sync that failed, the system may have thrown it away and
//! shows it all the same: only these bytes, written again, are to be trusted.

use super::disk::Disk;
use std::io;
use std::path::Path;

/// Beyond it a commit is synced although nothing asks for it, so that little has to be kept.
const MOST: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct Owed {
    /// With gaps where others wrote: they answer for theirs.
    pieces: Vec<Piece>,
    /// A sync has failed since the last good one.
    doubted: bool,
}

#[derive(Debug)]
struct Piece {
    at: u64,
    bytes: Vec<u8>,
}

impl Owed {
    pub(super) fn add(&mut self, at: u64, bytes: &[u8]) {
        match self.pieces.last_mut() {
            Some(last) if last.at + last.bytes.len() as u64 == at => last.bytes.extend(bytes),
            _ => self.pieces.push(Piece { at, bytes: bytes.to_owned() }),
        }
    }

    pub(super) fn is_too_much_with(&self, more: usize) -> bool {
        self.pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>() + more > MOST
    }

    pub(super) fn doubt(&mut self) {
        self.doubted = true;
    }

    /// Before the next sync that is to count. A descriptor of its own: one that appends cannot write in place.
    pub(super) fn write_again(&self, disk: &Disk, path: &Path) -> io::Result<()> {
        if !self.doubted || self.pieces.is_empty() {
            return Ok(());
        }
        let file = disk.open_to_rewrite(path)?;
        self.pieces.iter().try_for_each(|piece| disk.rewrite(&file, path, piece.at, &piece.bytes))
    }

    pub(super) fn settled(&mut self) {
        self.pieces.clear();
        self.doubted = false;
    }
}
