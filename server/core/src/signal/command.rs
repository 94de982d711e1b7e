//! Finds the shell commands that are boundaries: a successful `git commit`, a pull-request command. Command lines are
//! split into simple commands and words; raw text is never searched.

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

/// Wrappers such as `bash -lc '…'` are opened at most this deep.
const MAX_DEPTH: usize = 4;

const PR_COMMANDS: [(&str, &[&str]); 3] = [
    ("gh", &["create", "ready", "edit", "close", "merge", "reopen", "review"]),
    ("gt", &["submit", "ss", "create", "review", "land"]),
    ("hub", &["pull-request"]),
];

/// The boundaries of a finished command: none unless it exited with 0.
pub fn boundaries(command: Command<'_>, exit_code: i64) -> Boundaries {
    if exit_code != 0 {
        return Boundaries::NONE;
    }
    match command {
        Command::Line(line) => in_line(line, 0),
        Command::Words(words) => in_words(words, 0),
    }
}

/// Programs that run tests, with their subcommands for it. An empty list: always.
const TEST_RUNNERS: [(&str, &[&str]); 16] = [
    ("cargo", &["test", "nextest", "t"]),
    ("npm", &["test", "t"]),
    ("pnpm", &["test", "t"]),
    ("yarn", &["test"]),
    ("bun", &["test"]),
    ("deno", &["test"]),
    ("go", &["test"]),
    ("make", &["test", "check"]),
    ("just", &["test", "check"]),
    ("mvn", &["test", "verify"]),
    ("gradle", &["test", "check"]),
    ("gradlew", &["test", "check"]),
    ("dotnet", &["test"]),
    ("mix", &["test"]),
    ("swift", &["test"]),
    ("ctest", &[]),
];
const TEST_PROGRAMS: [&str; 7] =
    ["pytest", "jest", "vitest", "rspec", "phpunit", "tox", "nosetests"];

/// Whether a test runner succeeded. Through a pipe this is unknown: `cargo test | tail` exits with 0 either way.
pub fn tests_passed(command: Command<'_>, exit_code: i64) -> bool {
    exit_code == 0
        && match command {
            Command::Line(line) => tests_in_line(line, 0),
            Command::Words(words) => tests_in_words(words, 0),
        }
}

fn tests_in_line(line: &str, depth: usize) -> bool {
    depth <= MAX_DEPTH
        && proved(&split(line))
            .iter()
            .any(|command| command.then != Then::Pipe && tests_in_words(&command.words, depth))
}

fn tests_in_words(words: &[String], depth: usize) -> bool {
    let words = past_prefixes(words);
    let Some((program, arguments)) = words.split_first() else { return false };
    let program = base_name(program);
    let pretends = arguments.iter().any(|word| {
        matches!(word.as_str(), "--help" | "-h" | "--no-run" | "--list" | "--collect-only" | "-N")
    });
    let verb = arguments.iter().find(|word| !word.starts_with(['-', '+']));
    let runs = || {
        TEST_RUNNERS.iter().any(|(name, verbs)| {
            *name == program
                && (verbs.is_empty()
                    || verb.is_some_and(|verb| verbs.contains(&verb.as_str()))
                    || verb.is_some_and(|verb| verb == "run")
                        && arguments.iter().any(|word| word == "test"))
        })
    };
    match program {
        "bash" | "sh" | "zsh" | "dash" | "ksh" => {
            script(arguments).is_some_and(|line| tests_in_line(line, depth + 1))
        }
        "python" | "python3" | "uv" | "npx" | "poetry" => {
            !pretends && arguments.iter().any(|word| TEST_PROGRAMS.contains(&word.as_str()))
        }
        _ => !pretends && (TEST_PROGRAMS.contains(&program) || runs()),
    }
}

fn in_line(line: &str, depth: usize) -> Boundaries {
    if depth > MAX_DEPTH {
        return Boundaries::NONE;
    }
    let commands = split(line);
    let found = proved(&commands).iter().map(|command| in_words(&command.words, depth));
    found.fold(Boundaries::NONE, Boundaries::or)
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

fn in_words(words: &[String], depth: usize) -> Boundaries {
    let words = past_prefixes(words);
    let Some((program, arguments)) = words.split_first() else { return Boundaries::NONE };
    match base_name(program) {
        "git" => git(arguments),
        "bash" | "sh" | "zsh" | "dash" | "ksh" => {
            script(arguments).map_or(Boundaries::NONE, |line| in_line(line, depth + 1))
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

fn git(arguments: &[String]) -> Boundaries {
    const WITH_VALUE: [&str; 6] =
        ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];
    let mut words = arguments.iter().map(String::as_str);
    let verb = loop {
        match words.next() {
            Some(option) if WITH_VALUE.contains(&option) => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            verb => break verb,
        }
    };
    let options = || words.clone().take_while(|word| *word != "--");
    let pretends = options().any(|word| {
        matches!(
            word,
            "--dry-run" | "--help" | "-h" | "--short" | "--porcelain" | "--long" | "-z" | "--null"
        )
    });
    if verb == Some("commit") && !pretends {
        Boundaries::of(&[Boundary::Commit])
    } else {
        Boundaries::NONE
    }
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
    if on_prs && known && !asks_help {
        Boundaries::of(&[Boundary::PrCheckpoint])
    } else {
        Boundaries::NONE
    }
}

#[derive(Debug)]
struct Simple {
    words: Vec<String>,
    then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    And,
    Or,
    Pipe,
    Background,
    Next,
    End,
}

/// Cuts a line at its unquoted operators; the words of each piece are read by the shell-word library.
/// What that cannot parse (an open quote, for example) yields no words, and so no boundary.
fn split(line: &str) -> Vec<Simple> {
    let mut commands: Vec<Simple> = Vec::new();
    let mut reader = Reader { rest: line, here_documents: Vec::new() };
    loop {
        let (piece, then) = reader.piece();
        steps::add(piece.len() + 1);
        let words = shlex::split(&piece).unwrap_or_default();
        if !words.is_empty() {
            commands.push(Simple { words, then });
        } else if let Some(last) = commands.last_mut()
            && last.then == Then::Next
        {
            last.then = then;
        }
        if then == Then::End {
            return commands;
        }
    }
}

struct Reader<'l> {
    rest: &'l str,
    /// The closing words of here-documents whose bodies begin after this line.
    here_documents: Vec<String>,
}

impl Reader<'_> {
    /// The text up to the next unquoted operator, without comments and here-documents, and that operator.
    fn piece(&mut self) -> (String, Then) {
        let mut piece = String::new();
        while let Some(c) = self.rest.chars().next() {
            let two = self.rest.as_bytes().get(..2).unwrap_or_default();
            let length = match c {
                '\\' => 1 + self.rest[1..].chars().next().map_or(0, char::len_utf8),
                '\'' | '"' => quoted(self.rest, c),
                '#' if piece.is_empty() || piece.ends_with(char::is_whitespace) => {
                    self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
                    continue;
                }
                '<' if self.rest.starts_with("<<<") => 3,
                '<' if two == b"<<" => {
                    self.here_documents.extend(closing_word(&self.rest[2..]));
                    2
                }
                '>' | '<' if matches!(two, b">&" | b"<&" | b">|") => 2,
                '&' if two == b"&>" => 2,
                '&' if two == b"&&" => return (piece, self.operator(2, Then::And)),
                '|' if two == b"||" => return (piece, self.operator(2, Then::Or)),
                '|' => return (piece, self.operator(1, Then::Pipe)),
                '&' => return (piece, self.operator(1, Then::Background)),
                ';' | '(' | ')' => return (piece, self.operator(1, Then::Next)),
                '\n' => {
                    self.skip(1);
                    self.skip_here_documents();
                    return (piece, Then::Next);
                }
                other => other.len_utf8(),
            };
            piece.push_str(&self.rest[..length]);
            self.skip(length);
        }
        (piece, Then::End)
    }

    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    fn operator(&mut self, length: usize, then: Then) -> Then {
        self.skip(length);
        then
    }

    fn skip_here_documents(&mut self) {
        for word in std::mem::take(&mut self.here_documents) {
            while !self.rest.is_empty() {
                let line = self.rest.split_inclusive('\n').next().unwrap_or_default();
                self.skip(line.len());
                if line.trim() == word {
                    break;
                }
            }
        }
    }
}

/// The length of quoted text including its quotes; an open quote extends to the end.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The word that closes a here-document, from the text after `<<`.
fn closing_word(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['-', ' ', '\t']);
    let end = text.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c)).unwrap_or(text.len());
    shlex::split(&text[..end])?.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        assert_eq!(boundaries(Command::Line(line), 0).to_string(), expected, "{line}");
    }

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
        assert_eq!(boundaries(Command::Words(&words), 0).to_string(), "commit");
    }

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
            "git push",
        ] {
            check(line, "none");
        }
        assert_eq!(boundaries(Command::Line("git commit -m x"), 1), Boundaries::NONE);
    }

    #[test]
    fn a_test_runner_that_succeeds_means_that_tests_passed() {
        let check = |line: &str, passed: bool| {
            assert_eq!(tests_passed(Command::Line(line), 0), passed, "{line}");
        };
        for line in [
            "cargo test",
            "cargo +nightly nextest run --workspace",
            "cd web && npm run test",
            "npm test",
            "bash -lc 'pytest -q'",
            "python3 -m pytest tests",
            "CI=1 go test ./...",
            "make check && git push",
        ] {
            check(line, true);
        }
        for line in [
            "cargo test | tail -3",
            "cargo test || true",
            "cargo test; echo done",
            "cargo build",
            "cargo test --no-run",
            "echo cargo test",
            "npm install test",
            "pytest --collect-only",
        ] {
            check(line, false);
        }
        assert!(!tests_passed(Command::Line("cargo test"), 101));
    }

    #[test]
    fn pull_request_commands_are_checkpoints_and_a_push_alone_is_not() {
        for verb in ["create", "ready", "edit", "close", "merge", "reopen", "review"] {
            check(&format!("gh pr {verb} --fill"), "pr_checkpoint");
        }
        check("hub pull-request -m 'Add the parser'", "pr_checkpoint");
        for verb in ["submit", "ss", "create", "review", "land"] {
            check(&format!("gt {verb}"), "pr_checkpoint");
        }
        for line in [
            "gh pr view",
            "gh issue create",
            "gh pr checkout 7",
            "gt log",
            "hub browse",
            "git push origin main",
            "gh pr create --help",
        ] {
            check(line, "none");
        }
        check("git commit -m x && git push && gh pr create --fill", "commit, pr_checkpoint");
    }

    #[test]
    fn a_line_of_very_many_commands_costs_linear_work() {
        let cost = |times: usize| {
            steps::take();
            assert_eq!(boundaries(Command::Line(&"a&&".repeat(times)), 0), Boundaries::NONE);
            steps::take()
        };
        assert!(cost(60_000) <= cost(30_000) * 2 + 1000);
    }
}
