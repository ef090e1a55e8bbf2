//! What was written before to members that a copy would make zero: in the function, in those
//! of its file that call it, and in those that it calls.

use tollgate_source::{Body, Direction, Expression, Flow, Span, Term, bodies, tokens};

use crate::planning::address::{Address, Scope};
use crate::planning::callers;
use crate::subject::Subject;

/// How many calls deep other functions of the file are looked into.
const DEPTH: usize = 3;

/// What a copy would make zero.
#[derive(Clone)]
struct Target {
    /// Where it begins, by each expression that its address comes from.
    at: Vec<Address>,
    /// The members from there on that nothing is written to; one of no step is all of it.
    left: Vec<Vec<String>>,
}

/// A call that may have written there.
pub(crate) struct Earlier {
    /// What is called.
    pub(crate) name: String,
    /// Where.
    pub(crate) span: Span,
}

/// A call on a way to a place of the function that may have written to members of
/// `pointer->prefix` which nothing of the function is written to there.
pub(crate) fn before(
    subject: &Subject<'_>,
    place: Span,
    pointer: &str,
    prefix: &str,
    left: &[String],
) -> Option<Earlier> {
    let file = File::of(subject);
    let pointer_is = subject.written(pointer)?;
    let scope = file.scope(subject.flow);
    let mut at = scope.addresses(&pointer_is);
    for own in &mut at {
        if let Some(path) = &mut own.path {
            path.extend(steps(prefix));
        }
    }
    let left = left.iter().map(|path| steps(path)).collect();
    let target = Target { at, left };
    let calls = subject.flow.called_before(place, pointer);
    let earlier = file.first(&scope, &calls, &target, DEPTH);
    earlier.or_else(|| {
        let own = subject.own_file && callers::is_static(subject);
        let name = &subject.function.name;
        let body = file.bodies.iter().find(|body| body.name == *name);
        let body = body.filter(|_| own)?;
        file.in_callers(body, &target, DEPTH)
    })
}

/// The members of a path, without what picks an element.
fn steps(path: &str) -> Vec<String> {
    let parts = path.split('.').filter(|part| !part.is_empty());
    let name = |part: &str| {
        part.split_once('[')
            .map_or(part, |(name, _)| name)
            .to_owned()
    };
    parts.map(name).collect()
}

/// The functions of the subject's file.
struct File<'s, 'a> {
    subject: &'s Subject<'a>,
    bodies: Vec<Body>,
}

impl<'s, 'a> File<'s, 'a> {
    fn of(subject: &'s Subject<'a>) -> Self {
        let all = tokens(subject.text, 0);
        Self {
            subject,
            bodies: bodies(subject.text, &all, subject.vocabulary),
        }
    }

    fn scope<'f>(&'f self, flow: &'f Flow) -> Scope<'f> {
        Scope {
            text: self.subject.text,
            vocabulary: self.subject.vocabulary,
            flow,
        }
    }

    fn flow(&self, body: &Body) -> Option<Flow> {
        let mut analyser = self.subject.analyser.borrow_mut();
        analyser.flow_at(self.subject.text, body.span)
    }

    /// The first of some calls that may write to the target.
    fn first(
        &self,
        scope: &Scope<'_>,
        calls: &[Span],
        target: &Target,
        depth: usize,
    ) -> Option<Earlier> {
        calls.iter().find_map(|span| {
            let call = self.subject.expression(*span)?;
            let writes = self.writes(scope, &call, target, depth);
            writes.then(|| Earlier {
                name: called(&call, self.subject.text),
                span: *span,
            })
        })
    }

    /// Whether a call may write to the target.
    fn writes(&self, scope: &Scope<'_>, call: &Expression, target: &Target, depth: usize) -> bool {
        let Term::Call(function, arguments) = &call.term else {
            return false;
        };
        let name = function.name().unwrap_or("");
        let vocabulary = self.subject.vocabulary;
        match known(self.subject, name, arguments) {
            Some(Known::Nothing) => false,
            Some(Known::Writes { address, size }) => {
                let Some(address) = arguments.get(address) else {
                    return true;
                };
                let exact = size.is_none_or(|size| {
                    arguments
                        .get(size)
                        .is_some_and(|size| is_size_of(size, address))
                });
                let found = scope.addresses(address).into_iter();
                found
                    .map(|own| opened(own, exact))
                    .any(|own| target.meets(&own))
            }
            None if vocabulary.window(name.as_bytes()).is_some() => false,
            None => {
                let given = arguments.iter().enumerate();
                let mut reached = given.filter_map(|(at, own)| {
                    let all = scope.addresses(own).into_iter();
                    let met: Vec<Address> = all.filter(|own| target.meets(own)).collect();
                    (!met.is_empty()).then_some((at, met))
                });
                reached.any(|(at, met)| self.writes_parameter(name, at, &met, target, depth))
            }
        }
    }

    /// Whether a function of the file writes to what it is given of the target; any other
    /// may.
    fn writes_parameter(
        &self,
        name: &str,
        at: usize,
        met: &[Address],
        target: &Target,
        depth: usize,
    ) -> bool {
        let own = self.bodies.iter().find(|body| body.name == name);
        let Some(body) = own.filter(|_| depth > 0) else {
            return true;
        };
        let names = callers::parameters(self.subject.text, body.header, name);
        let parameter = names.and_then(|names| names.get(at).cloned());
        let root = parameter.and_then(|name| self.subject.written(&name));
        let (Some(root), Some(flow)) = (root, self.flow(body)) else {
            return true;
        };
        let inner = target.given(&root, met);
        let scope = self.scope(&flow);
        let calls = flow.called();
        self.first(&scope, &calls, &inner, depth - 1).is_some()
    }

    /// A call before one of the function's own, in a function of the file, that may write to
    /// what its parameter leads to.
    fn in_callers(&self, callee: &Body, target: &Target, depth: usize) -> Option<Earlier> {
        let names = callers::parameters(self.subject.text, callee.header, &callee.name)?;
        let places: Vec<(usize, &Address)> = target
            .at
            .iter()
            .filter_map(|own| {
                let name = own.root.name()?;
                let at = names.iter().position(|known| known == name)?;
                Some((at, own))
            })
            .collect();
        let others = self.bodies.iter().filter(|body| body.span != callee.span);
        let mut others = others.filter(|_| depth > 0 && !places.is_empty());
        others.find_map(|body| self.in_caller(body, &callee.name, &places, &target.left, depth))
    }

    fn in_caller(
        &self,
        body: &Body,
        callee: &str,
        places: &[(usize, &Address)],
        left: &[Vec<String>],
        depth: usize,
    ) -> Option<Earlier> {
        let text = body.span.of(self.subject.text);
        memchr::memmem::find(text, callee.as_bytes())?;
        let Some(flow) = self.flow(body) else {
            // What calls it may have written anything before.
            return Some(Earlier {
                name: body.name.clone(),
                span: body.name_span,
            });
        };
        let scope = self.scope(&flow);
        flow.called().into_iter().find_map(|span| {
            let call = self.subject.expression(span)?;
            let (_, arguments) = call.call().filter(|(name, _)| *name == callee)?;
            let at = places.iter().flat_map(|(at, own)| {
                let given = arguments.get(*at).map(|given| scope.addresses(given));
                let given = given.into_iter().flatten();
                given.map(|from| behind(from, own)).collect::<Vec<_>>()
            });
            let target = Target {
                at: at.collect(),
                left: left.to_vec(),
            };
            let before = flow.called_before(span, "");
            let earlier = self.first(&scope, &before, &target, depth - 1);
            earlier.or_else(|| self.in_callers(body, &target, depth - 1))
        })
    }
}

/// What a call does that the vocabulary knows.
enum Known {
    /// It writes nothing to user memory but zeros.
    Nothing,
    /// It writes to the address that an argument is, as much as another one says.
    Writes { address: usize, size: Option<usize> },
}

fn known(subject: &Subject<'_>, name: &str, arguments: &[Expression]) -> Option<Known> {
    let (vocabulary, name) = (subject.vocabulary, name.as_bytes());
    let computes = vocabulary.is_pure(name) || vocabulary.is_transparent(name);
    if computes || vocabulary.checks_range(name) || vocabulary.clears(name) {
        return Some(Known::Nothing);
    }
    let last = arguments.len().saturating_sub(1);
    let access = vocabulary.access(name).map(|own| {
        let at = own.address.unwrap_or(last);
        (own.direction, at, None)
    });
    let copy = vocabulary.copy(name);
    let copy = copy.map(|own| (own.direction, own.user, Some(own.size)));
    // A copy may be an access of one size as well: its size says how far it goes.
    let (direction, address, size) = copy.or(access)?;
    Some(match direction {
        Direction::Read => Known::Nothing,
        Direction::Write => Known::Writes { address, size },
    })
}

/// `sizeof(p->a)` of `&p->a`.
fn is_size_of(size: &Expression, address: &Expression) -> bool {
    match (&size.term, &address.term) {
        (Term::SizeOf(of), Term::Address(place)) => of == place,
        (Term::SizeOf(of), _) => match &of.term {
            Term::Behind(pointer) => **pointer == *address,
            _ => of.lies_in(address) && address.lies_in(of),
        },
        _ => false,
    }
}

/// An address of which more is written than its type says.
fn opened(own: Address, exact: bool) -> Address {
    Address {
        open: own.open || !exact,
        ..own
    }
}

/// The name of what is called, as it is written.
fn called(call: &Expression, text: &[u8]) -> String {
    match &call.term {
        Term::Call(function, _) => function.span.text(text),
        _ => call.span.text(text),
    }
}

/// What lies behind an address as `own` lies behind a parameter.
fn behind(from: Address, own: &Address) -> Address {
    let path = match (&from.path, &own.path) {
        (Some(front), Some(back)) => Some([front.as_slice(), back].concat()),
        _ => None,
    };
    Address {
        of: if from.path.as_ref().is_some_and(Vec::is_empty) {
            own.of.clone().or_else(|| from.of.clone())
        } else {
            from.of.clone()
        },
        open: from.open || own.open,
        path,
        root: from.root,
    }
}

impl Target {
    /// Whether what is written at an address may be a part of it.
    fn meets(&self, written: &Address) -> bool {
        self.at.iter().any(|own| self.meets_at(own, written))
    }

    fn meets_at(&self, own: &Address, written: &Address) -> bool {
        if own.root != written.root {
            return false;
        }
        let (Some(front), Some(path)) = (&own.path, &written.path) else {
            return true;
        };
        // Members of another type say nothing of where they lie.
        if own.of != written.of || front.starts_with(path) {
            return true;
        }
        let Some(inner) = path.strip_prefix(front.as_slice()) else {
            return written.open;
        };
        let reaches = |left: &Vec<String>| left.starts_with(inner) || inner.starts_with(left);
        written.open || self.left.iter().any(reaches)
    }

    /// The same as a function sees it that is given those addresses of it by a parameter.
    fn given(&self, parameter: &Expression, met: &[Address]) -> Self {
        let whole = Self {
            at: vec![Address::root(parameter)],
            left: vec![Vec::new()],
        };
        let holds = |own: &Address, given: &Address| {
            let (Some(front), Some(path)) = (&own.path, &given.path) else {
                return None;
            };
            let same = own.root == given.root && own.of == given.of && !given.open;
            front
                .strip_prefix(path.as_slice())
                .filter(|_| same)
                .map(<[String]>::to_vec)
        };
        let mut at = Vec::new();
        for given in met {
            let mut own = self.at.iter().filter(|own| own.root == given.root);
            let Some(path) = own.find_map(|own| holds(own, given)) else {
                return whole;
            };
            at.push(Address {
                path: Some(path),
                ..Address::root(parameter)
            });
        }
        Self {
            at,
            left: self.left.clone(),
        }
    }
}
