use crate::check::context::FunctionContext;
use crate::check::known::Fails;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::StatementKind;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "error-pointer",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "what memdup_user() gives is not asked for an error, or is compared with NULL",
    why: "memdup_user(), strndup_user() and the like give an error number as a pointer where the copy faults \
          or memory is short, never NULL. IS_ERR() tells it; any other test takes it for an address.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for call in function.calls {
        let whole = Expression::of(function.context, *call);
        let name = whole.call().map(|(name, _)| name.to_owned());
        let gives = name.and_then(|name| Some((function.fails(&name)?, name)));
        let target = gives.and_then(|gives| Some((gives, target(function, *call)?)));
        out.extend(target.and_then(|((fails, name), target)| {
            unasked(function, span(*call), (fails, &name), &target)
        }));
    }
}

/// What takes the result as it is.
fn target(function: &FunctionContext<'_>, call: tree_sitter::Node<'_>) -> Option<Expression> {
    let mut around = std::iter::successors(call.parent(), tree_sitter::Node::parent);
    let holder =
        around.find(|own| !matches!(own.kind(), "parenthesized_expression" | "cast_expression"))?;
    let part = match holder.kind() {
        "assignment_expression" if function.context.operator(holder) == b"=" => "left",
        "init_declarator" => "declarator",
        _ => return None,
    };
    let mut place = holder.part(part)?;
    while place.kind() == "pointer_declarator" {
        place = place.part("declarator")?;
    }
    Some(Expression::of(function.context, bare(place)))
}

/// What is done with a pointer that a call gave.
#[derive(Default)]
struct Uses {
    /// Where it is asked for an error.
    told: Option<Span>,
    /// Whether it is asked for NULL together with that.
    null: bool,
    /// Where it is compared with NULL.
    compared: Option<Span>,
    /// Where it is followed.
    followed: Option<Span>,
}

/// The expressions that may look at a pointer, or go through it.
const USES: [&str; 6] = [
    "call_expression",
    "unary_expression",
    "binary_expression",
    "field_expression",
    "pointer_expression",
    "subscript_expression",
];

impl Uses {
    fn of(function: &FunctionContext<'_>, at: Span, target: &Expression) -> Self {
        // A variable of another block may have its name.
        let declared = |at: Span| {
            let local = target.name().and_then(|name| function.local_at(name, at));
            local.map(|local| local.declared)
        };
        let known = declared(target.span);
        let same = |own: &Expression| own.uncast().1 == target && declared(own.span) == known;
        let mut found = Self::default();
        function.each_of(&USES, |node| {
            let own = Expression::of(function.context, node);
            found.note(function, &own, node.start_byte() >= at.end, &same);
        });
        found
    }

    fn note(
        &mut self,
        function: &FunctionContext<'_>,
        own: &Expression,
        behind: bool,
        same: &dyn Fn(&Expression) -> bool,
    ) {
        let words = function.file.words;
        match &own.term {
            Term::Call(..) => {
                let asked = own.call().filter(|(_, given)| given.iter().any(same));
                if let Some((name, _)) = asked.filter(|(name, _)| words.tells_errors(name)) {
                    self.told = self.told.or(Some(own.span));
                    self.null |= words.tells_null(name);
                }
            }
            Term::Unary(not, of) if not == "!" && behind && same(of) => {
                self.compared = self.compared.or(Some(own.span));
            }
            Term::Binary(left, operator, right) if behind && same(left) => {
                let null = matches!(operator.as_str(), "==" | "!=") && right.is_null();
                self.compared = self.compared.or(null.then_some(own.span));
            }
            Term::Member {
                holder: pointer,
                arrow: true,
                ..
            }
            | Term::Behind(pointer)
            | Term::Element { array: pointer, .. }
                if behind && same(pointer) =>
            {
                self.followed = self.followed.or(Some(own.span));
            }
            _ => {}
        }
    }

    /// Whether anything asks it for NULL, as far as that is seen of a variable.
    fn asked_for_null(&self, function: &FunctionContext<'_>, target: &Expression) -> bool {
        let mut tests = function.graph.tests.iter();
        let tested = target
            .name()
            .is_none_or(|name| tests.any(|(at, _)| function.graph.tests(*at, name)));
        self.null || self.compared.is_some() || tested
    }
}

/// Whether the function returns it: its caller asks.
fn is_returned(function: &FunctionContext<'_>, target: &Expression) -> bool {
    let mut returns = function.graph.statements.iter();
    returns.any(|own| {
        let given = own.expression.filter(|_| own.kind == StatementKind::Return);
        let given = given.and_then(|given| function.expression(given));
        given.is_some_and(|given| given.uncast().1 == target)
    })
}

/// The violation where nothing asks for what the call gives where it fails, and something
/// takes the result for an address or for the other of the two.
fn unasked(
    function: &FunctionContext<'_>,
    at: Span,
    (fails, name): (Fails, &str),
    target: &Expression,
) -> Option<Violation> {
    let uses = Uses::of(function, at, target);
    let returned = is_returned(function, target);
    let file = function.file;
    let mut violation = match fails {
        Fails::Null => {
            let asked = returned || uses.asked_for_null(function, target);
            let place = uses.told.filter(|_| !asked)?;
            let message =
                format!("{name}() gives NULL where it fails, which IS_ERR() does not tell");
            file.violation(&INFO, place, "never holds", message)
        }
        Fails::ErrorPointer | Fails::Either => {
            let place = uses.compared.or(uses.followed);
            let place = place.filter(|_| uses.told.is_none() && !returned)?;
            let what = match (uses.compared, fails) {
                (Some(_), Fails::Either) => "it is compared with NULL, which it is at other times",
                (Some(_), _) => "it is compared with NULL, which it never is",
                (None, _) => "it is followed as it is",
            };
            let message = format!("{name}() gives an error pointer where it fails: {what}");
            file.violation(&INFO, place, "no IS_ERR()", message)
        }
    };
    violation.related.push(file.mark(at, "given here"));
    Some(violation)
}
