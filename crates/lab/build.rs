//! Rebuilds the crate when a file that it carries changes.
#![allow(clippy::print_stdout, reason = "cargo reads standard output")]

fn main() {
    for folder in ["cases", "data", "guest", "plugin"] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
