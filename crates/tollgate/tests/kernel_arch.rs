//! `tollgate prove epoll --arch` on a real kernel of another architecture. The
//! first run builds two kernels, so it is only run where the environment variable
//! `TOLLGATE_TEST_ARCH` names the architecture.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::process::Command;

use serde_json::Value;

#[test]
fn two_boots_of_another_architecture_agree() {
    let Some(arch) = tollgate_testing::asked("TOLLGATE_TEST_ARCH") else {
        return;
    };
    let arch = arch.into_string().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("out.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.args(["prove", "epoll", "--arch", &arch, "--json"]);
    let output = command.arg(&json).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(2), "{said}");
    let result: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let comparison = &result["comparisons"][0];
    assert_eq!(comparison["setting"]["arch"], arch.as_str());
    assert_eq!(comparison["repeat"]["moved"].as_array().unwrap().len(), 0);
    for what in ["repeat", "behaviour"] {
        let found = &comparison[what];
        assert!(found["points"].as_u64().unwrap() > 500, "{found}");
        assert_eq!(found["differences"].as_array().unwrap().len(), 0);
    }
}
