"""Files of TOML, and the check of their entries."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bai_gym.errors import DataError

__all__ = ["check_entries", "read_table"]


def read_table(path: Path, what: str) -> dict[str, Any]:
    """Read a file of TOML.

    Raises:
        DataError: If it cannot be read; the message begins with ``what``, such as ``"the rubric"``.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{what} {path} cannot be read: {error}") from None


def check_entries(table: Any, kinds: Mapping[str, type], needed: Iterable[str], where: str) -> None:
    """Check names and types of the entries of a table.

    Args:
        table: What is checked.
        kinds: The type of every entry that there may be; ``float`` allows integers, too.
        needed: The entries that there must be.
        where: What errors call the table.

    Raises:
        DataError: The first thing that is wrong.
    """
    if not isinstance(table, dict):
        raise DataError(f"{where} must be a table, not {table!r}")
    for name in table:
        if name not in kinds:
            raise DataError(f"{where} has no entry {name!r}; it can have: {', '.join(kinds)}")
    for name in needed:
        if name not in table:
            raise DataError(f"{where} needs the entry {name!r}")
    for name, value in table.items():
        allowed = (int, float) if kinds[name] is float else (kinds[name],)
        if not isinstance(value, allowed) or (isinstance(value, bool) and kinds[name] is not bool):
            raise DataError(f"{name} of {where} must be of the type {kinds[name].__name__}, not {value!r}")
