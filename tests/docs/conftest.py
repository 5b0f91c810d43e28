"""Makes the package that writes pages importable: it is no part of what is installed."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = str(ROOT / "docs")
if FOLDER not in sys.path:
    sys.path.append(FOLDER)

# The documentation describes all wings: where files of one are left out, it is not tested.
WINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["bai-gym"]["wings"]
if not all((ROOT / path).exists() for paths in WINGS.values() for path in paths):
    collect_ignore_glob = ["test_*.py"]
