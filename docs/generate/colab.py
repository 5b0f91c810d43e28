"""The badge "Open in Colab" of a notebook, and the cell that installs the library there.

Colab opens notebooks of a public repository. So both exist only once ``[project.urls]`` names one on GitHub;
``python -m generate.colab`` in ``docs/`` then writes them into all notebooks, and takes them out where there is none.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from generate.project import example_files

__all__ = ["CELLS", "new_cell", "repository", "with_colab"]

ROOT = Path(__file__).resolve().parents[2]
FORGE = "https://github.com/"
CELLS = ("colab-badge", "colab-install")  # ids of the cells
IMAGE = "https://colab.research.google.com/assets/colab-badge.svg"


def repository(root: Path = ROOT) -> str | None:
    """Return the address of the public repository; None: there is none on GitHub."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    addresses = settings["project"].get("urls", {}).values()
    return next((address.rstrip("/") for address in addresses if address.startswith(FORGE)), None)


def with_colab(text: str, address: str | None, place: str) -> str:
    """Return a notebook, as text, that begins with badge and installation; without an address, with neither.

    Args:
        text: The notebook, with or without these cells.
        address: Of the public repository.
        place: Of the notebook in the repository.
    """
    notebook = json.loads(text)
    cells = [cell for cell in notebook["cells"] if cell.get("id") not in CELLS]
    if address is not None:
        folder = place.rpartition("/")[0]
        opened = f"https://colab.research.google.com/github/{address.removeprefix(FORGE)}/blob/main/{place}"
        badge = f"[![Open in Colab]({IMAGE})]({opened})"
        install = (
            "import sys",
            "",
            'if "google.colab" in sys.modules:  # nothing is installed elsewhere',
            f"    !git clone --quiet --depth 1 {address} repository",
            '    %pip install --quiet "./repository[learn,plots]"',
            f"    %cd -q repository/{folder}",
        )
        cells = [new_cell("markdown", CELLS[0], badge), new_cell("code", CELLS[1], "\n".join(install)), *cells]
    return json.dumps({**notebook, "cells": cells}, indent=1, ensure_ascii=False) + "\n"


def new_cell(kind: str, name: str, source: str) -> dict[str, Any]:
    """Return a cell of a kind, such as ``"code"``, with an id, as it is before it has run."""
    rest: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, **rest, "source": source.splitlines(keepends=True)}


def main() -> None:
    """Bring all notebooks up to date."""
    for file in example_files(ROOT):
        if file.suffix == ".ipynb":
            place = file.relative_to(ROOT).as_posix()
            text = with_colab(file.read_text(encoding="utf-8"), repository(), place)
            file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
