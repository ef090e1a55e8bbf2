//! What a user has said once instead of with every command: the one place where flags
//! go over the environment, and the environment over `tollgate.toml`.
//!
//! A setting becomes the default of the flags that it stands for, before the command
//! line is read. So a flag that is given wins, and nothing else asks the environment or
//! the file.

mod file;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Parser};
use tollgate_defect::OrDefect as _;
use tollgate_source::shown;

pub(crate) use file::{NAME, template};

/// A setting: how it is called, what it means, which flags it stands for.
#[derive(Debug)]
pub(crate) struct Key {
    /// In the file; that of the flags, too.
    pub(crate) name: &'static str,
    /// In the environment.
    pub(crate) variable: &'static str,
    /// What a value in the file is.
    kind: Kind,
    /// What it is, a sentence.
    pub(crate) about: &'static str,
    /// What holds where nobody says anything.
    pub(crate) otherwise: &'static str,
    /// A value that could stand there.
    example: &'static str,
    /// The argument of the same command, and its value, without which it says nothing.
    with: Option<(&'static str, &'static str)>,
    /// The commands that it is for, and their argument.
    flags: &'static [(&'static [&'static str], &'static str)],
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A path, in the file relative to its folder.
    Path,
    /// A command: a path where there is a slash in it.
    Command,
    /// A word of tollgate's.
    Word,
}

/// All of them.
pub(crate) const KEYS: [Key; 7] = [
    Key {
        name: "tree",
        variable: "TOLLGATE_TREE",
        kind: Kind::Path,
        about: "The kernel tree, which is only read",
        otherwise: "what the command says of its own: the current folder, or Debian's linux-source",
        example: "linux",
        with: None,
        flags: &[
            (&["scan"], "tree"),
            (&["fix"], "tree"),
            (&["check"], "paths"),
            (&["prove"], "tree"),
            (&["robot"], "tree"),
            (&["doctor"], "tree"),
        ],
    },
    Key {
        name: "cache",
        variable: "TOLLGATE_CACHE",
        kind: Kind::Path,
        about: "Where images, build folders and results are kept",
        otherwise: "$XDG_CACHE_HOME/tollgate, or ~/.cache/tollgate",
        example: "~/.cache/tollgate",
        with: None,
        flags: &[
            (&["fix"], "cache"),
            (&["check"], "cache"),
            (&["prove"], "cache"),
            (&["run"], "cache"),
            (&["robot"], "cache"),
            (&["job", "run"], "cache"),
            (&["cache", "list"], "cache"),
            (&["cache", "size"], "cache"),
            (&["cache", "prune"], "cache"),
            (&["doctor"], "cache"),
        ],
    },
    Key {
        name: "compiler",
        variable: "TOLLGATE_COMPILER",
        kind: Kind::Command,
        about: "The compiler of the kernels that prove builds",
        otherwise: "gcc, or the cross compiler of the architecture",
        example: "gcc-12",
        with: None,
        flags: &[(&["prove"], "compiler"), (&["doctor"], "compiler")],
    },
    Key {
        name: "config",
        variable: "TOLLGATE_CONFIG",
        kind: Kind::Word,
        about: "The configuration fragment that prove builds with: minimal, distro",
        otherwise: "that of the case, or minimal",
        example: "distro",
        with: None,
        flags: &[(&["prove"], "config")],
    },
    Key {
        name: "qemu",
        variable: "TOLLGATE_QEMU",
        kind: Kind::Command,
        about: "The emulator that prove boots with",
        otherwise: "that of the machine, such as qemu-system-x86_64",
        example: "qemu-system-x86_64",
        with: None,
        flags: &[(&["prove"], "qemu"), (&["doctor"], "qemu")],
    },
    Key {
        name: "engine",
        variable: "TOLLGATE_ENGINE",
        kind: Kind::Word,
        about: "Where robot builds: local, or slurm for the nodes of a cluster",
        otherwise: "local",
        example: "slurm",
        with: None,
        flags: &[(&["robot"], "engine")],
    },
    Key {
        name: "cluster",
        variable: "TOLLGATE_CLUSTER",
        kind: Kind::Path,
        about: "What that cluster is (docs/cluster.md)",
        otherwise: "none, and --engine slurm asks for it",
        example: "cluster.toml",
        with: Some(("engine", "slurm")),
        flags: &[(&["robot"], "cluster")],
    },
];

/// Where a value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The command line.
    Flag,
    /// The variable of that name.
    Environment(&'static str),
    /// A line of that file.
    File(PathBuf, usize),
}

/// `tollgate.toml:3`, `TOLLGATE_CACHE`, `the command line`.
impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag => f.write_str("the command line"),
            Self::Environment(variable) => f.write_str(variable),
            Self::File(path, line) => write!(f, "{}:{line}", shown(path)),
        }
    }
}

/// A value that somebody gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) value: OsString,
    pub(crate) origin: Origin,
}

/// The values that hold for a command, one for each key at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(Vec<Setting>);

impl Settings {
    /// The one of a key.
    pub(crate) fn of(&self, key: &str) -> Option<&Setting> {
        self.0.iter().find(|setting| setting.key == key)
    }
}

/// Why a command line is not followed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The flags: also where help was asked for.
    Usage(clap::Error),
    /// The environment or the file.
    Setting(anyhow::Error),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error)
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Self::Setting(error)
    }
}

/// What may be asked for a variable.
pub(crate) type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

/// Reads a command line, with the settings of the environment and of the file that is
/// named or found.
///
/// # Errors
/// What is wrong with the flags, the environment or the file.
pub(crate) fn parse<C: Parser>(
    words: &[OsString],
    environment: Environment<'_>,
) -> Result<(C, Settings), Refused> {
    let command = C::command();
    // Where a file is looked for is asked for as well; what else is wrong is said below.
    let asked = command
        .clone()
        .ignore_errors(true)
        .try_get_matches_from(words);
    let Ok(asked) = asked else {
        let matches = command.try_get_matches_from(words)?;
        return Ok((C::from_arg_matches(&matches)?, Settings::default()));
    };
    let path = path_of(&asked);
    let settings = gathered(&path, &asked, environment)?;
    let mut command = command;
    let mut words = words.to_vec();
    for setting in &settings {
        command = with_default(command, &path, setting)?;
        words.extend(place_of(&path, &asked, setting));
    }
    let matches = command.try_get_matches_from(&words)?;
    let settings = in_force(&path, &asked, settings);
    Ok((C::from_arg_matches(&matches)?, settings))
}

/// What is set for a command: of the environment, else of the file.
fn gathered(
    path: &[String],
    asked: &ArgMatches,
    environment: Environment<'_>,
) -> anyhow::Result<Vec<Setting>> {
    let file = match file::named(asked, environment) {
        Some(path) => file::read(&path)?,
        // What a command does not ask for cannot be in its way.
        None if applying(path).next().is_none() => Vec::new(),
        None => match file::found(&start(asked, path, environment))? {
            Some(path) => file::read(&path)?,
            None => Vec::new(),
        },
    };
    let set = applying(path)
        .filter_map(|(key, _)| of_environment(key, environment).or_else(|| of_file(key, &file)));
    Ok(set.collect())
}

/// The word of a place that a command asks for, where none was given: clap has no
/// defaults before a list of files.
fn place_of(path: &[String], asked: &ArgMatches, setting: &Setting) -> Option<OsString> {
    let missing = is_place(path, setting) && last(asked).get_raw(TREE).is_none();
    missing.then(|| setting.value.clone())
}

fn is_place(path: &[String], setting: &Setting) -> bool {
    setting.key == TREE && PLACES.iter().any(|command| [*command] == *path)
}

/// The commands whose first word is the tree.
const PLACES: [&str; 2] = ["scan", "fix"];

/// The settings that a command has, with its argument.
fn applying(path: &[String]) -> impl Iterator<Item = (&'static Key, &'static str)> + '_ {
    KEYS.iter().filter_map(move |key| {
        let (_, argument) = key.flags.iter().find(|(command, _)| *command == path)?;
        Some((key, *argument))
    })
}

/// An empty variable is none.
fn of_environment(key: &Key, environment: Environment<'_>) -> Option<Setting> {
    let value = environment(key.variable).filter(|value| !value.is_empty())?;
    Some(Setting {
        key: key.name,
        value,
        origin: Origin::Environment(key.variable),
    })
}

fn of_file(key: &Key, file: &[Setting]) -> Option<Setting> {
    file.iter().find(|setting| setting.key == key.name).cloned()
}

/// The commands that were named: `job`, `run`.
fn path_of(matches: &ArgMatches) -> Vec<String> {
    let below = std::iter::successors(matches.subcommand(), |(_, matches)| matches.subcommand());
    below.map(|(name, _)| name.to_owned()).collect()
}

/// What the last of them was given.
fn last(matches: &ArgMatches) -> &ArgMatches {
    matches
        .subcommand()
        .map_or(matches, |(_, below)| last(below))
}

/// Where the file is looked for first: the tree that is named, or else the current folder.
fn start(matches: &ArgMatches, path: &[String], environment: Environment<'_>) -> PathBuf {
    let tree = applying(path).find(|(key, _)| key.name == TREE);
    let given = tree.and_then(|(key, argument)| {
        let given = last(matches)
            .get_raw(argument)
            .and_then(|mut raw| raw.next());
        given
            .map(OsStr::to_owned)
            .or_else(|| of_environment(key, environment).map(|setting| setting.value))
    });
    let here = || PathBuf::from(".");
    let place = given.map_or_else(here, PathBuf::from);
    // A file lies in a folder; what is neither, such as `-`, is read from here.
    let folder = match place.is_dir() {
        true => Some(place.as_path()),
        false => place.parent().filter(|folder| folder.is_dir()),
    };
    folder.map_or_else(here, Path::to_owned)
}

/// The key whose folder the file is looked for in.
const TREE: &str = "tree";

/// The command line with a value that holds where the flag is not given.
fn with_default(command: Command, path: &[String], setting: &Setting) -> anyhow::Result<Command> {
    let Some((key, argument)) = applying(path).find(|(key, _)| key.name == setting.key) else {
        return Ok(command);
    };
    if is_place(path, setting) {
        return Ok(command);
    }
    check_value(&command, path, argument, setting)?;
    let value = setting.value.clone();
    let with_value = |flag: Arg| match key.with {
        Some((other, is)) => flag.default_value_if(other, is, value.clone()),
        None => flag.default_value(value.clone()),
    };
    Ok(changed(command, path, |command| {
        command.mut_arg(argument, with_value)
    }))
}

/// The command line with one of its commands changed.
fn changed(command: Command, path: &[String], change: impl FnOnce(Command) -> Command) -> Command {
    match path {
        [] => change(command),
        [name, below @ ..] => {
            command.mut_subcommand(name, |command| changed(command, below, change))
        }
    }
}

/// Refuses a word that the flag does not know, with the place that says it.
fn check_value(
    command: &Command,
    path: &[String],
    argument: &str,
    setting: &Setting,
) -> anyhow::Result<()> {
    let named = path
        .iter()
        .try_fold(command, |command, name| command.find_subcommand(name));
    let flag = named.and_then(|command| {
        let mut flags = command.get_arguments();
        flags.find(|flag| flag.get_id() == argument)
    });
    let known: Vec<String> = flag
        .map(Arg::get_possible_values)
        .or_defect("a setting is for a flag that no command has")?
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect();
    let is_known = |value: &OsStr| known.iter().any(|name| OsStr::new(name) == value);
    anyhow::ensure!(
        known.is_empty() || is_known(&setting.value),
        "{}: {} is none of the values of {}, which are {}",
        setting.origin,
        shown(Path::new(&setting.value)),
        setting.key,
        known.join(", ")
    );
    Ok(())
}

/// What holds after all, of flags as well.
fn in_force(path: &[String], asked: &ArgMatches, settings: Vec<Setting>) -> Settings {
    let matches = last(asked);
    let flags = applying(path).filter_map(|(key, argument)| {
        let given = matches.value_source(argument) == Some(ValueSource::CommandLine);
        let mut raw = matches.get_raw(argument).filter(|_| given)?;
        Some(Setting {
            key: key.name,
            value: raw.next()?.to_owned(),
            origin: Origin::Flag,
        })
    });
    // The first of a key is the one that holds.
    Settings(flags.chain(settings).collect())
}

#[cfg(test)]
mod tests;
