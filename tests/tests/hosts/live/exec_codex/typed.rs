//! A person types at `rawr exec --host codex` on a terminal.

use rawr_tests::mock_responses::ReplyGate;

use super::fixture::{CodexExecFixture, PACKET};
use super::session;
use crate::fixture::{TYPED, type_during_the_packet};

#[test]
fn a_message_typed_during_the_packet_comes_with_the_handoff() {
    let gate = ReplyGate::new();
    let fixture = CodexExecFixture::new(session(PACKET).behind("packet_request]", 0, &gate));
    fixture.configure("");
    let is_asked = |marker: &str| {
        let requests = fixture.model.requests();
        requests.iter().filter(|request| request.marker.as_deref() == Some(marker)).count()
    };
    type_during_the_packet(&fixture.command(&[]), &gate, || is_asked("packet_request]") > 0);
    assert_eq!(is_asked("packet_request]"), 1);
    let last = fixture.model.requests().pop().unwrap();
    let said = last.user_messages();
    let at = |words: &str| said.iter().position(|text| text.contains(words));
    let times = said.iter().map(|text| text.matches(TYPED).count()).sum::<usize>();
    assert!(at(":handoff]") <= at(TYPED) && times == 1, "{said:#?}");
}
