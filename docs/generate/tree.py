"""The picture of the library with which the page on architecture begins.

``python -m generate.tree`` in ``docs/`` writes it into the page, and a test compares the two.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from bai_gym.wings import wings
from generate.api import MODULES

__all__ = ["BLOCK", "PAGE", "tree"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
WIDTH = 100
BLOCK = re.compile(r"(?<=```text\n).*?(?=```)", re.DOTALL)


def tree() -> str:
    """Return the folders and files of the library, with the beginning of what each says of itself."""
    people = {"api.py", *(module.split(".")[1] for module in MODULES if "." in module)}
    groups = (path.name for path in sorted((ROOT / "agents").glob("*/")) if (path / "__init__.py").exists())
    agents = f"  {'':<13} in groups: {', '.join(name for name in groups if name not in wings())}"
    lines: dict[str, list[str]] = {"What people import": [], "The rest of the core": [], "Wings": []}
    for path in sorted([ROOT / "agents", *(ROOT / "bai_gym").iterdir()]):
        file = path / "__init__.py" if path.suffix == "" else path
        if file.suffix == ".py" and file.exists() and not path.name.startswith("__"):
            wing = wings().get(path.name)
            core = "What people import" if {path.name, path.stem} & people else "The rest of the core"
            needs = f" (needs {', '.join(wing.needs)})" if wing and wing.needs else ""
            lines["Wings" if wing else core].append(f"  {path.name:<13} {_beginning(file)}{needs}")
            lines["What people import"] += [agents] * (path.name == "agents")
    return "\n".join(line for kind, found in lines.items() for line in (f"{kind}:", *found)) + "\n"


def _beginning(file: Path) -> str:
    line = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0].rstrip(".")
    return line if len(line) < WIDTH else re.split(r"[,;:](?= )", line[:WIDTH])[0]


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: tree(), page, count=1), encoding="utf-8", newline="\n")
