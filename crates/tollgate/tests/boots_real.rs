//! Boots that go wrong under the real QEMU: kernels of a few instructions that hang,
//! panic, reset, write without end or lie, and images that are none.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::process::Command;

use support::{Lab, code, run};
use tollgate_testing::missing;

/// A kernel that QEMU enters in 32-bit mode (the PVH note of Xen's and Linux's
/// elfnote.h), writes TEXT to the serial port and goes on as END says.
const KERNEL: &str = r#"
__asm__(
	".pushsection .note.pvh, \"a\", @note\n"
	".balign 4\n.long 4, 4, 18\n.asciz \"Xen\"\n.long begin\n"
	".popsection\n"
	".pushsection .text\n.code32\n.globl begin\nbegin:\n"
	"again: mov $text, %esi\nmov $0x3f8, %dx\n"
	"next: lodsb\ntest %al, %al\njz end\noutb %al, %dx\njmp next\n"
	"end: END\n"
	"text: .asciz \"TEXT\"\n"
	".code64\n.popsection\n");
int gate(const char *what) { return what[0] == 0; }
"#;

/// How such a kernel goes on: it stands still, it faults until the machine resets, it
/// begins again.
const HALT: &str = r"cli\nhlt";
const RESET: &str = r"lidt 0\nint3";
const AGAIN: &str = "jmp again";

struct Boot {
    name: &'static str,
    text: &'static str,
    end: &'static str,
    says: &'static [&'static str],
}

const BOOTS: [Boot; 8] = [
    Boot {
        name: "silence",
        text: "",
        end: HALT,
        says: &[
            "did not end within 6 s and was stopped",
            "did not reach its console",
        ],
    },
    Boot {
        name: "a panic, then silence",
        text: r"Linux\\r\\nKernel panic - not syncing: planted\\r\\n",
        end: HALT,
        says: &[
            "did not end within 6 s",
            "Kernel panic - not syncing: planted",
        ],
    },
    Boot {
        name: "a panic that resets",
        text: r"[    0.1] Kernel panic - not syncing: planted\\r\\n",
        end: RESET,
        says: &["the kernel of base panicked: Kernel panic - not syncing: planted"],
    },
    Boot {
        name: "a reset",
        text: r"Linux\\n",
        end: RESET,
        says: &[
            "ended before its work was done (QEMU: exit status: 0)",
            "  Linux",
        ],
    },
    Boot {
        name: "a guest that begins and does nothing",
        text: r"@tg guest 1\\n",
        end: HALT,
        says: &["did not end within 6 s", "in bench epoll_wait"],
    },
    Boot {
        name: "a console without end",
        text: r"the same line\\n",
        end: AGAIN,
        says: &["did not end within 6 s", "the same line"],
    },
    Boot {
        name: "a guest that has done nothing and says that it is done",
        text: r"@tg guest 1\\n@tg done\\n",
        end: RESET,
        says: &["epoll_wait"],
    },
    Boot {
        name: "phases without a marker",
        text: r"@tg guest 1\\n@tg phase 0 epoll_wait events=1 ops=64 rep=0\\n@tg done\\n",
        end: RESET,
        says: &[
            "the run of base cannot be used",
            "the plugin counted 0 phases",
        ],
    },
];

/// What the Makefile of the fake tree links, as a kernel that QEMU loads.
fn lab(boot: Option<&Boot>, after: &str) -> Lab {
    let lab = Lab::new();
    let makefile = fs::read_to_string(lab.tree().join("Makefile")).unwrap();
    let link = "-o $(O)/vmlinux $^\n";
    assert!(makefile.contains(link) && makefile.contains("0xffffffff81000000"));
    let makefile = makefile.replace(link, &format!("{link}{after}"));
    match boot {
        Some(boot) => {
            let kernel = KERNEL.replace("TEXT", boot.text).replace("END", boot.end);
            lab.edit("kernel/gate.c", &kernel);
            lab.edit(
                "Makefile",
                &makefile.replace("0xffffffff81000000", "0x100000"),
            );
        }
        None => lab.edit("Makefile", &makefile),
    }
    lab
}

/// Proves under the real QEMU, which cannot tell, and says all of that.
fn cannot_tell(lab: &Lab, name: &str, says: &[&str]) {
    let mut command = lab.tollgate(&["prove", "epoll", "--timeout", "6"]);
    command.arg("--tree").arg(lab.tree());
    command.arg("--cache").arg(lab.cache());
    let output = run(&mut command);
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{name}: {said}");
    for words in says {
        assert!(said.contains(words), "{name}: {words:?} is not in:\n{said}");
    }
}

fn has_qemu() -> bool {
    let has = Command::new("qemu-system-x86_64").arg("--version").output();
    if has.is_err() {
        missing("qemu-system-x86_64", "scripts/setup installs it");
    }
    has.is_ok()
}

#[test]
fn kernels_that_go_wrong_are_told_by_name() {
    if !has_qemu() {
        return;
    }
    for boot in &BOOTS {
        cannot_tell(&lab(Some(boot), ""), boot.name, boot.says);
    }
    println!(
        "real QEMU: {} kernels planted, {} told by name",
        BOOTS.len(),
        BOOTS.len()
    );
}

#[test]
fn images_that_are_none_are_told_by_name() {
    if !has_qemu() {
        return;
    }
    let images: [(&str, &str, &[&str]); 4] = [
        ("no entry", "", &["ended before its work was done", "PVH"]),
        (
            "cut off",
            "\t@truncate -s 200 $(O)/vmlinux\n",
            &["images/", "vmlinux"],
        ),
        ("empty", "\t@: >$(O)/vmlinux\n", &["images/", "vmlinux"]),
        (
            "no ELF",
            "\t@echo hello >$(O)/vmlinux\n",
            &["images/", "vmlinux"],
        ),
    ];
    for (name, after, says) in images {
        cannot_tell(&lab(None, after), name, says);
    }
    println!(
        "real QEMU: {} images planted, {} told by name",
        images.len(),
        images.len()
    );
}
