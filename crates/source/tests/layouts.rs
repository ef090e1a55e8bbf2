//! Layouts against the compiler: gcc confirms the size, the alignment and the
//! place of every member, or says that it is not so.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use tollgate_source::{
    Headers, LayoutError, Machine, Shape, TreePath, Type, TypeIndex, Types, definitions,
};

/// Machines that gcc for x86-64 compiles for.
const MACHINES: [(&str, &str); 3] = [("x86_64", "-m64"), ("i386", "-m32"), ("x32", "-mx32")];

const TEXT: &str = "\
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;
typedef unsigned long long u64; typedef long long s64; typedef unsigned long size_t;
#define __packed __attribute__((packed))
#define __aligned(n) __attribute__((aligned(n)))
#define __user
#define LEN (4 * 2)
#define MORE(t, n) t n; t n##_more
#define struct_group(NAME, MEMBERS...) union { struct { MEMBERS }; struct { MEMBERS } NAME; }
typedef u64 __attribute__((aligned(4))) compat_u64;
typedef u64 eight_t __attribute__((aligned(8)));
typedef int (*call_t)(int, struct a *);
typedef struct { u8 a; u32 b; } *pair_p, pair_t;
enum plain { P, Q = 5, R };
enum __attribute__((packed)) tiny { T, U = 200 };
enum wide { W = 1ull << 40 };
struct a { u8 a; u64 b; u16 c[3]; void __user *d, **e; size_t f; };
struct b { u8 a; struct a b[2]; union { u64 c; u8 d[3]; }; struct { u8 e; u32 f; } __packed g; };
struct c { u8 a; u64 b __attribute__((aligned(8))); unsigned long c; enum { X } *p; call_t f; };
struct d { u8 a; u64 b; } __attribute__((aligned(32)));
union e { struct d a; u8 b[40]; };
struct f { long long a; signed char b; unsigned int c, d[2][3]; } __attribute__((packed, aligned(4)));
struct g { u8 a; compat_u64 b; u8 c; eight_t d; };
struct h { struct g a[3]; u16 b; u8 c[]; } __packed;
struct i { u8 a[R], b[Q * LEN - 1]; enum plain c; enum tiny d; enum wide e; };
struct j { MORE(u16, a); struct_group(g, u8 x; u32 y;); int (*f)(void), (*t[3])(int); };
struct k { u8 a; int (*p)[4]; pair_t b; pair_p c; double d; float e; _Bool f; };
struct l { u8 a; u32 b : 3, c : 30, : 5, d : 1; u64 e : 40; u8 f : 2; u16 g; };
struct m { u8 a : 4; u64 b : 60; u64 c : 33; u8 : 0; u8 d; } __attribute__((aligned(2)));
struct n { u8 a; u32 b : 31; u32 c : 2; u16 d; } __packed;
struct o { u8 a[sizeof(struct a)]; u8 b[__builtin_offsetof(struct a, c[1])]; u8 c[sizeof(((struct a *)0)->c)]; };
struct p {
#if __SIZEOF_POINTER__ == 8 && !defined(__NEVER)
	u64 wide;
#elif 1
	u16 narrow;
#else
	u8 none[100];
#endif
#if __NEVER || !__NEVER && __NEVER
	u16 never;
#endif
	u8 last;
};
#pragma pack(push, 2)
struct q { u8 a; u64 b; u32 c : 20, d : 20; struct a e; };
#pragma pack(pop)
struct r { u8 a; u64 b; struct q c; };
struct s { u8 a; u8 b __aligned(8); u16 c __packed; u64 d __packed; };
#define PAIR 1, 2
#define FILLED { .a = 1 }
struct t {
	u8 a[sizeof((char []){ \"viafb\" })], b[sizeof((char []){ \"a\\n\" \"\\x41g\\0123\\\"\" })];
	u8 c[sizeof((char []){ 1, 2, })], d[sizeof((u16 []){ PAIR, [R] = 1, 2, [2 ... 3] = 0 })];
	u8 e[sizeof((struct a []){ { 1 }, FILLED, [LEN] = FILLED })], f[sizeof((char [][4]){ \"abc\", \"d\" })];
	u8 g[sizeof((const char *[]){ \"a\", \"b\" \"c\", 0 })], h[sizeof(\"a\\t\" \"b\")];
	u8 i[sizeof((u32 [][2]){ { 1, 2 }, { 3 }, [R] = { 4, 5 } })];
};
";

/// Types that a text and its headers have, with what is not known of the rest.
type Known = (Vec<(String, Type)>, Vec<(String, LayoutError)>);

fn known(headers: &Headers<'_>, text: &str, names: &[String], machine: &Machine) -> Known {
    let types = Types::new(headers, &TreePath::within("t.c"), text.as_bytes());
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        match types.layout_on(name, machine) {
            Ok(of) => found.push((name.clone(), of)),
            Err(error) => unknown.push((name.clone(), error)),
        }
    }
    (found, unknown)
}

/// What the compiler is asked to confirm of a type, and a constant for each
/// bit-field, which holds ones where the others hold zeros.
fn claims(at: usize, name: &str, of: &Type) -> String {
    let mut out = format!(
        "_Static_assert(sizeof({name}) == {}, \"size\");\nstruct t{at} {{ char c; {name} x; }};\n\
         _Static_assert(__builtin_offsetof(struct t{at}, x) == {}, \"align\");\n",
        of.size, of.align
    );
    for (place, member) in of.members() {
        let own = &member.name;
        out += &match member.bits {
            None => format!(
                "_Static_assert(__builtin_offsetof({name}, {own}) == {place}, \"{own}\");\n"
            ),
            Some(_) => format!("const {name} v{at}_{own} = {{ .{own} = ~0ull }};\n"),
        };
    }
    out
}

/// The bytes of such a constant.
fn ones(of: &Type, place: u64, bits: (u64, u64)) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(of.size).unwrap()];
    for bit in (0..bits.1).map(|bit| place * 8 + bits.0 + bit) {
        bytes[usize::try_from(bit / 8).unwrap()] |= 1 << (bit % 8);
    }
    bytes
}

/// The bit-fields whose constants are others in an object file.
fn other_bits(object: &[u8], types: &[(String, Type)]) -> String {
    let file = object::File::parse(object).unwrap();
    let bytes = |name: &str| {
        let symbol = file
            .symbols()
            .find(|symbol| symbol.name() == Ok(name))
            .unwrap();
        let section = file
            .section_by_index(symbol.section_index().unwrap())
            .unwrap();
        let start = usize::try_from(symbol.address()).unwrap();
        let data = section.data().unwrap();
        data[start..start + usize::try_from(symbol.size()).unwrap()].to_vec()
    };
    let mut found = String::new();
    for (at, (_, of)) in types.iter().enumerate() {
        for (place, member) in of.members() {
            let own = &member.name;
            let Some(bits) = member.bits else { continue };
            if bytes(&format!("v{at}_{own}")) != ones(of, place, bits) {
                found += &format!("error: {}.{own}: {bits:?}\n", of.name);
            }
        }
    }
    found
}

/// What gcc says of layouts; nothing if all is so.
fn said(flag: &str, text: &str, types: &[(String, Type)], more: &[String]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("x.o");
    let all = types.iter().enumerate();
    let claims: String = all.map(|(at, (name, of))| claims(at, name, of)).collect();
    let mut gcc = Command::new("gcc")
        .args([
            flag,
            "-w",
            "-c",
            "-nostdinc",
            "-fno-zero-initialized-in-bss",
        ])
        .args(more)
        .args(["-x", "c", "-", "-o"])
        .arg(&object)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = gcc.stdin.take().unwrap();
    input
        .write_all(format!("{text}\n{claims}").as_bytes())
        .unwrap();
    drop(input);
    let output = gcc.wait_with_output().unwrap();
    match output.status.success() {
        true => other_bits(&std::fs::read(object).unwrap(), types),
        false => String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn a_layout_is_that_of_the_compiler() {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let names = definitions(TEXT.as_bytes());
    let record = |name: &String| name.starts_with("struct ") || name.starts_with("union ");
    let names: Vec<String> = names.into_iter().filter(record).collect();
    assert_eq!(names.len(), 20, "{names:?}");
    for (name, flag) in MACHINES {
        let machine = headers.machine(name).unwrap();
        let (found, unknown) = known(&headers, TEXT, &names, machine);
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        let errors = said(flag, TEXT, &found, &[]);
        assert!(errors.is_empty(), "{name}: {errors}");
    }
}

/// The compiler would say so if a layout were wrong.
#[test]
fn a_wrong_layout_is_seen() {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let machine = headers.machine("x86_64").unwrap();
    let names = ["struct a".to_owned(), "struct l".to_owned()];
    for broken in 0..3 {
        let (mut found, unknown) = known(&headers, TEXT, &names, machine);
        assert!(unknown.is_empty(), "{unknown:?}");
        let of = &mut found[usize::from(broken == 2)].1;
        let Shape::Struct(members) = &mut of.shape else {
            panic!("{of:?}");
        };
        match broken {
            0 => members[1].offset += 1,
            1 => of.size += 8,
            _ => members[1].bits = Some((1, 3)),
        }
        let errors = said("-m64", TEXT, &found, &[]);
        assert!(errors.contains("error"), "{broken}");
    }
}

#[test]
fn what_is_not_understood_is_an_error() {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    for (text, says) in [
        (
            "struct s {\n#ifdef CONFIG_X\n\tint a;\n#endif\n\tint b; };",
            "CONFIG_X",
        ),
        ("struct s { struct gone g; };", "struct gone"),
        ("struct s { int a[N]; };", "N"),
        ("struct s { int a[CONFIG_N]; };", "CONFIG_N"),
        ("struct s { MACRO(a, b); };", "MACRO"),
        ("struct s { int f(int); };", "()"),
        ("struct s { int a;", "its end"),
        ("struct s { struct s t; };", "its depth"),
        ("struct s { int a : 33; };", "33"),
        ("struct s { int a __attribute__((mode(DI))); };", "mode"),
        ("#define N N + 1\nstruct s { int a[N]; };", "N"),
        ("struct s;", "struct s"),
    ] {
        let types = Types::new(&headers, &TreePath::within("t.c"), text.as_bytes());
        let error = types.layout("struct s").unwrap_err();
        assert!(error.what().contains(says), "{text}: {error}");
    }
}

fn size(text: &str, name: &str, machine: &str) -> u64 {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let types = Types::new(&headers, &TreePath::within("t.c"), text.as_bytes());
    types
        .layout_on(name, headers.machine(machine).unwrap())
        .unwrap()
        .size
}

#[test]
fn types_of_compat_are_aligned_as_the_architecture_has_them() {
    let text = "#ifdef CONFIG_COMPAT_FOR_U64_ALIGNMENT\n\
        typedef unsigned long long __attribute__((aligned(4))) compat_u64;\n\
        #else\ntypedef unsigned long long compat_u64;\n#endif\n\
        struct s { int a; compat_u64 b; };\n";
    assert_eq!(size(text, "struct s", "x86_64"), 12);
    assert_eq!(size(text, "struct s", "arm64"), 16);
}

#[test]
fn a_type_without_negative_values_is_known_by_what_it_means() {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let text = "typedef size_t many_t;\ntypedef many_t most_t;\ntypedef int u8_t;\n\
        typedef u32 *place_t;\nenum way { UP };\nenum back { DOWN = -1 };\n\
        struct s { u32 a; };\n";
    let types = Types::new(&headers, &TreePath::within("t.c"), text.as_bytes());
    let unsigned = "unsigned;unsigned short int;bool;__be16;most_t;enum way";
    for name in unsigned.split(';') {
        assert!(types.is_unsigned(name), "{name}");
    }
    let others = "int;ssize_t;u8_t;place_t;char;enum back;struct s;unsigned int *;none_t";
    for name in others.split(';') {
        assert!(!types.is_unsigned(name), "{name}");
    }
}

#[test]
fn a_file_defines_types_however_they_are_spaced() {
    let text = "typedef __vector128 vector128;\nstruct  a {\n\tint x;\n};\nunion\tb\n{\n\tint x;\n};\n\
        typedef struct c {\n\t\tstruct { int y; } x;\n\t\t} c_t, *c_p;\nstruct a *d;\n\
        typedef int (*e)(struct a *, int);\nstruct __packed f {\n\tint x;\n};\n\
        struct __aligned(8) g {\n};\nunion __attribute__((packed)) h\n{\n};\nstruct i j;\n";
    let mut found = definitions(text.as_bytes());
    found.sort();
    assert_eq!(
        found,
        [
            "c_p",
            "c_t",
            "struct a",
            "struct c",
            "struct f",
            "struct g",
            "union b",
            "union h",
            "vector128"
        ]
    );
    assert_eq!(definitions(b"typedef unsigned char u;\n"), ["u"]);
}

#[test]
fn what_a_comment_defines_is_not_defined() {
    let text = "/*\nstruct s { long a; };\n#define LEN 9\n*/\n#define LEN 2\n\
        // struct s { int a; };\nstruct s\n{\n\tchar a[LEN];\n};\n/* struct s { */\n";
    assert_eq!(size(text, "struct s", "x86_64"), 2);
}

#[test]
fn what_stands_between_struct_and_its_tag_hides_it_from_nobody() {
    for between in ["__packed", "__attribute__((packed))"] {
        let header = format!(
            "#define __packed __attribute__((packed))\nstruct {between} s {{ char a; long long b; }};\n"
        );
        let reader = |path: &TreePath| match &*path.lossy() {
            "a.h" => Ok(header.clone().into_bytes()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let headers = Headers::new(&reader).unwrap();
        let types = Types::new(&headers, &TreePath::within("t.c"), b"#include \"a.h\"\n");
        let own = types.layout("struct s").map(|of| of.size);
        assert_eq!(own, Ok(9), "{between}");
    }
}

/// An index knows types: that another file has one of a macro's name says nothing of
/// the macro (BYTE of cciss_defs.h is a typedef in lib/zstd).
#[test]
fn a_macro_is_found_in_its_file_whatever_type_another_defines() {
    let header = "#define BYTE unsigned char\n#define WORD BYTE\n\
        struct s { BYTE a; BYTE b[2]; WORD c; };\n";
    let reader = |path: &TreePath| match &*path.lossy() {
        "include/linux/a.h" => Ok(header.as_bytes().to_vec()),
        "lib/other.h" => Ok(b"typedef long BYTE;\n".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let mut index = TypeIndex::default();
    for path in ["include/linux/a.h", "lib/other.h"].map(TreePath::within) {
        index.add(&path, &reader(&path).unwrap());
    }
    let headers = Headers::new(&reader).unwrap().with_index(Some(index));
    let own = b"#include <linux/a.h>\n";
    let types = Types::new(&headers, &TreePath::within("t.c"), own);
    assert_eq!(types.layout("struct s").map(|of| of.size), Ok(4));
}

/// An index of headers knows nothing of what sources define.
#[test]
fn a_source_sees_its_own_type_whatever_a_header_elsewhere_defines() {
    let files = [
        ("include/linux/a.h", "struct b { char a[3]; };\n"),
        (
            "drivers/x/s.h",
            "struct s { char a[9]; };\ntypedef int t;\n",
        ),
        (
            "drivers/y/s.h",
            "struct s { struct b a; };\ntypedef int t;\n",
        ),
    ];
    let reader = |path: &TreePath| {
        let found = files.iter().find(|(name, _)| *name == path.lossy());
        let found = found.map(|(_, text)| text.as_bytes().to_vec());
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    let mut index = TypeIndex::default();
    for (path, _) in files {
        let (mut own, path) = (TypeIndex::default(), TreePath::within(path));
        own.add(&path, &reader(&path).unwrap());
        index.merge(own);
    }
    for index in [index.clone(), index.joined()] {
        let headers = Headers::new(&reader).unwrap().with_index(Some(index));
        let size = |own: &str, of: &str| {
            let path = TreePath::within("drivers/z/t.c");
            let types = Types::new(&headers, &path, own.as_bytes());
            types.layout(of).map(|of| of.size)
        };
        let missing = |name: &str| Err(LayoutError::Missing(name.to_owned()));
        assert_eq!(size("struct b { char a[5]; };\n", "struct b"), Ok(5));
        assert_eq!(size("typedef char t;\n", "t"), Ok(1));
        assert_eq!(size("", "struct b"), Ok(3));
        // Of two that may be meant it has what it includes.
        assert_eq!(size("", "struct s"), missing("struct s"));
        let one = "#include \"../x/s.h\"\n";
        assert_eq!(size(one, "struct s"), Ok(9));
        let other = "#include <linux/a.h>\n#include \"../y/s.h\"\n";
        assert_eq!(size(other, "struct s"), Ok(3));
    }
}

/// A variable that is called as some header's macro is has its own type, which nobody
/// knows here; a macro of the file itself is one however it is spelled.
#[test]
fn what_is_spelled_as_variables_are_is_a_macro_of_its_own_file_only() {
    let header = "#define value (*(struct s *)0)\n#define VALUE (*(struct s *)0)\n\
        struct s { int a[3]; };\n";
    let reader = |path: &TreePath| match &*path.lossy() {
        "include/linux/a.h" => Ok(header.as_bytes().to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let size = |own: &str, of: &str| {
        let headers = Headers::new(&reader).unwrap();
        let text = format!("#include <linux/a.h>\n{own}");
        let types = Types::new(&headers, &TreePath::within("t.c"), text.as_bytes());
        types.value(&format!("sizeof({of})"))
    };
    let missing = LayoutError::Missing("value".to_owned());
    assert_eq!(size("", "value"), Err(missing));
    assert_eq!(size("", "VALUE"), Ok(12));
    assert_eq!(size("#define value (*(struct s *)0)\n", "value"), Ok(12));
}

/// Headers that say the same leave no choice, however many there are.
#[test]
fn a_macro_that_two_headers_define_alike_is_one() {
    let names: Vec<String> = (0..12).map(|at| format!("LEN{at}")).collect();
    let defined: String = names.iter().map(|n| format!("#define {n} 2\n")).collect();
    let members: String = names.iter().map(|n| format!("u8 {n}_[{n}]; ")).collect();
    let text = format!(
        "#include \"a.h\"\n#include \"b.h\"\ntypedef unsigned char u8;\nstruct s {{ {members} }};\n"
    );
    let size = |other: &str| {
        let reader = |path: &TreePath| match &*path.lossy() {
            "a.h" => Ok(defined.clone().into_bytes()),
            "b.h" => Ok(other.to_owned().into_bytes()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let headers = Headers::new(&reader).unwrap();
        let types = Types::new(&headers, &TreePath::within("t.c"), text.as_bytes());
        types.size_everywhere("struct s")
    };
    assert_eq!(size(&defined), Some(24));
    assert_eq!(size(&defined.replace(" 2", " 3")), None);
}

#[test]
fn what_every_configuration_agrees_on_is_known() {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let text = "struct s {\n#ifdef CONFIG_X\n\tint a;\n#else\n\tunsigned b;\n#endif\n\tchar c; };\n\
        #ifdef CONFIG_Y\nstruct t { long a; };\n#endif\n";
    let types = Types::new(&headers, &TreePath::within("t.c"), text.as_bytes());
    assert_eq!(types.value("sizeof(struct s) + sizeof(struct t)"), Ok(16));
    assert!(types.layout("struct s").is_err(), "the names differ");
    assert_eq!(types.layout("struct t").unwrap().size, 8);
}

/// As with a record, what is left out is no answer beside one that is there.
#[test]
fn a_typedef_that_the_configuration_leaves_out_is_absent() {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let text = "#ifdef CONFIG_Y\ntypedef short t;\n#define m long\n#endif\nstruct s { t a; };\n\
        struct n { m a; };\n#ifdef CONFIG_SPARC64\ntypedef short far_t;\n#endif\n\
        #ifdef CONFIG_RANDSTRUCT\ntypedef int never_t;\n#endif\nstruct f { far_t a; };\n\
        #ifdef CONFIG_A\ntypedef short two_t;\n#else\ntypedef int two_t;\n#endif\n";
    let types = Types::new(&headers, &TreePath::within("t.c"), text.as_bytes());
    let size = |of: &str| types.layout(of).map(|of| of.size);
    for (of, bytes) in [("t", 2), ("struct s", 2), ("m", 8), ("struct n", 8)] {
        assert_eq!(size(of), Ok(bytes), "{of}");
    }
    assert_eq!(
        types.value("sizeof(t) + sizeof(struct n) + sizeof(struct s)"),
        Ok(12)
    );
    assert_eq!(types.outline("struct s").unwrap().size, 2);
    // On the machine of another architecture, which has it.
    let absent = |name: &str| Err(LayoutError::Absent(name.to_owned()));
    let machine = |name: &str| headers.machine(name).unwrap();
    let on = |of: &str, name: &str| types.layout_on(of, machine(name)).map(|of| of.size);
    assert_eq!(on("far_t", "x86_64"), absent("far_t"));
    assert_eq!(on("struct f", "sparc64"), Ok(2));
    assert_eq!(size("struct f"), Ok(2));
    assert_eq!(types.outline("struct f").unwrap().size, 2);
    assert_eq!(types.value("sizeof(far_t)"), Ok(2));
    assert_eq!(size("never_t"), absent("never_t"));
    // Two that are there differ.
    assert!(matches!(size("two_t"), Err(LayoutError::Depends(..))));
}

#[test]
fn an_option_of_another_architecture_is_not_set() {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let text = "typedef struct {\n\tint a;\n#ifdef CONFIG_X86_X32_ABI\n\tlong b;\n#endif\n\
        #if IS_ENABLED(CONFIG_SPARC_LEON) || defined(CONFIG_X86_PAE)\n\tlong c;\n#endif\n} s_t;\n\
        struct frame { s_t info; int pc; };\n";
    let size = |path: &str| {
        let types = Types::new(&headers, &TreePath::within(path), text.as_bytes());
        types.layout("struct frame").map(|of| of.size)
    };
    let depends = |found: Result<u64, LayoutError>| matches!(found, Err(LayoutError::Depends(..)));
    assert_eq!(size("arch/sparc/kernel/t.c"), Ok(8));
    assert_eq!(size("arch/arm64/kernel/t.c"), Ok(8));
    // Where it may be set nobody knows whether it is.
    assert!(depends(size("arch/x86/kernel/t.c")));
    assert!(depends(size("fs/t.c")));
    let types = Types::new(&headers, &TreePath::within("fs/t.c"), text.as_bytes());
    let on = |name: &str| types.layout_on("struct frame", headers.machine(name).unwrap());
    assert!(depends(on("x86_64").map(|of| of.size)));
    assert!(depends(on("i386").map(|of| of.size)));
    assert!(depends(on("sparc").map(|of| of.size)));
    assert_eq!(on("sparc64").map(|of| of.size), Ok(8));
    assert_eq!(on("x32").map(|of| of.size), Ok(8));
}

/// What most headers of the kernel need to be compiled on their own.
const BEFORE: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n\
    #include <linux/types.h>\n#include <linux/stddef.h>\n#include <linux/socket.h>\n\
    #include <linux/in.h>\n#include <linux/in6.h>\n";

/// Words that the kernel's compiler.h defines, which programs do not get.
const WORDS: [&str; 4] = [
    "-D__user=",
    "-D__force=",
    "-D__attribute_const__=",
    "-D__packed=__attribute__((packed))",
];

/// What came of the structures of some headers.
#[derive(Default)]
struct Tally {
    /// Those that gcc confirms.
    confirmed: usize,
    /// Where gcc says otherwise, with what it says.
    wrong: Vec<String>,
    /// Those that are not known, by what is missing.
    unknown: BTreeMap<String, usize>,
    /// Headers that gcc cannot compile on their own, with how many they define, and
    /// why.
    alone: Vec<String>,
}

/// Every header that programs get on x86, as they include it.
fn for_programs(tree: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let tops = ["include/uapi", "arch/x86/include/uapi"].map(|top| tree.join(top));
    let mut folders: Vec<_> = tops.iter().map(|top| (top, top.clone())).collect();
    while let Some((top, folder)) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(top).unwrap().to_str().unwrap();
            let own = name.replace("asm-generic/", "arch/x86/include/uapi/asm/");
            match path.is_dir() {
                true => folders.push((top, path)),
                // What is generic is read for the architecture's own.
                false if tree.join(own).is_file() => {}
                false if name.ends_with(".h") => found.push(name.to_owned()),
                false => {}
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Headers of `asm/` that an architecture has the generic one of, as its build
/// makes them, and those that the export takes out of all others.
fn generated(tree: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (asm, linux) = (folder.path().join("asm"), folder.path().join("linux"));
    fs::create_dir_all(&asm).unwrap();
    fs::create_dir_all(&linux).unwrap();
    for entry in fs::read_dir(tree.join("include/uapi/asm-generic")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !tree.join("arch/x86/include/uapi/asm").join(&name).exists() {
            fs::write(asm.join(&name), format!("#include <asm-generic/{name}>\n")).unwrap();
        }
    }
    for name in ["compiler.h", "compiler_types.h"] {
        fs::write(linux.join(name), "").unwrap();
    }
    folder
}

fn tally(tree: &Path, header: &str, machine: &Machine, flag: &str, more: &[String]) -> Tally {
    let reader = |path: &TreePath| fs::read(tree.join(path));
    let headers = Headers::new(&reader).unwrap();
    let own = ["arch/x86/include/uapi", "include/uapi"].map(|top| tree.join(top).join(header));
    let own = own.iter().find_map(|path| fs::read(path).ok()).unwrap();
    let mut names = definitions(&own);
    names.retain(|name| name.starts_with("struct ") || name.starts_with("union "));
    names.sort();
    names.dedup();
    let mut out = Tally::default();
    let text = format!("{BEFORE}#include <{header}>\n");
    let (found, unknown) = known(&headers, &text, &names, &machine.for_programs());
    for (_, error) in unknown {
        *out.unknown.entry(error.to_string()).or_default() += 1;
    }
    if found.is_empty() {
        return out;
    }
    let errors = said(flag, &text, &found, more);
    let differs =
        |line: &str| line.contains("static assertion failed") || line.starts_with("error:");
    match errors.lines().find(|line| line.contains("error:")) {
        None => out.confirmed = found.len(),
        Some(line) if differs(line) => out.wrong.push(format!("{header} {flag}: {errors}")),
        Some(line) => out.alone.push(format!("{header}, {}: {line}", found.len())),
    }
    out
}

/// Every structure that Linux 6.12 exports to programs, on each ABI of x86.
#[test]
fn no_layout_of_the_kernel_is_wrong() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let generated = generated(&tree);
    let own = Command::new("gcc").arg("-print-file-name=include").output();
    let own = String::from_utf8(own.unwrap().stdout).unwrap();
    let folders = [
        generated.path().to_owned(),
        tree.join("arch/x86/include/uapi"),
        tree.join("include/uapi"),
    ];
    let mut more: Vec<String> = folders
        .map(|folder| format!("-I{}", folder.display()))
        .to_vec();
    more.extend(["-isystem", own.trim(), "-ffreestanding", "-fms-extensions"].map(str::to_owned));
    more.extend(WORDS.map(str::to_owned));
    let all = for_programs(&tree);
    let (all, more, tree) = (&all, &more, &tree);
    for (name, flag) in MACHINES {
        let machine = headers.machine(name).unwrap();
        let (next, sum) = (Mutex::new(all.iter()), Mutex::new(Tally::default()));
        let work = || {
            while let Some(header) = { next.lock().unwrap().next() } {
                let one = tally(tree, header, machine, flag, more);
                let mut sum = sum.lock().unwrap();
                sum.confirmed += one.confirmed;
                sum.alone.extend(one.alone);
                sum.wrong.extend(one.wrong);
                for (error, count) in one.unknown {
                    *sum.unknown.entry(error).or_default() += count;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
        });
        let sum = sum.into_inner().unwrap();
        let unknown: usize = sum.unknown.values().sum();
        // Not eprintln!, which the test runner keeps to itself.
        let mut out = io::stderr();
        writeln!(
            out,
            "{name}: gcc confirms {} structures of {} headers; {unknown} are not known; {} headers are not compiled alone",
            sum.confirmed,
            all.len(),
            sum.alone.len(),
        )
        .unwrap();
        for (error, count) in &sum.unknown {
            writeln!(out, "  not known, {count}: {error}").unwrap();
        }
        for line in &sum.alone {
            writeln!(out, "  not compiled: {line}").unwrap();
        }
        assert_eq!(sum.wrong, [""; 0], "{name}");
        assert!(sum.confirmed > 4000, "{name}: {}", sum.confirmed);
    }
}
