//! Reads the configuration and the prompts like the sidecar, with their problems, but without a sidecar and without creating
//! files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rawr_settings::config::{Config, ConfigSources, Home};
use rawr_settings::problem::{
    FileProblem, ProblemSeverity, RenderMode, Utf16Position, positions, read_text, render,
};
use rawr_settings::prompts::{PacketFrontMatter, PromptSet, parse, shipped};

pub(super) struct UserFiles {
    pub config: Config,
    pub problems: Vec<FileProblem>,
    pub prompts: Vec<PromptFile>,
    /// Problems of the judge prompts that tiers name.
    pub decisions: Vec<FileProblem>,
}

pub(super) struct PromptFile {
    pub name: &'static str,
    /// The path, even if there is no file.
    pub path: PathBuf,
    /// `None` if there is no file.
    pub source: Option<String>,
    /// The text with its front matter.
    pub shipped: &'static str,
    pub problems: Vec<FileProblem>,
}

impl PromptFile {
    pub(super) fn is_usable(&self) -> bool {
        !self.problems.iter().any(|problem| problem.severity == ProblemSeverity::Error)
    }
}

impl UserFiles {
    pub(super) fn read(home: &Home, project: Option<&Path>, model: Option<&str>) -> Self {
        Self::read_with(home, project, model, None)
    }

    pub(super) fn read_with(
        home: &Home,
        project: Option<&Path>,
        model: Option<&str>,
        overrides: Option<&serde_json::Value>,
    ) -> Self {
        let load = |front_matter: &PacketFrontMatter| {
            let front_matter = Some(front_matter);
            let sources = ConfigSources::at(home);
            ConfigSources { project, model, overrides, front_matter, ..sources }.load()
        };
        let folder = home.prompt_folder();
        let config = load(&PacketFrontMatter::default()).0;
        let mut front_matter = PacketFrontMatter::default();
        let mut prompts = Vec::new();
        for prompt in PromptSet::shipped().iter() {
            let named = config.prompt_paths.get(&prompt.name).map(|path| folder.join(path));
            let is_named = named.is_some();
            let default = || folder.join(format!("{}.md", prompt.name.name()));
            let path = named.unwrap_or_else(default);
            let (mut source, mut problems) = (None, Vec::new());
            match read_text(&path) {
                Ok(Some(text)) => {
                    match parse(prompt.name, &text, Some(&path)) {
                        Ok(parsed) => {
                            if parsed.packet != PacketFrontMatter::default() {
                                front_matter = parsed.packet;
                            }
                            problems = parsed.problems;
                        }
                        Err(found) => problems = found,
                    }
                    source = Some(text);
                }
                Ok(None) if is_named => {
                    let problem = FileProblem::error("no-file", "file not found");
                    problems.push(problem.in_file(Some(&path)));
                }
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
            let (name, shipped) = (prompt.name.name(), shipped(prompt.name));
            prompts.push(PromptFile { name, path, source, shipped, problems });
        }
        let (config, mut problems) = load(&front_matter);
        problems.extend(broken_codex_file(&home.host_toml(), &problems));
        let decisions = decisions(&config, &folder);
        Self { config, problems, prompts, decisions }
    }
}

/// A syntax error in Codex's config.toml. The sidecar leaves it to Codex if the file has no settings of rawr; `doctor` reports
/// it.
fn broken_codex_file(path: &Path, told: &[FileProblem]) -> Option<FileProblem> {
    if told.iter().any(|problem| problem.file.as_deref() == Some(path)) {
        return None;
    }
    let text = read_text(path).ok().flatten()?;
    let error = toml::from_str::<toml::Table>(&text).err()?;
    let mut problem = FileProblem::error("syntax", error.message().to_owned());
    problem.span = error.span();
    let help = "Codex does not start with this file either; rawr ignores it".to_owned();
    Some(problem.help(help).in_file(Some(path)))
}

const SHIPPED_JUDGMENT: &str = "judgment.md";

fn decisions(config: &Config, folder: &Path) -> Vec<FileProblem> {
    let mut problems = Vec::new();
    // Without the shipped one's file its built-in text holds.
    for path in config.decision_prompts().filter(|path| *path != SHIPPED_JUDGMENT) {
        let path = folder.join(path);
        match read_text(&path) {
            Ok(Some(_)) => {}
            Ok(None) => problems.push(
                FileProblem::warning("no-file", "decision prompt not found")
                    .help("rawr uses `judgment.md` instead".to_owned())
                    .in_file(Some(&path)),
            ),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// A problem as text and as JSON.
pub(super) struct ShownProblem {
    pub text: String,
    pub wire: rawr_protocol::Problem,
}

/// The text with the affected lines.
pub(super) fn show<'p>(
    problems: impl IntoIterator<Item = &'p FileProblem>,
    look: RenderMode,
) -> Vec<ShownProblem> {
    let mut sources = BTreeMap::new();
    let mut shown = Vec::new();
    for problem in problems {
        let source = problem.file.as_deref().and_then(|file| {
            let source = sources.entry(file).or_insert_with(|| read_text(file).ok().flatten());
            source.as_deref()
        });
        let text = render(problem, source, look);
        shown.push(ShownProblem { text, wire: on_the_wire(problem, source) });
    }
    shown
}

fn on_the_wire(problem: &FileProblem, source: Option<&str>) -> rawr_protocol::Problem {
    let place = |at: Utf16Position| rawr_protocol::Position {
        line: at.line.into(),
        character: at.character.into(),
    };
    let range = source.zip(problem.span.as_ref()).map(|(source, span)| {
        let found = positions(source, span);
        rawr_protocol::Range { start: place(found.start), end: place(found.end) }
    });
    rawr_protocol::Problem {
        code: problem.code.to_owned(),
        severity: match problem.severity {
            ProblemSeverity::Error => rawr_protocol::Severity::Error,
            ProblemSeverity::Warning => rawr_protocol::Severity::Warning,
            ProblemSeverity::Hint => rawr_protocol::Severity::Hint,
        },
        message: problem.message.clone(),
        file: problem.file.as_ref().map(|file| file.display().to_string()),
        range,
        help: problem.help.as_ref().map(ToString::to_string),
    }
}
