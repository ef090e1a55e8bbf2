//! Standard output and standard error: results on the one, diagnostics and
//! progress on the other; colour and progress only on a terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use clap::builder::StyledStr;

use rustix::termios::tcgetwinsize;
use tollgate_defect::answer;
use tollgate_report::format::Look;
use tollgate_source::plain;

use crate::ascii;

/// The usual width of lines, and the most: a table may be as wide, prose is not.
const WIDTHS: (usize, usize) = (80, 240);
/// What is narrower is wrapped by the terminal.
const LEAST: usize = 40;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What the streams of this process can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    color: ColorChoice,
    quiet: bool,
    /// Whether the locale shows UTF-8.
    utf8: bool,
    /// A terminal that only takes lines: no colour, no cursor.
    dumb: bool,
}

impl Term {
    /// A terminal with the user's wishes.
    pub(crate) fn new(color: ColorChoice, quiet: bool) -> Self {
        Self {
            color,
            quiet,
            utf8: ascii::locale_is_utf8(|name| std::env::var_os(name)),
            dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
        }
    }

    /// How results on standard output look.
    pub(crate) fn look(&self) -> Look {
        Look {
            color: self.color_stdout(),
            width: width(io::stdout()),
        }
    }

    /// How results on standard error look.
    pub(crate) fn look_stderr(&self) -> Look {
        Look {
            color: self.color_stderr(),
            width: width(io::stderr()),
        }
    }

    /// Whether results on standard output are coloured.
    pub(crate) fn color_stdout(&self) -> bool {
        self.color_on(io::stdout().is_terminal())
    }

    /// Whether diagnostics on standard error are coloured.
    pub(crate) fn color_stderr(&self) -> bool {
        self.color_on(io::stderr().is_terminal())
    }

    /// Whether progress may be drawn on standard error.
    pub(crate) fn progress(&self) -> bool {
        !self.quiet && !self.dumb && io::stderr().is_terminal()
    }

    /// Whether the locale shows UTF-8.
    pub(crate) fn utf8(&self) -> bool {
        self.utf8
    }

    /// Writes a result for people to standard output.
    ///
    /// # Errors
    /// The stream's own, a broken pipe among them.
    pub(crate) fn result(&self, text: &str) -> io::Result<()> {
        write(self.shown(text).as_bytes())
    }

    /// Writes a result as JSON to standard output.
    ///
    /// # Errors
    /// As [`Term::result`].
    pub(crate) fn json(&self, document: &str) -> io::Result<()> {
        match self.utf8 {
            true => write(document.as_bytes()),
            false => write(ascii::json(document).as_bytes()),
        }
    }

    /// Writes to standard output byte by byte what has a form of its own: a page, a
    /// patch, which holds lines of the user's files.
    ///
    /// # Errors
    /// As [`Term::result`].
    pub(crate) fn raw(&self, text: &[u8]) -> io::Result<()> {
        write(text)
    }

    /// Writes what clap says of the flags.
    ///
    /// # Errors
    /// As [`Term::result`].
    pub(crate) fn usage(&self, said: &StyledStr, as_error: bool) -> io::Result<()> {
        let color = match as_error {
            true => self.color_stderr(),
            false => self.color_stdout(),
        };
        // What was typed is part of it.
        let mut typed = std::env::args_os();
        let is_plain = typed.all(|word| matches!(plain(&word.to_string_lossy()), Cow::Borrowed(_)));
        let text = match color && is_plain {
            true => said.ansi().to_string(),
            false => plain(&said.to_string()).into_owned(),
        };
        match as_error {
            true => io::stderr().lock().write_all(self.shown(&text).as_bytes()),
            false => self.result(&text),
        }
    }

    /// Says on standard error how far the work is; silent under `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.line(&plain(text));
        }
    }

    /// Says a result on standard error, where standard output holds another.
    pub(crate) fn verdict(&self, text: &str) {
        self.line(text);
    }

    /// Says on standard error why the command could not tell.
    pub(crate) fn error(&self, text: &str) {
        let label = if self.color_stderr() {
            "\x1b[1;31merror\x1b[0m"
        } else {
            "error"
        };
        self.line(&format!("{label}: {}", plain(text)));
    }

    fn line(&self, text: &str) {
        match writeln!(io::stderr().lock(), "{}", self.shown(text)) {
            // A standard error that is closed leaves nobody to tell.
            Ok(()) | Err(_) => {}
        }
    }

    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.utf8 {
            true => Cow::Borrowed(text),
            false => Cow::Owned(ascii::text(text)),
        }
    }

    fn color_on(&self, terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
                terminal && !refused && !self.dumb
            }
        }
    }
}

/// The columns that the user asks for with `COLUMNS`, or those of a terminal, within
/// what is comfortable; the usual ones elsewhere.
fn width(stream: impl IsTerminal + AsFd) -> usize {
    let columns = asked().or_else(|| columns(stream));
    columns.map_or(WIDTHS.0, |columns| columns.clamp(LEAST, WIDTHS.1))
}

/// `COLUMNS`, as ls and git take it; what is no number of columns was not asked.
fn asked() -> Option<usize> {
    let columns = std::env::var_os("COLUMNS")?;
    answer::number(columns.to_str()?).filter(|columns| *columns > 0)
}

fn columns(stream: impl IsTerminal + AsFd) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    match tcgetwinsize(stream) {
        // A terminal that does not know its size says 0.
        Ok(size) => Some(usize::from(size.ws_col)).filter(|columns| *columns > 0),
        Err(_) => None,
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
