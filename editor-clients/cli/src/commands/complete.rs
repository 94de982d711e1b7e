//! Shell completion. The script that a shell loads runs rawr at each TAB, with [`VARIABLE`] set. Starts no sidecar, changes no
//! file of a person, and prints no error into the shell: what cannot be read is left out.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::{CompleteEnv, Shell};
use rawr_host::text::one_line;
use rawr_settings::config::{Home, KeyKind, keys};
use rawr_storage::capsule::CapsuleStore;
use rawr_storage::store::Store;

use crate::args;
use crate::render::handles;

/// Names the shell that asks.
const VARIABLE: &str = "RAWR_COMPLETE";

/// Prints the script that a person saves. It loads the rest from rawr, because the two must be of the same release.
pub(super) fn script(shell: Shell) -> anyhow::Result<ExitCode> {
    let script = match shell {
        Shell::Bash => "eval \"$(VARIABLE=bash rawr 2>/dev/null)\"\n",
        // Loaded by its name from `fpath`, it is called to complete at once; sourced, it is not.
        Shell::Zsh => {
            "\
#compdef rawr
eval \"$(VARIABLE=zsh rawr 2>/dev/null)\"
if [[ $funcstack[1] == _rawr ]] && (( $+functions[_clap_dynamic_completer_rawr] )); then
    _clap_dynamic_completer_rawr \"$@\"
fi
"
        }
        Shell::Fish => "VARIABLE=fish rawr 2>/dev/null | source\n",
        Shell::Elvish => "eval (env VARIABLE=elvish rawr | slurp)\n",
        Shell::PowerShell => {
            "\
$env:VARIABLE = \"powershell\"
rawr | Out-String | Invoke-Expression
Remove-Item Env:\\VARIABLE
"
        }
        _ => anyhow::bail!("rawr has no completions for {shell}"),
    };
    io::stdout().write_all(script.replace("VARIABLE", VARIABLE).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Answers a shell. `None` if no shell asks.
pub(super) fn answer() -> Option<ExitCode> {
    let shell = std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty() && shell != "0")?;
    let words: Vec<_> = std::env::args_os().collect();
    let request = CompletionRequest {
        home: home_in(&words),
        shows_help: shell != Shell::Bash.to_string().as_str(),
    };
    let answered = CompleteEnv::with_factory(|| completable(&request))
        .var(VARIABLE)
        .bin("rawr")
        .completer("rawr")
        .try_complete(words, std::env::current_dir().ok().as_deref());
    Some(if answered.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What all arguments share.
#[derive(Debug, Clone)]
struct CompletionRequest {
    /// As typed.
    home: Option<PathBuf>,
    /// Bash shows values alone.
    shows_help: bool,
}

/// The value of `--home` among the typed words. The shell has not expanded them.
fn home_in(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().skip_while(|word| *word != "--").filter_map(|word| word.to_str());
    let typed = words.find_map(|word| word.strip_prefix("--home"))?;
    let typed = match typed.strip_prefix('=') {
        Some(typed) => typed,
        None => words.next()?,
    };
    match typed.strip_prefix("~/") {
        Some(rest) => Some(std::env::home_dir()?.join(rest)),
        None => Some(typed.into()),
    }
}

/// The command line with what completes its values. The name of a value says what it is, in every command.
fn completable(request: &CompletionRequest) -> Command {
    with_values(args::visible_command(), request)
}

fn with_values(command: Command, request: &CompletionRequest) -> Command {
    command
        .mut_args(|argument| with_value(argument, request))
        .mut_subcommands(|command| with_values(command, request))
}

fn with_value(argument: Arg, request: &CompletionRequest) -> Arg {
    let complete: fn(&CompletionRequest, &str) -> Vec<CompletionCandidate> =
        match argument.get_value_names().unwrap_or_default() {
            [name] if name == "THREAD" => threads,
            [name] if name == "CAPSULE" => capsules,
            [name] if name == "KEY=VALUE" && argument.get_id() == "config" => settings,
            [name] if name == "DIR" => return argument.value_hint(ValueHint::DirPath),
            _ => return argument,
        };
    let request = request.clone();
    argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
        typed.to_str().map(|typed| complete(&request, typed)).unwrap_or_default()
    }))
}

/// The number of threads to offer.
const OFFERED: usize = 30;

/// After this time, no more titles are read.
const PATIENCE: Duration = Duration::from_millis(50);

/// `last`, the short names of the newest threads, and the ids that begin like this.
fn threads(request: &CompletionRequest, typed: &str) -> Vec<CompletionCandidate> {
    let mut found = Vec::from_iter(last(typed, "the thread that runs here, or ran here last"));
    let Some((store, ids)) = stored(request) else { return found };
    let all: Vec<_> = ids.iter().map(String::as_str).collect();
    let newest = &all[..all.len().min(OFFERED)];
    let names = handles(newest, &all);
    let named = newest.iter().zip(names).filter(|(_, name)| name.starts_with(typed));
    let begun = all.iter().filter(|id| !typed.is_empty() && id.starts_with(typed));
    let started = Instant::now();
    let offer = |(id, name): (&&str, &str)| {
        let shows = request.shows_help && started.elapsed() < PATIENCE;
        let title = if shows { store.title(id) } else { None };
        CompletionCandidate::new(name).help(title.map(|title| one_line(&title, TITLE).into()))
    };
    let mut offered: Vec<_> = named.map(offer).collect();
    offered.extend(begun.take(OFFERED).map(|id| offer((id, *id))));
    found.extend(offered);
    found
}

/// The most columns of a title.
const TITLE: usize = 60;

fn last(typed: &str, help: &'static str) -> Option<CompletionCandidate> {
    let candidate = CompletionCandidate::new("last").help(Some(help.into()));
    "last".starts_with(typed).then_some(candidate)
}

/// The home's threads, newest first. Only those with names that mean nothing to a shell.
fn stored(request: &CompletionRequest) -> Option<(Store, Vec<String>)> {
    let home = Home::resolve(request.home.as_deref(), None::<PathBuf>).ok()?;
    let store = Store::new(&home.dir);
    let ids = store.newest(usize::MAX).ok()?;
    let ids = ids.iter().map(|id| id.as_str().to_owned()).filter(|id| is_plain(id)).collect();
    Some((store, ids))
}

fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.chars().all(is_plain) && !name.starts_with('-')
}

/// `last`, and the capsules of the newest thread that has some.
fn capsules(request: &CompletionRequest, typed: &str) -> Vec<CompletionCandidate> {
    let mut found = Vec::from_iter(last(typed, "the newest capsule"));
    let Some((store, ids)) = stored(request) else { return found };
    let listed = ids.iter().take(OFFERED).find_map(|id| {
        let listed = CapsuleStore::of(&store.root().join(id)).list().ok()?;
        (!listed.capsules.is_empty()).then_some(listed.capsules)
    });
    let capsules = listed.unwrap_or_default().into_iter().map(|capsule| capsule.id);
    let fitting = capsules.filter(|id| is_plain(id) && id.starts_with(typed));
    found.extend(fitting.map(CompletionCandidate::new));
    found
}

/// The keys of `rawr.toml`, and after `=` the values of a key that has few.
fn settings(_: &CompletionRequest, typed: &str) -> Vec<CompletionCandidate> {
    let Some((path, value)) = typed.split_once('=') else {
        let fitting = keys().filter(|key| key.path.starts_with(typed));
        let offer = |path: &str, doc: &'static str| {
            CompletionCandidate::new(format!("{path}=")).help(Some(doc.into()))
        };
        return fitting.map(|key| offer(key.path, key.doc)).collect();
    };
    let values: &[&str] = match keys().find(|key| key.path == path).map(|key| &key.kind) {
        Some(KeyKind::Switch) => &["false", "true"],
        Some(KeyKind::Word(words)) => words,
        _ => &[],
    };
    let fitting = values.iter().filter(|known| known.starts_with(value));
    fitting.map(|value| CompletionCandidate::new(format!("{path}={value}"))).collect()
}
