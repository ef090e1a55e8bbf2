//! Maps and sets that are asked often, with a hash that is quick and begins elsewhere in
//! each run.

use foldhash::fast::RandomState;

/// A map that is asked often.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set that is asked often.
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;
