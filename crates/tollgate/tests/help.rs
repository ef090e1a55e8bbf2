//! What the commands say of themselves, as golden files: it fits 80 columns.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::process::Command;

fn help(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let output = command
        .args(args)
        .env_remove("TOLLGATE_CACHE")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_is_as_it_was_and_fits() {
    for command in [
        "", "scan", "fix", "check", "gates", "prove", "run", "robot", "cases", "doctor", "cache",
        "init",
    ] {
        let args: Vec<&str> = [command, "--help"]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        let text = help(&args);
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{args:?}");
        insta::assert_snapshot!(format!("help-{command}"), text);
    }
}
