//! Configuration fragments: the options that an image is built with.

mod fit;
mod own;

pub use fit::{Adjusted, Fitter, why_lost};
pub use own::Own;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tollgate_robot::Kconfig;
use tollgate_source::shown;

use crate::assets;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No fragment has that name.
    #[error("no configuration fragment is called {name}; there are: {}; a file of your own \
             is given with its path, ./my.config", .known.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Kconfig did not keep what the fragment asks for.
    #[error("this tree's Kconfig does not keep {} of the lines of fragment {fragment}: {}; \
             what an option depends on has to be on as well", .lost.len(), .lost.join(", "))]
    Lost {
        /// The fragment.
        fragment: String,
        /// The lines that are not in the result, each with the reason where it is known.
        lost: Vec<String>,
    },
    /// A file of the user's cannot be read.
    #[error("could not read the configuration {}: {source}", shown(.path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the user's has a line that is none of a configuration.
    #[error("{}:{line}: {text}: this is no line of a configuration; \
             give a .config, or lines such as CONFIG_EPOLL=y", shown(.path))]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// A line that has to be asked for is of no option of the tree.
    #[error(
        "{line} cannot be had in Linux {version}: {reason}; leave it out, or give another tree"
    )]
    NoOption {
        /// The line.
        line: String,
        /// The version of the tree.
        version: String,
        /// Why.
        reason: String,
    },
}

impl Error {
    /// The same, with what each lost line needs as far as the tree's Kconfig files and
    /// the configuration that they made say it.
    #[must_use]
    pub fn explained(self, kconfig: &Kconfig, result: &str) -> Self {
        let why = |line: String| match why_lost(&line, kconfig, result) {
            Some(reason) => format!("{line} ({reason})"),
            None => line,
        };
        match self {
            Self::Lost { fragment, lost } => Self::Lost {
                fragment,
                lost: lost.into_iter().map(why).collect(),
            },
            other => other,
        }
    }
}

/// A named set of options over `make allnoconfig`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragment {
    /// Its name, `x86_64-minimal`.
    pub name: String,
    /// Its text: lines as in a `.config`, with their reasons as comments. Each of them has
    /// to be in the result.
    pub text: String,
    /// The whole `.config` that it is laid over, of which Kconfig may drop what a tree or
    /// a compiler does not have; none where it is laid over `make allnoconfig`.
    pub ground: Option<String>,
}

impl Fragment {
    /// One of the fragments in `data/config`. Its first line may be `#include
    /// NAME`: then it holds that fragment's lines too, but for the options that
    /// it sets itself.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let text = assets::text(&assets::DATA, &format!("config/{name}.config"));
        let text = text.ok_or_else(|| Error::Unknown {
            name: name.to_owned(),
            known: known(),
        })?;
        let text = match included(text) {
            None => text.to_owned(),
            Some(base) => over(&Self::named(base)?.text, text),
        };
        Ok(Self {
            name: name.to_owned(),
            text,
            ground: None,
        })
    }

    /// The fragment of a profile on an architecture: `data/config/ARCH-PROFILE.config`.
    ///
    /// # Errors
    /// When there is none, with the profiles that there are.
    pub fn profile(arch: &str, profile: &str) -> Result<Self, Error> {
        Self::named(&format!("{arch}-{profile}"))
    }

    /// The same with more lines, which also are checked; the name stays.
    #[must_use]
    pub fn with(&self, lines: &[String]) -> Self {
        let more: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Self {
            text: format!("{}{more}", self.text),
            ..self.clone()
        }
    }

    /// What Kconfig begins with: all of it over its ground.
    #[must_use]
    pub fn wanted(&self) -> String {
        match &self.ground {
            Some(ground) => over(ground, &self.text),
            None => self.text.clone(),
        }
    }

    /// The options that it sets: its lines without the reasons.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.text
            .lines()
            .map(str::trim)
            .filter(|line| is_option(line))
    }

    /// Checks that the configuration which Kconfig made holds every option.
    ///
    /// # Errors
    /// [`Error::Lost`] with the options that it does not hold.
    pub fn check(&self, result: &str) -> Result<(), Error> {
        let kept: BTreeSet<&str> = result.lines().map(str::trim).collect();
        let lost: Vec<String> = self
            .options()
            .filter(|option| !holds(&kept, option))
            .map(str::to_owned)
            .collect();
        if lost.is_empty() {
            return Ok(());
        }
        Err(Error::Lost {
            fragment: self.name.clone(),
            lost,
        })
    }
}

fn included(text: &str) -> Option<&str> {
    text.lines()
        .next()?
        .strip_prefix("#include ")
        .map(str::trim)
}

/// The lines of `base` that `text` does not decide otherwise, then `text`.
fn over(base: &str, text: &str) -> String {
    let own: BTreeSet<&str> = text.lines().filter_map(symbol).collect();
    let kept = base
        .lines()
        .filter(|line| symbol(line).is_none_or(|name| !own.contains(name)));
    kept.chain(text.lines())
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The option that a line sets or unsets.
fn symbol(line: &str) -> Option<&str> {
    let line = line.trim();
    is_option(line).then_some(())?;
    unset_name(line).or_else(|| line.split('=').next())
}

/// "is not set" is also true of an option that the tree does not have.
fn holds(kept: &BTreeSet<&str>, option: &str) -> bool {
    match unset_name(option) {
        None => kept.contains(option),
        Some(name) => !kept.iter().any(|line| {
            line.split_once('=')
                .is_some_and(|(key, value)| key == name && value != "n")
        }),
    }
}

fn unset_name(option: &str) -> Option<&str> {
    let not_set = option
        .strip_prefix("# ")
        .and_then(|rest| rest.strip_suffix(" is not set"));
    not_set.or_else(|| option.strip_suffix("=n"))
}

fn is_option(line: &str) -> bool {
    line.starts_with("CONFIG_") || (line.starts_with("# CONFIG_") && line.ends_with(" is not set"))
}

fn known() -> Vec<String> {
    assets::files(&assets::DATA)
        .into_iter()
        .filter_map(|(path, _)| path.strip_prefix("config/")?.strip_suffix(".config"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(text: &str) -> Fragment {
        Fragment {
            name: "test".into(),
            text: text.into(),
            ground: None,
        }
    }

    #[test]
    fn a_lost_line_is_an_error_that_names_it() {
        let wanted = fragment("# why\nCONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\n");
        wanted.check("CONFIG_A=y\nCONFIG_B=y\n").unwrap();
        let error = wanted
            .check("CONFIG_A=y\nCONFIG_C=y\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("2 of the lines"), "{error}");
        assert!(
            error.contains("CONFIG_B=y, # CONFIG_C is not set"),
            "{error}"
        );
    }

    #[test]
    fn every_fragment_that_comes_along_gives_a_reason_for_each_block() {
        for name in known() {
            let fragment = Fragment::named(&name).unwrap();
            assert!(fragment.options().count() > 0, "{name} is empty");
            let unexplained = fragment.text.split("\n\n").find(|block| {
                block.lines().any(is_option) && !block.trim_start().starts_with("# ")
            });
            assert_eq!(unexplained, None, "{name}");
        }
    }

    #[test]
    fn every_machine_has_a_kernel_to_boot_one_for_epoll_and_one_for_all() {
        for arch in crate::machine::Machine::names() {
            let lines = |profile: &str| {
                let fragment = Fragment::profile(arch, profile).unwrap();
                fragment
                    .options()
                    .map(str::to_owned)
                    .collect::<BTreeSet<_>>()
            };
            let (boot, core, minimal) = (lines("boot"), lines("core"), lines("minimal"));
            assert!(boot.is_subset(&core) && core.is_subset(&minimal), "{arch}");
            assert!(core.contains("CONFIG_UNIX=y") && !core.contains("CONFIG_SOUND=y"));
            assert!(minimal.contains("CONFIG_SND_DUMMY=y"), "{arch}");
        }
    }

    #[test]
    fn a_fragment_over_another_has_each_option_once() {
        let text = over(
            "# why\nCONFIG_A=y\nCONFIG_B=y\n",
            "#include x\n# CONFIG_B is not set\n",
        );
        assert_eq!(
            text,
            "# why\nCONFIG_A=y\n#include x\n# CONFIG_B is not set\n"
        );
        let distro = Fragment::named("x86_64-distro").unwrap();
        let options: Vec<&str> = distro.options().collect();
        assert!(options.contains(&"CONFIG_EPOLL=y") && options.contains(&"CONFIG_HZ_250=y"));
        assert!(!options.contains(&"CONFIG_HZ_100=y"));
        let names: BTreeSet<&str> = distro.text.lines().filter_map(symbol).collect();
        assert_eq!(names.len(), options.len());
    }

    #[test]
    fn more_lines_are_options_too() {
        let more = fragment("CONFIG_A=y\n").with(&["CONFIG_B=y".to_owned()]);
        let options: Vec<&str> = more.options().collect();
        assert_eq!(options, ["CONFIG_A=y", "CONFIG_B=y"]);
        assert_eq!(fragment("CONFIG_A=y\n").with(&[]), fragment("CONFIG_A=y\n"));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Fragment::named("x").unwrap_err().to_string();
        assert!(error.contains("x86_64-minimal"), "{error}");
    }
}
