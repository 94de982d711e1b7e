//! What `--help`, `--version` and the completions say.

use expect_test::{Expect, expect};

use super::{Desk, err, out};

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = out(&Desk::new().run(&["completions", shell]));
        assert!(script.contains("doctor"), "{shell}");
        for hidden in ["relay", "Own the app-server", "Answer an agent"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
    let help = out(&Desk::new().run(&["completions", "--help"]));
    assert!(help.contains("bash-completion/completions/rawr"), "{help}");
}

#[test]
fn every_command_tells_its_help_and_its_version() {
    let desk = Desk::new();
    let (help, asked) = (desk.run(&["help", "status"]), desk.run(&["status", "--help"]));
    assert!(help.status.success(), "{}", err(&help));
    assert_eq!(out(&help), out(&asked));
    for command in [&["status", "--version"][..], &["prompts", "list", "-V"]] {
        let output = desk.run(command);
        assert!(output.status.success(), "{}", err(&output));
        assert!(out(&output).contains(env!("CARGO_PKG_VERSION")), "{}", out(&output));
    }
}

fn check_help(arguments: &[&str], expected: Expect) {
    let help = out(&Desk::new().run(arguments));
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn the_help_begins_with_what_to_do() {
    check_help(
        &["--help"],
        expect![[r#"
            Decides when a coding agent's context is compacted, and carries the agent across

            Usage: rawr [OPTIONS] <COMMAND>

            Start here:
              demo         Show a whole compaction on a scripted session: no network, no account
              init         Write a commented rawr.toml and the prompt files
              doctor       Check that everything is in place, and say what to do where it is not

            Run an agent:
              codex        Run your own Codex, with rawr beside it
              exec         Let an agent work on prompts, with rawr deciding about its context
              attach       Stand beside the Codex sessions that run already
              detach       Leave every Codex that rawr is beside, also by `rawr codex`; Codex goes on
              hooks        Let Claude Code or Codex sessions that rawr does not run call rawr

            See what happens:
              status       Show where every thread stands, or one
              watch        Watch all threads live, and step in by a key
              explain      Say why a compaction came, or why none did

            Step in:
              compact      Ask for a compaction, or answer the one that waits
              snooze       Put compaction off for a while
              guard        Forbid compaction until something happens
              pin          Keep an instruction word for word across every compaction
              mark         Say that a phase of the work ends here

            Look back:
              capsules     List what was kept before each compaction of a thread
              restore      Go back to before a compaction, in a new thread
              recall       Find what was said, also before a compaction

            Settings and files:
              config       Show the configuration and say what is wrong with it
              prompts      List, edit, compare, reset and try out the prompts
              state        Look after what is stored: check, repair, compact, archive, export

            For programs:
              serve        Run the sidecar on standard input and output; editors start this
              completions  Print a completion script for a shell

            Options:
                  --home <DIR>  Keep configuration, prompts and state in this folder
              -v, --verbose     Show the sidecar's log on standard error
              -h, --help        Print help
              -V, --version     Print version

            Begin with:
              rawr demo                                    watch a whole compaction, no account needed
              rawr init                                    write a commented rawr.toml and the prompts
              rawr doctor                                  see whether everything is in place
              rawr codex                                   your own Codex, with rawr beside it
              rawr exec --host codex "fix the tests"       let Codex work, with rawr at its side

            `rawr help COMMAND` tells more about one of them.
            Files are kept in $RAWR_HOME, else $CODEX_HOME, else ~/.rawr or ~/.codex, whichever exists; --home comes first.
        "#]],
    );
    check_help(
        &["exec", "--help"],
        expect![[r#"
            Let an agent work on prompts, with rawr deciding about its context

            Usage: rawr exec [OPTIONS] --host <HOST> [PROMPT]...

            Arguments:
              [PROMPT]...
                      What to say to the agent, one turn each [default: standard input, one turn a line]

            Options:
                  --home <DIR>
                      Keep configuration, prompts and state in this folder

                  --host <HOST>
                      The agent that does the work

                      Possible values:
                      - codex:    The Codex CLI, through its app-server
                      - claude:   Claude Code, through its stream of JSON
                      - embedded: A small agent inside rawr, on any OpenAI-compatible endpoint; without a model it follows a script

                  --cd <DIR>
                      Work in this folder [default: the current one]

              -v, --verbose
                      Show the sidecar's log on standard error

                  --codex <PATH>
                      The Codex binary [default: the first `codex` in the PATH]

                  --claude <PATH>
                      The Claude Code binary [default: the first `claude` in the PATH]

                  --model <MODEL>
                      The model to work with [default: the host's own; the embedded agent follows a script]

                  --base-url <URL>
                      The OpenAI-compatible endpoint of the embedded agent's model, up to /v1

                  --api-key-env <VAR>
                      The environment variable with the endpoint's key [default: OPENAI_API_KEY, if it is set]

                  --context-window <TOKENS>
                      How many tokens the embedded agent's model holds [default: 128000]

                  --remote-compaction
                      Let the endpoint compact by POST /responses/compact, where it can give messages back

                  --sandbox <MODE>
                      What Codex's commands may touch [default: as Codex is configured]

                      [possible values: read-only, workspace-write, danger-full-access]

                  --permission-mode <MODE>
                      What Claude Code may do unasked, by its own word: acceptEdits, bypassPermissions, … [default: as Claude Code is configured]

              -c, --config <KEY=VALUE>
                      A setting of rawr's for this run, as in rawr.toml; may be given more than once

                  --json
                      Print one JSON object a line

              -h, --help
                      Print help (see a summary with '-h')

              -V, --version
                      Print version

            Examples:
              rawr exec --host codex "write the parser" "now the docs"
              rawr exec --host codex --cd ~/project --sandbox workspace-write < prompts.txt
              rawr exec --host codex -c rawr_auto_compaction.mode=suggest "fix the tests"
              rawr exec --host claude --permission-mode acceptEdits "fix the tests"
              rawr exec --host embedded --model qwen3-coder --base-url http://127.0.0.1:8080/v1 "fix the tests"
              rawr exec --host embedded --json "hello"

            Exit codes: 0 done, 1 the agent or rawr failed, 2 wrong usage, 130 after Ctrl-C, 141 ended because nothing reads the
            output any more.
        "#]],
    );
}
