//! Values of placeholders for previews without a thread that has them.

use super::parse;
use rawr_core::prompt::{PromptName, render};

/// An example for a placeholder, by its name in camel case.
pub fn sample(camel: &str) -> Option<&'static str> {
    Some(match camel {
        "agentMessage" | "lastAgentMessage" => "The parser is written and its tests pass.",
        "author" => "you",
        "boundariesJson" => r#"["commit"]"#,
        "changes" => "commit 4f2d9c71a0b3: Add the parser",
        "directives" => "- Never push to main.",
        "done" => "- 4f2d9c71a0b3 Add the parser",
        "finished" => "The step \"write the parser\" is done. ",
        "firstMessage" | "goal" => "Write a parser for the configuration, with tests.",
        "liveState" => "nothing runs; the work tree is clean; cargo test passed",
        "modelContextWindow" => "190,000",
        "nextMessage" => "Now write the docs.",
        "packet" => {
            "State: working\nGoal: write a parser for the configuration, with tests.\n\
             Decisions: no regular expressions.\nNext step: write the docs."
        }
        "percentRemaining" => "62",
        "plan" => "- [x] write the parser\n- [ ] write the docs",
        "planTrail" => "[x] write the parser\n[ ] write the docs",
        "reason" => "a phase ended here (commit)",
        "resume" => "Continue now with its next step.",
        "scratchFile" => ".scratch/agent-delta.scratch.md",
        "state" => "working",
        "threadId" => "01a2b3c4",
        "tier" => "asap",
        "totalUsageTokens" => "82,000",
        "transcriptExcerpt" => "agent: The parser is written and its tests pass.",
        "turnId" => "turn-7",
        _ => return None,
    })
}

/// The text of a prompt's file with examples for all placeholders. `None` if there is no such prompt, or the file is
/// invalid.
pub fn with_samples(name: &str, source: &str) -> Option<String> {
    let name = PromptName::from_name(name)?;
    Some(render(name, &parse(name, source, None).ok()?.text, sample))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_has_a_sample() {
        for name in PromptName::ALL {
            for placeholder in name.placeholders() {
                assert!(
                    sample(placeholder.camel).is_some(),
                    "{}: {}",
                    name.name(),
                    placeholder.camel
                );
            }
        }
    }
}
