//! What an editor of prompts and configuration wants to know: which files are in force, what a prompt would say of the
//! newest thread, and where decisions are stored. Nothing is changed here.

use super::settings::ConfigScope;
use super::{Desk, DeskError};
use crate::config::{Config, Home};
use crate::problem::Stamp;
use crate::prompts::PacketFrontMatter;
use crate::store::{DECISIONS, EVENTS, StoredDecision};
use rawr_core::Thread;
use rawr_core::assess::Decision;
use rawr_core::event::{Packet, Resume};
use rawr_core::judgment::{self, JudgmentCase};
use rawr_core::policy::{PacketAuthor, Tier};
use rawr_core::prompt::{Placeholder, PromptName, render};
use rawr_core::units::{Percent, ThreadId, Timestamp};
use rawr_core::{compose, scratch};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where the user's files are.
#[derive(Debug, Clone)]
pub struct Editing {
    pub home: Home,
    pub overrides: Option<Value>,
    pub prompt_folder: PathBuf,
    pub prompts: Vec<(PromptName, PathBuf)>,
    /// The decision prompts that tiers name.
    pub decisions: Vec<PathBuf>,
    pub front_matter: PacketFrontMatter,
}

/// What a prompt would say now.
#[derive(Debug, Clone)]
pub struct Now {
    pub thread: ThreadId,
    pub model: Option<String>,
    /// By the camelCase name. What has no value now is left out.
    pub values: BTreeMap<&'static str, String>,
}

/// The newest thread as it was when its log was looked at last.
#[derive(Debug, Default)]
pub(super) struct Newest {
    known: Option<(Option<Stamp>, Box<Thread>)>,
}

impl Desk {
    pub fn editing(&self) -> Editing {
        let (config, _) = &self.base;
        let folder = self.prompts.folder().to_owned();
        Editing {
            home: self.setup.home.clone(),
            overrides: self.setup.overrides.clone(),
            prompts: PromptName::ALL.map(|name| (name, self.prompts.path(name))).to_vec(),
            decisions: config.decision_prompts().map(|path| folder.join(path)).collect(),
            front_matter: self.prompts.set().packet_front_matter().clone(),
            prompt_folder: folder,
        }
    }

    /// Of the thread in which something was recorded last; `None` where there is none.
    pub fn values_now(&mut self, name: PromptName) -> Result<Option<Now>, DeskError> {
        let Some(id) = self.store.newest(1)?.into_iter().next() else { return Ok(None) };
        if let Some(open) = self.threads.get(&id) {
            return Ok(Some(now_of(open.machine.thread(), &open.config, name)));
        }
        let stamp = Stamp::of(&self.store.folder(&id).join(EVENTS));
        let known = self.newest.known.as_ref();
        if known.is_none_or(|(known, thread)| *known != stamp || thread.id != id) {
            let thread = self.store.glance(&id)?;
            self.newest.known = Some((stamp, Box::new(thread)));
        }
        let thread = self.newest.known.as_ref().map(|(_, thread)| thread);
        Ok(thread.map(|thread| {
            let (config, _) = self.configure(&ConfigScope::recorded(thread));
            now_of(thread, &config, name)
        }))
    }

    /// Where the newest threads keep their decisions, the newest first.
    pub fn decision_files(&self) -> Result<Vec<PathBuf>, DeskError> {
        let threads = self.store.newest(MOST_THREADS)?;
        Ok(threads.iter().map(|id| self.store.folder(id).join(DECISIONS)).collect())
    }

    pub fn put_prompt_back(&mut self, name: PromptName) -> Result<PathBuf, DeskError> {
        let path = self.prompts.path(name);
        let put = self.prompts.put_back(name);
        let failed = |source| DeskError::Notes { verb: "write", path, source };
        put.map_err(failed).inspect(|_| self.refresh_prompts())
    }
}

/// Each placeholder is rendered as the prompt itself would be.
fn now_of(thread: &Thread, config: &Config, name: PromptName) -> Now {
    let scratch_file =
        scratch::file(&config.policy.scratch_file_template, &thread.id, thread.agent.as_deref());
    let value = |placeholder: &Placeholder| {
        let template = format!("{{{}}}", placeholder.camel);
        match name {
            PromptName::JudgmentContext => judged(thread, config, placeholder.camel, &template),
            PromptName::WatcherPacket => {
                let max = config.policy.packet_max_tail_chars;
                Some(compose::by_watcher(thread, &template, &scratch_file, max).text)
            }
            PromptName::Handoff => handed_off(thread, placeholder.camel, &template, &scratch_file),
            name => {
                let finished = thread.known.finished.as_deref().map(compose::finished);
                let known = [
                    ("scratchFile", scratch_file.as_str()),
                    ("threadId", thread.id.as_str()),
                    ("finished", finished.as_deref().unwrap_or_default()),
                ];
                let known = |camel: &str| known.iter().find(|(of, _)| *of == camel).map(|of| of.1);
                known(placeholder.camel).map(|_| render(name, &template, known))
            }
        }
    };
    let placeholders = name.placeholders().iter();
    let values = placeholders.filter_map(|known| Some((known.camel, value(known)?))).collect();
    Now { thread: thread.id.clone(), model: thread.model.clone(), values }
}

/// Above every tier nobody is asked, and there is no tier to name.
fn judged(thread: &Thread, config: &Config, camel: &str, template: &str) -> Option<String> {
    let percent = thread.percent_remaining(&config.policy);
    let tier = thread.tier(&config.policy);
    match camel {
        "tier" if tier.is_none() => return None,
        "percentRemaining" if percent.is_none() => return None,
        _ => {}
    }
    let tier = tier.unwrap_or(Tier::Early);
    let case = JudgmentCase {
        thread,
        tier,
        percent: percent.unwrap_or(Percent(100)),
        boundaries: thread.present(None).and(config.policy.tiers.rule(tier).counting(tier)),
        last_message: thread.known.last_message.as_deref(),
        excerpt: None,
    };
    Some(judgment::context(&case, template))
}

/// The packet of the running sequence, or of the last one that had any.
fn handed_off(thread: &Thread, camel: &str, template: &str, scratch_file: &str) -> Option<String> {
    let running = thread.sequence.as_ref().and_then(|running| running.packet.as_ref());
    let packet = running.or_else(|| thread.last_packet.as_ref().map(|last| &last.packet));
    let none = Packet {
        author: PacketAuthor::Watcher,
        resume: Resume::Working,
        text: String::new(),
        added: Vec::new(),
    };
    let of_packet = matches!(camel, "packet" | "author" | "resume");
    if packet.is_none() && of_packet {
        return None;
    }
    let packet = packet.unwrap_or(&none);
    Some(compose::handoff(thread, template, packet, compose::Continue::AsInPacket, scratch_file))
}

const MOST_THREADS: usize = 64;
/// Of all files together, and of each its end.
const MOST_BYTES: u64 = 16 << 20;
const MOST_TIME: Duration = Duration::from_millis(500);

/// Decisions that were read before, by their file.
#[derive(Debug, Default)]
pub struct Past {
    files: HashMap<PathBuf, (Stamp, Vec<Decision>)>,
}

/// Reads what was decided since, thread by thread. Says whether something was left out because it is too much.
pub fn read_past(
    files: &[PathBuf],
    since: Timestamp,
    past: &mut Past,
) -> (Vec<Vec<Decision>>, bool) {
    let begun = Instant::now();
    let (mut bytes, mut all, mut partly) = (0, Vec::new(), false);
    past.files.retain(|path, _| files.contains(path));
    for path in files {
        let Some(stamp) = Stamp::of(path) else { continue };
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
                    tracing::warn!(file = %path.display(), %error, "decisions are left out");
                    partly = true;
                }
            }
        }
        all.extend(past.files.get(path).map(|(_, decisions)| decisions.clone()));
    }
    (all, partly)
}

fn read_end(path: &PathBuf, from: u64) -> std::io::Result<Vec<Decision>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    // The first line may be cut.
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
        let decision = Decision {
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
            judgment: None,
            would_fire_if: Vec::new(),
        };
        format!("{}\n", serde_json::to_string(&StoredDecision::of(&decision)).unwrap())
    }

    fn ids(threads: &[Vec<Decision>]) -> Vec<&str> {
        threads.iter().flatten().map(|decision| decision.id.as_str()).collect()
    }

    #[test]
    fn decisions_are_read_again_only_where_their_file_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("decisions.jsonl");
        std::fs::write(&file, line("old", 1) + &line("a", 9)).unwrap();
        let files = [file.clone(), folder.path().join("absent")];
        let mut past = Past::default();
        let (threads, partly) = read_past(&files, Timestamp(5), &mut past);
        assert_eq!((ids(&threads), partly), (vec!["a"], false));
        // What is known of a file is believed while it looks the same.
        past.files.get_mut(&file).unwrap().1.clear();
        assert_eq!(ids(&read_past(&files, Timestamp(5), &mut past).0), [""; 0]);
        std::fs::write(&file, line("a", 9) + &line("b", 9) + &line("c", 9)).unwrap();
        assert_eq!(ids(&read_past(&files, Timestamp(5), &mut past).0), ["a", "b", "c"]);
    }

    #[test]
    fn of_a_file_that_is_too_long_the_end_is_read_from_its_next_line_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("decisions.jsonl");
        std::fs::write(&file, line("a", 9) + &line("b", 9)).unwrap();
        let found = read_end(&file, 10).unwrap();
        assert_eq!(ids(&[found]), ["b"]);
    }
}
