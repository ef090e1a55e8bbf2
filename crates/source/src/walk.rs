//! The statements of a function in order, and the runs among them.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::chain;
use crate::events::{Event, events};
use crate::model::{Exit, Hazard, Jump, Loop, Run, Site, Step, StepKind, Trait};
use crate::near::Pair;
use crate::node::Parts as _;
use crate::runs::close;
use crate::site::{Context, first_word, inner, span};
use crate::span::Span;

/// What the statements of one body hold.
#[derive(Default)]
pub(crate) struct Found {
    /// Its runs, in order.
    pub(crate) runs: Vec<Run>,
    /// Every access that was parsed, alone or in a run.
    pub(crate) sites: Vec<Span>,
    /// Accesses that a condition or a loop parts.
    pub(crate) pairs: Vec<Pair>,
}

impl Found {
    /// Notes that all of it stands in the body of that macro.
    pub(crate) fn wrap(&mut self, name: &str) {
        let sites = self.runs.iter_mut().flat_map(|run| &mut run.sites);
        sites.for_each(|site| site.hazards.insert(0, Hazard::Wrapped(name.to_owned())));
    }
}

/// Walks a body. A run is open while statements follow that a window may span.
pub(crate) struct Walker<'a, 'c> {
    context: &'c Context<'a>,
    directives: &'c [Span],
    cleanup: bool,
    found: Found,
    sites: Vec<Site>,
    steps: Vec<Step>,
    loops: usize,
    under: Option<Span>,
    blocks: Vec<Span>,
    /// How many accesses a run has at least.
    least: usize,
    /// The loops, where a run may have one access.
    repeated: Vec<Loop>,
}

impl<'a, 'c> Walker<'a, 'c> {
    /// A walker over one body, with the places of its preprocessor lines and
    /// whether it holds scopes with cleanups.
    pub(crate) fn new(context: &'c Context<'a>, directives: &'c [Span], cleanup: bool) -> Self {
        Self {
            context,
            directives,
            cleanup,
            found: Found::default(),
            sites: Vec::new(),
            steps: Vec::new(),
            loops: 0,
            under: None,
            blocks: Vec::new(),
            least: 2,
            repeated: Vec::new(),
        }
    }

    /// The runs of the body.
    pub(crate) fn walk(mut self, body: Node<'_>) -> Found {
        self.inside(body);
        self.flush();
        self.found
    }

    /// The loops of the body, each with the runs of one access or more that stand in it
    /// and in no loop inside of it.
    pub(crate) fn loops(mut self, body: Node<'_>) -> Vec<Loop> {
        self.least = 1;
        self.inside(body);
        self.flush();
        let mut loops = self.repeated;
        for run in self.found.runs {
            let around = loops.iter_mut().filter(|own| own.span.contains(run.span));
            if let Some(own) = around.min_by_key(|own| own.span.end - own.span.start) {
                own.runs.push(run);
            }
        }
        loops
    }

    /// Walks the statements of a block, a case or the root.
    fn inside(&mut self, node: Node<'_>) {
        self.blocks.push(span(node));
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.statement(child);
        }
        self.blocks.pop();
    }

    fn statement(&mut self, node: Node<'_>) {
        match node.known_kind() {
            "compound_statement" | "else_clause" => self.inside(node),
            "expression_statement" | "declaration" => self.simple(node),
            "return_statement" => self.then_flush(node, Self::simple),
            "if_statement" => self.branch(node),
            "while_statement" | "for_statement" | "do_statement" => self.repeated(node),
            "switch_statement" => self.fenced(node),
            "case_statement" | "labeled_statement" => self.entered(node),
            "type_definition" | "comment" | ";" => {}
            "break_statement" | "continue_statement" | "goto_statement" => self.flush(),
            _ => self.fenced(node),
        }
    }

    fn then_flush(&mut self, node: Node<'_>, walk: fn(&mut Self, Node<'_>)) {
        walk(self, node);
        self.flush();
    }

    /// Something that a window may not reach into or out of.
    fn fenced(&mut self, node: Node<'_>) {
        self.flush();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if is_statement(child) {
                self.statement(child);
            } else {
                self.expression(child);
            }
            self.flush();
        }
    }

    /// A label or a case: others jump here.
    fn entered(&mut self, node: Node<'_>) {
        self.flush();
        self.inside(node);
        if node.known_kind() == "case_statement" {
            self.flush();
        }
    }

    fn repeated(&mut self, node: Node<'_>) {
        let scope = self
            .context
            .vocabulary
            .is_scope(first_word(span(node).of(self.context.original)));
        // What is open stands before the loop.
        self.flush();
        self.loops += usize::from(!scope);
        if self.least == 1 && !scope {
            self.repeated.push(loop_of(node));
        }
        self.fenced(node);
        self.loops -= usize::from(!scope);
    }

    fn expression(&mut self, node: Node<'_>) {
        let events = events(self.context, node);
        self.segments(span(node), &StepKind::Expression, events);
    }

    fn simple(&mut self, node: Node<'_>) {
        let kind = chain::simple(self.context, node);
        let events = events(self.context, node);
        if events.is_empty() {
            let kind = if matches!(kind, StepKind::Return { .. }) {
                kind
            } else {
                StepKind::Plain
            };
            self.step(span(node), kind, Vec::new(), false);
        } else {
            self.segments(span(node), &kind, events);
        }
    }

    fn branch(&mut self, node: Node<'_>) {
        let Some(condition) = node.part("condition") else {
            return self.fenced(node);
        };
        let consequence = node.part("consequence");
        let alternative = node.part("alternative");
        let events = events(self.context, condition);
        let exit = consequence
            .filter(|_| alternative.is_none())
            .and_then(|body| self.exit(body));
        let accesses = events.iter().any(|e| matches!(e, Event::Site(_)));
        match (accesses, exit) {
            (true, _) if alternative.is_none() && chain::is_no_fault(self.context, condition) => {
                self.segments(span(condition), &StepKind::Expression, events);
                self.guarded(node, consequence);
                self.flush();
            }
            (true, Some(exit)) => {
                let kind = chain::guard(self.context, condition, exit);
                self.segments(span(node), &kind, events);
            }
            (false, Some(exit)) if events.is_empty() && exit.jump != Jump::None => {
                if self.is_success(condition, &exit.jump) {
                    return self.flush();
                }
                let condition = inner(condition);
                self.step(
                    span(node),
                    StepKind::Check { condition, exit },
                    Vec::new(),
                    false,
                );
            }
            (false, _) if alternative.is_none() && self.is_no_error(condition) => {
                self.guarded(node, consequence);
            }
            (false, _) if events.is_empty() && self.only_computes(&[consequence, alternative]) => {
                self.step(span(node), StepKind::Plain, Vec::new(), false);
            }
            _ => self.choice(condition, consequence, alternative),
        }
    }

    /// Whether the sides of an `if` neither call nor jump: `if (n > max) n = max;`.
    fn only_computes(&self, sides: &[Option<Node<'_>>]) -> bool {
        sides.iter().flatten().all(|side| {
            let side = side
                .named_child(0)
                .filter(|_| side.known_kind() == "else_clause")
                .unwrap_or(*side);
            only_expressions(side) && events_below(self.context, side).is_empty()
        })
    }

    fn choice(
        &mut self,
        condition: Node<'_>,
        consequence: Option<Node<'_>>,
        alternative: Option<Node<'_>>,
    ) {
        self.expression(condition);
        for part in [consequence, alternative].into_iter().flatten() {
            self.flush();
            self.statement(part);
        }
        self.flush();
    }

    /// `if (!err) …`, where `err` is what the run has given so far.
    fn guarded(&mut self, node: Node<'_>, consequence: Option<Node<'_>>) {
        let outer = self.under.replace(span(node));
        if let Some(body) = consequence {
            self.statement(body);
        }
        self.under = outer;
    }

    /// Whether the way out is that of success: what follows happens only after a
    /// fault, or where nothing is left to do.
    fn is_success(&self, condition: Node<'_>, jump: &Jump) -> bool {
        let value = |jump: &Jump| match jump {
            Jump::Return(value) => Some(value.clone()),
            _ => None,
        };
        let faults = self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Guard { exit, .. } => value(&exit.jump),
            _ => None,
        });
        let failed = faults.into_iter().any(|value| value == "false");
        self.is_no_error(condition) || failed && value(jump).as_deref() == Some("true")
    }

    fn is_no_error(&self, condition: Node<'_>) -> bool {
        let Some(variable) = self.steps.iter().rev().find_map(|step| match &step.kind {
            StepKind::Assign { variable, .. } => Some(variable),
            _ => None,
        }) else {
            return false;
        };
        chain::tests_no_error(self.context, condition, variable.as_bytes())
    }

    /// The way out that a statement is: it jumps in the end, or does nothing
    /// that a window would have to close for.
    fn exit(&self, body: Node<'_>) -> Option<Exit> {
        let last = last_statement(body)?;
        let found = events_below(self.context, body);
        if found.iter().any(|e| matches!(e, Event::Site(_))) {
            return None;
        }
        let jump = self.jump(last);
        let straight = jump != Jump::None || found.is_empty() && only_expressions(body);
        straight.then(|| Exit {
            jump,
            span: span(body),
        })
    }

    fn jump(&self, last: Node<'_>) -> Jump {
        let argument = last
            .named_child(0)
            .map(|node| self.context.written(node))
            .unwrap_or_default();
        match last.known_kind() {
            "return_statement" => Jump::Return(argument),
            "goto_statement" => Jump::Goto(argument),
            "break_statement" => Jump::Break,
            "continue_statement" => Jump::Continue,
            _ => Jump::None,
        }
    }

    /// Adds a statement's accesses; a barrier among them ends the run before it.
    fn segments(&mut self, place: Span, kind: &StepKind, events: Vec<Event>) {
        let partial = events.iter().any(|e| matches!(e, Event::Barrier));
        let mut pending = Vec::new();
        for event in events {
            match event {
                Event::Site(site) => pending.push(*site),
                Event::Barrier => {
                    self.sited(place, kind, std::mem::take(&mut pending), true);
                    self.flush();
                }
            }
        }
        self.sited(place, kind, pending, partial);
    }

    fn sited(&mut self, place: Span, kind: &StepKind, sites: Vec<Site>, partial: bool) {
        if !sites.is_empty() {
            self.step(place, kind.clone(), sites, partial);
        }
    }

    fn step(&mut self, place: Span, kind: StepKind, sites: Vec<Site>, partial: bool) {
        if self.sites.is_empty() && sites.is_empty() {
            return;
        }
        let first = self.sites.len();
        self.found.sites.extend(sites.iter().map(|site| site.span));
        self.sites.extend(sites);
        let sites = (first..self.sites.len()).collect();
        self.steps.push(Step {
            span: place,
            kind,
            sites,
            under: self.under,
            partial,
        });
    }

    /// Ends the open run.
    fn flush(&mut self) {
        let (sites, steps) = (
            std::mem::take(&mut self.sites),
            std::mem::take(&mut self.steps),
        );
        let Some(mut run) = close(self.context, sites, steps, self.least) else {
            return;
        };
        run.block = self.block_of(run.span);
        if self.loops > 0 {
            run.traits.push(Trait::InLoop);
        }
        if self.cleanup {
            run.traits.push(Trait::CleanupScope);
        }
        if self.directives.iter().any(|line| run.span.contains(*line)) {
            run.traits.push(Trait::Preprocessor);
        }
        run.traits.sort_unstable();
        self.found.runs.push(run);
    }

    fn block_of(&self, place: Span) -> Span {
        let holder = self.blocks.iter().rev().find(|block| block.contains(place));
        holder.copied().unwrap_or(place)
    }
}

fn loop_of(node: Node<'_>) -> Loop {
    let part = |name: &str| node.part(name).map(span);
    Loop {
        span: span(node),
        begin: part("initializer"),
        condition: part("condition"),
        update: part("update"),
        body: part("body").unwrap_or(span(node)),
        runs: Vec::new(),
    }
}

fn is_statement(node: Node<'_>) -> bool {
    node.is_statement() || matches!(node.known_kind(), "declaration" | "else_clause")
}

fn last_statement(body: Node<'_>) -> Option<Node<'_>> {
    if body.known_kind() == "compound_statement" {
        return body.named_child(answer::fits(body.named_child_count().checked_sub(1)?)?);
    }
    Some(body)
}

fn only_expressions(body: Node<'_>) -> bool {
    if body.known_kind() == "expression_statement" {
        return true;
    }
    let mut cursor = body.walk();
    body.known_kind() == "compound_statement"
        && body
            .named_children(&mut cursor)
            .all(|s| s.known_kind() == "expression_statement")
}

fn events_below(context: &Context<'_>, body: Node<'_>) -> Vec<Event> {
    if body.known_kind() != "compound_statement" {
        return events(context, body);
    }
    let mut cursor = body.walk();
    body.named_children(&mut cursor)
        .flat_map(|child| events(context, child))
        .collect()
}
