//! The breaker: after compactions in a row that did not help, a more urgent tier is needed for the next one. Strikes are
//! part of the fold; what they hold back is read off them here.

use super::sequence::Sequence;
use super::{LastCompaction, Thread};
use crate::event::Ending;
use crate::policy::{Breaker, Policy, Tier, Worth};
use crate::units::{Percent, SequenceId, Timestamp, Tokens};
use serde::{Deserialize, Serialize};

/// The most strikes that are kept, and the most that a policy may ask for.
pub const MOST_STRIKES: u32 = 50;

/// An emergency frees at least this part of the window. A compaction reads all of it, so one that frees less than a
/// twentieth costs more than twenty times what it gives; hosts compact by themselves not far above the emergency's
/// threshold, so a larger part would leave it to them, without a packet.
const LEAST_GAIN: u64 = 20;

/// A sequence that failed, or whose compaction was not worth having. Only the newest row of them is kept: a compaction
/// that was worth having clears it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Strike {
    /// When the sequence failed or its compaction was measured.
    pub at: Timestamp,
    /// The sequence.
    pub sequence: SequenceId,
    /// The tier that it started at; the built-in compaction and a person's have none.
    pub tier: Option<Tier>,
    /// The rule that the compaction was measured by.
    pub worth: Worth,
    /// How much it freed of what it could have; absent where the sequence failed.
    pub freed: Option<Percent>,
}

/// What the breaker holds back now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// This tier and every less urgent one; `None`: the built-in compaction, which knows no tiers.
    pub tier: Option<Tier>,
    /// The tier that is needed now; `None` where no more urgent one is in use.
    pub needs: Option<Tier>,
    /// How many strikes count here.
    pub strikes: u32,
    /// When it lets one more try pass; `None`: not by itself.
    pub until: Option<Timestamp>,
    /// For people.
    pub reason: String,
    /// What lets the next compaction pass, for people.
    pub ends_when: String,
}

impl Hold {
    fn ends_when(&self, policy: &Policy, now: Timestamp) -> String {
        let urgent = self.needs.map(|tier| {
            let threshold = Percent(policy.tiers.rule(tier).percent_remaining_lt);
            format!("less than {threshold} is left ({tier})")
        });
        let helps = "a compaction frees enough".to_owned();
        let later = self.until.map(|until| {
            let minutes = until.seconds_since(now).div_ceil(60);
            if minutes == 1 {
                "a minute passes".to_owned()
            } else {
                format!("{minutes} minutes pass")
            }
        });
        let ways: Vec<_> = urgent.into_iter().chain([helps]).chain(later).collect();
        ways.join(", or ")
    }
}

impl Thread {
    /// What the breaker holds back under this policy, for people.
    pub fn held_back(&self, policy: &Policy, now: Timestamp) -> Option<Hold> {
        match (policy.enabled, policy.inline.enabled) {
            (true, _) => self.hold(policy, now),
            (false, true) => self.inline_hold(policy, now),
            (false, false) => None,
        }
    }

    /// What the breaker holds back from the golden path; an emergency is never held.
    pub fn hold(&self, policy: &Policy, now: Timestamp) -> Option<Hold> {
        let held = [Tier::Asap, Tier::Ready, Tier::Early].into_iter();
        held.map(Some).find_map(|tier| self.hold_at(tier, policy, now))
    }

    /// The same of the built-in compaction, which every strike counts against.
    pub fn inline_hold(&self, policy: &Policy, now: Timestamp) -> Option<Hold> {
        self.hold_at(None, policy, now)
    }

    /// A strike at a more urgent tier counts at the less urgent ones, too: there is less to be freed at them.
    pub fn strikes_at(&self, tier: Option<Tier>) -> impl DoubleEndedIterator<Item = &Strike> {
        self.strikes.iter().filter(move |strike| strike.tier >= tier)
    }

    fn hold_at(&self, tier: Option<Tier>, policy: &Policy, now: Timestamp) -> Option<Hold> {
        let Breaker { strikes: limit, reset_seconds, .. } = policy.breaker;
        let strikes: Vec<_> = self.strikes_at(tier).collect();
        let last = strikes.last().filter(|_| limit > 0 && strikes.len() >= limit as usize)?;
        let until = (reset_seconds > 0).then(|| last.at.plus_seconds(reset_seconds));
        if until.is_some_and(|until| until <= now) {
            return None;
        }
        let in_use = |tier: &Tier| policy.tiers.rule(*tier).percent_remaining_lt > 0;
        let needs =
            tier.and_then(|held| Tier::ALL.into_iter().filter(in_use).find(|tier| *tier > held));
        let newest = &strikes[strikes.len() - limit as usize..];
        let mut hold = Hold {
            tier,
            needs,
            strikes: u32::try_from(strikes.len()).unwrap_or(u32::MAX),
            until,
            reason: did_not_help(newest),
            ends_when: String::new(),
        };
        hold.ends_when = hold.ends_when(policy, now);
        Some(hold)
    }

    /// What the last compaction left, the floor and the window, once all three are measured.
    fn landing(&self) -> Option<[Tokens; 3]> {
        let last = self.last_compaction.as_ref().filter(|last| last.measured)?;
        Some([last.after?, self.floor?, self.window?])
    }

    /// How many tokens make the next compaction worth its cost: as many as the last one left above the floor. With fewer,
    /// most of what it would work on is what could not be freed a moment ago. Never more than a quarter of the room that
    /// was left, so that a compaction that landed high is followed by another in time.
    pub fn worth_waiting_for(&self) -> Tokens {
        let Some([after, floor, window]) = self.landing() else { return Tokens(0) };
        let room = window.0.saturating_sub(after.0);
        Tokens(after.0.saturating_sub(floor.0).min(room / 4))
    }

    /// How many tokens make an emergency worth a compaction: so many that enough of them lie above the floor. Where the
    /// floor itself is an emergency, each compaction would be followed by the next at once. Never more than half of the
    /// room above the floor, so that the compaction comes before the window is full.
    pub fn worth_an_emergency(&self) -> Tokens {
        let Some([after, floor, window]) = self.landing() else { return Tokens(0) };
        let room = window.0.saturating_sub(floor.0);
        let gain = (window.0 / LEAST_GAIN).min(room / 2);
        Tokens(gain.saturating_sub(after.0.saturating_sub(floor.0)))
    }

    /// The first request after a compaction has measured it.
    pub(crate) fn judge_compaction(&mut self, at: Timestamp) {
        let Some(last) = &self.last_compaction else { return };
        // One that was not ours can only clear what there is.
        let worth = last.worth.or_else(|| {
            let strike = self.strikes.last()?;
            matches!(strike.worth, Worth::AboveFloor(_)).then_some(strike.worth)
        });
        let Some((worth, freed, enough)) = worth.and_then(|worth| {
            let (freed, enough) = last.freed(worth, self.floor?)?;
            Some((worth, freed, enough))
        }) else {
            return;
        };
        if enough {
            self.strikes.clear();
        } else if let Some(sequence) = last.sequence.clone() {
            let tier = last.trigger.as_ref().and_then(crate::event::Trigger::tier);
            self.strike(Strike { at, sequence, tier, worth, freed: Some(freed) });
        }
    }

    pub(crate) fn strike_for_failure(
        &mut self,
        sequence: &Sequence,
        ending: Ending,
        at: Timestamp,
    ) {
        if ending == Ending::Failed {
            let (sequence, tier, worth) =
                (sequence.id.clone(), sequence.trigger.tier(), sequence.worth);
            self.strike(Strike { at, sequence, tier, worth, freed: None });
        }
    }

    /// One sequence is one strike. Format 1 counted its failure and its compaction apart.
    fn strike(&mut self, strike: Strike) {
        let known = self.strikes.iter().any(|known| known.sequence == strike.sequence);
        if !known || matches!(strike.worth, Worth::OfAll(_)) {
            self.strikes.push(strike);
            let many = self.strikes.len().saturating_sub(MOST_STRIKES as usize);
            self.strikes.drain(..many);
        }
    }
}

fn did_not_help(strikes: &[&Strike]) -> String {
    let freed: Vec<_> = strikes.iter().filter_map(|strike| strike.freed).collect();
    let failed = strikes.len() - freed.len();
    let shares: Vec<_> = freed.iter().map(ToString::to_string).collect();
    let shares = shares.join(", ");
    match (failed, freed.len()) {
        (1, 0) => "the last compaction failed".to_owned(),
        (0, 1) => format!("the last compaction freed only {shares} of what it could"),
        (failed, 0) => format!("the last {failed} compactions failed"),
        (0, freed) => {
            format!("the last {freed} compactions freed only {shares} of what they could")
        }
        (failed, freed) => format!(
            "of the last {} compactions {failed} failed, and the others freed only {shares} of what they could",
            failed + freed
        ),
    }
}

impl LastCompaction {
    /// How much it freed of what it could have, and whether that was enough; `None` while it is not known, and where
    /// there was nothing to be freed.
    fn freed(&self, worth: Worth, floor: Tokens) -> Option<(Percent, bool)> {
        let (before, after) = (self.before?, self.after?);
        let (floor, most) = match worth {
            Worth::AboveFloor(most) => (floor, most),
            Worth::OfAll(most) => (Tokens(0), most),
        };
        let (could, left) = (before.0.saturating_sub(floor.0), after.0.saturating_sub(floor.0));
        let freed = could.saturating_sub(left).saturating_mul(100).checked_div(could);
        // Format 1 compared nothing with nothing, too.
        let freed = freed.or(matches!(worth, Worth::OfAll(_)).then_some(0))?;
        let enough = left.saturating_mul(100) <= could.saturating_mul(u64::from(most));
        Some((Percent(u8::try_from(freed).unwrap_or(100)), enough))
    }
}
