//! C as the kernel writes it, turned into C that the parser knows: same length, so
//! that every byte of the parse is a byte of the original.

mod spelling;

use std::collections::{HashMap, HashSet};
use tollgate_defect::answer;

use crate::flow::{is_assembly, operands, parentheses};
use crate::lex::{Token, TokenKind, closing, opening};
use crate::span::Span;
use crate::vocabulary::Vocabulary;

/// Which side of each `#if` … `#else` is kept; text that holds both is no C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branches {
    /// Up to the first `#else` or `#elif`; the second side of `#if 0`.
    First,
    /// From the last `#else` on, or the only side.
    Last,
    /// The side that holds this byte; the first where none does.
    Holding(usize),
    /// Every side of an `#if` that holds whole statements: the parser sees it. The
    /// first of any other.
    All,
}

/// What [`normalise`] made of some tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normalised {
    /// The whole text, byte for byte where it was; only what the tokens that were
    /// handed in hold differs, and blanks beside it.
    pub text: Vec<u8>,
    /// Comments, in order.
    pub comments: Vec<Span>,
    /// Preprocessor lines, in order.
    pub directives: Vec<Span>,
    /// Text that the other side of an `#if` holds, and that is blank now.
    pub left_out: Vec<Span>,
    /// Text of an `#if` that is kept, though a configuration may leave it out and
    /// the parser does not see that.
    pub optional: Vec<Span>,
}

/// Rewrites `tokens`, which are tokens of `text`.
#[must_use]
pub fn normalise(
    text: &[u8],
    tokens: &[Token],
    vocabulary: &Vocabulary,
    branches: Branches,
) -> Normalised {
    normalise_in(Vec::new(), (text, tokens), vocabulary, branches)
}

/// [`normalise`] in memory that is there: who takes one function after the other asks the
/// system for none.
pub(crate) fn normalise_in(
    mut room: Vec<u8>,
    (text, tokens): (&[u8], &[Token]),
    vocabulary: &Vocabulary,
    branches: Branches,
) -> Normalised {
    room.clear();
    room.extend_from_slice(text);
    let mut out = Normalised {
        text: room,
        comments: vec![],
        directives: vec![],
        left_out: vec![],
        optional: vec![],
    };
    let code = out.blank_preprocessor(text, tokens, branches);
    let mut pass = Pass {
        original: text,
        out: &mut out.text,
        tokens: code,
        vocabulary,
    };
    pass.blank_annotations();
    pass.respell();
    pass.rewrite();
    out
}

impl Normalised {
    /// Blanks what the parser must not see and returns the tokens that are left.
    fn blank_preprocessor(
        &mut self,
        text: &[u8],
        tokens: &[Token],
        branches: Branches,
    ) -> Vec<Token> {
        let shown = match branches {
            Branches::All => shown(text, tokens),
            _ => HashSet::new(),
        };
        let mut conditions = Conditions::new(branches, tokens, text, shown);
        let mut code = Vec::with_capacity(tokens.len());
        for token in tokens {
            match token.kind {
                TokenKind::Comment => self.comments.push(token.span),
                TokenKind::Directive => {
                    self.directives.push(token.span);
                    self.optional.extend(conditions.line(token.span));
                    if conditions.shown.contains(&token.span.start) && conditions.kept() {
                        blank(&mut self.text, token.span);
                        overwrite(&mut self.text, token.span, plain_line(token.span, text));
                        continue;
                    }
                }
                _ if conditions.kept() => {
                    code.push(*token);
                    continue;
                }
                _ => self.left_out.push(token.span),
            }
            blank(&mut self.text, token.span);
        }
        code
    }
}

/// The `#if`s around a token. Each level keeps exactly one of its sides.
struct Conditions<'a> {
    text: &'a [u8],
    kept_sides: HashSet<usize>,
    stack: Vec<bool>,
    /// Lines of the `#if`s of which the parser sees every side.
    shown: HashSet<usize>,
    /// Where a side begins that is kept and may be left out.
    side: Vec<Option<usize>>,
}

impl<'a> Conditions<'a> {
    fn new(branches: Branches, tokens: &[Token], text: &'a [u8], shown: HashSet<usize>) -> Self {
        let directives = tokens
            .iter()
            .filter(|t| t.kind == TokenKind::Directive)
            .map(|t| t.span);
        Self {
            text,
            kept_sides: kept_sides(directives, text, branches),
            stack: Vec::new(),
            shown,
            side: Vec::new(),
        }
    }

    /// Goes past a preprocessor line; the side before it, if that was kept and
    /// the parser does not see that it is one.
    fn line(&mut self, span: Span) -> Option<Span> {
        let shown = self.shown.contains(&span.start);
        let kept = shown || self.kept_sides.contains(&span.start);
        let begins = (kept && !shown).then_some(span.end);
        let before = match directive(span, self.text) {
            Directive::If => {
                self.stack.push(kept);
                self.side.push(begins);
                None
            }
            Directive::Else => {
                let before = self.side.pop().flatten();
                self.side.push(begins);
                if let Some(top) = self.stack.last_mut() {
                    *top = kept;
                }
                before
            }
            Directive::Endif => {
                self.stack.pop();
                self.side.pop().flatten()
            }
            Directive::Other => None,
        };
        before.map(|start| Span::new(start, span.start))
    }

    fn kept(&self) -> bool {
        self.stack.iter().all(|&kept| kept)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    If,
    Else,
    Endif,
    Other,
}

fn directive(span: Span, text: &[u8]) -> Directive {
    match directive_words(span, text).next().unwrap_or_default() {
        b"if" | b"ifdef" | b"ifndef" => Directive::If,
        b"else" | b"elif" | b"elifdef" | b"elifndef" => Directive::Else,
        b"endif" => Directive::Endif,
        _ => Directive::Other,
    }
}

/// The words of a preprocessor line.
pub(crate) fn directive_words(span: Span, text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = span.of(text).strip_prefix(b"#").unwrap_or_default();
    line.split(|b| !b.is_ascii_alphanumeric() && *b != b'_')
        .filter(|word| !word.is_empty())
}

/// The sides of one `#if`: the lines that begin them, and where its `#endif` is.
pub(crate) struct Sides {
    pub(crate) lines: Vec<Span>,
    pub(crate) end: usize,
}

/// The places of the `#if` or `#else` lines that begin a side to keep. What one
/// `#if` with two sides makes of a name holds for every other that asks for it
/// alone: no configuration has the one's first side and the other's second.
fn kept_sides(
    directives: impl Iterator<Item = Span>,
    text: &[u8],
    branches: Branches,
) -> HashSet<usize> {
    let all = all_sides(directives, text);
    let first = |sides: &Sides| sides.lines.first().map(|line| line.start);
    let chosen = |sides: &Sides| side_to_keep(&sides.lines, sides.end, text, branches);
    let mut known: HashMap<&[u8], bool> = HashMap::new();
    let is_held = |sides: &&Sides| match branches {
        Branches::Holding(byte) => {
            let start = first(sides).unwrap_or(sides.end);
            start <= byte && byte < sides.end
        }
        _ => false,
    };
    let held = all.iter().filter(is_held);
    for sides in held.chain(all.iter().filter(|sides| sides.lines.len() == 2)) {
        if let Some((name, wanted)) = asked(sides, text) {
            let defined = (chosen(sides) == first(sides)) == wanted;
            known.entry(name).or_insert(defined);
        }
    }
    let kept = all.iter().filter_map(|sides| {
        let told = asked(sides, text).and_then(|(name, wanted)| Some(*known.get(name)? == wanted));
        match told {
            Some(true) => first(sides),
            Some(false) => sides.lines.get(1).map(|line| line.start),
            None => chosen(sides),
        }
    });
    kept.collect()
}

/// All `#if`s of some preprocessor lines.
pub(crate) fn all_sides(directives: impl Iterator<Item = Span>, text: &[u8]) -> Vec<Sides> {
    let mut open: Vec<Vec<Span>> = Vec::new();
    let mut all = Vec::new();
    for span in directives {
        match directive(span, text) {
            Directive::If => open.push(vec![span]),
            Directive::Else => open
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|sides| sides.push(span)),
            Directive::Endif => all.extend(open.pop().map(|lines| Sides {
                lines,
                end: span.start,
            })),
            Directive::Other => {}
        }
    }
    all.extend(open.into_iter().map(|lines| Sides {
        lines,
        end: text.len(),
    }));
    all
}

/// The name whose definition an `#if` of at most two sides asks for, and whether the
/// first side wants it to be there.
fn asked<'t>(sides: &Sides, text: &'t [u8]) -> Option<(&'t [u8], bool)> {
    let (line, rest) = sides.lines.split_first()?;
    let plain = |line: &Span| directive_words(*line, text).next() == Some(b"else");
    let mut words = directive_words(*line, text);
    let (word, name, None) = (words.next()?, words.next()?, words.next()) else {
        return None;
    };
    let wanted = match word {
        b"ifdef" => true,
        b"ifndef" => false,
        _ => return None,
    };
    (rest.len() < 2 && rest.iter().all(plain)).then_some((name, wanted))
}

/// The side to keep of an `#if` whose `#endif` is at `end`.
fn side_to_keep(sides: &[Span], end: usize, text: &[u8], branches: Branches) -> Option<usize> {
    if let Branches::Holding(byte) = branches
        && byte < end
        && let Some(side) = sides.iter().rfind(|side| side.start <= byte)
    {
        return Some(side.start);
    }
    let is_zero =
        |side: &&Span| directive_words(**side, text).eq([b"if".as_slice(), b"0".as_slice()]);
    let mut sides = sides.iter().filter(|side| !is_zero(side));
    let side = match branches {
        Branches::First | Branches::Holding(_) | Branches::All => sides.next(),
        Branches::Last => sides.next_back(),
    };
    side.map(|span| span.start)
}

/// The lines of `#if`s of which each side holds whole statements and stands
/// where a statement may.
fn shown(text: &[u8], tokens: &[Token]) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut open: Vec<(Vec<usize>, bool)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Directive {
            continue;
        }
        let kind = directive(token.span, text);
        if kind == Directive::Other {
            continue;
        }
        if kind != Directive::If
            && let Some((lines, whole)) = open.last_mut()
        {
            let first = lines.last().copied().unwrap_or(at);
            *whole &= is_whole(text, tokens, first, at);
            lines.push(at);
        }
        match kind {
            Directive::If => open.push((vec![at], is_between(text, tokens, at))),
            Directive::Endif => {
                let closed = open.pop().filter(|(_, whole)| *whole);
                let lines = closed.map(|(lines, _)| lines).unwrap_or_default();
                let lines = lines.into_iter().filter_map(|at| tokens.get(at));
                found.extend(lines.map(|line| line.span.start));
            }
            _ => {}
        }
    }
    found
}

/// Whether a statement ends right before a line.
fn is_between(text: &[u8], tokens: &[Token], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default();
    let last = before.iter().rfind(|t| t.is_code());
    let ends = last.is_none_or(|t| [b';', b'{', b'}', b':'].iter().any(|b| t.is(*b)));
    let after = tokens.get(at..).unwrap_or_default();
    let next = after.iter().find(|t| t.is_code());
    let goes_on = |t: &Token| matches!(t.span.of(text), b"else" | b"case" | b"default");
    ends && !next.is_some_and(goes_on)
}

/// Whether whole statements stand between two lines.
fn is_whole(text: &[u8], tokens: &[Token], from: usize, to: usize) -> bool {
    let side = tokens.get(from + 1..to).unwrap_or_default();
    let mut depth = 0isize;
    let inside = side.iter().all(|token| {
        depth += match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => 1,
            TokenKind::Punct(b')' | b']' | b'}') => -1,
            _ => 0,
        };
        depth >= 0
    });
    let last = side.iter().rfind(|t| t.is_code());
    let ends = last.is_none_or(|t| t.is(b';') || t.is(b'}'));
    inside && depth == 0 && ends && is_between(text, tokens, to)
}

/// A line that the parser knows, for one that it may not.
fn plain_line(line: Span, text: &[u8]) -> &'static [u8] {
    match directive_words(line, text).next().unwrap_or_default() {
        b"else" => b"#else",
        b"elif" | b"elifdef" | b"elifndef" => b"#elif 1",
        b"endif" => b"#endif",
        _ => b"#if 1",
    }
}

/// Overwrites with spaces; line ends stay where they are.
fn blank(text: &mut [u8], span: Span) {
    let bytes = text.get_mut(span.start..span.end).unwrap_or_default();
    bytes
        .iter_mut()
        .filter(|b| **b != b'\n')
        .for_each(|b| *b = b' ');
}

/// Overwrites with `with`, the rest with spaces. Nothing happens where it does not fit
/// before the first line end.
fn overwrite(text: &mut [u8], span: Span, with: &[u8]) {
    let room = text
        .get(span.start..span.start + with.len())
        .is_some_and(|room| !room.contains(&b'\n'));
    if span.end - span.start < with.len() || !room {
        return;
    }
    blank(text, span);
    if let Some(room) = text.get_mut(span.start..span.start + with.len()) {
        room.copy_from_slice(with);
    }
}

/// The head of a loop that may be executed or not.
const LOOP: &[u8] = b"while(1){";
/// The same of a branch, for where there is no room for a loop.
const BRANCH: &[u8] = b"if(a){";

/// One pass over the code tokens of a body.
struct Pass<'a> {
    original: &'a [u8],
    out: &'a mut [u8],
    tokens: Vec<Token>,
    vocabulary: &'a Vocabulary,
}

impl Pass<'_> {
    fn blank_annotations(&mut self) {
        let mut left = Vec::with_capacity(self.tokens.len());
        let mut at = 0;
        while let Some(token) = self.tokens.get(at).copied() {
            let end = self.annotation_end(at);
            match end.and_then(|end| self.tokens.get(end)) {
                Some(last) => blank(self.out, token.span.join(last.span)),
                None => left.push(token),
            }
            at = end.unwrap_or(at) + 1;
        }
        self.tokens = left;
    }

    /// The index of the last token of the annotation that begins at `at`.
    fn annotation_end(&self, at: usize) -> Option<usize> {
        let arguments = self.vocabulary.annotation(self.word(at))?;
        if !arguments {
            return Some(at);
        }
        self.tokens.get(at + 1).filter(|t| t.is(b'('))?;
        closing(&self.tokens, at + 1)
    }

    fn word(&self, at: usize) -> &[u8] {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => token.span.of(self.original),
            _ => b"",
        }
    }

    fn is(&self, at: usize, byte: u8) -> bool {
        self.tokens.get(at).is_some_and(|t| t.is(byte))
    }

    fn rewrite(&mut self) {
        for at in 0..self.tokens.len() {
            match self.word(at) {
                b"" => self.punctuation(at),
                b"typeof" | b"__typeof__" | b"__typeof" | b"typeof_unqual" => self.type_of(at),
                word if is_assembly(word) => self.assembly(at),
                b"if" | b"for" | b"while" | b"switch" | b"return" | b"sizeof" | b"offsetof"
                | b"else" | b"do" => {}
                _ if self.is(at + 1, b'(') => self.call(at),
                _ => {}
            }
        }
    }

    /// `case A ... B`, `[A ... B]` and `&&label`.
    fn punctuation(&mut self, at: usize) {
        let Some(token) = self.tokens.get(at).copied() else {
            return;
        };
        if token.is(b'.') && token.span.end - token.span.start == 3 {
            overwrite(self.out, token.span, b" + ");
        } else if token.is(b'&') && self.is(at + 1, b'&') && self.takes_operand(at) {
            blank(self.out, token.span);
        }
    }

    /// Whether an operand, not an operator, is expected at `at`.
    fn takes_operand(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).and_then(|i| self.tokens.get(i)) else {
            return false;
        };
        matches!(
            before.kind,
            TokenKind::Punct(b'(' | b',' | b'=' | b'[' | b'{' | b'?' | b':')
        )
    }

    fn type_of(&mut self, at: usize) {
        if let Some(span) = self.through_parenthesis(at) {
            overwrite(self.out, span, b"int");
        }
    }

    fn through_parenthesis(&self, at: usize) -> Option<Span> {
        self.is(at + 1, b'(').then_some(())?;
        let close = closing(&self.tokens, at + 1)?;
        Some(self.tokens.get(at)?.span.join(self.tokens.get(close)?.span))
    }

    /// Assembly becomes a call of nothing known with its operands as arguments.
    fn assembly(&mut self, at: usize) {
        let Some((open, close)) = parentheses(&self.tokens, at) else {
            return;
        };
        let (Some(first), Some(last)) = (self.tokens.get(at), self.tokens.get(close)) else {
            return;
        };
        let (first, last) = (first.span, last.span);
        let begin = self.tokens.get(open).map_or(first, |token| token.span);
        let known = operands(self.original, &self.tokens, at).unwrap_or_default();
        let kept: Vec<(Span, Vec<u8>)> = known
            .operands
            .iter()
            .map(|operand| (operand.value, operand.value.of(self.out).to_vec()))
            .collect();
        blank(self.out, first.join(last));
        overwrite(self.out, first, b"a");
        overwrite(self.out, begin, b"(");
        overwrite(self.out, last, b")");
        for (number, (place, value)) in kept.into_iter().enumerate() {
            if let Some(room) = self.out.get_mut(place.start..place.end) {
                room.copy_from_slice(&value);
            }
            // Its constraint stood before it.
            if number > 0 {
                overwrite(self.out, Span::new(place.start - 1, place.start), b",");
            }
        }
    }

    fn call(&mut self, at: usize) {
        let Some(close) = closing(&self.tokens, at + 1) else {
            return;
        };
        self.type_arguments(at + 1, close);
        if !self.begins_statement(at) {
            return;
        }
        if self.statement_argument(at + 1, close).is_some() {
            self.statement_arguments(at, close);
        } else {
            self.statement_macro(at, close);
        }
    }

    fn begins_statement(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        let after_word = matches!(self.word(before), b"else" | b"do");
        after_word
            || [b';', b'{', b'}', b')', b':']
                .iter()
                .any(|&b| self.is(before, b))
    }

    /// `MACRO(a, b, statement; statement);`: how often and when they are
    /// executed is the macro's affair, so they become the body of a loop.
    fn statement_arguments(&mut self, at: usize, close: usize) {
        let (Some(first), Some(last), Some(before)) = (
            self.tokens.get(at).copied(),
            self.tokens.get(close).copied(),
            close.checked_sub(1),
        ) else {
            return;
        };
        let Some(begin) = self.statement_argument(at + 1, close) else {
            return;
        };
        let place = Span::new(first.span.start, begin);
        let fits = |head: &'static [u8]| Some((self.room(place, head.len())?, head));
        let Some((room, head)) = fits(LOOP).or_else(|| fits(BRANCH)) else {
            return;
        };
        let end = self.tokens.get(close + 1).filter(|end| end.is(b';'));
        match end.map(|end| end.span) {
            Some(end) => {
                overwrite(self.out, last.span, b";");
                overwrite(self.out, end, b"}");
            }
            // The last statement has its own.
            None if [b';', b'}'].iter().any(|byte| self.is(before, *byte)) => {
                overwrite(self.out, last.span, b"}");
            }
            None => return,
        }
        if let Some((written, rest)) = self
            .out
            .get_mut(room.start..room.end)
            .and_then(|room| room.split_at_mut_checked(head.len()))
        {
            written.copy_from_slice(head);
            rest.fill(b' ');
        }
    }

    /// A place with the blanks around it, as many as it takes to hold so much; a
    /// line of the preprocessor keeps its end.
    fn room(&self, place: Span, wanted: usize) -> Option<Span> {
        let byte = |at: usize| self.out.get(at).copied().unwrap_or_default();
        let front = self.out.get(..place.start)?.trim_ascii_end();
        let code = front.ends_with(b";") || front.ends_with(b"{") || front.ends_with(b"}");
        let usable = |at: usize| byte(at).is_ascii_whitespace() && (code || byte(at) != b'\n');
        let mut room = place;
        while room.end - room.start < wanted {
            let left = room.start.checked_sub(1).filter(|left| usable(*left));
            room = match left {
                Some(left) => Span::new(left, room.end),
                None if byte(room.end).is_ascii_whitespace() => Span::new(room.start, room.end + 1),
                None => return None,
            };
        }
        Some(room)
    }

    /// Where the first argument with a statement begins.
    fn statement_argument(&self, open: usize, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        let mut begin = self.tokens.get(open)?.span.end;
        for at in open + 1..close {
            let token = self.tokens.get(at)?;
            let first = self.is(at - 1, b',') || at == open + 1;
            let statement = first && matches!(self.word(at), b"if" | b"for" | b"while" | b"switch");
            match token.kind {
                _ if depth == 0 && (statement || token.is(b';')) => return Some(begin),
                TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
                TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                TokenKind::Punct(b',') if depth == 0 => begin = token.span.end,
                _ => {}
            }
        }
        None
    }

    /// `for_each_x(…) {`, `scoped_guard(…) {`, `MACRO(…)` without its semicolon.
    fn statement_macro(&mut self, at: usize, close: usize) {
        let Some(next) = self.tokens.get(close + 1).copied() else {
            return;
        };
        let (Some(first), Some(last)) = (
            self.tokens.get(at).copied(),
            self.tokens.get(close).copied(),
        ) else {
            return;
        };
        let ends_loop = self.is_after_do(at) && next.is(b';');
        let holds = self.holds_next(self.word(at)) && next.kind == TokenKind::Word;
        let loops = holds || is_loop(self.word(at)) && !next.is(b';') && !next.is(b'}');
        if next.is(b'{') || loops || ends_loop {
            overwrite(self.out, first.span.join(last.span), b"while(1)");
        } else if next.is(b'}') || next.kind == TokenKind::Word && !self.is_after_do(at) {
            self.end_statement(last.span.end, next.span.start);
        }
    }

    /// Whether a macro of that name holds the statement behind it, which needs no
    /// braces then.
    fn holds_next(&self, name: &[u8]) -> bool {
        let words = self.vocabulary.words();
        let scoped = answer::text(name).is_some_and(|name| words.scoped(name).is_some());
        scoped || self.vocabulary.is_scope(name)
    }

    /// Whether a word stands where the `while` of a `do { … } while` does.
    fn is_after_do(&self, at: usize) -> bool {
        let brace = at.checked_sub(1).filter(|before| self.is(*before, b'}'));
        let opens = brace.and_then(|close| opening(&self.tokens, close));
        let word = opens.and_then(|open| open.checked_sub(1));
        word.is_some_and(|at| self.word(at) == b"do")
    }

    /// Puts a semicolon between two tokens; a line of the preprocessor between them
    /// keeps its own.
    fn end_statement(&mut self, from: usize, to: usize) {
        let gap = self.out.get_mut(from..to).unwrap_or_default();
        let line = gap.iter().position(|b| *b == b'#');
        let free = line.map_or(gap.len(), |line| line.saturating_sub(1));
        let mut free = gap.get_mut(..free).unwrap_or_default().iter_mut();
        if let Some(room) = free.find(|b| b.is_ascii_whitespace()) {
            *room = b';';
        }
    }

    /// An argument that is a type becomes a name.
    fn type_arguments(&mut self, open: usize, close: usize) {
        let mut start = open + 1;
        let mut depth = 0usize;
        for at in open + 1..=close {
            let Some(token) = self.tokens.get(at).copied() else {
                return;
            };
            match token.kind {
                TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
                TokenKind::Punct(b',') if depth == 0 => {
                    self.type_argument(start, at);
                    start = at + 1;
                }
                _ if at == close => self.type_argument(start, at),
                TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn type_argument(&mut self, start: usize, end: usize) {
        let (Some(first), Some(last)) = (
            self.tokens.get(start),
            end.checked_sub(1).and_then(|e| self.tokens.get(e)),
        ) else {
            return;
        };
        if start < end && (is_type_word(self.word(start)) || last.is(b'*')) {
            let span = first.span.join(last.span);
            overwrite(self.out, span, b"T");
        } else if start < end && self.is_operator(start, end) {
            overwrite(self.out, first.span.join(last.span), b"0");
        }
    }

    /// Whether nothing but an operator stands there, which only a macro is given:
    /// `ASSERTCMP(a, ==, b)`.
    fn is_operator(&self, start: usize, end: usize) -> bool {
        let of_one = |token: &Token| b"=<>!&|+-/%^".iter().any(|byte| token.is(*byte));
        let own = self.tokens.get(start..end);
        own.is_some_and(|own| own.len() <= 3 && own.iter().all(of_one))
    }
}

fn is_type_word(word: &[u8]) -> bool {
    const TYPES: [&[u8]; 14] = [
        b"struct",
        b"union",
        b"enum",
        b"const",
        b"volatile",
        b"unsigned",
        b"signed",
        b"char",
        b"short",
        b"int",
        b"long",
        b"void",
        b"float",
        b"double",
    ];
    TYPES.contains(&word)
}

pub(crate) fn is_loop(name: &[u8]) -> bool {
    [b"for_each".as_slice(), b"foreach", b"_each_"]
        .iter()
        .any(|part| memchr::memmem::find(name, part).is_some())
}
