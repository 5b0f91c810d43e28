"""Schema version and checksum of result files, with which all of them are written and read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bai_gym.content.library import library_digest
from bai_gym.errors import SchemaError

__all__ = ["CHECKSUM", "SCHEMA_VERSION", "check_schema", "metadata_now", "read_table", "schema_of", "write_table"]

SCHEMA_VERSION = 1
CHECKSUM = b"checksum"
"""The metadata that have the checksum of the file."""
_BLANK = b"bai-gym-checksum-not-yet-written"  # as long as a checksum, for which it stands while that is computed


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


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet, with a checksum of the whole file in its metadata."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, CHECKSUM: _BLANK}), sink)
    content = sink.getvalue().to_pybytes()
    path.write_bytes(content.replace(_BLANK, _checksum(content)))


def read_table(path: Path) -> pa.Table:
    """Return the table in a file of results.

    Raises:
        SchemaError: If a newer version of this library wrote it.
        OSError, ValueError, pyarrow.ArrowException: If it is damaged, or is not a file of results.
    """
    content = path.read_bytes()
    metadata = pq.read_metadata(pa.BufferReader(content)).metadata or {}  # a schema has those it was written with
    checksum = metadata.get(CHECKSUM)
    if checksum is not None and checksum != _checksum(content.replace(checksum, _BLANK)):
        raise ValueError("it is damaged: its content does not have its checksum")
    check_schema(path, metadata)
    if checksum is None:
        raise ValueError("no checksum in its metadata")
    return pq.read_table(pa.BufferReader(content), use_threads=False)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=len(_BLANK) // 2).hexdigest().encode()
