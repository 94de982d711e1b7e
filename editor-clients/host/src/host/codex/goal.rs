//! The state of a user's Codex goal. A goal starts a turn whenever none runs, so rawr pauses it during a sequence. Pure.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Goal {
    stand: GoalState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum GoalState {
    /// No goal, or one that does not start turns.
    #[default]
    Quiet,
    Active,
    /// Paused by rawr and unchanged since.
    Paused,
    /// Paused by another rawr process and unchanged since.
    FoundPaused,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoalNote {
    goal: Option<GoalStatus>,
    /// The turn that caused the notification; `None` if a user changed the goal.
    turn_id: Option<String>,
}

#[derive(Deserialize)]
struct GoalStatus {
    status: String,
}

pub(super) const ACTIVE: &str = "active";
pub(super) const PAUSED: &str = "paused";

impl Goal {
    /// Handles Codex's report of the goal. `null` means no goal.
    pub(super) fn told(&mut self, about: Value) {
        let about = serde_json::from_value::<GoalNote>(about).ok();
        let is_of_a_turn = about.as_ref().is_some_and(|about| about.turn_id.is_some());
        let goal = about.and_then(|about| about.goal);
        self.stand = match goal.as_ref().map(|goal| goal.status.as_str()) {
            // A turn cannot resume a paused goal: this report is about usage from before the pause.
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

    /// The goal was found paused by another rawr process.
    pub(super) fn found_paused(&mut self) {
        self.stand = GoalState::FoundPaused;
    }

    pub(super) fn is_owed(&self) -> bool {
        matches!(self.stand, GoalState::Paused | GoalState::FoundPaused)
    }

    /// Whether another rawr process paused it.
    pub(super) fn is_anothers(&self) -> bool {
        self.stand == GoalState::FoundPaused
    }

    /// Whether it must be resumed. True once.
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
    fn an_unchanged_goal_that_rawr_paused_is_resumed() {
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
    fn a_usage_report_does_not_count_as_a_change_by_the_user() {
        check(&["counted", "pause"], true);
        check(&["active", "pause", "counted", "paused"], true);
        check(&["active", "pause", "paused", "counted"], true);
        check(&["paused", "find", "counted"], true);
        check(&["active", "pause", "counted", "active"], false);
        check(&["active", "pause", "paused", "done"], false);
    }
}
