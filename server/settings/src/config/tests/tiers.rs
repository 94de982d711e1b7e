//! Every tier has the same keys, and each key changes its own tier alone. What a key does is shown once, by a script.

use super::*;

/// The tiers and the keys whose values differ from the default if the file has this line.
fn changed_by(line: String) -> (Vec<Tier>, Vec<String>) {
    let (config, _) = rawr(String::leak(line)).load();
    let default = Config::default();
    let is_changed =
        |tier: &Tier| config.policy.tiers.rule(*tier) != default.policy.tiers.rule(*tier);
    let before = default.effective();
    let keys = config.effective().into_iter();
    let keys = keys.filter(|(key, now)| now.get("value") != before[key].get("value"));
    (Tier::ALL.into_iter().filter(is_changed).collect(), keys.map(|(key, _)| key).collect())
}

/// A value that the key has in no tier by default.
fn other_value(key: &'static ConfigKey) -> &'static str {
    match key.kind {
        KeyKind::Percent(_) | KeyKind::Number(_) => "7",
        KeyKind::Boundaries { .. } => r#"["turn_complete"]"#,
        KeyKind::Switch if key.default_value() == Some(json!(true)) => "false",
        KeyKind::Switch => "true",
        KeyKind::Word(_) => r#""idle""#,
        _ => r#""other.md""#,
    }
}

#[test]
fn a_key_of_a_tier_changes_this_tier_alone() {
    let of_tier = |tier: Tier| {
        let table = format!("rawr_auto_compaction.policy.{tier}");
        keys().filter(move |key| key.table() == table)
    };
    let names: Vec<_> = of_tier(Tier::Early).map(ConfigKey::name).collect();
    assert!(!names.is_empty());
    for tier in Tier::ALL {
        assert_eq!(of_tier(tier).map(ConfigKey::name).collect::<Vec<_>>(), names);
        for key in of_tier(tier) {
            let changed = changed_by(format!("{} = {}", key.path, other_value(key)));
            assert_eq!(changed, (vec![tier], vec![key.path.to_owned()]));
        }
    }
}

#[test]
fn a_short_form_sets_the_keys_of_its_tiers() {
    for tier in Tier::ALL {
        let changed = changed_by(format!("rawr_auto_compaction.{tier}_percent_remaining_lt = 7"));
        assert_eq!(changed, (vec![tier], vec![threshold(tier)]));
    }
    let tiers = vec![Tier::Early, Tier::Ready, Tier::Asap];
    let (changed, mut keys) = changed_by(
        "rawr_auto_compaction.auto_requires_any_boundary = [\"turn_complete\"]".to_owned(),
    );
    keys.sort();
    let mut expected: Vec<_> = tiers.iter().map(|tier| required(*tier)).collect();
    expected.sort();
    assert_eq!((changed, keys), (tiers, expected));
}
