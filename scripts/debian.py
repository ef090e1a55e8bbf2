"""Packages of Debian, fetched with apt that keeps to folders of its own.

Nothing of the system's changes, and signatures are checked against Debian's own
keys. What goes wrong is a Trouble: a sentence.
"""

import fcntl
import functools
import os
import pathlib
import subprocess
import sys

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# What a machine has apt do around an update. Images of containers empty the machine's own
# cache of packages there, on which another apt may be at work.
HOOKS = ("APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success")


class Trouble(Exception):
    """Something that ends the work on a suite, as a sentence."""


def run(words, **more):
    """What a program prints."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise Trouble(f"{words[0]} failed: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def mirror():
    """The archive that the machine's own sources name."""
    uris = run(["apt-get", "indextargets", "--format", "$(REPO_URI)"]).split()
    found = [uri for uri in uris if uri.rstrip("/").endswith("/debian")]
    if not found:
        raise Trouble("the sources of this machine name no archive of Debian; give --mirror URI")
    return found[0]


def suite():
    """The suite that this machine is of."""
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "VERSION_CODENAME":
            return value.strip('"')
    raise Trouble("/etc/os-release names no suite of Debian; give --suite NAME")


def cache():
    """The folder that tollgate keeps things in."""
    own = os.environ.get("TOLLGATE_CACHE")
    if own:
        return pathlib.Path(own).resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return pathlib.Path(base).resolve() / "tollgate"
    return pathlib.Path.home() / ".cache/tollgate"


def locked(who, folder, name="lock", how=fcntl.LOCK_EX):
    """The lock of a folder, which is held until it is closed."""
    lock = (folder / name).open("w")
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"{who}: waits for another one at work in {folder}", file=sys.stderr)
        fcntl.flock(lock, how)
    return lock


def by_age(one, other):
    """The order of two versions, as dpkg has it."""
    def holds(how):
        return subprocess.run(["dpkg", "--compare-versions", one, how, other], check=False).returncode == 0
    return -1 if holds("lt") else 1 if holds("gt") else 0


class Apt:
    """apt with sources, lists and cache of its own."""

    def __init__(self, folder, suite, uri, expired, architecture="amd64", source=False):
        for name in ("lists/partial", "cache/archives/partial", "etc"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        sources = folder / "etc/sources.list"
        kind = "deb-src" if source else "deb"
        sources.write_text(f"{kind} [signed-by={KEYRING}] {uri} {suite} main\n")
        (folder / "etc/status").touch()
        hookless = folder / "etc/hookless.conf"
        hookless.write_text("".join(f"#clear {hook};\n" for hook in HOOKS))
        options = {
            "Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": folder, "Dir::State::lists": folder / "lists",
            "Dir::State::status": folder / "etc/status", "Dir::Cache": folder / "cache",
            "APT::Architecture": architecture, "APT::Architectures": architecture,
            "Acquire::Languages": "none", "APT::Sandbox::User": "root",
        }
        if expired:
            options["Acquire::Check-Valid-Until"] = "false"
        self.options = ["-c", str(hookless)]
        self.options += [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        run(["apt-get", *self.options, "update"])

    def depends(self, package):
        """The packages that a package depends on."""
        lines = run(["apt-cache", *self.options, "depends", package]).splitlines()
        return [line.split(": ", 1)[1] for line in lines if "Depends: " in line]

    def has(self, package):
        """Whether the suite has a package."""
        words = ["apt-cache", *self.options, "show", package]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    def names(self, start):
        """The packages whose name begins so."""
        return run(["apt-cache", *self.options, "pkgnames", start]).split()

    def version(self, package):
        """The version of a package that would be fetched."""
        lines = run(["apt-cache", *self.options, "policy", package]).splitlines()
        found = [line.split(":", 1)[1].strip() for line in lines if "Candidate:" in line]
        if not found or found[0] == "(none)":
            raise Trouble(f"the suite has no {package}")
        return found[0]

    def fetch(self, package, folder):
        """The file of a package, in that folder."""
        run(["apt-get", *self.options, "download", package], cwd=folder)
        return next(pathlib.Path(folder).glob(f"{package}_*.deb"))

    def source_versions(self, package):
        """The versions of a source package that the suite has, the newest last."""
        shown = subprocess.run(["apt-cache", *self.options, "showsrc", "--only-source", package],
                               capture_output=True, text=True, check=False)
        lines = [line.split(":", 1) for line in shown.stdout.splitlines() if ":" in line]
        found = {value.strip() for key, value in lines if key == "Version"}
        return sorted(found, key=functools.cmp_to_key(by_age))

    def fetch_source(self, package, version, folder):
        """The folder of a source package, unpacked below that folder."""
        run(["apt-get", *self.options, "source", f"{package}={version}"], cwd=folder)
        unpacked, = [path for path in pathlib.Path(folder).iterdir() if path.is_dir()]
        return unpacked
