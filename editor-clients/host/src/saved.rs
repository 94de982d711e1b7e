//! What a session has left on disk. Looks at names and sizes; the files are the sidecar's.

use std::io;
use std::path::{Path, PathBuf};

use rawr_protocol::{PacketAuthor, PacketGetResult};
use serde::Serialize;

/// A thread's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Saved {
    pub folder: PathBuf,
    pub files: Vec<SavedFile>,
    /// The last packet; it stands in the list of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<SavedPacket>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedPacket {
    pub sequence_id: String,
    pub author: PacketAuthor,
    pub bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SavedFile {
    /// Below the folder, with forward slashes.
    pub name: String,
    pub bytes: u64,
    /// Of files that are lists, a line for each entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
}

/// Where a home keeps its threads, a folder each.
pub fn threads_folder(home: &Path) -> PathBuf {
    home.join("rawr/auto_compaction/threads")
}

impl Saved {
    /// The files of a thread in this home; `None` if there are none.
    pub fn of(home: &Path, thread_id: &str, packet: Option<&PacketGetResult>) -> Option<Self> {
        let folder = threads_folder(home).join(thread_id);
        let mut files = Vec::new();
        collect(&folder, "", &mut files).ok()?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let packet = packet.map(|packet| SavedPacket {
            sequence_id: packet.sequence_id.clone(),
            author: packet.author,
            bytes: packet.packet.len(),
        });
        (!files.is_empty()).then_some(Self { folder, files, packet })
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<SavedFile>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
            continue;
        }
        let bytes = entry.metadata()?.len();
        let lines = name.ends_with(".jsonl").then(|| lines_of(&entry.path())).transpose()?;
        files.push(SavedFile { name, bytes, lines });
    }
    Ok(())
}

fn lines_of(file: &Path) -> io::Result<usize> {
    Ok(std::fs::read(file)?.iter().filter(|byte| **byte == b'\n').count())
}
