//! What code of 64-bit powerpc does with the register of the gate besides windows.

#![allow(clippy::unwrap_used, dead_code, reason = "a test says what it expects")]

use tollgate_gates::{Analysis, Rule};

mod support;

/// AMR_KUAP_BLOCKED into a register.
const BLOCKED: &str = "lis 9,-769; ori 9,9,65535; sldi 9,9,32; oris 9,9,65535; ori 9,9,65535";

/// The rules that the one function breaks, which has this name and body.
fn broken(name: &str, body: &str) -> Option<Vec<(Rule, Option<String>)>> {
    let text = format!(
        "{KUAP}\n.text\n.globl {name}\n.type {name}, @function\n{name}:\n{body}\n.size {name}, . - {name}\n"
    );
    let object = support::assemble("powerpc64le-linux-gnu-as -a64 -mpower9", &text)?;
    let functions = Analysis::of(&object).unwrap().functions;
    let found = functions.into_iter().flat_map(|f| f.findings);
    Some(found.map(|f| (f.rule, f.target)).collect())
}

/// A record of __mmu_ftr_fixup, relative to itself.
const KUAP: &str = "
    .macro FEATURE from, to
    .pushsection __mmu_ftr_fixup, \"a\"
    1: .llong 1, 1
    .llong \\from - 1b, \\to - 1b, 0, 0
    .popsection
    .endm
";

#[test]
fn a_state_that_was_read_is_put_back() {
    let body = format!("mfspr 31,29\n{BLOCKED}\nmtspr 29,9\nbl foo\nnop\nmtspr 29,31\nblr");
    let name = "__ubsan_handle_shift_out_of_bounds";
    let Some(found) = broken(name, &body) else {
        return;
    };
    assert_eq!(found, []);
    let lost = body.replace("mtspr 29,31", "nop");
    assert_eq!(broken(name, &lost).unwrap(), [(Rule::ReturnClosed, None)]);
    let unread = body.replace("mfspr 31,29", "li 31,0");
    let found = broken(name, &unread).unwrap();
    assert_eq!(found[0], (Rule::CallerClosed, None));
}

#[test]
fn what_a_feature_switches_off_may_not_be_there() {
    let body = format!("2: b 3f\n4: {BLOCKED}\nmtspr 29,9\n3: blr\nFEATURE 2b, 4b");
    let Some(found) = broken("f", &body) else {
        return;
    };
    // The writing of the gate is reached: entered by a function it closes nothing.
    assert_eq!(found, [(Rule::CloseNotOpen, None)]);
    let always = body.replace("FEATURE 2b, 4b", "");
    assert_eq!(broken("f", &always).unwrap(), [(Rule::NotReached, None)]);
}

#[test]
fn entries_and_exits_of_the_kernel_have_no_windows() {
    let body = format!("{BLOCKED}\nmtspr 29,9\nblr");
    let Some(found) = broken("setup_kuap", &body) else {
        return;
    };
    assert_eq!(found, []);
    assert_eq!(
        broken("other", &body).unwrap(),
        [(Rule::CloseNotOpen, None)]
    );
}

#[test]
fn the_copies_of_newer_kernels_run_in_their_callers_window() {
    let open = "li 9,0\nmtspr 29,9";
    for name in [
        "__copy_tofrom_user_base",
        "copy_mc_generic",
        "do_uaccess_flush",
    ] {
        let body = format!("{open}\nbl {name}\nnop\n{BLOCKED}\nmtspr 29,9\nblr");
        let Some(found) = broken("f", &body) else {
            return;
        };
        assert_eq!(found, [], "{name}");
    }
    let body = format!("{open}\nbl memset\nnop\n{BLOCKED}\nmtspr 29,9\nblr");
    let target = Some("memset".to_owned());
    assert_eq!(broken("f", &body).unwrap(), [(Rule::CallInWindow, target)]);
}
