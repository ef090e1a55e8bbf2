//! Single objects of a tree, compiled as they are and with a file changed.
//!
//! make is asked for an object once; after that its own command line, which it
//! keeps beside the object, is run (Kbuild's `.NAME.o.cmd`, see
//! scripts/Kbuild.include): compiler, then objtool.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use bstr::ByteSlice as _;
use tollgate_source::{TreePath, shown};

use crate::build::assignment;
use crate::cache;
use crate::config::{self, Fragment};
use crate::copy::{self, PrivateCopy};
use crate::input;
use crate::process::{self, Runner};
use crate::products::Products;
use crate::remembered::Memory;
use crate::space;
use crate::tree::{Change, Kind, Manifest, Tree};

/// Why no object can be compiled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The private copy of the tree could not be made.
    #[error(transparent)]
    Copy(#[from] copy::Error),
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] crate::tree::Error),
    /// The folder could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// The configuration is not what was asked for.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// What is carried inside does not have its form.
    #[error(transparent)]
    Defect(#[from] tollgate_defect::Defect),
    /// make failed before there was any object.
    #[error("make {goal} failed. The first error:\n\n{first_error}\n\nThe whole log is {}{room}", shown(.log))]
    Make {
        /// What it was asked for.
        goal: String,
        /// The first error of make.
        first_error: String,
        /// The log of make.
        log: PathBuf,
        /// The disk that is full, where that is why; else nothing.
        room: String,
    },
}

/// What is compiled, and with what.
#[derive(Debug)]
pub struct Setting<'a> {
    /// The tree; only read.
    pub tree: &'a Tree,
    /// What each of its files holds.
    pub manifest: &'a Manifest,
    /// What is remembered of it.
    pub memory: &'a Arc<Memory>,
    /// Kbuild's name for the architecture, `x86_64`.
    pub arch: &'a str,
    /// The options over `make allmodconfig`.
    pub fragment: &'a Fragment,
    /// Starts the programs.
    pub runner: &'a Runner,
    /// Compiler runs at a time while the build is prepared.
    pub jobs: usize,
}

/// What a compiler and objtool said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Whether there is an object now.
    pub success: bool,
    /// Every line of both.
    pub said: String,
}

/// A private copy of a tree with a configured build beside it.
#[derive(Debug)]
pub struct Objects<'a> {
    root: PathBuf,
    copy: PrivateCopy,
    setting: Setting<'a>,
}

impl<'a> Objects<'a> {
    /// Brings the folder `root`, which need not exist yet, to where objects of
    /// the tree can be compiled. What an interrupted run left is undone.
    ///
    /// # Errors
    /// When the copy, the configuration or what make prepares fails.
    pub fn open(root: PathBuf, setting: Setting<'a>) -> Result<Self, Error> {
        cache::make_folder(&root)?;
        let products = Products::new(root.join("build"), root.join("built.json"));
        let memory = Arc::clone(setting.memory);
        let copy = PrivateCopy::new(root.join("tree"), root.join("tree.json"), products, memory);
        let objects = Self {
            root,
            copy,
            setting,
        };
        let Setting {
            tree,
            manifest,
            runner,
            ..
        } = objects.setting;
        objects
            .copy
            .sync(tree, &Change::default(), manifest, runner.interrupt())?;
        objects.configure()?;
        Ok(objects)
    }

    /// The command line that makes the object, `fs/eventpoll.o`; none where this
    /// configuration does not build it.
    ///
    /// # Errors
    /// When make cannot be run, or the user asks to stop.
    pub fn recipe(&self, object: &str) -> Result<Option<OsString>, Error> {
        let mark = self.made().join(object.replace('/', "-"));
        if !mark.exists() {
            // What fails here has no object, which is the answer, unless there was
            // no room for one.
            if !self.make(&[object], &[])? {
                self.room_left(object)?;
            }
            cache::write_file(&mark, b"")?;
        }
        saved(&self.build(), object)
    }

    /// Compiles with the file `path` holding `text`, and puts back what it held.
    ///
    /// # Errors
    /// When a file cannot be written, or the shell cannot be run.
    pub fn compile(&self, recipe: &OsStr, path: &TreePath, text: &[u8]) -> Result<Compiled, Error> {
        let known = self.setting.manifest.entries().get(path);
        let kind = known.map_or(Kind::File, |entry| entry.kind);
        let place = self.copy.root().join(path);
        let original = input::source(&place).map_err(|error| cache::Error::Read {
            path: place,
            reason: error.to_string(),
        })?;
        // A new file takes the place of the hard link into the user's tree.
        self.copy.replace(path, text, kind)?;
        let compiled = self.run(recipe);
        self.copy.replace(path, &original, kind)?;
        compiled
    }

    fn run(&self, recipe: &OsStr) -> Result<Compiled, Error> {
        let mut command = Command::new("sh");
        command.args(["-e", "-c"]).arg(recipe);
        command.current_dir(self.build());
        let mut said = String::new();
        let log = self.root.join("object.log");
        let keep = &mut |line: &str| {
            said.push_str(line);
            said.push('\n');
        };
        crate::build::clean_environment(&mut command);
        let status = self.setting.runner.logged(&mut command, &log, None, keep)?;
        let success = status.success();
        let room = match success {
            true => String::new(),
            false => self.room(&said),
        };
        if !room.is_empty() {
            return Err(Error::Make {
                goal: "of one object".to_owned(),
                first_error: crate::build::first_error(&said),
                log,
                room,
            });
        }
        Ok(Compiled { success, said })
    }

    /// Makes `.config` and what every object needs, where the tree or the
    /// fragment is not the one of last time.
    fn configure(&self) -> Result<(), Error> {
        let stamp = self.root.join("configured");
        let wanted = crate::tree::hash(
            [
                self.setting.manifest.id(),
                self.setting.fragment.text.clone(),
            ]
            .join("\0")
            .as_bytes(),
        );
        let config = self.build().join(".config");
        if cache::holds(&stamp, &wanted)? && config.is_file() {
            return Ok(());
        }
        // make looks at each object again: its command line may be another.
        cache::remove_folder(&self.made())?;
        for folder in [self.build(), self.made()] {
            cache::make_folder(&folder)?;
        }
        let fragment = self.root.join("fragment.config");
        cache::write_file(&fragment, self.setting.fragment.text.as_bytes())?;
        let variable = assignment("KCONFIG_ALLCONFIG", &fragment);
        self.must("allmodconfig", &[variable])?;
        let made = cache::read_file(&config)?;
        self.setting
            .fragment
            .check(&String::from_utf8_lossy(&made))?;
        self.must("modules_prepare", &[])?;
        Ok(cache::write_file(&stamp, wanted.as_bytes())?)
    }

    fn must(&self, goal: &str, variables: &[OsString]) -> Result<(), Error> {
        match self.make(&[goal], variables)? {
            true => Ok(()),
            false => Err(self.failed(goal)?),
        }
    }

    /// What the log of make says of a failure.
    fn failed(&self, goal: &str) -> Result<Error, Error> {
        let log = self.root.join("make.log");
        let said = cache::read_file(&log)?;
        let said = String::from_utf8_lossy(&said);
        Ok(Error::Make {
            goal: goal.to_owned(),
            first_error: crate::build::first_error(&said),
            log,
            room: self.room(&said),
        })
    }

    /// Where a program wrote that failed for want of room.
    fn room(&self, said: &str) -> String {
        space::after_failure(said, &[&self.root, &std::env::temp_dir()])
    }

    fn room_left(&self, goal: &str) -> Result<(), Error> {
        match self.failed(goal)? {
            Error::Make { room, .. } if room.is_empty() => Ok(()),
            full => Err(full),
        }
    }

    fn make(&self, goals: &[&str], variables: &[OsString]) -> Result<bool, Error> {
        let mut command = Command::new("make");
        command
            .arg("-C")
            .arg(self.copy.root())
            .arg(assignment("O", &self.build()))
            .arg(format!("ARCH={}", self.setting.arch))
            .arg(format!("-j{}", self.setting.jobs))
            .args(variables)
            .args(goals);
        crate::build::clean_environment(&mut command);
        let log = self.root.join("make.log");
        let runner = self.setting.runner;
        Ok(runner
            .logged(&mut command, &log, None, &mut |_| {})?
            .success())
    }

    fn build(&self) -> PathBuf {
        self.root.join("build")
    }

    fn made(&self) -> PathBuf {
        self.root.join("made")
    }
}

/// The command line that make kept beside an object; none of one that is not there.
fn saved(build: &Path, object: &str) -> Result<Option<OsString>, Error> {
    let place = build.join(object);
    let Some(name) = place.file_name().filter(|_| place.is_file()) else {
        return Ok(None);
    };
    let mut saved = OsString::from(".");
    saved.push(name);
    saved.push(".cmd");
    let text = cache::read_if_there(&place.with_file_name(saved))?;
    let line = text.and_then(|text| command_line(&text));
    Ok(line.map(OsString::from_vec))
}

/// What the first line of a `.cmd` file assigns, as the shell wants it: bytes,
/// since the path of the tree stands in it.
fn command_line(text: &[u8]) -> Option<Vec<u8>> {
    let (name, line) = text.lines().next()?.split_once_str(" := ")?;
    let own = name.starts_with(b"savedcmd_") || name.starts_with(b"cmd_");
    own.then(|| line.replace("$$", "$").replace("$(pound)", "#"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_stands_beside_an_object_that_is_there() {
        let build = tempfile::tempdir().unwrap();
        let folder = build.path().join("fs");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(".a.o.cmd"), "savedcmd_fs/a.o := gcc -c\n").unwrap();
        assert_eq!(saved(build.path(), "fs/a.o").unwrap(), None);
        std::fs::write(folder.join("a.o"), "").unwrap();
        std::fs::write(folder.join("b.o"), "").unwrap();
        assert_eq!(saved(build.path(), "fs/a.o").unwrap().unwrap(), "gcc -c");
        assert_eq!(saved(build.path(), "fs/b.o").unwrap(), None);
    }

    #[test]
    fn the_command_line_of_an_object_is_read() {
        let text = b"savedcmd_fs/a.o := gcc -DX='\"$$y\"' -D'Z=$(pound)' -c -o fs/a.o fs/a.c\n\nsource_fs/a.o := a.c\n";
        assert_eq!(
            command_line(text).unwrap(),
            b"gcc -DX='\"$y\"' -D'Z=#' -c -o fs/a.o fs/a.c"
        );
        assert_eq!(command_line(b"deps := x\n"), None);
        assert_eq!(command_line(b""), None);
    }
}
