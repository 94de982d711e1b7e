//! Groups the commands in `rawr --help`, and removes the hidden ones for completion and for the manual.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use super::{Cli, EXAMPLES};

/// Every visible command, grouped by purpose.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start here", &["demo", "init", "doctor"]),
    ("Run an agent", &["codex", "exec", "attach", "detach", "hooks"]),
    ("Observe", &["status", "watch", "explain"]),
    ("Respond", &["compact", "snooze", "guard", "pin", "mark"]),
    ("History", &["capsules", "restore", "recall", "replay", "tune", "label", "stats"]),
    ("Settings and files", &["config", "test", "prompts", "state"]),
    ("For programs", &["serve", "completions"]),
];

/// The whole command line.
pub fn command() -> Command {
    let command = Cli::command();
    let header = *command.get_styles().get_header();
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:width$}  {about}");
        }
        text.push('\n');
    }
    let _ = write!(text, "{header}Options:{header:#}\n{{options}}{{after-help}}");
    command.help_template(text)
}

/// The command line without hidden commands, which only other programs call.
pub fn visible_command() -> Command {
    let whole = Cli::command();
    let visible = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Command::new("rawr")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .about(whole.get_about().cloned().unwrap_or_default())
        .after_help(EXAMPLES)
        .args(whole.get_arguments().cloned())
        .subcommands(visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_command_is_in_one_group() {
        let whole = Cli::command();
        let visible = whole.get_subcommands().filter(|command| !command.is_hide_set());
        let mut visible: Vec<_> = visible.map(Command::get_name).collect();
        let mut grouped: Vec<_> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }
}
