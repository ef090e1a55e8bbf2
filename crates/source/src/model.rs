//! What the analysis of a file says: plain data, with places in the original bytes.

use serde::{Deserialize, Serialize};

use crate::calls::Direction;
pub use crate::reach::Reach;
use crate::span::{Position, Span};

/// One user access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The call, `__put_user`.
    pub call: String,
    /// Which way the data goes.
    pub direction: Direction,
    /// Whether the call checks the range of the address.
    pub range_check: bool,
    /// From the call's name to its closing parenthesis.
    pub span: Span,
    /// Where the call's name begins.
    pub position: Position,
    /// The first argument: the value stored, or the variable filled.
    pub value: Span,
    /// The second argument: the address.
    pub address: Span,
    /// The user object that the address lies in, `uevent` for `&uevent->data`.
    pub object: String,
    /// How the address is made from the object.
    pub reach: Reach,
    /// What in the arguments keeps the access from being moved as it stands.
    pub hazards: Vec<Hazard>,
}

/// What in the arguments of an access needs care.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hazard {
    /// A call that has to happen before a window opens.
    Call(String),
    /// An index that is no constant, into what is named: a bounds checker calls
    /// a function for it if that is an array.
    Index(String),
    /// An assignment, `p++` or the like.
    SideEffect,
    /// The access is inside a macro of that name.
    Wrapped(String),
    /// It happens only if another condition of the chain holds.
    Conditional,
    /// The address needs a variable that an earlier read of the run fills.
    DependsOnRead(String),
}

/// How the accesses of a run follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `if (put_user(…) || put_user(…))`.
    OrChain,
    /// `if (put_user(…) | put_user(…))`.
    BitOr,
    /// `err |= put_user(…);`, `err = put_user(…) | put_user(…);`.
    ErrOr,
    /// `err = err ?: put_user(…);`.
    Elvis,
    /// `if (put_user(…)) return …;` one after the other.
    SequentialIf,
    /// `err = put_user(…); if (err) …;`.
    Assign,
    /// `if (!err) err = put_user(…);`.
    IfNoError,
    /// `put_user(…);`, the result unused.
    Bare,
    /// `return put_user(…) || …;`.
    Return,
    /// Anywhere else in an expression.
    Expression,
}

impl Form {
    /// The name in reports, `or-chain`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OrChain => "or-chain",
            Self::BitOr => "bit-or",
            Self::ErrOr => "err-or",
            Self::Elvis => "elvis",
            Self::SequentialIf => "sequential-if",
            Self::Assign => "assign",
            Self::IfNoError => "if-no-error",
            Self::Bare => "bare",
            Self::Return => "return",
            Self::Expression => "expression",
        }
    }
}

/// How a statement of a run is left when an access faults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// What ends it.
    pub jump: Jump,
    /// The statement or block that runs; empty for [`Jump::None`] without one.
    pub span: Span,
}

/// What ends a way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Jump {
    /// `return -EFAULT;`, with the expression as it is written.
    Return(String),
    /// `goto out;`, with the label.
    Goto(String),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// Nothing: the function goes on.
    None,
}

/// One statement that a run covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The whole statement, from its first byte to its last.
    pub span: Span,
    /// What it does.
    pub kind: StepKind,
    /// The indices of its accesses among the run's sites.
    pub sites: Vec<usize>,
    /// The `if (!err)` statement that holds it, if one does.
    pub under: Option<Span>,
    /// Whether the statement does more than these accesses.
    pub partial: bool,
}

/// What a statement of a run does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// `if (access || access) exit`.
    Guard {
        /// How the accesses are joined.
        form: Form,
        /// The condition without its parentheses.
        condition: Span,
        /// What happens on a fault.
        exit: Exit,
    },
    /// `err |= access | access;` or `err = access;`.
    Assign {
        /// How the accesses are joined.
        form: Form,
        /// The variable that takes the result.
        variable: String,
    },
    /// `access;`
    Bare,
    /// `return access || access;`, or a return without one after the run.
    Return {
        /// How the accesses are joined.
        form: Form,
    },
    /// `if (err) exit`: no access, no call before the exit.
    Check {
        /// The condition without its parentheses.
        condition: Span,
        /// What happens if it holds.
        exit: Exit,
    },
    /// A statement without access, call or jump.
    Plain,
    /// Accesses inside a larger expression.
    Expression,
}

impl StepKind {
    /// The form of the accesses in the statement, if it may hold any.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        match self {
            Self::Guard { form, .. } | Self::Assign { form, .. } | Self::Return { form } => {
                Some(*form)
            }
            Self::Bare => Some(Form::Bare),
            Self::Expression => Some(Form::Expression),
            Self::Check { .. } | Self::Plain => None,
        }
    }
}

/// Adjacent accesses: no call and no jump between them but on a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The accesses in the order in which they happen; at least two.
    pub sites: Vec<Site>,
    /// The statements that hold them, in order.
    pub steps: Vec<Step>,
    /// The statement after the last access, if it neither calls nor branches.
    pub after: Option<Step>,
    /// How they follow each other; more than one form in a mixed run.
    pub forms: Vec<Form>,
    /// From the first to the last statement.
    pub span: Span,
    /// The innermost block or `case` that holds all of it.
    pub block: Span,
    /// What else there is to know.
    pub traits: Vec<Trait>,
}

/// A loop of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// All of it.
    pub span: Span,
    /// What is done before the first round, `i = 0` or `int i = 0;`.
    pub begin: Option<Span>,
    /// What is asked before each round.
    pub condition: Option<Span>,
    /// What is done behind each round.
    pub update: Option<Span>,
    /// What a round is.
    pub body: Span,
    /// The runs that are in it and in no loop inside of it; one access may be all.
    pub runs: Vec<Run>,
}

/// What else a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trait {
    /// It is inside a loop.
    InLoop,
    /// Other statements stand between the accesses.
    Gap,
    /// A test that is not of a fault stands between the accesses.
    Check,
    /// A preprocessor line stands between the accesses.
    Preprocessor,
    /// It is inside a scope with a cleanup.
    CleanupScope,
    /// An `access_ok` stands among the accesses.
    AccessOk,
}

impl Run {
    /// Windows that one window for each object would save: accesses of one object
    /// that stand next to each other share it.
    #[must_use]
    pub fn windows_saved(&self) -> usize {
        let pairs = self.sites.iter().zip(self.sites.iter().skip(1));
        pairs.filter(|(a, b)| a.object == b.object).count()
    }

    /// Windows that are left because their objects differ, which one window cannot
    /// serve.
    #[must_use]
    pub fn windows_apart(&self) -> usize {
        self.sites.len().saturating_sub(1 + self.windows_saved())
    }

    /// The user objects that the run touches, in order, each once.
    #[must_use]
    pub fn objects(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for site in &self.sites {
            if !found.contains(&site.object.as_str()) {
                found.push(&site.object);
            }
        }
        found
    }

    /// How many accesses go that way.
    #[must_use]
    pub fn count(&self, direction: Direction) -> usize {
        self.sites
            .iter()
            .filter(|site| site.direction == direction)
            .count()
    }

    /// Whether the run has that trait.
    #[must_use]
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }
}

/// A function that holds at least one access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name; `SYSCALL_DEFINE3(getresuid)` for a definition by macro.
    pub name: String,
    /// Where the name stands.
    pub position: Position,
    /// From the header's first token to the opening brace.
    pub header: Span,
    /// From the opening to the closing brace.
    pub body: Span,
    /// Its runs, in order.
    pub runs: Vec<Run>,
    /// How many accesses were analysed, in runs or alone.
    pub accesses: usize,
    /// Whether the parser understood every byte; else it is never rewritten. Where
    /// no two accesses can be in one run, it is asked only if brackets do not match.
    pub understood: bool,
    /// How often user space takes its path, as far as names say.
    #[serde(default)]
    pub warmth: crate::heat::Warmth,
    /// The functions of its file that call it, directly or not, nearest first: a
    /// compiler may have made it a part of one of them.
    #[serde(default)]
    pub callers: Vec<String>,
}

impl Function {
    /// Windows that one window for each object of a run would save.
    #[must_use]
    pub fn windows_saved(&self) -> usize {
        self.runs.iter().map(Run::windows_saved).sum()
    }

    /// Windows that are left because the objects of a run differ.
    #[must_use]
    pub fn windows_apart(&self) -> usize {
        self.runs.iter().map(Run::windows_apart).sum()
    }

    /// How many accesses of its runs go that way.
    #[must_use]
    pub fn count(&self, direction: Direction) -> usize {
        self.runs.iter().map(|run| run.count(direction)).sum()
    }

    /// The forms of all its runs, each once, in order.
    #[must_use]
    pub fn forms(&self) -> Vec<Form> {
        let mut forms: Vec<Form> = self
            .runs
            .iter()
            .flat_map(|run| run.forms.iter().copied())
            .collect();
        forms.sort_unstable();
        forms.dedup();
        forms
    }
}

/// An access that the analysis saw but could not place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotAnalysed {
    /// The function, if there is one.
    pub function: Option<String>,
    /// Where the access stands.
    pub position: Position,
    /// The call.
    pub call: String,
    /// Why.
    pub reason: Reason,
}

/// Why an access was not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// In the body of a macro, which has no flow of its own.
    MacroBody,
    /// The declaration or the definition of the access itself.
    Declaration,
    /// Outside every function.
    OutsideFunctions,
    /// The parser did not understand the text around it.
    NotUnderstood,
    /// In a function whose braces do not end.
    Unended,
    /// Its function is longer or nested deeper than what is looked at.
    TooLarge,
}

impl Reason {
    /// The reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::MacroBody => "it stands in the body of a macro",
            Self::Declaration => "it declares or defines the access",
            Self::OutsideFunctions => "it stands outside every function",
            Self::NotUnderstood => "the text around it could not be parsed",
            Self::Unended => "the braces of its function do not end",
            Self::TooLarge => "its function is longer or nested deeper than what is looked at",
        }
    }
}

/// What one file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReport {
    /// Calls of accesses as the words of the file count them; always
    /// `parsed + not_analysed.len()`.
    pub lexical: usize,
    /// Calls of accesses that were parsed, or that the tokens show to be in no run.
    pub parsed: usize,
    /// Functions with at least one access.
    pub functions: Vec<Function>,
    /// The macros of the file that wrap accesses.
    pub wrappers: Vec<crate::vocabulary::Access>,
    /// The accesses that were not parsed.
    pub not_analysed: Vec<NotAnalysed>,
    /// The functions whose braces do not end, and where they are named.
    #[serde(default)]
    pub unended: Vec<(String, Position)>,
    /// Copies that were not looked at.
    #[serde(default)]
    pub copies_left_out: Vec<NotAnalysed>,
    /// What pays beside runs.
    pub opportunities: Vec<crate::opportunity::Opportunity>,
    /// Words that hold the name of an access and are none that was known: macros
    /// of another file may be among them.
    #[serde(default)]
    pub unknown_words: Vec<String>,
}
