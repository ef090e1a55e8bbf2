//! Which finding a profile's symbols belong to.

use std::collections::{HashMap, HashSet};

use tollgate_profile::{Kinds, Profile};
use tollgate_source::Finding;

use super::{Profiled, Share, View};

impl View<'_> {
    /// Puts those first that the profile counted most. A function that it does
    /// not name has the part of the nearest of its callers that it names, into
    /// which a compiler may have put it; those in other files are only known of a
    /// function in a header.
    pub fn rank_by(&mut self, profile: &Profile, kinds: &Kinds) {
        let parts = parts(profile, kinds);
        let within = within(profile, kinds);
        let mut met: HashSet<String> = HashSet::new();
        for finding in &self.scan.findings {
            let found = names(finding).find_map(|name| {
                // What the text says is part of a symbol counts as that.
                let symbol = within.get(&name).unwrap_or(&name);
                Some((parts.get(symbol)?, symbol.clone()))
            });
            let Some((percent, name)) = found else {
                continue;
            };
            let key = (finding.path.clone(), finding.function.name.clone());
            let symbol = name.clone();
            let share = Share {
                percent: *percent,
                symbol,
            };
            self.shares.insert(key, share);
            met.insert(name);
        }
        let unmatched = profile.kernel().map(|share| &share.symbol);
        self.profile = Some(Profiled {
            unit: profile.measure.words(),
            unmatched: unmatched
                .filter(|symbol| !met.contains(&kinds.plain(symbol)))
                .cloned()
                .collect(),
        });
        self.ranked = true;
    }
}

/// The function's name, then those of its callers.
fn names(finding: &Finding) -> impl Iterator<Item = String> {
    let function = &finding.function;
    let all = std::iter::once(&function.name).chain(&function.callers);
    all.map(|name| match name.split_once('(') {
        Some((_, inner)) => inner.trim_end_matches(')').to_owned(),
        None => name.clone(),
    })
}

/// By plain name: the part in percent; what a compiler split is added up.
fn parts(profile: &Profile, kinds: &Kinds) -> HashMap<String, f64> {
    let mut parts = HashMap::new();
    for share in profile.kernel() {
        *parts.entry(kinds.plain(&share.symbol)).or_insert(0.0) += share.percent;
    }
    parts
}

/// By function: the symbol that it is part of, where the text says so.
fn within(profile: &Profile, kinds: &Kinds) -> HashMap<String, String> {
    let rows = profile.kernel();
    let pairs = rows.flat_map(|row| {
        let inlined = row.inlined.iter();
        inlined.map(|name| (name.clone(), kinds.plain(&row.symbol)))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tollgate_source::{Analyser, Kind, Scan, TreePath, Vocabulary};

    use tollgate_profile::{Kinds, Reading};

    use super::View;

    const TEXT: &str = "static int cold(struct s __user *p)\n{\n\treturn put_user(1, &p->a) || put_user(2, &p->b);\n}\n\n\
        static int inlined(struct s __user *p)\n{\n\treturn put_user(1, &p->a) || put_user(2, &p->b);\n}\n\n\
        SYSCALL_DEFINE1(thing, struct s __user *, p)\n{\n\treturn inlined(p);\n}\n";

    #[test]
    fn a_symbol_is_its_function_or_a_caller_in_its_file() {
        let vocabulary = Vocabulary::builtin().unwrap();
        let report = Analyser::new(&vocabulary).unwrap().analyse(TEXT.as_bytes());
        let mut scan = Scan::default();
        scan.add(&TreePath::within("fs/x.c"), report);
        let mut view = View::new(&scan, BTreeSet::from([Kind::Run]));
        let rows = "30.0% a [kernel] [k] fput\n12.5% a [kernel] [k] __x64_sys_thing.isra.0\n";
        let kinds = Kinds::builtin().unwrap();
        view.rank_by(&Reading::of_text(rows).unwrap().ranking().unwrap(), &kinds);
        let order: Vec<_> = view
            .findings()
            .into_iter()
            .map(|f| (f.function.name.as_str(), view.reason(f).unwrap()))
            .collect();
        assert_eq!(
            order,
            [
                ("inlined", "12.50 % in thing".to_owned()),
                ("cold", "not in the profile".to_owned()),
            ]
        );
        assert_eq!(view.profile.unwrap().unmatched, ["fput"]);
    }

    /// Another kernel may put it into a function that this tree does not have.
    #[test]
    fn what_a_text_says_is_inlined_has_the_part_of_the_row_above() {
        let vocabulary = Vocabulary::builtin().unwrap();
        let report = Analyser::new(&vocabulary).unwrap().analyse(TEXT.as_bytes());
        let mut scan = Scan::default();
        scan.add(&TreePath::within("fs/x.c"), report);
        let mut view = View::new(&scan, BTreeSet::from([Kind::Run]));
        let rows = "30.0%  [kernel]  [k] fput\n 1.06%  [kernel]  [k] elsewhere\n \
                    ...              ^- inlined() was inlined\n 0.78%  [kernel]  [k] iput\n";
        let kinds = Kinds::builtin().unwrap();
        view.rank_by(&Reading::of_text(rows).unwrap().ranking().unwrap(), &kinds);
        let first = view.findings()[0];
        assert_eq!(first.function.name, "inlined");
        assert_eq!(view.reason(first).unwrap(), "1.06 % in elsewhere");
        assert_eq!(view.profile.unwrap().unmatched, ["fput", "iput"]);
    }

    #[test]
    fn a_run_without_an_access_is_a_defect_and_no_place() {
        let vocabulary = Vocabulary::builtin().unwrap();
        let report = Analyser::new(&vocabulary).unwrap().analyse(TEXT.as_bytes());
        let mut scan = Scan::default();
        scan.add(&TreePath::within("fs/x.c"), report);
        scan.findings[0].function.runs[0].sites.clear();
        let view = View::new(&scan, BTreeSet::from([Kind::Run]));
        let sarif = crate::findings_sarif(&view, &mut |_| None)
            .unwrap_err()
            .to_string();
        let json = crate::findings_json(&view, TreePath::top().name()).unwrap_err();
        for said in [sarif, json.to_string()] {
            assert!(said.contains("a run holds no access"), "{said}");
        }
    }
}
