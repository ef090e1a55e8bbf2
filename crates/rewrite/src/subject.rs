//! A function and what is known of it, as everything that decides on it asks.

use std::cell::RefCell;

use tollgate_source::{
    Analyser, Expression, Flow, Function, LineIndex, Loop, Run, Span, Statement, StatementKind,
    StepKind, Token, TokenKind, Types, Vocabulary, tokens,
};

use crate::calls::Calls;
use crate::custom::Custom;
use crate::directives::{conditions, is_left_between};
use crate::lines::{on_one_line, reindent};
use crate::masks::Tells;
use crate::offers::Offers;
use crate::refusal::{Reason, Refusal};
use crate::style::Style;

/// A function and everything that is known of it.
pub(crate) struct Subject<'a> {
    /// The bytes of the file.
    pub(crate) text: &'a [u8],
    /// Its lines.
    pub(crate) lines: &'a LineIndex<'a>,
    /// The function.
    pub(crate) function: &'a Function,
    /// What it does.
    pub(crate) flow: &'a Flow,
    /// What tells what other functions of the file do.
    pub(crate) analyser: &'a RefCell<Analyser<'a>>,
    /// Its loops with one access in each round, where the style may span them.
    pub(crate) loops: &'a [Loop],
    /// The calls that it may hold.
    pub(crate) vocabulary: &'a Vocabulary,
    /// What its calls are.
    pub(crate) calls: &'a Calls<'a>,
    /// What the tree offers to open a window with.
    pub(crate) offers: Offers,
    /// Why windows of one way are opened for both; none where they are not.
    pub(crate) custom: Option<Custom>,
    /// Whether nobody outside the file calls its static functions: it is no header.
    pub(crate) own_file: bool,
    /// Whether accesses that go on after a fault may be made to stop.
    pub(crate) stop_at_first_fault: bool,
    /// Whether a window may stay open over the rounds of a loop, however many.
    pub(crate) open_over_rounds: bool,
    /// Whether what a read fills may keep what it held after a fault.
    pub(crate) no_zero_on_fault: bool,
    /// The function that is called with a window open, and stops at its first fault.
    pub(crate) opened: Option<&'a str>,
    /// Whether objtool looks for calls in a window of the file's architecture, or of one
    /// that the file may be built for.
    pub(crate) objtool: bool,
    /// What the style needs besides.
    pub(crate) styled: Styled<'a>,
}

/// What a style needs to know besides the function.
#[derive(Clone, Copy)]
pub(crate) struct Styled<'a> {
    /// How user memory is accessed after the fix.
    pub(crate) style: Style,
    /// Whether it has a form for what is woven into the accesses.
    pub(crate) weaves: bool,
    /// The types that the file sees.
    pub(crate) types: &'a Types<'a>,
    /// Whether only the end for both ways closes a masked begin everywhere.
    pub(crate) one_mask: bool,
    /// What tells that a masked pointer is not the user's.
    pub(crate) tells: Tells,
    /// Whether a copy may touch members that the function leaves alone.
    pub(crate) touch_all_members: bool,
}

impl Subject<'_> {
    /// Whether a call in a place does nothing but check a range.
    pub(crate) fn checks_range(&self, place: Span) -> bool {
        let mut checks = self.vocabulary.range_checks().iter();
        checks.any(|check| self.flow.calls_to(place, check).is_some())
    }

    /// The expression that stands in a place.
    pub(crate) fn expression(&self, place: Span) -> Option<Expression> {
        Expression::read(self.text, place, self.vocabulary)
    }

    /// The expression that a text is.
    pub(crate) fn written(&self, text: &str) -> Option<Expression> {
        Expression::written(text, self.vocabulary)
    }

    /// Whether an expression is a check of that range, `access_ok(object, size)`;
    /// none if it is no check.
    pub(crate) fn checks(&self, own: &Expression, object: &str, size: &str) -> Option<bool> {
        let (name, arguments) = own.call()?;
        let wanted = [self.written(object), self.written(size)];
        let same = arguments
            .iter()
            .zip(&wanted)
            .all(|(a, b)| Some(a) == b.as_ref());
        let check = self.vocabulary.checks_range(name.as_bytes());
        check.then_some(same && arguments.len() == wanted.len())
    }

    /// The original text of a place.
    pub(crate) fn at(&self, span: Span) -> String {
        span.text(self.text)
    }

    /// The original text of a place as one line.
    pub(crate) fn line(&self, span: Span) -> String {
        on_one_line(&self.at(span))
    }

    /// A refusal at a place.
    pub(crate) fn refuse(&self, span: Span, reason: Reason) -> Refusal {
        Refusal {
            line: self.lines.position(span.start).line,
            reason,
        }
    }

    /// Where the line of a place begins.
    pub(crate) fn line_start(&self, byte: usize) -> usize {
        self.lines.line_start(byte)
    }

    /// The blanks before a place on its line.
    pub(crate) fn indent(&self, byte: usize) -> String {
        let line = self
            .text
            .get(self.lines.line_start(byte)..byte)
            .unwrap_or_default();
        let blanks = line
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        String::from_utf8_lossy(line.get(..blanks).unwrap_or_default()).into_owned()
    }

    /// The `#if` lines under which a place stands and the function's end does
    /// not; none if they cannot be repeated there.
    pub(crate) fn conditions(&self, place: Span) -> Option<Vec<String>> {
        if is_left_between(self.text, place.end, self.function.body.end) {
            conditions(self.text, self.function.body, place.start)
        } else {
            Some(Vec::new())
        }
    }

    /// Whether the function calls what turns page faults off: a copy is not for that.
    pub(crate) fn disables_faults(&self) -> bool {
        let mut disabling = self.vocabulary.faults_off().iter();
        let body = self.function.body;
        disabling.any(|call| self.flow.calls_to(body, call).is_some())
    }

    /// What a statement asks, gives or is.
    pub(crate) fn expression_of(&self, statement: Span) -> Option<Expression> {
        let own = self.flow.statement(statement)?;
        self.expression(own.expression?)
    }

    /// The tokens of a place.
    pub(crate) fn tokens(&self, place: Span) -> Vec<Token> {
        tokens(self.text.get(..place.end).unwrap_or(&[]), place.start)
    }

    /// The line of a place.
    pub(crate) fn line_of(&self, place: Span) -> u32 {
        self.lines.position(place.start).line
    }

    /// Whether no preprocessor line is in a place.
    pub(crate) fn has_no_directive(&self, place: Span) -> bool {
        let directive = |token: &Token| token.kind == TokenKind::Directive;
        !self.tokens(place).iter().any(directive)
    }

    /// Whether a statement is all that stands between the braces of a block, without a
    /// comment.
    pub(crate) fn is_only_statement(&self, block: Span, inner: Span) -> bool {
        let outside = |token: &&Token| !inner.contains(token.span);
        let own = self.tokens(block);
        let rest: Vec<&Token> = own.iter().filter(outside).collect();
        matches!(rest.as_slice(), [open, close] if open.is(b'{') && close.is(b'}'))
    }

    /// Whether neither comments nor preprocessor lines are in a place.
    pub(crate) fn is_code(&self, place: Span) -> bool {
        self.tokens(place).iter().all(Token::is_code)
    }

    /// The comments that begin in a place, with their places.
    pub(crate) fn comments(&self, place: Span) -> Vec<Span> {
        let inside = self.tokens(place).into_iter();
        let comments = inside.filter(|token| token.kind == TokenKind::Comment);
        comments.map(|token| token.span).collect()
    }

    /// The lines of a body without its braces and its indentation, no two statements in
    /// one.
    pub(crate) fn statements(&self, body: Span) -> Vec<String> {
        self.statements_but(body, &|_| false)
    }

    /// The same without some of the statements of a block.
    pub(crate) fn statements_but(
        &self,
        body: Span,
        left_out: &dyn Fn(&Statement) -> bool,
    ) -> Vec<String> {
        let block = self.flow.statement(body);
        if block.is_none_or(|own| own.kind != StatementKind::Block) {
            return vec![self.line(body)];
        }
        let inner = self.one_a_line(body, left_out);
        let inner = inner.trim_matches('\n').trim_end();
        let indent: String = inner
            .chars()
            .take_while(|c| matches!(c, ' ' | '\t'))
            .collect();
        reindent(inner, &indent, "")
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// What stands between the braces of a block, each statement in lines of its own.
    fn one_a_line(&self, block: Span, left_out: &dyn Fn(&Statement) -> bool) -> String {
        let (mut all, mut from) = (String::new(), block.start + 1);
        let mut line = String::new();
        for own in self.flow.inside(block) {
            let mut before = self.at(Span::new(from, own.span.start));
            // It begins the line that what was left out began.
            if !line.is_empty() && !before.contains('\n') {
                before = line.clone() + before.trim_start();
            }
            line.clear();
            let blank = before.trim_end_matches([' ', '\t']);
            if left_out(own) {
                let kept = blank.strip_suffix('\n').unwrap_or(blank);
                all += kept;
                line = before.strip_prefix(kept).unwrap_or(&before).to_owned();
                from = own.span.end;
                continue;
            }
            all += match all.is_empty() || blank.ends_with('\n') {
                true => before.clone(),
                false => format!("{blank}\n"),
            }
            .as_str();
            all += &self.at(own.span);
            from = own.span.end;
        }
        all + &self.at(Span::new(from, block.end - 1))
    }

    /// Whether code may stay inside the window: what indexes an array may call the
    /// handler of a bounds checker.
    pub(crate) fn stays(&self, place: Span) -> Result<(), Refusal> {
        match self.flow.index_in(place).filter(|_| self.objtool) {
            Some(array) => Err(self.refuse(place, Reason::Index(self.at(array)))),
            None => Ok(()),
        }
    }

    /// Whether an access stores, fills or reaches through the variable, which then
    /// cannot hold -EFAULT meanwhile.
    pub(crate) fn needs(&self, run: &Run, variable: &str) -> bool {
        let plain = run.steps.iter().filter(|step| step.kind == StepKind::Plain);
        let places = run.sites.iter().flat_map(|site| [site.value, site.address]);
        places
            .chain(plain.map(|step| step.span))
            .any(|place| self.flow.names(place, variable))
    }
}
