//! Configuration fragments: the options that an image is built with.

mod fit;

pub use fit::{Adjusted, Fitter, why_lost};

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tollgate_robot::Kconfig;

use crate::assets;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No fragment has that name.
    #[error("no configuration fragment is called {name}; there are: {}", .known.join(", "))]
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
    /// Its text: lines as in a `.config`, with their reasons as comments.
    pub text: String,
}

impl Fragment {
    /// One of the fragments in `data/config`. Its first line may be `#include
    /// NAME`: then it holds that fragment's lines too, but for the options that
    /// it sets itself.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let unknown = |name: &str| Error::Unknown {
            name: name.to_owned(),
            known: known(),
        };
        let read = |name: &str| {
            let text = assets::text(&assets::DATA, &format!("config/{name}.config"));
            text.ok_or_else(|| unknown(name))
        };
        let text = read(name)?;
        let text = match included(text) {
            None => text.to_owned(),
            Some(base) => over(read(base)?, text),
        };
        Ok(Self {
            name: name.to_owned(),
            text,
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
            name: self.name.clone(),
            text: format!("{}{more}", self.text),
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
