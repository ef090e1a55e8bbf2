//! How large a type is: the layout that the ABIs of 64-bit Linux share.

use std::collections::HashMap;
use std::rc::Rc;

use super::definition::{Definition, Field, FieldType, TypeIndex, read};
use super::{Extent, TypeName};

/// Gives the bytes of a file of the tree.
pub type Reader<'r> = dyn FnMut(&str) -> Option<Vec<u8>> + 'r;

/// Size and alignment, in bytes.
type Measure = (u64, u64);

const POINTER: Measure = (8, 8);
/// Deeper than any type of the kernel; a type that holds itself ends here.
const DEEPEST: usize = 12;

/// Measures types; each definition is read once.
pub struct Layout<'i, 'r> {
    index: &'i TypeIndex,
    reader: &'i mut Reader<'r>,
    texts: HashMap<&'i str, Option<Vec<u8>>>,
    known: HashMap<(&'i str, usize), Option<Rc<Definition>>>,
}

impl<'i, 'r> Layout<'i, 'r> {
    /// A layout over the definitions of a tree.
    pub fn new(index: &'i TypeIndex, reader: &'i mut Reader<'r>) -> Self {
        Self {
            index,
            reader,
            texts: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// How many bytes, for code in the file `from`.
    ///
    /// # Errors
    /// What is not known: the name of a type or a constant.
    pub fn bytes(&mut self, extent: &Extent, from: &str) -> Result<u64, String> {
        match extent {
            Extent::Number(number) => Ok(*number),
            Extent::Named(name) => Err(name.clone()),
            Extent::SizeOf(name) => self.size_of(name, from, 0).map(|(size, _)| size),
            Extent::Both(both) => {
                let (left, operator, right) = both.as_ref();
                let (a, b) = (self.bytes(left, from)?, self.bytes(right, from)?);
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

    fn size_of(&mut self, name: &TypeName, from: &str, depth: usize) -> Result<Measure, String> {
        let (name, from) = self.reached(name, from)?;
        let dimensions = name.dimensions.get(name.dereferences..);
        let (element, pointers) = match dimensions {
            Some(_) => (&name, name.pointers),
            None => {
                let taken = name.dereferences - name.dimensions.len();
                let left = name.pointers.checked_sub(taken);
                (&name, left.ok_or_else(|| name.base.clone())?)
            }
        };
        let one = match pointers {
            0 => self.base(&element.base, &from, depth)?,
            _ => POINTER,
        };
        self.times(one, dimensions.unwrap_or_default(), &from)
    }

    fn times(
        &mut self,
        one: Measure,
        dimensions: &[Extent],
        from: &str,
    ) -> Result<Measure, String> {
        let mut size = one.0;
        for dimension in dimensions {
            let number = self.bytes(dimension, from)?;
            size = size
                .checked_mul(number)
                .ok_or_else(|| "its size".to_owned())?;
        }
        Ok((size, one.1))
    }

    /// The type that the fields lead to, and the file that declares it.
    fn reached(&mut self, name: &TypeName, from: &str) -> Result<(TypeName, String), String> {
        let Some((first, rest)) = name.fields.split_first() else {
            return Ok((name.clone(), from.to_owned()));
        };
        let (definition, path) = self.definition(&name.base, from)?;
        let field = find(&definition, first)
            .ok_or_else(|| format!("the field {first} of {}", name.base))?;
        let mut next = field;
        next.fields = rest.to_vec();
        next.dereferences = name.dereferences;
        self.reached(&next, path)
    }

    fn base(&mut self, base: &str, from: &str, depth: usize) -> Result<Measure, String> {
        if let Some(size) = scalar(base) {
            return Ok((size, size.max(1)));
        }
        if depth > DEEPEST {
            return Err(base.to_owned());
        }
        let (definition, path) = self.definition(base, from)?;
        self.measure(&definition, path, depth)
    }

    fn definition(&mut self, base: &str, from: &str) -> Result<(Rc<Definition>, &'i str), String> {
        let place = self
            .index
            .nearest(base, from)
            .ok_or_else(|| base.to_owned())?;
        let (reader, texts) = (&mut self.reader, &mut self.texts);
        let known = self.known.entry((place.path, place.start));
        let found = known.or_insert_with(|| {
            let text = texts
                .entry(place.path)
                .or_insert_with(|| reader(place.path));
            text.as_deref()
                .and_then(|text| read(text, place.start))
                .map(Rc::new)
        });
        match found {
            Some(definition) => Ok((Rc::clone(definition), place.path)),
            None => Err(format!("what {base} holds ({})", place.path)),
        }
    }

    fn measure(
        &mut self,
        definition: &Definition,
        path: &str,
        depth: usize,
    ) -> Result<Measure, String> {
        let (mut end, mut largest) = (0u64, 1u64);
        for field in &definition.fields {
            let (size, natural) = self.field(field, path, depth + 1)?;
            let alignment = if definition.packed { 1 } else { natural };
            largest = largest.max(alignment);
            let start = if definition.union {
                0
            } else {
                up(end, alignment)
            };
            end = end.max(start.saturating_add(size));
        }
        Ok((up(end, largest), largest))
    }

    fn field(&mut self, field: &Field, path: &str, depth: usize) -> Result<Measure, String> {
        match &field.kind {
            FieldType::Named(name) => self.size_of(name, path, depth),
            FieldType::Inline(inner, dimensions) => {
                let one = self.measure(inner, path, depth)?;
                self.times(one, dimensions, path)
            }
        }
    }
}

fn up(value: u64, alignment: u64) -> u64 {
    value.div_ceil(alignment.max(1)).saturating_mul(alignment)
}

/// The type of a field; those of a struct without a name count as the outer's.
fn find(definition: &Definition, wanted: &str) -> Option<TypeName> {
    definition
        .fields
        .iter()
        .find_map(|field| match &field.kind {
            FieldType::Named(name) if field.name == wanted => Some(name.clone()),
            FieldType::Inline(inner, _) if field.name.is_empty() => find(inner, wanted),
            _ => None,
        })
}

/// Plain types of the kernel on a machine with 64-bit pointers (LP64), in bytes.
fn scalar(base: &str) -> Option<u64> {
    let words: Vec<&str> = base
        .split(' ')
        .filter(|w| !matches!(*w, "unsigned" | "signed"))
        .collect();
    Some(match words.as_slice() {
        ["char" | "bool" | "u8" | "s8" | "__u8" | "__s8" | "uint8_t" | "int8_t" | "u_char"] => 1,
        ["short"] | ["short", "int"] => 2,
        ["u16" | "s16" | "__u16" | "__s16" | "__le16" | "__be16" | "uint16_t" | "int16_t"] => 2,
        [] | ["int" | "u32" | "s32" | "__u32" | "__s32" | "__le32" | "__be32"] => 4,
        ["uint32_t" | "int32_t" | "uint" | "pid_t" | "uid_t" | "gid_t" | "__poll_t"] => 4,
        ["compat_int_t" | "compat_uint_t" | "compat_long_t" | "compat_ulong_t"] => 4,
        ["compat_uptr_t" | "compat_size_t" | "compat_pid_t" | "u_int" | "old_time32_t"] => 4,
        ["compat_caddr_t" | "tcflag_t" | "u_int32_t" | "__kernel_key_t" | "sctp_assoc_t"] => 4,
        ["long" | "u64" | "s64" | "__u64" | "__s64" | "__le64" | "__be64"] => 8,
        ["long", "long"] | ["long", "int"] | ["long", "long", "int"] => 8,
        ["uint64_t" | "int64_t" | "size_t" | "ssize_t" | "loff_t" | "off_t" | "ulong"] => 8,
        ["sigset_t" | "__aligned_u64" | "binder_uintptr_t" | "binder_size_t"] => 8,
        ["time64_t" | "uintptr_t" | "__kernel_size_t" | "compat_u64" | "compat_s64"] => 8,
        ["dma_addr_t" | "phys_addr_t" | "resource_size_t" | "__kernel_long_t"] => 8,
        ["enum", _] => 4,
        _ => return None,
    })
}
