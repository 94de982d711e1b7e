//! Parses a `policy` line: short names for the fields of the core's policy that scripts of rules set. Scripts of keys use
//! `config` instead.

use crate::scripts::player::Player;
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::policy::{ConfirmRule, MidTurn, Mode, PacketAuthor, PacketChannel, Tier, TierRule};
use rawr_core::units::Tokens;

impl Player {
    /// `key=value`; underscores in a phrase are spaces.
    pub fn set_policy(&mut self, word: &str) {
        let (key, value) = word.split_once('=').unwrap();
        let number = || value.parse().unwrap();
        let text = || (!value.is_empty()).then(|| value.to_owned());
        let phrases = || value.split(',').map(|phrase| phrase.replace('_', " ")).collect();
        let policy = &mut self.policy;
        match key {
            "enabled" => policy.enabled = value == "true",
            "mode" => policy.mode = mode(value),
            "author" => policy.packet_author = author(value),
            "channel" => {
                policy.packet_channel = match value {
                    "transcript" => PacketChannel::Transcript,
                    "sample" => PacketChannel::Sample,
                    other => panic!("unknown channel {other:?}"),
                }
            }
            "turn_based_handoff" => policy.turn_based_handoff = value == "true",
            "mid_turn" => {
                policy.mid_turn = match value {
                    "off" => MidTurn::Off,
                    "emergency" => MidTurn::Emergency,
                    "policy" => MidTurn::Policy,
                    other => panic!("unknown mid_turn {other:?}"),
                }
            }
            "judge" => policy.judge = serde_json::from_value(value.into()).unwrap(),
            "judge_for_advice" => policy.judge_for_advice = value == "true",
            "inline.enabled" => policy.inline.enabled = value == "true",
            "inline.below" => policy.inline.threshold_percent = value.parse().unwrap(),
            "inline.interrupt" => policy.inline.interrupt_mid_turn = value == "true",
            "scratch" => policy.scratch_write_enabled = value == "true",
            "scratch_file" => value.clone_into(&mut policy.scratch_file_template),
            "cooldown_turns" => policy.cooldown_turns = value.parse().unwrap(),
            "cooldown_seconds" => policy.cooldown_seconds = number(),
            "confirm_percent" => {
                for tier in Tier::ALL {
                    policy.tiers.rule_mut(tier).confirm_percent = value.parse().unwrap();
                }
            }
            "closing_first" => policy.closing_first = value == "true",
            "judge_unclear" => {
                let (from, below) = value.split_once('-').unwrap();
                policy.judge_unclear.from = from.parse().unwrap();
                policy.judge_unclear.below = below.parse().unwrap();
            }
            "confirms_itself_percent" => policy.self_confirmation.percent = value.parse().unwrap(),
            "confirms_itself_everywhere" => policy.self_confirmation.everywhere = value == "true",
            "idle_seconds" => policy.idle_seconds = number(),
            "rearm_tokens" => policy.rearm_tokens = Some(Tokens(number())),
            "breaker.strikes" => policy.breaker.strikes = value.parse().unwrap(),
            "breaker.reset" => policy.breaker.reset_seconds = number(),
            "deadline.packet" => policy.deadlines.packet = number(),
            "deadline.handoff" => policy.deadlines.handoff = number(),
            "compaction.model" => policy.compaction.model = text(),
            "compaction.effort" => policy.compaction.reasoning_effort = text(),
            "compaction.verbosity" => policy.compaction.verbosity = text(),
            "phrases.not_done" => policy.phrases.not_done = phrases(),
            "phrases.agent_done" => policy.phrases.agent_done = phrases(),
            "phrases.directive" => policy.phrases.directive = phrases(),
            tiered => {
                let (tier, field) = tiered.split_once('.').unwrap();
                let tier = Tier::ALL.into_iter().find(|t| t.name() == tier).unwrap();
                set_tier(policy.tiers.rule_mut(tier), field, value);
            }
        }
    }
}

fn set_tier(rule: &mut TierRule, field: &str, value: &str) {
    match field {
        "below" => rule.percent_remaining_lt = value.parse().unwrap(),
        "above" => rule.tokens_used_gt = Some(Tokens(value.parse().unwrap())),
        "semantic" => rule.plan_needs_semantic_break = Some(value == "true"),
        "judge" => rule.decision_prompt_path = Some(value.to_owned()),
        "confirm" => {
            let named = ConfirmRule::ALL.into_iter().find(|confirm| confirm.name() == value);
            rule.confirm = named.unwrap_or_else(|| panic!("no confirm {value:?}"));
        }
        "confirm_percent" => rule.confirm_percent = value.parse().unwrap(),
        "set_by" => rule.set_by = Some(value.to_owned()),
        "required" => rule.required = Some(boundaries(value)),
        "confirms_itself" => rule.confirms_itself = boundaries(value),
        other => panic!("unknown field {other:?} of a tier"),
    }
}

fn boundaries(list: &str) -> Boundaries {
    list.split(',').map(|name| Boundary::from_name(name).unwrap()).collect()
}

fn mode(word: &str) -> Mode {
    match word {
        "tag" => Mode::Tag,
        "suggest" => Mode::Suggest,
        "ask" => Mode::Ask,
        "auto" => Mode::Auto,
        other => panic!("unknown mode {other:?}"),
    }
}

fn author(word: &str) -> PacketAuthor {
    match word {
        "watcher" => PacketAuthor::Watcher,
        "agent" => PacketAuthor::Agent,
        other => panic!("unknown author {other:?}"),
    }
}
