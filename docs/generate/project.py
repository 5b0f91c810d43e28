"""Pages made from files outside the documentation folder."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = [
    *("EXAMPLES", "LESSONS", "example_files", "examples_text", "inside_docs", "is_whole", "outside_page"),
    *("without_dead_links", "without_dead_pages"),
]

EXAMPLES = "examples"
LESSONS = f"{EXAMPLES}/lessons"
ROOT = Path(__file__).resolve().parents[2]
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}
SCHEME = re.compile(r"[a-z]+:|/")
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>[^):\s]+)\)")


def is_whole() -> bool:
    """Return whether all wings are there: some are left out in copies, see `.ci/without.py`."""
    return "BAI_GYM_WITHOUT" not in os.environ


def without_dead_links(text: str, is_there: Callable[[str], bool]) -> str:
    """Return a page without links to what is not there: of a link its text stays, of a picture nothing.

    Args:
        text: Markdown.
        is_there: Says it of a path relative to the page.
    """

    def replace(match: re.Match[str]) -> str:
        path = match["target"].partition("#")[0]
        if not path or SCHEME.match(path) or is_there(path):
            return match[0]
        return "" if match["picture"] else match["text"]

    return re.sub(rf"(?P<picture>!?){LINK.pattern}", replace, text)


def without_dead_pages(navigation: Any, is_there: Callable[[str], bool]) -> Any:
    """Return a navigation without the pages that are not there, and without sections of such pages alone."""
    if isinstance(navigation, str):
        return navigation if is_there(navigation) else None
    if isinstance(navigation, list):
        return [part for part in (without_dead_pages(part, is_there) for part in navigation) if part]
    parts = {title: without_dead_pages(part, is_there) for title, part in navigation.items()}
    return {title: part for title, part in parts.items() if part}


def outside_page(file: Path) -> str:
    """Return a Markdown file of the repository as a page.

    Links within the repository lead to pages, also those of notebooks that are examples; others are left out, and their
    text stays.
    """
    notebooks = {example for example in example_files(ROOT) if example.suffix == ".ipynb"}

    def replace(match: re.Match[str]) -> str:
        target = match["target"]
        path, hash_mark, anchor = target.partition("#")
        page = PAGES.get(path) or inside_docs(path)
        if not path:
            return match[0]
        if file.parent / path in notebooks:
            page = path.replace(".ipynb", ".md")
        return f"[{match['text']}]({page}{hash_mark}{anchor})" if page else match["text"]

    return LINK.sub(replace, file.read_text(encoding="utf-8"))


def inside_docs(path: str) -> str | None:
    """Return the page of a path such as ``../docs/page.md``, from a folder of the repository; None for other paths."""
    found = re.fullmatch(r"((?:\.\./)*)docs/(.+)", path)
    return found[1] + found[2] if found else None


def example_files(root: Path) -> list[Path]:
    """Return the examples: programs, notebooks and lessons."""
    programs = [file for file in (root / EXAMPLES).rglob("*.py") if "lessons" not in file.parts]
    files = [*programs, *(root / EXAMPLES).rglob("*.ipynb")]
    return sorted(file for file in files if not {"assignment", ".ipynb_checkpoints"} & {*file.parts})


def examples_text(root: Path) -> str:
    """Return the page with the examples: programs as they are, and links to the pages of notebooks."""
    parts = [
        "# Examples",
        "The programs and notebooks in `examples/`; tests run all of them. The nine lessons have exercises: "
        "[how to learn and teach with them](examples/lessons/index.md).",
        "## Notebooks",
    ]
    files = example_files(root)
    notebooks = [file for file in files if file.suffix == ".ipynb"]
    pages = [(_title(file), file.relative_to(root).with_suffix(".md").as_posix()) for file in notebooks]
    parts.append("\n".join(f"- [{title}]({page})" for title, page in pages))
    for file in files:
        if file.suffix == ".py":
            code = file.read_text(encoding="utf-8")
            place = file.relative_to(root).as_posix()
            parts += [f"## {_title(file)}", f"`{place}`", f'```{{.python title="{file.name}"}}\n{code}```']
    return "\n\n".join(parts) + "\n"


def _title(file: Path) -> str:
    """Return the title of a file: its first heading, or the name of the file in words."""
    if file.suffix == ".py":
        ast.parse(file.read_text(encoding="utf-8"))
        return file.stem.replace("_", " ").capitalize()
    heading = re.search(r'"# ([^"\\]+)', file.read_text(encoding="utf-8"))
    return heading[1] if heading else file.stem.replace("_", " ").capitalize()
