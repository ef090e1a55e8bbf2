//! The style `size-switch`: a copy whose size is known only at run time goes
//! through a function that has accesses of a constant size for the sizes that
//! are named, and the copy for the rest.
//!
//! On a fault that function calls the copy as well: what was copied, the zeroed
//! rest of a read and the number of bytes left are then the copy's own. The
//! kernel's side is read and written with memcpy() of a constant size, so that
//! neither its alignment nor its type matters.

use tollgate_source::{
    CopyCall, Direction, LineIndex, Span, Token, TokenKind, Vocabulary, bodies, closing, is_called,
    tokens,
};

use crate::edit::{Edit, apply};
use crate::include;
use crate::lines::{mentions, wrapped};
use crate::offers::Offers;
use crate::prefix::prefix;
use crate::refusal::{FixError, Reason, Refusal};
use crate::request::{Patched, Request};
use crate::target::{Target, argument, is_meant, near};

/// The most bytes that get accesses of their own: eight of eight bytes.
const LARGEST: u32 = 64;

/// The columns of a commit message and of a comment.
const COLUMNS: usize = 75;

/// A copy of a size that is known only at run time.
struct Copy<'v> {
    name: Span,
    call: &'v str,
}

/// Rewrites the copies of one function.
pub(crate) fn fix(
    target: &Target,
    text: &[u8],
    offers: Offers,
    request: &Request,
) -> Result<Patched, FixError> {
    let vocabulary = Vocabulary::shared().map_err(|e| FixError::Analysis(e.to_string()))?;
    let (name, header, body) = find(target, text, vocabulary)?;
    let line = LineIndex::new(text).position(header.start).line;
    let refuse = |reason| FixError::Refused {
        path: target.path.clone(),
        function: name.clone(),
        refusal: Refusal { line, reason },
    };
    let sizes = sizes(&request.sizes).map_err(refuse)?;
    let copies = copies(text, body, vocabulary);
    if copies.is_empty() {
        return Err(refuse(Reason::NoCopy));
    }
    let switch = Switch {
        function: argument(&name).unwrap_or(&name),
        text,
        sizes: &sizes,
        offers,
        vocabulary,
    };
    let mut edits = switch.edits(&copies, header);
    edits.extend(include::uaccess(text));
    let prefix = prefix(target, request.prefix.as_deref(), &name)?;
    let rewritten = apply(text, &edits).map_err(|defect| FixError::Defect {
        path: target.path.clone(),
        function: name.clone(),
        defect,
    })?;
    Ok(Patched {
        path: target.path.clone(),
        rewritten,
        original: text.to_vec(),
        subject: format!(
            "{prefix}: Copy small arguments of {}() inline",
            switch.function
        ),
        body: switch.body(&copies, &request.figures),
        windows_before: copies.len(),
        windows_after: copies.len(),
        refused: Vec::new(),
        function: name,
    })
}

/// The name, the header and the body of the function that is meant.
fn find(
    target: &Target,
    text: &[u8],
    vocabulary: &Vocabulary,
) -> Result<(String, Span, Span), FixError> {
    let all = bodies(text, &tokens(text, 0), vocabulary);
    let names: Vec<String> = all.iter().map(|body| body.name.clone()).collect();
    let found = all
        .into_iter()
        .find(|body| is_meant(&body.name, &target.function));
    found
        .map(|body| (body.name, body.header, body.span))
        .ok_or_else(|| FixError::Function {
            path: target.path.clone(),
            function: target.function.clone(),
            near: near(&target.function, names.iter().map(String::as_str))
                .into_iter()
                .map(str::to_owned)
                .collect(),
        })
}

/// The sizes in order, each once, if accesses of a constant size serve them.
fn sizes(wanted: &[u32]) -> Result<Vec<u32>, Reason> {
    let serves = |size: &u32| match *size {
        1 | 2 | 4 => true,
        size => (8..=LARGEST).contains(&size) && size.is_multiple_of(8),
    };
    if let Some(size) = wanted.iter().find(|size| !serves(size)) {
        return Err(Reason::Size(*size));
    }
    let mut sizes = wanted.to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        Err(Reason::NoSizes)
    } else {
        Ok(sizes)
    }
}

fn copies<'v>(text: &[u8], body: Span, vocabulary: &'v Vocabulary) -> Vec<Copy<'v>> {
    let upto = text.get(..body.end).unwrap_or_default();
    let code: Vec<Token> = tokens(upto, body.start)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    (0..code.len())
        .filter_map(|at| copy(text, &code, at, vocabulary))
        .collect()
}

fn copy<'v>(
    text: &[u8],
    code: &[Token],
    at: usize,
    vocabulary: &'v Vocabulary,
) -> Option<Copy<'v>> {
    let name = code.get(at)?;
    let call = vocabulary.copy(name.span.of(text))?;
    let call = Some(call).filter(|call| call.range_check)?;
    let close = closing(code, at + 1).filter(|_| is_called(code, at))?;
    let mut starts = vec![at + 2];
    let mut next = at + 2;
    while next < close {
        if code.get(next).is_some_and(|t| t.is(b',')) {
            starts.push(next + 1);
        }
        next = closing(code, next).unwrap_or(next) + 1;
    }
    let end = starts.get(call.size + 1).map_or(close, |next| next - 1);
    let size = code.get(*starts.get(call.size)?..end)?;
    (starts.len() == 3 && is_run_time(text, size)).then_some(Copy {
        name: name.span,
        call: &call.name,
    })
}

/// Whether the size has a variable: a word that is neither a constant's name nor
/// inside `sizeof()`.
fn is_run_time(text: &[u8], size: &[Token]) -> bool {
    let mut at = 0;
    while let Some(token) = size.get(at) {
        let word = token.span.of(text);
        if word == b"sizeof" {
            at = closing(size, at + 1).unwrap_or(at + 1) + 1;
            continue;
        }
        if token.kind == TokenKind::Word && word.iter().any(u8::is_ascii_lowercase) {
            return true;
        }
        at += 1;
    }
    false
}

/// What the functions are made for.
struct Switch<'s> {
    function: &'s str,
    text: &'s [u8],
    sizes: &'s [u32],
    offers: Offers,
    vocabulary: &'s Vocabulary,
}

impl Switch<'_> {
    fn edits(&self, copies: &[Copy<'_>], header: Span) -> Vec<Edit> {
        let mut edits: Vec<Edit> = copies
            .iter()
            .map(|copy| Edit::replace(copy.name, self.name(copy.call)))
            .collect();
        let used = |call: &CopyCall| copies.iter().any(|copy| copy.call == call.name);
        let calls = self.vocabulary.checked_copies().filter(|call| used(call));
        let functions: String = calls
            .map(|call| self.definition(&call.name, call.direction) + "\n")
            .collect();
        edits.push(Edit::insert(front(self.text, header), functions));
        edits
    }

    /// A name that the file does not have.
    fn name(&self, call: &str) -> String {
        let base = format!("{}_{call}", self.function);
        let file = String::from_utf8_lossy(self.text);
        let numbered = (2u32..).map(|number| format!("{base}{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        names.find(|name| !mentions(&file, name)).unwrap_or(base)
    }

    fn definition(&self, call: &str, direction: Direction) -> String {
        let name = self.name(call);
        let (to, from, user) = match direction {
            Direction::Read => ("void *to", "const void __user *from", "from"),
            Direction::Write => ("void __user *to", "const void *from", "to"),
        };
        let rest = format!("\treturn {call}(to, from, n);\n");
        let mut out = comment(&format!(
            "{} without a call. On a fault, and for any other size, {call}() does what it always did.",
            self.listed("A copy of")
        ));
        out += &format!(
            "static inline unsigned long\n{name}({to}, {from}, unsigned long n)\n{{\n{}",
            self.variables(direction, user)
        );
        out += &format!(
            "\t/* Not every architecture takes an access that is not aligned. */\n\
             \tif (!IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) &&\n\
             \t    !IS_ALIGNED((unsigned long){user}, {}))\n\t{rest}\n\tswitch (n) {{\n",
            self.sizes
                .iter()
                .map(|size| (*size).min(8))
                .max()
                .unwrap_or(1)
        );
        for size in self.sizes {
            out += &self.case(*size, direction, user);
        }
        out += &format!("\tdefault:\n\t\tbreak;\n\t}}\n\n{rest}");
        if let Some(way) = self.window(direction).filter(|_| self.words() > 1) {
            out += &format!("\nefault:\n\tuser{way}_access_end();\n{rest}");
        }
        out + "}\n"
    }

    /// How many times eight bytes the largest size has.
    fn words(&self) -> u32 {
        self.sizes.last().map_or(0, |size| size / 8)
    }

    fn window(&self, direction: Direction) -> Option<&'static str> {
        match direction {
            Direction::Read => self.offers.way(1, 0),
            Direction::Write => self.offers.way(0, 1),
        }
    }

    fn variables(&self, direction: Direction, user: &str) -> String {
        let constant = if direction == Direction::Read {
            "const "
        } else {
            ""
        };
        let mut out = String::new();
        if self.words() > 0 {
            out += &format!("\t{constant}u64 __user *user = {user};\n");
            out += &format!("\tu64 words[{}];\n", self.words());
        }
        for size in self.sizes.iter().filter(|size| **size < 8) {
            out += &format!("\tu{0} word{0};\n", size * 8);
        }
        out + "\n"
    }

    fn case(&self, size: u32, direction: Direction, user: &str) -> String {
        if size < 8 {
            return single(size, direction, user);
        }
        let count = size / 8;
        let copied = if count == 1 { "&words[0]" } else { "words" };
        let accesses = match self.window(direction).filter(|_| count > 1) {
            Some(way) => window(way, count, size, direction, user),
            None => chain(count, direction),
        };
        let guard = "\t\tif (!IS_ENABLED(CONFIG_64BIT))\n\t\t\tbreak;\n";
        let copied = match direction {
            Direction::Read => format!("{accesses}\t\tmemcpy(to, {copied}, {size});\n"),
            Direction::Write => format!("\t\tmemcpy({copied}, from, {size});\n{accesses}"),
        };
        format!("\tcase {size}:\n{guard}{copied}\t\treturn 0;\n")
    }

    /// `A copy of 4, 8 or 16 bytes`.
    fn listed(&self, before: &str) -> String {
        let numbers: Vec<String> = self.sizes.iter().map(u32::to_string).collect();
        let listed = match numbers.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        };
        format!("{before} {listed} bytes")
    }

    fn body(&self, copies: &[Copy<'_>], figures: &[String]) -> String {
        let mut calls: Vec<&str> = copies.iter().map(|copy| copy.call).collect();
        calls.dedup();
        let calls = calls
            .iter()
            .map(|call| format!("{call}()"))
            .collect::<Vec<_>>();
        let calls = calls.join(" and ");
        let problem = format!(
            "{}() copies its argument with {calls} of a size that is known only at run time. For a few bytes the call, \
             and the loop behind it, cost more than the copy.",
            self.function
        );
        let change = format!(
            "{} with accesses of a constant size. All other sizes go on to {calls}, and so does a copy that faults: what was \
             copied by then, the zeroed rest of a read and the number of bytes left are what they were.",
            self.listed("Copy")
        );
        let meaning = format!(
            "One thing changes: these sizes no longer pass the checks of the kernel's side in {calls} (hardened usercopy), \
             nor the injection of faults into copies, unless they fault."
        );
        let mut paragraphs = [problem, change, meaning]
            .map(|text| wrapped(&text, COLUMNS))
            .to_vec();
        if !figures.is_empty() {
            paragraphs.push(figures.join("\n"));
        }
        paragraphs.join("\n\n") + "\n"
    }
}

fn comment(text: &str) -> String {
    let lines = wrapped(text, COLUMNS);
    let lines: String = lines.lines().map(|line| format!(" * {line}\n")).collect();
    format!("/*\n{lines} */\n")
}

/// One access of 1, 2 or 4 bytes.
fn single(size: u32, direction: Direction, user: &str) -> String {
    let bits = size * 8;
    let body = match direction {
        Direction::Read => format!(
            "\t\tif (get_user(word{bits}, (const u{bits} __user *){user}))\n\t\t\tbreak;\n\t\tmemcpy(to, &word{bits}, {size});\n"
        ),
        Direction::Write => format!(
            "\t\tmemcpy(&word{bits}, from, {size});\n\t\tif (put_user(word{bits}, (u{bits} __user *){user}))\n\t\t\tbreak;\n"
        ),
    };
    format!("\tcase {size}:\n{body}\t\treturn 0;\n")
}

fn address(at: u32) -> String {
    if at == 0 {
        "user".to_owned()
    } else {
        format!("user + {at}")
    }
}

/// Accesses of eight bytes that open and close by themselves.
fn chain(count: u32, direction: Direction) -> String {
    let call = if direction == Direction::Read {
        "get_user"
    } else {
        "put_user"
    };
    let accesses: Vec<String> = (0..count)
        .map(|at| format!("{call}(words[{at}], {})", address(at)))
        .collect();
    format!(
        "\t\tif ({})\n\t\t\tbreak;\n",
        accesses.join(" ||\n\t\t    ")
    )
}

/// Accesses of eight bytes in one window.
fn window(way: &str, count: u32, size: u32, direction: Direction, user: &str) -> String {
    let call = if direction == Direction::Read {
        "get"
    } else {
        "put"
    };
    let accesses: String = (0..count)
        .map(|at| {
            format!(
                "\t\tunsafe_{call}_user(words[{at}], {}, efault);\n",
                address(at)
            )
        })
        .collect();
    format!(
        "\t\tif (!user{way}_access_begin({user}, {size}))\n\t\t\tbreak;\n{accesses}\t\tuser{way}_access_end();\n"
    )
}

/// Where a function may stand before another: above its comment.
fn front(text: &[u8], header: Span) -> usize {
    let upto = text.get(..header.start).unwrap_or_default();
    let last = tokens(upto, 0).into_iter().next_back();
    let comment = last.filter(|token| {
        let between = upto.get(token.span.end..).unwrap_or_default();
        let lines = between.iter().filter(|b| **b == b'\n').count();
        token.kind == TokenKind::Comment && lines < 2
    });
    let at = comment.map_or(header.start, |token| token.span.start);
    let line = upto.get(..at).unwrap_or_default();
    line.iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |at| at + 1)
}
