//! A sidecar that goes while the endpoint thinks: the question is put again by whoever takes the thread up, and its
//! answer counts once.

use super::fixture::{
    At, JudgmentFixture, NO, THREAD, WIRES, Wire, YES, is_judge, on_both_wires, performed,
};
use expect_test::expect;
use rawr_protocol::methods::{ThreadClose, ThreadList};
use rawr_protocol::{Phase, ThreadCloseParams, ThreadListParams};
use rawr_tests::mock_endpoint::{Mock, Reply, block_on};

#[test]
fn after_a_crash_the_same_question_is_put_again_and_answered_once() {
    let told = |wire: Wire| {
        let endpoint = Mock::start_apart(vec![Reply::Stall, wire.said(YES).held()]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        assert!(is_judge(&lab.turn(At::Ready)));
        block_on(endpoint.wait_for_requests(1));
        let opened = lab.lose_the_sidecar();
        // The host has nothing to do with it.
        assert_eq!((opened.phase, opened.pending_actions), (Phase::AwaitingJudgment, vec![]));
        block_on(endpoint.wait_for_requests(2));
        let seen = endpoint.seen();
        assert_eq!(seen[0].body, seen[1].body);
        endpoint.let_go();
        let told = lab.story(wire, endpoint.origin());
        assert_eq!(lab.records_of("judgment_answered").len(), 1);
        let totals = lab.totals().unwrap();
        assert_eq!((totals.calls, totals.failures), (1, 0));
        lab.leave();
        told
    };
    on_both_wires(
        told,
        expect![[r#"
        judged by <wire>: yes, the parser is committed
        [compact] 70% left (ready) at commit
        heads-up will_compact
        perform packet_request
        phase awaiting_packet
    "#]],
    );
}

/// In the same sidecar: the request that was under way is of no more use.
#[test]
fn a_thread_that_is_left_and_taken_up_again_is_judged_once() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![Reply::Stall, wire.said(NO)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &["judgment.timeout_seconds = 600"]);
        lab.turn(At::Ready);
        block_on(endpoint.wait_for_requests(1));
        lab.sidecar.call::<ThreadClose>(&ThreadCloseParams { thread_id: THREAD.to_owned() });
        assert_eq!(lab.open().phase, Phase::AwaitingJudgment);
        block_on(endpoint.wait_until_given_up());
        assert_eq!(performed(&lab.settled()), []);
        assert_eq!((lab.records_of("judgment_answered").len(), endpoint.seen().len()), (1, 2));
        lab.leave();
    }
}

#[test]
fn while_nobody_owns_the_thread_an_answer_waits_for_nobody() {
    let told = |wire: Wire| {
        let endpoint = Mock::start_apart(vec![wire.said(YES).held(), wire.said(NO)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        lab.turn(At::Ready);
        block_on(endpoint.wait_for_requests(1));
        lab.sidecar.call::<ThreadClose>(&ThreadCloseParams { thread_id: THREAD.to_owned() });
        lab.sidecar.take_notes();
        let records = lab.records();
        endpoint.let_go();
        // Answered after the reply was: whatever it led to is done.
        lab.sidecar.call::<ThreadList>(&ThreadListParams {});
        assert_eq!(lab.records(), records);
        lab.open();
        let told = lab.story(wire, endpoint.origin());
        lab.leave();
        told
    };
    on_both_wires(
        told,
        expect![[r#"
        judged by <wire>: no, a test is being repaired
        [nothing] <wire>: a test is being repaired
        phase idle
    "#]],
    );
}
