//! `--help` and `--version`.

use expect_test::{Expect, expect};

use super::{CommandFixture, err, out};

#[test]
fn every_command_has_help_and_a_version() {
    let fixture = CommandFixture::new();
    let whole = out(&fixture.run(&["help"]));
    assert_eq!(whole, out(&fixture.run(&["--help"])));
    // The commands are the lines with two blanks in front, up to the options.
    let commands = whole.split("\nOptions:").next().unwrap();
    let commands = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<_> = commands.collect();
    assert!(commands.len() > 20, "{commands:?}");
    let nested = [&["config", "show"][..], &["hooks", "install"], &["state", "export"]];
    for command in commands.iter().map(std::slice::from_ref).chain(nested) {
        let help = fixture.run(&[&["help"], command].concat());
        assert!(help.status.success(), "{command:?}: {}", err(&help));
        assert_eq!(out(&help), out(&fixture.run(&[command, &["--help"]].concat())), "{command:?}");
    }
    for command in [&["status", "--version"][..], &["prompts", "list", "-V"]] {
        let output = fixture.run(command);
        assert!(output.status.success(), "{}", err(&output));
        assert!(out(&output).contains(env!("CARGO_PKG_VERSION")), "{}", out(&output));
    }
}

fn check_help(arguments: &[&str], expected: Expect) {
    let help = out(&CommandFixture::new().run(arguments));
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn the_help_starts_with_examples() {
    check_help(
        &["--help"],
        expect![[r#"
            Decides when a coding agent's context is compacted, and carries the agent across

            Usage: rawr [OPTIONS] <COMMAND>

            Start here:
              demo         Show a compaction in a scripted session; needs no network or account
              init         Write a commented rawr.toml and the prompt files
              doctor       Check the installation and suggest fixes

            Run an agent:
              codex        Run Codex as usual, with rawr attached
              exec         Run an agent on prompts and manage its context
              attach       Attach to running Codex sessions
              detach       Detach rawr from all Codex sessions, `rawr codex` included; Codex keeps running
              hooks        Install hooks for Claude Code or Codex sessions that rawr does not run

            Observe:
              status       Show the state of all threads, or of one
              watch        Watch all threads live and respond with a key
              explain      Explain why a compaction happened, or why none did

            Respond:
              compact      Request a compaction, or answer a pending one
              snooze       Postpone compaction
              guard        Block compaction until a condition is met
              pin          Keep an instruction verbatim across every compaction
              mark         Mark the end of a phase of work

            History:
              capsules     List the capsules saved before each compaction of a thread
              restore      Restore the state before a compaction, in a new thread
              recall       Search the conversation, text before compactions included
              replay       Show when your configuration would have compacted in past sessions
              tune         Propose a change of your configuration that reaches a target in past sessions
              label        Say where work ended in past sessions, to measure a configuration by it
              stats        Show how compaction went in your threads

            Settings and files:
              config       Show and check the configuration
              test         Run the policy tests of a repository
              prompts      List, edit, diff, reset and render the prompts
              state        Check, repair, compact, archive and export stored state

            For programs:
              serve        Run the sidecar on stdin and stdout (started by editors)
              completions  Print a completion script for a shell

            Options:
                  --home <DIR>  Keep configuration, prompts and state in this folder
              -v, --verbose     Show the sidecar's log on standard error, and sessions in full
              -h, --help        Print help
              -V, --version     Print version

            Get started:
              rawr demo                                    show a compaction, no account needed
              rawr init                                    write a commented rawr.toml and the prompts
              rawr doctor                                  check the installation
              rawr codex                                   Codex as usual, with rawr attached
              rawr exec --host codex "fix the tests"       run Codex on a prompt

            `rawr help COMMAND` shows the details of a command.
            Files are kept in $RAWR_HOME, else $CODEX_HOME, else ~/.rawr or ~/.codex, whichever exists; --home comes first.
        "#]],
    );
    check_help(
        &["exec", "--help"],
        expect![[r#"
            Run an agent on prompts and manage its context

            Usage: rawr exec [OPTIONS] --host <HOST> [PROMPT]...

            Arguments:
              [PROMPT]...
                      Prompts for the agent, one turn each [default: stdin, like `-`: one prompt, or on a terminal one for each line]

            Options:
                  --host <HOST>
                      The agent to run

                      Possible values:
                      - codex:    The Codex CLI, over its app-server
                      - claude:   Claude Code, over stream-json
                      - embedded: A small built-in agent for any OpenAI-compatible endpoint; without a model it follows a script

                  --cd <DIR>
                      Working folder [default: the current one]

                  --codex <PATH>
                      The Codex binary [default: the first `codex` in the PATH]

                  --claude <PATH>
                      The Claude Code binary [default: the first `claude` in the PATH]

                  --model <MODEL>
                      The model [default: the host's; without one the embedded agent follows a script]

                  --base-url <URL>
                      The OpenAI-compatible endpoint of the embedded agent's model, up to /v1

                  --api-key-env <VAR>
                      The environment variable with the endpoint's key [default: OPENAI_API_KEY, if it is set]

                  --context-window <TOKENS>
                      Context window of the embedded agent's model, in tokens [default: 128000]

                  --remote-compaction
                      Compact with POST /responses/compact if the endpoint supports it

                  --sandbox <MODE>
                      Codex's sandbox mode [default: Codex's configuration]

                      [possible values: read-only, workspace-write, danger-full-access]

                  --profile <NAME>
                      A profile of Codex

                  --codex-config <KEY=VALUE>
                      A setting of Codex's own config.toml; repeatable

                  --image <FILE>
                      An image for the first prompt (Codex); repeatable

                  --claude-settings <FILE>
                      Settings of Claude Code: a file, or JSON

                  --permission-mode <MODE>
                      Claude Code's permission mode, such as acceptEdits [default: Claude Code's configuration]

              -c, --config <KEY=VALUE>
                      Override a setting of rawr.toml for this run; repeatable

                  --json
                      Print JSON, one object per line

                  --resume <THREAD>
                      Continue this thread: its id, its beginning or end, or `last`; see `rawr status`

                  --lines
                      Take each line of stdin as a prompt of its own

              -h, --help
                      Print help (see a summary with '-h')

              -V, --version
                      Print version

            Global options:
                  --home <DIR>
                      Keep configuration, prompts and state in this folder

              -v, --verbose
                      Show the sidecar's log on standard error, and sessions in full

            Examples:
              rawr exec --host codex "write the parser" "now the docs"
              rawr exec --host codex --cd ~/project --sandbox workspace-write < task.md
              rawr exec --host codex -c rawr_auto_compaction.mode=suggest "fix the tests"
              rawr exec --host claude --permission-mode acceptEdits "fix the tests"
              rawr exec --host embedded --model qwen3-coder --base-url http://127.0.0.1:8080/v1 "fix the tests"
              rawr exec --host embedded --json "hello"

            Exit codes: 0 success, 1 the agent or rawr failed, 2 usage error, 130 interrupted with Ctrl-C, 141 the reader of the
            output closed the pipe. One failed prompt is enough for 1; the prompts after it still run.
        "#]],
    );
}

#[test]
fn an_update_is_for_what_installed_rawr() {
    for name in ["update", "upgrade", "self-update"] {
        let output = CommandFixture::new().run(&[name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(
            err(&output).starts_with("error: rawr does not update itself: use what installed it")
        );
    }
    let other = CommandFixture::new().run(&["statu"]);
    assert!(err(&other).contains("similar subcommands exist"), "{}", err(&other));
}
