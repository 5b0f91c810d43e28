"""Notebooks as pages: text, code, and what the code printed and drew."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from generate.colab import CELLS
from generate.formulas import typeset
from generate.lite import lite_address, plays_in_browser
from generate.project import LINK, inside_docs

__all__ = ["imported_files", "notebook_page", "with_modules"]

FIGURES = {"image/svg+xml": ".svg", "image/gif": ".gif", "image/png": ".png"}


def notebook_page(file: Path, place: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and its figures by their names; both belong in the folder of the notebook.

    Args:
        file: The notebook.
        place: Its place in the documentation.

    Links to other notebooks and to pages lead to pages; of links to other files the text stays. The badge becomes a
    link in words, since pages load nothing from elsewhere.
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
            data = output.get("data", {})
            kind = next((kind for kind in FIGURES if kind in data), None)
            if kind is not None:
                name = f"{file.stem}-{len(figures) + 1}{FIGURES[kind]}"
                content = "".join(data[kind])
                figures[name] = content.encode() if kind.endswith("xml") else base64.b64decode(content)
                parts.append(f"![What the cell above draws]({name})")
            elif text := _printed(output).rstrip():
                parts.append(f"```text\n{text}\n```")
    title, *rest = "\n\n".join(parts).partition("\n")
    modules = "".join(f" It brings `{module.name}`, which it writes beside itself." for module in imported_files(file))
    # Written as HTML: MkDocs does not know what JupyterLite adds to the site.
    lite = f' Or <a href="{lite_address(place)}">open it in your browser</a>, with nothing to install.'
    lite = lite if plays_in_browser(place) else " It needs PyTorch, which no browser has."
    download = f"Download [{file.name}]({file.name}){{ download }}, to run it and to do the exercises."
    return "".join((title, "\n\n", download, modules, lite, colab, "\n", *rest, "\n")), figures


def imported_files(file: Path) -> list[Path]:
    """Return the modules beside a notebook, or in a folder above, that it imports."""
    names = re.findall(r'^ *"import (\w+)(?:\\n)?",?$', file.read_text(encoding="utf-8"), re.MULTILINE)
    found = (folder / f"{name}.py" for name in names for folder in file.parents[:3])
    return [module for module in found if module.exists()]


def with_modules(file: Path) -> bytes:
    """Return a notebook to download: below its title a cell, folded up, writes each module that it imports."""
    if not (modules := imported_files(file)):
        return file.read_bytes()
    notebook = json.loads(file.read_text(encoding="utf-8"))
    notebook["cells"][1:1] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"write-{module.stem}",
            "metadata": {"jupyter": {"source_hidden": True}},
            "outputs": [],
            "source": f"%%writefile {module.name}\n{module.read_text(encoding='utf-8')}".splitlines(keepends=True),
        }
        for module in modules
    ]
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _printed(output: dict[str, Any]) -> str:
    return "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])


def _to_page(link: re.Match[str]) -> str:
    page, notebook, rest = link["target"].partition(".ipynb")
    target = f"{page}.md{rest}" if notebook else inside_docs(page)
    return f"[{link['text']}]({target})" if target else link["text"]
