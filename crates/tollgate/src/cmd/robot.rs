//! `tollgate robot`: every edited line compiled somewhere, before mailing.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tollgate_lab::input;
use tollgate_report::robot as render;
use tollgate_robot::{Report, Status};
use tollgate_source::shown;

use crate::exit::Exit;
use crate::output::{self, Answer, Builds, Form};
use crate::robot::{self, Asked, Delegated};
use crate::term::Term;
use crate::{cluster, detached, folders};

/// Flags of `tollgate robot`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The patches: a diff, a mail or an mbox (- for standard input); or a commit or a
    /// range A..B of the tree's history
    #[arg(value_name = "PATCH|MBOX|A..B", required_unless_present_any = ["b4", "prepare", "list_cells"])]
    patches: Option<OsString>,
    /// The kernel tree that they are for (here: the current folder)
    #[arg(long, value_name = "DIR", default_value = ".")]
    tree: PathBuf,
    /// A further tree to try them on; may be repeated
    #[arg(long, value_name = "DIR")]
    base: Vec<PathBuf>,
    /// Where prepared build folders and results are kept
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Only these cells; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    cell: Vec<String>,
    /// List the cells, and end
    #[arg(long, conflicts_with_all = ["patches", "format", "json", "b4", "prepare"])]
    list_cells: bool,
    /// Configure every cell, build what every object needs, and end: the tree is only
    /// read, what is made lies in the cache
    #[arg(long, conflicts_with_all = ["patches", "format", "json", "b4", "base"])]
    prepare: bool,
    /// Which warnings are asked for: W= of make; 0 for none
    #[arg(short = 'W', long, value_name = "LEVEL", default_value = "1")]
    warn: String,
    /// Run sparse, too (C=1)
    #[arg(long)]
    sparse: bool,
    /// Build all objects that read what is edited, however many
    #[arg(long)]
    full: bool,
    /// The patch may change what a build runs: Makefiles, Kconfig files, scripts
    #[arg(long)]
    trust: bool,
    /// Besides, so many configurations drawn at random
    #[arg(long, value_name = "N", default_value_t = 0)]
    randconfig: u64,
    /// What they are drawn with
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Builds at a time (here: as many as processors)
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    cluster: cluster::Flags,
    /// Run the tree's own checks, too; may be repeated
    #[arg(long, value_enum, value_name = "CHECK", value_delimiter = ',')]
    with: Vec<Delegated>,
    #[command(flatten)]
    output: output::Asked<Builds>,
    /// Read one mail on standard input and write what b4's checks take
    #[arg(long, conflicts_with_all = ["patches", "format", "json", "base"])]
    b4: bool,
    /// In the mail: ask for Reported-by: with this name and address
    #[arg(long, value_name = "WHO")]
    reported_by: Option<String>,
    /// In the mail: ask for Closes: with this address
    #[arg(long, value_name = "URL", requires = "reported_by")]
    closes: Option<String>,
    /// In the mail: the address of the patches in a public repository
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Write each job to a file in this folder, which is empty or not there, for `tollgate job run`
    #[arg(long, value_name = "DIR")]
    job_files: Option<PathBuf>,
}

const HELP: &str = "\
docs/robot.md has the cells, what they cost, and b4's configuration.
Exit codes: 0 clean, 1 something new is wrong, 2 could not tell: a line that no
configuration compiles, an object that was not built.";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    if args.list_cells {
        return list(args, term);
    }
    if args.prepare {
        return prepare(args, term);
    }
    anyhow::ensure!(
        !(args.b4 && args.cluster.detach),
        "--b4 waits for its answer: leave --detach out"
    );
    if args.b4 {
        return b4(args, term);
    }
    let patches = args.patches.clone().unwrap_or_else(|| OsString::from("-"));
    let output = args.output.output();
    output.check([Path::new(&patches)])?;
    for tree in std::iter::once(&args.tree).chain(&args.base) {
        output.refuse_inside(tree)?;
    }
    anyhow::ensure!(
        output.form != Form::Sarif || args.base.is_empty(),
        "SARIF is one log of one tree: leave --base out"
    );
    if let (Some(site), true) = (args.cluster.site()?, args.cluster.detach) {
        return detached::begin(&site, patches == "-", term);
    }
    let asked = asked(args, &patches)?;
    let mut reports = vec![robot::run(&asked, term)?];
    for base in &args.base {
        let asked = Asked {
            tree: base.clone(),
            ..asked.clone()
        };
        reports.push(robot::run(&asked, term)?);
    }
    output.write(term, |form| answer(args, &reports, form))?;
    ended(&reports)
}

fn answer(args: &Args, reports: &[Report], form: Form) -> anyhow::Result<Answer> {
    let all = |one: fn(&Report) -> String| reports.iter().map(one).collect::<Vec<_>>().join("\n");
    Ok(match form {
        Form::Json => render::robot_json(reports)?.into(),
        Form::Sarif => all(render::robot_sarif).into(),
        Form::Ktap => all(render::robot_ktap).into(),
        Form::Document("mail") => {
            let mail = render::Mail {
                reported_by: args.reported_by.clone(),
                closes: args.closes.clone(),
                url: args.url.clone(),
            };
            render::robot_mail(reports, &mail).into()
        }
        _ => render::robot_document(reports).into(),
    })
}

/// What is asked for; what stands on standard input is read.
fn asked(args: &Args, patches: &OsString) -> anyhow::Result<Asked> {
    let (patches, piped) = match patches == "-" {
        false => (patches.clone(), None),
        true => {
            let text = input::limited(std::io::stdin());
            let text = text.context("the patch on standard input could not be read")?;
            (OsString::from("standard input"), Some(text))
        }
    };
    if let Some(folder) = &args.job_files {
        let held = input::names_in(folder).context("the folder of --job-files")?;
        anyhow::ensure!(
            held.is_empty(),
            "--job-files {}: the folder holds something; name one that is empty or not there",
            shown(folder)
        );
    }
    let warn = match args.warn.as_str() {
        "0" => String::new(),
        level => level.to_owned(),
    };
    let known = |c: char| matches!(c, '1' | '2' | '3' | 'c' | 'e');
    anyhow::ensure!(
        warn.chars().all(known),
        "-W {warn}: make knows 1, 2, 3, c and e, and several at once (docs/robot.md)"
    );
    let asked = Asked {
        site: args.cluster.site()?,
        tree: args.tree.clone(),
        patches,
        piped,
        cache: args.cache.clone(),
        cells: args.cell.clone(),
        warn,
        sparse: args.sparse,
        full: args.full,
        trust: args.trust,
        random: (args.randconfig, args.seed),
        jobs: args
            .jobs
            .map_or_else(folders::processors, NonZeroUsize::get),
        delegated: args.with.clone(),
        job_files: args.job_files.clone(),
    };
    Ok(asked)
}

fn ended(reports: &[Report]) -> anyhow::Result<Exit> {
    match reports.iter().map(Report::status).max() {
        Some(Status::Clean) => Ok(Exit::Clean),
        Some(Status::Findings) => Ok(Exit::Findings),
        Some(Status::CouldNotTell) | None => anyhow::bail!(
            "not everything could be told; the report says what was not built, and why"
        ),
    }
}

/// What b4 takes has an entry for whatever happens: it shows it beside the mail.
fn b4(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let asked = asked(args, &OsString::from("-"))?;
    match robot::run(&asked, term) {
        Ok(report) => {
            term.json(&render::robot_b4(&report)?)?;
            ended(&[report])
        }
        Err(error) => {
            term.json(&render::robot_b4_failed(&crate::exit::sentence(&error))?)?;
            Err(error)
        }
    }
}

fn list(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let cells = robot::cells(&args.cell)?;
    let mut text = String::new();
    for cell in &cells.cells {
        let axes: Vec<String> = cell
            .axes
            .iter()
            .map(|(axis, value)| format!("{} {value}", axis.name()))
            .collect();
        text += &format!(
            "{}: {}\n  {}\n  packages: {}\n",
            cell.name,
            cell.reason,
            axes.join(", "),
            cell.packages.join(" ")
        );
    }
    term.result(&text)?;
    Ok(Exit::Clean)
}

fn prepare(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        !args.cluster.is_elsewhere(),
        "--prepare makes ready this machine; nodes of a cluster prepare a cell when they first build in it"
    );
    let asked = asked(args, &OsString::from(""))?;
    let all = robot::prepare(&asked, term)?;
    let mut lacking = 0;
    let mut text = String::new();
    for (cell, made) in &all {
        match made {
            Ok(place) => text += &format!("{cell}: objects can be built, {}\n", shown(place)),
            Err(why) => {
                lacking += 1;
                term.error(&format!("{cell}: {why}"));
            }
        }
    }
    term.result(&text)?;
    anyhow::ensure!(
        lacking == 0,
        "{lacking} of {} cells could not be prepared",
        all.len()
    );
    Ok(Exit::Clean)
}
