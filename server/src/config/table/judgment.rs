//! The keys of `[rawr_auto_compaction.judgment]`. A project may set none of them: where a transcript is sent and with
//! which key is never a repository's business, and a judge that errs or is off vetoes nothing.

use crate::config::JudgeSettings;
use crate::config::keys::{Key, KeyStorage, Kind, Narrow, Table, Value, Words};
use rawr_core::policy::JudgeBackend;
use std::time::Duration;

pub(super) const TABLE: Table = Table {
    path: "rawr_auto_compaction.judgment",
    doc: "Who judges where a tier has a decision_prompt_path. rawr sends nothing anywhere unless backend is `responses` or `chat`.",
    keys: &[
        Key {
            path: "rawr_auto_compaction.judgment.backend",
            kind: Kind::Word(JudgeBackend::WORDS),
            doc: "The `host`, a model behind the OpenAI `responses` API or a `chat` completions API, a built-in `heuristic`, or `off`, which vetoes nothing. `auto`: the host where it can, else the heuristic.",
            example: "",
            narrow: Narrow::Never,
            place: KeyStorage::Own {
                get: |config| Some(config.judgment.backend.word()),
                set: |config, value| {
                    if let Value::Word(word) = value {
                        set_backend(config, word);
                    }
                },
            },
        },
        text!(
            "rawr_auto_compaction.judgment.model",
            "\"gpt-5.2-mini\"",
            judgment.model,
            "The model that `responses` and `chat` ask. Needed by both."
        ),
        Key {
            path: "rawr_auto_compaction.judgment.base_url",
            kind: Kind::Url,
            doc: "The address of the endpoint, which `/responses` or `/chat/completions` is put behind.",
            example: "",
            narrow: Narrow::Never,
            place: KeyStorage::Own {
                get: |config| Some(Value::Text(config.judgment.base_url.clone())),
                set: |config, value| {
                    if let Value::Text(url) = value {
                        let or = || JudgeSettings::default().base_url;
                        config.judgment.base_url = if url.is_empty() { or() } else { url };
                    }
                },
            },
        },
        Key {
            path: "rawr_auto_compaction.judgment.api_key_env",
            kind: Kind::Variable,
            doc: "The environment variable that holds the key for base_url. An empty text sends none, as local endpoints like it.",
            example: "",
            narrow: Narrow::Never,
            place: KeyStorage::Own {
                get: |config| config.judgment.api_key_env.clone().map(Value::Text),
                set: |config, value| {
                    if let Value::Text(name) = value {
                        config.judgment.api_key_env = (!name.is_empty()).then_some(name);
                    }
                },
            },
        },
        Key {
            path: "rawr_auto_compaction.judgment.timeout_seconds",
            kind: Kind::Number(1..=600),
            doc: "How many seconds a judgment by an endpoint may take, repeated requests included.",
            example: "",
            narrow: Narrow::Never,
            place: KeyStorage::Own {
                get: |config| Some(Value::Number(config.judgment.timeout.as_secs())),
                set: |config, value| {
                    if let Value::Number(seconds) = value {
                        config.judgment.timeout = Duration::from_secs(seconds);
                    }
                },
            },
        },
        switch!(
            "rawr_auto_compaction.judgment.for_advice",
            Never,
            policy.judge_for_advice,
            "Whether a model is also asked where `mode` is `tag` or `suggest`, which compact nothing: its answer makes the advice better and costs a request. The heuristic costs nothing and is always asked."
        ),
        number!(
            "rawr_auto_compaction.judgment.max_retries",
            Never,
            0..=10,
            judgment.max_retries,
            "How many times a request is repeated where the endpoint is busy, fails or hangs up."
        ),
        text!(
            "rawr_auto_compaction.judgment.reasoning_effort",
            "\"low\"",
            judgment.reasoning_effort,
            "The reasoning effort that the endpoint is told. Unless set, its own choice."
        ),
    ],
};

fn set_backend(config: &mut crate::config::Config, word: &str) {
    if let Some(backend) = JudgeBackend::from_word(word) {
        config.judgment.backend = backend;
        config.policy.judge = backend;
    }
}
