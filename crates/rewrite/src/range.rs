//! Which range a begin has to check so that it covers every access of a run.

use tollgate_source::{Reach, Run};

use crate::layout::on_one_line;
use crate::plan::Subject;
use crate::refusal::{Reason, Refusal};

/// The object and the size of the range, as C.
pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Result<(String, String), Refusal> {
    let objects = run.objects();
    let [object] = objects.as_slice() else {
        return Err(subject.refuse(run.span, Reason::Objects(objects.join(", "))));
    };
    if let Some(range) = one_address(subject, run) {
        return Ok(range);
    }
    if let Some(range) = one_element(subject, run) {
        return Ok(range);
    }
    let elements = elements(subject, run)?;
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
        let operand = if first.starts_with(['&', '(']) {
            format!("({first})")
        } else {
            first.clone()
        };
        (first, format!("sizeof(*{operand})"))
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
