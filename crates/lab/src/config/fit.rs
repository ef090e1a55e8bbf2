//! A fragment fitted to a tree: what the tree's Kconfig files do not have is not asked
//! for, or asked for by what has taken its place (`data/config/versions.toml`).

use serde::Deserialize;
use tollgate_defect::Defect;
use tollgate_robot::{Config, Kconfig};

use super::{Error, Fragment, symbol, unset_name};
use crate::assets;
use crate::toolchain::series;

const TABLE: &str = "config/versions.toml";

/// A line that is asked for in another way, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjusted {
    /// The line of the fragment, `CONFIG_PROC_SYSCTL=y`.
    pub line: String,
    /// The lines in its place; none where nothing is asked for.
    pub instead: Vec<String>,
    /// Why.
    pub reason: String,
}

impl std::fmt::Display for Adjusted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            line,
            instead,
            reason,
        } = self;
        match instead.as_slice() {
            [] => write!(f, "{line} is not asked for: {reason}"),
            instead => write!(f, "{line} is {}: {reason}", instead.join(" and ")),
        }
    }
}

/// What fits fragments to one tree and one architecture.
#[derive(Debug)]
pub struct Fitter<'a> {
    kconfig: &'a Kconfig,
    /// The tree's version, `7.3.4`.
    version: &'a str,
    table: Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    line: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    line: String,
    since: Option<String>,
    until: Option<String>,
    instead: Vec<String>,
    reason: String,
}

/// What becomes of a line.
enum Fate<'a> {
    Kept,
    Row(&'a Row),
    /// The tree has no such option, and no row says more.
    Gone,
}

impl<'a> Fitter<'a> {
    /// For a tree of that version, whose options are `kconfig`.
    ///
    /// # Errors
    /// When the table of versions cannot be read: a defect of how tollgate was built.
    pub fn new(kconfig: &'a Kconfig, version: &'a str) -> Result<Self, Defect> {
        let text = assets::own(&assets::DATA, TABLE)?;
        let table =
            toml::from_str(text).map_err(|error| Defect::new(format!("data/{TABLE}: {error}")))?;
        Ok(Self {
            kconfig,
            version,
            table,
        })
    }

    /// One of the fragments that come along, and what of it is asked for otherwise, or
    /// not at all.
    #[must_use]
    pub fn fragment(&self, fragment: &Fragment) -> (Fragment, Vec<Adjusted>) {
        let mut adjusted = Vec::new();
        let mut text = String::new();
        for line in fragment.text.split_inclusive('\n') {
            match self.fate(line) {
                Fate::Kept => text.push_str(line),
                fate => {
                    let one = self.adjusted(line, &fate);
                    one.instead.iter().for_each(|line| {
                        text.push_str(line);
                        text.push('\n');
                    });
                    adjusted.push(one);
                }
            }
        }
        let fitted = Fragment {
            text,
            ..fragment.clone()
        };
        (fitted, adjusted)
    }

    /// Lines that are what is measured: each is asked for, if by another name.
    ///
    /// # Errors
    /// [`Error::NoOption`] where the tree has no such option and nothing in its place.
    pub fn lines(&self, lines: &[String]) -> Result<(Vec<String>, Vec<Adjusted>), Error> {
        let (mut all, mut adjusted) = (Vec::new(), Vec::new());
        for line in lines {
            match self.fate(line) {
                Fate::Kept => all.push(line.clone()),
                Fate::Row(row) if !row.instead.is_empty() => {
                    all.extend(row.instead.iter().cloned());
                    adjusted.push(self.adjusted(line, &Fate::Row(row)));
                }
                fate => return Err(self.no_option(line, &fate)),
            }
        }
        Ok((all, adjusted))
    }

    fn no_option(&self, line: &str, fate: &Fate<'_>) -> Error {
        Error::NoOption {
            line: line.trim().to_owned(),
            version: self.version.to_owned(),
            reason: self.adjusted(line, fate).reason,
        }
    }

    fn adjusted(&self, line: &str, fate: &Fate<'_>) -> Adjusted {
        let line = line.trim().to_owned();
        match fate {
            Fate::Row(row) => Adjusted {
                line,
                instead: row.instead.clone(),
                reason: row.reason.clone(),
            },
            Fate::Kept | Fate::Gone => Adjusted {
                line,
                instead: Vec::new(),
                reason: "no Kconfig file of this tree defines it".to_owned(),
            },
        }
    }

    /// Of a tree without any option nothing is known; what shall not be set is not, where
    /// there is none.
    fn fate(&self, line: &str) -> Fate<'_> {
        let line = line.trim();
        let Some(name) = symbol(line).filter(|_| unset_name(line).is_none()) else {
            return Fate::Kept;
        };
        if self.kconfig.has_none() {
            return Fate::Kept;
        }
        let has = self.has(name);
        let mut rows = self.table.line.iter().filter(|row| row.line == line);
        let row = rows.find(|row| {
            let there = row.instead.iter().filter_map(|line| symbol(line));
            (!has || !row.keeps(self.version)) && there.into_iter().all(|name| self.has(name))
        });
        match row {
            Some(row) => Fate::Row(row),
            None if has => Fate::Kept,
            None => Fate::Gone,
        }
    }

    fn has(&self, name: &str) -> bool {
        name.strip_prefix("CONFIG_")
            .is_some_and(|option| self.kconfig.has(option))
    }
}

impl Row {
    /// Whether a tree of that version keeps the line where it has the option.
    fn keeps(&self, version: &str) -> bool {
        let bound = |bound: &Option<String>| bound.as_deref().and_then(series);
        let Some(own) = series(version) else {
            return true;
        };
        bound(&self.since).is_none_or(|since| since <= own)
            && bound(&self.until).is_none_or(|until| own <= until)
    }
}

/// Why Kconfig did not keep a line, as far as its files say: behind the line, in brackets.
#[must_use]
pub fn why_lost(line: &str, kconfig: &Kconfig, result: &str) -> Option<String> {
    let option = symbol(line)?.strip_prefix("CONFIG_")?;
    if kconfig.has_none() {
        return None;
    }
    if !kconfig.has(option) {
        return Some("no Kconfig file of this tree defines it".to_owned());
    }
    if unset_name(line).is_some() {
        return selected_by(option, kconfig, &Config::parse(result));
    }
    let wants = kconfig
        .depends(option)
        .wants(true, &Config::parse(result))?;
    let each = wants.iter().map(|(name, on)| match on {
        true => format!("CONFIG_{name}"),
        false => format!("CONFIG_{name} off"),
    });
    let each: Vec<String> = each.collect();
    match each.as_slice() {
        [] if !kconfig.has_prompt(option) => Some("nobody can choose it".to_owned()),
        [] => None,
        each => Some(format!("it needs {}", each.join(" and "))),
    }
}

/// The options that are on and turn this one on.
fn selected_by(option: &str, kconfig: &Kconfig, config: &Config) -> Option<String> {
    let by = kconfig.selecting(option);
    let on = by.filter(|(entry, _)| config.is_on(&entry.option));
    let names: Vec<String> = on
        .map(|(entry, _)| format!("CONFIG_{}", entry.option))
        .collect();
    (!names.is_empty()).then(|| format!("selected by {}", names.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::super::is_option;
    use super::*;

    fn kconfig(options: &[&str]) -> Kconfig {
        let mut kconfig = Kconfig::default();
        let text: String = options
            .iter()
            .map(|option| format!("config {option}\n\tbool \"it\"\n"))
            .collect();
        kconfig.add("Kconfig", &text);
        kconfig
    }

    fn fragment(text: &str) -> Fragment {
        Fragment {
            name: "test".into(),
            text: text.into(),
            ground: None,
        }
    }

    fn fitted(options: &[&str], version: &str, text: &str) -> (String, Vec<String>) {
        let kconfig = kconfig(options);
        let fitter = Fitter::new(&kconfig, version).unwrap();
        let (fragment, adjusted) = fitter.fragment(&fragment(text));
        let adjusted = adjusted.iter().map(ToString::to_string).collect();
        (fragment.text, adjusted)
    }

    const SYSCTL: &str = "# why\nCONFIG_EPOLL=y\nCONFIG_PROC_SYSCTL=y\n";

    #[test]
    fn a_tree_that_has_all_of_it_changes_no_byte() {
        for name in super::super::known() {
            let own = Fragment::named(&name).unwrap();
            let options: Vec<&str> = own
                .options()
                .filter_map(|line| symbol(line)?.strip_prefix("CONFIG_"))
                .collect();
            let kconfig = kconfig(&options);
            let fitter = Fitter::new(&kconfig, "6.12.117").unwrap();
            assert_eq!(fitter.fragment(&own), (own.clone(), Vec::new()), "{name}");
        }
    }

    #[test]
    fn what_has_another_name_is_asked_for_by_that() {
        let (text, adjusted) = fitted(&["EPOLL", "SYSCTL"], "7.3.4", SYSCTL);
        assert_eq!(text, "# why\nCONFIG_EPOLL=y\nCONFIG_SYSCTL=y\n");
        assert_eq!(
            adjusted,
            [
                "CONFIG_PROC_SYSCTL=y is CONFIG_SYSCTL=y: one option for /proc/sys, which is there with PROC_FS"
            ]
        );
    }

    #[test]
    fn the_trees_own_kconfig_decides_before_the_version() {
        // A tree of that version that has it still.
        let (text, adjusted) = fitted(&["EPOLL", "SYSCTL", "PROC_SYSCTL"], "7.2.0", SYSCTL);
        assert_eq!((text.as_str(), adjusted.len()), (SYSCTL, 0));
        // One of an older version that lacks it already.
        assert_eq!(fitted(&["EPOLL", "SYSCTL"], "6.12.0", SYSCTL).1.len(), 1);
    }

    #[test]
    fn what_no_file_defines_is_not_asked_for_and_named() {
        let (text, adjusted) = fitted(&["EPOLL"], "6.12.0", "CONFIG_EPOLL=y\nCONFIG_X=y\n");
        assert_eq!(text, "CONFIG_EPOLL=y\n");
        assert_eq!(
            adjusted,
            ["CONFIG_X=y is not asked for: no Kconfig file of this tree defines it"]
        );
        // A row whose other name the tree has not either says nothing.
        let (_, adjusted) = fitted(&["EPOLL"], "7.3.4", SYSCTL);
        assert!(adjusted[0].contains("no Kconfig file"), "{adjusted:?}");
    }

    #[test]
    fn an_option_that_cannot_be_had_any_more_gives_way_by_version() {
        let wanted = "CONFIG_PREEMPT_VOLUNTARY=y\n";
        let options = ["PREEMPT_VOLUNTARY", "PREEMPT_LAZY"];
        assert_eq!(fitted(&options, "6.12.117", wanted).0, wanted);
        assert_eq!(
            fitted(&options, "7.3.4", wanted).0,
            "CONFIG_PREEMPT_LAZY=y\n"
        );
        let early = fitted(&["MODULES", "KPROBES"], "6.1.176", "CONFIG_KPROBES=y\n");
        assert_eq!(early.0, "CONFIG_MODULES=y\nCONFIG_KPROBES=y\n");
    }

    #[test]
    fn what_is_measured_is_asked_for_or_refused() {
        let kconfig = kconfig(&["EPOLL", "SYSCTL"]);
        let fitter = Fitter::new(&kconfig, "7.3.4").unwrap();
        let lines = |line: &str| fitter.lines(&[line.to_owned()]);
        assert_eq!(
            lines("CONFIG_PROC_SYSCTL=y").unwrap().0,
            ["CONFIG_SYSCTL=y"]
        );
        assert_eq!(lines("# CONFIG_X is not set").unwrap().1, []);
        for line in ["CONFIG_X=y", "CONFIG_SLUB_CPU_PARTIAL=y"] {
            let told = lines(line).unwrap_err().to_string();
            assert!(told.contains(line) && told.contains("7.3.4"), "{told}");
        }
    }

    #[test]
    fn a_tree_without_any_option_is_not_judged() {
        let (text, adjusted) = fitted(&[], "7.3.4", SYSCTL);
        assert_eq!((text.as_str(), adjusted.len()), (SYSCTL, 0));
    }

    #[test]
    fn a_lost_line_says_what_it_needs() {
        let mut kconfig = Kconfig::default();
        kconfig.add(
            "Kconfig",
            "config A\n\tbool \"a\"\n\tdepends on B && !C\nconfig B\n\tbool \"b\"\n\tselect D\nconfig D\n\tbool\n",
        );
        let why = |line: &str, result: &str| why_lost(line, &kconfig, result);
        assert_eq!(
            why("CONFIG_A=y", "CONFIG_C=y\n").unwrap(),
            "it needs CONFIG_B and CONFIG_C off"
        );
        assert!(why("CONFIG_X=y", "").unwrap().contains("no Kconfig file"));
        assert_eq!(why("CONFIG_D=y", "").unwrap(), "nobody can choose it");
        assert_eq!(
            why("# CONFIG_D is not set", "CONFIG_B=y\n").unwrap(),
            "selected by CONFIG_B"
        );
    }

    #[test]
    fn every_row_is_of_a_line_that_a_fragment_has_and_has_its_reason() {
        let names = super::super::known();
        let fragments: Vec<Fragment> = names
            .iter()
            .map(|name| Fragment::named(name).unwrap())
            .collect();
        let kconfig = Kconfig::default();
        let fitter = Fitter::new(&kconfig, "1.0").unwrap();
        for row in &fitter.table.line {
            let known = fragments
                .iter()
                .any(|one| one.options().any(|line| line == row.line));
            assert!(known, "{}", row.line);
            assert!(!row.reason.is_empty() && row.instead.iter().all(|line| is_option(line)));
            for bound in [&row.since, &row.until].into_iter().flatten() {
                assert!(series(bound).is_some(), "{bound}");
            }
        }
    }
}
