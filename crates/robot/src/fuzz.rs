//! Bodies of the fuzz targets in `fuzz/`: what must hold for any bytes. The ordinary
//! tests run them over `fuzz/corpus`.

use std::collections::BTreeSet;

use crate::{
    Condition, Config, Groups, Includes, Kbuild, Kconfig, Makefile, Preprocessed, Tool, edits,
    fresh, read,
};

/// Tools whose words are read.
const TOOLS: [Tool; 4] = [Tool::Gcc, Tool::Clang, Tool::Sparse, Tool::Kbuild];

/// Whatever a tool says, each diagnostic is of one of its lines, and what was said
/// before is never new.
pub fn diagnostics(bytes: &[u8]) {
    let said = String::from_utf8_lossy(bytes);
    for tool in TOOLS {
        let found = read(&said, tool, "/tmp/linux");
        let lines = said.lines().count();
        assert!(found.iter().all(|one| one.at < lines));
        assert!(fresh(&found, &found).is_empty(), "its own words were new");
        assert_eq!(fresh(&[], &found).len(), found.len());
    }
}

/// Whatever a Kbuild file holds, its objects have conditions that can be told, and no
/// ring of names is followed for ever.
pub fn kbuild(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let made = Makefile::parse(&text);
    let names: BTreeSet<String> = made.objects().map(|(name, _)| name.to_owned()).collect();
    let mut all = Kbuild::default();
    all.add("", made.clone());
    all.add("a", made);
    let config = Config::parse(&text);
    for name in names.iter().take(64) {
        for object in [name.clone(), format!("a/{name}")] {
            if let Some(condition) = all.condition(&object) {
                told(&condition, &config);
            }
            assert!(!all.wholes(&object).is_empty());
        }
    }
}

/// Whatever a Kconfig file holds, its options are known by name, and each stands in
/// lines of the file.
pub fn kconfig(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut all = Kconfig::default();
    all.add("Kconfig", &text);
    let lines = text.lines().count();
    let config = Config::parse(&text);
    for entry in all.in_file("Kconfig") {
        assert!(all.has(&entry.option));
        assert!(0 < entry.lines.0 && entry.lines.0 <= entry.lines.1);
        assert!(entry.lines.1 as usize <= lines);
        told(&entry.depends, &config);
    }
}

/// Whatever a preprocessor writes, the kept lines are of the files that were asked
/// for, and the same text has the same hash wherever it stands.
pub fn preprocessed(bytes: &[u8]) {
    let wanted: BTreeSet<String> = ["fs/x.c", "include/a.h"].map(str::to_owned).into();
    let one = Preprocessed::read(bytes, "/tmp/linux", &wanted);
    assert!(one.lines.keys().all(|file| wanted.contains(file)));
    let moved = [b"# 77 \"/tmp/linux/fs/x.c\"\n\n", bytes].concat();
    let two = Preprocessed::read(&moved, "/tmp/linux", &wanted);
    assert_eq!(one.hash, two.hash);
}

/// Whatever a C file holds, each of its lines is in a group whose condition can be
/// told, and every edited line is one of the file's.
pub fn source(bytes: &[u8]) {
    let (before, after) = bytes.split_at(bytes.len() / 2);
    let groups = Groups::of(after);
    let lines = after.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    let config = Config::default();
    for line in 1..=lines {
        let group = groups.group(groups.number(line));
        told(
            &group.map_or(Condition::No, |group| group.condition.clone()),
            &config,
        );
    }
    let edits = edits(before, after);
    assert!(edits.new.iter().all(|line| (1..=lines).contains(line)));
    let mut includes = Includes::default();
    includes.add("fs/x.c", after);
    includes.add("fs/x.c", before);
}

/// What would make it hold does, as far as options decide.
fn told(condition: &Condition, config: &Config) {
    assert!(!condition.to_string().is_empty());
    let truth = condition.truth(config);
    let turned = condition.clone().negated().truth(config);
    assert_eq!(truth == turned, truth == crate::Truth::Maybe);
    let wants = condition.wants(true, config);
    assert!(truth != crate::Truth::Yes || wants.is_some_and(|all| all.is_empty()));
}

#[cfg(test)]
mod tests {
    use tollgate_testing::corpus::run;

    #[test]
    fn the_corpus_of_diagnostics_holds() {
        run("robot_diagnostics", super::diagnostics);
    }

    #[test]
    fn the_corpus_of_kbuild_files_holds() {
        run("robot_kbuild", super::kbuild);
    }

    #[test]
    fn the_corpus_of_kconfig_files_holds() {
        run("robot_kconfig", super::kconfig);
    }

    #[test]
    fn the_corpus_of_preprocessed_texts_holds() {
        run("robot_preprocessed", super::preprocessed);
    }

    #[test]
    fn the_corpus_of_sources_holds() {
        run("robot_source", super::source);
    }
}
