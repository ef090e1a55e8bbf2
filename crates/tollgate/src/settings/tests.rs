//! Which of three places wins, for each command and each setting.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::cmd::Cli;

/// A folder with a file of settings, and a tree below it.
fn room(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("linux/fs")).unwrap();
    fs::write(dir.path().join("linux/fs/a.c"), "").unwrap();
    fs::write(dir.path().join(NAME), text).unwrap();
    dir
}

fn parsed(words: &[&str], environment: &[(&str, &str)]) -> Result<Settings, String> {
    let environment: BTreeMap<_, _> = environment.iter().copied().collect();
    let words: Vec<OsString> = std::iter::once(&"tollgate")
        .chain(words)
        .map(OsString::from)
        .collect();
    match parse::<Cli>(&words, &|name| environment.get(name).map(OsString::from)) {
        Ok((_, settings)) => Ok(settings),
        Err(Refused::Usage(error)) => Err(error.to_string()),
        Err(Refused::Setting(error)) => Err(format!("{error:#}")),
    }
}

/// What a key is, and where it is from.
fn of(settings: &Settings, key: &str) -> (String, String) {
    let setting = settings.of(key).unwrap();
    let value = setting.value.to_str().unwrap().to_owned();
    (value, setting.origin.to_string())
}

/// A value that each key takes, of the flag, the environment and the file.
fn values(key: &Key) -> [&'static str; 3] {
    match key.name {
        "engine" => ["local", "slurm", "slurm"],
        _ => ["/of-flag", "/of-environment", "/of-file"],
    }
}

/// What a command asks for besides.
fn rest(path: &[&str], key: &Key) -> Vec<&'static str> {
    match (path, key.name) {
        (["prove"], _) => vec!["epoll"],
        (["run"], _) => vec!["signal"],
        (["job", "run"], _) => vec!["job.json"],
        (["robot"], _) => vec!["x.patch"],
        (["cache", "prune"], _) => vec!["--keep", "1G"],
        (["fix"], TREE) => vec!["--output", "o"],
        (["fix"], _) => vec!["linux", "a.c:f", "--check"],
        _ => vec![],
    }
}

#[test]
fn a_flag_goes_over_the_environment_and_that_over_the_file() {
    let mut tried = 0;
    for key in &KEYS {
        let [of_flag, of_environment, of_file] = values(key);
        let with = key
            .with
            .iter()
            .map(|(key, value)| format!("{key} = {value:?}\n"));
        let dir = room(&format!(
            "{}{} = {of_file:?}\n",
            with.collect::<String>(),
            key.name
        ));
        let file = dir.path().join(NAME);
        for (path, argument) in key.flags {
            let mut words: Vec<&str> = path.iter().copied().chain(rest(path, key)).collect();
            words.extend(["--config-file", file.to_str().unwrap()]);
            let given = |words: &[&str], environment: &[(&str, &str)]| {
                of(&parsed(words, environment).unwrap(), key.name)
            };
            let (said, origin) = given(&words, &[]);
            assert_eq!(said, of_file, "{words:?}");
            assert!(origin.starts_with(file.to_str().unwrap()), "{origin}");
            let environment = [(key.variable, of_environment)];
            let expected = (of_environment.to_owned(), key.variable.to_owned());
            assert_eq!(given(&words, &environment), expected, "{words:?}");
            // An empty variable is none.
            assert_eq!(given(&words, &[(key.variable, "")]).0, of_file);
            let flag = format!("--{argument}");
            let is_place = matches!((*path, key.name), (["scan" | "fix" | "check"], TREE));
            let flag = [flag.as_str(), of_flag];
            words.extend(if is_place { &flag[1..] } else { &flag[..] });
            let expected = (of_flag.to_owned(), "the command line".to_owned());
            assert_eq!(given(&words, &environment), expected, "{words:?}");
            tried += 1;
        }
    }
    assert_eq!(tried, KEYS.iter().map(|key| key.flags.len()).sum::<usize>());
}

#[test]
fn the_file_is_found_upwards_from_the_tree_that_is_named() {
    let dir = room("cache = \"kept\"\n");
    let [top, tree] = ["", "linux/fs"].map(|name| dir.path().join(name));
    let expected = top.canonicalize().unwrap().join("kept");
    for words in [
        vec!["prove", "epoll", "--tree", tree.to_str().unwrap()],
        vec!["robot", "x.patch", "--tree", tree.to_str().unwrap()],
        vec!["fix", tree.to_str().unwrap(), "a.c:f", "--check"],
    ] {
        let settings = parsed(&words, &[]).unwrap();
        assert_eq!(
            of(&settings, "cache").0,
            expected.to_str().unwrap(),
            "{words:?}"
        );
    }
    let named = [("TOLLGATE_TREE", tree.to_str().unwrap())];
    let settings = parsed(&["prove", "epoll"], &named).unwrap();
    assert_eq!(of(&settings, "cache").0, expected.to_str().unwrap());
    // The nearest one alone is read.
    fs::write(tree.join(NAME), "config = \"distro\"\n").unwrap();
    let settings = parsed(&["prove", "epoll"], &named).unwrap();
    assert_eq!(of(&settings, "config").0, "distro");
    assert_eq!(settings.of("cache"), None);
}

#[test]
fn what_is_no_folder_is_no_reason_to_find_none() {
    for words in [
        &["check", "-"][..],
        &["check", "a.c"],
        &["check", "none/a.c"],
        &["prove", "epoll", "--tree", "/none/at/all"],
    ] {
        parsed(words, &[]).unwrap();
    }
}

#[test]
fn a_named_file_goes_over_the_one_that_is_found() {
    let dir = room("cache = \"found\"\n");
    let [flag, variable] = ["flag.toml", "variable.toml"].map(|name| dir.path().join(name));
    fs::write(&flag, "cache = \"/flag\"\n").unwrap();
    fs::write(&variable, "cache = \"/variable\"\n").unwrap();
    let [flag, variable] = [&flag, &variable].map(|path| path.to_str().unwrap());
    let tree = dir.path().join("linux");
    let words = ["prove", "epoll", "--tree", tree.to_str().unwrap()];
    let named = [("TOLLGATE_CONFIG_FILE", variable)];
    assert_eq!(of(&parsed(&words, &named).unwrap(), "cache").0, "/variable");
    let words: Vec<&str> = words.into_iter().chain(["--config-file", flag]).collect();
    assert_eq!(of(&parsed(&words, &named).unwrap(), "cache").0, "/flag");
    let none: Vec<&str> = words
        .iter()
        .copied()
        .map(|word| if word == flag { "/dev/null" } else { word })
        .collect();
    assert_eq!(parsed(&none, &[]).unwrap().of("cache"), None);
}

#[test]
fn a_value_that_a_flag_does_not_know_is_said_with_its_place() {
    let dir = room("\nengine = \"cloud\"\n");
    let file = dir.path().join(NAME);
    let words = ["robot", "x.patch", "--config-file", file.to_str().unwrap()];
    let said = parsed(&words, &[]).unwrap_err();
    let expected = format!(
        "{}:2: cloud is none of the values of engine, which are local, slurm",
        file.to_str().unwrap()
    );
    assert_eq!(said, expected);
    let said = parsed(&["robot", "x.patch"], &[("TOLLGATE_ENGINE", "cloud")]).unwrap_err();
    assert!(said.starts_with("TOLLGATE_ENGINE: cloud is none"), "{said}");
}

#[test]
fn a_cluster_is_none_of_a_robot_that_builds_here() {
    let dir = room("cluster = \"c.toml\"\n");
    let file = dir.path().join(NAME);
    let words = ["robot", "x.patch", "--config-file", file.to_str().unwrap()];
    let (cli, _) = match parse::<Cli>(
        &["tollgate"]
            .iter()
            .chain(&words)
            .map(OsString::from)
            .collect::<Vec<_>>(),
        &|_| None,
    ) {
        Ok(parsed) => parsed,
        Err(refused) => panic!("{refused:?}"),
    };
    assert!(format!("{cli:?}").contains("cluster: None"), "{cli:?}");
}

#[test]
fn every_setting_stands_in_the_documentation() {
    let page = include_str!("../../../../docs/configuration.md");
    for key in &KEYS {
        let row = format!("| `{}` | `{}` |", key.name, key.variable);
        assert!(
            page.contains(&row),
            "docs/configuration.md has no row {row}"
        );
    }
}
