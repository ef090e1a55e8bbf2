use proptest::prelude::*;

use super::*;

const GOOD: &str = "\
tollgate-counts 1
target x86_64
kernel ffff800000000000
phase 0
user 4011
k ffffffff81000123 0f01cb 128
k ffffffff81000126 8901 128
k ffffffff81000126 8b01 1
end 0
phase 1
user 0
end 1
complete 2
";

fn fault(text: &str) -> String {
    Executions::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn counts_are_read() {
    let executions = Executions::parse(GOOD.as_bytes()).unwrap();
    assert_eq!(executions.target, "x86_64");
    assert_eq!(executions.kernel, 0xffff_8000_0000_0000);
    let [first, second] = &executions.phases[..] else {
        panic!("{executions:?}")
    };
    let stac = Executed {
        address: 0xffff_ffff_8100_0123,
        bytes: vec![0x0f, 0x01, 0xcb],
        count: 128,
    };
    assert_eq!(
        (first.user, first.kernel.len(), &first.kernel[0]),
        (4011, 3, &stac)
    );
    assert_eq!(*second, Phase::default());
}

#[test]
fn faults_name_the_line_and_what_to_do() {
    let edit = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        fault(&GOOD.replacen(from, to, 1))
    };
    let faults = [
        fault(""),
        edit("counts 1", "counts 2"),
        edit("target x86_64\n", ""),
        edit("kernel ffff800000000000", "kernel 0xffff"),
        edit("kernel ffff800000000000", "kernel 0 0"),
        edit("phase 0", "phase 1"),
        edit("phase 1", "phase 3"),
        edit("user 4011", "user -4"),
        edit("user 4011\n", ""),
        edit("0f01cb 128", "0f01c 128"),
        edit("0f01cb 128", " 128"),
        edit("0f01cb 128", "0f01cb 0"),
        edit("0f01cb 128", "0f01cb 128 1"),
        edit("8901 128", "8901 9223372036854775807"),
        edit("8b01", "8901"),
        edit("k ffffffff81000123", "k 123"),
        edit("end 0", "end 1"),
        edit("end 1\n", "error out of memory for blocks\n"),
        edit("complete 2", "complete 3"),
        edit("complete 2\n", "complete 2"),
        edit("complete 2\n", "complete 2\nmore"),
        edit("complete 2\n", "\x1b[2Jcomplete 2\n"),
    ];
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_line() {
    let mut file = GOOD.as_bytes().to_vec();
    file[20] = 0xff;
    let fault = Executions::parse(&file).unwrap_err();
    assert_eq!(fault.line, 2);
}

proptest! {
    #[test]
    fn every_cut_is_refused(length in 0..GOOD.len()) {
        let cut = &GOOD[..length];
        prop_assert_eq!(Executions::parse(cut.as_bytes()).unwrap_err().fault, CountsFault::CutOff);
    }

    #[test]
    fn damage_never_panics(damage in prop::collection::vec((0..GOOD.len(), any::<u8>()), 1..6)) {
        let mut file = GOOD.as_bytes().to_vec();
        for (at, byte) in damage {
            file[at] = byte;
        }
        let _ = Executions::parse(&file);
    }
}
