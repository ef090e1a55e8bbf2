//! What a symbol or an instruction has to do with the boundary: `data/boundary.toml`.

use serde::Deserialize;
use tollgate_arch::Architectures;
use tollgate_defect::{Defect, OrDefect as _};

const DATA: &str = include_str!("../../../data/boundary.toml");

/// Of every architecture, include/linux/syscalls.h and include/linux/compat.h.
const COMMON: [&str; 6] = [
    "__se_sys_",
    "__se_compat_sys_",
    "__do_sys_",
    "__do_compat_sys_",
    "compat_sys_",
    "sys_",
];

/// A kind of work at the boundary.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// As it is shown.
    pub name: String,
    /// Patterns of symbols.
    pub symbols: Vec<String>,
    /// The calls of C that reach them.
    #[serde(default)]
    pub calls: Vec<String>,
    /// Whether a window for several accesses can save a part of it.
    #[serde(default)]
    pub windowed: bool,
    /// Why it is of this kind.
    pub reason: String,
}

/// An instruction of the gate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    mnemonic: String,
    #[serde(default)]
    operands: String,
    /// `opens`, `closes` or `either`.
    pub does: String,
    /// Of which architecture.
    pub reason: String,
}

/// Symbols that only a kernel has which is being debugged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Debugging {
    /// Patterns of symbols.
    pub symbols: Vec<String>,
    /// `lock debugging`.
    pub what: String,
    /// Where it is in the kernel.
    pub reason: String,
}

/// The whole table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kinds {
    /// What the macros of system calls put before a name, on any architecture.
    #[serde(skip)]
    prefixes: Vec<String>,
    #[serde(rename = "kind")]
    kinds: Vec<Kind>,
    #[serde(rename = "instruction")]
    gates: Vec<Gate>,
    #[serde(rename = "debugging")]
    debugging: Vec<Debugging>,
}

impl Kinds {
    /// That which tollgate carries.
    ///
    /// # Errors
    /// A defect of the data file.
    pub fn builtin() -> Result<Self, Defect> {
        let table: Self = toml::from_str(DATA).or_defect("data/boundary.toml cannot be read")?;
        let architectures =
            Architectures::built_in().or_defect("data/architectures.toml cannot be read")?;
        let own = architectures
            .iter()
            .flat_map(|one| one.syscalls.iter().cloned());
        let prefixes = own.chain(COMMON.map(str::to_owned)).collect();
        Ok(Self { prefixes, ..table })
    }

    /// A symbol without what compilers put behind a name (`.isra.0`, `.part.0`) and
    /// what the macros of system calls put before it (`__x64_sys_`).
    #[must_use]
    pub fn plain(&self, symbol: &str) -> String {
        // Old ABIs of powerpc put a dot before.
        let symbol = symbol.strip_prefix('.').unwrap_or(symbol);
        let name = symbol.split('.').next().unwrap_or(symbol);
        let bare = self
            .prefixes
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix));
        bare.unwrap_or(name).to_owned()
    }

    /// All kinds, in order.
    pub fn all(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.iter()
    }

    /// All that says that a kernel is being debugged.
    pub fn all_debugging(&self) -> impl Iterator<Item = &Debugging> {
        self.debugging.iter()
    }

    /// The kind of a symbol of the kernel, with what compilers and macros put about it.
    #[must_use]
    pub fn of(&self, symbol: &str) -> Option<&Kind> {
        let plain = self.plain(symbol);
        let holds = |kind: &&Kind| {
            kind.symbols
                .iter()
                .any(|pattern| matches(pattern, &plain) || matches(pattern, symbol))
        };
        self.kinds.iter().find(holds)
    }

    /// What a symbol says of how its kernel was built.
    #[must_use]
    pub fn debugging(&self, symbol: &str) -> Option<&Debugging> {
        let plain = self.plain(symbol);
        let holds = |one: &&Debugging| one.symbols.iter().any(|pattern| matches(pattern, &plain));
        self.debugging.iter().find(holds)
    }

    /// The gate that an instruction opens or closes, as a disassembler writes it.
    #[must_use]
    pub fn gate(&self, code: &str) -> Option<&Gate> {
        let mut words = code.split_whitespace();
        let mnemonic = words.next()?;
        let operands: String = words.collect::<Vec<_>>().join("");
        self.gates.iter().find(|gate| {
            gate.mnemonic == mnemonic && operands.to_lowercase().starts_with(&gate.operands)
        })
    }
}

/// Whether a pattern, in which `*` is any part, is a name.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(middle) = last.replace(part) {
            match rest.split_once(middle) {
                Some((_, behind)) => rest = behind,
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |end| rest.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_name_with_any_parts() {
        let all = [
            ("_copy_*_user", "_copy_from_user", true),
            ("_copy_*_user", "_copy_from_user_x", false),
            ("__put_user*", "__put_user_nocheck_4", true),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
            ("aa*aa", "aaa", false),
            ("x", "x", true),
            ("x", "xy", false),
        ];
        for (pattern, name, held) in all {
            assert_eq!(matches(pattern, name), held, "{pattern} {name}");
        }
    }

    #[test]
    fn every_entry_of_the_table_can_be_met_and_has_its_reason() {
        let kinds = Kinds::builtin().unwrap();
        for kind in kinds.all() {
            assert!(!kind.reason.is_empty());
            for pattern in &kind.symbols {
                let name = pattern.replace('*', "1");
                let found = kinds.of(&name).unwrap();
                assert_eq!(
                    found.name, kind.name,
                    "{pattern} is of an earlier kind, too"
                );
            }
        }
        let of = |name: &str| kinds.of(name).map(|kind| kind.name.as_str());
        assert_eq!(of("__put_user_nocheck_4"), Some("user access helpers"));
        assert_eq!(of("__copy_tofrom_user"), Some("copies"));
        assert_eq!(of("__x64_sys_rt_sigreturn"), Some("signal frames"));
        assert_eq!(of("do_syscall_64"), Some("entry and exit"));
        assert_eq!(of("link_path_walk.part.0"), None);
        assert_eq!(
            kinds.debugging("__lock_acquire").map(|d| d.what.as_str()),
            Some("lock debugging")
        );
        assert_eq!(
            kinds.gate("mtspr 794,r9").map(|gate| gate.does.as_str()),
            Some("either")
        );
        assert_eq!(
            kinds.gate("mtspr 28,r9").map(|gate| gate.does.as_str()),
            None
        );
        assert_eq!(
            kinds.gate("stac").map(|gate| gate.does.as_str()),
            Some("opens")
        );
    }

    #[test]
    fn what_compilers_and_macros_add_to_a_name_is_taken_off() {
        let kinds = Kinds::builtin().unwrap();
        let plain = |symbol| kinds.plain(symbol);
        assert_eq!(plain("snd_pcm_ioctl.part.0"), "snd_pcm_ioctl");
        assert_eq!(plain("__riscv_sys_read"), "read");
        assert_eq!(plain("__s390x_sys_read"), "read");
        assert_eq!(plain("__ia32_compat_sys_sigaction"), "sigaction");
        assert_eq!(plain("ksys_read"), "ksys_read");
        assert_eq!(plain(".sys_poll"), "poll");
    }
}
