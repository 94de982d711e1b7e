//! What notes look like: a section for each time that something was added, and the newest part of them. It opens
//! nothing.

use super::place::End;
use rawr_core::units::Timestamp;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// One section, from its heading to the end of its last line, with what must stand before it.
pub(super) fn section(end: End, text: &str, now: Timestamp) -> String {
    let before = match end {
        End { length: 0, .. } => "",
        End { last: Some(b'\n'), .. } => "\n",
        // Somebody else's last line has no end.
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

/// The last lines that take up at most so many bytes, and whether there is more. Where not even the last line fits, it
/// is its end.
pub(super) fn newest(file: File, most: u64) -> io::Result<(String, bool)> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(most);
    // With the byte before, which tells whether a line begins here.
    let from = start.saturating_sub(1);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, from)?;
    if start == 0 {
        return Ok((String::from_utf8_lossy(&bytes).into_owned(), false));
    }
    Ok((String::from_utf8_lossy(whole_lines(&bytes)).into_owned(), true))
}

/// Without the first byte, and without the rest of the line that it is in, if anything follows.
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
