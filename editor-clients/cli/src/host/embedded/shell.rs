//! Runs the agent's commands and writes its files, for real. Knows nothing of turns.

use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::EmbeddedSettings;
use super::history::beginning;

/// What came of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) exit_code: i64,
    pub(super) output: String,
}

/// More output than this tells the model nothing new.
const OUTPUT_BYTES: usize = 16 * 1024;

/// What shells say of a program that is not there.
const NOT_FOUND: i64 = 127;

/// Runs one line. Dropped, it kills the command.
pub(super) async fn run(settings: &EmbeddedSettings, line: &str) -> Ran {
    if let Some(program) = settings.pretended
        && line.split([' ', ';', '&', '|', '\n']).any(|word| word == program)
    {
        return Ran { exit_code: 0, output: format!("({program} is not run here)") };
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).current_dir(&settings.cwd);
    command.envs(settings.environment.iter().cloned());
    command.stdin(Stdio::null()).kill_on_drop(true);
    match command.output().await {
        Ok(output) => {
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            // A command that a signal ended has no code; it certainly did not succeed.
            let exit_code = output.status.code().map_or(-1, i64::from);
            Ran { exit_code, output: shortened(text) }
        }
        Err(error) => Ran { exit_code: NOT_FOUND, output: format!("sh: {error}") },
    }
}

fn shortened(mut text: String) -> String {
    if text.len() > OUTPUT_BYTES {
        text.truncate(beginning(&text, OUTPUT_BYTES).len());
        text.push_str("\n…");
    }
    text
}

/// Writes a file below the working directory.
pub(super) fn write(cwd: &Path, path: &str, content: &str) -> Result<(), String> {
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !inside {
        return Err(format!("{path} is not below the working directory"));
    }
    let file: PathBuf = cwd.join(path);
    let folder = file.parent().unwrap_or(cwd);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, content));
    written.map_err(|error| format!("{path} cannot be written: {error}"))
}
