//! Records in rawr's home that a goal was paused, so that the next driver resumes it if this one is killed. Codex changes a
//! goal's timestamp whenever the goal is changed: a goal that equals its record has not been changed since.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::private_fs::{make_folder, write_file};

/// The record of one thread.
#[derive(Debug)]
pub(super) struct PausedGoalRecord {
    path: PathBuf,
}

impl PausedGoalRecord {
    /// `None` for a thread id that is not a valid file name.
    pub(super) fn of(home: &Path, thread_id: &str) -> Option<Self> {
        let is_name = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let folder = home.join("rawr").join("paused");
        (!thread_id.is_empty() && is_name(thread_id)).then(|| Self { path: folder.join(thread_id) })
    }

    /// Stores the goal as Codex reports it now.
    pub(super) fn write(&self, about: &Value) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), make_folder)?;
        write_file(&self.path, &about["goal"].to_string())
    }

    pub(super) fn is_of(&self, about: &Value) -> bool {
        let noted = std::fs::read(&self.path).ok();
        let noted = noted.and_then(|noted| serde_json::from_slice::<Value>(&noted).ok());
        noted.is_some_and(|noted| noted.is_object() && noted == about["goal"])
    }

    pub(super) fn forget(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_goal_matches_its_record_until_it_is_changed() {
        let home = tempfile::tempdir().unwrap();
        let paused = PausedGoalRecord::of(home.path(), "01a2-b").unwrap();
        let about = |time: u64| json!({"goal": {"status": "paused", "updatedAt": time}});
        assert!(!paused.is_of(&about(1)));
        paused.write(&about(1)).unwrap();
        assert!(paused.is_of(&about(1)));
        assert!(!paused.is_of(&about(2)) && !paused.is_of(&json!({"goal": null})));
        paused.forget().unwrap();
        paused.forget().unwrap();
        assert!(!paused.is_of(&about(1)));
    }

    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let paused = PausedGoalRecord::of(home.path(), "01a2-b").unwrap();
        paused.write(&json!({"goal": {}})).unwrap();
        assert_eq!(paused.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_thread_id_that_is_a_path_has_no_record() {
        let home = Path::new("/home/of/rawr");
        assert!(
            PausedGoalRecord::of(home, "../x").is_none()
                && PausedGoalRecord::of(home, "").is_none()
        );
    }
}
