//! What a function of the file gives where each of its `return`s names a constant.

use tollgate_defect::answer;

use crate::lex::{Token, TokenKind};
use crate::split::Body;

use super::context::{FileContext, FunctionContext};
use super::fate::is_error_name;
use super::known::Told;

/// What each `return` of the functions of that name gives: 0 and error numbers, or 0 and 1. None
/// where one gives anything else, or all give the same.
pub(crate) fn plainly(function: &FunctionContext<'_>, name: &str) -> Option<Told> {
    let file = function.file;
    let bodies = file.bodies.iter().filter(|own| own.name == name);
    let mut given = Given::default();
    for body in bodies {
        given.add(file, body)?;
    }
    match (given.errors, given.zero, given.one) {
        (true, true, false) => Some(Told::Error),
        (false, true, true) => Some(Told::Truth),
        _ => None,
    }
}

/// What some functions give.
#[derive(Default)]
struct Given {
    errors: bool,
    zero: bool,
    one: bool,
}

impl Given {
    fn add(&mut self, file: &FileContext<'_>, body: &Body) -> Option<()> {
        let tokens = file.tokens_in(body.span);
        let text = |own: &Token| answer::text(own.span.of(file.text));
        let returns = |at: &usize| tokens.get(*at).and_then(text) == Some("return");
        let mut places = (0..tokens.len()).filter(returns).peekable();
        places.peek()?;
        for at in places {
            let behind = tokens.get(at + 1..)?.iter();
            let value = behind.take_while(|own| !own.is(b';'));
            let value = value.filter(|own| !own.is(b'(') && !own.is(b')'));
            let value: Vec<&Token> = value.collect();
            match value.as_slice() {
                [own] => self.number(text(own)?)?,
                [minus, own] if minus.is(b'-') && own.kind == TokenKind::Word => {
                    self.errors |= is_error_name(text(own)?).then_some(true)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn number(&mut self, text: &str) -> Option<()> {
        match text {
            "0" | "false" => self.zero = true,
            "1" | "true" => self.one = true,
            _ => return None,
        }
        Some(())
    }
}
