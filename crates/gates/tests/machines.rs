//! Each rule on the machines that objtool does not check, from objects that are
//! put together here word by word: no assembler of theirs is needed.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use object::write::{Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};
use tollgate_gates::{Analysis, FunctionGates, Rule};

#[allow(dead_code, reason = "other tests use the rest")]
mod support;

/// A machine's instructions, as its assembler writes them.
struct Machine {
    name: &'static str,
    architecture: Architecture,
    endianness: Endianness,
    open: &'static [u32],
    close: &'static [u32],
    /// A store that the table of faults lists.
    access: u32,
    ret: u32,
    call: u32,
    jump: u32,
    call_register: u32,
    jump_register: u32,
    /// Goes eight bytes on, under a condition.
    branch: u32,
    /// Relocations: of a call or jump, and of 32 bits from here.
    relocations: [u32; 2],
    /// What the table of faults adds to two distances.
    fault: &'static [u8],
}

/// What a function is made of.
#[derive(Clone, Copy)]
enum Part {
    Open,
    Close,
    /// May fault, and then goes on at the word with this label.
    Access,
    /// The same by another instruction.
    AccessBy(u32),
    /// Where an access goes on that faults.
    Fixup,
    Return,
    Call(&'static str),
    Jump(&'static str),
    CallRegister,
    JumpRegister,
    Branch,
    Word(u32),
}
use Part::{
    Access, AccessBy, Branch, Call, CallRegister, Close, Fixup, Jump, JumpRegister, Open, Return,
    Word,
};

const PPC: [u32; 6] = [
    0x9064_0000, // stw r3,0(r4)
    0x4e80_0020, // blr
    0x4800_0001, // bl
    0x4800_0000, // b
    0x4e80_0421, // bctrl
    0x4e80_0420, // bctr
];

const fn powerpc(
    name: &'static str,
    architecture: Architecture,
    endianness: Endianness,
    open: &'static [u32],
    close: &'static [u32],
) -> Machine {
    let [access, ret, call, jump, call_register, jump_register] = PPC;
    Machine {
        name,
        architecture,
        endianness,
        open,
        close,
        access,
        ret,
        call,
        jump,
        call_register,
        jump_register,
        branch: 0x4182_0008,   // beq .+8
        relocations: [10, 26], // R_PPC_REL24, R_PPC_REL32, of 64 bits alike
        fault: &[],
    }
}

const fn arm64(name: &'static str, open: &'static [u32], close: &'static [u32]) -> Machine {
    Machine {
        name,
        architecture: Architecture::Aarch64,
        endianness: Endianness::Little,
        open,
        close,
        access: 0xb800_0820, // sttr w0,[x1]
        ret: 0xd65f_03c0,
        call: 0x9400_0000,          // bl
        jump: 0x1400_0000,          // b
        call_register: 0xd63f_0000, // blr x0
        jump_register: 0xd61f_0000, // br x0
        branch: 0xb400_0040,        // cbz x0,.+8
        relocations: [283, 261],    // R_AARCH64_CALL26, R_AARCH64_PREL32
        fault: &[2, 0, 0, 0],       // EX_TYPE_UACCESS_ERR_ZERO
    }
}

const PPC_8XX: Machine = powerpc(
    "powerpc 8xx",
    Architecture::PowerPc,
    Endianness::Big,
    &[0x3d20_dc00, 0x7d3a_c3a6], // lis r9,0xdc00; mtspr 794,r9
    &[0x3d20_de00, 0x7d3a_c3a6], // lis r9,0xde00; mtspr 794,r9
);

const PPC_BOOK3S_32: Machine = powerpc(
    "powerpc book3s/32",
    Architecture::PowerPc,
    Endianness::Big,
    // mfsrin r9,r4; rlwinm r9,r9,0,2,0; mtsrin r9,r4; isync
    &[0x7d20_2526, 0x5529_0080, 0x7d20_21e4, 0x4c00_012c],
    // mfsrin r9,r4; oris r9,r9,0x4000; mtsrin r9,r4; isync
    &[0x7d20_2526, 0x6529_4000, 0x7d20_21e4, 0x4c00_012c],
);

const PPC_BOOKE: Machine = powerpc(
    "powerpc BookE",
    Architecture::PowerPc,
    Endianness::Big,
    &[0x8122_0514, 0x7d30_0ba6, 0x4c00_012c], // lwz r9,1300(r2); mtspr PID,r9; isync
    &[0x3920_0000, 0x7d30_0ba6, 0x4c00_012c], // li r9,0; mtspr PID,r9; isync
);

const PPC64LE: Machine = powerpc(
    "powerpc book3s/64",
    Architecture::PowerPc64,
    Endianness::Little,
    // ld r9,368(r9); isync; mtspr AMR,r9; isync
    &[0xe929_0170, 0x4c00_012c, 0x7d3d_03a6, 0x4c00_012c],
    // isync; lis r9,-769; ori r9,r9,65535; sldi r9,r9,32; oris r9,r9,65535;
    // ori r9,r9,65535; mtspr AMR,r9; isync
    &[
        0x4c00_012c,
        0x3d20_fcff,
        0x6129_ffff,
        0x7929_07c6,
        0x6529_ffff,
        0x6129_ffff,
        0x7d3d_03a6,
        0x4c00_012c,
    ],
);

const ARM64_TTBR0: Machine = arm64(
    "arm64, software PAN",
    &[0xf940_0442, 0xd518_2002], // ldr x2,[x2,#8]; msr ttbr0_el1,x2
    &[0xd140_0402, 0xd518_2002], // sub x2,x0,#1,lsl #12; msr ttbr0_el1,x2
);

const ARM64_PAN: Machine = arm64(
    "arm64, PSTATE.PAN",
    &[0xd500_409f], // msr pan,#0
    &[0xd500_419f], // msr pan,#1
);

const MACHINES: [Machine; 6] = [
    PPC_8XX,
    PPC_BOOK3S_32,
    PPC_BOOKE,
    PPC64LE,
    ARM64_TTBR0,
    ARM64_PAN,
];

/// An object under construction.
struct Builder<'a> {
    machine: &'a Machine,
    object: Object<'static>,
    text: SectionId,
    faults: Vec<u64>,
    fixup: u64,
}

impl Builder<'_> {
    fn words(&mut self, words: &[u32]) -> u64 {
        let little = self.machine.endianness == Endianness::Little;
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|word| {
                if little {
                    word.to_le_bytes()
                } else {
                    word.to_be_bytes()
                }
            })
            .collect();
        self.object.append_section_data(self.text, &bytes, 4)
    }

    fn far(&mut self, word: u32, name: &str) {
        let offset = self.words(&[word]);
        let symbol = self.symbol(name, 0, 0, SymbolSection::Undefined);
        self.relocate(self.text, offset, symbol, 0, self.machine.relocations[0]);
    }

    fn symbol(&mut self, name: &str, value: u64, size: u64, section: SymbolSection) -> SymbolId {
        self.object.add_symbol(Symbol {
            name: name.into(),
            value,
            size,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section,
            flags: SymbolFlags::None,
        })
    }

    fn relocate(&mut self, at: SectionId, offset: u64, symbol: SymbolId, addend: i64, kind: u32) {
        let flags = RelocationFlags::Elf {
            r_type: object::elf::RelocationType(kind),
        };
        let relocation = Relocation {
            offset,
            symbol,
            addend,
            flags,
        };
        self.object.add_relocation(at, relocation).unwrap();
    }

    fn part(&mut self, part: Part) {
        let machine = self.machine;
        match part {
            Open => drop(self.words(machine.open)),
            Close => drop(self.words(machine.close)),
            Return => drop(self.words(&[machine.ret])),
            Branch => drop(self.words(&[machine.branch])),
            Word(word) => drop(self.words(&[word])),
            CallRegister => drop(self.words(&[machine.call_register])),
            JumpRegister => drop(self.words(&[machine.jump_register])),
            Call(name) => self.far(machine.call, name),
            Jump(name) => self.far(machine.jump, name),
            Access => self.part(AccessBy(machine.access)),
            AccessBy(word) => {
                let at = self.words(&[word]);
                self.faults.push(at);
            }
            Fixup => self.fixup = self.words(&[]),
        }
    }

    fn table(&mut self) {
        let name = b"__ex_table".to_vec();
        let section = self
            .object
            .add_section(vec![], name, SectionKind::ReadOnlyData);
        let text = self.object.section_symbol(self.text);
        for at in std::mem::take(&mut self.faults) {
            let record = [&[0; 8], self.machine.fault].concat();
            let offset = self.object.append_section_data(section, &record, 4);
            for (field, to) in [(0, at), (4, self.fixup)] {
                let kind = self.machine.relocations[1];
                self.relocate(section, offset + field, text, to.cast_signed(), kind);
            }
        }
    }
}

/// An object with one function of that name.
fn object(machine: &Machine, name: &str, parts: &[Part]) -> Vec<u8> {
    let (architecture, endianness) = (machine.architecture, machine.endianness);
    let mut object = Object::new(BinaryFormat::Elf, architecture, endianness);
    let text = object.section_id(object::write::StandardSection::Text);
    let mut builder = Builder {
        machine,
        object,
        text,
        faults: Vec::new(),
        fixup: 0,
    };
    parts.iter().for_each(|part| builder.part(*part));
    let size = builder.words(&[]);
    builder.symbol(name, 0, size, SymbolSection::Section(text));
    builder.table();
    builder.object.write().unwrap()
}

fn function(machine: &Machine, name: &str, parts: &[Part]) -> FunctionGates {
    let analysis = Analysis::of(&object(machine, name, parts)).unwrap();
    let mut functions = analysis.functions.into_iter();
    functions.find(|function| function.name == name).unwrap()
}

fn rules(function: &FunctionGates) -> Vec<Rule> {
    let mut rules: Vec<_> = function.findings.iter().map(|f| f.rule).collect();
    rules.sort();
    rules
}

#[test]
fn each_rule_is_found_on_each_machine() {
    let cases: &[(&str, &[Part], &[Rule])] = &[
        (
            "good",
            &[Open, Access, Close, Return, Fixup, Close, Return],
            &[],
        ),
        (
            "call",
            &[Open, Call("foo"), Close, Return],
            &[Rule::CallInWindow],
        ),
        (
            "sleep",
            &[Open, Call("schedule"), Close, Return],
            &[Rule::CallInWindow],
        ),
        (
            "allowed",
            &[Open, Call("__asan_load4_noabort"), Close, Return],
            &[],
        ),
        (
            "icall",
            &[Open, CallRegister, Close, Return],
            &[Rule::CallInWindow],
        ),
        ("ret", &[Open, Return], &[Rule::ReturnOpen]),
        (
            "fault",
            &[Open, Access, Close, Fixup, Return],
            &[Rule::ReturnOpen],
        ),
        ("twice", &[Open, Open, Close, Return], &[Rule::OpenTwice]),
        ("close", &[Close, Return], &[Rule::CloseNotOpen]),
        (
            "some",
            &[Open, Branch, Return, Close, Return],
            &[Rule::ReturnOpen],
        ),
        ("jump", &[Open, Jump("foo")], &[Rule::JumpInWindow]),
        ("ijump", &[Open, JumpRegister], &[Rule::JumpInWindow]),
        ("end", &[Open], &[Rule::EndOpen]),
        (
            "dead",
            &[Return, Open, Close, Return],
            &[Rule::NotReached, Rule::NotReached],
        ),
        (
            "all",
            &[Close, Open, Open, Call("foo"), Return],
            &[
                Rule::CallInWindow,
                Rule::ReturnOpen,
                Rule::OpenTwice,
                Rule::CloseNotOpen,
            ],
        ),
        // May be called with the window open: it must be left so.
        (
            "__kasan_check_read",
            &[Close, Return],
            &[Rule::ReturnClosed, Rule::CallerClosed],
        ),
    ];
    for machine in &MACHINES {
        for (name, parts, expected) in cases {
            let found = function(machine, name, parts);
            assert!(!found.lost, "{}: {name}", machine.name);
            assert_eq!(rules(&found), *expected, "{}: {name}", machine.name);
        }
    }
}

#[test]
fn an_access_outside_is_found_where_reads_need_the_window() {
    for machine in &MACHINES {
        // Segments are closed to writes only; with hardware PAN the accesses
        // have the user's rights by themselves.
        let needed = !["powerpc book3s/32", "arm64, PSTATE.PAN"].contains(&machine.name);
        let parts = [Open, Access, Close, Access, Return, Fixup, Close, Return];
        let found = rules(&function(machine, "f", &parts));
        let outside = found.contains(&Rule::AccessOutside);
        assert_eq!(outside, needed, "{}", machine.name);
    }
}

#[test]
fn counts_and_paths_are_those_of_the_words() {
    // Words between the write that opens and the write that closes.
    let between = [2, 4, 3, 8, 2, 1];
    for (machine, between) in MACHINES.iter().zip(between) {
        let parts = [Open, Access, Close, Return, Fixup, Close, Return];
        let found = function(machine, "f", &parts);
        let counts = found.counts;
        assert_eq!(
            (counts.opens, counts.closes, counts.unknown, counts.accesses),
            (1, 2, 0, 1),
            "{}",
            machine.name
        );
        assert_eq!(
            (found.shortest(), found.longest()),
            (Some(between), Some(between)),
            "{}",
            machine.name
        );
    }
}

#[test]
fn a_direction_that_the_window_keeps_out_is_found() {
    // lis r8,0xa8aa; ori r8,r8,0xaaaa; sldi; oris; ori: AMR_KUAP_BLOCK_WRITE.
    let block_write = [
        0x3d00_a8aa,
        0x6108_aaaa,
        0x7908_07c6,
        0x6508_aaaa,
        0x6108_aaaa,
    ];
    // The same of 0x5455 and 0x5555: AMR_KUAP_BLOCK_READ.
    let block_read = [
        0x3d00_5455,
        0x6108_5555,
        0x7908_07c6,
        0x6508_5555,
        0x6108_5555,
    ];
    for (bits, expected) in [
        (block_read, &[][..]),
        (block_write, &[Rule::WrongDirection]),
    ] {
        // ld r9,368(r9); or r9,r9,r8; mtspr AMR,r9
        let open = [0xe929_0170, 0x7d29_4378, 0x7d3d_03a6];
        let words = bits.into_iter().chain(open).map(Word);
        let rest = [Access, Close, Return, Fixup, Close, Return];
        let parts: Vec<Part> = words.chain(rest).collect();
        let found = function(&PPC64LE, "f", &parts);
        assert_eq!((found.counts.opens, found.counts.closes), (1, 2));
        assert_eq!(rules(&found), expected);
    }
}

#[test]
fn a_register_that_was_compared_with_zero_closes() {
    // cmpwi r8,0; bne .-4; mtspr PID,r8: gcc leaves out the `li`.
    let parts = [
        Open,
        Word(0x2c08_0000),
        Word(0x4082_fffc),
        Word(0x7d10_0ba6),
        Return,
    ];
    let found = function(&PPC_BOOKE, "f", &parts);
    assert_eq!((found.counts.opens, found.counts.closes), (1, 1));
    assert_eq!((rules(&found), found.lost), (vec![], false));
}

#[test]
fn a_value_that_is_loaded_from_the_stack_is_not_told() {
    // ld r9,48(r1); mtspr AMR,r9
    let found = function(
        &PPC64LE,
        "f",
        &[Word(0xe921_0030), Word(0x7d3d_03a6), Return],
    );
    assert_eq!((found.counts.unknown, found.lost), (1, true));
}

/// The old ABI of 64-bit powerpc: the symbol is that of a descriptor.
#[test]
fn functions_are_found_by_their_descriptors() {
    let machine = Machine {
        endianness: Endianness::Big,
        ..PPC64LE
    };
    let (architecture, endianness) = (machine.architecture, machine.endianness);
    let mut object = Object::new(BinaryFormat::Elf, architecture, endianness);
    let text = object.section_id(object::write::StandardSection::Text);
    let mut builder = Builder {
        machine: &machine,
        object,
        text,
        faults: Vec::new(),
        fixup: 0,
    };
    builder.part(Return);
    for part in [
        Open,
        Call(".__kasan_check_read"),
        Call(".foo"),
        Close,
        Return,
    ] {
        builder.part(part);
    }
    let size = builder.words(&[]) - 4;
    let opd = builder
        .object
        .add_section(vec![], b".opd".to_vec(), SectionKind::Data);
    builder.object.append_section_data(opd, &[0; 24], 8);
    let code = builder.object.section_symbol(text);
    builder.relocate(opd, 0, code, 4, 38); // R_PPC64_ADDR64
    builder.symbol("f", 0, size, SymbolSection::Section(opd));
    let object = builder.object.write().unwrap();
    let analysis = Analysis::of(&object).unwrap();
    let [f] = analysis.functions.as_slice() else {
        panic!("one function: {:?}", analysis.functions);
    };
    assert_eq!((f.name.as_str(), f.address, f.bytes), ("f", 4, size));
    assert_eq!((f.counts.opens, f.counts.closes), (1, 1));
    assert_eq!(rules(f), [Rule::CallInWindow]);
    assert_eq!(f.findings[0].target.as_deref(), Some("foo"));
}

const RISCV: Machine = Machine {
    name: "riscv",
    architecture: Architecture::Riscv64,
    endianness: Endianness::Little,
    open: &[0x0004_0737, 0x1007_2073], // lui a4,0x40; csrs sstatus,a4
    close: &[0x1007_3073],             // csrc sstatus,a4
    access: 0x0136_a023,               // sw s3,0(a3)
    ret: 0x0000_8067,
    call: 0x0000_00ef,          // jal ra
    jump: 0x0000_006f,          // j
    call_register: 0x0007_80e7, // jalr a5
    jump_register: 0x0007_8067, // jr a5
    branch: 0x0007_8463,        // beqz a5,.+8
    relocations: [17, 57],      // R_RISCV_JAL, R_RISCV_32_PCREL
    fault: &[3, 0, 0, 0],       // EX_TYPE_UACCESS_ERR_ZERO
};

#[test]
fn riscv_sets_and_clears_one_bit_of_a_register() {
    let good = [Open, Access, Fixup, Close, Return];
    let found = function(&RISCV, "good", &good);
    assert_eq!((found.counts.opens, found.counts.closes), (1, 1));
    assert_eq!(rules(&found), []);
    let call = [Open, Call("foo"), Close, Return];
    // The register that holds the bit is lost over a call.
    assert!(function(&RISCV, "call", &call).lost);
    let ret = function(&RISCV, "ret", &[Open, Return]);
    assert_eq!(rules(&ret), [Rule::ReturnOpen]);
    // andi a5,a5,2; csrs sstatus,a5: interrupts.
    let irq = function(
        &RISCV,
        "irq",
        &[Word(0x0027_f793), Word(0x1007_a073), Return],
    );
    assert_eq!((irq.counts.gates(), irq.lost), (0, false));
}

#[test]
fn arm_puts_back_what_it_has_read() {
    let arm = Machine {
        name: "arm",
        architecture: Architecture::Arm,
        endianness: Endianness::Little,
        // mrc p15,0,fp,c3,c0,0; bic r2,fp,#12; orr r2,r2,#4; mcr p15,0,r2,c3,c0,0; isb
        open: &[
            0xee13_bf10,
            0xe3cb_200c,
            0xe382_2004,
            0xee03_2f10,
            0xf57f_f06f,
        ],
        close: &[0xee03_bf10, 0xf57f_f06f], // mcr p15,0,fp,c3,c0,0; isb
        access: 0xe584_3000,                // str r3,[r4]
        ret: 0xe12f_ff1e,                   // bx lr
        call: 0xebff_fffe,                  // bl
        jump: 0xeaff_fffe,                  // b
        call_register: 0xe12f_ff33,         // blx r3
        jump_register: 0xe12f_ff13,         // bx r3
        branch: 0x0a00_0000,                // beq .+8
        relocations: [28, 2],               // R_ARM_CALL, R_ARM_ABS32
        fault: &[],
    };
    let found = function(&arm, "f", &[Open, Call("__put_user_4"), Close, Return]);
    assert_eq!((found.counts.opens, found.counts.closes), (1, 1));
    assert_eq!((rules(&found), found.counts.hidden), (vec![], 0));
    let found = function(&arm, "g", &[Open, Call("foo"), Close, Return]);
    assert_eq!(rules(&found), [Rule::CallInWindow]);
}

#[test]
fn copies_of_riscv_that_open_by_themselves_are_told_from_those_that_do_not() {
    let by_itself = [Open, Access, Fixup, Close, Return];
    for name in ["__asm_vector_usercopy", "fallback_scalar_usercopy"] {
        assert_eq!(rules(&function(&RISCV, name, &by_itself)), [], "{name}");
    }
    for name in [
        "__asm_vector_usercopy_sum_enabled",
        "fallback_scalar_usercopy_sum_enabled",
        "__asm_copy_to_user_sum_enabled",
        "__asm_copy_from_user_sum_enabled",
    ] {
        let within = [Access, Fixup, Return];
        assert_eq!(rules(&function(&RISCV, name, &within)), [], "{name}");
        let close = [Word(0x0004_0737), Close, Return]; // lui a4,0x40
        let closing = rules(&function(&RISCV, name, &close));
        assert_eq!(closing, [Rule::ReturnClosed, Rule::CallerClosed], "{name}");
    }
}

/// FEAT_LSUI: the futexes of 7.0 and later, chosen by ARM64_HAS_LSUI beside the form
/// that clears PAN (arch/arm64/include/asm/futex.h).
#[test]
fn atomics_of_arm64_with_the_users_rights_need_no_window() {
    for (name, word) in [
        ("ldtaddal w1,w2,[x0]", 0x19e1_0402),
        ("ldtsetal w1,w2,[x0]", 0x19e1_3402),
        ("ldtclral w1,w2,[x0]", 0x19e1_1402),
        ("swptal w1,w2,[x0]", 0x19e1_8402),
        ("casalt x1,x2,[x0]", 0xc9e1_fc02),
    ] {
        let alone = [AccessBy(word), Return, Fixup, Return];
        let found = function(&ARM64_PAN, "f", &alone);
        assert_eq!(
            (rules(&found), found.counts.accesses),
            (vec![], 1),
            "{name}"
        );
        let both = [
            AccessBy(word),
            Open,
            Word(0x885f_7c02),
            Close,
            Return,
            Fixup,
            Return,
        ];
        let found = function(&ARM64_PAN, "f", &both);
        let counts = (found.counts.opens, found.counts.closes);
        assert_eq!((rules(&found), counts), (vec![], (1, 1)), "{name}");
        let open = [Open, AccessBy(word), Close, Return, Fixup, Return];
        assert_eq!(rules(&function(&ARM64_PAN, "f", &open)), [Rule::ReturnOpen]);
        // The software PAN of TTBR0 takes the page tables away from these, too.
        let outside = function(&ARM64_TTBR0, "f", &both);
        assert_eq!(rules(&outside), [Rule::AccessOutside], "{name}");
    }
}

#[test]
fn vectors_that_powerpc_takes_with_the_window_open_are_found() {
    // Up to 6.19 the routine calls C itself; 7.0 does it before the window.
    let parts = [Call("enter_vmx_usercopy"), Access, Fixup, Return];
    let found = function(&PPC64LE, "__copy_tofrom_user_power7", &parts);
    assert_eq!(rules(&found), [Rule::CallInWindow]);
    assert_eq!(
        found.findings[0].target.as_deref(),
        Some("enter_vmx_usercopy")
    );
    let parts = [Access, Fixup, Return];
    let found = function(&PPC64LE, "__copy_tofrom_user_power7_vmx", &parts);
    assert_eq!(rules(&found), []);
    let parts = [Open, Call("__copy_tofrom_user_power7_vmx"), Close, Return];
    assert_eq!(rules(&function(&PPC64LE, "f", &parts)), []);
}

/// What an alternative puts in where the CPU has an extension, as the macros of
/// 6.3 and later write it (arch/riscv/include/asm/alternative-macros.h).
const RISCV_ALTERNATIVE: &str = "
    .option norelax
    .option norvc
    .globl f
    .type f, @function
f:
886: nop
887: li a0, 0
    ret
yes:
    li s1, 0x40000
    csrs sstatus, s1
    jal g
    csrc sstatus, s1
    ret
    .size f, . - f
    .subsection 1
888: j yes
    .previous
    .pushsection .alternative, \"a\"
    .4byte 886b - .
    .4byte 888b - .
    .2byte 0
    .2byte 887b - 886b
    .4byte 44
    .popsection
";

#[test]
fn a_jump_that_riscv_puts_in_leads_somewhere() {
    let assembler = "riscv64-linux-gnu-as -march=rv64g_zicsr";
    let Some(object) = support::assemble(assembler, RISCV_ALTERNATIVE) else {
        return;
    };
    let analysis = Analysis::of(&object).unwrap();
    let f = analysis.functions.iter().find(|f| f.name == "f").unwrap();
    assert_eq!((f.counts.opens, f.counts.closes), (1, 1));
    // The call, and not that no path reaches the window.
    assert_eq!(rules(f), [Rule::CallInWindow]);
    assert_eq!(f.findings[0].target.as_deref(), Some("g"));
}

#[test]
fn the_amr_of_newer_compilers_is_a_number_too() {
    // lis r9,0xaaaa; lis r10,0xa8aa; ori r9,r9,0xaaaa; ori r10,r10,0xaaaa;
    // rldimi r9,r10,32,0; isync; mtspr AMR,r9; isync: AMR_KUAP_BLOCK_WRITE.
    let open = [
        0x3d20_aaaa,
        0x3d40_a8aa,
        0x6129_aaaa,
        0x614a_aaaa,
        0x7949_000e,
        0x4c00_012c,
        0x7d3d_03a6,
        0x4c00_012c,
    ];
    // li r10,-4; rotldi r10,r10,56; isync; mtspr AMR,r10; isync: AMR_KUAP_BLOCKED.
    let close = [
        0x3940_fffc_u32,
        0x794a_c002,
        0x4c00_012c,
        0x7d5d_03a6,
        0x4c00_012c,
    ];
    let words = |words: &[u32]| words.iter().map(|word| Word(*word)).collect::<Vec<_>>();
    let parts = [words(&open), words(&close), vec![Return]].concat();
    let found = function(&PPC64LE, "f", &parts);
    let counts = found.counts;
    assert_eq!((counts.opens, counts.closes, counts.unknown), (1, 1, 0));
    assert_eq!(rules(&found), []);
    let parts = [words(&open), vec![Call("foo")], words(&close), vec![Return]].concat();
    let found = function(&PPC64LE, "f", &parts);
    assert_eq!(rules(&found), [Rule::CallInWindow]);
}

#[test]
fn a_far_call_of_riscv_is_read_in_a_linked_file() {
    let text = "
    .option norelax
    .globl f
    .type f, @function
f:  li s1, 0x40000
    csrs sstatus, s1
    call g
    csrc sstatus, s1
    ret
    .size f, . - f
    .type g, @function
g:  ret
    .size g, . - g
";
    let assembler = "riscv64-linux-gnu-as -march=rv64g_zicsr";
    let Some(object) = support::assemble(assembler, text) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["a.o", "a"].map(|name| folder.path().join(name));
    std::fs::write(&from, object).unwrap();
    let mut linker = std::process::Command::new("riscv64-linux-gnu-ld");
    let linked = linker
        .args(["--no-relax", "-e", "f", "-o"])
        .arg(&to)
        .arg(&from);
    assert!(linked.status().unwrap().success());
    let analysis = Analysis::of(&std::fs::read(to).unwrap()).unwrap();
    let found = analysis.functions.iter().find(|f| f.name == "f").unwrap();
    assert_eq!(rules(found), [Rule::CallInWindow]);
    assert_eq!(found.findings[0].target.as_deref(), Some("g"));
}
