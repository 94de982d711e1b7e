//! What is known of the work: plan, directives, repository, messages. Packets and judges use it. Part of the fold.

use crate::event::{DirectiveGiven, Repo};
use crate::excerpt::{first_chars, tail};
use crate::signal::plan::{self, PlanItem, StepStatus};
use crate::units::{CallId, DirectiveId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// How many of each are remembered.
const MILESTONES: usize = 20;
const MOVES: usize = 40;
const CHANGED_FILES: usize = 50;
const FAILED_CHECKS: usize = 20;
const FAILED_COMMANDS: usize = 5;
const ASKED: usize = 20;
/// A message's beginning tells it apart; the handoff contains all of them.
const ASKED_CHARS: usize = 90;
const COMMAND_CHARS: usize = 80;
const TITLE_CHARS: usize = 60;
/// How many lines are looked at for a title.
const TITLE_LINES: usize = 20;
/// Their exit code 1 is an answer and no failure.
const ANSWER_BY_CODE: [&str; 8] = ["[", "cmp", "diff", "grep", "pgrep", "rg", "test", "which"];
const SAID: usize = 8;
const SAID_CHARS: usize = 600;
/// How many directives that are not pinned survive a compaction: the newest. Each handoff contains all of them.
const HEARD: usize = 20;
/// Before this format, a directive that was not pinned survived one compaction, however many there were.
const HEARD_STAY_SINCE: u16 = 2;

/// What is known of the work.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Known {
    /// The host's own title of the conversation, shortened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_title: Option<String>,
    /// The user's first message, word for word.
    pub first_message: Option<String>,
    /// The agent's last message, in full.
    pub last_message: Option<String>,
    /// How the user's messages begin, oldest first. They outlive compactions.
    #[serde(skip_serializing_if = "VecDeque::is_empty", default)]
    pub asked: VecDeque<String>,
    /// The newest messages of user and agent, oldest first, each cut to its end.
    pub said: VecDeque<Utterance>,
    /// The plan's steps, in order.
    pub plan: Vec<PlanItem>,
    /// How the plan's steps changed since the last compaction.
    pub moves: VecDeque<StepMove>,
    /// Standing instructions of the user, oldest first.
    pub directives: Vec<UserDirective>,
    /// How many directives have been given; counts their ids.
    pub directives_given: u32,
    /// Commits, pull requests and ended phases since the last compaction.
    pub milestones: Vec<String>,
    /// What was finished last since the compaction: a step of the plan, or the label of a phase.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finished: Option<String>,
    /// Checks that failed and have not passed since, by name.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub failed_checks: BTreeSet<String>,
    /// Commands that failed since the last compaction and have not succeeded since, oldest first.
    #[serde(skip_serializing_if = "VecDeque::is_empty", default)]
    pub failed_commands: VecDeque<String>,
    /// Files that were seen to change since a check passed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub unchecked_files: BTreeSet<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The repository at the last look.
    pub repo: Option<Repo>,
    /// When that was.
    pub repo_seen_at: Option<Timestamp>,
    /// A commit was signaled, and no observation has seen HEAD move since: the next move belongs to that commit.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub commit_told: bool,
    /// The hash of HEAD at the last compaction.
    pub compacted_head: Option<String>,
    /// Files that were seen to change since the last compaction.
    pub changed_files: BTreeSet<String>,
    /// The history has been rewritten, but a packet is still to be built from what was known before.
    pub outdated: bool,
    /// Tools and background commands that are running, with their names if known.
    pub tools_running: BTreeMap<CallId, Option<String>>,
}

/// A message, shortened.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Utterance {
    /// Who said it.
    pub by: Speaker,
    /// The end of the text, at most 600 characters.
    pub text: String,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    User,
    Agent,
}

/// A step of the plan that changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StepMove {
    pub step: String,
    /// The new status.
    pub status: StepStatus,
    /// When it changed.
    pub at: Timestamp,
}

/// A standing instruction of the user.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UserDirective {
    pub id: DirectiveId,
    /// The text, word for word.
    pub text: String,
    /// Survives every compaction; of the others only the newest do.
    pub pinned: bool,
    /// When it was given.
    pub given_at: Timestamp,
    /// Who gave it; absent where it was read from a message.
    pub by: Option<String>,
    /// How many compactions it has survived.
    pub survived: u32,
}

/// The beginning of a text, on one line.
fn beginning(text: &str, max_chars: usize) -> String {
    let (kept, is_whole) = cut(text, max_chars);
    if is_whole { kept } else { format!("{kept} …") }
}

/// The beginning of a text, on one line, and whether it is all of it.
fn cut(text: &str, max_chars: usize) -> (String, bool) {
    // A hostile text is not read to its end.
    let words = first_chars(text, max_chars * 4);
    let mut line = String::with_capacity(words.len());
    for word in words.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let kept = first_chars(&line, max_chars).len();
    let is_whole = kept == line.len() && words.len() == text.len();
    line.truncate(kept);
    (line, is_whole)
}

/// The end of a message, as [`Known::said`] keeps it.
pub fn shortened(text: &str) -> String {
    tail(text, SAID_CHARS)
}

/// The first line with words, shortened.
pub fn short_title(text: &str) -> Option<String> {
    let has_words = |line: &&str| line.contains(char::is_alphanumeric);
    let line = text.lines().take(TITLE_LINES).find(has_words)?;
    // A task is often a Markdown file, whose first line is a heading.
    let (kept, is_whole) = cut(line.trim_start_matches(['#', ' ']), TITLE_CHARS);
    Some(match kept.rsplit_once(' ') {
        _ if is_whole => kept,
        Some((words, _)) => format!("{words} …"),
        None => format!("{kept} …"),
    })
}

impl Known {
    /// The user's standing instructions, the pinned ones first.
    pub fn in_force(&self) -> impl Iterator<Item = &UserDirective> {
        let pinned = |pinned: bool| self.directives.iter().filter(move |of| of.pinned == pinned);
        pinned(true).chain(pinned(false))
    }

    /// The thread's title: the host's own, otherwise from the user's first message.
    pub fn title(&self) -> Option<String> {
        self.host_title.clone().or_else(|| short_title(self.first_message.as_deref()?))
    }

    /// The steps of the plan that are not done.
    pub fn open_steps(&self) -> impl Iterator<Item = &PlanItem> {
        plan::open_steps(&self.plan)
    }

    pub(super) fn remember(&mut self, by: Speaker, text: &str) {
        let text = shortened(text);
        if text.is_empty() {
            return;
        }
        self.said.push_back(Utterance { by, text });
        if self.said.len() > SAID {
            self.said.pop_front();
        }
    }

    pub(super) fn asked(&mut self, text: &str) {
        let text = beginning(text, ASKED_CHARS);
        if !text.is_empty() {
            self.asked.push_back(text);
            let many = self.asked.len().saturating_sub(ASKED);
            self.asked.drain(..many);
        }
    }

    pub(super) fn planned(&mut self, steps: &[PlanItem], at: Timestamp) {
        // The first of two steps with the same text counts.
        let before = self.plan.iter().rev().map(|step| (step.step.as_str(), step.status));
        let before: HashMap<_, _> = before.collect();
        for after in steps {
            if before.get(after.step.as_str()) != Some(&after.status) {
                let (step, status) = (after.step.clone(), after.status);
                if status == StepStatus::Completed {
                    self.finished = Some(step.trim().to_owned());
                }
                self.moves.push_back(StepMove { step, status, at });
            }
        }
        let many = self.moves.len().saturating_sub(MOVES);
        self.moves.drain(..many);
        self.plan = steps.to_vec();
    }

    /// Whether this directive is in force already.
    pub fn has_directive(&self, text: &str) -> bool {
        self.directives.iter().any(|known| known.text == text.trim())
    }

    /// A text that is given twice is one directive, and a pinned one stays pinned.
    pub(super) fn directed(&mut self, given: &DirectiveGiven, at: Timestamp) {
        let text = given.text.trim();
        if let Some(known) = self.directives.iter_mut().find(|known| known.text == text) {
            known.pinned |= given.pinned;
            known.survived = 0;
            return;
        }
        self.directives_given += 1;
        self.directives.push(UserDirective {
            id: DirectiveId::new(format!("p{}", self.directives_given)),
            text: text.to_owned(),
            pinned: given.pinned,
            given_at: at,
            by: given.by.clone(),
            survived: 0,
        });
    }

    pub(super) fn ran(&mut self, command: &str, exit_code: i64) {
        let program = command.split_whitespace().next().unwrap_or_default();
        let succeeded = exit_code == 0 || exit_code == 1 && ANSWER_BY_CODE.contains(&program);
        if succeeded && self.failed_commands.is_empty() {
            return;
        }
        let command = beginning(command, COMMAND_CHARS);
        self.failed_commands.retain(|failed| *failed != command);
        if !succeeded && !command.is_empty() {
            self.failed_commands.push_back(command);
            let many = self.failed_commands.len().saturating_sub(FAILED_COMMANDS);
            self.failed_commands.drain(..many);
        }
    }

    pub(super) fn checked(&mut self, check: &str, passed: bool) {
        if passed {
            self.failed_checks.remove(check);
            self.unchecked_files.clear();
        } else if self.failed_checks.len() < FAILED_CHECKS {
            self.failed_checks.insert(check.to_owned());
        }
    }

    pub(super) fn milestone(&mut self, text: &str) {
        self.milestones.push(text.trim().to_owned());
        if self.milestones.len() > MILESTONES {
            self.milestones.remove(0);
        }
    }

    pub(super) fn looked_at(&mut self, repo: &Repo, at: Timestamp) {
        let moved = self.repo.as_ref().is_some_and(|before| before.head != repo.head);
        self.commit_told &= !moved;
        self.branch = repo.branch.clone().or(self.branch.take());
        let news = repo.files.iter().chain(&repo.changed).cloned();
        for file in news {
            if self.unchecked_files.len() < CHANGED_FILES {
                self.unchecked_files.insert(file.clone());
            }
            if self.changed_files.len() < CHANGED_FILES {
                self.changed_files.insert(file);
            }
        }
        if self.compacted_head.is_none() {
            self.compacted_head.clone_from(&repo.head);
        }
        self.repo = Some(repo.clone());
        self.repo_seen_at = Some(at);
    }

    /// The history has been rewritten: forgets what happened before.
    pub(super) fn compacted(&mut self, v: u16) {
        self.outdated = false;
        self.finished = None;
        self.milestones.clear();
        self.moves.clear();
        self.said.clear();
        self.failed_commands.clear();
        self.changed_files.clear();
        self.compacted_head = self.repo.as_ref().and_then(|repo| repo.head.clone());
        let heard = self.directives.iter().filter(|directive| !directive.pinned).count();
        let mut too_many = heard.saturating_sub(HEARD);
        self.directives.retain(|directive| {
            if v < HEARD_STAY_SINCE {
                return directive.pinned || directive.survived == 0;
            }
            let drops = !directive.pinned && too_many > 0;
            too_many -= usize::from(drops);
            !drops
        });
        for directive in &mut self.directives {
            directive.survived += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: client.title
    #[test]
    fn a_title_is_the_first_line_with_words() {
        let check = |message: &str, title: Option<&str>| {
            let known = Known { first_message: Some(message.to_owned()), ..Known::default() };
            assert_eq!(known.title().as_deref(), title, "{message}");
        };
        check("Write the parser.", Some("Write the parser."));
        check("\n## Task: the parser\n\nWrite it.", Some("Task: the parser"));
        check("---\n***\n  fix   it\n", Some("fix it"));
        check("…!\n", None);
        check("Write it and so …", Some("Write it and so …"));
        let long =
            "Look at the sample files in samples/ and write kv.sh: it prints the value of a key.";
        check(long, Some("Look at the sample files in samples/ and write kv.sh: it …"));
        check(&"語".repeat(70), Some(&format!("{} …", "語".repeat(60))));
        check(&"\n".repeat(1_000_000), None);
        assert_eq!(Known::default().title(), None);
    }

    // rule: client.title
    #[test]
    fn the_hosts_title_comes_before_the_first_message() {
        let first_message = Some("Write the parser.".to_owned());
        let host_title = short_title("Parser\nand more");
        let known = Known { host_title, first_message, ..Known::default() };
        assert_eq!(known.title().as_deref(), Some("Parser"));
    }
}
