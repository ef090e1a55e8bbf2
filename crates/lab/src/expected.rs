//! How many objects a build compiles, before it does: Kbuild does not say. What its
//! files name for a configuration comes near it; what a shell in them computes is not
//! known, so it is an estimate.

use std::collections::HashSet;
use std::path::Path;

use tollgate_robot::{Condition, Config, Makefile, Rule, Truth};

use crate::input;

/// About how many objects a kernel of an architecture's folder has, by the Kbuild files
/// of its source.
#[must_use]
pub(crate) fn objects(source: &Path, arch: &str, config: &str) -> u64 {
    let mut walk = Walk {
        source,
        config: Config::parse(config),
        seen: HashSet::new(),
        objects: 0,
    };
    walk.folder("");
    // `arch/$(SRCARCH)/` is no name.
    walk.folder(&format!("arch/{arch}"));
    walk.objects
}

struct Walk<'a> {
    source: &'a Path,
    config: Config,
    /// Folders and objects.
    seen: HashSet<String>,
    objects: u64,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &str) {
        if !self.seen.insert(format!("{folder}/")) {
            return;
        }
        for name in ["Kbuild", "Makefile"] {
            // A folder has one of them or both; without any it compiles nothing.
            if let Ok(text) = input::source(&self.source.join(folder).join(name)) {
                let makefile = Makefile::parse(&String::from_utf8_lossy(&text));
                self.file(folder, &makefile);
            }
        }
    }

    fn file(&mut self, folder: &str, makefile: &Makefile) {
        for rule in &makefile.rules {
            if !LISTS.contains(&rule.list.as_str()) || !self.holds(&rule.condition) {
                continue;
            }
            for name in &rule.names {
                match name.strip_suffix('/') {
                    // The lists of an architecture's Makefile begin at the top.
                    Some(below) if rule.list != "obj" => self.folder(below),
                    Some(below) => self.folder(joined(folder, below).trim_start_matches('/')),
                    None => self.object(folder, makefile, name),
                }
            }
        }
    }

    /// An object, or the parts that it is linked of.
    fn object(&mut self, folder: &str, makefile: &Makefile, name: &str) {
        let Some(stem) = name.strip_suffix(".o") else {
            return;
        };
        if !self.seen.insert(joined(folder, name)) {
            return;
        }
        // lib.o is made of no list: lib-y is one of Kbuild's own.
        let is_whole = |rule: &&Rule| rule.list == stem && !LISTS.contains(&stem);
        let parts = makefile.rules.iter().filter(is_whole);
        let mut whole = false;
        for rule in parts {
            whole = true;
            if self.holds(&rule.condition) {
                let names = rule.names.iter();
                names.for_each(|part| self.object(folder, makefile, part));
            }
        }
        self.objects += u64::from(!whole);
    }

    /// What only make can tell is taken to hold: most of it does.
    fn holds(&self, condition: &Condition) -> bool {
        condition.truth(&self.config) != Truth::No
    }
}

/// The lists that Kbuild links a kernel of (Documentation/kbuild/makefiles.rst).
const LISTS: [&str; 5] = ["obj", "lib", "core", "drivers", "libs"];

fn joined(folder: &str, name: &str) -> String {
    format!("{folder}/{name}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_kbuild_names_for_a_configuration_is_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            ("Kbuild", "obj-y += fs/ net/\nobj-y += arch/$(SRCARCH)/\n"),
            (
                "fs/Makefile",
                "obj-y := open.o read.o\nobj-$(CONFIG_A) += a.o open.o\nobj-$(CONFIG_B) += b.o\na-y := one.o two.o\na-$(CONFIG_B) += three.o\n",
            ),
            ("net/Makefile", "obj-$(CONFIG_B) += deep/\nlib-y += lib.o\n"),
            ("net/deep/Makefile", "obj-y += never.o\n"),
            ("arch/x86/Makefile", "libs-y += arch/x86/lib/\n"),
            ("arch/x86/lib/Makefile", "lib-y := copy.o\n"),
            ("arch/arm/Makefile", "libs-y += arch/arm/lib/\n"),
            ("arch/arm/lib/Makefile", "lib-y := other.o\n"),
        ];
        for (name, text) in files {
            let place = dir.path().join(name);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        let count = |config| objects(dir.path(), "x86", config);
        // open, read, one, two, lib, copy
        assert_eq!(count("CONFIG_A=y\n"), 6);
        // open, read, b, lib, copy, never
        assert_eq!(count("CONFIG_B=y\n"), 6);
        assert_eq!(count("CONFIG_A=y\nCONFIG_B=y\n"), 9);
    }
}
