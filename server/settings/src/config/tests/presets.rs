//! What a preset is: the values that all other keys are laid over.

use super::*;
use rawr_core::policy::{ConfirmRule, Tier};

const CONFIRM: &str = "rawr_auto_compaction.policy.asap.confirm";

fn confirms(files: &Files) -> Vec<ConfirmRule> {
    let config = check_problems(files, expect![[""]]);
    Tier::ALL.map(|tier| config.policy.tiers.rule(tier).confirm).to_vec()
}

#[test]
fn a_preset_is_what_all_other_keys_are_laid_over() {
    use ConfirmRule::{Either, Message, None};
    let spec = rawr("[rawr_auto_compaction]\npreset = \"spec\"");
    assert_eq!(confirms(&spec), [None; 4]);
    let calm = rawr("[rawr_auto_compaction]\npreset = \"calm\"");
    assert_eq!(confirms(&calm), [Message, Message, Message, None]);
    assert_eq!(confirms(&Files::default()), confirms(&calm), "the default");
    let own = rawr(
        "[rawr_auto_compaction.policy.asap]\nconfirm = \"either\"\n[rawr_auto_compaction]\npreset = \"calm\"",
    );
    assert_eq!(confirms(&own), [Message, Message, Either, None], "wherever the preset is written");
    let (config, _) = calm.load();
    assert_eq!(value(&config, CONFIRM).0, json!("message"));
}

#[test]
fn a_project_does_not_choose_the_preset() {
    let files = Files { project: "[rawr_auto_compaction]\npreset = \"spec\"", ..Files::default() };
    let (config, problems) = files.load();
    assert_eq!(config.policy, Config::default().policy);
    assert!(problems.contains("project-may-only-narrow"), "{problems}");
}
