"""The build backend: setuptools, with two more files at the root of every wheel.

``gymnasium.make`` is to know our ids without ``import bai_gym``. Gymnasium 1.0 removed the loading of plugins
through entry points, so the wheel brings its own hook:

- ``_bai_gym_gymnasium_hook.py``, the module that waits for Gymnasium (what it does and why stands there), and
- ``bai_gym_gymnasium.pth``, one line that imports it when the interpreter starts.

Files at the root of a wheel land in site-packages. setuptools has no setting that puts a ``.pth`` file there for
wheels and editable installs alike, hence this wrapper (PEP 517 and PEP 660). Both files are listed in RECORD, so that
uninstalling removes them.
"""

import base64
import csv
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

HOOK = "_bai_gym_gymnasium_hook"
PTH = "bai_gym_gymnasium.pth"

Settings = Mapping[str, Any] | None


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build the wheel with setuptools, then add the hook."""
    name: str = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    add_hook(Path(wheel_directory, name))
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel of an editable install with setuptools, then add the hook."""
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    add_hook(Path(wheel_directory, name))
    return name


def add_hook(wheel: Path) -> None:
    """Rewrite ``wheel`` in place with the two files of the hook at its root and in its RECORD."""
    extra = {
        f"{HOOK}.py": Path(__file__).with_name(f"{HOOK}.py").read_bytes(),
        PTH: f"import {HOOK}\n".encode(),
    }
    rewritten = wheel.with_suffix(".rewritten")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as new:
        record = next(item for item in old.infolist() if item.filename.endswith(".dist-info/RECORD"))
        for item in old.infolist():
            if item is not record:
                new.writestr(item, old.read(item))
        for filename, content in extra.items():
            new.writestr(_like(record, filename), content)
        # RECORD comes last, as the wheel format asks.
        new.writestr(record, _record(old.read(record).decode(), extra))
    os.replace(rewritten, wheel)


def _record(text: str, extra: Mapping[str, bytes]) -> str:
    """Return the RECORD ``text`` with one row for each file in ``extra``."""
    rows = list(csv.reader(text.splitlines()))
    for filename, content in extra.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.insert(-1, [filename, f"sha256={digest}", str(len(content))])
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _like(model: zipfile.ZipInfo, filename: str) -> zipfile.ZipInfo:
    """Return the archive entry for ``filename`` with the date, mode and compression of ``model``."""
    info = zipfile.ZipInfo(filename, model.date_time)
    info.external_attr = model.external_attr
    info.compress_type = model.compress_type
    return info
