use std::path::Path;

use super::*;

const TOY: &str = r#"
[[architecture]]
name = "vax"
decoder = "words"
reason = "a test"
source = "a test"
[[architecture.target]]
name = "vax780"
aliases = ["vax"]
kbuild = "vax"
machine = 75
class = 32
order = "little"
cross = "vax-linux-"
qemu = "vax"
objects = "vax-objects"
"#;

fn data(path: &str) -> bool {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    data.join(path).exists()
}

#[test]
fn every_entry_reads_and_gives_its_reason() {
    let all = Architectures::built_in().unwrap();
    for one in all.iter() {
        assert!(
            !one.reason.is_empty() && !one.source.is_empty(),
            "{}",
            one.name
        );
        let code = data(&format!("code/{}.toml", one.name));
        assert_eq!(code, one.decoder.is_some(), "{}", one.name);
    }
    for (_, target) in all.targets() {
        assert!(matches!(target.class, 32 | 64), "{}", target.name);
        let fragment = target.objects.as_ref();
        assert!(fragment.is_none_or(|name| data(&format!("config/{name}.config"))));
        let opcodes = target.opcodes.as_ref();
        assert!(opcodes.is_none_or(|name| data(&format!("arch/{name}.toml"))));
    }
}

#[test]
fn every_data_file_of_an_architecture_belongs_to_an_entry() {
    let all = Architectures::built_in().unwrap();
    for folder in ["machine", "arch"] {
        let path = format!("{}/../../data/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(path).unwrap() {
            let name = entry.unwrap().path();
            let name = name.file_stem().unwrap().to_str().unwrap();
            assert!(all.target(name).is_some(), "data/{folder}/{name}.toml");
        }
    }
}

#[test]
fn no_two_targets_are_taken_for_one() {
    let all = Architectures::built_in().unwrap();
    let targets: Vec<_> = all.targets().map(|(_, target)| target).collect();
    for (index, one) in targets.iter().enumerate() {
        for other in targets.iter().skip(index + 1) {
            assert_ne!(one.elf(), other.elf(), "{} and {}", one.name, other.name);
            let mut names = other.aliases.iter().chain([&other.name]);
            let both = names.any(|name| one.is_called(name));
            assert!(!both || one.order != other.order, "{}", other.name);
        }
    }
}

#[test]
fn an_elf_file_has_its_target() {
    let all = Architectures::built_in().unwrap();
    let of = |machine, class, order| {
        let found = all.of_elf(Elf {
            machine,
            class,
            order,
        })?;
        Some((
            found.0.name.as_str(),
            found.1.map(|target| target.name.as_str()),
        ))
    };
    assert_eq!(of(62, 64, Order::Little), Some(("x86", Some("x86_64"))));
    assert_eq!(of(3, 32, Order::Little), Some(("x86", Some("i386"))));
    assert_eq!(of(21, 64, Order::Big), Some(("powerpc", Some("ppc64"))));
    assert_eq!(of(183, 64, Order::Big), Some(("arm64", None)));
    // x32: 64-bit code in a 32-bit file, which no kernel is.
    assert_eq!(of(62, 32, Order::Little), None);
    assert_eq!(of(75, 32, Order::Little), None);
}

#[test]
fn a_machine_is_found_by_what_others_call_it() {
    let all = Architectures::built_in().unwrap();
    let called = |name, order| all.called(name, order).map(|target| target.name.as_str());
    assert_eq!(called("aarch64", Order::Little), Some("arm64"));
    assert_eq!(called("x86_64", Order::Little), Some("x86_64"));
    assert_eq!(called("powerpc64", Order::Little), Some("ppc64le"));
    assert_eq!(called("powerpc64", Order::Big), Some("ppc64"));
    assert_eq!(called("vax", Order::Little), None);
}

#[test]
fn a_machine_compiles_for_itself_and_for_whom_it_hosts() {
    let all = Architectures::built_in().unwrap();
    let target = |name| all.target(name).unwrap().1;
    let flags = |name, host| target(name).flags_on(target(host));
    assert_eq!(flags("x86_64", "x86_64"), Some(&[][..]));
    assert_eq!(flags("i386", "x86_64").unwrap()[0], "-m32");
    assert_eq!(flags("x86_64", "i386"), None);
    assert_eq!(flags("riscv64", "x86_64"), None);
    for (_, one) in all.targets() {
        let hosted = one.hosted.as_ref();
        assert!(hosted.is_none_or(|hosted| all.target(&hosted.by).is_some()));
    }
}

#[test]
fn an_architecture_of_an_unknown_name_is_an_entry() {
    let all = Architectures::parse(&format!("{BUILT_IN}{TOY}")).unwrap();
    let elf = all.target("vax780").unwrap().1.elf();
    assert_eq!(elf.machine, 75);
    let (vax, target) = all.of_elf(elf).unwrap();
    assert_eq!(
        (vax.name.as_str(), vax.decoder),
        ("vax", Some(Decoder::Words))
    );
    assert_eq!(target.unwrap().qemu_program(), "qemu-system-vax");
    assert_eq!(target.unwrap().opcodes(), "vax780");
    assert_eq!(all.called("vax", Order::Little), target);
    assert_eq!(all.compiled().unwrap().2, "x86_64-objects");
    let alone = Architectures::parse(TOY).unwrap();
    assert_eq!(alone.compiled().unwrap().2, "vax-objects");
}

#[test]
fn headers_and_folders_are_paths_of_a_tree() {
    let all = Architectures::built_in().unwrap();
    let two = ["uaccess.h", "uaccess_64.h"].map(|name| format!("arch/x86/include/asm/{name}"));
    assert_eq!(all.access_headers("x86"), two);
    // Also of one that no entry names: a tree may have any.
    assert_eq!(
        all.access_headers("vax"),
        ["arch/vax/include/asm/uaccess.h"]
    );
    let own: Vec<_> = all.folder("x86").unwrap().own_rules().collect();
    assert!(own.contains(&"arch/x86/entry/vdso/".to_owned()), "{own:?}");
}

#[test]
fn faults_are_sentences() {
    let twice = Architectures::parse(&format!("{TOY}{TOY}"))
        .unwrap_err()
        .to_string();
    assert_eq!(twice, "data/architectures.toml: `vax` stands there twice");
    let odd = TOY.replace("class", "klass");
    let odd = Architectures::parse(&odd).unwrap_err().to_string();
    assert!(odd.contains("klass") && odd.contains("line"), "{odd}");
}
