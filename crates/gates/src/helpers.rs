//! Helpers of the gate that a compiler has put out of line: static functions that
//! do nothing but open or close it for their callers. They are known by that: a
//! window is whole where the helper and its caller are looked at together.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_defect::Defect;

use crate::analysis::{FunctionGates, gates};
use crate::calls::Role;
use crate::code::Code;
use crate::decode::{Flow, Instruction};
use crate::elf::Place;
use crate::graph::{Body, Graph};
use crate::hash::HashSet;
use crate::rules::{Rule, walk};
use crate::symbols::Function;

/// Functions that may be helpers, in a file: more are none.
const MOST: usize = 64;

/// Finds the helpers among functions with findings, and makes them known to the
/// code. What is found in them and in their callers then is returned.
pub(crate) fn learn(
    code: &mut Code<'_>,
    found: &[(Place, FunctionGates)],
) -> Result<BTreeMap<Place, FunctionGates>, Defect> {
    let mut roles: BTreeMap<Place, Role> = found
        .iter()
        .filter(|(at, gates)| code.function_at(*at).is_some_and(|f| is_static(f, gates)))
        .filter_map(|(at, gates)| Some((*at, role(code, *at, gates)?)))
        .take(MOST)
        .collect();
    if roles.is_empty() {
        return Ok(BTreeMap::new());
    }
    let callers = callers(code, &roles);
    roles.retain(|at, _| callers.values().any(|called| called.contains(at)));
    loop {
        code.learn(&roles);
        let (all, wrong) = judged(code, &roles, &callers)?;
        code.forget(&roles);
        if wrong.is_empty() {
            code.learn(&roles);
            return Ok(all);
        }
        roles.retain(|at, _| !wrong.contains(at));
    }
}

fn is_static(function: &Function, gates: &FunctionGates) -> bool {
    function.typed && !function.global && !gates.lost && function.name == gates.name
}

/// What a function is if its findings are none.
fn role(code: &Code<'_>, at: Place, gates: &FunctionGates) -> Option<Role> {
    if gates.findings.is_empty() {
        return None;
    }
    let function = code.function_at(at)?;
    let graph = Graph::of(code, Body::of(code, at, function));
    let returns = walk(code, &graph, function).returns;
    let all = |rule: Rule| gates.findings.iter().all(|finding| finding.rule == rule);
    match returns {
        [false, true] if all(Rule::ReturnOpen) => Some(Role {
            opens: true,
            ..Role::default()
        }),
        [true, false] if all(Rule::CloseNotOpen) => Some(Role {
            closes: true,
            ..Role::default()
        }),
        _ => None,
    }
}

/// The functions that call some of these, and which.
fn callers(code: &Code<'_>, roles: &BTreeMap<Place, Role>) -> BTreeMap<Place, BTreeSet<Place>> {
    let mut callers = BTreeMap::new();
    for (at, function) in code.functions() {
        let body = code.instructions(at, code.end_of(at, function));
        let called = |instruction: &Instruction| match instruction.flow {
            Flow::Call(to) | Flow::Jump(to) => to.place.filter(|to| roles.contains_key(to)),
            _ => None,
        };
        let called: BTreeSet<Place> = body.iter().filter_map(called).collect();
        if !called.is_empty() && !roles.contains_key(&at) {
            callers.insert(at, called);
        }
    }
    callers
}

/// What is found in the helpers and in their callers, and the helpers with which
/// something is.
fn judged(
    code: &Code<'_>,
    roles: &BTreeMap<Place, Role>,
    callers: &BTreeMap<Place, BTreeSet<Place>>,
) -> Result<(BTreeMap<Place, FunctionGates>, HashSet<Place>), Defect> {
    let (mut all, mut wrong) = (BTreeMap::new(), HashSet::default());
    let helpers = roles.keys().map(|at| (*at, BTreeSet::from([*at])));
    let callers = callers.iter().map(|(at, called)| (*at, called.clone()));
    for (at, helpers) in helpers.chain(callers) {
        let Some(function) = code.function_at(at).cloned() else {
            continue;
        };
        let gates = gates(code, &function, Body::of(code, at, &function))?;
        if !gates.findings.is_empty() || gates.lost {
            wrong.extend(helpers.into_iter().filter(|at| roles.contains_key(at)));
        }
        all.insert(at, gates);
    }
    Ok((all, wrong))
}
