//! `rawr doctor`: checks the installation and suggests fixes. Changes nothing.

mod claude;
mod plugin;
mod report;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rawr_settings::config::{Config, Home};
use rawr_settings::problem::{FileProblem, ProblemSeverity, RenderMode};
use serde::Serialize;
use serde_json::{Map, Value};

use self::report::{DoctorFindings, IssueReport};
use super::common::{CommonOptions, print_json};
use super::user_files::{PromptFile, UserFiles, show};
use crate::args::DoctorArgs;
use crate::render::{BAD, DIM, GOOD, WARN, causes, terminal_columns, wrapped};
use rawr_host::host::HostError;
use rawr_host::host::claude::find_claude;
use rawr_host::host::codex::{
    CodexProbe, CodexSettings, LEAST_BESIDE, find_codex, is_at_least, probe,
};
use rawr_host::sidecar::{Launch, SidecarLog, SidecarSettings};
use rawr_host::text::sanitize_terminal;

pub(super) async fn run(common: &CommonOptions, args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let home = common.home()?;
    let appended = args.append.as_deref().map(report::read_appended).transpose()?;
    let output = match (args.report, args.output.json) {
        (true, _) => CheckOutput::Kept,
        (false, true) => CheckOutput::Json,
        (false, false) => CheckOutput::Text,
    };
    let mut checks = DoctorChecks { output, done: Vec::new() };
    checks.add(home_check(&home.dir))?;
    let CheckedFiles { config, written, prompts, edited_prompts } = files(&home);
    checks.add(written)?;
    checks.add(prompts)?;
    checks.add(sidecar(common).await)?;
    let is_missing = |error| matches!(error, HostError::CodexNotFound | HostError::ClaudeNotFound);
    // A missing agent is fine if another is installed.
    let missing = match find_codex(args.codex.as_deref()).is_err_and(is_missing)
        && find_claude(args.claude.as_deref()).is_err_and(is_missing)
    {
        true => CheckStatus::Warn,
        false => CheckStatus::Absent,
    };
    let (found, codex) = codex(args.codex.as_deref(), &config, missing).await;
    for check in found {
        checks.add(check)?;
    }
    let (check, claude) = claude::claude(args.claude.as_deref(), missing).await;
    checks.add(check)?;
    checks.add(plugin::plugin(claude.as_deref()).await)?;
    let hooks = codex.as_ref().and_then(|codex| codex.hooks.as_deref());
    checks.add(claude::hooks(hooks).await)?;
    if args.report {
        let findings = DoctorFindings {
            home: &home,
            config: &config,
            edited_prompts,
            codex: codex.map(|codex| codex.version),
            claude,
            checks: &checks.done,
            appended,
        };
        let report = IssueReport::of(findings).await;
        let mut out = io::stdout().lock();
        match args.output.json {
            true => print_json(&mut out, &report)?,
            false => report.print(&mut out)?,
        }
    }
    let failed = checks.done.iter().any(|check| check.status == CheckStatus::Fail);
    Ok(ExitCode::from(u8::from(failed)))
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct DoctorCheck {
    name: &'static str,
    status: CheckStatus,
    message: String,
    /// The suggested fix, by line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    todo: Vec<String>,
    /// Problems of files, for JSON output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<rawr_protocol::Problem>,
    /// Problems of files, as text.
    #[serde(skip)]
    shown: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    Ok,
    /// Not there, and not needed.
    Absent,
    Warn,
    Fail,
}

impl DoctorCheck {
    fn new(name: &'static str, status: CheckStatus, message: impl Into<String>) -> Self {
        Self {
            name,
            status,
            message: message.into(),
            todo: Vec::new(),
            problems: Vec::new(),
            shown: Vec::new(),
        }
    }

    fn todo(mut self, line: impl Into<String>) -> Self {
        self.todo.push(line.into());
        self
    }
}

/// Where messages begin.
const INDENT: usize = 13;
/// On a narrower terminal lines break outside of words.
const NARROWEST: usize = 20;

/// When checks are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckOutput {
    Text,
    Json,
    /// Later, as a part of a report.
    Kept,
}

struct DoctorChecks {
    output: CheckOutput,
    done: Vec<DoctorCheck>,
}

impl DoctorChecks {
    fn add(&mut self, check: DoctorCheck) -> io::Result<()> {
        match self.output {
            CheckOutput::Text => {
                let mut out = anstream::stdout().lock();
                let lines = check_lines(&check, terminal_columns().unwrap_or(usize::MAX));
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
            CheckOutput::Json => {
                #[derive(Serialize)]
                struct DoctorLine<'l> {
                    event: &'static str,
                    #[serde(flatten)]
                    check: &'l DoctorCheck,
                }
                let mut line =
                    serde_json::to_string(&DoctorLine { event: "check", check: &check })?;
                line.push('\n');
                io::stdout().write_all(line.as_bytes())?;
            }
            CheckOutput::Kept => {}
        }
        self.done.push(check);
        Ok(())
    }
}

/// A check for people, with lines of at most `width` columns.
fn check_lines(check: &DoctorCheck, width: usize) -> Vec<String> {
    let (style, mark) = match check.status {
        CheckStatus::Ok => (GOOD, "✓"),
        CheckStatus::Absent => (DIM, "–"),
        CheckStatus::Warn => (WARN, "!"),
        CheckStatus::Fail => (BAD, "✗"),
    };
    let width = width.saturating_sub(INDENT).max(NARROWEST);
    let mut message = wrapped(&check.message, width).into_iter();
    let first = message.next().unwrap_or_default();
    // An excerpt of a file keeps its columns.
    let shown = check.shown.iter().flat_map(|text| text.lines()).map(sanitize_terminal);
    let todo = check.todo.iter().flat_map(|todo| wrapped(todo, width));
    let rest = message.chain(shown).chain(todo);
    std::iter::once(format!("{style}{mark}{style:#} {:<10} {first}", check.name))
        .chain(rest.map(|line| format!("{:INDENT$}{line}", "")))
        .collect()
}

fn home_check(home: &Path) -> DoctorCheck {
    let shown = home.display();
    let fail = |message: String| DoctorCheck::new("home", CheckStatus::Fail, message);
    match home.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return DoctorCheck::new(
                "home",
                CheckStatus::Warn,
                format!("{shown} does not exist yet"),
            )
            .todo("create it with `rawr init`");
        }
        Err(error) => return fail(format!("failed to read {shown}: {error}")),
        Ok(about) if !about.is_dir() => {
            return fail(format!("{shown} is not a folder"))
                .todo("pass another one with --home DIR or RAWR_HOME");
        }
        Ok(_) => {}
    }
    // Creating a file is more reliable than reading permissions.
    if let Err(error) = tempfile::NamedTempFile::new_in(home) {
        return fail(format!("{shown} is not writable: {error}"))
            .todo(format!("make it writable, or pass another folder with --home DIR: {shown}"));
    }
    match open_to_others(&home.join("rawr")) {
        Some(mode) => DoctorCheck::new(
            "home",
            CheckStatus::Warn,
            format!("others can read {shown}/rawr ({mode:o})"),
        )
        .todo(format!("chmod -R go= {shown}/rawr")),
        None => DoctorCheck::new("home", CheckStatus::Ok, shown.to_string()),
    }
}

/// Checks that other users cannot read rawr's files, which contain conversation text.
fn open_to_others(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = folder.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

struct CheckedFiles {
    config: Config,
    written: DoctorCheck,
    prompts: DoctorCheck,
    /// Those that differ from the shipped ones.
    edited_prompts: Vec<&'static str>,
}

/// Checks the configuration and the prompts, without creating prompt files.
fn files(home: &Home) -> CheckedFiles {
    let cwd = std::env::current_dir().ok();
    let UserFiles { config, problems, prompts, decisions } =
        UserFiles::read(home, cwd.as_deref(), None);
    let copies = prompts.iter().filter(|prompt| prompt.path.exists()).count();
    let is_edited = |prompt: &&PromptFile| {
        prompt.source.as_deref().is_some_and(|source| source != prompt.shipped)
    };
    let edited_prompts = prompts.iter().filter(is_edited).map(|prompt| prompt.name).collect();
    let of_prompts = prompts.into_iter().flat_map(|prompt| prompt.problems).chain(decisions);
    let of_prompts = of_prompts.collect::<Vec<_>>();
    let prompts = written("prompts", &of_prompts, || match copies {
        0 => "the shipped ones; `rawr init` creates copies to edit".to_owned(),
        count => format!("{count} files in {}", home.prompt_folder().display()),
    });
    let written = written("config", &problems, || {
        let layers = config.layers().collect::<Vec<_>>().join(", ");
        let file = home.rawr_toml();
        match layers == "built-in" && file.exists() {
            true => format!("built-in values; {} sets no others", file.display()),
            false => format!("from {layers}"),
        }
    });
    CheckedFiles { config, written, prompts, edited_prompts }
}

fn written(
    name: &'static str,
    problems: &[FileProblem],
    all_well: impl Fn() -> String,
) -> DoctorCheck {
    let worst = problems.iter().map(|problem| match problem.severity {
        ProblemSeverity::Error => CheckStatus::Fail,
        ProblemSeverity::Warning => CheckStatus::Warn,
        ProblemSeverity::Hint => CheckStatus::Ok,
    });
    let status = worst.max().unwrap_or(CheckStatus::Ok);
    let message = match problems.len() {
        0 => all_well(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    let mut check = DoctorCheck::new(name, status, message);
    for problem in show(problems, RenderMode::Plain) {
        check.shown.push(problem.text);
        check.problems.push(problem.wire);
    }
    check
}

/// Starts a sidecar in a temporary home, so that the check changes nothing.
async fn sidecar(common: &CommonOptions) -> DoctorCheck {
    let tried = async {
        let home = tempfile::tempdir()?;
        let settings = SidecarSettings {
            program: std::env::current_exe()?,
            client: common.command.clone(),
            home: Some(home.path().to_owned()),
            config: Map::new(),
            log: if common.is_verbose { SidecarLog::Terminal } else { SidecarLog::Nowhere },
        };
        let sidecar = settings.launch().await?;
        let version = sidecar.version().unwrap_or("(unknown version)").to_owned();
        sidecar.stop().await;
        anyhow::Ok(version)
    };
    match tried.await {
        Ok(version) => DoctorCheck::new(
            "sidecar",
            CheckStatus::Ok,
            format!("rawr {version} starts and answers"),
        ),
        Err(error) => DoctorCheck::new("sidecar", CheckStatus::Fail, causes(&error))
            .todo("`rawr --verbose doctor` shows its log"),
    }
}

/// Timeout of the checks of Codex.
const PATIENCE: Duration = Duration::from_secs(30);

async fn codex(
    explicit: Option<&Path>,
    config: &Config,
    missing: CheckStatus,
) -> (Vec<DoctorCheck>, Option<CodexProbe>) {
    let without = |check: DoctorCheck| (vec![check], None);
    let binary = match find_codex(explicit) {
        Ok(binary) => binary,
        Err(error @ HostError::CodexNotFound) => {
            let message = "not installed; needed for `rawr codex`, `rawr attach`, `rawr exec --host codex` and Codex hooks";
            return without(DoctorCheck::new("codex", missing, message).todo(error.to_string()));
        }
        Err(error) => {
            return without(DoctorCheck::new("codex", CheckStatus::Fail, error.to_string()));
        }
    };
    let cwd = std::env::current_dir().unwrap_or_else(|_| std::env::temp_dir());
    let settings = CodexSettings::new(binary.clone(), cwd);
    let found = match tokio::time::timeout(PATIENCE, probe(&settings)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            let check = DoctorCheck::new("codex", CheckStatus::Fail, error.to_string());
            let todo = format!("check whether `{} app-server` starts", binary.display());
            return without(check.todo(todo));
        }
        Err(_) => {
            let message = format!("{} did not answer in time", binary.display());
            return without(DoctorCheck::new("codex", CheckStatus::Fail, message));
        }
    };
    let checks = vec![
        found_codex(&binary, &found),
        update_plan(&found),
        token_budget(&found),
        inside_a_turn(&config.effective()),
    ];
    (checks, Some(found))
}

fn found_codex(binary: &Path, found: &CodexProbe) -> DoctorCheck {
    let can = [("thread/sample", found.thread_sample), ("thread/queue", found.thread_queue)];
    let can: Vec<_> = can.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    let can = if can.is_empty() { String::new() } else { format!(", with {}", can.join(", ")) };
    let message = format!("{} in {}{can}", found.version, binary.display());
    if is_at_least(&found.version, LEAST_BESIDE) {
        return DoctorCheck::new("codex", CheckStatus::Ok, message);
    }
    let [major, minor] = LEAST_BESIDE;
    DoctorCheck::new("codex", CheckStatus::Warn, message)
        .todo(format!("`rawr codex` and `rawr attach` need Codex {major}.{minor} or newer:"))
        .todo("npm install -g @openai/codex@latest")
}

fn update_plan(found: &CodexProbe) -> DoctorCheck {
    let check = |status, message: &str| DoctorCheck::new("plan", status, message);
    match found.update_plan {
        Some(true) => check(CheckStatus::Ok, "Codex's plan tool is enabled"),
        Some(false) => {
            check(CheckStatus::Warn, "Codex's plan tool is off, so rawr sees no completed steps")
                .todo("add to Codex's config.toml:")
                .todo("[tools.update_plan]\nenabled = true")
        }
        None => {
            check(CheckStatus::Warn, "this Codex does not report whether its plan tool is enabled")
                .todo("make sure that its config.toml contains:")
                .todo("[tools.update_plan]\nenabled = true")
        }
    }
}

fn token_budget(found: &CodexProbe) -> DoctorCheck {
    match found.token_budget {
        Some(true) => {
            let message =
                "Codex's own [features.token_budget] is on and conflicts with rawr's handoff";
            DoctorCheck::new("budget", CheckStatus::Warn, message)
                .todo("remove it from Codex's config.toml, or set `token_budget = false` under [features]")
        }
        Some(false) | None => DoctorCheck::new(
            "budget",
            CheckStatus::Ok,
            "Codex's own [features.token_budget] is off",
        ),
    }
}

/// Explains the configured compaction inside a turn: Codex accepts a message there, but no compaction.
fn inside_a_turn(config: &Map<String, Value>) -> DoctorCheck {
    let value = |key: &str| config.get(key).and_then(|entry| entry.get("value"));
    let is_on = |key: &str| value(key) == Some(&Value::Bool(true));
    let check = |status, message: &str| DoctorCheck::new("mid-turn", status, message);
    if is_on("features.rawr_auto_compaction") {
        let key = "rawr_auto_compaction.mid_turn";
        return match value(key).and_then(Value::as_str).unwrap_or("off") {
            "off" => check(CheckStatus::Ok, "off: no compaction inside a turn"),
            mid_turn => check(
                CheckStatus::Ok,
                &format!(
                    "{mid_turn}: the agent writes its packet inside the turn; Codex compacts after the turn"
                ),
            ),
        };
    }
    if !is_on("auto_compact.enabled") {
        return check(CheckStatus::Ok, "off: Codex compacts by itself, as configured");
    }
    if is_on("auto_compact.interrupt_mid_turn") {
        return check(
            CheckStatus::Warn,
            "Codex cannot compact inside a turn, and its turn is not interrupted for it",
        )
        .todo("auto_compact.interrupt_mid_turn only has an effect with `--host embedded`");
    }
    check(CheckStatus::Ok, "[auto_compact] compacts after the turn, because Codex cannot inside it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::plain;

    #[test]
    fn lines_are_as_narrow_as_the_terminal_and_excerpts_keep_their_columns() {
        let mut check =
            DoctorCheck::new("budget", CheckStatus::Warn, "one two three four five six")
                .todo("add to the file:")
                .todo("[a]\nb = true");
        check.shown.push("   | an excerpt that is too wide".to_owned());
        let lines: Vec<_> = check_lines(&check, 36).iter().map(|line| plain(line)).collect();
        assert_eq!(
            lines,
            [
                "! budget     one two three four five",
                "             six",
                "                | an excerpt that is too wide",
                "             add to the file:",
                "             [a]",
                "             b = true",
            ]
        );
    }
}
