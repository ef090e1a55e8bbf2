use std::cell::OnceCell;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::errno_index::{ByError, by_errors};
use crate::check::fate::{is_error, is_error_name};
use crate::check::known::Told;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::never_negative::{Lost, lost};
use crate::check::part;
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, Effect, EffectKind, Flow, Node as Step, Statement, StatementKind};
use crate::hashed::HashSet;
use crate::lex::{Token, closing};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;
use crate::split::Body;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "misread-result",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "what an access gives is taken for what it never is",
    why: "copy_from_user() and copy_to_user() give the number of bytes that were left, 0 or more. A test \
          for less than 0 never holds, so that a fault goes unseen; a caller that is given them sees no \
          error number. A function of the file that hands that on, or gives a bool, is the same. \
          get_user() gives 0 or an error number, and is never more than 0.",
};

/// So many callers of callers are asked.
const STEPS: usize = 3;

/// A call whose result says whether it faulted.
struct Giver<'t> {
    node: Node<'t>,
    span: Span,
    name: String,
    told: Told,
}

/// The calls of a function whose result says whether they faulted.
fn givers<'t>(function: &FunctionContext<'t>) -> impl Iterator<Item = Giver<'t>> {
    function.calls.iter().filter_map(move |call| {
        let name = function.callee(*call)?;
        Some(Giver {
            node: *call,
            span: span(*call),
            name: name.to_owned(),
            told: function.told(name)?,
        })
    })
}

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    out.extend(lost(function).iter().map(|own| unsigned(function, own)));
    out.extend(by_errors(function).iter().map(|own| index(function, own)));
    let tests = OnceCell::new();
    for giver in givers(function) {
        // What a function of the file hands on is said of it, but where a choice does.
        let said = || function.hands_left(&giver.name) || is_chosen(giver.node);
        if matches!(giver.told, Told::Left | Told::LeftOrError) && said() {
            out.extend(returned(function, &giver));
        }
        if giver.told == Told::Left {
            out.extend(in_part(function, &giver));
            out.extend(taken_off(function, &giver));
        }
        if giver.told != Told::LeftOrError {
            let test = tested(function, &giver, &tests);
            out.extend(test.map(|test| asked(function, &giver, test)));
        }
    }
}

/// An error number that picks an element.
fn index(function: &FunctionContext<'_>, own: &ByError) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() gives an error number where it faults, and {} picks an element before anything asks whether it is \
         less than 0",
        own.name, own.variable
    );
    let mut violation = file.violation(&INFO, own.element, "may lie in front", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.call, "taken here"));
    violation
}

/// An error number that a variable without a sign takes.
fn unsigned(function: &FunctionContext<'_>, own: &Lost) -> Violation {
    let file = function.file;
    let gives = match own.faults {
        true => "gives an error number where it faults",
        false => "is asked for an error number",
    };
    let message = format!(
        "{}() {gives}, and {} has no sign: it is never less than 0",
        own.name, own.variable
    );
    let mut violation = file.violation(&INFO, own.test, "an error goes unseen", message);
    let taken = file.mark(own.taken, "taken here");
    violation.related.push(taken);
    violation
}

/// The violation of a test whose outcome is known.
fn asked(function: &FunctionContext<'_>, giver: &Giver<'_>, test: Span) -> Violation {
    let file = function.file;
    let name = &giver.name;
    let (gives, never) = match giver.told {
        Told::Truth => ("a bool", "negative"),
        Told::Copied => ("how many bytes were copied", "negative"),
        Told::Left | Told::LeftOrError => ("how many bytes were left", "negative"),
        Told::Error => ("0 or an error number", "more than 0"),
        Told::Summed => (
            "what several accesses gave, how many bytes were left among it",
            "negative where bytes were left alone",
        ),
    };
    let message = format!("{name}() gives {gives}, which is never {never}");
    let own = function.expression(test);
    let holds = own.and_then(|own| is_asked(&own, giver.told));
    let label = match (giver.told, holds) {
        (Told::Summed, _) => "a fault may go unseen",
        (_, Some(true)) => "always holds",
        _ => "never holds",
    };
    let mut violation = file.violation(&INFO, test, label, message);
    if !test.contains(giver.span) {
        violation.related.push(file.mark(giver.span, gives));
    }
    violation
}

/// What was left is asked for nothing but whether it is all: a copy that ended in the middle
/// counts as a whole one.
fn in_part(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Violation> {
    let variable = bare(assigned(function, giver)?);
    let test = part::only_whole(function, &function.context.written(variable), giver.span)?;
    let file = function.file;
    let message = format!(
        "nothing asks {}() for less than all: where a part was left, as much counts as copied as was asked for",
        giver.name
    );
    let mut violation = file.violation(&INFO, giver.span, "may be copied in part", message);
    violation
        .related
        .push(file.mark(test, "only this is asked"));
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// What was left is taken off a number that goes on as it is: where nothing could be copied, it
/// is 0.
fn taken_off(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Violation> {
    let number = part::taken_off(function, giver.node)?;
    let message = format!(
        "what {}() left is taken off {number}, and nothing asks whether anything is left of that: a fault is taken \
         for no bytes",
        giver.name
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, giver.span, "a fault goes unseen", message);
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// A function that gives error numbers elsewhere gives the bytes that were left.
fn returned(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Violation> {
    let carried = carried(function, giver);
    let near = given_back(function, giver).or_else(|| {
        let own = carried.as_ref().filter(|_| is_all(function, giver));
        own.map(|own| own.at)
    });
    let gives = near.or(carried.as_ref().map(|_| giver.span))?;
    let is_static = function.file.is_declared(function.body, b"static");
    let mut returns = function.graph.statements.iter().filter_map(given);
    let own = returns.any(|given| function.expression(given).is_some_and(|own| is_error(&own)))
        || carried.iter().flat_map(|own| &own.places).any(|place| {
            takes_errors(function, *place) || is_asked_for_errors(function, *place, giver.span)
        });
    let answers = function.file.answers_a_program(function.body);
    let whose = match own {
        false if answers => "a program is given that for an answer".to_owned(),
        true => "the function gives error numbers elsewhere".to_owned(),
        // What goes a longer way may be one of two things that a caller tells apart, who
        // keeps it or is in another file.
        false if near.is_none() && !is_static => return None,
        false => {
            let mut callers = handing_on(function, function.body, near.is_some()).into_iter();
            let caller = callers.find(|caller| {
                let errors =
                    gives_errors(function, caller) || function.file.answers_a_program(caller);
                errors && is_handed_on(function, caller, STEPS)
            })?;
            format!("{}(), which hands it on, gives error numbers", caller.name)
        }
    };
    let name = &giver.name;
    let message = format!("{name}() gives how many bytes were left, and {whose}");
    let file = function.file;
    let mut violation = file.violation(&INFO, gives, "no error number", message);
    if let Some(own) = carried.filter(|_| near.is_none()) {
        violation.related.push(file.mark(own.at, "returned here"));
    }
    violation.confidence = match is_handed_on(function, function.body, STEPS) {
        true => Confidence::Medium,
        // Callers may ask for no more than whether it is 0.
        false => Confidence::Low,
    };
    Some(violation)
}

/// The variables that hold what a call gave, one after the other, and where the last of them
/// is returned.
struct Carried {
    places: Vec<usize>,
    at: Span,
}

/// The variable that takes what a call gave, and the `return` to which it comes as it
/// is on a way where it is not 0: through a label at the end, past other work, by a further
/// variable, or as what a `?:` there chooses.
fn carried(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Carried> {
    assigned(function, giver)?;
    let graph = function.graph;
    let taken = |effect: &Effect| {
        let value = match &effect.kind {
            EffectKind::Write(write) => write.value?,
            _ => return None,
        };
        let own = value == giver.span && graph.is_whole(effect);
        own.then_some(effect.place)
    };
    let walk = Walk::new(function);
    let mut nodes = 0..graph.nodes.len();
    let (at, place) = nodes.find_map(|at| {
        let own = graph.effects_of(at);
        let mut own = own.iter().enumerate();
        let (first, place) = own.find_map(|(i, effect)| Some((i, taken(effect)?)))?;
        Some(((at, first + 1), place))
    })?;
    let mut work = vec![(at, vec![place])];
    let mut seen = HashSet::default();
    while let Some(((at, from), places)) = work.pop() {
        let place = *places.last()?;
        if from == 0 && !seen.insert((at, place)) {
            continue;
        }
        let behind = graph.effects_of(at).get(from..).unwrap_or_default();
        let node = graph.nodes.get(at)?;
        let next = match walk.first(behind, place) {
            Some((_, Fate::Returned(at))) => return Some(Carried { places, at }),
            Some((_, Fate::Gone)) => continue,
            Some((count, Fate::Moved(to))) => {
                if !places.contains(&to) {
                    let places = places.into_iter().chain([to]).collect();
                    work.push(((at, from + count + 1), places));
                }
                continue;
            }
            None => node.next.iter(),
        };
        if let Action::Exit { returned, .. } = &node.action
            && *returned == Some(place)
        {
            return Some(Carried {
                places,
                at: node.span,
            });
        }
        let ways = next.filter(|(edge, _)| leaves_something(graph, place, edge));
        work.extend(ways.map(|(_, next)| ((*next, 0), places.clone())));
    }
    None
}

/// What becomes of a variable that holds what was left.
enum Fate {
    /// It is what a `return` chooses there.
    Returned(Span),
    /// Another variable takes it as it is.
    Moved(usize),
    /// It takes something else, or something is made of it.
    Gone,
}

/// What a way through a function does to a variable.
struct Walk<'f, 'a> {
    function: &'f FunctionContext<'a>,
    /// What `return a ? b : c` gives.
    chosen: HashSet<Span>,
}

impl<'f, 'a> Walk<'f, 'a> {
    fn new(function: &'f FunctionContext<'a>) -> Self {
        let mut chosen = HashSet::default();
        function.each_of(&["identifier"], |name| {
            let choice = function.above(name).map(|own| own.known_kind());
            let inner = matches!(
                choice,
                Some("conditional_expression" | "parenthesized_expression")
            );
            if inner && returning(function, name).is_some() {
                chosen.insert(span(name));
            }
        });
        Self { function, chosen }
    }

    /// The first of some effects that does something to the variable in that place, by its
    /// number.
    fn first(&self, effects: &[Effect], place: usize) -> Option<(usize, Fate)> {
        let mut all = effects.iter().enumerate();
        all.find_map(|(at, effect)| Some((at, self.fate(effect, place)?)))
    }

    fn fate(&self, effect: &Effect, place: usize) -> Option<Fate> {
        let graph = self.function.graph;
        let own = effect.place == place;
        match &effect.kind {
            EffectKind::Read if own && self.chosen.contains(&effect.span) => {
                Some(Fate::Returned(effect.span))
            }
            EffectKind::Read => None,
            _ if own => Some(Fate::Gone),
            // What another variable makes of it may be what is asked: `failed = ret != 0`.
            EffectKind::Write(write) => {
                let value = write.value?;
                let mut read = graph.effects_in(value);
                if !read.any(|own| own.place == place && own.kind == EffectKind::Read) {
                    return None;
                }
                Some(match self.is_moved(effect, value) {
                    true => Fate::Moved(effect.place),
                    false => Fate::Gone,
                })
            }
            _ => None,
        }
    }

    /// Whether a variable of the function takes a name's value as a number.
    fn is_moved(&self, effect: &Effect, value: Span) -> bool {
        let graph = self.function.graph;
        let local = graph.places.as_local(effect.place);
        let local = local.and_then(|own| graph.locals.get(own));
        let counts = local.is_some_and(|own| own.plain && own.base_type != "bool");
        let value = self.function.expression(value);
        counts && value.is_some_and(|value| value.uncast().1.name().is_some())
    }
}

/// Whether a way is taken where the variable in that place is not 0. Of a test that asks
/// something else of it neither side is followed.
fn leaves_something(graph: &Flow, place: usize, edge: &Edge) -> bool {
    let Edge::If(condition, holds) = edge else {
        return true;
    };
    graph
        .conditions
        .get(*condition)
        .is_some_and(|own| match own.place {
            Some(own) if own == place => *holds,
            _ => !own.reads.contains(&place),
        })
}

/// Whether the variable in that place takes an error number anywhere.
fn takes_errors(function: &FunctionContext<'_>, place: usize) -> bool {
    let mut effects = function.graph.effects.iter();
    effects.any(|effect| match &effect.kind {
        EffectKind::Write(write) if effect.place == place => {
            let value = write.value.and_then(|value| function.expression(value));
            value.is_some_and(|value| is_error(&value))
        }
        _ => false,
    })
}

/// Whether something asks the variable in that place for less than 0, or did before the
/// call whether there was more: it holds an error number, too.
fn is_asked_for_errors(function: &FunctionContext<'_>, place: usize, call: Span) -> bool {
    let mut tests = function.graph.comparisons.iter();
    tests.any(|test| {
        let Some(Expression {
            term: Term::Binary(left, operator, right),
            ..
        }) = function.expression(*test)
        else {
            return false;
        };
        let mut named = function.graph.effects_in(*test);
        let own = left.name().is_some() && named.any(|own| own.place == place);
        let asks = matches!(operator.as_str(), "<" | ">=") || test.end <= call.start;
        own && right.is_zero() && asks
    })
}

/// What a `return` gives.
fn given(own: &Statement) -> Option<Span> {
    own.expression.filter(|_| own.kind == StatementKind::Return)
}

/// What takes what a call gave, and nothing else of it: `left -= …` keeps a part.
fn assigned<'s>(function: &FunctionContext<'s>, giver: &Giver<'s>) -> Option<Node<'s>> {
    let holder = function.above(giver.node)?;
    let field = match holder.known_kind() {
        "assignment_expression" if function.context.operator(holder) == b"=" => "left",
        "init_declarator" => "declarator",
        _ => return None,
    };
    holder.part(field)
}

/// Whether a call is what an expression chooses.
fn is_chosen(call: Node<'_>) -> bool {
    call.parent()
        .is_some_and(|holder| holder.known_kind() == "conditional_expression")
}

/// The `return` that a call stands in, alone or as what is chosen: `return f() ?: error`.
fn returning(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Span> {
    let mut own = call;
    while let Some(holder) = function.above(own) {
        let chosen = || {
            let asked = holder.part("condition") == Some(own);
            !asked || holder.part("consequence").is_none()
        };
        match holder.known_kind() {
            "return_statement" => return Some(span(holder)),
            "parenthesized_expression" => {}
            "conditional_expression" if chosen() => {}
            _ => return None,
        }
        own = holder;
    }
    None
}

/// The `return` of what a call gave, at once or by a variable: right behind it, or
/// under a test that it is not 0.
fn given_back(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Span> {
    let holder = function.above(giver.node)?;
    if let Some(own) = returning(function, giver.node) {
        return Some(own);
    }
    let variable = assigned(function, giver)?;
    let name = function.context.written(bare(variable));
    let graph = function.graph;
    graph.local(&name).filter(|local| local.plain)?;
    let around = graph.statements.iter();
    let around = around.filter(|own| own.span.contains(span(holder)));
    let own = around.min_by_key(|own| own.span.end - own.span.start)?;
    let asked = match own.kind {
        StatementKind::If => own,
        _ => graph.next(own.span)?,
    };
    let is_own = |own: &&Statement| {
        let given = given(own).and_then(|given| function.expression(given));
        given.is_some_and(|given| given.name() == Some(&name))
    };
    let tests = |condition: Span| {
        let inner = condition.contains(span(holder));
        inner || graph.tests(condition, &name)
    };
    match asked.kind {
        StatementKind::Return => Some(asked).filter(is_own).map(|own| own.span),
        StatementKind::If if asked.expression.is_some_and(tests) => {
            let inside = graph.statements.iter();
            let inside = inside.filter(|own| asked.span.contains(own.span));
            let mut others = graph.inside(asked.span);
            let other = others.find(|own| own.kind == StatementKind::Else);
            let mut inside = inside.filter(|own| !other.is_some_and(|o| o.span.contains(own.span)));
            inside.find(is_own).map(|own| own.span)
        }
        _ => None,
    }
}

/// Whether what the call gave is all that a variable of the function ever takes.
fn is_all(function: &FunctionContext<'_>, giver: &Giver<'_>) -> bool {
    let name = assigned(function, giver).map(|own| function.context.written(bare(own)));
    let value = name.and_then(|name| function.graph.only_value(&name));
    value == Some(giver.span)
}

/// Whether what a function of the file gives goes to who takes it for an error number: it
/// can be called from elsewhere, or a caller in the file hands it on and is such itself.
fn is_handed_on(function: &FunctionContext<'_>, body: &Body, steps: usize) -> bool {
    let is_static = function.file.is_declared(body, b"static");
    let code = code(function);
    let taken = |two: &[&Token]| match two {
        [name, behind] => is_use(function, body, name) && !behind.is(b'('),
        _ => false,
    };
    let mut callers = handing_on(function, body, true).into_iter();
    !is_static
        || code.windows(2).any(taken)
        || is_asked_by_caller(function, body)
        || steps > 0 && callers.any(|caller| is_handed_on(function, caller, steps - 1))
}

fn code<'s>(function: &FunctionContext<'s>) -> Vec<&'s Token> {
    let all = function.file.tokens.iter();
    all.filter(|token| token.is_code()).collect()
}

/// Whether a token names a function elsewhere than where it is defined.
fn is_use(function: &FunctionContext<'_>, body: &Body, token: &Token) -> bool {
    let named = token.span.of(function.file.text) == body.name.as_bytes();
    named && !body.header.contains(token.span)
}

/// Whether a caller asks what a function of the file gave it for less than 0.
fn is_asked_by_caller(function: &FunctionContext<'_>, body: &Body) -> bool {
    let file = function.file;
    let code = code(function);
    let asks = |variable: &Token| {
        let own = file.holder(variable.span);
        let mut words = own
            .into_iter()
            .flat_map(|own| file.tokens_in(own.span).windows(3));
        words.any(|three| match three {
            [name, less, zero] => {
                let named = name.span.of(file.text) == variable.span.of(file.text);
                named && less.is(b'<') && zero.span.of(file.text) == b"0"
            }
            _ => false,
        })
    };
    code.windows(3).any(|three| match three {
        [variable, sign, name] => sign.is(b'=') && is_use(function, body, name) && asks(variable),
        _ => false,
    })
}

/// The functions of the file that give what another one gave them: `return f();`, or by a
/// variable if that counts.
fn handing_on<'s>(function: &FunctionContext<'s>, body: &Body, by_variable: bool) -> Vec<&'s Body> {
    let file = function.file;
    let code = code(function);
    let gives = |(at, three): (usize, &[&Token])| {
        let [first, second, third] = three else {
            return None;
        };
        let returned = first.span.of(file.text) == b"return"
            && is_use(function, body, second)
            && behind(&code, at + 2).is_some_and(|(next, _)| next.is(b';'));
        let kept = || {
            by_variable
                && second.is(b'=')
                && is_use(function, body, third)
                && is_kept(file.text, &code, (first, at + 3))
                && is_returned(function, first)
        };
        (returned || kept())
            .then(|| file.holder(first.span))
            .flatten()
    };
    code.windows(3).enumerate().filter_map(gives).collect()
}

/// Whether a function of the file gives an error number: `return -EINVAL`, `ret = -EINVAL`.
fn gives_errors(function: &FunctionContext<'_>, of: &Body) -> bool {
    let file = function.file;
    let mut own = file.tokens_in(of.span).windows(3);
    own.any(|three| match three {
        [before, sign, name] => {
            let given = before.is(b'=') || before.span.of(file.text) == b"return";
            let error = answer::text(name.span.of(file.text)).is_some_and(is_error_name);
            given && sign.is(b'-') && error
        }
        _ => false,
    })
}

/// Whether the call whose arguments begin there is all that a variable takes, and what it
/// gave is still there where the code behind it leaves.
fn is_kept(text: &[u8], code: &[&Token], (variable, open): (&Token, usize)) -> bool {
    behind(code, open).is_some_and(|(next, rest)| {
        next.is(b';') && leaves_with(text, &rest, variable.span.of(text))
    })
}

/// The token behind the brackets that open there, and what follows it.
fn behind(code: &[&Token], open: usize) -> Option<(Token, Vec<Token>)> {
    let rest: Vec<Token> = code.iter().skip(open).map(|token| **token).collect();
    let close = closing(&rest, 0)?;
    let next = *rest.get(close + 1)?;
    Some((next, rest.get(close + 2..)?.to_vec()))
}

/// Whether the code that comes next leaves with the variable as it is, or goes on with it.
fn leaves_with(text: &[u8], tokens: &[Token], variable: &[u8]) -> bool {
    const ENDS: [&[u8]; 5] = [b"goto", b"return", b"break", b"case", b"default"];
    let word = |own: &Token| own.span.of(text);
    let end = tokens.iter().position(|own| ENDS.contains(&word(own)));
    let before = tokens.get(..end.unwrap_or(tokens.len())).unwrap_or(&[]);
    let set = before.windows(3).any(|three| match three {
        [own, sign, next] => word(own) == variable && sign.is(b'=') && !next.is(b'='),
        _ => false,
    });
    let mut rest = end.into_iter().flat_map(|end| tokens.iter().skip(end));
    let gives = rest.next().is_some_and(|own| word(own) == b"return");
    !set && (!gives || is_given_by(text, rest, variable))
}

/// Whether the function of the file that names a variable there returns it.
fn is_returned(function: &FunctionContext<'_>, variable: &Token) -> bool {
    let file = function.file;
    let name = variable.span.of(file.text);
    let Some(caller) = file.holder(variable.span) else {
        return false;
    };
    let own = file.tokens_in(caller.span);
    let returns = own.iter().enumerate();
    let mut returns = returns.filter(|(_, own)| own.span.of(file.text) == b"return");
    returns.any(|(at, _)| is_given_by(file.text, own.iter().skip(at + 1), name))
}

/// Whether the words behind a `return` give the variable as it is: `return ret;`,
/// `return (int)ret;`, `return done ? done : ret;`, `return ret ? ret : done;`, `return ret ?: done;`.
fn is_given_by<'t>(text: &[u8], behind: impl Iterator<Item = &'t Token>, name: &[u8]) -> bool {
    let given: Vec<&Token> = behind.take_while(|own| !own.is(b';')).collect();
    let is = |own: &Token| own.span.of(text) == name;
    match given.as_slice() {
        [only] => is(only),
        [own, asks, then, ..] if is(own) && asks.is(b'?') => is(then) || then.is(b':'),
        [.., before, last] => {
            let alone = before.is(b')') || before.is(b':');
            alone && is(last)
        }
        [] => false,
    }
}

/// The test for less than 0, or for an error number, of what a call gives.
fn tested(
    function: &FunctionContext<'_>,
    giver: &Giver<'_>,
    tests: &OnceCell<Vec<Test>>,
) -> Option<Span> {
    let tests = || tests.get_or_init(|| Test::all(function)).as_slice();
    let mut node = giver.node;
    while let Some(parent) = function.above(node) {
        let operator = function.context.operator(parent);
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "binary_expression" => {
                let own = Expression::of(function.context, parent);
                return is_asked(&own, giver.told).map(|_| span(parent));
            }
            "assignment_expression" if operator == b"=" => {
                let variable = parent.part("left").map(bare)?;
                if let Some(test) = stored(function, giver, (variable, span(parent)), tests()) {
                    return Some(test);
                }
            }
            "init_declarator" => {
                let variable = parent.part("declarator")?;
                return stored(function, giver, (variable, span(parent)), tests());
            }
            _ => return None,
        }
        node = parent;
    }
    None
}

/// Whether what asks a value for less than 0 or for an error number always holds where it
/// is neither: `a < 0` and `a == -EFAULT` never do, `a >= 0` does; of one that is no more
/// than 0 `a > 0` never does. None where something else is asked.
fn is_asked(own: &Expression, told: Told) -> Option<bool> {
    let Term::Binary(_, operator, right) = &own.term else {
        return None;
    };
    if told == Told::Error {
        let holds = match operator.as_str() {
            ">" => false,
            "<=" => true,
            _ => return None,
        };
        return right.is_zero().then_some(holds);
    }
    match operator.as_str() {
        "<" => right.is_zero().then_some(false),
        ">=" => right.is_zero().then_some(true),
        _ if told == Told::Summed => None,
        "==" => is_error(right).then_some(false),
        "!=" => is_error(right).then_some(true),
        _ => None,
    }
}

/// A comparison of a variable.
struct Test {
    place: Span,
    name: String,
    whole: Expression,
}

impl Test {
    /// Those of the function, in the order of the text.
    fn all(function: &FunctionContext<'_>) -> Vec<Self> {
        let places = function.graph.comparisons.iter();
        let tests = places.filter_map(|place| {
            let whole = function.expression(*place)?;
            let name = match &whole.term {
                Term::Binary(left, ..) => left.name()?.to_owned(),
                _ => return None,
            };
            let place = *place;
            Some(Self { place, name, whole })
        });
        tests.collect()
    }
}

/// The test of a variable of the function that holds nothing but such a result there.
fn stored(
    function: &FunctionContext<'_>,
    giver: &Giver<'_>,
    (variable, at): (Node<'_>, Span),
    tests: &[Test],
) -> Option<Span> {
    if variable.known_kind() != "identifier" {
        return None;
    }
    let name = function.context.written(variable);
    // What the text alone says comes first.
    let asks = |test: &&Test| {
        let own = test.name == name && test.place.start >= at.end;
        own && is_asked(&test.whole, giver.told).is_some()
    };
    let mut tests = tests.iter().filter(asks).peekable();
    tests.peek()?;
    function.graph.local(&name).filter(|local| local.plain)?;
    let graph = function.graph;
    let is_own = |effect: &Effect| {
        let written = matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some());
        written && effect.span == at
    };
    let changes =
        |effect: &Effect| effect.kind != EffectKind::Read && graph.name_of(effect) == name;
    let mut nodes = 0..graph.nodes.len();
    let own = nodes.find(|at| graph.effects_of(*at).iter().any(is_own))?;
    // Where it holds what the call gave, on whatever way that is come to.
    let others = |node: &Step| {
        let mut effects = graph.effects_at(node).iter();
        effects.any(|own| changes(own) && !is_own(own))
    };
    let mut given = graph.reached_behind(own, others);
    let place = graph.nodes.get(own)?.effects.clone();
    let is_there = |node: &Step| node.effects == place;
    // Nothing else comes there, from the front or from where it takes another value.
    let mut free = graph.reached(0, is_there);
    let nodes = graph.nodes.iter().enumerate();
    let changed = nodes.filter(|(at, node)| *at != own && others(node));
    let changed: Vec<usize> = changed.map(|(at, _)| at).collect();
    free.extend(graph.reached_behind_any(changed.iter().copied(), is_there));
    free.extend(changed);
    given.retain(|at| !free.contains(at));
    // What comes behind it in the same node.
    let behind = graph.effects_of(own).iter().skip_while(|own| !is_own(own));
    let here: Vec<Span> = behind.map(|own| own.span).collect();
    let read = given.iter().flat_map(|at| graph.effects_of(*at));
    let read: HashSet<Span> = read.map(|own| own.span).chain(here).collect();
    let holds = |test: &&Test| read.iter().any(|own| test.place.contains(*own));
    tests.find(holds).map(|test| test.place)
}
