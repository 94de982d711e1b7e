//! The keys of `[rawr_auto_compaction]` itself.

use super::PRESET;
use crate::config::keys::{
    ConfigKey, KeyKind, KeyStorage, KeyTable, KeyValue, ProjectRule, Unread, WordEnum,
};
use rawr_core::policy::{MidTurn, Mode, PacketAuthor, PacketChannel, Preset};
use rawr_core::thread::breaker::MOST_STRIKES;
use rawr_core::units::Tokens;

const YEAR: u64 = 366 * 24 * 60 * 60;

macro_rules! short {
    ($name:expr, $kind:expr, $narrow:ident, $targets:expr, $doc:expr) => {
        ConfigKey {
            path: concat!("rawr_auto_compaction.", $name),
            kind: $kind,
            doc: $doc,
            example: "",
            narrow: ProjectRule::$narrow,
            unread: ProjectRule::$narrow.unread(),
            place: KeyStorage::Short($targets),
        }
    };
}

const SHORT: &str =
    "Short for the tier's percent_remaining_lt, in percent; the long form takes precedence.";

pub(super) const TABLE: KeyTable = KeyTable { path: "rawr_auto_compaction", doc: "", keys: KEYS };

const KEYS: &[ConfigKey] = &[
    word!(
        PRESET,
        Never,
        Preset,
        preset,
        "The values that all other keys are laid over. `spec`: compacts when a turn ends, as soon as a tier's boundary is there. `calm`: the end of a turn only proposes, and your next message confirms (`confirm` in every tier), or the turn itself where that message cannot be held (`confirms_itself`). See [timing](timing.md) for how often each is right."
    ),
    word!(
        "rawr_auto_compaction.mode",
        Earlier,
        Mode,
        policy.mode,
        "What happens when rawr decides to compact: `tag` records it, `suggest` recommends it, `ask` asks you, `auto` compacts. Inside a turn, mid_turn decides instead."
    ),
    word!(
        "rawr_auto_compaction.packet_author",
        Never,
        PacketAuthor,
        policy.packet_author,
        "Who writes the continuation packet: the `agent`, or rawr as `watcher`, from what it saw. Inside a turn, it is always the agent."
    ),
    word!(
        "rawr_auto_compaction.packet_channel",
        Never,
        PacketChannel,
        policy.packet_channel,
        "How the agent is asked for its packet: with a turn in the `transcript`, or with a `sample` outside of it, which you do not see in the agent's window. If the host cannot sample, and inside a turn, it is the transcript."
    ),
    switch!(
        "rawr_auto_compaction.packet_ahead",
        ToFalse,
        policy.packet_ahead,
        "Whether a packet that is sampled is asked for as soon as a compaction is proposed, so that it is ready when you confirm. It is thrown away if the proposal is dropped; `rawr status THREAD` says what that cost."
    ),
    word!(
        "rawr_auto_compaction.mid_turn",
        Earlier,
        MidTurn,
        policy.mid_turn,
        "Compaction between the requests of one turn: `off`, in an `emergency` only, or whenever the `policy` allows it. Defaults to `policy` if turn_based_handoff is false."
    ),
    switch!(
        "rawr_auto_compaction.turn_based_handoff",
        Never,
        policy.turn_based_handoff,
        "Whether a heads-up tells the agent beforehand that a compaction is coming."
    ),
    short!(
        "early_percent_remaining_lt",
        KeyKind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.early.percent_remaining_lt"],
        SHORT
    ),
    short!(
        "ready_percent_remaining_lt",
        KeyKind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.ready.percent_remaining_lt"],
        SHORT
    ),
    short!(
        "asap_percent_remaining_lt",
        KeyKind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.asap.percent_remaining_lt"],
        SHORT
    ),
    short!(
        "emergency_percent_remaining_lt",
        KeyKind::Percent(0..=100),
        Down,
        &["rawr_auto_compaction.policy.emergency.percent_remaining_lt"],
        SHORT
    ),
    short!(
        "auto_requires_any_boundary",
        KeyKind::Boundaries { needs_one: true },
        Subset,
        &[
            "rawr_auto_compaction.policy.early.requires_any_boundary",
            "rawr_auto_compaction.policy.ready.requires_any_boundary",
            "rawr_auto_compaction.policy.asap.requires_any_boundary",
        ],
        "One of these boundaries must be present, in every tier but emergency. `policy.<tier>.requires_any_boundary` takes precedence."
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
    short!(
        "confirm_percent",
        KeyKind::Percent(1..=100),
        Up,
        &[
            "rawr_auto_compaction.policy.early.confirm_percent",
            "rawr_auto_compaction.policy.ready.confirm_percent",
            "rawr_auto_compaction.policy.asap.confirm_percent",
        ],
        "Short for the `confirm_percent` of the tiers early, ready and asap. Unless set, each tier has its own."
    )
    .shown_as("70"),
    number!(
        "rawr_auto_compaction.confirms_itself_percent",
        Percent,
        Up,
        1..=100,
        policy.self_confirmation.percent,
        "How likely it must be, in percent, that a phase ended with a turn that `confirms_itself`, judged without your next message."
    ),
    switch!(
        "rawr_auto_compaction.confirms_itself_everywhere",
        ToFalse,
        policy.self_confirmation.everywhere,
        "Whether a turn `confirms_itself` also where the host can hold your next message, which decides more reliably."
    ),
    switch!(
        "rawr_auto_compaction.closing_first",
        Never,
        policy.closing_first,
        "Whether a message that confirms a proposal by closing the work (commit, push, merge, thanks) goes to the agent at once, which still knows everything: the compaction comes when its turn ends. If false, the compaction comes before the message."
    ),
    number!(
        "rawr_auto_compaction.idle_seconds",
        Up,
        1..=YEAR,
        policy.idle_seconds,
        "How many seconds of silence confirm a proposal, in tiers with `confirm` of `idle` or `either`. The default is below the five minutes for which providers keep a prompt cached: the packet is still read from the cache. See `cache_seconds`."
    ),
    ConfigKey {
        path: "rawr_auto_compaction.cache_seconds",
        kind: KeyKind::Number(0..=YEAR),
        doc: "For how many seconds the model's provider keeps a prompt cached. Silence confirms a minute before that at the latest, also if `idle_seconds` is longer. Less than 120 counts as 0: unknown, so that `idle_seconds` alone counts. Unless set: what the host reports, if it does.",
        example: "3600",
        narrow: ProjectRule::Never,
        unread: Unread::Approval,
        place: KeyStorage::Own {
            get: |config| config.policy.cache_seconds.map(KeyValue::Number),
            set: |config, value| {
                if let KeyValue::Number(seconds) = value {
                    config.policy.cache_seconds = Some(seconds);
                }
            },
        },
    },
    ConfigKey {
        path: "rawr_auto_compaction.rearm_tokens",
        kind: KeyKind::Number(0..=1_000_000_000),
        doc: "How many new tokens there must be since the last compaction before the next one. Unless set: a fiftieth of the context window, at least 64 (256 where the window is unknown), and as many as the last compaction left above the floor, at most a quarter of the room that was left. In an emergency also so many that a twentieth of the window lies above the floor, at most half of the room above it.",
        example: "5000",
        narrow: ProjectRule::Up,
        unread: Unread::Approval,
        place: KeyStorage::Own {
            get: |config| config.policy.rearm_tokens.map(|tokens| KeyValue::Number(tokens.0)),
            set: |config, value| {
                if let KeyValue::Number(tokens) = value {
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
    )
    .unread_as(Unread::Approval),
    number!(
        "rawr_auto_compaction.breaker_land_at_percent",
        Percent,
        Never,
        1..=100,
        policy.breaker.land_at_percent,
        "A compaction frees too little if it leaves more than this percentage of what it could free: the tokens above the smallest context that any compaction left or the thread began with."
    )
    .unread_as(Unread::Approval),
    number!(
        "rawr_auto_compaction.breaker_reset_seconds",
        Never,
        0..=YEAR,
        policy.breaker.reset_seconds,
        "How many seconds after the last of them rawr tries the original tier once more. Any compaction that frees enough, also a manual one or one by the host, ends the waiting at once. 0: only that does."
    )
    .unread_as(Unread::Approval),
    switch!(
        "rawr_auto_compaction.scratch_write_enabled",
        ToFalse,
        policy.scratch_write_enabled,
        "Whether the agent is asked to write working notes to its scratch file before a compaction: after a commit, a plan step, a pull request or finished work, and not in an emergency."
    ),
    ConfigKey {
        path: "rawr_auto_compaction.scratch_file_template",
        kind: KeyKind::ScratchTemplate,
        doc: "The scratch file, relative to the thread's folder. `{agentName}` is the agent's name.",
        example: "",
        narrow: ProjectRule::Never,
        unread: Unread::Lower,
        place: KeyStorage::Own {
            get: |config| Some(KeyValue::Text(config.policy.scratch_file_template.clone())),
            set: |config, value| {
                if let KeyValue::Text(template) = value {
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
        "How many characters of your first message and of the agent's last message rawr quotes in a packet that it builds."
    )
    .unread_as(Unread::Lower),
    text!(
        "rawr_auto_compaction.compaction_model",
        "\"gpt-5.2\"",
        policy.compaction.model,
        "The model that the host should compact with, if it supports that. Unless set, the host chooses."
    ),
    text!(
        "rawr_auto_compaction.compaction_reasoning_effort",
        "\"high\"",
        policy.compaction.reasoning_effort,
        "The reasoning effort that the host should compact with, if it supports that. Unless set, the host chooses."
    ),
    text!(
        "rawr_auto_compaction.compaction_verbosity",
        "\"high\"",
        policy.compaction.verbosity,
        "The verbosity that the host should compact with, if it supports that. Unless set, the host chooses."
    ),
    switch!(
        "rawr_auto_compaction.compaction_packet_only",
        Never,
        policy.compaction.packet_only,
        "Whether the packet alone replaces the conversation, without a summary by the host, if the host supports that. It saves a request and a wait; the agent then knows less of what the packet leaves out."
    ),
    number!(
        "rawr_auto_compaction.retention_days",
        Never,
        0..=36_500,
        retention_days,
        "A thread is archived after this many days without use. Opening it brings it back. 0: never."
    ),
];
