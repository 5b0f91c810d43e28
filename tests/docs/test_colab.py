"""Badges that open notebooks in Colab: the stored ones are those of the address; with one, notebooks run there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")

from generate.colab import CELLS, repository, with_colab  # noqa: E402
from generate.notebooks import imported_files, notebook_page  # noqa: E402
from generate.project import example_files  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [file for file in example_files(ROOT) if file.suffix == ".ipynb"]
ADDRESS = "https://github.com/someone/bai-gym"


def test_badges_are_those_of_the_public_address() -> None:
    for file in NOTEBOOKS:
        text = file.read_text(encoding="utf-8")
        place = file.relative_to(ROOT).as_posix()
        assert with_colab(text, repository(), place) == text, f"{place}: run `python -m generate.colab` in docs/"


def test_the_address_is_that_on_the_forge(tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    for urls, found in (
        ("", None),
        ('[project.urls]\nDocumentation = "https://example.org"', None),
        (f'[project.urls]\nDocumentation = "https://example.org"\nRepository = "{ADDRESS}/"', ADDRESS),
    ):
        settings.write_text(f'[project]\nname = "x"\n{urls}\n', encoding="utf-8")
        assert repository(tmp_path) == found


def test_with_an_address_every_notebook_begins_with_badge_and_installation(tmp_path: Path) -> None:
    for file in NOTEBOOKS:
        text, place = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
        made = with_colab(text, ADDRESS, place)
        badge, install = json.loads(made)["cells"][:2]
        opened = f"https://colab.research.google.com/github/someone/bai-gym/blob/main/{place}"
        assert (badge["id"], install["id"]) == CELLS and "".join(badge["source"]).endswith(f"({opened})")
        assert with_colab(made, ADDRESS, place) == made and with_colab(made, None, place) == text, place
        copy = tmp_path / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(made, encoding="utf-8")
        for module in imported_files(file):
            shutil.copy(module, tmp_path / module.parent.relative_to(ROOT))
        page, _ = notebook_page(copy, Path(place))
        assert f"Or [open it in Colab]({opened})." in page and "google.colab" not in page and "badge.svg" not in page
        assert page.replace(f" Or [open it in Colab]({opened}).", "") == notebook_page(file, Path(place))[0]
