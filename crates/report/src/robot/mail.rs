//! The mail that build robots send: seed of its form is the kernel test robot's.

use tollgate_robot::{CellReport, FindingKind, Listing, PatchReport, Report, Severity, Status};

use super::words::place;
use crate::text::clean_lines;

/// What a mail says besides what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// Who reports, for `Reported-by:`; none where the tags are not asked for.
    pub reported_by: Option<String>,
    /// The address of this mail in an archive, for `Closes:`.
    pub closes: Option<String>,
    /// The address of the patches in a public repository.
    pub url: Option<String>,
}

/// A mail for every patch that something is new and wrong in. The reports are of the
/// same patches on several base trees, the first being the one that counts.
#[must_use]
pub fn robot_mail(reports: &[Report], mail: &Mail) -> String {
    let Some((first, others)) = reports.split_first() else {
        return String::new();
    };
    let mut text = String::new();
    for (at, patch) in first.patches.iter().enumerate() {
        let also: Vec<&Report> = others
            .iter()
            .filter(|other| {
                other
                    .patches
                    .get(at)
                    .is_some_and(|one| one.status() == Status::Findings)
            })
            .collect();
        if patch.status() == Status::Findings {
            text += &one(first, patch, &also, mail);
        }
    }
    // What compilers and files say may speak to a terminal.
    clean_lines(&text)
}

fn one(report: &Report, patch: &PatchReport, also: &[&Report], mail: &Mail) -> String {
    let errors = patch
        .findings
        .iter()
        .any(|one| one.kind == FindingKind::Error);
    let (word, kind) = match errors {
        true => ("ERROR", "errors"),
        false => ("WARNING", "warnings"),
    };
    let subject = subject(patch);
    let mut text = format!("Subject: Re: {subject}\n");
    if let Some(id) = &patch.message_id {
        text += &format!("In-Reply-To: <{id}>\nReferences: <{id}>\n");
    }
    text += &format!("\nHi {},\n\n", name(patch));
    text += &format!("tollgate robot noticed the following build {kind}:\n\n");
    text += &format!("[auto build test {word} on {}]\n", report.base);
    if !also.is_empty() {
        let names: Vec<&str> = also.iter().map(|one| one.base.as_str()).collect();
        text += &format!("[also build test {word} on {}]\n", names.join(" "));
    }
    text += "[If your patch is applied to the wrong git tree, kindly drop us a note.\n\
        And when submitting patch, we suggest to use '--base' as documented in\n\
        https://git-scm.com/docs/git-format-patch#_base_tree_information]\n\n";
    text += &format!(
        "url:    {}\n",
        match &mail.url {
            Some(url) => url,
            None => "none: the patch was laid over the base as it lies here",
        }
    );
    text += &format!("base:   {}\n", report.base);
    text += &match &patch.message_id {
        Some(id) => format!("patch link:    https://lore.kernel.org/r/{id}\n"),
        None => format!(
            "patch:  {} ({} of {})\n",
            report.asked, patch.number.0, patch.number.1
        ),
    };
    text += &format!("patch subject: {subject}\n");
    if let Some(cell) = first_cell(report, patch) {
        text += &built_with(report, cell);
    }
    text += &tags(mail);
    text += &said(patch, kind);
    text
}

/// The subject as it was mailed.
fn subject(patch: &PatchReport) -> String {
    match &patch.tags {
        Some(tags) => format!("{tags} {}", patch.subject),
        None => patch.subject.clone(),
    }
}

fn name(patch: &PatchReport) -> String {
    let author = patch.author.as_deref().unwrap_or("there");
    let name = author
        .split('<')
        .next()
        .unwrap_or(author)
        .trim()
        .trim_matches('"');
    name.split_whitespace().next().unwrap_or("there").to_owned()
}

fn first_cell<'a>(report: &'a Report, patch: &PatchReport) -> Option<&'a CellReport> {
    let listed = patch.listings.first().map(|listing| &listing.cell);
    let found = patch
        .findings
        .iter()
        .map(|one| &one.cell)
        .find(|cell| !cell.is_empty());
    report.cell(listed.or(found)?)
}

fn built_with(report: &Report, cell: &CellReport) -> String {
    let mut text = format!("config: {} ({})\n", cell.name, cell.base);
    text += &format!("        chosen because {}\n", cell.because);
    text += &format!("compiler: {}\n", cell.compiler);
    text += &format!(
        "reproduce ({}):\n",
        match report.flags.as_str() {
            "" => "this is a plain build".to_owned(),
            flags => format!("this is a {flags} build"),
        }
    );
    for line in reproduce(report, cell) {
        text += &format!("        {line}\n");
    }
    text
}

/// The commands by which somebody with the tree and the patch gets to the same
/// words: a POSIX shell in the top folder of the tree, the patch in `$PATCH`, an empty
/// folder in `$O`.
#[must_use]
pub fn reproduce(report: &Report, cell: &CellReport) -> Vec<String> {
    let mut make = format!("make O=\"$O\" ARCH={}", cell.arch);
    for variable in &cell.variables {
        make += &format!(" {variable}");
    }
    if !report.flags.is_empty() {
        make += &format!(" {}", report.flags);
    }
    let objects: Vec<&str> = report
        .patches
        .iter()
        .flat_map(|patch| &patch.objects)
        .filter(|one| one.cell == cell.name)
        .map(|one| one.object.as_str())
        .collect();
    let mut lines =
        vec!["# in the tree, with the patch in $PATCH and an empty folder in $O".to_owned()];
    lines.push("patch -p1 <\"$PATCH\"".to_owned());
    lines.push(format!(
        "cat >\"$O/fragment\" <<'EOF'\n{}EOF",
        cell.fragment
    ));
    lines.push(format!(
        "{make} KCONFIG_ALLCONFIG=\"$O/fragment\" {}",
        cell.base
    ));
    lines.push(format!("{make} {}", unique(objects).join(" ")));
    lines
}

fn unique(mut all: Vec<&str>) -> Vec<&str> {
    all.sort_unstable();
    all.dedup();
    all
}

fn tags(mail: &Mail) -> String {
    let Some(by) = &mail.reported_by else {
        return "\n".to_owned();
    };
    let mut text =
        "\nIf you fix the issue in a separate patch/commit (i.e. not just a new version of\n\
        the same patch/commit), kindly add following tags\n"
            .to_owned();
    text += &format!("| Reported-by: {by}\n");
    if let Some(closes) = &mail.closes {
        text += &format!("| Closes: {closes}\n");
    }
    text + "\n"
}

fn said(patch: &PatchReport, kind: &str) -> String {
    let mut text = format!("All {kind} (new ones prefixed by >>):\n\n");
    for listing in &patch.listings {
        for (new, line) in &listing.said {
            let mark = if *new { ">>" } else { "  " };
            text += format!("{mark} {line}").trim_end();
            text += "\n";
        }
        text += "\n";
    }
    let listed = |file: &str, line: u32| {
        let mut lines = patch
            .listings
            .iter()
            .flat_map(|one| one.lines.iter().map(move |(at, _, _)| (&one.file, *at)));
        lines.any(|(known, at)| known == file && at == line)
    };
    for one in patch
        .findings
        .iter()
        .filter(|one| !listed(&one.file, one.line))
    {
        let severity = one
            .diagnostic
            .as_ref()
            .map_or("error", |said| match said.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            });
        let place = match place(one).as_str() {
            "" => String::new(),
            place => format!("{place}: "),
        };
        text += &format!(">> {place}{severity}: {}\n", one.message);
    }
    for listing in &patch.listings {
        text += &vim(listing);
    }
    text + "\n"
}

/// The function with a mark at each wrong line.
fn vim(listing: &Listing) -> String {
    let mut text = format!(
        "\nvim +/{} +{} {}\n\n",
        listing.name, listing.line, listing.file
    );
    for (number, wrong, line) in &listing.lines {
        let mark = if *wrong { '>' } else { ' ' };
        text += format!(" {mark} {number}\t{line}").trim_end();
        text += "\n";
    }
    text
}
