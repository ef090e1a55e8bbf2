//! Files of the distribution's packages, as this machine has them installed.

use std::path::Path;
use std::process::Command;

use super::{Error, GuestFile, package};
use crate::case::SystemPlan;
use crate::process::Runner;

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
        bytes: package::read(&place)?,
        mode: 0o755,
    })
}

/// `NAME VERSION` of each package that this machine has; one that it does not know of,
/// or whose version nobody can tell here, stands without.
pub(super) fn versions(packages: &[String], runner: &Runner) -> Vec<String> {
    packages.iter().map(|name| version(name, runner)).collect()
}

fn version(package: &str, runner: &Runner) -> String {
    let mut command = Command::new("dpkg-query");
    command.args(["-W", "-f", "${Version}", package]);
    match runner.output(&mut command) {
        Ok(text) => format!("{package} {}", String::from_utf8_lossy(&text).trim()),
        Err(_) => package.to_owned(),
    }
}
