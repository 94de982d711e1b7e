//! The banner: a box that says that a compaction is near, why, and what will happen. Words and frame only.

use rawr_protocol::{Choice, PacketAuthor, SequenceHeadsUpNotification, Stage};

use super::text::wrapped;
use rawr_host::text::{columns, one_line};

/// How wide its text is where there is room.
pub(super) const BANNER: usize = 74;

/// What its frame takes.
pub(super) const BANNER_EDGES: usize = 4;

/// The box, line by line.
pub(super) fn banner(heads_up: &SequenceHeadsUpNotification, width: usize) -> Vec<String> {
    let mut lines = banner_words(heads_up, width);
    if heads_up.stage == Stage::AwaitingApproval && !heads_up.choices.is_empty() {
        let choices: Vec<_> = heads_up.choices.iter().map(|choice| answer(*choice)).collect();
        lines.extend(wrapped(&format!("Your choices: {}.", choices.join(", ")), width));
    }
    framed(banner_title(heads_up.stage), &lines, width)
}

/// Why it is shown and what will happen, without a frame.
pub fn banner_words(heads_up: &SequenceHeadsUpNotification, width: usize) -> Vec<String> {
    let SequenceHeadsUpNotification { tier, percent_remaining, boundaries, .. } = heads_up;
    let mut facts = Vec::new();
    facts.extend(percent_remaining.map(|percent| format!("{percent}% left")));
    facts.extend(tier.map(|tier| format!("tier {tier}")));
    if !boundaries.is_empty() {
        let names: Vec<_> = boundaries.iter().map(|boundary| boundary.as_str()).collect();
        facts.push(names.join(", "));
    }
    let mut lines = wrapped(&heads_up.reason, width);
    lines.extend(wrapped(&facts.join(" · "), width));
    lines.push(String::new());
    lines.extend(wrapped(what_happens(heads_up.stage, heads_up.packet_author), width));
    lines
}

pub fn banner_title(stage: Stage) -> &'static str {
    match stage {
        Stage::WillCompact => "compaction ahead",
        Stage::AwaitingApproval => "compact now?",
        Stage::Recommended => "compaction recommended",
        Stage::Tagged => "compaction would happen here",
        Stage::Deferred => "compaction before your next message",
    }
}

fn what_happens(stage: Stage, author: PacketAuthor) -> &'static str {
    match (stage, author) {
        (Stage::WillCompact, PacketAuthor::Agent) => {
            "The agent writes its continuation packet, the history is compacted, the packet is handed back, and work goes on."
        }
        (Stage::WillCompact, PacketAuthor::Watcher | PacketAuthor::Person) => {
            "rawr writes the continuation packet, the history is compacted, the packet is handed back, and work goes on."
        }
        (Stage::AwaitingApproval, _) => "Nothing happens until somebody agrees.",
        (Stage::Recommended, _) => "`mode = \"suggest\"`: nothing happens by itself.",
        (Stage::Tagged, _) => "`mode = \"tag\"`: this is only said.",
        (Stage::Deferred, _) => {
            "Your next message waits until the history is compacted and the packet handed back."
        }
    }
}

/// What a person has answered, or can.
pub fn answer(choice: Choice) -> &'static str {
    match choice {
        Choice::CompactNow => "compact now",
        Choice::Approve => "go on",
        Choice::Snooze => "not now",
        Choice::Cancel => "not this time",
        Choice::EditPacket => "edit the packet",
    }
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
