//! Variables that a patch declares.

use tollgate_source::{StatementKind, Token, tokens};

use crate::edit::Edit;
use crate::subject::Subject;

/// The edit that declares a variable behind those that the function has, or as
/// its first.
pub(crate) fn declaration(subject: &Subject<'_>, line: &str) -> Option<Edit> {
    let body = subject.function.body;
    if subject.flow.locals.iter().any(|l| l.scope == body) {
        let place = declarations_end(subject)?;
        return Some(Edit::insert(place, format!("\t{line}\n")));
    }
    let (_, followed) = declarations(subject);
    let lines = [line.to_owned()];
    (!followed).then(|| declaring(subject, &lines))?
}

/// Where the declarations at the head of the function end: kernel style has an
/// empty line there.
fn declarations_end(subject: &Subject<'_>) -> Option<usize> {
    let statements = subject.flow.inside(subject.function.body);
    let declarations = statements.take_while(|own| own.kind == StatementKind::Declaration);
    let end = declarations.last()?.span.end;
    let behind = subject.text.get(end..)?;
    behind.starts_with(b"\n\n").then_some(end + 1)
}

/// Where declarations of the function may be put: behind its opening brace, and
/// whether other declarations follow there.
fn declarations(subject: &Subject<'_>) -> (usize, bool) {
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

/// The edit that declares variables behind the function's opening brace; none
/// where there are none.
pub(crate) fn declaring(subject: &Subject<'_>, lines: &[String]) -> Option<Edit> {
    let (at, followed) = declarations(subject);
    let text: String = lines.iter().map(|line| format!("\n\t{line}")).collect();
    let gap = if followed { "" } else { "\n" };
    (!lines.is_empty()).then(|| Edit::insert(at, text + gap))
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
