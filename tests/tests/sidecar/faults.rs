//! A disk that fails at any operation of a whole sequence, in any way: nothing that was acknowledged is lost, no action is
//! carried out twice, every message of the user's arrives once and in order, and the thread comes to rest.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::print_stdout, reason = "how far the walk went is part of its result")]

mod host;
mod played_disk;
mod stalls;
mod store;
mod world;

use played_disk::{EACCES, EIO, ENOSPC, EROFS, Fault, Part, PlayedDisk};
use rawr_core::Record;
use rawr_core::event::Event;
use rawr_server::capsule::Capsules;
use rawr_server::store::held;
use std::collections::BTreeSet;
use std::fs;
use world::World;

/// A phase of work ends, a sequence runs, and three messages come while it does; then one more.
fn play(disk: PlayedDisk) -> World {
    play_in(World::new(disk))
}

fn play_in(mut world: World) -> World {
    world.submit(true);
    while world.host.performed.is_empty() && world.step() {}
    for _ in 0..3 {
        world.submit(false);
    }
    world.run();
    world.submit(false);
    world.run();
    world.see_off();
    world
}

fn records(log: &[u8], told: &str) -> Vec<Record> {
    let lines = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            serde_json::from_slice(line).unwrap_or_else(|error| {
                panic!("{told}: {error}: {:?}", String::from_utf8_lossy(line))
            })
        })
        .collect()
}

const WHOLE: [&str; 3] = ["packet_request", "compact", "handoff"];

fn check(world: &World, power_was_cut: bool, told: &str) {
    // What was only observed before a power cut may be gone, and with it what spoke for a compaction.
    let performed = &world.host.performed;
    assert!(*performed == WHOLE || power_was_cut && performed.is_empty(), "{told}: {performed:?}");
    check_promises(world, told);
}

fn check_promises(world: &World, told: &str) {
    assert!(world.is_at_rest(), "{told}: not at rest: {:#?}", world.thread());
    assert_eq!(world.host.got, world.submitted, "{told}: not every message once and in order");
    let capsules = Capsules::of(world.events().parent().unwrap()).list().unwrap();
    assert!(capsules.unread.is_empty(), "{told}: half a capsule: {:?}", capsules.unread);
    let texts = held::files(world.events().parent().unwrap()).unwrap();
    // A folder that is still closed keeps what is in it.
    let may_stay = world.disk.is_failing();
    assert!(texts.is_empty() || may_stay, "{told}: the text of a message stays: {texts:?}");
    let file = fs::read(world.events()).unwrap();
    for (log, whose) in [(file, "the log"), (world.disk.durable(&world.events()), "the disk")] {
        let stored = records(&log, told);
        for record in &world.acknowledged {
            assert!(stored.contains(record), "{told}: {whose} has lost {record:?}");
        }
        let issued: Vec<_> = stored
            .iter()
            .filter_map(|record| match &record.event {
                Event::ActionIssued(issued) => Some(&issued.action),
                _ => None,
            })
            .collect();
        let distinct: BTreeSet<_> = issued.iter().collect();
        assert_eq!(distinct.len(), issued.len(), "{told}: an action was recorded twice");
        for asked in &world.issued {
            assert!(issued.contains(&&asked.id), "{told}: {whose} has lost {}", asked.id);
        }
    }
}

/// Every operation of the story, with these faults so many operations apart. Returns how many points that were.
fn walk(faults: &[(usize, Fault)]) -> usize {
    let operations = play(PlayedDisk::default()).disk.operations();
    let power_is_cut = faults.iter().any(|(_, fault)| matches!(fault, Fault::PowerCut(_)));
    let dies = power_is_cut || faults.iter().any(|(_, fault)| matches!(fault, Fault::Crash(_)));
    for at in 0..operations {
        let plan = faults.iter().map(|(after, fault)| (at + after, *fault));
        let world = play(PlayedDisk::striking(plan));
        let struck = world.disk.struck();
        assert!(!struck.is_empty(), "{at} was never reached");
        let told = struck.join(", then ");
        check(&world, power_is_cut, &told);
        // Only a registry that did not live to hear of it asks for what the host has done.
        let again = world.host.handed_over_again;
        assert!(again == 0 || dies, "{told}: {again} messages were handed over again");
    }
    operations
}

fn walk_all(faults: impl IntoIterator<Item = Fault>) {
    let points: usize = faults.into_iter().map(|fault| walk(&[(0, fault)])).sum();
    println!("{points} points walked");
}

/// The second strikes while the first is being dealt with.
fn walk_pairs(first: Fault, second: Fault) {
    let points: usize =
        [1, 2, 3, 5, 8].map(|after| walk(&[(0, first), (after, second)])).into_iter().sum();
    println!("{points} points walked");
}

#[test]
fn without_a_fault_the_story_is_the_expected_one() {
    let world = play(PlayedDisk::default());
    check(&world, false, "no fault");
    assert_eq!((world.submitted.len(), world.host.streaks), (5, 0));
    let kept = Capsules::of(world.events().parent().unwrap()).list().unwrap().capsules;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(world.acknowledged.len() > 20, "{:?}", world.acknowledged);
}

#[test]
fn an_operation_that_fails_once() {
    walk_all([ENOSPC, EIO, EROFS, EACCES].map(Fault::Once));
}

#[test]
fn a_write_that_gets_part_of_its_bytes_down() {
    const PARTS: [Part; 4] = [Part::OneByte, Part::Half, Part::AllButOne, Part::All];
    walk_all(PARTS.map(|part| Fault::Short(part, ENOSPC)));
}

#[test]
fn a_disk_that_is_full_or_broken_for_a_while() {
    walk_all([ENOSPC, EIO].map(Fault::Lasting));
}

#[test]
fn a_disk_that_is_read_only_or_closed_for_a_while() {
    walk_all([EROFS, EACCES].map(Fault::Lasting));
}

/// While an operation takes its time, another client has something to say: it is heard, and nothing of either is lost.
#[test]
fn an_operation_that_takes_its_time() {
    let points = walk(&[(0, Fault::Delay)]);
    println!("{points} points walked");
}

/// Before any input of the story. Forwards, deadlines pass and the sequence may go another way or end; it does nothing
/// twice. Backwards, nothing waits longer than it would have.
#[test]
fn a_clock_that_jumps() {
    const MINUTE: i64 = 60_000;
    let inputs = play(PlayedDisk::default()).said;
    for by in [-24 * 60 * MINUTE, -MINUTE, MINUTE, 24 * 60 * MINUTE] {
        for at in 1..=inputs {
            let mut world = World::new(PlayedDisk::default());
            world.jump = Some((at, by));
            let world = play_in(world);
            let told = format!("the clock jumped by {by} ms at input {at}");
            let performed = &world.host.performed;
            let is_done = |what: &&str| performed.iter().any(|done| done == what);
            let once_in_order: Vec<_> = WHOLE.into_iter().filter(is_done).collect();
            assert_eq!(*performed, once_in_order, "{told}");
            assert!(by > 0 || *performed == WHOLE, "{told}: {performed:?}");
            check_promises(&world, &told);
        }
    }
    println!("{} points walked", 4 * inputs);
}

#[test]
fn a_crash_of_the_process() {
    const PARTS: [Part; 5] = [Part::Nothing, Part::OneByte, Part::Half, Part::AllButOne, Part::All];
    walk_all(PARTS.map(Fault::Crash));
}

#[test]
fn a_power_cut() {
    const PARTS: [Part; 3] = [Part::Nothing, Part::Half, Part::All];
    walk_all(PARTS.map(Fault::PowerCut));
}

#[test]
fn a_crash_while_a_failure_is_dealt_with() {
    walk_pairs(Fault::Short(Part::Half, EIO), Fault::Crash(Part::Half));
}

#[test]
fn a_power_cut_while_a_failure_is_dealt_with() {
    walk_pairs(Fault::Once(EIO), Fault::PowerCut(Part::All));
}

#[test]
fn a_failure_while_a_failure_is_dealt_with() {
    walk_pairs(Fault::Short(Part::All, EIO), Fault::Short(Part::Half, EIO));
}
