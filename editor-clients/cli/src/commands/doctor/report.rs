//! `rawr doctor --report`: one text for an issue. It goes to strangers, so what may be private is left out at its source: values
//! that a person wrote as text, excerpts of files, words of conversations, values of environment variables. What is left
//! passes [`Anonymizer`].

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use futures::future::join_all;
use rawr_analysis::stats::{StatsRequest, stats};
use rawr_host::host::find::in_path;
use rawr_host::text::sanitize_terminal;
use rawr_settings::config::{Config, Home, KeyKind, keys};
use rawr_settings::prompts::PromptSet;
use rawr_storage::redact::redact;
use rawr_storage::store::archive::ThreadFolder;
use rawr_storage::store::maintenance::StoredThreads;
use serde::Serialize;
use serde_json::Value;
use tokio::process::Command;

use super::{CheckStatus, DoctorCheck};

/// What is reported.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IssueReport {
    event: &'static str,
    system: Vec<ReportedFact>,
    /// The versions of rawr, the agents and the editors in the PATH.
    versions: Vec<ReportedFact>,
    /// Set environment variables that change what rawr does, by name.
    variables: Vec<&'static str>,
    settings: Vec<ReportedSetting>,
    /// Edited ones, by name.
    prompts: Vec<&'static str>,
    checks: Vec<ReportedCheck>,
    /// The last failures in rawr's logs, oldest first.
    failures: Vec<String>,
    /// How compactions ended that did not complete, in the newest threads.
    not_completed: Vec<ReportedEnding>,
    /// A text that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    appended: Option<String>,
}

#[derive(Debug, Serialize)]
struct ReportedFact {
    name: String,
    value: String,
}

#[derive(Debug, Serialize)]
struct ReportedSetting {
    key: &'static str,
    /// `None` if a person wrote it as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    layer: String,
}

#[derive(Debug, Serialize)]
struct ReportedCheck {
    name: &'static str,
    status: CheckStatus,
    message: String,
    /// Problems of files: code and position. The texts quote the files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ReportedEnding {
    ending: Value,
    count: u32,
}

/// What the checks found on the way.
pub(super) struct DoctorFindings<'f> {
    pub home: &'f Home,
    pub config: &'f Config,
    pub edited_prompts: Vec<&'static str>,
    pub codex: Option<String>,
    pub claude: Option<String>,
    pub checks: &'f [DoctorCheck],
    /// A text to add.
    pub appended: Option<String>,
}

/// The text of a file, or of standard input for `-`.
pub(super) fn read_appended(file: &Path) -> anyhow::Result<String> {
    let bytes = match file.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            bytes
        }
        false => fs::read(file).with_context(|| format!("failed to read {}", file.display()))?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The variables that rawr and its hosts read.
const VARIABLES: [&str; 10] = [
    "RAWR_HOME",
    "RAWR_HOOKS",
    "RAWR_LOG",
    "RAWR_WATCH",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "HTTPS_PROXY",
    "SSL_CERT_FILE",
];

/// Editors, and how each tells its version.
const EDITORS: [(&str, &str); 9] = [
    ("nvim", "--version"),
    ("vim", "--version"),
    ("code", "--version"),
    ("codium", "--version"),
    ("cursor", "--version"),
    ("hx", "--version"),
    ("emacs", "--version"),
    ("kak", "-version"),
    ("zed", "--version"),
];

/// Timeout of an editor that is asked for its version.
const PATIENCE: Duration = Duration::from_secs(5);

impl IssueReport {
    pub(super) async fn of(found: DoctorFindings<'_>) -> Self {
        let DoctorFindings { home, config, edited_prompts, codex, claude, checks, appended } =
            found;
        let anonymizer = Anonymizer::new(home);
        let fact = |name: &str, value: String| ReportedFact { name: name.to_owned(), value };
        let hosts = [("codex", codex), ("claude", claude)];
        let hosts = hosts.into_iter().filter_map(|(name, version)| Some(fact(name, version?)));
        let own = fact("rawr", env!("CARGO_PKG_VERSION").to_owned());
        let mut versions: Vec<_> = std::iter::once(own).chain(hosts).collect();
        let editors = join_all(EDITORS.map(editor_version)).await;
        let editors = EDITORS.iter().zip(editors);
        versions.extend(editors.filter_map(|((name, _), version)| Some(fact(name, version?))));
        let checks = checks.iter().map(|check| reported(check, &anonymizer)).collect();
        Self {
            event: "report",
            system: system().await,
            versions,
            variables: VARIABLES
                .into_iter()
                .filter(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
                .collect(),
            settings: settings(config, &anonymizer),
            prompts: edited_prompts,
            checks,
            failures: failures(&home.dir, &anonymizer),
            not_completed: not_completed(&home.dir),
            appended: appended.map(|text| anonymizer.clean_lines(&text)),
        }
    }

    /// Prints it as Markdown.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let facts = |facts: &[ReportedFact]| -> Vec<String> {
            facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect()
        };
        let settings = self.settings.iter().map(|setting| match &setting.value {
            Some(value) => format!("{} = {value}  # {}", setting.key, setting.layer),
            None => format!("{} is set, its text is left out  # {}", setting.key, setting.layer),
        });
        let checks = self.checks.iter().flat_map(|check| {
            let status = match check.status {
                CheckStatus::Ok => "ok",
                CheckStatus::Absent => "absent",
                CheckStatus::Warn => "warning",
                CheckStatus::Fail => "failed",
            };
            let problems = check.problems.iter().map(|problem| format!("  {problem}"));
            let first = format!("{} {status}: {}", check.name, check.message);
            std::iter::once(first).chain(problems)
        });
        let ended = self.not_completed.iter().map(|ended| {
            let ending =
                ended.ending.as_str().map_or_else(|| ended.ending.to_string(), str::to_owned);
            format!("{ending}: {}", ended.count)
        });
        let words = |words: &[&'static str]| words.iter().map(|&word| word.to_owned()).collect();
        let appended = self.appended.iter().map(|text| ("Appended", vec![text.clone()]));
        let sections: [(&str, Vec<String>); 8] = [
            ("Versions", facts(&self.versions)),
            ("System", facts(&self.system)),
            ("Environment variables that are set", words(&self.variables)),
            ("Settings that differ from the default", settings.collect()),
            ("Edited prompts", words(&self.prompts)),
            ("rawr doctor", checks.collect()),
            ("Last failures in the logs", self.failures.clone()),
            ("Compactions that did not complete", ended.collect()),
        ];
        for (at, (title, lines)) in sections.into_iter().chain(appended).enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            let text = if lines.is_empty() { "none".to_owned() } else { lines.join("\n") };
            let fence = fence_around(&text);
            writeln!(out, "### {title}\n\n{fence}text\n{text}\n{fence}")?;
        }
        Ok(())
    }
}

/// Longer than any run of backticks in the text.
fn fence_around(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

/// Checks that run an agent.
const AGENTS: [&str; 2] = ["codex", "claude"];

fn reported(check: &DoctorCheck, anonymizer: &Anonymizer) -> ReportedCheck {
    let problem = |problem: &rawr_protocol::Problem| {
        let file = problem.file.as_deref().map(Path::new).map(|file| anonymizer.file(file));
        let file = file.unwrap_or_default();
        let line = problem.range.as_ref().map(|range| format!(":{}", range.start.line + 1));
        format!("{} in {file}{}", problem.code, line.unwrap_or_default())
    };
    // An agent that ends may quote its own configuration.
    let message = match check.status == CheckStatus::Fail && AGENTS.contains(&check.name) {
        true => {
            let parts = check.message.split_once("; ").or_else(|| check.message.split_once(": "));
            parts.map_or(check.message.as_str(), |(own, _)| own)
        }
        false => &check.message,
    };
    ReportedCheck {
        name: check.name,
        status: check.status,
        message: anonymizer.clean(&without_quotes(message, &['"'])),
        problems: check.problems.iter().map(problem).collect(),
    }
}

fn settings(config: &Config, anonymizer: &Anonymizer) -> Vec<ReportedSetting> {
    let effective = config.effective();
    let differs = keys().filter_map(|key| {
        let found = effective.get(key.path)?;
        let layer = found["layer"].as_str().filter(|layer| *layer != "built-in")?;
        let value = found.get("value")?;
        if key.default_value().as_ref() == Some(value) {
            return None;
        }
        let is_harmless = match key.kind {
            KeyKind::Switch
            | KeyKind::Number(_)
            | KeyKind::Percent(_)
            | KeyKind::Word(_)
            | KeyKind::Boundaries { .. } => true,
            KeyKind::Text
            | KeyKind::Url
            | KeyKind::Variable
            | KeyKind::ScratchTemplate
            | KeyKind::Phrases => false,
        };
        let value = is_harmless.then(|| value.clone());
        Some(ReportedSetting { key: key.path, value, layer: anonymizer.clean(layer) })
    });
    differs.collect()
}

async fn system() -> Vec<ReportedFact> {
    let architecture = Some(std::env::consts::ARCH.to_owned());
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    let variable = |name: &str| std::env::var(name).ok();
    let shell = variable("SHELL").and_then(|shell| Some(shell.rsplit('/').next()?.to_owned()));
    let inside = ["TMUX", "STY", "SSH_CONNECTION"].into_iter();
    let inside: Vec<_> = inside.filter(|name| std::env::var_os(name).is_some()).collect();
    let facts = [
        ("system", operating_system().await),
        ("kernel", release),
        ("architecture", architecture),
        ("shell", shell),
        ("terminal", variable("TERM_PROGRAM")),
        ("terminal version", variable("TERM_PROGRAM_VERSION")),
        ("TERM", variable("TERM")),
        ("inside", Some(inside.join(" "))),
    ];
    let fact = |(name, value): (&str, Option<String>)| {
        let value = plain(&value?);
        (!value.is_empty()).then(|| ReportedFact { name: name.to_owned(), value })
    };
    facts.into_iter().filter_map(fact).collect()
}

/// The letters of names and versions, up to a length that a name has.
fn plain(text: &str) -> String {
    const LONGEST: usize = 80;
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || " .-_+()/".contains(*letter);
    redact(text.trim()).chars().filter(is_plain).take(LONGEST).collect()
}

async fn operating_system() -> Option<String> {
    if cfg!(target_os = "macos") {
        let version = asked("/usr/bin/sw_vers".as_ref(), "-productVersion").await?;
        return Some(format!("macOS {version}"));
    }
    let release = fs::read_to_string("/etc/os-release").ok()?;
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

/// `None` if there is no such editor, or if it does not tell.
async fn editor_version((name, option): (&str, &str)) -> Option<String> {
    let path = in_path(name, std::env::var_os("PATH").as_deref())?;
    Some(asked(&path, option).await.unwrap_or_else(|| "unknown".to_owned()))
}

/// The first version number that the program prints.
async fn asked(program: &Path, option: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg(option).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_version = |word: &&str| {
        word.trim_start_matches('v').starts_with(|letter: char| letter.is_ascii_digit())
    };
    text.split_whitespace().find(is_version).map(plain)
}

/// The most failures of one log.
const FAILURES: usize = 5;
/// Where a log is read from, at most this far from its end.
const TAIL: u64 = 1 << 16;

/// The last failures of the logs: from each line, only the words that are rawr's own.
fn failures(home: &Path, anonymizer: &Anonymizer) -> Vec<String> {
    let lines_of = |name: &str, read: fn(&str) -> Option<String>| {
        let text = tail(&home.join("rawr").join(name)).unwrap_or_default();
        let lines: Vec<_> = text.lines().filter_map(read).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(FAILURES));
        last.map(|line| format!("{name}: {}", anonymizer.clean(line))).collect::<Vec<_>>()
    };
    [lines_of("sidecar.log", logged), lines_of("hooks.log", hook_failure)].concat()
}

fn tail(path: &Path) -> io::Result<String> {
    use std::io::{Seek, SeekFrom};
    let mut file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `TIME LEVEL span{key=value}: message key=value`: without spans and values.
fn logged(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (time, level) = (words.next()?, words.next()?);
    if !matches!(level, "WARN" | "ERROR") || !time.ends_with('Z') {
        return None;
    }
    let message = line.split_once(level)?.1.trim_start();
    // Spans come first and contain ids and names of methods.
    let has_spans = message.split_whitespace().next()?.contains('{');
    let message = if has_spans { message.split_once("}: ")?.1 } else { message };
    let message: Vec<_> =
        message.split_whitespace().take_while(|word| !word.contains('=')).collect();
    Some(without_quotes(&format!("{time} {level} {}", message.join(" ")), &['"', '`']))
}

/// `MILLISECONDS HOST EVENT: failure: its causes`: without the causes.
fn hook_failure(line: &str) -> Option<String> {
    let (ms, message) = line.split_once(' ')?;
    let at = jiff::Timestamp::from_millisecond(ms.parse().ok()?).ok()?;
    let own: Vec<_> = message.split(": ").take(2).collect();
    Some(without_quotes(&format!("{at} {}", own.join(": ")), &['"', '`']))
}

/// Replaces what is quoted with one of these marks.
fn without_quotes(text: &str, marks: &[char]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut open = None;
    for letter in text.chars() {
        match open {
            None if marks.contains(&letter) => {
                open = Some(letter);
                kept.push(letter);
                kept.push('…');
            }
            Some(mark) if mark == letter => {
                open = None;
                kept.push(letter);
            }
            Some(_) => {}
            None => kept.push(letter),
        }
    }
    kept
}

/// The number of threads whose endings are counted.
const THREADS: usize = 20;

fn not_completed(home: &Path) -> Vec<ReportedEnding> {
    let threads = StoredThreads::new(home);
    let places = threads.places().unwrap_or_default();
    let mut dated: Vec<(_, ThreadFolder)> = Vec::new();
    for place in places {
        let touched = threads.resting(place.clone()).ok().and_then(|info| info.touched);
        dated.push((touched, place));
    }
    dated.sort_by_key(|(touched, _)| std::cmp::Reverse(*touched));
    let places = dated.into_iter().take(THREADS).map(|(_, place)| place).collect();
    let request = StatsRequest { places, since: None };
    let totals = stats(&request, &AtomicBool::new(false), &|_, _| ()).totals;
    let mut endings: Vec<ReportedEnding> = Vec::new();
    for ended in totals.not_completed {
        let Ok(ending) = serde_json::to_value(ended.ending) else { continue };
        match endings.iter_mut().find(|known| known.ending == ending) {
            Some(known) => known.count += ended.count,
            None => endings.push(ReportedEnding { ending, count: ended.count }),
        }
    }
    endings
}

/// Names of the home folder that people did not choose.
const USUAL: [&str; 2] = [".rawr", ".codex"];
/// Names of configuration files.
const FILES: [&str; 3] = ["rawr.toml", ".rawr.toml", "config.toml"];

/// Removes the names of people and projects from paths, and secrets.
struct Anonymizer {
    /// A folder and what it is called, the innermost first.
    folders: Vec<(String, &'static str)>,
}

impl Anonymizer {
    fn new(home: &Home) -> Self {
        let user = std::env::home_dir();
        let is_usual = |user: &PathBuf| USUAL.iter().any(|name| home.dir == user.join(name));
        let own = (!user.as_ref().is_some_and(is_usual)).then(|| home.dir.clone());
        let known: [(Option<PathBuf>, &str); 3] =
            [(std::env::current_dir().ok(), "<project>"), (own, "<home>"), (user, "~")];
        let mut folders: Vec<_> = known
            .into_iter()
            .filter_map(|(folder, name)| Some((folder?.to_str()?.to_owned(), name)))
            .filter(|(folder, _)| folder.len() > 1)
            .collect();
        // A session may be started in the user's folder itself.
        folders.sort_by_key(|(folder, name)| (std::cmp::Reverse(folder.len()), *name != "~"));
        Self { folders }
    }

    /// The path, without a name that a person chose.
    fn file(&self, path: &Path) -> String {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let of_prompt = |name: &str| {
            let is_of = |name| PromptSet::shipped().iter().any(|prompt| prompt.name.name() == name);
            name.strip_suffix(".md").is_some_and(is_of)
        };
        if FILES.contains(&name) || of_prompt(name) {
            return self.clean(&path.display().to_string());
        }
        let folder = path.parent().unwrap_or(path).display();
        format!("{}/…", self.clean(&folder.to_string()))
    }

    /// A secret may be of several lines.
    fn clean_lines(&self, text: &str) -> String {
        let text = redact(text);
        let lines: Vec<_> = text.trim_end().lines().map(|line| self.clean(line)).collect();
        lines.join("\n")
    }

    fn clean(&self, text: &str) -> String {
        let mut text = redact(text).into_owned();
        for (folder, name) in &self.folders {
            text = text.replace(folder.as_str(), name);
        }
        for root in ["/home/", "/Users/"] {
            text = without_user(&text, root);
        }
        sanitize_terminal(&text).replace('\n', " ")
    }
}

/// Replaces the folders of users below `root`.
fn without_user(text: &str, root: &str) -> String {
    let mut parts = text.split(root);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter == '/' || letter.is_whitespace());
        kept.push('~');
        kept.push_str(&part[end.unwrap_or(part.len())..]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_words_of_a_log_line_are_kept() {
        for (line, expected) in [
            (
                "2026-11-26T08:00:00.1Z  WARN left out of the list thread=a error=secret words",
                Some("2026-11-26T08:00:00.1Z WARN left out of the list"),
            ),
            (
                r#"2026-11-26T08:00:00.1Z ERROR request{method="rawr/a" id=1}:thread{id=b}: no answer error={c}: secret"#,
                Some("2026-11-26T08:00:00.1Z ERROR no answer"),
            ),
            (
                "2026-11-26T08:00:00.1Z  WARN no answer error={c}: secret words",
                Some("2026-11-26T08:00:00.1Z WARN no answer"),
            ),
            ("2026-11-26T08:00:00.1Z  INFO started", None),
            ("and the second line of an error", None),
        ] {
            assert_eq!(logged(line).as_deref(), expected, "{line}");
        }
        let line = "1795683990726 claude Stop: no `secret` and \"secret\" for it: secret cause";
        let kept = hook_failure(line).unwrap();
        assert_eq!(kept, "2026-11-26T09:06:30.726Z claude Stop: no `…` and \"…\" for it");
    }

    #[test]
    fn paths_name_neither_people_nor_projects() {
        let folders = [
            ("/home/ada/secret-project", "<project>"),
            ("/srv/rawr", "<home>"),
            ("/home/ada", "~"),
        ];
        let folders = folders.map(|(folder, name)| (folder.to_owned(), name)).to_vec();
        let anonymizer = Anonymizer { folders };
        for (text, expected) in [
            ("/home/ada/secret-project/.rawr.toml", "<project>/.rawr.toml"),
            ("from /home/ada/.codex/config.toml, built-in", "from ~/.codex/config.toml, built-in"),
            ("/srv/rawr/rawr.toml", "<home>/rawr.toml"),
            ("/home/bob/bin/codex and /Users/eve", "~/bin/codex and ~"),
            ("/usr/bin/codex\nx", "/usr/bin/codex x"),
        ] {
            assert_eq!(anonymizer.clean(text), expected);
        }
    }

    #[test]
    fn a_fence_is_longer_than_those_in_its_text() {
        assert_eq!(fence_around("plain `code`"), "```");
        assert_eq!(fence_around("a\n````\nb"), "`````");
    }
}
