//! A person types at `rawr exec --host claude` on a terminal.

use rawr_tests::configure_with_spec;
use rawr_tests::mock_responses::ReplyGate;

use super::fixture::ClaudeExecFixture;
use super::session;
use crate::fixture::{TYPED, type_during_the_packet};

#[test]
fn a_message_typed_during_the_packet_comes_with_the_handoff() {
    let gate = ReplyGate::new();
    let fixture = ClaudeExecFixture::new(session().behind("packet_request]", 0, &gate));
    let home = fixture.home.path().join(".rawr");
    std::fs::create_dir_all(&home).unwrap();
    configure_with_spec(&home, "");
    let is_asked = |marker: &str| {
        let requests = fixture.model.requests();
        requests.iter().filter(|request| request.marker.as_deref() == Some(marker)).count()
    };
    type_during_the_packet(&fixture.command(&[]), &gate, || is_asked("packet_request]") > 0);
    assert_eq!(is_asked("packet_request]"), 1);
    let said = fixture.model.requests().pop().unwrap().transcript().join("\n");
    let at = |words: &str| said.find(words);
    assert!(at(":handoff]") < at(TYPED) && said.matches(TYPED).count() == 1, "{said}");
}
