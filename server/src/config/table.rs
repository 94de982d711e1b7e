//! The one table of all configuration keys. Reading, unknown-key detection, the commented default file and the
//! documentation follow from it; nothing here is about how a value is read.

use super::keys::{Key, Kind, Narrow, Place, Table, Value, Words};
use rawr_core::boundary::Boundaries;
use rawr_core::policy::{MidTurn, Mode, PacketAuthor, Tier, TierRule};
use rawr_core::prompt::PromptName;
use rawr_core::units::Tokens;
use std::path::PathBuf;

const YEAR: u64 = 366 * 24 * 60 * 60;
const DAY: u64 = 24 * 60 * 60;

macro_rules! switch {
    ($path:expr, $narrow:ident, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::Switch,
            doc: $doc,
            example: "",
            narrow: Narrow::$narrow,
            place: Place::Own {
                get: |config| Some(Value::Switch(config.$($field).+)),
                set: |config, value| if let Value::Switch(on) = value { config.$($field).+ = on },
            },
        }
    };
}

macro_rules! number {
    ($path:expr, $narrow:ident, $range:expr, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::Number($range),
            doc: $doc,
            example: "",
            narrow: Narrow::$narrow,
            place: Place::Own {
                get: |config| Some(Value::Number(config.$($field).+ as u64)),
                set: |config, value| if let Value::Number(number) = value {
                    config.$($field).+ = number as _;
                },
            },
        }
    };
}

macro_rules! word {
    ($path:expr, $narrow:ident, $words:ty, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::Word(<$words>::WORDS),
            doc: $doc,
            example: "",
            narrow: Narrow::$narrow,
            place: Place::Own {
                get: |config| Some(config.$($field).+.word()),
                set: |config, value| if let Value::Word(word) = value {
                    config.$($field).+ = <$words>::from_word(word).unwrap_or(config.$($field).+);
                },
            },
        }
    };
}

macro_rules! text {
    ($path:expr, $example:expr, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::Text,
            doc: $doc,
            example: $example,
            narrow: Narrow::Never,
            place: Place::Own {
                get: |config| config.$($field).+.clone().map(Value::Text),
                set: |config, value| if let Value::Text(text) = value {
                    config.$($field).+ = (!text.is_empty()).then_some(text);
                },
            },
        }
    };
}

macro_rules! phrases {
    ($name:literal, $field:ident, $doc:expr) => {
        Key {
            path: concat!("rawr_auto_compaction.semantic_signals.", $name),
            kind: Kind::Phrases,
            doc: $doc,
            example: "",
            narrow: Narrow::Subset,
            place: Place::Own {
                get: |config| Some(Value::Phrases(config.policy.phrases.$field.clone())),
                set: |config, value| {
                    if let Value::Phrases(phrases) = value {
                        config.policy.phrases.$field = phrases;
                    }
                },
            },
        }
    };
}

macro_rules! short {
    ($name:expr, $kind:expr, $narrow:ident, $targets:expr, $doc:expr) => {
        Key {
            path: concat!("rawr_auto_compaction.", $name),
            kind: $kind,
            doc: $doc,
            example: "",
            narrow: Narrow::$narrow,
            place: Place::Short($targets),
        }
    };
}

macro_rules! tier {
    ($field:ident, $tier:expr, $path:expr, $doc:expr) => {
        Table {
            path: $path,
            doc: $doc,
            keys: &[
                number!(
                    concat!($path, ".percent_remaining_lt"),
                    Down,
                    0..=100,
                    policy.tiers.$field.percent_remaining_lt,
                    "The tier holds strictly below this percentage of the context window remaining. 0 switches it off."
                ),
                Key {
                    path: concat!($path, ".requires_any_boundary"),
                    kind: Kind::Boundaries(Some($tier)),
                    doc: "One of these must be present. Boundaries that the tier does not allow never count; `turn_complete` counts where it is named, and waits for the next message.",
                    example: "",
                    narrow: Narrow::Subset,
                    place: Place::Own {
                        get: |config| {
                            Some(Value::Boundaries(config.policy.tiers.$field.counting($tier)))
                        },
                        set: |config, value| {
                            if let Value::Boundaries(list) = value {
                                require(&mut config.policy.tiers.$field, $tier, list);
                            }
                        },
                    },
                },
                Key {
                    path: concat!($path, ".plan_boundaries_require_semantic_break"),
                    kind: Kind::Switch,
                    doc: "Whether a plan boundary alone is not enough, and the agent's last message must end, conclude or change the subject. True in early and ready unless set; false also lets a bare `plan_update` count.",
                    example: "false",
                    narrow: Narrow::ToTrue,
                    place: Place::Own {
                        get: |config| plan_needs_break(&config.policy.tiers.$field, $tier),
                        set: |config, value| {
                            if let Value::Switch(on) = value {
                                set_plan_needs_break(&mut config.policy.tiers.$field, $tier, on);
                            }
                        },
                    },
                },
                text!(
                    concat!($path, ".decision_prompt_path"),
                    "\"judgment.md\"",
                    policy.tiers.$field.decision_prompt_path,
                    "A prompt file, relative to the prompt folder. With it a model is asked first, outside of the transcript, and may say no."
                ),
            ],
        }
    };
}

/// Below the macros, which it uses.
mod judgment;

macro_rules! prompt {
    ($name:ident, $path:expr) => {
        Key {
            path: concat!("rawr_auto_compaction.prompts.", $path),
            kind: Kind::Text,
            doc: "",
            example: concat!("\"my-", $path, ".md\""),
            narrow: Narrow::Never,
            place: Place::Own {
                get: |config| {
                    let path = config.prompt_paths.get(&PromptName::$name)?;
                    Some(Value::Text(path.display().to_string()))
                },
                set: |config, value| match value {
                    Value::Text(path) if !path.is_empty() => {
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

/// A list that counts the same as the built-in one is not kept apart from it.
fn require(rule: &mut TierRule, tier: Tier, list: Boundaries) {
    rule.required = Some(list);
    if rule.counting(tier) == tier.allowed() {
        rule.required = None;
    }
}

fn asks_by_itself(tier: Tier) -> bool {
    TierRule::built_in(tier).needs_semantic_break(tier)
}

/// In asap and emergency, unset is neither true nor false: a bare `plan_update` is still not enough.
fn plan_needs_break(rule: &TierRule, tier: Tier) -> Option<Value> {
    let by_itself = asks_by_itself(tier).then_some(true);
    rule.plan_needs_semantic_break.or(by_itself).map(Value::Switch)
}

fn set_plan_needs_break(rule: &mut TierRule, tier: Tier, on: bool) {
    rule.plan_needs_semantic_break = Some(on).filter(|on| !(*on && asks_by_itself(tier)));
}

const GENERAL: &[Key] = &[
    word!(
        "rawr_auto_compaction.mode",
        Earlier,
        Mode,
        policy.mode,
        "What happens when everything speaks for a compaction: `tag` notes it, `suggest` recommends it, `ask` asks you, `auto` does it."
    ),
    word!(
        "rawr_auto_compaction.packet_author",
        Never,
        PacketAuthor,
        policy.packet_author,
        "Who writes the continuation packet: the `agent`, or rawr as `watcher`, from what it saw."
    ),
    word!(
        "rawr_auto_compaction.mid_turn",
        Earlier,
        MidTurn,
        policy.mid_turn,
        "Compaction between the requests of one turn: `off`, in an `emergency` only, or whenever the `policy` says so. `policy` unless set where turn_based_handoff is false."
    ),
    switch!(
        "rawr_auto_compaction.turn_based_handoff",
        Never,
        policy.turn_based_handoff,
        "Whether the agent is told beforehand, by a heads-up."
    ),
    short!(
        "early_percent_remaining_lt",
        Kind::Number(0..=100),
        Down,
        &["rawr_auto_compaction.policy.early.percent_remaining_lt"],
        "Short for policy.early.percent_remaining_lt, which goes before it."
    ),
    short!(
        "ready_percent_remaining_lt",
        Kind::Number(0..=100),
        Down,
        &["rawr_auto_compaction.policy.ready.percent_remaining_lt"],
        ""
    ),
    short!(
        "asap_percent_remaining_lt",
        Kind::Number(0..=100),
        Down,
        &["rawr_auto_compaction.policy.asap.percent_remaining_lt"],
        ""
    ),
    short!(
        "emergency_percent_remaining_lt",
        Kind::Number(0..=100),
        Down,
        &["rawr_auto_compaction.policy.emergency.percent_remaining_lt"],
        ""
    ),
    short!(
        "auto_requires_any_boundary",
        Kind::Boundaries(None),
        Subset,
        &[
            "rawr_auto_compaction.policy.early.requires_any_boundary",
            "rawr_auto_compaction.policy.ready.requires_any_boundary",
            "rawr_auto_compaction.policy.asap.requires_any_boundary",
        ],
        "One of these must be present, in every tier but emergency. policy.<tier>.requires_any_boundary goes before it."
    ),
    number!(
        "rawr_auto_compaction.cooldown_turns",
        Up,
        0..=10_000,
        policy.cooldown_turns,
        "So many of your turns must pass after a compaction before the next."
    ),
    number!(
        "rawr_auto_compaction.cooldown_seconds",
        Up,
        0..=YEAR,
        policy.cooldown_seconds,
        "And so many seconds."
    ),
    Key {
        path: "rawr_auto_compaction.rearm_tokens",
        kind: Kind::Number(0..=1_000_000_000),
        doc: "So many tokens must have come since the last compaction before the next. Unless set: a fiftieth of the context window, at least 64.",
        example: "5000",
        narrow: Narrow::Up,
        place: Place::Own {
            get: |config| config.policy.rearm_tokens.map(|tokens| Value::Number(tokens.0)),
            set: |config, value| {
                if let Value::Number(tokens) = value {
                    config.policy.rearm_tokens = Some(Tokens(tokens));
                }
            },
        },
    },
    number!(
        "rawr_auto_compaction.breaker_strikes",
        Never,
        0..=1000,
        policy.breaker.strikes,
        "So many compactions in a row that failed or freed too little stop rawr until you ask for one. 0 switches this off."
    ),
    number!(
        "rawr_auto_compaction.breaker_land_at_percent",
        Never,
        1..=100,
        policy.breaker.land_at_percent,
        "A compaction that leaves more than this percentage of the tokens freed too little."
    ),
    switch!(
        "rawr_auto_compaction.scratch_write_enabled",
        ToFalse,
        policy.scratch_write_enabled,
        "Whether the agent writes working notes to its scratch file before a compaction."
    ),
    Key {
        path: "rawr_auto_compaction.scratch_file_template",
        kind: Kind::ScratchTemplate,
        doc: "The scratch file, relative to the thread's folder.",
        example: "",
        narrow: Narrow::Never,
        place: Place::Own {
            get: |config| Some(Value::Text(config.policy.scratch_file_template.clone())),
            set: |config, value| {
                if let Value::Text(template) = value {
                    config.policy.scratch_file_template = template;
                }
            },
        },
    },
    number!(
        "rawr_auto_compaction.packet_max_tail_chars",
        Down,
        0..=100_000,
        policy.packet_max_tail_chars,
        "A packet built by rawr quotes at most so many characters of the agent's last message."
    ),
    text!(
        "rawr_auto_compaction.compaction_model",
        "\"gpt-5.2\"",
        policy.compaction.model,
        "Handed to the host with the compaction, where it can choose."
    ),
    text!(
        "rawr_auto_compaction.compaction_reasoning_effort",
        "\"high\"",
        policy.compaction.reasoning_effort,
        ""
    ),
    text!("rawr_auto_compaction.compaction_verbosity", "\"high\"", policy.compaction.verbosity, ""),
];

macro_rules! deadline {
    ($name:literal, $field:ident, $doc:expr) => {
        number!(
            concat!("rawr_auto_compaction.deadlines.", $name),
            Never,
            1..=DAY,
            policy.deadlines.$field,
            $doc
        )
    };
}

pub(super) static TABLES: [Table; 12] = [
    Table {
        path: "features",
        doc: "",
        keys: &[switch!(
            "features.rawr_auto_compaction",
            ToFalse,
            policy.enabled,
            "Whether rawr decides about compaction at all."
        )],
    },
    Table { path: "rawr_auto_compaction", doc: "", keys: GENERAL },
    tier!(
        early,
        Tier::Early,
        "rawr_auto_compaction.policy.early",
        "Compact only where a large step has clearly ended."
    ),
    tier!(
        ready,
        Tier::Ready,
        "rawr_auto_compaction.policy.ready",
        "Compact where a step has ended."
    ),
    tier!(
        asap,
        Tier::Asap,
        "rawr_auto_compaction.policy.asap",
        "Compact at the next natural pause."
    ),
    tier!(
        emergency,
        Tier::Emergency,
        "rawr_auto_compaction.policy.emergency",
        "Compact now. Boundaries and judgment are not asked; only the threshold has an effect."
    ),
    Table {
        path: "rawr_auto_compaction.deadlines",
        doc: "How many seconds each phase may take before rawr helps itself.",
        keys: &[
            deadline!(
                "judgment_seconds",
                judgment,
                "Then the judge counts as having failed: early and ready wait, asap goes on."
            ),
            deadline!("approval_seconds", approval, "Then the compaction is called off."),
            deadline!("heads_up_seconds", heads_up, ""),
            deadline!("scratch_write_seconds", scratch_write, ""),
            deadline!("packet_seconds", packet, "Then a packet built by rawr stands in."),
            deadline!("compaction_seconds", compaction, ""),
            deadline!("handoff_seconds", handoff, ""),
        ],
    },
    judgment::TABLE,
    Table {
        path: "rawr_auto_compaction.semantic_signals",
        doc: "Phrases of the agent's last message that count as a boundary. Case does not matter; a list replaces the built-in one.",
        keys: &[
            phrases!("agent_done", agent_done, "The work is done."),
            phrases!("topic_shift", topic_shift, "The agent turns to something else."),
            phrases!("concluding_thought", concluding_thought, "The agent sums up."),
            phrases!(
                "directive",
                directive,
                "A sentence of yours that begins like this is carried over the next compaction word for word."
            ),
        ],
    },
    Table {
        path: "rawr_auto_compaction.repo_observation",
        doc: "What is looked up in the repository for the record.",
        keys: &[
            switch!(
                "rawr_auto_compaction.repo_observation.enabled",
                ToFalse,
                repo_observation.enabled,
                "Whether branch, commit and changed files are looked up where a phase of work may have ended."
            ),
            number!(
                "rawr_auto_compaction.repo_observation.timeout_seconds",
                Down,
                1..=60,
                repo_observation.timeout_seconds,
                "Then what is not known yet is left out."
            ),
            switch!(
                "rawr_auto_compaction.repo_observation.graphite_enabled",
                ToFalse,
                repo_observation.graphite_enabled,
                "Whether the stack of Graphite branches is recorded."
            ),
            number!(
                "rawr_auto_compaction.repo_observation.graphite_max_chars",
                Down,
                0..=1_000_000,
                repo_observation.graphite_max_chars,
                "How much of it."
            ),
        ],
    },
    Table {
        path: "rawr_auto_compaction.prompts",
        doc: "Prompt files elsewhere than in the prompt folder, by the name of the prompt. Relative paths start in that folder.",
        keys: &[
            prompt!(AutoCompact, "auto-compact"),
            prompt!(HeadsUp, "heads-up"),
            prompt!(ScratchWrite, "scratch-write"),
            prompt!(Judgment, "judgment"),
            prompt!(JudgmentContext, "judgment-context"),
            prompt!(WatcherPacket, "watcher-packet"),
            prompt!(Handoff, "handoff"),
            prompt!(Compact, "compact"),
            prompt!(SummaryPrefix, "summary-prefix"),
        ],
    },
    Table {
        path: "auto_compact",
        doc: "The built-in compaction inside a turn. It works only where features.rawr_auto_compaction is false.",
        keys: &[
            switch!("auto_compact.enabled", ToFalse, policy.inline.enabled, ""),
            number!(
                "auto_compact.threshold_percent",
                Down,
                0..=100,
                policy.inline.threshold_percent,
                "Compact below this percentage of the context window remaining."
            ),
            switch!(
                "auto_compact.interrupt_mid_turn",
                ToFalse,
                policy.inline.interrupt_mid_turn,
                "Whether a running turn may be interrupted for it."
            ),
        ],
    },
];
