use crate::check::context::{FileContext, FunctionContext};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::tokens::calls;
use crate::lex::word_at;
use crate::span::Span;
use crate::split::Body;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "nobodys-memory",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "an access in what runs later, where no program's memory is there",
    why: "A worker, a thread of the kernel's and an interrupt run for nobody: the address is looked for in whatever memory the \
          processor has then, another program's or none, and the access fails or reaches a stranger. Copy before, while the \
          program waits in its call, or take its memory on (kthread_use_mm()).",
};

/// How many functions up it is asked who calls one.
const DEPTH: usize = 2;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let file = function.file;
    let own = function.accesses.iter();
    let own = own.filter(|own| file.words.may_fault(&own.word.name));
    let mut own = own.map(|own| own.span);
    let Some(first) = own.next() else {
        return;
    };
    // Whoever is given the user's address is called for a program.
    let header = file.tokens_in(function.body.header).iter();
    let mut words = header.map(|own| own.span.of(file.text));
    if function.body.is_system_call() || words.any(|own| own == b"__user") {
        return;
    }
    if !file.defers.get_or_init(|| file.words.may_defer(file.text)) {
        return;
    }
    let Some(handed) = deferred(file, function.body, DEPTH) else {
        return;
    };
    let name = word_at(file.text, handed.start).text(file.text);
    let own_name = &function.body.name;
    let message = format!("{name}() has {own_name}() run where no program's memory is there");
    let mut told = file.violation(&INFO, first, "accesses it then", message);
    told.related.push(file.mark(handed, "handed over here"));
    told.related
        .extend(own.map(|place| file.mark(place, "and here")));
    out.push(told);
}

/// Where a function is handed to what runs it later; that of the functions that call it, where
/// nothing else does.
fn deferred(file: &FileContext<'_>, body: &Body, deep: usize) -> Option<Span> {
    if takes_memory_on(file, body) {
        return None;
    }
    if file.is_kept(body) {
        return handed(file, body);
    }
    let mut callers = file.callers(body).filter(|_| deep > 0);
    let first = deferred(file, callers.next()?, deep - 1)?;
    let all = callers.all(|caller| deferred(file, caller, deep - 1).is_some());
    all.then_some(first)
}

/// Whether it takes somebody's memory on, or has no fault handled.
fn takes_memory_on(file: &FileContext<'_>, body: &Body) -> bool {
    let words = file.words;
    let takes = |name: &str| {
        words.lends_memory(name)
            || words.results().switches_space(name)
            || words.switches_faults_off(name)
    };
    !calls(file.text, file.tokens_of(body), takes).is_empty()
}

/// The call that is given a function, where every place that names it without a call is one
/// of those.
fn handed(file: &FileContext<'_>, body: &Body) -> Option<Span> {
    let found = calls(file.text, file.tokens, |name| {
        file.words.defers(name).is_some()
    });
    let given = found.iter().filter(|call| {
        let at = file.words.defers(&call.name.text(file.text));
        let own = at.and_then(|at| call.arguments.get(at));
        own.is_some_and(|own| {
            let own = own.of(file.text).trim_ascii();
            own.strip_prefix(b"&").unwrap_or(own) == body.name.as_bytes()
        })
    });
    given.map(|call| call.span).next()
}
