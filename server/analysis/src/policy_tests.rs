//! Policy tests of a repository: finds and reads `rawr.tests.toml`, loads the configuration that rawr would use there, and
//! plays each test. Decides nothing and writes no file.

mod read;

use crate::scenario::{Expectation, Scenario};
use rawr_core::policy::Policy;
use rawr_core::prompt::{PromptName, Prompts};
use rawr_core::units::Percent;
use rawr_settings::config::{Config, ConfigSources, Home, Preset, UnsavedTexts};
use rawr_settings::problem::{FileProblem, ProblemSeverity, read_text};
use rawr_settings::prompts::{PacketFrontMatter, PromptSet, parse};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub use crate::scenario::{PlacedDecision, ScenarioOutcome};

/// The name of a file of tests.
pub const FILE_NAME: &str = "rawr.tests.toml";

/// Which tests to run, and under what.
#[derive(Debug)]
pub struct PolicyTestRequest {
    /// Files of tests, or folders with one.
    pub paths: Vec<PathBuf>,
    /// The part of the configuration that is not in the repository.
    pub user: UserConfig,
    /// Only tests whose name contains this text.
    pub filter: Option<String>,
}

/// The part of the configuration that is not in the repository.
#[derive(Debug, Clone)]
pub enum UserConfig {
    /// The user's own files.
    Home(Home),
    /// This file alone.
    File(PathBuf),
    /// The built-in values of a preset alone.
    Preset(Preset),
}

/// Why no test ran.
#[derive(Debug, thiserror::Error)]
pub enum PolicyTestError {
    /// A file of tests, or a configuration, is wrong.
    #[error("{}", counted(.0))]
    Files(Vec<FileProblem>),
    /// No name contains the text.
    #[error("no test's name contains `{0}`; `rawr test --list` prints all names")]
    NoMatch(String),
}

fn counted(problems: &[FileProblem]) -> String {
    let them =
        if problems.len() == 1 { "1 problem" } else { &format!("{} problems", problems.len()) };
    format!("no test ran: {them} in these files")
}

/// Tests that can run.
#[derive(Debug)]
pub struct PolicyTestSuite {
    tests: Vec<LoadedTest>,
    /// Warnings about the configuration.
    pub warnings: Vec<FileProblem>,
}

#[derive(Debug)]
struct LoadedTest {
    file: PathBuf,
    test: PolicyTest,
    policy: Policy,
}

/// One test, as the file has it.
#[derive(Debug, Clone)]
struct PolicyTest {
    name: String,
    /// Where its name is, counted from 1.
    line: u32,
    /// Instead of the user's.
    user: Option<UserConfig>,
    model: Option<String>,
    scenario: Scenario,
}

/// Where a test is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyTestName {
    /// The test's file.
    pub file: String,
    /// The test's line, counted from 1.
    pub line: u32,
    /// The test's name, unique in the file.
    pub name: String,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyTestResult {
    /// Which one.
    #[serde(flatten)]
    pub test: PolicyTestName,
    /// Whether the test went as expected.
    pub passed: bool,
    /// What was expected, for people.
    pub expected: Vec<ExpectedOutcome>,
    /// What happened, for people.
    pub happened: String,
    /// Percent of the context window left at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Percent>,
    /// The steps, for people.
    pub steps: Vec<String>,
    /// All decisions, in order.
    pub decisions: Vec<PlacedDecision>,
}

/// One expectation of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExpectedOutcome {
    /// For people.
    pub text: String,
    /// Whether the expectation came true.
    pub met: bool,
}

/// The nearest file of tests, from this folder up to the root of its repository.
pub fn nearest_file(folder: &Path) -> Option<PathBuf> {
    let is_root = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
    let up = folder.ancestors().position(is_root).unwrap_or(0);
    folder.ancestors().take(up + 1).map(|folder| folder.join(FILE_NAME)).find(|file| file.exists())
}

impl PolicyTestSuite {
    /// Reads the tests and the configuration of each.
    ///
    /// # Errors
    ///
    /// [`PolicyTestError`] if a file is wrong, or if there is no test to run. Nothing runs then.
    pub fn load(request: &PolicyTestRequest) -> Result<Self, PolicyTestError> {
        let mut problems = Vec::new();
        let mut found = Vec::new();
        for path in &request.paths {
            let file = if path.is_dir() { path.join(FILE_NAME) } else { path.clone() };
            match read_text(&file) {
                Ok(Some(text)) => {
                    let tests = read::tests(&file, &text, &mut problems);
                    found.extend(tests.into_iter().map(|test| (file.clone(), test)));
                }
                Ok(None) => problems.push(
                    FileProblem::error("no-file", "there is no such file")
                        .help(format!("pass a {FILE_NAME}, or a folder with one"))
                        .in_file(Some(&file)),
                ),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(PolicyTestError::Files(problems));
        }
        if let Some(filter) = &request.filter {
            found.retain(|(_, test)| test.name.contains(filter));
            if found.is_empty() {
                return Err(PolicyTestError::NoMatch(filter.clone()));
            }
        }
        let mut tests = Vec::new();
        for (file, test) in found {
            let user = test.user.as_ref().unwrap_or(&request.user);
            let (policy, of_config) = user.policy(folder_of(&file), test.model.as_deref());
            for problem in of_config {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            tests.push(LoadedTest { file, test, policy });
        }
        if problems.iter().any(|problem| problem.severity == ProblemSeverity::Error) {
            return Err(PolicyTestError::Files(problems));
        }
        Ok(Self { tests, warnings: problems })
    }

    /// The tests, in the order of the files.
    pub fn names(&self) -> impl Iterator<Item = PolicyTestName> {
        self.tests.iter().map(LoadedTest::name)
    }

    /// Plays each test.
    pub fn run(&self) -> impl Iterator<Item = PolicyTestResult> {
        let shipped = PromptSet::shipped();
        self.tests.iter().map(move |test| test.run(shipped.prompts()))
    }
}

impl LoadedTest {
    fn name(&self) -> PolicyTestName {
        let PolicyTest { name, line, .. } = &self.test;
        PolicyTestName { file: self.file.display().to_string(), line: *line, name: name.clone() }
    }

    fn run(&self, prompts: &Prompts) -> PolicyTestResult {
        let scenario = &self.test.scenario;
        let played = scenario.play(&self.policy, prompts);
        let outcome = |expected: &Expectation| ExpectedOutcome {
            text: expected.to_string(),
            met: played.meets(expected),
        };
        let expected: Vec<_> = scenario.expected.iter().map(outcome).collect();
        PolicyTestResult {
            test: self.name(),
            passed: expected.iter().all(|expected| expected.met),
            expected,
            happened: played.summary(),
            left: played.left,
            steps: scenario.steps.iter().map(ToString::to_string).collect(),
            decisions: played.decisions,
        }
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

impl UserConfig {
    /// The policy in a project's folder, with the problems of all files that count.
    fn policy(&self, project: &Path, model: Option<&str>) -> (Policy, Vec<FileProblem>) {
        let (home, texts) = match self {
            Self::Home(home) => (home.clone(), UnsavedTexts::new()),
            Self::File(file) => {
                let home = Home::of_file(file.clone());
                let texts = UnsavedTexts::from([(home.host_toml(), String::new())]);
                (home, texts)
            }
            Self::Preset(preset) => {
                let home = Home::at("");
                let rawr = format!("[rawr_auto_compaction]\npreset = \"{}\"\n", preset.name());
                let host = (home.host_toml(), String::new());
                let texts = UnsavedTexts::from([host, (home.rawr_toml(), rawr)]);
                (home, texts)
            }
        };
        let load = |front_matter: &PacketFrontMatter| -> (Config, Vec<FileProblem>) {
            ConfigSources {
                project: Some(project),
                model,
                front_matter: Some(front_matter),
                unsaved: Some(&texts),
                ..ConfigSources::at(&home)
            }
            .load()
        };
        let (config, problems) = load(&PacketFrontMatter::default());
        let front_matter = match self {
            Self::Home(home) => front_matter(home, &config),
            Self::File(_) | Self::Preset(_) => PacketFrontMatter::default(),
        };
        let (config, problems) = match front_matter == PacketFrontMatter::default() {
            true => (config, problems),
            false => load(&front_matter),
        };
        let (policy, mut problems) = (config.policy, problems);
        problems.retain(|problem| problem.severity != ProblemSeverity::Hint);
        (policy, problems)
    }
}

/// The layer of the user's packet request.
fn front_matter(home: &Home, config: &Config) -> PacketFrontMatter {
    let name = PromptName::AutoCompact;
    let default = || PathBuf::from(format!("{}.md", name.name()));
    let path = config.prompt_paths.get(&name).cloned().unwrap_or_else(default);
    let path = home.prompt_folder().join(path);
    let parsed = match read_text(&path) {
        Ok(None) => return PacketFrontMatter::default(),
        Ok(Some(text)) => parse(name, &text, Some(&path)).ok(),
        Err(_) => None,
    };
    let unreadable = || PacketFrontMatter {
        file: Some(path.clone()),
        unreadable: true,
        ..PacketFrontMatter::default()
    };
    parsed.map_or_else(unreadable, |parsed| parsed.packet)
}
