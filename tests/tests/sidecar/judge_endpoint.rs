//! The judge's endpoints over real sockets: requests, retries and results. No test asserts durations; requests are
//! counted instead.

mod secrets;

use rawr_core::policy::JudgeBackend;
use rawr_server::judge::{EndpointJudgment, JudgeError, JudgeQuestion, judge};
use rawr_settings::config::JudgeSettings;
use rawr_tests::mock_endpoint::{Mock, ScriptedReply, by_chat, by_responses, reply};
use serde_json::{Value, json};
use std::time::Duration;

const BOTH: [JudgeBackend; 2] = [JudgeBackend::Responses, JudgeBackend::Chat];
const YES: &str = r#"{"should_compact": true, "reason": "committed"}"#;

fn settings(backend: JudgeBackend, mock: &Mock) -> JudgeSettings {
    JudgeSettings {
        backend,
        model: Some("judge-1".to_owned()),
        base_url: format!("{}/v1", mock.origin()),
        api_key_env: None,
        ..JudgeSettings::default()
    }
}

fn question() -> JudgeQuestion {
    JudgeQuestion { instructions: "Judge.".to_owned(), context: "Tier: ready".to_owned() }
}

/// The reply of an endpoint whose model answered `text`.
fn said(backend: JudgeBackend, text: &str) -> ScriptedReply {
    match backend {
        JudgeBackend::Chat => by_chat(text),
        _ => by_responses(text),
    }
}

fn refused(backend: JudgeBackend, text: &str) -> ScriptedReply {
    let body = match backend {
        JudgeBackend::Chat => json!({
            "choices": [{"message": {"content": null, "refusal": text}, "finish_reason": "stop"}],
        }),
        _ => json!({
            "output": [{"type": "message", "content": [{"type": "refusal", "refusal": text}]}],
        }),
    };
    reply(200, body.to_string())
}

/// The mock's port differs from run to run.
fn told(outcome: Result<EndpointJudgment, JudgeError>, mock: &Mock) -> String {
    match outcome {
        Ok(EndpointJudgment { should_compact, reason, .. }) => {
            format!("{should_compact}: {reason}")
        }
        Err(error) => error.to_string().replace(mock.origin(), "<mock>"),
    }
}

/// On both APIs: the endpoint's replies, the result, and the number of requests.
async fn check(
    script: impl Fn(JudgeBackend) -> Vec<ScriptedReply>,
    change: impl Fn(&mut JudgeSettings),
    expected: &str,
    requests: usize,
) {
    for backend in BOTH {
        let mock = Mock::start(script(backend)).await;
        let mut settings = settings(backend, &mock);
        change(&mut settings);
        let outcome = judge(&settings, &question()).await;
        assert_eq!(
            (told(outcome, &mock).as_str(), mock.seen().len()),
            (expected, requests),
            "{backend:?}"
        );
    }
}

const AS_IT_IS: fn(&mut JudgeSettings) = |_| {};

#[tokio::test]
async fn the_models_answer_is_the_judgment() {
    check(|wire| vec![said(wire, YES)], AS_IT_IS, "true: committed", 1).await;
    let no = r#"{"should_compact": false, "reason": "a test is being repaired"}"#;
    check(|wire| vec![said(wire, no)], AS_IT_IS, "false: a test is being repaired", 1).await;
}

#[tokio::test]
async fn the_request_goes_to_the_path_of_its_api() {
    for (backend, path, instructions) in [
        (JudgeBackend::Responses, "responses", "/instructions"),
        (JudgeBackend::Chat, "chat/completions", "/messages/0/content"),
    ] {
        for (below, line) in [
            ("/v1", format!("POST /v1/{path}")),
            ("/v1/", format!("POST /v1/{path}")),
            ("", format!("POST /{path}")),
            ("/v1?api-version=2", format!("POST /v1/{path}?api-version=2")),
        ] {
            let mock = Mock::start([said(backend, YES)]).await;
            let base_url = format!("{}{below}", mock.origin());
            judge(&JudgeSettings { base_url, ..settings(backend, &mock) }, &question())
                .await
                .unwrap();
            let seen = &mock.seen()[0];
            assert_eq!(seen.line, line);
            assert_eq!(seen.content_type.as_deref(), Some("application/json"));
            assert_eq!(seen.body["model"], "judge-1");
            assert_eq!(seen.body.pointer(instructions), Some(&json!("Judge.")));
            assert_eq!(seen.body.get("stream"), None);
        }
    }
}

// rule: judgment.quiet-usage
#[tokio::test]
async fn the_answer_includes_tokens_and_rate_limits() {
    for backend in BOTH {
        let limited = said(backend, YES)
            .with("x-ratelimit-remaining-requests", "9")
            .with("x-ratelimit-reset-requests", "1s")
            .with("x-request-id", "r1");
        let mock = Mock::start([limited]).await;
        let answer = judge(&settings(backend, &mock), &question()).await.unwrap();
        let usage = answer.usage.map(|usage| (usage.input, usage.output));
        let limits: Vec<_> = answer
            .rate_limits
            .iter()
            .map(|limit| (limit.name.as_str(), limit.value.as_str()))
            .collect();
        assert_eq!(usage, Some((40, 9)));
        assert_eq!(
            limits,
            [("x-ratelimit-remaining-requests", "9"), ("x-ratelimit-reset-requests", "1s")]
        );
    }
}

#[tokio::test]
async fn an_invalid_judgment_is_an_error_without_a_retry() {
    for (text, expected) in [
        ("Sure!", "the model's answer is not JSON: expected value at line 1 column 1"),
        ("", "the model's answer is empty"),
        (
            r#"{"should_compact": "yes", "reason": "x"}"#,
            "the model's answer does not match the schema: invalid type: string \"yes\", expected a boolean at line 1 column 24",
        ),
        (
            r#"{"should_compact": true}"#,
            "the model's answer does not match the schema: missing field `reason` at line 1 column 24",
        ),
    ] {
        check(|wire| vec![said(wire, text)], AS_IT_IS, expected, 1).await;
    }
    check(|wire| vec![refused(wire, "I cannot.")], AS_IT_IS, "the model refused: I cannot.", 1)
        .await;
    let page = "the endpoint's answer does not match its API: expected value at line 1 column 1";
    check(|_| vec![reply(200, "<html>")], AS_IT_IS, page, 1).await;
    let long = "the endpoint's answer is longer than 1048576 bytes";
    check(|_| vec![reply(200, " ".repeat(2 << 20))], AS_IT_IS, long, 1).await;
}

#[tokio::test]
async fn a_fence_is_accepted_only_with_the_chat_api() {
    let fenced = format!("```json\n{YES}\n```");
    for (backend, passes) in [(JudgeBackend::Chat, true), (JudgeBackend::Responses, false)] {
        let mock = Mock::start([said(backend, &fenced)]).await;
        let outcome = judge(&settings(backend, &mock), &question()).await;
        assert_eq!(outcome.is_ok(), passes, "{backend:?}");
    }
}

#[tokio::test]
async fn a_busy_endpoint_is_retried_after_its_retry_after() {
    for retry_after in ["0", "Sun, 06 Nov 1994 08:49:37 GMT"] {
        let busy =
            reply(429, r#"{"error": {"message": "slow down"}}"#).with("retry-after", retry_after);
        check(|wire| vec![busy.clone(), said(wire, YES)], AS_IT_IS, "true: committed", 2).await;
    }
}

#[tokio::test]
async fn a_pause_longer_than_the_limit_is_skipped() {
    for retry_after in ["3600", "18446744073709551615", "Tue, 31 Dec 2999 23:59:59 GMT"] {
        let busy =
            reply(429, r#"{"error": {"message": "slow down"}}"#).with("retry-after", retry_after);
        check(|_| vec![busy.clone()], AS_IT_IS, "the endpoint answered 429: slow down", 1).await;
    }
}

#[tokio::test]
async fn an_endpoint_that_fails_or_disconnects_is_retried() {
    let down = reply(503, "down").with("retry-after", "0");
    check(|wire| vec![down.clone(), down.clone(), said(wire, YES)], AS_IT_IS, "true: committed", 3)
        .await;
    check(|wire| vec![ScriptedReply::HangUp, said(wire, YES)], AS_IT_IS, "true: committed", 2)
        .await;
}

#[tokio::test]
async fn retries_are_limited() {
    let down = reply(500, "down").with("retry-after", "0");
    for (max_retries, requests) in [(0, 1), (2, 3), (4, 5)] {
        let change = |settings: &mut JudgeSettings| settings.max_retries = max_retries;
        check(|_| vec![down.clone(); 9], change, "the endpoint answered 500: down", requests).await;
    }
    let change = |settings: &mut JudgeSettings| settings.max_retries = 0;
    let broken = "lost the connection to `<mock>/v1/";
    for backend in BOTH {
        let mock = Mock::start([ScriptedReply::HangUp]).await;
        let mut settings = settings(backend, &mock);
        change(&mut settings);
        let outcome = told(judge(&settings, &question()).await, &mock);
        assert!(outcome.starts_with(broken), "{outcome}");
    }
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    for (status, body, expected) in [
        (
            400,
            r#"{"error": {"message": "unknown model"}}"#,
            "the endpoint answered 400: unknown model",
        ),
        (
            401,
            r#"{"error": {"message": "who are you?"}}"#,
            "the endpoint answered 401: who are you?",
        ),
        (404, "<h1>Not\nhere</h1>", "the endpoint answered 404: <h1>Not here</h1>"),
        (
            429,
            r#"{"error": {"message": "pay", "code": "insufficient_quota"}}"#,
            "the endpoint answered 429: pay",
        ),
    ] {
        check(|_| vec![reply(status, body).with("retry-after", "0")], AS_IT_IS, expected, 1).await;
    }
}

#[tokio::test]
async fn an_error_has_its_facts_as_fields() {
    let body = r#"{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}"#;
    let mock = Mock::start([reply(429, body).with("retry-after", "3600")]).await;
    let error = judge(&settings(JudgeBackend::Chat, &mock), &question()).await.unwrap_err();
    let expected = JudgeError::Status {
        status: 429,
        code: Some("rate_limit_exceeded".to_owned()),
        message: "slow down".to_owned(),
        retry_after: Some(Duration::from_secs(3600)),
    };
    assert_eq!(error, expected);
}

/// How many requests reach the mock in time depends on the machine.
#[tokio::test]
async fn the_time_limit_covers_all_requests_together() {
    let limit = Duration::from_millis(300);
    let down = reply(503, "down").with("retry-after", "0");
    for script in [vec![ScriptedReply::Stall], vec![down, ScriptedReply::Stall]] {
        let mock = Mock::start(script).await;
        let settings = JudgeSettings { timeout: limit, ..settings(JudgeBackend::Responses, &mock) };
        let error = judge(&settings, &question()).await.unwrap_err();
        assert!(
            matches!(error, JudgeError::TimedOut { limit: told, .. } if told == limit),
            "{error}"
        );
    }
}

#[tokio::test]
async fn dropping_a_judgment_cancels_its_request() {
    let mock = Mock::start([ScriptedReply::Stall]).await;
    let settings = settings(JudgeBackend::Responses, &mock);
    let asked = tokio::spawn(async move { judge(&settings, &question()).await });
    mock.wait_for_request().await;
    asked.abort();
    mock.wait_until_given_up().await;
}

#[tokio::test]
async fn an_unreachable_endpoint_is_named() {
    let mock = Mock::start([]).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let base_url = format!("http://{free}/v1");
    let settings = JudgeSettings { base_url, ..settings(JudgeBackend::Chat, &mock) };
    let JudgeError::Unreachable { endpoint, detail } =
        judge(&settings, &question()).await.unwrap_err()
    else {
        panic!("it is reachable")
    };
    assert_eq!(endpoint, format!("http://{free}/v1/chat/completions"));
    assert!(detail.contains("refused"), "{detail}");
}

#[tokio::test]
async fn an_https_request_is_not_sent_to_an_unencrypted_endpoint() {
    let mock = Mock::start([said(JudgeBackend::Chat, YES)]).await;
    let base_url = mock.origin().replace("http://", "https://");
    let settings = JudgeSettings { base_url, ..settings(JudgeBackend::Chat, &mock) };
    let error = judge(&settings, &question()).await.unwrap_err();
    assert!(matches!(error, JudgeError::Unreachable { .. }), "{error:?}");
    assert_eq!(mock.seen().len(), 0);
}

#[tokio::test]
async fn a_redirect_is_not_followed_wherever_it_points() {
    for backend in BOTH {
        for status in [301, 302, 303, 307, 308] {
            let elsewhere = Mock::start([said(backend, YES)]).await;
            let to = format!("{}/v1/there?token=hidden", elsewhere.origin());
            for (location, expected) in [
                (to.as_str(), format!("{}/v1/there", elsewhere.origin())),
                ("/v2", "<mock>/v2".to_owned()),
            ] {
                let mock = Mock::start([reply(status, "").with("location", location)]).await;
                let outcome = told(judge(&settings(backend, &mock), &question()).await, &mock);
                assert_eq!(
                    outcome,
                    format!(
                        "the endpoint answered {status} with a redirect to `{expected}`, which rawr does not follow"
                    )
                );
                assert_eq!((mock.seen().len(), elsewhere.seen().len()), (1, 0));
            }
        }
    }
}

#[tokio::test]
async fn without_a_configured_endpoint_none_is_asked() {
    let mock = Mock::start([]).await;
    for backend in
        [JudgeBackend::Auto, JudgeBackend::Host, JudgeBackend::Heuristic, JudgeBackend::Off]
    {
        let error = judge(&settings(backend, &mock), &question()).await.unwrap_err();
        assert_eq!(error, JudgeError::NoEndpoint { backend });
    }
    let change = |settings: &mut JudgeSettings| settings.model = None;
    check(
        |_| Vec::new(),
        change,
        "no model is configured: set `rawr_auto_compaction.judgment.model`",
        0,
    )
    .await;
    assert_eq!(mock.seen().len(), 0);
}

#[tokio::test]
async fn a_configured_effort_is_sent() {
    for (backend, place) in
        [(JudgeBackend::Responses, "/reasoning/effort"), (JudgeBackend::Chat, "/reasoning_effort")]
    {
        let efforts: [Option<&str>; 2] = [Some("low"), None];
        for effort in efforts {
            let mock = Mock::start([said(backend, YES)]).await;
            let settings = JudgeSettings {
                reasoning_effort: effort.map(str::to_owned),
                ..settings(backend, &mock)
            };
            judge(&settings, &question()).await.unwrap();
            let sent =
                mock.seen()[0].body.pointer(place).and_then(Value::as_str).map(str::to_owned);
            assert_eq!(sent.as_deref(), effort, "{backend:?}");
        }
    }
}
