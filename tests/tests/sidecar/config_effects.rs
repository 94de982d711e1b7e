//! Every configuration key through the real binary: the same script runs without the key and with it, and the outputs
//! must differ exactly as the case shows. Every key must have a case.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod cases;
mod difference;
mod fixture;
mod models;
mod script;
mod story;

use expect_test::Expect;
use fixture::ConfigEffectsFixture;
use rawr_server::config::keys;
use rawr_tests::mock_endpoint::ScriptedReply;
use script::CaseStep;

/// One key and its effect.
struct KeyCase {
    key: &'static str,
    /// As TOML. `{endpoint}` is replaced by the address of the mock endpoint.
    value: &'static str,
    /// The value of the run without the key. `None`: omitted.
    otherwise: Option<&'static str>,
    /// Other keys, with their values.
    also: &'static [&'static str],
    world: CaseEnvironment,
    script: Vec<CaseStep>,
    /// Lines without the key after `-`, with it after `+`.
    differs: Expect,
}

/// The environment of the thread.
#[derive(Debug, Clone, Default)]
struct CaseEnvironment {
    /// The host's capabilities besides turns and compactions.
    can: &'static [HostAbility],
    /// The thread's folder is a repository, and `gt` is this script.
    gt: Option<&'static str>,
    /// The replies of a judge's endpoint.
    endpoint: Vec<ScriptedReply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostAbility {
    Steer,
    MidTurnCompact,
    Judge,
    Sample,
    Queue,
}

/// A case in the default environment.
fn case(key: &'static str, value: &'static str, script: Vec<CaseStep>, differs: Expect) -> KeyCase {
    KeyCase {
        key,
        value,
        otherwise: None,
        also: &[],
        world: CaseEnvironment::default(),
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

    fn replying(mut self, replies: &[ScriptedReply]) -> Self {
        self.world.endpoint = replies.to_vec();
        self
    }

    fn in_repository(mut self, gt: &'static str) -> Self {
        self.world.gt = Some(gt);
        self
    }

    fn can(mut self, can: &'static [HostAbility]) -> Self {
        self.world.can = can;
        self
    }

    /// The configuration with or without the key.
    fn config(&self, with: bool) -> String {
        let value = if with { Some(self.value) } else { self.otherwise };
        let line = value.map(|value| format!("{} = {value}", self.key));
        self.also.iter().map(|line| (*line).to_owned()).chain(line).collect::<Vec<_>>().join("\n")
    }

    fn check(&self) {
        let story = |with| {
            ConfigEffectsFixture::open(&self.config(with), &self.world, with).play(&self.script)
        };
        let difference = difference::of(&story(false), &story(true));
        assert!(!difference.is_empty(), "{} does nothing", self.key);
        self.differs.assert_eq(&difference);
    }
}

fn check(cases: &[KeyCase]) {
    cases.iter().for_each(KeyCase::check);
}

#[test]
fn every_key_has_a_case_and_every_case_a_key() {
    let cases: Vec<_> = cases::all().iter().map(|case| case.key).collect();
    let without: Vec<_> = keys().map(|key| key.path).filter(|path| !cases.contains(path)).collect();
    assert_eq!(without, Vec::<&str>::new(), "add a case that shows what the key does");
    let unknown: Vec<_> =
        cases.iter().filter(|case| keys().all(|key| key.path != **case)).collect();
    assert_eq!(unknown, Vec::<&&str>::new());
}
