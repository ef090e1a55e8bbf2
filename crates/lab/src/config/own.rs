//! A configuration of the user's: lines for a profile, or a whole `.config`.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use tollgate_robot::Kconfig;
use tollgate_source::shown;

use super::{Adjusted, Error, Fitter, Fragment, holds, is_option, symbol};
use crate::input;

/// What Kconfig writes into each `.config` itself: the compiler that it was made with
/// (init/Kconfig, CC_VERSION_TEXT; since Linux 4.18).
const OF_KCONFIG: &str = "CONFIG_CC_VERSION_TEXT=";

/// Options that are named where several are told of.
const NAMED: usize = 8;

/// A file of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// What results call it: the name of the file.
    pub name: String,
    text: String,
}

impl Own {
    /// Reads it.
    ///
    /// # Errors
    /// When it cannot be read, or has a line that no `.config` has.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = input::source(path).map_err(|source| unreadable(path, source))?;
        let name = path.file_name().map_or(path, Path::new);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Self::parse(&shown(name).to_string(), text).map_err(|(line, text)| Error::Line {
            path: path.to_owned(),
            line,
            text,
        })
    }

    /// Or the number, from 1, and the text of the first line that is none.
    fn parse(name: &str, text: String) -> Result<Self, (usize, String)> {
        let stray = |line: &str| {
            let line = line.trim();
            !(line.is_empty() || line.starts_with('#') || is_setting(line))
        };
        match text.lines().enumerate().find(|(_, line)| stray(line)) {
            Some((index, line)) => Err((index + 1, line.trim().to_owned())),
            None => Ok(Self {
                name: name.to_owned(),
                text,
            }),
        }
    }

    /// Whether it is all of a configuration, as Kconfig writes it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.text.lines().any(|line| line.starts_with(OF_KCONFIG))
    }

    /// Laid over a profile that fits a tree: its lines decide, and each is asked for.
    ///
    /// # Errors
    /// When the tree has not what one asks for.
    pub fn over(
        &self,
        profile: &Fragment,
        fitter: &Fitter<'_>,
    ) -> Result<(Fragment, Vec<Adjusted>), Error> {
        let lines = self.text.lines().map(str::trim).map(str::to_owned);
        let lines: Vec<String> = lines.filter(|line| is_option(line)).collect();
        let (lines, adjusted) = fitter.lines(&lines)?;
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let fragment = Fragment {
            name: format!("{} over {}", self.name, profile.name),
            text: super::over(&profile.text, &text),
            ground: None,
        };
        Ok((fragment, adjusted))
    }

    /// As what `boot`, which a guest cannot do without, is laid over.
    #[must_use]
    pub fn below(&self, boot: Fragment) -> Fragment {
        Fragment {
            name: format!("{} with {}", self.name, boot.name),
            ground: Some(self.text.clone()),
            ..boot
        }
    }
}

/// `CONFIG_A=y`
fn is_setting(line: &str) -> bool {
    let name = line
        .strip_prefix("CONFIG_")
        .and_then(|rest| rest.split_once('='));
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.is_some_and(|(name, _)| !name.is_empty() && name.chars().all(word))
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::Unreadable {
        path: path.to_owned(),
        source,
    }
}

impl Fragment {
    /// What of the ground the configuration that Kconfig made does not have, in words; of
    /// a fragment without a ground nothing, for all of it was checked.
    #[must_use]
    pub fn dropped(&self, result: &str, kconfig: &Kconfig) -> Vec<String> {
        let Some(ground) = &self.ground else {
            return Vec::new();
        };
        let own: BTreeSet<&str> = self.text.lines().filter_map(symbol).collect();
        let kept: BTreeSet<&str> = result.lines().map(str::trim).collect();
        let options = ground.lines().map(str::trim).filter(|line| is_option(line));
        let lost = options.filter(|line| {
            let chosen = symbol(line).filter(|name| !own.contains(name));
            chosen.is_some_and(|name| can_be_chosen(name, kconfig)) && !holds(&kept, line)
        });
        let lost: Vec<&str> = lost.collect();
        let modules = result.lines().filter(|line| line.ends_with("=m")).count();
        let told = [
            said(
                &lost,
                "of its lines are not in the kernel, which has no such option or not what it needs",
            ),
            (modules > 0)
                .then(|| format!("{modules} of its options are modules, which are not built")),
        ];
        told.into_iter().flatten().collect()
    }
}

/// What has a prompt is the user's choice, as is what the tree does not have: the rest
/// says what the compiler can do and what other options select.
fn can_be_chosen(name: &str, kconfig: &Kconfig) -> bool {
    let option = name.strip_prefix("CONFIG_");
    option.is_some_and(|option| !kconfig.has(option) || kconfig.has_prompt(option))
}

fn said(lines: &[&str], what: &str) -> Option<String> {
    let named: Vec<&str> = lines.iter().take(NAMED).copied().collect();
    let more = match lines.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!lines.is_empty()).then(|| format!("{} {what}: {}{more}", lines.len(), named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "#\n# Linux/x86 6.12.117 Kernel Configuration\n#\n\
        CONFIG_CC_VERSION_TEXT=\"gcc 12\"\nCONFIG_A=y\n# CONFIG_B is not set\n\
        CONFIG_C=y\nCONFIG_M=m\nCONFIG_GCC_VERSION=120200\n";

    fn kconfig() -> Kconfig {
        let mut kconfig = Kconfig::default();
        let mut text: String = ["A", "B", "C", "M"]
            .map(|name| format!("config {name}\n\ttristate \"it\"\n"))
            .concat();
        text += "config GCC_VERSION\n\tint\nconfig CC_VERSION_TEXT\n\tstring\n";
        kconfig.add("Kconfig", &text);
        kconfig
    }

    fn own(text: &str) -> Own {
        Own::parse("my.config", text.to_owned()).unwrap()
    }

    fn fragment(text: &str) -> Fragment {
        Fragment {
            name: "boot".into(),
            text: text.into(),
            ground: None,
        }
    }

    #[test]
    fn lines_are_laid_over_a_profile_and_each_is_asked_for() {
        let kconfig = kconfig();
        let fitter = Fitter::new(&kconfig, "6.12.117").unwrap();
        let profile = fragment("# why\nCONFIG_A=y\nCONFIG_B=y\n");
        let lines = own("# mine\n# CONFIG_B is not set\n CONFIG_C=y\n");
        assert!(!lines.is_whole());
        let (all, adjusted) = lines.over(&profile, &fitter).unwrap();
        assert_eq!(all.name, "my.config over boot");
        assert_eq!(
            all.text,
            "# why\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=y\n"
        );
        assert_eq!((adjusted.len(), all.ground.is_none()), (0, true));
        let error = own("CONFIG_X=y\n").over(&profile, &fitter).unwrap_err();
        assert!(
            error.to_string().contains("CONFIG_X=y cannot be had"),
            "{error}"
        );
    }

    #[test]
    fn a_whole_one_lies_below_what_a_guest_needs() {
        let whole = own(WHOLE);
        assert!(whole.is_whole());
        let all = whole.below(fragment("CONFIG_B=y\n"));
        assert_eq!(all.name, "my.config with boot");
        let wanted = all.wanted();
        assert!(wanted.contains("CONFIG_A=y\n") && wanted.ends_with("CONFIG_B=y\n"));
        assert!(!wanted.contains("CONFIG_B is not set"));
        all.check("CONFIG_B=y\n").unwrap();
        all.check("CONFIG_A=y\n").unwrap_err();
    }

    #[test]
    fn what_kconfig_dropped_of_a_whole_one_is_named_and_modules_are_counted() {
        let all = own(&format!("{WHOLE}CONFIG_GONE=y\n")).below(fragment("CONFIG_B=y\n"));
        let made = "CONFIG_A=y\nCONFIG_B=y\nCONFIG_M=m\nCONFIG_GCC_VERSION=140200\n";
        let told = all.dropped(made, &kconfig());
        assert_eq!(
            told,
            [
                "2 of its lines are not in the kernel, which has no such option or not what it needs: CONFIG_C=y, CONFIG_GONE=y",
                "1 of its options are modules, which are not built",
            ]
        );
        assert_eq!(fragment("CONFIG_A=y\n").dropped("", &kconfig()), [""; 0]);
    }

    #[test]
    fn what_is_no_configuration_is_refused_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("main.c");
        std::fs::write(&path, "# CONFIG_A is not set\n\nint main(void)\n").unwrap();
        let error = Own::read(&path).unwrap_err().to_string();
        assert!(error.contains("main.c:3: int main(void)"), "{error}");
        let error = Own::read(&dir.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("could not read"), "{error}");
    }
}
