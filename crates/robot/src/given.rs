//! What the compiler or every file's headers define (`data/robot/given.toml`), as
//! expressions of Kconfig.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::condition::number;

const TABLE: &str = include_str!("../../../data/robot/given.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    defined: Vec<Row<String>>,
    compared: Vec<Row<BTreeMap<String, String>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<M> {
    names: Vec<String>,
    means: M,
    #[allow(dead_code, reason = "it is for people")]
    reason: String,
}

/// Where it could not be read nothing is given: [`check`] says so before anything is
/// asked.
static GIVEN: LazyLock<Result<Table, String>> =
    LazyLock::new(|| toml::from_str(TABLE).map_err(|error| error.to_string()));

/// Whether the table is as its head describes it.
///
/// # Errors
/// With what is wrong.
pub(crate) fn check() -> Result<(), String> {
    match &*GIVEN {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("data/robot/given.toml: {error}")),
    }
}

fn find<'t, M>(rows: &'t [Row<M>], name: &str) -> Option<&'t M> {
    let own = |row: &&Row<M>| row.names.iter().any(|one| one == name);
    rows.iter().find(own).map(|row| &row.means)
}

/// When a name is defined; none where that is not known.
pub(crate) fn defined(name: &str) -> Option<&'static str> {
    let Ok(table) = &*GIVEN else { return None };
    find(&table.defined, name).map(String::as_str)
}

/// When a name compares so with a value; none where that is not known.
pub(crate) fn compared(name: &str, operator: &str, value: &str) -> Option<String> {
    let Ok(table) = &*GIVEN else { return None };
    let values = find(&table.compared, name)?;
    let holds = |known: &str| -> Option<bool> {
        match operator {
            "==" => Some(known == value),
            "!=" => Some(known != value),
            _ => {
                let (known, value) = (number(known)?, number(value)?);
                match operator {
                    "<" => Some(known < value),
                    "<=" => Some(known <= value),
                    ">" => Some(known > value),
                    ">=" => Some(known >= value),
                    _ => None,
                }
            }
        }
    };
    // Of a value that it never has nothing is known.
    if matches!(operator, "==" | "!=") && !values.contains_key(value) {
        return None;
    }
    let mut means = Vec::new();
    for (known, meaning) in values {
        if holds(known)? {
            means.push(format!("({meaning})"));
        }
    }
    Some(match means.is_empty() {
        true => "n".to_owned(),
        false if means.len() == values.len() => "y".to_owned(),
        false => means.join(" || "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_what_it_says_is_kconfigs() {
        check().unwrap();
        let table = GIVEN.as_ref().unwrap();
        let compared = table.compared.iter().flat_map(|row| row.means.values());
        for means in table.defined.iter().map(|row| &row.means).chain(compared) {
            let read = crate::Condition::of_kconfig(means);
            assert!(!format!("{read:?}").contains("Unknown"), "{means}");
        }
    }

    #[test]
    fn values_are_compared() {
        let of = |operator, value| compared("BITS_PER_LONG", operator, value);
        assert_eq!(of("==", "64").unwrap(), "(64BIT)");
        assert_eq!(of("!=", "64").unwrap(), "(!64BIT)");
        assert_eq!(of(">", "32").unwrap(), "(64BIT)");
        assert_eq!(of(">=", "32").unwrap(), "y");
        assert_eq!(of("<", "16").unwrap(), "n");
        assert_eq!(of("==", "16"), None);
        assert_eq!(of("==", "X"), None);
        assert_eq!(compared("NOBODY", "==", "1"), None);
    }
}
