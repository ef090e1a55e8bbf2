//! What others claimed of a change, beside the counts.

use tollgate_measure::{
    Claim, ClaimCheck, ClaimCounts, ClaimHere, ClaimRow, ClaimedFigures, Figure, Proof,
};

use super::facts;
use super::terminal::{lines, table};
use super::text::{WIDTH, clean, labelled, shorten, wrap};

/// The longest name of a variant in a table, in columns.
const NAME: usize = 24;

/// Every claim with the counts that stand beside it, as text of at most 80
/// columns; none where nothing was claimed.
pub(super) fn text(proof: &Proof) -> Option<String> {
    let claims: Vec<String> = proof.claims.iter().map(claim).collect();
    (!claims.is_empty()).then(|| claims.join("\n"))
}

fn claim(check: &ClaimCheck) -> String {
    let Claim {
        text,
        source,
        figures,
    } = &check.claim;
    let said = format!("{} [{}]", clean(text), clean(source));
    let said = wrap(&said, WIDTH).join("\n");
    let beside = match (&check.here, figures) {
        (ClaimHere::Counted(counts), Some(figures)) => counted(figures, counts),
        (here, _) => labelled("", &format!("{}.", nothing(here)), 2, WIDTH),
    };
    format!("{said}\n{beside}")
}

/// Why nothing stands beside a claim.
pub(super) fn nothing(here: &ClaimHere) -> String {
    match here {
        ClaimHere::NoFigures | ClaimHere::Counted(_) => {
            "no figures that a count can stand beside".to_owned()
        }
        ClaimHere::NotCounted { workload } => clean(&format!(
            "nothing stands beside it: {workload} was not run (--variant all runs everything)"
        )),
        ClaimHere::NoVariant => {
            "nothing stands beside it: none of its variants was run (--variant all)".to_owned()
        }
    }
}

fn counted(figures: &ClaimedFigures, counts: &ClaimCounts) -> String {
    let whole = figures.groups.is_empty();
    let what = format!(
        "claimed: {}; here: {} per {} of {}",
        figures.of,
        match whole {
            true => "kernel instructions",
            false => "share of these functions in the kernel instructions",
        },
        counts.per,
        figures.workload
    );
    let mut out = labelled("", &clean(&what), 2, WIDTH);
    out += &indented(&rows(figures, counts));
    for (index, group) in figures.groups.iter().enumerate() {
        let shares: Vec<String> = counts.rows.iter().map(|row| share(row, index)).collect();
        let text = format!("{}: {}", clean(&group.name), shares.join(", "));
        out += &labelled("", &text, 2, WIDTH);
    }
    if let Some(order) = &counts.order {
        let agrees = if order.agrees() {
            "the same"
        } else {
            "not the same"
        };
        let (claimed, here) = (spaced(&order.claimed), spaced(&order.here));
        let text = format!("cheapest first: claimed {claimed}, here {here}: {agrees} order");
        out += &labelled("", &text, 2, WIDTH);
    }
    out
}

fn rows(figures: &ClaimedFigures, counts: &ClaimCounts) -> String {
    let whole = figures.groups.is_empty();
    let mut table = table(&["", "claimed", "", "here", "", "agrees"], 1);
    let base = counts.rows.first();
    for row in &counts.rows {
        let change = base.filter(|base| whole && base.letter != row.letter);
        let name = format!("{} {}", row.letter, clean(&row.variant));
        table.add_row([
            shorten(&name, NAME),
            row.claimed.to_string(),
            change
                .map(|base| claimed_change(base, row))
                .unwrap_or_default(),
            here(row, whole),
            change
                .map(|base| change_here(base, row))
                .unwrap_or_default(),
            match row.agrees {
                None => String::new(),
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
            },
        ]);
    }
    lines(&table)
}

fn here(row: &ClaimRow, whole: bool) -> String {
    match whole {
        true => row.here().decimal(2),
        false => facts::percent(row.here()),
    }
}

/// A share in hundredths, with its instructions an operation.
fn share(row: &ClaimRow, group: usize) -> String {
    let instructions = row.groups.get(group).copied().unwrap_or_default();
    format!("{} {}", row.letter, facts::percent(row.share(instructions)))
}

fn claimed_change(base: &ClaimRow, row: &ClaimRow) -> String {
    format!("{:+.1} %", (row.claimed / base.claimed - 1.0) * 100.0)
}

fn change_here(base: &ClaimRow, row: &ClaimRow) -> String {
    facts::signed_percent(Figure {
        before: base.here(),
        after: row.here(),
    })
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// `B A C` of `BAC`.
fn spaced(letters: &str) -> String {
    let letters: Vec<String> = letters.chars().map(String::from).collect();
    letters.join(" ")
}
