//! What others claimed of a change, beside the counts.

use tollgate_measure::{
    Claim, ClaimCheck, ClaimCounts, ClaimHere, ClaimRow, ClaimedFigures, Figure, Proof,
};

use super::tables;
use crate::document::{Block, Cell, Kind, Section, Table, Way};
use crate::text::plural;

/// Every claim with the counts that stand beside it; none where nothing was claimed.
pub(super) fn section(proof: &Proof) -> Option<Section> {
    let claims = proof.claims.iter().filter_map(claim);
    let mut blocks: Vec<Block> = claims.flatten().collect();
    blocks.extend(rest(proof).map(Block::List));
    let some = !blocks.is_empty();
    some.then(|| Section::new("Beside the claims", blocks))
}

fn claim(check: &ClaimCheck) -> Option<Vec<Block>> {
    let Claim {
        text,
        source,
        figures,
    } = &check.claim;
    let (ClaimHere::Counted(counts), Some(figures)) = (&check.here, figures) else {
        return None;
    };
    let said = Block::Text(format!("{text} [{source}]"));
    Some(
        std::iter::once(said)
            .chain(counted(figures, counts))
            .collect(),
    )
}

/// A line for each reason why nothing stands beside some claims.
fn rest(proof: &Proof) -> Option<Vec<String>> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    let missing = proof.claims.iter().filter(|check| claim(check).is_none());
    for reason in missing.map(|check| nothing(&check.here)) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let line = |(reason, count): &(String, usize)| {
        let claims = plural(*count, "claim");
        format!("{claims} without a count beside: {reason}")
    };
    (!reasons.is_empty()).then(|| reasons.iter().map(line).collect())
}

/// Why nothing stands beside a claim.
pub(super) fn nothing(here: &ClaimHere) -> String {
    match here {
        ClaimHere::NoFigures | ClaimHere::Counted(_) => {
            "no figures that a count could stand beside".to_owned()
        }
        ClaimHere::NotCounted { workload } => {
            format!("{workload} was not run (--variant all runs everything)")
        }
        ClaimHere::NoVariant => {
            "none of its variants was run (--variant all runs everything)".to_owned()
        }
    }
}

fn counted(figures: &ClaimedFigures, counts: &ClaimCounts) -> Vec<Block> {
    let what = format!(
        "claimed: {}; here: {} per {} of {}{}",
        figures.of,
        beside(figures, counts),
        counts.per,
        figures.workload,
        if figures.net {
            ", less the call alone"
        } else {
            ""
        }
    );
    let groups = figures.groups.iter().enumerate().map(|(index, group)| {
        let shares: Vec<String> = counts.rows.iter().map(|row| share(row, index)).collect();
        format!("{}: {}", group.name, shares.join(", "))
    });
    let order = counts.order.as_ref().map(|order| {
        let agrees = if order.agrees() {
            "the same"
        } else {
            "not the same"
        };
        let (claimed, here) = (spaced(&order.claimed), spaced(&order.here));
        format!("cheapest first: claimed {claimed}, here {here}: {agrees} order")
    });
    let below: Vec<String> = groups.chain(order).collect();
    let mut blocks = vec![Block::Text(what), Block::Table(rows(figures, counts))];
    blocks.extend((!below.is_empty()).then_some(Block::List(below)));
    blocks
}

/// What stands beside the figures.
fn beside(figures: &ClaimedFigures, counts: &ClaimCounts) -> String {
    match &figures.within {
        _ if figures.groups.is_empty() => counts.what.clone(),
        None => format!("share of these functions in the {}", counts.what),
        Some(within) => format!(
            "share of these functions in the {} of {}",
            counts.what,
            within.functions.join(", ")
        ),
    }
}

fn rows(figures: &ClaimedFigures, counts: &ClaimCounts) -> Table {
    let whole = figures.groups.is_empty();
    let mut table = Table::new(&[
        ("image", Kind::Name),
        ("claimed", Kind::Number),
        ("change", Kind::Number),
        ("here", Kind::Number),
        ("change", Kind::Number),
        ("agrees", Kind::Number),
    ]);
    let base = counts.rows.first();
    for row in &counts.rows {
        let base = base.filter(|base| base.letter != row.letter);
        let change = base.filter(|_| whole);
        let agrees = match (row.agrees, base) {
            (None, None) => "",
            (None, Some(_)) => "unclear",
            (Some(true), _) => "yes",
            (Some(false), _) => "no",
        };
        table.row([
            format!("{} {}", row.letter, row.variant).into(),
            row.claimed.to_string().into(),
            change.map_or_else(Cell::default, |base| claimed_change(base, row).into()),
            here(row, whole).into(),
            change.map_or_else(Cell::default, |base| change_here(base, row)),
            agrees.into(),
        ]);
    }
    table
}

fn here(row: &ClaimRow, whole: bool) -> String {
    match whole {
        true => row.here().decimal(2),
        false => tables::percent(row.here()),
    }
}

/// A share in hundredths, with its instructions an operation.
fn share(row: &ClaimRow, group: usize) -> String {
    let instructions = row.groups.get(group).copied().unwrap_or_default();
    format!(
        "{} {}",
        row.letter,
        tables::percent(row.share(instructions))
    )
}

fn claimed_change(base: &ClaimRow, row: &ClaimRow) -> String {
    format!("{:+.1} %", (row.claimed / base.claimed - 1.0) * 100.0)
}

fn change_here(base: &ClaimRow, row: &ClaimRow) -> Cell {
    let figure = Figure {
        before: base.here(),
        after: row.here(),
    };
    Cell::from(tables::signed_percent(figure)).going(Way::of(figure.difference()))
}

/// `B A C` of `BAC`.
fn spaced(letters: &str) -> String {
    let letters: Vec<String> = letters.chars().map(String::from).collect();
    letters.join(" ")
}
