//! All worlds.

use super::defects::TestedMachine;
use super::explore::explore;
use super::process::Played;
use super::worlds::worlds;
use super::{MOST_STATES, told};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const FEWEST_STATES: usize = 2_000_000;

/// `MODEL_CHECK_ONLY` selects one world.
#[test]
fn every_reachable_state_satisfies_the_properties() {
    let only = std::env::var("MODEL_CHECK_ONLY").ok();
    let mut worlds = worlds();
    worlds.retain(|world| only.as_deref().is_none_or(|only| only == world.name));
    let (next, broken) = (Mutex::new(worlds.iter()), Mutex::new(Vec::new()));
    let sum = AtomicUsize::new(0);
    // The lock is not held while a world is explored.
    let next_world = || next.lock().unwrap().next();
    let explore_worlds = || {
        for world in std::iter::from_fn(next_world) {
            let explored = explore(&Played::new(world, TestedMachine(None)), MOST_STATES);
            println!("{}", told(world, &explored));
            sum.fetch_add(explored.states, Ordering::Relaxed);
            if explored.violation.is_some() || explored.is_cut {
                broken.lock().unwrap().push(world.name);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(explore_worlds);
        }
    });
    let sum = sum.into_inner();
    println!("{sum} states in all");
    assert_eq!(broken.into_inner().unwrap(), Vec::<&str>::new());
    assert!(only.is_some() || sum > FEWEST_STATES, "{sum}");
}
