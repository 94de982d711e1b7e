//! The cost of a request besides other open threads, counted in visits.

use crate::registry::work::tests::{NOW, opening, registry};
use crate::registry::{Opening, RegistryError, ThreadRegistry};
use rawr_core::event::{TurnOrigin, TurnStarted};
use rawr_core::machine::ProcessRole;
use rawr_core::units::{ThreadId, TurnId};
use rawr_core::{Input, steps};
use tempfile::TempDir;

fn open(registry: &mut ThreadRegistry, thread: &str, role: ProcessRole) {
    let opening = || Opening { thread: ThreadId::new(thread), ..opening(role) };
    assert!(matches!(registry.open(opening(), NOW), Err(RegistryError::Busy(_))));
    registry.settle(NOW);
    registry.open(opening(), NOW).unwrap();
    registry.requests_resumed(NOW);
    registry.settle(NOW);
}

/// The visits of one request besides so many other threads.
fn cost(role: ProcessRole, others: usize) -> usize {
    let home = TempDir::new().unwrap();
    let (mut owner, _) = registry(&home);
    let names: Vec<_> = (0..=others).map(|number| format!("t{number}")).collect();
    names.iter().for_each(|name| open(&mut owner, name, ProcessRole::Owner));
    let (mut observer, _) = registry(&home);
    let asked = match role {
        ProcessRole::Owner => &mut owner,
        ProcessRole::Observer => {
            names.iter().for_each(|name| open(&mut observer, name, role));
            &mut observer
        }
    };
    asked.next_deadline(NOW);
    steps::take();
    let id = ThreadId::new("t0");
    let (turn, origin) = (TurnId::new("1"), TurnOrigin::User);
    let started = TurnStarted { turn, origin, action: None, text: None, directives: Vec::new() };
    asked.reads_on_request(NOW);
    asked.begins(1, Some(&id), NOW);
    asked.handle(&id, Input::Saw(started.into()), NOW).unwrap();
    asked.settle(NOW);
    asked.requests_resumed(NOW);
    asked.tick(NOW);
    asked.next_deadline(NOW);
    steps::take()
}

#[test]
fn a_request_costs_the_same_beside_many_open_threads() {
    for role in [ProcessRole::Owner, ProcessRole::Observer] {
        let among_few = cost(role, 2);
        assert!(among_few > 0);
        assert_eq!(cost(role, 20), among_few, "{role:?}");
    }
}
