//! Renders decisions: the outcome, the gates with their evidence, and the result. Pure. Colors are always written; the output
//! stream removes them if they are disabled.

use rawr_protocol::{
    CompactionStatus, CompactionTrigger, Decision, DecisionCompaction, DecisionFate,
    DecisionJudgment, FateStatus, GateOutcome, GateResult, JudgmentSource, Outcome, Phase,
    PreCompactRequest, Purpose, ThreadSummary, Verdict,
};

use super::names::thread_name;
use super::palette::{BAD, DIM, GOOD, OURS, WARN, WIDTH, paint};
use super::text::{LocalNow, ago, number, sentence, when, wrapped};
use rawr_host::text::one_line;

/// A decision in full.
pub fn decision(thread: &ThreadSummary, decision: &Decision, now: &LocalNow) -> Vec<String> {
    let now_ms = now.ms;
    let when = when(decision.at_ms, now);
    let name = thread_name(thread);
    let about = format!("{} · {when}, {}", decision.decision_id, decision.entrance.label());
    let mut lines = vec![paint(DIM, &format!("thread {name} · {about}"))];
    lines.extend(headline(decision));
    lines.push(String::new());
    lines.extend(decision.gates.iter().flat_map(gate));
    lines.push(String::new());
    match first_failure(decision) {
        Some(failure) => {
            lines.extend(why_not(failure, decision));
            lines.extend(judgment(decision.judgment.as_ref()));
        }
        None => lines.extend(what_came_of_it(decision)),
    }
    lines.extend(decision.fate.as_ref().map(|fate| fact("outcome", &outcome_of(fate, now_ms))));
    lines
}

/// A decision in one line.
pub fn decision_line(decision: &Decision, now: &LocalNow) -> String {
    let left = decision.percent_remaining.map_or_else(String::new, |left| format!("{left}%"));
    let tier = decision.tier.map_or("", |tier| tier.as_str());
    let reason = one_line(&decision.reason, WIDTH);
    let outcome = decision.confirm.map_or(decision.outcome.as_str(), |_| Phase::Proposed.as_str());
    let style = style(decision.outcome);
    let fate = decision.fate.as_ref().map(|fate| format!(" · {}", one_line(&fate.text, WIDTH)));
    format!(
        "{:<14} {:>22}  {left:>4}  {tier:<9}  {}  {reason}{}",
        decision.decision_id,
        when(decision.at_ms, now),
        paint(style, &format!("{outcome:<8}")),
        fate.unwrap_or_default(),
    )
}

/// The fate of a decision, and when.
pub fn outcome_of(fate: &DecisionFate, now_ms: i64) -> String {
    format!("{}, {}", one_line(&fate.text, WIDTH), ago(fate.at_ms, now_ms))
}

/// The outcome and the reason, without colors.
pub fn decided(verdict: &Verdict) -> String {
    // A proposal is named like its phase.
    let outcome = match verdict.confirm {
        Some(_) => Phase::Proposed.label().to_lowercase(),
        None => verdict.outcome.label().to_owned(),
    };
    format!("{outcome}: {}", one_line(&verdict.reason, 2 * WIDTH))
}

pub(super) const fn style(outcome: Outcome) -> anstyle::Style {
    match outcome {
        Outcome::Nothing => DIM,
        Outcome::Compact => GOOD,
        Outcome::Tag | Outcome::Suggest | Outcome::Ask | Outcome::Judge | Outcome::Defer => WARN,
    }
}

pub(super) fn mark(outcome: GateOutcome) -> String {
    match outcome {
        GateOutcome::Pass => paint(GOOD, "✓"),
        GateOutcome::Fail => paint(BAD, "✗"),
        GateOutcome::Bypassed => paint(WARN, "⤳"),
        GateOutcome::NotReached => paint(DIM, "–"),
    }
}

fn headline(decision: &Decision) -> Vec<String> {
    let text = sentence(&decided(&decision.verdict()));
    let style = match decision.outcome {
        Outcome::Nothing => anstyle::Style::new(),
        other => style(other),
    };
    wrapped(&text, WIDTH).iter().map(|line| paint(style, line)).collect()
}

/// The width of the longest name of a gate.
pub(super) const GATE: usize = 16;

fn gate(result: &GateResult) -> Vec<String> {
    let evidence = one_line(&result.evidence, 2 * WIDTH);
    let evidence = match result.outcome {
        GateOutcome::NotReached if evidence.is_empty() => "not reached".to_owned(),
        GateOutcome::Bypassed => format!("{evidence} (bypassed)"),
        _ => evidence,
    };
    let heads = [format!("{} {:<GATE$}", mark(result.outcome), result.gate.label())];
    let heads = heads.into_iter().chain(std::iter::repeat(" ".repeat(GATE + 2)));
    let lines = wrapped(&evidence, WIDTH);
    lines.iter().zip(heads).map(|(line, head)| format!("  {head} {}", paint(DIM, line))).collect()
}

fn first_failure(decision: &Decision) -> Option<&GateResult> {
    decision.gates.iter().find(|result| result.outcome == GateOutcome::Fail)
}

/// The failed gates with their conditions, in the same order.
fn why_not(failure: &GateResult, decision: &Decision) -> Vec<String> {
    let evidence = one_line(&failure.evidence, 2 * WIDTH);
    let mut lines = wrapped(
        &format!("The first gate that failed is “{}”: {evidence}.", failure.gate.label()),
        WIDTH,
    );
    let Some((first, others)) = decision.would_fire_if.split_first() else { return lines };
    lines.push(format!("Needed: {}.", one_line(first, WIDTH)));
    if !others.is_empty() {
        lines.push("For a compaction, all of these:".to_owned());
        let all = decision.would_fire_if.iter().map(|one| format!("  · {}", one_line(one, WIDTH)));
        lines.extend(all);
    }
    lines
}

fn what_came_of_it(decision: &Decision) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(tier), Some(left)) = (decision.tier, decision.percent_remaining) {
        lines.push(fact("tier", &format!("{tier}: {left}% of the context was left")));
    }
    if let Some(CompactionTrigger::Rawr { boundaries, .. }) = &decision.trigger {
        let names: Vec<_> = boundaries.iter().map(|boundary| boundary.label()).collect();
        let names = if names.is_empty() { "none was needed".to_owned() } else { names.join(", ") };
        lines.push(fact("boundary", &names));
    }
    lines.extend(judgment(decision.judgment.as_ref()));
    lines.extend(decision.sequence_id.as_ref().map(|sequence| fact("sequence", sequence)));
    lines.extend(requests(decision));
    lines.extend(decision.compaction.iter().flat_map(compaction));
    let fate = decision.fate.as_ref().map(|fate| fate.status);
    let is_open = matches!(fate, None | Some(FateStatus::Waiting | FateStatus::Running));
    let awaited = decision.would_fire_if.iter().filter(|_| is_open);
    let awaited = awaited.map(|one| one_line(one, WIDTH));
    lines.extend(awaited.map(|one| fact("comes if", &one)));
    lines
}

/// What the agent is asked for, and what came of each once the sequence runs.
fn requests(decision: &Decision) -> Vec<String> {
    if decision.pre_compact_requests.is_empty() {
        let asked: Vec<_> = decision.requests.iter().map(|purpose| asked_for(*purpose)).collect();
        return (!asked.is_empty())
            .then(|| fact("asks for", &asked.join(", ")))
            .into_iter()
            .collect();
    }
    let line = |request: &PreCompactRequest| {
        let state = format!("{}: {}", asked_for(request.purpose), request.state.label());
        let result = request.result.as_deref().map(|result| one_line(result, WIDTH));
        fact(
            "asks for",
            &result.map_or_else(|| state.clone(), |result| format!("{state}, {result}")),
        )
    };
    decision.pre_compact_requests.iter().map(line).collect()
}

/// What the agent is asked for, for people.
const fn asked_for(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::HeadsUp => "heads-up",
        Purpose::ScratchWrite => "working notes",
        Purpose::PacketRequest => "packet",
        Purpose::Handoff => "handoff",
        Purpose::Notice => "notice",
    }
}

/// The result of the decision's compaction.
pub fn compacted_to(compaction: &DecisionCompaction) -> String {
    match compaction.status {
        CompactionStatus::InProgress => "under way".to_owned(),
        CompactionStatus::Completed => tokens(compaction.tokens_before, compaction.tokens_after),
        CompactionStatus::Failed => "failed; nothing was compacted".to_owned(),
        CompactionStatus::Cancelled => "canceled; nothing was compacted".to_owned(),
    }
}

fn compaction(compaction: &DecisionCompaction) -> Vec<String> {
    let mut lines = vec![fact("compaction", &compacted_to(compaction))];
    lines.extend(compaction.packet_author.map(|by| fact("packet", &format!("by {}", by.label()))));
    if !compaction.packet_added.is_empty() {
        lines.push(fact("", "added by the check:"));
        let added = compaction.packet_added.iter();
        lines.extend(added.map(|added| fact("", &format!("· {}", one_line(added, WIDTH)))));
    }
    lines
}

pub(super) fn tokens(before: Option<u64>, after: Option<u64>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => {
            format!("{} → {} tokens", number(before), number(after))
        }
        (Some(before), None) => format!("{} tokens before it", number(before)),
        (None, Some(after)) => format!("{} tokens after it", number(after)),
        (None, None) => "done; size unknown".to_owned(),
    }
}

fn judgment(judgment: Option<&DecisionJudgment>) -> Vec<String> {
    let Some(judgment) = judgment else { return Vec::new() };
    let who = match judgment.source {
        JudgmentSource::Host => "the host",
        JudgmentSource::Responses | JudgmentSource::Chat => "a model",
        JudgmentSource::Heuristic => "rules without a model",
    };
    let said = match (judgment.should_compact, &judgment.error) {
        (Some(true), _) => format!("yes, by {who}: {}", judgment.reason),
        (Some(false), _) => format!("no, by {who}: {}", judgment.reason),
        (None, Some(error)) => format!("no answer by {who}: {error}"),
        (None, None) => format!("waiting for {who}"),
    };
    let mut lines = wrapped(&said, WIDTH).into_iter();
    let first = lines.next().map(|line| fact("judge", &line));
    first.into_iter().chain(lines.map(|line| fact("", &line))).collect()
}

/// A line with a name and a value.
pub fn fact(name: &str, text: &str) -> String {
    format!("  {} {text}", paint(OURS, &format!("{name:<10}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    fn now() -> LocalNow {
        LocalNow { ms: 90_000, zone: jiff::tz::TimeZone::UTC }
    }

    /// A decision with additional fields.
    fn check(more: Value, expected: Expect) {
        let mut fields = json!({
            "decisionId": "d7-1f", "outcome": "compact", "reason": "the reason", "atMs": 0,
            "entrance": "turn_complete",
            "gates": [{ "gate": "pressure", "outcome": "pass", "evidence": "below 75%" },
                { "gate": "guard", "outcome": "bypassed", "evidence": "guard g1 is active" }],
        });
        for (name, field) in more.as_object().expect("an object") {
            fields[name.as_str()] = field.clone();
        }
        let thread = json!({ "threadId": "t", "cwd": "/code/parser", "phase": "idle", "updatedAtMs": 0,
            "open": false, "running": false, "title": "Write the parser" });
        let thread = serde_json::from_value(thread).expect("a thread");
        let fields = serde_json::from_value(fields).expect("a decision");
        let shown = decision(&thread, &fields, &now());
        let plain = anstream::adapter::strip_str(&shown.join("\n")).to_string();
        expected.assert_eq(&(plain + "\n"));
    }

    #[test]
    fn a_completed_compaction_is_shown() {
        check(
            json!({
                "tier": "ready", "percentRemaining": 70, "sequenceId": "s1",
                "trigger": { "kind": "rawr", "entrance": "turn_complete", "tier": "ready",
                    "percentRemaining": 70, "boundaries": ["commit"], "packetAuthor": "agent",
                    "sequenceId": "s1" },
                "judgment": { "requestId": "j", "source": "host", "shouldCompact": true,
                    "reason": "The parser is done and committed, and the next step stands in the plan: a compaction costs nothing here." },
                "compaction": { "status": "completed", "tokensBefore": 150_000, "tokensAfter": 12_345,
                    "packetAuthor": "watcher", "packetAdded": ["branch: feature", "pinned: Use tabs."] },
            }),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, at the end of a turn
                Compaction decided: the reason

                  ✓ Context pressure below 75%
                  ⤳ Guards           guard g1 is active (bypassed)

                  tier       ready: 70% of the context was left
                  boundary   commit
                  judge      yes, by the host: The parser is done and committed, and the next step stands in the plan: a
                             compaction costs nothing here.
                  sequence   s1
                  compaction 150,000 → 12,345 tokens
                  packet     by rawr
                             added by the check:
                             · branch: feature
                             · pinned: Use tabs.
            "#]],
        );
    }

    #[test]
    fn the_fate_of_a_decision_is_shown_in_full_and_in_one_line() {
        let fate = json!({ "decisionId": "d7-1f", "status": "called_off", "atMs": 70_000,
            "by": "rawr compact", "text": "called off by rawr compact (cancelled)" });
        check(
            json!({ "gates": [], "sequenceId": "s1", "fate": fate }),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, at the end of a turn
                Compaction decided: the reason


                  sequence   s1
                  outcome    called off by rawr compact (cancelled), 20 s ago
            "#]],
        );
        let listed: Decision = serde_json::from_value(json!({
            "decisionId": "d7-1f", "outcome": "compact", "reason": "the reason", "atMs": 0,
            "entrance": "turn_complete", "gates": [], "fate": fate }))
        .expect("a decision");
        let line = anstream::adapter::strip_str(&decision_line(&listed, &now())).to_string();
        expect!["d7-1f                       1 min ago                   compact   the reason · called off by rawr compact (cancelled)"].assert_eq(&line);
    }

    /// A proposal with this fate.
    fn proposed(fate: Value, expected: Expect) {
        check(
            json!({
                "outcome": "defer", "tier": "asap", "percentRemaining": 60, "entrance": "preflight",
                "confirm": "either", "fate": fate,
                "reason": "60% left (asap) at commit; your next message or 4 minutes of silence decides",
                "gates": [{ "gate": "confirmation", "outcome": "not_reached", "evidence": "not confirmed yet" }],
                "wouldFireIf": ["the next message opens something new or closes the work, or nothing is said for 4 minutes"],
            }),
            expected,
        );
    }

    #[test]
    fn a_proposal_shows_what_confirms_it_until_it_is_decided() {
        let fate = |status: &str, text: &str| json!({ "decisionId": "d7-1f", "status": status, "atMs": 70_000, "text": text });
        proposed(
            fate("waiting", "not decided yet"),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                Compaction proposed: 60% left (asap) at commit; your next message or 4 minutes of silence
                decides

                  – Confirmation     not confirmed yet

                  tier       asap: 60% of the context was left
                  comes if   the next message opens something new or closes the work, or nothing is said for 4 minutes
                  outcome    not decided yet, 20 s ago
            "#]],
        );
        proposed(
            fate("overtaken", "decided by decision d8-1f"),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                Compaction proposed: 60% left (asap) at commit; your next message or 4 minutes of silence
                decides

                  – Confirmation     not confirmed yet

                  tier       asap: 60% of the context was left
                  outcome    decided by decision d8-1f, 20 s ago
            "#]],
        );
        proposed(
            fate("dropped", "dropped: the next message goes on with the same work (97%: 'still')"),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                Compaction proposed: 60% left (asap) at commit; your next message or 4 minutes of silence
                decides

                  – Confirmation     not confirmed yet

                  tier       asap: 60% of the context was left
                  outcome    dropped: the next message goes on with the same work (97%: 'still'), 20 s ago
            "#]],
        );
        proposed(
            fate("called_off", "called off by Neovim (snoozed)"),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                Compaction proposed: 60% left (asap) at commit; your next message or 4 minutes of silence
                decides

                  – Confirmation     not confirmed yet

                  tier       asap: 60% of the context was left
                  outcome    called off by Neovim (snoozed), 20 s ago
            "#]],
        );
    }

    #[test]
    fn the_decision_about_a_proposal_says_what_the_message_did() {
        check(
            json!({
                "outcome": "nothing", "entrance": "preflight", "proposalId": "d6-1f",
                "reason": "proposed at commit; dropped, because the next message goes on with the same work (97%: 'still')",
                "gates": [{ "gate": "confirmation", "outcome": "fail",
                    "evidence": "the next message goes on with the same work (97%: 'still')" }],
                "wouldFireIf": ["the next message opens something new or closes the work"],
            }),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                No compaction: proposed at commit; dropped, because the next message goes on with the same work
                (97%: 'still')

                  ✗ Confirmation     the next message goes on with the same work (97%: 'still')

                The first gate that failed is “Confirmation”: the next message goes on with the same work (97%:
                'still').
                Needed: the next message opens something new or closes the work.
            "#]],
        );
    }

    #[test]
    fn the_decision_about_a_proposal_says_what_confirmed_it() {
        let confirmed = |by: &str, expected: Expect| {
            let reason = format!("60% left (asap) at commit; {by}");
            let fields = json!({ "reason": reason, "entrance": "preflight", "proposalId": "d6-1f",
                "tier": "asap", "percentRemaining": 60, "sequenceId": "s1", "gates": [] });
            check(fields, expected);
        };
        confirmed(
            "the next message closes the work (100%: 'commit')",
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                Compaction decided: 60% left (asap) at commit; the next message closes the work (100%: 'commit')


                  tier       asap: 60% of the context was left
                  sequence   s1
            "#]],
        );
        confirmed(
            "nothing was said for 4 minutes",
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                Compaction decided: 60% left (asap) at commit; nothing was said for 4 minutes


                  tier       asap: 60% of the context was left
                  sequence   s1
            "#]],
        );
    }

    #[test]
    fn a_veto_is_quoted() {
        check(
            json!({
                "outcome": "nothing", "wouldFireIf": ["the judge says yes"],
                "gates": [{ "gate": "judgment", "outcome": "fail", "evidence": "the judge says no" }],
                "judgment": { "requestId": "j", "source": "heuristic", "shouldCompact": false,
                    "reason": "two steps are open" },
            }),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, at the end of a turn
                No compaction: the reason

                  ✗ Judge            the judge says no

                The first gate that failed is “Judge”: the judge says no.
                Needed: the judge says yes.
                  judge      no, by rules without a model: two steps are open
            "#]],
        );
    }

    #[test]
    fn a_pending_or_failed_judge_is_named() {
        check(
            json!({
                "outcome": "judge", "wouldFireIf": ["the judge says yes"], "entrance": "mid_turn",
                "gates": [{ "gate": "judgment", "outcome": "not_reached", "evidence": "" }],
                "judgment": { "requestId": "j", "source": "chat", "reason": "" },
            }),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, during a turn
                Asking the judge: the reason

                  – Judge            not reached

                  judge      waiting for a model
                  comes if   the judge says yes
            "#]],
        );
        check(
            json!({
                "outcome": "defer", "entrance": "preflight", "gates": [],
                "judgment": { "requestId": "j", "source": "responses", "error": "timed out" },
                "compaction": { "status": "failed" },
            }),
            expect![[r#"
                thread t (Write the parser) · d7-1f · 1 min ago, before the next message
                Compaction deferred: the reason


                  judge      no answer by a model: timed out
                  compaction failed; nothing was compacted
            "#]],
        );
    }
}
