//! Finds the shell commands that are boundaries: a successful `git commit`, a push, a pull-request command. Command
//! lines are split into simple commands and words; raw text is never searched.

mod split;
mod tests_run;

pub use tests_run::{check, tests_passed};

use split::{Simple, Then, split};
use tests_run::check_of;

use crate::boundary::{Boundaries, Boundary};
use crate::steps;

/// A shell command, in the form in which the host reports it.
#[derive(Debug, Clone, Copy)]
pub enum Command<'c> {
    /// One line for a shell.
    Line(&'c str),
    /// A program and its arguments.
    Words(&'c [String]),
}

/// What a finished command tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSignals {
    /// See [`check`].
    pub check: Option<String>,
    /// See [`boundaries`].
    pub boundaries: Boundaries,
}

/// A command whose line is split once for all that is read from it.
enum SplitCommand<'c> {
    Line(Vec<Simple>),
    Words(&'c [String]),
}

impl<'c> SplitCommand<'c> {
    fn of(command: Command<'c>) -> Self {
        match command {
            Command::Line(line) => Self::Line(split(line)),
            Command::Words(words) => Self::Words(words),
        }
    }
}

/// Wrappers such as `bash -lc '…'` are opened at most this deep.
const MAX_DEPTH: usize = 4;

const PR_COMMANDS: [(&str, &[&str]); 3] = [
    ("gh", &["create", "ready", "edit", "close", "merge", "reopen", "review"]),
    ("gt", &["submit", "ss", "create", "review", "land"]),
    ("hub", &["pull-request"]),
];

/// The check and the boundaries of a finished command.
pub fn signals(command: Command<'_>, exit_code: i64, ran_in: &str, cwd: &str) -> CommandSignals {
    let parsed = SplitCommand::of(command);
    let (check, boundaries) = (check_of(&parsed), boundaries_of(&parsed, exit_code, ran_in, cwd));
    CommandSignals { check, boundaries }
}

/// The boundaries of a finished command that ran in the folder `ran_in`: none unless it exited with 0. What it did to a
/// repository in a folder for temporary files is not the work of a thread whose folder `cwd` lies elsewhere.
pub fn boundaries(command: Command<'_>, exit_code: i64, ran_in: &str, cwd: &str) -> Boundaries {
    boundaries_of(&SplitCommand::of(command), exit_code, ran_in, cwd)
}

fn boundaries_of(
    command: &SplitCommand<'_>,
    exit_code: i64,
    ran_in: &str,
    cwd: &str,
) -> Boundaries {
    if exit_code != 0 || is_temporary(ran_in, cwd) {
        return Boundaries::NONE;
    }
    match command {
        SplitCommand::Line(commands) => in_commands(commands, cwd, 0),
        SplitCommand::Words(words) => in_words(words, cwd, 0),
    }
}

fn in_line(line: &str, cwd: &str, depth: usize) -> Boundaries {
    if depth > MAX_DEPTH { Boundaries::NONE } else { in_commands(&split(line), cwd, depth) }
}

fn in_commands(commands: &[Simple], cwd: &str, depth: usize) -> Boundaries {
    let proved = proved(commands);
    let before = &commands[..commands.len() - proved.len()];
    let mut elsewhere = before.iter().fold(false, |at, command| leaves(&command.words, cwd, at));
    let mut found = Boundaries::NONE;
    for command in proved {
        elsewhere = leaves(&command.words, cwd, elsewhere);
        if !elsewhere {
            found = found.or(in_words(&command.words, cwd, depth));
        }
    }
    found
}

/// Whether the commands after this one work outside of the thread's repository: in a new one, or in a folder for
/// temporary files.
fn leaves(words: &[String], cwd: &str, before: bool) -> bool {
    let mut words = past_prefixes(words).iter().map(String::as_str);
    match (words.next(), words.next()) {
        (Some("cd" | "pushd"), Some(folder)) if folder.starts_with(['/', '~', '$']) => {
            is_temporary(folder, cwd)
        }
        (Some("git"), Some("init")) => true,
        _ => before,
    }
}

fn is_temporary(folder: &str, cwd: &str) -> bool {
    const TEMPORARY: [&str; 6] =
        ["/tmp", "/var/tmp", "/private/tmp", "/var/folders", "$TMPDIR", "${TMPDIR"];
    let within = |folder: &str, root: &str| {
        folder.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let temporary = TEMPORARY
        .iter()
        .any(|root| within(folder, root) || folder.starts_with('$') && folder.starts_with(root));
    let own = !cwd.is_empty() && (within(folder, cwd) || within(cwd, folder.trim_end_matches('/')));
    (temporary || folder.contains("mktemp")) && !own
}

/// The commands of a line that are known to have succeeded if its exit code is 0: the last chain of `&&` and `|`, or
/// all of them under `set -e`. A pipe is taken for success, because agents pipe into `tail` all the time. Of commands
/// before `||`, `;` or `&` the exit code says nothing.
fn proved(commands: &[Simple]) -> &[Simple] {
    let Some((last, before)) = commands.split_last() else { return commands };
    if commands.first().is_some_and(|first| sets_errexit(&first.words)) {
        return commands;
    }
    if last.then == Then::Background {
        return &[];
    }
    let carries = |command: &&Simple| {
        steps::add(1);
        matches!(command.then, Then::And | Then::Pipe)
    };
    let chain = before.iter().rev().take_while(carries).count();
    &commands[before.len() - chain..]
}

fn sets_errexit(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "set")
        && words[1..]
            .iter()
            .any(|word| word == "errexit" || word.starts_with('-') && word.contains('e'))
}

fn in_words(words: &[String], cwd: &str, depth: usize) -> Boundaries {
    let words = past_prefixes(words);
    let Some((program, arguments)) = words.split_first() else { return Boundaries::NONE };
    match base_name(program) {
        "git" => git(arguments, cwd),
        "bash" | "sh" | "zsh" | "dash" | "ksh" => {
            script(arguments).map_or(Boundaries::NONE, |line| in_line(line, cwd, depth + 1))
        }
        tool => pull_request(tool, arguments),
    }
}

/// The command without `NAME=value`, `env`, `sudo` and the like in front.
fn past_prefixes(words: &[String]) -> &[String] {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let wrapper = matches!(
            base_name(word),
            "env"
                | "command"
                | "exec"
                | "time"
                | "nohup"
                | "nice"
                | "sudo"
                | "then"
                | "do"
                | "else"
                | "{"
        );
        if !wrapper && !is_assignment(word) {
            break;
        }
        rest = after;
        if wrapper {
            let options = rest.iter().take_while(|word| word.starts_with('-')).count();
            rest = &rest[options..];
        }
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn base_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The script after `-c`, `-lc` and the like.
fn script(arguments: &[String]) -> Option<&str> {
    let at = arguments
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    arguments.get(at + 1).map(String::as_str)
}

fn git(arguments: &[String], cwd: &str) -> Boundaries {
    const WITH_VALUE: [&str; 6] =
        ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];
    let mut words = arguments.iter().map(String::as_str);
    let verb = loop {
        match words.next() {
            Some("-C") if words.next().is_some_and(|folder| is_temporary(folder, cwd)) => {
                return Boundaries::NONE;
            }
            Some("-C") => {}
            Some(option) if WITH_VALUE.contains(&option) => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            verb => break verb,
        }
    };
    let options = || words.clone().take_while(|word| *word != "--");
    let has = |list: &[&str]| options().any(|word| list.contains(&word));
    if has(&["--dry-run", "--help", "-h"]) {
        return Boundaries::NONE;
    }
    let boundary = match verb {
        Some("commit") if !has(&["--short", "--porcelain", "--long", "-z", "--null"]) => {
            Boundary::Commit
        }
        Some("push") if !has(&["-n", "--delete", "-d"]) => Boundary::Pushed,
        Some("merge") if !has(&["--abort", "--quit", "--no-commit", "--squash"]) => {
            Boundary::Merged
        }
        _ => return Boundaries::NONE,
    };
    Boundaries::of(&[boundary])
}

fn pull_request(tool: &str, arguments: &[String]) -> Boundaries {
    let mut words = arguments.iter().map(String::as_str);
    let on_prs = tool != "gh" || words.next() == Some("pr");
    let verb = words.find(|word| !word.starts_with('-'));
    let asks_help =
        arguments.iter().any(|word| matches!(word.as_str(), "--help" | "-h" | "--dry-run"));
    let known = PR_COMMANDS
        .iter()
        .any(|(name, verbs)| *name == tool && verb.is_some_and(|verb| verbs.contains(&verb)));
    if !on_prs || !known || asks_help {
        return Boundaries::NONE;
    }
    let checkpoint = Boundaries::of(&[Boundary::PrCheckpoint]);
    match verb {
        Some("merge" | "land") => checkpoint.or(Boundaries::of(&[Boundary::Merged])),
        _ => checkpoint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        assert_eq!(
            boundaries(Command::Line(line), 0, "/work", "/work").to_string(),
            expected,
            "{line}"
        );
    }

    // rule: boundary.work
    #[test]
    fn a_successful_git_commit_is_a_boundary() {
        for line in [
            "git commit -m 'x'",
            "/usr/bin/git commit --amend --no-edit",
            "bash -lc 'git add -A && git commit -q -m \"lab: add a.txt\" && git log --oneline | head -1'",
            "cd sub && git commit -am x",
            "git -C /some/repo -c user.name=x commit -m y",
            "GIT_AUTHOR_NAME=a env GIT_X=b git commit -m x",
            "git add .; git commit -m 'semicolons; in && quotes'",
            "git add -A\ngit commit -m x",
            "git commit -m x 2>&1 | tail -3",
            "set -e; git commit -m x; echo fine",
            "(cd sub && git commit -m x)",
            "git commit -F - <<'EOF'\nsubject\n\ngit push; it's\nEOF\n",
            "git commit -m \"$(cat <<'EOF'\nsubject (with paren) && more\nEOF\n)\"",
        ] {
            check(line, "commit");
        }
        let words = ["bash", "-lc", "git commit -m x"].map(str::to_owned);
        assert_eq!(boundaries(Command::Words(&words), 0, "/work", "/work").to_string(), "commit");
    }

    // rule: signal.from-its-source
    #[test]
    fn the_words_git_commit_are_not_a_commit() {
        for line in [
            "git commit --dry-run",
            "git commit -m x --dry-run",
            "echo git commit -m x",
            "echo 'done && git commit -m x'",
            "grep -r \"git commit\" . && ls",
            "# git commit -m x",
            "ls # && git commit -m x",
            "git commit-tree abc",
            "git help commit",
            "git log --grep commit",
            "git commit -m x || true",
            "git commit -m x; echo done",
            "git commit -m 'open quote",
            "cat <<EOF\ngit commit -m x\nEOF",
        ] {
            check(line, "none");
        }
        assert_eq!(
            boundaries(Command::Line("git commit -m x"), 1, "/work", "/work"),
            Boundaries::NONE
        );
    }

    // rule: boundary.work
    // rule: signal.pull-request
    #[test]
    fn pull_request_commands_are_checkpoints() {
        for verb in ["create", "ready", "edit", "close", "reopen", "review"] {
            check(&format!("gh pr {verb} --fill"), "pr_checkpoint");
        }
        check("gh pr merge --squash", "merged, pr_checkpoint");
        check("hub pull-request -m 'Add the parser'", "pr_checkpoint");
        for verb in ["submit", "ss", "create", "review"] {
            check(&format!("gt {verb}"), "pr_checkpoint");
        }
        check("gt land", "merged, pr_checkpoint");
        for line in [
            "gh pr view",
            "gh issue create",
            "gh pr checkout 7",
            "gt log",
            "hub browse",
            "gh pr create --help",
        ] {
            check(line, "none");
        }
        check(
            "git commit -m x && git push && gh pr create --fill",
            "commit, pushed, pr_checkpoint",
        );
    }

    // rule: boundary.pushed
    // rule: boundary.merged
    #[test]
    fn pushes_and_merges_are_boundaries() {
        check("git push -u origin topic", "pushed");
        check("git checkout main && git merge --no-ff topic", "merged");
        for line in ["git push --dry-run", "git push origin --delete topic", "git merge --abort"] {
            check(line, "none");
        }
    }

    // rule: boundary.own-repository
    #[test]
    fn a_repository_for_temporary_files_is_not_the_threads() {
        for line in [
            "cd /tmp && git init -q x && cd x && git commit --allow-empty -m x",
            "cd /tmp/lab && git commit -am x",
            "cd $(mktemp -d) && git init && git commit --allow-empty -m x",
            "cd \"$TMPDIR/x\" && git commit -am x",
            "git -C /tmp/lab commit -am x",
            "git init && git add . && git commit -m first",
            "bash -c 'cd /tmp/lab && git push'",
        ] {
            check(line, "none");
        }
        check("cd /tmp/lab && make && cd /work && git commit -am x", "commit");
        let own = Command::Line("cd /tmp/lab/sub && git commit -am x");
        assert_eq!(boundaries(own, 0, "/tmp/lab", "/tmp/lab").to_string(), "commit");
        let there = Command::Line("git commit -am x");
        assert_eq!(boundaries(there, 0, "/tmp/lab", "/work").to_string(), "none");
    }

    #[test]
    fn a_line_of_very_many_commands_costs_linear_work() {
        let cost = |times: usize| {
            steps::take();
            assert_eq!(
                boundaries(Command::Line(&"a&&".repeat(times)), 0, "/work", "/work"),
                Boundaries::NONE
            );
            steps::take()
        };
        assert!(cost(60_000) <= cost(30_000) * 2 + 1000);
    }
}
