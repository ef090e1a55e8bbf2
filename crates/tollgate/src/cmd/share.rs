//! `tollgate share`: what is installed beside the program, made of its own flags, so that
//! none of it can say anything else.

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use tollgate_lab::cache;

use super::Cli;
use crate::exit::Exit;
use crate::term::Term;

/// Flags of `tollgate share`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where they go: PREFIX/share of an installation
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let mut said = String::new();
    for (name, bytes) in files()? {
        let path = args.folder.join(&name);
        cache::make_folder(path.parent().unwrap_or(Path::new(".")))?;
        cache::write_result(&path, &bytes)?;
        said += &format!("{name}\n");
    }
    term.result(&said)?;
    Ok(Exit::Clean)
}

/// Every file with its place below share/, where man, bash and zsh look for it.
fn files() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut files = Vec::new();
    pages(&command, &mut files)?;
    for (shell, place) in [
        (Shell::Bash, "bash-completion/completions/tollgate"),
        (Shell::Zsh, "zsh/site-functions/_tollgate"),
    ] {
        let mut bytes = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "tollgate", &mut bytes);
        files.push((place.to_owned(), bytes));
    }
    Ok(files)
}

/// A page for a command and for each below it.
fn pages(command: &Command, files: &mut Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
    let page = Man::new(command.clone());
    let mut bytes = Vec::new();
    page.render(&mut bytes)?;
    files.push((format!("man/man1/{}", page.get_filename()), bytes));
    let shown = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    shown.into_iter().try_for_each(|below| pages(below, files))
}
