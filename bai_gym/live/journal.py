"""A journal on disk that several processes can share: JSON lines, each on the disk before anything follows from it.

The first line has the number of bytes that are on the disk, the second one identifies the experiment, and every other
line is an entry (:mod:`bai_gym.live.entries`). Each of these has a checksum of itself and of all above, so damage is
noticed anywhere. Nothing but the number is ever overwritten, except a last line that was cut off when its process or
machine died. Processes read what others have appended, and append, under a lock of the file, which ends with the
process that holds it. A file that was replaced while it was open is refused, so that nothing is appended to one that
nobody else reads.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from bai_gym.errors import OutputError, ParameterError
from bai_gym.live.entries import (
    Chain,
    Entry,
    check_head,
    damaged,
    foreign,
    head_of,
    parse,
    read_head,
    readable,
    values_of,
)
from bai_gym.live.executor.functions import one_line
from bai_gym.validation import AnyPath

__all__ = ["Journal", "is_journal", "read_journal"]

_OTHER = "another file"
_PATIENCE = 60.0  # seconds for the lock; others hold it for milliseconds


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

    def __init__(self, path: AnyPath, facts: Mapping[str, Any], *, exclusive: bool = False) -> None:
        """Open the file, check its first line, and cut off an incomplete last line."""
        self._path = _checked(path)
        self._place = self._path.absolute()  # the working directory may change
        self._head = head_of(facts)
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
        content = b"".join(self._chain.line(values_of(entry)) + b"\n" for entry in entries)
        self._write(content, entries)
        if self._moved():
            raise OutputError(f"{self._gone()}; not in it: {readable(entries)}")
        self._offset += len(content)
        self._count()

    def rewind(self) -> None:
        """Have the next transaction return all entries."""
        self._offset, self._chain = len(_count(0)), Chain()

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
        """Return the entries from the present position to the end, after a check of the head."""
        try:
            self._file.seek(0)
            count = self._file.read(len(_count(0)))
            self._file.seek(self._offset)
            content = self._file.read()
            size = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise OutputError(f"journal {self._path} cannot be read: {error.strerror}") from None
        if self._moved() or (self._chain.length and size < self._offset):
            raise OutputError(self._gone())
        if not size:
            head = self._chain.line(self._head) + b"\n"
            self._offset += len(head)
            self._file.seek(0)
            self._write(_count(self._offset) + head)
            self._keep_name()
            return []
        found, entries, end = _parsed(count, content, self._offset, self._chain, f"journal {self._path}")
        if found is not None:
            check_head(found, self._head, f"journal {self._path}", _OTHER)
        if end < size:
            self._cut(end)
        self._offset = end
        return entries

    def _count(self) -> None:
        """Note that everything up to here is on the disk; the note itself may come there later."""
        self._file.seek(0)
        self._file.write(_count(self._offset))
        self._file.seek(self._offset)

    def _cut(self, length: int) -> None:
        self._file.truncate(length)
        self._file.seek(length)

    def _write(self, content: bytes, entries: Sequence[Entry] = ()) -> None:
        try:
            written = 0
            while written < len(content):
                written += self._file.write(content[written:])
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(
                f"journal {self._path} cannot be written ({error.strerror}); not in it: {readable(entries)}"
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


def read_journal(path: AnyPath) -> tuple[dict[str, Any], list[Entry]]:
    """Return the facts and the entries of a journal that others may be writing, without a last line that is cut off.

    Raises:
        OutputError: The file is not a journal, is damaged, or cannot be read.
        ParameterError: The path is no path.
    """
    path = _checked(path)
    try:
        if path.exists() and not path.is_file():
            raise OutputError(f"journal {path} cannot be read: it is no regular file")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, OutputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"journal {str(path)!r} cannot be read: {reason}") from None
    start = len(_count(0))
    facts, entries, _ = _parsed(content[:start], content[start:], start, Chain(), f"journal {path}")
    return facts or {}, entries


def is_journal(place: object) -> bool:
    """Return whether this is the path of a journal."""
    try:
        with open(place, "rb") as file:  # type: ignore[call-overload]
            return _COUNT.fullmatch(file.read(len(_count(0)))) is not None
    except (OSError, TypeError, ValueError):
        return False


def _parsed(
    count: bytes, content: bytes, start: int, chain: Chain, log: str
) -> tuple[dict[str, Any] | None, list[Entry], int]:
    """Return the head, if it is there, the entries, and where they end.

    What comes after the counted bytes and is not whole was never written to its end, and is left out.

    Args:
        count: The first line.
        content: What follows a position.
        start: The position.
        chain: The checksums up to there.
        log: What errors call the journal.

    Raises:
        OutputError: If it is damaged.
    """
    counted = _COUNT.fullmatch(count)
    if counted is None:
        raise foreign(log, _OTHER)
    lines, head, entries = content.split(b"\n")[:-1], None, []
    if not chain.length:
        head = read_head(lines[0] if lines else b"", chain, log, _OTHER)
        start += len(lines.pop(0)) + 1
    for line in lines:
        values = chain.values(line)
        if values is None:
            break
        entries.append(parse(values))
        start += len(line) + 1
    if start < int(counted[1]):
        raise damaged(log, f"line {chain.length + 2} is missing or not as it was written", _OTHER)
    return head, entries, start


def _checked(path: AnyPath) -> Path:
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise ParameterError(f"journal must be the path of a file, as text, not {one_line(repr(path), 80)}")
    return Path(path)


_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_COUNT = re.compile(rb'\{"bytes": +(\d+)\}\n')


def _count(length: int) -> bytes:
    """Return the first line, as long for any number."""
    return b'{"bytes": %15d}\n' % length
