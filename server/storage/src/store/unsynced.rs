//! Written bytes that no successful sync covers. After a failed sync, the OS may have dropped them although reads still
//! return them: they must be written again.

use super::disk::Disk;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Above this size a commit is synced in any case, so that little has to be kept.
const MOST: usize = 1 << 20;
/// How much of the end of a log an earlier process may have failed to sync before it died.
const INHERITED: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct UnsyncedWrites {
    /// With gaps where other processes wrote: those sync their own writes.
    pieces: Vec<WrittenPiece>,
    /// A sync has failed since the last successful one.
    doubted: bool,
    /// There was no successful sync yet.
    inherits: bool,
}

#[derive(Debug)]
struct WrittenPiece {
    at: u64,
    bytes: Vec<u8>,
}

impl Default for UnsyncedWrites {
    fn default() -> Self {
        Self { pieces: Vec::new(), doubted: false, inherits: true }
    }
}

impl UnsyncedWrites {
    pub(super) fn add(&mut self, at: u64, bytes: &[u8]) {
        match self.pieces.last_mut() {
            Some(last) if last.at + last.bytes.len() as u64 == at => last.bytes.extend(bytes),
            _ => self.pieces.push(WrittenPiece { at, bytes: bytes.to_owned() }),
        }
    }

    pub(super) fn is_too_much_with(&self, more: usize) -> bool {
        self.pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>() + more > MOST
    }

    pub(super) const fn doubt(&mut self) {
        self.doubted = true;
    }

    /// Called before the next sync that must succeed, of a log that ends at `end`. Needs its own descriptor, because
    /// one that appends cannot write in place.
    pub(super) fn write_again(
        &self,
        disk: &Disk,
        log: &File,
        path: &Path,
        end: u64,
    ) -> io::Result<()> {
        let inherited = if self.inherits { end.min(INHERITED) } else { 0 };
        let pieces = if self.doubted { &self.pieces[..] } else { &[] };
        if inherited == 0 && pieces.is_empty() {
            return Ok(());
        }
        let file = disk.open_to_rewrite(path)?;
        let mut tail = vec![0; usize::try_from(inherited).unwrap_or_default()];
        log.read_exact_at(&mut tail, end - inherited)?;
        disk.rewrite(&file, path, end - inherited, &tail)?;
        pieces.iter().try_for_each(|piece| disk.rewrite(&file, path, piece.at, &piece.bytes))
    }

    pub(super) fn settled(&mut self) {
        self.pieces.clear();
        (self.doubted, self.inherits) = (false, false);
    }
}
