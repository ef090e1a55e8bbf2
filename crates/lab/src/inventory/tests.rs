//! What goes first, what never goes, and what it frees.

use std::fs::File;

use super::*;

/// A cache with entries of so many KiB that were used so many hours after each other.
fn cache(entries: &[(&str, usize)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, kib) in entries {
        let folder = dir.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("file"), vec![1; kib << 10]).unwrap();
    }
    dir
}

fn read(dir: &Path) -> Inventory {
    Inventory::read(dir, &Interrupt::default()).unwrap()
}

/// The same with the time of use of each as the order of their names gives it.
fn ordered(dir: &Path, names: &[&str]) -> Inventory {
    let mut inventory = read(dir);
    for entry in &mut inventory.entries {
        let at = names
            .iter()
            .position(|name| Path::new(name) == entry.name)
            .unwrap();
        entry.used = SystemTime::UNIX_EPOCH + Duration::from_secs(3600 * at as u64);
    }
    inventory
}

fn removed(plan: &Plan) -> Vec<&str> {
    plan.removed
        .iter()
        .map(|line| line.name.to_str().unwrap())
        .collect()
}

#[test]
fn everything_has_its_kind_and_is_counted_once() {
    let dir = cache(&[
        ("images/a", 1),
        ("work/x86-6.12-1", 1),
        ("work/packages/pulseaudio-1", 1),
        ("robot/prepared/c", 1),
        ("robot/configured/c", 1),
        ("robot/results", 1),
        ("results/epoll-1", 1),
        ("ccache", 1),
        ("chroots/trixie", 1),
        ("scratch/x", 1),
        ("sources/linux-source-7.3_1", 1),
        ("sources/apt", 1),
        ("photos/holiday", 1),
    ]);
    for file in ["lock", "sources/lock", "unpack.log", "chroots/lock"] {
        fs::write(dir.path().join(file), "").unwrap();
    }
    fs::create_dir(dir.path().join("chroots/.trixie.mount")).unwrap();
    let inventory = read(dir.path());
    let found: Vec<(&str, &str)> = inventory
        .entries
        .iter()
        .map(|entry| (entry.kind.name, entry.name.to_str().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("ccache", "ccache"),
            ("chroot", "chroots/trixie"),
            ("image", "images/a"),
            ("else", "photos"),
            ("result", "results/epoll-1"),
            ("cell", "robot/configured/c"),
            ("cell", "robot/prepared/c"),
            ("answers", "robot/results"),
            ("source", "sources/linux-source-7.3_1"),
            ("else", "unpack.log"),
            ("package", "work/packages/pulseaudio-1"),
            ("build", "work/x86-6.12-1"),
        ]
    );
}

#[test]
fn the_least_recently_used_goes_first_until_it_fits() {
    let names = ["images/b", "programs/c", "images/a"];
    let dir = cache(&names.map(|name| (name, 100)));
    let inventory = ordered(dir.path(), &names);
    let all = inventory.bytes();
    assert!(all >= 3 * (100 << 10), "{all}");
    let plan = |keep| inventory.plan(keep, &Users::default());
    assert_eq!(removed(&plan(all)), [""; 0]);
    assert_eq!(removed(&plan(all - 1)), ["images/b"]);
    assert_eq!(removed(&plan(150 << 10)), ["images/b", "programs/c"]);
    assert_eq!(removed(&plan(0)), names);
    let some = plan(all - 1);
    assert_eq!(
        (some.before, some.after),
        (all, all - some.removed[0].bytes)
    );
    let kept: Vec<&Kept> = some.kept.iter().map(|(_, why)| why).collect();
    assert_eq!(kept, [&Kept::Fits, &Kept::Fits]);
}

#[test]
fn what_is_in_use_and_what_is_never_removed_stays_and_is_named() {
    let names = ["results/r", "images/a", "programs/p", "music/m"];
    let dir = cache(&names.map(|name| (name, 10)));
    let inventory = ordered(
        dir.path(),
        &["results/r", "images/a", "programs/p", "music"],
    );
    let users = Users::of_test(&[("programs/p/file", "process 7")]);
    let plan = inventory.plan(0, &users);
    assert_eq!(removed(&plan), ["images/a"]);
    assert!(plan.after > 0);
    let why = |name: &str| {
        let mut kept = plan.kept.iter();
        let found = kept.find(|(line, _)| line.name == Path::new(name));
        found.map(|(_, why)| why.clone()).unwrap()
    };
    assert_eq!(why("programs/p"), Kept::InUse("process 7".to_owned()));
    assert!(matches!(why("results/r"), Kept::Never(reason) if reason.contains("answer")));
    assert!(matches!(why("music"), Kept::Never(reason) if reason.contains("does not know")));
    // A script that works in a folder uses all of it.
    let users = Users::of_test(&[("images", "a script")]);
    assert_eq!(removed(&inventory.plan(0, &users)), ["programs/p"]);
}

#[test]
fn what_entries_share_is_freed_by_the_last_of_them() {
    let names = ["trees/t", "work/w"];
    let dir = cache(&names.map(|name| (name, 0)));
    let [tree, work] = names.map(|name| dir.path().join(name));
    fs::write(tree.join("shared"), vec![1; 1 << 20]).unwrap();
    fs::hard_link(tree.join("shared"), work.join("shared")).unwrap();
    // A file of the user's, which stays whatever is removed.
    let own = tempfile::tempdir_in(dir.path().parent().unwrap()).unwrap();
    fs::write(own.path().join("a.c"), vec![1; 1 << 20]).unwrap();
    fs::hard_link(own.path().join("a.c"), work.join("a.c")).unwrap();
    let inventory = ordered(dir.path(), &names);
    let mib = |bytes: u64| bytes >> 20;
    assert_eq!(mib(inventory.bytes()), 1);
    let alone: Vec<u64> = inventory.entries().map(|(_, bytes)| mib(bytes)).collect();
    assert_eq!(alone, [0, 0]);
    let plan = inventory.plan(0, &Users::default());
    let freed: Vec<u64> = plan.removed.iter().map(|line| mib(line.bytes)).collect();
    assert_eq!(freed, [0, 1]);
    assert_eq!(mib(plan.after), 0);
}

#[test]
fn what_is_removed_is_gone_and_the_rest_is_there() {
    let names = ["images/a", "images/b"];
    let dir = cache(&names.map(|name| (name, 10)));
    let inventory = ordered(dir.path(), &names);
    let cache = Cache::open(dir.path()).unwrap();
    let plan = inventory.plan(inventory.bytes() - 1, &Users::default());
    plan.carry_out(&cache, &Interrupt::default()).unwrap();
    assert!(!dir.path().join("images/a").exists());
    assert!(dir.path().join("images/b/file").exists());
    assert_eq!(read(dir.path()).bytes(), plan.after);
}

#[test]
fn what_is_used_is_young_again() {
    let dir = cache(&[("images/a", 1)]);
    let folder = dir.path().join("images/a");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    File::open(&folder).unwrap().set_modified(long_ago).unwrap();
    let cache = Cache::open(dir.path()).unwrap();
    cache.used(&folder).unwrap();
    let now = fs::metadata(&folder).unwrap().modified().unwrap();
    assert!(now > long_ago + Duration::from_secs(3600));
}

#[test]
fn who_stands_in_an_entry_is_seen() {
    let dir = cache(&[("images/a", 1), ("sources/s", 1)]);
    let root = dir.path().canonicalize().unwrap();
    fs::write(root.join("sources/lock"), "").unwrap();
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .current_dir(root.join("images/a"))
        .spawn()
        .unwrap();
    let script = File::open(root.join("sources/lock")).unwrap();
    script.lock().unwrap();
    let cache = Cache::open(&root).unwrap();
    let users = Users::now(&cache);
    let by = users.of(Path::new("images/a")).map(str::to_owned);
    assert_eq!(by, Some(format!("process {}", child.id())));
    let by = users.of(Path::new("sources/s")).unwrap();
    assert!(by.contains("a script"), "{by}");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(script);
    assert_eq!(Users::now(&cache).of(Path::new("sources/s")), None);
}

#[test]
fn no_cache_holds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let inventory = read(&dir.path().join("none"));
    assert_eq!((inventory.entries().count(), inventory.bytes()), (0, 0));
}
