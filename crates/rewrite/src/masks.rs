//! Which architectures can turn a bad pointer into one that faults, by their
//! headers.

use std::io::ErrorKind;

use tollgate_arch::Architectures;
use tollgate_source::TreePath;

use crate::offers::{self, Offers};
use crate::refusal::FixError;
use crate::request::ReadTree;

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

/// Whether an architecture, named as its folder under `arch/`, has a begin for both ways
/// and none for one.
///
/// # Errors
/// When the table of architectures or a header cannot be read.
pub(crate) fn begins_for_both_ways(
    tree: &dyn ReadTree,
    architecture: &str,
) -> Result<bool, FixError> {
    let text = headers(tree, architecture)?;
    let defines = |name: &[u8]| is_defined(&text, |define| define == name);
    let one = defines(b"user_read_access_begin") || defines(b"user_write_access_begin");
    Ok(defines(b"user_access_begin") && !one)
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
