//! The disk fails at every operation of a whole sequence, in every way: nothing that was acknowledged is lost, no
//! action is performed twice, every message of the user is delivered once and in order, and the thread becomes idle.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::print_stdout, reason = "how far the walk went is part of its result")]

mod host;
mod played_disk;
mod stalls;
mod store;
mod world;

use played_disk::{EACCES, EIO, ENOSPC, EROFS, SimulatedDisk, SimulatedFault, WrittenPart};
use rawr_core::Record;
use rawr_core::event::Event;
use rawr_storage::capsule::CapsuleStore;
use rawr_storage::store::held;
use std::collections::BTreeSet;
use std::fs;
use world::FaultWorld;

/// A phase of work ends, a sequence runs, three messages arrive during it, and one more after it.
fn play(disk: SimulatedDisk) -> FaultWorld {
    play_in(FaultWorld::new(disk))
}

fn play_in(mut world: FaultWorld) -> FaultWorld {
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

fn check(world: &FaultWorld, power_was_cut: bool, told: &str) {
    // A power cut may lose what was only observed, and with it the reason for the compaction.
    let performed = &world.host.performed;
    assert!(*performed == WHOLE || power_was_cut && performed.is_empty(), "{told}: {performed:?}");
    check_promises(world, told);
}

fn check_promises(world: &FaultWorld, told: &str) {
    assert!(world.is_at_rest(), "{told}: not idle: {:#?}", world.thread());
    assert_eq!(world.host.got, world.submitted, "{told}: not every message once and in order");
    let capsules = CapsuleStore::of(world.events().parent().unwrap()).list().unwrap();
    assert!(capsules.unread.is_empty(), "{told}: half a capsule: {:?}", capsules.unread);
    let texts = held::files(world.events().parent().unwrap()).unwrap();
    // A folder that cannot be accessed keeps its files.
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

/// Runs the story with these faults at every operation. Returns the number of operations.
fn walk(faults: &[(usize, SimulatedFault)]) -> usize {
    let operations = play(SimulatedDisk::default()).disk.operations();
    let power_is_cut = faults.iter().any(|(_, fault)| matches!(fault, SimulatedFault::PowerCut(_)));
    let dies =
        power_is_cut || faults.iter().any(|(_, fault)| matches!(fault, SimulatedFault::Crash(_)));
    for at in 0..operations {
        let plan = faults.iter().map(|(after, fault)| (at + after, *fault));
        let world = play(SimulatedDisk::striking(plan));
        let struck = world.disk.struck();
        assert!(!struck.is_empty(), "{at} was never reached");
        let told = struck.join(", then ");
        check(&world, power_is_cut, &told);
        // Only a registry that died before it got the report repeats what the host has done.
        let again = world.host.handed_over_again;
        assert!(again == 0 || dies, "{told}: {again} messages were handed over again");
    }
    operations
}

fn walk_all(faults: impl IntoIterator<Item = SimulatedFault>) {
    let points: usize = faults.into_iter().map(|fault| walk(&[(0, fault)])).sum();
    println!("{points} points walked");
}

/// The second fault strikes while the first one is being handled.
fn walk_pairs(first: SimulatedFault, second: SimulatedFault) {
    let points: usize =
        [1, 2, 3, 5, 8].map(|after| walk(&[(0, first), (after, second)])).into_iter().sum();
    println!("{points} points walked");
}

#[test]
fn without_a_fault_the_sequence_is_complete() {
    let world = play(SimulatedDisk::default());
    check(&world, false, "no fault");
    assert_eq!((world.submitted.len(), world.host.streaks), (5, 0));
    let kept = CapsuleStore::of(world.events().parent().unwrap()).list().unwrap().capsules;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(world.acknowledged.len() > 20, "{:?}", world.acknowledged);
}

#[test]
fn any_operation_may_fail_once() {
    walk_all([ENOSPC, EIO, EROFS, EACCES].map(SimulatedFault::Once));
}

#[test]
fn any_write_may_be_partial() {
    const PARTS: [WrittenPart; 4] =
        [WrittenPart::OneByte, WrittenPart::Half, WrittenPart::AllButOne, WrittenPart::All];
    walk_all(PARTS.map(|part| SimulatedFault::Short(part, ENOSPC)));
}

#[test]
fn the_disk_may_be_full_or_broken_for_a_while() {
    walk_all([ENOSPC, EIO].map(SimulatedFault::Lasting));
}

#[test]
fn the_disk_may_be_read_only_or_inaccessible_for_a_while() {
    walk_all([EROFS, EACCES].map(SimulatedFault::Lasting));
}

/// During a slow operation, another client sends a request: it is answered, and no record is lost.
#[test]
fn any_operation_may_be_slow() {
    let points = walk(&[(0, SimulatedFault::Delay)]);
    println!("{points} points walked");
}

/// The clock jumps before any input of the story. Forwards, deadlines pass and the sequence may change or end, but does
/// nothing twice. Backwards, nothing waits longer than it would have.
#[test]
fn the_clock_may_jump() {
    const MINUTE: i64 = 60_000;
    let inputs = play(SimulatedDisk::default()).said;
    for by in [-24 * 60 * MINUTE, -MINUTE, MINUTE, 24 * 60 * MINUTE] {
        for at in 1..=inputs {
            let mut world = FaultWorld::new(SimulatedDisk::default());
            world.jump = Some((at, by));
            let world = play_in(world);
            let told = format!("the clock jumped by {by} ms at input {at}");
            let mut performed = world.host.performed.clone();
            // What came too late was called off.
            performed.retain(|done| done != "notice");
            let is_done = |what: &&str| performed.iter().any(|done| done == what);
            let once_in_order: Vec<_> = WHOLE.into_iter().filter(is_done).collect();
            assert_eq!(performed, once_in_order, "{told}");
            assert!(by > 0 || performed == WHOLE, "{told}: {performed:?}");
            check_promises(&world, &told);
        }
    }
    println!("{} points walked", 4 * inputs);
}

#[test]
fn the_process_may_crash_at_any_operation() {
    const PARTS: [WrittenPart; 5] = [
        WrittenPart::Nothing,
        WrittenPart::OneByte,
        WrittenPart::Half,
        WrittenPart::AllButOne,
        WrittenPart::All,
    ];
    walk_all(PARTS.map(SimulatedFault::Crash));
}

#[test]
fn the_power_may_fail_at_any_operation() {
    const PARTS: [WrittenPart; 3] = [WrittenPart::Nothing, WrittenPart::Half, WrittenPart::All];
    walk_all(PARTS.map(SimulatedFault::PowerCut));
}

#[test]
fn the_process_may_crash_while_a_failure_is_handled() {
    walk_pairs(
        SimulatedFault::Short(WrittenPart::Half, EIO),
        SimulatedFault::Crash(WrittenPart::Half),
    );
}

#[test]
fn the_power_may_fail_while_a_failure_is_handled() {
    walk_pairs(SimulatedFault::Once(EIO), SimulatedFault::PowerCut(WrittenPart::All));
}

#[test]
fn an_operation_may_fail_while_a_failure_is_handled() {
    walk_pairs(
        SimulatedFault::Short(WrittenPart::All, EIO),
        SimulatedFault::Short(WrittenPart::Half, EIO),
    );
}
