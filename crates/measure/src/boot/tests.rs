use tollgate_gates::Symbol;

use super::*;
use crate::quantity::Quantity::{Closes, Fences, Kernel, Opens, Writes};
use crate::sample::Workload;

const CONSOLE: &str = "\
@tg guest 1
@tg phase 0 epoll_wait events=2 ops=4 rep=0
@tg phase 1 epoll_wait events=2 ops=4 rep=1
@tg done
";

const COUNTS: &str = "\
tollgate-counts 1
target x86_64
kernel ffff800000000000
phase 0
user 40
end 0
phase 1
user 44
k ffffffff81000000 0f01cb 8
k ffffffff81000003 0faee8 4
k ffffffff81000006 8901 8
k ffffffff81000008 0f01ca 8
k ffffffff81000100 c3 2
end 1
complete 2
";

fn read(console: &str, counts: &str) -> Result<BootResult, BootError> {
    let symbols = Symbols::new([Symbol::function("put", 0xffff_ffff_8100_0000, 0x20)]);
    let opcodes = Opcodes::built_in("x86_64").unwrap();
    BootResult::read(console.as_bytes(), counts.as_bytes(), &opcodes, &symbols)
}

#[test]
fn a_write_that_does_not_say_its_value_counts_by_itself() {
    // isync; mtspr AMR,r9; isync; stw; isync; mtspr AMR,r10; isync
    let counts = "tollgate-counts 1\ntarget ppc64\nkernel c000000000000000\n\
                  phase 0\nuser 40\nend 0\nphase 1\nuser 44\n\
                  k c000000000000000 2c01004c 8\nk c000000000000004 a6033d7d 8\n\
                  k c000000000000008 0000ff63 4\nk c00000000000000c a6035d7d 8\n\
                  end 1\ncomplete 2\n";
    let symbols = Symbols::new([Symbol::function("put", 0xc000_0000_0000_0000, 0x20)]);
    let opcodes = Opcodes::built_in("ppc64le").unwrap();
    let run = BootResult::read(CONSOLE.as_bytes(), counts.as_bytes(), &opcodes, &symbols).unwrap();
    let expected = Counts::from([(Kernel, 28), (Writes, 16), (Fences, 4)]);
    assert_eq!(run.samples[1].kernel, expected);
}

#[test]
fn instructions_get_a_function_and_a_meaning() {
    let run = read(CONSOLE, COUNTS).unwrap();
    let put = Counts::from([(Kernel, 28), (Opens, 8), (Closes, 8), (Fences, 4)]);
    let unknown = Counts::from([(Kernel, 2)]);
    let expected = Sample {
        workload: Workload {
            benchmark: "epoll_wait".into(),
            parameters: vec![("events".into(), 2)],
            ..Workload::default()
        },
        repetition: 1,
        operations: 4,
        user: 44,
        kernel: put.with(Kernel, 30),
        functions: [("put".into(), put), ("[unknown]".into(), unknown)].into(),
        system_calls: BTreeMap::new(),
        tallies: BTreeMap::new(),
    };
    assert_eq!(run.samples.len(), 2);
    assert_eq!(run.samples[1], expected);
}

#[test]
fn what_a_guest_of_another_kind_says_is_named_after_it() {
    let console = "@tg guest 1\n@tg skip bench statx no device\n@tg error bench poll it failed\n\
                   @tg layout epoll_wait - front=0 behind=0 size=0\n\
                   @tg point epoll_wait null ret=-1 errno=14 bytes=\n@tg points epoll_wait 1\n@tg done\n";
    let counts = "tollgate-counts 1\ntarget x86_64\nkernel ffff800000000000\ncomplete 0\n";
    let named = |abi, cpu| {
        let mut run = BootResult::default();
        run.add(read(console, counts).unwrap().of_guest(abi, cpu));
        assert_eq!(run.layouts[0].sweep, run.points[0].sweep);
        let first = (&run.points[0].sweep, &run.skips[0].job, &run.errors[0]);
        format!("{} | {} | {}", first.0, first.1, first.2)
    };
    let own = "epoll_wait | bench statx | bench poll it failed";
    assert_eq!(named(None, None), own);
    let other = "epoll_wait (ia32, no-keys) | bench statx (ia32, no-keys) | (ia32, no-keys): bench poll it failed";
    assert_eq!(named(Some("ia32"), Some("no-keys")), other);
}

#[test]
fn console_and_counts_of_two_runs_are_refused() {
    let faults = [
        read(&CONSOLE.replace("phase 1 ", "phase 2 "), COUNTS),
        read(
            &CONSOLE.replace("@tg phase 1 epoll_wait events=2 ops=4 rep=1\n", ""),
            COUNTS,
        ),
        read(CONSOLE, &COUNTS.replace("x86_64", "aarch64")),
        read("", COUNTS),
        read(CONSOLE, ""),
    ];
    let faults = faults.map(|fault| fault.unwrap_err().to_string());
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn a_failed_benchmark_may_leave_a_phase_unreported() {
    let failed = "@tg error bench epoll_wait events=2: epoll_wait returned 1, wanted 2\n";
    let console = CONSOLE.replace("@tg phase 1 epoll_wait events=2 ops=4 rep=1\n", failed);
    let run = read(&console, COUNTS).unwrap();
    assert_eq!(
        (run.samples.len(), run.unreported, run.errors.len()),
        (1, 1, 1)
    );
}

#[test]
fn a_system_call_is_counted_where_its_function_begins() {
    let start = 0xffff_ffff_8100_0000;
    let symbols = Symbols::new([
        Symbol::function("__x64_sys_ioctl", start, 0x3),
        Symbol::function("__ia32_compat_sys_ioctl", start + 3, 0x5),
        Symbol::function("put", start + 8, 0x18),
    ]);
    let opcodes = Opcodes::built_in("x86_64").unwrap();
    let run = BootResult::read(CONSOLE.as_bytes(), COUNTS.as_bytes(), &opcodes, &symbols).unwrap();
    // Eight times the one, four times the other; what follows is inside of it.
    assert_eq!(
        run.samples[1].system_calls,
        [("ioctl".to_owned(), 12)].into()
    );
}
