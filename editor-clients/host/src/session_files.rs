//! The files that a session left on disk: names, sizes and line counts. Their contents belong to the sidecar.

use std::io;
use std::path::{Path, PathBuf};

use rawr_protocol::{PacketAuthor, PacketGetResult};
use serde::Serialize;

/// The files of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionFiles {
    /// The thread's folder.
    pub folder: PathBuf,
    /// Every file in it and in its subfolders, by name.
    pub files: Vec<SessionFile>,
    /// The last packet. It is stored in the event log, not in a file of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<SessionPacket>,
}

/// The packet that was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionPacket {
    /// The sequence that it belongs to.
    pub sequence_id: String,
    /// Who wrote it.
    pub author: PacketAuthor,
    /// The size in bytes.
    pub bytes: usize,
}

/// One file of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionFile {
    /// The path relative to the thread's folder, with forward slashes.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The number of lines of a `.jsonl` file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
}

impl SessionFiles {
    /// Lists the files in a thread's folder. `None` if there are none or the folder cannot be read.
    pub fn list(folder: PathBuf, packet: Option<&PacketGetResult>) -> Option<Self> {
        let mut files = Vec::new();
        collect(&folder, "", &mut files).ok()?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let packet = packet.map(|packet| SessionPacket {
            sequence_id: packet.sequence_id.clone(),
            author: packet.author,
            bytes: packet.packet.len(),
        });
        (!files.is_empty()).then_some(Self { folder, files, packet })
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<SessionFile>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
            continue;
        }
        let bytes = entry.metadata()?.len();
        let lines = name.ends_with(".jsonl").then(|| lines_of(&entry.path())).transpose()?;
        files.push(SessionFile { name, bytes, lines });
    }
    Ok(())
}

fn lines_of(file: &Path) -> io::Result<usize> {
    Ok(std::fs::read(file)?.iter().filter(|byte| **byte == b'\n').count())
}
