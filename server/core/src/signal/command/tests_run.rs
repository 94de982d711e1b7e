//! The commands that run tests.

use super::split::{Simple, Then, split};
use super::{Command, MAX_DEPTH, SplitCommand, base_name, past_prefixes, proved, script};

/// Programs that run tests, with their subcommands for it. An empty list: always.
const TEST_RUNNERS: [(&str, &[&str]); 18] = [
    ("cargo", &["test", "nextest", "t"]),
    ("npm", &["test", "t"]),
    ("pnpm", &["test", "t"]),
    ("yarn", &["test"]),
    ("bun", &["test"]),
    ("deno", &["test"]),
    ("go", &["test"]),
    ("make", &["test", "check"]),
    ("just", &["test", "check"]),
    ("mise", &["test"]),
    ("task", &["test"]),
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

/// The check that a command runs, by the names of its program and subcommand, for example `cargo test`; `None` if it
/// runs no tests. The same name means the same check.
pub fn check(command: Command<'_>) -> Option<String> {
    check_of(&SplitCommand::of(command))
}

pub(super) fn check_of(command: &SplitCommand<'_>) -> Option<String> {
    match command {
        SplitCommand::Line(commands) => check_in_commands(commands, 0),
        SplitCommand::Words(words) => check_in_words(words, 0),
    }
}

/// Whether a test runner succeeded. Through a pipe this is unknown: `cargo test | tail` exits with 0 either way.
pub fn tests_passed(command: Command<'_>, exit_code: i64) -> bool {
    exit_code == 0 && check(command).is_some()
}

fn check_in_line(line: &str, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH { None } else { check_in_commands(&split(line), depth) }
}

fn check_in_commands(commands: &[Simple], depth: usize) -> Option<String> {
    let ends = proved(commands).iter().filter(|command| command.then != Then::Pipe);
    ends.into_iter().find_map(|command| check_in_words(&command.words, depth))
}

fn check_in_words(words: &[String], depth: usize) -> Option<String> {
    let (program, arguments) = past_prefixes(words).split_first()?;
    let program = base_name(program);
    if matches!(program, "bash" | "sh" | "zsh" | "dash" | "ksh") {
        return check_in_line(script(arguments)?, depth + 1);
    }
    if arguments.iter().any(|word| pretends(program, word)) {
        return None;
    }
    if matches!(program, "python" | "python3" | "uv" | "npx" | "poetry") {
        let runs = |word: &&String| TEST_PROGRAMS.contains(&word.as_str());
        return arguments.iter().find(runs).cloned();
    }
    if TEST_PROGRAMS.contains(&program) {
        return Some(program.to_owned());
    }
    let (_, verbs) = TEST_RUNNERS.iter().find(|(name, _)| *name == program)?;
    let verb = arguments.iter().map(String::as_str).find(|word| !word.starts_with(['-', '+']));
    match verb {
        _ if verbs.is_empty() => Some(program.to_owned()),
        Some("run") => {
            let script = arguments.iter().find(|word| is_test_script(word))?;
            Some(format!("{program} run {script}"))
        }
        Some(verb) if verbs.contains(&verb) => Some([program, verb].join(" ")),
        _ => None,
    }
}

/// Whether this argument makes a runner succeed without running a test.
fn pretends(program: &str, word: &str) -> bool {
    const ALWAYS: [&str; 20] = [
        "--help",
        "-h",
        "--version",
        "-V",
        "--no-run",
        "--dry-run",
        "--dryrun",
        "--list",
        "--list-tests",
        "--listTests",
        "--collect-only",
        "--co",
        "--fixtures",
        "--markers",
        "--showConfig",
        "--show-only",
        "-N",
        "--listenvs",
        "--setup-plan",
        "--setup-only",
    ];
    const OF_A_PROGRAM: [(&[&str], &[&str]); 9] = [
        (&["cargo", "swift", "npx", "vitest", "jest", "playwright"], &["list"]),
        (
            &["make", "just"],
            &["--just-print", "--recon", "--question", "--touch", "--show", "--evaluate"],
        ),
        (&["just"], &["-n", "-l"]),
        (&["task", "mise"], &["-n", "--dry"]),
        (&["go"], &["-n", "-c", "-list"]),
        (
            &["mvn"],
            &["-v", "-version", "-DskipTests", "-DskipTests=true", "-Dmaven.test.skip=true"],
        ),
        (&["gradle", "gradlew"], &["-v", "-m", "-x"]),
        (&["dotnet"], &["-t"]),
        (&["tox"], &["-l", "list", "config"]),
    ];
    let of_program = OF_A_PROGRAM.iter().filter(|(names, _)| names.contains(&program));
    // Short flags of make may be joined.
    let joined = word.strip_prefix('-').filter(|rest| !rest.starts_with('-') && program == "make");
    ALWAYS.contains(&word)
        || of_program.into_iter().any(|(_, words)| words.contains(&word))
        || joined.is_some_and(|flags| {
            flags.chars().all(char::is_alphabetic) && flags.contains(['n', 'q', 't'])
        })
}

/// A script of a package or a task runner that runs tests, such as `test`, `test:unit` or `test.ci`.
fn is_test_script(word: &str) -> bool {
    word.strip_prefix("test")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: boundary.piped-check
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
            "make -j4 test",
            "pytest -n 4 -v",
            "go test -v ./...",
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
            "pytest --version",
            "python3 -m pytest --version",
            "npm test --version",
            "make -n test",
            "make -kn check",
            "make --dry-run test",
            "go test -c ./...",
            "go test -list . ./...",
            "mvn verify -DskipTests",
            "gradle check -x test",
            "jest --listTests",
            "just --dry-run test",
            "tox -l",
            "npx vitest list",
            "cargo nextest list",
            "swift test list",
            "pytest --setup-plan",
        ] {
            check(line, false);
        }
        assert!(!tests_passed(Command::Line("cargo test"), 101));
    }

    // rule: boundary.same-check
    #[test]
    fn a_check_is_named_by_its_program_and_subcommand() {
        let check = |line: &str| check(Command::Line(line));
        assert_eq!(check("cargo test -p core --lib").as_deref(), Some("cargo test"));
        assert_eq!(check("cd web && npm run test:unit").as_deref(), Some("npm run test:unit"));
        assert_eq!(check("python3 -m pytest -x").as_deref(), Some("pytest"));
        assert_eq!(check("mise run test:ci").as_deref(), Some("mise run test:ci"));
        assert_eq!(check("go test ./... | tail -3"), None);
    }
}
