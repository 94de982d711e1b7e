//! Shell completion: what rawr answers a shell, and what a real Bash does with it.

use rawr_tests::Terminal;

use super::*;

/// What Fish gets for these words, the last of them unfinished: a candidate in each line, with its help after a tab.
fn ask(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(rawr());
    command.arg("--").arg("rawr").args(words).env("RAWR_COMPLETE", "fish");
    // A program that is started would not be found.
    command.env("RAWR_HOME", home).env_remove("CODEX_HOME").env("PATH", "");
    command.current_dir(home.parent().unwrap()).output().unwrap()
}

fn candidates(home: &Path, words: &[&str]) -> Vec<String> {
    let output = ask(home, words);
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {}", err(&output));
    out(&output).lines().map(str::to_owned).collect()
}

/// The candidates without their help.
fn values(home: &Path, words: &[&str]) -> Vec<String> {
    let value = |line: &String| line.split('\t').next().unwrap().to_owned();
    candidates(home, words).iter().map(value).collect()
}

#[test]
fn known_words_are_completed() {
    let home = TempDir::new().unwrap();
    for (words, expected) in [
        (&["sta"][..], &["status", "stats", "state"][..]),
        (&["help", "expl"], &["explain"]),
        (&["config", "s"], &["schema", "show"]),
        (&["init", "--preset", ""], &["calm", "spec"]),
        (&["exec", "--host", "c"], &["codex", "claude"]),
        (&["exec", "--host=e"], &["--host=embedded"]),
        (&["prompts", "diff", "he"], &["heads-up"]),
        (&["hooks", "install", "--cl"], &["--claude"]),
        (&["completions", ""], &["bash", "elvish", "fish", "powershell", "zsh"]),
        (&["status", ""], &["last"]),
        (
            &["exec", "-c", "rawr_auto_compaction.policy.asap.percent"],
            &["rawr_auto_compaction.policy.asap.percent_remaining_lt="],
        ),
        (
            &["attach", "--config", "rawr_auto_compaction.preset="],
            &["rawr_auto_compaction.preset=calm", "rawr_auto_compaction.preset=spec"],
        ),
        // Only other programs call these.
        (&["relay"], &[]),
        (&["claude-"], &[]),
    ] {
        let mut found = values(home.path(), words);
        found.retain(|value| {
            expected.first() == Some(&"--claude") || !value.starts_with("--") || value.contains('=')
        });
        found.retain(|value| value != "-v" && value != "-h" && value != "-V");
        assert_eq!(found, expected, "{words:?}");
    }
}

/// As Codex names threads.
const THREAD: &str = "019ae2a0-5420-7321-81a3-d0c4e2e94ace";
const NAME: &str = "4ace";

/// A home with one thread, which has a capsule.
fn home_with_a_thread(fixture: &CommandFixture) -> std::path::PathBuf {
    let kept = fixture.path("kept");
    assert!(fixture.run(&["demo", "--keep", kept.to_str().unwrap()]).status.success());
    let home = kept.join("home");
    let store = home.join("rawr/auto_compaction/threads");
    let [id] = names(&store).try_into().unwrap();
    std::fs::rename(store.join(id), store.join(THREAD)).unwrap();
    home
}

#[test]
fn threads_and_capsules_are_completed_by_name() {
    let fixture = CommandFixture::new();
    let home = home_with_a_thread(&fixture);
    let store = home.join("rawr/auto_compaction/threads");
    // Older ones: a name for a shell to run, and a log that cannot be read.
    for other in ["x$(touch ran)", "older-1-2f", "older-2-2f"] {
        std::fs::create_dir(store.join(other)).unwrap();
        let log = std::fs::File::create(store.join(other).join("events.jsonl")).unwrap();
        log.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    }
    std::fs::write(store.join("older-1-2f/events.jsonl"), b"\x00{ broken\n").unwrap();

    let status = out(&fixture.run(&["--home", home.to_str().unwrap(), "status", "last", "--json"]));
    let before = names(&home.join("rawr"));
    let title = events(&status)[0]["title"].as_str().unwrap().to_owned();
    let begin: String = title.chars().take(20).collect();
    let listed = candidates(&home, &["status", ""]);
    assert_eq!(listed[0], "last\tthe thread that runs here, or ran here last");
    assert!(listed.iter().any(|line| line.starts_with(&format!("{NAME}\t{begin}"))), "{listed:?}");
    let shown = listed[1..].concat();
    assert!(shown.contains("1-2f") && shown.contains("2-2f") && !shown.contains("ran"), "{shown}");

    let elsewhere = TempDir::new().unwrap();
    for words in [
        &["explain", NAME][..],
        &["mark", "done", "--thread", NAME],
        &["exec", "--resume", NAME],
        &["stats", "last", NAME],
        &["restore", "last", NAME],
        &["prompts", "render", "handoff", "--thread", NAME],
        &["state", "export", NAME],
    ] {
        assert_eq!(values(&home, words), [NAME], "{words:?}");
        let home = ["--home", home.to_str().unwrap()];
        assert_eq!(values(elsewhere.path(), &[&home[..], words].concat()), [NAME]);
    }
    assert_eq!(values(&home, &["status", "019a"]), [THREAD]);
    assert_eq!(values(&home, &["status", "older-1"]), ["older-1-2f"]);
    let capsules = values(&home, &["restore", "s"]);
    assert!(!capsules.is_empty(), "{capsules:?}");
    assert_eq!(names(&home.join("rawr")), before, "no sidecar was started");
}

/// An error would be printed into the command line that a person types.
#[test]
fn a_home_that_cannot_be_read_is_silent() {
    let fixture = CommandFixture::new();
    let file = fixture.path("file");
    std::fs::write(&file, "").unwrap();
    let broken = fixture.path("broken");
    std::fs::create_dir_all(broken.join("rawr/auto_compaction")).unwrap();
    std::fs::write(broken.join("rawr/auto_compaction/threads"), "no folder").unwrap();
    std::fs::write(broken.join("rawr.toml"), "not [ TOML").unwrap();
    for home in [fixture.path("missing"), file, broken.clone()] {
        for words in [&["status", "l"][..], &["restore", "l"]] {
            assert_eq!(values(&home, words), ["last"], "{home:?} {words:?}");
        }
    }
    assert_eq!(names(&broken.join("rawr")), ["auto_compaction"]);
    assert!(!fixture.path("missing").exists());
    // A shell that asks in a way that this rawr does not know.
    for (shell, words) in [("tcsh", &["rawr", "st"][..]), ("bash", &["rawr"])] {
        let mut command = fixture.command(&["--"]);
        let output =
            command.args(words).env("RAWR_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "7");
        let output = output.output().unwrap();
        assert_eq!((out(&output), err(&output)), (String::new(), String::new()), "{shell}");
        assert!(!output.status.success(), "{shell}");
    }
}

#[test]
fn the_script_of_every_shell_asks_rawr() {
    let fixture = CommandFixture::new();
    for (shell, command) in [
        ("bash", "complete -o nospace"),
        ("zsh", "compdef _clap_dynamic_completer_rawr rawr"),
        ("fish", "complete --keep-order"),
        ("elvish", "edit:completion:arg-completer[rawr]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = out(&fixture.run(&["completions", shell]));
        assert!(script.contains("RAWR_COMPLETE"), "{shell}: {script}");
        let asked = fixture.command(&[]).env("RAWR_COMPLETE", shell).output().unwrap();
        assert!(out(&asked).contains(command), "{shell}: {}", out(&asked));
        assert!(!out(&asked).contains(rawr().to_str().unwrap()), "rawr of the PATH: {shell}");
    }
}

#[test]
fn bash_completes_with_the_saved_script() {
    let fixture = CommandFixture::new();
    let home = home_with_a_thread(&fixture);
    let script = fixture.path("script");
    std::fs::write(&script, fixture.run(&["completions", "bash"]).stdout).unwrap();
    let folder = rawr().parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-i"]).env("PATH", path).env("PS1", "ready> ");
    command.env("RAWR_HOME", home).env("TERM", "xterm").current_dir(fixture.temporary.path());
    command.env("HISTFILE", "/dev/null").env("INPUTRC", "/dev/null");
    let mut bash = Terminal::run(&command, 24, 100);
    bash.wait_for(&["ready>"]);
    bash.press(&format!(". {}\r", script.display()));
    bash.press("rawr expl\t");
    bash.wait_for(&["rawr explain "]);
    bash.press("\t\t");
    bash.wait_for(&["last", NAME]);
    bash.press(&format!("{}\t", &NAME[..3]));
    bash.wait_for(&[&format!("rawr explain {NAME} ")]);
    bash.press("\u{15}rawr init --preset sp\t");
    bash.wait_for(&["rawr init --preset spec "]);
    bash.press("\u{15}exit\r");
}
