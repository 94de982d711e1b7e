//! A judge behind an endpoint at the end of a turn: what follows from a yes, a no and no answer, and that other
//! requests are served meanwhile.

use super::fixture::{
    JudgmentFixture, KEY, NO, SAID, THREAD, TestedApi, TierPressure, WIRES, YES, is_judge,
    on_both_wires, performed, to_endpoint,
};
use expect_test::{Expect, expect};
use rawr_protocol::methods::{ActionPerform, ThreadList, ThreadOpen, TurnStarted};
use rawr_protocol::{
    Disposition, ErrorCode, Gate, GateOutcome, InputKind, Notification, Outcome, Phase, Role,
    ThreadListParams, TurnOrigin, TurnStartedParams,
};
use rawr_tests::mock_endpoint::{Mock, ScriptedReply, block_on, reply};
use std::fs::File;
use std::net::TcpListener;
use std::time::Duration;

/// The notifications of one turn's end at `ready`, and the number of requests.
fn check(replies: impl Fn(TestedApi) -> Vec<ScriptedReply>, requests: usize, expected: Expect) {
    let told = |wire: TestedApi| {
        let endpoint = Mock::start_apart(replies(wire));
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        assert!(is_judge(&lab.turn(TierPressure::Ready)));
        let told = lab.story(wire, endpoint.origin());
        assert_eq!(endpoint.seen().len(), requests, "{wire:?}");
        lab.leave();
        told
    };
    on_both_wires(told, expected);
}

/// The notifications of a turn's end at each tier, if no answer comes.
fn check_failing(reply: impl Fn(TestedApi) -> ScriptedReply, more: &[&str], expected: Expect) {
    let told = |wire: TestedApi| {
        let endpoint = Mock::start_apart(vec![reply(wire), reply(wire), reply(wire)]);
        let told = each_tier(JudgmentFixture::on(&endpoint, wire, more), wire, endpoint.origin());
        assert_eq!(endpoint.seen().len(), 3, "{wire:?}");
        told
    };
    on_both_wires(told, expected);
}

fn each_tier(mut lab: JudgmentFixture, wire: TestedApi, origin: &str) -> String {
    let mut told = String::new();
    for at in [TierPressure::Early, TierPressure::Ready, TierPressure::Asap] {
        assert!(is_judge(&lab.turn(at)));
        told.push_str(&lab.story(wire, origin));
    }
    lab.leave();
    told
}

#[test]
fn an_endpoints_yes_starts_the_sequence() {
    check(
        |wire| vec![wire.said(YES)],
        1,
        expect![[r#"
        [judge] 70% left (ready) at commit; the judge is asked
        asked at ready
        phase awaiting_judgment
        judged by <wire>: yes, the parser is committed
        [compact] 70% left (ready) at commit
        heads-up will_compact
        perform packet_request
        phase awaiting_packet
    "#]],
    );
}

#[test]
fn an_endpoints_no_starts_nothing() {
    check(
        |wire| vec![wire.said(NO)],
        1,
        expect![[r#"
        [judge] 70% left (ready) at commit; the judge is asked
        asked at ready
        phase awaiting_judgment
        judged by <wire>: no, a test is being repaired
        [nothing] <wire>: a test is being repaired
        phase idle
    "#]],
    );
}

#[test]
fn a_busy_endpoint_is_retried_and_its_answer_counts() {
    let busy = || reply(429, r#"{"error": {"message": "slow down"}}"#).with("retry-after", "0");
    check(
        |wire| vec![busy(), busy(), wire.said(YES)],
        3,
        expect![[r#"
        [judge] 70% left (ready) at commit; the judge is asked
        asked at ready
        phase awaiting_judgment
        judged by <wire>: yes, the parser is committed
        [compact] 70% left (ready) at commit
        heads-up will_compact
        perform packet_request
        phase awaiting_packet
    "#]],
    );
}

/// The lock cannot be obtained, so that the thread's files are not retried for a while. Then the judge answers.
#[test]
fn an_answer_is_kept_while_another_process_holds_the_log() {
    let wire = TestedApi::Responses;
    let endpoint = Mock::start_apart(vec![wire.said(YES).held(), wire.said(NO)]);
    let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
    assert!(is_judge(&lab.turn(TierPressure::Ready)));
    block_on(endpoint.wait_for_request());
    let log = File::open(lab.home.events(THREAD)).unwrap();
    log.lock().unwrap();
    let started = TurnStartedParams {
        thread_id: THREAD.to_owned(),
        turn_id: "t9".to_owned(),
        origin: TurnOrigin::Host,
        action_id: None,
        text: None,
    };
    assert_eq!(lab.sidecar.failure::<TurnStarted>(&started).code, ErrorCode::StoreFailed);
    endpoint.release();
    for _ in 0..100 {
        if lab.sidecar.log().contains("what was found out") {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(log);
    while lab.sidecar.next_note().method != ActionPerform::METHOD {}
    assert_eq!(endpoint.seen().len(), 1, "the judge is not asked again");
    // Notifications of the order come before this answer.
    lab.sidecar.call::<ThreadList>(&ThreadListParams {});
    lab.sidecar.take_notes();
    lab.leave();
}

#[test]
fn the_explanation_contains_the_judges_reason() {
    for wire in WIRES {
        for (text, outcome, gate, reason) in [
            (YES, Outcome::Compact, GateOutcome::Pass, "the parser is committed"),
            (NO, Outcome::Nothing, GateOutcome::Fail, "a test is being repaired"),
        ] {
            let endpoint = Mock::start_apart(vec![wire.said(text)]);
            let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
            lab.turn(TierPressure::Ready);
            lab.settled();
            let decision = lab.explain();
            assert_eq!(decision.outcome, outcome);
            let judge = decision.gates.iter().find(|found| found.gate == Gate::Judgment).unwrap();
            assert_eq!(judge.outcome, gate);
            assert_eq!(judge.evidence, format!("{}: {reason}", wire.name()));
            let judgment = decision.judgment.unwrap();
            assert_eq!(judgment.reason, reason);
            assert_eq!(judgment.source.as_str(), wire.name());
            assert!(judgment.request_id.is_some_and(|name| name.starts_with("j-")));
            lab.leave();
        }
    }
}

#[test]
fn the_request_contains_the_prompt_the_case_and_the_key() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![wire.said(NO)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        lab.turn(TierPressure::Ready);
        assert_eq!(performed(&lab.settled()), []);
        let seen = &endpoint.seen()[0];
        let body = seen.body.to_string();
        for words in [
            "You decide whether a coding agent's context may be compacted now.",
            "Tier: ready",
            "remaining: 70 percent",
            r#"[\"commit\"]"#,
            "Write the parser",
            SAID,
            "should_compact",
        ] {
            assert!(body.contains(words), "{words}: {body}");
        }
        assert_eq!(seen.authorization, Some(format!("Bearer {KEY}")));
        lab.leave();
    }
}

#[test]
fn an_answer_that_is_not_json_does_not_count() {
    check_failing(
        |wire| wire.said("Sure, go on!"),
        &[],
        expect![[r#"
            [judge] 80% left (early) at pull request; the judge is asked
            asked at early
            phase awaiting_judgment
            judged by <wire>: no answer: the model's answer is not JSON: expected value at line 1 column 1
            [defer] <wire> gave no answer: the model's answer is not JSON: expected value at line 1 column 1
            phase idle
            [judge] 70% left (ready) at commit; the judge is asked
            asked at ready
            phase awaiting_judgment
            judged by <wire>: no answer: the model's answer is not JSON: expected value at line 1 column 1
            [defer] <wire> gave no answer: the model's answer is not JSON: expected value at line 1 column 1
            phase idle
            [judge] 50% left (asap) at commit; the judge is asked
            asked at asap
            phase awaiting_judgment
            judged by <wire>: no answer: the model's answer is not JSON: expected value at line 1 column 1
            [compact] 50% left (asap) at commit
            heads-up will_compact
            perform packet_request
            phase awaiting_packet
        "#]],
    );
}

#[test]
fn an_answer_that_violates_the_schema_does_not_count() {
    let text = r#"{"should_compact": "yes", "reason": "committed"}"#;
    check_failing(
        |wire| wire.said(text),
        &[],
        expect![[r#"
            [judge] 80% left (early) at pull request; the judge is asked
            asked at early
            phase awaiting_judgment
            judged by <wire>: no answer: the model's answer does not match the schema: invalid type: string "yes", expected a boolean at line 1 column 24
            [defer] <wire> gave no answer: the model's answer does not match the schema: invalid type: string "yes", expected a boolean at line 1 column 24
            phase idle
            [judge] 70% left (ready) at commit; the judge is asked
            asked at ready
            phase awaiting_judgment
            judged by <wire>: no answer: the model's answer does not match the schema: invalid type: string "yes", expected a boolean at line 1 column 24
            [defer] <wire> gave no answer: the model's answer does not match the schema: invalid type: string "yes", expected a boolean at line 1 column 24
            phase idle
            [judge] 50% left (asap) at commit; the judge is asked
            asked at asap
            phase awaiting_judgment
            judged by <wire>: no answer: the model's answer does not match the schema: invalid type: string "yes", expected a boolean at line 1 column 24
            [compact] 50% left (asap) at commit
            heads-up will_compact
            perform packet_request
            phase awaiting_packet
        "#]],
    );
}

#[test]
fn a_refused_key_is_no_answer() {
    let refused = reply(401, r#"{"error": {"message": "no such key"}}"#);
    check_failing(
        |_| refused.clone(),
        &[],
        expect![[r#"
            [judge] 80% left (early) at pull request; the judge is asked
            asked at early
            phase awaiting_judgment
            judged by <wire>: no answer: the endpoint answered 401: no such key
            [defer] <wire> gave no answer: the endpoint answered 401: no such key
            phase idle
            [judge] 70% left (ready) at commit; the judge is asked
            asked at ready
            phase awaiting_judgment
            judged by <wire>: no answer: the endpoint answered 401: no such key
            [defer] <wire> gave no answer: the endpoint answered 401: no such key
            phase idle
            [judge] 50% left (asap) at commit; the judge is asked
            asked at asap
            phase awaiting_judgment
            judged by <wire>: no answer: the endpoint answered 401: no such key
            [compact] 50% left (asap) at commit
            heads-up will_compact
            perform packet_request
            phase awaiting_packet
        "#]],
    );
}

#[test]
fn an_unreachable_endpoint_is_no_answer() {
    let told = |wire: TestedApi| {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let origin = format!("http://{free}");
        let lab = JudgmentFixture::configured(to_endpoint(wire, &origin, &[]), false);
        each_tier(lab, wire, &origin).replace("<wire>/completions", "<wire>")
    };
    on_both_wires(
        told,
        expect![[r#"
            [judge] 80% left (early) at pull request; the judge is asked
            asked at early
            phase awaiting_judgment
            judged by <wire>: no answer: failed to connect to `<endpoint>/v1/<wire>`: Connection refused (os error 111)
            [defer] <wire> gave no answer: failed to connect to `<endpoint>/v1/<wire>`: Connection refused (os error 111)
            phase idle
            [judge] 70% left (ready) at commit; the judge is asked
            asked at ready
            phase awaiting_judgment
            judged by <wire>: no answer: failed to connect to `<endpoint>/v1/<wire>`: Connection refused (os error 111)
            [defer] <wire> gave no answer: failed to connect to `<endpoint>/v1/<wire>`: Connection refused (os error 111)
            phase idle
            [judge] 50% left (asap) at commit; the judge is asked
            asked at asap
            phase awaiting_judgment
            judged by <wire>: no answer: failed to connect to `<endpoint>/v1/<wire>`: Connection refused (os error 111)
            [compact] 50% left (asap) at commit
            heads-up will_compact
            perform packet_request
            phase awaiting_packet
        "#]],
    );
}

#[test]
fn an_endpoint_that_is_too_slow_is_no_answer() {
    check_failing(
        |_| ScriptedReply::Stall,
        &["judgment.timeout_seconds = 1"],
        expect![[r#"
            [judge] 80% left (early) at pull request; the judge is asked
            asked at early
            phase awaiting_judgment
            judged by <wire>: no answer: no answer within 1s, in 1 request(s)
            [defer] <wire> gave no answer: no answer within 1s, in 1 request(s)
            phase idle
            [judge] 70% left (ready) at commit; the judge is asked
            asked at ready
            phase awaiting_judgment
            judged by <wire>: no answer: no answer within 1s, in 1 request(s)
            [defer] <wire> gave no answer: no answer within 1s, in 1 request(s)
            phase idle
            [judge] 50% left (asap) at commit; the judge is asked
            asked at asap
            phase awaiting_judgment
            judged by <wire>: no answer: no answer within 1s, in 1 request(s)
            [compact] 50% left (asap) at commit
            heads-up will_compact
            perform packet_request
            phase awaiting_packet
        "#]],
    );
}

#[test]
fn a_missed_deadline_is_no_answer() {
    check_failing(
        |_| ScriptedReply::Stall,
        &["deadlines.judgment_seconds = 1"],
        expect![[r#"
            [judge] 80% left (early) at pull request; the judge is asked
            asked at early
            phase awaiting_judgment
            judged by <wire>: no answer: the judge did not answer in time
            [defer] <wire> gave no answer: the judge did not answer in time
            phase idle
            [judge] 70% left (ready) at commit; the judge is asked
            asked at ready
            phase awaiting_judgment
            judged by <wire>: no answer: the judge did not answer in time
            [defer] <wire> gave no answer: the judge did not answer in time
            phase idle
            [judge] 50% left (asap) at commit; the judge is asked
            asked at asap
            phase awaiting_judgment
            judged by <wire>: no answer: the judge did not answer in time
            [compact] 50% left (asap) at commit
            heads-up will_compact
            perform packet_request
            phase awaiting_packet
        "#]],
    );
}

#[test]
fn an_emergency_asks_no_judge() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        assert_eq!(lab.turn(TierPressure::Emergency).outcome, Outcome::Compact);
        assert_eq!(endpoint.seen().len(), 0);
        assert_eq!(lab.totals(), None);
        lab.leave();
    }
}

#[test]
fn during_a_judgment_requests_are_served_and_messages_are_held_in_order() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![wire.said(NO).held(), ScriptedReply::Stall]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        // Answered although there is no judgment yet.
        assert!(is_judge(&lab.turn(TierPressure::Ready)));
        block_on(endpoint.wait_for_requests(1));
        assert_eq!(lab.get().thread.phase, Phase::AwaitingJudgment);
        for input in ["i1", "i2"] {
            assert_eq!(lab.submit(input, InputKind::Message), Disposition::Held);
        }
        assert_eq!(lab.submit("ls", InputKind::LocalCommand), Disposition::Deliver);
        let mut opening = lab.opening(Role::Owner);
        "other".clone_into(&mut opening.thread_id);
        lab.sidecar.call::<ThreadOpen>(&opening);
        assert!(is_judge(&lab.turn_of("other", TierPressure::Ready)));
        block_on(endpoint.wait_for_requests(2));
        let held = lab.get();
        let ids: Vec<_> = held.held_inputs.iter().map(|held| held.input_id.as_str()).collect();
        assert_eq!(ids, ["i1", "i2"]);
        assert_eq!(held.thread.phase, Phase::AwaitingJudgment);

        endpoint.release();
        let mut delivered = Vec::new();
        for _ in 0..2 {
            let asked = lab.next_delivery();
            delivered.extend(lab.deliver(&asked));
        }
        assert_eq!(delivered, ["message i1", "message i2"]);
        assert!(lab.get().held_inputs.is_empty());
        assert_eq!(lab.submit("i3", InputKind::Message), Disposition::Deliver);
        assert_eq!(lab.records_of("judgment_answered").len(), 1);
        lab.leave();
    }
}

/// The user's next turn began without rawr, so that the question is outdated.
#[test]
fn a_newer_question_cancels_the_request_of_the_previous_one() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![ScriptedReply::Stall, wire.said(NO)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &["judgment.timeout_seconds = 600"]);
        lab.turn(TierPressure::Ready);
        block_on(endpoint.wait_for_requests(1));
        assert!(is_judge(&lab.turn(TierPressure::Ready)));
        block_on(endpoint.wait_until_given_up());
        assert_eq!(performed(&lab.settled()), []);
        assert_eq!((lab.records_of("judgment_answered").len(), endpoint.seen().len()), (1, 2));
        let totals = lab.totals().unwrap();
        assert_eq!((totals.calls, totals.failures), (2, 0));
        lab.leave();
    }
}
