"""The peers: what each says of a file, as lines that do not change with the line number."""

import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from kernel import Trouble

# Where a message says a line, so that a line further down is no other message.
NUMBERS = re.compile(r"\b((?:on |see |around |at )?lines?:?) *\d+(?:[, ]+\d+)*")
PLACE = re.compile(r"(?P<path>[^\s:]+):(?P<line>\d+)(?::[\d-]+)*:? (?P<text>.*)")
GCC = re.compile(r"(?:fatal )?(?:warning|error): ")
OBJTOOL = re.compile(r"\S+: (?:warning|error): objtool: (.*)")
# Seconds for one file and one semantic patch.
PATCH_TIME = 120


@dataclasses.dataclass
class Said:
    """What a tool says. `unread`: why it could not read the file."""

    messages: list
    unread: str = ""


def run(command, folder, **options):
    """As a shell that speaks plain English would."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          errors="replace", check=False, **options)


def places(text, wanted=None):
    """Each `PATH:LINE: TEXT`, without the number, and with the file's name alone."""
    for line in text.splitlines():
        found = PLACE.match(line)
        if found and (wanted is None or wanted.search(found["text"])):
            said = NUMBERS.sub(r"\1", found["text"])
            yield f"{pathlib.PurePath(found['path']).name}: {said}"


class Peer:
    """`name` in the table; what it is called and its version."""

    name = ""

    def __init__(self, program):
        self.program = shutil.which(program)
        if self.program is None:
            raise Trouble(f"{program} is missing; benches/checkers/setup installs it")

    @functools.cache
    def version(self):
        said = run([self.program, "--version"], "/")
        found = re.search(r"\d+\.\d+[.\w~]*", said.stdout + said.stderr)
        return found[0] if found else "?"


class Gcc(Peer):
    """gcc as the kernel's build calls it with W=1, and objtool behind it, which is handed
    on to Objtool."""

    name = "gcc"

    def ask(self, kernel, commands, folder):
        with tempfile.TemporaryDirectory() as made:
            compiles = retargeted(commands, kernel, folder, made)
            ran = run(["sh", "-c", compiles], kernel.out)
        lines = [line for line in ran.stderr.splitlines() if not OBJTOOL.match(line)]
        return Said(list(places("\n".join(lines), GCC)))


class Objtool(Peer):
    """The objtool of the tree, on the object that gcc made."""

    name = "objtool"

    def __init__(self):
        self.program = "objtool"

    def version(self):
        return "the tree's"

    def ask(self, kernel, commands, folder):
        with tempfile.TemporaryDirectory() as made:
            compiles = retargeted(commands, kernel, folder, made)
            if "objtool" not in compiles:
                return Said([], "the configuration leaves the file out: make compiles it, and runs no objtool")
            ran = run(["sh", "-c", compiles], kernel.out)
            unmade = not any(pathlib.Path(made).glob("*.o"))
        said = map(OBJTOOL.match, ran.stderr.splitlines())
        messages = [re.sub(r"\+0x[0-9a-f]+", "", found[1]) for found in said if found]
        return Said(messages, "gcc makes no object of it" if unmade else "")


def retargeted(commands, kernel, folder, made):
    """The command of the file in the folder, which leaves what it makes elsewhere."""
    target = re.sub(r"\.c$", ".o", commands.source)
    head, _, name = target.rpartition("/")
    words = commands.compiles.replace(f"{kernel.tree}/{commands.source}", f"{folder}/{commands.source}")
    words = words.replace(f"{head}/.{name}.d", f"{made}/.{name}.d")
    return re.sub(rf"(?<=\s){re.escape(target)}(?=\s|$)", f"{made}/{name}", words)


def checked(command, kernel, commands, folder):
    """What a program says that takes the arguments of sparse."""
    given = [*commands.checks[:-1], f"{folder}/{commands.source}"]
    ran = run([*command, *given], kernel.out)
    if ran.returncode < 0:
        return Said([], f"it ends with signal {-ran.returncode}")
    if "too many errors" in ran.stderr:
        return Said([], "it gives up: too many errors")
    return Said(list(places(ran.stdout + ran.stderr)))


class Sparse(Peer):
    """What the machine has; where that cannot read a file, the sparse that smatch is made
    of, which knows younger kernels."""

    name = "sparse"

    def __init__(self, program, smatch):
        super().__init__(program)
        self.second = shutil.which(str(pathlib.Path(smatch).parent / "sparse"))

    @functools.cache
    def version(self):
        return f"{super().version()}; where it cannot read a file, smatch's" if self.second else super().version()

    def ask(self, kernel, commands, folder):
        said = checked([self.program], kernel, commands, folder)
        return checked([self.second], kernel, commands, folder) if said.unread and self.second else said


class Smatch(Peer):
    """Without its database, which takes a build of the whole kernel. Its repository gives
    it no version but that of the sparse that it is made of, so that the commit is one."""

    name = "smatch"

    def ask(self, kernel, commands, folder):
        return checked([self.program, "-p=kernel"], kernel, commands, folder)

    @functools.cache
    def version(self):
        folder = pathlib.Path(self.program).resolve().parent
        return run(["git", "log", "-1", "--format=%h of %cs"], folder).stdout.strip() or "?"


class Coccinelle(Peer):
    """Each semantic patch of the tree that can report, with the options with which
    scripts/coccicheck of the tree calls it; many files at a time, each by itself, since
    most of its time is its own start."""

    name = "coccinelle"

    def ask_all(self, kernel, commands, folders):
        """What it says of the file in each folder."""
        paths = [f"{folder}/{one.source}" for folder, one in zip(folders, commands)]
        told = [Said([]) for _ in paths]
        with tempfile.NamedTemporaryFile("w", suffix=".groups") as groups:
            groups.write("\n\n".join(paths) + "\n")
            groups.flush()
            for number, patch in enumerate(patches := reporting(kernel.tree), 1):
                print(f"run: coccinelle: {number} of {len(patches)} semantic patches", file=sys.stderr)
                said = self.of_patch(kernel, patch, included(commands[0].compiles), groups.name)
                for folder, one in zip(folders, told):
                    own = "\n".join(line for line in said.splitlines() if line.startswith(f"{folder}/"))
                    one.messages += places(own)
        return told

    def of_patch(self, kernel, patch, includes, groups):
        options = " ".join(re.findall(r"^//.*Options: *(.*)", patch.read_text(), re.M)).split()
        command = [self.program, "-D", "report", "--no-show-diff", "--very-quiet", "--timeout",
                   str(PATCH_TIME), "--jobs", str(kernel.jobs), "--chunksize", "1",
                   "--cocci-file", str(patch), *options, *includes, "--file-groups", groups]
        ran = run(command, kernel.out)
        if ran.returncode:
            raise Trouble(f"{' '.join(command)}: {ran.stderr.strip()[-400:]}")
        return ran.stdout + ran.stderr


def reporting(tree):
    """The semantic patches that write a line for what they find."""
    patches = sorted((tree / "scripts/coccinelle").rglob("*.cocci"))
    return [patch for patch in patches if re.search(r"^virtual.*\breport\b", patch.read_text(), re.M)]


def included(compiles):
    """The folders that the kernel's build hands to scripts/coccicheck as LINUXINCLUDE."""
    shared = compiles.partition(" -D__KERNEL__")[0]
    for option, path in re.findall(r"(?<=\s)(-I|-include )(\S+)", shared):
        if not path.endswith("compiler_types.h"):
            yield from ("-I", path) if option == "-I" else ("--include", path)
