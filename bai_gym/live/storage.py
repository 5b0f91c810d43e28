"""Where the log of a study is kept: a journal, which is a file; a database; or memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bai_gym.errors import ParameterError
from bai_gym.live.database import Database, read_database
from bai_gym.live.entries import Entry, Log, Memory
from bai_gym.live.journal import Journal, read_journal
from bai_gym.validation import AnyPath

__all__ = ["open_log", "read_log"]

_NAME = "study"


def open_log(
    facts: Mapping[str, Any],
    *,
    journal: AnyPath | None = None,
    storage: str | None = None,
    name: str | None = None,
    exclusive: bool = False,
) -> Log:
    """Open a log, which is created if it is missing.

    Args:
        facts: Facts that identify the experiment, as JSON values; among them ``"arms"``, the names of the arms.
        journal: A file.
        storage: The address of a database.
        name: Name of the study in the database; None: ``"study"``.
        exclusive: Whether to keep all other processes out until it is closed.

    Raises:
        OutputError: The log cannot be read or written, is of another experiment, is damaged, or is in use.
        ParameterError: Arguments do not fit together, or one is no path, address or name.
        MissingPackageError: A package for databases is not installed.
    """
    if storage is None:
        if name is not None:
            raise ParameterError("name is that of a study in a database: give storage, too, or leave it out")
        return Memory() if journal is None else Journal(journal, facts, exclusive=exclusive)
    if journal is not None:
        raise ParameterError("journal and storage are both given, and a study has one log: leave one of them out")
    if exclusive:
        raise ParameterError("exclusive is for a journal: with storage, use release() for pulls that were left")
    return Database(storage, _NAME if name is None else name, facts)


def read_log(place: AnyPath, name: str | None = None) -> tuple[dict[str, Any], list[Entry]]:
    """Return the facts and the entries of a log that others may be writing.

    Args:
        place: The file, or the address of the database.
        name: Name of the study in the database; None: ``"study"``.

    Raises:
        OutputError: The log cannot be read, or is damaged.
        ParameterError: The place is no path or address, or a file is given with a name.
        MissingPackageError: A package for databases is not installed.
    """
    if isinstance(place, str) and "://" in place:
        return read_database(place, _NAME if name is None else name)
    if name is not None:
        raise ParameterError("name is that of a study in a database, and a file has only one: leave it out")
    return read_journal(place)
