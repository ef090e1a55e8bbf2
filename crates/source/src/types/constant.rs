//! Constant expressions: array dimensions, values of enums, conditions of `#if`.

use super::declare::starts_type;
use super::file::Kind;
use super::find::{Found, Scope};
use super::input::{Input, Word, parts};
use super::layout::LayoutError;
use super::layout::{Shape, Type};
use super::query::Query;
use super::sought::Sought;
use super::words::is_loud;
use crate::lex::TokenKind;
use tollgate_defect::answer;

type Result<T> = std::result::Result<T, LayoutError>;

/// Operators between two operands: those of one line bind alike, later ones
/// tighter.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

fn unclear(input: &Input) -> LayoutError {
    let word = input.text(0);
    let word = if word.is_empty() { "its end" } else { word };
    LayoutError::Unclear("a constant".to_owned(), word.to_owned())
}

/// Takes what comes before one of some marks, or all that is left.
fn skip(input: &mut Input, ends: &[u8]) {
    while !input.is_empty() && !ends.iter().any(|end| input.is(0, *end)) {
        if input.brackets().is_none() {
            input.next();
        }
    }
}

/// The operator that comes next, if it binds as tight as `level`.
fn operator(input: &Input, level: usize) -> Option<&'static str> {
    let wanted = OPERATORS.get(level)?;
    let spelled = |operator: &&&str| {
        let same = |(at, byte): (usize, u8)| input.is(at, byte);
        operator.bytes().enumerate().all(same)
    };
    let found = wanted.iter().find(spelled)?;
    // `<` of `<<`, `&` of `&&`, `|` of `||`.
    let longer = input.is(0, b'<') && input.is(1, b'<') || input.is(0, b'>') && input.is(1, b'>');
    let doubled = input.text(0) == input.text(1) && matches!(input.text(0), "&" | "|");
    let single = found.len() == 1 && (longer || doubled);
    (!single).then_some(*found)
}

fn applied(operator: &str, a: i128, b: i128) -> Option<i128> {
    let shift = || answer::fits(b).filter(|by: &u32| *by < 64);
    Some(match operator {
        "||" => i128::from(a != 0 || b != 0),
        "&&" => i128::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i128::from(a == b),
        "!=" => i128::from(a != b),
        "<=" => i128::from(a <= b),
        ">=" => i128::from(a >= b),
        "<" => i128::from(a < b),
        ">" => i128::from(a > b),
        "<<" => a.checked_mul(1i128.checked_shl(shift()?)?)?,
        ">>" => a.checked_shr(shift()?)?,
        "+" => a.checked_add(b)?,
        "-" => a.checked_sub(b)?,
        "*" => a.checked_mul(b)?,
        "/" => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    })
}

/// The value of a number or a character; none if it is neither.
fn literal(word: &Word) -> Option<i128> {
    if word.kind == TokenKind::Literal {
        let inside = word.text.strip_prefix('\'')?.strip_suffix('\'')?;
        let mut bytes = inside.bytes();
        let plain = bytes
            .next()
            .filter(|b| *b != b'\\' && bytes.next().is_none());
        return plain.map(i128::from);
    }
    let digits = word.text.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (lower.get(2..)?, 16),
        [b'0', b'b', ..] => (lower.get(2..)?, 2),
        [b'0', _, ..] => (lower.get(1..)?, 8),
        _ => (lower.as_str(), 10),
    };
    answer::digits(digits, radix)
}

impl Query<'_> {
    /// The value of a constant expression, which ends where no operator follows.
    pub(super) fn value(&mut self, input: &mut Input, scope: &Scope) -> Result<i128> {
        let condition = self.binary(input, scope, 0)?;
        if !input.eat(b'?') {
            return Ok(condition);
        }
        // What is not taken need not be understood: it may name what nobody defines.
        let yes = self.nested("a constant", |run| run.value(input, scope));
        if yes.is_err() && condition == 0 {
            skip(input, b":");
        }
        if !input.eat(b':') {
            return Err(unclear(input));
        }
        let no = self.nested("a constant", |run| run.value(input, scope));
        if no.is_err() && condition != 0 {
            skip(input, b":,");
        }
        if condition != 0 { yes } else { no }
    }

    /// All of the words as a constant.
    pub(super) fn whole_value(&mut self, words: Vec<Word>, scope: &Scope) -> Result<i128> {
        let mut input = Input::new(words);
        let value = self.value(&mut input, scope)?;
        match input.is_empty() {
            true => Ok(value),
            false => Err(unclear(&input)),
        }
    }

    fn binary(&mut self, input: &mut Input, scope: &Scope, level: usize) -> Result<i128> {
        if level == OPERATORS.len() {
            let value = self.nested("a constant", |run| run.unary(input, scope))?;
            self.named_operator(input, scope);
            return Ok(value);
        }
        let mut left = self.binary(input, scope, level + 1)?;
        while let Some(operator) = operator(input, level) {
            for _ in operator.bytes() {
                input.next();
            }
            let right = self.binary(input, scope, level + 1)?;
            left = applied(operator, left, right).ok_or_else(|| unclear(input))?;
        }
        Ok(left)
    }

    /// Puts an operator in the place of the macro that stands for it, as `MAX()` has one; what is none
    /// stays.
    fn named_operator(&mut self, input: &mut Input, scope: &Scope) {
        if input.name(0).is_none() {
            return;
        }
        let before = input.clone();
        let expanded = self.expand(input, scope);
        let is_one = (0..OPERATORS.len()).any(|level| operator(input, level).is_some());
        if expanded != Ok(true) || !is_one {
            *input = before;
        }
    }

    fn unary(&mut self, input: &mut Input, scope: &Scope) -> Result<i128> {
        let Some(word) = input.peek(0).cloned() else {
            return Err(unclear(input));
        };
        match word.kind {
            TokenKind::Number | TokenKind::Literal => {
                let value = literal(&word).ok_or_else(|| unclear(input));
                input.next();
                value
            }
            TokenKind::Punct(b'(') => self.parenthesis(input, scope),
            TokenKind::Punct(sign @ (b'-' | b'+' | b'~' | b'!')) => {
                input.next();
                let most = input.peek(0).and_then(|own| self.most(own));
                let value = self.nested("a constant", |run| run.unary(input, scope))?;
                Ok(match sign {
                    b'-' => -value,
                    b'~' => most.map_or(!value, |most| value ^ most),
                    b'!' => i128::from(value == 0),
                    _ => value,
                })
            }
            TokenKind::Word => self.named_value(input, &word.text, scope),
            _ => Err(unclear(input)),
        }
    }

    /// The largest number of the type that an unsigned literal has, `~0U`: C11, 6.4.4.1. To the
    /// preprocessor each has the largest type.
    fn most(&self, literal: &Word) -> Option<i128> {
        let suffix = literal
            .text
            .trim_start_matches(|own: char| own.is_ascii_hexdigit() || own == 'x');
        let unsigned = literal.kind == TokenKind::Number && suffix.contains(['u', 'U']);
        let bytes = match suffix.matches(['l', 'L']).count() {
            0 if self.deciding.is_empty() => 4,
            1 if self.deciding.is_empty() => self.machine.long,
            _ => 8,
        };
        let bits = answer::fits::<u32, _>(bytes * 8)?;
        unsigned.then(|| 1i128.checked_shl(bits).map(|own| own - 1))?
    }

    /// `(value)` or `(type)value`: a cast changes no number that a size can have.
    fn parenthesis(&mut self, input: &mut Input, scope: &Scope) -> Result<i128> {
        let inside = input.brackets().ok_or_else(|| unclear(input))?;
        let operand = input.peek(0).is_some_and(
            |next| !matches!(next.kind, TokenKind::Punct(byte) if !b"(-~!".contains(&byte)),
        );
        let quiet = |word: &Word| word.text.bytes().any(|b| b.is_ascii_lowercase());
        if operand && inside.first().is_some_and(quiet) && self.is_type(&inside, scope) {
            return self.nested("a cast", |run| run.unary(input, scope));
        }
        self.whole_value(inside, scope)
    }

    /// Whether words between parentheses name a type, be it one that the configuration
    /// leaves out.
    fn is_type(&mut self, words: &[Word], scope: &Scope) -> bool {
        let Some(first) = words.first().filter(|word| word.is_name()) else {
            return false;
        };
        let grouped = |open: &Word| open.is(b'(') && words.get(2).is_some_and(|w| w.is(b'*'));
        let plain = words
            .get(1)
            .is_none_or(|next| next.is(b'*') || next.is_name() || next.is(b'[') || grouped(next));
        starts_type(&first.text)
            || plain
                && self.may_be_typedef(&first.text)
                && !matches!(
                    self.find(&first.text, &[Kind::Typedef], scope),
                    Err(LayoutError::Missing(_))
                )
    }

    fn named_value(&mut self, input: &mut Input, name: &str, scope: &Scope) -> Result<i128> {
        match name {
            "sizeof" => return self.size_of(input, scope).map(|of| of.size.into()),
            "_Alignof" | "__alignof__" | "__alignof" => {
                return self.size_of(input, scope).map(|of| of.align.into());
            }
            "__builtin_offsetof" => return self.offset_of(input, scope),
            "defined" if !self.deciding.is_empty() => {
                input.next();
                let inside = input.brackets().map(Input::new);
                let name = inside.or_else(|| Some(Input::new(vec![input.next()?])));
                let name = name.ok_or_else(|| unclear(input))?;
                return Ok(i128::from(self.is_defined(name.text(0), scope)));
            }
            "true" | "false" => {
                input.next();
                return Ok(i128::from(name == "true"));
            }
            _ => {}
        }
        self.work(name)?;
        if let Some(value) = self.machine.value(name) {
            let value = value.parse().map_err(|_| unclear(input));
            input.next();
            return value;
        }
        if name.starts_with("CONFIG_") || self.unsure.is_some() {
            return Err(LayoutError::Depends(
                "a constant".to_owned(),
                vec![name.to_owned()],
            ));
        }
        // The preprocessor knows no enumerators.
        let kinds: &[Kind] = match self.deciding.is_empty() {
            true => &[Kind::Macro, Kind::Enumerator],
            false => &[Kind::Macro],
        };
        // To know that nothing makes it a constant all headers would be read.
        if self.is_given_typedef(name) {
            return Err(LayoutError::Missing(name.to_owned()));
        }
        let found = self.find(name, kinds, scope)?;
        if found.entry.kind == Kind::Enumerator {
            input.next();
            return self.enumerator(&found, name);
        }
        match self.expand(input, scope)? {
            // What it leaves may be more than one operand: its words bind as they do.
            true => self.nested(name, |run| run.unary(input, scope)),
            false => Err(unclear(input)),
        }
    }

    /// `sizeof(type)`, `sizeof(p->a)`, `sizeof x`
    pub(super) fn size_of(&mut self, input: &mut Input, scope: &Scope) -> Result<Type> {
        input.next();
        let before = input.clone();
        if let Some(inside) = input.brackets()
            && self.is_type(&inside, scope)
        {
            let mut inside = Input::new(inside);
            let of = self.type_name(&mut inside, scope)?;
            return if inside.is_empty() {
                Ok(of)
            } else {
                Err(unclear(&inside))
            };
        }
        *input = before;
        self.object(input, scope)
    }

    /// `__builtin_offsetof(type, a.b[2])`
    fn offset_of(&mut self, input: &mut Input, scope: &Scope) -> Result<i128> {
        input.next();
        let inside = parts(input.brackets().ok_or_else(|| unclear(input))?);
        let [of, path] = <[_; 2]>::try_from(inside).map_err(|_| unclear(input))?;
        let of = self.type_name(&mut Input::new(of), scope)?;
        let path: Vec<&str> = path.iter().map(|word| &*word.text).collect();
        of.at(&path.concat()).map(|(at, _)| at.into())
    }

    /// The type of an expression that names an object: `*p`, `(*(struct s *)0).a`.
    fn object(&mut self, input: &mut Input, scope: &Scope) -> Result<Type> {
        self.nested("an object", |run| run.place(input, scope))
    }

    fn place(&mut self, input: &mut Input, scope: &Scope) -> Result<Type> {
        if input.eat(b'*') {
            let of = self.object(input, scope)?;
            return self.pointed(of, scope);
        }
        if input.eat(b'&') {
            let of = self.object(input, scope)?;
            return Ok(self.pointer(&of.name, false));
        }
        let mut of = match input.brackets() {
            Some(inside) if self.is_type(&inside, scope) => {
                let of = self.type_name(&mut Input::new(inside), scope)?;
                match input.is(0, b'{').then(|| input.brackets()).flatten() {
                    // `(char []){ 1, 2 }`
                    Some(list) => self.completed(of, list, scope)?,
                    None => {
                        self.operand(input, scope);
                        return Ok(of);
                    }
                }
            }
            Some(inside) => {
                let mut inside = Input::new(inside);
                let of = self.object(&mut inside, scope)?;
                if !inside.is_empty() {
                    return Err(unclear(&inside));
                }
                of
            }
            None => self.primary(input, scope)?,
        };
        loop {
            let arrow = input.is(0, b'-') && input.is(1, b'>');
            if arrow || input.is(0, b'.') {
                (0..=usize::from(arrow)).for_each(|_| drop(input.next()));
                of = self.member_of(&of, arrow, input, scope)?;
            } else if input.is(0, b'[') {
                input.brackets().ok_or_else(|| unclear(input))?;
                of = self.pointed(of, scope)?;
            } else {
                return Ok(of);
            }
        }
    }

    /// A number, or a text in quotes, or what a macro stands for.
    fn primary(&mut self, input: &mut Input, scope: &Scope) -> Result<Type> {
        let word = input.peek(0).cloned().ok_or_else(|| unclear(input))?;
        match word.kind {
            TokenKind::Number => {
                input.next();
                self.named("int", scope)
            }
            TokenKind::Literal if word.text.starts_with('"') => self.quoted(input, scope),
            TokenKind::Word
                if self.may_expand(&word.text, scope) && self.expand(input, scope)? =>
            {
                self.object(input, scope)
            }
            TokenKind::Word => Err(LayoutError::Missing(word.text.to_string())),
            _ => Err(unclear(input)),
        }
    }

    /// Whether the name of an object may be a macro: one that is spelled as variables
    /// are is one only of its own file.
    pub(super) fn may_expand(&self, name: &str, scope: &Scope) -> bool {
        let file = self.types.real(&scope.file);
        is_loud(name.as_bytes()) || !file.entries(Sought::of(name), &[Kind::Macro]).is_empty()
    }

    /// Passes over what is cast.
    fn operand(&mut self, input: &mut Input, scope: &Scope) {
        let before = input.clone();
        if self.object(input, scope).is_err() {
            *input = before;
            if input.brackets().is_none() {
                input.next();
            }
        }
    }

    /// The type of a member that is named next; a macro may stand for the names of several, one in the
    /// other: `#define ifr_data ifr_ifru.ifru_data`. What is behind the first of them stays.
    fn member_of(
        &mut self,
        of: &Type,
        arrow: bool,
        input: &mut Input,
        scope: &Scope,
    ) -> Result<Type> {
        let name = input.next().ok_or_else(|| unclear(input))?;
        let own = self.member_named(of, arrow, &name.text, scope);
        let Err(missing) = own else { return own };
        input.put(vec![name]);
        if !self.expand(input, scope)? {
            return Err(missing);
        }
        let first = input.next().ok_or_else(|| unclear(input))?;
        self.member_named(of, arrow, &first.text, scope)
    }

    fn member_named(&mut self, of: &Type, arrow: bool, name: &str, scope: &Scope) -> Result<Type> {
        match arrow {
            true => self.member_behind(of, name, scope),
            false => Ok(of.at(name)?.1.clone()),
        }
    }

    /// The type of `p->name`.
    fn member_behind(&mut self, of: &Type, name: &str, scope: &Scope) -> Result<Type> {
        if let Shape::Pointer { to, .. } = &of.shape
            && to
                .split_once(' ')
                .is_some_and(|(_, tag)| super::words::is_name(tag))
            && let Some(found) = self.nested(to, |run| run.lone_member(to, name, scope))?
        {
            return Ok(found);
        }
        Ok(self.pointed(of.clone(), scope)?.at(name)?.1.clone())
    }

    fn pointed(&mut self, of: Type, scope: &Scope) -> Result<Type> {
        match of.shape {
            Shape::Array(of, _) => Ok(*of),
            Shape::Pointer { to, .. } if !to.is_empty() => {
                let mut input = super::query::words(&to);
                self.type_name(&mut input, scope)
            }
            _ => Err(LayoutError::Pointee(of.name)),
        }
    }

    /// The value of one of the names of an enum.
    fn enumerator(&mut self, found: &Found, name: &str) -> Result<i128> {
        let values = self.enumerators(found)?;
        let value = values.into_iter().find(|(own, _)| **own == *name);
        value
            .map(|(_, value)| value)
            .ok_or_else(|| LayoutError::Missing(name.to_owned()))
    }

    /// The values of an enum.
    pub(super) fn enumerators(&mut self, found: &Found) -> Result<Vec<(Box<str>, i128)>> {
        let mut input = self.statement(found)?;
        while !input.is_empty() && !input.is(0, b'{') {
            input.next();
        }
        let inside = input.brackets().ok_or_else(|| unclear(&input))?;
        self.values_of(inside, &found.scope)
    }

    /// `A, B = 3, C`
    pub(super) fn values_of(
        &mut self,
        inside: Vec<Word>,
        scope: &Scope,
    ) -> Result<Vec<(Box<str>, i128)>> {
        let mut found: Vec<(Box<str>, i128)> = Vec::new();
        let mut next = 0;
        for words in parts(inside).into_iter().filter(|words| !words.is_empty()) {
            let mut input = Input::new(words);
            let name = input
                .next()
                .filter(Word::is_name)
                .ok_or_else(|| unclear(&input))?;
            if input.eat(b'=') {
                // Those of the same enum are known before it ends.
                input = with_values(input, &found);
                next = self.value(&mut input, scope)?;
            }
            if !input.is_empty() {
                return Err(unclear(&input));
            }
            found.push((name.text, next));
            next += 1;
        }
        Ok(found)
    }

    /// Whether the condition of an `#if` holds. A part of it that has no value
    /// is an option.
    pub(super) fn condition(&mut self, words: Vec<Word>, scope: &Scope) -> bool {
        let mut sides = between(words, b'|').into_iter();
        sides.any(|side| {
            let mut both = between(side, b'&').into_iter();
            both.all(|one| self.holds_alone(one, scope))
        })
    }

    fn holds_alone(&mut self, words: Vec<Word>, scope: &Scope) -> bool {
        let mut input = Input::new(words.clone());
        let written = input.written();
        if input.is(0, b'!') && !input.is(1, b'=') {
            let rest = words.into_iter().skip(1).collect();
            let holds = self.nested(&written, |run| Ok(!run.holds_alone(rest, scope)));
            return holds.unwrap_or_else(|_| self.choose(&written));
        }
        if let Some(inside) = input.brackets()
            && input.is_empty()
        {
            let holds = self.nested(&written, |run| Ok(run.condition(inside, scope)));
            return holds.unwrap_or_else(|_| self.choose(&written));
        }
        if let Some(name) = asked(&words) {
            return self.is_defined(&name, scope);
        }
        match self.whole_value(words, scope) {
            Ok(value) => value != 0,
            // A name that is no macro counts as 0.
            Err(LayoutError::Missing(name)) if name.starts_with("__") && name == written => false,
            Err(_) => self.choose(&written),
        }
    }
}

/// The words with the names of known values replaced.
fn with_values(input: Input, known: &[(Box<str>, i128)]) -> Input {
    let mut input = input;
    let words = std::iter::from_fn(|| input.next()).flat_map(|word| {
        let value = known.iter().find(|(name, _)| *name == word.text);
        match value {
            Some((_, value)) => super::query::bracketed(*value),
            None => vec![word],
        }
    });
    Input::new(words.collect())
}

/// The name in `defined(X)`, `defined X`, `IS_ENABLED(X)`.
fn asked(words: &[Word]) -> Option<String> {
    let text = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let known = matches!(
        text(0),
        "defined" | "IS_ENABLED" | "IS_BUILTIN" | "IS_REACHABLE"
    );
    let name = match words {
        [_, name] if text(0) == "defined" => name,
        [_, open, name, close] if known && open.is(b'(') && close.is(b')') => name,
        _ => return None,
    };
    Some(name.text.to_string())
}

/// What `||` or `&&` parts, outside of parentheses.
fn between(words: Vec<Word>, byte: u8) -> Vec<Vec<Word>> {
    let mut found = vec![Vec::new()];
    let mut depth = 0usize;
    let mut input = Input::new(words);
    while let Some(word) = input.next() {
        depth += usize::from(word.is(b'('));
        depth = depth.saturating_sub(usize::from(word.is(b')')));
        if depth == 0 && word.is(byte) && input.eat(byte) {
            found.push(Vec::new());
        } else if let Some(last) = found.last_mut() {
            last.push(word);
        }
    }
    found
}
