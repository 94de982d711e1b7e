//! Visits every state of a model once, in breadth-first order, so that a violation comes with the shortest path to it.
//! Knows nothing of the model, and remembers visited states only by their hash.

use foldhash::quality::FixedState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;

/// A step and its result.
pub type CheckedStep<M> =
    (<M as CheckedModel>::Step, Result<<M as CheckedModel>::State, Violation>);

/// A model: everything that can happen, one step at a time.
pub trait CheckedModel: Sized {
    type State: Hash;
    type Step: Copy + Debug + PartialEq;

    /// The name of the property that every state finally becomes idle.
    const RESTS: &'static str;

    fn start(&self) -> Self::State;

    /// All possible steps in this state.
    fn steps(&self, state: &Self::State) -> Vec<CheckedStep<Self>>;

    /// The next step if nothing disturbs the world any more. Must be one of the possible steps.
    fn ending(&self, state: &Self::State) -> PathEnding<Self::Step>;

    /// A description of the step.
    fn describe(&self, state: &Self::State, step: Self::Step) -> String;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEnding<S> {
    Rests,
    Goes(S),
    /// Nothing more will happen, but the state is not idle.
    Stuck(&'static str),
}

/// A violated property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub property: &'static str,
    pub what: String,
}

impl Violation {
    pub fn of(property: &'static str, what: impl Into<String>) -> Self {
        Self { property, what: what.into() }
    }
}

#[derive(Debug)]
pub struct Explored {
    pub states: usize,
    pub steps: usize,
    /// The distance of the farthest state from the start.
    pub depth: usize,
    /// The longest path to an idle state.
    pub to_rest: usize,
    /// The limit of states was reached.
    pub is_cut: bool,
    pub violation: Option<(Violation, Vec<String>)>,
}

/// The hash of a state. With a million states, the probability of a collision is one in thirty million.
type StateHash = u64;
const RESTS: StateHash = 0;

struct Visit<S> {
    from: Option<(StateHash, S)>,
    /// The state that the ending leads to.
    ending: StateHash,
}

struct Explorer<'m, M: CheckedModel> {
    model: &'m M,
    seen: HashMap<StateHash, Visit<M::Step>, FixedState>,
    explored: Explored,
}

/// A value with a precomputed hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashed<T> {
    value: T,
    name: StateHash,
}

impl<T: Hash> Hashed<T> {
    pub fn new(value: T) -> Self {
        let name = name(&value);
        Self { value, name }
    }

    pub const fn name(&self) -> StateHash {
        self.name
    }
}

impl<T> Deref for Hashed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Hash for Hashed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

pub fn name(state: &impl Hash) -> StateHash {
    FixedState::default().hash_one(state).max(RESTS + 1)
}

/// Stops at the first violation, or at the limit of states.
pub fn explore<M: CheckedModel>(model: &M, most_states: usize) -> Explored {
    let explored =
        Explored { states: 0, steps: 0, depth: 0, to_rest: 0, is_cut: false, violation: None };
    let mut explorer = Explorer { model, seen: HashMap::default(), explored };
    let start = model.start();
    let mut layer = vec![(name(&start), start)];
    explorer.seen.insert(layer[0].0, Visit { from: None, ending: RESTS });
    while !layer.is_empty() && explorer.explored.violation.is_none() {
        layer = explorer.next_layer(layer);
        explorer.explored.depth += usize::from(!layer.is_empty());
        if explorer.seen.len() > most_states {
            explorer.explored.is_cut = true;
            break;
        }
    }
    explorer.explored.states = explorer.seen.len();
    if explorer.explored.violation.is_none() && !explorer.explored.is_cut {
        explorer.follow_to_rest();
    }
    explorer.explored
}

impl<M: CheckedModel> Explorer<'_, M> {
    fn next_layer(&mut self, layer: Vec<(StateHash, M::State)>) -> Vec<(StateHash, M::State)> {
        let mut next = Vec::new();
        for (here, state) in layer {
            let ending = self.model.ending(&state);
            let mut leads = RESTS;
            for (step, led) in self.model.steps(&state) {
                self.explored.steps += 1;
                let to = match led {
                    Ok(to) => to,
                    Err(violation) => {
                        self.violated(violation, here, Some(step));
                        return Vec::new();
                    }
                };
                let there = name(&to);
                if ending == PathEnding::Goes(step) {
                    leads = there;
                }
                if let Entry::Vacant(new) = self.seen.entry(there) {
                    new.insert(Visit { from: Some((here, step)), ending: RESTS });
                    next.push((there, to));
                }
            }
            let stuck = match ending {
                PathEnding::Stuck(why) => Some(why.to_owned()),
                PathEnding::Goes(step) => {
                    (leads == RESTS).then(|| format!("{step:?} is not possible"))
                }
                PathEnding::Rests => None,
            };
            if let Some(why) = stuck {
                self.violated(Violation::of(M::RESTS, why), here, None);
                return Vec::new();
            }
            if let Some(visit) = self.seen.get_mut(&here) {
                visit.ending = leads;
            }
        }
        next
    }

    /// Every state has one path to an idle state, so that each part of it is walked once.
    fn follow_to_rest(&mut self) {
        const ON_THE_WAY: usize = usize::MAX;
        let mut lengths: HashMap<StateHash, usize, FixedState> = HashMap::default();
        lengths.reserve(self.seen.len());
        for start in self.seen.keys().copied().collect::<Vec<_>>() {
            let (mut way, mut at) = (Vec::new(), start);
            let mut length = loop {
                match lengths.get(&at) {
                    _ if at == RESTS => break 0,
                    Some(&ON_THE_WAY) => {
                        let circle = Violation::of(M::RESTS, "it goes round in circles");
                        self.violated(circle, at, None);
                        return;
                    }
                    Some(known) => break known + 1,
                    None => {
                        lengths.insert(at, ON_THE_WAY);
                        way.push(at);
                        at = self.seen[&at].ending;
                    }
                }
            };
            for passed in way.into_iter().rev() {
                lengths.insert(passed, length);
                length += 1;
            }
        }
        self.explored.to_rest = lengths.into_values().max().unwrap_or(0);
    }

    /// Repeats the path from the start, to describe it.
    fn violated(&mut self, violation: Violation, at: StateHash, last: Option<M::Step>) {
        let mut way: Vec<_> = last.into_iter().collect();
        let mut back = at;
        while let Some((from, step)) = self.seen[&back].from {
            way.push(step);
            back = from;
        }
        let mut state = self.model.start();
        let mut told = Vec::new();
        for step in way.into_iter().rev() {
            told.push(self.model.describe(&state, step));
            let taken = self.model.steps(&state).into_iter().find(|(taken, _)| *taken == step);
            match taken {
                Some((_, Ok(to))) => state = to,
                _ => break,
            }
        }
        self.explored.violation = Some((violation, told));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two counters up to three, with a flaw.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Flaw {
        Nothing,
        At(u8, u8),
        /// The ending leads back to an earlier state.
        Circle,
        StuckAt(u8, u8),
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum CounterStep {
        First,
        Second,
        Back,
    }

    impl CheckedModel for Flaw {
        type State = (u8, u8);
        type Step = CounterStep;

        const RESTS: &'static str = "rests";

        fn start(&self) -> (u8, u8) {
            (0, 0)
        }

        fn steps(&self, &(a, b): &(u8, u8)) -> Vec<(CounterStep, Result<(u8, u8), Violation>)> {
            let to = |to: (u8, u8)| match self {
                Self::At(a, b) if to == (*a, *b) => Err(Violation::of("never", "there")),
                _ => Ok(to),
            };
            let mut steps = Vec::new();
            steps.extend((a < 3).then(|| (CounterStep::First, to((a + 1, b)))));
            steps.extend((b < 3).then(|| (CounterStep::Second, to((a, b + 1)))));
            steps
                .extend((*self == Self::Circle && a == 3).then(|| (CounterStep::Back, to((0, b)))));
            steps
        }

        fn ending(&self, &(a, b): &(u8, u8)) -> PathEnding<CounterStep> {
            match self {
                Self::StuckAt(x, y) if (a, b) == (*x, *y) => PathEnding::Stuck("stuck"),
                Self::Circle if a == 3 => PathEnding::Goes(CounterStep::Back),
                _ if a < 3 => PathEnding::Goes(CounterStep::First),
                _ if b < 3 => PathEnding::Goes(CounterStep::Second),
                _ => PathEnding::Rests,
            }
        }

        fn describe(&self, state: &(u8, u8), step: CounterStep) -> String {
            format!("{state:?} {step:?}")
        }
    }

    fn check(wrong: Flaw, expected: Option<(&str, &str, usize)>) -> Explored {
        let explored = explore(&wrong, 1000);
        let found = explored.violation.as_ref();
        let found = found.map(|(found, way)| (found.property, found.what.as_str(), way.len()));
        assert_eq!(found, expected, "{wrong:?}");
        explored
    }

    #[test]
    fn every_state_is_visited_once_and_every_step_taken() {
        let all = check(Flaw::Nothing, None);
        assert_eq!((all.states, all.steps, all.depth, all.to_rest), (16, 24, 6, 6));
        assert!(explore(&Flaw::Nothing, 10).is_cut);
    }

    #[test]
    fn a_violation_comes_with_the_shortest_path() {
        check(Flaw::At(2, 1), Some(("never", "there", 3)));
        check(Flaw::StuckAt(1, 3), Some(("rests", "stuck", 4)));
        let circle = explore(&Flaw::Circle, 1000).violation;
        assert_eq!(
            circle.map(|(found, _)| found.what).as_deref(),
            Some("it goes round in circles")
        );
    }
}
