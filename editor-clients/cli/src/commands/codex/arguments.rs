//! Parses Codex's arguments like Codex: whether rawr can attach to the requested session, and which arguments configure the
//! app-server. Invalid arguments are left to Codex.

use std::ffi::{OsStr, OsString};

use crate::args::is_setting_of_rawr;

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    Nothing,
    One,
    /// All arguments up to the next option.
    Several,
}

/// Options with a value or of interest here. All others are flags.
const OPTIONS: [(&str, Option<char>, OptionValue); 15] = [
    ("--add-dir", None, OptionValue::One),
    ("--ask-for-approval", Some('a'), OptionValue::One),
    ("--cd", Some('C'), OptionValue::One),
    (CONFIG, Some('c'), OptionValue::One),
    ("--disable", None, OptionValue::One),
    ("--enable", None, OptionValue::One),
    ("--help", Some('h'), OptionValue::Nothing),
    ("--image", Some('i'), OptionValue::Several),
    ("--local-provider", None, OptionValue::One),
    ("--model", Some('m'), OptionValue::One),
    (PROFILE, Some('p'), OptionValue::One),
    ("--remote", None, OptionValue::One),
    ("--remote-auth-token-env", None, OptionValue::One),
    ("--sandbox", Some('s'), OptionValue::One),
    ("--version", Some('V'), OptionValue::Nothing),
];

const CONFIG: &str = "--config";
const PROFILE: &str = "--profile";

/// Dropped: the app-server of `rawr codex` is never the shared one.
const NO_DAEMON: &str = "--no-daemon";

/// Options that Codex refuses with `--remote`.
const REFUSED: [&str; 2] = ["--add-dir", "--worktree"];

/// A setting that Codex refuses with `--remote`.
const WRITABLE_ROOTS: [&str; 2] = ["sandbox_workspace_write", "writable_roots"];

/// Options that the app-server also accepts.
const OF_THE_SERVER: [&str; 4] = [CONFIG, "--disable", "--enable", "--strict-config"];

/// Commands with an interactive session.
const CONVERSATIONS: [&str; 2] = ["fork", "resume"];

/// Commands that run an agent without a session that rawr could join.
const AGENTS: [&str; 4] = ["agents", "e", "exec", "review"];

/// All other commands.
const OTHER_COMMANDS: [&str; 28] = [
    "a",
    "app-server",
    "apply",
    "archive",
    "cloud",
    "completion",
    "debug",
    "delete",
    "doctor",
    "exec-server",
    "execpolicy",
    "features",
    "git-credential",
    "help",
    "login",
    "logout",
    "mcp",
    "migrate-nfs-db",
    "migrate-rollouts",
    "plugin",
    "queue",
    "remote-control",
    "responses-api-proxy",
    "sandbox",
    "stdio-to-uds",
    "tcp-tunnel",
    "unarchive",
    "update",
];

/// What the arguments request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CodexRequest {
    /// An interactive session.
    Conversation,
    /// An interactive session with an option that Codex refuses with rawr.
    RefusedBeside(String),
    /// A non-interactive agent, by the command's name.
    Agent(String),
    /// A command without an agent.
    Other,
}

#[derive(Debug)]
struct GivenOption {
    name: String,
    value: Option<String>,
}

/// The parsed arguments.
#[derive(Debug, Default)]
pub(super) struct CodexArguments {
    given: Vec<GivenOption>,
    command: Option<String>,
}

impl CodexArguments {
    pub(super) fn read(arguments: &[OsString]) -> Self {
        let mut read = Self::default();
        // Only paths may be other than UTF-8, and only Codex uses those.
        let mut words = arguments.iter().map(|word| word.to_string_lossy()).peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                break;
            }
            let Some((name, takes, value)) = option(&word) else {
                if read.command.is_none() && is_command(&word) {
                    read.command = Some(word.into_owned());
                    if !read.is_conversation() {
                        break;
                    }
                }
                continue;
            };
            let value = match (value, takes) {
                (None, OptionValue::One | OptionValue::Several) => {
                    words.next().map(|it| it.into_owned())
                }
                (value, _) => value,
            };
            if takes == OptionValue::Several {
                while words.next_if(|word| !word.starts_with('-')).is_some() {}
            }
            read.given.push(GivenOption { name, value });
        }
        read
    }

    pub(super) fn request(&self) -> CodexRequest {
        if self.has("--help") || self.has("--version") {
            return CodexRequest::Other;
        }
        match (&self.command, self.refused()) {
            (Some(command), _) if AGENTS.contains(&command.as_str()) => {
                CodexRequest::Agent(command.clone())
            }
            (Some(_), _) if !self.is_conversation() => CodexRequest::Other,
            (_, Some(refused)) => CodexRequest::RefusedBeside(refused),
            (_, None) => CodexRequest::Conversation,
        }
    }

    /// Whether they select an app-server.
    pub(super) fn are_remote(&self) -> bool {
        self.has("--remote") || self.has("--remote-auth-token-env")
    }

    pub(super) fn profile(&self) -> Option<&str> {
        let profiles = self.given.iter().rev().find(|given| given.name == PROFILE);
        profiles.and_then(|given| given.value.as_deref())
    }

    /// The arguments for the app-server.
    pub(super) fn of_the_server(&self) -> impl Iterator<Item = &str> {
        let taken = self.given.iter().filter(|it| OF_THE_SERVER.contains(&it.name.as_str()));
        taken.flat_map(|given| [Some(given.name.as_str()), given.value.as_deref()]).flatten()
    }

    fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.name == name)
    }

    fn is_conversation(&self) -> bool {
        self.command.as_deref().is_none_or(|command| CONVERSATIONS.contains(&command))
    }

    fn refused(&self) -> Option<String> {
        self.given.iter().find_map(|GivenOption { name, value }| match value.as_deref() {
            _ if REFUSED.contains(&name.as_str()) => Some(name.clone()),
            Some(setting) if name == CONFIG && sets_writable_roots(setting) => {
                Some(WRITABLE_ROOTS.join("."))
            }
            _ => None,
        })
    }
}

/// Takes the settings of rawr out of the arguments: both programs have `-c KEY=VALUE`, and Codex ignores a key that it does not
/// know.
pub(super) fn without_settings(arguments: &[OsString]) -> (Vec<String>, Vec<OsString>) {
    let (mut settings, mut others) = (Vec::new(), Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            others.push(word.clone());
            break;
        }
        let given = word.to_str().and_then(option).filter(|(name, ..)| name == CONFIG);
        let Some((_, _, attached)) = given else {
            others.push(word.clone());
            continue;
        };
        let apart = if attached.is_none() { words.next() } else { None };
        let setting = attached.or_else(|| apart.and_then(|it| it.to_str()).map(str::to_owned));
        match setting.filter(|setting| is_setting_of_rawr(setting)) {
            Some(setting) => settings.push(setting),
            None => others.extend([Some(word), apart].into_iter().flatten().cloned()),
        }
    }
    others.extend(words.cloned());
    (settings, others)
}

/// The arguments that Codex accepts with `--remote`.
pub(super) fn beside_a_server(arguments: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let options = arguments.iter().take_while(|word| *word != "--").count();
    let kept = arguments.iter().enumerate();
    let kept = kept.filter(move |(index, word)| *index >= options || *word != NO_DAEMON);
    kept.map(|(_, word)| word.as_os_str())
}

fn is_command(word: &str) -> bool {
    let commands = CONVERSATIONS.iter().chain(&AGENTS).chain(&OTHER_COMMANDS);
    commands.into_iter().any(|command| *command == word)
}

/// An option's long name, the kind of its value, and an attached value.
fn option(word: &str) -> Option<(String, OptionValue, Option<String>)> {
    if word.starts_with("--") {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let takes = OPTIONS.iter().find(|(long, ..)| *long == name).map(|(.., takes)| *takes);
        return Some((name.to_owned(), takes.unwrap_or(OptionValue::Nothing), value));
    }
    // A single dash is a prompt.
    let mut letters = word.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    let known = OPTIONS.iter().find(|(_, short, _)| *short == Some(letter));
    let (name, takes) =
        known.map_or((word, OptionValue::Nothing), |(long, _, takes)| (*long, *takes));
    let rest = letters.as_str();
    let value = (takes != OptionValue::Nothing && !rest.is_empty())
        .then(|| rest.strip_prefix('=').unwrap_or(rest).to_owned());
    Some((name.to_owned(), takes, value))
}

fn sets_writable_roots(setting: &str) -> bool {
    let [table, key] = WRITABLE_ROOTS;
    let Some((path, value)) = setting.split_once('=') else { return false };
    match path.trim().strip_prefix(table) {
        Some("") => {
            let read = format!("value = {value}").parse::<toml::Table>();
            read.is_ok_and(|read| read["value"].get(key).is_some())
        }
        Some(rest) => rest.strip_prefix('.') == Some(key),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_command_is_parsed_as_by_codex() {
        let check = |line: &str, wanted: CodexRequest| {
            assert_eq!(CodexArguments::read(&words(line)).request(), wanted, "{line}");
        };
        let agent = |name: &str| CodexRequest::Agent(name.to_owned());
        for line in [
            "",
            "-",
            "hello",
            "-- exec",
            "-m exec",
            "-i a.png exec",
            "-c model=x resume --last",
            "resume exec",
            "--image=a.png fork review",
            "--unknown",
            "-c sandbox_workspace_write.network_access=true",
            "-c sandbox_workspace_write={network_access=true}",
            "-- --add-dir x",
        ] {
            check(line, CodexRequest::Conversation);
        }
        for line in [
            "--version",
            "-h",
            "-m x -V",
            "resume --help",
            "-p work mcp list",
            "--oss features list",
        ] {
            check(line, CodexRequest::Other);
        }
        check("exec hello", agent("exec"));
        check("-c model=x e hello", agent("e"));
        check("-mx hello review", agent("review"));
        check("-i a.png -m x exec", agent("exec"));
        for (line, option) in [
            ("--add-dir x", "--add-dir"),
            ("resume --last --add-dir=x", "--add-dir"),
            ("--worktree fork", "--worktree"),
            (
                "-csandbox_workspace_write.writable_roots=[]",
                "sandbox_workspace_write.writable_roots",
            ),
            (
                "-c=sandbox_workspace_write={writable_roots=[]}",
                "sandbox_workspace_write.writable_roots",
            ),
        ] {
            check(line, CodexRequest::RefusedBeside(option.to_owned()));
        }
        check("--add-dir x exec hello", agent("exec"));
    }

    #[test]
    fn the_app_server_gets_codexs_settings() {
        let line = "-m x -c a=1 --enable=b -p work resume -cd=2 --strict-config -- --disable c";
        let arguments = CodexArguments::read(&words(line));
        let of_the_server: Vec<_> = arguments.of_the_server().collect();
        assert_eq!(
            of_the_server,
            ["--config", "a=1", "--enable", "b", "--config", "d=2", "--strict-config"]
        );
        assert_eq!(arguments.profile(), Some("work"));
        assert!(!arguments.are_remote());
        assert!(CodexArguments::read(&words("resume --remote=x")).are_remote());
        assert!(!CodexArguments::read(&words("-- --remote x")).are_remote());
    }

    // rule: configuration.fails-closed
    #[test]
    fn settings_of_rawr_are_not_codexs() {
        let line = "-c rawr_auto_compaction.mode=ask -m x -c a=1 --config=auto_compact.enabled=false -crawr.mode=ask \
            -- -c rawr_auto_compaction.mode=ask";
        let (settings, others) = without_settings(&words(line));
        let ours = ["rawr_auto_compaction.mode=ask", "auto_compact.enabled=false", "rawr.mode=ask"];
        assert_eq!(settings, ours);
        let left = words("-m x -c a=1 -- -c rawr_auto_compaction.mode=ask");
        assert_eq!(others, left);
    }

    #[test]
    fn no_daemon_is_dropped_for_the_own_app_server() {
        let kept = words("--no-daemon -m x -- --no-daemon");
        assert_eq!(beside_a_server(&kept).collect::<Vec<_>>(), ["-m", "x", "--", "--no-daemon"]);
    }
}
