//! `tollgate init`: a file of settings that sets nothing and names them all.

use std::path::Path;

use anyhow::Context as _;
use tollgate_lab::cache;
use tollgate_source::shown;

use crate::exit::Exit;
use crate::settings;
use crate::term::Term;

/// Writes it where none is.
///
/// # Errors
/// When there is a file of that name, or the system does not let it be written.
pub(crate) fn run(folder: &Path, term: &Term) -> anyhow::Result<Exit> {
    let path = folder.join(settings::NAME);
    let wrote = cache::write_new(&path, settings::template().as_bytes())?;
    let name = shown(&path);
    anyhow::ensure!(wrote, "{name} is there already, and is left as it is");
    term.result(&format!("wrote {name}\n"))
        .with_context(|| format!("{name} is written"))?;
    Ok(Exit::Clean)
}
