//! Changes of a case that have landed: in a tree that has one, what was before is the
//! base.

use serde::{Deserialize, Serialize};

use super::Case;
use super::files::case_file;
use crate::cache::Cache;
use crate::patch::{self, Patch};
use crate::process::Runner;
use crate::toolchain::series;
use crate::tree::{Change, Tree};

/// The change of a case as maintainers merged it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LandedPlan {
    /// What results call the tree that has it.
    pub name: String,
    /// Its subject.
    pub change: String,
    /// Its commit in Linux, where that is known.
    pub commit: Option<String>,
    /// The first version of Linux that has it, `7.0`.
    pub since: String,
    /// The change as a patch, which is taken back: a file of the case's folder.
    pub patch: String,
    /// The variants that are proved beside it where none is named; without any the
    /// usual ones.
    #[serde(default)]
    pub beside: Vec<String>,
}

impl LandedPlan {
    /// Whether Linux of that version has the change, as far as the version says.
    #[must_use]
    pub fn is_due(&self, version: &str) -> bool {
        let own = series(version);
        own.is_some() && series(&self.since) <= own
    }

    /// The change in words: `"eventpoll: Convert …" (1954c4f01220, in Linux since 7.0)`.
    #[must_use]
    pub fn words(&self) -> String {
        let commit = self.commit.as_ref();
        let commit = commit.map_or_else(String::new, |commit| format!("{commit}, "));
        format!(
            "\"{}\" ({commit}in Linux since {})",
            self.change, self.since
        )
    }
}

/// A change that a tree has, and what the tree was before.
#[derive(Clone, Debug)]
pub struct Landed {
    /// The change.
    pub plan: LandedPlan,
    /// What makes the tree before it of the tree as it is.
    pub back: Change,
    /// The change as a plain diff.
    pub diff: Vec<u8>,
}

impl Case {
    /// The change of the case that a tree has: the first that can be taken back.
    ///
    /// # Errors
    /// When a file that it names cannot be read, or git cannot be run.
    pub fn landed_in(
        &self,
        tree: &Tree,
        cache: &Cache,
        runner: &Runner,
    ) -> Result<Option<Landed>, patch::Error> {
        for plan in &self.landed {
            let Some(text) = case_file(&self.about.name, &plan.patch) else {
                continue;
            };
            let shown = format!("cases/{}/{}", self.about.name, plan.patch);
            let patch = Patch::plain(shown.as_ref(), text.into());
            if let Some(back) = patch::taken_back(&patch, tree, cache, runner)? {
                return Ok(Some(Landed {
                    plan: plan.clone(),
                    back,
                    diff: patch.diff,
                }));
            }
        }
        Ok(None)
    }

    /// What is wrong with what the manifest says of landed changes.
    pub(super) fn bad_landed(&self) -> Option<String> {
        self.landed.iter().find_map(|plan| self.fault_of(plan))
    }

    fn fault_of(&self, plan: &LandedPlan) -> Option<String> {
        let LandedPlan {
            name,
            since,
            patch,
            beside,
            ..
        } = plan;
        let has = |name: &String| self.variants.iter().any(|plan| plan.name == *name);
        if has(name) || matches!(name.as_str(), "base" | "all") {
            return Some(format!(
                "a landed change cannot be called {name}: the name is taken"
            ));
        }
        if series(since).is_none() {
            return Some(format!(
                "the landed change {name} is in Linux since {since}, which is no version"
            ));
        }
        if case_file(&self.about.name, patch).is_none() {
            return Some(format!(
                "the landed change {name} is the patch {patch}, which is not there"
            ));
        }
        let stray = beside.iter().find(|name| !has(name))?;
        Some(format!(
            "the variant {stray} is to be proved beside {name}, and the case does not have it"
        ))
    }
}
