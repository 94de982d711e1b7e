//! Draws the banner: a box with the sidecar's texts about a coming compaction.

use rawr_protocol::{BannerStage, Choice, HeadsUp, SequenceHeadsUpNotification};

use super::text::wrapped;
use rawr_host::text::{columns, one_line};

/// The preferred width of its text.
pub(super) const BANNER: usize = 74;

/// The width of its frame.
pub(super) const BANNER_EDGES: usize = 4;

/// The lines of the box. The decision above it gives the reason.
pub(super) fn banner(heads_up: &SequenceHeadsUpNotification, width: usize) -> Vec<String> {
    let mut lines = wrapped(&heads_up.message, width);
    if heads_up.stage == BannerStage::AwaitingApproval && !heads_up.choices.is_empty() {
        let choices: Vec<_> =
            heads_up.choices.iter().map(|choice| Choice::label(*choice)).collect();
        lines.extend(wrapped(&format!("Your choices: {}.", choices.join(", ")), width));
    }
    framed(&heads_up.title, &lines, width)
}

/// The reason and the message, without a frame.
pub fn banner_words(heads_up: &HeadsUp, width: usize) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(heads_up.percent_remaining.map(|percent| format!("{percent}% left")));
    facts.extend(heads_up.tier.map(|tier| tier.label().to_owned()));
    if !heads_up.boundaries.is_empty() {
        let names: Vec<_> = heads_up.boundaries.iter().map(|boundary| boundary.label()).collect();
        facts.push(names.join(", "));
    }
    // Where a phase ended, the reason is the boundaries.
    let reason = heads_up.boundaries.is_empty().then(|| wrapped(&heads_up.reason, width));
    let mut lines = reason.unwrap_or_default();
    lines.extend(wrapped(&facts.join(" · "), width));
    lines.push(String::new());
    lines.extend(wrapped(&heads_up.message, width));
    lines
}

fn framed(title: &str, lines: &[String], width: usize) -> Vec<String> {
    let title = one_line(title, width.saturating_sub(1));
    let rule = "─".repeat(width.saturating_sub(columns(&title) + 1));
    let mut framed = vec![format!("╭─ {title} {rule}╮")];
    for line in lines {
        let gap = " ".repeat(width.saturating_sub(columns(line)));
        framed.push(format!("│ {line}{gap} │"));
    }
    framed.push(format!("╰{}╯", "─".repeat(width + 2)));
    framed
}
