//! The styles, and the trees in which they are asked for.

use std::io;

use tollgate_rewrite::{FixError, Request, Style, Target, UACCESS, fix};
use tollgate_source::TreePath;

use crate::program::TYPES;

/// A style in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// What results call it.
    pub name: &'static str,
    /// The style.
    pub style: Style,
    /// `include/linux/uaccess.h` of the tree, besides what every tree has.
    offers: &'static str,
    /// Whether x86 has ends for one way, so that a masked begin has its own.
    own_x86_ends: bool,
}

/// What every tree has.
const PLAIN: &str = "\
unsigned long copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);
#define user_access_begin(ptr,len) access_ok(ptr, len)
#define unsafe_get_user(x, ptr, label) arch_unsafe_get_user(x, ptr, label)
";

const WAYS: &str = "\
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
";

const MASKED: &str = "\
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
#define can_do_masked_user_access() 1
#define masked_user_access_begin(src) src
";

const MASKED_WAYS: &str = "\
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
#define can_do_masked_user_access() 1
#define masked_user_access_begin(src) src
#define masked_user_read_access_begin(src) src
#define masked_user_write_access_begin(src) src
";

const SCOPED: &str = "\
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
#define scoped_user_read_access(usrc, elbl) scope(usrc, elbl)
#define scoped_user_write_access(udst, elbl) scope(udst, elbl)
#define scoped_user_rw_access(uptr, elbl) scope(uptr, elbl)
";

/// What Linux 7.3 says of its scopes besides.
const SCOPED_FIRST: &str = "\
/* The first access to user memory inside the scope has to be within a page. */
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
#define scoped_user_read_access(usrc, elbl) scope(usrc, elbl)
#define scoped_user_write_access(udst, elbl) scope(udst, elbl)
#define scoped_user_rw_access(uptr, elbl) scope(uptr, elbl)
";

const fn setup(name: &'static str, style: Style, offers: &'static str) -> Setup {
    Setup {
        name,
        style,
        offers,
        own_x86_ends: false,
    }
}

/// Every style, in each kind of tree that makes a difference to it.
pub const SETUPS: [Setup; 9] = [
    setup("window", Style::Window, WAYS),
    setup("window-one-begin", Style::Window, ""),
    setup("masked", Style::Masked, MASKED),
    setup("masked-ways", Style::Masked, MASKED_WAYS),
    Setup {
        own_x86_ends: true,
        ..setup("masked-own-ends", Style::Masked, MASKED)
    },
    setup("scoped", Style::Scoped, SCOPED),
    setup("scoped-first", Style::Scoped, SCOPED_FIRST),
    setup("struct-copy", Style::StructCopy, WAYS),
    setup("size-switch", Style::SizeSwitch, WAYS),
];

/// What x86 has where its ends are not those for both ways.
const OWN_ENDS: &str = "\
#define masked_user_access_begin(x) mask(x)
#define user_read_access_end() end()
#define user_write_access_end() end()
";

impl Setup {
    /// The file with its function `f` rewritten.
    ///
    /// # Errors
    /// The refusal.
    pub fn rewritten(&self, text: &str) -> Result<String, FixError> {
        let read = |path: &TreePath| match &*path.lossy() {
            UACCESS => Ok([PLAIN, self.offers].concat().into_bytes()),
            "f.c" => Ok(text.as_bytes().to_vec()),
            "types.h" => Ok(TYPES.as_bytes().to_vec()),
            "arch/x86/include/asm/uaccess.h" if self.own_x86_ends => {
                Ok(OWN_ENDS.as_bytes().to_vec())
            }
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let request = Request {
            style: self.style,
            sizes: vec![1, 2, 4, 8, 16, 24],
            ..Request::default()
        };
        let target = Target {
            path: TreePath::within("f.c"),
            function: "f".to_owned(),
        };
        let patched = fix(&read, &target, &request)?;
        Ok(String::from_utf8_lossy(&patched.rewritten).into_owned())
    }

    /// What the program is told of the style, in the order of its structure.
    pub(crate) fn flags(&self) -> [bool; 4] {
        [
            matches!(self.style, Style::Masked | Style::Scoped),
            self.style == Style::Masked && !self.own_x86_ends,
            self.style == Style::StructCopy,
            self.style == Style::SizeSwitch,
        ]
    }
}
