//! Renders threads, guards and directives. Pure. Colors are always written; the output stream removes them if they are
//! disabled.

use anstyle::Style;
use rawr_protocol::{
    Boundary, BoundaryMark, Choice, Directive, Guard, JudgmentTotals, LastCompaction, PacketsAhead,
    Phase, ThreadGetResult, ThreadSummary, Tier, Until, Verdict,
};

use super::decisions::{decided, fact, outcome_of, tokens};
use super::names::{handle, thread_name};
use super::palette::{BAD, BOLD, DIM, GOOD, WARN, WIDTH, paint};
use super::text::{LocalNow, ago, number, when};
use rawr_host::text::{columns, one_line};

/// A thread in one line of at most `width` columns.
pub fn thread_line(thread: &ThreadSummary, name: &str, width: usize, now: &LocalNow) -> String {
    let (style, word) = tier_style(thread.tier);
    let left = match (thread.percent_remaining, word) {
        (Some(percent), Some(word)) => format!("{percent:>3}% left · {word:<9}"),
        (Some(percent), None) => format!("{:<21}", format!("{percent:>3}% left")),
        (None, _) => format!("{:<21}", "usage unknown"),
    };
    let name = format!("{:<8}", one_line(name, WIDTH));
    let when = format!("{:<22}", when(thread.updated_at_ms, now));
    let folder = thread.cwd.rsplit('/').find(|name| !name.is_empty()).unwrap_or("/");
    let mut about: Vec<_> = thread.title.as_deref().into_iter().chain([folder]).collect();
    about.extend(thread.sub_agent.as_ref().map(|_| "sub-agent"));
    let paused = thread.breaker.as_ref().map(|_| "paused");
    let phase = (thread.phase != Phase::Idle).then(|| thread.phase.label());
    about.extend(phase.into_iter().chain(paused));
    about.extend((!thread.running).then_some("not running"));
    let taken = [&name, &left, &when].map(|part| columns(part) + 2).iter().sum();
    let about = one_line(&about.join(" · "), width.saturating_sub(taken).max(TITLE));
    format!("{}  {}  {}  {about}", paint(BOLD, &name), paint(style, &left), paint(DIM, &when))
}

/// The least room for a thread's title.
const TITLE: usize = 16;

/// The state of a thread, without empty facts.
pub fn status(thread: &ThreadGetResult, last: Option<&Verdict>, now: &LocalNow) -> Vec<String> {
    let summary = &thread.thread;
    let now_ms = now.ms;
    let mut lines = vec![format!(
        "{}  {} · {}",
        paint(BOLD, &thread_name(summary)),
        pressure(summary.percent_remaining, summary.tier),
        when(summary.updated_at_ms, now),
    )];
    let is_short = handle(&summary.thread_id) == summary.thread_id;
    lines.extend((!is_short).then(|| fact("thread", &one_line(&summary.thread_id, WIDTH))));
    lines.push(fact("folder", &one_line(&summary.cwd, WIDTH)));
    lines.extend(summary.sub_agent.as_ref().map(|name| fact("sub-agent", &one_line(name, WIDTH))));
    lines.push(match &summary.owner {
        Some(owner) => fact("run by", &one_line(owner, WIDTH)),
        None if summary.runs_by_hooks => fact("run by", "its agent, by hooks"),
        None => fact("run by", "no process"),
    });
    let of = thread.sequence_id.as_deref();
    lines.push(match &summary.owner {
        None if summary.phase.ends_by_itself() && !summary.runs_by_hooks => {
            fact("phase", &interrupted(summary.phase, of))
        }
        _ => fact("phase", &phase(summary, of)),
    });
    if thread.compaction_asked_for {
        lines.push(fact("requested", "a compaction, as soon as the agent is idle"));
    }
    lines.extend(match thread.held_inputs.len() {
        0 => None,
        1 => Some(fact("waiting", "1 message of yours, until the handoff")),
        many => Some(fact("waiting", &format!("{many} messages of yours, until the handoff"))),
    });
    // What the agent's words say is evidence of a decision; only the end of a phase has a name of its own. It counted as a
    // step of the plan in older threads.
    const NAMED: [Boundary; 2] = [Boundary::PhaseEnded, Boundary::PlanCheckpoint];
    let is_named = |mark: &&BoundaryMark| mark.spent_by.is_none() && NAMED.contains(&mark.boundary);
    let phases = thread.boundaries.iter().filter(is_named);
    let phases = phases.filter_map(|mark| {
        let by = mark.by.as_deref().map(|by| format!(", by {}", one_line(by, WIDTH)));
        let label = one_line(mark.label.as_deref()?, WIDTH);
        Some(format!("{label} ({}{})", mark.boundary.label(), by.unwrap_or_default()))
    });
    lines.extend(named("phase end", phases));
    lines.extend(named("guards", thread.guards.iter().map(|it| guard(it, now_ms))));
    lines.extend(last.map(|last| fact("decision", &decided(last))));
    // The fate of the decision above, or of an earlier one. An undecided proposal is the phase.
    let proposed = summary.proposal.as_ref().map(|proposal| &proposal.decision_id);
    let fate = summary.last_fate.as_ref().filter(|fate| proposed != Some(&fate.decision_id));
    lines.extend(fate.map(|fate| {
        let is_last = last.is_none_or(|last| last.decision_id.as_ref() == Some(&fate.decision_id));
        let of = if is_last { String::new() } else { format!("decision {} ", fate.decision_id) };
        fact("outcome", &format!("{of}{}", outcome_of(fate, now_ms)))
    }));
    lines.extend(summary.breaker.iter().flat_map(|hold| {
        [
            fact("paused", &paint(WARN, &one_line(&hold.reason, WIDTH))),
            fact("", &format!("compacts again when {}", one_line(&hold.ends_when, WIDTH))),
        ]
    }));
    lines.extend(
        thread.last_compaction.as_ref().map(|last| fact("compacted", &compacted(last, now_ms))),
    );
    lines.extend(thread.judgments.as_ref().map(|totals| fact("judge", &judged(totals))));
    lines.extend(thread.packets_ahead.as_ref().map(|ahead| fact("packets", &asked_ahead(ahead))));
    lines
}

/// The end of a guard or snooze.
fn until_end(until: &Until) -> String {
    let counted = |count: u64, one: &str, many: &str| match count {
        1 => format!("for 1 {one}"),
        count => format!("for {count} {many}"),
    };
    match until {
        Until::Turns { turns } => counted(*turns, "turn", "turns"),
        Until::Minutes { minutes } => counted(*minutes, "minute", "minutes"),
        Until::NextCommit => "until the next commit".to_owned(),
        Until::TestsPass => "until the tests pass".to_owned(),
        Until::Released => "until it is cleared".to_owned(),
    }
}

/// The confirmation of a response. The editors use the same texts.
pub fn recorded(choice: Choice, until: Option<&Until>) -> String {
    match (choice, until) {
        (Choice::CompactNow, _) => {
            "Requested: a compaction as soon as the agent is idle.".to_owned()
        }
        (Choice::Approve, _) => "Approved: the compaction continues.".to_owned(),
        (Choice::Snooze, Some(end)) => {
            format!("Snoozed: no compaction {}, except in an emergency.", until_end(end))
        }
        (Choice::Snooze, None) => "Snoozed: no compaction, except in an emergency.".to_owned(),
        (Choice::Cancel, _) => "Canceled: nothing is compacted.".to_owned(),
        (Choice::EditPacket, _) => "Saved: the compaction continues with this packet.".to_owned(),
    }
}

/// The confirmation of a mark.
pub fn marked(thread_id: &str, label: &str) -> String {
    format!("Marked on thread {thread_id}: {} ends here.", one_line(label, WIDTH))
}

/// The confirmation of a guard.
pub fn guarded(guard_id: &str, until: &Until) -> String {
    format!("Guard {guard_id}: no compaction {}, except in an emergency.", until_end(until))
}

/// The confirmation of cleared guards.
pub fn cleared(guards: u64) -> String {
    match guards {
        0 => "No guard was active.".to_owned(),
        1 => "1 guard is cleared.".to_owned(),
        many => format!("{many} guards are cleared."),
    }
}

/// A guard in one line.
pub fn guard(guard: &Guard, now_ms: i64) -> String {
    let note = guard.note.as_deref().map(|note| format!(" ({})", one_line(note, WIDTH)));
    let by = guard.set_by.as_deref().map(|by| format!(" by {}", one_line(by, WIDTH)));
    format!(
        "{} {}{}, set {}{}",
        guard.guard_id,
        until_end(&guard.until),
        note.unwrap_or_default(),
        ago(guard.set_at_ms, now_ms),
        by.unwrap_or_default(),
    )
}

/// A directive with its whole text.
pub fn directive(directive: &Directive, now_ms: i64) -> Vec<String> {
    let holds = if directive.pinned { "pinned" } else { "kept while among the newest" };
    let by = match &directive.by {
        Some(by) => format!("given by {}", one_line(by, WIDTH)),
        None => "found in a message".to_owned(),
    };
    let when = ago(directive.given_at_ms, now_ms);
    let head =
        format!("{}  {}", directive.directive_id, paint(DIM, &format!("{holds}, {by} {when}")));
    let text = rawr_host::text::sanitize_terminal(&directive.text);
    let mut lines = vec![head];
    lines.extend(text.lines().map(|line| format!("    {line}")));
    lines
}

/// The percentage left, and the tier where one holds.
pub fn pressure(percent: Option<u8>, tier: Option<Tier>) -> String {
    let Some(percent) = percent else { return paint(DIM, "usage unknown") };
    let (style, word) = tier_style(tier);
    let left = paint(style, &format!("{percent}% left"));
    word.map_or_else(|| left.clone(), |word| format!("{left} · {word}"))
}

/// The color and label of a tier. Without one nothing is urgent, or rawr is off.
pub fn tier_style(tier: Option<Tier>) -> (Style, Option<&'static str>) {
    match tier {
        None => (GOOD, None),
        Some(tier @ (Tier::Early | Tier::Ready)) => (WARN, Some(tier.label())),
        Some(tier @ (Tier::Asap | Tier::Emergency)) => (BAD, Some(tier.label())),
    }
}

fn phase(thread: &ThreadSummary, sequence: Option<&str>) -> String {
    let of = sequence.map(|sequence| format!(", sequence {sequence}")).unwrap_or_default();
    match &thread.proposal {
        Some(proposal) => one_line(&proposal.text, 2 * WIDTH),
        None => format!("{}{of}", thread.phase.label()),
    }
}

/// A sequence of a thread that does not run.
fn interrupted(phase: Phase, sequence: Option<&str>) -> String {
    let of = sequence.map(|sequence| format!(", sequence {sequence}")).unwrap_or_default();
    format!("{} (interrupted; continues when the thread next runs){of}", phase.label())
}

fn compacted(last: &LastCompaction, now_ms: i64) -> String {
    let by = last.origin.label();
    let size = tokens(last.tokens_before, last.tokens_after);
    let why = last.trigger.as_ref().map(|trigger| match trigger {
        rawr_protocol::CompactionTrigger::Rawr { tier, boundaries, .. } => {
            let mut words = vec![tier.label()];
            words.extend(boundaries.iter().map(|boundary| boundary.label()));
            format!(" ({})", words.join(", "))
        }
        rawr_protocol::CompactionTrigger::Inline { .. } => " (built-in)".to_owned(),
        rawr_protocol::CompactionTrigger::Host | rawr_protocol::CompactionTrigger::User => {
            String::new()
        }
    });
    format!("{size}, {by}{}, {}", why.unwrap_or_default(), ago(last.at_ms, now_ms))
}

fn judged(totals: &JudgmentTotals) -> String {
    let mut facts = vec![match totals.calls {
        1 => "asked once".to_owned(),
        calls => format!("asked {} times", number(calls)),
    }];
    if totals.failures > 0 {
        facts.push(format!("{} without an answer", number(totals.failures)));
    }
    if totals.input_tokens + totals.output_tokens > 0 {
        let (sent, received) = (number(totals.input_tokens), number(totals.output_tokens));
        facts.push(format!("{sent} tokens in, {received} out"));
    }
    facts.extend(totals.rate_limits.iter().map(|limit| format!("{}: {}", limit.name, limit.value)));
    one_line(&facts.join("; "), WIDTH)
}

fn asked_ahead(packets: &PacketsAhead) -> String {
    let PacketsAhead { asked, used, unused_tokens } = *packets;
    let cost = match asked.saturating_sub(used) {
        0 => String::new(),
        unused => {
            format!("; {} unused, {} tokens read for them", number(unused), number(unused_tokens))
        }
    };
    format!("{} asked for ahead of time, {} used{cost}", number(asked), number(used))
}

/// A list with one name.
fn named(name: &'static str, entries: impl Iterator<Item = String>) -> Vec<String> {
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(entries).map(|(name, entry)| fact(name, &entry)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    /// A thread with these fields in its summary.
    fn check(more: Value, last: Option<&str>, expected: Expect) {
        let mut thread = json!({ "threadId": "t", "cwd": "/code/parser", "phase": "idle",
            "updatedAtMs": 80_000, "open": false, "running": false });
        for (name, field) in more.as_object().expect("an object") {
            thread[name.as_str()] = field.clone();
        }
        let thread = serde_json::from_value(json!({ "thread": thread })).expect("a thread");
        let last = last.map(|id| {
            let verdict = json!({ "decisionId": id, "outcome": "compact", "reason": "the reason" });
            serde_json::from_value(verdict).expect("a verdict")
        });
        let now = LocalNow { ms: 90_000, zone: jiff::tz::TimeZone::UTC };
        let shown = status(&thread, last.as_ref(), &now).join("\n");
        expected.assert_eq(&(anstream::adapter::strip_str(&shown).to_string() + "\n"));
    }

    #[test]
    fn a_paused_thread_shows_the_reason_and_the_end() {
        let paused = json!({ "heldTier": "asap", "strikes": 3, "reason": "the last 3 compactions failed",
            "endsWhen": "less than 15% is left (emergency), or 30 minutes pass" });
        check(
            json!({ "breaker": paused }),
            None,
            expect![[r#"
                t  usage unknown · 10 s ago
                  folder     /code/parser
                  run by     no process
                  phase      Idle
                  paused     the last 3 compactions failed
                             compacts again when less than 15% is left (emergency), or 30 minutes pass
            "#]],
        );
    }

    #[test]
    fn the_fate_of_a_decision_is_shown_below_it_or_names_it() {
        let fate = json!({ "decisionId": "d1", "status": "called_off", "atMs": 70_000,
            "text": "called off by rawr compact (cancelled)" });
        check(
            json!({ "lastFate": fate }),
            Some("d1"),
            expect![[r#"
                t  usage unknown · 10 s ago
                  folder     /code/parser
                  run by     no process
                  phase      Idle
                  decision   compaction decided: the reason
                  outcome    called off by rawr compact (cancelled), 20 s ago
            "#]],
        );
        check(
            json!({ "lastFate": fate }),
            Some("d2"),
            expect![[r#"
                t  usage unknown · 10 s ago
                  folder     /code/parser
                  run by     no process
                  phase      Idle
                  decision   compaction decided: the reason
                  outcome    decision d1 called off by rawr compact (cancelled), 20 s ago
            "#]],
        );
    }

    #[test]
    fn a_sequence_without_an_owner_is_shown_as_interrupted() {
        check(
            json!({ "phase": "awaiting_packet" }),
            None,
            expect![[r#"
                t  usage unknown · 10 s ago
                  folder     /code/parser
                  run by     no process
                  phase      Writing the packet (interrupted; continues when the thread next runs)
            "#]],
        );
        check(
            json!({ "phase": "awaiting_packet", "owner": "rawr exec" }),
            None,
            expect![[r#"
                t  usage unknown · 10 s ago
                  folder     /code/parser
                  run by     rawr exec
                  phase      Writing the packet
            "#]],
        );
    }

    #[test]
    fn a_proposal_shows_what_decides_about_it() {
        let fate = json!({ "decisionId": "d7", "status": "waiting", "atMs": 80_000, "text": "not decided yet" });
        let proposal = json!({ "decisionId": "d7", "confirm": "either",
            "text": "Compaction proposed (commit); your next message or 4 minutes of silence decides" });
        check(
            json!({ "phase": "proposed", "proposal": proposal, "lastFate": fate }),
            None,
            expect![[r#"
                t  usage unknown · 10 s ago
                  folder     /code/parser
                  run by     no process
                  phase      Compaction proposed (commit); your next message or 4 minutes of silence decides
            "#]],
        );
    }

    #[test]
    fn a_packet_that_waits_for_the_user_shows_what_to_type() {
        check(
            json!({ "phase": "awaiting_compaction" }),
            None,
            expect![[r#"
                t  usage unknown · 10 s ago
                  folder     /code/parser
                  run by     no process
                  phase      Packet ready: type /compact in the agent
            "#]],
        );
    }
}
