//! `tollgate prove` on trees that have not every option of the fragments, on a fake tree
//! and a fake QEMU.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use support::{Lab, code, run};

const CORE: &str = include_str!("../../../data/config/x86_64-core.config");

const BOOT: &str = include_str!("../../../data/config/x86_64-boot.config");

/// A Kconfig file with every option of the profile core but for `without`, and `more`.
fn kconfig(without: &[&str], more: &str) -> String {
    let named = CORE.lines().chain(BOOT.lines()).filter_map(|line| {
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

/// `prove epoll --config FILE`, and what it prints.
fn with_config(lab: &Lab, name: &str, text: &str) -> (i32, String, String) {
    std::fs::write(lab.path(name), text).unwrap();
    let output = run(&mut lab.prove(&["--config", &format!("./{name}")]));
    let words = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    (code(&output), words(&output.stdout), words(&output.stderr))
}

/// The configuration of one of the images.
fn configuration(lab: &Lab) -> String {
    let images = std::fs::read_dir(lab.cache().join("images")).unwrap();
    let folder = images.map(|image| image.unwrap().path()).next().unwrap();
    std::fs::read_to_string(folder.join("config")).unwrap()
}

#[test]
fn lines_of_the_users_are_laid_over_the_cases_profile() {
    let lab = Lab::new();
    let own = "# slower\nCONFIG_HZ_1000=y\n# CONFIG_HZ_100 is not set\n";
    let (code, stdout, said) = with_config(&lab, "my.config", own);
    assert_eq!(code, 0, "{said}");
    let words = "config my.config over x86_64-core";
    assert!(stdout.contains(words), "{stdout}");
    let made = configuration(&lab);
    assert!(made.contains("\nCONFIG_HZ_1000=y\n") && made.contains("\nCONFIG_EPOLL=y\n"));
    assert!(!made.contains("\nCONFIG_HZ_100=y\n"), "{made}");
}

#[test]
fn a_line_of_the_users_that_the_tree_does_not_have_is_refused() {
    let lab = Lab::new();
    lab.edit("Kconfig", &kconfig(&[], ""));
    let (code, _, said) = with_config(&lab, "my.config", "CONFIG_WARP=y\n");
    assert_eq!(code, 2);
    let words = "CONFIG_WARP=y cannot be had in Linux 6.12.0-fake";
    assert!(said.contains(words), "{said}");
    let (code, _, said) = with_config(&lab, "main.c", "int main(void)\n");
    assert_eq!(code, 2);
    assert!(
        said.contains("main.c:1: int main(void): this is no line"),
        "{said}"
    );
}

#[test]
fn a_whole_config_is_built_with_what_a_guest_needs_and_what_is_lost_is_said() {
    let lab = Lab::new();
    let own = "CONFIG_CC_VERSION_TEXT=\"gcc\"\nCONFIG_ZEAL=y\nCONFIG_GONE=y\nCONFIG_M=m\n\
               # CONFIG_PVH is not set\n";
    let (code, stdout, said) = with_config(&lab, ".config", own);
    assert_eq!(code, 0, "{said}");
    for words in [
        "config .config with x86_64-boot",
        "1 of its lines are not in the kernel, which has no such option or not what it needs: CONFIG_GONE=y",
        "1 of its options are modules, which are not built",
    ] {
        assert!(stdout.contains(words), "{words:?} is not in:\n{stdout}");
    }
    let made = configuration(&lab);
    assert!(
        made.contains("CONFIG_ZEAL=y\n") && made.contains("CONFIG_PVH=y\n"),
        "{made}"
    );
    assert!(
        !made.contains("CONFIG_HZ_100"),
        "only what a guest needs: {made}"
    );
}
