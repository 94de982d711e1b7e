//! Visits every state of a model once, nearest first, so that what is found wrong comes with the shortest way to it. It
//! knows nothing of the model and keeps no state longer than it is needed: what it has seen is remembered by its hash.

use foldhash::quality::FixedState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;

/// A step, with what it leads to.
pub type Taken<M> = (<M as Model>::Step, Result<<M as Model>::State, Violation>);

/// Everything that can happen, one step at a time.
pub trait Model: Sized {
    type State: Hash;
    type Step: Copy + Debug + PartialEq;

    /// The name of the property that every state's ending comes to rest.
    const RESTS: &'static str;

    fn start(&self) -> Self::State;

    /// Every step that is possible here.
    fn steps(&self, state: &Self::State) -> Vec<Taken<Self>>;

    /// How the world goes on from here if nothing disturbs it any more. It must be one of the possible steps.
    fn ending(&self, state: &Self::State) -> Ending<Self::Step>;

    /// A step for people: what was said and done in it.
    fn tell(&self, state: &Self::State, step: Self::Step) -> String;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<S> {
    Rests,
    Goes(S),
    /// Nothing will happen here any more, and it is not what rest looks like.
    Stuck(&'static str),
}

/// A property that does not hold.
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
    /// How far the farthest state is from the start.
    pub depth: usize,
    /// The longest way to rest.
    pub to_rest: usize,
    /// There were more states than it was to visit.
    pub is_cut: bool,
    pub violation: Option<(Violation, Vec<String>)>,
}

/// The name of a state. With a million states, two share one by a chance of one in thirty million.
type Seen = u64;
const RESTS: Seen = 0;

struct Visit<S> {
    from: Option<(Seen, S)>,
    /// Where the ending leads.
    ending: Seen,
}

struct Explorer<'m, M: Model> {
    model: &'m M,
    seen: HashMap<Seen, Visit<M::Step>, FixedState>,
    explored: Explored,
}

/// A value that is hashed over and over, and whose hash is taken once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T> {
    value: T,
    name: Seen,
}

impl<T: Hash> Named<T> {
    pub fn new(value: T) -> Self {
        let name = name(&value);
        Self { value, name }
    }

    pub const fn name(&self) -> Seen {
        self.name
    }
}

impl<T> Deref for Named<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Hash for Named<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

pub fn name(state: &impl Hash) -> Seen {
    FixedState::default().hash_one(state).max(RESTS + 1)
}

/// Stops at the first violation, or where there are more states than that.
pub fn explore<M: Model>(model: &M, most_states: usize) -> Explored {
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

impl<M: Model> Explorer<'_, M> {
    fn next_layer(&mut self, layer: Vec<(Seen, M::State)>) -> Vec<(Seen, M::State)> {
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
                if ending == Ending::Goes(step) {
                    leads = there;
                }
                if let Entry::Vacant(new) = self.seen.entry(there) {
                    new.insert(Visit { from: Some((here, step)), ending: RESTS });
                    next.push((there, to));
                }
            }
            let stuck = match ending {
                Ending::Stuck(why) => Some(why.to_owned()),
                Ending::Goes(step) => (leads == RESTS).then(|| format!("{step:?} is not possible")),
                Ending::Rests => None,
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

    /// Every state has one way to rest, so that it is enough to walk each part of it once.
    fn follow_to_rest(&mut self) {
        const ON_THE_WAY: usize = usize::MAX;
        let mut lengths: HashMap<Seen, usize, FixedState> = HashMap::default();
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

    /// The way there is walked again from the start, to tell of it.
    fn violated(&mut self, violation: Violation, at: Seen, last: Option<M::Step>) {
        let mut way: Vec<_> = last.into_iter().collect();
        let mut back = at;
        while let Some((from, step)) = self.seen[&back].from {
            way.push(step);
            back = from;
        }
        let mut state = self.model.start();
        let mut told = Vec::new();
        for step in way.into_iter().rev() {
            told.push(self.model.tell(&state, step));
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

    /// Two counters up to three, and what is wrong with them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Wrong {
        Nothing,
        At(u8, u8),
        /// The ending goes back where it came from.
        Circle,
        StuckAt(u8, u8),
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Count {
        First,
        Second,
        Back,
    }

    impl Model for Wrong {
        type State = (u8, u8);
        type Step = Count;

        const RESTS: &'static str = "rests";

        fn start(&self) -> (u8, u8) {
            (0, 0)
        }

        fn steps(&self, &(a, b): &(u8, u8)) -> Vec<(Count, Result<(u8, u8), Violation>)> {
            let to = |to: (u8, u8)| match self {
                Self::At(a, b) if to == (*a, *b) => Err(Violation::of("never", "there")),
                _ => Ok(to),
            };
            let mut steps = Vec::new();
            steps.extend((a < 3).then(|| (Count::First, to((a + 1, b)))));
            steps.extend((b < 3).then(|| (Count::Second, to((a, b + 1)))));
            steps.extend((*self == Self::Circle && a == 3).then(|| (Count::Back, to((0, b)))));
            steps
        }

        fn ending(&self, &(a, b): &(u8, u8)) -> Ending<Count> {
            match self {
                Self::StuckAt(x, y) if (a, b) == (*x, *y) => Ending::Stuck("stuck"),
                Self::Circle if a == 3 => Ending::Goes(Count::Back),
                _ if a < 3 => Ending::Goes(Count::First),
                _ if b < 3 => Ending::Goes(Count::Second),
                _ => Ending::Rests,
            }
        }

        fn tell(&self, state: &(u8, u8), step: Count) -> String {
            format!("{state:?} {step:?}")
        }
    }

    fn check(wrong: Wrong, expected: Option<(&str, &str, usize)>) -> Explored {
        let explored = explore(&wrong, 1000);
        let found = explored.violation.as_ref();
        let found = found.map(|(found, way)| (found.property, found.what.as_str(), way.len()));
        assert_eq!(found, expected, "{wrong:?}");
        explored
    }

    #[test]
    fn every_state_is_visited_once_and_every_step_taken() {
        let all = check(Wrong::Nothing, None);
        assert_eq!((all.states, all.steps, all.depth, all.to_rest), (16, 24, 6, 6));
        assert!(explore(&Wrong::Nothing, 10).is_cut);
    }

    #[test]
    fn what_is_wrong_comes_with_the_shortest_way_to_it() {
        check(Wrong::At(2, 1), Some(("never", "there", 3)));
        check(Wrong::StuckAt(1, 3), Some(("rests", "stuck", 4)));
        let circle = explore(&Wrong::Circle, 1000).violation;
        assert_eq!(
            circle.map(|(found, _)| found.what).as_deref(),
            Some("it goes round in circles")
        );
    }
}
