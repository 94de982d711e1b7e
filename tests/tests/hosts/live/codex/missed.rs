//! Turns that ended before rawr joined their thread: reported once if rawr was attached when they started.

use rawr_tests::mock_responses::reply;
use rawr_tests::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use super::fixture::{GOES_ON, LiveFixture, TASK, agent};
use super::person::Beside;

/// The process is there, and joins nothing for now.
fn stop(beside: &Beside) {
    let attached = beside.fixture.home.path().join("rawr/attached");
    wait_until("rawr", || std::fs::read_dir(&attached).is_ok_and(|mut all| all.next().is_some()));
    kill_process(Pid::from_child(&beside.rawr), Signal::STOP).unwrap();
}

fn resume(beside: &Beside) {
    kill_process(Pid::from_child(&beside.rawr), Signal::CONT).unwrap();
}

/// The only process that the driver starts.
pub fn sidecar(beside: &Beside) -> Option<Pid> {
    let driver = beside.rawr.id();
    let children = std::fs::read_to_string(format!("/proc/{driver}/task/{driver}/children"));
    Pid::from_raw(children.ok()?.split_whitespace().next()?.parse().ok()?)
}

#[tokio::test]
async fn a_first_turn_that_ended_before_its_thread_was_joined_is_reported() {
    let end = reply("the end").input_tokens(22_000);
    let mut beside = Beside::new(agent().on("LAST-WORD", [end])).await;
    stop(&beside);
    beside.person.says(TASK).await.unwrap();
    beside.person.hears("The parser is written.").await;
    resume(&beside);
    beside.person.hears(GOES_ON).await;
    let said = beside.tells("user_message", |_| true).await;
    assert_eq!(said["text"], TASK);
    let verdict = beside.tells("verdict", |told| told["outcome"] == "compact").await;
    assert!(verdict.to_string().contains("commit"), "{verdict}");
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    beside.compacted(1);
}

/// As where it was idle for days.
#[tokio::test]
async fn a_turn_from_before_rawr_attached_is_not_reported() {
    let script = agent().on("AND-THEN", [reply("Which file do you mean?").input_tokens(143_500)]);
    let mut beside = Beside::new(script).await;
    beside.leave();
    beside.person.says(TASK).await.unwrap();
    beside.person.hears("The parser is written.").await;
    beside.attach_again();
    beside.tells("session", |_| true).await;
    beside.person.says("AND-THEN").await.unwrap();
    beside.person.hears("Which file do you mean?").await;
    let last = beside.tells("turn_completed", |_| true).await;
    let verdicts = || beside.told().into_iter().filter(|told| told["event"] == "verdict");
    assert!(verdicts().all(|told| told["outcome"] != "compact"), "{last} {}", beside.dump());
    assert!(beside.told().iter().all(|told| told["text"] != TASK), "{}", beside.dump());
    beside.compacted(0);
}

/// The driver joins the thread once more where its sidecar goes on dying.
#[tokio::test]
async fn a_turn_is_reported_once() {
    let fixture = LiveFixture::new(
        agent().on("AND-THEN", [reply("Which file do you mean?").input_tokens(143_500)]),
    );
    fixture.set("[rawr_auto_compaction]\nmode = \"suggest\"\n");
    let mut beside = Beside::in_fixture(fixture, &[]).await;
    stop(&beside);
    beside.person.says(TASK).await.unwrap();
    beside.person.hears("The parser is written.").await;
    resume(&beside);
    beside.tells("verdict", |told| told["outcome"] == "suggest").await;
    for _ in 0..2 {
        let before = sidecar(&beside).unwrap();
        kill_process(before, Signal::KILL).unwrap();
        wait_until("another one", || sidecar(&beside).is_some_and(|now| now != before));
    }
    let sessions = || beside.told().iter().filter(|told| told["event"] == "session").count();
    wait_until("a session that begins again", || sessions() > 1);
    beside.person.says("AND-THEN").await.unwrap();
    beside.person.hears("Which file do you mean?").await;
    let threads = beside.fixture.home.path().join("rawr/auto_compaction/threads");
    let log = threads.join(&beside.person.thread_id).join("events.jsonl");
    let times = |words: &str| std::fs::read_to_string(&log).unwrap().matches(words).count();
    // What is decided at the end of a turn is written with that.
    wait_until("the end of its turn", || times("{\"turn_completed\":{") == 2);
    assert_eq!(times("\"outcome\":\"suggest\""), 1, "{}", beside.dump());
}
