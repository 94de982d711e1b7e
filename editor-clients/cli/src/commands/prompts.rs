//! `rawr prompts`: lists, edits, diffs, resets and renders the prompts. Only `render` needs a sidecar, for the state of a thread.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use rawr_protocol::{PromptRenderParams, TokensCountParams, methods};
use rawr_settings::problem::RenderMode;
use rawr_settings::prompts::with_samples;
use serde_json::json;
use similar::{ChangeTag, TextDiff};
use tokio::signal::unix::{SignalKind, signal};

use super::backup::keep;
use super::common::{CommonOptions, threads_folder};
use super::threads::{on_thread, print_result};
use super::user_files::{PromptFile, ShownProblem, UserFiles, show};
use crate::args::{
    PromptsArgs, PromptsCommand, PromptsDiffArgs, PromptsEditArgs, PromptsListArgs,
    PromptsRenderArgs, PromptsResetArgs,
};
use crate::render::{BAD, BOLD, DIM, GOOD, WARN, counted, number};
use rawr_host::private_fs::make_folder;
use rawr_host::text::sanitize_terminal;

/// The encoding for token counts.
const ENCODING: &str = "o200k_base";

pub(super) async fn run(common: &CommonOptions, args: PromptsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        PromptsCommand::List(args) => list(common, &args),
        PromptsCommand::Edit(args) => edit(common, &args),
        PromptsCommand::Diff(args) => diff(common, &args),
        PromptsCommand::Reset(args) => reset(common, &args),
        PromptsCommand::Render(args) => render(common, args).await,
    }
}

fn prompts(common: &CommonOptions) -> anyhow::Result<Vec<PromptFile>> {
    let cwd = std::env::current_dir().ok();
    Ok(UserFiles::read(&common.home()?, cwd.as_deref(), None).prompts)
}

fn named(common: &CommonOptions, name: &str) -> anyhow::Result<PromptFile> {
    let found = prompts(common)?.into_iter().find(|prompt| prompt.name == name);
    found.with_context(|| format!("unknown prompt `{name}`"))
}

fn state(prompt: &PromptFile) -> (&'static str, &'static str) {
    match &prompt.source {
        _ if !prompt.is_usable() => ("broken", "invalid; the last valid text is used"),
        None => ("shipped", "no file; the shipped text is used"),
        Some(source) if source == prompt.shipped => ("shipped", "as shipped"),
        Some(_) => ("edited", "edited"),
    }
}

fn list(common: &CommonOptions, args: &PromptsListArgs) -> anyhow::Result<ExitCode> {
    // As wide as the longest state: "edited, 2 problems".
    let prompts = prompts(common)?;
    let told = |prompt: &PromptFile| match prompt.problems.len() {
        0 => state(prompt).1.to_owned(),
        count => format!("{}, {}", state(prompt).1, counted(count as u64, "problem", "problems")),
    };
    let width = prompts.iter().map(|prompt| told(prompt).len()).max().unwrap_or_default();
    for prompt in prompts {
        let words = told(&prompt);
        let (state, _) = state(&prompt);
        let problems = show(&prompt.problems, RenderMode::Plain);
        let wire: Vec<_> = problems.iter().map(|problem| &problem.wire).collect();
        let body = json!({
            "name": prompt.name, "path": prompt.path, "isThere": prompt.source.is_some(),
            "state": state, "problems": wire,
        });
        let style = match state {
            "broken" => BAD,
            "edited" => WARN,
            _ => DIM,
        };
        let path = sanitize_terminal(&prompt.path.display().to_string());
        let name = prompt.name;
        let line = format!("{name:<17} {style}{words:<width$}{style:#}  {DIM}{path}{DIM:#}");
        print_result(args.output.json, "prompt", &body, &[line])?;
    }
    Ok(ExitCode::SUCCESS)
}

fn edit(common: &CommonOptions, args: &PromptsEditArgs) -> anyhow::Result<ExitCode> {
    let prompt = named(common, &args.name)?;
    if prompt.source.is_none() && !prompt.path.exists() {
        write_file(&prompt.path, prompt.shipped)?;
    }
    let mut words = editor()?.into_iter();
    let program = words.next().context("the editor command is empty")?;
    // The terminal's signals are for the editor, and this process must not end before it. They are caught instead of ignored,
    // because the editor would inherit ignored signals.
    let _listening = [signal(SignalKind::interrupt())?, signal(SignalKind::quit())?];
    let status = Command::new(&program).args(words).arg(&prompt.path).status();
    let status = status.with_context(|| {
        format!("the editor `{program}` failed to start; set VISUAL or EDITOR to another editor")
    })?;
    if !status.success() {
        bail!("the editor `{program}` failed ({status}); check {}", prompt.path.display());
    }
    let before = prompt.source;
    let prompt = named(common, &args.name)?;
    let problems = show(&prompt.problems, RenderMode::Coloured);
    let wire: Vec<_> = problems.iter().map(|problem| &problem.wire).collect();
    let changed = before != prompt.source;
    let body = json!({
        "name": prompt.name, "path": prompt.path, "changed": changed, "problems": wire,
    });
    print_result(args.output.json, "prompt_edited", &body, &edited(&prompt, changed, &problems))?;
    Ok(if prompt.is_usable() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn edited(prompt: &PromptFile, changed: bool, problems: &[ShownProblem]) -> Vec<String> {
    let name = prompt.name;
    let said = match (prompt.is_usable(), changed) {
        (false, _) => format!("{name} is invalid; the last valid text is used."),
        (true, true) => format!("{name} is saved; running sessions use it now."),
        (true, false) => format!("{name} is unchanged."),
    };
    problems.iter().map(|problem| format!("{}\n", problem.text)).chain([said]).collect()
}

/// Splits a command line like a shell.
fn editor() -> anyhow::Result<Vec<String>> {
    for variable in ["VISUAL", "EDITOR"] {
        let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) else {
            continue;
        };
        let words = value.to_str().and_then(shlex::split).filter(|words| !words.is_empty());
        return words.with_context(|| format!("{variable} is not a command: {}", value.display()));
    }
    Ok(vec!["vi".to_owned()])
}

fn diff(common: &CommonOptions, args: &PromptsDiffArgs) -> anyhow::Result<ExitCode> {
    let mut differing = 0;
    for prompt in prompts(common)? {
        if args.name.as_ref().is_some_and(|name| *name != prompt.name) {
            continue;
        }
        let source = prompt.source.as_deref().unwrap_or(prompt.shipped);
        let changed = source != prompt.shipped;
        differing += usize::from(changed);
        let (lines, text) = if changed { compared(&prompt, source) } else { Default::default() };
        let body = json!({
            "name": prompt.name, "path": prompt.path, "changed": changed, "diff": text,
        });
        if changed || args.output.json {
            print_result(args.output.json, "prompt_diff", &body, &lines)?;
        }
    }
    if differing == 0 && !args.output.json {
        let which = args.name.as_deref().unwrap_or("every prompt");
        print_result(false, "", &(), &[format!("{which} is unchanged.")])?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a diff for a terminal or a program.
fn compared(prompt: &PromptFile, source: &str) -> (Vec<String>, String) {
    let diff = TextDiff::from_lines(prompt.shipped, source);
    let (old, new) = (format!("shipped/{}.md", prompt.name), prompt.path.display().to_string());
    let mut unified = diff.unified_diff();
    let text = unified.header(&old, &new).to_string();
    let mut lines = vec![
        format!("{BOLD}--- {old}{BOLD:#}"),
        format!("{BOLD}+++ {}{BOLD:#}", sanitize_terminal(&new)),
    ];
    for hunk in unified.iter_hunks() {
        lines.push(format!("{DIM}{}{DIM:#}", hunk.header()));
        for change in hunk.iter_changes() {
            let line = sanitize_terminal(change.value().trim_end_matches('\n'));
            lines.push(match change.tag() {
                ChangeTag::Equal => format!(" {line}").trim_end().to_owned(),
                ChangeTag::Delete => format!("{BAD}-{line}{BAD:#}"),
                ChangeTag::Insert => format!("{GOOD}+{line}{GOOD:#}"),
            });
        }
    }
    (lines, text)
}

fn reset(common: &CommonOptions, args: &PromptsResetArgs) -> anyhow::Result<ExitCode> {
    let mut prompts = prompts(common)?;
    prompts.retain(|prompt| args.all || args.names.iter().any(|name| name == prompt.name));
    let (same, other): (Vec<_>, Vec<_>) =
        prompts.into_iter().partition(|prompt| prompt.source.as_deref() == Some(prompt.shipped));
    if !other.is_empty() && !args.yes && !agreed(&other)? {
        print_result(false, "", &(), &["Nothing was changed.".to_owned()])?;
        return Ok(ExitCode::FAILURE);
    }
    for prompt in &same {
        let body = json!({ "name": prompt.name, "path": prompt.path, "changed": false });
        print_result(
            args.output.json,
            "prompt_reset",
            &body,
            &[format!("{} is already as shipped.", prompt.name)],
        )?;
    }
    for prompt in &other {
        // There may be no text to back up.
        let backup = prompt.path.exists().then(|| keep(&prompt.path, ".old")).transpose()?;
        write_file(&prompt.path, prompt.shipped)?;
        let mut body = json!({ "name": prompt.name, "path": prompt.path, "changed": true });
        let mut line = format!("{} is reset to the shipped text", prompt.name);
        if let Some(backup) = backup {
            line += &format!("; backup: {}", sanitize_terminal(&backup.display().to_string()));
            body["backup"] = json!(backup);
        }
        print_result(args.output.json, "prompt_reset", &body, &[format!("{line}.")])?;
    }
    Ok(ExitCode::SUCCESS)
}

fn agreed(prompts: &[PromptFile]) -> anyhow::Result<bool> {
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name).collect();
    if !io::stdin().is_terminal() {
        bail!("refusing to reset {}: no terminal to confirm on; pass --yes", names.join(", "));
    }
    let mut out = anstream::stderr();
    write!(out, "Reset {} to the shipped text and back up yours? [y/N] ", names.join(", "))?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes a file atomically, following links.
fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = make_folder(folder).and_then(|()| {
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.persist(&path).map_err(|error| error.error)
    });
    written.map(drop).with_context(|| format!("failed to write {}", path.display()))
}

/// Renders a prompt in a thread. Without any thread yet, examples stand for the values.
async fn render(common: &CommonOptions, args: PromptsRenderArgs) -> anyhow::Result<ExitCode> {
    let threads = std::fs::read_dir(threads_folder(&common.home()?.dir));
    if args.thread.id == "last" && threads.ok().and_then(|mut all| all.next()).is_none() {
        return example(common, &args);
    }
    on_thread(common, &args.thread.id, async |looker, thread| {
        let thread_id = thread.thread.thread_id.clone();
        let params = PromptRenderParams {
            name: args.name.clone(),
            thread_id: Some(thread_id.clone()),
            values: Default::default(),
        };
        let rendered = looker.call::<methods::PromptRender>(params).await?;
        let params = TokensCountParams {
            text: rendered.text.clone(),
            encoding: Some(ENCODING.to_owned()),
            model: None,
        };
        let counted = looker.call::<methods::TokensCount>(params).await?;
        let body = json!({
            "name": args.name, "threadId": thread_id, "text": rendered.text,
            "tokens": counted.tokens, "method": counted.method, "problems": rendered.problems,
        });
        let lines = [
            sanitize_terminal(&rendered.text),
            format!(
                "{DIM}{} tokens in thread {}{DIM:#}",
                number(counted.tokens),
                sanitize_terminal(&thread_id)
            ),
        ];
        print_result(args.output.json, "prompt_rendered", &body, &lines)
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

fn example(common: &CommonOptions, args: &PromptsRenderArgs) -> anyhow::Result<ExitCode> {
    let prompt = named(common, &args.name)?;
    let source = prompt.source.as_deref().filter(|_| prompt.is_usable()).unwrap_or(prompt.shipped);
    let text = with_samples(prompt.name, source).context("the prompt is invalid")?;
    let body = json!({ "name": args.name, "text": text });
    let lines =
        [sanitize_terminal(&text), format!("{DIM}with examples: there is no thread yet{DIM:#}")];
    print_result(args.output.json, "prompt_rendered", &body, &lines)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use rawr_settings::prompts::PromptSet;

    use crate::args::PROMPTS;

    #[test]
    fn every_prompt_is_a_possible_value() {
        let shipped = PromptSet::shipped();
        assert_eq!(shipped.iter().map(|prompt| prompt.name.name()).collect::<Vec<_>>(), PROMPTS);
    }
}
