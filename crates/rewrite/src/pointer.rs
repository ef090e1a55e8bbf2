//! The variable that a window's accesses go through, for the styles that give
//! it another value while the window is open.

use tollgate_source::{
    EffectKind, Expression, Reach, Site, Span, Step, StepKind, Term, Token, TokenKind, Type,
    is_qualifier, tokens,
};

use crate::layout::on_one_line;
use crate::plan::{Line, Plan, Subject};
use crate::range;
use crate::refusal::{Reason, Refusal};
use crate::zero;

/// What masking covers, in bytes: arch/x86/include/asm/uaccess_64.h relies on a
/// guard page behind the user addresses.
const PAGE: u64 = 4096;

/// Words between the stars of a declaration and its name.
const QUALIFIERS: [&[u8]; 3] = [b"const", b"__user", b"__restrict"];

/// A pointer variable of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// Its name.
    pub(crate) name: String,
    /// The words of its declaration before the first star.
    words: Vec<String>,
    /// How many stars there are.
    stars: usize,
}

/// Whether more is woven into the window than accesses of one place: a pointer
/// that moves, a condition, a way out of its own.
pub(crate) fn is_woven(subject: &Subject<'_>, plan: &Plan) -> bool {
    let objects = plan.run.objects();
    let object = objects.first().copied().unwrap_or_default();
    let flow = subject.flow;
    let moved = |step: &Step| {
        let mut effects = flow.effects_in(step.span);
        let written = |kind: &EffectKind| matches!(kind, EffectKind::Write(_));
        step.kind == StepKind::Plain
            && effects.any(|e| written(&e.kind) && flow.is_whole(e) && flow.name_of(e) == object)
    };
    let woven = |line: &Line| matches!(line, Line::When { .. } | Line::Leave(..));
    plan.advance.is_some() || plan.lines.iter().any(woven) || plan.run.steps.iter().any(moved)
}

impl Pointer {
    /// The variable that all accesses of the plan go through.
    pub(crate) fn of(subject: &Subject<'_>, plan: &Plan) -> Result<Self, Refusal> {
        if is_woven(subject, plan) {
            return Err(subject.refuse(plan.region, Reason::Shape(subject.styled.style)));
        }
        let name = on_one_line(plan.run.objects().first().unwrap_or(&""));
        let declared = declared(subject, &name);
        declared.ok_or_else(|| {
            let reason = Reason::Pointer(subject.styled.style, name);
            subject.refuse(plan.region, reason)
        })
    }

    /// Whether it points to const.
    pub(crate) fn is_const(&self) -> bool {
        self.words.iter().any(|word| word == "const")
    }

    /// The declaration of another variable of its type.
    pub(crate) fn declare(&self, name: &str) -> String {
        format!("{} {}{name};", self.words.join(" "), "*".repeat(self.stars))
    }

    /// What it points to, as a declaration has it.
    pub(crate) fn pointee(&self) -> String {
        if self.stars == 1 {
            self.words.join(" ")
        } else {
            "unsigned long".to_owned()
        }
    }
}

/// A pointer that is masked is not checked: an `access_ok()` that the window
/// takes the place of must not be what later accesses rely on, nor what keeps a
/// variable from being made zero.
pub(crate) fn spares_check(subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
    let behind = Span::new(plan.region.end, subject.function.body.end);
    let unchecked = subject.vocabulary.unchecked().iter();
    let calls = unchecked.filter_map(|name| subject.flow.calls_to(behind, name));
    if let Some(call) = calls.min().filter(|_| plan.absorbs) {
        return Err(subject.refuse(call, Reason::Unchecked));
    }
    match zero::inside(plan).filter(|_| plan.absorbs) {
        Some(variable) => Err(subject.refuse(plan.region, Reason::LeftAlone(variable.to_owned()))),
        None => Ok(()),
    }
}

/// The plan with the whole of what the pointer points to as its range, which is
/// the only one that a style can take that gives the pointer another value.
pub(crate) fn whole(
    subject: &Subject<'_>,
    mut plan: Plan,
    pointer: &Pointer,
) -> Result<Plan, Refusal> {
    if plan.chained.is_some() {
        return Err(subject.refuse(plan.region, Reason::Shape(subject.styled.style)));
    }
    if plan.object != pointer.name {
        (plan.object, plan.size) = range::of_object(subject, &plan.run, &pointer.name)?;
    }
    Ok(plan)
}

/// Masking covers the accesses: all of the object lies within a page, and its
/// members are accessed in the order of their addresses.
pub(crate) fn dense(subject: &Subject<'_>, plan: &Plan, pointer: &Pointer) -> Result<(), Refusal> {
    let unknown = |error| subject.refuse(plan.region, Reason::Layout(error));
    let types = subject.styled.types;
    let of = types.layout(&pointer.pointee()).map_err(unknown)?;
    let mut last = 0;
    let mut end = of.size;
    for site in &plan.run.sites {
        let at = offset(subject, site, pointer, &of)?;
        let address = subject.line(site.address);
        if at < last {
            return Err(subject.refuse(site.span, Reason::Order(address)));
        }
        last = at;
        if let Reach::Element(index) = site.reach {
            end = end.max(of.size.saturating_mul(u64::from(index) + 1));
        }
    }
    if end > PAGE {
        let object = format!("*{}", pointer.name);
        return Err(subject.refuse(plan.region, Reason::Large(object, end)));
    }
    Ok(())
}

fn offset(
    subject: &Subject<'_>,
    site: &Site,
    pointer: &Pointer,
    of: &Type,
) -> Result<u64, Refusal> {
    match site.reach {
        Reach::Whole => return Ok(0),
        Reach::Element(index) => return Ok(of.size.saturating_mul(u64::from(index))),
        Reach::Field | Reach::Computed => {}
    }
    let unknown = |error| subject.refuse(site.span, Reason::Layout(error));
    match path(subject, site, &pointer.name) {
        Some(path) => of.at(&joined(&path)).map(|(at, _)| at).map_err(unknown),
        None => Err(subject.refuse(site.span, Reason::Range(subject.line(site.address)))),
    }
}

/// A member on the way from an object to a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name.
    name: String,
    /// The index into it, if it is an array.
    pub(crate) index: Option<String>,
}

/// `a`, `b` of an access to `&object->a.b`, where every index is a number or a name.
pub(crate) fn path(subject: &Subject<'_>, site: &Site, object: &str) -> Option<Vec<Member>> {
    let address = subject.expression(site.address)?;
    let Term::Address(place) = &address.term else {
        return None;
    };
    members(place, &subject.written(object)?)
}

fn members(place: &Expression, object: &Expression) -> Option<Vec<Member>> {
    match &place.term {
        Term::Member {
            holder,
            arrow,
            field,
        } => {
            let own = *arrow && **holder == *object;
            let mut path = match own {
                true => Vec::new(),
                false => members(holder, object).filter(|_| !arrow)?,
            };
            path.push(Member {
                name: field.clone(),
                index: None,
            });
            Some(path)
        }
        Term::Element { array, index } => {
            let mut path = members(array, object)?;
            let last = path.last_mut().filter(|last| last.index.is_none())?;
            last.index = match &index.term {
                Term::Name(index) | Term::Number(index) => Some(index.clone()),
                _ => return None,
            };
            Some(path)
        }
        _ => None,
    }
}

/// `a[1].b`
pub(crate) fn joined(path: &[Member]) -> String {
    let words = path.iter().map(|member| match &member.index {
        Some(index) => format!("{}[{index}]", member.name),
        None => member.name.clone(),
    });
    words.collect::<Vec<_>>().join(".")
}

/// What a variable of the function points to, as its declaration has it.
pub(crate) fn pointee(subject: &Subject<'_>, name: &str) -> Option<String> {
    declared(subject, name).map(|pointer| pointer.pointee())
}

/// The same without qualifiers and annotations.
pub(crate) fn base(subject: &Subject<'_>, name: &str) -> Option<String> {
    let pointer = declared(subject, name)?;
    let words = pointer.words.iter().map(String::as_str);
    let plain = words.filter(|word| !is_qualifier(word.as_bytes()));
    Some(plain.collect::<Vec<_>>().join(" "))
}

/// The declaration of a parameter or a local variable.
fn declared(subject: &Subject<'_>, name: &str) -> Option<Pointer> {
    let local = subject.flow.locals.iter().any(|l| l.name == name);
    let place = if local {
        subject.function.body
    } else {
        subject.function.header
    };
    let upto = subject.text.get(..place.end).unwrap_or_default();
    let code: Vec<Token> = tokens(upto, place.start)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let is_name = |at: &usize| {
        let token = code.get(*at);
        token.is_some_and(|token| token.span.of(subject.text) == name.as_bytes())
    };
    let mut mentions = (0..code.len()).filter(is_name);
    mentions.find_map(|at| declaration(subject, &code, at, name))
}

/// What is declared at a mention of the name, if that is a declaration.
fn declaration(subject: &Subject<'_>, code: &[Token], at: usize, name: &str) -> Option<Pointer> {
    let word = |at: usize| {
        code.get(at)
            .map(|t| t.span.of(subject.text))
            .unwrap_or_default()
    };
    let is = |at: usize, byte| code.get(at).is_some_and(|t| t.is(byte));
    let mut front = at.checked_sub(1)?;
    // SYSCALL_DEFINE1(name, type, variable)
    if is(front, b',') {
        front = front.checked_sub(1)?;
    }
    let mut stars = 0;
    while is(front, b'*') || QUALIFIERS.contains(&word(front)) {
        stars += usize::from(is(front, b'*'));
        front = front.checked_sub(1)?;
        if stars == 0 && !is(front, b'*') && !QUALIFIERS.contains(&word(front)) {
            return None;
        }
    }
    let parameter = code
        .last()
        .is_some_and(|last| last.span.end <= subject.function.header.end);
    let begins = |at: usize| {
        let between = [b';', b'{', b'}', b'('].iter().any(|b| is(at, *b));
        between || parameter && is(at, b',')
    };
    let mut start = front + 1;
    while let Some(before) = start.checked_sub(1).filter(|before| !begins(*before)) {
        start = before;
    }
    let star = (start..at).find(|at| is(*at, b'*'))?;
    let words: Vec<String> = (start..star)
        .filter(|at| code.get(*at).is_some_and(|t| t.kind == TokenKind::Word))
        .map(|at| String::from_utf8_lossy(word(at)).into_owned())
        .collect();
    (stars > 0 && !words.is_empty()).then(|| Pointer {
        name: name.to_owned(),
        words,
        stars,
    })
}

/// Where declarations of the function may be put: behind its opening brace, and
/// whether other declarations follow there.
pub(crate) fn declarations(subject: &Subject<'_>) -> (usize, bool) {
    let body = subject.function.body;
    let upto = subject.text.get(..body.end).unwrap_or_default();
    let first = tokens(upto, body.start + 1)
        .into_iter()
        .find(Token::is_code);
    let first = first.map_or_else(String::new, |token| subject.at(token.span));
    let begins = |base: &str| base.split(' ').next() == Some(first.as_str());
    let mut locals = subject.flow.locals.iter();
    let declared = locals.any(|local| local.scope == body && begins(&local.base_type))
        || matches!(first.as_str(), "const" | "static" | "volatile" | "unsigned");
    (body.start + 1, declared)
}

/// The text that declares variables behind the function's opening brace.
pub(crate) fn declaring(lines: &[String], followed: bool) -> String {
    let lines: String = lines.iter().map(|line| format!("\n\t{line}")).collect();
    if followed { lines } else { lines + "\n" }
}

/// A name that the function does not have: `base`, or with a number.
pub(crate) fn free_name(subject: &Subject<'_>, base: &str, taken: &[String]) -> String {
    let is_taken = |name: &str| subject.flow.knows(name) || taken.iter().any(|have| have == name);
    let numbered = (2u32..).map(|number| format!("{base}{number}"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    names
        .find(|name| !is_taken(name))
        .unwrap_or_else(|| base.to_owned())
}

/// Whether the pointer is looked at again, or on the way out of a fault.
pub(crate) fn used_again(subject: &Subject<'_>, plan: &Plan, name: &str) -> bool {
    let kept = plan
        .behind
        .is_some_and(|part| subject.flow.names(part, name));
    kept || plan.fault.names(subject, name)
        || !plan.fault.leaves_dead(subject, name, plan.region)
        || !subject.flow.is_dead(name, plan.region)
}
