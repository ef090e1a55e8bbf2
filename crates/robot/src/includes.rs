//! Which files include which, by the `#include` lines of a tree.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

/// Folders in which every file of the kernel looks, besides those of its
/// architecture (LINUXINCLUDE of the kernel's Makefile).
const COMMON: [&str; 2] = ["include/", "include/uapi/"];

/// The `#include`s of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Includes {
    /// By the last part of what is included: who includes it, and as what.
    by_name: BTreeMap<String, Vec<(String, String)>>,
    files: BTreeSet<String>,
}

impl Includes {
    /// Takes in a file.
    pub fn add(&mut self, path: &str, text: &[u8]) {
        self.remove(path);
        self.files.insert(path.to_owned());
        for named in included(text) {
            let name = named.rsplit('/').next().unwrap_or(&named).to_owned();
            self.by_name
                .entry(name)
                .or_default()
                .push((path.to_owned(), named));
        }
    }

    /// Takes in what was read of a file elsewhere.
    pub fn add_read(&mut self, path: String, all: Vec<String>) {
        for named in all {
            let name = named.rsplit('/').next().unwrap_or(&named).to_owned();
            self.by_name
                .entry(name)
                .or_default()
                .push((path.clone(), named));
        }
        self.files.insert(path);
    }

    /// Forgets a file.
    pub fn remove(&mut self, path: &str) {
        if self.files.remove(path) {
            for users in self.by_name.values_mut() {
                users.retain(|(user, _)| user != path);
            }
        }
    }

    /// The files that include a file in a kernel of one architecture (its folder
    /// under `arch/`), by whatever ways, nearest first, each with how many includes
    /// lie between. What is included by a name that two files have may be either.
    #[must_use]
    pub fn users(&self, path: &str, arch: &str) -> Vec<(usize, String)> {
        let mut seen = BTreeSet::from([path.to_owned()]);
        let mut queue = VecDeque::from([(0_usize, path.to_owned())]);
        let mut found = Vec::new();
        while let Some((depth, file)) = queue.pop_front() {
            let name = file.rsplit('/').next().unwrap_or(&file);
            let Some(users) = self.by_name.get(name) else {
                continue;
            };
            for (user, named) in users {
                let foreign = user
                    .strip_prefix("arch/")
                    .is_some_and(|rest| !rest.starts_with(&format!("{arch}/")));
                if foreign || !self.may_mean(named, user, &file, arch) || !seen.insert(user.clone())
                {
                    continue;
                }
                found.push((depth + 1, user.clone()));
                queue.push_back((depth + 1, user.clone()));
            }
        }
        found
    }

    /// Whether what a file includes under a name may be `file`.
    fn may_mean(&self, named: &str, user: &str, file: &str, arch: &str) -> bool {
        let folder = user.rsplit_once('/').map_or("", |(folder, _)| folder);
        if joined(folder, named) == file {
            return true;
        }
        let own = [
            format!("arch/{arch}/include/"),
            format!("arch/{arch}/include/uapi/"),
        ];
        let mut places = COMMON
            .iter()
            .map(|place| (*place).to_owned())
            .chain(own.clone());
        if places.any(|place| joined(&place, named) == file) {
            return true;
        }
        if let Some(rest) = named.strip_prefix("asm/") {
            let wrapped = format!("include/asm-generic/{rest}") == file
                || format!("include/uapi/asm-generic/{rest}") == file;
            return wrapped
                && !own
                    .iter()
                    .any(|place| self.files.contains(&joined(place, named)));
        }
        // A folder that a Kbuild file adds with -I: nearer than anything else.
        let top = |path: &str| path.split('/').take(2).collect::<Vec<_>>().join("/");
        let is_common = file.starts_with("include/") || file.contains("/include/");
        !is_common && top(user) == top(file) && file.ends_with(&format!("/{}", plain(named)))
    }
}

fn plain(named: &str) -> &str {
    let mut rest = named;
    while let Some(shorter) = rest.strip_prefix("../").or_else(|| rest.strip_prefix("./")) {
        rest = shorter;
    }
    rest
}

fn joined(folder: &str, named: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(named.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// What the `#include` lines of a text name.
#[must_use]
pub fn included(text: &[u8]) -> Vec<String> {
    let line = |line: &[u8]| {
        let rest = line
            .trim_ascii_start()
            .strip_prefix(b"#")?
            .trim_ascii_start();
        let rest = rest.strip_prefix(b"include")?.trim_ascii_start();
        let close = match rest.first()? {
            b'<' => b'>',
            b'"' => b'"',
            _ => return None,
        };
        let rest = rest.get(1..)?;
        let end = rest.iter().position(|byte| *byte == close)?;
        Some(String::from_utf8_lossy(rest.get(..end)?).into_owned())
    };
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_all_ways() {
        let mut all = Includes::default();
        all.add("include/linux/a.h", b"#include <asm/b.h>\n");
        all.add("arch/x86/include/asm/b.h", b"");
        all.add("include/asm-generic/b.h", b"");
        all.add("fs/x.c", b"#include <linux/a.h>\n");
        all.add("arch/arm/kernel/y.c", b"#  include <linux/a.h> /* y */\n");
        all.add(
            "sound/core/n.c",
            b"#include \"c.c\"\n#include \"../inc/q.h\"\n",
        );
        all.add("sound/core/c.c", b"");
        all.add("sound/inc/q.h", b"");
        let users = |path: &str, arch: &str| {
            let users = all.users(path, arch).into_iter();
            users
                .map(|(depth, path)| format!("{depth} {path}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            users("arch/x86/include/asm/b.h", "x86"),
            ["1 include/linux/a.h", "2 fs/x.c"]
        );
        assert_eq!(
            users("include/asm-generic/b.h", "x86"),
            Vec::<String>::new()
        );
        assert_eq!(
            users("include/asm-generic/b.h", "arm"),
            ["1 include/linux/a.h", "2 fs/x.c", "2 arch/arm/kernel/y.c"]
        );
        assert_eq!(users("sound/core/c.c", "x86"), ["1 sound/core/n.c"]);
        assert_eq!(users("sound/inc/q.h", "x86"), ["1 sound/core/n.c"]);
        all.add("sound/core/n.c", b"");
        assert_eq!(all.users("sound/core/c.c", "x86"), []);
    }
}
