//! What may not happen on any path of a function.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::calls::Role;
use crate::code::Code;
use crate::conditions::{Conditions, Known};
use crate::decode::{Direction, Flow, Gate, Instruction, Origin};
use crate::elf::Choice;
use crate::graph::{Graph, Leave, Step};
use crate::hash::HashSet;
use crate::symbols::Function;

/// A rule of the window. The first seven are those of the kernel's objtool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A call with the window open of what is not allowed there.
    CallInWindow,
    /// A return with the window open.
    ReturnOpen,
    /// A function that is called with the window open returns with it closed.
    ReturnClosed,
    /// Opened where it is open.
    OpenTwice,
    /// Closed where it is not open.
    CloseNotOpen,
    /// A function that is called with the window open closes it.
    CallerClosed,
    /// The state of the gate is put by more often than can be followed.
    TooManySaves,
    /// A jump to another function with the window open.
    JumpInWindow,
    /// Control runs off the end of the function with the window open.
    EndOpen,
    /// An access to user memory with the window closed.
    AccessOutside,
    /// A read in a window for writes, or the other way round.
    WrongDirection,
    /// An opening or closing that no path reaches.
    NotReached,
    /// A call, a jump away or a return with the CPU's direction flag set, `std` where
    /// it is set, or `cld` where it is not (x86).
    DirectionFlag,
}

/// A place where a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The address of the instruction: in an object file, in its section.
    pub address: u64,
    /// Where the window was opened, on one of the paths; none where it is not
    /// open, or was open on entry.
    pub opened_at: Option<u64>,
    /// What is called or jumped to, where that is the matter.
    pub target: Option<String>,
}

impl Rule {
    /// What is wrong, as the end of a sentence that begins with the place.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::CallInWindow => "call with the window open",
            Self::ReturnOpen => "return with the window open",
            Self::ReturnClosed => "return with the caller's window closed",
            Self::OpenTwice => "opens a window that is open",
            Self::CloseNotOpen => "closes a window that is not open",
            Self::CallerClosed => "closes the caller's window",
            Self::TooManySaves => "saves the gate's state more than 31 times",
            Self::JumpInWindow => "jump to another function with the window open",
            Self::EndOpen => "runs off the function's end with the window open",
            Self::AccessOutside => "user access with the window closed",
            Self::WrongDirection => "user access in a direction that the window keeps out",
            Self::NotReached => "no path reaches this gate",
            Self::DirectionFlag => "the direction flag is not as it must be here",
        }
    }

    /// The rule's name, `call-in-window`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CallInWindow => "call-in-window",
            Self::ReturnOpen => "return-open",
            Self::ReturnClosed => "return-closed",
            Self::OpenTwice => "open-twice",
            Self::CloseNotOpen => "close-not-open",
            Self::CallerClosed => "caller-closed",
            Self::TooManySaves => "too-many-saves",
            Self::JumpInWindow => "jump-in-window",
            Self::EndOpen => "end-open",
            Self::AccessOutside => "access-outside",
            Self::WrongDirection => "wrong-direction",
            Self::NotReached => "not-reached",
            Self::DirectionFlag => "direction-flag",
        }
    }
}

/// The gate as a path finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    open: bool,
    /// Whether the way to low memory of the kernel's own is open (LASS).
    kernel: bool,
    /// Whether string instructions go downwards: the direction flag is set.
    downwards: bool,
    /// The states that were put by with all flags, for another reason.
    flags: Flags,
    /// States that were put by, a bit each below a leading one; 0 for none.
    saved: u32,
    /// Whether the CPU has the feature that splits the function, once a path
    /// has asked.
    split: Option<bool>,
    /// The accesses that the open window keeps out.
    keeps_out: Option<Direction>,
    /// What is known of conditions that are asked again.
    known: Known,
}

/// States of the gate that were put by with all flags, since they were last taken
/// back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Flags {
    open: bool,
    closed: bool,
}

impl State {
    /// Whether nothing else may be called: one flag of the CPU stands for both.
    fn inside(self) -> bool {
        self.open || self.kernel
    }
}

/// What the walk over every path saw.
pub(crate) struct Walked {
    pub(crate) findings: Vec<Finding>,
    /// Whether each instruction runs with the window open on some path.
    pub(crate) open: Vec<bool>,
    /// Whether each runs at all.
    pub(crate) reached: Vec<bool>,
    /// Whether a path ended where a gate's direction could not be told.
    pub(crate) lost: bool,
    /// Whether a path returns with the window closed, and whether one with it open.
    pub(crate) returns: [bool; 2],
}

struct Walk<'a, 'data> {
    code: &'a Code<'data>,
    graph: &'a Graph,
    /// May be entered and left with the window open.
    safe: bool,
    /// What is known of it by its name.
    role: Role,
    typed: bool,
    /// Whether each access must stand in a window.
    needs: bool,
    has_gates: bool,
    /// What decides which paths there are; none where every way is one.
    conditions: Option<&'a Conditions>,
    seen: HashSet<(usize, State)>,
    found: BTreeMap<(u64, Rule), Finding>,
    walked: Walked,
}

/// Walks every path of a function, in every state of the gate. What is found only
/// where one condition is taken to hold and not to hold is no finding; one in code
/// that then is not reached at all stays one.
pub(crate) fn walk(code: &Code<'_>, graph: &Graph, function: &Function) -> Walked {
    let mut walked = walk_with(code, graph, function, None);
    if walked.findings.is_empty() {
        return walked;
    }
    let conditions = Conditions::of(code, graph);
    if conditions.is_empty() {
        return walked;
    }
    let again = walk_with(code, graph, function, Some(&conditions));
    if !again.lost {
        let known: HashSet<_> = again.findings.iter().map(|f| (f.address, f.rule)).collect();
        let all = graph.instructions.iter().zip(&again.reached);
        let dead = all.filter(|(_, reached)| !**reached);
        let dead: HashSet<u64> = dead
            .map(|(i, _)| code.detours.shown(i.at).address)
            .collect();
        let stays = |f: &Finding| known.contains(&(f.address, f.rule)) || dead.contains(&f.address);
        walked.findings.retain(stays);
    }
    walked
}

/// Whether code begins as that does which the CPU, a boot loader or a hypervisor enters, who
/// promise nothing of the direction flag: what is called may rely on it (System V ABI for
/// x86-64, 3.2.1), and no compiler clears it first.
fn is_entered_by_cpu(graph: &Graph) -> bool {
    let mut first = graph.instructions.get(graph.entry..).into_iter().flatten();
    first.next().is_some_and(|own| own.gate == Gate::Upwards)
}

fn walk_with(
    code: &Code<'_>,
    graph: &Graph,
    function: &Function,
    conditions: Option<&Conditions>,
) -> Walked {
    let size = graph.instructions.len();
    let name = function.name.as_str();
    let mut walk = Walk {
        code,
        graph,
        safe: code.calls.is_allowed(name) && !is_unsaved(code, graph, name),
        role: graph
            .start()
            .map_or_else(Role::default, |at| code.role_at(at)),
        typed: function.typed && !(function.guessed && is_entered_by_cpu(graph)),
        needs: (code.layout.accesses_need_window || graph.needs) && !code.calls.is_kernel(name),
        has_gates: graph.instructions.iter().any(is_gate),
        conditions,
        seen: HashSet::default(),
        found: BTreeMap::new(),
        walked: Walked {
            findings: Vec::new(),
            open: vec![false; size],
            reached: vec![false; size],
            lost: false,
            returns: [false; 2],
        },
    };
    walk.run();
    walk.unreached();
    let Walk {
        seen,
        mut found,
        mut walked,
        ..
    } = walk;
    // Of several switches that were not read, one's cases may be another's.
    let is_open = |index: &usize| walked.open.get(*index).copied().unwrap_or(false);
    let mixed = graph.guessed.len() > 1 && graph.guessed.iter().any(is_open);
    if mixed || graph.tangled || seen.len() > most(graph) {
        walked.lost = true;
        found.clear();
    }
    if code.calls.is_entry(name) {
        found.clear();
        walked.lost = false;
    }
    walked.findings = found.into_values().collect();
    walked
}

/// States that are followed in any function.
const FEW_STATES: usize = 1 << 16;

/// States that are followed in a function. Code of the kernel has two an
/// instruction, and a few more where the state is saved; hostile code could
/// have as many as there are numbers of 31 bits.
fn most(graph: &Graph) -> usize {
    graph.instructions.len().saturating_mul(16).max(FEW_STATES)
}

impl Walk<'_, '_> {
    fn run(&mut self) {
        let start = State {
            open: self.safe || self.role.closes,
            kernel: false,
            downwards: false,
            flags: Flags::default(),
            saved: 0,
            split: None,
            keeps_out: None,
            known: Known::default(),
        };
        let mut work = vec![(self.graph.entry, start, None)];
        while let Some((index, state, opened)) = work.pop() {
            let Some(instruction) = self.graph.instructions.get(index) else {
                continue;
            };
            if self.seen.len() > most(self.graph) {
                return;
            }
            if !self.seen.insert((index, state)) {
                continue;
            }
            self.mark(index, state);
            let Some((after, opened_after)) = self.step(instruction, state, opened) else {
                self.walked.lost = true;
                continue;
            };
            self.leave(index, instruction, after, opened_after);
            let exit = self.graph.exits.get(index).copied().flatten();
            if exit == Some(Leave::IndirectJump) && after.inside() {
                continue;
            }
            for step in self.graph.steps.get(index).into_iter().flatten() {
                // What faults has not run.
                let (state, opened) = if step.fault || step.instead {
                    (state, opened)
                } else {
                    (after, opened_after)
                };
                let chosen = self.chosen(state, step.choice);
                if let Some(state) = chosen.and_then(|state| self.known(index, step, state)) {
                    work.push((step.to, state, opened));
                }
            }
        }
    }

    /// The state on a way that only some CPUs take; none where this one does
    /// not.
    fn chosen(&self, state: State, choice: Option<Choice>) -> Option<State> {
        let split = choice.filter(|choice| self.graph.split == Some(choice.feature));
        let Some(choice) = split else {
            return Some(state);
        };
        let fits = state.split.is_none_or(|on| on == choice.on);
        fits.then_some(State {
            split: Some(choice.on),
            ..state
        })
    }

    /// The state on a way with what that says of conditions; none where they are
    /// known to be otherwise.
    fn known(&self, index: usize, step: &Step, state: State) -> Option<State> {
        let Some(conditions) = self.conditions else {
            return Some(state);
        };
        let before = match step.instead {
            true => state.known,
            false => conditions.after(index, state.known),
        };
        let known = conditions.on(index, step, before)?;
        Some(State { known, ..state })
    }

    fn mark(&mut self, index: usize, state: State) {
        if let Some(reached) = self.walked.reached.get_mut(index) {
            *reached = true;
        }
        if let Some(open) = self.walked.open.get_mut(index) {
            *open |= state.open;
        }
    }

    /// The state after an instruction; none where it cannot be told.
    fn step(
        &mut self,
        instruction: &Instruction,
        before: State,
        opened: Option<u64>,
    ) -> Option<(State, Option<u64>)> {
        let at = self.shown(instruction);
        let mut state = before;
        match instruction.gate {
            Gate::Open => {
                if state.inside() {
                    self.find(Rule::OpenTwice, at, opened, None);
                }
                (state.open, state.keeps_out) = (true, instruction.keeps_out);
                return Some((state, Some(at)));
            }
            Gate::Close => {
                self.close(instruction, state);
                (state.open, state.keeps_out) = (false, None);
                return Some((state, None));
            }
            Gate::Save => self.save(at, &mut state),
            Gate::Restore => restore(&mut state),
            Gate::PushFlags => {
                state.flags.open |= state.open;
                state.flags.closed |= !state.open;
            }
            Gate::PopFlags => return Some(self.take_flags(at, state, opened)),
            Gate::OpenKernel => {
                if state.inside() {
                    self.find(Rule::OpenTwice, at, opened, None);
                }
                state.kernel = true;
                return Some((state, Some(at)));
            }
            Gate::CloseKernel => {
                if !state.kernel {
                    self.find(Rule::CloseNotOpen, at, None, None);
                }
                state.kernel = false;
                return Some((state, opened.filter(|_| state.open)));
            }
            Gate::Downwards | Gate::Upwards => self.turn(instruction, &mut state),
            Gate::OthersFlags => state.downwards = false,
            Gate::Unknown | Gate::Write { .. } => return None,
            Gate::No | Gate::Fence => {}
        }
        self.inside(instruction, state, opened);
        let calls = matches!(instruction.flow, Flow::Call(_) | Flow::IndirectCall);
        if calls && state.downwards {
            self.find(Rule::DirectionFlag, at, None, None);
        }
        Some((state, opened))
    }

    /// Where the running kernel has an instruction.
    fn shown(&self, instruction: &Instruction) -> u64 {
        self.code.detours.shown(instruction.at).address
    }

    /// Flags come back with the gate's state in which they were put by, where that
    /// is one: nothing is known of those that came from elsewhere.
    fn take_flags(&self, at: u64, before: State, opened: Option<u64>) -> (State, Option<u64>) {
        let Flags { open, closed } = before.flags;
        let mut state = before;
        state.flags = Flags::default();
        match (open, closed) {
            (true, false) if !state.open => {
                state.open = true;
                return (state, Some(at));
            }
            (false, true) => (state.open, state.keeps_out) = (false, None),
            _ => {}
        }
        (state, opened.filter(|_| state.inside()))
    }

    /// Sets the direction flag or clears it.
    fn turn(&mut self, instruction: &Instruction, state: &mut State) {
        let downwards = instruction.gate == Gate::Downwards;
        if state.downwards == downwards && (downwards || !self.is_stub(instruction)) {
            self.find(Rule::DirectionFlag, self.shown(instruction), None, None);
        }
        state.downwards = downwards;
    }

    /// Whether an instruction is of no function: entry stubs close, and clear, what
    /// the user may have left open, or set.
    fn is_stub(&self, instruction: &Instruction) -> bool {
        !self.typed || instruction.origin == Origin::Other
    }

    fn close(&mut self, instruction: &Instruction, state: State) {
        let at = self.shown(instruction);
        if !state.open && !self.is_stub(instruction) {
            self.find(Rule::CloseNotOpen, at, None, None);
        }
        if self.safe && state.saved == 0 && !self.put_by(state) {
            self.find(Rule::CallerClosed, at, None, None);
        }
    }

    /// Whether the caller's state was put by in a register, where that is how it is
    /// done: x86 has instructions of its own for it.
    fn put_by(&self, state: State) -> bool {
        state.flags.open && !self.code.layout.accesses_need_window
    }

    fn save(&mut self, at: u64, state: &mut State) {
        let saved = state.saved.max(1);
        if saved >> 31 == 1 {
            self.find(Rule::TooManySaves, at, None, None);
            return;
        }
        state.saved = saved << 1 | u32::from(state.open);
    }

    /// What may not be done in a window, or may only be done in one.
    fn inside(&mut self, instruction: &Instruction, state: State, opened: Option<u64>) {
        let at = self.shown(instruction);
        match instruction.flow {
            Flow::Call(to) if state.inside() => {
                let name = self.code.name(&to).map(|(name, _)| name.to_owned());
                if !name
                    .as_deref()
                    .is_some_and(|name| self.code.calls.is_allowed(name))
                {
                    self.find(Rule::CallInWindow, at, opened, name);
                }
            }
            Flow::IndirectCall if state.inside() => self.find(Rule::CallInWindow, at, opened, None),
            _ => {}
        }
        if !self.code.faults.user.contains(&instruction.at) {
            return;
        }
        if self.must_be_inside(instruction) && !state.open {
            self.find(Rule::AccessOutside, at, None, None);
        }
        if state.keeps_out.is_some() && state.keeps_out == instruction.moves {
            self.find(Rule::WrongDirection, at, opened, None);
        }
    }

    /// Whether an access may only be done in a window. Where its type tells
    /// nothing, those of a function without a gate are of kernel memory.
    fn must_be_inside(&self, instruction: &Instruction) -> bool {
        let told = !self.code.faults.perhaps.contains(&instruction.at) || self.has_gates;
        self.needs && told && !self.code.is_register_state(instruction.at)
    }

    fn leave(
        &mut self,
        index: usize,
        instruction: &Instruction,
        state: State,
        opened: Option<u64>,
    ) {
        let Some(leave) = self.graph.exits.get(index).copied().flatten() else {
            return;
        };
        if let Some(returns) = self.walked.returns.get_mut(usize::from(state.inside())) {
            *returns = true;
        }
        let at = self.shown(instruction);
        if state.downwards {
            self.find(Rule::DirectionFlag, at, None, None);
        }
        let target = match instruction.flow {
            Flow::Jump(to) | Flow::Branch(to) => {
                self.code.name(&to).map(|(name, _)| name.to_owned())
            }
            _ => None,
        };
        let allowed = target
            .as_deref()
            .is_some_and(|name| self.code.calls.is_allowed(name));
        match (leave, state.inside()) {
            (Leave::Return, true) if state.kernel || !self.safe && !self.role.opens => {
                self.find(Rule::ReturnOpen, at, opened, None)
            }
            (Leave::Return, false) if self.safe => self.find(Rule::ReturnClosed, at, None, None),
            (Leave::Jump, true) if !allowed => self.find(Rule::JumpInWindow, at, opened, target),
            (Leave::IndirectJump, true) => self.find(Rule::JumpInWindow, at, opened, None),
            (Leave::End, true) if !self.safe => self.find(Rule::EndOpen, at, opened, None),
            _ => {}
        }
    }

    fn unreached(&mut self) {
        if self.walked.lost {
            return;
        }
        let gates = self.graph.instructions.iter().zip(&self.walked.reached);
        let dead: Vec<u64> = gates
            .filter(|(i, reached)| {
                let gate = matches!(i.gate, Gate::Open | Gate::Close | Gate::Unknown);
                gate && !**reached && i.origin == Origin::Own
            })
            .map(|(i, _)| i.at.address)
            .collect();
        dead.into_iter()
            .for_each(|at| self.find(Rule::NotReached, at, None, None));
    }

    fn find(&mut self, rule: Rule, address: u64, opened_at: Option<u64>, target: Option<String>) {
        self.found.entry((address, rule)).or_insert(Finding {
            rule,
            address,
            opened_at,
            target,
        });
    }
}

/// Whether a hook of the compiler leaves the gate as it is, on a machine that has no
/// way to save it: it may be called in a window, and is not judged for it.
fn is_unsaved(code: &Code<'_>, graph: &Graph, name: &str) -> bool {
    let saves = code.layout.accesses_need_window || graph.instructions.iter().any(is_gate);
    !saves && code.calls.is_hook(name)
}

fn is_gate(instruction: &Instruction) -> bool {
    matches!(instruction.gate, Gate::Open | Gate::Close | Gate::Unknown)
}

fn restore(state: &mut State) {
    if state.saved > 1 {
        state.open = state.saved & 1 == 1;
        state.saved >>= 1;
    }
    if state.saved == 1 {
        state.saved = 0;
    }
}
