"""The log of a study: its entries, their form as JSON lines, and what all places that keep one can do.

The state of a study follows from its log alone. Its head has the facts that identify the experiment, and everything
after it is an :class:`Entry`. A log may be kept in a file (:class:`bai_gym.live.journal.Journal`), in a database
(:class:`bai_gym.live.database.Database`) or in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from bai_gym.errors import OutputError
from bai_gym.live.executor.functions import one_line

__all__ = [
    "Chain",
    "Entry",
    "Log",
    "Memory",
    "Overtaken",
    "check_head",
    "damaged",
    "foreign",
    "head_of",
    "parse",
    "read_head",
    "readable",
    "values_of",
]

_KIND = "bai-gym study"
_VERSION = 5
_KINDS = ("ask", "again", "release", "tell", "add", "end", "recommend")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the log.

    Attributes:
        kind: ``"ask"``: a pull was handed out. ``"again"``: it was handed out once more. ``"release"``: it may be
            handed out once more. ``"tell"``: its reward. ``"add"``: after so many pulls an arm was added. ``"end"``:
            the agent asks for no pulls after this one. ``"recommend"``: after so many pulls the agent has recommended
            an arm.
        number: Number of the pull, from 1 on.
        arm: Name of the arm, of ``"ask"``, ``"add"`` and ``"recommend"``; or ``"none"``.
        reward: The reward, of ``"tell"``, at most 1e50 in magnitude.
        error: Reason of a failure, if the reward is the worst one, of ``"tell"``.
        item: Number of the item, of ``"ask"`` in a study with items.
        cost: What the pull has cost, of ``"tell"``; None: the cost of its arm.
        guarded: Its other metrics, of ``"tell"`` in a study with guardrails, in the order of these.
    """

    kind: str
    number: int
    arm: str | None = None
    reward: float | None = None
    error: str | None = None
    item: int | None = None
    cost: float | None = None
    guarded: Sequence[float] = ()


class Chain:
    """The checksums of a log, one in each line: of the line, and by the checksum before it of all lines above.

    Attributes:
        length: Number of the lines so far.
        tip: Checksum of the last one.
    """

    def __init__(self, length: int = 0, tip: str = "") -> None:
        self.length = length
        self.tip = tip

    def copy(self) -> Chain:
        """Return a chain that goes on from here by itself."""
        return Chain(self.length, self.tip)

    def line(self, values: Mapping[str, Any]) -> bytes:
        """Return a head, or the values of an entry, as the next line."""
        text = json.dumps(values, allow_nan=False)
        self.tip = hashlib.blake2b((self.tip + text).encode(), digest_size=8).hexdigest()
        self.length += 1
        return f'{text[:-1]}, "sum": "{self.tip}"}}'.encode()

    def values(self, line: bytes) -> dict[str, Any] | None:
        """Return the values in the next line; None, without going on, if it is not as it was written."""
        ahead = self.copy()
        try:
            values = json.loads(line)
            del values["sum"]
            if ahead.line(values) != line:
                return None
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        self.length, self.tip = ahead.length, ahead.tip
        return dict(values)


class Overtaken(Exception):
    """Others have written after the entries on which a transaction was built: it has to be made again from theirs."""


class Log(Protocol):
    """The entries of one study, to which several processes may append, one at a time."""

    def transaction(self) -> AbstractContextManager[list[Entry]]:
        """Keep other processes out, and return the entries that they have appended since the last transaction.

        What was appended within it is safe when it ends.

        Raises:
            OutputError: If the log cannot be read or written, or is damaged.
            Overtaken: If the transaction has written nothing, and can be made again.
        """

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries; within a transaction.

        Raises:
            OutputError: If they cannot be written; the message has them, so that no reward is lost.
        """

    def rewind(self) -> None:
        """Have the next transaction return all entries."""

    def close(self) -> None:
        """Let the log go."""


class Memory:
    """A log that ends with its process."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._seen = 0

    @contextlib.contextmanager
    def transaction(self) -> Iterator[list[Entry]]:
        """Return the entries that were rewound."""
        seen, self._seen = self._seen, len(self._entries)
        yield self._entries[seen:]

    def append(self, entries: Sequence[Entry]) -> None:
        """Keep entries."""
        self._entries.extend(entries)
        self._seen = len(self._entries)

    def rewind(self) -> None:
        """Have the next transaction return all entries."""
        self._seen = 0

    def close(self) -> None:
        """Nothing is open."""


def head_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the head of a log."""
    return {"journal": _KIND, "version": _VERSION, **facts}


def read_head(line: bytes, chain: Chain, log: str, other: str) -> dict[str, Any]:
    """Return the facts in the head of a log.

    Args:
        line: The head.
        chain: The checksums, at their beginning.
        log: What errors call the log.
        other: What to give for another experiment, such as "another file".

    Raises:
        OutputError: If it is no head, is of another version, or is damaged.
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("journal") != _KIND:
        raise foreign(log, other)
    if found.get("version") != _VERSION:
        raise OutputError(
            f"{log} has version {found.get('version')!r}, and this library reads {_VERSION}: "
            f"resume with the library that wrote it, or give {other}"
        )
    values = chain.values(line)
    if values is None:
        raise damaged(log, "its head is not as it was written", other)
    return values


def foreign(log: str, other: str) -> OutputError:
    """Return the error of what was not written by this library."""
    return OutputError(
        f"{log} was not written by a study of bai-gym, or its beginning is damaged: give {other}, or restore a copy"
    )


def damaged(log: str, what: str, other: str) -> OutputError:
    """Return the error of a log that is not as it was written."""
    return OutputError(f"{log} is damaged: {what}; restore a copy, or start again with {other}")


def check_head(found: Mapping[str, Any], expected: Mapping[str, Any], log: str, other: str) -> None:
    """Compare a head with that of the experiment at hand.

    Args:
        found: The head of the log.
        expected: The head of the experiment.
        log: What errors call the log.
        other: What to give for another experiment.

    Raises:
        OutputError: If it is of another experiment.
    """
    for name, value in expected.items():
        if found.get(name) != value:
            way = f"give the same arguments, or {other}"
            if name in ("arms", "budget") and found.get("items") is None:
                way += ", and this one as earlier= to go on from its results"
            raise OutputError(
                f"{log} is of another experiment: its {name} is {_shown(found.get(name))}, and here it is "
                f"{_shown(value)}; {way}"
            )


def readable(entries: Sequence[Entry]) -> str:
    """Return entries as errors show them."""
    return ", ".join(json.dumps(values_of(entry)) for entry in entries)


def values_of(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON has it; :func:`parse` reads it."""
    names = ("arm", "reward", "error", "item", "cost", "guarded")
    rest = {name: getattr(entry, name) for name in names}
    return {entry.kind: entry.number, **{name: value for name, value in rest.items() if value not in (None, ())}}


def parse(values: Mapping[str, Any]) -> Entry:
    """Return the entry whose values have these names."""
    (kind,) = (name for name in _KINDS if name in values)
    return Entry(kind, **{"number" if name == kind else name: value for name, value in values.items()})


def _shown(value: Any) -> str:
    return one_line(repr(value), 80) if value is not None else "not given"
