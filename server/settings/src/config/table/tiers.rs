//! The keys of `[rawr_auto_compaction.policy.<tier>]`, which are the same for every tier.

use crate::config::keys::{
    ConfigKey, KeyKind, KeyStorage, KeyTable, KeyValue, ProjectRule, Unread, WordEnum,
};
use rawr_core::boundary::Boundaries;
use rawr_core::policy::{ConfirmRule, Tier, TierRule};
use rawr_core::units::Tokens;

macro_rules! tier {
    ($field:ident, $tier:expr, $path:expr, $doc:expr, $keys:expr) => {
        KeyTable {
            path: $path,
            doc: $doc,
            keys: &[
                number!(
                    concat!($path, ".percent_remaining_lt"),
                    Percent,
                    Down,
                    0..=100,
                    policy.tiers.$field.percent_remaining_lt,
                    $keys.threshold
                ),
                ConfigKey {
                    path: concat!($path, ".tokens_used_gt"),
                    kind: KeyKind::Number(1..=1_000_000_000),
                    doc: $keys.tokens,
                    example: "150000",
                    narrow: ProjectRule::Up,
                    unread: Unread::Approval,
                    place: KeyStorage::Own {
                        get: |config| {
                            let most = config.policy.tiers.$field.tokens_used_gt;
                            most.map(|tokens| KeyValue::Number(tokens.0))
                        },
                        set: |config, value| {
                            if let KeyValue::Number(tokens) = value {
                                config.policy.tiers.$field.tokens_used_gt = Some(Tokens(tokens));
                            }
                        },
                    },
                },
                ConfigKey {
                    path: concat!($path, ".requires_any_boundary"),
                    kind: KeyKind::Boundaries { needs_one: true },
                    doc: $keys.boundaries,
                    example: "",
                    narrow: ProjectRule::Subset,
                    unread: Unread::Approval,
                    place: KeyStorage::Own {
                        get: |config| {
                            Some(KeyValue::Boundaries(config.policy.tiers.$field.counting($tier)))
                        },
                        set: |config, value| {
                            if let KeyValue::Boundaries(list) = value {
                                require(&mut config.policy.tiers.$field, $tier, list);
                            }
                        },
                    },
                },
                ConfigKey {
                    path: concat!($path, ".plan_boundaries_require_semantic_break"),
                    kind: KeyKind::Switch,
                    doc: $keys.semantic_break,
                    example: "false",
                    narrow: ProjectRule::ToTrue,
                    unread: Unread::Switch(true),
                    place: KeyStorage::Own {
                        get: |config| plan_needs_break(&config.policy.tiers.$field, $tier),
                        set: |config, value| {
                            if let KeyValue::Switch(on) = value {
                                set_plan_needs_break(&mut config.policy.tiers.$field, $tier, on);
                            }
                        },
                    },
                },
                word!(
                    concat!($path, ".confirm"),
                    Earlier,
                    ConfirmRule,
                    policy.tiers.$field.confirm,
                    $keys.confirm
                ),
                number!(
                    concat!($path, ".confirm_percent"),
                    Percent,
                    Up,
                    1..=100,
                    policy.tiers.$field.confirm_percent,
                    $keys.confirm_percent
                ),
                ConfigKey {
                    path: concat!($path, ".confirms_itself"),
                    kind: KeyKind::Boundaries { needs_one: false },
                    doc: $keys.confirms_itself,
                    example: "",
                    narrow: ProjectRule::Subset,
                    unread: Unread::NoBoundary,
                    place: KeyStorage::Own {
                        get: |config| {
                            Some(KeyValue::Boundaries(config.policy.tiers.$field.confirms_itself))
                        },
                        set: |config, value| {
                            if let KeyValue::Boundaries(list) = value {
                                config.policy.tiers.$field.confirms_itself = list;
                            }
                        },
                    },
                },
                text!(
                    concat!($path, ".decision_prompt_path"),
                    "\"judgment.md\"",
                    policy.tiers.$field.decision_prompt_path,
                    $keys.decision_prompt
                )
                .unread_as(Unread::Approval),
            ],
        }
    };
}

/// The descriptions of the keys.
struct TierDocs {
    threshold: &'static str,
    tokens: &'static str,
    boundaries: &'static str,
    semantic_break: &'static str,
    confirm: &'static str,
    confirm_percent: &'static str,
    confirms_itself: &'static str,
    decision_prompt: &'static str,
}

const DOCS: TierDocs = TierDocs {
    threshold: "The tier starts when less than this percentage of the context window is left. 0 turns it off.",
    tokens: "The tier also holds strictly above this many tokens in the context, whatever percentage that is: whichever of the two holds first. Unless set, the percentage alone counts.",
    boundaries: "One of these boundaries must be present. Those that the tier does not allow never count; `turn_complete` counts only if it is listed, and the compaction waits for your next message.",
    semantic_break: "Whether a plan boundary alone is not enough, and the agent's last message must end, conclude or change the subject. False also lets a bare `plan_update` count.",
    confirm: "What makes a proposal at the end of a turn a compaction: your next `message`, if it opens something new or closes the work; `idle`, once nothing was said for `idle_seconds`; `either`; or `none`: it compacts at once. Where the host cannot hold your message, silence confirms, and `confirms_itself`. With a confirmation every boundary may propose.",
    confirm_percent: "How likely it must be, in percent, that a phase ended before your next message, for that message to confirm.",
    confirms_itself: "A turn in which one of these happened, and whose last message says that the work is done, confirms its own proposal: the compaction comes at once. No check may have failed, no step of the plan may be open, the agent may not ask anything, and `confirms_itself_percent` must be reached. Only where the host cannot hold your next message, unless `confirms_itself_everywhere`.",
    decision_prompt: "A prompt file, relative to the prompt folder. With it, a judge is asked first, outside of the transcript, and may say no. Unless set, no judge is asked.",
};

const ASAP_DOCS: TierDocs = TierDocs {
    semantic_break: "Whether a plan boundary alone is not enough, and the agent's last message must end, conclude or change the subject. False also lets a bare `plan_update` count. Unless set, only a bare `plan_update` is not enough.",
    ..DOCS
};

const EMERGENCY_DOCS: TierDocs = TierDocs {
    boundaries: "The boundaries that the record names. An emergency does not wait for them.",
    semantic_break: "How the record rates a plan boundary alone. An emergency does not wait for more.",
    confirm: "An emergency waits for no confirmation.",
    confirm_percent: "In percent. An emergency waits for no confirmation.",
    confirms_itself: "An emergency needs no confirmation.",
    decision_prompt: "A prompt file, as in the other tiers. No judge is asked in an emergency, and the record notes that.",
    ..DOCS
};

pub(super) const EARLY: KeyTable = tier!(
    early,
    Tier::Early,
    "rawr_auto_compaction.policy.early",
    "Compact only when a large step has clearly ended.",
    DOCS
);

pub(super) const READY: KeyTable = tier!(
    ready,
    Tier::Ready,
    "rawr_auto_compaction.policy.ready",
    "Compact when a step has ended.",
    DOCS
);

pub(super) const ASAP: KeyTable = tier!(
    asap,
    Tier::Asap,
    "rawr_auto_compaction.policy.asap",
    "Compact at the next natural pause.",
    ASAP_DOCS
);

pub(super) const EMERGENCY: KeyTable = tier!(
    emergency,
    Tier::Emergency,
    "rawr_auto_compaction.policy.emergency",
    "Compact now, without boundaries or a judge. Only the threshold has an effect.",
    EMERGENCY_DOCS
);

/// A list with the same members as the built-in one counts as the built-in one.
fn require(rule: &mut TierRule, tier: Tier, list: Boundaries) {
    rule.required = Some(list);
    if rule.counting(tier) == rule.allowed(tier) {
        rule.required = None;
    }
}

fn asks_by_itself(tier: Tier) -> bool {
    TierRule::built_in(tier).needs_semantic_break(tier)
}

/// In asap and emergency, unset is neither true nor false: a bare `plan_update` is still not enough.
fn plan_needs_break(rule: &TierRule, tier: Tier) -> Option<KeyValue> {
    let by_itself = asks_by_itself(tier).then_some(true);
    rule.plan_needs_semantic_break.or(by_itself).map(KeyValue::Switch)
}

fn set_plan_needs_break(rule: &mut TierRule, tier: Tier, on: bool) {
    rule.plan_needs_semantic_break = Some(on).filter(|on| !(*on && asks_by_itself(tier)));
}
