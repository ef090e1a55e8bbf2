//! Bodies of the fuzz targets in `fuzz/`: what must hold for any bytes. The
//! ordinary tests run them over `fuzz/corpus`.

use crate::{
    Boundary, Comparison, Group, Kallsyms, Kinds, Profile, Reading, gate_shares, is_perf_data,
    point_series,
};

/// Whatever text is handed in as a profile, it is read or refused in a sentence, no
/// part is negative or no number, and what is made of it can be made.
///
/// # Panics
/// When that does not hold.
pub fn profile(bytes: &[u8]) {
    if !is_perf_data(bytes) {
        whole(bytes);
    }
}

/// The same of perf.data, whatever follows its first bytes.
///
/// # Panics
/// When that does not hold.
pub fn perf_data(bytes: &[u8]) {
    let mut all = b"PERFILE2".to_vec();
    all.extend_from_slice(bytes.strip_prefix(b"PERFILE2").unwrap_or(bytes));
    whole(&all);
}

#[allow(clippy::unwrap_used, reason = "a target says what it expects")]
fn whole(bytes: &[u8]) {
    let kernel = Kallsyms::parse("ffffffff81000000 T _text\nffffffff81000100 T __put_user_4\n");
    let kinds = Kinds::builtin().unwrap();
    match Reading::of(bytes, &kernel) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(reading) => {
            assert!(!reading.is_empty());
            let all: Vec<&Profile> = reading.profiles.iter().collect();
            for profile in &all {
                assert!(
                    profile
                        .rows
                        .iter()
                        .all(|row| row.percent >= 0.0 && row.percent.is_finite())
                );
                assert!(Boundary::of(profile, &kinds).percent.is_finite());
            }
            if let Some(first) = all.first() {
                let compared = Comparison::new(
                    &[first],
                    &all[all.len() - 1..],
                    &Group::kinds(&kinds),
                    &kinds,
                    1.0,
                );
                match compared {
                    Ok(one) => assert!(
                        one.symbols
                            .iter()
                            .all(|change| change.difference().is_finite())
                    ),
                    Err(refused) => assert!(!refused.to_string().is_empty()),
                }
            }
            let _ = point_series(&reading.points);
            let _ = gate_shares(&reading.annotations, &reading.profiles, &kinds);
            let _ = reading.ranking();
        }
    }
}

#[cfg(test)]
mod tests {
    use tollgate_testing::corpus::run;

    #[test]
    fn the_corpus_of_profiles_holds() {
        run("profile", super::profile);
    }

    #[test]
    fn the_corpus_of_perf_data_holds() {
        run("perf_data", super::perf_data);
    }
}
