"""Makes the package that writes pages importable: it is no part of what is installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = str(ROOT / "docs")
if FOLDER not in sys.path:
    sys.path.append(FOLDER)

# The documentation describes all wings: where one is left out, it is not tested.
if "BAI_GYM_WITHOUT" in os.environ:
    collect_ignore_glob = ["test_*.py"]
