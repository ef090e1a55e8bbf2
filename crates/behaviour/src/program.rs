//! The program that runs functions and their rewritings on the same memory.

use crate::setups::Setup;

/// The structures of the user's memory.
pub const TYPES: &str = include_str!("../c/types.h");

const SHIM: &str = include_str!("../c/shim.h");
const STATE: &str = include_str!("../c/state.h");
const DRIVER: &str = include_str!("../c/driver.c");

/// A function and what became of it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What results call it: letters, digits and `_`.
    pub name: String,
    /// The file with the function `f`.
    pub text: String,
    /// The file as each setup has rewritten it.
    pub rewritten: Vec<(Setup, String)>,
}

/// The program for all of them, without those of the names in `left_out`.
pub(crate) fn program(subjects: &[Subject], left_out: &[String]) -> String {
    let mut out = [SHIM, TYPES, STATE].concat();
    let kept = |name: &str| !left_out.iter().any(|left| left == name);
    let mut table = String::new();
    for subject in subjects.iter().filter(|subject| kept(&subject.name)) {
        out += &version(&subject.name, &subject.text);
        let mut rows = String::new();
        for (setup, text) in &subject.rewritten {
            let name = version_name(&subject.name, setup);
            if kept(&name) {
                out += &version(&name, text);
                let flags = setup
                    .flags()
                    .map(|flag| if flag { "true" } else { "false" });
                rows += &format!(
                    "\t{{ \"{}\", call_{name}, {} }},\n",
                    setup.name,
                    flags.join(", ")
                );
            }
        }
        let name = &subject.name;
        if !rows.is_empty() {
            out += &format!("static const struct rewriting of_{name}[] = {{\n{rows}}};\n");
            table +=
                &format!("\t{{ \"{name}\", call_{name}, of_{name}, ARRAY_SIZE(of_{name}) }},\n");
        }
    }
    out += &format!("static const struct original originals[] = {{\n{table}\t{{}},\n}};\n");
    out + "#line 1 \"driver.c\"\n" + DRIVER
}

/// What the program calls a rewriting.
pub(crate) fn version_name(subject: &str, setup: &Setup) -> String {
    format!("{subject}_{}", setup.name.replace('-', "_"))
}

/// One version of a function under a name of its own, in lines that the compiler
/// calls by that name, and what calls it.
fn version(name: &str, text: &str) -> String {
    let own = |line: &str| {
        if line.starts_with("#include") {
            String::new()
        } else {
            line.to_owned()
        }
    };
    let lines: Vec<String> = text.lines().map(own).collect();
    let nothing = text.lines().any(|line| line.starts_with("void f("));
    let call = format!("{name}(p, t, q, k, o, n)");
    let call = if nothing {
        format!("{call}; return 0")
    } else {
        format!("return {call}")
    };
    let macros = macros(text);
    let undefined: String = macros.map(|name| format!("#undef {name}\n")).collect();
    format!(
        "#define f {name}\n#define f_copy_from_user {name}_copy_in\n#define f_copy_to_user {name}_copy_out\n\
         #line 1 \"{name}\"\n{}\n#line 1 \"driver.c\"\n#undef f\n#undef f_copy_from_user\n#undef f_copy_to_user\n{undefined}\
         static long call_{name}(struct s *p, struct inner *t, u32 *q, struct s *k, u32 *o, unsigned int n)\n{{\n\t{call};\n}}\n",
        lines.join("\n")
    )
}

/// The names that a text defines.
fn macros(text: &str) -> impl Iterator<Item = &str> {
    let defines = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define "));
    defines.filter_map(|line| {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()
    })
}
