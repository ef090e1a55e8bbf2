//! Rebuilds the crate when a table that it carries changes, or is a new one.
#![allow(clippy::print_stdout, reason = "cargo reads standard output")]

fn main() {
    for folder in ["arch", "code"] {
        println!("cargo::rerun-if-changed=../../data/{folder}");
    }
}
