//! What others claimed of a change, beside the counts.

use tollgate_measure::{
    Claim, ClaimCheck, ClaimCounts, ClaimHere, ClaimRow, ClaimedFigures, Figure, Proof,
};

use super::facts;
use super::terminal::{lines, table};
use super::text::{WIDTH, clean, labelled, plural, shorten, wrap};

/// The longest name of a variant in a table, in columns.
const NAME: usize = 24;

/// Every claim with the counts that stand beside it, as text of at most 80
/// columns; none where nothing was claimed.
pub(super) fn text(proof: &Proof) -> Option<String> {
    let mut parts: Vec<String> = proof.claims.iter().filter_map(claim).collect();
    parts.extend(rest(proof));
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn claim(check: &ClaimCheck) -> Option<String> {
    let Claim {
        text,
        source,
        figures,
    } = &check.claim;
    let (ClaimHere::Counted(counts), Some(figures)) = (&check.here, figures) else {
        return None;
    };
    let said = format!("{} [{}]", clean(text), clean(source));
    let said = wrap(&said, WIDTH).join("\n");
    Some(format!("{said}\n{}", counted(figures, counts)))
}

/// A line for each reason why nothing stands beside some claims.
fn rest(proof: &Proof) -> Option<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    let missing = proof.claims.iter().filter(|check| claim(check).is_none());
    for reason in missing.map(|check| nothing(&check.here)) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let line = |(reason, count): &(String, usize)| {
        let text = format!(
            "{} without a count beside: {reason}",
            plural(*count, "claim")
        );
        wrap(&text, WIDTH).join("\n") + "\n"
    };
    let lines: String = reasons.iter().map(line).collect();
    (!reasons.is_empty()).then_some(lines)
}

/// Why nothing stands beside a claim.
pub(super) fn nothing(here: &ClaimHere) -> String {
    match here {
        ClaimHere::NoFigures | ClaimHere::Counted(_) => {
            "no figures that a count could stand beside".to_owned()
        }
        ClaimHere::NotCounted { workload } => clean(&format!(
            "{workload} was not run (--variant all runs everything)"
        )),
        ClaimHere::NoVariant => {
            "none of its variants was run (--variant all runs everything)".to_owned()
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
            match (row.agrees, base) {
                (None, Some(base)) if base.letter == row.letter => String::new(),
                (None, _) => "unclear".to_owned(),
                (Some(true), _) => "yes".to_owned(),
                (Some(false), _) => "no".to_owned(),
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
