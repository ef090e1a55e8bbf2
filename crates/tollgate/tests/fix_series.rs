//! A series of `tollgate fix` that git takes, by function and by file.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;

use support::{Lab, code, run};

const FUNCTION: &str = "#include <linux/uaccess.h>\n\nstruct s {\n\tint a, b;\n};\n\nint f(struct s *p);\n\n\
    int f(struct s *p)\n{\n\tif (__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn -14;\n\treturn 0;\n}\n";

fn with(text: &str) -> Lab {
    let lab = Lab::new();
    lab.edit("kernel/two.c", text);
    lab
}

fn git(lab: &Lab, arguments: &[&str]) {
    let identity = [
        "-c",
        "user.name=A Name",
        "-c",
        "user.email=name@example.org",
    ];
    let mut command = std::process::Command::new("git");
    let output = run(command
        .args(identity)
        .args(arguments)
        .current_dir(lab.tree()));
    assert_eq!(
        code(&output),
        0,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn git_takes_a_series_by_function_and_by_file() {
    let (head, body) = FUNCTION.split_once("int f(struct s *p)\n{").unwrap();
    let bodies = ["f", "g"].map(|name| format!("int {name}(struct s *p)\n{{{body}\n"));
    let text = head.to_owned() + &bodies.concat();
    for (per, count) in [("function", 3), ("file", 2)] {
        let lab = with(&text);
        git(&lab, &["init", "-q"]);
        git(&lab, &["add", "-A"]);
        git(&lab, &["commit", "-q", "-m", "tree"]);
        let output = run(&mut lab.tollgate(&["fix", "tree", "--output", "series", "--per", per]));
        assert_eq!(code(&output), 0, "{}", lab.said(&output));
        let mut mails: Vec<String> = fs::read_dir(lab.path("series"))
            .unwrap()
            .map(|entry| entry.unwrap().path().display().to_string())
            .filter(|path| !path.contains("0000-"))
            .collect();
        mails.sort();
        assert_eq!(mails.len(), count, "{mails:?}");
        let mut am = vec!["am", "-q"];
        am.extend(mails.iter().map(String::as_str));
        git(&lab, &am);
        let after = fs::read_to_string(lab.tree().join("kernel/two.c")).unwrap();
        assert_eq!(
            after
                .matches("user_write_access_begin(p, sizeof(*p))")
                .count(),
            2,
            "{after}"
        );
        git(&lab, &["diff", "--exit-code"]);
    }
}

/// Two functions of two files.
fn pair(text: &str) -> Lab {
    let lab = with(text);
    lab.edit("kernel/three.c", text);
    lab
}

#[test]
fn what_the_tree_lacks_is_said_once() {
    let lab = pair(FUNCTION);
    let uaccess = "include/linux/uaccess.h";
    let reason = "the style masked is not offered by this tree";
    let masked = ["fix", "tree", "--style", "masked", "--output", "series"];
    let names = ["kernel/two.c:f", "kernel/three.c:f"];
    for named in [&names[..0], &names] {
        let output = run(lab.tollgate(&masked).args(named));
        let said = lab.said(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert_eq!(said.matches(reason).count(), 1, "{said}");
        assert!(!lab.path("series").exists());
    }
    // A begin for reads alone does for no function here.
    let own = fs::read_to_string(lab.tree().join(uaccess)).unwrap();
    let reads = own
        .replace("user_write_access_begin", "other_write_begin")
        .replace("user_access_begin", "other_begin");
    lab.edit(
        uaccess,
        &format!(
            "{reads}\n#define user_read_access_begin(p, n) 1\n#define user_read_access_end() 0\n"
        ),
    );
    let output = run(&mut lab.tollgate(&["fix", "tree", "--output", "series"]));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert_eq!(
        said.matches("has no begin for a window").count(),
        1,
        "{said}"
    );
    // Of other reasons each function has its own.
    let lab = pair(&FUNCTION.replace("&p->b", "&other->b"));
    let output = run(lab
        .tollgate(&["fix", "tree", "--output", "series"])
        .args(names));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert_eq!(said.matches("to different objects").count(), 2, "{said}");
}

/// The macro is in a header that is not beside the file.
#[test]
fn a_macro_of_the_trees_headers_is_known_as_the_scan_knows_it() {
    let text = FUNCTION.replace("__put_user(", "store_put_user(");
    let lab = with(&text);
    lab.edit(
        "include/linux/store.h",
        "#define store_put_user(x, p) __put_user(x, p)\n",
    );
    let scan = run(&mut lab.tollgate(&["scan", "tree"]));
    let found = String::from_utf8_lossy(&scan.stdout).into_owned();
    assert!(found.contains("kernel/two.c"), "{found}");
    let fix = run(&mut lab.tollgate(&["fix", "tree", "kernel/two.c:f"]));
    let said = lab.said(&fix);
    assert!(!said.contains("with user accesses"), "{said}");
    assert!(
        said.contains("the access is inside the macro store_put_user()"),
        "{said}"
    );
}

/// Where an architecture has no begin of its own, a window saves nothing.
#[test]
fn an_architecture_without_windows_is_named() {
    let lab = with(FUNCTION);
    let window = "#define user_access_begin(ptr, len) access_ok(ptr, len)\n";
    for name in ["with", "without"] {
        let folder = format!("arch/{name}/include/asm");
        fs::create_dir_all(lab.tree().join(folder)).unwrap();
    }
    lab.edit("arch/with/include/asm/uaccess.h", window);
    lab.edit(
        "arch/without/include/asm/uaccess.h",
        "#define access_ok(p, n) 1\n",
    );
    for (name, noted) in [("with", false), ("without", true)] {
        let file = format!("arch/{name}/a.c");
        lab.edit(&file, FUNCTION);
        let said = |arguments: &[&str]| {
            let output = run(&mut lab.tollgate(arguments));
            assert_eq!(code(&output), 0, "{}", lab.said(&output));
            // Beside a patch on standard error, within the list of a series.
            let list = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ");
            (lab.said(&output) + &list).contains("saves nothing")
        };
        let target = format!("{file}:f");
        assert_eq!(said(&["fix", "tree", &target]), noted, "{name}");
        let series = ["fix", "tree", &target, "--output", name];
        assert_eq!(said(&series), noted, "{name}");
    }
}
