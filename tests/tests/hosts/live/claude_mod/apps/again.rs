//! An app's session goes on in another process in the middle of a sequence.

use rawr_tests::wait_until;
use serde_json::json;

use super::super::fixture::{HERE, NEXT, PACKET_REQUEST, PROPOSED, agent};
use super::fixture::{App, in_an_app};

#[test]
fn a_proposal_and_its_packet_outlive_the_process_of_an_app() {
    let fixture = in_an_app(agent());
    let app = App::proposed(&fixture);
    wait_until("the packet", || fixture.events().contains("Next: write the docs of parser.txt"));
    let session_id = fixture.session_id();
    app.ends();
    let mut app = App::start_with(&fixture, &json!({ "resume": session_id }));
    app.wait_for(PROPOSED);
    app.says(NEXT);
    app.wait_for(HERE);
    app.ends();
    fixture.handed_over_before(NEXT);
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.compactions_by("rawr")), (1, 1));
    assert_eq!((fixture.asked("AND-NOW"), fixture.asked(PACKET_REQUEST)), (1, 1));
}
