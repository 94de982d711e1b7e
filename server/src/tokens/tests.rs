//! Names of encodings and models, and counts that do not depend on how a text is split.

use super::*;

fn chosen(encoding: Option<&str>, model: Option<&str>) -> &'static str {
    CountMethod::choose(encoding, model).name()
}

#[test]
fn an_encoding_is_chosen_by_its_name_or_by_a_model() {
    let cases = [
        ("gpt-5", "o200k_base"),
        ("gpt-5.3-codex", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("openai/GPT-4o-mini", "o200k_base"),
        ("ft:gpt-4o:my-org::abc", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("codex-mini-latest", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-pro", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-32k", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("gpt-35-turbo", "cl100k_base"),
        ("gpt-6", "bytes/4"),
        ("gpt-4.7", "bytes/4"),
        ("gpt-50", "bytes/4"),
        ("o10", "bytes/4"),
        ("claude-opus-5", "bytes/4"),
        ("", "bytes/4"),
    ];
    for (model, method) in cases {
        let method = if engine::BUILT_IN { method } else { "bytes/4" };
        assert_eq!(chosen(None, Some(model)), method, "{model}");
    }
}

#[test]
fn an_encoding_overrides_the_model_and_an_unknown_one_is_estimated() {
    let exact = |name| if engine::BUILT_IN { name } else { "bytes/4" };
    assert_eq!(chosen(Some("cl100k_base"), Some("gpt-5")), exact("cl100k_base"));
    assert_eq!(chosen(Some("p50k_base"), Some("gpt-5")), "bytes/4");
    assert_eq!(chosen(None, None), "bytes/4");
}

#[tokio::test]
async fn an_estimate_is_four_bytes_per_token() {
    let tokens = TokenService::default();
    let count = tokens.count(CountMethod::Estimate, "hello".to_owned()).await;
    assert_eq!(count.unwrap(), 2);
    let both = tokens.with(CountMethod::Estimate, |count| count("hello") + count("")).await;
    assert_eq!(both.unwrap(), 2);
}

#[tokio::test]
async fn a_panic_fails_its_own_work_only() {
    let worker = WorkerThread::<CountMemory>::new("tokens");
    let failed = worker.run(|_| -> u64 { panic!("on purpose") });
    let next = worker.run(|_| 7);
    let (failed, next) = futures::join!(failed, next);
    assert!(matches!(failed, Err(TokenCountError::Failed)));
    assert_eq!(next.unwrap(), 7);
}

#[cfg(feature = "exact-tokens")]
mod exact;
