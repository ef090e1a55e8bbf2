//! The style `masked`: where the architecture can turn a bad pointer into one
//! that faults, that takes the place of the range check and its fence.
//!
//! fs/select.c and lib/strncpy_from_user.c have the form. The pointer holds the
//! masked address from then on, so that a function that looks at it again gets a
//! variable of its own for the window.

use std::io::ErrorKind;

use tollgate_arch::Architectures;
use tollgate_source::TreePath;

use crate::edit::Edit;
use crate::fix::ReadTree;
use crate::gate::{Gate, Masked};
use crate::offers::{self, Offers};
use crate::plan::{Plan, Subject};
use crate::pointer::{self, Pointer};
use crate::refusal::{FixError, Refusal};
use crate::window::{self, Written};

/// Whether a masked begin is for both ways and only the end for both ways closes
/// it everywhere: an architecture has that begin, and ends for one way.
///
/// # Errors
/// When the table of architectures or a header cannot be read.
pub(crate) fn is_for_both_ways(tree: &dyn ReadTree, offers: Offers) -> Result<bool, FixError> {
    let mut found = false;
    for architecture in known()?.iter() {
        found |= has_own_ends(&headers(tree, &architecture.name)?);
    }
    Ok(!offers.masked_ways && found)
}

fn known() -> Result<&'static Architectures, FixError> {
    Architectures::built_in().map_err(|error| FixError::Analysis(error.to_string()))
}

fn has_own_ends(text: &[u8]) -> bool {
    let defines = |name: &[u8]| is_defined(text, |define| define == name);
    defines(b"masked_user_access_begin")
        && (defines(b"user_read_access_end") || defines(b"user_write_access_end"))
}

fn is_defined(text: &[u8], is: impl Fn(&[u8]) -> bool) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut names = offers::defines(text).filter_map(|define| define.split(|b| !is_word(b)).next());
    names.any(is)
}

/// Whether kernels of an architecture, named as its folder under `arch/`, can
/// turn a bad pointer into one that faults: elsewhere the style `masked` compiles
/// to what `window` does.
///
/// # Errors
/// When the table of architectures or a header cannot be read.
pub fn can_mask(tree: &dyn ReadTree, architecture: &str) -> Result<bool, FixError> {
    let text = headers(tree, architecture)?;
    // `masked_user_access_begin`, or one for a way.
    Ok(is_defined(&text, |define| {
        define.starts_with(b"masked_user_")
    }))
}

/// The headers of an architecture that there are; a tree need not have them all.
fn headers(tree: &dyn ReadTree, architecture: &str) -> Result<Vec<u8>, FixError> {
    let mut all = Vec::new();
    for path in known()?.access_headers(architecture) {
        let path = TreePath::within(&path);
        match tree.read(&path) {
            Ok(text) => all.extend([text.as_slice(), b"\n"].concat()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                let reason = error.to_string();
                return Err(FixError::File { path, reason });
            }
        }
    }
    Ok(all)
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

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    const HEADER: &str = "arch/x86/include/asm/uaccess.h";

    #[test]
    fn a_macro_is_known_however_it_is_spaced() {
        for (text, masks) in [
            ("#define masked_user_access_begin(x) x\n", true),
            ("#  define\tmasked_user_read_access_begin(x) x\n", true),
            ("/* #define masked_user_access_begin(x) */\n", false),
        ] {
            let tree = |path: &TreePath| match &*path.lossy() {
                HEADER => Ok(text.as_bytes().to_vec()),
                _ => Err(io::Error::from(io::ErrorKind::NotFound)),
            };
            assert_eq!(can_mask(&tree, "x86").unwrap(), masks, "{text}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_read_is_no_header_without_masks() {
        let tree = |_: &TreePath| Err(io::Error::from(io::ErrorKind::PermissionDenied));
        let told = can_mask(&tree, "x86").unwrap_err().to_string();
        assert!(told.contains("arch/x86/include/asm/"), "{told}");
        let offers = Offers::read(b"");
        assert!(is_for_both_ways(&tree, offers).is_err());
        let gone = |_: &TreePath| Err(io::Error::from(io::ErrorKind::NotFound));
        assert!(!can_mask(&gone, "x86").unwrap());
    }
}
