"""A journal on disk that several processes can share: JSON lines, each on the disk before anything follows from it.

The first line identifies the experiment; every other line is an :class:`Entry`. Nothing is ever overwritten, except a
last line that was cut off when its process or machine died. Processes read what others have appended, and append, under
a lock of the file, which ends with the process that holds it. A file that was replaced while it was open is refused, so
that nothing is appended to one that nobody else reads.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from bai_gym.bandits.executor.functions import one_line
from bai_gym.errors import OutputError, ParameterError
from bai_gym.validation import LARGEST

__all__ = ["Entry", "Journal", "read_journal"]

_KIND = "bai-gym study"
_VERSION = 4
_PATIENCE = 60.0  # seconds for the lock; others hold it for milliseconds

KINDS = ("ask", "again", "release", "tell", "end", "recommend")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line.

    Attributes:
        kind: ``"ask"``: a pull was handed out. ``"again"``: it was handed out once more. ``"release"``: it may be
            handed out once more. ``"tell"``: its reward. ``"end"``: the agent asks for no pulls after this one.
            ``"recommend"``: after so many pulls the agent has recommended an arm.
        number: Number of the pull, from 1 on.
        arm: Name of the arm, of ``"ask"`` and ``"recommend"``.
        reward: The reward, of ``"tell"``, at most 1e50 in magnitude.
        error: Reason of a failure, if the reward is the worst one, of ``"tell"``.
        item: Number of the item, of ``"ask"`` in a study with items.
    """

    kind: str
    number: int
    arm: str | None = None
    reward: float | None = None
    error: str | None = None
    item: int | None = None


class Journal:
    """An open journal.

    Args:
        path: The file; it is created if missing, its folder must exist.
        facts: Facts that identify the experiment, as JSON values; among them ``"arms"``, the names of the arms.
        exclusive: Whether to keep all other processes out until it is closed.

    Raises:
        OutputError: The file is not a journal, belongs to another experiment, is damaged, is in use by another process,
            or cannot be written.
        ParameterError: The path is no path.
    """

    def __init__(self, path: str | os.PathLike[str], facts: Mapping[str, Any], *, exclusive: bool = False) -> None:
        """Open the file, check its first line, and cut off an incomplete last line."""
        self._path = _checked(path)
        self._place = self._path.absolute()  # the working directory may change
        self._header = {"journal": _KIND, "version": _VERSION, **facts}
        self._arms = frozenset(facts["arms"])
        self._exclusive = exclusive
        self._open()
        try:
            if exclusive:
                self._lock(0.0)
            self.rewind()
            with self._locked():
                self._read()
        except BaseException:
            self.close()
            raise
        self.rewind()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[list[Entry]]:
        """Keep other processes out, and return the entries that they have appended since the last transaction.

        Raises:
            OutputError: If the file is damaged, closed, was deleted or replaced, or stays locked.
        """
        if self._file.closed:
            raise OutputError(f"journal {self._path} is closed: open it again")
        if self._process != os.getpid():  # forks share the lock of their parent
            if self._moved():
                raise OutputError(self._gone())
            self._open()
        with self._locked():
            yield self._read()

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries, and wait until they are on the disk; within a transaction.

        Raises:
            OutputError: If they cannot be written, or cannot be found at the path afterwards; the message has them, so
                that no reward is lost.
        """
        content = b"".join(_line(_values(entry)) for entry in entries)
        self._write(content)
        if self._moved():
            raise OutputError(f"{self._gone()}; not in it: {_readable(content)}")
        self._offset += len(content)
        self._line += len(entries)

    def rewind(self) -> None:
        """Have the next transaction return all entries."""
        self._offset, self._line = 0, 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _open(self) -> None:
        try:
            if self._place.exists() and not self._place.is_file():  # before it is opened, which devices may notice
                raise OutputError(f"journal {self._path} cannot be opened: it is no regular file")
            self._file: BinaryIO = os.fdopen(os.open(self._place, _FLAGS, 0o666), "r+b", buffering=0)
        except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
            if isinstance(error, OutputError):
                raise
            reason = error.strerror if isinstance(error, OSError) else error
            raise OutputError(f"journal {str(self._path)!r} cannot be opened: {reason}") from None
        self._process = os.getpid()

    def _moved(self) -> bool:
        """Whether the path is no longer that of the open file."""
        try:
            return not os.path.samestat(os.stat(self._place), os.fstat(self._file.fileno()))
        except OSError:
            return True

    def _gone(self) -> str:
        return f"journal {self._path} was deleted, replaced or cut off by others: restore it, and start again"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if self._exclusive:
            yield
            return
        self._lock(_PATIENCE)
        try:
            yield
        finally:
            self._unlock()

    def _lock(self, patience: float) -> None:
        """Lock out all others, in this process too."""
        try:
            import fcntl
        except ImportError:  # Windows: users must avoid two processes with one journal
            return
        until, pause = time.monotonic() + patience, 0.001
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except (BlockingIOError, PermissionError):
                if time.monotonic() >= until:
                    raise OutputError(
                        f"journal {self._path} is in use by another process: wait for it, or end it"
                    ) from None
                time.sleep(pause)
                pause = min(2.0 * pause, 0.02)
            except OSError as error:  # a file system without locks
                if self._exclusive:
                    return
                raise OutputError(
                    f"journal {self._path} cannot be locked ({error.strerror}): keep it on a local disk"
                ) from None

    def _unlock(self) -> None:
        if os.name == "posix":
            import fcntl

            with contextlib.suppress(OSError, ValueError):  # closed meanwhile
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _read(self) -> list[Entry]:
        """Return the entries from the present position to the end, after a check of the first line."""
        try:
            self._file.seek(self._offset)
            content = self._file.read()
            size = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise OutputError(f"journal {self._path} cannot be read: {error.strerror}") from None
        if size < self._offset or self._moved():
            raise OutputError(self._gone())
        *lines, rest = content.split(b"\n")
        whole = _complete(rest)  # all but its newline was written, or an editor has removed that
        if whole:
            lines, rest = [*lines, rest], b""
        if self._line == 0:
            if not lines:  # empty, or cut off in its first line
                if not (_line(self._header).startswith(rest) or rest.startswith(_line({"journal": _KIND})[:-2])):
                    raise _foreign(self._path)
                self._cut(0)
                self._write(_line(self._header))
                self._keep_name()
                self._offset, self._line = len(_line(self._header)), 1
                return []
            self._check_header(lines[0])
        if whole:
            self._write(b"\n")
            content += b"\n"
        entries = []
        position = self._offset
        for number, line in enumerate(lines):
            if self._line + number > 0:
                entry = _parse(line, self._arms)
                if entry is None and number == len(lines) - 1 and not rest:
                    break  # after a crash of the machine, lost blocks of a file can hold anything
                if entry is None:
                    where = f"line {self._line + number + 1}"
                    raise OutputError(f"journal {self._path} is damaged: {where} is no entry; repair or delete it")
                entries.append(entry)
            position += len(line) + 1
        if position < self._offset + len(content):
            self._cut(position)
        self._line += len(entries) + (self._line == 0)
        self._offset = position
        return entries

    def _check_header(self, line: bytes) -> None:
        found = _header(line, self._path)
        for name, value in self._header.items():
            if found.get(name) != value:
                raise OutputError(
                    f"journal {self._path} is of another experiment: its {name} is {_shown(found.get(name))}, and here "
                    f"it is {_shown(value)}; give the same arguments, or another file"
                )

    def _cut(self, length: int) -> None:
        self._file.truncate(length)
        self._file.seek(length)

    def _write(self, content: bytes) -> None:
        try:
            written = 0
            while written < len(content):
                written += self._file.write(content[written:])
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(
                f"journal {self._path} cannot be written ({error.strerror}); not in it: {_readable(content)}"
            ) from None

    def _keep_name(self) -> None:
        """Flush the file's name to disk, too."""
        if os.name == "posix":
            folder = os.open(self._place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            except OSError:  # not supported by every file system
                pass
            finally:
                os.close(folder)


def read_journal(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Entry]]:
    """Return the facts and the entries of a journal that others may be writing, without a last line that is cut off.

    Raises:
        OutputError: The file is not a journal, is damaged, or cannot be read.
        ParameterError: The path is no path.
    """
    path = _checked(path)
    try:
        if path.exists() and not path.is_file():
            raise OutputError(f"journal {path} cannot be read: it is no regular file")
        first, *lines = path.read_bytes().split(b"\n")
    except (OSError, ValueError) as error:
        if isinstance(error, OutputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"journal {str(path)!r} cannot be read: {reason}") from None
    facts = _header(first, path)
    arms = facts.get("arms")
    if not isinstance(arms, list) or not all(isinstance(name, str) for name in arms):
        raise OutputError(f"journal {path} is damaged: line 1 names no arms")
    entries = []
    for number, line in enumerate(lines, 2):
        entry = _parse(line, frozenset(arms))
        if entry is not None:
            entries.append(entry)
        elif number <= len(lines):  # not the last one
            raise OutputError(f"journal {path} is damaged: line {number} is no entry; repair or delete it")
    return facts, entries


def _checked(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise ParameterError(f"journal must be the path of a file, as text, not {_shown(path)}")
    return Path(path)


def _header(line: bytes, path: Path) -> dict[str, Any]:
    """Return the facts in the first line."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("journal") != _KIND:
        raise _foreign(path)
    if found.get("version") != _VERSION:
        raise OutputError(
            f"journal {path} has version {found.get('version')!r}, and this library reads {_VERSION}: "
            "resume with the library that wrote it, or give another file"
        )
    return found


def _foreign(path: Path) -> OutputError:
    return OutputError(f"{path} is not a journal of bai-gym; give the path of one, or of a new file")


_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, allow_nan=False).encode() + b"\n"


def _readable(content: bytes) -> str:
    return content.decode().strip().replace("\n", ", ")


def _complete(line: bytes) -> bool:
    """Whether a line is a whole JSON object; no beginning of one is."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _values(entry: Entry) -> dict[str, Any]:
    rest = {"arm": entry.arm, "reward": entry.reward, "error": entry.error, "item": entry.item}
    return {entry.kind: entry.number, **{name: value for name, value in rest.items() if value is not None}}


def _parse(line: bytes, arms: frozenset[str]) -> Entry | None:
    """Return the entry in a line, or None if it has none."""
    try:
        values = json.loads(line)
        (kind,) = (kind for kind in KINDS if kind in values)
        number, arm, reward, error, item = (values.get(name) for name in (kind, "arm", "reward", "error", "item"))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    if not _is_count(number) or not (item is None or (kind == "ask" and _is_count(item))):
        return None
    if (kind in ("ask", "recommend")) != (isinstance(arm, str) and arm in arms):
        return None
    real = isinstance(reward, int | float) and not isinstance(reward, bool) and abs(reward) <= LARGEST
    if (kind == "tell") != real or not (error is None or isinstance(error, str)):
        return None
    return Entry(kind, number, arm, None if reward is None else float(reward), error, item)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _shown(value: Any) -> str:
    return one_line(repr(value), 80) if value is not None else "not given"
