//! `rawr doctor`: looks at everything that rawr needs and says what to do about what is missing. Changes nothing.

mod claude;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rawr_server::config::{Config, Home};
use rawr_server::problem::{Problem, RenderMode, Severity};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Common;
use super::user_files::{UserFiles, show};
use crate::args::DoctorArgs;
use crate::render::causes;
use rawr_host::host::HostError;
use rawr_host::host::claude::find_claude;
use rawr_host::host::codex::{
    CodexProbe, CodexSettings, LEAST_BESIDE, find_codex, is_at_least, probe,
};
use rawr_host::sidecar::{Launch, SidecarLog, SidecarSettings};
use rawr_host::text::sanitize_terminal;

pub(super) async fn run(common: &Common, args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let home = common.home()?;
    let mut report = Report { as_json: args.output.json, failed: false };
    report.tell(&home_check(&home.dir))?;
    let (config, written, prompts) = files(&home);
    report.tell(&written)?;
    report.tell(&prompts)?;
    report.tell(&sidecar(common).await)?;
    let is_missing = |error| matches!(error, HostError::CodexNotFound | HostError::ClaudeNotFound);
    // One agent is enough.
    let missing = match find_codex(args.codex.as_deref()).is_err_and(is_missing)
        && find_claude(args.claude.as_deref()).is_err_and(is_missing)
    {
        true => Status::Warn,
        false => Status::Ok,
    };
    let (checks, codex) = codex(args.codex.as_deref(), &config, missing).await;
    for check in &checks {
        report.tell(check)?;
    }
    report.tell(&claude::claude(args.claude.as_deref(), missing).await)?;
    report.tell(&claude::hooks(codex.and_then(|codex| codex.hooks).as_deref()).await)?;
    Ok(ExitCode::from(u8::from(report.failed)))
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    message: String,
    /// What to do, line by line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    todo: Vec<String>,
    /// What is wrong with files, for programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<rawr_protocol::Problem>,
    /// The same for people.
    #[serde(skip)]
    shown: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Warn,
    Fail,
}

impl Check {
    fn new(name: &'static str, status: Status, message: impl Into<String>) -> Self {
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

struct Report {
    as_json: bool,
    failed: bool,
}

impl Report {
    fn tell(&mut self, check: &Check) -> io::Result<()> {
        self.failed |= check.status == Status::Fail;
        if self.as_json {
            #[derive(Serialize)]
            struct DoctorLine<'l> {
                event: &'static str,
                #[serde(flatten)]
                check: &'l Check,
            }
            let mut line = serde_json::to_string(&DoctorLine { event: "check", check })?;
            line.push('\n');
            return io::stdout().write_all(line.as_bytes());
        }
        let (style, mark) = match check.status {
            Status::Ok => (anstyle::AnsiColor::Green.on_default(), "✓"),
            Status::Warn => (anstyle::AnsiColor::Yellow.on_default(), "!"),
            Status::Fail => (anstyle::AnsiColor::Red.on_default(), "✗"),
        };
        let mut out = anstream::stdout().lock();
        writeln!(
            out,
            "{style}{mark}{style:#} {:<10} {}",
            check.name,
            sanitize_terminal(&check.message)
        )?;
        for line in check.shown.iter().chain(&check.todo).flat_map(|todo| todo.lines()) {
            writeln!(out, "             {}", sanitize_terminal(line))?;
        }
        Ok(())
    }
}

fn home_check(home: &Path) -> Check {
    let shown = home.display();
    let fail = |message: String| Check::new("home", Status::Fail, message);
    match home.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Check::new("home", Status::Warn, format!("{shown} does not exist yet"))
                .todo("`rawr init` makes it");
        }
        Err(error) => return fail(format!("{shown} cannot be looked at: {error}")),
        Ok(about) if !about.is_dir() => {
            return fail(format!("{shown} is not a folder"))
                .todo("name another with --home DIR or RAWR_HOME");
        }
        Ok(_) => {}
    }
    // Asking the file system beats reading its permissions.
    if let Err(error) = tempfile::NamedTempFile::new_in(home) {
        return fail(format!("{shown} cannot be written to: {error}"))
            .todo(format!("make it writable, or pass another folder with --home DIR: {shown}"));
    }
    match open_to_others(&home.join("rawr")) {
        Some(mode) => {
            Check::new("home", Status::Warn, format!("others can read {shown}/rawr ({mode:o})"))
                .todo(format!("chmod -R go= {shown}/rawr"))
        }
        None => Check::new("home", Status::Ok, shown.to_string()),
    }
}

/// Packets and events quote the conversation.
fn open_to_others(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = folder.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// The configuration and the prompts, read as the sidecar reads them but without putting prompts in place.
fn files(home: &Home) -> (Config, Check, Check) {
    let cwd = std::env::current_dir().ok();
    let UserFiles { config, problems, prompts, decisions } =
        UserFiles::read(home, cwd.as_deref(), None);
    let edited = prompts.iter().filter(|prompt| prompt.path.exists()).count();
    let of_prompts = prompts.into_iter().flat_map(|prompt| prompt.problems).chain(decisions);
    let of_prompts = of_prompts.collect::<Vec<_>>();
    let prompts = written("prompts", &of_prompts, || match edited {
        0 => "the shipped ones; `rawr init` puts copies in place to edit".to_owned(),
        count => format!("{count} files in {}", home.prompt_folder().display()),
    });
    let check = written("config", &problems, || {
        let layers = config.layers().collect::<Vec<_>>().join(", ");
        let file = home.rawr_toml();
        match layers == "built-in" && file.exists() {
            true => format!("built-in values; {} changes none of them", file.display()),
            false => format!("from {layers}"),
        }
    });
    (config, check, prompts)
}

fn written(name: &'static str, problems: &[Problem], all_well: impl Fn() -> String) -> Check {
    let worst = problems.iter().map(|problem| match problem.severity {
        Severity::Error => Status::Fail,
        Severity::Warning => Status::Warn,
        Severity::Hint => Status::Ok,
    });
    let status = worst.max().unwrap_or(Status::Ok);
    let message = match problems.len() {
        0 => all_well(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    let mut check = Check::new(name, status, message);
    for problem in show(problems, RenderMode::Plain) {
        check.shown.push(problem.text);
        check.problems.push(problem.wire);
    }
    check
}

/// Whether it starts and answers; in a home of its own, so that looking changes nothing.
async fn sidecar(common: &Common) -> Check {
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
        let version = sidecar.version().unwrap_or("of an unknown version").to_owned();
        sidecar.stop().await;
        anyhow::Ok(version)
    };
    match tried.await {
        Ok(version) => {
            Check::new("sidecar", Status::Ok, format!("rawr {version} starts and answers"))
        }
        Err(error) => Check::new("sidecar", Status::Fail, causes(&error))
            .todo("`rawr --verbose doctor` shows its log"),
    }
}

/// A Codex that says nothing for so long is taken to say nothing.
const PATIENCE: Duration = Duration::from_secs(30);

async fn codex(
    explicit: Option<&Path>,
    config: &Config,
    missing: Status,
) -> (Vec<Check>, Option<CodexProbe>) {
    let without = |check: Check| (vec![check], None);
    let binary = match find_codex(explicit) {
        Ok(binary) => binary,
        Err(error @ HostError::CodexNotFound) => {
            let message = "not installed; `rawr codex`, `rawr attach`, `rawr exec --host codex` and hooks of Codex need it";
            return without(Check::new("codex", missing, message).todo(error.to_string()));
        }
        Err(error) => return without(Check::new("codex", Status::Fail, error.to_string())),
    };
    let cwd = std::env::current_dir().unwrap_or_else(|_| std::env::temp_dir());
    let settings = CodexSettings::new(binary.clone(), cwd);
    let found = match tokio::time::timeout(PATIENCE, probe(&settings)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            let check = Check::new("codex", Status::Fail, error.to_string());
            let todo = format!("see whether `{} app-server` starts", binary.display());
            return without(check.todo(todo));
        }
        Err(_) => {
            let message = format!("{} did not answer in time", binary.display());
            return without(Check::new("codex", Status::Fail, message));
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

fn found_codex(binary: &Path, found: &CodexProbe) -> Check {
    let can = [("thread/sample", found.thread_sample), ("thread/queue", found.thread_queue)];
    let can: Vec<_> = can.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    let can = if can.is_empty() { String::new() } else { format!(", with {}", can.join(", ")) };
    let message = format!("{} in {}{can}", found.version, binary.display());
    if is_at_least(&found.version, LEAST_BESIDE) {
        return Check::new("codex", Status::Ok, message);
    }
    let [major, minor] = LEAST_BESIDE;
    Check::new("codex", Status::Warn, message)
        .todo(format!("`rawr codex` and `rawr attach` need Codex {major}.{minor} or newer:"))
        .todo("npm install -g @openai/codex@latest")
}

fn update_plan(found: &CodexProbe) -> Check {
    let check = |status, message: &str| Check::new("plan", status, message);
    match found.update_plan {
        Some(true) => check(Status::Ok, "Codex's agent keeps a plan"),
        Some(false) => {
            check(Status::Warn, "Codex's agent keeps no plan, so rawr sees no steps completed")
                .todo("add to Codex's config.toml:")
                .todo("[tools.update_plan]\nenabled = true")
        }
        None => check(Status::Warn, "this Codex does not tell whether its agent keeps a plan")
            .todo("make sure that its config.toml says:")
            .todo("[tools.update_plan]\nenabled = true"),
    }
}

fn token_budget(found: &CodexProbe) -> Check {
    match found.token_budget {
        Some(true) => {
            let message =
                "Codex's own [features.token_budget] is on and works against rawr's handoff";
            Check::new("budget", Status::Warn, message)
                .todo("take it out of Codex's config.toml, or say `token_budget = false` under [features]")
        }
        Some(false) | None => {
            Check::new("budget", Status::Ok, "Codex's own [features.token_budget] is off")
        }
    }
}

/// What is configured for the middle of a turn, and what comes of it: Codex takes a message there, but no compaction.
fn inside_a_turn(config: &Map<String, Value>) -> Check {
    let value = |key: &str| config.get(key).and_then(|entry| entry.get("value"));
    let is_on = |key: &str| value(key) == Some(&Value::Bool(true));
    let check = |status, message: &str| Check::new("mid-turn", status, message);
    if is_on("features.rawr_auto_compaction") {
        let key = "rawr_auto_compaction.mid_turn";
        return match value(key).and_then(Value::as_str).unwrap_or("off") {
            "off" => check(Status::Ok, "off: a turn that runs is left alone"),
            mid_turn => check(
                Status::Ok,
                &format!(
                    "{mid_turn}: the agent writes its packet inside the turn; Codex compacts when that has ended"
                ),
            ),
        };
    }
    if !is_on("auto_compact.enabled") {
        return check(Status::Ok, "off: Codex compacts by itself, as it is configured");
    }
    if is_on("auto_compact.interrupt_mid_turn") {
        return check(
            Status::Warn,
            "Codex cannot compact inside a turn, and is not cut off for it",
        )
        .todo("auto_compact.interrupt_mid_turn only does something with `--host embedded`");
    }
    check(Status::Ok, "[auto_compact] compacts when the turn has ended: Codex cannot inside it")
}
