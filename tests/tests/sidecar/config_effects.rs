//! Every key of the configuration, through the real binary: the same script is played without the key and with it, and
//! what the sidecar does must differ in exactly what the case shows. No key may be without a case.

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
use rawr_tests::mock_endpoint::Reply;
use script::Step;

/// One key, and what it does.
struct Case {
    key: &'static str,
    /// In the file's notation. `{endpoint}` is where the world's endpoint is.
    value: &'static str,
    /// What it is otherwise; nothing: left out.
    otherwise: Option<&'static str>,
    /// Other keys, spelled out.
    also: &'static [&'static str],
    world: World,
    script: Vec<Step>,
    /// `-` what it does without the key, `+` with it.
    differs: Expect,
}

/// What the thread lives in.
#[derive(Debug, Clone, Default)]
struct World {
    /// What the host can do beside taking turns and compacting.
    can: &'static [Can],
    /// The thread's folder is a repository, with a `gt` that is this script.
    gt: Option<&'static str>,
    /// What a judge's endpoint replies.
    endpoint: Vec<Reply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Can {
    Steer,
    MidTurnCompact,
    Judge,
    Sample,
}

/// A case of a key in an ordinary world.
fn case(key: &'static str, value: &'static str, script: Vec<Step>, differs: Expect) -> Case {
    Case { key, value, otherwise: None, also: &[], world: World::default(), script, differs }
}

impl Case {
    fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    fn otherwise(self, value: &'static str) -> Self {
        Self { otherwise: Some(value), ..self }
    }

    fn replying(mut self, replies: &[Reply]) -> Self {
        self.world.endpoint = replies.to_vec();
        self
    }

    fn in_repository(mut self, gt: &'static str) -> Self {
        self.world.gt = Some(gt);
        self
    }

    fn can(mut self, can: &'static [Can]) -> Self {
        self.world.can = can;
        self
    }

    /// With or without the key.
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

fn check(cases: &[Case]) {
    cases.iter().for_each(Case::check);
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
