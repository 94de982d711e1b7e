//! What a shell, a terminal or a file system may hand to a program: bytes that are no text, signals to ignore, odd folders.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use rawr_tests::rawr;

use super::{Desk, err, events, out, prompts_of, signal, wait_for};

const EXEC: [&str; 4] = ["exec", "--host", "embedded", "--json"];

#[test]
fn a_wrong_byte_costs_no_message() {
    assert_eq!(prompts_of(b"one\n\xff bad\r\ntwo\n"), ["one", "\u{fffd} bad", "two"]);
}

#[test]
fn what_it_was_started_to_ignore_does_not_end_it() {
    let desk = Desk::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\""]).arg(rawr()).args(EXEC);
    shell.env("RAWR_HOME", desk.home.path()).env_remove("CODEX_HOME");
    shell.env("TMPDIR", desk.temporary.path()).current_dir(desk.temporary.path());
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"begin\n").unwrap();
    wait_for(&mut lines, "turn_completed");
    signal("HUP", child.id().into());
    signal("INT", child.id().into());
    stdin.write_all(b"go on\n").unwrap();
    wait_for(&mut lines, "turn_completed");
    drop(stdin);
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_folder_whose_name_is_no_text_can_be_worked_in() {
    let desk = Desk::new();
    let folder = desk.temporary.path().join(OsStr::from_bytes(b"w\xffrk"));
    std::fs::create_dir(&folder).unwrap();
    let output = desk.command(&[&EXEC[..], &["hi"]].concat()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    assert!(events(&out(&output))[0]["cwd"].as_str().unwrap().ends_with("w\u{fffd}rk"));
}

#[test]
fn a_home_whose_name_is_no_text_is_refused() {
    let desk = Desk::new();
    let home = desk.temporary.path().join(OsStr::from_bytes(b"h\xffme"));
    for arguments in
        [&["status"][..], &["doctor"], &["init"], &["exec", "--host", "embedded", "hi"]]
    {
        let output = desk.command(arguments).env("RAWR_HOME", &home).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", out(&output));
        assert!(err(&output).contains("not valid UTF-8"), "{arguments:?}: {}", err(&output));
    }
    assert_eq!(desk.leftovers(), Vec::<String>::new());
}

#[test]
fn wrong_usage_of_an_installed_hook_is_told_and_does_not_stop_the_agent() {
    let desk = Desk::new();
    let check = |arguments: &[&str], code: i32| {
        let output = desk.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains("try '--help'"), "{arguments:?}: {}", err(&output));
    };
    let home = desk.home.path().to_str().unwrap();
    check(&["hook", "Stop", "--host", "claude", "--of-another-release"], 0);
    check(&["--home", home, "hook", "Stop", "--host", "emacs"], 0);
    check(&["hook", "install", "--claude"], 2);
    check(&["hook", "Stop"], 2);
    check(&["exec", "--host", "codex", "--bogus", "hook"], 2);
}
