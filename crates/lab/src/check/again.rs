//! A whole tree, of which only what is not as it was is looked at.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tollgate_source::check::Checks;
use tollgate_source::{Name, TreePath};

use super::change::Note;
use super::error::Error;
use super::files::{Asked, Looked, look, side};
use super::record::{Record, Records, Stands, Watch};
use crate::stamp;

/// A tree as it is now.
struct Now<'t> {
    root: &'t Path,
    /// Its C files.
    paths: &'t [TreePath],
    stands: Stands<'t>,
}

/// What the rules say of a tree, by its C files. A record that cannot be read or kept
/// costs time and no answer.
pub(super) fn checked(
    records: &Records,
    root: &Path,
    paths: &[TreePath],
    asked: Asked<'_>,
) -> Result<Checks, Error> {
    checked_at(records, root, paths, stamp::now(), asked)
}

/// The same, begun at a time in seconds since 1970.
fn checked_at(
    records: &Records,
    root: &Path,
    paths: &[TreePath],
    began: i64,
    asked: Asked<'_>,
) -> Result<Checks, Error> {
    let full = Name::from(fs::canonicalize(root)?.as_path());
    let stands = Stands::of(root, paths, began);
    let now = Now {
        root,
        paths,
        stands,
    };
    let known = match records.read(&full) {
        Ok(known) => known.filter(|record| record.stands_on(&now.stands)),
        Err(error) => {
            (asked.notes)(Note::NotRemembered(error));
            None
        }
    };
    let Some(record) = known else {
        return looked(records, &now, records.begin(full), None, asked);
    };
    let again = record.changed(&now.stands);
    (asked.notes)(Note::Remembered {
        again: again.len(),
        of: paths.len(),
    });
    match again.is_empty() {
        true => Ok(known_already(records, &now, record, asked)),
        false => looked(records, &now, record, Some(&again), asked),
    }
}

/// No file has changed; some may have gone.
fn known_already(records: &Records, now: &Now<'_>, mut record: Record, asked: Asked<'_>) -> Checks {
    let gone = record.forget(&now.stands, &BTreeSet::new());
    let mut checks = record.checks();
    checks.spare(record.none());
    if record.settle(&now.stands) || gone {
        keep(records, &record, asked);
    }
    checks
}

/// Looks at the files of which nothing is known, or at all.
fn looked(
    records: &Records,
    now: &Now<'_>,
    mut record: Record,
    again: Option<&BTreeSet<Name>>,
    asked: Asked<'_>,
) -> Result<Checks, Error> {
    let watch = Watch::of(&now.stands);
    let Looked {
        each,
        words,
        learned,
        definers,
    } = look(now.root, now.paths, asked, Some((again, &watch)))?;
    record.forget(&now.stands, &each.names());
    let mut checks = record.checks();
    checks.merge(each.together());
    let names = checks.perhaps_inline();
    let none = match record.without_calls(&names) {
        Some(none) => none.clone(),
        None => {
            let side = side(now.root).with_definers(definers);
            let none = side.without_calls(names.clone(), &words)?;
            record.note_names(names, none.clone());
            none
        }
    };
    checks.spare(&none);
    if record.add(each, &watch) && learned {
        keep(records, &record, asked);
    }
    Ok(checks)
}

fn keep(records: &Records, record: &Record, asked: Asked<'_>) {
    if let Err(error) = records.keep(record) {
        (asked.notes)(Note::NotRemembered(error));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::progress::Silent;
    use crate::sources::sources_below;

    const LATER: i64 = 1000;

    const RIGHT: &str =
        "int f(int __user *p)\n{\n\tint a;\n\n\treturn get_user(a, p) ? -EFAULT : a;\n}\n";
    const WRONG: &str = "int f(int __user *p)\n{\n\tint a = 1;\n\n\tif (copy_to_user(p, &a, sizeof(a)) < 0)\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";

    struct Fixture(tempfile::TempDir);

    /// What was found, by file, and how many files were looked at of how many; none where
    /// nothing was known.
    type Answer = (Vec<String>, Option<(usize, usize)>);

    impl Fixture {
        fn new() -> Self {
            let fixture = Self(tempfile::tempdir().unwrap());
            fixture.write("Kconfig", "");
            fixture.write("include/linux/uaccess.h", "");
            fixture.write("include/linux/some.h", "struct some { int a; };\n");
            fixture.write("fs/Makefile", "ccflags-y += -I$(src)/own\n");
            fixture.write("fs/one.c", RIGHT);
            fixture.write("fs/two.c", WRONG);
            fixture
        }

        fn root(&self) -> std::path::PathBuf {
            self.0.path().join("tree")
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // Times are told apart by ticks of the file system's clock.
            std::thread::sleep(Duration::from_millis(15));
            fs::write(path, text).unwrap();
        }

        fn records(&self) -> Records {
            Records::of(&self.0.path().join("cache")).unwrap()
        }

        /// Checks so many seconds from now.
        fn check(&self, records: &Records, later: i64) -> Answer {
            let (root, heard) = (self.root(), Mutex::new(None));
            let found = sources_below(&root, &TreePath::top());
            let notes = |note: Note| match note {
                Note::Remembered { again, of } => *heard.lock().unwrap() = Some((again, of)),
                other => panic!("{other:?}"),
            };
            let asked = Asked {
                meter: &Silent,
                log: None,
                records: Some(records),
                notes: &notes,
            };
            let began = stamp::now() + later;
            let mut checks = checked_at(records, &root, &found.paths, began, asked).unwrap();
            checks.finish();
            assert_eq!(checks.files, found.paths.len());
            assert!(checks.skipped.is_empty());
            let found = checks.violations.iter();
            let found = found.map(|one| one.path.to_string()).collect();
            let heard = *heard.lock().unwrap();
            (found, heard)
        }

        fn later(&self) -> Answer {
            self.check(&self.records(), LATER)
        }
    }

    fn said(files: &[&str], looked: Option<(usize, usize)>) -> Answer {
        (files.iter().map(|&file| file.to_owned()).collect(), looked)
    }

    #[test]
    fn names_are_looked_for_once() {
        let names = |all: &[&str]| all.iter().map(|&own| own.to_owned()).collect();
        let fixture = Fixture::new();
        let mut record = fixture
            .records()
            .begin(Name::from(fixture.root().as_path()));
        assert_eq!(record.without_calls(&names(&["gone"])), None);
        record.note_names(names(&["gone", "there"]), names(&["gone"]));
        for asked in [names(&["gone"]), names(&["there"]), names(&[])] {
            assert_eq!(record.without_calls(&asked), Some(&names(&["gone"])));
        }
        assert_eq!(record.without_calls(&names(&["gone", "other"])), None);
    }

    #[test]
    fn what_is_as_it_was_is_not_looked_at() {
        let fixture = Fixture::new();
        assert_eq!(fixture.later(), said(&["fs/two.c"], None));
        assert_eq!(fixture.later(), said(&["fs/two.c"], Some((0, 4))));
        fixture.write("fs/one.c", WRONG);
        let both = ["fs/one.c", "fs/two.c"];
        assert_eq!(fixture.later(), said(&both, Some((1, 4))));
        assert_eq!(fixture.later(), said(&both, Some((0, 4))));
        fs::remove_file(fixture.root().join("fs/two.c")).unwrap();
        assert_eq!(fixture.later(), said(&["fs/one.c"], Some((0, 3))));
        fixture.write("fs/three.c", WRONG);
        let both = ["fs/one.c", "fs/three.c"];
        assert_eq!(fixture.later(), said(&both, Some((1, 4))));
    }

    /// What changed just now has no stamp to be known by, but its bytes.
    #[test]
    fn what_has_not_settled_is_known_by_its_bytes() {
        let fixture = Fixture::new();
        let records = fixture.records();
        assert_eq!(fixture.check(&records, 0), said(&["fs/two.c"], None));
        let known = said(&["fs/two.c"], Some((0, 4)));
        assert_eq!(fixture.check(&records, 0), known);
        // As it settles the stamp is taken; and that is known as well.
        assert_eq!(fixture.later(), known);
        assert_eq!(fixture.later(), known);
        fixture.write("fs/two.c", RIGHT);
        assert_eq!(fixture.later(), said(&[], Some((1, 4))));
    }

    /// A file of which the header that its Makefile names says what is wrong with it.
    fn hangs_on_a_makefile(folder: &str) -> Fixture {
        let fixture = Fixture::new();
        fixture.write("arch/x86/include/asm/uaccess.h", "");
        fixture.write("fs/deep/short/own.h", "struct own { long a; };\n");
        fixture.write("fs/deep/long/own.h", "struct own { long a; long b; };\n");
        let makefile = format!("ccflags-y += -I$(src)/{folder}\n");
        fixture.write("fs/deep/Makefile", &makefile);
        fixture.write(
            "fs/deep/asks.c",
            "#include \"own.h\"\nint g(struct own __user *p)\n{\n\tstruct own o;\n\n\to.a = 1;\n\treturn copy_to_user(p, &o, sizeof(o)) ? -EFAULT : 0;\n}\n",
        );
        fixture
    }

    #[test]
    fn on_a_header_or_a_makefile_everything_hangs() {
        let changes: [(&str, &str); 4] = [
            ("include/linux/some.h", "struct some { long a; };\n"),
            ("include/linux/new.h", "struct other { long a; };\n"),
            ("fs/deep/Makefile", "ccflags-y += -I$(src)/long\n"),
            ("fs/deep/Kbuild", "ccflags-y += -I$(src)/long\n"),
        ];
        for (name, text) in changes {
            let fixture = hangs_on_a_makefile("short");
            let first = fixture.later();
            assert_eq!(fixture.later().1, Some((0, 8)), "{name}");
            fixture.write(name, text);
            let is_other = name.starts_with("fs");
            assert_eq!(fixture.later().1, None, "{name}");
            assert_eq!(fixture.later().0 != first.0, is_other, "{name}");
        }
        let gone = hangs_on_a_makefile("long");
        let first = gone.later();
        fs::remove_file(gone.root().join("fs/deep/long/own.h")).unwrap();
        assert_ne!(gone.later().0, first.0);
    }

    #[test]
    fn another_program_and_who_asks_for_it_begin_anew() {
        let fixture = Fixture::new();
        fixture.later();
        let anew = fixture.records().anew();
        assert_eq!(fixture.check(&anew, LATER), said(&["fs/two.c"], None));
        assert_eq!(fixture.later(), said(&["fs/two.c"], Some((0, 4))));
        let other = fixture.records().of_another_program();
        assert_eq!(fixture.check(&other, LATER), said(&["fs/two.c"], None));
    }

    #[test]
    fn a_damaged_record_is_made_anew() {
        let fixture = Fixture::new();
        fixture.later();
        let folder = fixture.0.path().join("cache/known");
        let place = fs::read_dir(folder)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let text = fs::read_to_string(&place).unwrap();
        fs::write(&place, text.replace("fs/two.c", "fs/six.c")).unwrap();
        assert_eq!(fixture.later(), said(&["fs/two.c"], None));
        assert_eq!(fixture.later(), said(&["fs/two.c"], Some((0, 4))));
    }

    #[test]
    fn few_trees_have_a_record() {
        let one = Fixture::new();
        let records = one.records();
        for _ in 0..6 {
            Fixture::new().check(&records, LATER);
            std::thread::sleep(Duration::from_millis(15));
        }
        let folder = one.0.path().join("cache/known");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 4);
    }
}
