//! Ways through a function that only the running kernel has, and those that no
//! kernel takes.

#![allow(clippy::unwrap_used, dead_code, reason = "a test says what it expects")]

use std::collections::BTreeMap;

use tollgate_gates::{Analysis, Listing, Mark, Rule};

mod support;
use support::{linked, x86};

/// A replacement of five bytes by instructions, and a second one of the same place.
const MORE: &str = r#"
    .macro PUTIN text, feature
    771: .byte 0x0f, 0x1f, 0x44, 0, 0
    772:
    .pushsection .altinstr_replacement, "ax"
    773: \text
    774:
    .popsection
    AGAIN 773b, 774b, \feature
    .endm
    .macro AGAIN from, to, feature
    .pushsection .altinstructions, "a"
    .long 771b - .
    .long \from - .
    .4byte \feature
    .byte 772b - 771b
    .byte \to - \from
    .popsection
    .endm
    .macro NOPS feature
    .pushsection .altinstr_replacement, "ax"
    775: nop; nop; nop
    776:
    .popsection
    AGAIN 775b, 776b, \feature
    .endm
"#;

/// The rules that functions break, in an object and, where `link` says so, linked.
fn broken(text: &str) -> Option<BTreeMap<String, Vec<Rule>>> {
    rules(&x86(&format!("{MORE}{text}"))?)
}

fn rules(object: &[u8]) -> Option<BTreeMap<String, Vec<Rule>>> {
    let functions = Analysis::of(object).unwrap().functions.into_iter();
    let broken = functions.filter(|f| !f.findings.is_empty());
    Some(
        broken
            .map(|f| (f.name, f.findings.iter().map(|f| f.rule).collect()))
            .collect(),
    )
}

/// What is expected of functions, each of a body.
fn expect(cases: &[(&str, &[Rule])]) {
    let text: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(number, (body, _))| format!("FN f{number}\n{body}\nEND f{number}\n"))
        .collect();
    let Some(found) = broken(&text.concat()) else {
        return;
    };
    for (number, (body, rules)) in cases.iter().enumerate() {
        let found = found.get(&format!("f{number}"));
        assert_eq!(found.map_or(&[][..], Vec::as_slice), *rules, "{body}");
    }
}

#[test]
fn what_another_feature_puts_in_is_followed() {
    expect(&[
        (
            "STAC\nPUTIN \"call foo\", 100\nCLAC\nret",
            &[Rule::CallInWindow],
        ),
        (
            "STAC\nPUTIN \"jmp foo\", 100\nCLAC\nret",
            &[Rule::JumpInWindow],
        ),
        ("STAC\nPUTIN \"ret\", 100\nCLAC\nret", &[Rule::ReturnOpen]),
        (
            "STAC\nPUTIN \"jmp 1f\", 100\nCLAC\n1: ret",
            &[Rule::ReturnOpen],
        ),
        ("STAC\nPUTIN \"lfence\", 100\nCLAC\nret", &[]),
        ("PUTIN \"call foo\", 100\nSTAC\nCLAC\nret", &[]),
        // A jump to the replacement's end goes on behind what is replaced.
        (
            "STAC\nPUTIN \"test %eax,%eax; jne 774f\", 100\nCLAC\nret",
            &[],
        ),
    ]);
}

#[test]
fn a_gate_in_place_of_another_features_may_be_there_or_not() {
    expect(&[
        (
            "PUTIN \".byte 0x0f,0x01,0xcb\", 100\nCLAC\nret",
            &[Rule::CloseNotOpen],
        ),
        (
            "STAC\nPUTIN \".byte 0x0f,0x01,0xca\", 100\nret",
            &[Rule::ReturnOpen],
        ),
        // For CPUs without the gate: never there where it matters.
        (
            "STAC\nPUTIN \".byte 0x0f,0x01,0xca\", 308|1<<16\nret",
            &[Rule::ReturnOpen],
        ),
        ("PUTIN \".byte 0x0f,0x01,0xcb\", 308|1<<16\nret", &[]),
        // Both are decided by one feature.
        (
            "PUTIN \".byte 0x0f,0x01,0xcb\", 100\nnop\nPUTIN \".byte 0x0f,0x01,0xca\", 100\nret",
            &[],
        ),
        (
            "PUTIN \".byte 0x0f,0x01,0xcb\", 100\nnop\nPUTIN \".byte 0x0f,0x01,0xca\", 101\nret",
            &[Rule::CloseNotOpen, Rule::ReturnOpen],
        ),
    ]);
}

#[test]
fn of_records_for_one_place_the_later_wins() {
    expect(&[
        ("STAC\nCLAC\nNOPS 100\nret", &[Rule::ReturnOpen]),
        ("STAC\nCLAC\nNOPS 308\nret", &[Rule::ReturnOpen]),
        (
            // What stands before the gate's own never shows.
            "STAC\nPUTIN \"call foo\", 100\nAGAIN 2f, 3f, 308\n.pushsection .altinstr_replacement,\"ax\"\n2: .byte 0x0f,0x01,0xca\n3:\n.popsection\nret",
            &[],
        ),
    ]);
}

#[test]
fn calls_between_the_gates_of_lass_are_in_a_window() {
    let open = "ALT \"0x0f,0x01,0xcb\", 390";
    let close = "ALT \"0x0f,0x01,0xca\", 390";
    let cases = [
        (
            format!("{open}\ncall foo\n{close}\nret"),
            vec![Rule::CallInWindow],
        ),
        (format!("{open}\n{close}\ncall foo\nret"), vec![]),
        (format!("{open}\nret"), vec![Rule::ReturnOpen]),
        (format!("{close}\nret"), vec![Rule::CloseNotOpen]),
        (
            format!("{open}\nSTAC\nCLAC\n{close}\nret"),
            vec![Rule::OpenTwice],
        ),
        (
            format!("{open}\nPUT 1f\n1: {close}\nret"),
            vec![Rule::AccessOutside],
        ),
    ];
    let cases: Vec<(&str, &[Rule])> = cases
        .iter()
        .map(|(b, r)| (b.as_str(), r.as_slice()))
        .collect();
    expect(&cases);
}

#[test]
fn flags_that_are_taken_back_bring_the_gate_back() {
    expect(&[
        ("STAC\npushf\nCLAC\npopf\nret", &[Rule::ReturnOpen]),
        ("pushf\nSTAC\npopf\nret", &[]),
        ("STAC\npushf\npop %rax\npush %rax\npopf\nCLAC\nret", &[]),
        // Of flags that came from elsewhere nothing is known.
        ("STAC\npush %rdi\npopf\nCLAC\nret", &[]),
    ]);
}

#[test]
fn the_direction_flag_is_clear_wherever_else_code_runs() {
    let flag: &[Rule] = &[Rule::DirectionFlag];
    let both: &[Rule] = &[Rule::DirectionFlag, Rule::DirectionFlag];
    expect(&[
        ("std\nrep movsb\ncld\nret", &[]),
        ("std\nret", flag),
        ("std\ncall foo\ncld\nret", flag),
        ("std\njmp foo", flag),
        ("std\nstd\ncld\nret", flag),
        ("cld\nret", flag),
        // The flags come back from the stack.
        ("std\niretq", &[]),
        ("test %eax, %eax\nje 1f\nstd\n1: ret", flag),
        ("std\ntest %eax, %eax\nje 1f\ncall foo\n1: ret", both),
        // What a fault leads to has the flag as it was.
        ("STAC\nstd\nPUT 1f\ncld\nCLAC\nret\n1: cld\nCLAC\nret", &[]),
        ("STAC\nstd\nPUT 1f\ncld\n1: CLAC\nret", flag),
    ]);
}

#[test]
fn a_condition_that_nothing_changes_is_asked_once() {
    let twice = |between: &str, second: &str| {
        format!("testl %ebx,%ebx\nje 1f\nSTAC\n1: {between}\n{second}\nje 2f\nCLAC\n2: ret")
    };
    let memory = |between: &str| {
        format!("cmpl $1,8(%rdi)\nje 1f\nSTAC\n1: {between}\ncmpl $1,8(%rdi)\nje 2f\nCLAC\n2: ret")
    };
    let slot = |between: &str| memory(between).replace("(%rdi)", "(%rsp)");
    let wrong = vec![Rule::CloseNotOpen, Rule::ReturnOpen];
    let cases = [
        (twice("nop", "testl %ebx,%ebx"), vec![]),
        (twice("nop", "cmpl $0,%ebx"), vec![]),
        (twice("nop", "testl %ecx,%ecx"), wrong.clone()),
        (twice("movl %eax,%ebx", "testl %ebx,%ebx"), wrong.clone()),
        (twice("nop", "testl %ebx,%ebx\nnop").replace("je 2f", "jne 2f"), wrong.clone()),
        (memory("nop"), vec![]),
        (memory("movl %eax,(%rsi)"), wrong.clone()),
        (memory("addq $8,%rdi"), wrong.clone()),
        (slot("movl %eax,(%rsi)"), vec![]),
        (slot("movl %eax,16(%rsp)"), vec![]),
        (slot("movl %eax,8(%rsp)"), wrong.clone()),
        (slot("lea 8(%rsp),%rsi\nmovl %eax,(%rsi)"), wrong.clone()),
        (slot("pushq %rax"), wrong),
        // What is in code that is not run is still told.
        (
            "testl %ebx,%ebx\nje 1f\nSTAC\ntestl %ebx,%ebx\nje 2f\nCLAC\n1: ret\n2: call foo\nCLAC\nret".to_owned(),
            vec![Rule::CallInWindow],
        ),
    ];
    let cases: Vec<(&str, &[Rule])> = cases
        .iter()
        .map(|(b, r)| (b.as_str(), r.as_slice()))
        .collect();
    expect(&cases);
}

#[test]
fn a_symbol_tells_conditions_on_memory_apart() {
    expect(&[
        (
            "cmpl $0,here(%rip)\nje 1f\nSTAC\n1: cmpl $0,here(%rip)\nje 2f\nCLAC\n2: ret",
            &[],
        ),
        (
            "cmpl $0,here(%rip)\nje 1f\nSTAC\n1: cmpl $0,there(%rip)\nje 2f\nCLAC\n2: ret",
            &[Rule::CloseNotOpen, Rule::ReturnOpen],
        ),
    ]);
}

const HELPERS: &str = "
    .type begin, @function
begin: STAC
    ret
    END begin
    .type finish, @function
finish: CLAC
    ret
    END finish
    FN caller
    call begin
    PUT 1f
1:  call finish
    ret
    END caller
";

#[test]
fn a_helper_of_the_gate_out_of_line_is_part_of_its_callers() {
    let Some(found) = broken(HELPERS) else { return };
    assert_eq!(found, BTreeMap::new());
    let object = x86(HELPERS).unwrap();
    let caller = Analysis::of(&object)
        .unwrap()
        .functions
        .into_iter()
        .find(|f| f.name == "caller");
    let caller = caller.unwrap();
    assert_eq!((caller.counts.opens, caller.counts.closes), (1, 1));
    assert_eq!(
        rules(&linked(&format!("{HELPERS}FN f\nret\nEND f\n")).unwrap()).unwrap(),
        BTreeMap::new()
    );
    let listed = Listing::of(&object, "caller").unwrap();
    assert_eq!(listed[0].function.findings, []);
    assert_eq!(listed[0].lines[0].mark, Mark::Open);
}

#[test]
fn what_only_looks_like_a_helper_stays_a_mistake() {
    let wrong = |text: &str| broken(text).map(|found| found.into_keys().collect::<Vec<_>>());
    // Other files may call it.
    let global = HELPERS.replace(".type begin", ".globl begin\n.type begin");
    let Some(found) = wrong(&global) else { return };
    assert!(found.contains(&"begin".to_owned()), "{found:?}");
    // A caller that does not close: the helper is named, as it was.
    let left = HELPERS.replace("1:  call finish", "1:");
    assert!(wrong(&left).unwrap().contains(&"begin".to_owned()));
    // Nobody calls it.
    let alone = HELPERS.split("FN caller").next().unwrap();
    assert_eq!(wrong(alone).unwrap(), ["begin", "finish"]);
    // It opens on one of its ways alone.
    let some = HELPERS.replace("begin: STAC", "begin: test %eax,%eax\nje 9f\nSTAC\n9:");
    assert!(wrong(&some).unwrap().contains(&"begin".to_owned()));
}

#[test]
fn a_jump_through_a_register_is_a_call_unless_a_table_is_found() {
    let table = |load: &str| {
        format!(
            "STAC\n{load}\n.pushsection .rodata\n3: .quad 1f, 2f\n.popsection\n1: CLAC\nret\n2: nop\nCLAC\nret"
        )
    };
    let near = "STAC\nlea 3f(%rip),%rdx\nmovslq (%rdx,%rax,4),%rax\nadd %rdx,%rax\njmp *%rax
        .pushsection .rodata\n3: .long 1f-3b, 2f-3b\n.popsection\n1: CLAC\nret\n2: CLAC\nret";
    let own =
        "STAC\njmp *3f(,%rax,8)\n.pushsection .rodata\n3: .quad 1f, own\n.popsection\n1: CLAC\nret";
    let cases = [
        (table("jmp *3f(,%rax,8)"), vec![]),
        (table("mov 3f(,%rax,8),%rax\njmp *%rax"), vec![]),
        (table("mov $3f,%rcx\njmp *(%rcx,%rax,8)"), vec![]),
        (near.to_owned(), vec![]),
        (
            table("jmp *%rax"),
            vec![Rule::JumpInWindow, Rule::NotReached, Rule::NotReached],
        ),
        (near.replace("2: CLAC", "2:"), vec![Rule::ReturnOpen]),
    ];
    let cases: Vec<(&str, &[Rule])> = cases
        .iter()
        .map(|(b, r)| (b.as_str(), r.as_slice()))
        .collect();
    expect(&cases);
    let own = format!("FN own\n{own}\nEND own\n");
    let Some(found) = broken(&own) else { return };
    assert_eq!(
        found,
        BTreeMap::new(),
        "the function itself is no case of it"
    );
}

/// clang ends a function before its size is given, so that code may stand behind it.
#[test]
fn code_that_no_symbol_names_is_followed_from_wherever_it_is_reached() {
    let key = "775: .byte 0x0f,0x1f,0x44,0,0
        .pushsection __jump_table, \"aw\"
        .balign 8
        .long 775b - ., 8f - .
        .quad a_key - .
        .popsection";
    let table = "jmp *3f(,%rax,8)\n.pushsection .rodata\n3: .quad 1f, 8f, 1f\n.popsection\n1: nop";
    let cases = "lea 3f(%rip),%rdx\nmovslq (%rdx,%rax,4),%rax\nadd %rdx,%rax\njmp *%rax
        .pushsection .rodata\n3: .long 1f-3b, 8f-3b\n.popsection\n1: nop";
    let ways = [key, table, cases, "test %eax,%eax\nje 8f", "PUT 8f"];
    let behind: [(&str, &[Rule]); 4] = [
        ("ret", &[Rule::ReturnOpen]),
        ("CLAC\nret", &[]),
        ("call outside\nCLAC\nret", &[Rule::CallInWindow]),
        ("jmp 9b", &[]),
    ];
    for way in ways {
        for (code, rules) in behind {
            let text = format!(
                "FN f\nSTAC\n{way}\n9: nop\nCLAC\nret\nEND f\n8: {code}\nFN other\nret\nEND other\n"
            );
            let Some(found) = broken(&text) else { return };
            let found = found.get("f").map_or(&[][..], Vec::as_slice);
            assert_eq!(found, rules, "{way} to {code}");
        }
    }
}
