//! What an id from outside may look like. Ids stay plain strings on the wire; this is the one check of them.

/// The longest id, in bytes.
pub const MAX_ID_BYTES: usize = 200;

/// Why a string is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdProblem {
    /// There is nothing in it.
    #[error("is empty")]
    Empty,
    /// Longer than [`MAX_ID_BYTES`].
    #[error("is {bytes} bytes long, {MAX_ID_BYTES} are allowed")]
    TooLong {
        /// The string's length.
        bytes: usize,
    },
    /// Begins with a dot: a hidden file, the folder itself, or the one above.
    #[error("begins with a dot")]
    LeadingDot,
    /// Ends with a dot or a space, which Windows drops: two ids would share one folder.
    #[error("ends with a dot or a space")]
    TrailingDotOrSpace,
    /// Holds a control character, a path separator or a character that Windows reserves.
    #[error("holds the character {character:?} at byte {at}")]
    Character {
        /// The first such character.
        character: char,
        /// Where it begins, in bytes.
        at: usize,
    },
    /// Windows gives this name to a device, whatever its ending.
    #[error("is the name of a device on Windows ({name})")]
    Device {
        /// The device.
        name: &'static str,
    },
}

/// Refuses what must not become a file name or a log line: threads are stored in a folder that bears their id, on
/// every platform. Everything else is the host's business (docs/spec/recovery.md#files).
pub fn check_id(id: &str) -> Result<(), IdProblem> {
    if id.is_empty() {
        return Err(IdProblem::Empty);
    }
    if id.len() > MAX_ID_BYTES {
        return Err(IdProblem::TooLong { bytes: id.len() });
    }
    if id.starts_with('.') {
        return Err(IdProblem::LeadingDot);
    }
    if let Some((at, character)) = id.char_indices().find(|(_, character)| is_refused(*character)) {
        return Err(IdProblem::Character { character, at });
    }
    if id.ends_with(['.', ' ']) {
        return Err(IdProblem::TrailingDotOrSpace);
    }
    match device(id) {
        Some(name) => Err(IdProblem::Device { name }),
        None => Ok(()),
    }
}

const DEVICES: [&str; 30] = [
    "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "COM1", "COM2", "COM3", "COM4", "COM5",
    "COM6", "COM7", "COM8", "COM9", "COM¹", "COM²", "COM³", "LPT1", "LPT2", "LPT3", "LPT4", "LPT5",
    "LPT6", "LPT7", "LPT8", "LPT9", "LPT¹", "LPT²", "LPT³",
];

fn is_refused(character: char) -> bool {
    character.is_control()
        || matches!(character, '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*')
}

fn device(id: &str) -> Option<&'static str> {
    let stem = id.split('.').next().unwrap_or(id).trim_end_matches(' ');
    DEVICES.iter().find(|device| device.eq_ignore_ascii_case(stem)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, expected: Result<(), &str>) {
        let found = check_id(id).map_err(|problem| problem.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{id:?}");
    }

    #[test]
    fn hosts_ids_pass() {
        for id in [
            "t-1",
            "019a63c1-7d4b-7f60-8e1e-3a0e9f1b2c3d",
            "Faden 7",
            "conversation",
            "a..b",
            "日本",
            "COM10",
        ] {
            check(id, Ok(()));
        }
        check(&"x".repeat(200), Ok(()));
    }

    #[test]
    fn paths_are_refused() {
        check("..", Err("begins with a dot"));
        check(".", Err("begins with a dot"));
        check(".ssh", Err("begins with a dot"));
        check("a/b", Err("holds the character '/' at byte 1"));
        check("ä\\b", Err("holds the character '\\\\' at byte 2"));
        check("c:", Err("holds the character ':' at byte 1"));
    }

    #[test]
    fn what_breaks_a_log_line_or_a_file_name_is_refused() {
        check("", Err("is empty"));
        check(&"x".repeat(201), Err("is 201 bytes long, 200 are allowed"));
        check("a\nb", Err("holds the character '\\n' at byte 1"));
        check("a\0", Err("holds the character '\\0' at byte 1"));
        check("a\u{85}", Err("holds the character '\\u{85}' at byte 1"));
        check("a*", Err("holds the character '*' at byte 1"));
        check("a.", Err("ends with a dot or a space"));
        check("a ", Err("ends with a dot or a space"));
    }

    #[test]
    fn windows_devices_are_refused_in_any_case_and_with_any_ending() {
        check("NUL", Err("is the name of a device on Windows (NUL)"));
        check("com3.log", Err("is the name of a device on Windows (COM3)"));
        check("lpt¹", Err("is the name of a device on Windows (LPT¹)"));
        check("aux .x", Err("is the name of a device on Windows (AUX)"));
    }
}
