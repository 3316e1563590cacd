"""Checks the built site: every link, picture, script and style is there, every anchor too, nothing is fetched from elsewhere, and the
start page answers its ten questions in one click.

    python book/links.py SITE
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

QUESTIONS = 10
# What a browser fetches by itself; links to elsewhere are the reader's choice.
FETCHED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """The anchors of a page, what it links to, what it loads, and the links of its tables' last cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.answers: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
            if self.answers:
                self.answers[-1].append(found["href"])
        if tag in FETCHED and FETCHED[tag] in found and found.get("rel") != "canonical":
            self.loaded.append(found[FETCHED[tag]])
        if tag == "tr":
            self.answers.append([])


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    wrong, links = [], 0
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    wrong.append(f"{path.relative_to(site)} loads {link}")
                continue
            links += 1
            # The page of what is not there has its links from the root.
            base = site if path.name == "404.html" else path.parent
            there = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                wrong.append(f"{path.relative_to(site)}: there is no {link}")
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors and parts.fragment != "__skip":
                wrong.append(f"{path.relative_to(site)}: {link} has no such anchor")
    answers = [answer for answer in pages[site / "index.html"].answers if answer]
    if len(answers) < QUESTIONS:
        wrong.append(f"the start page answers {len(answers)} questions, not {QUESTIONS}")
    print(f"{len(pages)} pages, {links} links, {len(answers)} questions that are answered in one click from the start page")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
