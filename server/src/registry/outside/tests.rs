//! When the repository is inspected.

use crate::jobs::{Job, JobResult};
use crate::registry::work::tests::{NOW, opening, registry};
use crate::registry::{Opening, RegistryError, ThreadRegistry};
use rawr_core::Input;
use rawr_core::machine::ProcessRole;
use rawr_core::units::{ThreadId, Timestamp};
use serde_json::json;
use tempfile::TempDir;

const CALM: u64 = 100;
/// In a window of 190,000 tokens, this leaves less than any tier.
const PRESSURE: u64 = 180_000;

struct RegistryFixture {
    registry: ThreadRegistry,
    turns: u32,
}

fn id() -> ThreadId {
    ThreadId::new("a")
}

impl RegistryFixture {
    fn open(home: &TempDir, role: ProcessRole) -> Self {
        let (mut registry, _) = registry(home);
        let opening = || Opening { thread: id(), ..opening(role) };
        assert!(matches!(registry.open(opening(), NOW), Err(RegistryError::Busy(_))));
        registry.settle(NOW);
        registry.open(opening(), NOW).unwrap();
        registry.settle(NOW);
        Self { registry, turns: 0 }
    }

    fn looks(&mut self) -> usize {
        let jobs = self.registry.take_jobs();
        jobs.iter().filter(|job| matches!(job, Job::Observe { .. })).count()
    }

    fn saw(&mut self, event: serde_json::Value, at: Timestamp) {
        let event = serde_json::from_value(event).unwrap();
        self.registry.handle(&id(), Input::Saw(event), at).unwrap();
        self.registry.settle(at);
    }

    /// The number of inspections after the next turn.
    fn turn(&mut self, context: u64, at: Timestamp) -> usize {
        self.turns += 1;
        let turn = format!("t{}", self.turns);
        self.saw(json!({ "turn_started": { "turn": turn, "origin": "user" } }), at);
        let usage = json!({ "context": context });
        let completed = json!({ "turn": turn, "status": "completed", "usage": usage });
        self.saw(json!({ "turn_completed": completed }), at);
        self.looks()
    }
}

#[test]
fn the_repository_is_inspected_under_pressure_at_a_boundary_and_after_a_minute() {
    let home = TempDir::new().unwrap();
    let mut lab = RegistryFixture::open(&home, ProcessRole::Owner);
    assert_eq!(lab.looks(), 1, "at the opening");
    assert_eq!(lab.turn(CALM, NOW), 0);
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(60)), 1, "a minute later");
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(119)), 0);
    assert_eq!(lab.turn(PRESSURE, NOW.plus_seconds(119)), 1, "under pressure");
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(119)), 0);
    lab.saw(json!({ "commit_made": { "subject": "parser" } }), NOW.plus_seconds(119));
    assert_eq!(lab.looks(), 0, "before the turn ends");
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(119)), 1, "at a boundary");
}

#[test]
fn a_repository_that_cannot_be_inspected_is_retried_after_a_minute() {
    let home = TempDir::new().unwrap();
    let mut lab = RegistryFixture::open(&home, ProcessRole::Owner);
    assert_eq!(lab.looks(), 1);
    lab.registry.done(JobResult::Observed { thread: id(), seen: None }, NOW);
    assert_eq!(lab.turn(PRESSURE, NOW.plus_seconds(59)), 0);
    assert_eq!(lab.turn(PRESSURE, NOW.plus_seconds(60)), 1);
}

#[test]
fn a_folder_without_a_repository_is_looked_at_after_each_turn() {
    let home = TempDir::new().unwrap();
    let mut lab = RegistryFixture::open(&home, ProcessRole::Owner);
    assert_eq!(lab.looks(), 1);
    lab.registry.done(JobResult::NoRepository { thread: id() }, NOW);
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(1)), 1);
}

#[test]
fn only_the_owner_inspects_the_repository() {
    let home = TempDir::new().unwrap();
    let mut owner = RegistryFixture::open(&home, ProcessRole::Owner);
    let mut observer = RegistryFixture::open(&home, ProcessRole::Observer);
    assert_eq!((owner.looks(), observer.looks()), (1, 0));
    assert_eq!(observer.turn(PRESSURE, NOW), 0);
}
