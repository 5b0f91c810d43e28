"""A lesson in JupyterLite, in a real browser: it opens with its cells and its checks, and with the library to install.

Python for the browser is downloaded by the page, and here is no network, so no cell is run.
"""

from __future__ import annotations

import functools
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupyterlite_core")
pytest.importorskip("mkdocs")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
LESSON = Path("examples", "lessons", "1_first_episode.ipynb")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with nothing but JupyterLite and the first lesson."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        from generate.lite import FOLDER, build_lite
        from generate.notebooks import with_modules
    folder = tmp_path_factory.mktemp("site")
    build_lite(ROOT, {LESSON: with_modules(ROOT / LESSON)}, folder / FOLDER)
    return folder


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_lesson_opens(browser: Any, site: Path, address: str) -> None:
    from generate.lite import lite_address

    page = f"{address}/{LESSON.parent.as_posix()}/{lite_address(LESSON)}"
    browser.driver.get(page)
    browser.wait("document.querySelectorAll('.jp-Notebook .jp-Cell').length > 3")
    browser.wait("document.querySelector('.jp-Notebook').textContent.includes('Lesson 1: a first episode')")
    browser.driver.get("about:blank")
    browser.complaints()  # of Python that cannot be loaded here


def test_the_library_is_there_to_be_installed(site: Path) -> None:
    folder = site / "lite" / "pypi"
    (release,) = json.loads((folder / "all.json").read_text(encoding="utf-8"))["bai-gym"]["releases"].values()
    with zipfile.ZipFile(folder / release[0]["filename"]) as archive:
        names = archive.namelist()
    for module in ("bai_gym/__init__.py", "bai_gym/agents/__init__.py", "bai_gym/agents/training/weights"):
        assert any(name.startswith(module) for name in names), module
    cells = json.loads((site / "lite" / "files" / LESSON).read_text(encoding="utf-8"))["cells"]
    (install,) = (cell for cell in cells if cell["id"] == "install")
    assert any(line.startswith("%pip install") and "bai-gym" in line for line in install["source"])
    assert any("".join(cell["source"]).startswith("%%writefile checks.py") for cell in cells)
    (compare,) = (cell for cell in cells if cell["id"] == "compare")
    assert "runs=50," in "".join(compare["source"])  # 300 elsewhere
