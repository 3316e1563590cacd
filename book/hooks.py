"""What the book holds beside the files of docs/: pages made from the program itself, the example tables, and what browsers load."""

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import artefacts  # noqa: E402
import commands  # noqa: E402
import python_names  # noqa: E402

# The search of a site that is opened as files needs this script; the theme would fetch it.
SHIM, SHIM_FROM = "assets/iframe-worker.js", "https://unpkg.com/iframe-worker/shim"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in [("commands", commands.page), ("artefacts", artefacts.page), ("python-names", python_names.page)]:
        files.append(File.generated(config, f"{name}.md", content=page()))
    katex = HERE / "node_modules/katex/dist"
    for file in ["katex.min.js", "katex.min.css", "contrib/auto-render.min.js", *(f"fonts/{font.name}" for font in sorted((katex / "fonts").glob("*.woff2")))]:
        files.append(File.generated(config, f"assets/katex/{file}", abs_src_path=str(katex / file)))
    files.append(File.generated(config, SHIM, abs_src_path=str(HERE / "node_modules/iframe-worker/shim/index.js")))
    for file in sorted((HERE / "assets").iterdir()):
        files.append(File.generated(config, f"assets/{file.name}", abs_src_path=str(file)))
    for file in sorted((ROOT / "examples/people").glob("*.[ctp]*")):
        files.append(File.generated(config, f"people/{file.name}", abs_src_path=str(file)))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    return output.replace(SHIM_FROM, get_relative_url(SHIM, page.url))


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    return output_content.replace(SHIM_FROM, f"/{SHIM}")
