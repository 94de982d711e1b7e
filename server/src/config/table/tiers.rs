//! The keys of `[rawr_auto_compaction.policy.<tier>]`, which are the same for every tier.

use crate::config::keys::{Key, KeyStorage, Kind, Narrow, Table, Value};
use rawr_core::boundary::Boundaries;
use rawr_core::policy::{Tier, TierRule};

macro_rules! tier {
    ($field:ident, $tier:expr, $path:expr, $doc:expr, $keys:expr) => {
        Table {
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
                Key {
                    path: concat!($path, ".requires_any_boundary"),
                    kind: Kind::Boundaries(Some($tier)),
                    doc: $keys.boundaries,
                    example: "",
                    narrow: Narrow::Subset,
                    place: KeyStorage::Own {
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
                    doc: $keys.semantic_break,
                    example: "false",
                    narrow: Narrow::ToTrue,
                    place: KeyStorage::Own {
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
                    $keys.decision_prompt
                ),
            ],
        }
    };
}

/// What the keys say of themselves.
struct Docs {
    threshold: &'static str,
    boundaries: &'static str,
    semantic_break: &'static str,
    decision_prompt: &'static str,
}

const DOCS: Docs = Docs {
    threshold: "The tier holds strictly below this percentage of the context window remaining. 0 switches it off.",
    boundaries: "One of these boundaries must be present. Those that the tier does not allow never count; `turn_complete` counts where it is named, and the compaction waits for your next message.",
    semantic_break: "Whether a plan boundary alone is not enough, and the agent's last message must end, conclude or change the subject. False also lets a bare `plan_update` count.",
    decision_prompt: "A prompt file, relative to the prompt folder. With it a judge is asked first, outside of the transcript, and may say no. Unless set, no judge is asked.",
};

const ASAP_DOCS: Docs = Docs {
    semantic_break: "Whether a plan boundary alone is not enough, and the agent's last message must end, conclude or change the subject. False also lets a bare `plan_update` count. Unless set, only a bare `plan_update` is not enough.",
    ..DOCS
};

const EMERGENCY_DOCS: Docs = Docs {
    boundaries: "Which boundaries the record names. An emergency waits for none of them.",
    semantic_break: "What the record says of a plan boundary alone. An emergency waits for nothing more.",
    decision_prompt: "A prompt file, as in the other tiers. No judge is asked in an emergency, and the record notes that.",
    ..DOCS
};

pub(super) const EARLY: Table = tier!(
    early,
    Tier::Early,
    "rawr_auto_compaction.policy.early",
    "Compact only where a large step has clearly ended.",
    DOCS
);

pub(super) const READY: Table = tier!(
    ready,
    Tier::Ready,
    "rawr_auto_compaction.policy.ready",
    "Compact where a step has ended.",
    DOCS
);

pub(super) const ASAP: Table = tier!(
    asap,
    Tier::Asap,
    "rawr_auto_compaction.policy.asap",
    "Compact at the next natural pause.",
    ASAP_DOCS
);

pub(super) const EMERGENCY: Table = tier!(
    emergency,
    Tier::Emergency,
    "rawr_auto_compaction.policy.emergency",
    "Compact now. Boundaries and judgment are not asked; only the threshold changes what happens.",
    EMERGENCY_DOCS
);

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
