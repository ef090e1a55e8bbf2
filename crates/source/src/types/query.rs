//! Questions about types, and the choices of a configuration that their answers
//! hang on.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use super::file::{File, Included, TYPES};
use super::find::Scope;
use super::headers::{Answer, Answers, Asked, Headers};
use super::index::TypeIndex;
use super::input::{Input, Word};
use super::kernel::KernelMember;
use super::layout::{LayoutError, Shape, Type};
use super::machine::Machine;
use super::reach::Reaches;
use super::sought::Sought;
use crate::lex::lex;
use crate::path::TreePath;

/// Choices that are followed for one question; more are not told apart.
const CHOICES: usize = 32;

/// Definitions, expressions and conditions within each other that are followed.
const DEPTH: usize = 64;

/// Statements and expressions that are read for one answer.
const WORK: usize = 4000;

/// The types as one file of a tree sees them.
#[derive(Debug)]
pub struct Types<'h> {
    pub(super) headers: &'h Headers<'h>,
    /// The bytes of the file, if they are not the tree's.
    text: Option<&'h [u8]>,
    /// What those bytes define, where the headers have an index, which may not know of it.
    own: Option<TypeIndex>,
    /// Stands for the file until it is looked into.
    root: Arc<File>,
    real: OnceCell<Arc<File>>,
    pub(super) reaches: Reaches,
    /// What the file itself sees of names, which no other does: of a question that hangs on
    /// options each configuration asks the same.
    answers: RefCell<Answers>,
}

impl<'h> Types<'h> {
    /// The types that a file sees, by its path in the tree and its bytes.
    #[must_use]
    pub fn new(headers: &'h Headers<'h>, path: &TreePath, text: &'h [u8]) -> Self {
        let own = headers.index.is_some().then(|| {
            let mut own = TypeIndex::default();
            own.add(path, text);
            own
        });
        Self {
            text: Some(text),
            own,
            ..Self::stored(headers, path)
        }
    }

    /// The types that a file sees which is read from the tree where it is needed.
    #[must_use]
    pub fn stored(headers: &'h Headers<'h>, path: &TreePath) -> Self {
        Self {
            headers,
            text: None,
            own: None,
            root: Arc::new(File::new(path.clone(), Vec::new())),
            real: OnceCell::new(),
            reaches: Reaches::default(),
            answers: RefCell::default(),
        }
    }

    /// The files that define a type, by an index if there is one: the file that is asked
    /// about stands in it if it does.
    pub(super) fn defining(&self, name: &str) -> Vec<&TreePath> {
        let index = [self.headers.index.as_ref(), self.own.as_ref()];
        let files = index.into_iter().flatten();
        files.flat_map(|index| index.files(name)).collect()
    }

    /// Whether a file may define a structure or a type of that name: one that an index knows,
    /// where there is one. A look at that is cheaper than a search of headers.
    pub(crate) fn may_define(&self, name: &str) -> bool {
        self.headers.index.is_none() || !self.defining(name).is_empty()
    }

    /// A file as it is in the tree; the one that is asked about as it was given.
    pub(super) fn real(&self, file: &Arc<File>) -> Arc<File> {
        if !Arc::ptr_eq(file, &self.root) {
            return Arc::clone(file);
        }
        let real = self.real.get_or_init(|| match self.text {
            Some(text) => Arc::new(File::new(file.path.clone(), text.to_vec())),
            None => self
                .headers
                .file(&file.path)
                .unwrap_or_else(|| Arc::clone(file)),
        });
        Arc::clone(real)
    }

    /// The file that is asked about.
    pub(super) fn own_file(&self) -> Arc<File> {
        self.real(&self.root)
    }

    /// The headers that a file includes.
    pub(super) fn included(&self, file: &Arc<File>, machine: &Machine) -> Included {
        file.included(machine.id, || {
            let may = |branch: Option<usize>| self.may_be_active(file, branch, machine);
            self.headers.resolved(file, machine, &may)
        })
    }

    /// Whether a branch of an `#if` is compiled for a machine in some configuration,
    /// as far as that shows without a look at other files.
    fn may_be_active(&self, file: &Arc<File>, branch: Option<usize>, machine: &Machine) -> bool {
        let mut query = Query::new(self, machine, false, Vec::new());
        query.unsure = Some(false);
        let scope = Scope {
            file: Arc::clone(file),
            root: Arc::clone(file),
        };
        query.is_active(&scope, branch) || query.unsure == Some(true)
    }

    /// The machines that the file is compiled for, the first of which has 64 bits
    /// where the architecture has both.
    #[must_use]
    pub fn machines(&self) -> Vec<&'h Machine> {
        self.headers.machines(&self.root.path)
    }

    /// The machine of 32 bits whose programs are served as well, where the first of the machines
    /// has one.
    #[must_use]
    pub fn compat(&self) -> Option<&'h Machine> {
        let own = self.machines().first()?.compat.as_ref()?;
        let mut all = self.headers.facts.machines.iter();
        all.find(|machine| machine.name == *own)
    }

    /// The layout of a type as it is written in a declaration, on the first of
    /// the machines.
    ///
    /// # Errors
    /// When it is not known, or not the same in all configurations.
    pub fn layout(&self, written: &str) -> Result<Type, LayoutError> {
        self.first(written, |machine| self.layout_on(written, machine))
    }

    /// The answer for the first of the machines, or else for one whose
    /// architecture alone defines what the answer needs.
    fn first<T>(
        &self,
        asked: &str,
        ask: impl Fn(&Machine) -> Result<T, LayoutError>,
    ) -> Result<T, LayoutError> {
        let unknown = || LayoutError::Missing(asked.to_owned());
        let machine = *self.machines().first().ok_or_else(unknown)?;
        let answer = ask(machine);
        let Some((name, absent)) = answer.as_ref().err().and_then(LayoutError::lacking) else {
            return answer;
        };
        let others = self.headers.definers(name, absent).into_iter();
        let mut known = others.map(ask);
        known.find(Result::is_ok).unwrap_or(answer)
    }

    /// The machines that the file is compiled for, or else those whose
    /// architecture alone defines a type.
    #[must_use]
    pub fn machines_with(&self, written: &str) -> Vec<&'h Machine> {
        let own = self.machines();
        let first = own.first().map(|machine| self.layout_on(written, machine));
        let error = first.as_ref().and_then(|first| first.as_ref().err());
        let Some((name, absent)) = error.and_then(LayoutError::lacking) else {
            return own;
        };
        let others = self.headers.definers(name, absent).into_iter();
        let known = others.filter(|machine| self.layout_on(written, machine).is_ok());
        let known: Vec<&Machine> = known.collect();
        if known.is_empty() { own } else { known }
    }

    /// The layout of a type on a machine.
    ///
    /// # Errors
    /// When it is not known, or not the same in all configurations.
    pub fn layout_on(&self, written: &str, machine: &Machine) -> Result<Type, LayoutError> {
        self.agreed(written, machine, false, |query| query.type_written(written))
    }

    /// The size of a type that needs no definition of the tree, on the first of
    /// the machines.
    #[must_use]
    pub fn scalar(&self, written: &str) -> Option<u64> {
        let facts = &self.headers.facts;
        let machine = *self.machines().first()?;
        let known = facts.prelude.entries(Sought::of(written), TYPES).is_empty();
        match facts.scalar(written, machine) {
            None if known => None,
            None => self.size_on(written, machine),
            size => size,
        }
    }

    /// Whether a type is a number without negative values, on the first of the machines;
    /// not where it is not known.
    #[must_use]
    pub fn is_unsigned(&self, written: &str) -> bool {
        match self.layout(written) {
            Ok(of) => matches!(of.shape, Shape::Scalar { signed: false, .. }),
            Err(_) => false,
        }
    }

    /// The size of a type on a machine; none where it is not known, or not the same
    /// in all configurations.
    fn size_on(&self, written: &str, machine: &Machine) -> Option<u64> {
        match self.layout_on(written, machine) {
            Ok(of) => Some(of.size),
            Err(_) => None,
        }
    }

    /// The size of a type that is the same on all of the machines.
    #[must_use]
    pub fn size_everywhere(&self, written: &str) -> Option<u64> {
        let machines = self.machines().into_iter();
        let mut sizes = machines.map(|machine| self.size_on(written, machine));
        let first = sizes.next()??;
        sizes.all(|size| size == Some(first)).then_some(first)
    }

    /// The layout with types of no known definition left open: for what does not
    /// depend on sizes.
    ///
    /// # Errors
    /// When its own definition is not known.
    pub fn outline(&self, written: &str) -> Result<Type, LayoutError> {
        self.first(written, |machine| {
            self.agreed(written, machine, true, |query| query.type_written(written))
        })
    }

    /// The outline under the first choices of the configuration that have one, for what is
    /// wrong wherever it is so.
    pub(super) fn under_one(&self, written: &str) -> Option<Type> {
        let machine = *self.machines().first()?;
        let mut given = Vec::new();
        for _ in 0..CHOICES {
            let mut query = Query::new(self, machine, true, given);
            query.stops = true;
            if let Ok(of) = query.type_written(written) {
                return Some(of);
            }
            given = next(query.choices)?;
        }
        None
    }

    /// The value of a constant expression on the first of the machines.
    ///
    /// # Errors
    /// When it is not known, or not the same in all configurations.
    pub fn value(&self, expression: &str) -> Result<u64, LayoutError> {
        let value = |query: &mut Query<'_>| query.value_written(expression);
        let value = self.first(expression, |machine| {
            self.agreed(expression, machine, false, value)
        })?;
        let unknown = |_| LayoutError::Unclear(expression.to_owned(), value.to_string());
        u64::try_from(value).map_err(unknown)
    }

    /// The member of a type, at any depth, that no program can make anything of. Under one
    /// configuration is enough, since where it lies does not matter.
    pub(crate) fn kernel_member(&self, written: &str) -> Option<KernelMember> {
        let of = self.under_one(written)?;
        self.headers.facts.kernel.member(&of)
    }

    /// Whether a name is a constant of the type `int` on the first of the machines.
    #[must_use]
    pub fn is_int(&self, name: &str) -> bool {
        let own = |query: &mut Query<'_>| query.is_int(name);
        let found = self.first(name, |machine| self.agreed(name, machine, false, own));
        matches!(found, Ok(true))
    }

    /// The answer that all choices of the configuration agree on.
    fn agreed<T: PartialEq>(
        &self,
        asked: &str,
        machine: &Machine,
        open: bool,
        answer: impl Fn(&mut Query<'_>) -> Result<T, LayoutError>,
    ) -> Result<T, LayoutError> {
        let mut given = Vec::new();
        let mut found: Option<(Result<T, LayoutError>, Choices)> = None;
        for _ in 0..CHOICES {
            let mut query = Query::new(self, machine, open, given);
            let own = answer(&mut query);
            let choices = query.choices;
            let kept = match (found, own) {
                // What the configuration leaves out is not compiled either.
                (None | Some((Err(LayoutError::Absent(_)), _)), own) => (own, choices.clone()),
                (Some(before), Err(LayoutError::Absent(_))) => before,
                (Some((before, _)), own) if before == own => (before, choices.clone()),
                (Some((_, before)), _) => {
                    let differs = |option: &&(String, bool)| !choices.contains(option);
                    let options = before.iter().filter(differs).map(|(name, _)| name.clone());
                    return Err(LayoutError::Depends(asked.to_owned(), options.collect()));
                }
            };
            match next(choices) {
                Some(next) => given = next,
                None => return kept.0.map_err(|error| self.unread(error)),
            }
            found = Some(kept);
        }
        let options = given.into_iter().map(|(name, _)| name).collect();
        Err(LayoutError::Depends(asked.to_owned(), options))
    }

    /// What is missing may be in a file that could not be read.
    fn unread(&self, error: LayoutError) -> LayoutError {
        match (error, self.headers.unread()) {
            (LayoutError::Missing(name) | LayoutError::Absent(name), Some(why)) => {
                LayoutError::Unread(name, why)
            }
            (error, _) => error,
        }
    }

    /// What was found of a name before, for every file or for this one.
    pub(super) fn found(&self, asked: &Asked, stored: bool) -> Option<Answer> {
        match stored {
            true => self.headers.found(asked),
            false => self.answers.borrow().get(asked),
        }
    }

    /// Keeps what every question finds the same way.
    pub(super) fn keep_found(&self, asked: Asked, answer: Answer, stored: bool) {
        match stored {
            true => self.headers.keep_found(asked, answer),
            false => self.answers.borrow_mut().keep(asked, answer),
        }
    }

    /// Whether a file is in the tree as it is.
    pub(super) fn is_stored(&self, file: &Arc<File>) -> bool {
        let own = self.real.get().is_some_and(|real| Arc::ptr_eq(file, real));
        !own || self.text.is_none()
    }
}

/// Options with what was chosen for them, in the order they came up.
type Choices = Vec<(String, bool)>;

/// The choices to follow behind these; none behind the last.
fn next(mut choices: Choices) -> Option<Choices> {
    while choices.pop_if(|(_, chosen)| !*chosen).is_some() {}
    choices.last_mut()?.1 = false;
    Some(choices)
}

/// One way through a question: every option that decides something has a choice.
pub(super) struct Query<'t> {
    pub(super) types: &'t Types<'t>,
    pub(super) machine: &'t Machine,
    /// Whether a type without a known definition is no error.
    pub(super) open: bool,
    /// Whether what only the kernel has a meaning for is known by its name alone: of what it is
    /// made hangs on many choices.
    pub(super) stops: bool,
    choices: Choices,
    /// How often something was asked or found that another question may not see
    /// the same way.
    pub(super) own: usize,
    work: usize,
    depth: usize,
    /// The limit of `#pragma pack` where the text that is read stands, in bytes.
    pub(super) pack: Option<u64>,
    /// Of a question that no other file is to be read for: whether something
    /// came up that is not known.
    pub(super) unsure: Option<bool>,
    /// Whether the last search ended before it had seen every header.
    pub(super) cut: bool,
    /// Lines whose condition is being decided.
    pub(super) deciding: Vec<(usize, usize)>,
}

impl<'t> Query<'t> {
    fn new(types: &'t Types<'t>, machine: &'t Machine, open: bool, choices: Choices) -> Self {
        Self {
            types,
            machine,
            open,
            stops: false,
            choices,
            own: 0,
            work: 0,
            depth: 0,
            pack: None,
            unsure: None,
            cut: false,
            deciding: Vec::new(),
        }
    }

    /// What is chosen for an option.
    pub(super) fn choose(&mut self, option: &str) -> bool {
        self.own += 1;
        self.unsure = self.unsure.map(|_| true);
        if let Some((_, chosen)) = self.choices.iter().find(|(name, _)| name == option) {
            return *chosen;
        }
        self.choices.push((option.to_owned(), true));
        true
    }

    /// Counts a piece of work.
    pub(super) fn work(&mut self, on: &str) -> Result<(), LayoutError> {
        self.work += 1;
        match self.work > WORK {
            true => Err(LayoutError::Unclear(on.to_owned(), "its length".to_owned())),
            false => Ok(()),
        }
    }

    /// Goes down to what something is made of; text that nests deeper than any of
    /// the kernel, or a type that holds itself, must not use up the stack.
    pub(super) fn nested<T>(
        &mut self,
        on: &str,
        work: impl FnOnce(&mut Self) -> Result<T, LayoutError>,
    ) -> Result<T, LayoutError> {
        if self.depth >= DEPTH {
            return Err(LayoutError::Unclear(on.to_owned(), "its depth".to_owned()));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// The file that is asked about, and what it sees.
    pub(super) fn root(&self) -> Scope {
        let root = &self.types.root;
        Scope {
            file: Arc::clone(root),
            root: Arc::clone(root),
        }
    }

    fn type_written(&mut self, written: &str) -> Result<Type, LayoutError> {
        let mut input = words(written);
        let scope = self.root();
        let of = self.type_name(&mut input, &scope)?;
        end(&input, written).map(|()| of)
    }

    fn value_written(&mut self, expression: &str) -> Result<i128, LayoutError> {
        let mut input = words(expression);
        let scope = self.root();
        let value = self.value(&mut input, &scope)?;
        end(&input, expression).map(|()| value)
    }
}

/// A text as words.
pub(super) fn words(text: &str) -> Input {
    let bytes = text.as_bytes();
    Input::new(lex(bytes, 0).map(|t| Word::of(bytes, &t)).collect())
}

/// A number in parentheses.
pub(super) fn bracketed(value: i128) -> Vec<Word> {
    let mut input = words(&format!("({value})"));
    std::iter::from_fn(|| input.next()).collect()
}

/// Nothing must be left.
fn end(input: &Input, of: &str) -> Result<(), LayoutError> {
    match input.peek(0) {
        None => Ok(()),
        Some(word) => Err(LayoutError::Unclear(of.to_owned(), word.text.to_string())),
    }
}
