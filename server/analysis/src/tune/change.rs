//! Changes to the text of a `rawr.toml`, which leave its comments and its layout as they are.

use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::policy::{Policy, Tier};
use rawr_core::units::Tokens;
use serde::Serialize;
use std::fmt;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

const TABLE: &str = "rawr_auto_compaction";
/// An emergency waits for nothing, and is not tuned.
const TUNED_TIERS: [Tier; 3] = [Tier::Early, Tier::Ready, Tier::Asap];

/// A value that a configuration may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// When the tiers begin: percent left and tokens used.
    Pressure([(u8, u64); TUNED_TIERS.len()]),
    /// How many turns lie between two compactions at least.
    CooldownTurns(u32),
    /// How sure the next message must make it.
    ConfirmPercent(u8),
    /// Where compactions may come.
    Boundaries(Boundaries),
}

/// A key and its new value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedKey {
    /// The key, with its tables.
    pub key: String,
    /// The value, as in the file.
    pub value: String,
}

impl fmt::Display for ChangedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.key, self.value)
    }
}

impl Change {
    /// Whether the policy is so already.
    pub(super) fn is_in(&self, policy: &Policy) -> bool {
        match self {
            Self::Pressure(levels) => {
                TUNED_TIERS.iter().zip(levels).all(|(tier, (percent, used))| {
                    let rule = policy.tiers.rule(*tier);
                    rule.percent_remaining_lt == *percent
                        && rule.tokens_used_gt == Some(Tokens(*used))
                })
            }
            Self::CooldownTurns(turns) => policy.cooldown_turns == *turns,
            Self::ConfirmPercent(percent) => {
                TUNED_TIERS.iter().all(|tier| policy.tiers.rule(*tier).confirm_percent == *percent)
            }
            Self::Boundaries(required) => {
                TUNED_TIERS.iter().all(|tier| policy.tiers.rule(*tier).required == Some(*required))
            }
        }
    }

    /// Makes the change, and says which keys it set.
    pub(super) fn make(&self, document: &mut DocumentMut) -> Result<Vec<ChangedKey>, String> {
        let mut editor = Editor { document, changed: Vec::new() };
        match self {
            Self::Pressure(levels) => {
                for (tier, (percent, used)) in TUNED_TIERS.iter().zip(levels) {
                    let short = format!("{tier}_percent_remaining_lt");
                    let percent = i64::from(*percent);
                    editor.set_of_tier(*tier, "percent_remaining_lt", Some(&short), percent)?;
                    let used = i64::try_from(*used).unwrap_or(i64::MAX);
                    editor.set_of_tier(*tier, "tokens_used_gt", None, used)?;
                }
            }
            Self::CooldownTurns(turns) => editor.set(&["cooldown_turns"], i64::from(*turns))?,
            Self::ConfirmPercent(percent) => {
                let percent = i64::from(*percent);
                editor.set(&["confirm_percent"], percent)?;
                for tier in TUNED_TIERS {
                    let key = ["policy", tier.name(), "confirm_percent"];
                    if editor.has(&key) {
                        editor.set(&key, percent)?;
                    }
                }
            }
            Self::Boundaries(required) => {
                let names: Array = required.iter().map(Boundary::name).collect();
                editor.set(&["auto_requires_any_boundary"], names.clone())?;
                for tier in TUNED_TIERS {
                    let key = ["policy", tier.name(), "requires_any_boundary"];
                    if editor.has(&key) {
                        editor.set(&key, names.clone())?;
                    }
                }
            }
        }
        Ok(editor.changed)
    }
}

/// Whether tiers that wait for a boundary compact only at these. Everywhere is as good where none are named.
pub(super) fn is_only_at(policy: &Policy, places: Boundaries) -> bool {
    let is_at = |tier: &Tier| {
        let rule = policy.tiers.rule(*tier);
        let is_off = rule.percent_remaining_lt == 0 && rule.tokens_used_gt.is_none();
        is_off || rule.counting(*tier).without(places).is_empty()
    };
    places.is_empty() || TUNED_TIERS.iter().all(is_at)
}

/// Whether the next message decides anywhere.
pub(super) fn is_confirmed_by_message(policy: &Policy) -> bool {
    TUNED_TIERS.iter().any(|tier| policy.tiers.rule(*tier).confirm.by_message())
}

struct Editor<'d> {
    document: &'d mut DocumentMut,
    changed: Vec<ChangedKey>,
}

impl Editor<'_> {
    fn has(&self, key: &[&str]) -> bool {
        let mut item = self.document.get(TABLE);
        for part in key {
            item = item.and_then(|item| item.get(part));
        }
        item.is_some()
    }

    /// Where the file has the short key and not the long one, the short one stays.
    fn set_of_tier(
        &mut self,
        tier: Tier,
        key: &str,
        short: Option<&str>,
        value: i64,
    ) -> Result<(), String> {
        let long = ["policy", tier.name(), key];
        match short.filter(|short| self.has(&[short]) && !self.has(&long)) {
            Some(short) => self.set(&[short], value),
            None => self.set(&long, value),
        }
    }

    fn set(&mut self, key: &[&str], value: impl Into<Value>) -> Result<(), String> {
        let Some((last, tables)) = key.split_last() else { return Ok(()) };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for name in std::iter::once(&TABLE).chain(tables) {
            let mut created = Table::new();
            created.set_implicit(true);
            table = table
                .entry(name)
                .or_insert(Item::Table(created))
                .as_table_like_mut()
                .ok_or_else(|| format!("`{name}` is no table"))?;
        }
        let mut value = value.into();
        let written = value.to_string().trim().to_owned();
        // What follows the old value, such as a comment, stays.
        if let Some(old) = table.get(last).and_then(Item::as_value) {
            *value.decor_mut() = old.decor().clone();
        }
        table.insert(last, Item::Value(value));
        let path = [TABLE].iter().chain(key).copied().collect::<Vec<_>>().join(".");
        self.changed.push(ChangedKey { key: path, value: written });
        Ok(())
    }
}
