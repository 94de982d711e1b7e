//! The keys of `[rawr_auto_compaction.prompts]`.

use crate::config::keys::{
    ConfigKey, KeyKind, KeyStorage, KeyTable, KeyValue, ProjectRule, Unread,
};
use rawr_core::prompt::PromptName;
use std::path::PathBuf;

macro_rules! prompt {
    ($name:ident, $path:expr, $doc:expr) => {
        ConfigKey {
            path: concat!("rawr_auto_compaction.prompts.", $path),
            kind: KeyKind::Text,
            doc: concat!(
                "The file with ",
                $doc,
                ". Unless set, `",
                $path,
                ".md` in the prompt folder."
            ),
            example: concat!("\"my-", $path, ".md\""),
            narrow: ProjectRule::Never,
            unread: Unread::Lower,
            place: KeyStorage::Own {
                get: |config| {
                    let path = config.prompt_paths.get(&PromptName::$name)?;
                    Some(KeyValue::Text(path.display().to_string()))
                },
                set: |config, value| match value {
                    KeyValue::Text(path) if !path.is_empty() => {
                        config.prompt_paths.insert(PromptName::$name, PathBuf::from(path));
                    }
                    _ => {
                        config.prompt_paths.remove(&PromptName::$name);
                    }
                },
            },
        }
    };
}

pub(super) const TABLE: KeyTable = KeyTable {
    path: "rawr_auto_compaction.prompts",
    doc: "Prompt files outside of the prompt folder, by the name of the prompt. Relative paths start in that folder.",
    keys: &[
        prompt!(AutoCompact, "auto-compact", "the request for the agent's packet"),
        prompt!(HeadsUp, "heads-up", "the heads-up to the agent"),
        prompt!(ScratchWrite, "scratch-write", "the request for working notes"),
        prompt!(Judgment, "judgment", "the judge's instructions"),
        prompt!(JudgmentContext, "judgment-context", "what the judge is told about the thread"),
        prompt!(WatcherPacket, "watcher-packet", "the form of a packet built by rawr"),
        prompt!(Handoff, "handoff", "the handoff to the agent"),
        prompt!(CalledOff, "called-off", "what tells the agent that no compaction came"),
        prompt!(Compact, "compact", "the request for a summary of the history"),
        prompt!(SummaryPrefix, "summary-prefix", "the text before that summary"),
    ],
};
