//! The keys of `[rawr_auto_compaction.judgment]`. A project may set none of them: a repository must not choose where a
//! transcript is sent and with which API key, or disable the judge's veto.

use crate::config::JudgeSettings;
use crate::config::keys::{
    ConfigKey, KeyKind, KeyStorage, KeyTable, KeyValue, ProjectRule, Unread, WordEnum,
};
use rawr_core::policy::JudgeBackend;
use std::time::Duration;

pub(super) const TABLE: KeyTable = KeyTable {
    path: "rawr_auto_compaction.judgment",
    doc: "Who decides for tiers with a decision_prompt_path. rawr sends data to an endpoint only if backend is `responses` or `chat`.",
    keys: &[
        ConfigKey {
            path: "rawr_auto_compaction.judgment.backend",
            kind: KeyKind::Word(JudgeBackend::WORDS),
            doc: "The `host`, a model behind the OpenAI `responses` API or a `chat` completions API, a built-in `heuristic`, or `off`, which vetoes nothing. `auto`: the host if it supports that, or else the heuristic, or the classifier alone where your next message confirms.",
            example: "",
            narrow: ProjectRule::Never,
            unread: <JudgeBackend as WordEnum>::UNREAD,
            place: KeyStorage::Own {
                get: |config| Some(config.judgment.backend.word()),
                set: |config, value| {
                    if let KeyValue::Word(word) = value {
                        set_backend(config, word);
                    }
                },
            },
        },
        number!(
            "rawr_auto_compaction.judgment.unclear_from_percent",
            Percent,
            Never,
            0..=100,
            policy.judge_unclear.from,
            "In tiers with `confirm`, the judge is asked about your next message from this probability on, in percent, that a phase has ended. Below it the proposal is dropped without a question."
        ),
        number!(
            "rawr_auto_compaction.judgment.unclear_below_percent",
            Percent,
            Never,
            0..=100,
            policy.judge_unclear.below,
            "In tiers with `confirm`, the judge is asked about your next message below this probability, in percent, that a phase has ended. From it on the message confirms without a question."
        ),
        number!(
            "rawr_auto_compaction.judgment.wait_seconds",
            Never,
            1..=600,
            policy.judge_wait_seconds,
            "How many seconds your message waits for the judge. After that the classifier decides alone."
        ),
        text!(
            "rawr_auto_compaction.judgment.model",
            "\"gpt-5.2-mini\"",
            judgment.model,
            "The model for `responses` and `chat`. Needed by both."
        ),
        ConfigKey {
            path: "rawr_auto_compaction.judgment.base_url",
            kind: KeyKind::Url,
            doc: "The address of the endpoint, without `/responses` or `/chat/completions`.",
            example: "",
            narrow: ProjectRule::Never,
            unread: Unread::NoModel,
            place: KeyStorage::Own {
                get: |config| Some(KeyValue::Text(config.judgment.base_url.clone())),
                set: |config, value| {
                    if let KeyValue::Text(url) = value {
                        let or = || JudgeSettings::default().base_url;
                        config.judgment.base_url = if url.is_empty() { or() } else { url };
                    }
                },
            },
        },
        ConfigKey {
            path: "rawr_auto_compaction.judgment.api_key_env",
            kind: KeyKind::Variable,
            doc: "The environment variable that holds the API key for base_url. Empty: no key, for local endpoints.",
            example: "",
            narrow: ProjectRule::Never,
            unread: Unread::NoModel,
            place: KeyStorage::Own {
                get: |config| config.judgment.api_key_env.clone().map(KeyValue::Text),
                set: |config, value| {
                    if let KeyValue::Text(name) = value {
                        config.judgment.api_key_env = (!name.is_empty()).then_some(name);
                    }
                },
            },
        },
        ConfigKey {
            path: "rawr_auto_compaction.judgment.timeout_seconds",
            kind: KeyKind::Number(1..=600),
            doc: "How many seconds a judgment by an endpoint may take, including retries.",
            example: "",
            narrow: ProjectRule::Never,
            unread: Unread::Lower,
            place: KeyStorage::Own {
                get: |config| Some(KeyValue::Number(config.judgment.timeout.as_secs())),
                set: |config, value| {
                    if let KeyValue::Number(seconds) = value {
                        config.judgment.timeout = Duration::from_secs(seconds);
                    }
                },
            },
        },
        switch!(
            "rawr_auto_compaction.judgment.for_advice",
            Never,
            policy.judge_for_advice,
            "Whether a model is also asked in the modes `tag` and `suggest`, which do not compact. It improves the advice and costs a request. The heuristic costs nothing and is always asked."
        )
        .unread_as(Unread::Switch(false)),
        number!(
            "rawr_auto_compaction.judgment.max_retries",
            Never,
            0..=10,
            judgment.max_retries,
            "How many times a request is repeated if the endpoint is busy, fails or closes the connection."
        ),
        text!(
            "rawr_auto_compaction.judgment.reasoning_effort",
            "\"low\"",
            judgment.reasoning_effort,
            "The reasoning effort to request. Unless set, the endpoint's default."
        ),
    ],
};

fn set_backend(config: &mut crate::config::Config, word: &str) {
    if let Some(backend) = JudgeBackend::from_word(word) {
        config.judgment.backend = backend;
        config.policy.judge = backend;
    }
}
