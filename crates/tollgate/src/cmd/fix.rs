//! `tollgate fix`.

use crate::exit::Exit;
use crate::term::Term;

/// Flags of `tollgate fix`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _term: &Term) -> anyhow::Result<Exit> {
    anyhow::bail!("not written yet")
}
