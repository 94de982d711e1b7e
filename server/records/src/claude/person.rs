//! What Claude Code records in a person's name: messages and commands of the person, and texts of its own.

/// A text in a person's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonText {
    /// The person's message.
    Message(String),
    /// A slash command, as the person typed it. Whether the agent gets it shows only in what follows.
    Command(String),
    /// Written by Claude Code: what a command printed, a note, a summary. Also no text at all.
    OfClaude,
}

/// How texts of Claude Code's own begin.
const OF_CLAUDE: [&str; 7] = [
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
];

const NAME: [&str; 2] = ["<command-name>", "</command-name>"];
const MESSAGE: [&str; 2] = ["<command-message>", "</command-message>"];
const ARGUMENTS: [&str; 2] = ["<command-args>", "</command-args>"];

impl PersonText {
    /// Reads a text that a transcript or a hook has in a person's name.
    pub fn read(text: &str) -> Self {
        let start = text.trim_start();
        if start.is_empty() || OF_CLAUDE.iter().any(|own| start.starts_with(own)) {
            Self::OfClaude
        } else if start.starts_with(NAME[0]) || start.starts_with(MESSAGE[0]) {
            Self::Command(typed(text))
        } else {
            Self::Message(text.to_owned())
        }
    }

    /// The person's words. `None` if there are none.
    pub fn into_words(self) -> Option<String> {
        match self {
            Self::Message(words) | Self::Command(words) => Some(words),
            Self::OfClaude => None,
        }
    }
}

/// The command line that was typed. Releases of Claude Code order the parts of a command differently.
fn typed(text: &str) -> String {
    let name = between(text, NAME)
        .map(str::to_owned)
        .or_else(|| between(text, MESSAGE).map(|name| format!("/{name}")))
        .unwrap_or_default();
    match between(text, ARGUMENTS) {
        Some(arguments) if !arguments.is_empty() => format!("{name} {arguments}"),
        _ => name,
    }
}

fn between<'t>(text: &'t str, [start, end]: [&str; 2]) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: PersonText, words: Option<&str>) {
        assert_eq!(PersonText::read(text), expected);
        assert_eq!(expected.into_words().as_deref(), words);
    }

    fn message(text: &str) -> PersonText {
        PersonText::Message(text.to_owned())
    }

    fn command(text: &str) -> PersonText {
        PersonText::Command(text.to_owned())
    }

    #[test]
    fn a_message_is_unchanged() {
        for text in [" Fix it.\n", "why does <command-name>/clear</command-name> not end a turn?"] {
            check(text, message(text), Some(text));
        }
    }

    #[test]
    fn a_command_is_what_was_typed() {
        for (text, typed) in [
            (
                "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>the parser</command-args>",
                "/review the parser",
            ),
            (
                "<command-message>review is running…</command-message>\n<command-name>/review</command-name>",
                "/review",
            ),
            (
                "<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n            <command-args></command-args>",
                "/clear",
            ),
            ("<command-message>exit</command-message>", "/exit"),
        ] {
            check(text, command(typed), Some(typed));
        }
    }

    #[test]
    fn claude_codes_own_texts_have_no_words_of_a_person() {
        for text in [
            "",
            "<local-command-stdout>Goal set: the docs are written</local-command-stdout>",
            "<local-command-caveat>The command below was run directly.</local-command-caveat>",
            "<bash-input>ls</bash-input>",
            "[Request interrupted by user for tool use]",
        ] {
            check(text, PersonText::OfClaude, None);
        }
    }
}
