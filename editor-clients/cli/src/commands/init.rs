//! `rawr init`: writes a commented configuration and the prompts for editing. Overwrites files only with --force, after a
//! backup.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_settings::config::{Preset, commented_default_toml};
use rawr_settings::prompts::{PromptSet, PromptStore, shipped};

use super::common::CommonOptions;
use crate::args::{InitArgs, PresetName};
use rawr_host::private_fs::make_folder;

pub(super) fn run(common: &CommonOptions, args: &InitArgs) -> anyhow::Result<ExitCode> {
    let home = common.home()?;
    make_folder(&home.dir).with_context(|| {
        format!("failed to create {}; pass another folder with --home DIR", home.dir.display())
    })?;
    let mut out = anstream::stdout().lock();

    let config = home.rawr_toml();
    let preset = args.preset.map(configured).unwrap_or_default();
    let done = write_file(&config, &commented_default_toml(preset), args.force)?;
    let is_kept = matches!(done, InitOutcome::Kept);
    report(&mut out, &config, done)?;
    if is_kept && args.preset.is_some() {
        let line = format!("preset = \"{}\"", preset.name());
        writeln!(out, "         the preset is not changed: set {line} in [rawr_auto_compaction]")?;
    }

    let folder = home.prompt_folder();
    let mut files = Vec::new();
    for prompt in PromptSet::shipped().iter() {
        let file = folder.join(format!("{}.md", prompt.name.name()));
        let before = if args.force {
            set_aside(&file, shipped(prompt.name))?
        } else {
            InitOutcome::of(&file)
        };
        files.push((file, before));
    }
    if args.force {
        remove(&folder.join(".seeded"))?;
    }
    let store = PromptStore::open(&folder, &BTreeMap::new());
    if let Some(problem) = store.set().problems().find(|problem| problem.code == "prompt-folder") {
        bail!("{}: {}", folder.display(), problem.message);
    }
    for (file, before) in files {
        let done = match before {
            InitOutcome::Missing if !file.exists() => InitOutcome::LeftOut,
            InitOutcome::Missing => InitOutcome::Written,
            before => before,
        };
        report(&mut out, &file, done)?;
    }
    writeln!(out, "Next: check the installation with `rawr doctor`.")?;
    Ok(ExitCode::SUCCESS)
}

/// As in the configuration.
fn configured(preset: PresetName) -> Preset {
    match preset {
        PresetName::Calm => Preset::Calm,
        PresetName::Spec => Preset::Spec,
    }
}

/// The result for one file.
#[derive(Debug)]
enum InitOutcome {
    Missing,
    Written,
    Replaced {
        old: PathBuf,
    },
    Kept,
    /// The file already has this content.
    Same,
    /// The user deleted it, so the shipped text is used.
    LeftOut,
}

impl InitOutcome {
    fn of(file: &Path) -> Self {
        if file.exists() { Self::Kept } else { Self::Missing }
    }
}

fn report(out: &mut impl Write, file: &Path, done: InitOutcome) -> io::Result<()> {
    let file = file.display();
    match done {
        InitOutcome::Missing => Ok(()),
        InitOutcome::Written => writeln!(out, "wrote    {file}"),
        InitOutcome::Replaced { old } => {
            writeln!(out, "replaced {file} (backup: {})", old.display())
        }
        InitOutcome::Kept => writeln!(out, "kept     {file} (--force overwrites it)"),
        InitOutcome::Same => writeln!(out, "kept     {file} (it is as shipped)"),
        InitOutcome::LeftOut => {
            writeln!(out, "skipped  {file} (it was deleted; --force writes it again)")
        }
    }
}

fn write_file(file: &Path, text: &str, force: bool) -> anyhow::Result<InitOutcome> {
    let done = if force { set_aside(file, text)? } else { InitOutcome::of(file) };
    if matches!(done, InitOutcome::Kept | InitOutcome::Same) {
        return Ok(done);
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    // Atomic, and private to the user.
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut new| {
        new.write_all(text.as_bytes())?;
        new.persist_noclobber(file).map_err(|error| error.error)
    });
    written.with_context(|| format!("failed to write {}", file.display()))?;
    Ok(if matches!(done, InitOutcome::Missing) { InitOutcome::Written } else { done })
}

/// Backs up the file, unless it has this text.
fn set_aside(file: &Path, text: &str) -> anyhow::Result<InitOutcome> {
    if !file.exists() {
        return Ok(InitOutcome::Missing);
    }
    if std::fs::read(file).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(InitOutcome::Same);
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".old");
    let old = PathBuf::from(name);
    std::fs::rename(file, &old).with_context(|| format!("failed to back up {}", file.display()))?;
    Ok(InitOutcome::Replaced { old })
}

fn remove(file: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("failed to remove {}", file.display()))
        }
        _ => Ok(()),
    }
}
