//! What a rule looks at: a file, or one function of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use tollgate_defect::answer;
use tree_sitter::{Node, Tree};

use crate::bound::Unparsed;
use crate::calls::{Copied, Duplicates, Fence, Handler, Outcome};
use crate::expression::Expression;
use crate::flow::{Action, Begin, Condition, Effect, EffectKind, Flow, Local, Node as Step};
use crate::hashed::{HashMap, HashSet};
use crate::lex::{Token, TokenKind};
use crate::node::Parts as _;
use crate::search::{Hashed, Likely};
use crate::site::{Context, bare, span};
use crate::span::{LineIndex, Span};
use crate::split::Body;
use crate::types::{LayoutError, Signature, Type, Types};

use super::accesses::{Access, Callees, Nodes, shown};
use super::callers::Sought;
use super::known::{Fails, Summaries, Told};
use super::learn::users;
use super::model::{Mark, RuleInfo, Violation};
use super::paths::{Paths, State};
use super::read_in::AllRead;
use super::reused::Reused;
use super::words::CheckWords;

/// A file as its words show it.
pub(crate) struct FileContext<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) lines: LineIndex<'a>,
    pub(crate) tokens: &'a [Token],
    pub(crate) bodies: &'a [Body],
    pub(crate) words: &'a CheckWords,
    pub(crate) types: &'a Types<'a>,
    /// What the rules have asked the types: each of them asks the same of an access.
    pub(crate) asked: Asked,
    /// What the files before left.
    pub(crate) reused: Rc<Reused>,
    /// What the file itself declares as pointers to user memory, and whether that is a
    /// parameter, once that was asked.
    pub(crate) users: OnceCell<HashSet<(Vec<u8>, bool)>>,
    /// Which body each function has, once that was asked.
    pub(crate) named: OnceCell<HashMap<String, Vec<usize>>>,
    /// How many more functions are looked into from the one that is judged.
    pub(crate) looks: Cell<usize>,
    /// Whether a rule stopped at one of its limits in the one that is judged.
    pub(crate) in_part: Cell<bool>,
    /// What no caller has from the user.
    pub(crate) nobody: RefCell<HashSet<AskedOfCallers>>,
    /// What the function that begins there reads as strings, so many helpers deep.
    pub(crate) read_in: RefCell<HashMap<(usize, usize), AllRead>>,
    /// Which functions' names stand before a parenthesis more than once, once that was asked.
    pub(crate) called: OnceCell<HashSet<Vec<u8>>>,
    /// Who calls which of its functions, which of them are named otherwise, and as what tables have
    /// them, once each was asked.
    pub(crate) callers: OnceCell<HashMap<usize, Vec<usize>>>,
    pub(crate) kept: OnceCell<HashSet<usize>>,
    pub(crate) tables: OnceCell<HashMap<usize, Vec<usize>>>,
    /// Whether the file may have anything run later, once that was asked.
    pub(crate) defers: OnceCell<bool>,
    /// Whether anything in the file is named for 32-bit programs, once that was asked.
    pub(crate) compat: OnceCell<bool>,
    /// The parses of the functions that were asked for, by where their bodies begin.
    pub(crate) trees: RefCell<HashMap<usize, Result<Tree, Unparsed>>>,
    /// The graphs of those that were looked into, by the same.
    pub(crate) flows: RefCell<HashMap<usize, Rc<Flow>>>,
}

/// Bytes of a function whose expressions are kept: what nests is kept for each level, and a
/// file that is made to do harm nests deep.
const KEPT: usize = 1 << 20;

/// So many effects on a variable are asked whether a way leads from them to a place.
const FEW: usize = 16;

/// The expressions of a function that were asked for: many rules ask for the same.
pub(crate) struct Expressions {
    places: RefCell<HashMap<Span, Option<Rc<Expression>>>>,
    /// By the numbers of their nodes.
    nodes: RefCell<HashMap<usize, Rc<Expression>>>,
    /// By the words of a condition.
    conditions: RefCell<HashMap<String, Option<Rc<Expression>>>>,
    /// How many more bytes may be kept.
    room: Cell<usize>,
}

impl Default for Expressions {
    fn default() -> Self {
        Self {
            places: RefCell::default(),
            nodes: RefCell::default(),
            conditions: RefCell::default(),
            room: Cell::new(KEPT),
        }
    }
}

impl Expressions {
    /// Whether one more of so many bytes may be kept, which then is.
    fn takes(&self, bytes: usize) -> bool {
        let left = self.room.get().checked_sub(bytes);
        self.room.set(left.unwrap_or(self.room.get()));
        left.is_some()
    }

    /// The expression in a place.
    fn at(
        &self,
        place: Span,
        read: impl FnOnce() -> Option<Rc<Expression>>,
    ) -> Option<Rc<Expression>> {
        if let Some(known) = self.places.borrow().get(&place) {
            return known.clone();
        }
        let found = read();
        if self.takes(place.end - place.start) {
            self.places.borrow_mut().insert(place, found.clone());
        }
        found
    }

    /// The expression that a node is.
    fn of(&self, node: Node<'_>, read: impl FnOnce() -> Expression) -> Rc<Expression> {
        if let Some(known) = self.nodes.borrow().get(&node.id()) {
            return Rc::clone(known);
        }
        let found = Rc::new(read());
        let place = span(node);
        if self.takes(place.end - place.start) {
            let kept = Rc::clone(&found);
            self.nodes.borrow_mut().insert(node.id(), kept);
        }
        found
    }

    /// The expression that a condition is.
    fn asked(
        &self,
        condition: &str,
        read: impl FnOnce() -> Option<Rc<Expression>>,
    ) -> Option<Rc<Expression>> {
        if let Some(known) = self.conditions.borrow().get(condition) {
            return known.clone();
        }
        let found = read();
        if self.takes(condition.len()) {
            let mut known = self.conditions.borrow_mut();
            known.insert(condition.to_owned(), found.clone());
        }
        found
    }
}

/// What the types answered, by the words of the question.
#[derive(Default)]
pub(crate) struct Asked {
    layouts: RefCell<HashMap<String, Result<Type, LayoutError>>>,
    values: RefCell<HashMap<String, Result<u64, LayoutError>>>,
    functions: RefCell<HashMap<String, Option<Rc<Signature>>>>,
}

/// A parameter of the function that begins there, or a member behind it; whether bounds in the
/// function are none, and whether those from below are some.
type AskedOfCallers = ((usize, String, Option<String>), bool, bool);

/// What was answered to a question, which is asked once.
fn once<T: Clone>(
    known: &RefCell<HashMap<String, Result<T, LayoutError>>>,
    question: &str,
    ask: impl FnOnce() -> Result<T, LayoutError>,
) -> Option<T> {
    let mut known = known.borrow_mut();
    if !known.contains_key(question) {
        known.insert(question.to_owned(), ask());
    }
    let Some(Ok(answer)) = known.get(question) else {
        return None;
    };
    Some(answer.clone())
}

impl FileContext<'_> {
    /// How a type lies in memory, on the first of the file's machines. What is not known, or
    /// not the same in all configurations, is not judged.
    pub(crate) fn layout(&self, written: &str) -> Option<Type> {
        once(&self.asked.layouts, written, || self.types.layout(written))
    }

    /// The parse of a function with the first sides of its `#if`s, which is made once.
    pub(crate) fn tree(
        &self,
        body: &Body,
        parse: impl FnOnce() -> Result<Tree, Unparsed>,
    ) -> Result<Tree, Unparsed> {
        let mut trees = self.trees.borrow_mut();
        trees.entry(body.span.start).or_insert_with(parse).clone()
    }

    /// The graph of a function that another one calls, which is made once.
    pub(crate) fn flow(&self, body: &Body, build: impl FnOnce() -> Flow) -> Rc<Flow> {
        let mut flows = self.flows.borrow_mut();
        let own = flows.entry(body.span.start);
        Rc::clone(own.or_insert_with(|| Rc::new(build())))
    }

    /// What a function of another file takes and gives, as the headers declare it.
    pub(crate) fn signature(&self, function: &str) -> Option<Rc<Signature>> {
        let mut known = self.asked.functions.borrow_mut();
        if let Some(own) = known.get(function) {
            return own.clone();
        }
        let found = self.types.signature(function).map(Rc::new);
        known.insert(function.to_owned(), found.clone());
        found
    }

    /// The value of a constant expression, by the same.
    pub(crate) fn value(&self, expression: &str) -> Option<u64> {
        once(&self.asked.values, expression, || {
            self.types.value(expression)
        })
    }

    /// Whether a word stands in what a function is declared with: `static`.
    pub(crate) fn is_declared(&self, body: &Body, word: &[u8]) -> bool {
        let mut own = self.tokens_in(body.header).iter();
        own.any(|own| own.span.of(self.text) == word)
    }

    /// Whether a function is declared to give that type.
    pub(crate) fn gives(&self, body: &Body, word: &[u8]) -> bool {
        let own = self.tokens_in(body.header).iter();
        let mut own = own.take_while(|own| own.span.start < body.name_span.start);
        own.any(|own| own.span.of(self.text) == word)
    }

    /// Whether a member of that name, or else a variable, may be declared as a pointer to
    /// user memory.
    pub(crate) fn may_be_users(&self, name: &str, member: bool) -> bool {
        let own = self.own_users();
        let here = |parameter: bool| own.contains(&(name.as_bytes().to_vec(), parameter));
        self.words.may_be_users(name) || here(false) || !member && here(true)
    }

    /// Whether the file itself declares a member or a variable of that name as a pointer to
    /// user memory.
    pub(crate) fn declares_users(&self, name: &[u8]) -> bool {
        self.own_users().contains(&(name.to_vec(), false))
    }

    /// What the file itself declares as such, and whether that is a parameter.
    fn own_users(&self) -> &HashSet<(Vec<u8>, bool)> {
        self.users.get_or_init(|| {
            let all = users(self.text, self.tokens);
            all.map(|(name, parameter)| (name.to_vec(), parameter))
                .collect()
        })
    }

    /// A place with what is there.
    pub(crate) fn mark(&self, span: Span, text: impl Into<String>) -> Mark {
        Mark {
            span,
            position: self.lines.position(span.start),
            text: text.into(),
        }
    }

    /// Adds what is said, as one more place of it where the same is said already.
    pub(crate) fn add_place(&self, known: &mut Vec<Violation>, told: Violation) {
        match known.iter_mut().find(|own| own.message == told.message) {
            Some(own) => own.related.push(self.mark(told.mark.span, "and here")),
            None => known.push(told),
        }
    }

    /// The function that holds a place.
    pub(crate) fn holder(&self, span: Span) -> Option<&Body> {
        let after = self
            .bodies
            .partition_point(|body| body.header.start <= span.start);
        let body = self.bodies.get(after.checked_sub(1)?)?;
        body.header.join(body.span).contains(span).then_some(body)
    }

    /// The functions of the file that call another one of it.
    pub(crate) fn callers<'s>(&'s self, of: &'s Body) -> impl Iterator<Item = &'s Body> {
        let inside = |body| self.tokens_of(body);
        let callers = self.callers.get_or_init(|| {
            let bodies: Vec<&[Token]> = self.bodies.iter().map(inside).collect();
            self.elsewhere().callers(&bodies)
        });
        let all = callers.get(&self.number(of)).into_iter().flatten();
        let all = all.filter_map(|at| self.bodies.get(*at));
        all.filter(|body| body.span != of.span)
    }

    /// Whether the file names a function otherwise than to call it: who calls it is not known.
    pub(crate) fn is_kept(&self, body: &Body) -> bool {
        let kept = self.kept.get_or_init(|| self.elsewhere().kept());
        kept.contains(&self.number(body))
    }

    /// As which of a program's calls tables of the file have a function.
    pub(crate) fn handlers<'s>(&'s self, body: &'s Body) -> impl Iterator<Item = &'s Handler> {
        let tables = || self.elsewhere().handlers(self.words);
        let members = self.tables.get_or_init(tables).get(&self.number(body));
        let members = members.into_iter().flatten();
        let members = members.filter_map(|at| self.tokens.get(*at));
        let own = self.words.handlers().function(&body.name).into_iter();
        let of = |own: &Token| self.words.handlers().get(own.span.of(self.text));
        members.filter_map(of).chain(own)
    }

    /// Which of the file's functions one is.
    fn number(&self, body: &Body) -> usize {
        let before = |own: &Body| own.span.start < body.span.start;
        self.bodies.partition_point(before)
    }

    /// What the file says of its functions elsewhere than in them.
    fn elsewhere(&self) -> Sought<'_> {
        Sought {
            text: self.text,
            tokens: self.tokens,
            places: self.places(),
        }
    }

    /// Whether what a function gives goes to a program, which takes what is below 0 for an
    /// error number and nothing else for one.
    pub(crate) fn answers_a_program(&self, body: &Body) -> bool {
        body.is_system_call() || self.handlers(body).next().is_some()
    }

    /// Whether anything in the file may call a function of it.
    pub(crate) fn is_called(&self, body: &Body) -> bool {
        let called = self.called.get_or_init(|| self.called_again());
        called.contains(body.name.as_bytes())
    }

    /// The names of functions that stand before a parenthesis more than once.
    fn called_again(&self) -> HashSet<Vec<u8>> {
        let likely = Likely::of(self.bodies.iter().map(|own| own.name.as_bytes()));
        let (mut once, mut again) = (HashSet::default(), HashSet::default());
        for two in self.tokens.windows(2) {
            let [word, open] = two else { continue };
            if !open.is(b'(') || word.kind != TokenKind::Word {
                continue;
            }
            let word = word.span.of(self.text);
            if likely.may_hold(Hashed::of(word)) && !once.insert(word) {
                again.insert(word.to_vec());
            }
        }
        again
    }

    /// The tokens of a function's body, which are the file's.
    pub(crate) fn tokens_of(&self, body: &Body) -> &[Token] {
        let own = self.tokens.get(body.tokens.clone());
        debug_assert!(own.is_some(), "{} is no function of its file", body.name);
        own.unwrap_or_default()
    }

    /// The function of that name; none where there are several, on sides of an `#if`.
    pub(crate) fn body_named(&self, name: &str) -> Option<&Body> {
        match self.places().get(name)?.as_slice() {
            [at] => self.bodies.get(*at).filter(|own| own.defined_by.is_none()),
            _ => None,
        }
    }

    /// The places of the functions by their names.
    fn places(&self) -> &HashMap<String, Vec<usize>> {
        self.named.get_or_init(|| {
            let mut named = HashMap::<String, Vec<usize>>::default();
            for (at, body) in self.bodies.iter().enumerate() {
                named.entry(body.name.clone()).or_default().push(at);
            }
            named
        })
    }

    /// Whether a function's result is `void`.
    pub(crate) fn gives_nothing(&self, body: &Body) -> bool {
        let front = Span::new(body.header.start, body.name_span.start);
        let own = self.tokens_in(front);
        let void = own.iter().any(|own| own.span.of(self.text) == b"void");
        void && !own.iter().any(|own| own.is(b'*'))
    }

    /// A violation of a rule at a place.
    pub(crate) fn violation(
        &self,
        rule: &RuleInfo,
        span: Span,
        label: &str,
        message: String,
    ) -> Violation {
        Violation {
            rule: rule.name.to_owned(),
            severity: rule.severity,
            confidence: rule.confidence,
            function: self.holder(span).map(|body| body.name.clone()),
            message,
            mark: self.mark(span, label),
            related: Vec::new(),
            suggestion: None,
            excerpts: Vec::new(),
            unless_called_in_window: None,
            unless_inline: None,
        }
    }

    /// The tokens of a place.
    pub(crate) fn tokens_in(&self, place: Span) -> &[Token] {
        let first = self.tokens.partition_point(|t| t.span.start < place.start);
        let last = self.tokens.partition_point(|t| t.span.end <= place.end);
        self.tokens.get(first..last).unwrap_or_default()
    }

    /// The text of a place on one line.
    pub(crate) fn plain(&self, span: Span) -> String {
        let text = span.text(self.text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// One function.
pub(crate) struct FunctionContext<'a> {
    pub(crate) file: &'a FileContext<'a>,
    pub(crate) context: &'a Context<'a>,
    pub(crate) body: &'a Body,
    pub(crate) root: Node<'a>,
    /// The calls in it, in the order of the text.
    pub(crate) calls: &'a [Node<'a>],
    /// What they call.
    pub(crate) callees: &'a Callees<'a>,
    /// Those that access user memory.
    pub(crate) accesses: &'a [Access<'a>],
    /// Those that call a function of the file which copies what it is given.
    pub(crate) through: &'a [Access<'a>],
    /// What is known of the functions that were looked at before.
    pub(crate) known: &'a Summaries,
    pub(crate) graph: &'a Flow,
    pub(crate) paths: &'a Paths,
    /// The nodes that a way without a fence comes to, once that was asked.
    pub(crate) unfenced: OnceCell<HashSet<usize>>,
    /// Which of its tokens are a `*` that may stand before a name, once that was asked.
    pub(crate) stars: OnceCell<Vec<usize>>,
    /// The expressions that were asked for.
    pub(crate) read: Expressions,
    /// Its nodes in the order of the text, but not what is never evaluated.
    pub(crate) nodes: &'a Nodes<'a>,
}

impl<'a> FunctionContext<'a> {
    /// The name that a call calls, empty where that is no plain name.
    pub(crate) fn callee(&self, call: Node<'_>) -> Option<&'a str> {
        self.callees.of(self.context, call)
    }

    /// The calls that hand a program bytes and know its memory by themselves.
    pub(crate) fn shown(&self) -> Vec<Access<'a>> {
        let calls = (self.calls, self.callees);
        shown(self.context, self.file.words, calls)
    }

    /// The same by its bytes.
    pub(crate) fn called(&self, call: Node<'_>) -> &'a [u8] {
        self.callee(call).map_or(b"", str::as_bytes)
    }

    /// Whether a way leads from what happens in a place to what happens in another.
    pub(crate) fn leads(&self, from: Span, to: Span) -> bool {
        let graph = self.graph;
        let reached = graph.reached_behind_any(graph.nodes_in(from), |_| false);
        graph.nodes_in(to).any(|node| reached.contains(&node))
    }

    /// The nodes at which something is read or written in a place.
    pub(crate) fn touching(&self, place: Span) -> Vec<usize> {
        self.graph.touching(place)
    }

    /// Whether a way leads from what is read or written in one place to what is in the other.
    pub(crate) fn comes_to(&self, from: Span, to: Span) -> bool {
        let (from, to) = (self.touching(from), self.touching(to));
        let reached = self.graph.comes_behind(&from);
        to.iter()
            .any(|at| from.contains(at) || reached.contains(*at))
    }

    /// The same, or back.
    pub(crate) fn share_a_way(&self, one: Span, other: Span) -> bool {
        self.comes_to(one, other) || self.comes_to(other, one)
    }

    /// Those of what is done with a variable before a place that a way leads from to it: other
    /// cases of a `switch` may use it for something else.
    pub(crate) fn on_the_way<'e>(&self, mut all: Vec<&'e Effect>, at: Span) -> Vec<&'e Effect> {
        let asked = (1..=FEW).contains(&all.len()) && !self.touching(at).is_empty();
        all.retain(|own| !asked || self.comes_to(own.span, at));
        all
    }

    /// Takes one of the questions that go through a whole function, of which each function
    /// has [`LOOKS`](super::callee::LOOKS); none where none is left.
    pub(crate) fn pays(&self) -> Option<()> {
        let looks = &self.file.looks;
        let left = looks.get().checked_sub(1);
        looks.set(left.or_else(|| self.stops())?);
        Some(())
    }

    /// A rule stops at one of its limits, and the result says so of the function.
    pub(crate) fn stops<T>(&self) -> Option<T> {
        self.file.in_part.set(true);
        None
    }

    /// Whether a rule goes no further, as it went `most` times before.
    pub(crate) fn stops_at(&self, times: usize, most: usize) -> bool {
        let stops = times >= most;
        if stops {
            self.file.in_part.set(true);
        }
        stops
    }

    /// What a node stands in.
    pub(crate) fn above(&self, node: Node<'a>) -> Option<Node<'a>> {
        self.nodes.above(node)
    }

    /// What a node stands in, and what that does, from the inside out.
    pub(crate) fn around(&self, node: Node<'a>) -> impl Iterator<Item = Node<'a>> {
        std::iter::successors(self.above(node), |own| self.above(*own))
    }

    /// Where a name stands, in the order of the text, but not what is never evaluated.
    pub(crate) fn mentions(&self, name: &str) -> impl Iterator<Item = Node<'a>> {
        self.nodes.named(self.context, name.as_bytes())
    }

    /// Every node of those kinds in the order of the text, but not what is never evaluated.
    pub(crate) fn each_of(&self, kinds: &[&str], act: impl FnMut(Node<'a>)) {
        self.nodes.of_kinds(kinds).for_each(act);
    }
}

impl FunctionContext<'_> {
    /// Whether a call of that name may sleep on a fault.
    pub(crate) fn may_fault(&self, name: &str) -> bool {
        let own = self.known.get(name);
        self.file.words.may_fault(name) || own.is_some_and(|own| own.faults.is_some())
    }

    /// What a call of that name gives for a fault, if no error number.
    pub(crate) fn told(&self, name: &str) -> Option<Told> {
        if self.hands_left(name) {
            return Some(Told::Left);
        }
        let words = self.file.words;
        let access = words.access(name).and_then(|own| own.result);
        let told = self.known.get(name).and_then(|own| own.told);
        let copied = || {
            Some(match words.results().copied(name)? {
                Copied::Bytes => Told::Copied,
                Copied::All => Told::Truth,
                Copied::Signed => Told::Signed,
                Copied::Length => Told::Length,
            })
        };
        let error = || words.results().gives_zero_or_an_error(name);
        let fault = || (access == Some(Outcome::Fault) || error()).then_some(Told::Error);
        told.or_else(copied).or_else(fault)
    }

    /// Whether a call of that name is a copy that gives how many bytes were left, or a
    /// function of the file that hands on those of what it was given to copy.
    pub(crate) fn hands_left(&self, name: &str) -> bool {
        let own = self.known.get(name);
        let copies = own.and_then(|own| own.copies.as_ref());
        let left = copies.is_some_and(|own| own.result == Some(Outcome::Left));
        left || self.file.words.gives_left(name)
    }

    /// What a call of that name gives where it fails, of those that give a pointer.
    pub(crate) fn fails(&self, name: &str) -> Option<Fails> {
        match self.file.words.gives_error_pointer(name) {
            true => Some(Fails::ErrorPointer),
            false => self.known.get(name)?.fails,
        }
    }

    /// Which arguments of a call of that name say what of the user's it gives a copy of.
    pub(crate) fn duplicates(&self, name: &str) -> Option<Duplicates> {
        let own = || self.known.get(name)?.duplicates;
        self.file.words.duplicates(name).or_else(own)
    }

    /// The call that is done for a scope with a cleanup, where it is a guard of a class
    /// that is known: `guard(rcu)()`, `scoped_guard(spinlock, &lock)`.
    pub(crate) fn guard(&self, scope: Span) -> Option<&str> {
        match self.file.tokens_in(scope) {
            [_, open, class, ..] if open.is(b'(') => {
                let class = answer::text(class.span.of(self.file.text))?;
                self.file.words.guard(class)
            }
            _ => None,
        }
    }

    /// Each node with each state that comes to it.
    pub(crate) fn states(&self) -> impl Iterator<Item = (usize, &State)> {
        let nodes = self.paths.before.iter().enumerate();
        nodes.flat_map(|(node, states)| states.iter().map(move |state| (node, state)))
    }

    /// Where the value of a variable is needed, in the order of the text.
    pub(crate) fn reads<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Effect> {
        let mut all: Vec<&Effect> = self.graph.effects.iter().collect();
        all.sort_by_key(|effect| effect.span);
        all.into_iter().filter(move |effect| {
            let written = matches!(
                effect.kind,
                EffectKind::Write(_) | EffectKind::Handed { .. }
            );
            (!written || self.graph.is_behind(effect)) && self.graph.name_of(effect) == name
        })
    }

    /// The expression in a place, which the parser need not have seen.
    pub(crate) fn expression(&self, place: Span) -> Option<Rc<Expression>> {
        self.read.at(place, || self.read_at(place))
    }

    /// The expression that a node of the function is.
    pub(crate) fn expression_of(&self, node: Node<'_>) -> Rc<Expression> {
        let read = || Expression::of(self.context, node);
        self.read.of(node, read)
    }

    /// What a condition of the graph asks, of which the graph has the words.
    pub(crate) fn asked(&self, condition: &Condition) -> Option<Rc<Expression>> {
        let text = &condition.text;
        let read = || Expression::written(text, self.context.vocabulary);
        let known = || self.file.reused.condition(text, read);
        self.read.asked(text, known)
    }

    fn read_at(&self, place: Span) -> Option<Rc<Expression>> {
        let seen = self
            .root
            .named_descendant_for_byte_range(place.start, place.end);
        if let Some(node) = seen.filter(|node| span(*node) == place && node.is_expression()) {
            return Some(self.expression_of(node));
        }
        Expression::read(self.file.text, place, self.context.vocabulary).map(Rc::new)
    }

    /// Whether the function gives a place another value anywhere.
    pub(crate) fn assigns(&self, place: &Expression) -> bool {
        let mut found = false;
        self.each_of(&["assignment_expression"], |node| {
            found |= node.known_kind() == "assignment_expression"
                && node
                    .part("left")
                    .is_some_and(|left| *self.expression_of(left) == *place);
        });
        found
    }

    /// The place that takes what a call gives, as it is.
    pub(crate) fn taker(&self, call: Node<'_>) -> Option<Expression> {
        let mut around = std::iter::successors(call.parent(), Node::parent);
        let holder = around.find(|own| {
            !matches!(
                own.known_kind(),
                "parenthesized_expression" | "cast_expression"
            )
        })?;
        let part = match holder.known_kind() {
            "assignment_expression" if self.context.operator(holder) == b"=" => "left",
            "init_declarator" => "declarator",
            _ => return None,
        };
        let mut place = holder.part(part)?;
        while place.known_kind() == "pointer_declarator" {
            place = place.part("declarator")?;
        }
        Some(Expression::of(self.context, bare(place)))
    }

    /// Whether what stands in a place is given to a call that frees it.
    pub(crate) fn is_freed(&self, at: Span) -> bool {
        let mut calls = self.calls.iter().filter(|own| span(**own).contains(at));
        calls.any(|own| {
            let name = self.callee(*own);
            name.is_some_and(|name| self.file.words.frees(name))
        })
    }

    /// The variable of the function that a name means at a place.
    pub(crate) fn local_at(&self, name: &str, at: Span) -> Option<&Local> {
        let seen = |own: &&Local| own.name == name && own.scope.contains(at) && own.declared < at;
        let locals = self.graph.locals.iter().filter(seen);
        locals.max_by_key(|own| own.declared)
    }

    /// The variable that the expression in a place starts from.
    pub(crate) fn root_in(&self, place: Span) -> Option<String> {
        let whole = self.expression(place)?;
        Some(self.file.plain(whole.root().span))
    }

    /// Whether every way to an access through that variable passes what stops
    /// speculation: a fence, a begin that is one, what clamps the variable.
    pub(crate) fn is_fenced(&self, access: Span, variable: &str) -> bool {
        let stops = |node: &Step| match &node.action {
            Action::Begin(begin) => begin.fence,
            Action::Call(call) => self.file.words.fence(&call.name) == Some(Fence::All),
            _ => false,
        };
        let clamps = |node: &Step| match &node.action {
            Action::Call(call) if self.file.words.fence(&call.name) == Some(Fence::Given) => {
                access.contains(node.span) || self.is_given(node.span, variable)
            }
            _ => false,
        };
        let bare = self.unfenced.get_or_init(|| self.graph.reached(0, stops));
        let own: Vec<usize> = self.graph.nodes_in(access).collect();
        if !own.iter().any(|node| bare.contains(node)) {
            return true;
        }
        let clamped = self.graph.nodes.iter().any(clamps);
        clamped && {
            let bare = self.graph.reached(0, |node| stops(node) || clamps(node));
            !own.iter().any(|node| bare.contains(node))
        }
    }

    /// Whether the name is one of the function's header and no variable hides it.
    pub(crate) fn is_parameter(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// The name in the function's header, where no variable hides it.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let ends = |next: &Token| next.is(b',') || next.is(b')') || next.is(b'[');
        let named = |two: &[Token]| match two {
            [own, next] if ends(next) => {
                answer::text(own.span.of(self.file.text)).filter(|own| *own == name)
            }
            _ => None,
        };
        let mut own = self.file.tokens_in(self.body.header).windows(2);
        let hidden = self.graph.local(name).is_some();
        own.find_map(named).filter(|_| !hidden)
    }

    /// Whether the result of a call goes into the variable.
    fn is_given(&self, call: Span, variable: &str) -> bool {
        let written = |effect: &&Effect| match &effect.kind {
            EffectKind::Write(write) => write.value.is_some_and(|value| value.contains(call)),
            _ => false,
        };
        let mut effects = self.graph.effects.iter().filter(written);
        effects.any(|effect| self.graph.name_of(effect) == variable)
    }

    /// The begin at a node and its place.
    pub(crate) fn begin(&self, node: usize) -> Option<(&Begin, Span)> {
        self.graph.begin(node)
    }

    /// The place of a node.
    pub(crate) fn place(&self, node: usize) -> Span {
        self.graph
            .nodes
            .get(node)
            .map_or(Span::default(), |n| n.span)
    }

    /// The line of a place.
    pub(crate) fn line(&self, span: Span) -> u32 {
        self.file.lines.position(span.start).line
    }
}
