//! Declarations: the words of a type and the declarators behind them.

use super::file::{Kind, TYPES};
use super::find::Scope;
use super::input::{Input, Word};
use super::layout::LayoutError;
use super::layout::{Attributes, Shape, Type, pointer_to};
use super::query::Query;
use super::sought::Sought;
use super::words::is_loud;
use tollgate_defect::answer;

/// The annotation in front of a pointer to user memory: include/linux/compiler_types.h.
const USER: &str = "__user";

type Result<T> = std::result::Result<T, LayoutError>;

/// A type as the words before a declarator say it.
#[derive(Clone, Debug)]
pub(super) enum Spec {
    /// One with a name: its definition is needed only where its size is.
    Named(String),
    /// One that is defined in place.
    Made(Type),
}

/// What a declarator does to a type, in the order it is done.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// To user memory or to the kernel's.
    Pointer {
        user: bool,
    },
    /// With the words of its dimension.
    Array(Vec<Word>),
    Function,
}

/// A declarator.
#[derive(Clone, Debug, Default)]
pub(super) struct Declarator {
    /// Its name; empty if it has none.
    pub(super) name: String,
    pub(super) ops: Vec<Op>,
}

/// Where an annotation may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the words of a type: what ends a declarator behind it makes it a name.
    Type,
    /// Behind a closing brace: it may be a name as well.
    Brace,
    /// Behind a declarator: it can be nothing else.
    Declarator,
}

/// Words that change neither size nor place.
fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "volatile"
            | "static"
            | "extern"
            | "register"
            | "inline"
            | "restrict"
            | "__restrict"
            | "__restrict__"
            | "__const"
            | "__volatile__"
            | "__extension__"
            | "typedef"
    )
}

/// Words that types of C are made of.
fn is_c_type(word: &str) -> bool {
    matches!(
        word,
        "char"
            | "short"
            | "int"
            | "long"
            | "unsigned"
            | "signed"
            | "__signed__"
            | "float"
            | "double"
            | "void"
            | "_Bool"
            | "__int128"
    )
}

/// Whether a word can begin nothing but a type.
pub(crate) fn starts_type(word: &str) -> bool {
    is_c_type(word)
        || is_qualifier(word)
        || matches!(word, "struct" | "union" | "enum" | "typeof" | "__typeof__")
}

/// The name that the data files have for a type of C.
fn plain(words: &[String]) -> Option<String> {
    let has = |word: &str| words.iter().any(|own| own == word);
    let longs = words.iter().filter(|word| *word == "long").count();
    let base = match () {
        () if has("char") => "char",
        () if has("short") => "short",
        () if has("double") && longs == 0 => "double",
        () if has("double") => return None,
        () if longs > 1 => "long long",
        () if longs == 1 => "long",
        () => words
            .iter()
            .map(String::as_str)
            .find(|word| !matches!(*word, "unsigned" | "signed" | "__signed__"))
            .unwrap_or("int"),
    };
    let unsigned = has("unsigned").then(|| format!("unsigned {base}"));
    Some(unsigned.unwrap_or_else(|| base.to_owned()))
}

fn unclear(input: &Input) -> LayoutError {
    let word = input.text(0);
    let word = if word.is_empty() { "its end" } else { word };
    LayoutError::Unclear("a declaration".to_owned(), word.to_owned())
}

impl Query<'_> {
    /// A type without a variable: `struct s *`, `char [4]`.
    pub(super) fn type_name(&mut self, input: &mut Input, scope: &Scope) -> Result<Type> {
        self.nested("a type", |run| {
            let mut attributes = Attributes::default();
            let spec = run.specifiers(input, scope, &mut attributes)?;
            let declarator = run.declarator(input, scope)?;
            let mut of = run.built(&spec, &declarator, scope)?;
            of.align = of.align.max(attributes.align);
            Ok(of)
        })
    }

    /// The words of a type.
    pub(super) fn specifiers(
        &mut self,
        input: &mut Input,
        scope: &Scope,
        attributes: &mut Attributes,
    ) -> Result<Spec> {
        self.work("a declaration")?;
        let mut words: Vec<String> = Vec::new();
        let mut found: Option<Spec> = None;
        while let Some(word) = input.name(0).map(str::to_owned) {
            let typed = found.is_some() || !words.is_empty();
            if is_qualifier(&word) {
                input.next();
            } else if matches!(word.as_str(), "struct" | "union" | "enum") && !typed {
                found = Some(self.tagged(input, scope)?);
            } else if matches!(word.as_str(), "typeof" | "__typeof__") && !typed {
                found = Some(Spec::Made(self.measured(input, scope)?));
            } else if is_c_type(&word) && found.is_none() {
                input.next();
                words.push(word);
            } else if typed {
                // What the pointer behind it points to is said by it.
                let behind = word == USER;
                if behind || !self.annotation(input, scope, Place::Type, attributes)? {
                    break;
                }
            } else if self.is_made(input, scope) {
                if !self.expand(input, scope)? {
                    return Err(unclear(input));
                }
            } else if is_loud(word.as_bytes())
                && input.name(1).is_some()
                && self.is_macro(&word, scope)
            {
                // What is not replaced would be looked at again.
                if !self.annotation(input, scope, Place::Type, attributes)? {
                    return Err(unclear(input));
                }
            } else {
                input.next();
                found = Some(Spec::Named(word));
            }
        }
        match (found, words.as_slice()) {
            (Some(found), []) => Ok(found),
            (None, [_, ..]) => plain(&words).map(Spec::Named).ok_or_else(|| unclear(input)),
            _ => Err(unclear(input)),
        }
    }

    /// Whether a macro makes the type that comes next: a call, or one of those
    /// that no tree is needed for.
    fn is_made(&self, input: &Input, scope: &Scope) -> bool {
        let prelude = &self.types.headers.facts.prelude;
        let known = |word: &str| {
            let sought = Sought::of(word);
            let given = !prelude.entries(sought, &[Kind::Macro]).is_empty();
            given && scope.file.entries(sought, TYPES).is_empty()
        };
        let called = input.is(1, b'(') && !input.is(2, b'*');
        called || input.name(0).is_some_and(known)
    }

    /// Whether a name in front of another is a macro and no typedef.
    fn is_macro(&mut self, word: &str, scope: &Scope) -> bool {
        let found = self.find(word, &[Kind::Typedef, Kind::Macro], scope);
        word == "__attribute__" || matches!(found, Ok(found) if found.entry.kind == Kind::Macro)
    }

    /// An attribute, or a macro that stands for some, at the front.
    pub(super) fn annotation(
        &mut self,
        input: &mut Input,
        scope: &Scope,
        place: Place,
        attributes: &mut Attributes,
    ) -> Result<bool> {
        let Some(word) = input.name(0) else {
            return Ok(false);
        };
        if matches!(word, "__attribute__" | "__attribute" | "_Alignas") {
            self.attribute(input, scope, attributes)?;
            return Ok(true);
        }
        let ends = input
            .peek(1)
            .is_none_or(|next| b";,[:=)".iter().any(|b| next.is(*b)));
        let may = match place {
            Place::Declarator => true,
            Place::Brace => is_loud(word.as_bytes()),
            Place::Type => is_loud(word.as_bytes()) && !ends,
        };
        if may {
            self.expand(input, scope)
        } else {
            Ok(false)
        }
    }

    /// `__attribute__((packed, aligned(4)))`
    fn attribute(&mut self, input: &mut Input, scope: &Scope, out: &mut Attributes) -> Result<()> {
        let word = input.next();
        let mut inside = Input::new(input.brackets().ok_or_else(|| unclear(input))?);
        if word.is_some_and(|word| &*word.text == "_Alignas") {
            let value = self.value(&mut inside, scope)?;
            return self.aligned(value, out);
        }
        if let Some(inner) = inside.brackets() {
            inside = Input::new(inner);
        }
        while let Some(word) = inside.next() {
            let arguments = inside.brackets();
            match (word.text.trim_matches('_'), arguments) {
                ("packed", _) => out.packed = true,
                ("aligned", Some(words)) => {
                    let value = self.whole_value(words, scope)?;
                    self.aligned(value, out)?;
                }
                ("aligned" | "mode" | "vector_size" | "ms_struct", _) => {
                    return Err(LayoutError::Unclear(
                        "an attribute".to_owned(),
                        word.text.to_string(),
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn aligned(&self, value: i128, out: &mut Attributes) -> Result<()> {
        let bytes = answer::fits(value).filter(|bytes: &u64| bytes.is_power_of_two());
        let unclear = || LayoutError::Unclear("an alignment".to_owned(), value.to_string());
        out.align = out.align.max(bytes.ok_or_else(unclear)?);
        Ok(())
    }

    /// `typeof(x)`, of a type or an object.
    fn measured(&mut self, input: &mut Input, scope: &Scope) -> Result<Type> {
        self.size_of(input, scope)
    }

    /// One declarator, of a variable or without a name.
    pub(super) fn declarator(&mut self, input: &mut Input, scope: &Scope) -> Result<Declarator> {
        let mut found = Declarator::default();
        let mut attributes = Attributes::default();
        let mut user = false;
        loop {
            if input.eat(b'*') {
                let user = std::mem::take(&mut user);
                found.ops.push(Op::Pointer { user });
            } else if input.name(0) == Some(USER) {
                input.next();
                user = true;
            } else if input.name(0).is_some_and(is_qualifier) {
                input.next();
            } else if !self.annotation(input, scope, Place::Type, &mut attributes)? {
                break;
            }
        }
        let mut inner = Declarator::default();
        let grouped = input.is(0, b'(')
            && (input.is(1, b'*') || input.name(1).is_some() && input.is(2, b'*'));
        if grouped {
            let mut inside = Input::new(input.brackets().ok_or_else(|| unclear(input))?);
            inner = self.nested("a declarator", |run| run.declarator(&mut inside, scope))?;
            if !inside.is_empty() {
                return Err(unclear(&inside));
            }
        } else if input.name(0).is_some() {
            inner.name = input
                .next()
                .map_or_else(String::new, |word| word.text.into());
        }
        let mut behind = Vec::new();
        while input.is(0, b'[') || input.is(0, b'(') {
            let array = input.is(0, b'[');
            let inside = input.brackets().ok_or_else(|| unclear(input))?;
            behind.push(if array {
                Op::Array(inside)
            } else {
                Op::Function
            });
        }
        found.ops.extend(behind.into_iter().rev());
        found.ops.append(&mut inner.ops);
        found.name = inner.name;
        Ok(found)
    }

    /// The type of a declarator.
    pub(super) fn built(
        &mut self,
        spec: &Spec,
        declarator: &Declarator,
        scope: &Scope,
    ) -> Result<Type> {
        let mut of: Option<Type> = None;
        let mut function = false;
        for op in &declarator.ops {
            if function && !matches!(op, Op::Pointer { .. }) {
                return Err(LayoutError::Unclear(
                    declarator.name.clone(),
                    "()".to_owned(),
                ));
            }
            match op {
                Op::Pointer { .. } if function => of = Some(self.pointer("", false)),
                Op::Pointer { user } => {
                    let name = match (&of, spec) {
                        (Some(of), _) | (None, Spec::Made(of)) => pointed_to(of),
                        (None, Spec::Named(name)) => name.clone(),
                    };
                    of = Some(self.pointer(&name, *user));
                }
                Op::Array(words) => {
                    let one = self.resolved(of, spec, scope)?;
                    of = Some(self.array(one, words, scope)?);
                }
                Op::Function => of = None,
            }
            function = matches!(op, Op::Function);
        }
        match function {
            true => Err(LayoutError::Unclear(
                declarator.name.clone(),
                "()".to_owned(),
            )),
            false => self.resolved(of, spec, scope),
        }
    }

    fn resolved(&mut self, of: Option<Type>, spec: &Spec, scope: &Scope) -> Result<Type> {
        match (of, spec) {
            (Some(of), _) => Ok(of),
            (None, Spec::Made(of)) => Ok(of.clone()),
            (None, Spec::Named(name)) => self.named(name, scope),
        }
    }

    fn array(&mut self, one: Type, words: &[Word], scope: &Scope) -> Result<Type> {
        let count = match words {
            [] => 0,
            words => self.whole_value(words.to_vec(), scope)?,
        };
        let unclear = || LayoutError::Unclear("an array".to_owned(), count.to_string());
        let times = answer::fits(count);
        times.and_then(|times| one.times(times)).ok_or_else(unclear)
    }

    /// A pointer to the type that is written so, in user memory or the kernel's.
    pub(super) fn pointer(&self, to: &str, user: bool) -> Type {
        let size = self.machine.long;
        let shape = Shape::Pointer {
            to: to.to_owned(),
            user,
        };
        Type::plain(size, self.machine.alignment(size), shape, pointer_to(to))
    }
}

/// What a pointer to a type says that it leads to: of a pointer to user memory, that it is one.
fn pointed_to(of: &Type) -> String {
    match &of.shape {
        Shape::Pointer { to, user: true } => format!("{to} {USER} *"),
        _ => of.name.clone(),
    }
}
