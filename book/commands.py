"""The page of the command line: what `dpglm help` says, command by command, with flags in tables."""

import os
import re
import subprocess
from pathlib import Path

DPGLM = Path(os.environ.get("DPGLM", Path(__file__).resolve().parent.parent / "target/debug/dpglm"))
OPENING = """# The command line

Every command of `dpglm` with its flags, as `dpglm help COMMAND` prints them: this page is made from the program when the book is built. Results go to the
standard output, messages to the error stream. The exit code is 0 when all is well, 1 when something failed (for `audit`: when a promise is
refuted), and 2 when the command was called wrongly. A flag is honoured or refused in every mode, never ignored.

All commands take `--format table` (for reading, the default) or `--format json` (for scripts, in full precision), and `--help`.
"""
# What every command has is said once.
EVERYWHERE = ("--format <FORMAT>", "-h, --help", "-V, --version")
SECTION = re.compile(r"^([A-Z][\w ,'-]*):$")
ENTRY = re.compile(r"^ {2,6}(\S.*)$")


def said(*command: str) -> str:
    """The help of a command."""
    environment = dict(os.environ, NO_COLOR="1")
    call = [str(DPGLM), *command, "--help"]
    return subprocess.run(call, capture_output=True, text=True, check=True, env=environment).stdout


def parts(text: str) -> list[str]:
    """The names of a command's own commands."""
    found = re.search(r"^Commands:\n((?:  .*\n|\n)*)", text, re.MULTILINE)
    names = re.findall(r"^  (\S+)  ", found[1], re.MULTILINE) if found else []
    return [name for name in names if name != "help"]


def cell(text: str) -> str:
    """Text that a table holds, with what looks like a tag or a bar as it is."""
    text = re.sub(r"(?<![\w`])(--[a-z][\w-]*(?:[= ](?=[A-Z]{2,})[A-Z_]+)?)", r"`\1`", text)
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def entries(lines: list[str]) -> list[tuple[str, str]]:
    """Flags or arguments with what they mean."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        entry = ENTRY.match(line)
        if entry:
            # Short help stands on the same line.
            name, _, rest = entry[1].partition("  ")
            found.append((name.strip(), [rest.strip()] if rest.strip() else []))
        elif found:
            found[-1][1].append(line.strip())
    rows = []
    for name, text in found:
        whole = "\n".join(text).strip()
        whole = re.sub(r"\n\s*\n", "<br>", whole)
        whole = re.sub(r"\n- (\S+):\s+", r"<br>\1: ", whole)
        pieces = [cell(piece.replace("\n", " ")) for piece in whole.split("<br>")]
        rows.append((name, "<br>".join(pieces)))
    return rows


def described(text: str) -> list[str]:
    """The help of one command as Markdown."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        title = SECTION.match(line)
        if title:
            sections.append((title[1], []))
        else:
            sections[-1][1].append(line)
    out = []
    for title, lines in sections:
        if title == "":
            usage = next((line for line in lines if line.startswith("Usage: ")), "")
            out += [cell("\n".join(line for line in lines if line is not usage).strip()), ""]
            out += ["```text", usage.removeprefix("Usage: "), "```", ""] if usage else []
        elif title == "Examples":
            out += ["**Examples**", "", "```text", *[line.removeprefix("  ") for line in lines if line.strip()], "```", ""]
        elif title == "Commands":
            rows = [row for row in entries(lines) if row[0] != "help"]
            out += ["| command | what it does |", "| --- | --- |", *[f"| `{name}` | {what} |" for name, what in rows], ""]
        else:
            rows = [row for row in entries(lines) if row[0] not in EVERYWHERE]
            if rows:
                names = [name.replace("|", "\\|") for name, _ in rows]
                out += [f"**{title}**", "", f"| {'argument' if title == 'Arguments' else 'flag'} | meaning |", "| --- | --- |"]
                out += [f"| `{name}` | {what} |" for name, (_, what) in zip(names, rows, strict=True)]
                out += [""]
    return out


def section(command: tuple[str, ...]) -> list[str]:
    text = said(*command)
    lines = [f"{'#' * min(len(command) + 1, 3)} {' '.join(['dpglm', *command])}", ""] if command else []
    lines += described(text)
    for name in parts(text):
        lines += section((*command, name))
    return lines


def page() -> str:
    return "\n".join([OPENING, *section(())])
