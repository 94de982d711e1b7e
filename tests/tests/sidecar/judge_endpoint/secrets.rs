//! The API key is in one header and nowhere else, and secrets are redacted before they are sent.

use super::*;

/// Cargo sets it for every test. A test cannot set its own without a data race with other threads.
const VARIABLE: &str = "CARGO_PKG_NAME";
const KEY: &str = env!("CARGO_PKG_NAME");

fn with_key(backend: JudgeBackend, mock: &Mock) -> JudgeSettings {
    JudgeSettings { api_key_env: Some(VARIABLE.to_owned()), ..settings(backend, mock) }
}

#[tokio::test]
async fn the_key_is_sent_in_one_header() {
    for backend in BOTH {
        let mock = Mock::start([said(backend, YES)]).await;
        judge(&with_key(backend, &mock), &question()).await.unwrap();
        let seen = &mock.seen()[0];
        assert_eq!(seen.authorization, Some(format!("Bearer {KEY}")));
        assert!(!seen.line.contains(KEY) && !seen.body.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn without_a_variable_no_key_is_sent() {
    for backend in BOTH {
        let mock = Mock::start([said(backend, YES)]).await;
        judge(&settings(backend, &mock), &question()).await.unwrap();
        assert_eq!(mock.seen()[0].authorization, None);
    }
}

#[tokio::test]
async fn an_unset_variable_is_named_and_nothing_is_sent() {
    let expected =
        "the environment variable `RAWR_TEST_NO_SUCH_KEY` is not set: set it to the API key";
    let change = |settings: &mut JudgeSettings| {
        settings.api_key_env = Some("RAWR_TEST_NO_SUCH_KEY".to_owned());
    };
    check(|_| Vec::new(), change, expected, 0).await;
}

/// The endpoint repeats the key wherever it can: plain, and with JSON escapes.
#[tokio::test]
async fn the_key_is_in_no_error() {
    let escaped = KEY.replace('-', "\\u002d");
    for backend in BOTH {
        let scripts = [
            reply(401, format!("wrong key {KEY}")),
            reply(
                401,
                format!(
                    r#"{{"error": {{"message": "wrong key {escaped}", "code": "{escaped}"}}}}"#
                ),
            ),
            reply(307, "").with("location", format!("/{KEY}?{KEY}")),
            reply(200, format!("{KEY} is no JSON")),
            reply(200, format!(r#"{{"error": "{escaped}"}}"#)),
            refused(backend, KEY),
            said(backend, &format!(r#"{{"should_compact": "{escaped}"}}"#)),
            said(backend, &format!(r#"{{"should_compact": true, "reason": "{escaped}"}}"#))
                .with("x-ratelimit-limit", KEY),
        ];
        for script in scripts {
            let mock = Mock::start([script.clone()]).await;
            let outcome = judge(&with_key(backend, &mock), &question()).await;
            let (debug, display) = (format!("{outcome:?}"), told(outcome, &mock));
            assert!(
                !debug.contains(KEY) && !display.contains(KEY),
                "{script:?}: {debug} {display}"
            );
        }
    }
}

#[tokio::test]
async fn secrets_are_redacted_before_they_are_sent() {
    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    for backend in BOTH {
        let mock = Mock::start([said(backend, YES)]).await;
        let context = format!("the agent ran `export TOKEN={TOKEN}`");
        let question = JudgeQuestion { context, ..question() };
        judge(&settings(backend, &mock), &question).await.unwrap();
        let sent = mock.seen()[0].body.to_string();
        assert!(!sent.contains(TOKEN) && sent.contains("[redacted:"), "{sent}");
    }
}
