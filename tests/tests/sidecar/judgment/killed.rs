//! The sidecar is killed during a judgment: the next owner asks the same question again, and its answer counts once.

use super::fixture::{
    JudgmentFixture, NO, THREAD, TestedApi, TierPressure, WIRES, YES, is_judge, on_both_wires,
    performed,
};
use expect_test::expect;
use rawr_protocol::methods::{ThreadClose, ThreadList};
use rawr_protocol::{Phase, ThreadCloseParams, ThreadListParams};
use rawr_tests::mock_endpoint::{Mock, ScriptedReply, block_on};

#[test]
fn after_a_crash_the_question_is_repeated_and_answered_once() {
    let told = |wire: TestedApi| {
        let endpoint = Mock::start_apart(vec![ScriptedReply::Stall, wire.said(YES).held()]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        assert!(is_judge(&lab.turn(TierPressure::Ready)));
        block_on(endpoint.wait_for_requests(1));
        let opened = lab.lose_the_sidecar();
        // The host has nothing to do.
        assert_eq!((opened.phase, opened.pending_actions), (Phase::AwaitingJudgment, vec![]));
        block_on(endpoint.wait_for_requests(2));
        let seen = endpoint.seen();
        assert_eq!(seen[0].body, seen[1].body);
        endpoint.release();
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

/// In the same sidecar: the running request is not needed any more.
#[test]
fn a_thread_that_is_closed_and_reopened_is_judged_once() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![ScriptedReply::Stall, wire.said(NO)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &["judgment.timeout_seconds = 600"]);
        lab.turn(TierPressure::Ready);
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
fn the_answer_for_a_thread_without_an_owner_is_dropped() {
    let told = |wire: TestedApi| {
        let endpoint = Mock::start_apart(vec![wire.said(YES).held(), wire.said(NO)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        lab.turn(TierPressure::Ready);
        block_on(endpoint.wait_for_requests(1));
        lab.sidecar.call::<ThreadClose>(&ThreadCloseParams { thread_id: THREAD.to_owned() });
        lab.sidecar.take_notes();
        let records = lab.records();
        endpoint.release();
        // Answered after the reply, so that its effects are done.
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
