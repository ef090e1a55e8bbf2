//! The body is in the library, where the ordinary tests run it too.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tollgate_lab::fuzz::mail(bytes));
