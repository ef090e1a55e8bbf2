//! No code asks for the name of an architecture: what it wants to know is a
//! property in `data/architectures.toml`.
#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use tollgate_arch::Architectures;

/// Places that may, each with its reason: the file, what stands there, why.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "source/src/types/definition.rs",
        "arch/x86/",
        "a guess between definitions: code outside of arch/ may mean any architecture's type of a name",
    ),
    (
        "gates/src/core.rs",
        "EM_X86_64",
        "where a core's notes are silent, the kernel is known to lie above an address of this machine alone",
    ),
];

/// What stands in a file where a name could be compared.
struct Finder<'a> {
    all: &'a Architectures,
    found: BTreeSet<String>,
}

impl Finder<'_> {
    fn text(&mut self, text: &str) {
        let all = self.all;
        let called = |name: &str| {
            let called = |little| all.called(name, tollgate_arch::Order::of(little)).is_some();
            all.folder(name).is_some() || called(true) || called(false)
        };
        let mut folder = text
            .split("arch/")
            .skip(1)
            .filter_map(|rest| rest.split('/').next());
        let of_calls = all
            .iter()
            .any(|known| known.syscalls.iter().any(|before| before == text));
        if called(text) || of_calls || folder.any(|name| all.folder(name).is_some()) {
            self.found.insert(text.to_owned());
        }
    }

    fn name(&mut self, before: Option<String>, name: &str) {
        let numbered = name
            .strip_prefix("EM_")
            .is_some_and(|rest| !rest.is_empty());
        if numbered || before.is_some_and(|before| before == "Architecture") {
            self.found.insert(name.to_owned());
        }
    }

    /// What a macro is given, which nobody but the macro can take apart.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    let literal = syn::parse_str(&literal.to_string());
                    literal.iter().for_each(|literal| self.visit_lit(literal));
                }
                TokenTree::Ident(ident) => self.name(None, &ident.to_string()),
                TokenTree::Punct(_) => {}
            }
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let test = |meta: &syn::MetaList| meta.tokens.to_string() == "test";
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(test)
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_lit(&mut self, literal: &'ast syn::Lit) {
        match literal {
            syn::Lit::Str(text) => self.text(&text.value()),
            syn::Lit::ByteStr(text) => self.text(&String::from_utf8_lossy(&text.value())),
            _ => {}
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut before = None;
        for segment in &path.segments {
            let name = segment.ident.to_string();
            self.name(before.take(), &name);
            before = Some(name);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.tokens(called.tokens.clone());
    }
}

fn named(all: &Architectures, source: &str) -> Vec<String> {
    let mut finder = Finder {
        all,
        found: BTreeSet::new(),
    };
    finder.visit_file(&syn::parse_file(source).unwrap());
    finder.found.into_iter().collect()
}

/// The sources of the crates that are no tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let of_tests = ["tests", "tests.rs", "fixture.rs", "behaviour", "testing"];
        if path.is_dir() && !of_tests.contains(&name) {
            sources(&path, found);
        } else if name.ends_with(".rs") && !of_tests.contains(&name) {
            found.push(path);
        }
    }
}

#[test]
fn no_code_asks_for_the_name_of_an_architecture() {
    let all = Architectures::built_in().unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(top, &mut files);
    assert!(files.len() > 300, "{} files", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
        found.extend(
            named(all, &text)
                .into_iter()
                .map(|name| (file.clone(), name)),
        );
    }
    let allowed = ALLOWED
        .iter()
        .map(|(file, name, _)| ((*file).to_owned(), (*name).to_owned()));
    let allowed: BTreeSet<_> = allowed.collect();
    let found: BTreeSet<_> = found.into_iter().collect();
    let new: Vec<_> = found.difference(&allowed).collect();
    assert!(new.is_empty(), "names of architectures in code: {new:#?}");
    let gone: Vec<_> = allowed.difference(&found).collect();
    let gone: Vec<_> = gone
        .into_iter()
        .filter(|(file, _)| top.join(file).exists())
        .collect();
    assert!(gone.is_empty(), "listed and not there: {gone:#?}");
}

#[test]
fn a_name_is_found_wherever_it_stands() {
    let all = Architectures::built_in().unwrap();
    let found = |source: &str| named(all, source);
    assert_eq!(
        found("fn f(a: &str) -> bool { a == \"aarch64\" }"),
        ["aarch64"]
    );
    assert_eq!(found("fn f(a: &[u8]) -> bool { a == b\"x86\" }"), ["x86"]);
    assert_eq!(
        found("fn f(a: &str) { matches!(a, \"arm64\" | \"s390x\"); }"),
        ["arm64", "s390x"]
    );
    assert_eq!(
        found("const A: &str = \"arch/powerpc/kernel/\";"),
        ["arch/powerpc/kernel/"]
    );
    assert_eq!(
        found("fn f() { g(object::Architecture::Riscv64) }"),
        ["Riscv64"]
    );
    assert_eq!(found("fn f() { if m == elf::EM_ARM {} }"), ["EM_ARM"]);
    assert_eq!(found("const A: &str = \"__arm64_sys_\";"), ["__arm64_sys_"]);
    // What a person reads, and what a test expects, may name them.
    assert!(found("/// x86\nfn f() { println!(\"stac on x86\"); }").is_empty());
    assert!(found("#[cfg(test)]\nmod tests { const A: &str = \"x86\"; }").is_empty());
}
