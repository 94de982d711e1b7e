//! The texts of the banner. Every client shows these, so that they are the same everywhere.

use super::{ToWire, boundaries, percent};
use rawr_core::event::{Choice, Phase};
use rawr_core::machine::{BannerStage, HeadsUpBanner};
use rawr_core::policy::PacketAuthor;
use rawr_core::thread::Thread;
use rawr_core::units::SequenceId;
use rawr_protocol as wire;

/// The notification that a banner is shown.
pub fn heads_up_notification(
    thread: &Thread,
    heads_up: &HeadsUpBanner,
) -> wire::SequenceHeadsUpNotification {
    let banner = self::heads_up(thread, heads_up);
    wire::SequenceHeadsUpNotification {
        thread_id: thread.id.to_string(),
        sequence_id: banner.sequence_id,
        stage: banner.stage,
        title: banner.title,
        message: banner.message,
        tier: banner.tier,
        percent_remaining: banner.percent_remaining,
        reason: banner.reason,
        boundaries: banner.boundaries,
        packet_author: heads_up.author.to_wire(),
        choices: banner.choices.into_iter().map(|offered| offered.choice).collect(),
        deadline_at_ms: banner.deadline_at_ms,
    }
}

/// The current banner.
pub fn heads_up(thread: &Thread, heads_up: &HeadsUpBanner) -> wire::HeadsUp {
    let offer = |answer: &Choice| {
        let choice = answer.to_wire();
        wire::OfferedChoice { choice, label: choice.label().to_owned() }
    };
    wire::HeadsUp {
        sequence_id: sequence_id(thread, heads_up).to_string(),
        stage: heads_up.stage.to_wire(),
        title: title(heads_up).to_owned(),
        reason: heads_up.reason.clone(),
        message: message(heads_up),
        tier: heads_up.tier.map(ToWire::to_wire),
        percent_remaining: heads_up.percent.map(percent),
        boundaries: boundaries(heads_up.boundaries),
        progress: step(heads_up.phase).map(|step| wire::HeadsUpProgress {
            step,
            of: STEPS,
            label: heads_up.phase.to_wire().label().to_owned(),
        }),
        choices: heads_up.answers.iter().map(offer).collect(),
        deadline_at_ms: heads_up.deadline.map(|at| at.0),
        deadline_label: heads_up.deadline.map(|_| at_deadline(heads_up.stage).to_owned()),
    }
}

/// For a recommendation, the sequence that would start.
fn sequence_id(thread: &Thread, heads_up: &HeadsUpBanner) -> SequenceId {
    heads_up.sequence.clone().unwrap_or_else(|| thread.next_sequence_id())
}

fn title(heads_up: &HeadsUpBanner) -> &'static str {
    match heads_up.answers {
        [] => heads_up.phase.to_wire().label(),
        [_, ..] => heads_up.stage.to_wire().label(),
    }
}

fn message(heads_up: &HeadsUpBanner) -> String {
    let writer = match heads_up.author {
        PacketAuthor::Agent => "the agent writes a packet",
        PacketAuthor::Watcher | PacketAuthor::Person => "rawr writes a packet",
    };
    let path = format!("{writer}, the history is compacted, and work continues from the packet.");
    match (heads_up.stage, heads_up.phase) {
        (BannerStage::AwaitingApproval, _) => format!("If you approve, {path}"),
        (BannerStage::WillCompact, Phase::AwaitingCompaction) => {
            "The packet is ready. Type /compact in the agent.".to_owned()
        }
        (BannerStage::WillCompact, Phase::Compacting) if heads_up.answers.is_empty() => {
            "The history is being compacted. This cannot be stopped.".to_owned()
        }
        (BannerStage::WillCompact, Phase::Compacting) => {
            "The packet is ready. The history is compacted when the agent is idle.".to_owned()
        }
        (BannerStage::WillCompact, Phase::AwaitingHandoff) => {
            "The history is compacted. The agent gets the packet next.".to_owned()
        }
        (BannerStage::WillCompact, _) => {
            let mut path = path;
            path[..1].make_ascii_uppercase();
            path
        }
        (BannerStage::Recommended, _) => {
            "Waiting for you to compact (`mode = \"suggest\"`).".to_owned()
        }
        (BannerStage::Tagged, _) => "Logged only (`mode = \"tag\"`).".to_owned(),
        (BannerStage::Deferred, _) => {
            "Your next message waits until the history is compacted and the packet is handed back."
                .to_owned()
        }
    }
}

const fn at_deadline(stage: BannerStage) -> &'static str {
    match stage {
        BannerStage::AwaitingApproval => "Canceled without an answer in",
        BannerStage::WillCompact
        | BannerStage::Recommended
        | BannerStage::Tagged
        | BannerStage::Deferred => "Continues on its own in",
    }
}

const STEPS: u64 = 4;

const fn step(phase: Phase) -> Option<u64> {
    match phase {
        Phase::Idle | Phase::AwaitingJudgment | Phase::Deferred | Phase::Proposed => None,
        Phase::AwaitingApproval => Some(1),
        Phase::AwaitingHeadsUp | Phase::AwaitingScratchWrite | Phase::AwaitingPacket => Some(2),
        Phase::AwaitingCompaction | Phase::Compacting => Some(3),
        Phase::AwaitingHandoff => Some(4),
    }
}
