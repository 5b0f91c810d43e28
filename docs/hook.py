"""The MkDocs hook: adds the pages that are generated from the code of the library."""

from __future__ import annotations

import posixpath
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN, GROUPS, heading
from generate.agents import Written, agent_index, agent_text, written_pages
from generate.api import MODULES, api_index, api_page, api_text, whole_package
from generate.environments import environment_index, environment_text, group_of
from generate.formulas import typeset
from generate.instances import Environment, environments
from generate.lite import FOLDER, build_lite, plays_in_browser
from generate.markdown import agent_page, environment_page
from generate.notebooks import notebook_page, with_modules
from generate.pictures import picture
from generate.players import verdicts
from generate.project import (
    LESSONS,
    example_files,
    examples_text,
    is_whole,
    outside_page,
    without_dead_links,
    without_dead_pages,
)

ROOT = Path(__file__).resolve().parents[1]
AGENTS, API, ENVIRONMENTS = "agents", "api", "environments"

_package: Path | None = None  # folder that the docstrings of the API are read from


@event_priority(100)  # before mkdocstrings reads its settings
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Tell mkdocstrings where the docstrings of the API are."""
    global _package
    if _package is None:
        _package = Path(tempfile.mkdtemp(prefix="bai-gym-api-"))
        whole_package(ROOT, _package)
    config.plugins["mkdocstrings"].config["handlers"]["python"]["paths"] = [str(_package)]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the sources of generated pages by the pages, and add them to the navigation."""
    written = written_pages(ROOT / "docs" / AGENTS)
    for file in list(files):
        if file.src_uri.startswith(f"{AGENTS}/"):
            files.remove(file)
    everything = environments()
    for path, content in _pages(everything, written):
        files.append(File.generated(config, path, content=content, inclusion=InclusionLevel.INCLUDED))
    _fill_navigation(config.nav, everything)
    if not is_whole():
        config.nav = without_dead_pages(config.nav, files.src_uris.__contains__)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Draw formulas, and of dead links keep the text; in the whole site, which has all wings, they are errors."""
    markdown = typeset(markdown)
    folder = posixpath.dirname(page.file.src_uri)
    if is_whole():
        return markdown
    return without_dead_links(markdown, lambda path: posixpath.normpath(posixpath.join(folder, path)) in files.src_uris)


def on_post_build(config: MkDocsConfig) -> None:
    """Add the notebooks that can be played in the browser."""
    notebooks = {file.relative_to(ROOT): with_modules(file) for file in example_files(ROOT) if file.suffix == ".ipynb"}
    playable = {place: content for place, content in notebooks.items() if plays_in_browser(place)}
    build_lite(ROOT, playable, Path(config.site_dir) / FOLDER)


def on_shutdown() -> None:
    """Remove the temporary files of the build."""
    if _package is not None:
        shutil.rmtree(_package)


def _pages(everything: tuple[Environment, ...], written: dict[str, Written]) -> Iterator[tuple[str, str | bytes]]:
    """Yield the generated files, path and content."""
    found = verdicts(everything)
    yield f"{ENVIRONMENTS}/index.md", environment_index(everything)
    for environment in everything:
        image = None
        if environment.here and environment.problem.known:
            image = f"{environment.entry.id}.svg"
            yield (
                f"{ENVIRONMENTS}/{image}",
                picture(environment.problem, environment.env.episode_spec.task, drawn=environment.drawn),
            )
        page = f"{ENVIRONMENTS}/{environment_page(environment.entry.id)}"
        yield page, environment_text(environment, found, image)
    yield f"{AGENTS}/index.md", agent_index(written)
    for name in agents.names():
        yield f"{AGENTS}/{agent_page(name)}", agent_text(name, everything, found, written.get(name))
    yield f"{API}/index.md", api_index()
    for module in MODULES:
        yield f"{API}/{api_page(module)}", api_text(module)
    yield "changelog.md", outside_page(ROOT / "CHANGELOG.md")
    yield "contributing.md", outside_page(ROOT / "CONTRIBUTING.md")
    yield "examples.md", examples_text(ROOT)
    yield f"{LESSONS}/index.md", outside_page(ROOT / LESSONS / "README.md")
    for file in (file for file in example_files(ROOT) if file.suffix == ".ipynb"):
        place = file.relative_to(ROOT)
        text, figures = notebook_page(file, place)
        yield place.as_posix(), with_modules(file)
        yield place.with_suffix(".md").as_posix(), text
        for name, figure in figures.items():
            yield place.with_name(name).as_posix(), figure


def _fill_navigation(navigation: Any, everything: tuple[Environment, ...]) -> None:
    """Add the generated pages to the sections of the navigation that have their first page."""
    groups: dict[str, list[str]] = {}
    for environment in everything:
        page = f"{ENVIRONMENTS}/{environment_page(environment.entry.id)}"
        groups.setdefault(group_of(environment), []).append(page)
    families: dict[str, list[str]] = {heading: [] for heading in GROUPS.values()}
    for name, entry in BUILT_IN.items():
        families[heading(entry)].append(f"{AGENTS}/{agent_page(name)}")
    added: dict[str, list[Any]] = {
        ENVIRONMENTS: [{title: pages} for title, pages in groups.items()],
        AGENTS: [{title: pages} for title, pages in families.items()],
        API: [f"{API}/{api_page(module)}" for module in MODULES],
    }
    for section in navigation:
        for pages in section.values():
            if isinstance(pages, list):
                for folder, more in added.items():
                    if f"{folder}/index.md" in pages:
                        pages += more
