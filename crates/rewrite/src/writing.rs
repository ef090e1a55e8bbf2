//! Windows written into a function: what opens them, the unsafe accesses, labels,
//! an end on every path.

pub(crate) mod braces;
pub(crate) mod falls;
pub(crate) mod shape;
pub(crate) mod variables;

use std::collections::BTreeSet;

use tollgate_source::{Direction, Expression, Jump, Site, Span, StatementKind};

use crate::edit::Edit;
use crate::gate::Opening;
use crate::helper::Names;
use crate::lines::{arm, call, reindent, tidy, untied, widest};
use crate::plan::{Chained, Line, Part, Plan};
use crate::refusal::Refusal;
use crate::subject::Subject;
use crate::writing::shape::{Shape, shape};
use crate::writing::variables::declaration;

/// The way out at the end of the function: windows that leave alike share it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tail {
    end: Option<String>,
    statements: Vec<String>,
    /// The label that it goes to, if it does no more.
    goes_to: Option<String>,
    /// The body of the loop at whose end it stands; none for the function's.
    within: Option<Span>,
}

impl Tail {
    fn of(plan: &Plan, within: Option<Span>) -> Self {
        Self {
            goes_to: plan.fault.only_goes_to().map(str::to_owned),
            end: plan.gate.end(),
            statements: plan.fault.statements.clone(),
            within,
        }
    }
}

/// A way out with its label.
struct Labelled {
    tail: Tail,
    label: String,
    /// The `#if` lines around it; a label that nothing uses is warned about.
    conditions: Vec<String>,
}

/// What was written into one function.
#[derive(Default)]
pub(crate) struct Written {
    /// The plans that have a window now.
    pub(crate) plans: Vec<Plan>,
    /// Every change of the function.
    pub(crate) edits: Vec<Edit>,
    /// Why the other plans have none.
    pub(crate) refused: Vec<Refusal>,
    /// Windows that are opened no more.
    pub(crate) saved: usize,
    /// What the patch changes besides, each a sentence for its message.
    pub(crate) changes: Vec<String>,
}

/// Writes a window for each plan that the function has a shape for.
pub(crate) fn write(subject: &Subject<'_>, plans: Vec<Plan>) -> Written {
    let (shaped, refused) = shapes(subject, plans);
    let mut writer = Writer::new(subject, &shaped);
    for (plan, shape) in &shaped {
        writer.write(plan, shape);
    }
    let edits = writer.finish();
    let plans: Vec<Plan> = shaped.into_iter().map(|(plan, _)| plan).collect();
    Written {
        saved: plans.iter().map(Plan::windows_saved).sum(),
        plans,
        edits,
        refused,
        changes: Vec::new(),
    }
}

/// The shape of each plan; the others with the reason why they have none.
fn shapes(subject: &Subject<'_>, plans: Vec<Plan>) -> (Vec<(Plan, Shape)>, Vec<Refusal>) {
    let regions: Vec<Span> = plans.iter().map(|plan| plan.region).collect();
    let (mut shaped, mut refused) = (Vec::new(), Vec::new());
    for plan in plans {
        let braces = braces::opening(subject, plan.region);
        match braces.and_then(|_| shape(subject, &plan, &regions)) {
            Ok(shape) => shaped.push((plan, shape)),
            Err(refusal) => refused.push(refusal),
        }
    }
    (shaped, refused)
}

/// Writes windows into one function.
struct Writer<'s, 'a> {
    subject: &'s Subject<'a>,
    edits: Vec<Edit>,
    tails: Vec<Labelled>,
    labels: BTreeSet<String>,
    /// Whether one label is enough.
    one: bool,
}

impl<'s, 'a> Writer<'s, 'a> {
    fn new(subject: &'s Subject<'a>, shaped: &[(Plan, Shape)]) -> Self {
        let tail = |(plan, shape): &(Plan, Shape)| match shape {
            Shape::Tail => Some(Tail::of(plan, None)),
            Shape::Loop(body) => Some(Tail::of(plan, Some(*body))),
            _ => None,
        };
        let first = shaped.first().and_then(tail);
        let alike = |each: &(Plan, Shape)| first.is_some() && tail(each) == first;
        Self {
            subject,
            edits: Vec::new(),
            tails: Vec::new(),
            labels: BTreeSet::new(),
            one: shaped.len() == 1 || shaped.iter().all(alike),
        }
    }

    fn write(&mut self, plan: &Plan, shape: &Shape) {
        let mut indent = self.subject.indent(plan.region.start);
        if asked(plan).is_some() {
            indent += "\t";
        }
        match shape {
            Shape::Standing(label) => {
                let at = plan.checked.as_ref().and_then(|checked| checked.ends_at);
                if let Some((at, end)) = at.zip(plan.gate.end()) {
                    self.edits.push(Edit::insert(at, format!("\n\t{end}")));
                }
                self.with_tail(plan, label, &indent);
            }
            Shape::Tail => {
                let label = self.tail(plan, None);
                self.with_tail(plan, &label, &indent);
            }
            Shape::Loop(body) => {
                let label = self.tail(plan, Some(*body));
                self.with_tail(plan, &label, &indent);
            }
            Shape::Variable(variable) | Shape::Declared(variable) => {
                self.declare(shape);
                let label = self.label(plan);
                self.with_variable(plan, &label, &indent, variable);
            }
            Shape::Block(chained) => {
                let label = self.label(plan);
                self.with_block(plan, &label, &indent, chained);
            }
        }
    }

    /// Every change of the function.
    fn finish(mut self) -> Vec<Edit> {
        self.fall_into_labels();
        let (loops, tails): (Vec<&Labelled>, Vec<&Labelled>) = self
            .tails
            .iter()
            .partition(|labelled| labelled.tail.within.is_some());
        let mut edits: Vec<Edit> = loops
            .into_iter()
            .filter_map(|l| self.loop_tail(l))
            .collect();
        let tail: String = tails
            .into_iter()
            .map(|labelled| block(labelled, "\t"))
            .collect();
        if !tail.is_empty() {
            let close = self.subject.function.body.end.saturating_sub(1);
            let falls =
                self.subject.flow.ending == Some(Jump::None) && self.subject.flow.gives_nothing;
            let stop = if falls { "\treturn;\n" } else { "" };
            edits.push(self.before_brace(close, &format!("{stop}{tail}")));
        }
        self.edits.append(&mut edits);
        self.edits
    }

    /// Lines before the function's closing brace, which may not be alone on its own.
    fn before_brace(&self, close: usize, lines: &str) -> Edit {
        let text = self.subject.text.get(..close).unwrap_or_default();
        let code = text.trim_ascii_end().len();
        if text.get(code..).is_some_and(|gap| gap.contains(&b'\n')) {
            return Edit::insert(close, lines);
        }
        Edit::replace(Span::new(code, close), format!("\n{lines}"))
    }

    /// Ways out that only go to a label stand before it, one for each label.
    fn fall_into_labels(&mut self) {
        let mut taken = BTreeSet::new();
        let (subject, edits) = (self.subject, &mut self.edits);
        self.tails.retain(|known| {
            let plain = known.conditions.is_empty() && known.tail.within.is_none();
            let label = known.tail.goes_to.as_deref().filter(|_| plain);
            let place = label.and_then(|label| falls::place(subject, label));
            let place = place.filter(|at| taken.insert(*at));
            let end = known.tail.end.as_deref().zip(place);
            if let Some((end, at)) = end {
                edits.push(Edit::insert(at, format!("{}:\n\t{end}\n", known.label)));
            }
            end.is_none()
        });
    }

    /// The way out at the end of a loop's body, past which the loop goes on.
    fn loop_tail(&self, labelled: &Labelled) -> Option<Edit> {
        let body = labelled.tail.within?;
        let close = self.subject.line_start(body.end.checked_sub(1)?);
        let indent = self.subject.indent(body.end - 1) + "\t";
        let flow = self.subject.flow;
        let last = flow.inside(body).last();
        let stop = if last.is_some_and(|last| flow.leaves(last)) {
            String::new()
        } else {
            format!("{indent}continue;\n")
        };
        Some(Edit::insert(
            close,
            format!("{stop}{}", block(labelled, &indent)),
        ))
    }

    /// `int ret;` below the function's other variables.
    fn declare(&mut self, shape: &Shape) {
        if let Shape::Declared(variable) = shape
            && let Some(line) = declaration(self.subject, &format!("int {variable};"))
            && !self.edits.contains(&line)
        {
            self.edits.push(line);
        }
    }

    /// The label of the way out at the end, which may be there already.
    fn tail(&mut self, plan: &Plan, within: Option<Span>) -> String {
        let tail = Tail::of(plan, within);
        if let Some(label) = self.standing(plan, &tail) {
            return label;
        }
        let conditions = match within {
            None => self.subject.conditions(plan.region).unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        let shares = |known: &&mut Labelled| {
            let (own, other) = (&conditions, &known.conditions);
            known.tail == tail && (own.starts_with(other) || other.starts_with(own))
        };
        if let Some(known) = self.tails.iter_mut().find(shares) {
            known.conditions.truncate(conditions.len());
            return known.label.clone();
        }
        let label = self.label(plan);
        self.tails.push(Labelled {
            tail,
            label: label.clone(),
            conditions,
        });
        label
    }

    /// The function's own label of a way out that closes no window: the one that it goes
    /// to, or one behind which the same return stands.
    fn standing(&self, plan: &Plan, tail: &Tail) -> Option<String> {
        if tail.end.is_some() {
            return None;
        }
        if let Some(label) = &tail.goes_to {
            return Some(label.clone());
        }
        let flow = self.subject.flow;
        let same = |(_, at): &&(String, Span)| {
            let Some(own) = flow.labelled(*at) else {
                return false;
            };
            let inside: Vec<_> = flow.inside(own.span).collect();
            let [only] = inside.as_slice() else {
                return false;
            };
            let returns = only.kind == StatementKind::Return;
            returns && tail.statements == [self.subject.line(only.span)]
        };
        let crossed = |at: Span| {
            flow.cleanups
                .iter()
                .any(|s| s.contains(plan.region) != s.contains(at))
        };
        let behind = |(_, at): &&(String, Span)| at.start > plan.region.end && !crossed(*at);
        let mut all = flow.labels.iter().filter(behind);
        all.find(same).map(|(name, _)| name.clone())
    }

    fn label(&mut self, plan: &Plan) -> String {
        let mut labels = self.subject.flow.labels.iter();
        let base = if labels.any(|(label, _)| label.eq_ignore_ascii_case("efault")) {
            format!("efault{}_end", if self.one { "" } else { plan.way })
        } else if self.one {
            "efault".to_owned()
        } else {
            format!("efault{}", plan.way)
        };
        let mut name = base.clone();
        let mut number = 2;
        while self.subject.flow.knows(&name) || self.labels.contains(&name) {
            name = format!("{base}{number}");
            number += 1;
        }
        self.labels.insert(name.clone());
        name
    }

    /// What opens the window, behind what the condition asked before it.
    fn opening(&self, plan: &Plan, indent: &str) -> String {
        let before = plan.before.map(|part| self.kept(plan, part, indent) + "\n");
        let opening = plan.gate.opening(&self.frame(plan, indent));
        before.unwrap_or_default() + &self.cleared(plan, indent) + &opening
    }

    fn frame<'p>(&self, plan: &'p Plan, indent: &'p str) -> Opening<'p> {
        Opening {
            way: plan.way,
            object: &plan.object,
            size: &plan.size,
            exit: match &plan.checked {
                Some(checked) => &checked.exit,
                None => &plan.fault.statements,
            },
            columns: self.columns(),
            indent,
        }
    }

    fn cleared(&self, plan: &Plan, indent: &str) -> String {
        let cleared = plan.cleared.iter();
        cleared
            .map(|variable| format!("{indent}{}\n", zero(variable)))
            .collect()
    }

    /// `if (…) exit` with a part of the condition as it is written.
    fn kept(&self, plan: &Plan, part: Span, indent: &str) -> String {
        let condition = self.subject.at(part);
        format!(
            "{indent}if ({condition}){}",
            arm(&plan.fault.statements, indent)
        )
    }

    /// How wide a line may be: 80 columns, or what the style guide allows where
    /// the function's accesses are wider already.
    fn columns(&self) -> usize {
        let lines = |run: &tollgate_source::Run| {
            let start = self.subject.line_start(run.span.start);
            self.subject.at(Span::new(start, run.span.end))
        };
        let runs = self.subject.function.runs.iter();
        widest(&runs.map(lines).collect::<Vec<_>>().join("\n"))
    }

    fn accesses(&self, plan: &Plan, label: &str, indent: &str) -> String {
        let lines = plan
            .lines
            .iter()
            .map(|line| self.line(plan, line, label, indent));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn line(&self, plan: &Plan, line: &Line, label: &str, indent: &str) -> String {
        match line {
            Line::Verbatim(text) => format!("{indent}{}", self.moved(plan, text, indent)),
            Line::Zero(variable) => {
                format!("{indent}{}", self.moved(plan, &zero(variable), indent))
            }
            Line::Access(index) => self.access(plan, *index, label, indent),
            Line::When {
                condition,
                zero: cleared,
                index,
            } => {
                let access = self.access(plan, *index, label, &format!("{indent}\t"));
                let condition = self.moved(plan, condition, indent);
                match cleared {
                    None => format!("{indent}if ({condition})\n{access}"),
                    Some(variable) => {
                        let zero = zero(variable);
                        format!(
                            "{indent}if ({condition}) {{\n{indent}\t{zero}\n{access}\n{indent}}}"
                        )
                    }
                }
            }
            Line::Leave {
                condition,
                zeroed,
                statements,
            } => {
                let own = plan.gate.end().into_iter();
                let own = own.chain(zeroed.iter().map(|variable| zero(variable)));
                let all: Vec<String> = own.chain(statements.iter().cloned()).collect();
                let condition = self.moved(plan, &untied(condition), indent);
                format!("{indent}if ({condition}){}", arm(&all, indent))
            }
            Line::Body(parts) => {
                let own = self.subject.indent(plan.region.start);
                let parts = parts
                    .iter()
                    .map(|part| self.part(plan, part, label, [&own, indent]));
                format!("{indent}{}", parts.collect::<String>())
            }
            Line::Loop {
                before,
                index,
                behind,
                indent: own,
                inner,
            } => {
                let inner = indent.to_owned() + inner.strip_prefix(own.as_str()).unwrap_or(inner);
                let access = self.access(plan, *index, label, &inner);
                let before = reindent(&format!("{own}{before}"), own, indent);
                format!("{before}\n{access}{}", reindent(behind, own, indent))
            }
        }
    }

    /// A part of a body that is moved from one depth to another.
    fn part(&self, plan: &Plan, part: &Part, label: &str, [from, to]: [&str; 2]) -> String {
        match part {
            Part::Text(text) => moved(text, from, to),
            Part::Accesses {
                sites,
                indent,
                begins,
            } => {
                let indent = &format!("{to}{}", indent.strip_prefix(from).unwrap_or(indent));
                let all = sites
                    .iter()
                    .map(|&site| self.access(plan, site, label, indent));
                let all = all.collect::<Vec<_>>().join("\n");
                let front = if *begins { "" } else { indent };
                all.strip_prefix(front).unwrap_or(&all).to_owned()
            }
        }
    }

    /// A text of more lines as it stands at another depth.
    fn moved(&self, plan: &Plan, text: &str, indent: &str) -> String {
        reindent(text, &self.subject.indent(plan.region.start), indent)
    }

    fn access(&self, plan: &Plan, index: usize, label: &str, indent: &str) -> String {
        let Some(site) = plan.run.sites.get(index) else {
            return String::new();
        };
        if self.subject.opened == Some(site.call.as_str()) {
            return self.opened(site, label, indent);
        }
        let head = match site.direction {
            Direction::Read => "unsafe_get_user",
            Direction::Write => "unsafe_put_user",
        };
        let value = self.argument(site.value);
        let copied = plan
            .checked
            .as_ref()
            .and_then(|checked| checked.copies.get(index));
        if let Some(Some(size)) = copied {
            let (to, size) = (self.argument(site.address), self.argument(*size));
            let arguments = [to.as_str(), &value, &size, label];
            return call(
                self.columns(),
                indent,
                "unsafe_copy_to_user",
                &arguments,
                ");",
            );
        }
        let address = match &plan.advance {
            Some(advance) => advance.address(index),
            None => self.argument(site.address),
        };
        let address = plan.gate.address(address);
        call(
            self.columns(),
            indent,
            head,
            &[&value, &address, label],
            ");",
        )
    }

    /// A call of the function that is called with a window open.
    fn opened(&self, site: &Site, label: &str, indent: &str) -> String {
        let call_ = self.subject.expression(site.span);
        let given = call_.as_ref().and_then(Expression::call);
        let given = given.map_or(&[] as &[Expression], |(_, arguments)| arguments);
        let given = given.iter().map(|own| self.argument(own.span));
        let arguments: Vec<String> = given.chain([label.to_owned()]).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let name = Names::of(&site.call).unsafe_;
        call(self.columns(), indent, &name, &arguments, ");")
    }

    fn argument(&self, span: Span) -> String {
        tidy(&self.subject.line(span))
    }

    /// The accesses between what opens the window and what closes it, with
    /// `first` between the opening and them and `last` behind them.
    fn inside(&self, plan: &Plan, label: &str, indent: &str, first: &str, last: &str) -> String {
        let opening = self.opening(plan, indent);
        let Some((head, tail)) = plan.gate.scope(&self.frame(plan, indent), label) else {
            let accesses = self.accesses(plan, label, indent);
            return format!("{opening}\n\n{first}{accesses}{last}");
        };
        let accesses = self.accesses(plan, label, &format!("{indent}\t"));
        format!("{opening}{first}{head}\n{accesses}\n{tail}{last}")
    }

    fn with_tail(&mut self, plan: &Plan, label: &str, indent: &str) {
        let end = plan.gate.end().map(|end| format!("\n{indent}{end}"));
        let mut text = self.inside(plan, label, indent, "", &end.unwrap_or_default());
        text += &advanced(plan, indent);
        if let Some(part) = plan.behind {
            text += &format!("\n\n{}", self.kept(plan, part, indent));
        }
        for variable in &plan.results {
            text += &format!("\n{indent}{variable} = 0;");
        }
        if plan.returns {
            text += &format!("\n\n{indent}return 0;");
        }
        let label = self.subject.text.get(..plan.region.end);
        let labelled = label.is_some_and(|text| text.ends_with(b":"));
        self.replace(plan, plan.region, &text, plan.returns || labelled);
    }

    fn with_block(&mut self, plan: &Plan, label: &str, indent: &str, chained: &Chained) {
        let Chained {
            variable,
            fault,
            success,
            ..
        } = chained;
        let outer = indent;
        let indent = &match chained.carried {
            true => format!("{outer}\t"),
            false => outer.to_owned(),
        };
        let cleared = self.cleared(plan, indent);
        let head = format!("if (user{}_access_begin", plan.way);
        let range = [plan.object.as_str(), plan.size.as_str()];
        let begin = call(self.columns(), indent, &head, &range, ")) {");
        let inner = format!("{indent}\t");
        let accesses = self.accesses(plan, label, &inner);
        let end = plan.gate.end().unwrap_or_default();
        let text = format!(
            "{cleared}{indent}{variable} = {fault};\n{begin}\n{accesses}\n{inner}{variable} = {success};\n{label}:\n{inner}{end}\n{indent}}}"
        );
        let text = match chained.carried {
            true => format!("{outer}if (!{variable}) {{\n{text}\n{outer}}}"),
            false => text,
        };
        self.replace(plan, plan.region, &text, true);
    }

    fn with_variable(&mut self, plan: &Plan, label: &str, indent: &str, variable: &str) {
        let end = plan.gate.end().map(|end| format!("\n{indent}{end}"));
        let (held, cleared) = (
            format!("{indent}{variable} = -EFAULT;\n"),
            format!("\n{indent}{variable} = 0;\n{label}:"),
        );
        let mut text = self.inside(plan, label, indent, &held, &cleared) + &end.unwrap_or_default();
        let own = plan.returns.then_some(plan.region);
        let behind = || self.success_behind(plan);
        let alone = plan.behind.is_none() && plan.advance.is_none() && asked(plan).is_none();
        let success = own.or_else(behind).filter(|_| alone);
        let region = match success {
            Some(success) => {
                let gap = plan.gate.end().map_or("", |_| "\n");
                text += &format!("\n{gap}{indent}return {variable};");
                plan.region.join(success)
            }
            None => {
                text += &format!("\n{indent}if ({variable})");
                text += &arm(&plan.fault.with_variable(variable), indent);
                let other = plan.results.iter().filter(|result| *result != variable);
                text.extend(other.map(|result| format!("\n{indent}{result} = 0;")));
                let behind = plan
                    .behind
                    .map(|part| format!("\n\n{}", self.kept(plan, part, indent)));
                text += &advanced(plan, indent);
                text += &behind.unwrap_or_default();
                plan.region
            }
        };
        self.replace(plan, region, &text, region != plan.region);
    }

    /// `return 0;` right behind a run that returns -EFAULT on a fault.
    fn success_behind(&self, plan: &Plan) -> Option<Span> {
        // Behind a body without braces, it is not only that run's.
        if !matches!(braces::opening(self.subject, plan.region), Ok(None)) {
            return None;
        }
        let next = self.subject.flow.next(plan.region)?;
        let between = Span::new(plan.region.end, next.span.start);
        let blank = between.of(self.subject.text).trim_ascii().is_empty();
        let zero = self.subject.expression(next.expression?)?.is_zero();
        let fails = plan.fault.only_returns() && next.kind == StatementKind::Return;
        (fails && blank && zero).then_some(next.span)
    }

    /// Replaces whole statements, with a blank line before what follows.
    fn replace(&mut self, plan: &Plan, region: Span, text: &str, last: bool) {
        let indent = &self.subject.indent(region.start);
        let text = &match asked(plan) {
            Some(asked) => format!("{indent}if ({asked}) {{\n{text}\n{indent}}}"),
            None => text.to_owned(),
        };
        let behind = self.subject.text.get(region.end..).unwrap_or_default();
        let mut lines = behind.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        let same_line = lines.next().unwrap_or_default();
        let next = lines.next().unwrap_or_default();
        // What closes itself stands before a return as a block does.
        let blocks = plan.gate.end().is_none() && next.starts_with(b"return");
        let apart = last
            || blocks
            || !same_line.is_empty()
            || next.is_empty()
            || next.starts_with(b"}")
            || next.starts_with(b"#");
        // A plan that has no place for braces was refused with its shape.
        let close = match braces::opening(self.subject, region) {
            Ok(Some(at)) => {
                self.edits.push(Edit::insert(at, " {"));
                Some(format!("\n{}}}", braces::outer(indent)))
            }
            _ => None,
        };
        let gap = if apart { "" } else { "\n" };
        let gap = close.unwrap_or_else(|| gap.to_owned());
        let text = text.strip_prefix(indent).unwrap_or(text);
        self.edits
            .push(Edit::replace(region, format!("{text}{gap}")));
    }
}

/// A text that begins in the middle of a line, with the lines behind it at another depth.
fn moved(text: &str, from: &str, to: &str) -> String {
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or(text).to_owned();
    lines.fold(first, |all, line| match line.strip_prefix(from) {
        Some(rest) => format!("{all}\n{to}{rest}"),
        None => format!("{all}\n{line}"),
    })
}

/// What has to hold so that the window is needed at all.
fn asked(plan: &Plan) -> Option<&str> {
    plan.rounds.as_ref()?.asked.as_deref()
}

/// What moves the pointer on behind the window.
fn advanced(plan: &Plan, indent: &str) -> String {
    let advance = plan.advance.iter();
    advance
        .map(|advance| format!("\n{indent}{}", advance.statement()))
        .collect()
}

/// The lines of a way out behind everything else.
fn block(labelled: &Labelled, indent: &str) -> String {
    let Labelled { tail, label, .. } = labelled;
    let all = |lines: &[String], before: &str| -> String {
        lines
            .iter()
            .map(|line| format!("{before}{line}\n"))
            .collect()
    };
    let statements = all(&tail.statements, indent);
    let end = tail.end.iter().map(|end| format!("{indent}{end}\n"));
    let way_out = format!("{label}:\n{}{statements}", end.collect::<String>());
    let ends = "#endif\n".repeat(labelled.conditions.len());
    format!("\n{}{way_out}{ends}", all(&labelled.conditions, ""))
}

/// The statement that makes a variable zero.
fn zero(variable: &str) -> String {
    format!("{variable} = 0;")
}
