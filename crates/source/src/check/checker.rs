//! Checks files, one after the other: each function that may have something to check
//! is parsed, followed on all its paths, and shown to the rules.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use memchr::memmem;
use tree_sitter::{Node, Tree};

use crate::analyse::GrammarError;
use crate::bound::{Unparsed, is_bounded};
use crate::flow::{Action, Flow, Pieces, Source, build};
use crate::lex::{Token, TokenKind};
use crate::normalise::{Branches, Normalised, normalise, normalise_in};
use crate::parse::BodyParser;
use crate::path::TreePath;
use crate::search::{HashedWord, hashed_words, may_call};
use crate::site::Context;
use crate::span::{LineIndex, Span};
use crate::split::{Body, Cut, Unended, bodies};
use crate::types::{Headers, Types};
use crate::vocabulary::Vocabulary;

use super::accesses::{Callees, Nodes};
use super::callee::LOOKS;
use super::change::{FactsOf, FunctionChange};
use super::context::{Asked, Expressions, FileContext, FunctionContext};
use super::handed::{Handed, handed, picks_by};
use super::handed_buffer::handed_buffer;
use super::heard::{self, Heard};
use super::interest::{Interest, Interests};
use super::known::{Summaries, Summary};
use super::learn::Learned;
use super::lockers::{lockers, of_macros};
use super::model::{Checked, Skipped, Unchecked, Violation};
use super::order::callees_first;
use super::paths::{Paths, follow};
use super::pieces::{Definitions, Maker};
use super::reused::Reused;
use super::rule::Look;
use super::rules::RULES;
use super::summary::summary;
use super::words::{CheckWords, Lockers};
use super::{accesses, allow, change, excerpt, learn, tokens};

/// Checks files, one after the other. Each thread has its own.
pub struct Checker<'v> {
    pub(super) vocabulary: &'v Vocabulary,
    pub(super) words: &'v CheckWords,
    headers: &'v Headers<'v>,
    heard: Option<&'v Heard>,
    parser: BodyParser,
    /// Memory for the tokens of the next file, which is asked of the system once.
    tokens: Vec<Token>,
    reused: Rc<Reused>,
}

/// So many tokens stay for the next file: what 99 of 100 files of a kernel have.
const KEPT: usize = 1 << 16;

/// What the functions of a file do to user memory before a change.
#[derive(Clone, Debug, Default)]
pub struct Before {
    facts: FactsOf,
    /// The text of each function that was looked at, by its name.
    texts: HashMap<String, Vec<u8>>,
}

/// A function that is looked at, and what is known of it before.
struct Place<'p> {
    body: &'p Body,
    tokens: &'p [Token],
    interest: &'p Interest,
    pieces: &'p Pieces<'p>,
    known: &'p Summaries,
}

/// What is found in one file, while it is being looked at.
#[derive(Default)]
struct Findings {
    checked: Checked,
    facts: FactsOf,
    /// The functions that were looked at, by where their bodies begin.
    looked_at: HashSet<usize>,
    /// What the function that is being looked at does, by the sides of its `#if`s.
    summaries: Vec<Option<Summary>>,
    /// The functions that are handed what another one fetched.
    handed: Vec<Handed>,
}

impl<'v> Checker<'v> {
    /// A checker that knows these words, and finds types in those headers.
    ///
    /// # Errors
    /// When the grammar was built for another parser library.
    pub fn new(
        vocabulary: &'v Vocabulary,
        words: &'v CheckWords,
        headers: &'v Headers<'v>,
    ) -> Result<Self, GrammarError> {
        Ok(Self {
            vocabulary,
            words,
            headers,
            heard: None,
            parser: BodyParser::new()?,
            tokens: Vec::new(),
            reused: Rc::default(),
        })
    }

    /// The same, hearing what other tools said of the files.
    #[must_use]
    pub fn hearing(self, heard: &'v Heard) -> Self {
        let heard = Some(heard);
        Self { heard, ..self }
    }

    /// What a file teaches about windows, for the files that include it.
    #[must_use]
    pub fn learn(&self, text: &[u8]) -> Learned {
        self.lesson(text, may_call(text))
    }

    /// The same of a header, and whether it may hold anything to check.
    #[must_use]
    pub fn read_header(&self, text: &[u8]) -> (Learned, bool) {
        let calls = may_call(text);
        let suspect = calls && self.words.may_suspect(text);
        (self.lesson(text, calls), suspect)
    }

    fn lesson(&self, text: &[u8], calls: bool) -> Learned {
        let lockers = match calls {
            true => lockers(text, self.words, self.vocabulary),
            false => Lockers::default(),
        };
        if !self.words.teaches_windows(text) {
            return Learned::default().with_lockers(lockers);
        }
        let all = crate::lex::tokens(text, 0);
        let bodies = bodies(text, &all, self.vocabulary);
        let learned = learn::learn(text, &all, &bodies, self.words, self.vocabulary);
        learned.with_users(text, &all).with_lockers(lockers)
    }

    /// What the rules say of a file, by its path in the tree. Any bytes give an
    /// answer.
    pub fn check(&mut self, path: &TreePath, text: &[u8]) -> Checked {
        self.look(path, text, None)
    }

    /// What the rules say of a file after a change, those included that compare
    /// it with the file before the change.
    pub fn check_change(&mut self, path: &TreePath, before: &[u8], after: &[u8]) -> Checked {
        let before = self.before(path, before);
        self.check_after(&before, path, after)
    }

    /// What a file does before a change, for [`Checker::check_after`] of a checker
    /// that may know other words.
    #[must_use]
    pub fn before(&mut self, path: &TreePath, text: &[u8]) -> Before {
        let mut old = Findings::default();
        let mut texts = HashMap::new();
        if self.words.suspects(text) {
            let types = Types::new(self.headers, path, text);
            let (_, bodies, _) = self.functions_of(text, &types, &mut old);
            let all = bodies.iter();
            texts.extend(all.map(|body| (body.name.clone(), whole(body).of(text).to_vec())));
        }
        Before {
            facts: old.facts,
            texts,
        }
    }

    /// [`Checker::check_change`], where the file before the change was looked at.
    pub fn check_after(&mut self, before: &Before, path: &TreePath, after: &[u8]) -> Checked {
        self.look(path, after, Some(before))
    }

    fn look(&mut self, path: &TreePath, text: &[u8], before: Option<&Before>) -> Checked {
        if !self.words.suspects(text) {
            return Checked::default();
        }
        let mut findings = Findings::default();
        let types = Types::new(self.headers, path, text);
        let (mut all, bodies, words) = self.functions_of(text, &types, &mut findings);
        let file = file_context((text, &all), &bodies, &words, &types, &self.reused);
        for rule in RULES {
            if let Look::Words(look) = rule.look {
                look(&file, &mut findings.checked.violations);
            }
        }
        compare(&file, before.map(|before| &before.facts), &mut findings);
        self.hear(&file, path, before, &mut findings);
        let mut checked = findings.checked;
        checked.called_in_window.extend(called_by_macros(&file));
        ordered(&mut checked);
        checked.allowed = allow::apply(&file, &mut checked.violations);
        checked.violations.sort_by(|a, b| a.mark.cmp(&b.mark));
        for violation in &mut checked.violations {
            violation.excerpts = excerpt::excerpts(text, &file.lines, violation);
        }
        all.clear();
        all.shrink_to(KEPT);
        self.tokens = all;
        checked
    }

    /// What other tools said of the functions that were looked at: of a change those that
    /// it touches.
    fn hear(
        &self,
        file: &FileContext<'_>,
        path: &TreePath,
        before: Option<&Before>,
        findings: &mut Findings,
    ) {
        let Some(heard) = self.heard else { return };
        let is_as_before = |body: &Body| {
            let old = before.and_then(|before| before.texts.get(&body.name));
            old.is_some_and(|old| old == whole(body).of(file.text))
        };
        let looked_at = &findings.looked_at;
        let counts = |body: &Body| looked_at.contains(&body.span.start) && !is_as_before(body);
        for (at, violation) in heard::violations(file, path, heard, counts) {
            findings.checked.said.push(at);
            findings.checked.violations.push(violation);
        }
    }

    /// Parses and checks the functions of a file; its words are handed back.
    fn functions_of(
        &mut self,
        text: &[u8],
        types: &Types<'_>,
        findings: &mut Findings,
    ) -> (Vec<Token>, Vec<Body>, Cow<'v, CheckWords>) {
        let mut all = std::mem::take(&mut self.tokens);
        crate::lex::tokens_into(text, &mut all);
        let cut = Cut::new(text, &all, self.vocabulary);
        let bodies = cut.bodies();
        let mut learned = learn::learn(text, &all, &bodies, self.words, self.vocabulary);
        learned.merge(learn::counted(text, &all, self.words));
        learned.merge(Learned::default().with_lockers(of_macros(text, &all, self.words)));
        let words = match learned.is_empty() {
            true => Cow::Borrowed(self.words),
            false => Cow::Owned(self.words.with(&learned)),
        };
        let mut interests = Interests::new(text, &words, self.vocabulary);
        let file = file_context((text, &all), &bodies, &words, types, &self.reused);
        let mut definitions = Definitions::of(text, &all, &bodies, &words);
        let mut known = Summaries::default();
        let order = callees_first(text, &all, &bodies);
        for body in order.into_iter().filter_map(|at| bodies.get(at)) {
            let tokens = all.get(body.tokens.clone()).unwrap_or_default();
            let named = hashed_words(text, tokens);
            let mut interest = interests.of(tokens, &named);
            let from = all.partition_point(|t| t.span.start < body.header.start);
            let header = all.get(from..body.tokens.start).unwrap_or_default();
            let mut maker = Maker {
                parser: &mut self.parser,
                words: &words,
                vocabulary: self.vocabulary,
            };
            interest.with_window(definitions.ask(&named, &mut maker));
            // Who may sleep is of no interest but where nobody may.
            let faults = interest.faults || known.name_sleepers(text, &named);
            if faults {
                known.sleeps(body);
            }
            if interest.atomic {
                known.begins(body, text, tokens, &words);
            }
            let atomic = interest.atomic || faults && known.name_lockers(text, &named);
            let calls = || {
                let any = known.name_any(text, &named);
                any && (is_called(text, body) || !known.are_given_on(text, tokens))
            };
            let kept = interest.lock && interests.has_pointer(header, tokens);
            let mut hands = || interests.hands(header, (tokens, &named), &file);
            let by_hand = interest.any || faults && atomic || kept || calls();
            let by_hand = by_hand || interest.hand && hands();
            if by_hand || goes_through((&interests, &file), (body, header), (tokens, &named)) {
                let place = Place {
                    body,
                    tokens,
                    interest: &interest,
                    pieces: &definitions.pieces,
                    known: &known,
                };
                self.function(&file, &place, findings);
                for own in findings.summaries.drain(..) {
                    known.note(body, own);
                }
            }
        }
        self.of_handed(
            &file,
            (&mut interests, &definitions.pieces, &known),
            findings,
        );
        self.unended(&file, cut.unended(), &mut interests, findings);
        (all, bodies, words)
    }

    /// The functions that have nothing of the user's but what another one fetched for them.
    fn of_handed(
        &mut self,
        file: &FileContext<'_>,
        (interests, pieces, known): (&mut Interests<'_>, &Pieces<'_>, &Summaries),
        findings: &mut Findings,
    ) {
        let mut handed = std::mem::take(&mut findings.handed);
        // What these hand on is of the same kind.
        let mut asked = crate::hashed::HashSet::default();
        while let Some(own) = handed.pop() {
            if !asked.insert(own.clone()) {
                continue;
            }
            let Some(body) = file.body_named(&own.name) else {
                continue;
            };
            let new = !findings.looked_at.contains(&body.span.start);
            if !new || !picks_by(file, body, &own, file.words) {
                continue;
            }
            let tokens = file.tokens_of(body);
            let interest = interests.of(tokens, &hashed_words(file.text, tokens));
            let place = Place {
                body,
                tokens,
                interest: &interest,
                pieces,
                known,
            };
            self.function(file, &place, findings);
            findings.summaries.clear();
            handed.append(&mut findings.handed);
        }
    }

    /// A function without its last brace is none of the file's bodies.
    fn unended(
        &self,
        file: &FileContext<'_>,
        found: Vec<Unended>,
        interests: &mut Interests<'_>,
        findings: &mut Findings,
    ) {
        for found in found {
            let tokens = file.tokens.get(found.tokens).unwrap_or_default();
            let named = hashed_words(file.text, tokens);
            if interests.of(tokens, &named).any {
                findings.checked.functions += 1;
                findings.checked.skipped.push(Skipped {
                    function: found.name,
                    position: file.lines.position(found.name_span.start),
                    reason: Unchecked::Unended,
                });
            }
        }
    }

    fn function(&mut self, file: &FileContext<'_>, place: &Place<'_>, findings: &mut Findings) {
        let Place {
            body,
            tokens,
            interest,
            ..
        } = *place;
        findings.checked.functions += 1;
        findings.looked_at.insert(body.span.start);
        findings.checked.windows += usize::from(interest.window);
        let mut reason = None;
        if !is_bounded(body.span, tokens) {
            reason = Some(Unchecked::TooLarge);
        } else {
            // What stands behind the function need not be copied.
            let text = file.text.get(..body.span.end).unwrap_or(file.text);
            let room = file.reused.room();
            let first = normalise_in(room, (text, tokens), self.vocabulary, Branches::First);
            // Whoever looks into it asks for the same.
            let tree = file.tree(body, || self.parser.parse(&first, body.span, tokens));
            reason = reason.or(self.side(file, place, (&first, tree), findings));
            if !first.left_out.is_empty() {
                let last = normalise(text, tokens, self.vocabulary, Branches::Last);
                let tree = self.parser.parse(&last, body.span, tokens);
                reason = reason.or(self.side(file, place, (&last, tree), findings));
            }
            file.reused.leave(first.text);
        }
        findings
            .checked
            .skipped
            .extend(reason.map(|reason| Skipped {
                function: body.name.clone(),
                position: file.lines.position(body.name_span.start),
                reason,
            }));
    }

    /// One side of the `#if`s of a function; why it was not checked, if so.
    fn side(
        &self,
        file: &FileContext<'_>,
        place: &Place<'_>,
        (normalised, tree): (&Normalised, Result<Tree, Unparsed>),
        findings: &mut Findings,
    ) -> Option<Unchecked> {
        let tree = match tree {
            Ok(tree) => tree,
            Err(Unparsed::TooLarge) => return Some(Unchecked::TooLarge),
            Err(Unparsed::NotUnderstood) => return Some(Unchecked::NotUnderstood),
        };
        if tree.root_node().has_error() {
            return Some(Unchecked::NotUnderstood);
        }
        let pointers = HashSet::new();
        let context = Context {
            original: file.text,
            normalised: &normalised.text,
            vocabulary: self.vocabulary,
            lines: &file.lines,
            wrappers: &[],
            user_pointers: &pointers,
        };
        judge(file, place, &context, tree.root_node(), findings)
    }
}

/// Whether a function may go through an address of the user's by hand, of its header and its body.
fn goes_through(
    (interests, file): (&Interests<'_>, &FileContext<'_>),
    (body, header): (&Body, &[Token]),
    (tokens, named): (&[Token], &[HashedWord]),
) -> bool {
    interests.goes_through(header, tokens)
        || interests.gives_as_kernels(header, tokens, file)
        || interests.follows_member(header, (tokens, named), file)
        || handed_buffer(file, body).is_some()
}

/// Whether the file may call a function that it defines.
fn is_called(text: &[u8], body: &Body) -> bool {
    let name = body.name.as_bytes();
    let mut named = memmem::find_iter(text, name).map(|at| at + name.len());
    named.any(|end| {
        let opens = text.get(end) == Some(&b'(');
        opens && end != body.name_span.end
    })
}

/// A function with its header.
fn whole(body: &Body) -> Span {
    body.header.join(body.span)
}

fn file_context<'a>(
    (text, tokens): (&'a [u8], &'a [Token]),
    bodies: &'a [Body],
    words: &'a CheckWords,
    types: &'a Types<'a>,
    reused: &Rc<Reused>,
) -> FileContext<'a> {
    FileContext {
        text,
        lines: LineIndex::new(text),
        tokens,
        bodies,
        words,
        types,
        asked: Asked::default(),
        reused: Rc::clone(reused),
        users: OnceCell::new(),
        named: OnceCell::new(),
        looks: Cell::new(0),
        in_part: Cell::new(false),
        nobody: RefCell::default(),
        read_in: RefCell::default(),
        called: OnceCell::new(),
        callers: OnceCell::new(),
        kept: OnceCell::new(),
        tables: OnceCell::new(),
        compat: OnceCell::new(),
        defers: OnceCell::new(),
        trees: RefCell::default(),
        flows: RefCell::default(),
    }
}

fn judge(
    file: &FileContext<'_>,
    place: &Place<'_>,
    context: &Context<'_>,
    root: Node<'_>,
    findings: &mut Findings,
) -> Option<Unchecked> {
    let Place { body, interest, .. } = *place;
    let first = file
        .tokens
        .partition_point(|t| t.span.start < body.header.start);
    let source = Source {
        words: file.words,
        tokens: file.tokens.get(first..body.tokens.end).unwrap_or_default(),
        scopes: &interest.scopes,
        optional: &[],
        left_out: &[],
        points: tokens::asks_success(file.text, place.tokens, file.words, place.known),
        pieces: place.pieces,
    };
    let graph = build(context, source, root);
    if graph.computed && interest.window {
        return Some(Unchecked::ComputedGoto);
    }
    // Another side of an `#if` may hold all of them.
    let window = interest.window && graph.has_window();
    let entered_open = window && !graph.opens();
    let followed = graph.nodes.iter().any(|node| match &node.action {
        Action::Call(call) => call.clears.is_some() || file.words.pair_of(&call.name).is_some(),
        _ => false,
    });
    let paths = if window || followed {
        follow(&graph, entered_open, file.words)
    } else {
        Paths::default()
    };
    if paths.cut {
        return Some(Unchecked::TooManyPaths);
    }
    let nodes = Nodes::of(root);
    let calls = nodes.calls();
    let callees = Callees::new(context, &calls);
    let accesses = accesses::accesses(context, file.words, (&calls, &callees));
    let through = accesses::through(context, place.known, (&calls, &callees));
    let function = FunctionContext {
        file,
        context,
        body,
        root,
        calls: &calls,
        callees: &callees,
        accesses: &accesses,
        through: &through,
        known: place.known,
        graph: &graph,
        paths: &paths,
        unfenced: std::cell::OnceCell::new(),
        stars: std::cell::OnceCell::new(),
        read: Expressions::default(),
        nodes: &nodes,
    };
    file.looks.set(LOOKS);
    file.in_part.set(false);
    run(&function, interest, findings);
    findings.summaries.push(summary(&function));
    findings.handed.extend(handed(&function));
    file.in_part.get().then_some(Unchecked::InPart)
}

fn run(function: &FunctionContext<'_>, interest: &Interest, findings: &mut Findings) {
    let out = &mut findings.checked.violations;
    for rule in RULES {
        match rule.look {
            Look::Window(look) if interest.window => look(function, out),
            Look::Access(look) => look(function, out),
            _ => {}
        }
    }
    findings
        .checked
        .called_in_window
        .extend(called(function.graph, function.paths));
    findings
        .facts
        .entry(function.body.name.clone())
        .or_insert_with(|| change::facts(function));
}

/// Functions that are called while a window is open.
fn called(graph: &Flow, paths: &Paths) -> Vec<String> {
    let nodes = graph.nodes.iter().zip(&paths.before);
    let open = nodes.filter(|(_, states)| states.iter().any(|s| !s.open.is_empty()));
    open.filter_map(|(node, _)| match &node.action {
        Action::Call(call) => Some(call.name.clone()),
        _ => None,
    })
    .collect()
}

/// Functions that macros call which are made for a window: `unsafe_…(…, label)`.
fn called_by_macros(file: &FileContext<'_>) -> Vec<String> {
    let lines = file
        .tokens
        .iter()
        .filter(|t| t.kind == TokenKind::Directive);
    let unsafes = lines.filter_map(|line| {
        let (name, rest) = crate::wrappers::definition(file.text, line.span)?;
        file.words.is_inside(&name.text(file.text)).then_some(rest)
    });
    unsafes
        .flat_map(|rest| tokens::calls(file.text, &rest, |_| true))
        .map(|call| call.name.text(file.text))
        .collect()
}

fn compare(file: &FileContext<'_>, before: Option<&FactsOf>, findings: &mut Findings) {
    let Some(before) = before else { return };
    for (name, after) in &findings.facts {
        let Some(before) = before.get(name) else {
            continue;
        };
        let change = FunctionChange {
            before,
            after,
            file,
        };
        for rule in RULES {
            if let Look::Change(look) = rule.look {
                look(&change, &mut findings.checked.violations);
            }
        }
    }
}

/// In the order of the text, each thing said once.
fn ordered(checked: &mut Checked) {
    let key = |v: &Violation| (v.mark.clone(), v.rule.clone(), v.message.clone());
    checked.violations.sort_by_key(key);
    checked.violations.dedup_by_key(|v| key(v));
    checked.called_in_window.sort_unstable();
    checked.called_in_window.dedup();
    checked.skipped.sort_by_key(|own| own.position);
    checked.skipped.dedup();
}
