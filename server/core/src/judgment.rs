//! What a judge is told, and the heuristic that judges without a model.

use crate::boundary::{Boundaries, Boundary};
use crate::event::JudgeReply;
use crate::excerpt::{head, tail};
use crate::policy::Tier;
use crate::prompt::{PromptName, render};
use crate::signal::plan::StepStatus;
use crate::thread::{Speaker, Thread, shortened};
use crate::units::Percent;
use crate::words::WorkAtHand;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The JSON schema of a judgment, for an endpoint or a host. Strict mode needs every key to be required and no others
/// allowed.
pub static OUTPUT_SCHEMA: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let entries = [
        ("type", json!("object")),
        (
            "properties",
            json!({"should_compact": {"type": "boolean"}, "reason": {"type": "string"}}),
        ),
        ("required", json!(["should_compact", "reason"])),
        ("additionalProperties", json!(false)),
    ];
    entries.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
});

/// The input of a judgment.
#[derive(Debug, Clone, Copy)]
pub struct JudgmentCase<'c> {
    /// The thread to judge.
    pub thread: &'c Thread,
    /// The tier in force.
    pub tier: Tier,
    /// Percent of the context window left.
    pub percent: Percent,
    /// The boundaries that count at this tier and are present.
    pub boundaries: Boundaries,
    /// The agent's last message.
    pub last_message: Option<&'c str>,
    /// The user's next message, where it confirms or drops a proposal.
    pub next_message: Option<&'c str>,
    /// An excerpt of the transcript; `None`: the messages that the thread remembers.
    pub excerpt: Option<&'c str>,
}

/// The score that the heuristic needs for a yes.
const ENOUGH: i32 = 3;

struct ScoreSignal {
    says: &'static str,
    points: i32,
    holds: fn(&JudgmentCase<'_>) -> bool,
}

/// A result that is safe counts for a compaction, unfinished work against it.
const SIGNALS: [ScoreSignal; 17] = [
    ScoreSignal {
        says: "a commit",
        points: 3,
        holds: |case| case.boundaries.has(Boundary::Commit),
    },
    ScoreSignal {
        says: "a pull request",
        points: 3,
        holds: |case| case.boundaries.has(Boundary::PrCheckpoint),
    },
    ScoreSignal {
        says: "a phase ended explicitly",
        points: 3,
        holds: |case| case.boundaries.has(Boundary::PhaseEnded),
    },
    ScoreSignal {
        says: "a plan step completed",
        points: 2,
        holds: |case| case.boundaries.has(Boundary::PlanCheckpoint),
    },
    ScoreSignal {
        says: "the agent says it is done",
        points: 2,
        holds: |case| case.boundaries.has(Boundary::AgentDone),
    },
    ScoreSignal {
        says: "the agent moves on",
        points: 2,
        holds: |case| case.boundaries.has(Boundary::TopicShift),
    },
    ScoreSignal {
        says: "the agent sums up",
        points: 1,
        holds: |case| case.boundaries.has(Boundary::ConcludingThought),
    },
    ScoreSignal { says: "the whole plan is done", points: 2, holds: plan_is_done },
    ScoreSignal { says: "nothing uncommitted", points: 1, holds: |case| dirty(case) == Some(0) },
    ScoreSignal { says: "ready", points: 1, holds: |case| case.tier == Tier::Ready },
    ScoreSignal { says: "asap", points: 2, holds: |case| case.tier == Tier::Asap },
    ScoreSignal { says: "emergency", points: 9, holds: |case| case.tier == Tier::Emergency },
    ScoreSignal {
        says: "a plan update alone",
        points: -2,
        holds: |case| case.boundaries == Boundaries::of(&[Boundary::PlanUpdate]),
    },
    ScoreSignal { says: "a plan step under way", points: -1, holds: step_under_way },
    ScoreSignal {
        says: "uncommitted changes",
        points: -1,
        holds: |case| dirty(case).is_some_and(|files| files > 0),
    },
    ScoreSignal { says: "a question to the user is open", points: -2, holds: asks },
    ScoreSignal {
        says: "something is running",
        points: -3,
        holds: |case| !case.thread.known.tools_running.is_empty(),
    },
];

fn plan_is_done(case: &JudgmentCase<'_>) -> bool {
    !case.thread.known.plan.is_empty() && case.thread.known.open_steps().next().is_none()
}

fn step_under_way(case: &JudgmentCase<'_>) -> bool {
    case.thread.known.plan.iter().any(|step| step.status == StepStatus::InProgress)
}

fn dirty(case: &JudgmentCase<'_>) -> Option<u32> {
    case.thread.known.repo.as_ref().map(|repo| repo.dirty)
}

fn asks(case: &JudgmentCase<'_>) -> bool {
    case.last_message.is_some_and(|text| text.trim_end().ends_with('?'))
}

/// Judges by [`SIGNALS`]: no model, no network, the same answer every time.
pub fn heuristic(case: &JudgmentCase<'_>) -> JudgeReply {
    let holding: Vec<_> = SIGNALS.iter().filter(|signal| (signal.holds)(case)).collect();
    let score: i32 = holding.iter().map(|signal| signal.points).sum();
    let parts: Vec<_> =
        holding.iter().map(|signal| format!("{} {:+}", signal.says, signal.points)).collect();
    let of = if parts.is_empty() { "no signal".to_owned() } else { parts.join(", ") };
    JudgeReply::Says {
        should_compact: score >= ENOUGH,
        reason: format!("score {score}, {ENOUGH} needed: {of}"),
    }
}

/// Renders the judge's context from the user's template.
pub fn context(case: &JudgmentCase<'_>, template: &str) -> String {
    let known = &case.thread.known;
    let names: Vec<_> =
        case.boundaries.iter().map(|boundary| format!("\"{}\"", boundary.name())).collect();
    let number = |tokens: Option<crate::units::Tokens>| {
        tokens.map_or_else(|| "unknown".to_owned(), |tokens| tokens.0.to_string())
    };
    let turn = case.thread.turns.back().map(|turn| turn.id.to_string());
    let last_message = case.last_message.map(|text| both_ends(text, LAST_CHARS));
    let next_message = case.next_message.map(|text| both_ends(text, NEXT_CHARS));
    let first_message = known.first_message.as_deref().map(|text| head(text, FIRST_CHARS));
    let values = [
        ("tier", case.tier.to_string()),
        ("percentRemaining", case.percent.0.to_string()),
        ("boundariesJson", format!("[{}]", names.join(","))),
        ("lastAgentMessage", or_nothing(last_message.unwrap_or_default())),
        ("nextMessage", or_nothing(next_message.unwrap_or_default())),
        ("liveState", live_state(case)),
        ("transcriptExcerpt", case.excerpt.map_or_else(|| excerpt(case), str::to_owned)),
        ("threadId", case.thread.id.to_string()),
        ("turnId", turn.unwrap_or_else(|| NOTHING.to_owned())),
        ("totalUsageTokens", number(case.thread.gauge.context)),
        ("modelContextWindow", number(case.thread.gauge.window)),
        ("firstMessage", or_nothing(first_message.unwrap_or_default())),
        ("planTrail", plan_trail(case.thread)),
        ("directives", list(known.in_force().map(|directive| directive.text.clone()))),
        ("changes", changes(case.thread)),
    ];
    render(PromptName::JudgmentContext, template, |name| {
        values.iter().find(|(of, _)| *of == name).map(|(_, value)| value.as_str())
    })
}

/// How much of each text is shown, in characters. What came of the work stands at the end of a message, and what it was about
/// at its beginning.
const LAST_CHARS: usize = 2400;
const NEXT_CHARS: usize = 1600;
const FIRST_CHARS: usize = 400;
const EXCERPT_MESSAGES: usize = 5;
const EXCERPT_CHARS: usize = 400;
const CHANGES: usize = 12;

fn both_ends(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    if text.chars().nth(max_chars).is_none() {
        return text.to_owned();
    }
    format!("{}\n{}", head(text, max_chars / 4), tail(text, max_chars - max_chars / 4))
}

const NOTHING: &str = "(none)";

fn or_nothing(text: String) -> String {
    if text.trim().is_empty() { NOTHING.to_owned() } else { text }
}

fn list(lines: impl Iterator<Item = String>) -> String {
    or_nothing(lines.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"))
}

/// The messages before those that are shown on their own, the newest first.
fn excerpt(case: &JudgmentCase<'_>) -> String {
    let is_shown = |text: &str| {
        let shown = [case.last_message, case.next_message];
        shown.into_iter().flatten().any(|shown| shortened(shown) == text)
    };
    let messages = case.thread.known.said.iter().rev().filter(|of| !is_shown(&of.text));
    let lines = messages.take(EXCERPT_MESSAGES).map(|message| {
        let by = match message.by {
            Speaker::User => "user",
            Speaker::Agent => "agent",
        };
        format!("{by}: {}", tail(&message.text, EXCERPT_CHARS))
    });
    or_nothing(lines.collect::<Vec<_>>().join("\n\n"))
}

/// The plan, and how its steps changed since the last compaction.
fn plan_trail(thread: &Thread) -> String {
    let mark = |status: StepStatus| match status {
        StepStatus::Completed => "[x]",
        StepStatus::InProgress => "[>]",
        StepStatus::Pending => "[ ]",
    };
    let plan = thread.known.plan.iter().map(|step| format!("{} {}", mark(step.status), step.step));
    let moves: Vec<_> = thread
        .known
        .moves
        .iter()
        .map(|step| format!("{} {}", mark(step.status), step.step))
        .collect();
    let trail = (!moves.is_empty()).then(|| format!("so far: {}", moves.join("; ")));
    list(plan.chain(trail))
}

/// What changed since the last compaction, the newest first.
fn changes(thread: &Thread) -> String {
    let known = &thread.known;
    let files: Vec<_> = known.changed_files.iter().map(String::as_str).take(CHANGES).collect();
    let files = (!files.is_empty()).then(|| format!("files: {}", files.join(", ")));
    let stack = known.repo.as_ref().and_then(|repo| repo.stack.as_ref());
    let stack = stack.map(|stack| format!("stack of branches:\n{stack}"));
    let branch = known.branch.as_ref().map(|branch| format!("branch: {branch}"));
    let milestones = known.milestones.iter().rev().take(CHANGES).cloned();
    list(milestones.chain(branch).chain(files).chain(stack))
}

/// What holds at this moment.
fn live_state(case: &JudgmentCase<'_>) -> String {
    let (thread, known) = (case.thread, &case.thread.known);
    let running = known
        .tools_running
        .iter()
        .map(|(call, name)| format!("still running: {}", name.as_deref().unwrap_or(call.as_str())));
    let nothing_runs = known.tools_running.is_empty().then(|| "nothing is running".to_owned());
    let dirty = known.repo.as_ref().map(|repo| match repo.dirty {
        0 => "the working tree is clean".to_owned(),
        files => format!("uncommitted files: {files}"),
    });
    let failing =
        known.failed_checks.iter().map(|check| format!("failed and not passed since: {check}"));
    let checked = thread.turns.iter().rev().enumerate().find_map(|(ago, turn)| {
        turn.checked.filter(|passed| *passed && known.failed_checks.is_empty()).map(|_| ago)
    });
    let checked = checked.map(|ago| match ago {
        0 => "checks passed in the last turn".to_owned(),
        1 => "checks passed one turn before the last".to_owned(),
        ago => format!("checks passed {ago} turns before the last"),
    });
    let asks = case.last_message.filter(|text| WorkAtHand::new(&[], text).asks());
    let asks = asks.map(|_| "the agent closes with a question or an offer".to_owned());
    list(running.chain(nothing_runs).chain(dirty).chain(failing).chain(checked).chain(asks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Repo;
    use crate::signal::plan::PlanItem;
    use crate::units::ThreadId;

    fn thread() -> Thread {
        Thread::new(ThreadId::new("t"))
    }

    fn judge(thread: &Thread, tier: Tier, boundaries: &[Boundary], said: &str) -> (bool, String) {
        let case = JudgmentCase {
            thread,
            tier,
            percent: Percent(70),
            boundaries: Boundaries::of(boundaries),
            last_message: Some(said),
            next_message: None,
            excerpt: None,
        };
        match heuristic(&case) {
            JudgeReply::Says { should_compact, reason } => (should_compact, reason),
            JudgeReply::Failed { error } => panic!("{error}"),
        }
    }

    #[test]
    fn the_score_names_its_signals() {
        let (yes, reason) = judge(&thread(), Tier::Ready, &[Boundary::Commit], "committed");
        assert_eq!((yes, reason.as_str()), (true, "score 4, 3 needed: a commit +3, ready +1"));
        let (yes, reason) = judge(&thread(), Tier::Early, &[Boundary::PlanUpdate], "Which one?");
        assert!(!yes, "{reason}");
        assert!(reason.contains("a question to the user is open -2"), "{reason}");
    }

    #[test]
    fn unfinished_work_lowers_the_score() {
        let mut busy = thread();
        busy.known.repo = Some(Repo { dirty: 3, ..Repo::default() });
        busy.known.plan =
            vec![PlanItem { step: "write".to_owned(), status: StepStatus::InProgress }];
        let (yes, reason) = judge(&busy, Tier::Ready, &[Boundary::PlanCheckpoint], "next");
        assert!(!yes, "{reason}");
    }
}
