//! The small worlds as a table: one for each entrance and each kind of host.

use crate::same;
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::event::{Capabilities, CompactionOrigin};
use rawr_core::policy::{
    Breaker, ConfirmRule, InlineCompact, JudgeBackend, MidTurn, Mode, PacketAuthor, PacketChannel,
    Policy,
};
use rawr_core::prompt::Prompts;
use rawr_core::units::Tokens;

/// In tokens, and therefore in percent.
pub const WINDOW: u64 = 100;

#[derive(Debug)]
pub struct SmallWorld {
    pub name: &'static str,
    pub policy: Policy,
    pub prompts: Prompts,
    pub can: Capabilities,
    pub manner: Manner,
    /// The user's turns contain commits.
    pub commits: bool,
    /// The sampling requests of a user's turn before its last one.
    pub requests: u8,
    pub starts_at: u64,
    pub request_grows: u64,
    pub answer_grows: u64,
    pub turn_grows: u64,
    /// The size of the context after a compaction: by the provider, and by the host.
    pub provider_lands_at: u64,
    pub lands_at: u64,
    /// The origin of compactions that rawr did not request.
    pub compacts_for: CompactionOrigin,
    /// A compaction that rawr did not request may happen during a turn.
    pub compacts_inside: bool,
    pub may: Budget,
}

/// How a host reports the turns that rawr requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Accepts the action, names it at the turn's start, and completes it after the turn's end.
    Full,
    /// Only the turn's start names the action.
    Terse,
    /// The turn is identified only by its marker.
    Marks,
    /// The turn is reported after its end, without an announcement.
    Late,
}

/// How often each of these may happen in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Messages of the user.
    pub inputs: u8,
    /// The limit of all that follow together, except for answers of a person.
    pub disturbances: u8,
    /// Deadlines that pass while something else could still happen.
    pub late: u8,
    /// Reports that are repeated after all others.
    pub repeats: u8,
    pub losses: u8,
    /// Reports that arrive before earlier ones.
    pub overtakes: u8,
    /// Deaths of rawr's process: between two inputs, or with so many of an input's records written.
    pub crashes: u8,
    /// Deaths of the host and of rawr's process.
    pub host_crashes: u8,
    /// Deaths that lose what was written and not synced.
    pub power_cuts: u8,
    /// Actions that the host refuses, and compactions that fail.
    pub refusals: u8,
    pub interrupts: u8,
    /// Compactions that rawr did not request.
    pub own_compactions: u8,
    /// Answers of a person.
    pub words: u8,
}

impl Budget {
    pub const fn allows_power_cut(self) -> bool {
        self.power_cuts > 0 && self.disturbances > 0
    }

    /// Caps each kind, so that states that differ only in an unusable budget are the same.
    pub fn at_most(self, most: u8) -> Self {
        Self {
            inputs: self.inputs,
            words: self.words,
            disturbances: self.disturbances,
            late: self.late.min(most),
            repeats: self.repeats.min(most),
            losses: self.losses.min(most),
            overtakes: self.overtakes.min(most),
            crashes: self.crashes.min(most),
            host_crashes: self.host_crashes.min(most),
            power_cuts: self.power_cuts.min(most),
            refusals: self.refusals.min(most),
            interrupts: self.interrupts.min(most),
            own_compactions: self.own_compactions.min(most),
        }
    }
}

const EVERYTHING: Capabilities = Capabilities {
    inject_turn: true,
    steer: true,
    sample: true,
    queue: true,
    queue_in_place: false,
    queue_above_tokens: None,
    compact: true,
    compact_by_person: false,
    mid_turn_compact: true,
    inject_items: true,
    judge: true,
    cache_seconds: None,
};

/// A user's turn grows the context from 30 to 60 of 100: tier asap, where `agent_done` counts.
fn turn_end() -> SmallWorld {
    let policy = Policy {
        rearm_tokens: Some(Tokens(10)),
        breaker: Breaker { strikes: 3, land_at_percent: 80, reset_seconds: 1800 },
        ..Policy::default()
    };
    SmallWorld {
        name: "turn end, the agent's packet",
        policy,
        prompts: Prompts::new(|_| "p".to_owned()),
        can: Capabilities { mid_turn_compact: false, judge: false, ..EVERYTHING },
        manner: Manner::Terse,
        commits: false,
        requests: 0,
        starts_at: 30,
        request_grows: 0,
        answer_grows: 1,
        turn_grows: 30,
        provider_lands_at: 20,
        lands_at: 20,
        compacts_for: CompactionOrigin::Host,
        compacts_inside: false,
        may: NOTHING,
    }
}

/// The first request of the user's turn leaves less than 15 percent.
fn mid_turn(can: bool) -> SmallWorld {
    let mut world = turn_end();
    world.can.mid_turn_compact = can;
    world.requests = 1;
    world.request_grows = 60;
    world.turn_grows = 1;
    world
}

/// The relevant tiers have a decision prompt, including emergency.
fn judged(judge: JudgeBackend) -> SmallWorld {
    let mut world = turn_end();
    world.policy.judge = judge;
    world.policy.tiers.asap.decision_prompt_path = Some("j".to_owned());
    world.policy.tiers.emergency.decision_prompt_path = Some("j".to_owned());
    world.can.judge = true;
    world
}

/// The first request of a turn leaves it in asap, the second one in an emergency.
fn judged_inside(judge: JudgeBackend) -> SmallWorld {
    let mut world = judged(judge);
    world.policy.mid_turn = MidTurn::Policy;
    world.policy.tiers.asap.required = None;
    world.can.mid_turn_compact = true;
    world.commits = true;
    world.requests = 2;
    world.request_grows = 30;
    world.turn_grows = 5;
    world
}

/// The provider's compaction frees nothing.
fn inline() -> SmallWorld {
    let mut world = turn_end();
    world.policy.enabled = false;
    world.policy.inline =
        InlineCompact { enabled: true, threshold_percent: 50, interrupt_mid_turn: false };
    world.can.mid_turn_compact = true;
    world.requests = 1;
    world.request_grows = 30;
    world.provider_lands_at = 70;
    world
}

fn preflight() -> SmallWorld {
    let mut world = turn_end();
    let required = Boundaries::of(&[Boundary::TurnComplete, Boundary::AgentDone]);
    world.policy.tiers.asap.required = Some(required);
    world
}

/// The end of a turn proposes.
fn proposed(confirm: ConfirmRule) -> SmallWorld {
    let mut world = turn_end();
    world.policy.tiers.asap.confirm = confirm;
    world
}

/// A judge is asked about the next message, as in the default preset.
fn proposed_and_judged() -> SmallWorld {
    let mut world = judged(JudgeBackend::Host);
    world.policy.tiers.asap.confirm = ConfirmRule::Message;
    world.policy.judge_unclear.below = 100;
    world
}

/// The next message closes the work: it is carried out first.
fn proposed_and_closed() -> SmallWorld {
    let mut world = proposed(ConfirmRule::Message);
    world.policy.closing_first = true;
    world
}

/// The packet is asked for with the proposal.
fn proposed_with_a_packet() -> SmallWorld {
    let mut world = proposed(ConfirmRule::Message);
    world.policy.packet_channel = PacketChannel::Sample;
    world
}

fn watcher() -> SmallWorld {
    let mut world = turn_end();
    world.policy.packet_author = PacketAuthor::Watcher;
    world.policy.scratch_write_enabled = true;
    world
}

fn sampled() -> SmallWorld {
    let mut world = turn_end();
    world.policy.packet_channel = PacketChannel::Sample;
    world.policy.scratch_write_enabled = true;
    world
}

/// A handoff's turn ends under pressure, with a potential boundary.
fn long_answers() -> SmallWorld {
    let grows = SmallWorld { requests: 1, answer_grows: 15, turn_grows: 40, ..turn_end() };
    SmallWorld { lands_at: 40, provider_lands_at: 40, request_grows: 1, ..grows }
}

fn judged_emergency() -> SmallWorld {
    SmallWorld { turn_grows: 60, ..judged(JudgeBackend::Host) }
}

/// The turn continues after the host's compaction and takes no handoff: it ends in asap, with a handoff pending.
fn compacts_inside() -> SmallWorld {
    let mut world = turn_end();
    world.can.steer = false;
    world.requests = 1;
    world.request_grows = 1;
    world.compacts_inside = true;
    world
}

fn asked_first() -> SmallWorld {
    let mut world = turn_end();
    world.policy.mode = Mode::Ask;
    world
}

const NOTHING: Budget = Budget {
    inputs: 2,
    disturbances: 0,
    late: 0,
    repeats: 0,
    losses: 0,
    overtakes: 0,
    crashes: 0,
    host_crashes: 0,
    power_cuts: 0,
    refusals: 0,
    interrupts: 0,
    own_compactions: 0,
    words: 0,
};

/// Disturbances of the connection and of both processes: each so often, and all together once more. One report is lost:
/// a delivery is requested once more, and again only after a client's request.
const fn line(times: u8) -> Budget {
    Budget {
        disturbances: times + 1,
        late: times,
        repeats: times,
        losses: 1,
        overtakes: times,
        crashes: times,
        host_crashes: times,
        ..NOTHING
    }
}

/// Small enough to be visited completely, with two disturbances each, some with three, the largest four with one. Only
/// the simplest worlds hold two messages; other events are excluded in the largest ones.
pub fn worlds() -> Vec<SmallWorld> {
    let full = SmallWorld { manner: Manner::Full, ..turn_end() };
    let marks = SmallWorld { manner: Manner::Marks, ..turn_end() };
    let late = SmallWorld { manner: Manner::Late, ..turn_end() };
    let commits = SmallWorld { commits: true, ..turn_end() };
    let once = Budget { inputs: 1, ..line(1) };
    let twice = Budget { inputs: 1, ..line(2) };
    let thrice = Budget { inputs: 3, crashes: 1, disturbances: 1, ..NOTHING };
    let people = Budget { words: 2, ..line(0) };
    let refuses = Budget { refusals: 1, interrupts: 1, own_compactions: 1, ..once };
    let refuses_inside = Budget { disturbances: 1, repeats: 0, overtakes: 0, ..refuses };
    let less_often = Budget { disturbances: 1, repeats: 0, overtakes: 0, ..once };
    let judged_once = Budget { inputs: 0, disturbances: 1, overtakes: 0, ..once };
    let own = Budget { own_compactions: 1, ..once };
    let own_inside = Budget { interrupts: 1, repeats: 0, overtakes: 0, ..own };
    let own_once = Budget { words: 1, own_compactions: 1, disturbances: 1, ..NOTHING };
    let answered_twice = Budget { words: 2, late: 1, ..own_once };
    let by_person = SmallWorld { compacts_for: CompactionOrigin::User, ..turn_end() };
    let by_host = judged(JudgeBackend::Host);
    let by_sidecar = judged(JudgeBackend::Responses);
    let by_host_inside = judged_inside(JudgeBackend::Host);
    let table = [
        ("turn end", line(1), turn_end()),
        ("turn end, three times disturbed", twice, turn_end()),
        ("turn end, a host that says all", once, full),
        ("turn end, a host that marks", once, marks),
        ("turn end, a host that is late", once, late),
        ("turn end, commits", once, commits),
        ("turn end, long answers", once, long_answers()),
        ("turn end, rawr's packet", once, watcher()),
        ("turn end, a sampled packet", once, sampled()),
        ("a host that refuses to sample", refuses, sampled()),
        ("preflight", line(1), preflight()),
        ("preflight, three times disturbed", twice, preflight()),
        ("proposed, by the next message", line(1), proposed(ConfirmRule::Message)),
        ("proposed, with a packet ahead of time", line(1), proposed_with_a_packet()),
        ("proposed, and judged", less_often, proposed_and_judged()),
        ("proposed, closing first", once, proposed_and_closed()),
        ("proposed, by silence", once, proposed(ConfirmRule::Idle)),
        ("proposed, by either", once, proposed(ConfirmRule::Either)),
        ("proposed, with three messages", thrice, proposed(ConfirmRule::Message)),
        ("proposed, and people", Budget { words: 1, ..people }, proposed(ConfirmRule::Either)),
        ("inside a turn", less_often, mid_turn(true)),
        ("inside a turn, compaction at its end", Budget { overtakes: 0, ..once }, mid_turn(false)),
        ("built-in compaction", once, inline()),
        ("judged by the host", less_often, by_host),
        ("judged by the sidecar", once, by_sidecar),
        ("judged in an emergency", Budget { inputs: 1, ..line(0) }, judged_emergency()),
        ("judged inside a turn", judged_once, by_host_inside),
        ("asked first", Budget { words: 1, ..own }, asked_first()),
        ("asked first, and answered twice", answered_twice, asked_first()),
        ("proposed with a packet, and compacted by the host", own_once, proposed_with_a_packet()),
        ("judged, and compacted by the host", own_once, proposed_and_judged()),
        ("people", people, turn_end()),
        ("people, preflight", people, preflight()),
        ("people, judged", Budget { inputs: 1, words: 1, ..people }, judged(JudgeBackend::Host)),
        ("handed over late", own, by_person),
        ("handed over late, after a turn", own_inside, compacts_inside()),
        ("power cuts", Budget { power_cuts: 3, disturbances: 3, ..NOTHING }, turn_end()),
        ("a host that refuses", refuses, turn_end()),
        ("a host that refuses inside a turn", refuses_inside, mid_turn(true)),
    ];
    table.map(|(name, may, world)| named(name, may, world)).into()
}

fn named(name: &'static str, may: Budget, world: SmallWorld) -> SmallWorld {
    assert!(same::is_timeless(&world.policy), "{name} depends on the clock");
    SmallWorld { name, may, ..world }
}
