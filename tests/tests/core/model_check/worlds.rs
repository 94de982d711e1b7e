//! The small worlds: one for each entrance and each kind of host, as a table. Nothing happens here.

use crate::model_check::same;
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::event::{Capabilities, CompactionOrigin};
use rawr_core::policy::{
    Breaker, InlineCompact, JudgeBackend, MidTurn, Mode, PacketAuthor, PacketChannel, Policy,
};
use rawr_core::prompt::Prompts;
use rawr_core::units::Tokens;

/// In tokens, and so in percent.
pub const WINDOW: u64 = 100;

#[derive(Debug)]
pub struct World {
    pub name: &'static str,
    pub policy: Policy,
    pub prompts: Prompts,
    pub can: Capabilities,
    pub manner: Manner,
    /// The user's turns commit.
    pub commits: bool,
    /// Sampling requests of a user's turn before its last.
    pub requests: u8,
    pub starts_at: u64,
    pub request_grows: u64,
    pub answer_grows: u64,
    pub turn_grows: u64,
    /// Where a compaction leaves the context: the provider's, and the host's own.
    pub provider_lands_at: u64,
    pub lands_at: u64,
    /// On whose behalf the host compacts where rawr did not ask for it.
    pub compacts_for: CompactionOrigin,
    /// It may do so while a turn runs.
    pub compacts_inside: bool,
    pub may: Budget,
}

/// How a host tells of the turns that were asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It accepts the action, names it at the turn's start, and completes it after the turn's end.
    Full,
    /// The turn's start names its action, and nothing else does.
    Terse,
    /// The turn is known by its marker alone.
    Marks,
    /// The turn is reported at its end, without a report of its start.
    Late,
}

/// How often each of these may happen in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Messages of the user's.
    pub inputs: u8,
    /// Of all that follows together, but for words.
    pub disturbances: u8,
    /// Deadlines that pass while something is still to come.
    pub late: u8,
    /// Reports that come twice, the second time after all others.
    pub repeats: u8,
    pub losses: u8,
    /// Reports that come before others that were said earlier.
    pub overtakes: u8,
    /// Deaths of rawr's process: between two inputs, or with so many of an input's records written.
    pub crashes: u8,
    /// Deaths of the host, and rawr's process with it.
    pub host_crashes: u8,
    /// Deaths that take with them what was written and not synced.
    pub power_cuts: u8,
    /// Actions that the host will not do, and compactions that fail.
    pub refusals: u8,
    pub interrupts: u8,
    /// Compactions that the host was not asked for.
    pub own_compactions: u8,
    /// Times that a person steps in.
    pub words: u8,
}

impl Budget {
    pub const fn allows_power_cut(self) -> bool {
        self.power_cuts > 0 && self.disturbances > 0
    }

    /// What is left of each kind beyond that can happen no more, so that worlds in which it differs are the same.
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
    compact: true,
    compact_by_person: false,
    mid_turn_compact: true,
    inject_items: true,
    judge: true,
};

/// A turn of the user's brings the context from 30 to 60 of 100: asap, where the agent's word that it is done counts.
fn turn_end() -> World {
    let policy = Policy {
        rearm_tokens: Some(Tokens(10)),
        breaker: Breaker { strikes: 3, land_at_percent: 80, reset_seconds: 1800 },
        ..Policy::default()
    };
    World {
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
fn mid_turn(can: bool) -> World {
    let mut world = turn_end();
    world.can.mid_turn_compact = can;
    world.requests = 1;
    world.request_grows = 60;
    world.turn_grows = 1;
    world
}

/// The tiers that matter here have a decision prompt, emergency as well.
fn judged(judge: JudgeBackend) -> World {
    let mut world = turn_end();
    world.policy.judge = judge;
    world.policy.tiers.asap.decision_prompt_path = Some("j".to_owned());
    world.policy.tiers.emergency.decision_prompt_path = Some("j".to_owned());
    world.can.judge = true;
    world
}

/// The first request of a turn leaves it in asap, the second in an emergency.
fn judged_inside(judge: JudgeBackend) -> World {
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
fn inline() -> World {
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

fn preflight() -> World {
    let mut world = turn_end();
    let required = Boundaries::of(&[Boundary::TurnComplete, Boundary::AgentDone]);
    world.policy.tiers.asap.required = Some(required);
    world
}

fn watcher() -> World {
    let mut world = turn_end();
    world.policy.packet_author = PacketAuthor::Watcher;
    world.policy.scratch_write_enabled = true;
    world
}

fn sampled() -> World {
    let mut world = turn_end();
    world.policy.packet_channel = PacketChannel::Sample;
    world.policy.scratch_write_enabled = true;
    world
}

/// A handoff's turn ends under pressure, with what would be a boundary.
fn long_answers() -> World {
    let grows = World { requests: 1, answer_grows: 15, turn_grows: 40, ..turn_end() };
    World { lands_at: 40, provider_lands_at: 40, request_grows: 1, ..grows }
}

fn judged_emergency() -> World {
    World { turn_grows: 60, ..judged(JudgeBackend::Host) }
}

/// The turn goes on after the host's compaction, and takes no handoff: it ends in asap, with one still owed.
fn compacts_inside() -> World {
    let mut world = turn_end();
    world.can.steer = false;
    world.requests = 1;
    world.request_grows = 1;
    world.compacts_inside = true;
    world
}

fn asked_first() -> World {
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

/// The line between host and rawr, and the processes at its ends: each may be disturbed so often, and all together once
/// more. One report is lost: a delivery is asked for once more, and again only when a client speaks.
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

/// Small enough to be visited whole, each disturbed twice, some three times; the largest two only once. Two messages wait in
/// the plainest worlds alone; what else may happen is left out where a world is the largest.
pub fn worlds() -> Vec<World> {
    let full = World { manner: Manner::Full, ..turn_end() };
    let marks = World { manner: Manner::Marks, ..turn_end() };
    let late = World { manner: Manner::Late, ..turn_end() };
    let commits = World { commits: true, ..turn_end() };
    let once = Budget { inputs: 1, ..line(1) };
    let twice = Budget { inputs: 1, ..line(2) };
    let people = Budget { words: 2, ..line(0) };
    let refuses = Budget { refusals: 1, interrupts: 1, own_compactions: 1, ..once };
    let refuses_inside = Budget { disturbances: 1, repeats: 0, overtakes: 0, ..refuses };
    let judged_once = Budget { inputs: 0, disturbances: 1, overtakes: 0, ..once };
    let own = Budget { own_compactions: 1, ..once };
    let own_inside = Budget { interrupts: 1, repeats: 0, overtakes: 0, ..own };
    let by_person = World { compacts_for: CompactionOrigin::User, ..turn_end() };
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
        ("inside a turn", once, mid_turn(true)),
        ("inside a turn, compaction at its end", once, mid_turn(false)),
        ("built-in compaction", once, inline()),
        ("judged by the host", Budget { overtakes: 0, repeats: 0, ..once }, by_host),
        ("judged by the sidecar", once, by_sidecar),
        ("judged in an emergency", Budget { inputs: 1, ..line(0) }, judged_emergency()),
        ("judged inside a turn", judged_once, by_host_inside),
        ("asked first", Budget { words: 1, ..own }, asked_first()),
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

fn named(name: &'static str, may: Budget, world: World) -> World {
    assert!(same::is_timeless(&world.policy), "{name} looks at the clock");
    World { name, may, ..world }
}
