//! `tollgate prove`.

use crate::exit::Exit;
use crate::term::Term;

/// Flags of `tollgate prove`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _term: &Term) -> anyhow::Result<Exit> {
    anyhow::bail!("not written yet")
}
