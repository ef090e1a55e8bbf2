//! The cells: an architecture with a configuration and a compiler
//! (`data/robot/cells.toml`).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use tollgate_arch::{Architectures, Order, Target};

use crate::condition::Config;
use crate::diagnostic::Tool;

/// The table is not as its head describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the table of cells: {}", self.0)
    }
}

impl std::error::Error for Wrong {}

/// What a build may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Seconds of the clock for one job.
    pub seconds: u64,
    /// MiB of memory for each of its processes.
    pub memory_mib: u64,
    /// MiB of memory for all of its processes together.
    pub total_mib: u64,
    /// MiB that it may write.
    pub disk_mib: u64,
    /// Processes at a time.
    pub processes: u64,
    /// The first of the users that build, where one can be chosen.
    pub uid: u32,
    /// Objects of a cell that are built for one patch.
    pub objects: usize,
}

/// Which compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Compiler {
    Gcc,
    Clang,
}

/// What makes the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The goal of make, `allmodconfig`.
    pub goal: String,
    /// The seed of a `randconfig`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A package of Debian's that a cell needs, with the cells that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub cells: Vec<String>,
}

/// One cell: self-contained, whatever table it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// What it is called.
    pub name: String,
    /// The target of `data/architectures.toml`.
    pub target: String,
    /// The folder under `arch/`.
    pub folder: String,
    /// `ARCH=` of Kbuild.
    pub arch: String,
    /// What the names of the cross tools begin with; empty for the machine's own.
    pub cross: String,
    /// The program that compiles: `powerpc-linux-gnu-gcc`, `clang-19`.
    pub compiler: String,
    /// `LLVM=` of Kbuild, `-19`, where clang compiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llvm: Option<String>,
    /// What makes the configuration.
    pub base: Base,
    /// What is laid over it.
    pub fragment: String,
    /// What is laid over every cell; an option that the architecture lacks is off.
    pub every: String,
    /// Its value on each axis, by the name of the axis.
    pub axes: Vec<(Axis, String)>,
    /// Debian's packages that it needs.
    pub packages: Vec<String>,
    /// What it compiles that others do not.
    pub reason: String,
}

/// What configurations differ in that code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// 32 or 64 bits.
    Word,
    /// `little` or `big`.
    Order,
    /// Whether `COMPAT`, or x32, is there.
    Compat,
    /// What keeps the kernel from user memory.
    Access,
    /// gcc or clang.
    Compiler,
}

impl Axis {
    /// What people are told.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "word size",
            Self::Order => "byte order",
            Self::Compat => "compat",
            Self::Access => "user access",
            Self::Compiler => "compiler",
        }
    }
}

impl Cell {
    /// Who speaks where it compiles.
    #[must_use]
    pub fn tool(&self) -> Tool {
        match self.llvm {
            Some(_) => Tool::Clang,
            None => Tool::Gcc,
        }
    }

    /// The same cell with more options, under another name.
    #[must_use]
    pub fn with(&self, name: &str, lines: &str, reason: &str) -> Self {
        Self {
            name: name.to_owned(),
            fragment: last_of_each(self.fragment.lines().chain(lines.lines())),
            reason: reason.to_owned(),
            ..self.clone()
        }
    }

    /// The same architecture and compiler with as few options as can be, and those of
    /// some lines, as far as they can be had.
    #[must_use]
    pub fn little(&self, name: &str, lines: &str, reason: &str) -> Self {
        Self {
            name: name.to_owned(),
            base: Base {
                goal: "allnoconfig".to_owned(),
                seed: None,
            },
            every: last_of_each(self.every.lines().chain(lines.lines())),
            fragment: String::new(),
            reason: reason.to_owned(),
            ..self.clone()
        }
    }

    /// The same cell with the values on the axes that its configuration gives it.
    #[must_use]
    pub fn measured(mut self, config: &Config) -> Self {
        for (axis, value) in &mut self.axes {
            let own = match axis {
                Axis::Word => ("64BIT", "64", "32"),
                Axis::Order => ("CPU_BIG_ENDIAN", "big", "little"),
                Axis::Compat => ("COMPAT", "yes", "no"),
                Axis::Access | Axis::Compiler => continue,
            };
            let (option, on, off) = own;
            *value = if config.is_on(option) { on } else { off }.to_owned();
        }
        self
    }

    /// The same architecture and compiler with a configuration drawn at random.
    #[must_use]
    pub fn random(&self, seed: u64) -> Self {
        Self {
            name: format!("{}-randconfig-{seed}", self.name),
            base: Base {
                goal: "randconfig".to_owned(),
                seed: Some(seed),
            },
            fragment: String::new(),
            reason: format!("drawn with the seed {seed}"),
            ..self.clone()
        }
    }

    /// What is laid over its base: of the lines that set an option the last one.
    #[must_use]
    pub fn overlay(&self) -> String {
        last_of_each(self.every.lines().chain(self.fragment.lines()))
    }
}

/// Of the lines that set an option the last one.
fn last_of_each<'l>(all: impl Iterator<Item = &'l str>) -> String {
    let mut lines: Vec<(String, &str)> = Vec::new();
    for line in all.map(str::trim) {
        let Some(option) = option_of(line) else {
            continue;
        };
        lines.retain(|(known, _)| *known != option);
        lines.push((option, line));
    }
    lines.iter().map(|(_, line)| format!("{line}\n")).collect()
}

fn option_of(line: &str) -> Option<String> {
    let rest = line
        .strip_prefix("# ")
        .unwrap_or(line)
        .strip_prefix("CONFIG_")?;
    let end = rest.find(['=', ' '])?;
    rest.get(..end).map(str::to_owned)
}

/// All cells, with what is true of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// What a build may take.
    pub limits: Limits,
    /// In the order of the table.
    pub cells: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    limits: Limits,
    every: Every,
    cell: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Every {
    fragment: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    target: String,
    compiler: Compiler,
    cross: Option<String>,
    base: String,
    fragment: String,
    compat: bool,
    access: String,
    packages: Vec<String>,
    reason: String,
}

impl Cells {
    /// Reads the table.
    ///
    /// # Errors
    /// When it is not in its format, or names what is not there.
    pub fn parse(text: &str, architectures: &Architectures) -> Result<Self, Wrong> {
        let table: Table = toml::from_str(text).map_err(|error| Wrong(error.to_string()))?;
        crate::given::check().map_err(Wrong)?;
        let mut seen = BTreeSet::new();
        let mut cells = Vec::new();
        for row in table.cell {
            if !seen.insert(row.name.clone()) {
                return Err(Wrong(format!("`{}` stands there twice", row.name)));
            }
            let Some((all, target)) = architectures.target(&row.target) else {
                return Err(Wrong(format!("there is no target `{}`", row.target)));
            };
            cells.push(cell(row, &all.name, target, &table.every.fragment)?);
        }
        Ok(Self {
            limits: table.limits,
            cells,
        })
    }

    /// Every package that the cells need, in their order.
    #[must_use]
    pub fn packages(&self) -> Vec<Package> {
        let mut all: Vec<Package> = Vec::new();
        for cell in &self.cells {
            for name in &cell.packages {
                match all.iter_mut().find(|known| known.name == *name) {
                    Some(known) => known.cells.push(cell.name.clone()),
                    None => all.push(Package {
                        name: name.clone(),
                        cells: vec![cell.name.clone()],
                    }),
                }
            }
        }
        all
    }
}

fn cell(row: Row, folder: &str, target: &Target, every: &str) -> Result<Cell, Wrong> {
    let elf = target.elf();
    let order = match elf.order {
        Order::Little => "little",
        Order::Big => "big",
    };
    let (compiler, llvm, cross, name) = match row.compiler {
        Compiler::Gcc => {
            let cross = row.cross.unwrap_or_else(|| target.cross_compile.clone());
            (format!("{cross}gcc"), None, cross, "gcc")
        }
        Compiler::Clang => {
            let of = |name: &String| name.strip_prefix("clang").map(str::to_owned);
            let Some(version) = row.packages.iter().find_map(of) else {
                return Err(Wrong(format!("`{}` names no package of clang", row.name)));
            };
            (
                format!("clang{version}"),
                Some(version),
                String::new(),
                "clang",
            )
        }
    };
    let compat = if row.compat { "yes" } else { "no" };
    Ok(Cell {
        axes: vec![
            (Axis::Word, elf.class.to_string()),
            (Axis::Order, order.to_owned()),
            (Axis::Compat, compat.to_owned()),
            (Axis::Access, row.access),
            (Axis::Compiler, name.to_owned()),
        ],
        name: row.name,
        target: target.name.clone(),
        folder: folder.to_owned(),
        arch: target.kbuild.clone(),
        cross,
        compiler,
        llvm,
        base: Base {
            goal: row.base,
            seed: None,
        },
        fragment: row.fragment,
        every: every.to_owned(),
        packages: row.packages,
        reason: row.reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!("../../../data/robot/cells.toml");

    fn table() -> Cells {
        Cells::parse(TABLE, Architectures::built_in().unwrap()).unwrap()
    }

    #[test]
    fn every_value_of_every_axis_has_a_cell() {
        let cells = table().cells;
        let has = |axis: Axis, value: &str| {
            cells
                .iter()
                .any(|cell| cell.axes.contains(&(axis, value.to_owned())))
        };
        for (axis, values) in [
            (Axis::Word, &["32", "64"][..]),
            (Axis::Order, &["little", "big"]),
            (Axis::Compat, &["yes", "no"]),
            (Axis::Access, &["smap", "pan", "kuap", "none"]),
            (Axis::Compiler, &["gcc", "clang"]),
        ] {
            for value in values {
                assert!(has(axis, value), "{} {value}", axis.name());
            }
        }
        for cell in &cells {
            assert!(
                !cell.reason.is_empty() && !cell.packages.is_empty(),
                "{}",
                cell.name
            );
        }
    }

    #[test]
    fn a_later_line_of_an_option_wins() {
        let cells = table().cells;
        let more = cells[0].with(
            "x",
            "# CONFIG_X86_X32_ABI is not set\nCONFIG_KASAN=y\n",
            "y",
        );
        let overlay = more.overlay();
        assert!(overlay.contains("# CONFIG_X86_X32_ABI is not set\n"));
        assert!(!overlay.contains("CONFIG_X86_X32_ABI=y") && !overlay.contains("# CONFIG_KASAN"));
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said() {
        let all = Architectures::built_in().unwrap();
        let told = |text: &str| Cells::parse(text, all).unwrap_err().to_string();
        let twice = TABLE.replace("\"i386\"", "\"arm\"");
        assert!(
            told(&twice).contains("`arm` stands there twice"),
            "{}",
            told(&twice)
        );
        assert!(
            told(&TABLE.replace("target = \"ppc\"", "target = \"pdp\""))
                .contains("no target `pdp`")
        );
    }
}
