//! The format of notes: one section per entry, and the newest part of a file. Opens no files.

use super::place::FileEnd;
use rawr_core::units::Timestamp;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// One section with its heading and a final newline, preceded by the necessary line breaks.
pub(super) fn section(end: FileEnd, text: &str, now: Timestamp) -> String {
    let before = match end {
        FileEnd { length: 0, .. } => "",
        FileEnd { last: Some(b'\n'), .. } => "\n",
        // The last line of another writer has no newline.
        _ => "\n\n",
    };
    let text = text.trim_start_matches(['\r', '\n']).trim_end();
    format!("{before}## {}\n\n{text}\n", utc(now))
}

fn utc(at: Timestamp) -> String {
    const LAST_OF_9999: i64 = 253_402_300_799_999;
    let minutes = at.0.clamp(0, LAST_OF_9999) / 60_000;
    let (mut day, minute) = (minutes / 1440, minutes % 1440);
    let mut year = 1970;
    while day >= 365 + leap_day(year) {
        day -= 365 + leap_day(year);
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + leap_day(year), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02} {:02}:{:02} UTC", day + 1, minute / 60, minute % 60)
}

fn leap_day(year: i64) -> i64 {
    i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
}

/// The last lines with at most `most` bytes, and whether there are more. If even the last line does not fit, its end is
/// returned.
pub(super) fn newest(file: File, most: u64) -> io::Result<(String, bool)> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(most);
    // With the byte before, to know whether a line begins here.
    let from = start.saturating_sub(1);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, from)?;
    if start == 0 {
        return Ok((String::from_utf8_lossy(&bytes).into_owned(), false));
    }
    Ok((String::from_utf8_lossy(whole_lines(&bytes)).into_owned(), true))
}

/// Drops the first byte and the rest of its line, if anything follows.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    if line < bytes.len() {
        return &bytes[line..];
    }
    let is_inside_character = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    let end = bytes.get(1..).unwrap_or_default();
    let skip = end.iter().position(|byte| !is_inside_character(byte)).unwrap_or(end.len());
    &end[skip..]
}
