//! One function, instruction by instruction, with its windows.

use serde::Serialize;

use crate::analysis::{FunctionGates, gates};
use crate::code::Code;
use crate::decode::{Flow, Gate, Instruction};
use crate::elf::{ObjectError, Place};
use crate::graph::{Body, Graph};
use crate::input::Input;
use crate::lines::{Debug, Frame};
use crate::rules::walk;
use crate::symbols::Function;

/// A function's instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its gates.
    pub function: FunctionGates,
    /// Its instructions by address, those of its cold parts among them.
    pub lines: Vec<Line>,
    /// A section of DWARF that was not read, for it cannot be or is larger than
    /// what is read of one file: lines of the source are missing.
    pub left_out: Option<&'static str>,
}

/// An instruction, where the running kernel has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands; in an object file, in its section.
    pub address: u64,
    /// For x86 in AT&T syntax; for others the word in hexadecimal, with its
    /// name where the tables know it.
    pub text: String,
    /// What it does to the gate.
    pub mark: Mark,
    /// Whether it runs with the window open on some path.
    pub inside: bool,
    /// Whether it reaches for user memory.
    pub access: bool,
    /// Whether the kernel patches it in at boot.
    pub patched: bool,
    /// The function that it calls or jumps to.
    pub target: Option<String>,
    /// Where it comes from, the innermost inlined function first; empty where
    /// the file has no DWARF for it.
    pub source: Vec<Frame>,
}

/// What an instruction does to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Opens it.
    Open,
    /// Closes it.
    Close,
    /// Opens or closes it, which cannot be told.
    Unknown,
    /// Holds back speculation.
    Fence,
    /// None of these.
    Other,
}

impl Listing {
    /// The functions of this name in an ELF file: several where static
    /// functions share it.
    ///
    /// # Errors
    /// As of [`crate::Analysis::of`], and when it has no such function.
    pub fn of<'data>(from: impl Into<Input<'data>>, name: &str) -> Result<Vec<Self>, ObjectError> {
        let code = Code::parse(from.into())?;
        let named: Vec<_> = code.functions().filter(|(_, f)| f.name == name).collect();
        if named.is_empty() {
            return Err(ObjectError::NoFunction {
                name: name.to_owned(),
                hint: hint(&code, name),
            });
        }
        let listings = named.into_iter();
        Ok(listings
            .map(|(at, function)| listing(&code, at, function))
            .collect())
    }
}

fn hint(code: &Code<'_>, name: &str) -> String {
    let like = code
        .functions()
        .map(|(_, f)| f.name.as_str())
        .filter(|known| known.contains(name));
    let like: Vec<&str> = like.take(5).collect();
    if like.is_empty() {
        return "; it may have been inlined: `tollgate gates` on the file lists those there are"
            .to_owned();
    }
    format!("; there is {}", like.join(", "))
}

fn listing(code: &Code<'_>, at: Place, function: &Function) -> Listing {
    let graph = Graph::of(code, Body::of(code, at, function));
    let walked = walk(code, &graph, &function.name, function.typed);
    let debug = Debug::of(&code.image.file, at.section);
    let sources = debug.lines();
    let source = |instruction: &Instruction| match &sources {
        Some(lines) if instruction.at.section == at.section => lines.frames(instruction.at.address),
        _ => Vec::new(),
    };
    let lines = graph.instructions.iter().zip(walked.open);
    Listing {
        lines: lines
            .map(|(i, open)| Line {
                source: source(i),
                ..line(code, i, open)
            })
            .collect(),
        left_out: debug.left_out,
        function: gates(code, function, Body::of(code, at, function)),
    }
}

fn line(code: &Code<'_>, instruction: &Instruction, inside: bool) -> Line {
    let at = instruction.at.address;
    let bytes = code.bytes_of(instruction);
    Line {
        address: at,
        text: code
            .decoder
            .text(code.layout, code.image.little_endian(), at, bytes),
        mark: match instruction.gate {
            Gate::Open => Mark::Open,
            Gate::Close => Mark::Close,
            Gate::Unknown | Gate::Write { .. } => Mark::Unknown,
            Gate::Fence => Mark::Fence,
            Gate::No | Gate::Save | Gate::Restore => Mark::Other,
        },
        inside,
        access: code.faults.user.contains(&instruction.at),
        patched: instruction.patched,
        target: target(code, instruction),
        source: Vec::new(),
    }
}

fn target(code: &Code<'_>, instruction: &Instruction) -> Option<String> {
    let (Flow::Call(to) | Flow::Jump(to) | Flow::Branch(to)) = instruction.flow else {
        return None;
    };
    let (name, into) = code.name(&to)?;
    Some(match into {
        0 => name.to_owned(),
        into => format!("{name}+{into:#x}"),
    })
}
