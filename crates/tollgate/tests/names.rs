//! Names of files that speak to terminals or are not UTF-8, in every command; files
//! without an end, and larger than anything that is read.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test says what it expects, and what it skips"
)]

#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{Lab, code, run};

const PAIR: &str = "#include <linux/uaccess.h>\n\nstruct s {\n\tint a, b;\n};\n\nint f(struct s *p);\n\n\
    int f(struct s *p)\n{\n\tif (__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn -14;\n\treturn 0;\n}\n";
const WRONG: &str = "int g(struct s __user *p)\n{\n\tif (!user_access_begin(p, 8))\n\t\treturn 1;\n\treturn 0;\n}\n";

/// A colour, a new line, a bell, a turn of the text, a backslash; and no UTF-8.
const NAMES: [&[u8]; 3] = [
    b"a\x1b[31m\n\x07\\z",
    "b\u{202e}\u{9b}\u{200d}".as_bytes(),
    b"c\xff \xc3(%",
];
const SHOWN: [&str; 3] = [
    "a\\x1b[31m\\n\\x07\\\\z",
    "b\\u{202e}\\u{9b}\\u{200d}",
    "c\\xff \\xc3(%",
];
const URIS: [&str; 3] = [
    "a%1B%5B31m%0A%07%5Cz",
    "b%E2%80%AE%C2%9B%E2%80%8D",
    "c%FF%20%C3%28%25",
];

fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

fn named(bytes: &[u8], ending: &str) -> OsString {
    name(&[bytes, ending.as_bytes()].concat()).to_owned()
}

/// A lab in which folder, tree and file have such a name; its current folder is
/// where the tree lies.
struct Odd {
    lab: Lab,
    top: PathBuf,
    file: OsString,
}

impl Odd {
    fn new(bytes: &[u8]) -> Self {
        let lab = Lab::new();
        let top = lab.path("top").join(name(bytes));
        fs::create_dir_all(&top).unwrap();
        let tree = top.join(name(bytes));
        fs::rename(lab.tree(), &tree).unwrap();
        let folder = tree.join("kernel").join(name(bytes));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(named(bytes, ".c")), PAIR).unwrap();
        fs::write(folder.join(named(bytes, "-wrong.c")), WRONG).unwrap();
        let file = Path::new("kernel")
            .join(name(bytes))
            .join(named(bytes, ".c"));
        let file = file.into_os_string();
        Self { lab, top, file }
    }

    fn run(&self, words: &[&OsStr]) -> Output {
        let mut command = self.lab.tollgate(&[]);
        run(command
            .args(words)
            .current_dir(&self.top)
            .stdin(Stdio::null()))
    }
}

/// Nothing that a terminal would obey, and nothing that is not text.
fn is_plain(output: &Output, line: &str) -> String {
    let both = [output.stdout.as_slice(), &output.stderr].concat();
    let text = String::from_utf8(both).unwrap_or_else(|_| panic!("{line}: not UTF-8"));
    let speaks = |c: &char| {
        c.is_control() && !matches!(c, '\n' | '\t') || ('\u{200b}'..='\u{202e}').contains(c)
    };
    let found: Vec<char> = text.chars().filter(speaks).collect();
    assert!(found.is_empty(), "{line}: {found:?} in {text:?}");
    text
}

fn validated(output: &Output, schema: &str) -> Value {
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../schema")
        .join(schema);
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&json)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    json
}

#[test]
fn every_command_shows_names_as_text() {
    for (bytes, shown) in NAMES.into_iter().zip(SHOWN) {
        let odd = Odd::new(bytes);
        let tree = name(bytes);
        let target = [odd.file.as_bytes(), b":f"].concat();
        let wrong = [b"nothing/", bytes, b".c"].concat();
        let no_such = [b"kernel/gate.c:", bytes].concat();
        let word = OsStr::new;
        let lines: [(&[&OsStr], i32); 17] = [
            (&[word("scan"), tree, &odd.file], 1),
            (&[word("scan"), tree], 1),
            (&[word("scan"), tree, word("--format"), word("source")], 1),
            (&[word("scan"), tree, name(&wrong)], 2),
            (&[word("scan"), name(&wrong)], 2),
            (&[word("scan"), tree, word("--profile"), name(&wrong)], 2),
            (&[word("scan"), tree, word("--arch"), name(bytes)], 2),
            (&[word("check"), tree], 1),
            (&[word("check"), tree, word("--patch"), name(&wrong)], 2),
            (&[word("fix"), tree, name(&target)], 0),
            (&[word("fix"), tree, name(&no_such)], 2),
            (
                &[word("fix"), tree, name(&target), word("-o"), name(b"new")],
                0,
            ),
            (&[word("gates"), name(&wrong)], 2),
            (
                &[
                    word("prove"),
                    word("--patch"),
                    name(&wrong),
                    word("--bench"),
                    word("getppid"),
                ],
                2,
            ),
            (
                &[
                    word("prove"),
                    word("epoll"),
                    word("--tree"),
                    name(&wrong),
                    word("--cache"),
                    word("cache"),
                ],
                2,
            ),
            (
                &[word("run"), word("getppid"), word("--json"), name(&wrong)],
                2,
            ),
            (&[word("run"), name(bytes)], 2),
        ];
        for (words, wanted) in lines {
            let output = odd.run(words);
            let line = format!("{words:?}");
            let text = is_plain(&output, &line);
            assert_eq!(code(&output), wanted, "{line}: {text}");
            let of_name = wanted < 2 && words[0] != word("fix");
            assert!(
                !of_name || text.contains(&format!("{shown}/{shown}")),
                "{line}: {text}"
            );
        }
    }
}

#[test]
fn json_and_sarif_carry_names_that_are_no_text() {
    for ((bytes, shown), uri) in NAMES.into_iter().zip(SHOWN).zip(URIS) {
        let odd = Odd::new(bytes);
        let path = |form: &str, ending: &str| format!("kernel/{form}/{form}{ending}");
        for (command, ending) in [("scan", ".c"), ("check", "-wrong.c")] {
            let word = OsStr::new;
            let format = |format: &str| {
                odd.run(&[word(command), name(bytes), word("--format"), word(format)])
            };
            let json = validated(&format("json"), &format!("{command}.schema.json"));
            let found = json["findings"].as_array().unwrap();
            let own: Vec<_> = found
                .iter()
                .filter(|f| f["file"].as_str().unwrap().ends_with(ending))
                .collect();
            let [own] = own.as_slice() else {
                panic!("{found:?}")
            };
            match str::from_utf8(bytes) {
                Ok(text) => {
                    assert_eq!(own["file"], path(text, ending));
                    assert_eq!(
                        (&own["file_uri"], &json["tree"]),
                        (&Value::Null, &text.into())
                    );
                }
                Err(_) => {
                    assert_eq!(own["file"], path(shown, ending));
                    assert_eq!(own["file_uri"], path(uri, ending));
                    assert_eq!(
                        (&json["tree"], &json["tree_uri"]),
                        (&shown.into(), &uri.into())
                    );
                }
            }
            let sarif: Value = serde_json::from_slice(&format("sarif").stdout).unwrap();
            let results = sarif["runs"][0]["results"].as_array().unwrap();
            let uris = results.iter().map(|result| {
                &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            });
            assert!(
                uris.into_iter().any(|have| *have == path(uri, ending)),
                "{results:?}"
            );
        }
    }
}

#[test]
fn the_patch_of_such_a_file_applies() {
    for bytes in NAMES {
        let odd = Odd::new(bytes);
        let target = [odd.file.as_bytes(), b":f"].concat();
        // Lines around that are Latin-1 stay what they are.
        let file = odd.top.join(name(bytes)).join(&odd.file);
        let latin = PAIR.as_bytes().to_vec();
        let at = PAIR.find("\t\treturn -14").unwrap();
        let latin = [&latin[..at], b"\t\t/* \xe9 */\n", &latin[at..]].concat();
        fs::write(&file, latin).unwrap();
        let output = odd.run(&[OsStr::new("fix"), name(bytes), name(&target)]);
        assert_eq!(code(&output), 0, "{}", odd.lab.said(&output));
        let patch = odd.top.join(named(bytes, ".patch"));
        fs::write(&patch, &output.stdout).unwrap();
        let word = OsStr::new;
        let checked = odd.run(&[
            word("check"),
            name(bytes),
            word("--patch"),
            patch.as_os_str(),
        ]);
        assert_eq!(code(&checked), 0, "{}", odd.lab.said(&checked));
        let mut apply = Command::new("git");
        apply
            .args(["apply", "--check"])
            .arg(&patch)
            .current_dir(odd.top.join(name(bytes)));
        assert!(run(&mut apply).status.success());
        // And the other way, as a list of hooks has it.
        for listed in [
            odd.file.as_bytes().to_vec(),
            [odd.file.as_bytes(), b"\0"].concat(),
        ] {
            if listed.contains(&b'\n') && !listed.contains(&0) {
                continue;
            }
            let mut command = odd.lab.tollgate(&["check"]);
            command.arg(name(bytes)).arg("-").current_dir(&odd.top);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(&listed).unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(is_plain(&output, "-").contains("1 file read"));
        }
    }
}

#[test]
fn a_proof_works_where_no_name_is_utf8() {
    // Kbuild builds in no folder with white space or brackets in its path.
    let bytes = b"c\xff\xc3\x1b";
    let odd = Odd::new(bytes);
    let word = OsStr::new;
    let qemu = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu");
    let patch = named(bytes, ".patch");
    let text = "--- /dev/null\n+++ b/fs/new.h\n@@ -0,0 +1 @@\n+int x;\n";
    fs::write(odd.top.join(&patch), text).unwrap();
    let cache = named(bytes, "-cache");
    let json = named(bytes, ".json");
    let base = [
        word("prove"),
        word("epoll"),
        word("--tree"),
        name(bytes),
        word("--cache"),
        &cache,
        word("--qemu"),
        word(qemu),
        word("--json"),
        &json,
    ];
    for more in [vec![], vec![word("--patch"), patch.as_os_str()]] {
        let output = odd.run(&[base.as_slice(), &more].concat());
        let text = is_plain(&output, "prove");
        assert!(code(&output) == 0 || !more.is_empty(), "{text}");
        assert!(text.contains("c\\xff\\xc3\\x1b.json"), "{text}");
    }
    // One cache, and nothing beside it that a name was mistaken for.
    let mut beside: Vec<OsString> = fs::read_dir(&odd.top)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    // The first result has a verdict that the second lacks.
    beside.retain(|name| !name.as_bytes().ends_with(b".earlier-1.json"));
    beside.sort();
    let mut wanted = vec![name(bytes).to_owned(), cache, json, patch];
    wanted.sort();
    assert_eq!(beside, wanted);
    let fix = [
        word("fix"),
        name(bytes),
        word("include/linux/eventpoll.h:epoll_put_uevent"),
        word("--check"),
        word("--cache"),
        &wanted[1],
    ];
    let output = odd.run(&fix);
    assert_eq!(code(&output), 0, "{}", is_plain(&output, "fix"));
    let spaced = odd.run(&[
        word("prove"),
        word("epoll"),
        word("--cache"),
        word("a b"),
        word("--qemu"),
        word(qemu),
    ]);
    assert_eq!(code(&spaced), 2);
    assert!(odd.lab.said(&spaced).contains("white space, a colon"));
    assert!(!odd.top.join("a b").exists());
}

/// What has no end or no size is refused, or read to a limit, by every command.
#[test]
fn what_has_no_end_is_no_file() {
    let lab = Lab::new();
    let pipe = lab.tree().join("kernel/pipe.c");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", lab.tree().join("kernel/zero.h")).unwrap();
    lab.edit(
        "kernel/includes.c",
        &format!("#include \"zero.h\"\n#include \"../../../../dev/zero\"\n{PAIR}"),
    );
    let cases: [(&[&str], i32); 16] = [
        (&["scan", "tree"], 1),
        (&["check", "tree"], 0),
        (&["scan", "tree", "kernel/pipe.c"], 2),
        (&["check", "tree", "kernel/pipe.c"], 2),
        (&["check", "tree/kernel/pipe.c"], 2),
        (&["check", "tree/kernel/includes.c"], 0),
        (&["check", "/dev/zero"], 2),
        (&["check", "tree", "--patch", "tree/kernel/pipe.c"], 2),
        (&["check", "tree", "--patch", "/dev/zero"], 2),
        (&["scan", "tree", "--profile", "tree/kernel/pipe.c"], 2),
        (&["fix", "tree", "kernel/pipe.c:f"], 2),
        // What the header defines of the accesses is not known.
        (&["fix", "tree", "kernel/includes.c:f"], 2),
        (&["gates", "tree/kernel/pipe.c"], 2),
        (&["run", "getppid", "--against", "tree/kernel/pipe.c"], 2),
        (
            &[
                "prove",
                "--patch",
                "tree/kernel/pipe.c",
                "--bench",
                "getppid",
                "--cache",
                "cache",
            ],
            2,
        ),
        (
            &[
                "prove",
                "epoll",
                "--series",
                "tree/kernel/pipe.c",
                "--cache",
                "cache",
            ],
            2,
        ),
    ];
    for (words, wanted) in cases {
        let output = in_time(&mut lab.tollgate(words));
        assert_eq!(code(&output), wanted, "{words:?}: {}", lab.said(&output));
    }
    let proof = in_time(&mut lab.prove(&[]));
    assert_eq!(code(&proof), 0, "{}", lab.said(&proof));
    assert!(
        lab.said(&proof).contains("1 pipes or devices left out"),
        "{}",
        lab.said(&proof)
    );
    let mut endless = lab.tollgate(&["check", "tree", "--patch", "-"]);
    let output = in_time(endless.stdin(fs::File::open("/dev/zero").unwrap()));
    assert!(
        lab.said(&output).contains("more than the 256 MiB"),
        "{}",
        lab.said(&output)
    );
}

/// Ended by hand where it hangs, which is what it must not do.
fn in_time(command: &mut Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(300);
    while child.try_wait().unwrap().is_none() {
        if std::time::Instant::now() > patience {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_sparse_file_costs_no_memory() {
    let lab = Lab::new();
    let huge = fs::File::create(lab.tree().join("kernel/huge.c")).unwrap();
    huge.set_len(3 << 30).unwrap();
    let tollgate = env!("CARGO_BIN_EXE_tollgate");
    let cases: [(&[&str], i32); 6] = [
        (&["scan", "tree", "kernel/huge.c"], 2),
        (&["scan", "tree"], 1),
        (&["check", "tree", "kernel/huge.c"], 2),
        (&["check", "tree"], 0),
        (&["fix", "tree", "kernel/huge.c:f"], 2),
        (&["check", "tree", "--patch", "tree/kernel/huge.c"], 2),
    ];
    for (words, wanted) in cases {
        // A process may ask for so much at most, in KiB (setrlimit(2), RLIMIT_AS).
        let script = "ulimit -v 1500000 && exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command
            .args(["-c", script, tollgate])
            .args(words)
            .current_dir(lab.path("."));
        let output = run(&mut command);
        assert_eq!(code(&output), wanted, "{words:?}: {}", lab.said(&output));
        if wanted == 2 {
            assert!(
                lab.said(&output).contains("256 MiB"),
                "{words:?}: {}",
                lab.said(&output)
            );
        }
    }
}

/// A shell hands over pipes by path: `<(…)`, `/dev/stdin`.
#[test]
fn what_a_shell_hands_over_is_read() {
    let lab = Lab::new();
    lab.edit("kernel/wrong.c", WRONG);
    let tollgate = env!("CARGO_BIN_EXE_tollgate");
    let patch = "--- /dev/null\n+++ b/kernel/new.c\n@@ -0,0 +1,7 @@\n+int x;\n".to_owned()
        + &WRONG
            .lines()
            .map(|line| format!("+{line}\n"))
            .collect::<String>();
    fs::write(lab.path("x.patch"), patch).unwrap();
    let mail = format!(
        "From: A <a@example.org>\nSubject: [PATCH] x\n\n---\n{}",
        fs::read_to_string(lab.path("x.patch")).unwrap()
    );
    fs::write(lab.path("x.mail"), mail).unwrap();
    for (script, wanted) in [
        ("\"$0\" check <(cat tree/kernel/wrong.c)", 1),
        ("\"$0\" check /dev/stdin < tree/kernel/wrong.c", 1),
        ("cat tree/kernel/wrong.c | \"$0\" check /dev/stdin", 1),
        ("cat tree/kernel/wrong.c | \"$0\" check -", 1),
        ("\"$0\" check tree --patch <(cat x.patch)", 1),
        ("\"$0\" check tree --patch <(cat x.mail)", 1),
        ("\"$0\" check tree --patch /dev/stdin < x.patch", 1),
        ("\"$0\" check tree --patch - < x.mail", 1),
        ("\"$0\" check tree <(cat tree/kernel/wrong.c)", 2),
    ] {
        let mut command = Command::new("bash");
        command
            .args(["-c", script, tollgate])
            .current_dir(lab.path("."));
        let Ok(output) = command.output() else {
            return tollgate_testing::missing("bash", "the package bash has it");
        };
        assert_eq!(code(&output), wanted, "{script}: {}", lab.said(&output));
    }
}
