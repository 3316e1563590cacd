"""Runs the code blocks of the README, the examples and the book's pages, in the order in which a reader meets them.

    python book/blocks.py [PAGE ...]

Each page has a folder of its own with the example table (`examples/people`), `dpglm` on its path, one Python namespace and one R
session. A block of shell, Python, Rust or R that cannot be run has a line before it that says why:

    <!-- not run: it serves until it is stopped -->

A block with a title is also written to the file of that name, and in a `console` block what the commands print must be what the block
says: `[..]` stands for any text, a line `...` for any lines. DPGLM names the binary; `cargo build -p dpglm` has made the Rust library beside it.
"""

import ast
import contextlib
import io
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DPGLM = Path(os.environ.get("DPGLM", ROOT / "target/debug/dpglm")).resolve()
SECONDS = 120  # a block that takes longer has failed
RUN = {"sh", "console", "python", "rust", "r"}
SHOWN = {"text", "toml", "json", "csv", "http", "ini", "nginx", "markdown"}
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<info>[^`]*)$")
MARK = re.compile(r"<!-- not run: (?P<why>.+?) -->")
TITLE = re.compile(r'title="(?P<name>[^"]+)"')
# The README's commands build the program first; the tests have built it.
CARGO = re.compile(r"cargo run (-q )?--release -p dpglm-cli -- ")
BUILDS = ("cargo build", "pip install", "scripts/test", "dpglm collect")


@dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    title: str | None = None
    not_run: str | None = None
    seconds: float = 0.0
    failed: str | None = None
    where: str = field(init=False)

    def __post_init__(self) -> None:
        self.where = f"{self.page}:{self.line} ({self.language})"


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page; a fence without a language is an error."""
    name, found, opened, why = str(page.relative_to(ROOT)), [], None, None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                info = fence["info"].strip().split()
                title = TITLE.search(fence["info"])
                opened = (fence["indent"], fence["ticks"], Block(name, number, info[0] if info else "", "", title and title["name"], why))
                lines: list[str] = []
            elif line.strip():
                mark = MARK.search(line)
                why = mark and mark["why"]
        elif fence and fence["ticks"] == opened[1] and fence["indent"] == opened[0] and not fence["info"].strip():
            block = opened[2]
            block.text = textwrap.dedent("\n".join(lines)) + "\n"
            found.append(block)
            opened, why = None, None
        else:
            lines.append(line)
    if opened:
        raise SystemExit(f"{opened[2].where}: the block has no end")
    for block in found:
        block.language = block.language.removeprefix("{.").removesuffix("}")
        if block.language not in RUN | SHOWN:
            raise SystemExit(f"{block.where}: say what the block is: one of {', '.join(sorted(RUN | SHOWN))}")
        if name == "README.md" and block.language == "sh" and block.not_run is None:
            lines = [line for line in block.text.splitlines() if not line.startswith(BUILDS)]
            if not lines or any("collect" in line for line in block.text.splitlines()):
                block.not_run = "it builds or serves"
            block.text = "\n".join(lines)
    return found


class Session:
    """A page's folder, and what its blocks share."""

    def __init__(self, page: str, folder: Path) -> None:
        self.page, self.folder = page, folder
        for source in (ROOT / "examples/people").glob("people.csv"), (ROOT / "examples/people").glob("*.toml"):
            for file in source:
                shutil.copy(file, folder)
        for name in ["examples", "benchmarks"]:
            (folder / name).symlink_to(ROOT / name)
        self.environment = dict(
            os.environ,
            PATH=f"{DPGLM.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            HOME=str(folder),
            RUSTUP_HOME=os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
            RUSTUP_TOOLCHAIN=os.environ.get("RUSTUP_TOOLCHAIN", "stable"),
            XDG_CACHE_HOME=str(folder / ".cache"),
            NO_COLOR="1",
            MPLBACKEND="Agg",
        )
        os.environ.update(self.environment)
        self.python: dict[str, object] = {"__name__": "__main__"}
        given = ROOT / "book" / "given" / f"{Path(page).stem}.py"
        if given.exists() and not page.startswith("examples"):
            self.run_python(given.read_text())

    def run(self, block: Block) -> None:
        began = time.monotonic()
        if block.title:
            (self.folder / block.title).write_text(block.text)
        if block.language in RUN and not block.not_run:
            try:
                getattr(self, f"run_{block.language}")(block.text)
            except Exception as error:  # noqa: BLE001: whatever a block raises is its failure
                said = str(error) if isinstance(error, Failed) else "".join(traceback.format_exception(error)[-3:])
                block.failed = said[-3000:] or type(error).__name__
        block.seconds = time.monotonic() - began

    def process(self, *command: str) -> subprocess.CompletedProcess[str]:
        # A session of its own: what a block leaves running ends with it.
        with subprocess.Popen(
            command, cwd=self.folder, env=self.environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            try:
                said, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise Failed(f"it does not end within {SECONDS} seconds") from None
        return subprocess.CompletedProcess(command, process.returncode, said)

    def must(self, *command: str) -> str:
        done = self.process(*command)
        if done.returncode:
            raise Failed(f"exit code {done.returncode}:\n{done.stdout}")
        return done.stdout

    def run_sh(self, text: str) -> None:
        self.must("bash", "-euo", "pipefail", "-c", CARGO.sub("dpglm ", text))

    def run_console(self, text: str) -> None:
        command, expected = [], []
        for line in [*CARGO.sub("dpglm ", text).splitlines(), "$ true"]:
            if line.startswith("$ "):
                if command:
                    self.compare("\n".join(command), expected)
                command, expected = [line[2:]], []
            elif command and command[-1].endswith("\\") and not expected:
                command.append(line)
            else:
                expected.append(line)

    def compare(self, command: str, expected: list[str]) -> None:
        done = self.process("bash", "-c", command)
        if done.returncode and not any("error" in line for line in expected):
            raise Failed(f"$ {command}\nexit code {done.returncode}:\n{done.stdout}")
        said = [line.rstrip() for line in done.stdout.rstrip("\n").splitlines()]
        while expected and not expected[-1].strip():
            expected = expected[:-1]
        if not matches(expected, said):
            raise Failed(f"$ {command}\nprints another thing:\n{done.stdout}")

    def run_python(self, text: str) -> None:
        here, tree = Path.cwd(), ast.parse(text)
        # As at the prompt, the value of the last line is shown.
        last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(ast.Module(tree.body[:-1] if last else tree.body, []), f"<{self.page}>", "exec"), self.python)
                if last:
                    repr(eval(compile(ast.Expression(last.value), f"<{self.page}>", "eval"), self.python))
        finally:
            os.chdir(here)

    def run_rust(self, text: str) -> None:
        if "fn main" not in text:
            text = f"fn main() -> dpglm::Result<()> {{\n{text}\nOk(())\n}}\n"
        source, library = self.folder / "block.rs", DPGLM.parent / "libdpglm.rlib"
        source.write_text(text)
        self.must(
            "rustc", "--edition=2024", "--crate-name=block", "-Dwarnings", f"--extern=dpglm={library}",
            f"-Ldependency={DPGLM.parent / 'deps'}", "-o", "block", "block.rs",
        )  # fmt: skip
        self.must("./block")

    def run_r(self, text: str) -> None:
        kept = "session.RData"
        load = f"if (file.exists('{kept}')) load('{kept}')\nsuppressMessages(library(dpglm))\n"
        (self.folder / "block.R").write_text(f"{load}{text}\nsave.image('{kept}')\n")
        self.must("Rscript", "block.R")


def matches(expected: list[str], said: list[str]) -> bool:
    """Whether the lines are those that are expected, with what `[..]` and `...` leave open."""
    if not expected:
        return not said
    if expected[0] == "...":
        return any(matches(expected[1:], said[skip:]) for skip in range(len(said) + 1))
    line = ".*".join(re.escape(part) for part in expected[0].rstrip().split("[..]"))
    return bool(said) and re.fullmatch(line, said[0]) is not None and matches(expected[1:], said[1:])


class Failed(Exception):
    """What a block's commands said."""


def run_page(page: Path) -> list[Block]:
    with tempfile.TemporaryDirectory(prefix=f"book-{page.stem}-") as folder:
        blocks, session = blocks_of(page), Session(str(page.relative_to(ROOT)), Path(folder))
        for block in blocks:
            session.run(block)
    return blocks


def has_r() -> bool:
    try:
        return subprocess.run(["Rscript", "-e", "library(dpglm)"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def main() -> int:
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    if not has_r():
        print("note: the R package is not installed here, so blocks of R are not run")
        RUN.discard("r")
        SHOWN.add("r")
    pages = [Path(page).resolve() for page in sys.argv[1:]] or [ROOT / "README.md", *sorted(ROOT.glob("examples/*/README.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:  # one that cannot be read ends the run here: in a worker it would never be heard of
        blocks_of(page)
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        blocks = [block for page in pool.imap(run_page, pages, chunksize=1) for block in page]
    asked = [block for block in blocks if block.language in {"sh", "console", "python", "rust", "r"}]
    run = [block for block in asked if block.language in RUN and not block.not_run]
    print(f"executed, {len(run)} blocks:")
    for block in run:
        print(f"  {block.where}: {'FAILED' if block.failed else f'{block.seconds:.1f} s'}")
    print(f"not executed, {len(asked) - len(run)} blocks:")
    for block in asked:
        if block not in run:
            print(f"  {block.where}: {block.not_run or 'the R package is not installed'}")
    failed = [block for block in run if block.failed]
    for block in failed:
        print(f"\n{block.where} failed:\n{textwrap.indent(block.text, '    ')}{block.failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
