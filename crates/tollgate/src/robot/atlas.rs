//! What the tree says of itself: its Kbuild files, its options, who includes whom.

use rayon::prelude::*;
use tollgate_lab::cache;
use tollgate_lab::sealed;
use tollgate_lab::tree::Manifest;
use tollgate_robot::{Includes, Kbuild, Kconfig, Makefile, included};
use tollgate_source::TreePath;

use super::context::Robot;
use super::series::Patch;

/// The tree as the robot reads it.
#[derive(Debug, Default)]
pub(crate) struct Atlas {
    pub(crate) kbuild: Kbuild,
    pub(crate) kconfig: Kconfig,
    pub(crate) includes: Includes,
    /// All that reads options: C, assembly, Kbuild files and what Kbuild includes.
    pub(crate) files: Vec<TreePath>,
}

/// What a file is to a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// C or assembly.
    Code,
    /// A Makefile or Kbuild file.
    Kbuild,
    /// A Kconfig file.
    Kconfig,
    /// Words for people.
    Words,
    /// Something else that a build runs: a script, a tool of the build.
    Script,
    /// Anything else.
    Other,
}

/// What a file is, by its name and place.
pub(crate) fn sort(path: &str) -> Sort {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = |ending: &str| name.ends_with(ending);
    if path.starts_with("Documentation/") || ends(".rst") || ends(".txt") || ends(".md") {
        return Sort::Words;
    }
    match name {
        "Makefile" | "Kbuild" => return Sort::Kbuild,
        "MAINTAINERS" | "CREDITS" | ".mailmap" | ".gitignore" | "COPYING" => return Sort::Words,
        name if name.starts_with("Makefile.") || name.starts_with("Kbuild.") => {
            return Sort::Script;
        }
        name if name.starts_with("Kconfig") => return Sort::Kconfig,
        _ => {}
    }
    let code = ends(".c") || ends(".h") || ends(".S");
    let tool = path.starts_with("scripts/") || path.starts_with("tools/");
    match (tool, code) {
        (true, _) => Sort::Script,
        (false, true) => Sort::Code,
        _ if ends(".sh") || ends(".pl") || ends(".py") || ends(".awk") || ends(".mk") => {
            Sort::Script
        }
        _ => Sort::Other,
    }
}

impl Atlas {
    /// Reads a tree.
    pub(crate) fn read(robot: &Robot<'_>, manifest: &Manifest) -> anyhow::Result<Self> {
        let mut atlas = Self::default();
        let mut code = Vec::new();
        for path in manifest.entries().keys() {
            let Some(text) = path.as_text() else { continue };
            let makes = sort(text) == Sort::Kbuild || text.starts_with("scripts/Makefile");
            if sort(text) == Sort::Code || makes {
                atlas.files.push(path.clone());
            }
            match sort(text) {
                Sort::Kbuild | Sort::Kconfig => {
                    let bytes = robot.tree.source(path);
                    let bytes =
                        bytes.map_err(|error| anyhow::anyhow!("could not read {path}: {error}"))?;
                    atlas.add(text, &String::from_utf8_lossy(&bytes));
                }
                Sort::Code => code.push(path),
                _ => {}
            }
        }
        atlas.includes = includes(robot, &code)?;
        Ok(atlas)
    }

    fn add(&mut self, path: &str, text: &str) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match sort(path) {
            Sort::Kbuild => self.kbuild.add(folder, Makefile::parse(text)),
            Sort::Kconfig => self.kconfig.add(path, text),
            _ => {}
        }
    }

    /// Takes in what a patch makes of files. What it adds counts beside what was
    /// there: both sides are built.
    pub(crate) fn patched(&mut self, patch: &Patch) {
        for (path, (_, after)) in &patch.files {
            let (Some(path), Some(after)) = (path.as_text(), after) else {
                continue;
            };
            match sort(path) {
                Sort::Code => self.includes.add(path, after),
                Sort::Kbuild | Sort::Kconfig => {
                    let text = String::from_utf8_lossy(after).into_owned();
                    self.add(path, &text);
                }
                _ => {}
            }
        }
    }
}

/// The `#include`s of a tree, which are kept by what the tree holds.
fn includes(robot: &Robot<'_>, code: &[&TreePath]) -> anyhow::Result<Includes> {
    let folder = robot.cache.root().join("robot/includes");
    let place = folder.join(format!("{}.json", robot.tree_id));
    if let Some(known) = sealed::kept(&place)? {
        return Ok(known);
    }
    let read = |path: &&TreePath| -> anyhow::Result<(String, Vec<String>)> {
        let text = robot.tree.source(path);
        let text = text.map_err(|error| anyhow::anyhow!("could not read {path}: {error}"))?;
        robot.runner.interrupt().check()?;
        Ok((
            path.as_path().to_string_lossy().into_owned(),
            included(&text),
        ))
    };
    let all: Vec<_> = code.par_iter().map(read).collect::<anyhow::Result<_>>()?;
    let mut includes = Includes::default();
    all.into_iter()
        .for_each(|(path, named)| includes.add_read(path, named));
    cache::make_folder(&folder)?;
    sealed::keep(&place, &includes)?;
    Ok(includes)
}
