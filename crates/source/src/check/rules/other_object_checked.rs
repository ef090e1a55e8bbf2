use crate::check::accesses::Access;
use crate::check::checked_less;
use crate::check::checked_other;
use crate::check::checked_short::checked_short;
use crate::check::context::FunctionContext;
use crate::check::counting;
use crate::check::extent;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::moved::{self, Checked};
use crate::check::range::{declared_type, is_picked, is_related};
use crate::check::range_check::{Check, checks};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::expression::{Expression, Term};
use crate::flow::Effect;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "other-object-checked",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a range check of one object, or of fewer bytes, before an access that does not check",
    why: "__put_user(), __copy_to_user() and the like check nothing. What access_ok() has not seen may be \
          the kernel's own memory.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let checks = checks(function);
    if checks.is_empty() {
        return;
    }
    let all = function.accesses;
    let mut told: Vec<&str> = Vec::new();
    for access in all {
        let unchecked = !access.word.checked && !access.inside;
        if !unchecked || told.contains(&access.user_root.as_str()) {
            continue;
        }
        let root = &access.user_root;
        let all: Vec<&Check> = checks.iter().filter(|check| check.root == *root).collect();
        let own = in_front(function, &all, access);
        let wrong = match own.as_slice() {
            [] if all.is_empty() => other(function, &checks, access, root).or_else(|| {
                checks
                    .iter()
                    .find_map(|check| Some((check, in_front_of(function, access, check)?)))
            }),
            [check] => of_one(function, access, check).map(|message| (*check, message)),
            _ => None,
        };
        let wrong = wrong.or_else(|| another_member(function, access, &all));
        if let Some((check, message)) = wrong {
            told.push(root);
            out.push(violation(function, access, check, message));
        }
    }
    let others = checks
        .iter()
        .filter(|check| !told.contains(&check.root.as_str()));
    out.extend(others.filter_map(|check| {
        counted(function, check)
            .or_else(|| smaller(function, check))
            .or_else(|| handed_beside(function, &checks, check))
    }));
}

/// A check of a member alone, and another one that a function of the file accesses, which checks
/// nothing.
fn handed_beside(
    function: &FunctionContext<'_>,
    checks: &[Check],
    check: &Check,
) -> Option<Violation> {
    let mut others = checks.iter().filter(|own| own.root == check.root);
    let only = others.next().is_some() && others.next().is_none();
    let own = checked_less::handed_beside(function, check).filter(|_| only)?;
    let file = function.file;
    let (checked, given) = (file.plain(check.address.span), file.plain(own.given));
    let message = format!(
        "{}() checks {checked} alone, and {}() accesses {given} and checks nothing",
        check.name, own.name
    );
    let mut violation = file.violation(&INFO, own.call, "not checked", message);
    violation
        .related
        .push(file.mark(check.place, "checks this"));
    Some(violation)
}

/// So many checks of one pointer are told apart: each takes as long as the function is large.
const SEVERAL: usize = 8;

/// Those of several checks from which a way leads to an access.
fn in_front<'c>(
    function: &FunctionContext<'_>,
    all: &[&'c Check],
    access: &Access<'_>,
) -> Vec<&'c Check> {
    if !(2..=SEVERAL).contains(&all.len()) {
        return all.to_vec();
    }
    let leads = |own: &&&Check| function.leads(own.place, access.span);
    all.iter().filter(leads).copied().collect()
}

/// What is wrong with the only check before an access.
fn of_one(function: &FunctionContext<'_>, access: &Access<'_>, check: &Check) -> Option<String> {
    fewer(access, check)
        .or_else(|| behind(function, access, check))
        .or_else(|| another(function, access, check))
        .or_else(|| beside(function, access, check))
        .or_else(|| moved_over(function, access, check))
        .or_else(|| moved_on(function, access, check))
        .or_else(|| short(function, access, check))
        .or_else(|| in_front_of(function, access, check))
        .or_else(|| one_for_all(function, access, check))
        .or_else(|| no_least(function, access, check))
        .or_else(|| of_another_size(function, access, check))
}

/// A check of another number of bytes, or of as many from another place on.
fn of_another_size(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
) -> Option<String> {
    let checked = checked_other::Checked {
        place: check.place,
        address: &check.address,
        size: check.size.as_ref()?,
    };
    let own = checked_other::told(function, access, &checked)?;
    Some(format!(
        "{}() checks {} bytes of {}, and {}() {own}",
        check.name,
        function.file.plain(checked.size.span),
        function.file.plain(check.address.span),
        access.word.name
    ))
}

/// A check of what lies behind the access.
fn in_front_of(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
) -> Option<String> {
    let by = checked_less::in_front_of(function, access, check)?;
    let file = function.file;
    Some(format!(
        "{}() checks what lies behind {}, and {}() accesses what lies {} in front of that",
        check.name,
        file.plain(check.address.span),
        access.word.name,
        file.plain(by)
    ))
}

/// A check of so many bytes, and an access to as many elements as a loop goes through.
fn one_for_all(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
) -> Option<String> {
    let own = checked_less::one_for_all(function, access, check)?;
    Some(format!(
        "{}() checks {} bytes of {}, and {}() accesses as many elements as {} says",
        check.name,
        own.checked,
        check.root,
        access.word.name,
        function.file.plain(own.count)
    ))
}

/// A check of as many bytes as the program says, which may be fewer than are accessed.
fn no_least(function: &FunctionContext<'_>, access: &Access<'_>, check: &Check) -> Option<String> {
    let number = checked_less::no_least(function, access, check)?;
    Some(format!(
        "{}() checks as many bytes as {} says, which is the user's, and nothing asks whether that is as many as \
         {}() accesses",
        check.name,
        function.file.plain(number),
        access.word.name
    ))
}

/// An access to where one member leads, where those to which others of the same object lead were
/// checked, which is the kernel's own.
fn another_member<'c>(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    checks: &[&'c Check],
) -> Option<(&'c Check, String)> {
    let check = *checks.first()?;
    let own = access.address.uncast().1;
    let holder = holder(own)?;
    let apart = checks.iter().all(|check| {
        let other = check.address.uncast().1;
        other != own && self::holder(other) == Some(holder)
    });
    (apart && is_kernels(function, holder) && !is_handed(function, own, access.span)).then(|| {
        let file = function.file;
        let (own, other) = (file.plain(own.span), file.plain(check.address.span));
        let message = format!(
            "nothing checks the range of {own}, and {}() checks that of {other}",
            check.name
        );
        (check, message)
    })
}

/// `o` of `o->m`, whose value is an address.
fn holder(of: &Expression) -> Option<&Expression> {
    match &of.term {
        Term::Member { holder, .. } => Some(holder),
        _ => None,
    }
}

fn is_kernels(function: &FunctionContext<'_>, holder: &Expression) -> bool {
    let declared = space::type_of(function, holder).is_some();
    declared && !space::is_users(function, holder)
}

/// Whether a call before an access is given an address, and may check it.
fn is_handed(function: &FunctionContext<'_>, address: &Expression, access: Span) -> bool {
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let place = span(*call);
        let mut all = function.accesses.iter();
        let before = place.end <= access.start && !all.any(|own| own.span == place);
        let own = before.then(|| function.expression_of(*call));
        own.is_some_and(|own| match &own.term {
            Term::Call(_, given) => given.iter().any(|own| own.any(&|part| part == address)),
            _ => false,
        })
    })
}

/// A check of as many bytes as a number says, before a loop that goes on from there.
fn moved_on(function: &FunctionContext<'_>, access: &Access<'_>, check: &Check) -> Option<String> {
    let size = check.size.as_ref().filter(|_| check.plain)?;
    let checked = Checked {
        nodes: function.graph.nodes_in(check.place).collect(),
        root: &check.root,
        size,
    };
    let step = moved::round_by_round(function, &checked, &access.address, access.span)?;
    let file = function.file;
    Some(format!(
        "{}() checks {} bytes of {} once, which each round of the loop moves on: {}",
        check.name,
        file.plain(size.span),
        check.root,
        file.plain(step)
    ))
}

/// An access that goes on behind what the check has seen, where both are known.
fn short(function: &FunctionContext<'_>, access: &Access<'_>, check: &Check) -> Option<String> {
    let own = checked_short(function, access, check.place)?;
    let (name, root) = (&access.word.name, &access.user_root);
    Some(format!(
        "{name}() ends {} bytes behind {root}, and {}() has checked {}",
        own.end, check.name, own.checked
    ))
}

/// A check of as many bytes as another structure has than the one that the pointer leads to, where
/// that one is larger.
fn smaller(function: &FunctionContext<'_>, check: &Check) -> Option<Violation> {
    let size = check.size.as_ref().filter(|_| check.plain)?.uncast().1;
    let other = match &size.term {
        Term::SizeOfType(of) if of.pointers == 0 && of.dimensions.is_empty() => of.base.clone(),
        Term::SizeOf(of) => match &of.term {
            Term::Behind(pointer) => space::pointee(function, pointer)?,
            _ => return None,
        },
        _ => return None,
    };
    let own = space::pointee(function, &check.address)?;
    if own == other || !own.starts_with(STRUCTURE) || !other.starts_with(STRUCTURE) {
        return None;
    }
    let bytes = |of: &str| Some(function.file.layout(of)?.size);
    let (has, asked) = (bytes(&own)?, bytes(&other)?);
    (asked < has).then(|| {
        let message = format!(
            "{}() checks the {asked} bytes of {other}, and {} leads to {own}, which has {has}",
            check.name, check.root
        );
        let file = function.file;
        file.violation(&INFO, check.place, "fewer than it has", message)
    })
}

/// How a type begins that has members.
const STRUCTURE: &str = "struct ";

fn violation(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
    message: String,
) -> Violation {
    let file = function.file;
    let mut violation = file.violation(&INFO, access.span, "not checked", message);
    violation
        .related
        .push(file.mark(check.place, "checks this"));
    violation
}

/// A check of as many bytes as there are elements.
fn counted(function: &FunctionContext<'_>, check: &Check) -> Option<Violation> {
    let count = check.size.as_ref()?.name().filter(|_| check.plain)?;
    counting::is_of_elements(function, count, &check.root).then(|| {
        let message = format!(
            "{}() is given {count} as a number of bytes, and that is how many elements of {} \
             there are",
            check.name, check.root
        );
        let file = function.file;
        file.violation(&INFO, check.place, "checks too little", message)
    })
}

/// A check of an object that nothing accesses behind it, where nothing checks the one that
/// is accessed there: both are pointers to user memory that have nothing to do with each other.
fn other<'c>(
    function: &FunctionContext<'_>,
    checks: &'c [Check],
    access: &Access<'_>,
    root: &str,
) -> Option<(&'c Check, String)> {
    let declared = |name: &str| declared_type(function, name).is_some();
    let related = |check: &Check| is_related(function, &check.root, root);
    let idle = |check: &'c Check| {
        let place = idle(function, check, access.span).filter(|_| declared(&check.root))?;
        (!related(check)).then_some((check, place))
    };
    let (check, place) = checks.iter().find_map(idle).filter(|_| declared(root))?;
    let message = format!(
        "nothing checks the range of {root}; {}() checks {}, which nothing {place} accesses",
        check.name, check.root
    );
    Some((check, message))
}

/// Where nothing needs what a check asked: no code of the function names the pointer, or none
/// that comes behind the check, as the access does.
fn idle(function: &FunctionContext<'_>, check: &Check, access: Span) -> Option<&'static str> {
    let named = |read: &&Effect| !check.place.contains(read.span);
    let named = function.reads(&check.root).filter(named);
    let named: Vec<Span> = named.map(|own| own.span).collect();
    let mut accesses = function.accesses.iter();
    if named.is_empty() && !accesses.any(|own| own.user_root == check.root) {
        return Some("here");
    }
    let graph = function.graph;
    let holds = |place: Span, at: usize| {
        let mut effects = graph.effects_of(at).iter();
        effects.any(|own| place.contains(own.span))
    };
    let nodes = 0..graph.nodes.len();
    let checks = nodes.filter(|at| holds(check.place, *at));
    let behind = graph.reached_behind_any(checks, |_| false);
    let mut effects = behind.iter().flat_map(|at| graph.effects_of(*at));
    let leads = || behind.iter().any(|at| holds(access, *at));
    (leads() && !effects.any(|own| named.contains(&own.span))).then_some("behind that")
}

/// A check of fewer bytes than those up to the end of the access, by the types of the
/// tree, where the pointer stays as it is.
fn behind(function: &FunctionContext<'_>, access: &Access<'_>, check: &Check) -> Option<String> {
    check.plain.then_some(())?;
    let root = function.is_parameter(&check.root);
    let stays = !root || !function.graph.takes_a_value(&check.root);
    let checked = extent::bytes(function, check.size.as_ref()?).filter(|_| stays)?;
    let count = access.bytes.as_ref();
    let count = count.map(|count| extent::bytes(function, count));
    let address = function.expression(access.user)?;
    let touched = extent::touched(function, &address, &check.root, count)?;
    (touched.end > checked).then(|| {
        format!(
            "{}() checks {checked} bytes, and {}() ends {} bytes behind {}",
            check.name, access.word.name, touched.end, check.root
        )
    })
}

/// A check of a member, and an access to another one of the same object.
fn beside(function: &FunctionContext<'_>, access: &Access<'_>, check: &Check) -> Option<String> {
    let member =
        matches!(&check.address.term, Term::Address(of) if matches!(of.term, Term::Member { .. }));
    let kept = member
        && (!function.is_parameter(&check.root) || !function.graph.takes_a_value(&check.root));
    let size = extent::bytes(function, check.size.as_ref()?).filter(|_| kept)?;
    let checked = extent::touched(function, &check.address, &check.root, Some(Some(size)))?;
    let count = access.bytes.as_ref();
    let count = count.map(|count| extent::bytes(function, count));
    let address = function.expression(access.user)?;
    let touched = extent::touched(function, &address, &check.root, count)?;
    (touched.start < checked.start || touched.end > checked.end).then(|| {
        format!(
            "{}() checks {} alone, and {}() accesses what lies {} bytes behind {}",
            check.name,
            function.file.plain(check.address.span),
            access.word.name,
            touched.start,
            check.root
        )
    })
}

/// A check of one element, and an access to one that is picked.
fn another(function: &FunctionContext<'_>, access: &Access<'_>, check: &Check) -> Option<String> {
    let picked = check.plain && is_picked(access.address.uncast().1, &check.root);
    let size = check.size.as_ref().filter(|_| picked)?;
    let element = extent::element(function, &check.root).filter(|size| *size > 1)?;
    (extent::bytes(function, size) == Some(element)).then(|| {
        format!(
            "{}() checks one element of {}, and {}() may access another",
            check.name, check.root, access.word.name
        )
    })
}

/// A check of what the pointer pointed to before it was moved behind all of that.
fn moved_over(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
) -> Option<String> {
    let size = check.size.as_ref().filter(|_| check.plain)?;
    let checked = Checked {
        nodes: function.graph.nodes_in(check.place).collect(),
        root: &check.root,
        size,
    };
    let by = moved::over(function, &checked, &access.address, access.span)?;
    let by = function.file.plain(by.span);
    Some(format!(
        "{}() checks what lies in front of the {by} elements that {} has moved by",
        check.name, check.root
    ))
}

/// `access_ok(p, n)` before a copy of `n * size` bytes.
fn fewer(access: &Access<'_>, check: &Check) -> Option<String> {
    let (size, count) = (check.size.as_ref()?, access.bytes.as_ref()?);
    let Term::Binary(left, operator, right) = &count.term else {
        return None;
    };
    let times = operator == "*" && (**left == *size || **right == *size);
    let unit = |own: &Expression| matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_));
    (times && (unit(left) || unit(right))).then(|| {
        format!(
            "{}() checks as many bytes as {}() copies elements",
            check.name, access.word.name
        )
    })
}
