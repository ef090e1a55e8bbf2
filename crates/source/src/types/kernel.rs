//! What of a structure only the kernel has a meaning for: the types of `data/types/kernel.toml`.

use std::collections::HashSet;

use serde::Deserialize;
use tollgate_defect::Defect;

use super::layout::{Shape, Type};
use crate::calls::read;

const KERNEL: &str = include_str!("../../../../data/types/kernel.toml");

/// A member of such a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelMember {
    /// Where it is: `queue.lock`.
    pub(crate) path: String,
    /// Its type.
    pub(crate) of: String,
}

/// The types.
#[derive(Debug)]
pub(super) struct KernelTypes(HashSet<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    types: Vec<String>,
    #[allow(dead_code, reason = "for people")]
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    kernel: Vec<Kernel>,
}

impl KernelTypes {
    pub(super) fn builtin() -> Result<Self, Defect> {
        let all: All = read("data/types/kernel.toml", KERNEL)?;
        let types = all.kernel.into_iter().flat_map(|own| own.types);
        Ok(Self(types.collect()))
    }

    /// Whether a type of that name is one.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The first member of such a type, at any depth.
    pub(super) fn member(&self, of: &Type) -> Option<KernelMember> {
        let (Shape::Struct(own) | Shape::Union(own)) = &of.shape else {
            return None;
        };
        own.iter().find_map(|member| {
            let mut inner = &member.of;
            while let Shape::Array(of, _) = &inner.shape {
                inner = of;
            }
            if self.has(&inner.name) {
                return Some(KernelMember {
                    path: member.name.clone(),
                    of: inner.name.clone(),
                });
            }
            let found = self.member(inner)?;
            let path = match member.name.is_empty() {
                true => found.path,
                false => format!("{}.{}", member.name, found.path),
            };
            Some(KernelMember { path, of: found.of })
        })
    }
}
