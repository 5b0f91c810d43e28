"""Schema versions of result files."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from bai_gym.errors import SchemaError

__all__ = ["OLD_NAMES", "SCHEMA_VERSION", "check_schema", "metadata_now", "schema_of"]

SCHEMA_VERSION = 3
OLDEST = 1
"""Version 2 has :data:`OLD_NAMES`. Version 1 has them, too, and lacks columns: agent, env and budget in chunks; seed,
rerun, optimum, and mostly checkpoint in results."""
OLD_NAMES = {"answer": "correct_recommendation"}
"""Names in chunks and recordings of versions 1 and 2, and the current ones."""


def metadata_now() -> dict[str, str]:
    """Return the metadata of every Parquet file of results."""
    return {"schema": str(SCHEMA_VERSION), "bai-gym": version("bai-gym")}


def schema_of(metadata: Mapping[bytes, bytes] | None) -> int | None:
    """Return the version that the metadata of a Parquet file name, or None if it is not a file of results."""
    found = (metadata or {}).get(b"schema", b"")
    return int(found) if found.isdigit() else None


def check_schema(path: Path, metadata: Mapping[bytes, bytes]) -> int:
    """Return the version of a file of results.

    Raises:
        SchemaError: If this version of the library cannot read it.
        ValueError: If it is not a file of results.
    """
    found = schema_of(metadata)
    if found is None:
        raise ValueError("no schema in its metadata")
    if found > SCHEMA_VERSION:
        raise SchemaError(
            f"{path} was written by a newer bai-gym (schema {found}; this one reads {OLDEST} to {SCHEMA_VERSION}): "
            "update bai-gym, or choose another folder"
        )
    if found < OLDEST:
        raise ValueError(f"schema {found} is none; there are {OLDEST} to {SCHEMA_VERSION}")
    return found
