//! The checks behind the gates, in the order of evaluation. Each returns its evidence.

use super::{GateContext, GateFinding, Judgment, Question, judge};
use crate::boundary::{Boundaries, Boundary};
use crate::event::{HostAction, JudgeReply, TurnStatus};
use crate::policy::{ConfirmRule, JudgeBackend, MidTurn, Mode, Pressure, Tier};
use crate::thread::breaker::Hold;
use crate::thread::{Thread, Turn};
use crate::units::{Percent, Seconds, Tokens};
use std::borrow::Cow;

/// For people.
pub(super) const TOO_LONG: &str = "the model refused the conversation as too long";

fn pass(evidence: impl Into<Cow<'static, str>>) -> GateFinding {
    GateFinding::Pass(evidence.into())
}

fn fail(evidence: impl Into<String>, would_fire_if: impl Into<String>) -> GateFinding {
    GateFinding::Fail { evidence: evidence.into(), would_fire_if: would_fire_if.into() }
}

pub(super) fn feature(case: &GateContext<'_>) -> GateFinding {
    match (case.policy.enabled, case.is_inline(), case.policy.inline.enabled) {
        (true, false, _) => pass("features.rawr_auto_compaction is on"),
        (false, true, true) => {
            pass("features.rawr_auto_compaction is off, and auto_compact.enabled is on")
        }
        (true, true, _) => {
            fail("features.rawr_auto_compaction is on", "features.rawr_auto_compaction = false")
        }
        (false, true, false) => fail("auto_compact.enabled is off", "auto_compact.enabled = true"),
        (false, false, _) => {
            fail("features.rawr_auto_compaction is off", "features.rawr_auto_compaction = true")
        }
    }
}

pub(super) fn pressure(case: &GateContext<'_>) -> GateFinding {
    if case.overflows.is_some() {
        return pass(TOO_LONG);
    }
    let Some(percent) = case.percent else {
        let missing =
            if case.thread.gauge.context.is_none() { "token usage" } else { "the context window" };
        return fail(format!("{missing} is not known"), format!("the host reports {missing}"));
    };
    if case.is_inline() {
        let threshold = Percent(case.policy.inline.threshold_percent);
        return if percent < threshold {
            pass(format!("{percent} left is below {threshold} (auto_compact)"))
        } else {
            fail(
                format!("{percent} left is not below {threshold} (auto_compact)"),
                format!("less than {threshold} is left"),
            )
        };
    }
    match case.rule() {
        Some((tier, rule)) => {
            let pressure = Pressure { remaining: percent, used: case.thread.gauge.context };
            let threshold = Percent(rule.percent_remaining_lt);
            let by = rule.set_by.as_deref().map(|by| format!(", set by {by}")).unwrap_or_default();
            let is_capped = case.policy.tiers.pick(pressure) != Some(tier);
            let assumed = if is_capped { "; an assumed window is no emergency" } else { "" };
            let by_tokens = (percent >= threshold).then_some(rule.tokens_used_gt).flatten();
            pass(match by_tokens.zip(pressure.used) {
                Some((most, used)) => {
                    format!("{used} tokens used are above {most} ({tier}{by}){assumed}")
                }
                None => format!("{percent} left is below {threshold} ({tier}{by}){assumed}"),
            })
        }
        None => {
            let highest = Tier::ALL
                .map(|tier| case.policy.tiers.rule(tier).percent_remaining_lt)
                .into_iter()
                .max();
            let highest = Percent(highest.unwrap_or(0));
            fail(
                format!("{percent} left is above every tier"),
                format!("less than {highest} is left"),
            )
        }
    }
}

pub(super) fn origin(case: &GateContext<'_>) -> GateFinding {
    if let Some(sequence) = case.thread.sequence() {
        return fail(format!("sequence {} is running", sequence.id), "no sequence runs");
    }
    if case.thread.compactions.running_since.is_some() {
        return fail("a compaction is running", "no compaction runs");
    }
    match case.turn {
        // The sequence ended, and the agent continues in the turn that its handoff began.
        Some(turn)
            if (case.question.is_inside_a_turn() || case.overflows.is_some())
                && hands_off(case.thread, turn) =>
        {
            pass("the work after a handoff")
        }
        Some(turn) if case.is_inline() && !compacts(case.thread, turn) => {
            pass("not the compaction's own turn")
        }
        Some(turn) if turn.is_synthetic() => {
            fail("the turn belongs to a sequence", "a turn of the user ends")
        }
        Some(_) => pass("a turn of the user or the host"),
        None => pass("no turn is involved"),
    }
}

fn compacts(thread: &Thread, turn: &Turn) -> bool {
    let action = turn.action.as_ref().and_then(|action| thread.action(action));
    action.is_some_and(|issued| matches!(issued.kind, HostAction::Compact { .. }))
}

fn hands_off(thread: &Thread, turn: &Turn) -> bool {
    let action = turn.action.as_ref().and_then(|action| thread.action(action));
    action.is_some_and(|issued| issued.kind.hands_over())
}

pub(super) fn mode_of_host(case: &GateContext<'_>) -> GateFinding {
    let can = case.thread.session.host.can;
    if case.thread.session.review_mode {
        fail("the host is in review mode", "the review ends")
    } else if !can.compact {
        fail("the host cannot compact", "the host declares the capability `compact`")
    } else if case.is_inline() && case.question.is_inside_a_turn() && !can.mid_turn_compact {
        fail(
            "the host cannot compact inside a turn",
            "the host declares the capability `midTurnCompact`",
        )
    } else if !case.is_inline() && case.question.is_inside_a_turn() && !can.steer {
        fail(
            "the host cannot take a message inside a turn",
            "the host declares the capability `steer`",
        )
    } else if !case.is_inline() && !can.inject_turn {
        fail(
            "the host cannot run an injected turn",
            "the host declares the capability `injectTurn`",
        )
    } else {
        pass("the host allows it")
    }
}

pub(super) fn guard(case: &GateContext<'_>) -> GateFinding {
    match case.thread.active_guards(case.now).next() {
        None => pass("no guard is active"),
        Some(guard) => {
            let by = guard.by.as_deref().map(|by| format!(" set by {by}")).unwrap_or_default();
            fail(
                format!("guard {}{by} is active", guard.id),
                format!("guard {} ends or is cleared", guard.id),
            )
        }
    }
}

pub(super) fn breaker(case: &GateContext<'_>) -> GateFinding {
    let (thread, policy) = (case.thread, case.policy);
    let hold = if case.is_inline() {
        thread.inline_hold(policy, case.now)
    } else {
        let holds = |hold: &Hold| case.tier <= hold.tier || case.tier == Some(Tier::Emergency);
        thread.hold(policy, case.now).filter(holds)
    };
    let Some(hold) = hold else {
        let strikes = thread.strikes_at(case.tier).count();
        return pass(format!("{strikes} of {} strikes", policy.breaker.strikes));
    };
    fail(hold.reason, hold.ends_when)
}

/// One compaction for each refused conversation: the next one needs an answer in between and, in a turn that rawr began,
/// the usual growth. Otherwise a conversation that cannot be made to fit would be compacted forever.
pub(super) fn rearm(case: &GateContext<'_>) -> GateFinding {
    let begun_by_rawr = case.turn.is_some_and(|turn| turn.action.is_some());
    if let Some(overflows) = case.overflows {
        let last = case.thread.compactions.last.as_ref();
        if last.is_some_and(|last| !last.answered) || overflows.tried && begun_by_rawr {
            return fail(
                "a compaction was not enough: the model still refuses the conversation as too long",
                "the model answers",
            );
        }
        if !begun_by_rawr {
            return pass(TOO_LONG);
        }
    }
    let Some(last) = &case.thread.compactions.last else { return pass("never compacted") };
    let by_window = case.policy.rearm_after(case.thread.gauge.window);
    let of_emergency = match case.tier {
        Some(Tier::Emergency) => case.thread.worth_an_emergency(),
        _ => Tokens(0),
    };
    let needed = match case.policy.rearm_tokens {
        Some(_) => by_window,
        None => by_window.max(case.thread.worth_waiting_for()).max(of_emergency),
    };
    let context = case.overflows.map_or(case.thread.gauge.context, |overflows| overflows.answered);
    let grown = match (context, last.after) {
        (Some(now), Some(after)) => Tokens(now.0.saturating_sub(after.0)),
        _ => {
            return fail(
                "growth since the last compaction is not known",
                "the host reports token usage",
            );
        }
    };
    if grown < needed {
        let missing = Tokens(needed.0 - grown.0);
        let floor = case.thread.gauge.floor.filter(|_| needed == of_emergency);
        let floor = floor.map(|floor| format!(", and nothing to free below {floor}"));
        let floor = floor.unwrap_or_default();
        fail(
            format!("{grown} of {needed} new tokens since the last compaction{floor}"),
            format!("{missing} more tokens come"),
        )
    } else {
        pass(format!("{grown} new tokens since the last compaction"))
    }
}

pub(super) fn cooldown(case: &GateContext<'_>) -> GateFinding {
    let Some(last) = &case.thread.compactions.last else { return pass("never compacted") };
    let turns = case.thread.turns_ended.saturating_sub(last.turns_ended);
    let seconds = case.now.seconds_since(last.at);
    let (need_turns, need_seconds) = (case.policy.cooldown_turns, case.policy.cooldown_seconds);
    if turns < need_turns {
        let needed = count(need_turns.into(), "turn");
        let missing = need_turns - turns;
        fail(
            format!("{turns} of {needed} since the last compaction"),
            format!("{} later", count(missing.into(), "turn")),
        )
    } else if seconds < need_seconds {
        let missing = need_seconds - seconds;
        fail(
            format!("{seconds} of {} since the last compaction", count(need_seconds, "second")),
            format!("{} later", count(missing, "second")),
        )
    } else {
        let (turns, seconds) = (count(turns.into(), "turn"), count(seconds, "second"));
        pass(format!("{turns} and {seconds} since the last compaction"))
    }
}

fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

const NEEDS_TIER: GateFinding = GateFinding::NotReached("no tier holds");

pub(super) fn boundary(case: &GateContext<'_>) -> GateFinding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    let counting = case.counting;
    if !counting.is_empty() {
        let labels = case.thread.labels(counting, case.question.turn());
        return pass(match labels.is_empty() {
            true => counting.labels(),
            false => format!("{} ({})", counting.labels(), labels.join(", ")),
        });
    }
    let counted = case.turn.map_or(Boundaries::NONE, |turn| turn.counted);
    let present = case.present().without(Boundaries::of(&[Boundary::TurnComplete]));
    let evidence = match (present.is_empty(), counted.is_empty()) {
        (true, true) => "no boundary in this turn".to_owned(),
        (true, false) => {
            format!("nothing new in this turn: {} already counted", counted.labels())
        }
        (false, _) => format!("{} does not count at {tier}", present.labels()),
    };
    fail(evidence, format!("one of: {}", rule.counting_with(case.confirm(), tier).labels()))
}

pub(super) fn weak_boundary(case: &GateContext<'_>) -> GateFinding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    let (counting, present) = (case.counting, case.present());
    if counting != Boundaries::of(&[Boundary::PlanUpdate]) {
        return pass("not a plan update alone");
    }
    let stronger = Boundaries::SEMANTIC.or(Boundaries::FINISHED).and(present);
    if rule.takes_a_plan_update_alone() {
        pass(format!("{tier} takes a plan update alone"))
    } else if stronger.is_empty() {
        fail(
            "a plan change alone",
            "a plan step is completed, or the agent says that it is done, sums up or moves on",
        )
    } else {
        pass(format!("plan changed, with {}", stronger.labels()))
    }
}

pub(super) fn semantic_break(case: &GateContext<'_>) -> GateFinding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    let (counting, semantic) = (case.counting, case.present().and(Boundaries::SEMANTIC));
    if counting.is_empty() {
        GateFinding::NotReached("no boundary counts")
    } else if !counting.without(Boundaries::PLAN).is_empty() {
        pass("not only plan boundaries")
    } else if !rule.needs_semantic_break(tier) {
        pass(format!("{tier} does not ask for one"))
    } else if semantic.is_empty() {
        fail("only plan boundaries", "the agent says that it is done, sums up or moves on")
    } else {
        pass(semantic.labels())
    }
}

pub(super) fn active_work(case: &GateContext<'_>) -> GateFinding {
    if case.question.is_inside_a_turn() {
        return pass("between two requests of the turn");
    }
    if let Some(call) = case.thread.known.tools_running.keys().next() {
        return fail(format!("tool call {call} is running"), "the running tools finish");
    }
    match case.turn.and_then(|turn| turn.end.as_ref()) {
        Some(end) if end.status != TurnStatus::Completed => {
            fail(format!("the turn ended {}", end.status.name()), "a turn completes")
        }
        _ if !case.thread.is_idle() => fail("a turn is running", "the turn completes"),
        _ => pass("nothing is running"),
    }
}

pub(super) fn packet_worth(case: &GateContext<'_>) -> GateFinding {
    if case.thread.has_packet_material() {
        pass("there is something to carry over")
    } else {
        fail("nothing is known that a packet could say", "the agent says something or has a plan")
    }
}

const LEAVES: &str = "the next message opens something new or closes the work";

pub(super) fn confirmation(case: &GateContext<'_>) -> GateFinding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    if rule.confirm == ConfirmRule::None {
        return pass("not configured");
    }
    if let Some(by) = case.confirms_itself() {
        return pass(by.evidence());
    }
    let confirm = case.confirm();
    let silence = case.silence();
    let is_silent = || format!("nothing is said for {silence}");
    let waits = |comes_if| {
        let objection = case.turn_evidence.as_ref().and_then(|of| of.objection.clone());
        let evidence = objection.unwrap_or_else(|| "not confirmed yet".to_owned());
        GateFinding::Wait { evidence, comes_if }
    };
    match (case.question, confirm) {
        (Question::Person, _) => fail("a person decides", "no person asks"),
        (_, ConfirmRule::None) if tier == Tier::Emergency => {
            fail("an emergency waits for no confirmation", "more context is left")
        }
        (_, ConfirmRule::None) if case.thread.session.host.can.compact_by_person => {
            pass("a person compacts, and so confirms")
        }
        (_, ConfirmRule::None) => pass("nothing confirms inside a turn"),
        (Question::Silence(_), _) if confirm.by_silence() => {
            pass(format!("nothing was said for {silence}"))
        }
        (Question::Preflight { .. }, _) if confirm.by_message() => {
            let Some(next) = &case.confirmed else { return GateFinding::NotReached("no message") };
            let asks_judge = case.policy.is_unclear(next.ended) && case.asks_judge(tier);
            if asks_judge || next.suffices(case.needed()) {
                pass(next.confirmation())
            } else {
                fail(next.objection(case.needed()), LEAVES)
            }
        }
        (Question::Preflight { .. }, _) => fail(
            format!("the next message came before {} of silence", Seconds(silence.seconds)),
            is_silent(),
        ),
        (Question::Silence(_), _) => fail("silence no longer confirms", LEAVES),
        (_, ConfirmRule::Message) => waits(LEAVES.to_owned()),
        (_, ConfirmRule::Idle) => waits(is_silent()),
        (_, ConfirmRule::Either) => waits(format!("{LEAVES}, or {}", is_silent())),
    }
}

pub(super) fn judgment(case: &GateContext<'_>) -> GateFinding {
    let Some((tier, rule)) = case.rule() else { return NEEDS_TIER };
    if rule.decision_prompt_path.is_none() {
        return pass("not configured");
    }
    if judge(case.policy, tier, case.thread).is_none() {
        return pass(match case.policy.judge {
            JudgeBackend::Off => "judgment.backend = off",
            _ => "the host cannot ask a model",
        });
    }
    if tier == Tier::Emergency {
        return fail("no judge is asked in an emergency", "more context is left");
    }
    match case.question {
        Question::Person => return fail("a person decides", "no person asks"),
        Question::Preflight { .. } if case.confirm() == ConfirmRule::None => {
            return pass("the judge was asked at the turn's end");
        }
        _ if case.question.is_inside_a_turn()
            && matches!(mid_turn(case), GateFinding::Fail { .. }) =>
        {
            return GateFinding::NotReached("mid_turn does not allow a compaction here");
        }
        _ => {}
    }
    if case.awaits_confirmation() {
        return GateFinding::NotReached("the judge is asked once the proposal is confirmed");
    }
    if case.is_clear() {
        return pass("there is no doubt, so no judge is asked");
    }
    if case.skips_judge() {
        return GateFinding::NotReached("mode compacts nothing, so no model is asked");
    }
    let Some(Judgment { source, answer, .. }) = &case.judgment else { return GateFinding::Ask };
    let source = source.name();
    match (answer, tier) {
        (JudgeReply::Says { should_compact: true, reason }, _) => {
            pass(format!("{source}: {reason}"))
        }
        (JudgeReply::Says { reason, .. }, _) => {
            fail(format!("{source}: {reason}"), "the judge says yes")
        }
        // Without an answer, what confirmed stands alone.
        (JudgeReply::Failed { error }, _) if rule.confirm != ConfirmRule::None => {
            let failed = format!("{source} gave no answer: {error}");
            match case.confirmed.as_ref().filter(|next| !next.suffices(case.needed())) {
                Some(next) => fail(format!("{failed}; {}", next.objection(case.needed())), LEAVES),
                None => pass(format!("{failed}; it is confirmed without one")),
            }
        }
        (JudgeReply::Failed { error }, Tier::Early | Tier::Ready) => {
            fail(format!("{source} gave no answer: {error}"), "the judge answers")
        }
        (JudgeReply::Failed { error }, Tier::Asap | Tier::Emergency) => {
            pass(format!("{source} gave no answer: {error}; the policy decides"))
        }
    }
}

pub(super) fn mode(case: &GateContext<'_>) -> GateFinding {
    if case.question.is_inside_a_turn() {
        return mid_turn(case);
    }
    // In every mode the same has to happen before: a proposal is no compaction yet.
    if case.awaits_confirmation() && !case.compacts() {
        return GateFinding::NotReached("the mode decides once the proposal is confirmed");
    }
    match case.policy.mode {
        Mode::Auto => pass("auto"),
        Mode::Ask => pass("ask: a person decides"),
        Mode::Tag => fail("tag: would compact here", "mode = \"auto\""),
        Mode::Suggest => fail("suggest: a compaction is recommended here", "mode = \"auto\""),
    }
}

/// Inside a turn no person can be asked, and the context must not run out, so `mode` does not apply (rule
/// `mode.not-inside-turn`).
fn mid_turn(case: &GateContext<'_>) -> GateFinding {
    let mid_turn = case.policy.mid_turn;
    match (mid_turn.allows(case.tier), mid_turn) {
        (true, MidTurn::Emergency) => pass("mid_turn = emergency"),
        (true, _) => pass("mid_turn = policy"),
        (false, MidTurn::Emergency) => fail(
            "mid_turn = emergency: nothing less compacts inside a turn",
            "it is an emergency, or mid_turn = \"policy\"",
        ),
        (false, _) => fail("mid_turn = off", "mid_turn = \"emergency\" or \"policy\""),
    }
}
