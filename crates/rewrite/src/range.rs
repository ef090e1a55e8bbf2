//! Which range a begin has to check so that it covers every access of a run.

use tollgate_source::{Reach, Run, Site, Span, Token, Trait, closing, tokens};

use crate::layout::on_one_line;
use crate::offset;
use crate::plan::Subject;
use crate::pointer;
use crate::refusal::{Reason, Refusal};
use crate::types::MODELS;

/// The object and the size of the range, as C.
pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Result<(String, String), Refusal> {
    let object = one_object(subject, run)?;
    run.sites
        .iter()
        .try_for_each(|site| member_of_array(subject, site, object))?;
    if let Some(range) = offset::steps(subject, run).or_else(|| one_address(subject, run)) {
        return Ok(range);
    }
    if let Some(range) = one_element(subject, run) {
        return Ok(range);
    }
    if let Some(range) = one_member(subject, run, object) {
        return Ok(range);
    }
    if let Some(range) = offset::offsets(subject, run) {
        return Ok(range);
    }
    of_object(subject, run, object)
}

/// The object, if there is only one.
pub(crate) fn one_object<'r>(subject: &Subject<'_>, run: &'r Run) -> Result<&'r str, Refusal> {
    let objects = run.objects();
    match objects.as_slice() {
        [object] => Ok(object),
        _ => Err(subject.refuse(run.span, Reason::Objects(objects.join(", ")))),
    }
}

/// An element of an array that is the object's member: the size of the object
/// takes it in only if the array has so many elements, which is no open array's.
fn member_of_array(subject: &Subject<'_>, site: &Site, object: &str) -> Result<(), Refusal> {
    let address = on_one_line(&subject.at(site.address));
    let Some(path) = pointer::path(&address, &on_one_line(object)).filter(|p| p.contains('['))
    else {
        return Ok(());
    };
    let of = pointer::pointee(subject, object).map(|name| {
        let types = subject.styled.types;
        types.outline(&name, MODELS[0])
    });
    match of {
        Some(Ok(of)) if of.at(&path).is_ok() => Ok(()),
        _ => Err(subject.refuse(site.span, Reason::Range(address))),
    }
}

/// The range from where the object begins, whichever of its members are accessed.
pub(crate) fn of_object(
    subject: &Subject<'_>,
    run: &Run,
    object: &str,
) -> Result<(String, String), Refusal> {
    let elements = elements(subject, run)?;
    whole(subject, run, object)?;
    let object = on_one_line(object);
    let size = if elements == 1 {
        format!("sizeof(*{object})")
    } else {
        format!("{elements} * sizeof(*{object})")
    };
    Ok((object, size))
}

/// Every access at the same address: its own type says the size.
fn one_address(subject: &Subject<'_>, run: &Run) -> Option<(String, String)> {
    let mut addresses = run
        .sites
        .iter()
        .map(|site| on_one_line(&subject.at(site.address)));
    let first = addresses.next()?;
    addresses.all(|address| address == first).then(|| {
        let size = match first.strip_prefix('&') {
            Some(place) => format!("sizeof({place})"),
            None if first.starts_with('(') => format!("sizeof(*({first}))"),
            None => format!("sizeof(*{first})"),
        };
        (first, size)
    })
}

/// Fields of one element of an array, `&o[i].a` and `&o[i].b`.
fn one_element(subject: &Subject<'_>, run: &Run) -> Option<(String, String)> {
    let addresses = run
        .sites
        .iter()
        .map(|site| on_one_line(&subject.at(site.address)));
    let mut elements = addresses.map(|address| {
        let (element, field) = address.strip_prefix('&')?.rsplit_once("].")?;
        let plain = !field.contains(['[', '(', '-']) && element.matches('[').count() == 1;
        plain.then(|| format!("{element}]"))
    });
    let first = elements.next()??;
    let same = elements.all(|element| element.as_ref() == Some(&first));
    same.then(|| (format!("&{first}"), format!("sizeof({first})")))
}

/// The innermost member that all addresses lie in, `p->a` for `&p->a.x` and
/// `&p->a.y`; none where a check of the whole object is part of the run.
fn one_member(subject: &Subject<'_>, run: &Run, object: &str) -> Option<(String, String)> {
    if run.has(Trait::AccessOk) {
        return None;
    }
    let mut paths = run.sites.iter().map(|site| member(subject, site, object));
    let mut common = paths.next()??;
    common.pop();
    for path in paths {
        let mut path = path?;
        path.pop();
        let same = common.iter().zip(&path).take_while(|(a, b)| a == b).count();
        common.truncate(same);
    }
    let member = format!("{}->{}", on_one_line(object), common.join("."));
    (!common.is_empty()).then(|| (format!("&{member}"), format!("sizeof({member})")))
}

/// The names from the object to the field of an address `&object->a.b`.
fn member(subject: &Subject<'_>, site: &Site, object: &str) -> Option<Vec<String>> {
    let address = on_one_line(&subject.at(site.address));
    let path = address
        .strip_prefix('&')?
        .strip_prefix(&on_one_line(object))?;
    let path = path.strip_prefix("->")?;
    let plain = |c: char| c.is_alphanumeric() || "_.[]".contains(c);
    let whole = site.reach == Reach::Field && path.chars().all(plain);
    whole.then(|| path.split('.').map(str::to_owned).collect())
}

/// Whether the begin may check all of the object: user memory may hold less of
/// it where it is a union, or where its size is compared.
fn whole(subject: &Subject<'_>, run: &Run, object: &str) -> Result<(), Refusal> {
    let Some(declared) = declared(subject, object) else {
        return Ok(());
    };
    let shorter = Reason::Shorter(format!("*{object}"));
    if declared.starts_with("union ") {
        return Err(subject.refuse(run.span, shorter));
    }
    let upto = subject
        .text
        .get(..subject.function.body.end)
        .unwrap_or_default();
    let code: Vec<Token> = tokens(upto, subject.function.body.start)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let sizes = (0..code.len()).filter(|at| is_size(subject, &code, *at, object, &declared));
    match sizes
        .into_iter()
        .find(|at| may_be_less(&code, *at, run.span.start))
    {
        Some(_) => Err(subject.refuse(run.span, shorter)),
        None => Ok(()),
    }
}

/// The type of a variable of the function as its declaration has it.
pub(crate) fn declared(subject: &Subject<'_>, object: &str) -> Option<String> {
    let mut locals = subject.flow.locals.iter();
    if let Some(local) = locals.find(|local| local.name == object) {
        return Some(local.base_type.clone());
    }
    let header = on_one_line(&subject.at(subject.function.header));
    let parameter = header.split(['(', ',', ')']).find(|part| {
        let name = part
            .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next();
        name == Some(object) && part.contains('*')
    })?;
    let words = parameter
        .split(['*', ' '])
        .filter(|word| !word.is_empty() && *word != "const");
    Some(words.take(2).collect::<Vec<_>>().join(" "))
}

/// `sizeof(struct s)` or `sizeof(*p)`.
fn is_size(subject: &Subject<'_>, code: &[Token], at: usize, object: &str, declared: &str) -> bool {
    let word = |at: usize| {
        code.get(at)
            .map(|t| t.span.of(subject.text))
            .unwrap_or_default()
    };
    if word(at) != b"sizeof" {
        return false;
    }
    let (Some(open), Some(close)) = (
        code.get(at + 1),
        closing(code, at + 1).and_then(|close| code.get(close)),
    ) else {
        return false;
    };
    let operand = on_one_line(&subject.at(Span::new(open.span.end, close.span.start)));
    operand == declared || operand == format!("*{object}")
}

/// Whether a comparison with the size says that there may be less: what is
/// compared before the run and left if it is less says that there is not.
fn may_be_less(code: &[Token], at: usize, run: usize) -> bool {
    let is = |at: Option<usize>, byte| at.and_then(|at| code.get(at)).is_some_and(|t| t.is(byte));
    let behind = closing(code, at + 1).map(|close| close + 1);
    let before = at.checked_sub(1);
    let earlier = is(before, b'=')
        .then(|| at.checked_sub(2))
        .flatten()
        .or(before);
    let less = is(earlier, b'<') || is(behind, b'>');
    let more = is(earlier, b'>') || is(behind, b'<');
    let later = code.get(at).is_some_and(|token| token.span.start > run);
    more || less && later
}

/// How many elements of the object's type the accesses span; 1 for fields.
fn elements(subject: &Subject<'_>, run: &Run) -> Result<u32, Refusal> {
    let mut most = 1;
    for site in &run.sites {
        most = most.max(match site.reach {
            Reach::Field | Reach::Whole => 1,
            Reach::Element(index) => index.saturating_add(1),
            Reach::Computed => {
                return Err(subject.refuse(
                    site.span,
                    Reason::Range(on_one_line(&subject.at(site.address))),
                ));
            }
        });
    }
    let fields = run.sites.iter().any(|site| site.reach == Reach::Field);
    if fields && most > 1 {
        return Err(subject.refuse(run.span, Reason::Range(run.objects().join(", "))));
    }
    Ok(most)
}
