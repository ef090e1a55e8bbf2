//! Memory that a function allocates for what it copies.

use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::span::Span;

use super::context::FunctionContext;
use super::limit::{Limit, limits};
use super::linear::Linear;
use super::past_array::reaches;
use super::{apart, space, unbounded};

/// So much is no bound of a number of elements.
const WRAPS: u64 = 1 << 26;

/// Memory that a variable of the function leads to.
pub(crate) struct Allocation {
    /// Where it is allocated.
    pub(crate) place: Span,
    /// How many bytes.
    size: Size,
    /// How often that.
    count: Option<Expression>,
    /// Whether every byte is 0.
    pub(crate) zeroed: bool,
}

/// How many bytes are allocated.
enum Size {
    /// So many as a number says.
    Bytes(Expression),
    /// As many as an object or a type has: `kmalloc_obj(*p)`.
    Of(Expression),
    /// As many as a page has.
    Page,
}

impl Size {
    fn bytes(&self, function: &FunctionContext<'_>) -> Option<u64> {
        match self {
            Self::Bytes(size) => space::bytes(function, size),
            Self::Of(object) => {
                let own = space::type_of(function, object).map(|own| own.size);
                own.or_else(|| {
                    let written = argument(function, object.span.start);
                    function.file.value(&format!("sizeof({written})"))
                })
            }
            Self::Page => function.file.value("PAGE_SIZE"),
        }
    }
}

/// The argument that begins there, as it is written: of a type the grammar sees but a part.
pub(crate) fn argument(function: &FunctionContext<'_>, from: usize) -> String {
    let file = function.file;
    let first = file.tokens.partition_point(|own| own.span.start < from);
    let own = file.tokens.iter().skip(first);
    let own = own.take_while(|own| !own.is(b',') && !own.is(b')'));
    let words: Vec<String> = own.map(|own| own.span.text(file.text)).collect();
    words.join(" ")
}

impl Allocation {
    /// What the variable is given, if that is all that it is ever given before a place.
    pub(crate) fn of(function: &FunctionContext<'_>, name: &str, at: Span) -> Option<Self> {
        let graph = function.graph;
        let local = graph.local(name).filter(|own| !own.array && !own.lasting)?;
        let mut values = graph.assignments().filter(|(own, value)| {
            // Before it is allocated there is none.
            let none = function.expression(*value);
            *own == local.name && none.is_none_or(|own| !own.is_null())
        });
        let (_, place) = values.next()?;
        (place.end <= at.start && values.next().is_none()).then_some(())?;
        Self::taken(function, place)
    }

    /// What the variable is given on some way to a place, whatever it is given on others.
    pub(crate) fn all(function: &FunctionContext<'_>, name: &str, at: Span) -> Vec<Self> {
        let graph = function.graph;
        let local = graph.local(name).filter(|own| !own.array && !own.lasting);
        let Some(local) = local else {
            return Vec::new();
        };
        let values = graph
            .assignments()
            .filter(|(own, value)| *own == local.name && value.end <= at.start);
        let own = values.filter_map(|(_, value)| Self::taken(function, value));
        own.filter(|own| reaches(function, name, own.place, at))
            .collect()
    }

    /// What a call gives whose value a variable takes.
    fn taken(function: &FunctionContext<'_>, place: Span) -> Option<Self> {
        let value = function.expression(place)?;
        let (callee, arguments) = value.uncast().1.call()?;
        let words = function.file.words;
        if let Some(page) = words.results().gives_page(callee) {
            return Some(Self {
                place,
                size: Size::Page,
                count: None,
                zeroed: page.zeroed,
            });
        }
        let known = words.allocates(callee)?;
        let size = match known.object {
            Some(at) => Size::Of(arguments.get(at)?.clone()),
            None => Size::Bytes(arguments.get(known.size)?.clone()),
        };
        let count = match known.count {
            Some(at) => Some(arguments.get(at)?.clone()),
            None => None,
        };
        Some(Self {
            place,
            size,
            count,
            zeroed: known.zeroed,
        })
    }

    /// Whether so many bytes are all of it.
    pub(crate) fn is_size(&self, function: &FunctionContext<'_>, bytes: &Expression) -> bool {
        let kept = || {
            let mut later = function.graph.effects.iter();
            !later.any(|own| {
                let written = matches!(own.kind, EffectKind::Write(_));
                let behind = written && own.span.start >= self.place.end;
                behind && bytes.any(&|part| part.name() == Some(function.graph.name_of(own)))
            })
        };
        let written = matches!(&self.size, Size::Bytes(own) if own.uncast().1 == bytes) && kept();
        let known = || space::bytes(function, bytes);
        self.count.is_none() && written || known().is_some() && self.bytes(function) == known()
    }

    /// What is wrong where so many bytes are copied to or from its front.
    pub(crate) fn exceeded(
        &self,
        function: &FunctionContext<'_>,
        bytes: &Expression,
        at: Span,
    ) -> Option<String> {
        match (self.bytes(function), space::bytes(function, bytes)) {
            (Some(size), Some(bytes)) => (bytes > size)
                .then(|| format!("{bytes} bytes are copied, and {size} were allocated")),
            (Some(size), None) => {
                let source = unbounded::users(function, bytes, at)?;
                let judged = unbounded::is_handed_before(function, bytes, at);
                (!judged).then(|| {
                    format!("{size} bytes were allocated, and nothing bounds {source}, which is the user's")
                })
            }
            (None, _) => {
                let said = match self.is_short_of(bytes) {
                    Some(size) => function.file.plain(size.span),
                    None => self.is_less_than(function, bytes, at)?,
                };
                let copied = function.file.plain(bytes.span);
                Some(format!(
                    "{copied} bytes are copied, and {said} were allocated"
                ))
            }
        }
    }

    /// What was allocated, where that is fewer elements, or smaller ones, of the same number, or
    /// another number of the user's has nothing to do with.
    fn is_less_than(
        &self,
        function: &FunctionContext<'_>,
        bytes: &Expression,
        at: Span,
    ) -> Option<String> {
        let Size::Bytes(size) = &self.size else {
            return None;
        };
        let other = Linear::of(function, bytes)?;
        if let Some(less) = self.less(function, &other, at) {
            return Some(less);
        }
        if self.bounds_elements(function, &other, at) {
            return Some(function.file.plain(size.span));
        }
        function.pays().filter(|()| self.count.is_none())?;
        let another = apart::is_of_another(function, (size, self.place), (bytes, at));
        another.then(|| function.file.plain(size.span))
    }

    /// Whether nothing bounds how many elements are copied but how many bytes were allocated.
    fn bounds_elements(&self, function: &FunctionContext<'_>, copied: &Linear, at: Span) -> bool {
        let Some(size) = self.size().filter(|_| copied.each > 1) else {
            return false;
        };
        let size = size.uncast().1;
        let Some(all) = limits(function, &copied.number, at) else {
            return false;
        };
        let by_size = |own: &Limit| own.other.uncast().1 == size;
        let kept = !is_changed(function, size, self.place, at);
        // What keeps a product from wrapping is no bound of it.
        let wraps = |own: &Limit| own.value.is_some_and(|value| value >= WRAPS);
        kept && all.iter().any(by_size) && all.iter().all(|own| by_size(own) || wraps(own))
    }

    /// What was allocated, where that is less of the same number, which is no other one at a place.
    pub(crate) fn less(
        &self,
        function: &FunctionContext<'_>,
        other: &Linear,
        at: Span,
    ) -> Option<String> {
        let Size::Bytes(size) = &self.size else {
            return None;
        };
        let own = match &self.count {
            Some(count) => Linear::product(count, space::bytes(function, size)?),
            None => Linear::of(function, size)?,
        };
        let kept = || !is_changed(function, &own.number, self.place, at);
        (other.is_more_than(&own) && kept()).then_some(())?;
        let written = function.file.plain(size.span);
        let count = self.count.as_ref();
        Some(match count {
            Some(count) => format!("{} of {written}", function.file.plain(count.span)),
            None => written,
        })
    }

    /// Whether it has as many bytes as the number says, whatever that is.
    pub(crate) fn is_of(&self, number: &Expression) -> bool {
        self.count.is_none() && matches!(&self.size, Size::Bytes(size) if size == number)
    }

    /// Whether it has as many bytes as the number says, be they asked for as so many elements of
    /// one byte.
    pub(crate) fn is_of_bytes(&self, function: &FunctionContext<'_>, number: &Expression) -> bool {
        let elements = self
            .count
            .as_ref()
            .is_some_and(|own| own.uncast().1 == number);
        match &self.size {
            Size::Bytes(size) if self.count.is_none() => size.uncast().1 == number,
            size => elements && size.bytes(function) == Some(1),
        }
    }

    /// Whether that number is how many elements it has, which are larger than a byte.
    pub(crate) fn is_of_elements(
        &self,
        function: &FunctionContext<'_>,
        number: &Expression,
    ) -> bool {
        let larger = |size: &Expression| space::bytes(function, size).is_some_and(|own| own > 1);
        match (&self.count, &self.size) {
            (Some(count), size) => {
                count.uncast().1 == number && size.bytes(function).is_some_and(|own| own > 1)
            }
            (None, Size::Bytes(size)) => match &size.uncast().1.term {
                Term::Binary(left, operator, right) if operator == "*" => {
                    let (left, right) = (left.uncast().1, right.uncast().1);
                    left == number && larger(right) || right == number && larger(left)
                }
                _ => false,
            },
            (None, Size::Of(_) | Size::Page) => false,
        }
    }

    /// Whether it is made of elements of so many bytes.
    pub(crate) fn has_elements(&self, function: &FunctionContext<'_>, element: u64) -> bool {
        match (&self.count, &self.size) {
            (Some(_), size) => size.bytes(function) == Some(element),
            (None, Size::Bytes(size)) => product(function, size, element),
            (None, Size::Of(_) | Size::Page) => false,
        }
    }

    /// The number that says how many bytes it has, if it is one alone.
    pub(crate) fn size(&self) -> Option<&Expression> {
        match &self.size {
            Size::Bytes(size) if self.count.is_none() => Some(size),
            _ => None,
        }
    }

    /// How many bytes it has, where that is a constant.
    pub(crate) fn bytes(&self, function: &FunctionContext<'_>) -> Option<u64> {
        let size = self.size.bytes(function)?;
        match &self.count {
            Some(count) => size.checked_mul(space::bytes(function, count)?),
            None => Some(size),
        }
    }

    /// The `n` bytes that it has where `n + 1` are wanted.
    fn is_short_of(&self, bytes: &Expression) -> Option<&Expression> {
        let Size::Bytes(size) = &self.size else {
            return None;
        };
        let more = |own: &Expression| {
            matches!(&own.term, Term::Number(number) if number != "0")
                || matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_))
        };
        let short = match &bytes.term {
            Term::Binary(left, operator, right) if self.count.is_none() => {
                operator == "+"
                    && (**left == *size && more(right) || **right == *size && more(left))
            }
            _ => false,
        };
        short.then_some(size)
    }
}

/// Whether a number takes another value between two places.
fn is_changed(function: &FunctionContext<'_>, number: &Expression, from: Span, to: Span) -> bool {
    let Some(root) = number.root().name() else {
        return true;
    };
    let between = Span::new(from.end, to.start.max(from.end));
    let mut effects = function.graph.effects.iter();
    effects.any(|own| {
        let writes = !matches!(
            own.kind,
            EffectKind::Read | EffectKind::Handed { by_address: false }
        );
        writes && between.contains(own.span) && function.graph.name_of(own) == root
    })
}

/// Whether a number of bytes is some number of elements of so many bytes: `n * sizeof(*p)`, or
/// a variable that is nothing but that.
pub(crate) fn product(function: &FunctionContext<'_>, bytes: &Expression, element: u64) -> bool {
    let own = |bytes: &Expression| match &bytes.uncast().1.term {
        Term::Binary(left, operator, right) if operator == "*" => [left, right]
            .iter()
            .any(|own| space::bytes(function, own) == Some(element)),
        _ => false,
    };
    let named = || {
        let value = function.graph.only_value(bytes.uncast().1.name()?)?;
        function.expression(value)
    };
    own(bytes) || named().is_some_and(|value| own(&value))
}
