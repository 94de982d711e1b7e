//! Finds a host's transcript: Codex compresses old ones and moves those of archived threads to another folder.

use crate::profile::CODEX_SESSIONS;
use std::path::{Path, PathBuf};

const PACKED: &str = ".zst";

/// If it is found nowhere, returns `path`, so that it can be reported.
pub fn find(path: &Path) -> PathBuf {
    let places = [Some(path.to_owned()), archived(path)];
    let forms = places.into_iter().flatten().flat_map(|place| {
        let mut packed = place.clone().into_os_string();
        packed.push(PACKED);
        [place, packed.into()]
    });
    forms.into_iter().find(|form| form.is_file()).unwrap_or_else(|| path.to_owned())
}

fn archived(path: &Path) -> Option<PathBuf> {
    let is_kept = |folder: &&Path| folder.file_name().is_some_and(|name| name == CODEX_SESSIONS[0]);
    let kept = path.ancestors().skip(1).find(is_kept)?;
    Some(kept.with_file_name(CODEX_SESSIONS[1]).join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FILE: &str = "sessions/2026/11/22/rollout-1.jsonl";

    fn check(there: &[&str], expected: &str) {
        let home = tempfile::tempdir().unwrap();
        for file in there {
            let file = home.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        assert_eq!(find(&home.path().join(FILE)), home.path().join(expected), "{there:?}");
    }

    #[test]
    fn compressed_and_archived_transcripts_are_found() {
        check(&[FILE, "archived_sessions/rollout-1.jsonl"], FILE);
        check(
            &["sessions/2026/11/22/rollout-1.jsonl.zst"],
            "sessions/2026/11/22/rollout-1.jsonl.zst",
        );
        check(&["archived_sessions/rollout-1.jsonl"], "archived_sessions/rollout-1.jsonl");
        check(&["archived_sessions/rollout-1.jsonl.zst"], "archived_sessions/rollout-1.jsonl.zst");
        check(&[], FILE);
    }
}
