"""Schema version of result files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bai_gym.content.library import library_digest
from bai_gym.errors import SchemaError

__all__ = ["SCHEMA_VERSION", "check_schema", "metadata_now", "schema_of"]

SCHEMA_VERSION = 1


def metadata_now() -> dict[str, str]:
    """Return the metadata of every Parquet file of results: the schema, and the code that wrote it."""
    return {"schema": str(SCHEMA_VERSION), "bai-gym": library_digest()}


def schema_of(metadata: Mapping[bytes, bytes] | None) -> int | None:
    """Return the version that the metadata of a Parquet file name, or None if it is not a file of results."""
    text = (metadata or {}).get(b"schema", b"")
    return int(text) if text.isdigit() else None


def check_schema(path: Path, metadata: Mapping[bytes, bytes]) -> None:
    """Check that this version of the library can read a file of results.

    Raises:
        SchemaError: If a newer version wrote it.
        ValueError: If it is not a file of results.
    """
    version = schema_of(metadata)
    if version is not None and version > SCHEMA_VERSION:
        raise SchemaError(
            f"{path} was written by a newer bai-gym (schema {version}; this one reads {SCHEMA_VERSION}): "
            "update bai-gym, or choose another folder"
        )
    if version != SCHEMA_VERSION:
        raise ValueError("no schema of bai-gym in its metadata")
