"""Atomic replacement of files."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO

__all__ = ["replace_file"]


def replace_file(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file under a temporary name, then rename it atomically.

    Args:
        path: Its final name.
        write: Writes the content.

    Raises:
        OSError: If it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            write(file)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
