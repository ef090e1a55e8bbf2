use std::cell::OnceCell;

use tree_sitter::Node;

use crate::check::as_pages::{AsPages, as_pages};
use crate::check::as_truth::as_truths;
use crate::check::carried::{
    assigned, given, given_back, handed_on, is_asked_for_errors, takes_errors,
};
use crate::check::consumed::{Consumed, consumed};
use crate::check::context::FunctionContext;
use crate::check::errno_index::{ByError, by_errors};
use crate::check::error_as_length::{AsLength, as_lengths};
use crate::check::errors_of_others::hands_errors_on;
use crate::check::fate::is_error;
use crate::check::handed_on::{Way, goes_on, to_errors};
use crate::check::known::Told;
use crate::check::left_counted::left_counted;
use crate::check::length_refused::{Refused, refused};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::never_negative::{Lost, lost};
use crate::check::part::{self, TakenOff};
use crate::check::plain_results::plainly;
use crate::check::result_test::{Test, is_asked, tested};
use crate::check::rule::{Look, Rule};
use crate::check::scanned::{Scanned, scanned};
use crate::check::short_pins::{ShortPins, short_pins};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

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

/// A variable that a text may have had nothing for.
fn unset(function: &FunctionContext<'_>, own: &Scanned) -> Violation {
    let file = function.file;
    let told = format!(
        "{} may be set to nothing where the text has no more than {} of {}, which is not refused",
        own.unset, own.least, own.all
    );
    let mut violation = file.violation(&INFO, own.call, "of which not all is asked for", told);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.used, "used here"));
    violation
}

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
    let truths = as_truths(function).into_iter();
    out.extend(truths.map(|value| true_error(function, value)));
    out.extend(lost(function).iter().map(|own| unsigned(function, own)));
    out.extend(by_errors(function).iter().map(|own| index(function, own)));
    out.extend(as_lengths(function).iter().map(|own| length(function, own)));
    out.extend(
        consumed(function)
            .iter()
            .map(|own| all_taken(function, own)),
    );
    out.extend(short_pins(function).iter().map(|own| fewer(function, own)));
    out.extend(as_pages(function).iter().map(|own| none(function, own)));
    let strings = refused(function).into_iter();
    out.extend(strings.map(|own| no_string(function, &own)));
    for call in function.calls {
        out.extend(scanned(function, *call).map(|own| unset(function, &own)));
    }
    let tests = OnceCell::new();
    let mut told = Vec::new();
    out.extend(of_constants(function, &tests));
    for giver in givers(function) {
        // What a function of the file hands on is said of it, but where a choice does.
        let said = || function.hands_left(&giver.name) || is_chosen(giver.node);
        if matches!(giver.told, Told::Left | Told::LeftOrError) && said() {
            out.extend(returned(function, &giver));
        }
        if giver.told == Told::Left {
            out.extend(in_part(function, &giver));
            out.extend(taken_off(function, &giver));
            out.extend(counted(function, &giver));
        }
        if matches!(giver.told, Told::Copied | Told::Signed) {
            out.extend(short(function, &giver));
        }
        if !matches!(giver.told, Told::LeftOrError | Told::Signed) {
            // The calls of two arms may have one test.
            let test = tested(function, (giver.node, giver.told), &tests);
            let test = test.filter(|test| !told.contains(test));
            told.extend(test);
            out.extend(test.map(|test| asked(function, &giver, test)));
        }
    }
}

/// Tests of what functions of the file give that access nothing.
fn of_constants(function: &FunctionContext<'_>, tests: &OnceCell<Vec<Test>>) -> Vec<Violation> {
    let others = function.calls.iter().filter_map(|call| {
        let name = function.callee(*call)?;
        let by = |told| tested(function, (*call, told), tests);
        function.told(name).is_none().then_some(())?;
        // What stands there comes before what the other function does.
        let test = by(Told::Error).or_else(|| by(Told::Truth))?;
        let told = plainly(function, name)?;
        let giver = Giver {
            node: *call,
            span: span(*call),
            name: name.to_owned(),
            told,
        };
        (by(told) == Some(test)).then(|| asked(function, &giver, test))
    });
    others.collect()
}

/// An error number where a bool is given: it is true.
fn true_error(function: &FunctionContext<'_>, value: Span) -> Violation {
    let file = function.file;
    let (name, own) = (&function.body.name, file.plain(value));
    let told = format!("{name}() gives a bool, in which {own} is true as success may be");
    let mut violation = file.violation(&INFO, value, "true", told);
    violation.confidence = Confidence::Medium;
    violation
}

/// An error number that something is moved by.
fn length(function: &FunctionContext<'_>, own: &AsLength) -> Violation {
    let file = function.file;
    let message = format!(
        "{} may hold an error number here, which is taken for how many bytes there are",
        own.variable
    );
    let mut violation = file.violation(&INFO, own.moved, "moved by an error number", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.taken, "taken here"));
    violation
}

/// A test that refuses each string but the one without a character.
fn no_string(function: &FunctionContext<'_>, own: &Refused) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() gives how long the string is, and wherever that is not 0 it counts as an error",
        own.name
    );
    let mut violation = file.violation(&INFO, own.test, "refuses every string", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.call, "the length"));
    violation
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
        Told::Copied | Told::Signed => ("how many bytes were copied", "negative"),
        Told::Length => ("how long the string is, and 0 where it faults", "negative"),
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
    let kept = || {
        let variable = bare(assigned(function, giver.node)?);
        part::only_whole(function, &function.context.written(variable), giver.span)
    };
    let test = part::compared_whole(function, giver.node).or_else(kept)?;
    let what = "a part was left, as much counts as copied as was asked for";
    Some(half_asked(function, giver, test, what))
}

/// What was copied is asked for nothing but whether it is anything: the same.
fn short(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Violation> {
    let kept = || {
        let variable = bare(assigned(function, giver.node)?);
        part::only_any(function, &function.context.written(variable), giver.node)
    };
    let test = part::asked_for_any(function, giver.node).or_else(kept)?;
    let what = "a part was copied, the rest is used as well";
    Some(half_asked(function, giver, test, what))
}

/// A copy that may have ended in the middle, which its only test does not ask.
fn half_asked(
    function: &FunctionContext<'_>,
    giver: &Giver<'_>,
    test: Span,
    what: &str,
) -> Violation {
    let file = function.file;
    let message = format!(
        "nothing asks {}() for less than all: where {what}",
        giver.name
    );
    let mut violation = file.violation(&INFO, giver.span, "may be copied in part", message);
    violation
        .related
        .push(file.mark(test, "only this is asked"));
    violation.confidence = Confidence::Medium;
    violation
}

/// What was left is taken off a number that goes on as it is: where nothing could be copied, it
/// is 0.
fn taken_off(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Violation> {
    let name = &giver.name;
    let found = part::taken_off(function, giver.node)?;
    let message = match &found {
        TakenOff::Goes(number) => format!(
            "what {name}() left is taken off {number}, and nothing asks whether anything is left of that: a fault is \
             taken for no bytes"
        ),
        TakenOff::Answered => format!(
            "a program is given what {name}() did not leave: where nothing could be copied that is 0, and no \
             error"
        ),
        TakenOff::Endless { variable, .. } => format!(
            "what {name}() left is taken off {variable}, by which alone the loop goes on: where nothing can be \
             copied it never ends"
        ),
    };
    let file = function.file;
    let mut violation = file.violation(&INFO, giver.span, "a fault goes unseen", message);
    if let TakenOff::Endless { round, .. } = found {
        violation.related.push(file.mark(round, "this loop"));
    }
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// What was left counts as what was copied.
fn counted(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Violation> {
    let own = left_counted(function, giver.node)?;
    let file = function.file;
    let message = format!(
        "{}() gives how many bytes were left, and {} counts them as copied: where all went well that is 0",
        giver.name,
        file.plain(own.what)
    );
    let mut violation = file.violation(&INFO, own.counted, "by what was left", message);
    if !own.counted.contains(giver.span) {
        violation
            .related
            .push(file.mark(giver.span, "what was left"));
    }
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// A function that gives error numbers elsewhere gives the bytes that were left.
fn returned(function: &FunctionContext<'_>, giver: &Giver<'_>) -> Option<Violation> {
    let carried = handed_on(function, giver.node);
    let near = given_back(function, giver.node).or_else(|| {
        let own = carried.as_ref().filter(|_| is_all(function, giver));
        own.map(|own| own.at)
    });
    let gives = near.or(carried.as_ref().map(|_| giver.span))?;
    let is_static = function.file.is_declared(function.body, b"static");
    let mut returns = function.graph.statements.iter().filter_map(given);
    let own = returns.any(|given| function.expression(given).is_some_and(|own| is_error(&own)))
        || carried.iter().flat_map(|own| &own.places).any(|place| {
            takes_errors(function, *place) || is_asked_for_errors(function, *place, giver.span)
        })
        // Callers may ask for no more than whether it is 0.
        || hands_errors_on(function, giver.span) && goes_on(function);
    let answers = function.file.answers_a_program(function.body);
    let whose = match own {
        false if answers => "a program is given that for an answer".to_owned(),
        true => "the function gives error numbers elsewhere".to_owned(),
        // What goes a longer way may be one of two things that a caller tells apart, who
        // keeps it or is in another file.
        false if near.is_none() && !is_static => return None,
        false => {
            let way = match near {
                Some(_) => Way::Kept,
                None => Way::AtOnce,
            };
            let caller = to_errors(function, way)?;
            format!("{}(), which hands it on, gives error numbers", caller.name)
        }
    };
    // What keeps it for others may be there for that.
    if near.is_none() && carried.as_ref().is_some_and(|kept| kept.stored) && !own {
        return None;
    }
    let name = &giver.name;
    let message = format!("{name}() gives how many bytes were left, and {whose}");
    let file = function.file;
    let mut violation = file.violation(&INFO, gives, "no error number", message);
    if let Some(own) = carried.filter(|_| near.is_none()) {
        let how = match own.stored {
            true => "kept here",
            false => "returned here",
        };
        violation.related.push(file.mark(own.at, how));
    }
    violation.confidence = match goes_on(function) {
        true => Confidence::Medium,
        false => Confidence::Low,
    };
    Some(violation)
}

/// Whether a call is what an expression chooses.
fn is_chosen(call: Node<'_>) -> bool {
    call.parent()
        .is_some_and(|holder| holder.known_kind() == "conditional_expression")
}

/// Whether what the call gave is all that a variable of the function ever takes.
fn is_all(function: &FunctionContext<'_>, giver: &Giver<'_>) -> bool {
    let name = assigned(function, giver.node).map(|own| function.context.written(bare(own)));
    let value = name.and_then(|name| function.graph.only_value(&name));
    value == Some(giver.span)
}

/// As many pages as were asked for, where fewer may have been found.
fn fewer(function: &FunctionContext<'_>, own: &ShortPins) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() may find fewer pages than it is asked for, and {}, which says how many, is asked for nothing but an error",
        own.by, own.told
    );
    let mut violation = file.violation(&INFO, own.kept, "as many as were asked for", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.found, "found here"));
    violation
}

/// An error number that counts as pages.
fn none(function: &FunctionContext<'_>, own: &AsPages) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() gives an error number where it fails, and nothing asks more of that than whether it is 0: it counts as pages",
        own.by
    );
    let mut violation = file.violation(&INFO, own.test, "an error number passes", message);
    if !own.test.contains(own.found) {
        violation.related.push(file.mark(own.found, "found here"));
    }
    violation.confidence = Confidence::Medium;
    violation
}

/// All of what a program gave, where a call has said how much it took.
fn all_taken(function: &FunctionContext<'_>, own: &Consumed) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() takes no more of {} than {} says, which is asked for nothing but an error: the rest is lost",
        own.by, own.whole, own.told
    );
    let mut violation = file.violation(&INFO, own.place, "all of it is told", message);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(own.took, "takes some of it"));
    violation
}
