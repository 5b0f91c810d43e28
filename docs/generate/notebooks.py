"""Notebooks as pages: text, code, and what the code printed and drew."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import Any

from generate.colab import CELLS
from generate.formulas import typeset
from generate.project import LINK

__all__ = ["imported_files", "notebook_page"]


def notebook_page(file: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and its figures by their names; both belong in the folder of the notebook.

    Links to other notebooks lead to their pages; of links to other files the text stays. The badge becomes a link in
    words, since pages load nothing from elsewhere.
    """
    figures: dict[str, bytes] = {}
    parts: list[str] = []
    colab = ""
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell.get("id") in CELLS:
            colab = colab or f" Or [open it in Colab]{source[source.rindex('(') :]}."
            continue
        if cell["cell_type"] == "markdown":
            parts.append(typeset(LINK.sub(_to_page, source)))
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            figure = output.get("data", {}).get("image/png")
            if figure is None:
                parts.append(f"```text\n{_printed(output).rstrip()}\n```")
            else:
                name = f"{file.stem}-{len(figures) + 1}.png"
                figures[name] = base64.b64decode(figure)
                parts.append(f"![What the cell above draws]({name})")
    title, *rest = "\n\n".join(parts).partition("\n")
    both = [file, *imported_files(file)]
    links = " and ".join(f"[{one.name}]({os.path.relpath(one, file.parent)}){{ download }}" for one in both)
    download = f"Download {links}{', into one folder' if both[1:] else ''}, to run it and to do the exercises.{colab}"
    return "".join((title, "\n\n", download, "\n", *rest, "\n")), figures


def imported_files(file: Path) -> list[Path]:
    """Return the modules beside a notebook, or in a folder above, that it imports."""
    names = re.findall(r'^ *"import (\w+)(?:\\n)?",?$', file.read_text(encoding="utf-8"), re.MULTILINE)
    found = (folder / f"{name}.py" for name in names for folder in file.parents[:3])
    return [module for module in found if module.exists()]


def _printed(output: dict[str, Any]) -> str:
    return "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])


def _to_page(link: re.Match[str]) -> str:
    page, notebook, rest = link["target"].partition(".ipynb")
    return f"[{link['text']}]({page}.md{rest})" if notebook else link["text"]
