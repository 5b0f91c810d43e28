"""Makes the package that writes pages importable: it is no part of what is installed."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = str(Path(__file__).resolve().parents[2] / "docs")
if FOLDER not in sys.path:
    sys.path.append(FOLDER)
