//! The keys of the judge, which a project's file must not set.

use super::*;
use rawr_core::policy::JudgeBackend;

const ALL: &str = r#"
[rawr_auto_compaction.judgment]
backend = "chat"
model = "llama"
base_url = "http://localhost:11434/v1"
api_key_env = ""
timeout_seconds = 5
max_retries = 0
reasoning_effort = "low"
for_advice = true
"#;

#[test]
fn by_default_no_endpoint_is_used() {
    let config = Config::default();
    assert_eq!(
        (config.judgment.backend, config.policy.judge),
        (JudgeBackend::Auto, JudgeBackend::Auto)
    );
}

#[test]
fn an_empty_address_is_the_default_one() {
    let files = Files {
        codex: ALL,
        rawr: "[rawr_auto_compaction.judgment]\nbase_url = \"\"",
        ..Files::default()
    };
    let config = check_problems(&files, expect![[""]]);
    assert_eq!(config.judgment.base_url, Config::default().judgment.base_url);
}

#[test]
fn a_project_cannot_configure_the_judge() {
    let project = r#"
[rawr_auto_compaction.judgment]
backend = "responses"
model = "other"
base_url = "https://example.org"
api_key_env = "AWS_SECRET_ACCESS_KEY"
timeout_seconds = 1
max_retries = 10
reasoning_effort = "high"
for_advice = false
"#;
    let files = Files { rawr: ALL, project, ..Files::default() };
    let config = check_problems(
        &files,
        expect![[r#"
            error[project-may-only-narrow] .rawr.toml at "\"AWS_SECRET_ACCESS_KEY\"": a project may not set `rawr_auto_compaction.judgment.api_key_env`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"responses\"": a project may not set `rawr_auto_compaction.judgment.backend`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"https://example.org\"": a project may not set `rawr_auto_compaction.judgment.base_url`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "false": a project may not set `rawr_auto_compaction.judgment.for_advice`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "10": a project may not set `rawr_auto_compaction.judgment.max_retries`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"other\"": a project may not set `rawr_auto_compaction.judgment.model`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"high\"": a project may not set `rawr_auto_compaction.judgment.reasoning_effort`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "1": a project may not set `rawr_auto_compaction.judgment.timeout_seconds`; set it in your own `rawr.toml`
        "#]],
    );
    assert_eq!(values(config), values(rawr(ALL).load().0));
}

#[test]
fn an_endpoint_without_a_model_is_reported() {
    check_problems(
        &rawr("[rawr_auto_compaction.judgment]\nbackend = \"responses\""),
        expect![[r#"
            warning[no-model] rawr.toml at "\"responses\"": a judge that uses an endpoint needs a model; set `rawr_auto_compaction.judgment.model`
        "#]],
    );
    check_problems(&rawr("[rawr_auto_compaction.judgment]\nbackend = \"host\""), expect![[""]]);
}

#[test]
fn a_timeout_longer_than_the_deadline_is_reported() {
    const LONGER: &str = "rawr_auto_compaction.deadlines.judgment_seconds = 20
rawr_auto_compaction.judgment.timeout_seconds = 21";
    const AS_LONG: &str = "rawr_auto_compaction.deadlines.judgment_seconds = 20
rawr_auto_compaction.judgment.timeout_seconds = 20";
    check_problems(
        &rawr(LONGER),
        expect![[r#"
        warning[never-in-time] rawr.toml at "21": the judge's timeout is 21 s, but rawr waits only 20 s; set `judgment.timeout_seconds` to at most `deadlines.judgment_seconds`
    "#]],
    );
    check_problems(&rawr(AS_LONG), expect![[""]]);
}

#[test]
fn an_address_must_be_http_without_a_password() {
    for (url, expected) in [
        ("https://example.org/v1", ""),
        ("http://[::1]:8080", ""),
        ("https://example.org/openai?api-version=1", ""),
        ("example.org/v1", "must be the address of an endpoint: relative URL without a base"),
        ("localhost:8080", "must begin with `https://` or `http://`"),
        ("file:///etc/passwd", "must begin with `https://` or `http://`"),
        (
            "https://me:hunter2@example.org",
            "must not contain a user or a password; use `api_key_env` instead",
        ),
        ("https://example.org/#v1", "must not contain a `#`"),
    ] {
        let text = format!("[rawr_auto_compaction.judgment]\nbase_url = \"{url}\"");
        check_message(text, expected);
    }
}

#[test]
fn an_api_key_instead_of_a_variable_is_refused_and_not_quoted() {
    for (name, expected) in [
        ("MY_KEY_2", ""),
        ("sk-proj-abcdefghijklmnop", "must be the name of an environment variable"),
        ("2KEY", "must be the name of an environment variable"),
        ("$OPENAI_API_KEY", "must be the name of an environment variable"),
    ] {
        check_message(
            format!("[rawr_auto_compaction.judgment]\napi_key_env = \"{name}\""),
            expected,
        );
    }
}

/// `expected` follows the key's name. If empty, there must be no problem.
#[track_caller]
fn check_message(text: String, expected: &str) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("rawr.toml"), &text).unwrap();
    let (_, problems) = ConfigSources::at(&Home::at(home.path())).load();
    let rest = |problem: &'_ FileProblem| {
        problem.message.split_once("` ").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    };
    let mistakes = problems.iter().filter(|problem| problem.code != "fails-closed");
    let told: Vec<_> = mistakes.map(rest).collect();
    let expected: Vec<_> = (!expected.is_empty()).then_some(expected).into_iter().collect();
    assert_eq!(told, expected, "{text}");
}
