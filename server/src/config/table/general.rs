//! The keys of `[rawr_auto_compaction]` itself.

use crate::config::keys::{Key, KeyStorage, Kind, Narrow, Table, Value, Words};
use rawr_core::policy::{MidTurn, Mode, PacketAuthor, PacketChannel};
use rawr_core::thread::breaker::MOST_STRIKES;
use rawr_core::units::Tokens;

const YEAR: u64 = 366 * 24 * 60 * 60;

macro_rules! word {
    ($path:expr, $narrow:ident, $words:ty, $($field:ident).+, $doc:expr) => {
        Key {
            path: $path,
            kind: Kind::Word(<$words>::WORDS),
            doc: $doc,
            example: "",
            narrow: Narrow::$narrow,
            place: KeyStorage::Own {
                get: |config| Some(config.$($field).+.word()),
                set: |config, value| if let Value::Word(word) = value {
                    config.$($field).+ = <$words>::from_word(word).unwrap_or(config.$($field).+);
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
            place: KeyStorage::Short($targets),
        }
    };
}

const SHORT: &str =
    "Short for the tier's percent_remaining_lt, in percent; the long form goes before it.";

pub(super) const TABLE: Table = Table { path: "rawr_auto_compaction", doc: "", keys: KEYS };

const KEYS: &[Key] = &[
    word!(
        "rawr_auto_compaction.mode",
        Earlier,
        Mode,
        policy.mode,
        "What happens when everything speaks for a compaction: `tag` notes it, `suggest` recommends it, `ask` asks you, `auto` does it. Inside a turn mid_turn says it."
    ),
    word!(
        "rawr_auto_compaction.packet_author",
        Never,
        PacketAuthor,
        policy.packet_author,
        "Who writes the continuation packet: the `agent`, or rawr as `watcher`, from what it saw. Inside a turn it is always the agent."
    ),
    word!(
        "rawr_auto_compaction.packet_channel",
        Never,
        PacketChannel,
        policy.packet_channel,
        "How the agent is asked for its packet: by a turn in the `transcript`, or by a `sample` outside of it, which you do not see in the agent's own window. Where the host cannot sample, and inside a turn, it is the transcript."
    ),
    word!(
        "rawr_auto_compaction.mid_turn",
        Earlier,
        MidTurn,
        policy.mid_turn,
        "Compaction between the requests of one turn: `off`, in an `emergency` only, or whenever the `policy` allows it. `policy` unless set where turn_based_handoff is false."
    ),
    switch!(
        "rawr_auto_compaction.turn_based_handoff",
        Never,
        policy.turn_based_handoff,
        "Whether the agent is told beforehand that a compaction comes, by a heads-up."
    ),
    short!(
        "early_percent_remaining_lt",
        Kind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.early.percent_remaining_lt"],
        SHORT
    ),
    short!(
        "ready_percent_remaining_lt",
        Kind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.ready.percent_remaining_lt"],
        SHORT
    ),
    short!(
        "asap_percent_remaining_lt",
        Kind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.asap.percent_remaining_lt"],
        SHORT
    ),
    short!(
        "emergency_percent_remaining_lt",
        Kind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.emergency.percent_remaining_lt"],
        SHORT
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
        "One of these boundaries must be present, in every tier but emergency. `policy.<tier>.requires_any_boundary` goes before it."
    ),
    number!(
        "rawr_auto_compaction.cooldown_turns",
        Up,
        0..=10_000,
        policy.cooldown_turns,
        "How many of your turns must end after a compaction before the next one. An emergency does not wait."
    ),
    number!(
        "rawr_auto_compaction.cooldown_seconds",
        Up,
        0..=YEAR,
        policy.cooldown_seconds,
        "How many seconds must pass after a compaction before the next one. An emergency does not wait."
    ),
    Key {
        path: "rawr_auto_compaction.rearm_tokens",
        kind: Kind::Number(0..=1_000_000_000),
        doc: "How many new tokens must have come since a compaction before the next one. Unless set: a fiftieth of the context window, at least 64 (256 where the window is unknown), and as many as the last compaction left above the floor, at most a quarter of the room that was left. In an emergency also so many that a twentieth of the window lies above the floor, at most half of the room above it.",
        example: "5000",
        narrow: Narrow::Up,
        place: KeyStorage::Own {
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
        0..=MOST_STRIKES as u64,
        policy.breaker.strikes,
        "After how many compactions in a row that failed or freed too little rawr waits for the next more urgent tier. An emergency never waits. 0: never."
    ),
    number!(
        "rawr_auto_compaction.breaker_land_at_percent",
        Percent,
        Never,
        1..=100,
        policy.breaker.land_at_percent,
        "A compaction that leaves more than this percentage of what it could free freed too little. It could free the tokens above the smallest context that a compaction left or the thread began with."
    ),
    number!(
        "rawr_auto_compaction.breaker_reset_seconds",
        Never,
        0..=YEAR,
        policy.breaker.reset_seconds,
        "How many seconds after the last of them rawr tries once more at the tier that it stopped at. Any compaction that frees enough, also one by a person or the host, ends the waiting at once. 0: only that does."
    ),
    switch!(
        "rawr_auto_compaction.scratch_write_enabled",
        ToFalse,
        policy.scratch_write_enabled,
        "Whether the agent is asked to write working notes to its scratch file before a compaction: after a commit, a plan step, a pull request or finished work, and not in an emergency."
    ),
    Key {
        path: "rawr_auto_compaction.scratch_file_template",
        kind: Kind::ScratchTemplate,
        doc: "The scratch file, relative to the thread's folder. `{agentName}` is the agent's name.",
        example: "",
        narrow: Narrow::Never,
        place: KeyStorage::Own {
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
        "How many characters of your first message and of the agent's last one a packet built by rawr quotes."
    ),
    text!(
        "rawr_auto_compaction.compaction_model",
        "\"gpt-5.2\"",
        policy.compaction.model,
        "The model that the host is told to compact with, where it can choose. Unless set, its own choice."
    ),
    text!(
        "rawr_auto_compaction.compaction_reasoning_effort",
        "\"high\"",
        policy.compaction.reasoning_effort,
        "The reasoning effort that the host is told to compact with, where it can choose. Unless set, its own choice."
    ),
    text!(
        "rawr_auto_compaction.compaction_verbosity",
        "\"high\"",
        policy.compaction.verbosity,
        "The verbosity that the host is told to compact with, where it can choose. Unless set, its own choice."
    ),
    number!(
        "rawr_auto_compaction.retention_days",
        Never,
        0..=36_500,
        retention_days,
        "A thread is archived after this many days without use. Opening it brings it back. 0: never."
    ),
];
