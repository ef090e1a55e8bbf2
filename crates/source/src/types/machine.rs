//! The machines that Linux runs on, and the types that need no definition: read
//! from `data/types/`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;

use super::file::File;
use super::kernel::KernelTypes;
use crate::calls::read;
use crate::path::TreePath;
use tollgate_defect::Defect;

const MACHINES: &str = include_str!("../../../../data/types/machines.toml");
const SCALARS: &str = include_str!("../../../../data/types/scalars.toml");

/// What the layout of a structure depends on besides its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name, `x86_64`.
    pub name: String,
    /// Its folder in `arch/`.
    pub arch: String,
    /// The size of `long` and of a pointer, in bytes.
    pub long: u64,
    /// The alignment of a scalar of 8 bytes inside a structure.
    pub(super) wide: u64,
    /// The alignment that no scalar exceeds.
    pub(super) most: u64,
    /// Whether a bit-field without a name raises the alignment.
    pub(super) unnamed: bool,
    /// Whether code outside `arch/` is judged on it.
    pub(super) reference: bool,
    /// Whether its programs' addresses lead to no memory of the kernel's, whatever they are:
    /// access_ok() refuses none there (include/asm-generic/access_ok.h,
    /// ALTERNATE_USER_ADDRESS_SPACE).
    pub apart: bool,
    /// Whether no address of a 32-bit program's is less than 0 as a number with a sign.
    pub low: bool,
    /// The machine of 32 bits whose programs a kernel of this one runs as well.
    pub(super) compat: Option<String>,
    /// Whether programs are compiled for it, and no kernel.
    pub(super) programs: bool,
    /// Which of all it is, for what is kept by machine.
    pub(super) id: usize,
    defines: HashMap<String, String>,
}

impl Machine {
    /// The alignment that a scalar of that size has inside a structure.
    pub(super) fn alignment(&self, size: u64) -> u64 {
        let natural = if size == 8 { self.wide } else { size };
        natural.clamp(1, self.most)
    }

    /// The machine as programs see it, with the headers in `uapi` folders alone.
    #[must_use]
    pub fn for_programs(&self) -> Self {
        let mut own = self.clone();
        own.programs = true;
        own.id = usize::MAX - self.id;
        own.name += " (programs)";
        own.defines
            .retain(|name, _| name != "__KERNEL__" && !name.starts_with("CONFIG_"));
        own
    }

    /// What a name that the compiler or the configuration defines stands for.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.defines.get(name).map(String::as_str)
    }
}

#[derive(Deserialize)]
struct Widths {
    long: u64,
    defines: Vec<String>,
}

#[derive(Deserialize)]
struct Every {
    defines: Vec<String>,
    undefined: Vec<String>,
}

#[derive(Deserialize)]
struct Own {
    machines: Vec<String>,
    options: Vec<String>,
}

#[derive(Deserialize)]
struct One {
    name: String,
    arch: String,
    long: u64,
    wide: u64,
    most: u64,
    #[serde(default)]
    unnamed: bool,
    #[serde(default)]
    apart: bool,
    #[serde(default)]
    low: bool,
    #[serde(default)]
    reference: bool,
    #[serde(default)]
    programs: bool,
    compat: Option<String>,
    defines: Vec<String>,
}

#[derive(Deserialize)]
struct All {
    every: Vec<Every>,
    width: Vec<Widths>,
    own: Vec<Own>,
    machine: Vec<One>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Width {
    Long,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Bytes(u64),
    Of(Width),
}

#[derive(Deserialize)]
struct Scalar {
    names: Vec<String>,
    #[serde(default)]
    unsigned: Vec<String>,
    #[serde(default)]
    truths: Vec<String>,
    size: Size,
}

#[derive(Deserialize)]
struct Typedef {
    names: Vec<String>,
    is: String,
    option: Option<String>,
    otherwise: Option<String>,
}

#[derive(Deserialize)]
struct Macro {
    define: String,
}

#[derive(Deserialize)]
struct Nothing {
    names: Vec<String>,
}

#[derive(Deserialize)]
struct Words {
    scalar: Vec<Scalar>,
    typedef: Vec<Typedef>,
    r#macro: Vec<Macro>,
    nothing: Vec<Nothing>,
}

/// What is known of types without a tree.
#[derive(Debug)]
pub(super) struct Facts {
    /// Every machine.
    pub(super) machines: Vec<Machine>,
    /// Names that some machine defines: the others do not have them.
    settled: HashSet<String>,
    /// Options with the names of the machines that may have them.
    own: HashMap<String, Vec<String>>,
    /// The types of C with their sizes; none for that of a `long`.
    scalars: HashMap<String, Option<u64>>,
    /// Those of them that have no negative values.
    unsigned: HashSet<String>,
    /// Those that are true or false.
    truths: HashSet<String>,
    /// Typedefs and macros, as a header would define them.
    pub(super) prelude: Arc<File>,
    /// What only the kernel has a meaning for.
    pub(super) kernel: KernelTypes,
}

impl Facts {
    /// The facts of `data/types/`, which are compiled in.
    pub(super) fn builtin() -> Result<Self, Defect> {
        let all: All = read("data/types/machines.toml", MACHINES)?;
        let words: Words = read("data/types/scalars.toml", SCALARS)?;
        let (path, text) = (TreePath::within("data/types/scalars.toml"), prelude(&words));
        let unsigned = words.scalar.iter().flat_map(|scalar| &scalar.unsigned);
        let unsigned = unsigned.cloned().collect();
        let truths = words.scalar.iter().flat_map(|scalar| &scalar.truths);
        let truths = truths.cloned().collect();
        let scalars = words.scalar.into_iter().flat_map(|scalar| {
            let size = match scalar.size {
                Size::Bytes(bytes) => Some(bytes),
                Size::Of(Width::Long) => None,
            };
            let names = scalar.names.into_iter().chain(scalar.unsigned);
            names.map(move |name| (name, size))
        });
        let machines: Vec<Machine> = {
            let machines = all.machine.iter().enumerate();
            machines.map(|(id, one)| all.machine(id, one)).collect()
        };
        let defined = machines.iter().flat_map(|machine| machine.defines.keys());
        let never = all.every.iter().flat_map(|every| &every.undefined);
        let own = all.own.iter().flat_map(|own| {
            let options = own.options.iter();
            options.map(|option| (option.clone(), own.machines.clone()))
        });
        Ok(Self {
            own: own.collect(),
            scalars: scalars.collect(),
            unsigned,
            truths,
            settled: defined.chain(never).cloned().collect(),
            machines,
            kernel: KernelTypes::builtin()?,
            prelude: Arc::new(File::new(path, text.into_bytes())),
        })
    }

    /// The size of a type of C in bytes.
    pub(super) fn scalar(&self, name: &str, machine: &Machine) -> Option<u64> {
        let size = self.scalars.get(name)?;
        Some(size.unwrap_or(machine.long))
    }

    /// Whether a type of C has no negative values.
    pub(super) fn is_unsigned(&self, name: &str) -> bool {
        self.unsigned.contains(name)
    }

    /// Whether a type of C is true or false.
    pub(super) fn is_truth(&self, name: &str) -> bool {
        self.truths.contains(name)
    }

    /// Whether a name is known not to be defined on a machine, which does not define it
    /// itself: others do, or what can set the option is not read for it.
    pub(super) fn is_undefined(&self, name: &str, machine: &Machine) -> bool {
        let others = |own: &Vec<String>| !own.contains(&machine.name);
        self.settled.contains(name) || self.own.get(name).is_some_and(others)
    }
}

impl All {
    fn machine(&self, id: usize, one: &One) -> Machine {
        let every = self.every.iter().flat_map(|every| &every.defines);
        let width = self.width.iter().filter(|width| width.long == one.long);
        let all = every
            .chain(width.flat_map(|width| &width.defines))
            .chain(&one.defines)
            .map(|define| define.split_once('=').unwrap_or((define, "1")));
        let machine = Machine {
            name: one.name.clone(),
            arch: one.arch.clone(),
            long: one.long,
            wide: one.wide,
            most: one.most,
            unnamed: one.unnamed,
            apart: one.apart,
            low: one.low,
            reference: one.reference,
            compat: one.compat.clone(),
            programs: false,
            id,
            defines: all.map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
        };
        match one.programs {
            true => Machine {
                name: one.name.clone(),
                ..machine.for_programs()
            },
            false => machine,
        }
    }
}

/// The typedefs and macros as a header.
fn prelude(words: &Words) -> String {
    let mut text = String::new();
    for typedef in &words.typedef {
        for name in &typedef.names {
            let line = |is: &str| format!("typedef {is} {name};\n");
            text += &match (&typedef.option, &typedef.otherwise) {
                (Some(option), Some(otherwise)) => {
                    let (set, not) = (line(&typedef.is), line(otherwise));
                    format!("#ifdef {option}\n{set}#else\n{not}#endif\n")
                }
                _ => line(&typedef.is),
            };
        }
    }
    let defines = words.r#macro.iter().map(|one| &one.define);
    let nothing = words.nothing.iter().flat_map(|one| &one.names);
    for define in defines.chain(nothing) {
        text += &format!("#define {define}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::path::Path;

    use super::{All, MACHINES, read};

    /// The Kconfig files of a tree, by their paths in it, with their text.
    fn kconfigs(tree: &Path) -> Vec<(String, String)> {
        let (mut found, mut folders) = (Vec::new(), vec![tree.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let (path, kind) = entry.map(|e| (e.path(), e.file_type())).unwrap();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if kind.unwrap().is_dir() {
                    folders.push(path);
                } else if name.starts_with("Kconfig") {
                    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                    let own = path.strip_prefix(tree).unwrap();
                    found.push((own.to_string_lossy().into_owned(), text));
                }
            }
        }
        found.retain(|(path, _)| !path.starts_with("scripts/") && !path.starts_with("tools/"));
        found
    }

    #[test]
    fn an_option_of_some_machines_is_set_by_their_own_files_alone() {
        let all: All = read("data/types/machines.toml", MACHINES).unwrap();
        let known = |name: &String| all.machine.iter().find(|one| one.name == *name).unwrap();
        let mut names = Vec::new();
        for own in &all.own {
            let archs: Vec<&str> = own.machines.iter().map(|name| &*known(name).arch).collect();
            assert!(archs.iter().all(|arch| *arch == archs[0]), "{archs:?}");
            names.extend(own.options.iter().map(|option| (option, archs[0])));
        }
        let mut once: Vec<&String> = names.iter().map(|(option, _)| *option).collect();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "an option stands in two lists");
        let trees = [
            tollgate_testing::kernel::tree(),
            tollgate_testing::kernel::newer(),
        ];
        for tree in trees.into_iter().flatten() {
            let files = kconfigs(&tree);
            for (path, text) in &files {
                for line in text.lines().map(str::trim) {
                    let words = line.strip_prefix("menu").unwrap_or(line);
                    let Some(option) = words.strip_prefix("config ") else {
                        continue;
                    };
                    let option = format!("CONFIG_{}", option.trim());
                    let own = names.iter().find(|(name, _)| **name == option);
                    if let Some((_, arch)) = own {
                        assert!(
                            path.starts_with(&format!("arch/{arch}/")),
                            "{path}: {option}"
                        );
                    }
                }
            }
            assert!(files.len() > 500);
        }
    }
}
