"""The site, built with warnings as errors: a page for everything, links that lead somewhere, nothing from outside."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from bai_gym import agents
from bai_gym.data import find as find_data
from bai_gym.envs.registration import IDS

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")
from filelock import FileLock  # noqa: E402 (comes with virtualenv, and so with pre-commit)

from generate.lite import FOLDER, lite_address, plays_in_browser  # noqa: E402
from generate.notebooks import imported_files, with_modules  # noqa: E402
from generate.project import example_files  # noqa: E402

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ROOT / "docs" / "agents"
ENVIRONMENT_SECTIONS = (
    "Instance",
    "Observation space",
    "Action space",
    "Reward",
    "Episode",
    "Keyword arguments",
    "Complexity",
    "Agents",
    "Source",
)
AGENT_SECTIONS = ("Idea", "Parameters", "Oracle knowledge", "Minimum budget", "Where it plays", "Try it", "Source")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("object", "data")}


@dataclass
class Page:
    """What a reader finds on a page."""

    sections: dict[str, str] = field(default_factory=dict)  # text below each heading of level 2
    rows: dict[str, list[list[str]]] = field(default_factory=dict)  # rows of tables, of each section
    code: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


class Reader(HTMLParser):
    """Reads a page; text and tables of its article, links and anchors of all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[str] = []
        self.section = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag not in VOID:
            self.open.append(tag)
        for name in ("id", "name"):
            if name in given:
                self.page.anchors.add(given[name])
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        loads = tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect", "prefetch")
        for name, value in given.items():
            if (tag, name) in LOADED or (loads and name == "href") or name in ("srcset", "poster"):
                self.page.loaded.append(value)
        if tag == "img" and "article" in self.open:
            self.page.images.append(given["src"])
        if "article" in self.open:
            if tag == "h2":
                self.section = given.get("id", "")
                self.page.sections[self.section] = ""
                self.page.rows[self.section] = []
            elif tag == "tr":
                self.page.rows.setdefault(self.section, []).append([])
            elif tag in ("td", "th"):
                self.page.rows[self.section][-1].append("")
            elif tag == "pre":
                self.page.code.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "article" not in self.open or "h2" in self.open or "script" in self.open:
            return
        self.page.sections[self.section] = self.page.sections.get(self.section, "") + data
        if "td" in self.open or "th" in self.open:
            self.page.rows[self.section][-1][-1] += data
        if "pre" in self.open:
            self.page.code[-1] += data


def slug(heading: str) -> str:
    return heading.lower().replace(" ", "-")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The built site: that of ``BAI_GYM_SITE``, which `make docs` made, or one that a worker builds for all."""
    if given := os.environ.get("BAI_GYM_SITE"):
        return Path(given)
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "site"
    with FileLock(f"{folder}.lock"):
        done = folder / "built"
        if not done.exists():
            run = subprocess.run(
                [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
                cwd=ROOT,
                env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
                capture_output=True,
                text=True,
                timeout=550,
                check=False,
            )
            assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
            done.touch()
    return folder


def own(site: Path, pattern: str) -> list[Path]:
    """The files of the site, but for those of JupyterLite."""
    return sorted(file for file in site.rglob(pattern) if not file.is_relative_to(site / FOLDER))


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Page]:
    """What stands on every page, by path."""
    found = {}
    for file in own(site, "*.html"):
        reader = Reader()
        reader.feed(file.read_text(encoding="utf-8"))
        found[file.relative_to(site).as_posix()] = reader.page
    return found


def empty_cells(rows: list[list[str]]) -> list[list[str]]:
    return [row for row in rows if not all(cell.strip() for cell in row)]


def test_every_environment_has_a_page(site: Path, pages: dict[str, Page]) -> None:
    for entry in IDS:
        page = pages[f"environments/{entry.id}.html"]
        for heading in ENVIRONMENT_SECTIONS:
            assert page.sections[slug(heading)].strip(), (entry.id, heading)
        for section, rows in page.rows.items():
            assert rows or section not in ("observation-space", "keyword-arguments"), (entry.id, section)
            assert not empty_cells(rows), (entry.id, section)
        shown = [image for image in page.images if image.endswith(f"{entry.id}.svg")]
        unknown = entry.family == "function" or (entry.data is not None and find_data(entry.data) is None)
        assert len(shown) == (0 if unknown else 1), entry.id
        assert (entry.data is None) == ("data" not in page.sections), entry.id
        if entry.data is not None:
            assert f"bai-gym data fetch {entry.data}" in page.sections["data"] or "download" in page.sections["data"]
        for image in shown:
            assert "<svg" in (site / "environments" / image).read_text(encoding="utf-8")
        assert f'gym.make("{entry.id}")' in page.code[0]


def test_every_agent_has_a_page(pages: dict[str, Page]) -> None:
    for name in agents.names():
        page = pages[f"agents/{name.lower()}.html"]
        for heading in AGENT_SECTIONS:
            assert page.sections[slug(heading)].strip(), (name, heading)
        for section, rows in page.rows.items():
            assert not empty_cells(rows), (name, section)
        parameters = {row[0] for row in page.rows["parameters"][1:]}
        assert {"tie", "allow_small_budget"} <= parameters, name
        if any(WRITTEN.rglob("*.md")):
            assert page.sections["pseudo-code"].strip(), name


def internal(links: list[str]) -> Iterator[str]:
    return (link for link in links if not re.match(r"[a-z][a-z0-9+.-]*:", link))


def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[str, Page]) -> None:
    broken = []
    for name, page in pages.items():
        for link in {*internal(page.links), *internal(page.loaded)}:
            path, anchor = urldefrag(link)
            path = path.partition("?")[0]
            target = (
                (site / name).parent / unquote(path) if path and not path.startswith("/") else site / (path or name)
            )
            if name == "404.html":
                continue  # its links start at the address that the site will have
            if not target.is_file():
                broken.append((name, link))
            elif anchor and target.suffix == ".html":
                other = pages[target.resolve().relative_to(site.resolve()).as_posix()]
                if unquote(anchor) not in other.anchors:
                    broken.append((name, link))
    assert broken == []


def test_nothing_is_loaded_from_outside(site: Path, pages: dict[str, Page]) -> None:
    outside = re.compile(r"^(?:[a-z]+:)?//")
    assert [(name, link) for name, page in pages.items() for link in page.loaded if outside.match(link)] == []
    for sheet in own(site, "*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text), sheet.name
    for image in own(site, "*.svg"):
        assert not re.search(r"(?:href|src)=\"https?://", image.read_text(encoding="utf-8")), image.name


def test_docstrings_have_no_roles_left(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        for section, text in page.sections.items():
            assert not re.search(r":(?:class|func|meth|mod|data|attr):", text), (name, section)


def test_no_formula_is_left_as_tex(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        for section, text in page.sections.items():
            plain = text
            for code in page.code:
                plain = plain.replace(code, "")
            assert not re.search(r"\$[^$\n]*\\[a-z]+", plain), (name, section)


def test_lessons_are_pages_from_which_the_notebooks_are_downloaded(site: Path, pages: dict[str, Page]) -> None:
    for notebook in (file for file in example_files(ROOT) if file.suffix == ".ipynb"):
        place = notebook.relative_to(ROOT)
        page = pages[place.with_suffix(".html").as_posix()]
        modules = [f"%%writefile {file.name}\n{file.read_text(encoding='utf-8')}" for file in imported_files(notebook)]
        assert ("lessons" in place.parts) == bool(modules)  # all lessons bring their checks
        assert notebook.name in page.links and (site / place).read_bytes() == with_modules(notebook)
        cells = json.loads(with_modules(notebook))["cells"][1 : 1 + len(modules)]
        assert ["".join(cell["source"]) for cell in cells] == modules
        assert page.code and page.images, place
        played = lite_address(place) in page.links, (site / FOLDER / "files" / place).exists()
        assert played == (plays_in_browser(place),) * 2, place
        if "lessons" in place.parts:
            link = place.relative_to("examples/lessons").with_suffix(".html").as_posix()
            assert link in pages["examples/lessons/index.html"].links
            assert any(section.startswith("exercise-1") for section in page.sections), place


@pytest.mark.slow
def test_code_on_generated_pages_runs(pages: dict[str, Page], tmp_path: Path) -> None:
    snippets = [
        pages[f"environments/{entry.id}.html"].code[0]
        for entry in IDS
        if entry.data is None or find_data(entry.data) is not None
    ]
    commands = [
        next(it for it in map(str.strip, pages[f"agents/{name.lower()}.html"].code) if it.startswith("bai-gym run"))
        for name in agents.names()
    ]
    program = tmp_path / "program.py"
    program.write_text(
        "import shlex, sys\nfrom bai_gym.cli import main\n"
        f"for snippet in {snippets!r}:\n    exec(snippet, {{}})\n"
        f"for command in {commands!r}:\n"
        "    sys.argv = shlex.split(command)\n"
        "    try:\n        main()\n"
        "    except SystemExit as stop:\n        assert not stop.code, command\n",
        encoding="utf-8",
    )
    run = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=550, check=False
    )
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stdout.count("error probability") >= len(commands)
