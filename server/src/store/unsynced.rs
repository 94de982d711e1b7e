//! What was written and no good sync is known to cover. After a sync that failed, the system may have thrown it away and
//! shows it all the same: only these bytes, written again, are to be trusted.

use super::disk::Disk;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Beyond it a commit is synced although nothing asks for it, so that little has to be kept.
const MOST: usize = 1 << 20;
/// So much at the end of a log may be what an earlier process could not sync before it died.
const INHERITED: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct UnsyncedWrites {
    /// With gaps where others wrote: they answer for theirs.
    pieces: Vec<Piece>,
    /// A sync has failed since the last good one.
    doubted: bool,
    /// There has been no good one yet.
    inherits: bool,
}

#[derive(Debug)]
struct Piece {
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
            _ => self.pieces.push(Piece { at, bytes: bytes.to_owned() }),
        }
    }

    pub(super) fn is_too_much_with(&self, more: usize) -> bool {
        self.pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>() + more > MOST
    }

    pub(super) const fn doubt(&mut self) {
        self.doubted = true;
    }

    /// Before the next sync that is to count, of a log that ends at `end`. It takes a descriptor of its own: one that
    /// appends cannot write in place.
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
