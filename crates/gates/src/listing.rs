//! One function, instruction by instruction, with its windows.

use serde::Serialize;
use tollgate_defect::Defect;

use crate::analysis::{FunctionGates, gates, learn_helpers};
use crate::code::Code;
use crate::decode::{Flow, Gate, Instruction, Origin};
use crate::elf::Place;
use crate::error::ObjectError;
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
    /// Why lines of the source are missing, where the file has DWARF: what of it
    /// cannot be read, as a clause.
    pub left_out: Option<String>,
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
        let mut code = Code::parse(from.into())?;
        let listings = named(&code, name)?;
        // What is wrong with a function alone may be right with what it calls.
        if listings
            .iter()
            .all(|listing| listing.function.findings.is_empty())
        {
            return Ok(listings);
        }
        learn_helpers(&mut code)?;
        named(&code, name)
    }
}

/// The functions of this name.
fn named(code: &Code<'_>, name: &str) -> Result<Vec<Listing>, ObjectError> {
    let named: Vec<_> = code.functions().filter(|(_, f)| f.name == name).collect();
    if named.is_empty() {
        return Err(ObjectError::NoFunction {
            name: name.to_owned(),
            hint: hint(code, name),
        });
    }
    let listings = named.into_iter();
    let listings = listings.map(|(at, function)| listing(code, at, function));
    Ok(listings.collect::<Result<_, Defect>>()?)
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

fn listing(code: &Code<'_>, at: Place, function: &Function) -> Result<Listing, Defect> {
    let graph = Graph::of(code, Body::of(code, at, function));
    let walked = walk(code, &graph, function);
    let debug = Debug::of(&code.image.file, at.section);
    let mut lines = Vec::new();
    let put = |instruction: &&Instruction| instruction.origin == Origin::Put;
    let all = graph.instructions.iter().zip(walked.open);
    for (instruction, open) in all.filter(|(instruction, _)| !put(instruction)) {
        lines.push(line(code, instruction, open)?);
    }
    let sourced = debug.check();
    let sourced = sourced.and(source(&debug, at.section, &graph.instructions, &mut lines));
    let unread = |error| format!("DWARF cannot be read: {error}");
    Ok(Listing {
        lines,
        left_out: debug.left_out.clone().or(sourced.err().map(unread)),
        function: gates(code, function, Body::of(code, at, function))?,
    })
}

/// Gives each instruction its place in the source, up to the first whose DWARF
/// cannot be read.
fn source(
    debug: &Debug<'_>,
    section: usize,
    instructions: &[Instruction],
    lines: &mut [Line],
) -> Result<(), addr2line::gimli::Error> {
    let sources = debug.lines()?;
    let own = instructions.iter().zip(lines);
    for (_, line) in own.filter(|(instruction, _)| instruction.at.section == section) {
        line.source = sources.frames(line.address)?;
    }
    Ok(())
}

fn line(code: &Code<'_>, instruction: &Instruction, inside: bool) -> Result<Line, Defect> {
    let at = instruction.at.address;
    let bytes = code.bytes_of(instruction)?;
    Ok(Line {
        address: at,
        text: code
            .decoder
            .text(code.layout, code.image.little_endian(), at, bytes),
        mark: match instruction.gate {
            Gate::Open => Mark::Open,
            Gate::Close => Mark::Close,
            Gate::Unknown | Gate::Write { .. } => Mark::Unknown,
            Gate::Fence => Mark::Fence,
            _ => Mark::Other,
        },
        inside,
        access: code.faults.user.contains(&instruction.at),
        patched: instruction.patched,
        target: target(code, instruction),
        source: Vec::new(),
    })
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
