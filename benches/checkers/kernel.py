"""A kernel tree as this machine builds it: the command of each file.

The tree is only read. It is configured and built in a folder of its own; a file with a
mistake lies in a folder of links to the tree (scripts/planted), and its command is that of
the file in the tree, with the other path in it."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# What the Makefile calls as sparse: it writes down what sparse would have been given.
RECORDER = '#!/bin/sh\nexec python3 -c \'import json, os, sys; print(json.dumps(sys.argv[1:]), file=open(os.environ["RECORDED"], "a"))\' "$@"\n'
FOREIGN = re.compile(r"arch/(?!x86/)([^/]+)/")


class Trouble(Exception):
    """Nothing can be compared, and why."""


@dataclasses.dataclass
class Commands:
    """How the kernel's build compiles a file: for a shell, in the build's folder; and what
    it gives sparse. `source` is the file of the tree that they name."""

    source: str
    compiles: str
    checks: list


class Kernel:
    """A tree and the folder in which it is built."""

    def __init__(self, tree, work, jobs):
        self.tree = pathlib.Path(tree).resolve()
        if not (self.tree / "Kbuild").is_file():
            raise Trouble(f"{tree} is no kernel tree: it holds no Kbuild")
        if (self.tree / "include/generated").exists():
            raise Trouble(f"{tree} was built in: it needs to be as it was unpacked")
        self.jobs = jobs
        # By path and configuration: another one is another build.
        self.key = hashlib.sha256(f"{self.tree}\n{(HERE / 'config').read_text()}".encode()).hexdigest()[:12]
        self.out = work / f"{self.tree.name}-{self.key}"
        self.failed = {}

    def version(self):
        """As the Makefile says it."""
        head = (self.tree / "Makefile").read_text()[:400]
        part = lambda name: re.search(rf"^{name} *= *(\S*)", head, re.M)[1]
        return ".".join(filter(None, map(part, ("VERSION", "PATCHLEVEL", "SUBLEVEL"))))

    def make(self, *arguments, **environment):
        command = ["make", "-s", f"-j{self.jobs}", f"O={self.out}", "W=1", *arguments]
        ran = subprocess.run(command, cwd=self.tree, env={**os.environ, "LC_ALL": "C", **environment},
                             capture_output=True, text=True, errors="replace", check=False)
        return ran.returncode, ran.stderr

    def configure(self):
        """Once: the configuration, and what each object needs."""
        done = self.out / "configured"
        if done.exists():
            return
        self.out.mkdir(parents=True, exist_ok=True)
        for target in ("allmodconfig", "modules_prepare"):
            code, said = self.make(target, KCONFIG_ALLCONFIG=str(HERE / "config"))
            if code:
                raise Trouble(f"make {target} of {self.tree} failed: {said.strip()[-600:]}")
        done.touch()

    def build(self, paths):
        """Compiles the files, those that are not yet: makes their commands known."""
        self.configure()
        recorder = self.out / "recorder"
        recorder.write_text(RECORDER)
        recorder.chmod(0o755)
        wanted = sorted({self.compiled(path) for path in paths} - {None})
        wanted = [path for path in wanted if not self.known(path)]
        if not wanted:
            return
        objects = [re.sub(r"c$", "o", path) for path in wanted]
        _, said = self.make("-k", "C=2", f"CHECK={recorder}", *objects, RECORDED=str(self.out / "recorded"))
        (self.out / "said").write_text(said)
        for path in wanted:
            if not self.known(path):
                self.failed[path] = first_error(path, said)

    def compiled(self, path):
        """The file whose compilation reads this one; none where this is another
        architecture's."""
        if FOREIGN.match(path):
            return None
        whole = self.tree / path
        name = re.compile(rf'^#\s*include\s+"{re.escape(whole.name)}"', re.M)
        for other in sorted(whole.parent.glob("*.c")):
            if other != whole and name.search(other.read_text(errors="replace")):
                return str(other.relative_to(self.tree))
        return path if path.endswith(".c") else None

    def known(self, path):
        target = self.out / path
        return target.with_suffix(".o").exists() and f"{self.tree}/{path}" in self.recorded()

    def recorded(self):
        """By the file's path, the last of what sparse would have been given."""
        file = self.out / "recorded"
        lines = file.read_text().splitlines() if file.exists() else []
        return {given[-1]: given for given in map(json.loads, lines)}

    def commands(self, path):
        """The commands of a file; or none and the reason."""
        foreign = FOREIGN.match(path)
        if foreign:
            return None, f"it is {foreign[1]}'s"
        source = self.compiled(path)
        if source is None or not self.known(source):
            return None, self.failed.get(source, "the build does not name it")
        target = self.out / source
        saved = target.with_name(f".{target.stem}.o.cmd").read_text().splitlines()[0]
        return Commands(source, saved.split(" := ", 1)[1], self.recorded()[f"{self.tree}/{source}"]), ""


def first_error(path, said):
    """Why an object was not made, as make or gcc say it."""
    stem = re.escape(re.sub(r"c$", "", path))
    for pattern in (rf"{stem}c:\d+:\d+: (?:fatal )?error: (.*)", rf"(No rule to make target '{stem}o')",
                    r"Makefile:\d+: (.*No such file or directory)"):
        found = re.search(pattern, said)
        if found:
            return found[1]
    return "the configuration for x86-64 does not build it"
