//! What the words of a function say of whether the rules have to look at it.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use memchr::memmem;
use tollgate_defect::answer;

use super::callee::takes_pointer;
use super::context::FileContext;
use super::holders::{Holders, holders};
use super::words::CheckWords;
use crate::lex::{Token, TokenKind, closing};
use crate::search::{Hashed, HashedWord, hashed_words};
use crate::span::Span;
use crate::vocabulary::Vocabulary;

/// What looks at the type of its operand, and not at what is there.
const MEASURES: [&[u8]; 4] = [b"sizeof", b"typeof", b"__typeof__", b"alignof"];

/// What of a function's words there is to look at.
pub(super) struct Interest {
    /// Whether there is anything.
    pub(super) any: bool,
    /// Whether any of it is about a window.
    pub(super) window: bool,
    /// Whether anything may sleep on a fault.
    pub(super) faults: bool,
    /// Whether anything begins where nobody may.
    pub(super) atomic: bool,
    /// Whether anything takes a lock.
    pub(super) lock: bool,
    /// Whether anything goes through the addresses that it is given: `memcpy()`.
    pub(super) hand: bool,
    /// The words that open a scope with a cleanup.
    pub(super) scopes: Vec<Span>,
}

impl Interest {
    /// The same where what the function uses may be about a window.
    pub(super) fn with_window(&mut self, window: bool) {
        self.window |= window;
        self.any |= window;
    }
}

/// What the words of a file mean to the rules, each that may mean anything looked up once.
pub(super) struct Interests<'a> {
    text: &'a [u8],
    words: &'a CheckWords,
    vocabulary: &'a Vocabulary,
    known: HashMap<&'a [u8], Meaning, RandomState>,
    /// Where the file has each of these words, or a longer one.
    users: Places,
    forced: Places,
    /// The structures of the file that hold a pointer to user memory, once that was asked.
    holders: OnceCell<Holders>,
    /// Whether the file pins pages, once that was asked.
    pins: OnceCell<bool>,
    /// Whether the file writes strings for which there may be no room, once that was asked.
    writes: OnceCell<bool>,
}

/// Where a text has a word that few of its functions name.
struct Places(Vec<usize>);

impl Places {
    fn of(text: &[u8], word: &[u8]) -> Self {
        Self(memmem::find_iter(text, word).collect())
    }

    /// Whether any is among some tokens.
    fn are_in(&self, tokens: &[Token]) -> bool {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return false;
        };
        let from = self.0.partition_point(|at| *at < first.span.start);
        self.0.get(from).is_some_and(|at| *at < last.span.end)
    }
}

#[derive(Clone, Copy)]
struct Meaning {
    any: bool,
    window: bool,
    faults: bool,
    atomic: bool,
    lock: bool,
    hand: bool,
    /// Whether it fills something with the user's bytes that it finds by itself.
    fetches: bool,
    source: bool,
    /// Whether it is told how many.
    counted: bool,
    /// Whether it gives back a page, and no pin of it.
    drops: bool,
    /// Whether it hands a program bytes of the kernel's.
    shows: bool,
    /// Whether it is a class of guards, where one is opened.
    guard: bool,
    scope: bool,
}

impl<'a> Interests<'a> {
    pub(super) fn new(text: &'a [u8], words: &'a CheckWords, vocabulary: &'a Vocabulary) -> Self {
        Self {
            text,
            words,
            vocabulary,
            known: HashMap::default(),
            users: Places::of(text, b"__user"),
            forced: Places::of(text, b"__force"),
            holders: OnceCell::new(),
            pins: OnceCell::new(),
            writes: OnceCell::new(),
        }
    }

    /// What some tokens are to the rules, whose words are these.
    pub(super) fn of(&mut self, tokens: &[Token], hashed: &[HashedWord]) -> Interest {
        let mut found = Interest {
            any: false,
            window: false,
            faults: false,
            atomic: false,
            lock: false,
            hand: false,
            scopes: Vec::new(),
        };
        let (mut guard, mut fetches, mut shows, mut sources) = (false, false, false, 0_usize);
        let mut drops = false;
        let forced = |two: &[Token]| match two {
            [word, star] => star.is(b'*') && word.span.of(self.text) == b"__force",
            _ => false,
        };
        found.any |= self.forced.are_in(tokens) && tokens.windows(2).any(forced);
        for word in hashed {
            if !self.words.may_mean(word.hashed) {
                continue;
            }
            let meaning = self.meaning(word.span.of(self.text));
            found.any |= meaning.any;
            found.window |= meaning.window;
            found.faults |= meaning.faults;
            found.atomic |= meaning.atomic;
            found.lock |= meaning.lock;
            found.hand |= meaning.hand;
            guard |= meaning.guard;
            fetches |= meaning.fetches;
            sources += usize::from(meaning.source);
            found.any |= meaning.counted;
            shows |= meaning.shows;
            drops |= meaning.drops;
            found.scopes.extend(meaning.scope.then_some(word.span));
        }
        // Few functions ask for more than their names say.
        found.lock |= found.faults && hashed.iter().any(|own| self.is_named_lock(own));
        // What picks no element by them, and fetches once, has nothing to get wrong.
        found.any |= fetches && tokens.iter().any(|own| own.is(b'['));
        found.any |= sources > 1 || fetches && tokens.windows(2).any(asks_for_more);
        // Of pages that nobody pinned it is right.
        found.any |= drops && *self.pins.get_or_init(|| self.words.may_pin(self.text));
        found.any |= shows && self.may_show_wrong(tokens);
        found.atomic |= guard && !found.scopes.is_empty();
        found
    }

    /// Whether who hands a program bytes may give the wrong ones, or count them wrong.
    fn may_show_wrong(&self, tokens: &[Token]) -> bool {
        // What is handed out whole is a variable or memory of the function's own; or a string, as
        // far as it would go; or what is written with several bytes for one.
        let counts = |own: &Token| {
            let word = own.span.of(self.text);
            let results = self.words.results();
            let writes = || {
                answer::text(word).is_some_and(|own| {
                    results.writes(own).is_some() || !results.touches(own).is_empty()
                })
            };
            let allocates = || {
                answer::text(word).is_some_and(|own| {
                    self.words.allocates(own).is_some() || results.gives_page(own).is_some()
                })
            };
            own.kind == TokenKind::Word && (word == b"sizeof" || writes() || allocates())
        };
        // A position of the function's own.
        let position = |own: &Token| own.span.of(self.text) == b"loff_t";
        // What begins where a pointer says: `buf + *pos`.
        let begins = |two: &[Token]| match two {
            [front, star] => star.is(b'*') && (front.is(b'+') || front.is(b'[')),
            _ => false,
        };
        // What is moved on by hand: `*pos += n`.
        let moves = |four: &[Token]| match four {
            [star, _, plus, set] => star.is(b'*') && plus.is(b'+') && set.is(b'='),
            _ => false,
        };
        // As many bytes as a member says, which another function may have counted.
        let member = |three: &[Token]| match three {
            [arrow, own, close] => arrow.is(b'>') && own.kind == TokenKind::Word && close.is(b')'),
            _ => false,
        };
        let kept = || {
            let writes = || self.words.results().may_write(self.text);
            tokens.windows(3).any(member) && *self.writes.get_or_init(writes)
        };
        // As many as the program asks for, which then is said to be all that there is.
        let twice = || {
            let is_last = |three: &&[Token]| three.last().is_some_and(|own| own.is(b')'));
            let between = tokens.windows(3).filter(|three| is_between(three));
            let (last, others): (Vec<_>, Vec<_>) = between.partition(is_last);
            let name = |three: &[Token]| three.get(1).map(|own| own.span.of(self.text));
            last.into_iter()
                .any(|own| others.iter().any(|other| name(own) == name(other)))
        };
        let any = tokens.iter().any(|own| counts(own) || position(own));
        any || kept() || twice() || tokens.windows(2).any(begins) || tokens.windows(4).any(moves)
    }

    /// Whether a word's own parts say that it takes a lock.
    fn is_named_lock(&self, word: &HashedWord) -> bool {
        let named = answer::text(word.span.of(self.text));
        let own = named.and_then(|own| self.words.lock_named(own));
        own.is_some_and(|(_, takes)| takes)
    }

    /// Whether a function goes through a `__user` pointer of its own by hand: `*p`, `p->m`
    /// or `p[i]` of what its header, its body or a cast declares as one, and not only to
    /// take an address or a size.
    pub(super) fn goes_through(&self, header: &[Token], body: &[Token]) -> bool {
        if !self.users.are_in(header) && !self.users.are_in(body) {
            return false;
        }
        if self.forced.are_in(body) {
            return true;
        }
        let mut pointers = self.pointers(header);
        pointers.extend(self.pointers(body));
        let named =
            |own: &Token| own.kind == TokenKind::Word && pointers.contains(own.span.of(self.text));
        let mut places = (0..body.len()).filter(|at| body.get(*at).is_some_and(named));
        let named = !pointers.is_empty() && places.any(|at| self.is_gone_through(body, at));
        let mut marks = (0..body.len()).filter(|at| self.word(body, *at) == b"__user");
        named || marks.any(|at| self.is_cast_and_followed(body, at))
    }

    /// Whether a function goes by hand through a member that its structure declares as a pointer to
    /// user memory, or casts one: where it names such a structure, which few do.
    pub(super) fn follows_member(
        &self,
        header: &[Token],
        (body, hashed): (&[Token], &[HashedWord]),
        file: &FileContext<'_>,
    ) -> bool {
        let roots = self.roots(header, (body, hashed), file);
        !roots.is_empty()
            && (1..body.len()).any(|at| self.is_member_followed(body, at, (&roots, file)))
    }

    /// The variables of a function whose structures declare members as pointers to user memory.
    fn roots(
        &self,
        header: &[Token],
        (body, hashed): (&[Token], &[HashedWord]),
        file: &FileContext<'_>,
    ) -> Vec<&'a [u8]> {
        let own = self.holders.get_or_init(|| match self.users.0.is_empty() {
            true => Holders::default(),
            false => Holders::of(&holders(self.text, file.tokens)),
        });
        let holds = |word: &HashedWord| {
            let text = word.span.of(self.text);
            let tree = self.words.holders();
            own.hold(text, word.hashed) || tree.hold(text, word.hashed)
        };
        let named = |tokens: &[Token], words: &[HashedWord]| -> Vec<&'a [u8]> {
            let tags = words.iter().filter(|own| holds(own));
            let roots = tags.filter_map(|tag| {
                let at = tokens.partition_point(|own| own.span.start <= tag.span.start);
                let mut behind = tokens.get(at..)?.iter().skip_while(|own| own.is(b'*'));
                let name = behind.next().filter(|own| own.kind == TokenKind::Word)?;
                Some(name.span.of(self.text))
            });
            roots.collect()
        };
        let mut roots = named(body, hashed);
        roots.extend(named(header, &hashed_words(self.text, header)));
        roots
    }

    /// Whether the member at `at` of one of some variables may hold such a pointer, and is followed
    /// or cast.
    fn is_member_followed(
        &self,
        body: &[Token],
        at: usize,
        (roots, file): (&[&[u8]], &FileContext<'_>),
    ) -> bool {
        let is = |at: usize, byte| body.get(at).is_some_and(|own| own.is(byte));
        let Some(front) = self.front(body, at) else {
            return false;
        };
        let name = answer::text(self.word(body, at));
        let users = name.is_some_and(|name| file.may_be_users(name, true));
        if !users || !roots.contains(&self.word(body, front)) {
            return false;
        }
        let before = (0..front).rev().find(|at| !is(*at, b'('));
        let star = before.is_some_and(|at| is(at, b'*'));
        let behind = is(at + 1, b'[') || is(at + 1, b'-') && is(at + 2, b'>');
        behind || star || self.cast_before(body, front).is_some()
    }

    /// Where `a->b.c` begins of which the word at `at` is the last member.
    fn front(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let is = |at: usize, byte| tokens.get(at).is_some_and(|own| own.is(byte));
        let word = |at: &usize| {
            let own = tokens.get(*at);
            own.is_some_and(|own| own.kind == TokenKind::Word)
        };
        let holder = |at: usize| {
            let last = at.checked_sub(1)?;
            let steps = match is(last, b'.') {
                true => 2,
                false if is(last, b'>') && is(last.checked_sub(1)?, b'-') => 3,
                false => return None,
            };
            at.checked_sub(steps)
        };
        let mut front = Some(at).filter(word)?;
        while let Some(own) = holder(front) {
            front = Some(own).filter(word)?;
        }
        (front != at).then_some(front)
    }

    /// Whether a function declares or casts anything as a `__user` pointer.
    pub(super) fn has_pointer(&self, header: &[Token], body: &[Token]) -> bool {
        let all = [header, body].into_iter();
        let all = all.filter(|own| self.users.are_in(own));
        let mut all = all.flat_map(|own| own.iter().filter(|own| own.kind == TokenKind::Word));
        all.any(|own| own.span.of(self.text) == b"__user")
    }

    /// Whether memcpy() or the like is given what the function declares or casts as a
    /// `__user` pointer, or a member that the file does: of those that a header may declare so
    /// there are too many, but where a copy of them is made, as kmemdup() does, or the function
    /// names the structure.
    pub(super) fn hands(
        &mut self,
        header: &[Token],
        (body, hashed): (&[Token], &[HashedWord]),
        file: &FileContext<'_>,
    ) -> bool {
        let words = self.words;
        let calls: Vec<usize> = (0..body.len())
            .filter(|at| {
                let word = body.get(*at).filter(|own| own.kind == TokenKind::Word);
                let word = word.map(|own| own.span.of(self.text));
                let word = word.filter(|own| words.may_mean(Hashed::of(own)));
                word.is_some_and(|own| self.meaning(own).hand)
            })
            .collect();
        if calls.is_empty() {
            return false;
        }
        let mut pointers = self.pointers(header);
        pointers.extend(self.pointers(body));
        let follows = |at: &usize| {
            body.get(*at)
                .is_some_and(|own| own.is(b'>') || own.is(b'.'))
        };
        let given = |at: &usize| {
            let open = body.get(at + 1).filter(|own| own.is(b'('));
            let close = open.and_then(|_| closing(body, at + 1));
            close.map_or(at + 1..at + 1, |close| at + 2..close)
        };
        // `->name`, `.name`
        let member = |at: usize| at.checked_sub(1).is_some_and(|before| follows(&before));
        let may_be = |word: &[u8], copied: bool| match answer::text(word).filter(|_| copied) {
            Some(name) => file.may_be_users(name, true),
            None => file.declares_users(word),
        };
        let roots = OnceCell::new();
        let of_holder = |at: usize| {
            let name = answer::text(self.word(body, at));
            let users = name.is_some_and(|name| file.may_be_users(name, true));
            let front = self.front(body, at).filter(|_| users);
            front.is_some_and(|front| {
                let roots = roots.get_or_init(|| self.roots(header, (body, hashed), file));
                roots.contains(&self.word(body, front))
            })
        };
        calls.iter().any(|at| {
            let callee = answer::text(self.word(body, *at));
            let copied = callee.is_some_and(|own| words.duplicated(own).is_some());
            // A variable may have it from there.
            let places = if copied { 0..body.len() } else { given(at) };
            places.into_iter().any(|at| {
                let word = self.word(body, at);
                word == b"__user"
                    || pointers.contains(word)
                    || member(at) && (may_be(word, copied) || of_holder(at))
            })
        })
    }

    /// Whether a function of the file is given what the function declares as a `__user` pointer
    /// where it declares to take one of the kernel's.
    pub(super) fn gives_as_kernels(
        &self,
        header: &[Token],
        body: &[Token],
        file: &FileContext<'_>,
    ) -> bool {
        let mut pointers = self.pointers(header);
        pointers.extend(self.pointers(body));
        let mut places = match pointers.is_empty() {
            true => 0..0,
            false => 1..body.len(),
        };
        places.any(|at| {
            let own = pointers.contains(self.word(body, at));
            own && self.is_given_as_kernels(body, at, file)
        })
    }

    /// Whether a name at `at` is an argument by itself, of a function of the file that takes a
    /// pointer of the kernel's there.
    fn is_given_as_kernels(&self, body: &[Token], at: usize, file: &FileContext<'_>) -> bool {
        let is = |at: usize, byte| body.get(at).is_some_and(|own| own.is(byte));
        let alone = is(at + 1, b',') || is(at + 1, b')');
        let (mut number, mut deep) = (0, 0_usize);
        for before in (0..at).rev().take_while(|_| alone) {
            match body.get(before) {
                Some(own) if own.is(b')') => deep += 1,
                Some(own) if own.is(b'(') && deep > 0 => deep -= 1,
                Some(own) if own.is(b'(') => {
                    let name = before.checked_sub(1).map(|at| self.word(body, at));
                    let name = name.and_then(answer::text);
                    return name.is_some_and(|name| takes_pointer(file, name, number));
                }
                Some(own) if own.is(b',') && deep == 0 => {
                    // What stands before it is no part of the argument.
                    if number == 0 && before + 1 != at {
                        return false;
                    }
                    number += 1;
                }
                Some(own) if own.is(b';') || own.is(b'{') || own.is(b'}') => return false,
                _ if number == 0 && deep == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether the annotation stands in a cast behind a star: `*(u32 __user *)a`,
    /// `*((u32 __user *)a + 1)`.
    fn is_cast_and_followed(&self, tokens: &[Token], at: usize) -> bool {
        let Some(before) = tokens.get(..at) else {
            return false;
        };
        let before = before.iter().rev();
        let mut before = before.skip_while(|own| own.kind == TokenKind::Word);
        let opens = before.next().is_some_and(|own| own.is(b'('));
        opens
            && before
                .find(|own| !own.is(b'('))
                .is_some_and(|own| own.is(b'*'))
    }

    /// The names that are declared as pointers to user memory.
    fn pointers(&self, tokens: &[Token]) -> HashSet<&'a [u8]> {
        let places = match self.users.are_in(tokens) {
            true => 0..tokens.len(),
            false => 0..0,
        };
        let marks = places.filter(|at| self.word(tokens, *at) == b"__user");
        marks
            .filter_map(|at| self.pointer(tokens.get(at + 1..)?))
            .collect()
    }

    /// The name behind `__user`.
    fn pointer(&self, rest: &[Token]) -> Option<&'a [u8]> {
        let stars = rest.iter().take_while(|token| token.is(b'*')).count();
        // `SYSCALL_DEFINE1(f, int __user *, p)`
        let comma = usize::from(rest.get(stars)?.is(b','));
        let name = rest.get(stars + comma)?;
        (stars == 1 && name.kind == TokenKind::Word).then(|| name.span.of(self.text))
    }

    fn word(&self, tokens: &[Token], at: usize) -> &'a [u8] {
        tokens.get(at).map_or(b"", |token| token.span.of(self.text))
    }

    /// Whether more is done with the name there than to take an address or a size of what
    /// it points to.
    fn is_gone_through(&self, tokens: &[Token], at: usize) -> bool {
        let is = |at: usize, byte| tokens.get(at).is_some_and(|own| own.is(byte));
        if let Some(cast) = self.cast_before(tokens, at) {
            return self.is_cast_followed(tokens, (cast, at));
        }
        let mut front = at;
        let mut back = |byte| {
            let own = front.checked_sub(1).filter(|before| is(*before, byte));
            front = own.unwrap_or(front);
            own.is_some()
        };
        // `*(p + 1)`
        while back(b'(') {}
        let star = back(b'*');
        while back(b'(') {}
        let before = front.wrapping_sub(1);
        let behind = is(at + 1, b'[') || is(at + 1, b'-') && is(at + 2, b'>');
        let declared = star && self.word(tokens, before) == b"__user";
        let measured = MEASURES.contains(&self.word(tokens, before));
        // What assembly does with an operand is its own affair: `"=m" (*p)`.
        let operand = tokens
            .get(before)
            .is_some_and(|own| own.kind == TokenKind::Literal);
        // `*&p->m` goes there after all.
        let taken = is(before, b'&') && {
            let mut around = tokens.get(..before).unwrap_or_default().iter().rev();
            !around
                .find(|own| !own.is(b'('))
                .is_some_and(|own| own.is(b'*'))
        };
        (behind || star && !declared) && !measured && !operand && !taken
    }

    /// Where the cast to another pointer begins that stands right before a token:
    /// `(u32 *)p`; not where it says by `__force` that it is meant.
    fn cast_before(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let mut inside = tokens.get(..at)?.iter().enumerate().rev();
        inside.next().filter(|(_, own)| own.is(b')'))?;
        let (mut stars, mut forced) = (0_usize, false);
        for (place, own) in inside {
            match own.kind {
                TokenKind::Word => forced |= own.span.of(self.text) == b"__force",
                _ if own.is(b'*') => stars += 1,
                _ if own.is(b'(') => return (stars > 0 && !forced).then_some(place),
                _ => return None,
            }
        }
        None
    }

    /// Whether what a cast from `cast` to a name at `at` makes is followed: `*(u32 *)p`,
    /// `((struct s *)p)->m`.
    fn is_cast_followed(&self, tokens: &[Token], (cast, at): (usize, usize)) -> bool {
        let is = |own: Option<&Token>, byte| own.is_some_and(|own| own.is(byte));
        let mut before = tokens.get(..cast).unwrap_or_default().iter().rev();
        let star = is(before.find(|own| !own.is(b'(')), b'*');
        let behind = tokens.get(at + 1..).unwrap_or_default();
        let closed = behind.iter().take_while(|own| own.is(b')')).count();
        let (first, second) = (behind.get(closed), behind.get(closed + 1));
        star || closed > 0 && (is(first, b'[') || is(first, b'-') && is(second, b'>'))
    }

    fn meaning(&mut self, word: &'a [u8]) -> Meaning {
        let (words, vocabulary) = (self.words, self.vocabulary);
        let look = || match std::str::from_utf8(word) {
            Ok(name) => Meaning::of(name, words, vocabulary),
            Err(_) => Meaning::NONE,
        };
        *self.known.entry(word).or_insert_with(look)
    }
}

impl Meaning {
    const NONE: Self = Self {
        any: false,
        window: false,
        faults: false,
        atomic: false,
        lock: false,
        hand: false,
        fetches: false,
        source: false,
        counted: false,
        drops: false,
        shows: false,
        guard: false,
        scope: false,
    };

    fn of(name: &str, words: &CheckWords, vocabulary: &Vocabulary) -> Self {
        let opens = words.begin(name).is_some() || words.end(name).is_some();
        let scoped = words.scoped(name).is_some();
        let window = opens || scoped || words.in_window(name).is_some();
        let accesses = words.access(name).is_some() || words.pair_of(name).is_some();
        let checks = words.checks_range(name.as_bytes());
        Self {
            any: window
                || accesses
                || checks
                || words.must_use(name.as_bytes())
                || words.at_most(name).is_some() && words.may_fault(name)
                || words.results().gives_zero_for_a_fault(name)
                || words.gives_length(name)
                || words.results().copied(name).is_some()
                || words.gives_error_pointer(name)
                || words.pages(name).is_some()
                || words.allocates_at(name).is_some()
                || words.consumes(name).is_some()
                || words.unpins(name),
            window,
            faults: words.may_fault(name),
            atomic: matches!(
                words.atomic_of(name).or_else(|| words.locker(name)),
                Some((_, true))
            ),
            lock: matches!(
                words.lock_of(name).or_else(|| words.locker(name)),
                Some((_, true))
            ),
            hand: words.goes_by_hand(name),
            fetches: words.fetches(name).is_some(),
            source: words.source(name).is_some(),
            counted: words.fetched(name).is_some(),
            drops: words.drops_page(name),
            shows: words.shows(name).is_some(),
            guard: words.guard(name).is_some(),
            scope: vocabulary.is_scope(name.as_bytes()),
        }
    }
}

/// `>`, but not that of `->`.
fn asks_for_more(two: &[Token]) -> bool {
    matches!(two, [before, own] if own.is(b'>') && !before.is(b'-'))
}

/// `, n,` and `, n)`: an argument that is a name, and not the first.
fn is_between(three: &[Token]) -> bool {
    match three {
        [before, own, behind] => {
            before.is(b',') && own.kind == TokenKind::Word && (behind.is(b',') || behind.is(b')'))
        }
        _ => false,
    }
}
