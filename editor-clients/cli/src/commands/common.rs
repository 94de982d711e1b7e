//! What several commands share: their options, and how they start a sidecar and end a session.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use jiff::tz::TimeZone;
use rawr_host::drive::{DriveError, SessionEnd, SessionResult};
use rawr_host::host::embedded::CompactionPrompts;
use rawr_host::sidecar::{SidecarClient, SidecarLog, SidecarSettings};
use rawr_host::stop::StopRequest;
use rawr_protocol::{PromptGetParams, methods};
use rawr_settings::config::Home;
use rawr_storage::store::Store;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::ConfigSetting;
use crate::render::{Detail, LocalNow, OutputFormat};

/// The options that all commands accept.
#[derive(Debug)]
pub(super) struct CommonOptions {
    /// The name under which the sidecar records this client's requests, such as `rawr compact`.
    pub(super) command: String,
    pub(super) home: Option<PathBuf>,
    pub(super) is_verbose: bool,
}

impl CommonOptions {
    /// The folder of rawr's files, resolved by the same rule as in the sidecar.
    pub(super) fn home(&self) -> anyhow::Result<Home> {
        let home = Home::resolve(self.home.as_deref(), None::<PathBuf>)
            .map_err(|problem| anyhow!("{}: pass one with --home DIR", problem.message))?;
        // Texts of the protocol are UTF-8, so the sidecar would use another folder.
        if home.dir.to_str().is_none() {
            let dir = home.dir.display();
            return Err(anyhow!("the home {dir} is not valid UTF-8; pass another with --home DIR"));
        }
        Ok(home)
    }

    /// How a session is printed.
    pub(super) fn format(&self, as_json: bool) -> OutputFormat {
        match (as_json, self.is_verbose) {
            (true, _) => OutputFormat::Program,
            (false, true) => OutputFormat::Person(Detail::Full),
            (false, false) => OutputFormat::Person(Detail::Brief),
        }
    }

    /// How a command starts its sidecar.
    pub(super) fn sidecar(&self, config: Map<String, Value>) -> anyhow::Result<SidecarSettings> {
        let home = self.home()?.dir;
        let log = if self.is_verbose {
            SidecarLog::Terminal
        } else {
            SidecarLog::File(home.join("rawr").join("sidecar.log"))
        };
        let program =
            std::env::current_exe().context("cannot determine the path of the rawr executable")?;
        let (client, home) = (self.command.clone(), Some(home));
        Ok(SidecarSettings { program, client, home, config, log })
    }
}

/// The folder that contains all threads, by the store's own rule.
pub(super) fn threads_folder(home: &Path) -> PathBuf {
    Store::new(home).root().to_owned()
}

pub(super) fn thread_folder(home: &Path, thread_id: &str) -> PathBuf {
    threads_folder(home).join(thread_id)
}

/// The settings as nested tables for the sidecar. Of two settings for one key the later wins.
pub(super) fn overrides(settings: &[ConfigSetting]) -> anyhow::Result<Map<String, Value>> {
    let mut root = Map::new();
    for ConfigSetting { key, value, .. } in settings {
        let mut table = &mut root;
        let Some((last, path)) = key.split_last() else { continue };
        for part in path {
            let inner = table.entry(part.as_str()).or_insert_with(|| Value::Object(Map::new()));
            table = inner.as_object_mut().with_context(|| {
                format!("--config {}: {part} is already set to a value", key.join("."))
            })?;
        }
        table.insert(last.clone(), serde_json::to_value(value)?);
    }
    Ok(root)
}

/// The exit code of a session. A closed output pipe is a normal end.
pub(super) fn exit_code(
    done: Result<SessionResult, DriveError>,
    stop: &StopRequest,
) -> anyhow::Result<ExitCode> {
    Ok(match done?.ended {
        SessionEnd::Finished => ExitCode::SUCCESS,
        SessionEnd::Unfinished => ExitCode::FAILURE,
        SessionEnd::Stopped => ExitCode::from(stop.exit_code()),
    })
}

/// The current prompts of the embedded host's compactor.
pub(super) async fn compaction_prompts(
    sidecar: &mut SidecarClient,
) -> anyhow::Result<CompactionPrompts> {
    Ok(CompactionPrompts {
        compact: prompt(sidecar, "compact").await?,
        summary_prefix: prompt(sidecar, "summary-prefix").await?,
    })
}

pub(super) async fn prompt(sidecar: &mut SidecarClient, name: &str) -> anyhow::Result<String> {
    let params = PromptGetParams { name: name.to_owned() };
    let got = sidecar.call::<methods::PromptGet>(params).await;
    got.map(|got| got.text).with_context(|| format!("failed to load the prompt {name}"))
}

/// One JSON value on a line of its own.
pub(super) fn print_json(out: &mut impl Write, value: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    Ok(writeln!(out)?)
}

/// Writes a file whole or not at all, private to the user. What is no file, such as a terminal, is written to.
pub(super) fn write_whole(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    if file.exists() && !file.is_file() {
        return Ok(std::fs::write(file, content)?);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut written = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    written.write_all(content)?;
    written.persist(file)?;
    Ok(())
}

/// The current time, for people.
pub(super) fn local_now() -> LocalNow {
    LocalNow { ms: now_ms(), zone: TimeZone::system() }
}

/// The current time in Unix milliseconds.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
