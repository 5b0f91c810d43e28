"""A journal of pulls on disk: JSON lines, each on the disk before the next pull is made.

The first line identifies the experiment; every other line is a pull. Nothing is ever overwritten, except a last line
that was cut off when its process or machine died.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from bai_gym.errors import OutputError
from bai_gym.live.evidence import Pull

__all__ = ["Journal"]

_KIND = "bai-gym identify"
_VERSION = 1


class Journal:
    """An open journal.

    Args:
        path: The file; it is created if missing, its folder must exist.
        facts: Facts that identify the experiment, as JSON values.
        num_arms: K.

    Attributes:
        pulls: The pulls in the file when it was opened.

    Raises:
        OutputError: The file is not a journal, belongs to another experiment, is damaged, is in use by another process,
            or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], facts: Mapping[str, Any], num_arms: int) -> None:
        """Open the file, read it, and cut off an incomplete last line."""
        self._path = Path(path)
        self._header = {"journal": _KIND, "version": _VERSION, **facts}
        try:
            self._file: BinaryIO = os.fdopen(os.open(self._path, _FLAGS, 0o666), "r+b", buffering=0)
        except OSError as error:
            raise OutputError(f"journal {self._path} cannot be opened: {error.strerror}") from None
        try:
            self._lock()
            self.pulls = self._read(num_arms)
        except BaseException:
            self.close()
            raise

    def append(self, pull: Pull) -> None:
        """Write one pull, and wait until it is on the disk.

        Raises:
            OutputError: If it cannot be written; the message has the pull, so that it is not lost.
        """
        line: dict[str, Any] = {"arm": pull.arm, "reward": pull.reward}
        if pull.error is not None:
            line["error"] = pull.error
        self._write(line)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Journal:
        """Close at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self) -> None:
        """Lock out other processes. The lock ends with the process."""
        try:
            import fcntl
        except ImportError:  # Windows: users must avoid two experiments with one journal
            return
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise OutputError(f"journal {self._path} is in use by another process: wait for it, or end it") from None
        except OSError:  # file systems without locks
            return

    def _read(self, num_arms: int) -> list[Pull]:
        """Return the pulls in the file, after a check of its first line."""
        try:
            content = self._file.read()
        except OSError as error:
            raise OutputError(f"journal {self._path} cannot be read: {error.strerror}") from None
        *lines, rest = content.split(b"\n")
        if not lines:  # empty, or cut off in its first line
            if not (_line(self._header).startswith(rest) or rest.startswith(_line({"journal": _KIND})[:-2])):
                raise self._foreign()
            self._cut(0)
            self._write(self._header)
            self._keep_name()
            return []
        self._check_header(lines[0])
        pulls = []
        length = len(lines[0]) + 1
        for number, line in enumerate(lines[1:], 2):
            pull = _parse(line, num_arms)
            if pull is None and number == len(lines) and not rest:
                break  # after a crash of the machine, lost blocks of a file can hold anything
            if pull is None:
                raise OutputError(f"journal {self._path} is damaged: line {number} is no pull; repair or delete it")
            pulls.append(pull)
            length += len(line) + 1
        if length < len(content):
            self._cut(length)
        return pulls

    def _check_header(self, line: bytes) -> None:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("journal") != _KIND:
            raise self._foreign()
        if found.get("version") != _VERSION:
            raise OutputError(
                f"journal {self._path} has version {found.get('version')!r}, and this library reads {_VERSION}: "
                "resume with the library that wrote it, or give another file"
            )
        for name, value in self._header.items():
            if found.get(name) != value:
                raise OutputError(
                    f"journal {self._path} is of another experiment: its {name} is {_shown(found.get(name))}, and here "
                    f"it is {_shown(value)}; give the same arguments, or another file"
                )

    def _foreign(self) -> OutputError:
        return OutputError(f"{self._path} is not a journal of bai-gym; give the path of one, or of a new file")

    def _cut(self, length: int) -> None:
        self._file.truncate(length)
        self._file.seek(length)

    def _write(self, values: Mapping[str, Any]) -> None:
        content = _line(values)
        try:
            written = 0
            while written < len(content):
                written += self._file.write(content[written:])
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(
                f"journal {self._path} cannot be written ({error.strerror}); not in it: {content.decode().strip()}"
            ) from None

    def _keep_name(self) -> None:
        """Flush the file's name to disk, too."""
        if os.name == "posix":
            folder = os.open(self._path.absolute().parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            except OSError:  # not supported by every file system
                pass
            finally:
                os.close(folder)


_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, allow_nan=False).encode() + b"\n"


def _parse(line: bytes, num_arms: int) -> Pull | None:
    """Return the pull in a line, or None if it has none."""
    try:
        values = json.loads(line)
        arm, reward, error = values["arm"], values["reward"], values.get("error")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    whole = isinstance(arm, int) and not isinstance(arm, bool) and 0 <= arm < num_arms
    number = isinstance(reward, int | float) and not isinstance(reward, bool) and abs(reward) <= sys.float_info.max
    if not (whole and number and (error is None or isinstance(error, str))):
        return None
    return Pull(arm, float(reward), error)


def _shown(value: Any) -> str:
    return repr(value) if value is not None else "not given"
