//! Sessions without a screen, as the desktop app and the extension for VS Code run them: with Anthropic's own client.

use std::io::Write;
use std::process::{Child, Stdio};

use rawr_tests::wait_until;

use super::fixture::{ModFixture, NEXT, PACKET_REQUEST, TASK, agent};

struct App {
    fixture: ModFixture,
    client: Child,
}

impl App {
    fn start(entrypoint: &'static str) -> Self {
        let fixture = ModFixture::new(agent()).with_variable("CLAUDE_CODE_ENTRYPOINT", entrypoint);
        let mut command = fixture.sdk_command();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let client = command.spawn().unwrap();
        Self { fixture, client }
    }

    fn says(&mut self, text: &str) {
        writeln!(self.client.stdin.as_mut().unwrap(), "{text}").unwrap();
    }

    fn is_proposed(&mut self) {
        self.says(TASK);
        wait_until("a proposal", || self.fixture.events().contains(r#""outcome":"defer""#));
        self.fixture.until_asked(PACKET_REQUEST);
    }

    fn ends(mut self) -> ModFixture {
        drop(self.client.stdin.take());
        assert!(self.client.wait().unwrap().success());
        self.fixture
    }
}

#[test]
fn a_confirmed_proposal_is_compacted_before_the_message_in_an_app() {
    let mut app = App::start("claude-vscode");
    app.is_proposed();
    app.says(NEXT);
    app.fixture.until_asked("AND-NOW");
    let fixture = app.ends();
    fixture.until_rewritten(1);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 1));
    fixture.handed_over_before(NEXT);
    assert_eq!(fixture.compactions_by("rawr"), 1);
}

#[test]
fn a_person_compacts_a_session_of_an_app_from_a_terminal() {
    let mut app = App::start("claude-desktop");
    app.is_proposed();
    app.fixture.says(&["compact", "last"]);
    app.fixture.until_asked("[rawr:");
    let fixture = app.ends();
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.compactions_by("rawr")), (1, 1));
}

/// Scripts and one-shot commands.
#[test]
fn a_program_that_is_no_app_is_left_alone() {
    let mut app = App::start("sdk-cli");
    app.says(TASK);
    app.fixture.until_asked("WRITE-PARSER");
    let fixture = app.ends();
    assert_eq!(fixture.events(), "");
}
