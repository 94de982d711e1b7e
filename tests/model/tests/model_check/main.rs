//! Visits every state of small worlds: events in any order, duplicated, lost and late, two held messages, and a process
//! that dies at any point. Exhaustive, so that a property that holds here holds for everything that can happen in these
//! worlds.

mod defects;
mod explore;
mod host;
mod long;
mod process;
mod properties;
mod same;
mod state;
mod task;
mod world;
mod worlds;

use defects::{Defect, TestedMachine};
use explore::{Explored, explore};
use process::Played;
use worlds::{SmallWorld, worlds};

/// Half of the time goes to small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A larger world would make the tests too slow.
const MOST_STATES: usize = 5_000_000;

fn told(world: &SmallWorld, explored: &Explored) -> String {
    let Explored { states, steps, depth, to_rest, is_cut, violation } = explored;
    let mut told = format!(
        "{:<38}{states:>8} states{steps:>8} steps, {depth:>3} deep, at most {to_rest:>2} to rest",
        world.name,
    );
    if *is_cut {
        told += ": not all of it";
    }
    if let Some((violation, way)) = violation {
        told += &format!("\n{}: {}\n{}", violation.property, violation.what, way.join("\n"));
    }
    told
}

/// Each property is violated by some defective machine, and one of the worlds above detects it.
#[test]
fn every_deliberate_defect_is_detected() {
    use properties::{CONFIRMED, EMERGENCY, ENDED, LATE, SPENT, SYNTHETIC};
    let worlds = worlds();
    for (defect, world, promise) in [
        (Defect::NewNamesAfterARestart, "turn end", task::ONCE),
        (Defect::KeepsBoundaries, "turn end", SPENT),
        (Defect::DeliversTwice, "turn end", task::INPUT),
        (Defect::AsksInAnEmergency, "judged in an emergency", EMERGENCY),
        (Defect::NoDeadlines, "turn end", process::IDLE),
        (Defect::ForgetsWhoseTurn, "turn end, long answers", SYNTHETIC),
        (Defect::ActsAfterTheEnd, "turn end", ENDED),
        (Defect::HandsOffAtOnce, "turn end", task::OWED),
        (Defect::OwesNothing, "handed over late", LATE),
        (Defect::Unconfirmed, "proposed, by the next message", CONFIRMED),
    ] {
        let world = worlds.iter().find(|other| other.name == world).unwrap();
        let explored = explore(&Played::new(world, TestedMachine(Some(defect))), MOST_STATES);
        let found = explored.violation.as_ref().map(|(violation, _)| violation.property);
        println!("{defect:?}: found after {} states", explored.states);
        assert_eq!(found, Some(promise), "{defect:?}: {}", told(world, &explored));
    }
}
