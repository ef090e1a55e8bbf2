//! How an address lies to the object that it is in.

use serde::{Deserialize, Serialize};

/// How an address is made from its object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// A field, `&p->a.b`: within `sizeof(*p)`.
    Field,
    /// An element with a constant index, `&p[1]` or `p + 1`.
    Element(u32),
    /// The pointer itself, `p`.
    Whole,
    /// Anything else, such as `&p->a[i]` or `p + n`.
    Computed,
}
