//! What the function's declarations say of a variable, and the members on the way
//! from it to a place.

use tollgate_source::{Expression, Site, Term, Token, TokenKind, Type, is_qualifier, tokens};

use crate::subject::Subject;

/// Words between the stars of a declaration and its name.
const QUALIFIERS: [&[u8]; 3] = [b"const", b"__user", b"__restrict"];

/// A pointer variable of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// Its name.
    pub(crate) name: String,
    /// The words of its declaration before the first star.
    words: Vec<String>,
    /// How many stars there are.
    stars: usize,
}

impl Pointer {
    /// Whether it points to const.
    pub(crate) fn is_const(&self) -> bool {
        self.words.iter().any(|word| word == "const")
    }

    /// The declaration of another variable of its type.
    pub(crate) fn declare(&self, name: &str) -> String {
        format!("{} {}{name};", self.words.join(" "), "*".repeat(self.stars))
    }

    /// What it points to, as a declaration has it.
    pub(crate) fn pointee(&self) -> String {
        if self.stars == 1 {
            self.words.join(" ")
        } else {
            "unsigned long".to_owned()
        }
    }
}

/// A member on the way from an object to a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name.
    name: String,
    /// The index into it, if it is an array.
    pub(crate) index: Option<String>,
}

/// `a`, `b` of an access to `&object->a.b`, where every index is a number or a name; `a[0]` of
/// `object->a` and `a[1]` of `object->a + 1`.
pub(crate) fn path(subject: &Subject<'_>, site: &Site, object: &str) -> Option<Vec<Member>> {
    path_to(
        &subject.expression(site.address)?,
        &subject.written(object)?,
    )
}

/// The same of an address and an object that are read already.
pub(crate) fn path_to(address: &Expression, object: &Expression) -> Option<Vec<Member>> {
    match &address.term {
        Term::Address(place) => members(place, object),
        Term::Member { .. } => element(members(address, object)?, "0".to_owned()),
        Term::Binary(array, operator, index) if operator == "+" => {
            element(members(array, object)?, index_of(index)?)
        }
        _ => None,
    }
}

/// The same path to an element of the array that it leads to.
fn element(mut path: Vec<Member>, index: String) -> Option<Vec<Member>> {
    let last = path.last_mut().filter(|last| last.index.is_none())?;
    last.index = Some(index);
    Some(path)
}

/// An index that is a number or a name.
fn index_of(index: &Expression) -> Option<String> {
    match &index.term {
        Term::Name(index) | Term::Number(index) => Some(index.clone()),
        _ => None,
    }
}

/// `a`, `b` of the place `object->a.b`.
pub(crate) fn members(place: &Expression, object: &Expression) -> Option<Vec<Member>> {
    match &place.term {
        Term::Member {
            holder,
            arrow,
            field,
        } => {
            let own = *arrow && **holder == *object;
            let mut path = match own {
                true => Vec::new(),
                false => members(holder, object).filter(|_| !arrow)?,
            };
            path.push(Member {
                name: field.clone(),
                index: None,
            });
            Some(path)
        }
        Term::Element { array, index } => element(members(array, object)?, index_of(index)?),
        _ => None,
    }
}

/// `a[1].b`
pub(crate) fn joined(path: &[Member]) -> String {
    spelled(path, &str::to_owned)
}

/// The same where an index that is a constant is its number, as a layout takes it.
pub(crate) fn numbered(subject: &Subject<'_>, path: &[Member]) -> String {
    spelled(path, &|index| match subject.styled.types.value(index) {
        Ok(number) => number.to_string(),
        Err(_) => index.to_owned(),
    })
}

fn spelled(path: &[Member], spell: &dyn Fn(&str) -> String) -> String {
    let words = path.iter().map(|member| match &member.index {
        Some(index) => format!("{}[{}]", member.name, spell(index)),
        None => member.name.clone(),
    });
    words.collect::<Vec<_>>().join(".")
}

/// What a variable of the function points to, as its declaration has it.
pub(crate) fn pointee(subject: &Subject<'_>, name: &str) -> Option<String> {
    declared(subject, name).map(|pointer| pointer.pointee())
}

/// The same without qualifiers and annotations, `unsigned long` where that is a pointer.
pub(crate) fn plain_pointee(subject: &Subject<'_>, name: &str) -> Option<String> {
    let whole = pointee(subject, name)?;
    let words = whole
        .split(' ')
        .filter(|word| !is_qualifier(word.as_bytes()));
    Some(words.collect::<Vec<_>>().join(" "))
}

/// The same words whatever it points to.
pub(crate) fn base(subject: &Subject<'_>, name: &str) -> Option<String> {
    let pointer = declared(subject, name)?;
    let words = pointer.words.iter().map(String::as_str);
    let plain = words.filter(|word| !is_qualifier(word.as_bytes()));
    Some(plain.collect::<Vec<_>>().join(" "))
}

/// The declaration of a parameter or a local variable.
pub(crate) fn declared(subject: &Subject<'_>, name: &str) -> Option<Pointer> {
    let local = subject.flow.locals.iter().any(|l| l.name == name);
    let place = if local {
        subject.function.body
    } else {
        subject.function.header
    };
    let upto = subject.text.get(..place.end).unwrap_or_default();
    let code: Vec<Token> = tokens(upto, place.start)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let is_name = |at: &usize| {
        let token = code.get(*at);
        token.is_some_and(|token| token.span.of(subject.text) == name.as_bytes())
    };
    let mut mentions = (0..code.len()).filter(is_name);
    mentions.find_map(|at| declaration(subject, &code, at, name))
}

/// What is declared at a mention of the name, if that is a declaration.
fn declaration(subject: &Subject<'_>, code: &[Token], at: usize, name: &str) -> Option<Pointer> {
    let word = |at: usize| {
        code.get(at)
            .map(|t| t.span.of(subject.text))
            .unwrap_or_default()
    };
    let is = |at: usize, byte| code.get(at).is_some_and(|t| t.is(byte));
    let mut front = at.checked_sub(1)?;
    // SYSCALL_DEFINE1(name, type, variable)
    if is(front, b',') {
        front = front.checked_sub(1)?;
    }
    let mut stars = 0;
    while is(front, b'*') || QUALIFIERS.contains(&word(front)) {
        stars += usize::from(is(front, b'*'));
        front = front.checked_sub(1)?;
        if stars == 0 && !is(front, b'*') && !QUALIFIERS.contains(&word(front)) {
            return None;
        }
    }
    let parameter = code
        .last()
        .is_some_and(|last| last.span.end <= subject.function.header.end);
    let begins = |at: usize| {
        let between = [b';', b'{', b'}', b'('].iter().any(|b| is(at, *b));
        between || parameter && is(at, b',')
    };
    let mut start = front + 1;
    while let Some(before) = start.checked_sub(1).filter(|before| !begins(*before)) {
        start = before;
    }
    let star = (start..at).find(|at| is(*at, b'*'))?;
    let words: Vec<String> = (start..star)
        .filter(|at| code.get(*at).is_some_and(|t| t.kind == TokenKind::Word))
        .map(|at| String::from_utf8_lossy(word(at)).into_owned())
        .collect();
    (stars > 0 && !words.is_empty()).then(|| Pointer {
        name: name.to_owned(),
        words,
        stars,
    })
}

/// Where a member of a type begins, and what it is; the type itself for an empty path.
pub(crate) fn part(subject: &Subject<'_>, of: &str, path: &[Member]) -> Option<(u64, Type)> {
    let whole = match subject.styled.types.layout(of) {
        Ok(whole) => whole,
        Err(_) => return None,
    };
    if path.is_empty() {
        return Some((0, whole));
    }
    match whole.at(&numbered(subject, path)) {
        Ok((at, found)) => Some((at, found.clone())),
        Err(_) => None,
    }
}

/// The type of a variable of the function as its declaration has it.
pub(crate) fn type_of(subject: &Subject<'_>, object: &str) -> Option<String> {
    let local = subject.flow.local(object).map(|own| own.base_type.clone());
    local.or_else(|| base(subject, object))
}

/// The size of what an address points to.
pub(crate) fn size_behind(subject: &Subject<'_>, address: &Expression) -> String {
    let text = subject.line(address.span);
    match &address.term {
        Term::Name(_) | Term::Member { .. } | Term::Element { .. } => format!("sizeof(*{text})"),
        _ => format!("sizeof(*({text}))"),
    }
}
