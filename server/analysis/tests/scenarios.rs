//! What comes of scenarios, and which expectations that meets.

use expect_test::{Expect, expect};
use rawr_analysis::play::ScriptedJudge;
use rawr_analysis::scenario::ScenarioStep::{
    Agent, Compacted, End, Plan, Run, Say, Steer, Usage, User, Wait,
};
use rawr_analysis::scenario::{
    ContextSize, Expectation, MisplacedStep, PlayedScenario, Scenario, ScenarioOutcome,
    ScenarioStep,
};
use rawr_core::assess::Gate;
use rawr_core::boundary::Boundary;
use rawr_core::event::{CompactionOrigin, TurnStatus};
use rawr_core::policy::{ConfirmRule, JudgeBackend, MidTurn, Policy, Preset, Tier};
use rawr_core::prompt::Prompts;
use rawr_core::signal::plan::{PlanItem, StepStatus};
use rawr_core::units::Tokens;

fn user(text: &str) -> ScenarioStep {
    User(text.to_owned())
}

fn agent(text: &str) -> ScenarioStep {
    Agent(text.to_owned())
}

fn run(command: &str) -> ScenarioStep {
    Run { command: command.to_owned(), exit_code: 0 }
}

fn used(percent: u8) -> ScenarioStep {
    Usage(ContextSize::Used(percent))
}

fn plan(steps: &[(&str, StepStatus)]) -> ScenarioStep {
    let item = |(step, status): &(&str, StepStatus)| PlanItem {
        step: (*step).to_owned(),
        status: *status,
    };
    Plan(steps.iter().map(item).collect())
}

/// A turn that commits at 60% in use.
fn commit() -> Vec<ScenarioStep> {
    vec![
        user("Fix the parser, please: it loses the last line."),
        run("git commit -am 'Keep the last line'"),
        used(60),
        agent("I fixed the parser and committed it."),
    ]
}

fn and(mut steps: Vec<ScenarioStep>, more: Vec<ScenarioStep>) -> Vec<ScenarioStep> {
    steps.extend(more);
    steps
}

fn scenario(steps: Vec<ScenarioStep>) -> Scenario {
    let (window, judge) = (Tokens(200_000), ScriptedJudge::Silent);
    Scenario { window, judge, steps, expected: Vec::new() }
}

fn play(policy: &Policy, scenario: &Scenario) -> PlayedScenario {
    assert_eq!(Scenario::misplaced(&scenario.steps), []);
    scenario.play(policy, &Prompts::new(|name| name.name().to_owned()))
}

/// The outcome, what happened, and each decision with the gates that failed.
fn told(played: &PlayedScenario) -> String {
    let mut told = format!("{}: {}\n", played.outcome.name(), played.summary());
    for placed in &played.decisions {
        let failed: Vec<_> = placed.decision.failed.iter().map(|it| it.gate.name()).collect();
        told += &format!("{} {} [{}]\n", placed.step, placed.headline(), failed.join(", "));
    }
    told
}

fn check(policy: &Policy, steps: Vec<ScenarioStep>, expected: Expect) {
    expected.assert_eq(&told(&play(policy, &scenario(steps))));
}

fn spec() -> Policy {
    Policy::preset(Preset::Spec)
}

fn calm() -> Policy {
    Policy::preset(Preset::Calm)
}

fn by_silence() -> Policy {
    let mut policy = calm();
    policy.tiers.ready.confirm = ConfirmRule::Either;
    policy
}

#[test]
fn a_turn_end_compacts_or_proposes_by_the_preset() {
    check(
        &spec(),
        commit(),
        expect![[r#"
            compact: compact at step 4 (asap, commit, agent_done)
            4 compact: 40% left (asap) at commit, agent done []
        "#]],
    );
    check(
        &calm(),
        commit(),
        expect![[r#"
            propose: propose at step 4 (ready, commit, agent_done)
            4 propose: 40% left (ready) at commit, agent done; your next message decides []
        "#]],
    );
}

#[test]
fn the_next_message_confirms_or_drops_a_proposal() {
    let next = |text: &str| and(commit(), vec![user(text)]);
    check(
        &calm(),
        next("Great. New topic: write the release notes."),
        expect![[r#"
            compact: propose at step 4 (ready, commit, agent_done), compact at step 5 (ready, commit, agent_done)
            4 propose: 40% left (ready) at commit, agent done; your next message decides []
            5 compact: 40% left (ready) at commit, agent done; the next message opens something new (76%: 'write', no words of the agent) []
        "#]],
    );
    check(
        &calm(),
        next("No, it still loses the last line."),
        expect![[r#"
            nothing: propose at step 4 (ready, commit, agent_done), dropped at step 5
            4 propose: 40% left (ready) at commit, agent done; your next message decides []
            5 nothing: proposed at commit, agent done; dropped, because the next message goes on with the same work (96%: 'still', corrects, a short message) [confirmation]
        "#]],
    );
}

#[test]
fn silence_counts_only_where_a_step_waits() {
    check(
        &by_silence(),
        commit(),
        expect![[r#"
            propose: propose at step 4 (ready, commit, agent_done)
            4 propose: 40% left (ready) at commit, agent done; your next message or 4 minutes of silence decides []
        "#]],
    );
    check(
        &by_silence(),
        and(commit(), vec![Wait(60)]),
        expect![[r#"
            propose: propose at step 4 (ready, commit, agent_done)
            4 propose: 40% left (ready) at commit, agent done; your next message or 4 minutes of silence decides []
        "#]],
    );
    check(
        &by_silence(),
        and(commit(), vec![Wait(240)]),
        expect![[r#"
            compact: propose at step 4 (ready, commit, agent_done), compact at step 5 (ready, commit, agent_done)
            4 propose: 40% left (ready) at commit, agent done; your next message or 4 minutes of silence decides []
            5 compact: 40% left (ready) at commit, agent done; nothing was said for 4 minutes []
        "#]],
    );
}

#[test]
fn what_is_above_every_tier_is_told_too() {
    check(
        &spec(),
        vec![user("x"), used(5), agent("Done.")],
        expect![[r#"
        nothing: nothing
        3 nothing: 95% left [pressure, packet_worth]
    "#]],
    );
}

#[test]
fn only_a_request_that_another_follows_is_inside_the_turn() {
    let mut policy = spec();
    policy.mid_turn = MidTurn::Policy;
    let steps = |then: ScenarioStep| {
        vec![user("x"), run("git commit -m x"), Say("Now the docs.".to_owned()), used(60), then]
    };
    check(
        &policy,
        steps(agent("Now the docs.")),
        expect![[r#"
            compact: compact at step 5 (asap, commit, topic_shift)
            5 compact: 40% left (asap) at commit, new topic []
        "#]],
    );
    check(
        &policy,
        steps(run("ls")),
        expect![[r#"
            compact: compact at step 4 (asap, commit, topic_shift)
            4 compact: 40% left (asap) at commit, new topic, inside the turn []
        "#]],
    );
    check(
        &policy,
        steps(Steer("And the tests.".to_owned())),
        expect![[r#"
            compact: compact at step 4 (asap, commit, topic_shift)
            4 compact: 40% left (asap) at commit, new topic, inside the turn []
        "#]],
    );
}

#[test]
fn after_a_compaction_the_context_is_what_the_steps_say() {
    let again = vec![user("More."), run("git commit -m y"), used(40), agent("Committed.")];
    check(
        &spec(),
        and(commit(), again),
        expect![[r#"
            compact: compact at step 4 (asap, commit, agent_done), compact at step 8 (asap, commit, agent_done)
            4 compact: 40% left (asap) at commit, agent done []
            8 compact: 60% left (asap) at commit, agent done []
        "#]],
    );
}

#[test]
fn the_host_and_a_person_may_compact() {
    let steps = |by: CompactionOrigin| {
        let more = vec![user("More."), run("git commit -m y"), used(62), agent("Committed.")];
        and(vec![user("x"), used(60), agent("Hm."), Compacted(by)], more)
    };
    check(
        &spec(),
        steps(CompactionOrigin::Host),
        expect![[r#"
        nothing: nothing
        3 nothing: 40% left (asap) [boundary, packet_worth]
        8 nothing: 38% left (asap) [rearm, packet_worth]
    "#]],
    );
    check(
        &spec(),
        steps(CompactionOrigin::User),
        expect![[r#"
        nothing: nothing
        3 nothing: 40% left (asap) [boundary, packet_worth]
        8 nothing: 38% left (asap) [rearm, packet_worth]
    "#]],
    );
}

#[test]
fn an_interrupted_turn_does_not_compact() {
    let steps = vec![user("x"), run("git commit -m x"), used(60), End(TurnStatus::Interrupted)];
    check(
        &spec(),
        steps,
        expect![[r#"
        nothing: nothing
        3 nothing: 40% left (asap), inside the turn [mode]
        4 nothing: 40% left (asap) [active_work]
    "#]],
    );
}

#[test]
fn a_plan_update_alone_does_not_compact() {
    use StepStatus::{InProgress, Pending};
    let steps = vec![
        user("Rework the store."),
        plan(&[("read", InProgress), ("write", Pending)]),
        used(60),
        agent("I am in the middle of the reader."),
    ];
    check(
        &spec(),
        steps,
        expect![[r#"
        nothing: nothing
        4 nothing: 40% left (asap) [weak_boundary]
    "#]],
    );
}

#[test]
fn a_failed_command_gives_no_boundary() {
    let failed = Run { command: "git commit -m x".to_owned(), exit_code: 1 };
    check(
        &spec(),
        vec![user("x"), failed, used(60), agent("It failed.")],
        expect![[r#"
        nothing: nothing
        4 nothing: 40% left (asap) [boundary, packet_worth]
    "#]],
    );
}

#[test]
fn switched_off_it_stays_off_but_for_the_built_in_compaction() {
    let mut policy = spec();
    policy.enabled = false;
    check(
        &policy,
        commit(),
        expect![[r#"
        nothing: nothing
        4 nothing: 40% left (asap) [feature]
    "#]],
    );
    policy.inline.enabled = true;
    policy.inline.threshold_percent = 50;
    check(
        &policy,
        commit(),
        expect![[r#"
        compact: compact at step 4
        4 compact: 40% left is below 50% (auto_compact) []
    "#]],
    );
}

#[test]
fn the_judge_answers_as_the_scenario_has_it() {
    let mut policy = spec();
    policy.tiers.asap.decision_prompt_path = Some("judge.md".to_owned());
    let check = |backend: JudgeBackend, judge: ScriptedJudge, expected: ScenarioOutcome| {
        let policy = Policy { judge: backend, ..policy.clone() };
        let played = play(&policy, &Scenario { judge, ..scenario(commit()) });
        assert_eq!(played.outcome, expected, "{backend:?} {judge:?}\n{}", told(&played));
    };
    for backend in [JudgeBackend::Auto, JudgeBackend::Host, JudgeBackend::Chat] {
        check(backend, ScriptedJudge::Yes, ScenarioOutcome::Compact);
        check(backend, ScriptedJudge::No, ScenarioOutcome::Nothing);
    }
    check(JudgeBackend::Chat, ScriptedJudge::Silent, ScenarioOutcome::Compact);
    policy.tiers.ready.decision_prompt_path = Some("judge.md".to_owned());
    policy.tiers.asap.percent_remaining_lt = 0;
    let policy = Policy { judge: JudgeBackend::Chat, ..policy };
    let played = play(&policy, &scenario(commit()));
    let stopped_by = Some(Gate::Judgment);
    let stopped = Expectation { stopped_by, ..Expectation::of(ScenarioOutcome::Nothing) };
    assert!(played.meets(&stopped), "{}", told(&played));
}

#[test]
fn sizes_are_of_the_window() {
    let left = |window: u64, size: ContextSize| {
        let steps = vec![user("x"), Usage(size), agent("Done.")];
        let played = play(&spec(), &Scenario { window: Tokens(window), ..scenario(steps) });
        let first = &played.decisions[0].decision;
        (first.percent.unwrap().0, first.tokens.unwrap().0)
    };
    assert_eq!(left(200_000, ContextSize::Used(65)), (35, 130_000));
    assert_eq!(left(200_000, ContextSize::Left(35)), (35, 130_000));
    assert_eq!(left(1_000_000, ContextSize::Tokens(Tokens(130_000))), (87, 130_000));
    assert_eq!(left(333, ContextSize::Left(35)), (35, 217));
    assert_eq!(left(1000, ContextSize::Used(1)), (99, 10));
    assert_eq!(left(1000, ContextSize::Tokens(Tokens(5000))), (0, 5000));
}

#[test]
fn a_step_that_cannot_come_where_it_is_is_found() {
    use MisplacedStep::{InsideTurn, OutsideTurn};
    let check = |steps: &[ScenarioStep], expected: &[(usize, MisplacedStep)]| {
        assert_eq!(Scenario::misplaced(steps), expected, "{steps:?}");
    };
    check(&commit(), &[]);
    check(&[Wait(1), user("x"), Wait(1), agent("y"), Wait(1)], &[]);
    check(&[user("x"), user("y")], &[(1, InsideTurn)]);
    check(
        &[used(1), run("x"), agent("y")],
        &[(0, OutsideTurn), (1, OutsideTurn), (2, OutsideTurn)],
    );
    check(&[user("x"), End(TurnStatus::Failed), Steer("y".to_owned())], &[(2, OutsideTurn)]);
    check(&[Compacted(CompactionOrigin::Host), user("x"), agent("y"), user("z")], &[]);
}

/// Expectations of one scenario: a proposal at step 4 that the message of step 5 confirms.
#[test]
fn an_expectation_counts_what_it_names() {
    let confirmed = and(commit(), vec![user("Great. New topic: write the release notes.")]);
    let compacts = play(&calm(), &scenario(confirmed));
    let proposes = play(&calm(), &scenario(commit()));
    let dropped = and(commit(), vec![user("No, it still loses the last line.")]);
    let drops = play(&calm(), &scenario(dropped));
    let nothing = Expectation::of(ScenarioOutcome::Nothing);
    let propose = Expectation::of(ScenarioOutcome::Propose);
    let compact = Expectation::of(ScenarioOutcome::Compact);
    let tier = Some(Tier::Ready);
    let other = Some(Tier::Early);
    let boundary = Some(Boundary::Commit);
    for (expected, meets) in [
        // compacts, proposes, drops
        (compact.clone(), [true, false, false]),
        (propose.clone(), [false, true, false]),
        (nothing.clone(), [false, false, true]),
        (Expectation { at_step: Some(5), ..compact.clone() }, [true, false, false]),
        (Expectation { at_step: Some(4), ..compact.clone() }, [false; 3]),
        (Expectation { at_step: Some(4), ..propose.clone() }, [true; 3]),
        (Expectation { at_step: Some(4), ..nothing.clone() }, [false; 3]),
        (Expectation { at_step: Some(2), ..nothing.clone() }, [true; 3]),
        (Expectation { at_step: Some(5), ..nothing.clone() }, [false, true, true]),
        (Expectation { tier, boundary, ..compact.clone() }, [true, false, false]),
        (Expectation { tier: other, ..compact.clone() }, [false; 3]),
        (Expectation { boundary: Some(Boundary::Pushed), ..compact.clone() }, [false; 3]),
        (Expectation { times: Some(1), ..compact.clone() }, [true, false, false]),
        (Expectation { times: Some(2), ..compact }, [false; 3]),
        (Expectation { times: Some(1), at_step: Some(4), ..propose }, [true; 3]),
        (
            Expectation { stopped_by: Some(Gate::Confirmation), ..nothing.clone() },
            [false, false, true],
        ),
        (Expectation { stopped_by: Some(Gate::Guard), ..nothing }, [false; 3]),
    ] {
        let found = [&compacts, &proposes, &drops].map(|played| played.meets(&expected));
        assert_eq!(found, meets, "{expected}");
    }
}

#[test]
fn an_expectation_is_told_in_one_line() {
    let expectation = Expectation {
        at_step: Some(8),
        tier: Some(Tier::Ready),
        boundary: Some(Boundary::Commit),
        times: Some(1),
        ..Expectation::of(ScenarioOutcome::Compact)
    };
    assert_eq!(expectation.to_string(), "compact at step 8 (ready, commit), once");
    let stopped = Expectation {
        stopped_by: Some(Gate::WeakBoundary),
        ..Expectation::of(ScenarioOutcome::Nothing)
    };
    assert_eq!(stopped.to_string(), "nothing (stopped by weak_boundary)");
}
