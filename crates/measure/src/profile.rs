//! Profiles that others made: text of perf, as it is or as mail wraps and quotes
//! it, and tollgate's own counts by function.

mod rows;
mod script;

use std::collections::HashMap;

/// How much of what a profile counted fell on a symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolShare {
    /// The symbol as the profile writes it, `snd_pcm_ioctl.part.0`.
    pub symbol: String,
    /// Whether it belongs to the kernel.
    pub kernel: bool,
    /// Its part in percent: of all that was counted, or, of `perf annotate`, of
    /// its own function.
    pub percent: f64,
}

/// Which symbols a profile saw, and how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// What was counted, in words.
    pub unit: String,
    /// Each symbol once, the largest part first.
    pub shares: Vec<SymbolShare>,
}

/// A text that is no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing in it has the form of a row.
    #[error(
        "no line of {lines} is a row of perf report, perf top, perf script or perf annotate, and it is not what prove --format json writes"
    )]
    Nothing {
        /// How many lines there are.
        lines: usize,
    },
    /// It begins as JSON does, and is none, or not that of `prove`.
    #[error("it begins as JSON does, but {0}")]
    Json(String),
}

impl Profile {
    /// Reads any of the texts of perf, or the JSON of `prove`.
    ///
    /// `perf report --stdio` and `perf top` give a percentage in each row (the
    /// second of two is the function's own); of several reports in one text the
    /// largest counts. `perf script` gives a sample a line, or a call chain, of
    /// which the first frame counts. `perf annotate` gives the lines of one
    /// function; it is named by its header or by a jump into it.
    ///
    /// # Errors
    /// When nothing in the text is a row of any of them.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        if text.trim_start().starts_with('{') {
            return from_counts(text);
        }
        let lines: Vec<&str> = text.lines().map(unquoted).collect();
        let found = [
            rows::report(&lines),
            script::samples(&lines),
            rows::annotated(&lines),
        ];
        found
            .into_iter()
            .find(|profile| !profile.shares.is_empty())
            .ok_or(ProfileError::Nothing { lines: lines.len() })
    }

    /// The symbols of the kernel.
    pub fn kernel(&self) -> impl Iterator<Item = &SymbolShare> {
        self.shares.iter().filter(|share| share.kernel)
    }

    fn new(unit: &str, parts: HashMap<(String, bool), f64>) -> Self {
        let mut shares: Vec<SymbolShare> = parts
            .into_iter()
            .map(|((symbol, kernel), percent)| SymbolShare {
                symbol,
                kernel,
                percent,
            })
            .collect();
        shares.sort_by(|a, b| {
            b.percent
                .total_cmp(&a.percent)
                .then(a.symbol.cmp(&b.symbol))
        });
        Self {
            unit: unit.to_owned(),
            shares,
        }
    }
}

/// A line without the marks that mail puts before it: `>`, `>>`, `==>`.
fn unquoted(line: &str) -> &str {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start();
        match trimmed.strip_prefix("==>").or(trimmed.strip_prefix('>')) {
            Some(inner) => rest = inner,
            None => return rest.trim_end(),
        }
    }
}

/// The instructions by function of `prove --format json`: those of image A, and
/// of several workloads the largest part.
fn from_counts(text: &str) -> Result<Profile, ProfileError> {
    let found: serde_json::Value =
        serde_json::from_str(text).map_err(|error| ProfileError::Json(error.to_string()))?;
    let mut parts = HashMap::new();
    functions(&found, 0, &mut parts);
    if parts.is_empty() {
        return Err(ProfileError::Json(
            "it holds no counts by function".to_owned(),
        ));
    }
    Ok(Profile::new("instructions of the kernel (exact)", parts))
}

/// Deeper than the form of `prove` goes.
const DEEPEST: usize = 16;

fn functions(value: &serde_json::Value, depth: usize, parts: &mut HashMap<(String, bool), f64>) {
    if depth > DEEPEST {
        return;
    }
    let row = (value.get("name"), value.get("before_share"));
    if let (Some(name), Some(share)) = (
        row.0.and_then(|n| n.as_str()),
        row.1.and_then(|s| s.as_f64()),
    ) {
        let largest = parts.entry((name.to_owned(), true)).or_insert(0.0);
        *largest = largest.max(100.0 * share);
    }
    let inner = value.as_array().into_iter().flatten();
    let fields = value
        .as_object()
        .into_iter()
        .flat_map(|object| object.values());
    inner
        .chain(fields)
        .for_each(|inner| functions(inner, depth + 1, parts));
}

#[cfg(test)]
mod tests;
