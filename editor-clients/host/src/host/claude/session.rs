//! The id of a new Claude Code conversation, and the path of its transcript.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use super::ClaudeSettings;

/// A random UUID, the only kind of id that Claude Code accepts.
pub(in crate::host) fn fresh_id() -> String {
    // Each `RandomState` has random keys.
    let draw = || RandomState::new().build_hasher().finish();
    uuid(u128::from(draw()) << 64 | u128::from(draw()))
}

/// Sets the version and variant bits of a random UUID.
fn uuid(random: u128) -> String {
    let marked = random & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let digits = format!("{marked:032x}");
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    parts.join("-")
}

/// The path of the transcript. `None` if the folder's name is so long that Claude Code shortens it.
pub(super) fn transcript(settings: &ClaudeSettings, session: &str) -> Option<PathBuf> {
    const LONGEST: usize = 200;
    let set = settings.environment.iter();
    let variable = |name: &str| -> Option<OsString> {
        let own = set.clone().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        own.or_else(|| std::env::var_os(name)).filter(|value| !value.is_empty())
    };
    let config = variable("CLAUDE_CONFIG_DIR")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&variable("HOME")?).join(".claude")))?;
    let cwd = settings.cwd.canonicalize().ok()?;
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let folder: String = cwd.to_str()?.chars().map(letter).collect();
    (folder.len() <= LONGEST)
        .then(|| config.join("projects").join(folder).join(format!("{session}.jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_is_a_new_random_uuid() {
        assert_eq!(uuid(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_ne!(fresh_id(), fresh_id());
    }

    #[test]
    fn the_transcript_folder_is_named_after_the_working_folder() {
        let root = tempfile::tempdir().unwrap();
        let cwd = root.path().canonicalize().unwrap().join("my.project");
        std::fs::create_dir(&cwd).unwrap();
        let mut settings = ClaudeSettings::new("claude".into(), cwd.clone());
        settings.environment = vec![("CLAUDE_CONFIG_DIR".into(), "/config".into())];
        let name = cwd.to_str().unwrap().replace(['/', '.', '_'], "-");
        let expected = PathBuf::from(format!("/config/projects/{name}/id.jsonl"));
        assert_eq!(transcript(&settings, "id"), Some(expected));
    }
}
