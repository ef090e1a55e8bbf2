//! What the guest takes: the limits of its parameters and of its plan, known to
//! the host before anything is built. `data/bench.toml` has them; the guest's own
//! table, `guest/parameters.h`, is made of it here.

use std::fmt;

use serde::Deserialize;

use crate::registry::Registry;

/// A parameter of a benchmark or a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name in the guest.
    pub name: String,
    /// Its value where a plan does not say it.
    pub standard: i64,
    /// The smallest value.
    pub least: i64,
    /// The largest value.
    pub most: i64,
    /// From one value to the next.
    #[serde(default = "one")]
    pub step: i64,
    /// Whether a job does not name it where nobody asked for another value.
    #[serde(default)]
    pub silent: bool,
    /// Why the limits are where they are.
    pub reason: String,
}

fn one() -> i64 {
    1
}

impl Parameter {
    /// Whether a guest takes a value.
    #[must_use]
    pub fn takes(&self, value: i64) -> bool {
        let in_step = value.checked_sub(self.least).map(|above| above % self.step);
        (self.least..=self.most).contains(&value) && in_step == Some(0)
    }
}

/// What it takes: `events=1 to 4096`.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, least, most, ..
        } = self;
        write!(f, "{name}={least} to {most}")?;
        match self.step {
            1 => Ok(()),
            step => write!(f, " in steps of {step}"),
        }
    }
}

/// The limits of one thing in a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The smallest number.
    pub least: u64,
    /// The largest number.
    pub most: u64,
    /// Why.
    pub reason: String,
}

impl Limits {
    /// Whether a number is within them.
    #[must_use]
    pub fn hold(&self, number: u64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

/// What it takes: `1 to 4096`.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.least, self.most)
    }
}

/// What a plan can hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanLimits {
    /// Operations in a repetition.
    pub ops: Limits,
    /// Repetitions after the warm-up.
    pub reps: Limits,
    /// Characters of a name.
    pub name: Limits,
    /// Arguments of a program of the user's.
    pub arguments: Limits,
    /// Phases of a program of the user's.
    pub phases: Limits,
}

/// `guest/parameters.h`.
#[must_use]
pub fn header(registry: &Registry) -> String {
    let plan = &registry.plan;
    let mut out = String::from(HEAD);
    out += &format!("#define MIN_OPS {}L\n", plan.ops.least);
    out += &format!("#define MAX_OPS {}L\n", plan.ops.most);
    out += &format!("#define MIN_REPS {}L\n", plan.reps.least);
    out += &format!("#define MAX_REPS {}L\n", plan.reps.most);
    out += "/* With the NUL behind it. */\n";
    out += &format!("#define MAX_NAME {}\n", plan.name.most + 1);
    out += "/* With the program's own name. */\n";
    out += &format!("#define MAX_ARGUMENTS {}\n", plan.arguments.most + 1);
    out += &format!("#define MAX_PHASES {}\n", plan.phases.most);
    for bench in &registry.entries {
        out += &of_one("BENCH", &bench.name, &bench.parameters);
    }
    for sweep in &registry.sweeps {
        out += &of_one("SWEEP", &sweep.name, &sweep.parameters);
    }
    out + "\n#endif\n"
}

const HEAD: &str = "\
/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the guest takes. Made of data/bench.toml, which has the reasons; a test of
 * crates/lab compares the two and writes this file anew with UPDATE_PARAMETERS=1.
 *
 * PARAMS_X are the parameters of X: name, standard, least, most, step. X_Y is the
 * place of Y among its values, X_Y_MOST its largest value.
 */
#ifndef TOLLGATE_PARAMETERS_H
#define TOLLGATE_PARAMETERS_H

";

fn of_one(kind: &str, name: &str, parameters: &[Parameter]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let whole = format!("{kind}_{}", name.to_uppercase());
    let mut out = format!("\n#define PARAMS_{whole} {{ \\\n");
    for Parameter {
        name,
        standard,
        least,
        most,
        step,
        ..
    } in parameters
    {
        out += &format!("\t{{ \"{name}\", {standard}, {least}, {most}, {step} }}, \\\n");
    }
    out += "}\n";
    for (place, parameter) in parameters.iter().enumerate() {
        let own = format!("{whole}_{}", parameter.name.to_uppercase());
        out += &format!(
            "#define {own} {place}\n#define {own}_MOST {}\n",
            parameter.most
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn layout() -> Parameter {
        Parameter {
            name: "layout".into(),
            standard: 132,
            least: 132,
            most: 136,
            step: 4,
            silent: false,
            reason: "a test".into(),
        }
    }

    #[test]
    fn a_value_is_taken_or_not() {
        let layout = layout();
        assert!(layout.takes(132) && layout.takes(136));
        for wrong in [131, 133, 134, 137, 140, i64::MIN, i64::MAX] {
            assert!(!layout.takes(wrong), "{wrong}");
        }
        assert_eq!(layout.to_string(), "layout=132 to 136 in steps of 4");
    }

    #[test]
    fn the_guest_has_the_table_of_the_host() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest/parameters.h");
        let wanted = header(&Registry::built_in().unwrap());
        if std::env::var_os("UPDATE_PARAMETERS").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == wanted,
            "guest/parameters.h is not what data/bench.toml says: UPDATE_PARAMETERS=1 cargo test -p tollgate-lab"
        );
    }

    #[test]
    fn every_standard_is_a_value_that_is_taken() {
        let registry = Registry::built_in().unwrap();
        let of_benches = registry
            .entries
            .iter()
            .map(|entry| (&entry.name, &entry.parameters));
        let of_sweeps = registry
            .sweeps
            .iter()
            .map(|sweep| (&sweep.name, &sweep.parameters));
        for (name, parameters) in of_benches.chain(of_sweeps) {
            for parameter in parameters {
                let fits = parameter.takes(parameter.standard)
                    && parameter.takes(parameter.most)
                    && parameter.step > 0;
                assert!(fits, "{name}: {parameter}");
            }
        }
    }
}
