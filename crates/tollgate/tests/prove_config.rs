//! `tollgate prove` on trees that have not every option of the fragments, on a fake tree
//! and a fake QEMU.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use support::{Lab, code, run};

const MINIMAL: &str = include_str!("../../../data/config/x86_64-minimal.config");

/// A Kconfig file with every option of the profile minimal but for `without`, and `more`.
fn kconfig(without: &[&str], more: &str) -> String {
    let named = MINIMAL.lines().filter_map(|line| {
        let option = line.strip_prefix("CONFIG_")?.split('=').next()?;
        (!without.contains(&option)).then(|| format!("config {option}\n\tbool \"it\"\n"))
    });
    named.chain([more.to_owned()]).collect()
}

#[test]
fn a_tree_with_another_name_for_an_option_is_proved_and_says_so() {
    let lab = Lab::new();
    let more = "config SYSCTL\n\tbool \"sysctl\"\n";
    let without = ["PROC_SYSCTL", "EVENTFD"];
    lab.edit("Kconfig", &kconfig(&without, more));
    let output = run(&mut lab.prove(&[]));
    let said = lab.said(&output);
    assert_eq!(code(&output), 0, "{said}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = stdout.lines().map(str::trim).collect();
    let shown = lines.join(" ");
    for words in [
        "CONFIG_PROC_SYSCTL=y is CONFIG_SYSCTL=y: ",
        "CONFIG_EVENTFD=y is not asked for: no Kconfig file of this tree defines it",
    ] {
        assert!(shown.contains(words), "{words:?} is not in:\n{stdout}");
    }
}

#[test]
fn a_tree_that_has_every_option_says_nothing() {
    let lab = Lab::new();
    lab.edit("Kconfig", &kconfig(&[], ""));
    let output = run(&mut lab.prove(&[]));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(!stdout.contains("CONFIG_"), "{stdout}");
}

#[test]
fn a_line_that_kconfig_drops_says_what_it_needs() {
    let lab = Lab::new();
    let text = kconfig(
        &["EPOLL"],
        "config EPOLL\n\tbool \"it\"\n\tdepends on ZEAL\n",
    );
    lab.edit("Kconfig", &text);
    let makefile = std::fs::read_to_string(lab.tree().join("Makefile")).unwrap();
    let copied = "\t@cp $(KCONFIG_ALLCONFIG) $(O)/.config\n";
    let dropped = "\t@grep -v CONFIG_EPOLL= $(KCONFIG_ALLCONFIG) > $(O)/.config\n";
    assert!(makefile.contains(copied));
    lab.edit("Makefile", &makefile.replace(copied, dropped));
    let output = run(&mut lab.prove(&[]));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    let words = "CONFIG_EPOLL=y (it needs CONFIG_ZEAL)";
    assert!(said.contains(words), "{said}");
}
