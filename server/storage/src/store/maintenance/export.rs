//! Exports everything of one thread as one JSON document, for reports: one entry per line, with secrets redacted once
//! more. Reads raw lines, so that a thread that this release cannot parse can be reported, too.

use super::StoredThreads;
use super::lines::{everything_in, lines};
use crate::redact::redact;
use crate::store::archive::ThreadFolder;
use crate::store::{DECISIONS, EVENTS, QUARANTINE, STATE, StoreError, failed};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The format of the document, not of the lines in it.
const FORMAT: u16 = 1;

impl StoredThreads {
    /// Writes the export to `out`. Records that other processes write meanwhile may be missing.
    pub fn export(&self, place: &ThreadFolder, out: &mut impl Write) -> Result<(), StoreError> {
        let checked = self.check(place);
        let files: Vec<_> = everything_in(&place.folder)?
            .into_iter()
            .filter(|(_, metadata)| metadata.is_file())
            .map(|(path, metadata)| {
                let name = path.strip_prefix(&place.folder).unwrap_or(&path).display().to_string();
                json!({ "name": name, "bytes": metadata.len() })
            })
            .collect();
        let findings = serde_json::to_value(&checked.findings);
        let state = serde_json::to_value(&checked.thread);
        let head = [
            ("format", json!(FORMAT)),
            ("rawr", json!(env!("CARGO_PKG_VERSION"))),
            ("threadId", json!(place.thread.as_str())),
            ("archived", json!(place.archived)),
            ("files", Value::Array(files)),
            ("findings", findings.map_err(|error| failed("write", &place.folder)(error.into()))?),
            ("state", state.map_err(|error| failed("write", &place.folder)(error.into()))?),
        ];
        let mut document = ExportWriter { out, is_first: true };
        let write = || -> io::Result<()> {
            document.out.write_all(b"{")?;
            for (name, value) in head {
                document.field(name, value)?;
            }
            document.list("packets", &place.folder.join(EVENTS), packet)?;
            document.list("decisions", &place.folder.join(DECISIONS), entry)?;
            document.list("events", &place.folder.join(EVENTS), entry)?;
            document.list("quarantine", &place.folder.join(QUARANTINE), entry)?;
            document.field("other", Value::Array(other(place).map_err(io::Error::other)?))?;
            document.out.write_all(b"\n}\n")?;
            document.out.flush()
        };
        write().map_err(failed("export", &place.folder))
    }
}

/// Longer files are listed without their contents.
const MOST: u64 = 1 << 20;

/// The other files of the folder, as JSON if they parse, or else as text.
fn other(place: &ThreadFolder) -> Result<Vec<Value>, StoreError> {
    let mut other = Vec::new();
    for (path, metadata) in everything_in(&place.folder)? {
        let name = path.strip_prefix(&place.folder).unwrap_or(&path).display().to_string();
        let is_known = [EVENTS, DECISIONS, QUARANTINE, STATE].contains(&name.as_str());
        let is_copy = path.extension().is_some_and(|extension| extension == "bak");
        if !metadata.is_file() || metadata.len() > MOST || is_known || is_copy {
            continue;
        }
        let bytes = fs::read(&path).map_err(failed("read", &path))?;
        let content = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        other.push(json!({ "name": name, "content": content }));
    }
    Ok(other)
}

struct ExportWriter<'o, W> {
    out: &'o mut W,
    is_first: bool,
}

impl<W: Write> ExportWriter<'_, W> {
    fn field(&mut self, name: &str, value: Value) -> io::Result<()> {
        self.name(name)?;
        let text = serde_json::to_string_pretty(&redacted(value))?;
        self.out.write_all(text.replace('\n', "\n  ").as_bytes())
    }

    fn name(&mut self, name: &str) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        write!(self.out, "{comma}\n  \"{name}\": ")
    }

    /// One entry per line of the file, converted by `read`.
    fn list(
        &mut self,
        name: &str,
        file: &Path,
        read: fn(&[u8], u64) -> Option<Value>,
    ) -> io::Result<()> {
        self.name(name)?;
        self.out.write_all(b"[")?;
        let mut comma = "";
        for line in lines(file).map_err(io::Error::other)?.into_iter().flatten() {
            let line = line.map_err(io::Error::other)?;
            if let Some(value) = read(&line.bytes, line.number) {
                write!(self.out, "{comma}\n    ")?;
                serde_json::to_writer(&mut *self.out, &redacted(value))?;
                comma = ",";
            }
        }
        self.out.write_all(b"\n  ]")
    }
}

fn entry(line: &[u8], number: u64) -> Option<Value> {
    Some(serde_json::from_slice(line).unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(line);
        json!({ "line": number, "unreadable": error.to_string(), "text": text })
    }))
}

fn packet(line: &[u8], _: u64) -> Option<Value> {
    const NAME: &[u8] = b"\"packet_taken\"";
    memchr::memmem::find(line, NAME)?;
    let mut record: Value = serde_json::from_slice(line).ok()?;
    let taken = record.pointer_mut("/event/packet_taken")?.take();
    Some(json!({ "at": record["at"], "sequence": taken["sequence"], "packet": taken["packet"] }))
}

/// Redacts every string value, at any depth.
fn redacted(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => *text = redact(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| *value = redacted(value.take())),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(_, value)| *value = redacted(value.take()));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    value
}
