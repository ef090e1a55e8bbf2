//! The range that a begin checks, as far as its arguments say.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tollgate_defect::answer;

use crate::lex::{Token, TokenKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::root_of;
use super::context::FunctionContext;
use super::extent::{self, Extent};
use crate::expression::{Expression, Term};
use crate::flow::{Begin, Effect, EffectKind, Local, Write};
use crate::types::Dimensions;

/// What a begin checks.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// The variable that the address is made from.
    pub(crate) root: String,
    /// The address without casts.
    address: Expression,
    /// The size; none if the begin takes none.
    size: Option<Rc<Expression>>,
    /// How many elements of the object, where the size says so.
    pub(crate) elements: Option<u64>,
    /// How many bytes, where the size says so.
    pub(crate) bytes: Option<u64>,
    /// Which bytes behind the variable, where types and size say so.
    pub(crate) extent: Option<Extent>,
    /// Both as they are written.
    words: String,
}

impl Range {
    /// The range of a begin whose address is known.
    pub(crate) fn of(function: &FunctionContext<'_>, begin: &Begin) -> Option<Self> {
        let place = begin.address?;
        let whole = function.expression(place)?;
        let root = function.file.plain(whole.root().span);
        let size = begin.size.and_then(|size| function.expression(size));
        let address = function.file.plain(place);
        let plain = whole.uncast().1;
        Some(Self {
            extent: checked(function, begin, size.as_deref(), plain),
            words: match begin.size {
                Some(size) => format!("{} from {address}", function.file.plain(size)),
                None => format!("what {address} points to"),
            },
            elements: size.as_ref().and_then(|size| {
                elements(size, &root).or_else(|| whole_elements(function, size, plain))
            }),
            bytes: size.as_ref().and_then(|size| bytes(function, size)),
            address: plain.clone(),
            size,
            root,
        })
    }

    /// The range as the begin has it.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    /// What is wrong with the range itself.
    pub(crate) fn wrong(&self, function: &FunctionContext<'_>) -> Option<String> {
        let size = self.size.as_ref()?;
        if is_endless(size) {
            let size = function.file.plain(size.span);
            return Some(format!("the size {size} is no size of an object"));
        }
        let own = declared_type(function, &self.root)?;
        if size.sized() == Some(&self.root) {
            return Some(format!(
                "sizeof({}) is the size of the pointer, not of what it points to",
                self.root
            ));
        }
        let other = sized_type(function, size)?;
        let named = |kind: &str| kind.starts_with("struct ");
        let plain = self.address.name() == Some(&self.root);
        let wrong = plain && named(&own) && named(&other) && own != other;
        wrong.then(|| {
            format!(
                "{} points to {own}, but the size is that of {other}",
                self.root
            )
        })
    }

    /// Whether the size is that of one object.
    pub(crate) fn is_exact(&self, function: &FunctionContext<'_>) -> bool {
        let size = self.size.as_ref();
        size.is_some_and(|size| {
            is_pointee(size, &self.root)
                || declared_type(function, &self.root).is_some_and(|own| size.sized() == Some(&own))
        })
    }

    /// Whether the range is one member and the address another one.
    pub(crate) fn leaves_member(&self, address: &Expression) -> bool {
        let (Some(checked), Some(place)) = (member(&self.address), pointed(address)) else {
            return false;
        };
        let size = self.size.as_ref().map(|size| &size.term);
        let whole = matches!(size, Some(Term::SizeOf(of)) if **of == *checked);
        whole && !place.lies_in(checked)
    }

    /// What an address is reached through, if that is a pointer which lies in the
    /// object, and the range is of the object: `p->other` of `&p->other->member`.
    pub(crate) fn leaves_by<'e>(&self, address: &'e Expression) -> Option<&'e Expression> {
        self.address.name().filter(|own| *own == self.root)?;
        let pointer = pointed(address)?.pointer()?;
        matches!(pointer.term, Term::Member { .. }).then_some(pointer)
    }

    /// The address without casts, and the size, if the begin takes one.
    pub(crate) fn parts(&self) -> Option<(&Expression, &Expression)> {
        Some((&self.address, self.size.as_deref()?))
    }

    /// How many bytes the size is, as a variable of the function says it.
    pub(crate) fn counted(&self) -> Option<&str> {
        self.size.as_ref()?.name()
    }

    /// The size, where the range begins at what the variable points to.
    pub(crate) fn size_at_root(&self) -> Option<&Expression> {
        let plain = self.address.name() == Some(&self.root);
        self.size.as_deref().filter(|_| plain)
    }

    /// The variable that counts the elements: `n` of `n * sizeof(*p)`.
    pub(crate) fn rounds(&self, function: &FunctionContext<'_>) -> Option<&str> {
        let Term::Binary(left, operator, right) = &self.size.as_ref()?.term else {
            return None;
        };
        let element = extent::element(function, &self.root)?;
        let one = |size: &Expression| extent::bytes(function, size) == Some(element);
        match (left.name(), right.name()) {
            (Some(count), _) if one(right) && operator == "*" => Some(count),
            (_, Some(count)) if one(left) && operator == "*" => Some(count),
            _ => None,
        }
    }

    /// Whether one object is checked, and no number of them.
    pub(crate) fn has_one(&self, begin: &Begin) -> bool {
        let whole = begin.scope.is_some() && self.size.is_none();
        let own = self.address.name() == Some(&self.root);
        own && (whole || self.elements == Some(1))
    }

    /// Whether the size is that of a member of the object that begins where the
    /// range does, and the address another member.
    pub(crate) fn is_short_of(&self, address: &Expression) -> bool {
        let own = self.address.name() == Some(&self.root);
        let size = self.size.as_ref().filter(|_| own).map(|size| &size.term);
        let (Some(Term::SizeOf(checked)), Some(place)) = (size, pointed(address)) else {
            return false;
        };
        let member = matches!(checked.term, Term::Member { arrow: true, .. });
        let same = checked.root().name() == Some(&self.root);
        member && same && !place.lies_in(checked)
    }
}

/// Whether the function checks that object by a call.
pub(crate) fn checks_range(function: &FunctionContext<'_>, root: &str) -> bool {
    let mut calls = function.calls.iter();
    calls.any(|&call| {
        let check = function.file.words.checks_range(function.called(call));
        let address = call.part("arguments").and_then(|a| a.named_child(0));
        check && address.is_some_and(|a| root_of(function.context, a) == root)
    })
}

/// The bytes that a begin checks behind the variable of its address.
fn checked(
    function: &FunctionContext<'_>,
    begin: &Begin,
    size: Option<&Expression>,
    address: &Expression,
) -> Option<Extent> {
    let pointer = address.root().name()?;
    let length = match size {
        Some(size) => Some(extent::bytes(function, size)?),
        None => begin.scope.map(|_| None)?,
    };
    extent::touched(function, address, pointer, length.map(Some))
}

/// The place whose address is taken.
fn pointed(address: &Expression) -> Option<&Expression> {
    match &address.term {
        Term::Address(place) => Some(place),
        _ => None,
    }
}

/// The place whose address is taken, if it is a member of what a pointer points to.
pub(crate) fn member(address: &Expression) -> Option<&Expression> {
    let arrow = |own: &Expression| matches!(own.term, Term::Member { arrow: true, .. });
    pointed(address).filter(|place| place.any(&arrow))
}

/// Whether an address is that of an element of the variable's that is not known:
/// `&p[i]`, `p + i`.
pub(crate) fn is_picked(address: &Expression, root: &str) -> bool {
    let computed = |index: &Expression| !matches!(index.term, Term::Number(_));
    match &address.term {
        Term::Binary(base, operator, index) => {
            operator == "+" && base.name() == Some(root) && computed(index)
        }
        Term::Address(place) => match &place.term {
            Term::Element { array, index } => array.name() == Some(root) && computed(index),
            _ => false,
        },
        _ => false,
    }
}

/// A size that no object has.
fn is_endless(size: &Expression) -> bool {
    const NAMES: [&str; 5] = ["TASK_SIZE", "ULONG_MAX", "SIZE_MAX", "LONG_MAX", "INT_MAX"];
    match &size.term {
        Term::Name(name) => NAMES.contains(&name.as_str()),
        Term::Unary(operator, _) => matches!(operator.as_str(), "~" | "-"),
        _ => false,
    }
}

/// `sizeof(*root)`
fn is_pointee(size: &Expression, root: &str) -> bool {
    matches!(&size.term, Term::SizeOf(of)
        if matches!(&of.term, Term::Behind(pointer) if pointer.name() == Some(root)))
}

/// The type whose size it is.
fn sized_type(function: &FunctionContext<'_>, size: &Expression) -> Option<String> {
    match &size.term {
        Term::SizeOf(of) => match &of.term {
            Term::Behind(pointer) => declared_type(function, pointer.name()?),
            _ => None,
        },
        _ => size.sized().map(str::to_owned),
    }
}

/// `sizeof(*p)` is one element, `2 * sizeof(…)` two.
fn elements(size: &Expression, root: &str) -> Option<u64> {
    if is_pointee(size, root) {
        return Some(1);
    }
    let Term::Binary(left, operator, right) = &size.term else {
        return None;
    };
    let count = match (&left.term, &right.term) {
        (Term::Number(count), Term::SizeOf(_) | Term::SizeOfType(_))
        | (Term::SizeOf(_) | Term::SizeOfType(_), Term::Number(count)) => count,
        _ => return None,
    };
    answer::number(count).filter(|_| operator == "*")
}

/// How many elements a number of bytes is, where the address is that of the first one.
fn whole_elements(
    function: &FunctionContext<'_>,
    size: &Expression,
    address: &Expression,
) -> Option<u64> {
    // A name may be a constant of any header: only what says its size is read.
    let pointer = address
        .name()
        .filter(|_| !size.any(&|own| own.name().is_some()))?;
    let element = extent::element(function, pointer).filter(|element| *element > 1)?;
    let bytes = extent::bytes(function, size)?;
    (bytes > 0 && bytes.checked_rem(element)? == 0).then(|| bytes / element)
}

/// How many bytes a size is, where a `long` has 8.
fn bytes(function: &FunctionContext<'_>, size: &Expression) -> Option<u64> {
    match &size.term {
        Term::Number(number) => answer::number(number),
        Term::SizeOfType(of) if of.pointers > 0 && of.dimensions.is_empty() => Some(8),
        _ => function.file.types.scalar(size.sized()?),
    }
}

/// The type of an array of the function, `char [16]`.
pub(crate) fn array_type(function: &FunctionContext<'_>, local: &Local) -> Option<String> {
    let text = function.file.text;
    let own = function.file.tokens_in(local.declared);
    let name = |token: &Token| token.span.of(text) == local.name.as_bytes();
    let at = own
        .windows(2)
        .position(|two| matches!(two, [word, next] if name(word) && next.is(b'[')))?;
    let stars = own
        .get(..at)?
        .iter()
        .rev()
        .take_while(|token| token.is(b'*'));
    let stars = " *".repeat(stars.count());
    let dimensions = Dimensions::read(text, own.get(at + 1..)?)?;
    Some(dimensions.array(&format!("{}{stars}", local.base_type)))
}

/// The type of an array that the file declares outside its functions.
pub(crate) fn file_array_type(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    let (text, all) = (function.file.text, function.file.tokens);
    let named = |two: &[Token]| match two {
        [word, next] => {
            word.span.of(text) == name.as_bytes()
                && next.is(b'[')
                && function.file.holder(word.span).is_none()
        }
        _ => false,
    };
    let at = outside(text, all, named)?;
    let before = all.get(..at)?.iter().rev();
    let of_type = before.take_while(|own| own.kind == TokenKind::Word || own.is(b'*'));
    let of_type = of_type.filter(|own| {
        let word = own.span.of(text);
        !matches!(word, b"static" | b"const" | b"volatile") && !word.starts_with(b"__")
    });
    let mut words: Vec<String> = of_type.map(|own| own.span.text(text)).collect();
    words.reverse();
    let dimensions = Dimensions::read(text, all.get(at + 1..)?)?;
    (!words.is_empty()).then(|| dimensions.array(&words.join(" ")))
}

/// What a constant of the file is: `static const size_t most = 1 << 12;`.
pub(crate) fn file_constant(function: &FunctionContext<'_>, name: &str) -> Option<u64> {
    let (text, all) = (function.file.text, function.file.tokens);
    let named = |two: &[Token]| match two {
        [word, next] => {
            word.span.of(text) == name.as_bytes()
                && next.is(b'=')
                && function.file.holder(word.span).is_none()
        }
        _ => false,
    };
    let at = all.windows(2).position(named)?;
    let before = all.get(..at)?.iter().rev();
    let mut before = before.take_while(|own| own.kind == TokenKind::Word);
    before.find(|own| own.span.of(text) == b"const")?;
    let value = all.get(at + 2..)?.iter().take_while(|own| !own.is(b';'));
    let value: Vec<String> = value.map(|own| own.span.text(text)).collect();
    function.file.value(&value.join(" "))
}

/// The first place of two tokens that is in no structure.
fn outside(text: &[u8], all: &[Token], named: impl Fn(&[Token]) -> bool) -> Option<usize> {
    let own = |(at, two): (usize, &[Token])| named(two).then_some(at);
    let mut places = all.windows(2).enumerate().filter_map(own);
    places.find(|at| !is_member(text, all.get(..*at).unwrap_or(all)))
}

/// Whether tokens leave a structure open, so that what stands behind them is a member.
fn is_member(text: &[u8], before: &[Token]) -> bool {
    let mut closed = 0_usize;
    let open = before.iter().rposition(|own| {
        closed += usize::from(own.is(b'}'));
        let opens = own.is(b'{');
        let open = opens && closed == 0;
        closed = closed.saturating_sub(usize::from(opens));
        open
    });
    let kind = |own: &Token| matches!(own.span.of(text), b"struct" | b"union");
    open.is_some_and(|at| {
        let mut words = before.iter().take(at).rev();
        words.next().is_some_and(kind) || words.next().is_some_and(kind)
    })
}

/// What a variable of the file that is no array is declared as.
pub(crate) fn file_scalar_type(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    let (text, all) = (function.file.text, function.file.tokens);
    let named = |two: &[Token]| match two {
        [word, next] => {
            word.span.of(text) == name.as_bytes()
                && (next.is(b'=') || next.is(b';') || next.kind == TokenKind::Word)
                && function.file.holder(word.span).is_none()
        }
        _ => false,
    };
    let at = outside(text, all, named)?;
    let before = all.get(..at)?.iter().rev();
    let of_type = before.take_while(|own| own.kind == TokenKind::Word || own.is(b'*'));
    let words = of_type.map(|own| own.span.text(text));
    let words = words.filter(|own| !matches!(own.as_str(), "static" | "const" | "volatile"));
    let mut words: Vec<String> = words.collect();
    words.reverse();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The tokens of the function, its header included.
pub(crate) fn function_tokens<'s>(function: &FunctionContext<'s>) -> &'s [Token] {
    let place = function.body.header.join(function.body.span);
    function.file.tokens_in(place)
}

/// Whether tokens begin with `*name`, or the `*, name` of a system call's header.
pub(crate) fn declares(function: &FunctionContext<'_>, three: &[Token], name: &str) -> bool {
    let [star, word, third] = three else {
        return false;
    };
    let (body, text) = (function.body, function.file.text);
    let apart = word.is(b',') && body.is_system_call() && body.header.contains(third.span);
    let own = |token: &Token| token.span.of(text) == name.as_bytes();
    star.is(b'*') && (own(word) || apart && own(third))
}

fn stars<'f>(function: &'f FunctionContext<'_>, tokens: &[Token]) -> &'f [usize] {
    function.stars.get_or_init(|| {
        let tokens = tokens.iter().enumerate();
        let stars = tokens.filter(|(_, own)| own.is(b'*'));
        stars.map(|(at, _)| at).collect()
    })
}

/// The type of `T __user *name`, as the function declares it.
pub(crate) fn declared_type(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    let tokens = function_tokens(function);
    let text = function.file.text;
    let own = |at: &&usize| {
        let three = tokens.get(**at..).and_then(|own| own.get(..3));
        three.is_some_and(|three| declares(function, three, name))
    };
    let at = stars(function, tokens).iter().find(own)?;
    let before = tokens.get(..*at)?.iter().rev();
    let mut words: Vec<&[u8]> = before
        .take_while(|t| t.kind == TokenKind::Word)
        .map(|t| t.span.of(text))
        .collect();
    words.reverse();
    words.contains(&b"__user".as_slice()).then_some(())?;
    words.retain(|w| {
        !matches!(
            *w,
            b"__user" | b"const" | b"volatile" | b"static" | b"register"
        )
    });
    let words: Vec<String> = words
        .iter()
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    Some(words.join(" "))
}

/// Whether the one variable is made from the other, by whatever way but that both were given to
/// accesses whose results came together, `err |= __get_user(a, one); err |= __put_user(a, other)`,
/// or were asked what to give, `ret = swap(one ? &a : NULL, other ? &b : NULL)`.
pub(crate) fn is_related(function: &FunctionContext<'_>, one: &str, other: &str) -> bool {
    let accesses = function.accesses.iter();
    let mut out: Vec<Span> = accesses.map(|own| own.user).collect();
    function.each_of(&["conditional_expression"], |node| {
        let asked = node.part("condition");
        let asked = asked.filter(|_| node.part("consequence").is_some());
        out.extend(asked.map(span));
    });
    let is_out = |at: Span| out.iter().any(|own| own.contains(at));
    reached(one, &relations(function, &is_out)).contains(other)
}

/// A variable, and those that it is made from, or that are made from it, by whatever way.
pub(crate) fn related<'s>(function: &'s FunctionContext<'_>, one: &'s str) -> BTreeSet<&'s str> {
    reached(one, &relations(function, &|_| false))
}

fn reached<'s>(one: &'s str, edges: &BTreeMap<&'s str, BTreeSet<&'s str>>) -> BTreeSet<&'s str> {
    let mut known = BTreeSet::from([one]);
    let mut work = vec![one];
    while let Some(name) = work.pop() {
        for next in edges.get(name).into_iter().flatten() {
            if known.insert(next) {
                work.push(next);
            }
        }
    }
    known
}

/// The variables that stand on the other side of an assignment.
pub(crate) fn beside<'s>(function: &'s FunctionContext<'_>, one: &str) -> BTreeSet<&'s str> {
    relations(function, &|_| false)
        .remove(one)
        .into_iter()
        .flatten()
        .collect()
}

/// Whether a user pointer goes on by a number, `p += n`: it is made of that no more than of 1.
fn is_step(function: &FunctionContext<'_>, effect: &Effect, name: &str) -> bool {
    let whole = function.expression(effect.span);
    let Some(Term::Assignment(pointer, operator, _)) = whole.as_ref().map(|own| &own.term) else {
        return false;
    };
    operator != "=" && pointer.name() == Some(name) && declared_type(function, name).is_some()
}

/// Variables that stand on the two sides of an assignment, but in places that are left out.
fn relations<'s>(
    function: &'s FunctionContext<'_>,
    out: &dyn Fn(Span) -> bool,
) -> BTreeMap<&'s str, BTreeSet<&'s str>> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for effect in &function.graph.effects {
        let EffectKind::Write(Write {
            value: Some(value), ..
        }) = &effect.kind
        else {
            continue;
        };
        let left = function.graph.name_of(effect);
        if is_step(function, effect, left) {
            continue;
        }
        let named = function.graph.effects_in(*value);
        for right in named.filter(|own| !out(own.span)) {
            let right = function.graph.name_of(right);
            edges.entry(left).or_default().insert(right);
            edges.entry(right).or_default().insert(left);
        }
    }
    edges
}
