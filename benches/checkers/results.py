"""Who sees what, and how it is written.

A peer sees a mistake if it says something of the file with it alone; judged.toml holds what
somebody who read that made of it."""

import dataclasses
import tomllib

from kernel import HERE, Trouble
from mistakes import Mistake, names_of_all

NOT_READ = "not read"


@dataclasses.dataclass
class Row:
    """What each checker says of a mistake, by its name; or why none could be asked."""

    list: str
    mistake: Mistake
    said: dict
    unbuilt: str = ""


class Judged:
    """judged.toml: what is said of another thing than the mistake, and why tollgate does
    not say what a peer does."""

    def __init__(self):
        text = tomllib.loads((HERE / "judged.toml").read_text())
        known = names_of_all()
        for one in [*text.get("other", []), *text.get("missed", [])]:
            if one["mistake"] not in known:
                raise Trouble(f"judged.toml speaks of {one['mistake']}, which no list has")
        self.others = {(one["mistake"], one["checker"]): one["why"] for one in text.get("other", [])}
        self.read = {(one, checker) for checker, names in text.get("read", {}).items() for one in names}
        self.missed = {one["mistake"]: one["why"] for one in text.get("missed", [])}

    def sees(self, row, name):
        """Whether a checker says something that is of the mistake."""
        return name in row.said and bool(row.said[name].messages) and (row.mistake.name, name) not in self.others

    def unread(self, row, name):
        """Whether nobody has read what a peer says."""
        return name != "tollgate" and self.sees(row, name) and (row.mistake.name, name) not in self.read


# --- The table ----------------------------------------------------------------------


def cell(row, name, judged):
    if name not in row.said:
        return ""
    if judged.sees(row, name):
        return "sees"
    if row.said[name].messages:
        return "other"
    return NOT_READ if row.said[name].unread else "-"


def table(rows, names, judged):
    yield ["list", "mistake", *names]
    for row in rows:
        yield [row.list, row.mistake.name, *(cell(row, name, judged) for name in names)]


def totals(rows, names, judged):
    """By list: of those that were compiled, how many each sees."""
    yield ["list", "mistakes", "compiled", *names, "any peer", "peers alone"]
    groups = {name: [row for row in rows if row.list == name] for name in dict.fromkeys(row.list for row in rows)}
    for name, group in [*groups.items(), ("all", rows)]:
        built = [row for row in group if not row.unbuilt]
        count = lambda sees: str(sum(map(sees, built)))
        each = [count(lambda row, one=one: judged.sees(row, one)) for one in names]
        by_any = lambda row: any(judged.sees(row, one) for one in names[1:])
        alone = lambda row: by_any(row) and not judged.sees(row, "tollgate")
        yield [name, str(len(group)), str(len(built)), *each, count(by_any), count(alone)]


def as_text(lines):
    lines = list(lines)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def as_markdown(lines):
    first, *rest = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|" + " --- |" * (first.count("|") - 1), *rest])


def as_tsv(lines):
    return "\n".join("\t".join(line) for line in lines)


FORMATS = {"text": as_text, "markdown": as_markdown, "tsv": as_tsv}


def remarks(rows, names, judged):
    """What the table does not hold: who could not be asked, and what is to be told."""
    for row in rows:
        if row.unbuilt:
            yield f"not compiled: {row.mistake.name} ({row.mistake.file}): {row.unbuilt}"
        for name in names:
            if name in row.said and row.said[name].unread:
                yield f"not read by {name}: {row.mistake.name}: {row.said[name].unread}"
            if judged.unread(row, name):
                yield f"to be read: {name} of {row.mistake.name}: {'; '.join(row.said[name].messages)}"
    for row in rows:
        peers = [name for name in names[1:] if judged.sees(row, name)]
        if peers and not judged.sees(row, "tollgate"):
            why = judged.missed.get(row.mistake.name, "no reason is written")
            yield f"seen by {', '.join(peers)} and not by tollgate: {row.mistake.name}: {why}"


def write_messages(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        print("list", "mistake", "checker", "message", sep="\t", file=file)
        for row in rows:
            for name, told in row.said.items():
                for message in told.messages:
                    print(row.list, row.mistake.name, name, message.replace("\t", " "), sep="\t", file=file)
