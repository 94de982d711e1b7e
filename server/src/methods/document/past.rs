//! Stored decisions, for an editor that shows how often a tier would have fired.

use rawr_core::assess::DecisionRecord;
use rawr_core::units::Timestamp;
use rawr_settings::problem::FileStamp;
use rawr_storage::store::StoredDecision;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Only the newest threads are read.
pub const MOST_THREADS: usize = 64;
/// The most bytes that are read of all files together. Only the end of each file is read.
const MOST_BYTES: u64 = 16 << 20;
const MOST_TIME: Duration = Duration::from_millis(500);

/// Decisions that were read before, by file.
#[derive(Debug, Default)]
pub struct PastDecisions {
    files: HashMap<PathBuf, (FileStamp, Vec<DecisionRecord>)>,
}

/// Reads new decisions, thread by thread. Returns whether some were left out because of the limits.
pub fn read_past(
    files: &[PathBuf],
    since: Timestamp,
    past: &mut PastDecisions,
) -> (Vec<Vec<DecisionRecord>>, bool) {
    let begun = Instant::now();
    let (mut bytes, mut all, mut partly) = (0, Vec::new(), false);
    past.files.retain(|path, _| files.contains(path));
    for path in files {
        let Some(stamp) = FileStamp::of(path) else { continue };
        if past.files.get(path).is_none_or(|(known, _)| *known != stamp) {
            let length = stamp.length();
            let left = MOST_BYTES.saturating_sub(bytes);
            if left == 0 || begun.elapsed() > MOST_TIME {
                partly = true;
                continue;
            }
            partly |= length > left;
            bytes += length.min(left);
            match read_end(path, length.saturating_sub(left)) {
                Ok(decisions) => {
                    let recent = decisions.into_iter().filter(|of| of.at >= since).collect();
                    past.files.insert(path.clone(), (stamp, recent));
                }
                Err(error) => {
                    tracing::warn!(file = %path.display(), %error, "left out decisions");
                    partly = true;
                }
            }
        }
        all.extend(past.files.get(path).map(|(_, decisions)| decisions.clone()));
    }
    (all, partly)
}

fn read_end(path: &PathBuf, from: u64) -> std::io::Result<Vec<DecisionRecord>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    // The first line may be incomplete.
    let begin = match from {
        0 => 0,
        _ => bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1),
    };
    Ok(StoredDecision::read(&bytes[begin..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rawr_core::boundary::Boundaries;
    use rawr_core::event::{Entrance, Outcome};
    use rawr_core::units::DecisionId;

    fn line(id: &str, at: i64) -> String {
        let decision = DecisionRecord {
            id: DecisionId::new(id),
            at: Timestamp(at),
            entrance: Entrance::TurnComplete,
            turn: None,
            outcome: Outcome::Nothing,
            tier: None,
            percent: None,
            boundaries: Boundaries::NONE,
            reason: String::new(),
            sequence: None,
            gates: Vec::new(),
            requests: Vec::new(),
            judgment: None,
            confirm: None,
            after_turn: false,
            proposal: None,
            tokens: None,
            would_fire_if: Vec::new(),
        };
        format!("{}\n", serde_json::to_string(&StoredDecision::of(&decision)).unwrap())
    }

    fn ids(threads: &[Vec<DecisionRecord>]) -> Vec<&str> {
        threads.iter().flatten().map(|decision| decision.id.as_str()).collect()
    }

    #[test]
    fn unchanged_files_are_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("decisions.jsonl");
        std::fs::write(&file, line("old", 1) + &line("a", 9)).unwrap();
        let files = [file.clone(), folder.path().join("absent")];
        let mut past = PastDecisions::default();
        let (threads, partly) = read_past(&files, Timestamp(5), &mut past);
        assert_eq!((ids(&threads), partly), (vec!["a"], false));
        // Unchanged files are answered from memory.
        past.files.get_mut(&file).unwrap().1.clear();
        assert_eq!(ids(&read_past(&files, Timestamp(5), &mut past).0), [""; 0]);
        std::fs::write(&file, line("a", 9) + &line("b", 9) + &line("c", 9)).unwrap();
        assert_eq!(ids(&read_past(&files, Timestamp(5), &mut past).0), ["a", "b", "c"]);
    }

    #[test]
    fn a_long_file_is_read_from_the_first_whole_line_near_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("decisions.jsonl");
        std::fs::write(&file, line("a", 9) + &line("b", 9)).unwrap();
        let found = read_end(&file, 10).unwrap();
        assert_eq!(ids(&[found]), ["b"]);
    }
}
