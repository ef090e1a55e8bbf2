//! Types with a definition: structures, unions, enums and typedefs.

use super::declare::{Place, Spec};
use super::file::Entry;
use super::file::Kind;
use super::find::{Found, Scope, declarations, id};
use super::input::{Input, Word};
use super::layout::LayoutError;
use super::layout::{Attributes, Placing, Shape, Type, Unplaced};
use super::macros::Macro;
use super::query::Query;
use super::sought::Sought;
use tollgate_defect::answer;

type Result<T> = std::result::Result<T, LayoutError>;

fn unclear(of: &str, input: &Input) -> LayoutError {
    let word = input.text(0);
    let word = if word.is_empty() { "its end" } else { word };
    LayoutError::Unclear(of.to_owned(), word.to_owned())
}

impl Query<'_> {
    /// The type of that name: `unsigned int`, `struct s`, `s_t`.
    pub(super) fn named(&mut self, name: &str, scope: &Scope) -> Result<Type> {
        let facts = &self.types.headers.facts;
        if self.stops && facts.kernel.has(name) {
            return Ok(Type::plain(8, 1, Shape::Opaque, name.to_owned()));
        }
        if let Some(size) = facts.scalar(name, self.machine) {
            let align = self.machine.alignment(size);
            let signed = !facts.is_unsigned(name);
            return Ok(Type::plain(
                size,
                align,
                Shape::Scalar {
                    signed,
                    counts: !facts.is_truth(name),
                },
                name.to_owned(),
            ));
        }
        self.nested(name, |run| match name.contains(' ') {
            true => run.defined(name, scope),
            false => run.renamed(name, scope),
        })
    }

    /// A struct, union or enum by its tag.
    fn defined(&mut self, name: &str, scope: &Scope) -> Result<Type> {
        let found = match self.find(name, &[Kind::Tag], scope) {
            Err(error @ (LayoutError::Missing(_) | LayoutError::Absent(_))) => {
                let other = self.other_tag(name, scope).ok_or(error)?;
                return self.nested(name, |run| run.defined(&other, scope));
            }
            found => found?,
        };
        self.read(&found, name, |run, input| {
            let scope = &found.scope;
            let Spec::Made(mut of) = run.tagged(input, scope)? else {
                return Err(unclear(name, input));
            };
            // What follows is a variable, or an attribute by another name.
            let mut attributes = Attributes::default();
            while run.annotation(input, scope, Place::Declarator, &mut attributes)? {}
            if attributes.packed {
                return Err(unclear(name, input));
            }
            of.align = of.align.max(attributes.align);
            of.size = of.size.next_multiple_of(of.align);
            Ok(of)
        })
    }

    /// The tag that a macro has in the place of one that nothing defines: `#define sockaddr_storage
    /// __kernel_sockaddr_storage`.
    fn other_tag(&mut self, name: &str, scope: &Scope) -> Option<String> {
        let (kind, tag) = name.split_once(' ')?;
        self.types.defining(name).is_empty().then_some(())?;
        let Ok(found) = self.find(tag, &[Kind::Macro], scope) else {
            return None;
        };
        let own = Macro::read(&found.scope.file.text, found.entry.at)?;
        own.only_word().map(|other| format!("{kind} {other}"))
    }

    /// What a typedef, or a macro, means by a name.
    fn renamed(&mut self, name: &str, scope: &Scope) -> Result<Type> {
        let found = match self.find(name, &[Kind::Typedef], scope) {
            Err(error @ (LayoutError::Missing(_) | LayoutError::Absent(_))) => {
                return self.stands_for(name, scope, error);
            }
            found => found?,
        };
        let of = self.read(&found, name, |run, input| {
            let scope = &found.scope;
            let mut attributes = Attributes::default();
            let spec = run.specifiers(input, scope, &mut attributes)?;
            loop {
                let declarator = run.declarator(input, scope)?;
                while run.annotation(input, scope, Place::Declarator, &mut attributes)? {}
                if declarator.name == name {
                    let mut of = run.built(&spec, &declarator, scope)?;
                    if attributes.align > 0 {
                        of.align = attributes.align;
                    }
                    return Ok(of);
                }
                if !input.eat(b',') {
                    return Err(LayoutError::Missing(name.to_owned()));
                }
            }
        })?;
        Ok(Type {
            name: name.to_owned(),
            ..of
        })
    }

    /// A macro that stands for a type that no typedef is; in an outline, a type that is not
    /// known. What the configuration leaves out is neither: as with a record, what it is
    /// where it is there is the answer.
    fn stands_for(&mut self, name: &str, scope: &Scope, none: LayoutError) -> Result<Type> {
        let mut input = super::query::words(name);
        if self.expand(&mut input, scope)? {
            let of = self.type_name(&mut input, scope)?;
            return match input.is_empty() {
                true => Ok(of),
                false => Err(unclear(name, &input)),
            };
        }
        let none = match self.find(name, &[Kind::Macro], scope) {
            Err(error @ LayoutError::Absent(_)) => error,
            _ => none,
        };
        match self.open && !matches!(none, LayoutError::Absent(_)) {
            true => Ok(Type::plain(8, 1, Shape::Opaque, name.to_owned())),
            false => Err(none),
        }
    }

    /// The type that a definition says, which is read once if every file sees it
    /// the same way.
    fn read(
        &mut self,
        found: &Found,
        name: &str,
        read: impl FnOnce(&mut Self, &mut Input) -> Result<Type>,
    ) -> Result<Type> {
        let file = &found.scope.file;
        let key = (
            id(file),
            found.entry.at,
            format!("{name} {}", self.machine.name),
        );
        let headers = self.types.headers;
        let stored = self.types.is_stored(file);
        if let Some(known) = stored.then(|| headers.known(&key)).flatten() {
            return Ok(known);
        }
        let before = self.own;
        let pack = std::mem::replace(&mut self.pack, file.pack(found.entry.at));
        let of = self
            .statement(found)
            .and_then(|mut input| read(self, &mut input));
        self.pack = pack;
        if let Ok(of) = &of
            && before == self.own
            && stored
            && !self.open
        {
            headers.keep(key, of);
        }
        of
    }

    /// The type of one member of a struct or union, by its tag, where no other member
    /// needs to be known for it; none if no declaration of its own has that name.
    pub(super) fn lone_member(
        &mut self,
        of: &str,
        name: &str,
        scope: &Scope,
    ) -> Result<Option<Type>> {
        let found = self.find(of, &[Kind::Tag], scope)?;
        let file = &found.scope.file;
        let all = declarations(&file.text, found.entry.at, name);
        let pack = std::mem::replace(&mut self.pack, file.pack(found.entry.at));
        let (mut member, mut absent) = (None, false);
        for (at, sides) in all {
            if !self.are_active(&found.scope, &sides) {
                absent = true;
                continue;
            }
            let entry = Entry { at, ..found.entry };
            let mut input = self.statement(&Found {
                scope: found.scope.clone(),
                entry,
            })?;
            let mut out = Vec::new();
            self.members(&mut input, &found.scope, of, &mut out)?;
            member = out.into_iter().find_map(|own| own.named(name));
            if member.is_some() {
                break;
            }
        }
        self.pack = pack;
        match member {
            None if absent => Err(LayoutError::Absent(format!("{name} of {of}"))),
            member => Ok(member),
        }
    }

    /// `struct s`, `struct { … } __packed`, `enum e { … }`
    pub(super) fn tagged(&mut self, input: &mut Input, scope: &Scope) -> Result<Spec> {
        let Some(kind) = input.next().map(|word| word.text) else {
            return Err(unclear("a type", input));
        };
        let mut attributes = Attributes::default();
        while (input.name(1).is_some() || input.name(0) == Some("__attribute__"))
            && self.annotation(input, scope, Place::Brace, &mut attributes)?
        {}
        let renamed = |word: &str| {
            !scope
                .file
                .entries(Sought::of(word), &[Kind::Macro])
                .is_empty()
        };
        if input.name(0).is_some_and(renamed) {
            self.expand(input, scope)?;
        }
        let tag = input.name(0).map(str::to_owned);
        if tag.is_some() {
            input.next();
        }
        let name = tag.map_or_else(String::new, |tag| format!("{kind} {tag}"));
        if !input.is(0, b'{') {
            return match name.is_empty() {
                true => Err(unclear(&kind, input)),
                false => Ok(Spec::Named(name)),
            };
        }
        let inside = input.brackets().ok_or_else(|| unclear(&kind, input))?;
        while self.annotation(input, scope, Place::Brace, &mut attributes)? {}
        let of = self.nested(&name, |run| match &*kind {
            "enum" => run.enumeration(inside, scope, attributes, name.clone()),
            kind => run.record(inside, scope, attributes, (kind == "union", name.clone())),
        })?;
        Ok(Spec::Made(of))
    }

    /// As large as an `int`, unless a value or an attribute says otherwise.
    fn enumeration(
        &mut self,
        inside: Vec<Word>,
        scope: &Scope,
        attributes: Attributes,
        name: String,
    ) -> Result<Type> {
        let values = self.values_of(inside, scope)?;
        let signed = values.iter().any(|(_, value)| *value < 0);
        let fits = |bits: u32| {
            let (least, most) = (-(1i128 << (bits - 1)), 1i128 << bits);
            let most = if signed { most / 2 } else { most };
            values
                .iter()
                .all(|(_, value)| (least..most).contains(value))
        };
        let smallest = if attributes.packed { 8 } else { 32 };
        let bits = [8, 16, 32, 64]
            .into_iter()
            .find(|bits| *bits >= smallest && fits(*bits));
        let size = bits.map(|bits| u64::from(bits / 8));
        let size = size.ok_or_else(|| unclear(&name, &Input::default()))?;
        let align = self.machine.alignment(size).max(attributes.align);
        let counts = false;
        Ok(Type::plain(
            size,
            align,
            Shape::Scalar { signed, counts },
            name,
        ))
    }

    /// A structure, or a union, with what stands between its braces.
    fn record(
        &mut self,
        inside: Vec<Word>,
        scope: &Scope,
        attributes: Attributes,
        (union, name): (bool, String),
    ) -> Result<Type> {
        let mut input = Input::new(inside);
        let mut members = Vec::new();
        while !input.is_empty() {
            self.members(&mut input, scope, &name, &mut members)?;
        }
        let unplaced = |members: &[Unplaced]| {
            let odd = |member: &Unplaced| member.width.is_some() && member.attributes.align > 0;
            let empty = |member: &Unplaced| member.width == Some(0);
            members.iter().any(odd) || attributes.packed && members.iter().any(empty)
        };
        let placing = Placing {
            machine: self.machine,
            union,
            attributes,
            pack: self.pack,
        };
        let clear = !unplaced(&members);
        let of = clear
            .then(|| placing.place(members, name.clone()))
            .flatten();
        of.ok_or_else(|| LayoutError::Unclear(name, "its bit-fields".to_owned()))
    }

    /// One declaration of members.
    fn members(
        &mut self,
        input: &mut Input,
        scope: &Scope,
        name: &str,
        out: &mut Vec<Unplaced>,
    ) -> Result<()> {
        if input.eat(b';') {
            return Ok(());
        }
        if matches!(input.name(0), Some("_Static_assert" | "static_assert")) {
            input.next();
            return input
                .brackets()
                .map(drop)
                .ok_or_else(|| unclear(name, input));
        }
        let mut attributes = Attributes::default();
        let spec = self.specifiers(input, scope, &mut attributes)?;
        if input.is_empty() || input.is(0, b';') {
            return self.nameless(spec, input, scope, attributes, out);
        }
        loop {
            let member = self.member(&spec, input, scope, attributes)?;
            out.push(member);
            if !input.eat(b',') {
                break;
            }
        }
        match input.is_empty() || input.eat(b';') {
            true => Ok(()),
            false => Err(unclear(name, input)),
        }
    }

    /// A declaration without a declarator: an anonymous structure, or a macro
    /// that makes members.
    fn nameless(
        &mut self,
        spec: Spec,
        input: &mut Input,
        scope: &Scope,
        attributes: Attributes,
        out: &mut Vec<Unplaced>,
    ) -> Result<()> {
        match spec {
            Spec::Made(of) if matches!(of.shape, Shape::Scalar { .. }) => Ok(()),
            Spec::Made(of) if of.name.is_empty() => {
                out.push(Unplaced {
                    name: String::new(),
                    of,
                    width: None,
                    attributes,
                    counts: true,
                });
                Ok(())
            }
            Spec::Named(word) if !word.contains(' ') => {
                input.put(vec![Word::name(&word)]);
                match self.expand(input, scope)? {
                    true => Ok(()),
                    false => Err(unclear(&word, input)),
                }
            }
            Spec::Made(of) => Err(unclear(&of.name, input)),
            Spec::Named(word) => Err(unclear(&word, input)),
        }
    }

    fn member(
        &mut self,
        spec: &Spec,
        input: &mut Input,
        scope: &Scope,
        mut attributes: Attributes,
    ) -> Result<Unplaced> {
        let declarator = self.declarator(input, scope)?;
        let of = self.built(spec, &declarator, scope)?;
        let mut width = None;
        if input.eat(b':') {
            let bits = self.value(input, scope)?;
            let unclear = || LayoutError::Unclear(declarator.name.clone(), bits.to_string());
            let fits = answer::fits(bits).filter(|bits| *bits <= of.size * 8);
            width = Some(fits.ok_or_else(unclear)?);
        }
        while self.annotation(input, scope, Place::Declarator, &mut attributes)? {}
        let nameless = declarator.name.is_empty();
        if nameless && width.is_none() {
            return Err(unclear("a member", input));
        }
        Ok(Unplaced {
            name: declarator.name,
            of,
            width,
            attributes,
            counts: !nameless,
        })
    }
}
