//! Arrays whose first dimension is what they are initialised with: how they are written so
//! that a question can be asked of them, and how many elements that is.

use std::collections::VecDeque;

use super::file::Kind;
use super::find::Scope;
use super::input::{Input, Word, parts};
use super::layout::{LayoutError, Shape, Type};
use super::query::Query;
use super::words::is_loud;
use crate::lex::{Token, TokenKind, closing};

type Result<T> = std::result::Result<T, LayoutError>;

/// Tokens of the longest initializer that is read: there are tables of many thousands.
const LONGEST: usize = 4096;

/// What makes an array of the words in front of a name.
pub(crate) struct Dimensions {
    /// As they are written, `[4] [N]`.
    written: String,
    /// Where the first has no number, what the array is initialised with.
    initializer: Option<String>,
}

impl Dimensions {
    /// What the tokens behind a name say; none where the first dimension has no number and
    /// nothing gives it one, for then the array is as large as somebody else says.
    pub(crate) fn read(text: &[u8], behind: &[Token]) -> Option<Self> {
        let code = behind
            .iter()
            .filter(|token| token.kind != TokenKind::Comment);
        let code: Vec<Token> = code.take(LONGEST).copied().collect();
        let mut end = 0;
        while code.get(end).is_some_and(|token| token.is(b'[')) {
            end = closing(&code, end)? + 1;
        }
        let open = code.get(1).is_some_and(|token| token.is(b']'));
        let initializer = match open {
            true => Some(initializer(text, code.get(end..)?)?),
            false => None,
        };
        Some(Self {
            written: spaced(text, code.get(..end)?),
            initializer,
        })
    }

    /// The array of `base`, which has the stars of its elements: the type of a compound
    /// literal with the same initializer, if it has one.
    pub(crate) fn array(&self, base: &str) -> String {
        let dimensions = &self.written;
        match &self.initializer {
            Some(initializer) => format!("typeof(({base} {dimensions}){initializer})"),
            None => format!("{base} {dimensions}"),
        }
    }

    /// A pointer to that array.
    pub(crate) fn pointer(&self, base: &str) -> String {
        match &self.initializer {
            Some(_) => format!("{} *", self.array(base)),
            None => format!("{base} (*){}", self.written),
        }
    }
}

/// `{ 1, 2 }`; what has no braces stands behind a sign that no list begins with,
/// `{ = "text" }`, since a macro there may have braces.
fn initializer(text: &[u8], code: &[Token]) -> Option<String> {
    let value = code
        .get(1..)
        .filter(|_| code.first().is_some_and(|t| t.is(b'=')))?;
    let mut end = 0;
    while !value.get(end).is_some_and(|t| t.is(b',') || t.is(b';')) {
        match value.get(end)?.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => end = closing(value, end)? + 1,
            _ => end += 1,
        }
    }
    let value = value.get(..end)?;
    // Which of its lines are compiled is not asked here.
    if value.iter().any(|token| token.kind == TokenKind::Directive) {
        return None;
    }
    let listed = value.first()?.is(b'{');
    let written = spaced(text, value);
    Some(if listed {
        written
    } else {
        format!("{{ = {written} }}")
    })
}

fn spaced(text: &[u8], tokens: &[Token]) -> String {
    let words: Vec<String> = tokens.iter().map(|token| token.span.text(text)).collect();
    words.join(" ")
}

/// The bytes of a text in quotes, without what ends it; none of what is no such text, or has
/// bytes that were not read.
fn bytes_of(literal: &Word) -> Option<u64> {
    let own = Some(literal).filter(|word| word.kind == TokenKind::Literal);
    let inside = own?.text.strip_prefix('"')?.strip_suffix('"')?;
    let mut rest = inside.as_bytes();
    let mut count = 0;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'\\' {
            count += 1;
            continue;
        }
        let (escape, behind) = rest.split_first()?;
        let digits = |of: fn(&u8) -> bool, most: usize| {
            let own = rest.iter().skip(usize::from(*escape == b'x'));
            own.take(most).take_while(|byte| of(byte)).count()
        };
        let taken = match escape {
            // The line goes on.
            b'\n' => {
                rest = behind;
                continue;
            }
            b'x' => 1 + digits(u8::is_ascii_hexdigit, usize::MAX),
            b'0'..=b'7' => digits(|byte| (b'0'..=b'7').contains(byte), 3),
            b'a' | b'b' | b'e' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' | b'\'' | b'"' | b'?' => {
                1
            }
            _ => return None,
        };
        rest = rest.get(taken..)?;
        count += 1;
    }
    (!inside.contains(char::REPLACEMENT_CHARACTER)).then_some(count)
}

fn unclear(word: Option<&Word>) -> LayoutError {
    let word = word.map_or("its end", |word| &*word.text);
    LayoutError::Unclear("an initializer".to_owned(), word.to_owned())
}

/// A designator: the first element that it names and the one behind the last.
type Places = (u64, u64);

impl Query<'_> {
    /// The array that a list initialises, if its type has no number of elements; else the
    /// type itself.
    pub(super) fn completed(&mut self, of: Type, list: Vec<Word>, scope: &Scope) -> Result<Type> {
        let Shape::Array(element, 0) = of.shape else {
            return Ok(of);
        };
        let count = self.nested("an initializer", |run| run.listed(&element, list, scope))?;
        let times = element.times(count);
        times.ok_or_else(|| unclear(None))
    }

    /// How many elements a list gives.
    fn listed(&mut self, element: &Type, list: Vec<Word>, scope: &Scope) -> Result<u64> {
        let mut input = Input::new(list);
        let mut list = input.clone().rest();
        if input.eat(b'=') {
            list = input.clone().rest();
            if let Some(length) = self.text(element, list.clone(), scope)? {
                return Ok(length);
            }
            self.unwrapped(&mut input, scope)?;
            let inside = input.brackets().filter(|_| input.is_empty());
            list = inside.ok_or_else(|| unclear(input.peek(0)))?;
        }
        let mut items: VecDeque<Vec<Word>> = parts(list).into();
        if items.back().is_some_and(Vec::is_empty) {
            items.pop_back();
        }
        if let (Some(only), 1) = (items.front(), items.len())
            && let Some(length) = self.text(element, only.clone(), scope)?
        {
            return Ok(length);
        }
        self.counted(element, items, scope)
    }

    fn counted(
        &mut self,
        element: &Type,
        mut items: VecDeque<Vec<Word>>,
        scope: &Scope,
    ) -> Result<u64> {
        let (mut next, mut count) = (0u64, 0u64);
        while let Some(item) = items.pop_front() {
            self.work("an initializer")?;
            let mut input = Input::new(item);
            if self.opened(&mut input, scope)? {
                // What a macro stands for may be several, or none.
                let mut more = parts(input.rest());
                more.retain(|words| !words.is_empty());
                more.into_iter()
                    .rev()
                    .for_each(|words| items.push_front(words));
                continue;
            }
            let behind = match input.is(0, b'[') {
                true => self.designated(&mut input, scope)?.1,
                false => next.checked_add(1).ok_or_else(|| unclear(None))?,
            };
            if !matches!(element.shape, Shape::Scalar { .. } | Shape::Pointer { .. }) {
                self.unwrapped(&mut input, scope)?;
            }
            if !is_one(element, &input) {
                return Err(unclear(input.peek(0)));
            }
            (next, count) = (behind, count.max(behind));
        }
        Ok(count)
    }

    /// `[2] =`, `[LOW ... HIGH] =`
    fn designated(&mut self, input: &mut Input, scope: &Scope) -> Result<Places> {
        let inside = input.brackets().ok_or_else(|| unclear(input.peek(0)))?;
        let mut inside = Input::new(inside);
        let first = self.value(&mut inside, scope)?;
        let mut last = first;
        if inside.text(0) == "..." {
            inside.next();
            last = self.value(&mut inside, scope)?;
        }
        if !inside.is_empty() || !input.eat(b'=') {
            return Err(unclear(inside.peek(0).or(input.peek(0))));
        }
        let place = |value: i128| u64::try_from(value).map_err(|_| unclear(None));
        let behind = place(last)?.checked_add(1).ok_or_else(|| unclear(None))?;
        Ok((place(first)?, behind))
    }

    /// Puts what a macro stands for in its place at the front of an element; whether there
    /// was one. What may be one that nobody defines is no element that could be counted.
    fn opened(&mut self, input: &mut Input, scope: &Scope) -> Result<bool> {
        let Some(name) = input.name(0).map(str::to_owned) else {
            return Ok(false);
        };
        let called = input.is(1, b'(');
        let operator = matches!(&*name, "sizeof" | "typeof" | "_Alignof" | "__alignof__");
        if operator || !called && !self.may_expand(&name, scope) {
            return Ok(false);
        }
        // A constant of the machine, or of an enum, is one.
        if self.machine.value(&name).is_some() {
            return Ok(false);
        }
        if self.expand(input, scope)? {
            return Ok(true);
        }
        match is_loud(name.as_bytes()) {
            // Whether an enum has it.
            true => self.find(&name, &[Kind::Enumerator], scope).map(|_| false),
            false => Ok(false),
        }
    }

    /// Puts what macros at the front stand for in their places.
    fn unwrapped(&mut self, input: &mut Input, scope: &Scope) -> Result<()> {
        while input.name(0).is_some() && self.expand(input, scope)? {
            self.work("an initializer")?;
        }
        Ok(())
    }

    /// The elements of an array of bytes that texts in quotes fill, one behind the other, with
    /// the one that ends them; none if the words are something else.
    fn text(&mut self, element: &Type, words: Vec<Word>, scope: &Scope) -> Result<Option<u64>> {
        let bytes = element.size == 1 && matches!(element.shape, Shape::Scalar { .. });
        let (mut input, mut length) = (Input::new(words), 1u64);
        if !bytes || input.is_empty() {
            return Ok(None);
        }
        while !input.is_empty() {
            self.unwrapped(&mut input, scope)?;
            let Some(word) = input.next() else { break };
            let Some(own) = bytes_of(&word) else {
                return Ok(None);
            };
            length = length.saturating_add(own);
        }
        Ok(Some(length))
    }

    /// The array that texts in quotes at the front are.
    pub(super) fn quoted(&mut self, input: &mut Input, scope: &Scope) -> Result<Type> {
        let mut length = 1u64;
        while input
            .peek(0)
            .is_some_and(|word| word.kind == TokenKind::Literal)
        {
            let own = input.peek(0).and_then(bytes_of);
            length = length.saturating_add(own.ok_or_else(|| unclear(input.peek(0)))?);
            input.next();
        }
        let one = self.named("char", scope)?;
        one.times(length).ok_or_else(|| unclear(None))
    }
}

/// Whether words initialise one element, and not a part of it: without braces those of a
/// structure or of an array go on with the next.
fn is_one(element: &Type, input: &Input) -> bool {
    let mut words = input.clone();
    let whole = words.brackets().is_some();
    let braced = input.is(0, b'{');
    let literal = |word: &Word| word.kind == TokenKind::Literal && word.text.starts_with('"');
    let quoted = input.peek(0).is_some_and(literal);
    match &element.shape {
        // `{ "text", 1 }` of bytes is an error, that of others wide characters.
        Shape::Scalar { .. } => !braced && !quoted && !input.is_empty(),
        Shape::Pointer { .. } => !braced && !input.is_empty(),
        Shape::Array(of, _) if quoted => of.size == 1,
        // `(struct s){ 1 }`
        Shape::Struct(_) | Shape::Union(_) if input.is(0, b'(') => whole && words.is(0, b'{'),
        _ => braced && whole && words.is_empty(),
    }
}
