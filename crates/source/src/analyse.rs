//! One file: which functions access user memory, how often, how adjacent.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::apart::apart;
use crate::bound::{Unparsed, is_bounded};
use crate::copies;
use crate::flow::{Flow, Pieces, Source, build};
use crate::heat::{Paths, Warmth};
use crate::lex::{Token, TokenKind, is_called, tokens, word_at};
use crate::model::{FileReport, Function, Loop, NotAnalysed, Reason, Run};
use crate::near::{self, Pair};
use crate::normalise::{Branches, Normalised, normalise};
use crate::opportunity::Opportunity;
use crate::parse::BodyParser;
use crate::path::TreePath;
use crate::search::Found as Mention;
use crate::site::Context;
use crate::span::{LineIndex, Position, Span};
use crate::split::{Body, Cut, Unended, bodies, may_be_unended};
use crate::vocabulary::{Access, Vocabulary};
use crate::walk::{Found, Walker};
use crate::wrappers::{Wrapper, computing, definition, opened, wrappers};

/// The parser for C could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the C grammar does not fit the parser library: {0}")]
pub struct GrammarError(#[from] tree_sitter::LanguageError);

/// Analyses files, one after the other. Each thread has its own.
pub struct Analyser<'v> {
    vocabulary: &'v Vocabulary,
    parser: BodyParser,
}

/// How many more ways through the `#if`s of a function are tried for calls that
/// the first one leaves out. The tree's deepest needs two; a bound keeps hostile
/// text from costing the square of its length.
const MORE_SIDES: usize = 8;

/// A call of an access as the words of the file show it.
#[derive(Clone, Debug)]
struct Lexical {
    name: Span,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Code,
    Directive,
}

impl<'v> Analyser<'v> {
    /// An analyser that knows these words.
    ///
    /// # Errors
    /// When the grammar was built for another parser library.
    pub fn new(vocabulary: &'v Vocabulary) -> Result<Self, GrammarError> {
        Ok(Self {
            vocabulary,
            parser: BodyParser::new()?,
        })
    }

    /// What a file holds. Any bytes give a report.
    pub fn analyse(&mut self, text: &[u8]) -> FileReport {
        self.analyse_file(&TreePath::top(), text)
    }

    /// What a file holds, with its path, which may say how hot its functions are.
    pub fn analyse_file(&mut self, path: &TreePath, text: &[u8]) -> FileReport {
        let mentions = Mentions::of(text, self.vocabulary);
        let accesses = !mentions.accesses.is_empty();
        let file = accesses
            .then(|| File::read(text, self.vocabulary))
            .flatten();
        let report = match file {
            Some(file) => self.report(path, &file),
            None => {
                let places = mentions.of_copies_and_windows(text, self.vocabulary);
                let found = copies::in_file(text, &places, self.vocabulary);
                FileReport {
                    opportunities: found.opportunities,
                    copies_left_out: found.left_out,
                    ..FileReport::default()
                }
            }
        };
        let may = (accesses || !mentions.copies.is_empty()) && may_be_unended(text);
        FileReport {
            unknown_words: mentions.unknown_words(text, self.vocabulary),
            unended: if may { self.unended(text) } else { Vec::new() },
            ..report
        }
    }

    /// The functions that do not end and hold any word of user memory.
    fn unended(&self, text: &[u8]) -> Vec<(String, Position)> {
        let all = tokens(text, 0);
        let lines = LineIndex::new(text);
        let found = Cut::new(text, &all, self.vocabulary).unended().into_iter();
        let holds = |found: &Unended| {
            let own = all.get(found.tokens.clone()).unwrap_or_default();
            let ends = own.first().zip(own.last());
            let span = ends.and_then(|(a, b)| text.get(a.span.start..b.span.end));
            self.vocabulary.may_hold(span.unwrap_or_default())
        };
        let named = found.filter(holds);
        named
            .map(|found| (found.name, lines.position(found.name_span.start)))
            .collect()
    }

    /// What a function that [`Analyser::analyse`] found in `text` does; none if it
    /// is not there any more or could not be parsed.
    pub fn flow(&mut self, text: &[u8], function: &Function) -> Option<Flow> {
        self.flow_at(text, function.body)
    }

    /// What the function does whose braces stand there; none if there is none, or if it
    /// could not be parsed.
    pub fn flow_at(&mut self, text: &[u8], braces: Span) -> Option<Flow> {
        let file = File::read(text, self.vocabulary)?;
        let bodies = bodies(text, &file.tokens, &file.vocabulary);
        let body = bodies.iter().find(|body| body.span == braces)?;
        // Every side of an `#if` if that can be parsed, else the first of each.
        self.flow_of(&file, body, Branches::All)
            .or_else(|| self.flow_of(&file, body, Branches::First))
    }

    /// The loops of a function that [`Analyser::analyse`] found in `text`; none where it
    /// is not there any more or could not be parsed.
    pub fn loops(&mut self, text: &[u8], function: &Function) -> Vec<Loop> {
        let Some(file) = File::read(text, self.vocabulary) else {
            return Vec::new();
        };
        let bodies = bodies(text, &file.tokens, &file.vocabulary);
        let body = bodies.iter().find(|body| body.span == function.body);
        let Some(body) = body.filter(|body| body.defined_by.is_none()) else {
            return Vec::new();
        };
        let tokens = file.tokens.get(body.tokens.clone()).unwrap_or_default();
        let normalised = normalise(text, tokens, &file.vocabulary, Branches::First);
        let Ok(tree) = self.parser.parse(&normalised, body.span, tokens) else {
            return Vec::new();
        };
        let pointers = user_pointers(&file, body);
        let context = file.context(&normalised, &pointers);
        let cleanup = self.scope_words(text, tokens).next().is_some();
        Walker::new(&context, &normalised.directives, cleanup).loops(tree.root_node())
    }

    fn flow_of(&mut self, file: &File<'_>, body: &Body, branches: Branches) -> Option<Flow> {
        let tokens = file.tokens.get(body.tokens.clone())?;
        let scopes: Vec<Span> = self.scope_words(file.text, tokens).collect();
        let normalised = normalise(file.text, tokens, &file.vocabulary, branches);
        let Ok(tree) = self.parser.parse(&normalised, body.span, tokens) else {
            return None;
        };
        if tree.root_node().has_error() {
            return None;
        }
        let first = file
            .tokens
            .partition_point(|t| t.span.start < body.header.start);
        let source = Source {
            words: self.vocabulary.words(),
            tokens: file.tokens.get(first..body.tokens.end)?,
            scopes: &scopes,
            optional: &normalised.optional,
            left_out: &normalised.left_out,
            points: true,
            pieces: &Pieces::default(),
        };
        let pointers = user_pointers(file, body);
        let context = file.context(&normalised, &pointers);
        Some(Flow {
            gives_nothing: gives_nothing(file, body),
            ..build(&context, source, tree.root_node())
        })
    }

    fn report(&mut self, path: &TreePath, file: &File<'_>) -> FileReport {
        let mut report = FileReport {
            lexical: file.calls.len(),
            wrappers: file.own_accesses().collect(),
            ..FileReport::default()
        };
        let cut = Cut::new(file.text, &file.tokens, &file.vocabulary);
        let bodies = cut.bodies();
        let mut parsed = HashSet::new();
        let mut large = HashSet::new();
        let mut pairs = Vec::new();
        for body in bodies.iter().filter(|body| file.has_call(body.span)) {
            let looked = self.function(file, body);
            parsed.extend(looked.starts);
            large.extend((!looked.bounded).then_some(body.span));
            pairs.extend(looked.pairs);
            let function = Some(looked.function);
            report.functions.extend(function.filter(|f| f.accesses > 0));
        }
        report.parsed = file
            .calls
            .iter()
            .filter(|call| parsed.contains(&call.name.start))
            .count();
        let unended = cut.unended();
        report.not_analysed = file.leftovers(&bodies, &unended, &parsed, &large);
        let copies = copies::in_bodies(
            file.text,
            &file.tokens,
            &bodies,
            &file.vocabulary,
            &file.lines,
        );
        report.opportunities = copies.opportunities;
        report.opportunities.extend(pairs);
        report.copies_left_out = copies.left_out;
        let paying = report.functions.iter_mut().filter(|f| !f.runs.is_empty());
        let mut paying = paying.peekable();
        if paying.peek().is_some() {
            let paths = Paths::new(file.text, &file.tokens, &bodies, &file.vocabulary);
            for function in paying {
                function.warmth = paths.warmth(path, &function.name);
                function.callers = paths.callers(&function.name);
            }
        }
        report
    }

    /// One function.
    fn function(&mut self, file: &File<'_>, body: &Body) -> Looked {
        let tokens = file.tokens.get(body.tokens.clone()).unwrap_or_default();
        let left_out = || Looked {
            function: file.function(body, Vec::new(), 0, false),
            starts: HashSet::new(),
            pairs: Vec::new(),
            bounded: false,
        };
        if !is_bounded(body.span, tokens) {
            return left_out();
        }
        if let Some(starts) = apart(file.text, tokens, &file.vocabulary) {
            return Looked {
                function: file.function(body, Vec::new(), starts.len(), true),
                starts: starts.into_iter().collect(),
                pairs: Vec::new(),
                bounded: true,
            };
        }
        let Some((mut found, mut understood)) = self.walk(file, body, Branches::First) else {
            return left_out();
        };
        let mut tried = Vec::new();
        let mut starts: HashSet<usize> = found.sites.iter().map(|site| site.start).collect();
        for _ in 0..MORE_SIDES {
            let left = file
                .calls_in(body.span)
                .find(|call| !starts.contains(&call.name.start) && !tried.contains(&call.name));
            let Some(left) = left
                .filter(|_| file.has_directive(body))
                .map(|call| call.name)
            else {
                break;
            };
            tried.push(left);
            let Some((other, clean)) = self.walk(file, body, Branches::Holding(left.start)) else {
                return left_out();
            };
            understood &= clean;
            merge(&mut found, other, &mut starts);
        }
        if let Some(by) = &body.defined_by {
            found.wrap(by);
        }
        Looked {
            pairs: apart_from_runs(&mut found, &body.name),
            function: file.function(body, found.runs, starts.len(), understood),
            starts,
            bounded: true,
        }
    }

    /// What one way through the `#if`s holds, and whether all of it is understood;
    /// none if it is too large to be looked at.
    fn walk(&mut self, file: &File<'_>, body: &Body, branches: Branches) -> Option<(Found, bool)> {
        let tokens = file.tokens.get(body.tokens.clone()).unwrap_or_default();
        let normalised = normalise(file.text, tokens, &file.vocabulary, branches);
        let tree = match self.parser.parse(&normalised, body.span, tokens) {
            Ok(tree) => tree,
            Err(Unparsed::TooLarge) => return None,
            Err(Unparsed::NotUnderstood) => return Some((Found::default(), false)),
        };
        let pointers = user_pointers(file, body);
        let context = file.context(&normalised, &pointers);
        let cleanup = self.scope_words(file.text, tokens).next().is_some();
        let mut found =
            Walker::new(&context, &normalised.directives, cleanup).walk(tree.root_node());
        let mut pairs = near::pairs(&context, tree.root_node());
        let runs = &found.runs;
        pairs.retain(|pair| !runs.iter().any(|run| pair.is_within(run.span)));
        found.pairs = pairs;
        Some((found, !tree.root_node().has_error()))
    }

    /// The words that open a scope with a cleanup.
    fn scope_words(&self, text: &[u8], tokens: &[Token]) -> impl Iterator<Item = Span> {
        let words = tokens.iter().filter(|t| t.kind == TokenKind::Word);
        words
            .map(|t| t.span)
            .filter(|span| self.vocabulary.is_scope(span.of(text)))
    }
}

/// What one function holds.
struct Looked {
    function: Function,
    /// Where its accesses begin.
    starts: HashSet<usize>,
    /// What a condition or a loop parts.
    pairs: Vec<Opportunity>,
    /// Whether it is small enough to be looked at.
    bounded: bool,
}

/// The pairs that no run joins.
fn apart_from_runs(found: &mut Found, function: &str) -> Vec<Opportunity> {
    let pairs = std::mem::take(&mut found.pairs).into_iter();
    let is_run = |pair: &Pair| found.runs.iter().any(|run| pair.is_within(run.span));
    let pairs = pairs.filter(|pair| !is_run(pair));
    pairs.map(|pair| pair.opportunity(function)).collect()
}

/// What one search through the bytes shows, before anything is read: most files
/// of a tree hold neither.
#[derive(Default)]
struct Mentions {
    /// Where the name of an access may be.
    accesses: Vec<usize>,
    /// Where that of a copy may be.
    copies: Vec<usize>,
}

impl Mentions {
    fn of(text: &[u8], vocabulary: &Vocabulary) -> Self {
        let mut found = Self::default();
        for (at, what) in vocabulary.places(text) {
            match what {
                Mention::Access => found.accesses.push(at),
                Mention::Copy => found.copies.push(at),
            }
        }
        found.copies.sort_unstable();
        found
    }

    /// Where copies may be, and accesses inside windows of which two may be neighbours.
    fn of_copies_and_windows(&self, text: &[u8], vocabulary: &Vocabulary) -> Cow<'_, [usize]> {
        if self.accesses.is_empty() || !vocabulary.may_open(text) {
            return Cow::Borrowed(&self.copies);
        }
        let mut all = [self.copies.as_slice(), &self.accesses].concat();
        all.sort_unstable();
        Cow::Owned(all)
    }

    /// Words that hold the name of an access and are none that is known.
    fn unknown_words(&self, text: &[u8], vocabulary: &Vocabulary) -> Vec<String> {
        let words = self.accesses.iter().map(|at| word_at(text, *at));
        let unknown = words.filter(|word| vocabulary.access(word.of(text)).is_none());
        let mut found: Vec<String> = unknown.map(|word| word.text(text)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Names of variables that point to user memory.
type Pointers = HashSet<Vec<u8>>;

/// A file and what its words show.
struct File<'a> {
    text: &'a [u8],
    lines: LineIndex<'a>,
    tokens: Vec<Token>,
    calls: Vec<Lexical>,
    /// The vocabulary, with the file's own macros.
    vocabulary: Cow<'a, Vocabulary>,
    /// The file's own macros that wrap accesses.
    wrappers: Vec<Wrapper>,
}

impl<'a> File<'a> {
    /// The words of a file; none if no access is among them.
    fn read(text: &'a [u8], vocabulary: &'a Vocabulary) -> Option<Self> {
        let tokens = opened(text, tokens(text, 0), vocabulary);
        let lines = tokens.iter().filter(|t| t.kind == TokenKind::Directive);
        let directives: Vec<Span> = lines.map(|line| line.span).collect();
        let wrappers = wrappers(text, &directives, vocabulary);
        let vocabulary = if wrappers.is_empty() {
            Cow::Borrowed(vocabulary)
        } else {
            Cow::Owned(vocabulary.with(wrappers.iter().map(|w| w.access.clone())))
        };
        let calls = lexical(text, &tokens, &directives, &vocabulary);
        if calls.is_empty() {
            return None;
        }
        let computing = computing(text, &directives, &vocabulary);
        let vocabulary = if computing.is_empty() {
            vocabulary
        } else {
            Cow::Owned(vocabulary.with_computing(computing))
        };
        Some(Self {
            text,
            lines: LineIndex::new(text),
            tokens,
            calls,
            vocabulary,
            wrappers,
        })
    }

    fn context<'c>(&'c self, normalised: &'c Normalised, pointers: &'c Pointers) -> Context<'c>
    where
        'a: 'c,
    {
        Context {
            original: self.text,
            normalised: &normalised.text,
            vocabulary: &self.vocabulary,
            wrappers: &self.wrappers,
            lines: &self.lines,
            user_pointers: pointers,
        }
    }

    fn function(&self, body: &Body, runs: Vec<Run>, accesses: usize, understood: bool) -> Function {
        Function {
            name: body.name.clone(),
            position: self.lines.position(body.name_span.start),
            header: body.header,
            body: body.span,
            runs,
            accesses,
            understood,
            warmth: Warmth::default(),
            callers: Vec::new(),
        }
    }

    fn own_accesses(&self) -> impl Iterator<Item = Access> {
        self.wrappers.iter().map(|wrapper| wrapper.access.clone())
    }

    fn calls_in(&self, place: Span) -> impl Iterator<Item = &Lexical> {
        self.calls
            .iter()
            .filter(move |call| call.place == Place::Code && place.contains(call.name))
    }

    fn has_call(&self, place: Span) -> bool {
        self.calls_in(place).next().is_some()
    }

    fn has_directive(&self, body: &Body) -> bool {
        let tokens = self.tokens.get(body.tokens.clone()).unwrap_or_default();
        tokens.iter().any(|t| t.kind == TokenKind::Directive)
    }

    fn leftovers(
        &self,
        bodies: &[Body],
        unended: &[Unended],
        parsed: &HashSet<usize>,
        large: &HashSet<Span>,
    ) -> Vec<NotAnalysed> {
        let left = self
            .calls
            .iter()
            .filter(|call| !parsed.contains(&call.name.start));
        left.map(|call| self.not_analysed(call, bodies, unended, large))
            .collect()
    }

    fn not_analysed(
        &self,
        call: &Lexical,
        bodies: &[Body],
        unended: &[Unended],
        large: &HashSet<Span>,
    ) -> NotAnalysed {
        let at = self
            .tokens
            .partition_point(|t| t.span.start < call.name.start);
        let unended = unended.iter().find(|part| part.tokens.contains(&at));
        let holder = bodies.iter().find(|body| body.span.contains(call.name));
        let defined = bodies.iter().any(|body| body.name_span == call.name);
        NotAnalysed {
            function: holder
                .map(|body| &body.name)
                .or(unended.map(|unended| &unended.name))
                .cloned(),
            position: self.lines.position(call.name.start),
            call: call.name.text(self.text),
            reason: match (call.place, holder) {
                (Place::Directive, _) => Reason::MacroBody,
                (Place::Code, Some(body)) if large.contains(&body.span) => Reason::TooLarge,
                (Place::Code, Some(_)) => Reason::NotUnderstood,
                (Place::Code, None) if unended.is_some() => Reason::Unended,
                (Place::Code, None) if defined || self.is_declared(call) => Reason::Declaration,
                (Place::Code, None) => Reason::OutsideFunctions,
            },
        }
    }

    /// `int __put_user(…);` at the margin: a word, then the name.
    fn is_declared(&self, call: &Lexical) -> bool {
        let at = self
            .tokens
            .partition_point(|t| t.span.start < call.name.start);
        let before = at.checked_sub(1).and_then(|i| self.tokens.get(i));
        before.is_some_and(|t| t.kind == TokenKind::Word || t.is(b'*'))
    }
}

/// Whether a header says `void`, and not `void *`.
fn gives_nothing(file: &File<'_>, body: &Body) -> bool {
    let from = |byte: usize| file.tokens.partition_point(|t| t.span.start < byte);
    let own = from(body.header.start)..from(body.name_span.start);
    let own = file.tokens.get(own).unwrap_or_default();
    let void = own.iter().any(|token| token.span.of(file.text) == b"void");
    void && !own.iter().any(|token| token.is(b'*'))
}

/// Variables declared `… __user *name` in the header or the body.
fn user_pointers(file: &File<'_>, body: &Body) -> Pointers {
    let place = body.header.join(body.span);
    let first = file.tokens.partition_point(|t| t.span.start < place.start);
    let tokens: Vec<&Token> = file
        .tokens
        .iter()
        .skip(first)
        .take_while(|t| t.span.end <= place.end)
        .collect();
    let marks = tokens
        .iter()
        .enumerate()
        .filter(|(_, t)| t.span.of(file.text) == b"__user");
    let names = marks.filter_map(|(at, _)| {
        let after = tokens
            .iter()
            .skip(at + 1)
            .find(|t| !t.is(b'*') && t.span.of(file.text) != b"const")?;
        (after.kind == TokenKind::Word).then(|| after.span.of(file.text).to_vec())
    });
    names.collect()
}

/// Adds what only the other side of the `#if`s shows.
fn merge(found: &mut Found, other: Found, starts: &mut HashSet<usize>) {
    let new: HashSet<usize> = other
        .sites
        .iter()
        .map(|site| site.start)
        .filter(|start| !starts.contains(start))
        .collect();
    let is_new = |run: &Run| run.sites.iter().any(|site| new.contains(&site.span.start));
    for run in other.runs.into_iter().filter(|run| is_new(run)) {
        match found
            .runs
            .iter_mut()
            .find(|known| overlaps(known.span, run.span))
        {
            Some(known) if known.sites.len() < run.sites.len() => *known = run,
            Some(_) => {}
            None => found.runs.push(run),
        }
    }
    found.runs.sort_by_key(|run| run.span);
    let known: HashSet<_> = found.pairs.iter().map(Pair::key).collect();
    let more = other.pairs.into_iter();
    found
        .pairs
        .extend(more.filter(|pair| !known.contains(&pair.key())));
    starts.extend(new);
}

fn overlaps(a: Span, b: Span) -> bool {
    a.start < b.end && b.start < a.end
}

fn lexical(
    text: &[u8],
    tokens: &[Token],
    directives: &[Span],
    vocabulary: &Vocabulary,
) -> Vec<Lexical> {
    let mut found = calls(text, tokens, vocabulary, Place::Code);
    for line in directives {
        found.extend(in_directive(text, *line, vocabulary));
    }
    found.sort_by_key(|call| call.name);
    found
}

/// Calls in the body of a macro; the name that a line defines is none.
fn in_directive(text: &[u8], line: Span, vocabulary: &Vocabulary) -> Vec<Lexical> {
    if !vocabulary.may_access(line.of(text)) {
        return Vec::new();
    }
    let defined = definition(text, line).map(|(name, _)| name);
    let inside = tokens(text.get(..line.end).unwrap_or_default(), line.start + 1);
    let found = calls(text, &inside, vocabulary, Place::Directive);
    let is_call = |call: &Lexical| Some(call.name) != defined;
    found.into_iter().filter(is_call).collect()
}

fn calls(text: &[u8], tokens: &[Token], vocabulary: &Vocabulary, place: Place) -> Vec<Lexical> {
    let words = tokens
        .iter()
        .enumerate()
        .filter(|(_, t)| t.kind == TokenKind::Word);
    // Most words are followed by something else, which is quicker to see than a name.
    let called = words.filter(|(at, _)| is_called(tokens, *at));
    let calls = called.filter(|(_, t)| vocabulary.access(t.span.of(text)).is_some());
    calls
        .map(|(_, t)| Lexical {
            name: t.span,
            place,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    // A test that cannot go on has failed.
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::{Analyser, Branches, File, apart, bodies};
    use crate::Vocabulary;

    /// Statements that the two ways of looking at a body must agree on.
    fn statements() -> impl Strategy<Value = String> {
        let parts = [
            "put_user(1, p);",
            "err |= get_user(x, q);",
            "if (put_user(x, &p->a) || get_user(y, q)) return -14;",
            "x = y;",
            "f(x);",
            "while (x) { y++;",
            "for (;;) {",
            "do { x--; } while (x);",
            "switch (x) { case 1:",
            "case 2:",
            "default:",
            "if (x) {",
            "} else {",
            "}",
            "return 0;",
        ];
        prop::collection::vec(prop::sample::select(parts.to_vec()), 1..12)
            .prop_map(|parts| format!("int f(int x)\n{{\n\t{}\n}}\n", parts.join("\n\t")))
    }

    #[test]
    fn the_other_arm_is_come_to_without_the_loop_of_the_first() {
        let vocabulary = Vocabulary::builtin().unwrap();
        let known = |arms: &str| {
            let text = format!("int f(int x)\n{{\n\tput_user(1, p);\n{arms}\n\treturn 0;\n}}\n");
            let file = File::read(text.as_bytes(), &vocabulary).unwrap();
            let body = bodies(file.text, &file.tokens, &vocabulary).remove(0);
            apart(file.text, &file.tokens[body.tokens.clone()], &vocabulary).is_some()
        };
        assert!(known("\tdo {\n\t\tx--;\n\t} while (x);\n\tput_user(1, p);"));
        assert!(!known(
            "\tif (x) {\n\t\tdo {\n\t\t\tx--;\n\t\t} while (x);\n\t} else {\n\t\tput_user(1, p);\n\t}"
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn what_is_not_parsed_holds_no_run(text in statements()) {
            let vocabulary = Vocabulary::builtin().unwrap();
            let mut analyser = Analyser::new(&vocabulary).unwrap();
            let Some(file) = File::read(text.as_bytes(), &vocabulary) else {
                return Ok(());
            };
            for body in bodies(file.text, &file.tokens, &vocabulary) {
                let Some(starts) = apart(file.text, &file.tokens[body.tokens.clone()], &vocabulary) else {
                    continue;
                };
                let (found, clean) = analyser.walk(&file, &body, Branches::First).unwrap();
                prop_assert!(found.runs.is_empty(), "{text}");
                prop_assert!(!clean || found.pairs.is_empty(), "{text}");
                // What the parser does not understand may hide a call from it.
                let mut parsed: Vec<usize> = found.sites.iter().map(|site| site.start).collect();
                parsed.sort_unstable();
                prop_assert!(!clean || parsed == starts, "{text}");
            }
        }
    }
}
