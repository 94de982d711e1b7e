//! `rawr config`: shows and checks the configuration files. Needs no sidecar and changes nothing.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_settings::config::{Home, json_schema, project_toml};
use rawr_settings::problem::{FileProblem, ProblemSeverity, RenderMode};
use serde_json::{Map, Value, json};

use super::common::CommonOptions;
use super::threads::{complain, print_result};
use super::user_files::{UserFiles, show};
use crate::args::{ConfigArgs, ConfigCheckArgs, ConfigCommand, ConfigSchemaArgs, ConfigShowArgs};
use crate::render::DIM;
use rawr_host::text::sanitize_terminal;

pub(super) fn run(common: &CommonOptions, args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        ConfigCommand::Schema(args) => schema(args),
        ConfigCommand::Show(args) => show_values(&common.home()?, args),
        ConfigCommand::Check(args) => check(&common.home()?, args),
    }
}

fn schema(args: &ConfigSchemaArgs) -> anyhow::Result<ExitCode> {
    let schema = json_schema();
    let mut out = io::stdout().lock();
    if args.output.json {
        writeln!(out, "{schema}")?;
    } else {
        writeln!(out, "{schema:#}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn project(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = match wanted {
        Some(folder) => std::path::absolute(folder)?,
        None => {
            std::env::current_dir().context("the current folder no longer exists; pass --cd DIR")?
        }
    };
    if !folder.is_dir() {
        bail!("{} is not a folder", folder.display());
    }
    Ok(folder)
}

fn show_values(home: &Home, args: &ConfigShowArgs) -> anyhow::Result<ExitCode> {
    let project = project(args.cd.as_deref())?;
    let written = UserFiles::read(home, Some(&project), args.model.as_deref());
    let effective = written.config.effective();
    let is_set = |value: &Value| value["layer"] != "built-in";
    let mut shown = 0;
    for (key, value) in effective.iter().filter(|(_, value)| args.effective || is_set(value)) {
        shown += 1;
        show_value(key, value, args.output.json)?;
    }
    if shown == 0 && !args.output.json {
        let line = "Nothing is set: every key has its built-in value. `rawr config show --effective` lists them.";
        print_result(false, "", &(), &[line.to_owned()])?;
    }
    let problems = written.problems.len();
    if problems > 0 {
        let them = if problems == 1 { "1 problem" } else { &format!("{problems} problems") };
        complain(&format!("{them} in these files: `rawr config check` shows where"));
    }
    Ok(ExitCode::SUCCESS)
}

fn show_value(key: &str, value: &Value, as_json: bool) -> anyhow::Result<()> {
    let mut body = Map::from_iter([("key".to_owned(), json!(key))]);
    for (from, to) in [("value", "value"), ("layer", "layer"), ("key", "writtenAs")] {
        if let Some(found) = value.get(from) {
            body.insert(to.to_owned(), found.clone());
        }
    }
    let shown = value.get("value").map_or_else(|| "(not set)".to_owned(), ToString::to_string);
    let layer = value["layer"].as_str().unwrap_or_default();
    let short = value.get("key").and_then(Value::as_str);
    let short = short.map(|short| format!(", as {short}")).unwrap_or_default();
    let line = format!(
        "{key} = {}  {DIM}# {}{DIM:#}",
        sanitize_terminal(&shown),
        sanitize_terminal(&format!("{layer}{short}"))
    );
    print_result(as_json, "config_value", &body, &[line])
}

fn check(home: &Home, args: &ConfigCheckArgs) -> anyhow::Result<ExitCode> {
    let project = project(args.cd.as_deref())?;
    let written = UserFiles::read(home, Some(&project), None);
    let of_prompts = written.prompts.iter().flat_map(|prompt| &prompt.problems);
    let problems: Vec<_> =
        written.problems.iter().chain(of_prompts).chain(&written.decisions).collect();
    for problem in show(problems.iter().copied(), RenderMode::Coloured) {
        print_result(args.output.json, "problem", &problem.wire, &[format!("{}\n", problem.text)])?;
    }
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(ProblemSeverity::Error), count(ProblemSeverity::Warning));
    let files: Vec<_> = [home.rawr_toml(), home.host_toml(), project_toml(&project)]
        .into_iter()
        .filter(|file| file.exists())
        .map(|file| file.display().to_string())
        .collect();
    let prompts = written.prompts.iter().filter(|prompt| prompt.source.is_some()).count();
    let body = json!({
        "errors": errors, "warnings": warnings, "hints": count(ProblemSeverity::Hint), "files": files, "prompts": prompts,
    });
    print_result(
        args.output.json,
        "config_checked",
        &body,
        &[summary(&problems, &files, prompts)],
    )?;
    Ok(if errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn summary(problems: &[&FileProblem], files: &[String], prompts: usize) -> String {
    let what = match files {
        [] => "no configuration file".to_owned(),
        files => sanitize_terminal(&files.join(", ")),
    };
    let counted = |severity, name: &str| {
        let count = problems.iter().filter(|problem| problem.severity == severity).count();
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {name}{plural}"))
    };
    let kinds = [
        (ProblemSeverity::Error, "error"),
        (ProblemSeverity::Warning, "warning"),
        (ProblemSeverity::Hint, "hint"),
    ];
    let found: Vec<_> =
        kinds.into_iter().filter_map(|(severity, name)| counted(severity, name)).collect();
    let found = if found.is_empty() { "all is well".to_owned() } else { found.join(", ") };
    format!("{found}: {what} and {prompts} prompt files")
}
