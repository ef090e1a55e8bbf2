//! What is said where a file cannot be read.

use tollgate_defect::Defect;

/// A file whose object code cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Not ELF, cut off, or lying about itself.
    #[error(
        "the file ({bytes} bytes) cannot be read as an ELF object: {reason}; \
         give a complete .o, .ko, .a or vmlinux of a kernel build"
    )]
    Elf {
        /// Its length.
        bytes: u64,
        /// What the reader met.
        reason: String,
    },
    /// More than a kernel has, or a few bytes that say they are much.
    #[error(
        "{what} of the file is {bytes} bytes long; of one file no more than {most} are read, \
         and no kernel needs it: give a complete .o, .ko, .a or vmlinux of a kernel build"
    )]
    TooMuch {
        /// A section, or a part whose name was not read.
        what: String,
        /// Its length; uncompressed.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Symbols that lie about their sizes.
    #[error(
        "the file's functions are together far longer than its {code} bytes of code \
         (up to `{name}`): its symbols lie; give a complete .o, .ko, .a or vmlinux"
    )]
    Overlap {
        /// Bytes of code.
        code: u64,
        /// The function with which it is too much.
        name: String,
    },
    /// An instruction set that no decoder knows.
    #[error("object code of {arch} is not known here; known are: {known}")]
    Arch {
        /// As the file names it.
        arch: String,
        /// Those that are, separated by commas.
        known: String,
    },
    /// A table of the kernel's about its own code, laid out as no kernel that
    /// is known has it.
    #[error(
        "it cannot be told how the records of `{table}` ({bytes} bytes) are laid out, and with it \
         what the running kernel does; of the known layouts {tried}"
    )]
    Records {
        /// The section.
        table: String,
        /// Its length.
        bytes: usize,
        /// The layouts, and why each does not fit.
        tried: String,
    },
    /// Compiler's intermediate code or data only.
    #[error("the file holds no function (its symbols are stripped, or it has no code)")]
    NoFunctions,
    /// A function that is not there.
    #[error("no function `{name}` in the file{hint}")]
    NoFunction {
        /// What was asked for.
        name: String,
        /// Names that are like it, as the end of a sentence.
        hint: String,
    },
    /// What holds an object in another form, and cannot be unpacked.
    #[error("{0}")]
    Packed(String),
    /// No ELF file.
    #[error("{0}; give a complete .o, .ko, .a or vmlinux of a kernel build")]
    Format(String),
    /// A core without a kernel that can be read.
    #[error("{0}; give /proc/kcore or the ELF core of a kernel's dump")]
    Core(String),
    /// A data file of the program that cannot be read.
    #[error("{0}")]
    Table(String),
    /// tollgate is wrong.
    #[error(transparent)]
    Defect(#[from] Defect),
}
