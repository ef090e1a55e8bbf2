//! What becomes of a fault: which ways a function takes where an access failed, and who
//! asks for its result.

use std::rc::Rc;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, Effect, EffectKind, Flow};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::space::is_users;

/// A call whose result says whether an access faulted.
pub(crate) struct Fallible<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) span: Span,
    pub(crate) name: String,
    /// Whether it is a function of the file, and not the access itself.
    pub(crate) helper: bool,
}

impl<'t> Fallible<'t> {
    /// A call of which its caller says that it is such a one.
    pub(crate) fn of(function: &FunctionContext<'_>, call: Node<'t>) -> Self {
        let name = String::from_utf8_lossy(function.called(call));
        Self {
            node: call,
            span: span(call),
            name: name.into_owned(),
            helper: true,
        }
    }
}

/// The calls of a function whose result says so, in the order of the text.
pub(crate) fn fallible<'t>(
    function: &'t FunctionContext<'t>,
) -> impl Iterator<Item = Fallible<'t>> {
    let own = |call: Node<'t>| {
        let mut accesses = function.accesses.iter();
        accesses.any(|own| own.node == call && !own.inside && own.word.result.is_some())
    };
    function.calls.iter().filter_map(move |call| {
        let name = function.callee(*call)?;
        let known = function.known.get(name);
        let helper = known.is_some_and(|own| own.tells_fault) && is_given_users(function, *call);
        (helper || own(*call)).then(|| Fallible {
            node: *call,
            span: span(*call),
            name: name.to_owned(),
            helper,
        })
    })
}

/// Whether a call is given an address of the user's: what it accesses otherwise is its own
/// affair.
pub(crate) fn is_given_users(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let whole = function.expression_of(call);
    let given = whole.call().map(|(_, given)| given);
    given.is_some_and(|given| given.iter().any(|own| is_users(function, own)))
}

/// A way that is taken only where the access faulted.
#[derive(Clone, Copy)]
pub(crate) struct Arm {
    /// Where it is asked which way is taken.
    pub(crate) fork: usize,
    /// Where it begins.
    pub(crate) fault: usize,
    /// Where the code goes on that is done where it did not.
    pub(crate) success: usize,
    /// Whether what asks says what is done where it did not: `if (!get_user(a, p)) use(a);`
    pub(crate) negated: bool,
}

impl Arm {
    /// The same of a call whose result is 0 where it failed.
    pub(crate) fn turned(self) -> Self {
        Self {
            fault: self.success,
            success: self.fault,
            negated: !self.negated,
            ..self
        }
    }
}

/// What a function does with the result of a call.
#[derive(Default)]
pub(crate) struct Fate {
    /// The ways that it takes where the access faulted.
    pub(crate) arms: Vec<Arm>,
    /// Whether the same call gives the variable its next result before anything asked for
    /// this one.
    pub(crate) overwritten: bool,
    /// Whether it is asked for something else, or handed on.
    pub(crate) told: bool,
}

/// The variable that takes a result, with the write by which it does.
pub(crate) struct Taken {
    /// The number of the effect.
    pub(crate) effect: usize,
    /// Whether it takes what is chosen by the result: `err = get_user(a, p) ? -EFAULT : 0`.
    pub(crate) chosen: bool,
}

/// The plain variable of the function that takes the result of a call, as it is or as an
/// error number that is chosen by it.
pub(crate) fn taken(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Taken> {
    let (mut node, mut chosen) = (call, false);
    let holder = loop {
        let parent = function.above(node)?;
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "conditional_expression" if parent.part("condition") == Some(node) => chosen = true,
            "assignment_expression" if function.context.operator(parent) == b"=" => break parent,
            "init_declarator" => break parent,
            _ => return None,
        }
        node = parent;
    };
    let graph = function.graph;
    let place = span(holder);
    let own = |own: &Effect| matches!(own.kind, EffectKind::Write(_)) && own.span == place;
    let effect = graph.effects.iter().position(own)?;
    let written = graph.effects.get(effect)?;
    let local = graph.local(graph.name_of(written))?;
    (local.plain && graph.is_whole(written)).then_some(Taken { effect, chosen })
}

/// What becomes of the result of a call; none where it goes elsewhere at once.
pub(crate) fn fate(function: &FunctionContext<'_>, call: &Fallible<'_>) -> Option<Fate> {
    match taken(function, call.node) {
        Some(own) => Walk::of(function, own.effect).map(|walk| walk.found),
        None => asked(function, call),
    }
}

/// The result that is a condition by itself: `if (get_user(a, p))`, `if (get_user(a, p) < 0)`.
fn asked(function: &FunctionContext<'_>, call: &Fallible<'_>) -> Option<Fate> {
    let graph = function.graph;
    is_condition(function, call.node).then_some(())?;
    let parent = function.above(call.node)?;
    let compared = (parent.known_kind() == "binary_expression")
        .then(|| compared(&Expression::of(function.context, parent)))
        .flatten();
    let whole = compared.map(|fails| (function.context.written(parent), fails));
    let text = function.context.written(call.node);
    let mut at = graph.nodes_in(call.span).find(|at| {
        let node = graph.nodes.get(*at);
        node.is_some_and(|node| node.span == call.span)
    })?;
    let mut seen = HashSet::default();
    while seen.insert(at) {
        let node = graph.nodes.get(at)?;
        match node.next.as_slice() {
            [(Edge::Always, next)] => at = *next,
            [(Edge::If(condition, holds), one), (Edge::If(..), other)] => {
                let own = graph.conditions.get(*condition)?;
                let asked = whole.as_ref().filter(|(whole, _)| *whole == own.text);
                let fails = asked.is_none_or(|(_, fails)| *fails);
                let (fault, success) = if *holds == fails {
                    (*one, *other)
                } else {
                    (*other, *one)
                };
                let negated = is_negated(function, call.node);
                let arms = vec![Arm {
                    fork: at,
                    fault,
                    success,
                    negated,
                }];
                return (asked.is_some() || own.text == text).then(|| Fate {
                    arms,
                    ..Fate::default()
                });
            }
            _ => return None,
        }
    }
    None
}

/// Whether a comparison of what a call gives holds where it failed, or where it did not.
fn compared(own: &Expression) -> Option<bool> {
    let test = Test::of(own).filter(|own| own.holds);
    let test = test.or_else(|| Test::of_zero(own));
    test.map(|own| own.holds)
}

/// Whether a node is, or is a part of, the condition of a statement: what `?:` makes of it
/// is a value, which may tell.
fn is_condition(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut own = node;
    while let Some(parent) = function.above(own) {
        match parent.known_kind() {
            "parenthesized_expression"
            | "binary_expression"
            | "unary_expression"
            | "argument_list"
            | "call_expression"
            | "assignment_expression" => own = parent,
            "if_statement" | "while_statement" | "do_statement" | "for_statement" => {
                return parent.part("condition") == Some(own);
            }
            _ => return false,
        }
    }
    false
}

/// Whether what a condition asks of a node is whether it is 0.
fn is_negated(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let context = function.context;
    let mut around = function.around(node);
    let around = around.find(|own| {
        !matches!(
            own.known_kind(),
            "parenthesized_expression" | "assignment_expression"
        )
    });
    around.is_some_and(|own| {
        let operator = context.operator(own);
        operator == b"!"
            || operator == b"=="
                && matches!(
                    Expression::of(context, own).term,
                    Term::Binary(_, _, right) if right.is_zero()
                )
    })
}

/// What a comparison with 0 or with an error number says.
struct Test<'e> {
    of: &'e Expression,
    /// Whether it holds where there is an error, or where there is none.
    holds: bool,
}

impl<'e> Test<'e> {
    fn of(own: &'e Expression) -> Option<Self> {
        let Term::Binary(of, operator, right) = &own.term else {
            return None;
        };
        let holds = match operator.as_str() {
            "<" if right.is_zero() => true,
            ">=" if right.is_zero() => false,
            "==" if is_error(right) => true,
            "!=" if is_error(right) => false,
            _ => return None,
        };
        Some(Self { of, holds })
    }

    /// `ret != 0`, `ret == 0`
    fn of_zero(own: &'e Expression) -> Option<Self> {
        let Term::Binary(of, operator, right) = &own.term else {
            return None;
        };
        let holds = match operator.as_str() {
            "!=" if right.is_zero() => true,
            "==" if right.is_zero() => false,
            _ => return None,
        };
        Some(Self { of, holds })
    }
}

/// `-EFAULT` and its like, or a choice of one.
pub(crate) fn is_error(own: &Expression) -> bool {
    match &own.term {
        Term::Unary(operator, of) => operator == "-" && of.name().is_some_and(is_error_name),
        Term::Choice(_, yes, no) => is_error(no) || yes.as_deref().is_some_and(is_error),
        _ => false,
    }
}

/// `-EFAULT`
pub(crate) fn is_efault(own: &Expression) -> bool {
    matches!(&own.term, Term::Unary(minus, of) if minus == "-" && of.name() == Some("EFAULT"))
}

/// `EFAULT`
pub(crate) fn is_error_name(name: &str) -> bool {
    name.starts_with('E')
}

/// The ways on from where a variable takes a result.
struct Walk<'f> {
    function: &'f FunctionContext<'f>,
    variable: usize,
    /// The write by which it took the result.
    taken: Span,
    found: Fate,
    work: Vec<usize>,
}

impl<'f> Walk<'f> {
    /// Goes from the write that an effect is to wherever it is asked for.
    fn of(function: &'f FunctionContext<'f>, effect: usize) -> Option<Self> {
        let graph = function.graph;
        let own = graph.effects.get(effect)?;
        let (variable, taken) = (own.place, own.span);
        let mut nodes = graph.nodes.iter();
        let at = nodes.position(|node| node.effects.contains(&effect))?;
        let before = effect + 1 - graph.nodes.get(at)?.effects.start;
        let mut walk = Self {
            function,
            variable,
            taken,
            found: Fate::default(),
            work: Vec::new(),
        };
        let mut seen = HashSet::default();
        walk.step(at, before);
        while let Some(at) = walk.work.pop() {
            if seen.insert(at) {
                walk.step(at, 0);
            }
        }
        Some(walk)
    }

    fn graph(&self) -> &'f Flow {
        self.function.graph
    }

    /// One node: what its effects and its action do to the variable behind so many of them,
    /// and where it goes on.
    fn step(&mut self, at: usize, before: usize) {
        let graph = self.graph();
        let Some(node) = graph.nodes.get(at) else {
            return;
        };
        if let Action::Exit { returned, .. } = &node.action
            && *returned == Some(self.variable)
        {
            self.found.told = true;
            return;
        }
        let forks = matches!(node.next.first(), Some((Edge::If(..), _)));
        let own = graph.effects_at(node).iter().skip(before);
        let mut asked = None;
        for effect in own.filter(|own| graph.places.is_in(own.place, self.variable)) {
            match &effect.kind {
                EffectKind::Read if forks && self.is_asked(effect.span) => {
                    asked = Some(effect.span)
                }
                EffectKind::Write(write) if effect.place == self.variable => {
                    // Elsewhere a condition may say that nothing was there to be asked.
                    self.found.overwritten |= effect.span == self.taken && !write.optional;
                    return;
                }
                _ => {
                    self.found.told = true;
                    return;
                }
            }
        }
        match node.next.as_slice() {
            [(Edge::If(condition, holds), one), (Edge::If(..), other)] => {
                self.fork(at, (*condition, asked), (*holds, *one, *other));
            }
            ways => self.work.extend(ways.iter().map(|(_, next)| *next)),
        }
    }

    /// Whether a place is in the condition of a statement.
    fn is_asked(&self, place: Span) -> bool {
        let root = self.function.root;
        let node = root.named_descendant_for_byte_range(place.start, place.end);
        node.is_some_and(|node| is_condition(self.function, node))
    }

    /// Whether a condition asks of what is read in a place whether it is 0.
    fn is_negated(&self, place: Span) -> bool {
        let root = self.function.root;
        let node = root.named_descendant_for_byte_range(place.start, place.end);
        node.is_some_and(|node| is_negated(self.function, node))
    }

    /// A condition: of one that asks for the variable the side of the fault is an arm.
    fn fork(
        &mut self,
        at: usize,
        (condition, asked): (usize, Option<Span>),
        (holds, one, other): (bool, usize, usize),
    ) {
        let Some(own) = self.graph().conditions.get(condition) else {
            return;
        };
        let asks = own.place == Some(self.variable);
        if !asks && !own.reads.contains(&self.variable) {
            self.work.extend([one, other]);
            return;
        }
        let error = match asks {
            true => Some(true),
            false => self.function.asked(own).and_then(|own| {
                let test = Test::of(&own).or_else(|| Test::of_zero(&own))?;
                test.of.name().map(|_| test.holds)
            }),
        };
        match error {
            Some(error) => {
                let (fault, success) = if error == holds {
                    (one, other)
                } else {
                    (other, one)
                };
                self.found.arms.push(Arm {
                    fork: at,
                    fault,
                    success,
                    negated: asked.is_some_and(|at| self.is_negated(at)),
                });
            }
            None => self.found.told = true,
        }
    }
}

/// Whether the function gives an error number anywhere: in a `return`, or by a variable
/// that one gives.
pub(crate) fn gives_errors(function: &FunctionContext<'_>) -> bool {
    let graph = function.graph;
    let returned: HashSet<usize> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.action {
            Action::Exit { returned, .. } => *returned,
            _ => None,
        })
        .collect();
    let error = |at: Span| function.expression(at).is_some_and(|own| is_error(&own));
    let mut effects = graph.effects.iter();
    let stored = effects.any(|effect| match &effect.kind {
        EffectKind::Write(write) if returned.contains(&effect.place) => {
            write.value.is_some_and(error)
        }
        _ => false,
    });
    let mut exits = graph.nodes.iter();
    stored
        || exits.any(|node| {
            let exit = matches!(node.action, Action::Exit { returned: None, .. });
            let given = || graph.statement(node.span).and_then(|own| own.expression);
            exit && given().is_some_and(error)
        })
}

/// Whether a function that gives 0 or an error number, and nothing else, gives an error
/// number where what it accesses faulted; none where it gives anything else.
pub(crate) fn tells_fault(function: &FunctionContext<'_>) -> Option<bool> {
    let graph = function.graph;
    if function.file.gives_nothing(function.body) || graph.computed {
        return None;
    }
    let mut tells = false;
    let mut all = true;
    let mut look = |own: &Expression| {
        all &= is_number(function, own);
        tells |= is_fault(function, own);
    };
    let reached = graph.reached(0, |_| false);
    for node in reached.iter().filter_map(|at| graph.nodes.get(*at)) {
        let Action::Exit { returned, .. } = &node.action else {
            continue;
        };
        let given = graph.statement(node.span).and_then(|own| own.expression);
        match (returned, given.and_then(|given| function.expression(given))) {
            (Some(place), _) => match taken_by(function, *place) {
                Some(values) => values.iter().for_each(|own| look(own)),
                None => return None,
            },
            (None, Some(own)) => look(&own),
            (None, None) => return None,
        }
    }
    all.then_some(tells)
}

/// What a plain variable of the function takes; none where it may take anything.
fn taken_by(function: &FunctionContext<'_>, place: usize) -> Option<Vec<Rc<Expression>>> {
    let graph = function.graph;
    let local = graph.places.as_local(place)?;
    graph
        .locals
        .get(local)
        .filter(|own| own.plain && !own.lasting)?;
    let own = graph.effects.iter().filter(|effect| {
        graph.places.is_in(effect.place, place) && effect.kind != EffectKind::Read
    });
    let values = own.map(|effect| match &effect.kind {
        EffectKind::Write(write) => match write.value {
            Some(value) => Some(function.expression(value)),
            // Its declaration without a value.
            None if !write.next => Some(None),
            None => None,
        },
        _ => None,
    });
    let values: Option<Vec<Option<Rc<Expression>>>> = values.collect();
    Some(values?.into_iter().flatten().collect())
}

/// Whether an expression is 0 or an error number, whatever happens.
fn is_number(function: &FunctionContext<'_>, own: &Expression) -> bool {
    match &own.term {
        Term::Choice(_, Some(yes), no) => is_number(function, yes) && is_number(function, no),
        Term::Call(..) => gives_number(function, own),
        _ => own.is_zero() || is_error(own),
    }
}

fn gives_number(function: &FunctionContext<'_>, own: &Expression) -> bool {
    own.call().is_some_and(|(name, _)| {
        let access = function.file.words.access(name);
        let fault = access.and_then(|own| own.result) == Some(crate::calls::Outcome::Fault);
        let helper = function.known.get(name);
        fault || helper.is_some_and(|own| own.tells_fault)
    })
}

/// Whether it is -EFAULT, a choice of it, or what an access gives.
pub(crate) fn is_fault(function: &FunctionContext<'_>, own: &Expression) -> bool {
    match &own.term {
        Term::Unary(..) => is_efault(own),
        Term::Choice(_, yes, no) => {
            let yes = yes.as_deref();
            is_fault(function, no) || yes.is_some_and(|yes| is_fault(function, yes))
        }
        _ => gives_number(function, own),
    }
}

/// The nodes that are come to where the access faulted, and else only where it faults in a
/// later round.
pub(crate) fn only_of_rounds(function: &FunctionContext<'_>, arm: &Arm) -> HashSet<usize> {
    let graph = function.graph;
    let mut own = graph.reached(arm.fault, |_| false);
    let first = graph.nodes.get(arm.fault).map(std::ptr::from_ref);
    let mut other = graph.reached(arm.success, |node| Some(std::ptr::from_ref(node)) == first);
    other.remove(&arm.fault);
    own.retain(|at| !other.contains(at));
    own
}

/// Whether a plain variable of the function takes an error number.
pub(crate) fn stores_error(function: &FunctionContext<'_>, own: &Effect) -> bool {
    let graph = function.graph;
    let local = graph.places.as_local(own.place);
    let plain = local
        .and_then(|at| graph.locals.get(at))
        .is_some_and(|own| own.plain);
    match &own.kind {
        EffectKind::Write(write) if plain => {
            let value = write.value.and_then(|value| function.expression(value));
            value.is_some_and(|value| is_error(&value))
        }
        _ => false,
    }
}

/// What a `return` gives.
pub(crate) fn given(function: &FunctionContext<'_>, at: Span) -> Option<Rc<Expression>> {
    let given = function.graph.statement(at).and_then(|own| own.expression);
    function.expression(given?)
}
