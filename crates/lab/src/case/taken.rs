//! A program that is another case's but for what the manifest says of it.

use toml::{Table, Value};

use super::files::case_file;
use crate::assets;

/// The key that names the case.
const OF: &str = "of";

/// The manifest with its program written out: `of = "CASE"` stands for every key of that
/// case's program that is not given. None where the program is the case's own.
///
/// # Errors
/// In words, when there is no such case, or its program is another's as well.
pub(super) fn written_out(name: &str, manifest: &Table) -> Result<Option<Table>, String> {
    let program = manifest.get("program").and_then(Value::as_table);
    let Some((program, of)) = program.and_then(|own| Some((own, own.get(OF)?))) else {
        return Ok(None);
    };
    let Some(of) = of.as_str() else {
        return Err("the program's `of` is the name of a case".to_owned());
    };
    let mut whole = program_of(name, of)?;
    whole.extend(program.clone());
    whole.remove(OF);
    let mut manifest = manifest.clone();
    manifest.insert("program".to_owned(), Value::Table(whole));
    Ok(Some(manifest))
}

/// The program of another case, its files named so that this case finds them.
fn program_of(name: &str, of: &str) -> Result<Table, String> {
    let text = assets::text(&assets::CASES, &format!("{of}/case.toml"));
    let text =
        text.ok_or_else(|| format!("its program is that of {of}, and there is no such case"))?;
    let manifest: Table = toml::from_str(text).map_err(|error| format!("{of}: {error}"))?;
    let program = manifest.get("program").and_then(Value::as_table);
    let program = program.ok_or_else(|| format!("its program is that of {of}, which has none"))?;
    if of == name || program.contains_key(OF) {
        return Err(format!(
            "its program is that of {of}, whose own is another case's: name the case that has it"
        ));
    }
    let mut program = program.clone();
    for key in ["source", "headers", "library", "file"] {
        if let Some(value) = program.get_mut(key) {
            name_files(of, value);
        }
    }
    Ok(program)
}

/// `FILE` of the other case's folder becomes `CASE/FILE`.
fn name_files(of: &str, value: &mut Value) {
    match value {
        Value::String(file) if !file.contains('/') && case_file(of, file).is_some() => {
            *file = format!("{of}/{file}");
        }
        Value::Array(all) => all.iter_mut().for_each(|one| name_files(of, one)),
        // Where the guest has a file is no name of one.
        Value::Table(table) => table
            .iter_mut()
            .filter(|(key, _)| *key != "to")
            .for_each(|(_, one)| name_files(of, one)),
        _ => {}
    }
}
