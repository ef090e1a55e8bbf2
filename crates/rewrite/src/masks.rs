//! Which architectures can turn a bad pointer into one that faults, by their
//! headers.

use std::io::ErrorKind;

use tollgate_arch::Architectures;
use tollgate_source::{Token, TreePath, Vocabulary, bodies, tokens};

use crate::offers::{self, Offers};
use crate::refusal::FixError;
use crate::request::ReadTree;

/// What tells that a masked pointer is not the user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tells {
    /// Accesses in the order of their addresses: or'ed with a mask, a bad pointer becomes
    /// the last address of all, behind which the first come again.
    #[default]
    InOrder,
    /// The first access, if it begins within a page of the pointer: a bad one becomes an
    /// address with a hole behind it.
    TheFirst,
}

/// How a scope's comment begins what it asks for, and how that ends.
const FIRST: [&str; 2] = ["first access to user memory", "has to be within"];

/// What an architecture's comment asks for whose hole is small.
const DENSE: &str = "dense accesses";

/// What tells of a bad pointer in a file, by the comment of the tree's scopes and by the
/// masks of the architectures that the file is compiled for.
///
/// # Errors
/// When the table of architectures or a header cannot be read.
pub(crate) fn tells(
    tree: &dyn ReadTree,
    path: &TreePath,
    uaccess: &[u8],
    vocabulary: &Vocabulary,
) -> Result<Tells, FixError> {
    let mut parts = path.parts();
    let below = parts.next().filter(|first| *first == b"arch");
    let own = below.and_then(|_| parts.next());
    let asks = |text: &[u8], words: &[&str]| {
        let text = plain(text);
        words.iter().all(|words| text.contains(words))
    };
    if !asks(uaccess, &FIRST) {
        return Ok(Tells::InOrder);
    }
    for architecture in known()?.iter() {
        if own.is_some_and(|own| own != architecture.name.as_bytes()) {
            continue;
        }
        let text = headers(tree, &architecture.name)?;
        let masks = is_defined(&text, |define| define.starts_with(b"masked_user_"));
        let dense = own.is_some() && asks(&text, &[DENSE]);
        if masks && (dense || !clamps(&text, vocabulary)) {
            return Ok(Tells::InOrder);
        }
    }
    Ok(Tells::TheFirst)
}

/// A text without what begins the lines of a comment, its blanks one each.
fn plain(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let words = text.split_whitespace().filter(|word| *word != "*");
    words.collect::<Vec<_>>().join(" ")
}

/// Whether every mask of an architecture's headers makes one address of all that are not
/// the user's.
fn clamps(text: &[u8], vocabulary: &Vocabulary) -> bool {
    let is_mask = |name: &str| name.starts_with(MASK);
    let all = tokens(text, 0);
    let functions = bodies(text, &all, vocabulary);
    let own = functions.iter().filter(|body| is_mask(&body.name));
    let functions = own.map(|body| code(body.span.of(text)));
    let macros = offers::defines(text).filter_map(|define| {
        let rest = define.strip_prefix(MASK.as_bytes())?;
        let open = rest.iter().position(|byte| *byte == b'(')?;
        rest.get(open..).map(code)
    });
    let found: Vec<String> = functions.chain(macros).collect();
    !found.is_empty() && found.iter().all(|mask| chooses(mask))
}

/// How the names of masks begin.
const MASK: &str = "mask_user_address";

/// Whether a mask keeps the address or takes another: it moves under a condition, or the
/// bits that it takes are cleared before. One that only sets bits does not.
fn chooses(mask: &str) -> bool {
    let chosen = ["cmov", "isel", "csel", "~", "?"];
    let chosen = chosen.iter().any(|word| mask.contains(word));
    let only_sets = mask.contains('|') && !mask.contains('~');
    // Or it is one of several masks, each of which is looked at.
    (chosen || mask.contains(MASK)) && !only_sets
}

/// A text without comments.
fn code(text: &[u8]) -> String {
    let all = tokens(text, 0).into_iter();
    let code = all.filter(|token: &Token| token.is_code());
    code.map(|token| token.span.text(text)).collect()
}

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

    use crate::offers::UACCESS;

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

    const COMMENT: &str = "/*\n * the\n * first access to user memory inside the scope has to be within\n * @uptr ... @uptr + PAGE_SIZE - 1\n */\n";
    const CLAMP: &str = "static inline void __user *mask_user_address(const void __user *ptr)\n{\n\tvoid __user *ret;\n\
        \tasm(\"cmp %1,%0\\n\\t\" \"cmova %1,%0\" : \"=r\" (ret) : \"r\" (USER_PTR_MAX), \"0\" (ptr));\n\treturn ret;\n}\n";
    /// Linux 6.12's own, before it was made a clamp.
    const OR: &str = "static inline void __user *mask_user_address(const void __user *ptr)\n{\n\tunsigned long mask;\n\
        \tasm(\"cmp %1,%0\\n\\t\" \"sbb %0,%0\" : \"=r\" (mask) : \"r\" (ptr), \"0\" (USER_PTR_MAX));\n\
        \treturn (__force void __user *)(mask | (__force unsigned long)ptr);\n}\n";
    const OR_MACRO: &str =
        "#define mask_user_address(x) ((typeof(x))((long)(x)|((long)(x)>>63)))\n";
    const SELECT: &str = "/* This only works\n * for dense accesses starting at the address.\n */\n\
        static inline void __user *mask_user_address(const void __user *ptr)\n{\n\treturn (addr & ~mask) | (TASK_SIZE & mask);\n}\n";

    fn told(path: &str, comment: &str, mask: &str) -> Tells {
        let tree = |path: &TreePath| match &*path.lossy() {
            UACCESS => Ok(comment.as_bytes().to_vec()),
            HEADER | "arch/powerpc/include/asm/uaccess.h" => {
                Ok([mask, "\n#define masked_user_access_begin(x) x\n"]
                    .concat()
                    .into_bytes())
            }
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let vocabulary = Vocabulary::builtin().unwrap();
        tells(
            &tree,
            &TreePath::within(path),
            comment.as_bytes(),
            &vocabulary,
        )
        .unwrap()
    }

    #[test]
    fn the_first_access_tells_where_the_comment_and_every_mask_say_so() {
        let generic = |comment, mask| told("fs/select.c", comment, mask);
        assert_eq!(generic(COMMENT, CLAMP), Tells::TheFirst);
        assert_eq!(generic(COMMENT, SELECT), Tells::TheFirst);
        assert_eq!(generic("", CLAMP), Tells::InOrder);
        for mask in [
            OR,
            OR_MACRO,
            "",
            "int mask_user_address(int x) { return f(x); }",
        ] {
            assert_eq!(generic(COMMENT, mask), Tells::InOrder, "{mask}");
        }
    }

    #[test]
    fn an_architecture_of_dense_accesses_has_them_in_order_in_its_own_files() {
        let of = |path| told(path, COMMENT, SELECT);
        assert_eq!(of("arch/powerpc/kernel/align.c"), Tells::InOrder);
        assert_eq!(told("arch/x86/kernel/a.c", COMMENT, CLAMP), Tells::TheFirst);
        // It has no masks.
        assert_eq!(of("arch/arm64/kernel/a.c"), Tells::TheFirst);
    }
}
