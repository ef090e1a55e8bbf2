//! Which accesses of a run one copy of a structure can serve.

use tollgate_defect::answer;
use tollgate_source::{Direction, LayoutError, Shape, Span, Type};

use crate::plan::Plan;
use crate::planning::declared::{Pointer, joined, path};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// Elements of an array that are looked at one by one.
const ELEMENTS: u64 = 16;

/// What a run becomes, in order.
pub(crate) enum Part {
    /// An access that stays, by its index.
    Access(usize),
    /// Accesses that one copy serves.
    Group(Group),
}

impl Part {
    /// The group, if it is one.
    pub(crate) fn group(&self) -> Option<&Group> {
        match self {
            Self::Access(_) => None,
            Self::Group(group) => Some(group),
        }
    }
}

/// Accesses to members of one structure.
pub(crate) struct Group {
    /// Which member of the object the structure is; empty for all of it.
    pub(crate) prefix: String,
    /// Its type.
    pub(crate) of: String,
    /// Its size in bytes on a 64-bit architecture.
    pub(crate) size: u64,
    /// The accesses by their index, and the member of each within the structure.
    pub(crate) sites: Vec<(usize, String)>,
    /// Members of the structure that no access is to.
    pub(crate) untouched: Vec<String>,
    /// Whether bytes remain that are no assigned member's, on some architecture.
    pub(crate) zeroed: bool,
}

/// The run cut into copies and the accesses between them.
pub(crate) fn parts(
    subject: &Subject<'_>,
    plan: &Plan,
    pointer: &Pointer,
) -> Result<Vec<Part>, Refusal> {
    let unknown = |error| subject.refuse(plan.region, Reason::Layout(error));
    let types = subject.styled.types;
    let of = types.outline(&pointer.pointee()).map_err(unknown)?;
    let paths = plan.run.sites.iter().map(|site| {
        let path = path(subject, site, &pointer.name)?;
        Some(joined(&path)).filter(|path| of.at(path).is_ok())
    });
    let mut cutter = Cutter {
        subject,
        plan,
        pointer: &pointer.name,
        paths: paths.collect(),
        refused: None,
    };
    let mut found = Vec::new();
    cutter.cut(&of, "", 0..plan.run.sites.len(), &mut found);
    if found.iter().any(|part| part.group().is_some()) {
        return Ok(found);
    }
    let none = subject.refuse(plan.region, Reason::NoGroup);
    Err(cutter.refused.unwrap_or(none))
}

struct Cutter<'c, 'a> {
    subject: &'c Subject<'a>,
    plan: &'c Plan,
    pointer: &'c str,
    /// The member that each access is to; none for what is no plain member.
    paths: Vec<Option<String>>,
    /// Why a structure was not copied.
    refused: Option<Refusal>,
}

impl Cutter<'_, '_> {
    /// Accesses within `prefix`, a structure of type `of`.
    fn cut(&mut self, of: &Type, prefix: &str, sites: std::ops::Range<usize>, out: &mut Vec<Part>) {
        if let Some(group) = self.group(of, prefix, sites.clone()) {
            out.push(Part::Group(group));
            return;
        }
        let mut at = sites.start;
        while at < sites.end {
            let next = self.next(prefix, at);
            let mut end = at + 1;
            while end < sites.end && next.is_some() && self.next(prefix, end) == next {
                end += 1;
            }
            let inner = next.filter(|_| end - at > 1);
            let inner = inner.map(|name| below(prefix, &name));
            let known = inner.and_then(|path| Some((self.of(of, prefix, &path)?, path)));
            match known {
                Some((inner, path)) => self.cut(&inner, &path, at..end, out),
                None => out.extend((at..end).map(Part::Access)),
            }
            at = end;
        }
    }

    fn of(&self, of: &Type, prefix: &str, path: &str) -> Option<Type> {
        let own = path.strip_prefix(prefix)?.trim_start_matches('.');
        match of.at(own) {
            Ok((_, found)) if matches!(found.shape, Shape::Struct(_) | Shape::Union(_)) => {
                Some(found.clone())
            }
            _ => None,
        }
    }

    /// The member of `prefix` that an access goes into.
    fn next(&self, prefix: &str, at: usize) -> Option<String> {
        let path = self.within(prefix, at)?;
        let (first, _) = path.split_once('.')?;
        Some(first.to_owned())
    }

    /// The path of an access within `prefix`.
    fn within(&self, prefix: &str, at: usize) -> Option<&str> {
        let path = self.paths.get(at)?.as_deref()?;
        if prefix.is_empty() {
            Some(path)
        } else {
            path.strip_prefix(prefix)?.strip_prefix('.')
        }
    }

    /// One copy for all of the accesses, if it would touch nothing else.
    fn group(&mut self, of: &Type, prefix: &str, sites: std::ops::Range<usize>) -> Option<Group> {
        let own: Vec<(usize, String)> = sites
            .clone()
            .map(|at| Some((at, self.within(prefix, at)?.to_owned())))
            .collect::<Option<_>>()?;
        let direct = own.iter().filter(|(_, path)| !path.contains('.')).count();
        let once = |path: &str| own.iter().filter(|(_, have)| have == path).count() == 1;
        let named = matches!(of.shape, Shape::Struct(_)) && !of.name.is_empty();
        if own.len() < 2 || !named || !own.iter().all(|(_, path)| once(path)) {
            return None;
        }
        let untouched = untouched(of, &own);
        let left: Vec<&String> = untouched.iter().filter(|name| !is_padding(name)).collect();
        let allowed = self.subject.styled.touch_all_members && direct > 1;
        if !left.is_empty() && !allowed {
            self.refuse(sites, prefix, &left, direct);
            return None;
        }
        Some(Group {
            prefix: prefix.to_owned(),
            of: of.name.clone(),
            size: of.size,
            zeroed: !untouched.is_empty() || self.has_holes(&of.name),
            sites: own,
            untouched,
        })
    }

    fn refuse(
        &mut self,
        sites: std::ops::Range<usize>,
        prefix: &str,
        left: &[&String],
        direct: usize,
    ) {
        let first = self.plan.run.sites.get(sites.start);
        if direct < 2 || self.refused.is_some() {
            return;
        }
        let reads = first.is_some_and(|site| site.direction == Direction::Read);
        let names: Vec<&str> = left.iter().map(|name| name.as_str()).collect();
        let place_of = first.map_or(Span::new(0, 0), |site| site.span);
        let reason = Reason::Untouched {
            object: place(self.pointer, prefix),
            verb: if reads { "read" } else { "write" },
            members: names.join(", "),
        };
        self.refused = Some(self.subject.refuse(place_of, reason));
    }

    /// Whether the structure has holes on some architecture, as far as is known.
    fn has_holes(&self, name: &str) -> bool {
        let types = self.subject.styled.types;
        let machines = types.machines().into_iter();
        let mut layouts = machines.map(|machine| types.layout_on(name, machine));
        layouts.any(|layout| match layout {
            Ok(of) => of.has_holes(),
            // Where it is not compiled there is no copy of it.
            Err(LayoutError::Absent(_)) => false,
            // What is not known may have some.
            Err(_) => true,
        })
    }
}

fn below(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

/// The members, at any depth, that no access is to.
fn untouched(of: &Type, own: &[(usize, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (_, member) in of.members() {
        leaves(&member.of, &member.name, own, &mut found);
    }
    found
}

fn leaves(of: &Type, path: &str, own: &[(usize, String)], found: &mut Vec<String>) {
    let is = |wanted: &str| own.iter().any(|(_, have)| have == wanted);
    match &of.shape {
        Shape::Scalar { .. } | Shape::Pointer { .. } | Shape::Opaque if is(path) => {}
        Shape::Struct(_) => {
            for (_, member) in of.members() {
                leaves(&member.of, &format!("{path}.{}", member.name), own, found);
            }
        }
        Shape::Array(element, count) if *count > 0 && *count <= ELEMENTS => {
            let before = found.len();
            for index in 0..*count {
                leaves(element, &format!("{path}[{index}]"), own, found);
            }
            // Nothing of it: one name is enough.
            if Some(found.len() - before) == answer::fits(*count) {
                found.truncate(before);
                found.push(path.to_owned());
            }
        }
        Shape::Union(members) => {
            let sized = !members.iter().any(|member| is_open(&member.of));
            let whole = sized
                && members.iter().any(|member| {
                    member.of.size == of.size && is(&format!("{path}.{}", member.name))
                });
            if !whole {
                found.push(path.to_owned());
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// Whether the size of a type is a guess.
fn is_open(of: &Type) -> bool {
    match &of.shape {
        Shape::Opaque => true,
        Shape::Scalar { .. } | Shape::Pointer { .. } => false,
        Shape::Array(of, _) => is_open(of),
        Shape::Struct(members) | Shape::Union(members) => {
            members.iter().any(|member| is_open(&member.of))
        }
    }
}

/// Whether a member is there to fill a hole: `pad`, `__pad1`, `padding`.
fn is_padding(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or_default();
    let name = name.split('[').next().unwrap_or_default();
    let bare = name
        .trim_matches('_')
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    matches!(bare, "pad" | "padding")
}

/// `p->s.status`, or `*p` for all of it.
pub(crate) fn place(pointer: &str, prefix: &str) -> String {
    if prefix.is_empty() {
        format!("*{pointer}")
    } else {
        format!("{pointer}->{prefix}")
    }
}
