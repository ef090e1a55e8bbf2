//! What a tree calls its windows: macros and functions that open or close one
//! for their caller, and macros whose arguments are counted.

use std::collections::BTreeSet;
use std::sync::Arc;

use tollgate_defect::answer;

use crate::calls::Kind;
use crate::hashed::HashMap;
use crate::lex::{Token, TokenKind, closing};
use crate::span::Span;
use crate::split::Body;
use crate::types::is_qualifier;
use crate::vocabulary::Vocabulary;
use crate::wrappers::definition;

use super::holders::{Holders, holders};
use super::tokens::{arguments, calls};
use super::words::{AccessWord, BeginWord, CheckWords, EndWord, Lockers, named};

/// How often a name may be defined by another that is learned.
const DEEPEST: usize = 4;

/// What one file teaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    begins: Vec<BeginWord>,
    ends: Vec<EndWord>,
    arities: BTreeSet<(String, usize)>,
    users: BTreeSet<String>,
    holders: BTreeSet<String>,
    takers: BTreeSet<(String, usize)>,
    accesses: Vec<AccessWord>,
    lockers: Lockers,
}

impl Learned {
    /// Whether nothing is new.
    pub(crate) fn is_empty(&self) -> bool {
        let windows = self.begins.is_empty() && self.ends.is_empty();
        let accesses = self.arities.is_empty() && self.accesses.is_empty();
        windows && accesses && self.lockers.is_empty()
    }

    /// Takes over what another file teaches.
    pub fn merge(&mut self, other: Self) {
        self.begins.extend(other.begins);
        self.ends.extend(other.ends);
        self.arities.extend(other.arities);
        self.users.extend(other.users);
        self.holders.extend(other.holders);
        self.takers.extend(other.takers);
        self.accesses.extend(other.accesses);
        self.lockers.merge(other.lockers);
    }

    /// Adds what the inline functions of the file do to locks: those of a file that is no
    /// header are nobody else's.
    pub(super) fn with_lockers(mut self, lockers: Lockers) -> Self {
        self.lockers = lockers;
        self
    }

    /// Adds what the file declares as pointers to user memory, by their names: a function's
    /// parameters are nobody else's.
    pub(super) fn with_users(mut self, text: &[u8], tokens: &[Token]) -> Self {
        let names = users(text, tokens).filter(|(_, parameter)| !parameter);
        let names = names.map(|(name, _)| String::from_utf8_lossy(name).into_owned());
        self.users.extend(names);
        if !self.users.is_empty() {
            let also = also_named(text, tokens, &self.users);
            self.users.extend(also);
            self.holders.extend(holders(text, tokens));
        }
        self.takers.extend(takers(text, tokens));
        self
    }
}

/// What a file calls members by another name: `#define ifr_data ifr_ifru.ifru_data`.
fn also_named(text: &[u8], tokens: &[Token], users: &BTreeSet<String>) -> Vec<String> {
    let lines = tokens.iter().filter(|own| own.kind == TokenKind::Directive);
    let lines = lines.filter(|line| line.span.of(text).contains(&b'.'));
    let names = lines.filter_map(|line| {
        let (name, body) = definition(text, line.span)?;
        let mut parts = body.iter().enumerate();
        let path = parts.all(|(at, own)| match at % 2 {
            0 => own.kind == TokenKind::Word,
            _ => own.is(b'.'),
        });
        let last = body.last().filter(|_| path)?;
        let users = users.contains(last.span.text(text).as_str());
        users.then(|| name.text(text))
    });
    names.collect()
}

/// The names that a file declares as pointers to user memory, `__user *name`, and whether
/// each is a parameter's.
pub(super) fn users<'t>(
    text: &'t [u8],
    tokens: &'t [Token],
) -> impl Iterator<Item = (&'t [u8], bool)> {
    let mut depth = 0_usize;
    let marks = tokens.iter().enumerate().filter_map(move |(at, token)| {
        match token.kind {
            TokenKind::Punct(b'(') => depth += 1,
            TokenKind::Punct(b')') => depth = depth.saturating_sub(1),
            // What a line of the preprocessor has left open.
            TokenKind::Punct(b';' | b'{' | b'}') => depth = 0,
            _ => {}
        }
        (token.span.of(text) == b"__user").then_some((at, depth > 0))
    });
    marks.filter_map(|(at, parameter)| {
        let behind = tokens.get(at + 1..)?.iter();
        let mut behind = behind.skip_while(|own| own.is(b'*') || is_qualifier(own.span.of(text)));
        let name = behind.next().filter(|own| own.kind == TokenKind::Word)?;
        Some((name.span.of(text), parameter))
    })
}

/// The functions that a file declares to take a pointer to user memory, and as which of their
/// parameters.
fn takers(text: &[u8], tokens: &[Token]) -> Vec<(String, usize)> {
    let (mut depth, mut at, mut name) = (0_usize, 0, None);
    let mut found = Vec::new();
    let mut before: Option<&Token> = None;
    for token in tokens {
        match token.kind {
            TokenKind::Punct(b'(') => {
                if depth == 0 {
                    (at, name) = (0, before.filter(|own| own.kind == TokenKind::Word));
                }
                depth += 1;
            }
            TokenKind::Punct(b')') => depth = depth.saturating_sub(1),
            TokenKind::Punct(b',') if depth == 1 => at += 1,
            TokenKind::Punct(b';' | b'{' | b'}') => depth = 0,
            TokenKind::Word if depth == 1 && token.span.of(text) == b"__user" => {
                let own = name.and_then(|own| answer::text(own.span.of(text)));
                found.extend(own.map(|own| (own.to_owned(), at)));
            }
            _ => {}
        }
        before = Some(token);
    }
    found
}

impl CheckWords {
    /// The same words with what some files of the tree teach, where one may use
    /// what another defines; `learn` gives what they teach to who knows the words.
    ///
    /// # Errors
    /// That of `learn`.
    pub fn taught<E>(&self, learn: impl Fn(&Self) -> Result<Learned, E>) -> Result<Self, E> {
        let mut words = self.clone();
        for _ in 0..DEEPEST {
            let learned = learn(&words)?;
            words = words.with(&learned);
            if learned.begins.is_empty() && learned.ends.is_empty() {
                break;
            }
        }
        Ok(words)
    }

    /// The same words with what all headers of the tree teach: what none of them declares
    /// as a pointer to user memory need not be asked for.
    #[must_use]
    pub fn with_tree(&self, learned: &Learned) -> Self {
        let mut all = self.with(learned);
        all.users = Some(Arc::new(learned.users.iter().cloned().collect()));
        let mut takers = HashMap::<String, Vec<usize>>::default();
        for (name, at) in &learned.takers {
            takers.entry(name.clone()).or_default().push(*at);
        }
        all.takers = Arc::new(takers);
        all
    }

    /// The same words with what files of the tree teach.
    #[must_use]
    pub fn with(&self, learned: &Learned) -> Self {
        let mut all = self.clone();
        learned
            .begins
            .iter()
            .cloned()
            .for_each(|w| all.learn_begin(w));
        learned.ends.iter().cloned().for_each(|w| all.learn_end(w));
        for (name, arguments) in &learned.arities {
            all.learn_arity(name, *arguments);
        }
        let accesses = learned.accesses.iter();
        accesses.cloned().for_each(|own| all.learn_access(own));
        all.learn_lockers(&learned.lockers);
        if !learned.holders.is_empty() {
            all.holders = Arc::new(Holders::of(&learned.holders));
        }
        all
    }
}

/// How many arguments the macros of a file take that are made of calls whose arguments are
/// counted, and which of them copy a variable: another file may mean something else by their
/// names.
pub(crate) fn counted(text: &[u8], tokens: &[Token], words: &CheckWords) -> Learned {
    let mut learned = Learned::default();
    let lines = tokens.iter().filter(|t| t.kind == TokenKind::Directive);
    for line in lines.filter(|line| words.may_count(line.span.of(text))) {
        learned.arities.extend(arity(text, line.span, words));
        learned.accesses.extend(copy(text, line.span, words));
    }
    learned
}

/// The name of such a macro and the number of its parameters.
fn arity(text: &[u8], line: Span, words: &CheckWords) -> Option<(String, usize)> {
    let (name, rest) = definition(text, line)?;
    let open = rest.first()?;
    let close = closing(&rest, 0).filter(|_| open.span.start == name.end)?;
    let parameters = arguments(&rest, 0, close);
    let body = rest.get(close + 1..)?;
    let made = !calls(text, body, |word| words.arity(word).is_some()).is_empty();
    let open_ended = parameters.iter().any(|own| own.of(text).ends_with(b"..."));
    let name = name.text(text);
    (made && !open_ended && words.arity(&name).is_none()).then_some((name, parameters.len()))
}

/// A macro that is nothing but the copy of a variable which it is given by its name:
/// `#define fetch(a, p) copy_from_user(&(a), (p), sizeof(a))`.
fn copy(text: &[u8], line: Span, words: &CheckWords) -> Option<AccessWord> {
    let (name, rest) = definition(text, line)?;
    let open = rest.first()?;
    let close = closing(&rest, 0).filter(|_| open.span.start == name.end)?;
    let named = arguments(&rest, 0, close);
    let body = rest.get(close + 1..)?;
    let found = calls(text, body, |word| words.access(word).is_some());
    let [only] = found.as_slice() else {
        return None;
    };
    let word = words.access(&only.name.text(text))?;
    // Nothing stands around it.
    let alone = only.at == 0 && only.close + 1 == body.len();
    let given = |at: usize| only.arguments.get(at).copied();
    let (value, user) = (given(word.value)?, given(word.user)?);
    let count = given(word.count.filter(|_| alone)?)?.text(text);
    let inside = |place: Span| {
        let own = rest.iter().filter(move |own| place.contains(own.span));
        own.filter(|own| own.kind == TokenKind::Word)
    };
    let parameter = |own: &Token| {
        let word = own.span.of(text);
        named.iter().position(|name| name.of(text) == word)
    };
    let mut of_value = inside(value).map(parameter);
    let at = of_value.next()?.filter(|_| of_value.next().is_none())?;
    let of = named.get(at)?.text(text);
    let plain: String = value.text(text).split_whitespace().collect();
    let whole = [format!("&({of})"), format!("&{of}")].contains(&plain)
        && [format!("sizeof({of})"), format!("sizeof(({of}))")].contains(&count);
    let user = inside(user).filter_map(parameter).find(|own| *own != at);
    Some(AccessWord {
        name: name.text(text),
        arguments: named.len(),
        value: at,
        user: user.filter(|_| whole)?,
        count: None,
        ..word.clone()
    })
}

/// What a file teaches.
pub(crate) fn learn(
    text: &[u8],
    tokens: &[Token],
    bodies: &[Body],
    words: &CheckWords,
    vocabulary: &Vocabulary,
) -> Learned {
    let mut learned = Learned::default();
    let lines = tokens.iter().filter(|t| t.kind == TokenKind::Directive);
    for line in lines {
        if words.may_define(line.span.of(text)) {
            macro_of(text, line.span, words, &mut learned);
        }
    }
    for body in bodies {
        let inside = tokens.get(body.tokens.clone()).unwrap_or_default();
        if inside.len() <= SHORT {
            let code: Vec<Token> = inside.iter().filter(|t| t.is_code()).copied().collect();
            let returned = returned(text, &code, vocabulary);
            let opens = returned.is_some_and(|call| words.begin(&call).is_some());
            function(text, body, &code, opens, words, &mut learned);
        }
    }
    learned
}

/// Tokens of a function that does nothing but open or close.
const SHORT: usize = 60;

fn macro_of(text: &[u8], line: Span, words: &CheckWords, learned: &mut Learned) -> Option<()> {
    let (name, rest) = definition(text, line)?;
    let name_text = name.text(text);
    let with_arguments = rest
        .first()
        .is_some_and(|t| t.is(b'(') && t.span.start == name.end);
    let close = if with_arguments {
        closing(&rest, 0)?
    } else {
        0
    };
    let parameters = arguments(&rest, 0, close).len();
    if with_arguments && words.counts(&name_text) {
        learned.arities.insert((name_text.clone(), parameters));
    }
    let body = rest.get(if with_arguments { close + 1 } else { 0 }..)?;
    if words.begin(&name_text).is_none() && words.end(&name_text).is_none() {
        role(text, &name_text, parameters, body, words, learned);
    }
    Some(())
}

/// A body that only opens makes a begin of its name, one that only closes an end.
fn role(
    text: &[u8],
    name: &str,
    parameters: usize,
    body: &[Token],
    words: &CheckWords,
    learned: &mut Learned,
) {
    let found = calls(text, body, |word| {
        words.begin(word).is_some() || words.end(word).is_some() || words.in_window(word).is_some()
    });
    let [only] = found.as_slice() else { return };
    let word = only.name.text(text);
    if let Some(begin) = words.begin(&word) {
        learned.begins.push(BeginWord {
            name: name.to_owned(),
            kind: promised(name, begin.kind),
            arguments: parameters,
            ..begin.clone()
        });
    } else if let Some(end) = words.end(&word) {
        learned.ends.push(EndWord {
            name: name.to_owned(),
            kind: promised(name, end.kind),
            arguments: parameters,
        });
    }
}

/// The kind of what is made of another: an architecture whose gate is one instruction for
/// reads and writes makes each kind of it, and callers go by the name.
fn promised(name: &str, made_of: Kind) -> Kind {
    let own = named(name).filter(|_| made_of == Kind::Raw);
    own.map_or(made_of, |(kind, _)| kind)
}

/// The call that is all of what a function returns, hints around it aside. Of
/// `return begin(p, n) && ready;` nobody knows whether a window is open.
fn returned(text: &[u8], code: &[Token], vocabulary: &Vocabulary) -> Option<String> {
    let start = code.iter().position(|t| t.span.of(text) == b"return")? + 1;
    let rest = code.get(start..)?;
    let mut all = rest.get(..rest.iter().position(|t| t.is(b';'))?)?;
    loop {
        let (first, behind) = all.split_first()?;
        let hinted = vocabulary.is_transparent(first.span.of(text));
        let closed = if first.is(b'(') { all } else { behind };
        if closing(closed, 0)? + 1 != closed.len() {
            return None;
        }
        match first.kind {
            TokenKind::Word if !hinted => return Some(first.span.text(text)),
            TokenKind::Word | TokenKind::Punct(b'(') => {
                all = closed.get(1..closed.len() - 1)?;
            }
            _ => return None,
        }
    }
}

/// A function that `returns` what opens a window, or does nothing but end one.
fn function(
    text: &[u8],
    body: &Body,
    code: &[Token],
    returns: bool,
    words: &CheckWords,
    learned: &mut Learned,
) {
    if words.begin(&body.name).is_some() || words.end(&body.name).is_some() {
        return;
    }
    let statements = code.iter().filter(|t| t.is(b';')).count();
    let conditional = code.iter().any(|t| {
        matches!(
            t.span.of(text),
            b"if" | b"while" | b"for" | b"switch" | b"goto"
        )
    });
    let closes = statements == 1 && !conditional;
    if returns || closes {
        let mut own = Learned::default();
        role(text, &body.name, 0, code, words, &mut own);
        // The range is whatever the function makes of its arguments.
        learned
            .begins
            .extend(own.begins.into_iter().filter(|_| returns));
        learned.ends.extend(own.ends.into_iter().filter(|_| closes));
    }
}
