//! Standard output and standard error: results on the one, diagnostics and
//! progress on the other; colour and progress only on a terminal.

use std::io::{self, IsTerminal, Write};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
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
}

impl Term {
    /// A terminal with the user's wishes.
    pub(crate) fn new(color: ColorChoice, quiet: bool) -> Self {
        Self { color, quiet }
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
        !self.quiet && io::stderr().is_terminal()
    }

    /// Writes a result to standard output.
    ///
    /// # Errors
    /// The stream's own, a broken pipe among them.
    pub(crate) fn result(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Says on standard error how far the work is; silent under `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.line(text);
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
        self.line(&format!("{label}: {text}"));
    }

    fn line(&self, text: &str) {
        // A standard error that is closed leaves nobody to tell.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    fn color_on(&self, terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            }
        }
    }
}
