"""The page of the Python package: every public name with its signature and its documentation, read from the installed package."""

import importlib
import inspect
import re
import textwrap

OPENING = """# Python: every name

What `import dpglm` gives, with its documentation; this page is made from the installed package. [The Python package](python.md) is the
introduction.
"""
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def plain(text: str) -> str:
    """Markdown in place of the marks of docstrings."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`")


def entries(text: str, typed: bool = True) -> str:
    """`name : type` with an indented description, as a list; or `name : description`."""
    lines, found = text.strip("\n").splitlines(), []
    for line in lines:
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            found.append([f"`{name.strip()}`" + (f" ({kind.strip()})" if kind and typed else ""), "" if typed else kind.strip()])
        elif found:
            found[-1][1] += " " + line.strip()
    return "\n".join(f"* {plain(name)}: {plain(said.strip())}" if said.strip() else f"* {plain(name)}" for name, said in found)


def examples(text: str) -> str:
    """Prompts as blocks of code."""
    out, inside = [], False
    for line in text.splitlines():
        prompt = line.startswith((">>>", "..."))
        if prompt and not inside:
            out += ["", "```text"]
            inside = True
        if inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join([*out, "```"] if inside else out)


def documented(thing: object) -> str:
    text = inspect.getdoc(thing) or ""
    pieces = HEADING.split(text)
    out = [examples(plain(pieces[0]))]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        body = textwrap.dedent(body.strip("\n"))
        out += [f"**{title}**", entries(body, typed=title != "Attributes") if title in {"Parameters", "Attributes", "Returns", "Raises"} else examples(plain(body))]
    return "\n\n".join(out)


def signature(name: str, thing: object) -> str:
    try:
        said = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    said = re.sub(r"^\((?:self|cls),? ?", "(", said).replace("'", "").replace(" -> None", "")
    whole = name + said
    if len(whole) > 100:
        whole = name + "(\n    " + re.sub(r", (?=[\w*/]+(?:[:,)=]|$))", ",\n    ", said[1:].rsplit(")", 1)[0]) + ",\n)" + said.rsplit(")", 1)[1]
    return f"```text\n{whole}\n```\n"


def of(name: str, thing: object, level: int) -> list[str]:
    lines = [f"{'#' * level} {name}", "", signature(name, thing), documented(thing), ""]
    if inspect.isclass(thing) and not issubclass(thing, Warning):
        for key in sorted(vars_of(thing)):
            member = inspect.getattr_static(thing, key)
            if isinstance(member, property):
                lines += [f"{'#' * (level + 1)} {name}.{key}", "", documented(member), ""]
            elif callable(getattr(thing, key)) and inspect.getdoc(getattr(thing, key)):
                lines += of(f"{name}.{key}", getattr(thing, key), level + 1)
    return lines


def vars_of(thing: type) -> set[str]:
    """The public names of a class, also those of the package's other classes that it is made from."""
    own = [base for base in thing.__mro__ if base.__module__.startswith("dpglm")]
    return {key for base in own for key in vars(base) if not key.startswith("_")}


def page() -> str:
    dpglm = importlib.import_module("dpglm")
    lines = [OPENING]
    for name in dpglm.__all__:
        thing = getattr(dpglm, name)
        if inspect.ismodule(thing):
            lines += [f"## {name}", "", documented(thing), ""]
            for inner in getattr(thing, "__all__", []):
                lines += of(f"{name}.{inner}", getattr(thing, inner), 3)
        else:
            lines += of(name, thing, 2)
    return "\n".join(lines)
