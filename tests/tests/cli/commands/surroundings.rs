//! Unusual environments: invalid UTF-8, ignored signals, odd folders, terminals.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use rawr_tests::{Terminal, rawr};

use super::{CommandFixture, EXEC, err, events, out, prompts_of, signal, wait_for};

#[test]
fn an_invalid_byte_loses_no_message() {
    let input = b"one\n\xff bad\r\ntwo\n";
    assert_eq!(prompts_of(&["--lines"], input), ["one", "\u{fffd} bad", "two"]);
    assert_eq!(prompts_of(&[], input), ["one\n\u{fffd} bad\r\ntwo"]);
}

#[test]
fn an_inherited_ignored_signal_stays_ignored() {
    let fixture = CommandFixture::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\""]).arg(rawr()).args(EXEC).arg("--lines");
    shell.env("RAWR_HOME", fixture.home.path()).env_remove("CODEX_HOME");
    shell.env("TMPDIR", fixture.temporary.path()).current_dir(fixture.temporary.path());
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
fn a_folder_with_a_non_utf8_name_can_be_used() {
    let fixture = CommandFixture::new();
    let folder = fixture.temporary.path().join(OsStr::from_bytes(b"w\xffrk"));
    std::fs::create_dir(&folder).unwrap();
    let output =
        fixture.command(&[&EXEC[..], &["hi"]].concat()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    assert!(events(&out(&output))[0]["cwd"].as_str().unwrap().ends_with("w\u{fffd}rk"));
}

#[test]
fn a_home_with_a_non_utf8_name_is_refused() {
    let fixture = CommandFixture::new();
    let home = fixture.temporary.path().join(OsStr::from_bytes(b"h\xffme"));
    for arguments in
        [&["status"][..], &["doctor"], &["init"], &["exec", "--host", "embedded", "hi"]]
    {
        let output = fixture.command(arguments).env("RAWR_HOME", &home).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", out(&output));
        assert!(err(&output).contains("not valid UTF-8"), "{arguments:?}: {}", err(&output));
    }
    assert_eq!(fixture.leftovers(), Vec::<String>::new());
}

#[test]
fn a_usage_error_of_a_hook_is_printed_and_does_not_stop_the_agent() {
    let fixture = CommandFixture::new();
    let check = |arguments: &[&str], code: i32| {
        let output = fixture.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains("try '--help'"), "{arguments:?}: {}", err(&output));
    };
    let home = fixture.home.path().to_str().unwrap();
    check(&["hook", "Stop", "--host", "claude", "--of-another-release"], 0);
    check(&["--home", home, "hook", "Stop", "--host", "emacs"], 0);
    check(&["hook", "install", "--claude"], 2);
    check(&["hook", "Stop"], 2);
    check(&["exec", "--host", "codex", "--bogus", "hook"], 2);
}

#[test]
fn an_unreadable_home_is_an_error() {
    let fixture = CommandFixture::new();
    std::fs::create_dir_all(fixture.path("rawr/auto_compaction")).unwrap();
    std::fs::write(fixture.path("rawr/auto_compaction/threads"), "no folder").unwrap();
    for home in ["/dev/null/x", fixture.home.path().to_str().unwrap()] {
        for command in [&["status"][..], &["recall", "parser"], &["explain", "x"]] {
            let output = fixture.run(&[&["--home", home], command].concat());
            let error = err(&output);
            assert_eq!(output.status.code(), Some(1), "{home} {command:?}: {error}");
            assert!(error.contains(&format!("{home}/rawr/auto_compaction/threads")), "{error}");
            assert_eq!(error.matches("os error").count(), 1, "{error}");
        }
    }
}

#[test]
fn an_error_names_its_file_and_its_cause_once() {
    let fixture = CommandFixture::new();
    std::fs::write(fixture.path("rawr"), "no folder").unwrap();
    let output = fixture.run(&["exec", "--host", "embedded", "hi"]);
    let error = err(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("failed to start the sidecar "), "{error}");
    assert!(error.contains(fixture.path("rawr/sidecar.log").to_str().unwrap()), "{error}");
    assert_eq!(error.matches("os error").count(), 1, "{error}");
}

#[test]
fn a_signal_for_the_editor_does_not_end_rawr() {
    let fixture = CommandFixture::new();
    assert!(fixture.run(&["init"]).status.success());
    let editor = fixture.path("editor");
    let script = "trap 'echo INTERRUPTED' INT\ntrap 'echo QUIT' QUIT\necho OPEN\n\
        until read -r word; do :; done\necho CLOSED\n";
    std::fs::write(&editor, script).unwrap();
    let mut command = fixture.command(&["prompts", "edit", "handoff"]);
    command.env_remove("VISUAL").env("EDITOR", format!("sh {}", editor.display()));
    let mut terminal = Terminal::run(&command, 24, 100);
    terminal.wait_for(&["OPEN"]);
    terminal.press("\x03");
    terminal.wait_for(&["INTERRUPTED"]);
    terminal.press("\x1c");
    terminal.wait_for(&["QUIT"]);
    terminal.press("done\r");
    terminal.wait_for(&["CLOSED", "handoff is unchanged."]);
    assert!(terminal.wait_for_the_end().success());
}

/// What would wipe the line that moves does not arrive there.
#[test]
fn there_is_no_live_line_without_erase_support() {
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let fixture = CommandFixture::new();
        let mut command = fixture.command(&["demo"]);
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color").env(variable, value);
        let mut terminal = Terminal::run(&command, 24, 100);
        assert!(terminal.wait_for_the_end().success());
        terminal.wait_for(&["the demo's files are removed"]);
        let written = terminal.written().replace("\r\n", "\n");
        assert!(!written.contains('\r') && !written.contains('\x1b'), "{variable}: {written:?}");
    }
}

#[test]
fn frames_are_as_wide_as_the_terminal() {
    let fixture = CommandFixture::new();
    let mut command = fixture.command(&["demo"]);
    command.env("NO_COLOR", "1").env("TERM", "xterm-256color");
    let mut terminal = Terminal::run(&command, 200, 60);
    assert!(terminal.wait_for_the_end().success());
    terminal.wait_for(&["the demo's files are removed"]);
    let written = terminal.written();
    let framed = |line: &&str| ["╭", "│", "╰", "  │"].iter().any(|edge| line.starts_with(edge));
    let framed: Vec<_> = written.lines().filter(framed).collect();
    assert!(framed.len() > 10, "{written}");
    for line in framed {
        assert!(line.trim_end().chars().count() <= 60, "{line}");
    }
}

/// A home may be shared with a container, where processes have other numbers.
#[test]
fn a_process_of_another_machine_gets_no_signal() {
    let fixture = CommandFixture::new();
    let mut innocent = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let folder = fixture.path("rawr/attached");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(innocent.id().to_string());
    std::fs::write(&file, "/run/codex.sock\nanother machine").unwrap();
    let locked = std::fs::File::open(&file).unwrap();
    locked.lock().unwrap();
    let output = fixture.run(&["detach"]);
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
    assert!(out(&output).contains("run `rawr detach` there"), "{}", out(&output));
    drop(innocent.stdin.take());
    assert!(innocent.wait().unwrap().success());
}
