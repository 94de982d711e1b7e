//! A goal that a person gave Codex: it starts a turn whenever none runs, so that nothing else finds a quiet moment. rawr pauses
//! it for as long as a sequence takes. Sends nothing itself.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Goal {
    stand: GoalState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum GoalState {
    /// None, or one that starts nothing.
    #[default]
    Quiet,
    Active,
    /// By rawr, and nobody has touched it since.
    Paused,
    /// The same, by a rawr before this one, or by one that has the thread.
    FoundPaused,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoalNote {
    goal: Option<GoalStatus>,
    /// The turn that has used something, or has set the status; `None` for what a person sets.
    turn_id: Option<String>,
}

#[derive(Deserialize)]
struct GoalStatus {
    status: String,
}

pub(super) const ACTIVE: &str = "active";
pub(super) const PAUSED: &str = "paused";

impl Goal {
    /// What Codex tells of it, asked or not. `null` is no goal.
    pub(super) fn told(&mut self, about: Value) {
        let about = serde_json::from_value::<GoalNote>(about).ok();
        let is_of_a_turn = about.as_ref().is_some_and(|about| about.turn_id.is_some());
        let goal = about.and_then(|about| about.goal);
        self.stand = match goal.as_ref().map(|goal| goal.status.as_str()) {
            // No turn resumes a paused goal: what it used was counted before the pause, and is reported after it.
            Some(ACTIVE) if is_of_a_turn && self.is_owed() => self.stand,
            Some(ACTIVE) => GoalState::Active,
            Some(PAUSED) if self.is_owed() => self.stand,
            _ => GoalState::Quiet,
        };
    }

    pub(super) fn is_active(&self) -> bool {
        self.stand == GoalState::Active
    }

    pub(super) fn paused(&mut self) {
        self.stand = GoalState::Paused;
    }

    /// As another rawr has left it.
    pub(super) fn found_paused(&mut self) {
        self.stand = GoalState::FoundPaused;
    }

    pub(super) fn is_owed(&self) -> bool {
        matches!(self.stand, GoalState::Paused | GoalState::FoundPaused)
    }

    /// Whether it is not ours to set going, should we have no part in the thread.
    pub(super) fn is_anothers(&self) -> bool {
        self.stand == GoalState::FoundPaused
    }

    /// Whether it has to be set going again. Asked once.
    pub(super) fn resume(&mut self) -> bool {
        let owed = self.is_owed();
        if owed {
            self.stand = GoalState::Quiet;
        }
        owed
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(steps: &[&str], resumes: bool) {
        let mut goal = Goal::default();
        for step in steps {
            match *step {
                "pause" if goal.is_active() => goal.paused(),
                "pause" => {}
                "find" => goal.found_paused(),
                "none" => goal.told(json!({"goal": null})),
                "counted" => goal.told(json!({"turnId": "t1", "goal": {"status": "active"}})),
                "done" => goal.told(json!({"turnId": "t1", "goal": {"status": "complete"}})),
                status => goal.told(json!({"turnId": null, "goal": {"status": status}})),
            }
        }
        assert_eq!(goal.resume(), resumes, "{steps:?}");
        assert!(!goal.resume());
    }

    #[test]
    fn what_rawr_paused_and_nobody_has_touched_is_set_going_again() {
        check(&["active", "pause", "paused"], true);
        check(&["active", "pause"], true);
        check(&["paused", "pause"], false);
        check(&["active", "pause", "paused", "active"], false);
        check(&["active", "pause", "complete"], false);
        check(&["active", "pause", "none"], false);
        check(&[], false);
        check(&["paused", "find", "paused"], true);
        check(&["paused", "find", "active"], false);
    }

    #[test]
    fn what_a_turn_has_used_is_no_word_of_a_person() {
        check(&["counted", "pause"], true);
        check(&["active", "pause", "counted", "paused"], true);
        check(&["active", "pause", "paused", "counted"], true);
        check(&["paused", "find", "counted"], true);
        check(&["active", "pause", "counted", "active"], false);
        check(&["active", "pause", "paused", "done"], false);
    }
}
