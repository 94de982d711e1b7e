//! When the repository is inspected.

use crate::jobs::{Job, JobResult};
use crate::registry::OpenThread;
use crate::registry::tests::{NOW, TestHome, opening};
use rawr_core::Input;
use rawr_core::machine::ProcessRole;
use rawr_core::units::Timestamp;
use serde_json::json;

const CALM: u64 = 100;
/// In a window of 190,000 tokens, this leaves less than any tier.
const PRESSURE: u64 = 180_000;

struct ThreadFixture<'h> {
    home: &'h TestHome,
    thread: OpenThread,
    turns: u32,
}

impl<'h> ThreadFixture<'h> {
    async fn open(home: &'h TestHome, role: ProcessRole) -> Self {
        let mut thread = OpenThread::read(&home.context(), &opening(role)).await.unwrap();
        thread.open_for_client(opening(role)).await.unwrap();
        thread.commit().await.unwrap();
        Self { home, thread, turns: 0 }
    }

    fn looks(&mut self) -> usize {
        let jobs = self.thread.take_jobs();
        jobs.iter().filter(|job| matches!(job, Job::Observe { .. })).count()
    }

    async fn saw(&mut self, event: serde_json::Value, at: Timestamp) {
        self.home.set_clock(at);
        let event = serde_json::from_value(event).unwrap();
        self.thread.handle(Input::Saw(event)).await.unwrap();
        self.thread.commit().await.unwrap();
    }

    /// The number of inspections after the next turn.
    async fn turn(&mut self, context: u64, at: Timestamp) -> usize {
        self.turns += 1;
        let turn = format!("t{}", self.turns);
        self.saw(json!({ "turn_started": { "turn": turn, "origin": "user" } }), at).await;
        let usage = json!({ "context": context });
        let completed = json!({ "turn": turn, "status": "completed", "usage": usage });
        self.saw(json!({ "turn_completed": completed }), at).await;
        self.looks()
    }
}

#[tokio::test]
async fn the_repository_is_inspected_under_pressure_at_a_boundary_and_after_a_minute() {
    let home = TestHome::new();
    let mut lab = ThreadFixture::open(&home, ProcessRole::Owner).await;
    assert_eq!(lab.looks(), 1, "at the opening");
    assert_eq!(lab.turn(CALM, NOW).await, 0);
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(60)).await, 1, "a minute later");
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(119)).await, 0);
    assert_eq!(lab.turn(PRESSURE, NOW.plus_seconds(119)).await, 1, "under pressure");
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(119)).await, 0);
    lab.saw(json!({ "commit_made": { "subject": "parser" } }), NOW.plus_seconds(119)).await;
    assert_eq!(lab.looks(), 0, "before the turn ends");
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(119)).await, 1, "at a boundary");
}

#[tokio::test]
async fn a_repository_that_cannot_be_inspected_is_retried_after_a_minute() {
    let home = TestHome::new();
    let mut lab = ThreadFixture::open(&home, ProcessRole::Owner).await;
    assert_eq!(lab.looks(), 1);
    lab.thread.finish_job(JobResult::Observed(None)).await;
    assert_eq!(lab.turn(PRESSURE, NOW.plus_seconds(59)).await, 0);
    assert_eq!(lab.turn(PRESSURE, NOW.plus_seconds(60)).await, 1);
}

#[tokio::test]
async fn a_folder_without_a_repository_is_looked_at_after_each_turn() {
    let home = TestHome::new();
    let mut lab = ThreadFixture::open(&home, ProcessRole::Owner).await;
    assert_eq!(lab.looks(), 1);
    lab.thread.finish_job(JobResult::NoRepository).await;
    assert_eq!(lab.turn(CALM, NOW.plus_seconds(1)).await, 1);
}

#[tokio::test]
async fn only_the_owner_inspects_the_repository() {
    let home = TestHome::new();
    let mut owner = ThreadFixture::open(&home, ProcessRole::Owner).await;
    let mut observer = ThreadFixture::open(&home, ProcessRole::Observer).await;
    assert_eq!((owner.looks(), observer.looks()), (1, 0));
    assert_eq!(observer.turn(PRESSURE, NOW).await, 0);
}
