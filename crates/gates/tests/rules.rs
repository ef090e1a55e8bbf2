//! Each rule from an object that breaks it, assembled here; and any bytes.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use tollgate_gates::{Analysis, Changes, FunctionGates, Listing, Mark, Rule};

mod support;
use support::{assemble, x86};

fn function(analysis: &Analysis, name: &str) -> FunctionGates {
    analysis
        .functions
        .iter()
        .find(|f| f.name == name)
        .cloned()
        .unwrap()
}

fn broken(text: &str, name: &str) -> Option<Vec<Rule>> {
    let analysis = Analysis::of(&x86(text)?).unwrap();
    Some(
        function(&analysis, name)
            .findings
            .iter()
            .map(|f| f.rule)
            .collect(),
    )
}

const GOOD: &str = "
    FN good
    STAC
    FENCE
    PUT 1f
    PUT 1f
    CLAC
    xorl %eax, %eax
    ret
1:  CLAC
    movl $-14, %eax
    ret
    END good
    FN other
    SWAPGS_FENCE
    call __put_user_4
    call good
    call __put_user_4
    ret
    END other
";

#[test]
fn a_window_is_seen_where_the_running_kernel_has_it() {
    let Some(object) = x86(GOOD) else { return };
    let analysis = Analysis::of(&object).unwrap();
    let good = function(&analysis, "good");
    let counts = good.counts;
    assert_eq!(
        (counts.opens, counts.closes, counts.fences, counts.accesses),
        (1, 2, 1, 2)
    );
    // Between stac and clac: the fence and two stores.
    assert_eq!(
        (good.shortest(), good.longest(), good.inside),
        (Some(3), Some(3), 3)
    );
    assert_eq!(good.findings, []);
    let other = function(&analysis, "other");
    assert_eq!((other.counts.fences, other.counts.hidden), (0, 2));
    assert_eq!(analysis.patched, analysis.patched_in_functions);
    assert_eq!(
        (
            analysis.patched.opens,
            analysis.patched.closes,
            analysis.patched.fences
        ),
        (1, 2, 1)
    );
}

#[test]
fn each_rule_is_found_where_it_is_broken() {
    let cases = [
        (
            "call",
            "STAC\n call foo\n CLAC\n ret",
            vec![Rule::CallInWindow],
        ),
        (
            "icall",
            "STAC\n call *%rax\n CLAC\n ret",
            vec![Rule::CallInWindow],
        ),
        (
            "allowed",
            "STAC\n call __asan_load4_noabort\n CLAC\n ret",
            vec![],
        ),
        ("ret", "STAC\n ret", vec![Rule::ReturnOpen]),
        (
            "path",
            "STAC\n PUT 1f\n CLAC\n1: ret",
            vec![Rule::ReturnOpen],
        ),
        ("twice", "STAC\n STAC\n CLAC\n ret", vec![Rule::OpenTwice]),
        ("close", "CLAC\n ret", vec![Rule::CloseNotOpen]),
        (
            "some",
            "test %eax, %eax\n je 1f\n STAC\n1: CLAC\n ret",
            vec![Rule::CloseNotOpen],
        ),
        ("jump", "STAC\n jmp foo", vec![Rule::JumpInWindow]),
        ("ijump", "STAC\n jmp *%rax", vec![Rule::JumpInWindow]),
        ("end", "STAC", vec![Rule::EndOpen]),
        ("outside", "PUT 1f\n1: ret", vec![Rule::AccessOutside]),
        (
            "dead",
            "ret\n STAC\n CLAC\n ret",
            vec![Rule::NotReached, Rule::NotReached],
        ),
        (
            "all",
            "CLAC\n STAC\n STAC\n call foo\n ret",
            vec![
                Rule::CloseNotOpen,
                Rule::OpenTwice,
                Rule::CallInWindow,
                Rule::ReturnOpen,
            ],
        ),
        // Functions that are called with the window open.
        (
            "copy_mc_fragile",
            "CLAC\n ret",
            vec![Rule::ReturnClosed, Rule::CallerClosed],
        ),
        ("rep_movs_alternative", "PUT 1f\n1: ret", vec![]),
    ];
    for (name, body, rules) in cases {
        let text = format!("FN {name}\n {body}\n END {name}\n");
        let Some(mut found) = broken(&text, name) else {
            return;
        };
        let mut rules = rules;
        found.sort();
        rules.sort();
        assert_eq!(found, rules, "{name}");
    }
}

#[test]
fn each_rule_says_what_is_wrong_in_words_of_its_own() {
    let all = [
        Rule::CallInWindow,
        Rule::ReturnOpen,
        Rule::ReturnClosed,
        Rule::OpenTwice,
        Rule::CloseNotOpen,
        Rule::CallerClosed,
        Rule::TooManySaves,
        Rule::JumpInWindow,
        Rule::EndOpen,
        Rule::AccessOutside,
        Rule::WrongDirection,
        Rule::NotReached,
        Rule::DirectionFlag,
    ];
    for of in [Rule::words, Rule::name] {
        let said: BTreeSet<&str> = all.into_iter().map(of).collect();
        assert_eq!(said.len(), all.len());
        assert!(said.iter().all(|words| words.len() > 5), "{said:?}");
    }
    assert_eq!(Rule::WrongDirection.name(), "wrong-direction");
}

#[test]
fn the_state_may_be_saved_31_times() {
    let save = "ALT \"0x9c,0x58,0x90\", 308\n";
    for (times, rules) in [(31, vec![]), (32, vec![Rule::TooManySaves])] {
        let text = format!("FN saves\n {}\n ret\n END saves\n", save.repeat(times));
        // Without a gate or an access nothing is followed.
        let text = text.replace("FN saves", "FN saves\n STAC\n CLAC");
        let Some(found) = broken(&text, "saves") else {
            return;
        };
        assert_eq!(found, rules, "{times}");
    }
}

#[test]
fn a_tangle_of_jumps_is_given_up_and_named() {
    let text = "FN f\n STAC\n CLAC\n .rept 3000\n jmp *%rax\n .endr\n STAC\n ret\n END f\n";
    let Some(object) = x86(text) else { return };
    let f = function(&Analysis::of(&object).unwrap(), "f");
    assert_eq!((f.lost, f.findings.len()), (true, 0));
}

/// Nothing in it has to do with user memory.
#[test]
fn a_tangle_of_jumps_without_a_gate_is_no_matter() {
    let text = "FN f\n .rept 3000\n jmp *%rax\n .endr\n ret\n END f\n";
    let Some(object) = x86(text) else { return };
    let f = function(&Analysis::of(&object).unwrap(), "f");
    assert_eq!((f.lost, f.instructions), (false, 3001));
}

/// In a linked kernel the unlikely part stands in the same section as the rest.
#[test]
fn a_cold_part_in_the_same_section_belongs_to_its_function() {
    let text = "
    FN f
    STAC
    test %eax, %eax
    jne f.cold
    CLAC
    ret
    END f
    FN between
    ret
    END between
    .type f.cold, @function
f.cold:
    CLAC
    ret
    .size f.cold, . - f.cold
";
    let Some(object) = x86(text) else { return };
    let analysis = Analysis::of(&object).unwrap();
    let names: Vec<&str> = analysis.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["f", "between"]);
    let f = function(&analysis, "f");
    assert_eq!((f.counts.opens, f.counts.closes), (1, 2));
    assert_eq!(f.findings, []);
}

#[test]
fn who_watches_hears_of_each_function() {
    let Some(object) = x86("FN f\n ret\n END f\nFN g\n ret\n END g\nlabel: CLAC\n ret\n") else {
        return;
    };
    let heard = std::cell::RefCell::new(Vec::new());
    let watch = |done, of| heard.borrow_mut().push((done, of));
    Analysis::watched(&object, &watch).unwrap();
    assert_eq!(*heard.borrow(), [(0, 3), (1, 3), (2, 3)]);
}

#[test]
fn padding_behind_a_bare_label_is_no_code() {
    let Some(object) = x86("entry: CLAC\n ret\n nop\n .fill 4096, 1, 0xcc\n") else {
        return;
    };
    let entry = function(&Analysis::of(&object).unwrap(), "entry");
    assert_eq!(
        (entry.bytes, entry.instructions, entry.counts.closes),
        (4, 2, 1)
    );
}

#[test]
fn a_switch_goes_where_its_table_points() {
    let text = "
    FN f
    cmpl $1, %eax\n ja 9f\n STAC\n jmp *table(,%rax,8)
1:  CLAC\n ret
2:  PUT 1b\n CLAC
9:  cmpl $1, %eax\n ja 8f\n jmp *other(,%rax,8)
3:  nop
8:  ret
    END f
    .section .rodata
table: .quad 1b, 2b
other: .quad 3b, 8b
";
    let Some(object) = x86(text) else { return };
    let f = function(&Analysis::of(&object).unwrap(), "f");
    assert_eq!((f.counts.opens, f.counts.closes, f.lost), (1, 2, false));
    assert_eq!(f.findings, []);
}

#[test]
fn a_fault_leaves_the_window_open() {
    let text = "FN f\n STAC\n PUT 1f\n CLAC\n ret\n1: CLAC\n CLAC\n ret\n END f\n";
    assert!(broken(text, "f").is_none_or(|found| found == [Rule::CloseNotOpen]));
}

#[test]
fn openings_after_straight_code_are_found() {
    let text = "
    FN two
    STAC\n PUT 1f\n CLAC\n testl %eax, %eax\n jne 1f\n STAC\n PUT 1f\n CLAC
1:  ret
    END two
    FN called
    STAC\n CLAC\n call foo\n STAC\n CLAC\n ret
    END called
    FN helpers
    call __put_user_4\n testl %ecx, %ecx\n jne 1f\n call __put_user_8
1:  ret
    END helpers
";
    let Some(object) = x86(text) else { return };
    let analysis = Analysis::of(&object).unwrap();
    let repeats = |name| {
        function(&analysis, name)
            .repeats
            .iter()
            .map(|r| r.between)
            .collect::<Vec<_>>()
    };
    assert_eq!(repeats("two"), [2]);
    assert_eq!(repeats("called"), []);
    assert_eq!(repeats("helpers"), [2]);
}

#[test]
fn a_listing_shows_what_the_kernel_patches_in() {
    let Some(object) = x86(GOOD) else { return };
    let [listing] = Listing::of(&object, "good").unwrap().try_into().unwrap();
    let marks = listing
        .lines
        .iter()
        .map(|line| (line.mark, line.inside, line.text.as_str()));
    let marks: Vec<_> = marks.take(5).collect();
    assert_eq!(marks[0], (Mark::Open, false, "stac"));
    assert_eq!(marks[1], (Mark::Fence, true, "lfence"));
    assert_eq!(marks[2], (Mark::Other, true, "mov %eax,(%rdi)"));
    assert_eq!(marks[4], (Mark::Close, true, "clac"));
    let error = Listing::of(&object, "goo").unwrap_err().to_string();
    assert_eq!(error, "no function `goo` in the file; there is good");
}

#[test]
fn tables_inside_other_sections_of_a_linked_file_are_found() {
    let text = "
    FN f
1:  xchg %ax, %ax
    ret
2:  .byte 0x0f, 0x01, 0xcb
    ret
    END f
    .section .rodata
    .globl __start___jump_table, __stop___jump_table
    .quad 0
__start___jump_table:
    .long 1b - ., 2b - .
    .quad 0
__stop___jump_table:
";
    let Some(object) = support::linked(text) else {
        return;
    };
    let f = function(&Analysis::of(&object).unwrap(), "f");
    let rules: Vec<_> = f.findings.iter().map(|f| f.rule).collect();
    assert_eq!(rules, [Rule::ReturnOpen]);
}

#[test]
fn a_read_without_a_gate_may_be_of_kernel_memory() {
    // EX_TYPE_IMM_REG with -EFAULT, as xen_safe_read_ulong() has it.
    let read = KERNEL_READ;
    for (gate, rules) in [("", vec![]), ("STAC\n CLAC\n", vec![Rule::AccessOutside])] {
        let text = format!("FN f\n {gate} {read} ret\n END f\n");
        let Some(found) = broken(&text, "f") else {
            return;
        };
        assert_eq!(found, rules, "{gate}");
    }
}

const KERNEL_READ: &str = "
1:  movq (%rdi), %rax
2:  .pushsection __ex_table, \"a\"
    .long 1b - .
    .long 2b - .
    .long 0xfff20011
    .popsection
";

#[test]
fn a_listing_tells_the_source_line() {
    let text = format!("{}{GOOD}", support::KERNEL);
    let Some(object) = assemble("as --64 -g", &text) else {
        return;
    };
    let [listing] = Listing::of(&object, "good").unwrap().try_into().unwrap();
    let first = GOOD.lines().position(|line| line.trim() == "STAC").unwrap();
    let before = support::KERNEL.lines().count();
    let lines = listing
        .lines
        .iter()
        .map(|line| line.source.first().cloned());
    let lines: Vec<_> = lines.collect();
    let stac = lines[0].clone().unwrap();
    assert_eq!(stac.line as usize, before + first + 1);
    assert!(stac.file.ends_with("a.s"), "{}", stac.file);
    let ret = lines.last().cloned().flatten().unwrap();
    assert!(ret.line > stac.line);
    let Some(plain) = x86(GOOD) else { return };
    let [listing] = Listing::of(&plain, "good").unwrap().try_into().unwrap();
    assert!(listing.lines.iter().all(|line| line.source.is_empty()));
}

#[test]
fn source_lines_that_cannot_be_read_are_missed_by_name() {
    use object::{Object as _, ObjectSection as _};
    let text = format!("{}{GOOD}", support::KERNEL);
    let Some(object) = assemble("as --64 -gdwarf-5", &text) else {
        return;
    };
    let left_out = |object: &[u8]| {
        let [listing] = Listing::of(object, "good").unwrap().try_into().unwrap();
        listing.left_out
    };
    assert_eq!(left_out(&object), None);
    for section in [".debug_info", ".debug_line", ".debug_abbrev"] {
        let file = object::File::parse(object.as_slice()).unwrap();
        let (from, size) = file.section_by_name(section).unwrap().file_range().unwrap();
        let mut broken = object.clone();
        let from = usize::try_from(from).unwrap();
        // Behind the length of the first unit: a version that no DWARF has.
        let to = from + usize::try_from(size).unwrap();
        broken[(from + 4).min(to)..to].fill(0x7f);
        let reason = left_out(&broken).unwrap_or_else(|| panic!("{section}: nothing is said"));
        assert!(reason.contains("cannot be read: "), "{section}: {reason}");
    }
}

/// A function whose faults, cases and static branches lead into another one.
fn led_elsewhere(name: &str, way: &str, closes: &str) -> Option<[Vec<Rule>; 2]> {
    let text = format!(
        "
    FN f
    STAC
    {way}
    CLAC
    xorl %eax, %eax
    ret
    END f
    .section .text.unlikely, \"ax\"
    .type {name}, @function
{name}:
    {closes}
    movl $-14, %eax
    ret
    .size {name}, . - {name}
    .text
"
    );
    let analysis = Analysis::of(&x86(&text)?).unwrap();
    let rules = |name: &str| {
        let all = analysis.functions.iter();
        let found = all.filter(|f| f.name == name).flat_map(|f| &f.findings);
        found.map(|finding| finding.rule).collect()
    };
    Some([rules("f"), rules(name)])
}

#[test]
fn a_fault_is_followed_wherever_it_goes_on() {
    for name in ["f.cold", "handle"] {
        let way = format!("PUT {name}");
        let Some(left) = led_elsewhere(name, &way, "nop") else {
            return;
        };
        assert_eq!(left, [vec![Rule::ReturnOpen], vec![]], "{name}");
        let closed = led_elsewhere(name, &way, "CLAC").unwrap();
        assert_eq!(closed, [vec![], vec![]], "{name}");
    }
}

#[test]
fn a_cold_part_is_followed_whatever_leads_to_it() {
    let switched = "
1:  .byte 0x0f, 0x1f, 0x44, 0, 0
    .pushsection __jump_table, \"aw\"
    .long 1b - .
    .long f.cold - .
    .quad key - .
    .popsection";
    let replaced = "
771: .byte 0x0f, 0x1f, 0x44, 0, 0
772:
    .pushsection .altinstr_replacement, \"ax\"
773: jmp f.cold
774: .popsection
    .pushsection .altinstructions, \"a\"
    .long 771b - .
    .long 773b - .
    .4byte 100
    .byte 772b - 771b
    .byte 774b - 773b
    .popsection";
    for way in [switched, replaced] {
        let Some(left) = led_elsewhere("f.cold", way, "nop") else {
            return;
        };
        assert_eq!(left, [vec![Rule::ReturnOpen], vec![]], "{way}");
        let closed = led_elsewhere("f.cold", way, "CLAC").unwrap();
        assert_eq!(closed, [vec![], vec![]], "{way}");
    }
}

#[test]
fn a_replacement_that_the_file_does_not_hold_is_counted() {
    // Beyond the end of its section, and of no section at all.
    for replacement in ["773b", "nowhere"] {
        let text = format!(
            "{}
    FN f
771: .byte 0x90, 0x90, 0x90
772: ret
    END f
    .pushsection .altinstr_replacement, \"ax\"
773: .byte 0x0f, 0x31
    .popsection
    .pushsection .altinstructions, \"a\"
    .4byte 771b - .
    .4byte {replacement} - .
    .4byte 642
    .byte 3, 3
    .popsection
",
            support::KERNEL
        );
        let Some(object) = assemble("as --64", &text) else {
            return;
        };
        let analysis = Analysis::of(&object).unwrap();
        assert_eq!(analysis.unread_records, 1, "{replacement}");
    }
}

#[test]
fn a_change_is_compared_function_by_function() {
    let once = "FN f\n STAC\n PUT 1f\n PUT 1f\n1: CLAC\n ret\n END f\n";
    let twice = "FN f\n STAC\n PUT 1f\n1: CLAC\n STAC\n PUT 2f\n2: CLAC\n ret\n END f\n";
    let (Some(once), Some(twice)) = (x86(once), x86(twice)) else {
        return;
    };
    let [once, twice] = [once, twice].map(|object| Analysis::of(&object).unwrap());
    let better = Changes::between(&twice, &once);
    assert_eq!((better.before.gates, better.after.gates), (4, 2));
    assert_eq!((better.functions.len(), better.regressed()), (1, false));
    assert!(Changes::between(&once, &twice).regressed());
    assert_eq!(Changes::between(&once, &once).functions, []);
}

#[test]
fn powerpc_8xx_opens_by_the_value_of_a_register() {
    let text = "
    .globl f\n .type f, @function
f:  lis 9, 0xdc00\n mtspr 794, 9\n stw 3, 0(4)\n lis 8, 0xde00\n mtspr 794, 8
    cmpwi 3, 0\n beq 1f\n mtspr 794, 9\n stw 3, 4(4)
    mtspr 794, 8
1:  blr
    .size f, . - f
    .globl g\n .type g, @function
g:  mtspr 794, 3\n blr
    .size g, . - g
    .globl h\n .type h, @function
h:  lis 9, 0xdc00\n mtspr 794, 9\n bl f\n blr
    .size h, . - h
";
    let Some(object) = assemble("powerpc-linux-gnu-as -many", text) else {
        return;
    };
    let analysis = Analysis::of(&object).unwrap();
    let f = function(&analysis, "f");
    assert_eq!(
        (f.counts.opens, f.counts.closes, f.findings.len()),
        (2, 2, 0)
    );
    assert_eq!((f.shortest(), f.longest()), (Some(1), Some(2)));
    assert_eq!(f.repeats.len(), 1);
    let g = function(&analysis, "g");
    assert_eq!((g.counts.unknown, g.lost), (1, true));
    let rules: Vec<_> = function(&analysis, "h")
        .findings
        .iter()
        .map(|f| f.rule)
        .collect();
    assert_eq!(rules, [Rule::CallInWindow, Rule::ReturnOpen]);
}

#[test]
fn powerpc_book3s_32_opens_a_segment() {
    let text = "
    .globl f\n .type f, @function
f:  mfsrin 9, 4\n rlwinm 9, 9, 0, 2, 0\n mtsrin 9, 4\n isync\n stw 3, 0(4)
    mfsrin 9, 4\n oris 9, 9, 0x4000\n mtsrin 9, 4\n isync\n blr
    .size f, . - f
";
    let Some(object) = assemble("powerpc-linux-gnu-as -many", text) else {
        return;
    };
    let f = function(&Analysis::of(&object).unwrap(), "f");
    assert_eq!(
        (f.counts.opens, f.counts.closes, f.shortest()),
        (1, 1, Some(4))
    );
    assert_eq!((f.findings.len(), f.lost), (0, false));
}

#[test]
fn i386_is_read_like_x86_64() {
    let text = format!("{}{GOOD}", support::KERNEL).replace("%rdi", "%edi");
    let Some(object) = assemble("as --32", &text) else {
        return;
    };
    let analysis = Analysis::of(&object).unwrap();
    let good = function(&analysis, "good");
    let counts = good.counts;
    assert_eq!((counts.opens, counts.closes, counts.fences), (1, 2, 1));
    assert_eq!((counts.accesses, good.findings.len()), (2, 0));
    assert_eq!(function(&analysis, "other").counts.hidden, 2);
}

#[test]
fn arm64_opens_by_pan_or_by_page_tables() {
    let text = "
    .globl f\n .type f, @function
f:  .inst 0xd500409f\n str w0, [x1]\n .inst 0xd500419f\n ret
    .size f, . - f
    .globl g\n .type g, @function
g:  .inst 0xd500409f\n cbz x0, 1f\n .inst 0xd500419f
1:  ret
    .size g, . - g
    .globl h\n .type h, @function
h:  ldr x2, [x3, #8]\n msr ttbr0_el1, x2\n str w0, [x1]
    mrs x2, ttbr1_el1\n sub x2, x2, #1, lsl #12\n msr ttbr0_el1, x2\n ret
    .size h, . - h
";
    let Some(object) = assemble("aarch64-linux-gnu-as", text) else {
        return;
    };
    let analysis = Analysis::of(&object).unwrap();
    for name in ["f", "h"] {
        let f = function(&analysis, name);
        assert_eq!(
            (f.counts.opens, f.counts.closes, f.findings.len()),
            (1, 1, 0),
            "{name}"
        );
    }
    assert_eq!(
        function(&analysis, "g")
            .findings
            .iter()
            .map(|f| f.rule)
            .collect::<Vec<_>>(),
        [Rule::ReturnOpen]
    );
}

#[test]
fn what_is_no_object_is_a_sentence() {
    for bytes in [&b""[..], b"\x7fELF", b"!<arch>\n", b"#!/bin/sh\n"] {
        let text = Analysis::of(bytes).unwrap_err().to_string();
        assert!(text.contains("cannot be read as an ELF object"), "{text}");
    }
}

fn object() -> &'static [u8] {
    static OBJECT: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    OBJECT.get_or_init(|| x86(GOOD).unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_file_cut_off_or_altered_never_panics(
        cut in 0_usize..4000,
        flips in prop::collection::vec((0_usize..4000, any::<u8>()), 0..12),
    ) {
        let mut bytes = object().to_vec();
        for (at, value) in flips {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        let _ = Analysis::of(&bytes);
        bytes.truncate(cut);
        let _ = Analysis::of(&bytes);
        let _ = Listing::of(&bytes, "good");
    }
}

/// Two functions whose ends are not their own: in `.fixup`, without a name; at
/// a bare label; in the middle of another.
fn sharing(close: &str) -> String {
    format!(
        "
    FN one
    STAC
    PUT .Lfixup
    CLAC
    ret
    END one
    FN two
    STAC
    PUT .Lfixup
    jmp label
    END two
    FN three
    STAC
    jmp .Lmiddle
    END three
    FN four
    STAC
    nop
.Lmiddle:
    {close}
    ret
    END four
    .type label, @notype
label:
    PUT .Lfixup
    {close}
    ret
    .size label, . - label
    .section .fixup, \"ax\"
.Lfixup:
    movl $-14, %eax
    {close}
    ret
"
    )
}

#[test]
fn ends_that_functions_share_are_followed_from_each() {
    let Some(object) = x86(&sharing("CLAC")) else {
        return;
    };
    let analysis = Analysis::of(&object).unwrap();
    for function in &analysis.functions {
        assert_eq!(function.findings, [], "{}", function.name);
    }
    // What has no name counts once.
    assert_eq!(analysis.patched, analysis.patched_in_functions);
    let total = analysis.totals();
    assert_eq!((total.opens, total.closes, total.accesses), (4, 4, 3));
}

#[test]
fn a_window_that_a_shared_end_leaves_open_is_found_in_each() {
    let Some(object) = x86(&sharing("nop")) else {
        return;
    };
    let analysis = Analysis::of(&object).unwrap();
    for name in ["one", "two", "three", "four"] {
        let found = function(&analysis, name).findings;
        assert!(
            found.iter().any(|f| f.rule == Rule::ReturnOpen),
            "{name}: {found:?}"
        );
    }
}
