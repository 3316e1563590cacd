"""The checks of the book find what is wrong: broken blocks, other output than shown, lost links, what a page would fetch."""

import subprocess
import sys
from pathlib import Path

import blocks
import pytest

HERE = Path(__file__).resolve().parent
TICKS = "```"


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text.replace("~~~", TICKS))
    return path


@pytest.fixture(autouse=True)
def pages_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["examples", "benchmarks", "book"]:
        (tmp_path / name).symlink_to(blocks.ROOT / name)
    monkeypatch.setattr(blocks, "ROOT", tmp_path)


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        ("sh", "test -f people.csv", "false"),
        ("sh", "true | true", "false | true"),
        ("python", "x = 1\nassert x", "assert False"),
        ("console", "$ echo 1\n1", "$ echo 1\n2"),
        ("console", "$ printf '1\\n2\\n3\\n'\n1\n...\n3", "$ printf '1\\n2\\n'\n1\n...\n3"),
        ("console", "$ echo a1b\na[..]b", "$ echo a1b\na[..]c"),
        ("console", "$ echo error: no; false\nerror: no", "$ false"),
    ],
)
def test_a_block_passes_or_fails(tmp_path: Path, language: str, good: str, bad: str) -> None:
    for text, is_bad in [(good, False), (bad, True)]:
        (block,) = blocks.run_page(page(tmp_path, f"~~~{language}\n{text}\n~~~\n"))
        assert bool(block.failed) == is_bad, (text, block.failed)


def test_blocks_share_a_folder_and_a_namespace(tmp_path: Path) -> None:
    text = '~~~toml title="a.toml"\nx = 1\n~~~\n\n=== "Tab"\n\n    ~~~python\n    y = open("a.toml").read()\n    ~~~\n\n~~~python\nassert y == "x = 1\\n"\n~~~\n'
    found = blocks.run_page(page(tmp_path, text))
    assert [block.failed for block in found] == [None] * 3


def test_what_is_not_run_says_why(tmp_path: Path) -> None:
    marked, other = blocks.run_page(page(tmp_path, "<!-- not run: it waits -->\n~~~sh\nfalse\n~~~\n\ntext\n\n~~~sh\ntrue\n~~~\n"))
    assert marked.not_run == "it waits" and not marked.failed
    assert other.not_run is None and not other.failed


def test_a_block_without_a_language_or_an_end_is_refused(tmp_path: Path) -> None:
    for text in ["~~~\nx\n~~~\n", "~~~sh\ntrue\n"]:
        with pytest.raises(SystemExit):
            blocks.blocks_of(page(tmp_path, text))


def test_a_page_that_cannot_be_read_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["blocks.py", str(page(tmp_path, "~~~\nx\n~~~\n"))])
    monkeypatch.setattr(blocks, "has_r", lambda: True)
    monkeypatch.setattr(blocks.multiprocessing, "get_context", lambda _: pytest.fail("a worker reads it"))
    with pytest.raises(SystemExit, match="say what the block is"):
        blocks.main()


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<a href="other.html">', "there is no other.html"),
        ('<a href="#nowhere">', "no such anchor"),
        ('<script src="https://example.org/a.js"></script>', "loads https"),
        ("<table></table>", "answers 0 questions"),
    ],
)
def test_links_that_lead_nowhere_are_found(tmp_path: Path, html: str, said: str) -> None:
    site = tmp_path / "site"
    site.mkdir()
    answers = '<tr><td><a href="index.html">' * 10
    (site / "index.html").write_text(html if "table" in html else html + answers)
    done = subprocess.run([sys.executable, HERE / "links.py", site], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and said in done.stdout
    (site / "index.html").write_text(answers)
    assert subprocess.run([sys.executable, HERE / "links.py", site], capture_output=True, check=False).returncode == 0
