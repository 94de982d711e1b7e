//! Keys whose effect is in the sidecar, through the real binary: the same script runs without the key and with it, and the
//! outputs must differ exactly as the case shows. Keys by which the core decides have a script in
//! `tests/scripts/configuration/keys` instead.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod cases;
mod difference;
mod fixture;
mod models;
mod script;
mod story;

use expect_test::Expect;
use fixture::ConfigEffectsFixture;
use rawr_settings::config::keys;
use rawr_tests::config_keys::keys_shown_by;
use rawr_tests::mock_endpoint::ScriptedReply;
use script::CaseStep;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// One key and its effect.
struct KeyCase {
    key: &'static str,
    /// As TOML. `{endpoint}` is replaced by the address of the mock endpoint.
    value: &'static str,
    /// The value of the run without the key. `None`: omitted.
    otherwise: Option<&'static str>,
    /// Other keys, with their values.
    also: &'static [&'static str],
    /// The thread's folder is a repository, and `gt` is this script.
    gt: Option<&'static str>,
    /// The replies of a judge's endpoint.
    endpoint: Vec<ScriptedReply>,
    script: &'static [CaseStep],
    /// Lines without the key after `-`, with it after `+`.
    differs: Expect,
}

/// A case in the default environment.
const fn case(
    key: &'static str,
    value: &'static str,
    script: &'static [CaseStep],
    differs: Expect,
) -> KeyCase {
    KeyCase {
        key,
        value,
        otherwise: None,
        also: &[],
        gt: None,
        endpoint: Vec::new(),
        script,
        differs,
    }
}

impl KeyCase {
    fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    fn otherwise(self, value: &'static str) -> Self {
        Self { otherwise: Some(value), ..self }
    }

    fn replying(self, replies: &[ScriptedReply]) -> Self {
        Self { endpoint: replies.to_vec(), ..self }
    }

    fn in_repository(self, gt: &'static str) -> Self {
        Self { gt: Some(gt), ..self }
    }

    /// The configuration with or without the key.
    fn config(&self, with: bool) -> String {
        let value = if with { Some(self.value) } else { self.otherwise };
        let line = value.map(|value| format!("{} = {value}", self.key));
        self.also.iter().map(|line| (*line).to_owned()).chain(line).collect::<Vec<_>>().join("\n")
    }

    fn check(&self) {
        let story = |with| ConfigEffectsFixture::open(self, with).play(self.script);
        let difference = difference::of(&story(false), &story(true));
        assert!(!difference.is_empty(), "{} does nothing", self.key);
        self.differs.assert_eq(&difference);
    }
}

fn check(cases: &[KeyCase]) {
    cases.iter().for_each(KeyCase::check);
}

#[test]
fn every_key_is_shown_by_one_script_or_one_case() {
    const SCRIPTS: &str = "scripts/configuration/keys";
    let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |name: &str, place: String| {
        for key in keys_shown_by(name) {
            shown.entry(key).or_default().push(place.clone());
        }
    };
    for entry in Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPTS).read_dir().unwrap() {
        let script = entry.unwrap().path();
        let name = script.file_stem().unwrap().to_str().unwrap();
        add(name, format!("tests/{SCRIPTS}/{name}.txt"));
    }
    for case in cases::all() {
        add(case.key, "a case of tests/tests/sidecar/config_effects/cases".to_owned());
    }
    let mut wrong = String::new();
    for key in keys().map(|key| key.path) {
        let places = shown.remove(key).unwrap_or_default();
        match places.as_slice() {
            [_] => Ok(()),
            [] => writeln!(
                wrong,
                "nothing shows {key}: if the core decides by it, add tests/{SCRIPTS}/{key}.txt \
                 (TIER instead of a tier), otherwise a case in \
                 tests/tests/sidecar/config_effects/cases"
            ),
            more => writeln!(wrong, "{key} is shown more than once: {}", more.join(", ")),
        }
        .unwrap();
    }
    for (unknown, places) in shown {
        writeln!(wrong, "no key {unknown}: {}", places.join(", ")).unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
}
