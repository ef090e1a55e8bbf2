//! Places that code names: a variable, and what is reached from it.

use crate::hashed::HashMap;

/// How a place is reached from the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A member of it.
    Field(String),
    /// An element of it, with its index as it is written.
    Element(String),
    /// What it points to.
    Behind,
}

/// A place: a variable, or a step from another place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// A variable of the function, as a number of its locals.
    Local(usize),
    /// A parameter or a variable from outside.
    Outer(String),
    Step(usize, Step),
}

/// The places of a function, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    all: Vec<Place>,
    numbers: HashMap<Place, usize>,
}

impl Places {
    fn number(&mut self, place: Place) -> usize {
        if let Some(known) = self.numbers.get(&place) {
            return *known;
        }
        self.all.push(place.clone());
        self.numbers.insert(place, self.all.len() - 1);
        self.all.len() - 1
    }

    pub(crate) fn local(&mut self, local: usize) -> usize {
        self.number(Place::Local(local))
    }

    pub(crate) fn outer(&mut self, name: String) -> usize {
        self.number(Place::Outer(name))
    }

    pub(crate) fn step(&mut self, from: usize, step: Step) -> usize {
        self.number(Place::Step(from, step))
    }

    pub(crate) fn find_local(&self, local: usize) -> Option<usize> {
        self.numbers.get(&Place::Local(local)).copied()
    }

    pub(crate) fn find_outer(&self, name: &str) -> Option<usize> {
        self.numbers.get(&Place::Outer(name.to_owned())).copied()
    }

    /// The place that another one is a step from.
    pub(crate) fn parent(&self, place: usize) -> Option<usize> {
        match self.all.get(place)? {
            Place::Step(from, _) => Some(*from),
            _ => None,
        }
    }

    fn chain(&self, place: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(place), |place| self.parent(*place))
    }

    /// The variable that a place is reached from.
    pub(crate) fn root(&self, place: usize) -> usize {
        self.chain(place).last().unwrap_or(place)
    }

    /// Whether a place is the other one, or reached from it.
    pub(crate) fn is_in(&self, place: usize, other: usize) -> bool {
        self.chain(place).any(|place| place == other)
    }

    /// Whether a pointer is followed on the way to the place.
    pub(crate) fn is_behind(&self, place: usize) -> bool {
        self.has_step(place, |step| *step == Step::Behind)
    }

    /// Whether the place is in what a variable points to, and no further pointer is
    /// followed.
    pub(crate) fn is_right_behind(&self, place: usize) -> bool {
        let steps = self.chain(place).filter_map(|at| match self.all.get(at) {
            Some(Place::Step(_, step)) => Some(step),
            _ => None,
        });
        let (mut followed, mut last) = (0_usize, false);
        for step in steps {
            last = *step == Step::Behind;
            followed += usize::from(last);
        }
        followed == 1 && last
    }

    /// Whether an element is picked on the way to the place.
    pub(crate) fn is_element(&self, place: usize) -> bool {
        self.has_step(place, |step| matches!(step, Step::Element(_)))
    }

    fn has_step(&self, place: usize, wanted: fn(&Step) -> bool) -> bool {
        let step = |place: usize| match self.all.get(place) {
            Some(Place::Step(_, step)) => Some(step),
            _ => None,
        };
        self.chain(place).filter_map(step).any(wanted)
    }

    /// The local variable that a place is.
    pub(crate) fn as_local(&self, place: usize) -> Option<usize> {
        match self.all.get(place) {
            Some(Place::Local(local)) => Some(*local),
            _ => None,
        }
    }

    /// The name of a variable of outside.
    pub(crate) fn as_outer(&self, place: usize) -> Option<&str> {
        match self.all.get(place) {
            Some(Place::Outer(name)) => Some(name),
            _ => None,
        }
    }
}
