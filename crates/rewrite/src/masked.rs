//! The style `masked`: where the architecture can turn a bad pointer into one
//! that faults, that takes the place of the range check and its fence.
//!
//! fs/select.c and lib/strncpy_from_user.c have the form. The pointer holds the
//! masked address from then on, so that a function that looks at it again gets a
//! variable of its own for the window.

use tollgate_arch::{Architectures, Wrong};
use tollgate_source::TreePath;

use crate::edit::Edit;
use crate::fix::ReadTree;
use crate::gate::{Gate, Masked};
use crate::offers::Offers;
use crate::plan::{Plan, Subject};
use crate::pointer::{self, Pointer};
use crate::refusal::Refusal;
use crate::window::{self, Written};

/// Whether a masked begin is for both ways and only the end for both ways closes
/// it everywhere: an architecture has that begin, and ends for one way.
///
/// # Errors
/// When the table of architectures cannot be read.
pub(crate) fn is_for_both_ways(tree: &dyn ReadTree, offers: Offers) -> Result<bool, Wrong> {
    let known = Architectures::built_in()?;
    let has = |name: &str| has_own_ends(&headers(tree, known, name));
    Ok(!offers.masked_ways && known.iter().any(|architecture| has(&architecture.name)))
}

fn has_own_ends(text: &[u8]) -> bool {
    defines(text, b"masked_user_access_begin")
        && (defines(text, b"user_read_access_end") || defines(text, b"user_write_access_end"))
}

/// Whether kernels of an architecture, named as its folder under `arch/`, can
/// turn a bad pointer into one that faults: elsewhere the style `masked` compiles
/// to what `window` does.
///
/// # Errors
/// When the table of architectures cannot be read.
pub fn can_mask(tree: &dyn ReadTree, architecture: &str) -> Result<bool, Wrong> {
    let text = headers(tree, Architectures::built_in()?, architecture);
    // `masked_user_access_begin`, or one for a way.
    Ok(memchr::memmem::find(&text, b"#define masked_user_").is_some())
}

fn headers(tree: &dyn ReadTree, known: &Architectures, architecture: &str) -> Vec<u8> {
    let header = |path: &String| tree.read(&TreePath::within(path)).unwrap_or_default();
    let paths = known.access_headers(architecture);
    paths.iter().flat_map(header).collect()
}

fn defines(text: &[u8], name: &[u8]) -> bool {
    let define = [b"#define ", name].concat();
    memchr::memmem::find(text, &define).is_some()
}

/// Writes a window with a masked begin for each plan that may have one.
pub(crate) fn write(subject: &Subject<'_>, plans: Vec<Plan>) -> Written {
    let mut names = Vec::<(String, String, String)>::new();
    let (mut fitted, mut refused) = (Vec::new(), Vec::new());
    for plan in plans {
        match fit(subject, plan, &mut names) {
            Ok(plan) => fitted.push(plan),
            Err(refusal) => refused.push(refusal),
        }
    }
    let mut written = window::write(subject, fitted);
    written.refused.append(&mut refused);
    written
        .edits
        .extend(declarations(subject, &written, &names));
    written
}

fn fit(
    subject: &Subject<'_>,
    plan: Plan,
    names: &mut Vec<(String, String, String)>,
) -> Result<Plan, Refusal> {
    pointer::spares_check(subject, &plan)?;
    let pointer = Pointer::of(subject, &plan)?;
    let mut plan = pointer::whole(subject, plan, &pointer)?;
    pointer::dense(subject, &plan, &pointer)?;
    if subject.styled.one_mask {
        plan.way = "";
    }
    let masked = if pointer::used_again(subject, &plan, &pointer.name) {
        own_variable(subject, &pointer, names)
    } else {
        pointer.name.clone()
    };
    let way = if subject.offers.masked_ways {
        plan.way
    } else {
        ""
    };
    plan.gate = Gate::Masked(Masked {
        way: plan.way,
        begin: format!("masked_user{way}_access_begin"),
        pointer: pointer.name,
        masked,
    });
    Ok(plan)
}

/// The variable of the function that holds the masked pointer.
fn own_variable(
    subject: &Subject<'_>,
    pointer: &Pointer,
    names: &mut Vec<(String, String, String)>,
) -> String {
    let known = names.iter().find(|(of, _, _)| *of == pointer.name);
    if let Some((_, name, _)) = known {
        return name.clone();
    }
    let taken: Vec<String> = names.iter().map(|(_, name, _)| name.clone()).collect();
    let name = pointer::free_name(subject, "masked", &taken);
    let line = pointer.declare(&name);
    names.push((pointer.name.clone(), name.clone(), line));
    name
}

/// The edit that declares the variables which the windows use.
fn declarations(
    subject: &Subject<'_>,
    written: &Written,
    names: &[(String, String, String)],
) -> Option<Edit> {
    let used = |name: &str| {
        let gates = written.plans.iter().map(|plan| &plan.gate);
        gates
            .into_iter()
            .any(|gate| matches!(gate, Gate::Masked(masked) if masked.masked == name))
    };
    let lines: Vec<String> = names
        .iter()
        .filter(|(_, name, _)| used(name))
        .map(|(_, _, line)| line.clone())
        .collect();
    let (at, followed) = pointer::declarations(subject);
    (!lines.is_empty()).then(|| Edit::insert(at, pointer::declaring(&lines, followed)))
}
