//! How large a type is: the layout that the ABIs of 64-bit Linux share.

use std::collections::HashMap;
use std::rc::Rc;

use super::constant::{Given, given, included};
use super::definition::{Definition, Field, FieldType, TypeIndex, read};
use super::{Extent, TypeName};
use crate::path::TreePath;
use crate::vocabulary::Vocabulary;

/// Gives the bytes of a file of the tree.
pub type Reader<'r> = dyn FnMut(&TreePath) -> Option<Vec<u8>> + 'r;

/// Size and alignment, in bytes.
type Measure = (u64, u64);

const POINTER: Measure = (8, 8);
/// Deeper than any type of the kernel; a type that holds itself ends here.
const DEEPEST: usize = 12;

/// Measures types; each definition is read once.
pub struct Layout<'i, 'r> {
    vocabulary: &'i Vocabulary,
    index: &'i TypeIndex,
    reader: &'i mut Reader<'r>,
    texts: HashMap<TreePath, Option<Rc<Vec<u8>>>>,
    /// Macros by file and name.
    macros: HashMap<(TreePath, String), Given>,
    known: HashMap<(&'i TreePath, usize), Option<Rc<Definition>>>,
}

impl<'i, 'r> Layout<'i, 'r> {
    /// A layout over the definitions of a tree.
    pub fn new(
        vocabulary: &'i Vocabulary,
        index: &'i TypeIndex,
        reader: &'i mut Reader<'r>,
    ) -> Self {
        Self {
            vocabulary,
            index,
            reader,
            texts: HashMap::new(),
            macros: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// How many bytes, for code in the file `from`.
    ///
    /// # Errors
    /// What is not known: the name of a type or a constant.
    pub fn bytes(&mut self, extent: &Extent, from: &TreePath) -> Result<u64, String> {
        self.number(extent, from, 0)
    }

    fn number(&mut self, extent: &Extent, from: &TreePath, depth: usize) -> Result<u64, String> {
        match extent {
            Extent::Number(number) => Ok(*number),
            Extent::Named(name) => self.constant(name, from, depth + 1),
            Extent::SizeOf(name) => self.size_of(name, from, depth).map(|(size, _)| size),
            Extent::OffsetOf(name) => self.offset_of(name, from, depth),
            Extent::Both(both) => {
                let (left, operator, right) = both.as_ref();
                let a = self.number(left, from, depth)?;
                let b = self.number(right, from, depth)?;
                let result = match operator {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    _ => a.checked_div(b),
                };
                result.ok_or_else(|| format!("{a} {operator} {b}"))
            }
        }
    }

    /// The value of a macro for code in a file: what the file itself defines,
    /// or else the headers that it includes, if they agree.
    fn constant(&mut self, name: &str, from: &TreePath, depth: usize) -> Result<u64, String> {
        let unknown = || name.to_owned();
        if depth > DEEPEST {
            return Err(unknown());
        }
        match self.given(from, name) {
            Given::Value(extent) => return self.number(&extent, from, depth),
            Given::Unclear => return Err(unknown()),
            Given::Nothing => {}
        }
        let text = self.text(from).ok_or_else(unknown)?;
        let mut found = None;
        for path in included(&text, &from.folder()) {
            let value = match self.given(&path, name) {
                Given::Nothing => continue,
                Given::Unclear => return Err(unknown()),
                Given::Value(extent) => self.number(&extent, &path, depth)?,
            };
            if found.is_some_and(|before| before != value) {
                return Err(unknown());
            }
            found = Some(value);
        }
        found.ok_or_else(unknown)
    }

    fn given(&mut self, path: &TreePath, name: &str) -> Given {
        let key = (path.clone(), name.to_owned());
        if let Some(known) = self.macros.get(&key) {
            return known.clone();
        }
        let text = self.text(path);
        let found = text.map_or(Given::Nothing, |text| given(&text, name));
        self.macros.insert(key, found.clone());
        found
    }

    fn text(&mut self, path: &TreePath) -> Option<Rc<Vec<u8>>> {
        if let Some(known) = self.texts.get(path) {
            return known.clone();
        }
        let text = (self.reader)(path).map(Rc::new);
        self.texts.insert(path.clone(), text.clone());
        text
    }

    fn size_of(
        &mut self,
        name: &TypeName,
        from: &TreePath,
        depth: usize,
    ) -> Result<Measure, String> {
        let (kind, from) = self.reached(name, from)?;
        let taken = name.dereferences;
        match kind {
            FieldType::Named(own) => {
                let (dimensions, pointers) = match own.dimensions.get(taken..) {
                    Some(left) => (left, Some(own.pointers)),
                    None => {
                        let taken = taken.saturating_sub(own.dimensions.len());
                        (Default::default(), own.pointers.checked_sub(taken))
                    }
                };
                let one = match pointers.ok_or_else(|| own.base.clone())? {
                    0 => self.base(&own.base, &from, depth)?,
                    _ => POINTER,
                };
                self.times(one, dimensions, &from, depth)
            }
            FieldType::Inline(inner, dimensions) => {
                let one = self.measure(&inner, &from, depth + 1)?;
                let left = dimensions.get(taken..).ok_or_else(|| name.base.clone())?;
                self.times(one, left, &from, depth)
            }
        }
    }

    /// How far the last of the fields lies behind the type's begin.
    fn offset_of(&mut self, name: &TypeName, from: &TreePath, depth: usize) -> Result<u64, String> {
        let mut kind = FieldType::Named(bare(name));
        let (mut file, mut offset) = (from.to_owned(), 0u64);
        for wanted in &name.fields {
            let (definition, path) = self.inside(kind, &file, &name.base)?;
            let found = self.within(&definition, wanted, &path, depth + 1)?;
            let (start, next) = found.ok_or_else(|| lacks(wanted, &name.base))?;
            offset = offset.saturating_add(start);
            (kind, file) = (next, path);
        }
        Ok(offset)
    }

    /// Where a field lies in a definition, and its type.
    fn within(
        &mut self,
        definition: &Definition,
        wanted: &str,
        path: &TreePath,
        depth: usize,
    ) -> Result<Option<(u64, FieldType)>, String> {
        let mut end = 0u64;
        for field in &definition.fields {
            if field.name == wanted && !wanted.is_empty() {
                let (_, natural) = self.field(field, path, depth)?;
                let start = definition.start(end, natural);
                return Ok(Some((start, field.kind.clone())));
            }
            let (size, natural) = self.field(field, path, depth)?;
            let start = definition.start(end, natural);
            if let FieldType::Inline(inner, _) = &field.kind
                && field.name.is_empty()
                && let Some((inside, kind)) = self.within(inner, wanted, path, depth + 1)?
            {
                return Ok(Some((start.saturating_add(inside), kind)));
            }
            end = end.max(start.saturating_add(size));
        }
        Ok(None)
    }

    fn times(
        &mut self,
        one: Measure,
        dimensions: &[Extent],
        from: &TreePath,
        depth: usize,
    ) -> Result<Measure, String> {
        let mut size = one.0;
        for dimension in dimensions {
            let number = self.number(dimension, from, depth + 1)?;
            size = size
                .checked_mul(number)
                .ok_or_else(|| "its size".to_owned())?;
        }
        Ok((size, one.1))
    }

    /// The type that the fields lead to, and the file that declares it.
    fn reached(
        &mut self,
        name: &TypeName,
        from: &TreePath,
    ) -> Result<(FieldType, TreePath), String> {
        let mut reached = (FieldType::Named(bare(name)), from.clone());
        for wanted in &name.fields {
            let (definition, path) = self.inside(reached.0, &reached.1, &name.base)?;
            let found = find(&definition, wanted);
            reached = (found.ok_or_else(|| lacks(wanted, &name.base))?, path);
        }
        Ok(reached)
    }

    /// What a type with fields holds, and the file that says so.
    fn inside(
        &mut self,
        kind: FieldType,
        from: &TreePath,
        base: &str,
    ) -> Result<(Rc<Definition>, TreePath), String> {
        match kind {
            FieldType::Named(name) if name.base.is_empty() => Err(base.to_owned()),
            FieldType::Named(name) => {
                let (definition, path) = self.definition(&name.base, from)?;
                Ok((definition, path.clone()))
            }
            FieldType::Inline(inner, _) => Ok((Rc::new(inner), from.clone())),
        }
    }

    fn base(&mut self, base: &str, from: &TreePath, depth: usize) -> Result<Measure, String> {
        if let Some(size) = self.vocabulary.scalar(base, POINTER.0) {
            return Ok((size, size.max(1)));
        }
        if depth > DEEPEST {
            return Err(base.to_owned());
        }
        let (definition, path) = self.definition(base, from)?;
        self.measure(&definition, path, depth)
    }

    fn definition(
        &mut self,
        base: &str,
        from: &TreePath,
    ) -> Result<(Rc<Definition>, &'i TreePath), String> {
        let place = self
            .index
            .nearest(base, from)
            .ok_or_else(|| base.to_owned())?;
        let key = (place.path, place.start);
        if !self.known.contains_key(&key) {
            let text = self.text(place.path);
            let found = text.and_then(|text| read(&text, place.start));
            self.known.insert(key, found.map(Rc::new));
        }
        match self.known.get(&key) {
            Some(Some(definition)) => Ok((Rc::clone(definition), place.path)),
            _ => Err(format!("what {base} holds ({})", place.path)),
        }
    }

    fn measure(
        &mut self,
        definition: &Definition,
        path: &TreePath,
        depth: usize,
    ) -> Result<Measure, String> {
        if depth > DEEPEST {
            return Err(path.to_string());
        }
        let (mut end, mut largest) = (0u64, 1u64);
        for field in &definition.fields {
            let (size, natural) = self.field(field, path, depth + 1)?;
            let alignment = if definition.packed { 1 } else { natural };
            largest = largest.max(alignment);
            let start = definition.start(end, natural);
            end = end.max(start.saturating_add(size));
        }
        Ok((up(end, largest), largest))
    }

    fn field(&mut self, field: &Field, path: &TreePath, depth: usize) -> Result<Measure, String> {
        match &field.kind {
            FieldType::Named(name) => self.size_of(name, path, depth),
            FieldType::Inline(inner, dimensions) => {
                let one = self.measure(inner, path, depth)?;
                self.times(one, dimensions, path, depth)
            }
        }
    }
}

fn up(value: u64, alignment: u64) -> u64 {
    value.div_ceil(alignment.max(1)).saturating_mul(alignment)
}

impl Definition {
    /// Where a field of that alignment lies if those before it end at `end`.
    fn start(&self, end: u64, natural: u64) -> u64 {
        match (self.union, self.packed) {
            (true, _) => 0,
            (false, true) => end,
            (false, false) => up(end, natural),
        }
    }
}

/// The type alone, without what is done to it.
fn bare(name: &TypeName) -> TypeName {
    TypeName {
        fields: Vec::new(),
        dereferences: 0,
        ..name.clone()
    }
}

fn lacks(field: &str, base: &str) -> String {
    format!("the field {field} of {base}")
}

/// The type of a field; those of a struct without a name count as the outer's.
fn find(definition: &Definition, wanted: &str) -> Option<FieldType> {
    definition
        .fields
        .iter()
        .find_map(|field| match &field.kind {
            kind if field.name == wanted && !wanted.is_empty() => Some(kind.clone()),
            FieldType::Inline(inner, _) if field.name.is_empty() => find(inner, wanted),
            _ => None,
        })
}
