//! The host as the judge: the action that asks it, which answers count, and what its silence means.

use super::fixture::{JudgmentFixture, THREAD, TierPressure, answer, is_judge, performed};
use expect_test::{Expect, expect};
use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_protocol::methods::ThreadClose;
use rawr_protocol::{
    Action, ActionPerformNotification, ActionStatus, Outcome, Phase, ThreadCloseParams,
};

/// A turn ends, and the host is asked.
fn asked(lab: &mut JudgmentFixture, at: TierPressure) -> ActionPerformNotification {
    assert!(is_judge(&lab.turn(at)));
    let mut asked = performed(&lab.sidecar.take_notes());
    assert_eq!(asked.len(), 1, "{asked:?}");
    asked.remove(0)
}

fn request_of(asked: &ActionPerformNotification) -> String {
    let Action::Judge { request_id, .. } = &asked.action else { panic!("{asked:?}") };
    request_id.clone()
}

/// An answer that was not waited for changes nothing and is not reported.
fn check_dropped(lab: &mut JudgmentFixture, request: &str) {
    lab.sidecar.take_notes();
    let (before, records) = (lab.get(), lab.records());
    assert!(!answer(&mut lab.sidecar, request, true));
    assert_eq!((lab.get(), lab.records()), (before, records));
    assert_eq!(lab.sidecar.take_notes(), []);
}

fn check_answered(should_compact: bool, expected: Expect) {
    let mut lab = JudgmentFixture::on_host(&[]);
    let request = request_of(&asked(&mut lab, TierPressure::Ready));
    assert!(answer(&mut lab.sidecar, &request, should_compact));
    expected.assert_eq(&lab.told());
    lab.leave();
}

#[test]
fn the_action_contains_prompt_case_and_schema() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let asked = asked(&mut lab, TierPressure::Ready);
    let Action::Judge { request_id, instructions, context, output_schema } = &asked.action else {
        panic!("{asked:?}")
    };
    assert_eq!((asked.thread_id.as_str(), &asked.action_id), (THREAD, request_id));
    assert!(instructions.starts_with("You decide whether a coding agent's context"));
    assert!(context.starts_with("Tier: ready\n"), "{context}");
    assert_eq!(output_schema, &*OUTPUT_SCHEMA);
    lab.leave();
}

#[test]
fn the_hosts_yes_starts_the_sequence() {
    check_answered(
        true,
        expect![[r#"
        judged by host: yes, as I see it
        [compact] 70% left (ready) at commit
        heads-up will_compact
        perform packet_request
        phase awaiting_packet
    "#]],
    );
}

#[test]
fn the_hosts_no_starts_nothing() {
    check_answered(
        false,
        expect![[r#"
        judged by host: no, as I see it
        [nothing] host: as I see it
        phase idle
    "#]],
    );
}

#[test]
fn an_answer_counts_once() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let request = request_of(&asked(&mut lab, TierPressure::Ready));
    assert!(answer(&mut lab.sidecar, &request, false));
    lab.settled();
    check_dropped(&mut lab, &request);
    lab.leave();
}

#[test]
fn an_answer_to_another_question_is_dropped() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let first = request_of(&asked(&mut lab, TierPressure::Ready));
    assert!(answer(&mut lab.sidecar, &first, false));
    let second = request_of(&asked(&mut lab, TierPressure::Ready));
    for other in [first.as_str(), "j-other", ""] {
        check_dropped(&mut lab, other);
    }
    assert_eq!(lab.get().thread.phase, Phase::AwaitingJudgment);
    assert!(answer(&mut lab.sidecar, &second, false));
    lab.leave();
}

#[test]
fn an_answer_after_the_deadline_is_dropped() {
    let mut lab = JudgmentFixture::on_host(&["deadlines.judgment_seconds = 1"]);
    let request = request_of(&asked(&mut lab, TierPressure::Ready));
    expect![[r#"
        judged by host: no answer: the judge did not answer in time
        [defer] host gave no answer: the judge did not answer in time
        phase idle
    "#]]
    .assert_eq(&lab.told());
    check_dropped(&mut lab, &request);
    lab.leave();
}

#[test]
fn an_answer_after_the_users_next_turn_is_dropped() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let first = request_of(&asked(&mut lab, TierPressure::Ready));
    let second = request_of(&asked(&mut lab, TierPressure::Ready));
    assert_ne!(first, second);
    check_dropped(&mut lab, &first);
    lab.leave();
}

#[test]
fn a_host_that_fails_to_judge_has_given_no_answer() {
    let mut told = String::new();
    let mut lab = JudgmentFixture::on_host(&[]);
    for at in [TierPressure::Early, TierPressure::Ready, TierPressure::Asap] {
        let asked = asked(&mut lab, at);
        lab.report(&asked.action_id, ActionStatus::Failed, None, Some("out of credit"));
        told.push_str(&lab.told());
        check_dropped(&mut lab, &request_of(&asked));
    }
    expect![[r#"
        judged by host: no answer: out of credit
        [defer] host gave no answer: out of credit
        phase idle
        judged by host: no answer: out of credit
        [defer] host gave no answer: out of credit
        phase idle
        judged by host: no answer: out of credit
        [compact] 50% left (asap) at commit
        heads-up will_compact
        perform packet_request
        phase awaiting_packet
    "#]]
    .assert_eq(&told);
    lab.leave();
}

#[test]
fn a_host_may_fail_without_a_reason() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let asked = asked(&mut lab, TierPressure::Ready);
    lab.report(&asked.action_id, ActionStatus::Failed, None, None);
    expect![[r#"
        judged by host: no answer: the host gave no reason
        [defer] host gave no answer: the host gave no reason
        phase idle
    "#]]
    .assert_eq(&lab.told());
    lab.leave();
}

// rule: client.capabilities
#[test]
fn a_host_that_cannot_judge_is_not_asked() {
    let lines = vec!["judgment.backend = \"host\"".to_owned()];
    let mut lab = JudgmentFixture::configured(lines, false);
    let verdict = lab.turn(TierPressure::Ready);
    assert_eq!(verdict.outcome, Outcome::Defer);
    assert_eq!(verdict.reason, "host gave no answer: the host cannot judge");
    assert_eq!(performed(&lab.sidecar.take_notes()), []);
    lab.leave();
}

// rule: client.pending-actions
#[test]
fn a_reopened_thread_is_judged_under_the_same_request_id() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let asked = asked(&mut lab, TierPressure::Ready);
    let killed = lab.lose_the_sidecar();
    lab.sidecar.call::<ThreadClose>(&ThreadCloseParams { thread_id: THREAD.to_owned() });
    let left = lab.open();
    for opened in [killed, left] {
        assert_eq!(opened.phase, Phase::AwaitingJudgment);
        let pending: Vec<_> = opened.pending_actions.iter().map(|it| &it.action_id).collect();
        assert_eq!(pending, [&asked.action_id]);
        assert_eq!(opened.pending_actions[0].action, asked.action);
    }
    let request = request_of(&asked);
    assert!(answer(&mut lab.sidecar, &request, false));
    check_dropped(&mut lab, &request);
    assert_eq!(lab.records_of("judgment_answered").len(), 1);
    assert_eq!(lab.totals().unwrap().calls, 1);
    lab.leave();
}
