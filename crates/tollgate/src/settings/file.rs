//! `tollgate.toml`: where it is found, what may stand in it, what a new one holds.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ArgMatches;
use tollgate_lab::input;
use tollgate_source::shown;
use toml::de::{DeTable, DeValue};

use super::{Environment, KEYS, Key, Kind, Origin, Setting};

/// What the file is called where it is looked for.
pub(crate) const NAME: &str = "tollgate.toml";

/// What names another.
const VARIABLE: &str = "TOLLGATE_CONFIG_FILE";

/// The file that `--config-file` or the environment names.
pub(super) fn named(asked: &ArgMatches, environment: Environment<'_>) -> Option<PathBuf> {
    let flag = asked.get_raw("config_file").and_then(|mut raw| raw.next());
    let variable = || environment(VARIABLE).filter(|value| !value.is_empty());
    flag.map(OsString::from)
        .or_else(variable)
        .map(PathBuf::from)
}

/// The first of its name in a folder or those above it.
///
/// # Errors
/// Where it belongs to somebody else: it says which programs run.
pub(super) fn found(start: &Path) -> anyhow::Result<Option<PathBuf>> {
    let start = fs::canonicalize(start)
        .with_context(|| format!("the folder {} could not be found", shown(start)))?;
    for folder in start.ancestors() {
        let path = folder.join(NAME);
        match fs::metadata(&path) {
            Ok(about) => {
                refuse_foreign(&path, about.uid(), rustix::process::geteuid().as_raw())?;
                return Ok(Some(path));
            }
            Err(error) if input::is_absent(&error) => {}
            // A folder above that lets nobody look into it holds no file of the user's.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error).with_context(|| shown(&path).to_string()),
        }
    }
    Ok(None)
}

fn refuse_foreign(path: &Path, owner: u32, own: u32) -> anyhow::Result<()> {
    anyhow::ensure!(
        owner == own || owner == 0,
        "{} belongs to another user, and says which programs run: name it with --config-file if you trust it, or --config-file /dev/null for none",
        shown(path)
    );
    Ok(())
}

/// What a file says.
///
/// # Errors
/// With the line: what is no TOML, a key that there is not, a value that is no text.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Setting>> {
    let bytes = match path == Path::new("/dev/null") {
        true => Vec::new(),
        false => {
            input::given(path).with_context(|| format!("{} could not be read", shown(path)))?
        }
    };
    let text =
        String::from_utf8(bytes).with_context(|| format!("{} is no text in UTF-8", shown(path)))?;
    said(path, &text)
}

fn said(path: &Path, text: &str) -> anyhow::Result<Vec<Setting>> {
    let place = |at: usize| format!("{}:{}", shown(path), line(text, at));
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        anyhow::anyhow!("{}: {}", place(at), error.message())
    })?;
    let mut settings = Vec::new();
    for (name, value) in table.get_ref() {
        let at = name.span().start;
        let Some(key) = KEYS.iter().find(|key| key.name == name.get_ref()) else {
            let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            bail!(
                "{}: there is no setting {}; there are: {}",
                place(at),
                tollgate_source::plain(name.get_ref()),
                known.join(", ")
            );
        };
        let value = match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => text,
            _ => bail!(
                "{}: {} is a text, such as {:?}",
                place(at),
                key.name,
                key.example
            ),
        };
        settings.push(Setting {
            key: key.name,
            value: meant(key, value, path)?,
            origin: Origin::File(path.to_owned(), line(text, at)),
        });
    }
    Ok(settings)
}

/// The number of the line that a byte is in, from 1.
fn line(text: &str, at: usize) -> usize {
    let before = text.bytes().take(at);
    1 + before.filter(|byte| *byte == b'\n').count()
}

/// A value as a flag takes it: a path is relative to the file's folder.
fn meant(key: &Key, value: &str, path: &Path) -> anyhow::Result<OsString> {
    let is_path = match key.kind {
        Kind::Path => true,
        Kind::Command => value.contains('/'),
        Kind::Word => false,
    };
    if !is_path {
        return Ok(value.into());
    }
    if let Some(below) = value.strip_prefix("~/") {
        let home = env::var_os("HOME").filter(|home| !home.is_empty());
        let home = home.with_context(|| format!("{value} in {}: HOME is not set", shown(path)))?;
        return Ok(Path::new(&home).join(below).into());
    }
    let full = std::path::absolute(path)?;
    let folder = full.parent().unwrap_or(&full);
    Ok(folder.join(value).into())
}

/// A file that sets nothing and says of each setting what it is.
pub(crate) fn template() -> String {
    let mut text = format!(
        "# {NAME}: settings of tollgate for the folder that it lies in, and those below it.\n\
         # A flag goes over a variable of the environment, and that over this file. Paths\n\
         # are relative to its folder. docs/configuration.md has the rules.\n"
    );
    for key in &KEYS {
        let flags: BTreeSet<&str> = key
            .flags
            .iter()
            .filter_map(|(path, _)| path.first().copied())
            .collect();
        let flags: Vec<&str> = flags.into_iter().collect();
        text += &format!(
            "\n# {}.\n# For: {}. Otherwise: {}.\n# Environment: {}\n#{} = {:?}\n",
            key.about,
            flags.join(", "),
            key.otherwise,
            key.variable,
            key.name,
            key.example
        );
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn what_a_new_file_shows_can_be_set() {
        let text = template();
        assert_eq!(said(Path::new(NAME), &text).unwrap(), []);
        let set = text.lines().map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        });
        let set: String = set.collect();
        let keys: Vec<&str> = said(Path::new("/f/x.toml"), &set)
            .unwrap()
            .iter()
            .map(|setting| setting.key)
            .collect();
        let all: BTreeSet<&str> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(keys.into_iter().collect::<BTreeSet<_>>(), all);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &str| {
            said(Path::new("d/tollgate.toml"), text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            wrong("# x\ntree = \"a\"\ncashe = \"b\"\n"),
            "d/tollgate.toml:3: there is no setting cashe; there are: tree, cache, compiler, config, qemu, engine, cluster"
        );
        assert_eq!(
            wrong("\n\ntree = 3\n"),
            "d/tollgate.toml:3: tree is a text, such as \"linux\""
        );
        assert!(wrong("[tree]\nx = 1").starts_with("d/tollgate.toml:1: tree is a text"));
        assert!(wrong("tree = \"\"").starts_with("d/tollgate.toml:1: tree is a text"));
        assert!(wrong("tree = \"a\"\ntree = \"b\"").starts_with("d/tollgate.toml:2: "));
        assert!(wrong("\ntree").starts_with("d/tollgate.toml:2: "));
    }

    #[test]
    fn a_file_of_somebody_else_is_not_followed() {
        let refused = |owner| refuse_foreign(Path::new("/d/tollgate.toml"), owner, 1000);
        refused(1000).unwrap();
        refused(0).unwrap();
        let said = refused(1001).unwrap_err().to_string();
        assert!(
            said.contains("belongs to another user") && said.contains("--config-file"),
            "{said}"
        );
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let of = |text: &str| {
            let all = said(Path::new("/f/tollgate.toml"), text).unwrap();
            all.into_iter().next().unwrap().value
        };
        assert_eq!(of("tree = \"linux\""), "/f/linux");
        assert_eq!(of("tree = \"/linux\""), "/linux");
        assert_eq!(of("compiler = \"gcc-12\""), "gcc-12");
        assert_eq!(of("compiler = \"bin/gcc\""), "/f/bin/gcc");
        assert_eq!(of("config = \"distro\""), "distro");
    }
}
