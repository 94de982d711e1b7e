//! The names of gates, for files and for people. Evaluates nothing.

use super::{GATES, Gate};

impl Gate {
    /// Every gate, in the order of evaluation.
    pub const ALL: [Self; GATES.len()] = {
        let mut all = [Self::Feature; GATES.len()];
        let mut at = 0;
        while at < GATES.len() {
            all[at] = GATES[at].0;
            at += 1;
        }
        all
    };

    /// The name on disk, on the wire and in policy tests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Pressure => "pressure",
            Self::Origin => "origin",
            Self::ModeOfHost => "mode_of_host",
            Self::Guard => "guard",
            Self::Breaker => "breaker",
            Self::Rearm => "rearm",
            Self::Cooldown => "cooldown",
            Self::Boundary => "boundary",
            Self::WeakBoundary => "weak_boundary",
            Self::SemanticBreak => "semantic_break",
            Self::ActiveWork => "active_work",
            Self::PacketWorth => "packet_worth",
            Self::Confirmation => "confirmation",
            Self::Judgment => "judgment",
            Self::Mode => "mode",
        }
    }

    /// The inverse of [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gate| gate.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_has_the_same_name_on_disk_and_for_people() {
        for gate in Gate::ALL {
            assert_eq!(serde_json::to_value(gate).unwrap(), gate.name());
            assert_eq!(Gate::from_name(gate.name()), Some(gate));
        }
    }
}
