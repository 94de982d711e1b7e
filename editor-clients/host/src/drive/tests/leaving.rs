//! The session is stopped while a message of the user waits: the next driver delivers it, or its text is shown.

use tokio::task::LocalSet;

use super::world::{Lasting, Real, World};
use super::*;

const TASK: &str = "write the parser";
const NEXT: &str = "Great, that works. Next, write the docs of the lexer.";
const LAST: &str = "and its tests";

/// Stops the first session at this event, then continues the conversation with another message. Returns what each session
/// said of its messages, and what the agent was given.
async fn stopped_at(world: World, event: &'static str) -> String {
    let sessions = async {
        let (home, cwd) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (world, real) = (Arc::new(Mutex::new(world)), Real::at(home.path()));
        let mut shown = String::new();
        let ends = world.lock().unwrap().ends_with_driver;
        let sessions: [(&[&str], _); 2] =
            [(&[TASK, NEXT, LAST], Some(event)), (&["hello again"], None)];
        for (prompts, stop_when) in sessions.into_iter().take(if ends { 1 } else { 2 }) {
            let host = Lasting::join(&world, cwd.path().to_owned());
            let done = run_with(host, real.clone(), prompts, stop_when).await;
            shown += &messages(&done);
            shown += &format!("{:?}\n", done.ended.unwrap().ended);
        }
        shown + "--\n" + &world.lock().unwrap().story()
    };
    LocalSet::new().run_until(sessions).await
}

/// The events about messages of the user.
fn messages(done: &Done) -> String {
    let line = |event: &Value| {
        let name = event["event"].as_str()?;
        let is_about = ["user_message", "input_held", "message_left"].contains(&name);
        let kept = event["kept"].as_bool().map(|kept| if kept { " kept" } else { " not sent" });
        let (kept, text) = (kept.unwrap_or_default(), event["text"].as_str());
        is_about.then(|| format!("{name}{kept}: {}\n", text.unwrap_or_default()))
    };
    done.events.iter().filter_map(line).collect()
}

// rule: recovery.kept-at-a-stop
#[tokio::test]
async fn a_message_held_during_the_packet_is_delivered_by_the_next_driver() {
    let world = World { hangs_on: Some(":packet_request]"), ..World::default() };
    expect![[r#"
        user_message: write the parser
        input_held: Great, that works. Next, write the docs of the lexer.
        message_left kept: Great, that works. Next, write the docs of the lexer.
        message_left not sent: and its tests
        Stopped
        user_message: Great, that works. Next, write the docs of the lexer.
        user_message: hello again
        Finished
        --
        write the parser
        [packet_request] (interrupted)
        [packet_request]
        compaction
        [handoff] + Great, that works. Next, write the docs of the lexer.
        hello again
    "#]]
    .assert_eq(&stopped_at(world, "\"injected\"").await);
}

#[tokio::test]
async fn a_message_held_during_the_compaction_is_delivered_by_the_next_driver() {
    let world = World { hangs_in_compaction: true, ..World::default() };
    expect![[r#"
        user_message: write the parser
        input_held: Great, that works. Next, write the docs of the lexer.
        message_left kept: Great, that works. Next, write the docs of the lexer.
        message_left not sent: and its tests
        Stopped
        user_message: Great, that works. Next, write the docs of the lexer.
        user_message: hello again
        Finished
        --
        write the parser
        [packet_request]
        compaction (interrupted)
        compaction
        [handoff] + Great, that works. Next, write the docs of the lexer.
        hello again
    "#]]
    .assert_eq(&stopped_at(world, "\"in_progress\"").await);
}

#[tokio::test]
async fn a_message_of_a_conversation_that_ends_is_shown() {
    let world =
        World { hangs_on: Some(":packet_request]"), ends_with_driver: true, ..World::default() };
    expect![[r#"
        user_message: write the parser
        input_held: Great, that works. Next, write the docs of the lexer.
        message_left not sent: Great, that works. Next, write the docs of the lexer.
        message_left not sent: and its tests
        Stopped
        --
        write the parser
        [packet_request] (interrupted)
    "#]]
    .assert_eq(&stopped_at(world, "\"injected\"").await);
}

/// A message that was refused by the agent's provider counts, whatever follows it.
#[tokio::test]
async fn a_session_with_a_failed_prompt_is_unfinished() {
    for (fails_on, expected) in [
        (None, SessionEnd::Finished),
        (Some("docs"), SessionEnd::Unfinished),
        // rawr writes that packet itself.
        (Some(":packet_request]"), SessionEnd::Finished),
    ] {
        let session = async {
            let (home, cwd) = (TempDir::new().unwrap(), TempDir::new().unwrap());
            let world = Arc::new(Mutex::new(World { fails_on, ..World::default() }));
            let host = Lasting::join(&world, cwd.path().to_owned());
            let done = run_with(host, Real::at(home.path()), &[TASK, NEXT, LAST], None).await;
            let world = world.lock().unwrap();
            assert_eq!(done.ended.unwrap().ended, expected, "{}", world.story());
            assert_eq!((world.heard(NEXT), world.heard(LAST)), (1, 1));
        };
        LocalSet::new().run_until(session).await;
    }
}
