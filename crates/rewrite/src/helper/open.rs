//! A static function as it is where a window is open: its accesses are unsafe ones, its
//! faults one way out, and nothing else is in it that may not happen in a window.

use std::collections::BTreeSet;

use tollgate_source::{Direction, Span, Statement, StatementKind, Term, Token};

use crate::edit::Edit;
use crate::helper::names::Names;
use crate::helper::pieces::{Piece, Pieces};
use crate::lines::{PREFERRED, call, tidy, widest};
use crate::planning::callers::{self, is_static, parameters};
use crate::planning::checked::plain;
use crate::planning::declared;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// What may stand before the type in the head of such a function.
const QUALIFIERS: [&str; 3] = ["static", "inline", "__always_inline"];

/// Such a function.
pub(crate) struct Open {
    /// What gives it its new name and unsafe accesses.
    pub(crate) edits: Vec<Edit>,
    /// The name of the parameter that points to what is accessed.
    pub(crate) object: String,
    /// Its head as it was.
    pub(crate) head: String,
    /// The names of its parameters.
    pub(crate) parameters: Vec<String>,
    /// Which of them points to what is written.
    pub(crate) pointer: usize,
    /// What that points to, as it is declared.
    pub(crate) pointee: String,
    /// How many accesses it has, of a loop's in one round.
    pub(crate) accesses: usize,
    /// Which way all of them go.
    pub(crate) direction: Direction,
    /// What it accesses user memory with.
    pub(crate) calls: BTreeSet<String>,
    /// Whether each access checks its own range.
    pub(crate) checks: bool,
    /// Whether some may not happen.
    pub(crate) some: bool,
    /// Whether some stand in a loop.
    pub(crate) loops: bool,
    /// Whether later accesses used to happen after a fault.
    pub(crate) stops: bool,
    /// Whether somebody sees what it fills, after a fault, too.
    pub(crate) keeps: bool,
    /// Whether something else used to happen after a fault, too.
    pub(crate) skips: bool,
    /// The middle of the name of the begin that it needs.
    pub(crate) way: &'static str,
    /// A name for its result that nothing of its head has.
    pub(crate) result: &'static str,
}

/// The function of the subject where a window is open.
///
/// # Errors
/// When it is not known who calls it, or something in it may not happen in a window.
pub(super) fn open(subject: &Subject<'_>) -> Result<Open, Refusal> {
    let function = subject.function;
    let head = function.header;
    let parameters = parameters(subject.text, head, &function.name);
    let known = parameters.filter(|_| subject.own_file && is_static(subject) && gives_int(subject));
    let parameters = known.ok_or_else(|| subject.refuse(head, Reason::NotStatic))?;
    let whole = head.join(function.body);
    if !subject.has_no_directive(whole) {
        return Err(subject.refuse(whole, Reason::Preprocessor));
    }
    let found = Pieces::of(subject)?;
    let pointer = &found.pointer;
    let at = parameters.iter().position(|own| own == pointer);
    let pointee = declared::plain_pointee(subject, pointer);
    let known = at
        .zip(pointee)
        .filter(|_| !subject.flow.takes_a_value(pointer));
    let range = || subject.refuse(head, Reason::Range(pointer.clone()));
    let (at, pointee) = known.ok_or_else(range)?;
    let direction = found.direction();
    let way = match direction {
        Direction::Read => subject.offers.way(found.accesses(), 0),
        Direction::Write => subject.offers.way(0, found.accesses()),
    };
    let way = way.ok_or_else(|| subject.refuse(head, Reason::Begin))?;
    others(subject, &found)?;
    Ok(Open {
        edits: edits(subject, &found)?,
        head: subject.at(head).trim_end().to_owned(),
        pointer: at,
        object: pointer.clone(),
        pointee,
        accesses: found.accesses(),
        direction,
        calls: found.calls(),
        checks: found.all_check(),
        some: found.some(subject),
        loops: has_loops(subject),
        stops: found.stops,
        keeps: found.keeps,
        skips: found.stops && acts(subject, &found),
        way,
        result: match parameters.iter().any(|own| own == "err") {
            true => "ret",
            false => "err",
        },
        parameters,
    })
}

/// Whether `int` or `long` is what the head says that it gives.
fn gives_int(subject: &Subject<'_>) -> bool {
    let all = subject.tokens(subject.function.header);
    let front = all.iter().filter(|token| token.is_code());
    let front = front.map(|token| subject.at(token.span));
    let front: Vec<String> = front
        .take_while(|word| *word != subject.function.name)
        .collect();
    let gives = |word: &String| matches!(word.as_str(), "int" | "long");
    let known = |word: &String| gives(word) || QUALIFIERS.contains(&word.as_str());
    front.last().is_some_and(gives) && front.iter().all(known)
}

fn has_loops(subject: &Subject<'_>) -> bool {
    let mut all = subject.flow.statements_in(subject.function.body);
    all.any(is_loop)
}

fn is_loop(own: &Statement) -> bool {
    matches!(own.kind, StatementKind::Loop | StatementKind::Do)
}

/// Whether something but accesses is done in it.
fn acts(subject: &Subject<'_>, found: &Pieces) -> bool {
    let mut all = subject.flow.statements_in(subject.function.body);
    all.any(|own| own.kind == StatementKind::Expression && !found.takes(own.span))
}

/// What is no access may happen in a window.
fn others(subject: &Subject<'_>, found: &Pieces) -> Result<(), Refusal> {
    let body = subject.function.body;
    for own in subject.flow.statements_in(body) {
        if !found.takes(own.span) {
            stays(subject, found, own)?;
        }
    }
    let mut from = body.start;
    let ends = found.spans().chain([Span::new(body.end, body.end)]);
    ends.into_iter().try_for_each(|taken| {
        let gap = Span::new(from, taken.start);
        from = taken.end;
        plain(subject, gap)
    })
}

fn stays(subject: &Subject<'_>, found: &Pieces, own: &Statement) -> Result<(), Refusal> {
    match own.kind {
        StatementKind::Scope | StatementKind::Side => Err(subject.refuse(own.span, Reason::Gap)),
        StatementKind::Goto if own.label.is_none() => Err(subject.refuse(own.span, Reason::Gap)),
        StatementKind::Return if own.expression.is_some_and(|at| found.gives_zero(at)) => Ok(()),
        StatementKind::Return => gives(subject, own),
        _ if is_loop(own) && !subject.open_over_rounds => {
            Err(subject.refuse(own.span, Reason::OpenOverRounds))
        }
        _ => Ok(()),
    }
}

/// What is returned is 0 or -EFAULT: a label stands for that alone.
fn gives(subject: &Subject<'_>, own: &Statement) -> Result<(), Refusal> {
    let value = own.expression.and_then(|at| subject.expression(at));
    let fits = value
        .as_ref()
        .is_some_and(|value| value.is_zero() || is_fault(value));
    match fits {
        true => Ok(()),
        false => Err(subject.refuse(own.span, Reason::Gives(subject.line(own.span)))),
    }
}

/// Whether a value is -EFAULT.
pub(super) fn is_fault(value: &tollgate_source::Expression) -> bool {
    match &value.term {
        Term::Unary(minus, error) => minus == "-" && error.name() == Some("EFAULT"),
        _ => false,
    }
}

/// What gives the function its new name and unsafe accesses.
fn edits(subject: &Subject<'_>, found: &Pieces) -> Result<Vec<Edit>, Refusal> {
    let (head, body) = (subject.function.header, subject.function.body);
    let ends = subject.flow.inside(body).last();
    if !ends.is_some_and(|own| subject.flow.leaves(own)) {
        let end = Span::new(body.end - 1, body.end);
        return Err(subject.refuse(end, Reason::Gives("nothing at its end".to_owned())));
    }
    let label = label(subject);
    let renamed = renamed(subject).ok_or_else(|| subject.refuse(head, Reason::NotStatic))?;
    let mut edits = vec![Edit::replace(
        Span::new(head.start, body.start),
        renamed + "\n",
    )];
    let inside = |piece: &Piece| Edit::replace(piece.span, written(subject, piece, &label));
    edits.extend(found.all.iter().map(inside));
    edits.extend(found.gone.iter().map(|place| Edit::replace(*place, "")));
    edits.extend(found.zeros.iter().map(|place| Edit::replace(*place, "0")));
    let close = subject.line_start(body.end - 1);
    edits.push(Edit::insert(
        close,
        format!("\n{label}:\n\treturn -EFAULT;\n"),
    ));
    Ok(edits)
}

fn label(subject: &Subject<'_>) -> String {
    let mut name = "efault".to_owned();
    while subject.flow.knows(&name) {
        name += "_";
    }
    name
}

/// The accesses of a statement, a line each, and what is behind them.
fn written(subject: &Subject<'_>, piece: &Piece, label: &str) -> String {
    let indent = subject.indent(piece.span.start);
    let columns = widest(&subject.at(subject.function.body));
    let argument = |place| tidy(&subject.line(place));
    let lines = piece.accesses.iter().map(|own| {
        let head = match own.direction {
            Direction::Read => "unsafe_get_user",
            Direction::Write => "unsafe_put_user",
        };
        let arguments = [&*argument(own.value), &*argument(own.address), label];
        call(columns, &indent, head, &arguments, ");")
    });
    let tail = piece.returns.then(|| format!("\n{indent}return 0;"));
    let all: Vec<String> = lines.chain(tail).collect();
    let all = all.join("\n");
    all.strip_prefix(&indent).unwrap_or(&all).to_owned()
}

/// The head with the new name, under which it is inlined wherever it is called.
fn renamed(subject: &Subject<'_>) -> Option<String> {
    let (head, name) = (subject.function.header, &subject.function.name);
    let code = subject.tokens(head).into_iter().filter(Token::is_code);
    let front = code.map(|token| subject.at(token.span));
    let front = front.take_while(|word| word != name);
    let front = front.filter(|word| !QUALIFIERS.contains(&word.as_str()));
    let front: Vec<String> = front.collect();
    let given = callers::given(subject.text, head, name)?;
    let given: Vec<String> = given.into_iter().map(|own| subject.line(own)).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let name = Names::of(name).inner;
    let front = format!("static __always_inline {} {name}", front.join(" "));
    Some(call(PREFERRED, "", &front, &given, ")"))
}
