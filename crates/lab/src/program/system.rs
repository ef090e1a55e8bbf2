//! Files of the distribution's packages, as this machine has them installed.

use std::path::Path;
use std::process::Command;

use super::error::Error;
use super::guest_file::{GuestFile, read};
use crate::case::SystemPlan;
use crate::process::{self, Runner};

/// The files that a guest holds of packages of this machine.
///
/// # Errors
/// With the package where one is not there.
pub(super) fn files(plans: &[SystemPlan]) -> Result<Vec<GuestFile>, Error> {
    let named = plans
        .iter()
        .flat_map(|plan| plan.files.iter().map(move |file| (plan, file)));
    named.map(|(plan, file)| of_package(plan, file)).collect()
}

fn of_package(plan: &SystemPlan, file: &str) -> Result<GuestFile, Error> {
    let place = Path::new("/").join(file);
    if !place.is_file() {
        return Err(Error::NoFile {
            path: place,
            package: plan.package.clone(),
        });
    }
    Ok(GuestFile {
        path: file.to_owned(),
        bytes: read(&place)?,
        mode: 0o755,
    })
}

/// `NAME VERSION` of each package that this machine has; one that it does not know of,
/// or whose version nobody can tell here, stands without.
///
/// # Errors
/// When the user asks to stop.
pub(super) fn versions(packages: &[String], runner: &Runner) -> Result<Vec<String>, Error> {
    let versions = packages.iter().map(|name| version(name, runner));
    Ok(versions.collect::<Result<_, process::Error>>()?)
}

fn version(package: &str, runner: &Runner) -> Result<String, process::Error> {
    let mut command = Command::new("dpkg-query");
    command.args(["-W", "-f", "${Version}", package]);
    match runner.output(&mut command) {
        Ok(text) => Ok(format!(
            "{package} {}",
            String::from_utf8_lossy(&text).trim()
        )),
        // No such package, or no Debian.
        Err(process::Error::Failed { .. } | process::Error::Start { .. }) => Ok(package.to_owned()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;
    use crate::process::Interrupt;

    #[test]
    fn a_file_that_is_not_there_names_its_package() {
        let plan = SystemPlan {
            package: "toy-utils".to_owned(),
            files: vec!["usr/bin/no-such-toy".to_owned()],
        };
        let said = files(&[plan]).unwrap_err().to_string();
        assert!(
            said.contains("needs /usr/bin/no-such-toy of the package toy-utils"),
            "{said}"
        );
        assert!(said.contains("apt-get install toy-utils"), "{said}");
    }

    #[test]
    fn a_package_that_nobody_knows_stands_without_a_version() {
        let runner = Runner::new(Interrupt::default(), None);
        let names = ["no-such-toy-package".to_owned()];
        assert_eq!(versions(&names, &runner).unwrap(), names);
        let stopped = Interrupt::default();
        stopped.set(2);
        let said = versions(&names, &Runner::new(stopped, None)).unwrap_err();
        assert!(said.to_string().contains("interrupted"), "{said}");
    }
}
