"""The mistakes that are put to the checkers: a file of a tree as it is, and with one."""

import dataclasses
import importlib.machinery
import importlib.util
import tomllib

from kernel import HERE, ROOT, Trouble

CORPUS = ROOT / "tests/mistakes"
PLANTED = ROOT / "tests/planted"


def script(name):
    """A script of the project, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


planted = script("planted")


@dataclasses.dataclass
class Mistake:
    """`right` and `wrong` are the texts of the file `file` of a tree. `before`: what stood
    there before the change that makes the mistake, where tollgate is asked of a change."""

    name: str
    file: str
    right: str
    wrong: str
    rules: list
    before: str | None = None
    # Why no compiler of this machine could take it.
    cannot: str = ""


def lists():
    """What can be asked for: the corpus, and each list of tests/planted."""
    return ["corpus", *sorted(path.stem for path in PLANTED.glob("*.toml"))]


def names_of_all():
    """The name of every mistake that there is."""
    files = [CORPUS / "mistakes.toml", *PLANTED.glob("*.toml")]
    return {entry["name"] for file in files for entry in tomllib.loads(file.read_text())["mistake"]}


def mistakes(name, tree):
    if name == "corpus":
        return list(of_corpus())
    try:
        return [of_list(entry, tree) for entry in planted.chosen(PLANTED / f"{name}.toml", ())]
    except planted.Unfit as error:
        raise Trouble(f"the list {name} is not of {tree}: {error}") from error


def of_list(entry, tree):
    path = tree / entry["file"]
    right = path.read_text(encoding="utf-8", errors="surrogateescape")
    wrong = planted.planted(entry, right)
    before = None
    if entry.get("change"):
        before = planted.planted(entry, right, "before") if "before" in entry else right
    return Mistake(entry["name"], entry["file"], right, wrong, entry["rule"], before)


def of_corpus():
    """Functions of our own, behind what they need to be compiled."""
    needs = tomllib.loads((HERE / "corpus.toml").read_text())
    entries = tomllib.loads((CORPUS / "mistakes.toml").read_text())["mistake"]
    for entry in entries:
        name = entry["name"]
        if name not in needs:
            raise Trouble(f"corpus.toml has nothing of {name}, which tests/mistakes has")
        need = needs[name]
        head = "\n".join([needs["head"], need.get("include", ""), need.get("declares", ""), ""])
        text = lambda which: head + (CORPUS / name / which).read_text()
        before = text("before.c") if (CORPUS / name / "before.c").exists() else None
        rules = [entry["rule"]] if "rule" in entry else []
        yield Mistake(name, needs["file"], text("right.c"),
                      text("wrong.c"), rules, before, need.get("cannot", ""))
