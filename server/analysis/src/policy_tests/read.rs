//! Reads a file of tests into scenarios. Everything that is not understood is an error: a test that says less than its
//! author means would pass for nothing.

mod expect;
mod step;

use super::{PolicyTest, UserConfig, folder_of};
use crate::play::ScriptedJudge;
use crate::scenario::Scenario;
use rawr_core::units::Tokens;
use rawr_settings::config::Preset;
use rawr_settings::problem::written::{ValueReader, WrittenKind, WrittenValue};
use rawr_settings::problem::{FileProblem, capped, from_toml, positions};
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

const FILE_KEYS: [&str; 2] = ["version", "test"];
const TEST_KEYS: [&str; 8] =
    ["name", "preset", "config", "window", "model", "judge", "steps", "expect"];
const PRESETS: [Preset; 2] = [Preset::Calm, Preset::Spec];
const JUDGES: [(&str, ScriptedJudge); 3] =
    [("yes", ScriptedJudge::Yes), ("no", ScriptedJudge::No), ("silent", ScriptedJudge::Silent)];
/// More than any model has.
const WINDOWS: RangeInclusive<u64> = 1..=1_000_000_000;
const DEFAULT_WINDOW: Tokens = Tokens(200_000);

/// The tests of a file, and its problems. With a problem the tests are incomplete.
pub(super) fn tests(file: &Path, text: &str, problems: &mut Vec<FileProblem>) -> Vec<PolicyTest> {
    let root = match from_toml(text) {
        Ok(root) => root,
        Err(problem) => {
            problems.push(problem.in_file(Some(file)));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    let mut reader =
        TestReader { reader: ValueReader { file: Some(file), problems: &mut found }, file, text };
    let tests = reader.file(&root);
    found.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
    problems.extend(capped(found));
    tests
}

struct TestReader<'r> {
    reader: ValueReader<'r>,
    file: &'r Path,
    text: &'r str,
}

impl TestReader<'_> {
    fn file(&mut self, root: &WrittenValue) -> Vec<PolicyTest> {
        let Some(table) = self.reader.table("the file", root) else { return Vec::new() };
        let (mut has_version, mut written) = (false, None);
        for (name, value) in table {
            match name.text.as_str() {
                "version" => {
                    has_version = true;
                    self.version(value);
                }
                "test" => written = Some(value),
                _ => self.reader.refuse_key(name, "the file", &FILE_KEYS),
            }
        }
        let listed = match written {
            Some(written) => self.reader.list("test", written).unwrap_or_default(),
            None => {
                let help = "begin with `version = 1` and a `[[test]]` table".to_owned();
                self.refuse("no-tests", "there are no tests in this file".to_owned(), None, help);
                return Vec::new();
            }
        };
        if !has_version {
            let message = "`version` is missing".to_owned();
            self.refuse("missing-key", message, None, "begin with `version = 1`".to_owned());
        }
        if listed.is_empty() {
            let help = "add a `[[test]]` table".to_owned();
            let span = written.and_then(|written| written.span.clone());
            self.refuse("no-tests", "there are no tests in this file".to_owned(), span, help);
        }
        let mut names = BTreeSet::new();
        listed.iter().filter_map(|written| self.test(written, &mut names)).collect()
    }

    fn version(&mut self, written: &WrittenValue) {
        if written.what != WrittenKind::Number(1) {
            let help = "this rawr reads `version = 1`".to_owned();
            let message = "`version` is not known".to_owned();
            self.refuse("unknown-version", message, written.span.clone(), help);
        }
    }

    fn test(&mut self, written: &WrittenValue, names: &mut BTreeSet<String>) -> Option<PolicyTest> {
        let table = self.reader.table("test", written)?;
        let get = |key: &str| table.iter().find(|(name, _)| name.text == key).map(|(_, it)| it);
        for (name, _) in table.iter().filter(|(name, _)| !TEST_KEYS.contains(&name.text.as_str())) {
            self.reader.refuse_key(name, "`[[test]]`", &TEST_KEYS);
        }
        let (name, at) = self.name(written, get("name"), names);
        let (user, is_chosen) = self.user(get("preset"), get("config"));
        let model = get("model").map(|it| self.reader.text("model", it));
        let window = get("window").map(|it| self.reader.number("window", &WINDOWS, it));
        let judge = get("judge").map(|it| self.judge(it));
        let steps = self.steps(written, get("steps"));
        let expected = self.expected(written, get("expect"), steps.as_deref());
        if !is_chosen {
            return None;
        }
        Some(PolicyTest {
            name: name?,
            line: positions(self.text, &at).start.line + 1,
            user,
            model: optional(model)?,
            scenario: Scenario {
                window: optional(window)?.map_or(DEFAULT_WINDOW, Tokens),
                judge: optional(judge)?.unwrap_or_default(),
                steps: steps?,
                expected: expected?,
            },
        })
    }

    fn name(
        &mut self,
        test: &WrittenValue,
        written: Option<&WrittenValue>,
        names: &mut BTreeSet<String>,
    ) -> (Option<String>, Range<usize>) {
        let span = |of: &WrittenValue| of.span.clone().unwrap_or_default();
        let Some(written) = written else {
            self.missing("name", test, "say in a sentence what should happen");
            return (None, span(test));
        };
        let at = span(written);
        let Some(name) = self.reader.text("name", written) else { return (None, at) };
        let name = name.trim().to_owned();
        if name.is_empty() || name.contains(char::is_control) {
            let help = "say in a sentence what should happen".to_owned();
            let message = "`name` must be one line of text".to_owned();
            self.refuse("wrong-value", message, written.span.clone(), help);
        } else if !names.insert(name.clone()) {
            let help = "give each test its own name".to_owned();
            let message = "another test of this file has the same name".to_owned();
            self.refuse("repeated-name", message, written.span.clone(), help);
        }
        (Some(name), at)
    }

    /// What stands in for the user's configuration, and whether that is understood.
    fn user(
        &mut self,
        preset: Option<&WrittenValue>,
        config: Option<&WrittenValue>,
    ) -> (Option<UserConfig>, bool) {
        match (preset, config) {
            (None, None) => (None, true),
            (Some(written), None) => {
                let word = self.reader.word("preset", &PRESETS.map(Preset::name), written);
                let preset = word.and_then(|word| PRESETS.into_iter().find(|it| it.name() == word));
                (preset.map(UserConfig::Preset), preset.is_some())
            }
            (None, Some(written)) => {
                let Some(path) = self.reader.text("config", written) else { return (None, false) };
                let path = folder_of(self.file).join(path);
                if !path.is_file() {
                    let help = "paths are relative to the folder of this file".to_owned();
                    let message = format!("there is no file {}", path.display());
                    self.refuse("no-file", message, written.span.clone(), help);
                }
                (Some(UserConfig::File(path)), true)
            }
            (Some(_), Some(written)) => {
                let help = "remove one of them".to_owned();
                let message = "`preset` and `config` exclude each other".to_owned();
                self.refuse("wrong-value", message, written.span.clone(), help);
                (None, false)
            }
        }
    }

    fn judge(&mut self, written: &WrittenValue) -> Option<ScriptedJudge> {
        let word = self.reader.word("judge", &JUDGES.map(|(word, _)| word), written)?;
        JUDGES.into_iter().find(|(known, _)| *known == word).map(|(_, judge)| judge)
    }

    fn missing(&mut self, key: &str, test: &WrittenValue, help: &str) {
        let message = format!("`{key}` is missing in this test");
        self.refuse("missing-key", message, test.span.clone(), help.to_owned());
    }

    fn refuse(
        &mut self,
        code: &'static str,
        message: String,
        span: Option<Range<usize>>,
        help: String,
    ) {
        self.reader.report(FileProblem::error(code, message).at(span).help(help));
    }
}

/// A value that may be absent, but not wrong.
fn optional<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        None => Some(None),
        Some(None) => None,
        Some(value) => Some(value),
    }
}

#[cfg(test)]
mod tests;
