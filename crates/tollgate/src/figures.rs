//! The figures that proofs have measured for a change, kept in the cache, so that
//! `tollgate fix` can put them into the message of the same patch.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tollgate_lab::cache;
use tollgate_lab::input;
use tollgate_lab::machine::Machine;
use tollgate_lab::sealed;
use tollgate_lab::tree;
use tollgate_measure::Verdict;
use tollgate_rewrite::Patched;

/// The figures of one proof, worded, and what they were measured with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// The case, or what stood for one.
    pub(crate) subject: String,
    /// The kernel's version.
    pub(crate) tree: String,
    /// The architecture.
    pub(crate) arch: String,
    /// The configuration.
    pub(crate) config: String,
    /// Whether the benchmarks or their parameters were chosen by hand.
    pub(crate) chosen: bool,
    /// How many workloads were counted.
    pub(crate) workloads: usize,
    /// The lines of the message.
    pub(crate) lines: Vec<String>,
}

impl Figures {
    /// What was measured, in a few words.
    pub(crate) fn words(&self) -> String {
        let chosen = if self.chosen {
            ", benchmarks by hand"
        } else {
            ""
        };
        format!(
            "{} on Linux {}, {}, config {}{chosen}",
            self.subject, self.tree, self.arch, self.config
        )
    }
}

/// Keeps the figures of a change, those of each question beside the others.
///
/// # Errors
/// When the cache cannot be written.
pub(crate) fn keep(
    root: &Path,
    patched: &Patched,
    question: &str,
    figures: &Figures,
) -> Result<(), cache::Error> {
    let folder = place(root, patched);
    cache::make_folder(&folder)?;
    sealed::keep(&folder.join(format!("{question}.json")), figures)
}

/// What was measured of a change, what suits it best first: of the same version of
/// the kernel, of all that its case has, on the machine that most people have, of
/// the most workloads. None where nothing was measured.
///
/// # Errors
/// When there are figures that cannot be read: a message without them would say
/// that nothing was measured.
pub(crate) fn find(
    root: &Path,
    patched: &Patched,
    tree: &str,
) -> anyhow::Result<Vec<(PathBuf, Figures)>> {
    let folder = place(root, patched);
    let usual = Machine::usual()?;
    let mut found: Vec<(PathBuf, Figures)> = Vec::new();
    for name in input::names_in(&folder)? {
        let path = folder.join(name);
        // One that another tollgate removes meanwhile is none.
        let figures = sealed::kept_or_lost(&path)?;
        found.extend(figures.map(|figures| (path, figures)));
    }
    // The name of the file last, so that the order does not hang on the folder's.
    found.sort_by_key(|(path, figures)| {
        let other = (figures.tree != tree, figures.chosen, figures.arch != usual);
        (other, Reverse(figures.workloads), path.clone())
    });
    Ok(found)
}

/// Whether counts decided a verdict: otherwise its figures are none for a message.
pub(crate) fn of_counts(verdict: Verdict) -> bool {
    use Verdict::{Gain, Mixed, NoDifference, Regression};
    matches!(verdict, Gain | NoDifference | Regression | Mixed)
}

/// A change is known by the file before and after: another tree that holds the
/// same file gets the same patch.
fn place(root: &Path, patched: &Patched) -> PathBuf {
    let [before, after] = [&patched.original, &patched.rewritten].map(|bytes| tree::hash(bytes));
    let id = tree::hash(format!("{}\0{before}\0{after}", patched.path).as_bytes());
    root.join("measured").join(id)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use tollgate_source::TreePath;

    use super::*;

    fn patched() -> Patched {
        Patched {
            path: TreePath::new(b"a.h").unwrap(),
            function: "f".into(),
            original: b"before".to_vec(),
            rewritten: b"after".to_vec(),
            subject: String::new(),
            body: String::new(),
            windows_before: 2,
            windows_after: 1,
            refused: Vec::new(),
        }
    }

    fn figures(tree: &str, arch: &str, chosen: bool, workloads: usize) -> Figures {
        Figures {
            subject: "epoll".into(),
            tree: tree.into(),
            arch: arch.into(),
            config: "minimal".into(),
            chosen,
            workloads,
            lines: vec!["some".into()],
        }
    }

    #[test]
    fn the_figures_that_suit_a_tree_come_first_and_none_is_lost() {
        let root = tempfile::tempdir().unwrap();
        let all = [
            figures("6.12.1", "x86_64", true, 9),
            figures("6.12.1", "arm64", false, 5),
            figures("6.12.1", "x86_64", false, 5),
            figures("7.3.4", "x86_64", false, 7),
        ];
        for (number, one) in all.iter().enumerate() {
            keep(root.path(), &patched(), &number.to_string(), one).unwrap();
        }
        let found = |tree: &str| -> Vec<Figures> {
            let found = find(root.path(), &patched(), tree).unwrap();
            found.into_iter().map(|(_, figures)| figures).collect()
        };
        let [chosen, arm, whole, newer] = all;
        let of_old = [&whole, &arm, &chosen, &newer].map(Clone::clone);
        assert_eq!(found("6.12.1"), of_old);
        assert_eq!(found("7.3.4").first(), Some(&newer));
        assert_eq!(
            whole.words(),
            "epoll on Linux 6.12.1, x86_64, config minimal"
        );
        let other = Patched {
            path: TreePath::new(b"b.h").unwrap(),
            ..patched()
        };
        assert_eq!(find(root.path(), &other, "6.12.1").unwrap(), []);
    }

    #[test]
    fn figures_that_cannot_be_read_are_not_taken_for_none() {
        let root = tempfile::tempdir().unwrap();
        let figures = figures("6.12.1", "x86_64", false, 5);
        keep(root.path(), &patched(), "a", &figures).unwrap();
        let broken = place(root.path(), &patched()).join("b.json");
        std::fs::write(&broken, "{").unwrap();
        let told = find(root.path(), &patched(), "6.12.1").unwrap_err();
        assert!(told.to_string().contains(broken.to_str().unwrap()));
    }
}
