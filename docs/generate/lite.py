"""The notebooks in the browser: JupyterLite, with a wheel of this library.

A page cannot install packages by itself, so each notebook begins there with a cell that does. Python and its compiled
packages come from where Pyodide publishes them; the library comes from the site itself.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from generate.colab import new_cell

__all__ = ["FOLDER", "build_lite", "lite_address", "plays_in_browser"]

FOLDER = "lite"  # of the site
SLOW = "slow-in-browser"  # tag of cells with agents that are not compiled there
# One program of JupyterLite is enough, without maps of its sources.
APPS = ("--apps=notebooks", "--no-unused-shared-packages", "--no-sourcemaps", "--no-libarchive")
INSTALL = """\
# This cell installs the library in your browser, which takes a minute the first time. Agents are not compiled there, so
# some comparisons have fewer runs than the text tells of, and numbers differ from it.
import sys
import types

# Gymnasium imports what needs this module, which no browser has: processes cannot be started there.
sys.modules["_multiprocessing"] = types.ModuleType("_multiprocessing")
sys.modules["_multiprocessing"].SemLock = type("SemLock", (), {"SEM_VALUE_MAX": 1})
sys.modules["_multiprocessing"].sem_unlink = None

%pip install -q bai-gym matplotlib plotly pygame-ce"""


def plays_in_browser(place: Path) -> bool:
    """Return whether a notebook can be played there: no browser has PyTorch, which those on training need."""
    return "training" not in place.parts


def lite_address(place: Path) -> str:
    """Return the address of a notebook in the browser, relative to its page.

    Args:
        place: Of the notebook in the documentation.
    """
    return f"{'../' * len(place.parent.parts)}{FOLDER}/notebooks/index.html?path={place.as_posix()}"


def for_browser(notebook: bytes) -> bytes:
    """Return a notebook that installs the library first, with fewer runs where a cell is tagged as slow there."""
    content = json.loads(notebook)
    for slow in (cell for cell in content["cells"] if SLOW in cell["metadata"].get("tags", ())):
        slow["source"] = [re.sub(r"\bruns=(\d+)", _fewer, line) for line in slow["source"]]
    content["cells"].insert(1, new_cell("code", "install", INSTALL))
    return json.dumps(content, ensure_ascii=False).encode()


def build_lite(root: Path, notebooks: dict[Path, bytes], out: Path) -> None:
    """Write JupyterLite, the notebooks, and a wheel of the library.

    Args:
        root: Of the repository.
        notebooks: Their contents, by their places in the documentation.
        out: Folder that is written.
    """
    with tempfile.TemporaryDirectory(prefix="bai-gym-lite-") as name:
        folder = Path(name)
        for place, content in notebooks.items():
            file = folder / "files" / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(for_browser(content))
        # Setuptools writes into the folder that it builds from, and takes up what it finds there.
        source = folder / "source"
        without = shutil.ignore_patterns("__pycache__")
        for package in ("bai_gym", "agents"):
            shutil.copytree(root / package, source / package, ignore=without)
        for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            shutil.copy(root / name, source)
        wheel = ("pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation", "./source")
        _run(wheel, folder)
        (wheel_file,) = folder.glob("*.whl")
        options = ("--contents=files", f"--piplite-wheels={wheel_file.name}", f"--output-dir={out.resolve()}")
        _run(("jupyterlite_core", "build", *options, *APPS), folder)


def _fewer(match: re.Match[str]) -> str:
    return f"runs={max(int(match[1]) // 80, 50)}"


def _run(module: tuple[str, ...], folder: Path) -> None:
    """Run a module of Python in a folder; what it prints is shown only if it fails."""
    command = [sys.executable, "-m", *module]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
