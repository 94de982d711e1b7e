//! `rawr/judgment/evaluate`: a client's case, judged outside of the thread and not recorded.

use super::fixture::{
    JudgmentFixture, NO, THREAD, TestedApi, TierPressure, WIRES, YES, answer, is_judge, launch,
    performed,
};
use rawr_protocol::methods::{
    ActionPerform, ActionReport, CancelRequest, JudgmentEvaluate, ThreadOpen,
};
use rawr_protocol::{
    Action, ActionReportParams, ActionStatus, Boundary, CancelParams, ErrorCode,
    JudgmentEvaluateParams, JudgmentEvaluateResult, Phase, Request, RequestId, Role, Tier,
};
use rawr_tests::TestSidecar;
use rawr_tests::mock_endpoint::{Mock, ScriptedReply, block_on, reply};
use serde_json::{Value, json};

fn case_of(thread: &str, request: Option<&str>) -> JudgmentEvaluateParams {
    JudgmentEvaluateParams {
        thread_id: thread.to_owned(),
        request_id: request.map(str::to_owned),
        tier: Tier::Ready,
        percent_remaining: 61,
        boundaries_present: vec![Boundary::Commit],
        last_agent_message: Some("All of it is pushed.".to_owned()),
        transcript_excerpt: Some("user: go on".to_owned()),
    }
}

fn case(request: &str) -> JudgmentEvaluateParams {
    case_of(THREAD, Some(request))
}

/// The request id, the tier, the answer and its source.
fn told(result: &JudgmentEvaluateResult) -> String {
    let JudgmentEvaluateResult { request_id, tier, should_compact, reason, source } = result;
    format!("{request_id} at {tier}: {should_compact} by {source}, {reason}")
}

/// The action that asks the host outside of its thread.
fn asked(sidecar: &mut TestSidecar) -> (String, Action) {
    let asked = sidecar.expect::<ActionPerform>();
    (asked.action_id, asked.action)
}

/// Checks that a request fails at once with this error.
fn check_refused(sidecar: &mut TestSidecar, thread: &str, code: ErrorCode, words: &str) {
    let failure = sidecar.failure::<JudgmentEvaluate>(&case_of(thread, None));
    assert_eq!(failure.code, code, "{failure:?}");
    assert!(failure.message.contains(words), "{failure:?}");
    assert!(!failure.data.hint.is_empty(), "{failure:?}");
}

#[test]
fn an_endpoint_judges_the_clients_case() {
    for wire in WIRES {
        for (text, expected) in [
            (YES, "r at ready: true by <wire>, the parser is committed"),
            (NO, "r at ready: false by <wire>, a test is being repaired"),
        ] {
            let endpoint = Mock::start_apart(vec![wire.said(text)]);
            let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
            let result = lab.sidecar.call::<JudgmentEvaluate>(&case("r"));
            assert_eq!(told(&result), expected.replace("<wire>", wire.name()));
            let body = endpoint.seen()[0].body.to_string();
            for words in
                ["Tier: ready", "61 percent", "All of it is pushed.", "user: go on", "commit"]
            {
                assert!(body.contains(words), "{words}: {body}");
            }
            lab.leave();
        }
    }
}

#[test]
fn the_host_judges_the_clients_case() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let id = lab.sidecar.ask::<JudgmentEvaluate>(&case("r"));
    let (action, question) = asked(&mut lab.sidecar);
    let Action::Judge { request_id, context, .. } = question else { panic!("{question:?}") };
    assert_eq!((action.as_str(), request_id.as_str()), ("r", "r"));
    assert!(context.contains("All of it is pushed."), "{context}");
    assert!(!answer(&mut lab.sidecar, "another", true));
    assert!(answer(&mut lab.sidecar, "r", true));
    assert!(!answer(&mut lab.sidecar, "r", false));
    let result = lab.sidecar.answer::<JudgmentEvaluate>(id).unwrap();
    assert_eq!(told(&result), "r at ready: true by host, as I see it");
    lab.leave();
}

#[test]
fn the_heuristic_judges_the_clients_case() {
    for backend in ["heuristic", "auto"] {
        let mut lab =
            JudgmentFixture::configured(vec![format!("judgment.backend = \"{backend}\"")], false);
        let result = lab.sidecar.call::<JudgmentEvaluate>(&case("r"));
        assert_eq!(
            told(&result),
            "r at ready: true by heuristic, score 4, 3 needed: a commit +3, ready +1"
        );
        lab.leave();
    }
}

#[test]
fn a_case_without_an_id_gets_one() {
    let mut lab =
        JudgmentFixture::configured(vec!["judgment.backend = \"heuristic\"".to_owned()], false);
    let mut name = || lab.sidecar.call::<JudgmentEvaluate>(&case_of(THREAD, None)).request_id;
    let (first, second) = (name(), name());
    assert!(!first.is_empty() && first != second, "{first} {second}");
    lab.leave();
}

#[test]
fn the_prompts_are_read_from_disk() {
    const QUESTIONS: usize = 100;
    let endpoint = Mock::start_apart((0..QUESTIONS).map(|_| TestedApi::Chat.said(YES)).collect());
    let mut lab = JudgmentFixture::on(&endpoint, TestedApi::Chat, &[]);
    let prompt = lab.home.path().join("auto-compact/judgment.md");
    for text in ["Judge like an owl.", "Judge like a magpie, and gather."] {
        std::fs::write(&prompt, text).unwrap();
        // A file counts as being written until the operating system has reported its end.
        let is_read = (0..QUESTIONS / 2).any(|_| {
            lab.sidecar.call::<JudgmentEvaluate>(&case("r"));
            let seen = endpoint.seen();
            let asks = seen.last().is_some_and(|last| last.body.to_string().contains(text));
            if !asks {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            asks
        });
        assert!(is_read, "{text}");
    }
    lab.leave();
}

#[test]
fn secrets_in_the_case_are_redacted() {
    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let mut lab = JudgmentFixture::on_host(&[]);
    let mut case = case("r");
    case.last_agent_message = Some(format!("I ran `export TOKEN={TOKEN}`."));
    let id = lab.sidecar.ask::<JudgmentEvaluate>(&case);
    let (_, question) = asked(&mut lab.sidecar);
    let Action::Judge { context, .. } = question else { panic!("{question:?}") };
    assert!(!context.contains(TOKEN) && context.contains("[redacted:"), "{context}");
    assert!(answer(&mut lab.sidecar, "r", true));
    assert!(lab.sidecar.answer::<JudgmentEvaluate>(id).is_ok());
    lab.leave();
}

#[test]
fn an_evaluation_is_neither_recorded_nor_notified() {
    for wire in WIRES {
        let limited = wire.said(YES).with("x-ratelimit-remaining-requests", "9");
        let endpoint = Mock::start_apart(vec![limited]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        lab.sidecar.take_notes();
        let (records, before) = (lab.records(), lab.get());
        lab.sidecar.call::<JudgmentEvaluate>(&case("r"));
        assert_eq!((lab.records(), lab.get()), (records, before));
        assert_eq!(lab.sidecar.take_notes(), []);
        lab.leave();
    }
}

#[test]
fn one_case_per_thread_is_judged_at_a_time() {
    for wire in WIRES {
        let endpoint =
            Mock::start_apart(vec![wire.said(NO).held(), wire.said(YES), wire.said(YES)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        let mut other = lab.opening(Role::Owner);
        "other".clone_into(&mut other.thread_id);
        lab.sidecar.call::<ThreadOpen>(&other);
        let first = lab.sidecar.ask::<JudgmentEvaluate>(&case("first"));
        block_on(endpoint.wait_for_requests(1));
        check_refused(&mut lab.sidecar, THREAD, ErrorCode::NotNow, "in progress");
        // Another thread is not affected.
        let result = lab.sidecar.call::<JudgmentEvaluate>(&case_of("other", Some("o")));
        assert!(result.should_compact);
        endpoint.release();
        let first = lab.sidecar.answer::<JudgmentEvaluate>(first).unwrap();
        assert_eq!((first.request_id.as_str(), first.should_compact), ("first", false));
        assert!(lab.sidecar.call::<JudgmentEvaluate>(&case("next")).should_compact);
        assert_eq!(endpoint.seen().len(), 3);
        lab.leave();
    }
}

#[test]
fn during_a_judgment_of_the_thread_no_case_is_judged() {
    let endpoint = Mock::start_apart(vec![ScriptedReply::Stall]);
    let mut lab = JudgmentFixture::on(&endpoint, TestedApi::Chat, &[]);
    assert!(is_judge(&lab.turn(TierPressure::Ready)));
    check_refused(&mut lab.sidecar, THREAD, ErrorCode::NotNow, "in progress");
    assert_eq!(lab.get().thread.phase, Phase::AwaitingJudgment);
    lab.leave();
}

#[test]
fn after_a_cancelled_case_the_next_one_is_judged() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![ScriptedReply::Stall, wire.said(YES)]);
        let mut lab = JudgmentFixture::on(&endpoint, wire, &[]);
        let first = lab.sidecar.ask::<JudgmentEvaluate>(&case("first"));
        block_on(endpoint.wait_for_requests(1));
        cancel(&mut lab.sidecar, first);
        assert!(lab.sidecar.call::<JudgmentEvaluate>(&case("next")).should_compact);
        // The request to the endpoint was cancelled, too.
        block_on(endpoint.wait_until_given_up());
        lab.leave();
    }
}

#[test]
fn a_cancellation_allows_a_request_right_after_it() {
    let endpoint = Mock::start_apart(vec![ScriptedReply::Stall, TestedApi::Chat.said(YES)]);
    let mut lab = JudgmentFixture::on(&endpoint, TestedApi::Chat, &[]);
    let first = lab.sidecar.ask::<JudgmentEvaluate>(&case("first"));
    block_on(endpoint.wait_for_requests(1));
    let cancelled = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": first}});
    let next = json!({
        "jsonrpc": "2.0", "id": "next", "method": JudgmentEvaluate::METHOD, "params": case("next"),
    });
    lab.sidecar.send_raw(&[framed(&cancelled), framed(&next)].concat());
    let failure = lab.sidecar.answer::<JudgmentEvaluate>(first).unwrap_err();
    assert_eq!(failure.code, ErrorCode::RequestCancelled);
    let answer = lab.sidecar.answer_to(&json!("next"));
    assert_eq!(answer["result"]["shouldCompact"], true, "{answer}");
    lab.leave();
}

fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn a_host_may_refuse_a_case_without_a_reason() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let case = lab.sidecar.ask::<JudgmentEvaluate>(&case("first"));
    asked(&mut lab.sidecar);
    lab.sidecar.call::<ActionReport>(&ActionReportParams {
        thread_id: THREAD.to_owned(),
        action_id: "first".to_owned(),
        status: ActionStatus::Failed,
        turn_id: None,
        text: None,
        error: None,
    });
    let failure = lab.sidecar.answer::<JudgmentEvaluate>(case).unwrap_err();
    assert_eq!(failure.code, ErrorCode::JudgmentUnavailable);
    lab.leave();
}

fn cancel(sidecar: &mut TestSidecar, id: u64) {
    let number = RequestId::Number(i64::try_from(id).unwrap());
    sidecar.notify::<CancelRequest>(&CancelParams { id: number });
    let failure = sidecar.answer::<JudgmentEvaluate>(id).unwrap_err();
    assert_eq!(failure.code, ErrorCode::RequestCancelled);
}

#[test]
fn the_hosts_answer_to_a_cancelled_case_is_dropped() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let first = lab.sidecar.ask::<JudgmentEvaluate>(&case("first"));
    asked(&mut lab.sidecar);
    cancel(&mut lab.sidecar, first);
    let next = lab.sidecar.ask::<JudgmentEvaluate>(&case("next"));
    assert_eq!(asked(&mut lab.sidecar).0, "next");
    assert!(!answer(&mut lab.sidecar, "first", true));
    assert!(answer(&mut lab.sidecar, "next", false));
    assert!(!lab.sidecar.answer::<JudgmentEvaluate>(next).unwrap().should_compact);
    lab.leave();
}

#[test]
fn without_an_answer_the_error_names_the_cause() {
    for wire in WIRES {
        let refused = reply(401, r#"{"error": {"message": "no such key"}}"#);
        for (reply, more, words) in [
            (refused, "", "the endpoint answered 401: no such key"),
            (wire.said("Sure!"), "", "not JSON"),
            (wire.said("{}"), "", "does not match the schema"),
            (ScriptedReply::Stall, "judgment.timeout_seconds = 1", "no answer within 1s"),
        ] {
            let endpoint = Mock::start_apart(vec![reply]);
            let mut lab = JudgmentFixture::on(&endpoint, wire, &[more]);
            check_refused(&mut lab.sidecar, THREAD, ErrorCode::JudgmentUnavailable, words);
            lab.leave();
        }
    }
}

#[test]
fn a_hosts_failure_is_reported() {
    let mut lab = JudgmentFixture::on_host(&[]);
    let id = lab.sidecar.ask::<JudgmentEvaluate>(&case("r"));
    asked(&mut lab.sidecar);
    lab.report("r", ActionStatus::Failed, None, Some("out of credit"));
    let failure = lab.sidecar.answer::<JudgmentEvaluate>(id).unwrap_err();
    assert_eq!(failure.code, ErrorCode::JudgmentUnavailable);
    assert_eq!(failure.message, "out of credit");
    lab.leave();
}

#[test]
fn a_hosts_silence_is_reported() {
    let mut lab = JudgmentFixture::on_host(&["deadlines.judgment_seconds = 1"]);
    check_refused(&mut lab.sidecar, THREAD, ErrorCode::JudgmentUnavailable, "within 1s");
    assert_eq!(performed(&lab.sidecar.take_notes()).len(), 1);
    lab.leave();
}

#[test]
fn an_unavailable_judge_is_not_asked() {
    let unavailable = ErrorCode::JudgmentUnavailable;
    let mut off = JudgmentFixture::configured(vec!["judgment.backend = \"off\"".to_owned()], true);
    check_refused(&mut off.sidecar, THREAD, unavailable, "`off`");
    check_refused(&mut off.sidecar, "not-open", ErrorCode::UnknownThread, "not-open");
    off.leave();

    let owner = JudgmentFixture::on_host(&[]);
    let mut observer = TestSidecar::start(&owner.home);
    observer.call::<ThreadOpen>(&owner.opening(Role::Observer));
    check_refused(&mut observer, THREAD, unavailable, "not connected");
    assert_eq!(observer.take_notes(), []);
    observer.leave();
    owner.leave();

    let mut unable =
        JudgmentFixture::configured(vec!["judgment.backend = \"host\"".to_owned()], false);
    check_refused(&mut unable.sidecar, THREAD, unavailable, "cannot judge");
    unable.leave();
}

#[test]
fn an_observer_may_ask_an_endpoint() {
    for wire in WIRES {
        let endpoint = Mock::start_apart(vec![wire.said(YES)]);
        let owner = JudgmentFixture::on(&endpoint, wire, &[]);
        let mut observer = launch(&owner.home);
        observer.call::<ThreadOpen>(&owner.opening(Role::Observer));
        assert!(observer.call::<JudgmentEvaluate>(&case("r")).should_compact);
        assert_eq!(endpoint.seen().len(), 1);
        observer.leave();
        owner.leave();
    }
}
