//! Which places of a source tree explain what a profile pays, and what they could
//! save at most.

use serde::Serialize;

use crate::kinds::Kinds;
use crate::profile::Profile;

/// A function of a tree that opens the gate more than once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The file, as it is shown.
    pub path: String,
    /// The line.
    pub line: usize,
    /// The function.
    pub function: String,
    /// Who calls it: a compiler may have made it a part of any of them.
    pub callers: Vec<String>,
    /// The calls of its accesses, `__put_user`.
    pub calls: Vec<String>,
    /// Windows that one window for each run saves.
    pub windows_saved: usize,
}

/// How a bound was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Call chains lead from the function, or a caller, to the helpers.
    Stacks,
    /// The function, or a caller, is in the profile, and so are helpers of its calls;
    /// without call chains all their callers share them.
    Symbols,
    /// The function, or a caller, is in the profile, and no helper of its calls is: its
    /// accesses are a part of it.
    Own,
}

/// A function, and what of the profile it may explain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The function.
    pub candidate: Candidate,
    /// The symbol of the profile that it is, or is a part of.
    pub symbol: String,
    /// In percent: the most that it could save if all of it cost nothing any more. An
    /// estimate from above.
    pub at_most: f64,
    /// What `at_most` makes the whole faster by, in percent (Amdahl's law).
    pub speedup: f64,
    /// The helpers, with their parts.
    pub helpers: Vec<(String, f64)>,
    /// How it is known.
    pub evidence: Evidence,
}

/// Helpers with their parts, in percent.
type Helpers = Vec<(String, f64)>;

/// Those of the candidates that the profile names, the largest bound first.
#[must_use]
pub fn explain(profile: &Profile, kinds: &Kinds, candidates: &[Candidate]) -> Vec<Explained> {
    let mut found: Vec<Explained> = candidates
        .iter()
        .filter_map(|one| of(profile, kinds, one))
        .collect();
    found.sort_by(|a, b| {
        let known = |one: &Explained| one.evidence == Evidence::Stacks;
        b.at_most
            .total_cmp(&a.at_most)
            .then(known(b).cmp(&known(a)))
            .then(b.candidate.windows_saved.cmp(&a.candidate.windows_saved))
            .then(a.candidate.path.cmp(&b.candidate.path))
    });
    found
}

fn of(profile: &Profile, kinds: &Kinds, candidate: &Candidate) -> Option<Explained> {
    // Nearest first: the function itself, then who calls it.
    let names: Vec<&str> = std::iter::once(&candidate.function)
        .chain(&candidate.callers)
        .map(|name| bare(name))
        .collect();
    let by_stack = names
        .iter()
        .find_map(|name| in_stacks(profile, kinds, candidate, name));
    let (symbol, helpers, evidence) = match by_stack {
        Some((symbol, helpers)) => (symbol, helpers, Evidence::Stacks),
        None => in_symbols(profile, kinds, candidate, &names)?,
    };
    let at_most: f64 = helpers.iter().map(|(_, percent)| percent).sum();
    let rest = (100.0 - at_most).max(1e-6);
    Some(Explained {
        candidate: candidate.clone(),
        symbol,
        at_most,
        speedup: 100.0 * (100.0 / rest - 1.0),
        helpers,
        evidence,
    })
}

/// `SYSCALL_DEFINE3(poll)` is a name in brackets.
fn bare(name: &str) -> &str {
    name.split_once('(')
        .map_or(name, |(_, inner)| inner.trim_end_matches(')'))
}

/// Helpers of the candidate's calls whose nearest caller that is no helper has that
/// name.
fn in_stacks(
    profile: &Profile,
    kinds: &Kinds,
    candidate: &Candidate,
    name: &str,
) -> Option<(String, Helpers)> {
    let mut helpers = Helpers::new();
    let mut symbol = None;
    for stack in &profile.stacks {
        let windowed = |symbol: &str| kinds.of(symbol).is_some_and(|kind| kind.windowed);
        let Some(leaf) = stack
            .frames
            .first()
            .filter(|leaf| reached(kinds, candidate, &leaf.symbol))
        else {
            continue;
        };
        let caller = stack
            .frames
            .iter()
            .skip(1)
            .find(|frame| !windowed(&frame.symbol));
        let Some(caller) = caller.filter(|caller| kinds.plain(&caller.symbol) == name) else {
            continue;
        };
        symbol.get_or_insert_with(|| caller.symbol.clone());
        add(&mut helpers, &leaf.symbol, stack.percent);
    }
    sort(&mut helpers);
    Some((symbol?, helpers))
}

fn in_symbols(
    profile: &Profile,
    kinds: &Kinds,
    candidate: &Candidate,
    names: &[&str],
) -> Option<(String, Helpers, Evidence)> {
    let row = |name: &&str| {
        let mut rows = profile.kernel();
        rows.find(|row| {
            let mut inlined = row.inlined.iter();
            kinds.plain(&row.symbol) == **name || inlined.any(|part| part == *name)
        })
    };
    let own = names.iter().find_map(row)?;
    let mut helpers = Helpers::new();
    // With call chains, helpers that nothing of it leads to are not its own.
    if profile.stacks.is_empty() {
        for row in profile
            .kernel()
            .filter(|row| reached(kinds, candidate, &row.symbol))
        {
            add(&mut helpers, &row.symbol, row.percent);
        }
    }
    sort(&mut helpers);
    Some(match helpers.is_empty() {
        true => (
            own.symbol.clone(),
            vec![(own.symbol.clone(), own.percent)],
            Evidence::Own,
        ),
        false => (own.symbol.clone(), helpers, Evidence::Symbols),
    })
}

/// Whether a symbol is a helper that the candidate's calls end in: `__put_user_4` of
/// `put_user`, `__put_user_nocheck_4` of `__put_user`.
fn reached(kinds: &Kinds, candidate: &Candidate, symbol: &str) -> bool {
    let Some(kind) = kinds.of(symbol).filter(|kind| kind.windowed) else {
        return false;
    };
    let direction = |name: &str| {
        (
            name.contains("get") || name.contains("from"),
            name.contains("put") || name.contains("_to_"),
        )
    };
    let is_copy = kind.calls.iter().any(|call| call.contains("copy"));
    candidate.calls.iter().any(|call| {
        let of_kind = kind.calls.contains(call);
        // Helpers that copy both ways have neither word.
        let (from, to) = direction(symbol);
        let (call_from, call_to) = direction(call);
        let same_way = !(from || to) || from && call_from || to && call_to;
        let unchecked = symbol.contains("nocheck") == call.starts_with("__")
            || is_copy
            || !symbol.contains("user_");
        of_kind && same_way && unchecked
    })
}

fn add(all: &mut Vec<(String, f64)>, symbol: &str, percent: f64) {
    match all.iter_mut().find(|(known, _)| known == symbol) {
        Some((_, sum)) => *sum += percent,
        None => all.push((symbol.to_owned(), percent)),
    }
}

fn sort(all: &mut [(String, f64)]) {
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
}
