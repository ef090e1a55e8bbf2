#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use super::*;
use crate::config::Fragment;
use crate::machine::Machine;

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../../../schema/case.schema.json");
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

/// The manifest as JSON, for the schema.
fn value(text: &str) -> serde_json::Value {
    serde_json::to_value(toml::from_str::<toml::Value>(text).unwrap()).unwrap()
}

#[test]
fn every_case_that_comes_along_is_whole() {
    let machine = Machine::named("x86_64").unwrap();
    for name in Case::names() {
        let case = Case::named(name).unwrap();
        assert_eq!(case.about.name, name);
        Fragment::profile("x86_64", &case.about.config).unwrap();
        assert!(
            case.benchmarks.iter().any(|benchmark| benchmark.control),
            "{name} has no control"
        );
        assert!(!case.claims.is_empty(), "{name} has no claim");
        for station in case.stations() {
            machine.station(&station).unwrap();
        }
    }
}

#[test]
fn every_manifest_follows_the_schema() {
    let schema = schema();
    for name in Case::names() {
        let text = assets::text(&assets::CASES, &format!("{name}/case.toml")).unwrap();
        let faults: Vec<String> = schema
            .iter_errors(&value(text))
            .map(|error| error.to_string())
            .collect();
        assert_eq!(faults, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_plan_is_what_the_guest_reads() {
    let case = Case::named("epoll").unwrap();
    insta::assert_snapshot!(case.plan(&Station::default()));
}

#[test]
fn what_landed_is_named_and_its_files_are_there() {
    let landed = "[[landed]]\nname='merged'\nchange='c'\nsince='7.0'\npatch='epoll/landed.patch'\n";
    let of = |rest: &str| Case::parse("x", &format!("{HEAD}{rest}"));
    let case = of(landed).unwrap();
    let plan = case.landed.first().unwrap();
    assert_eq!(plan.words(), "\"c\" (in Linux since 7.0)");
    assert!(plan.is_due("7.0.0") && plan.is_due("7.3.4") && !plan.is_due("6.19.2"));
    for (from, to, words) in [
        ("merged", "base", "cannot be called base"),
        ("7.0", "seven", "no version"),
        ("epoll/landed", "epoll/lost", "which is not there"),
        ("since", "beside=['y']\nsince", "the variant y"),
    ] {
        let told = fault(&landed.replace(from, to));
        assert!(told.contains(words), "{told}");
    }
}

const HEAD: &str = "[case]\nname='x'\nsummary='s'\n";

fn fault(rest: &str) -> String {
    Case::parse("x", &format!("{HEAD}{rest}"))
        .unwrap_err()
        .to_string()
}

/// Both the parser and the schema refuse it.
fn refused_by_both(rest: &str) -> String {
    let text = format!("{HEAD}{rest}");
    assert!(!schema().is_valid(&value(&text)), "{text}");
    fault(rest)
}

#[test]
fn a_wrong_manifest_is_a_sentence_with_its_line() {
    let error = Case::parse("x", "[case]\nname = 1\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cases/x/case.toml: TOML parse error at line 2"),
        "{error}"
    );
}

#[test]
fn a_key_that_nobody_reads_is_refused() {
    let error = refused_by_both("[[sweep]]\nname='a'\npoints=3\n");
    assert!(error.contains("unknown field `points`"), "{error}");
}

#[test]
fn a_unit_of_no_parameter_is_refused() {
    let error =
        fault("[[benchmark]]\nname='b'\nops=1\nreps=1\nunit={name='event', parameter='n'}\n");
    assert!(error.contains("the parameter n"), "{error}");
}

#[test]
fn what_is_subtracted_runs_in_the_same_guest() {
    let job = |more: &str| format!("[[benchmark]]\nname='statx'\nops=1\nreps=1\n{more}");
    let one = |other: &str| job("").replace("'statx'", other);
    let two = |other: &str| format!("{}{}", job("less='waitid'\n"), one(other));
    let absent = fault(&two("'kworker'"));
    assert!(
        absent.contains("has no benchmark waitid in the same guest"),
        "{absent}"
    );
    let elsewhere = fault(&format!("{}abi='ia32'\n", two("'waitid'")));
    assert!(elsewhere.contains("has no benchmark waitid"), "{elsewhere}");
    let twice = fault(&format!("{}{}", two("'waitid'"), one("'waitid'")));
    assert!(twice.contains("several benchmarks waitid"), "{twice}");
    let text = format!("{HEAD}{}", two("'waitid'"));
    assert!(schema().is_valid(&value(&text)));
    let case = Case::parse("x", &text).unwrap();
    let found: Vec<_> = case.to_subtract(&case.benchmarks[0]).collect();
    assert_eq!(found[0].name, "waitid");
}

#[test]
fn a_workload_is_listed_once_for_a_guest() {
    let job = |more: &str| format!("[[benchmark]]\nname='poll'\nops=1\nreps=1\n{more}");
    let same = fault(&format!("{}{}", job(""), job("").replace("ops=1", "ops=9")));
    assert!(
        same.contains("the benchmark poll is listed twice"),
        "{same}"
    );
    let other = [job("parameters={fds=2}\n"), job("abi='ia32'\n")];
    for other in other {
        Case::parse("x", &format!("{HEAD}{}{other}", job(""))).unwrap();
    }
}

#[test]
fn a_variant_is_made_in_one_way() {
    let neither = refused_by_both("[[variant]]\nname='v'\nreason='r'\n");
    assert!(neither.contains("give one of the two"), "{neither}");
    let both = refused_by_both("[[variant]]\nname='v'\nreason='r'\nstyle='window'\npatch='p'\n");
    assert!(both.contains("give one of the two"), "{both}");
    let untargeted = fault("[[variant]]\nname='v'\nreason='r'\nstyle='window'\n");
    assert!(untargeted.contains("no targets"), "{untargeted}");
    let absent = fault("[[variant]]\nname='v'\nreason='r'\npatch='nowhere.patch'\n");
    assert!(
        absent.contains("nowhere.patch, which is not there"),
        "{absent}"
    );
    let mixed = refused_by_both("[[variant]]\nname='v'\nreason='r'\npatch='p'\nsizes=[4]\n");
    assert!(mixed.contains("are of a style"), "{mixed}");
    let taken = fault("[[variant]]\nname='base'\nreason='r'\npatch='p'\n");
    assert!(taken.contains("cannot be called base"), "{taken}");
}

const PROGRAM: &str = "[program]\nname='p'\nsource='epoll/bare.patch'\n";

#[test]
fn a_variant_may_be_another_program() {
    let mode = "[[variant]]\nname='v'\nreason='r'\nmode=['b']\n";
    let text = format!("{HEAD}{PROGRAM}mode=['a']\n{mode}");
    assert!(schema().is_valid(&value(&text)));
    let case = Case::parse("x", &text).unwrap();
    let (plan, own) = (&case.variants[0], case.program.as_ref().unwrap());
    assert!(plan.changes_program() && !plan.changes_kernel());
    assert_eq!(
        (own.mode[0].as_str(), own.of(plan).mode[0].as_str()),
        ("a", "b")
    );
    let both = format!("{PROGRAM}{mode}style='window'\ntargets=['a.c:f']\n");
    assert!(schema().is_valid(&value(&format!("{HEAD}{both}"))));
    let case = Case::parse("x", &format!("{HEAD}{both}")).unwrap();
    assert!(case.variants[0].changes_program() && case.variants[0].changes_kernel());
}

#[test]
fn a_program_is_whole() {
    let none = fault("[[variant]]\nname='v'\nreason='r'\nmode=['b']\n");
    assert!(
        none.contains("of a program, and the case has none"),
        "{none}"
    );
    let same = fault(&format!("{PROGRAM}[[variant]]\nname='v'\nreason='r'\n"));
    assert!(same.contains("none of these is given"), "{same}");
    let absent = fault("[program]\nname='p'\nsource='nowhere.c'\n");
    assert!(absent.contains("needs the file nowhere.c"), "{absent}");
}

#[test]
fn what_is_proved_by_default_is_there() {
    let variant = |name: &str| format!("[[variant]]\nname='{name}'\nreason='r'\nmode=['b']\n");
    let all: String = ["a", "b", "c"].map(variant).concat();
    let text = |more: &str| format!("{HEAD}{more}{PROGRAM}{all}");
    let usual = |text: &str| -> Vec<String> {
        let case = Case::parse("x", text).unwrap();
        case.usual()
            .into_iter()
            .map(|plan| plan.name.clone())
            .collect()
    };
    assert_eq!(usual(&text("")), ["a"]);
    assert_eq!(usual(&text("default=['b', 'c']\n")), ["b", "c"]);
    let absent = Case::parse("x", &text("default=['d']\n"))
        .unwrap_err()
        .to_string();
    assert!(absent.contains("the variant d is to be proved"), "{absent}");
}

#[test]
fn jobs_of_another_abi_have_a_plan_of_their_own() {
    let text = format!(
        "{HEAD}[[benchmark]]\nname='poll'\nops=1\nreps=2\n[[benchmark]]\nname='poll'\nops=1\nreps=2\n\
         abi='ia32'\n[[sweep]]\nname='sync_ptr'\nparameters={{ layout=132 }}\nabi='ia32'\n"
    );
    let case = Case::parse("x", &text).unwrap();
    let ia32 = Station {
        abi: Some("ia32".into()),
        cpu: None,
    };
    let stations: Vec<Station> = case.stations().into_iter().collect();
    assert_eq!(stations, [Station::default(), ia32.clone()]);
    assert_eq!(case.plan(&Station::default()), "bench poll ops=1 reps=2\n");
    assert_eq!(
        case.plan(&ia32),
        "bench poll ops=1 reps=2\nsweep sync_ptr layout=132\n"
    );
}

#[test]
fn what_no_guest_takes_is_refused() {
    let wrong = [
        (
            "benchmark",
            "name='poll'\nops=1\nreps=1\nparameters={fds=1001}",
            "takes fds=1 to 1000",
        ),
        (
            "benchmark",
            "name='poll'\nops=1\nreps=1\nparameters={events=1}",
            "has no parameter events",
        ),
        (
            "benchmark",
            "name='poll'\nops=2000000000\nreps=1",
            "asks for ops=2000000000",
        ),
        (
            "benchmark",
            "name='nosuch'\nops=1\nreps=1",
            "no benchmark is called nosuch",
        ),
        (
            "sweep",
            "name='epoll_wait'\nparameters={events=17}",
            "takes events=1 to 16",
        ),
        ("sweep", "name='nosuch'", "no sweep is called nosuch"),
    ];
    for (kind, text, wanted) in wrong {
        let said = fault(&format!("[[{kind}]]\n{text}\n"));
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn a_source_patch_is_of_a_package() {
    let variant = "[[variant]]\nname='a'\nreason='r'\nsource-patch='no.patch'\n";
    let said = fault(&format!("{PROGRAM}{variant}"));
    assert!(
        said.contains("a patch to a source package, and the case has none"),
        "{said}"
    );
    let package = "[program.package]\nname='toy'\nconfigure=['true']\nmake=['true']\n\
                   [[program.package.file]]\nfrom='x'\nto='y'\n";
    let said = fault(&format!("{PROGRAM}{package}{variant}"));
    assert!(
        said.contains("source patch no.patch, which is not there"),
        "{said}"
    );
}

#[test]
fn who_lacks_a_phase_has_a_mode_of_its_own() {
    let variant = |more: &str| format!("{PROGRAM}[[variant]]\nname='a'\nreason='r'\n{more}");
    let text = format!("{HEAD}{}", variant("mode=['b']\nlacks=['c']\n"));
    let case = Case::parse("x", &text).unwrap();
    assert_eq!(case.variants.first().unwrap().lacks, ["c"]);
    assert!(schema().is_valid(&value(&text)));
    let said = fault(&variant("defines=['B']\nlacks=['c']\n"));
    assert!(said.contains("has no mode of its own"), "{said}");
}

#[test]
fn a_variant_of_a_programs_case_may_be_a_configuration() {
    let config = "[[variant]]\nname='a'\nreason='r'\nconfig=['CONFIG_PROVE_LOCKING=y']\n";
    Case::parse("x", &format!("{HEAD}{PROGRAM}{config}")).unwrap();
    assert!(schema().is_valid(&value(&format!("{HEAD}{PROGRAM}{config}"))));
    let none = "[[variant]]\nname='a'\nreason='r'\n";
    let said = refused_by_both(&format!("{PROGRAM}{none}"));
    assert!(
        said.contains("another kernel (style, patch or config)"),
        "{said}"
    );
}

#[test]
fn a_program_may_be_another_cases_but_for_what_is_said_of_it() {
    let of = |more: &str| Case::parse("x", &format!("{HEAD}[program]\n{more}"));
    let whole = Case::named("sound-server").unwrap().program.unwrap();
    let own = of("of='sound-server'\nmode=['b']\n").unwrap();
    let own = own.program.unwrap();
    assert_eq!(own.mode, ["b"]);
    assert_eq!((&own.name, &own.cpu), (&whole.name, &whole.cpu));
    // The folder of the other case is named, so that this one finds its files.
    assert_eq!(own.source, format!("sound-server/{}", whole.source));
    assert_eq!(own.headers, ["sound-server/count.h"]);
    assert_eq!(own.compiled.first().unwrap().source, "sound-server/count.c");
    let places = |plan: &ProgramPlan| -> Vec<String> {
        plan.files.iter().map(|file| file.to.clone()).collect()
    };
    assert_eq!(places(&own), places(&whole));
    let said = |more: &str| of(more).unwrap_err().to_string();
    for (more, wanted) in [
        ("of='nosuch'\n", "there is no such case"),
        ("of='epoll'\n", "which has none"),
        ("of='sound-server-events'\n", "name the case that has it"),
        ("of=3\n", "`of` is the name of a case"),
        ("of='sound-server'\nnosuch=1\n", "unknown field `nosuch`"),
    ] {
        assert!(said(more).contains(wanted), "{}", said(more));
    }
    refused_by_both("[program]\nmode=['b']\n");
}

/// Over every image: what is compared is then not the kernel.
#[test]
fn a_patch_over_every_image_is_there_and_no_variant_changes_the_kernel() {
    let manifest = |patch: &str, rest: &str| {
        format!("[case]\nname='x'\nsummary='s'\npatch='{patch}'\n{PROGRAM}{rest}")
    };
    let mode = "[[variant]]\nname='v'\nreason='r'\nmode=['b']\n";
    let there = "sound-server/lapic-clock.patch";
    let case = Case::parse("x", &manifest(there, mode)).unwrap();
    assert_eq!(case.about.patch.as_deref(), Some(there));
    let said = |text: &str| Case::parse("x", text).unwrap_err().to_string();
    let absent = said(&manifest("nowhere.patch", mode));
    assert!(
        absent.contains("nowhere.patch, which is not there"),
        "{absent}"
    );
    let kernel = "[[variant]]\nname='v'\nreason='r'\npatch='epoll/bare.patch'\n";
    let both = said(&manifest(there, kernel));
    assert!(
        both.contains("the variant v changes the kernel as well"),
        "{both}"
    );
}
