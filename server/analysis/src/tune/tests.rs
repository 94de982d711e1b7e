//! Candidates, changes of files, and the ranking, without sessions.

use super::*;
use rawr_core::boundary::Boundary;
use rawr_core::policy::Preset;

/// The candidates for a file whose policy is that of the preset.
fn of(text: &str, preset: Preset, places: &[Boundary]) -> Vec<Candidate> {
    candidates(text, &Policy::preset(preset), Boundaries::of(places)).unwrap()
}

fn keys(candidate: &Candidate) -> Vec<String> {
    candidate.changes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_candidate_differs_from_the_configuration_and_from_all_others() {
    let found = of("", Preset::Calm, &[]);
    assert_eq!(found[0].changes, []);
    for (at, candidate) in found.iter().enumerate() {
        assert!(found[..at].iter().all(|other| other.text != candidate.text), "{at}");
    }
    // The preset is among the pressures and the cooldowns; its percentages differ by tier.
    assert_eq!(found.len(), 4 * 3 * 4);
}

#[test]
fn without_a_confirmation_its_percentage_is_left_alone() {
    let found = of("", Preset::Spec, &[]);
    let all: Vec<_> = found.iter().flat_map(keys).collect();
    assert!(!all.iter().any(|key| key.contains("confirm_percent")), "{all:?}");
}

#[test]
fn every_candidate_compacts_only_where_the_target_wants_it() {
    let found = of("", Preset::Calm, &[Boundary::Commit]);
    assert!(!found[0].is_at_places);
    let wanted = "rawr_auto_compaction.auto_requires_any_boundary = [\"commit\"]".to_owned();
    assert!(found[1..].iter().all(|it| it.is_at_places && keys(it).contains(&wanted)));
    let mut policy = Policy::preset(Preset::Calm);
    for tier in [Tier::Early, Tier::Ready, Tier::Asap] {
        policy.tiers.rule_mut(tier).required = Some(Boundaries::of(&[Boundary::Commit]));
    }
    let places = Boundaries::of(&[Boundary::Commit, Boundary::Pushed]);
    assert!(candidates("", &policy, places).unwrap()[0].is_at_places);
}

#[test]
fn a_change_leaves_comments_and_layout_and_the_short_form_of_a_key() {
    let text = "\
# mine
[rawr_auto_compaction]
preset = \"spec\" # old
early_percent_remaining_lt = 80 # soon
[rawr_auto_compaction.policy.ready]
requires_any_boundary = [\"commit\"]
";
    let mut document: DocumentMut = text.parse().unwrap();
    let pressure = Change::Pressure([(40, 1), (32, 2), (25, 3)]);
    let places = Change::Boundaries(Boundaries::of(&[Boundary::Commit, Boundary::Pushed]));
    let mut changed = Vec::new();
    for change in [pressure, places] {
        changed.extend(change.make(&mut document).unwrap());
    }
    expect_test::expect![[r##"
        # mine
        [rawr_auto_compaction]
        preset = "spec" # old
        early_percent_remaining_lt = 40 # soon
        auto_requires_any_boundary = ["commit", "pushed"]
        [rawr_auto_compaction.policy.ready]
        requires_any_boundary = ["commit", "pushed"]
        percent_remaining_lt = 32
        tokens_used_gt = 2

        [rawr_auto_compaction.policy.early]
        tokens_used_gt = 1

        [rawr_auto_compaction.policy.asap]
        percent_remaining_lt = 25
        tokens_used_gt = 3
    "##]]
    .assert_eq(&document.to_string());
    assert_eq!(changed.len(), 8);
}

#[test]
fn a_value_where_a_table_belongs_is_an_error() {
    let error =
        candidates("rawr_auto_compaction = 1", &Policy::preset(Preset::Calm), Boundaries::NONE);
    assert_eq!(error.err().unwrap(), "`rawr_auto_compaction` is no table");
    let error = candidates("x = [", &Policy::preset(Preset::Calm), Boundaries::NONE);
    assert!(error.err().unwrap().contains("unclosed array"));
}

fn tuned(reaches_target: bool, fires: u32, late: u32, changes: usize) -> TunedConfiguration {
    let change = ChangedKey { key: "k".to_owned(), value: "1".to_owned() };
    let totals = ReplayTotals {
        fires,
        host_compactions_unforeseen: late,
        active_ms: 3_600_000,
        ..ReplayTotals::default()
    };
    TunedConfiguration {
        changes: vec![change; changes],
        reaches_target,
        totals,
        text: String::new(),
    }
}

#[test]
fn the_target_counts_first_then_lateness_then_the_smaller_change() {
    let ranked = [
        tuned(true, 2, 0, 3),
        tuned(true, 1, 1, 1),
        tuned(true, 2, 1, 1),
        tuned(true, 1, 1, 2),
        tuned(false, 3, 5, 1),
        tuned(false, 4, 0, 1),
    ];
    for (at, pair) in ranked.windows(2).enumerate() {
        assert!(pair[0].by_rank(&pair[1]).is_lt(), "{at}");
    }
}
