"""Locates and downloads data sets.

The data directory is ``BAI_GYM_DATA``, or else the user's cache folder; it may be read-only. Files derived from data go
to the cache directory, ``BAI_GYM_CACHE`` or else a folder ``derived`` in the user's cache folder. Nothing is downloaded
unless :func:`fetch` is called.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from bai_gym.data import registry
from bai_gym.data.registry import DataFile, DataSet
from bai_gym.errors import DataError, MissingDataError, unknown_name

__all__ = ["Status", "cache_directory", "data_directory", "fetch", "find", "require", "status"]


@dataclass(frozen=True)
class Status:
    """The state of one file of a data set on this machine.

    Attributes:
        dataset: Name of the data set.
        file: Name of the file in the data set.
        present: Whether it was found.
        path: Its path, or where it should be.
        size: Bytes, 0 where it is absent.
        published: Whether its bytes are the publisher's, by checksum; False for an absent or repacked file.
        licence: Licence or terms in a few words.
    """

    dataset: str
    file: str
    present: bool
    path: Path
    size: int
    published: bool
    licence: str


def data_directory() -> Path:
    """The folder of data sets: ``BAI_GYM_DATA`` where it is set, else the user's cache folder."""
    chosen = os.environ.get("BAI_GYM_DATA")
    return Path(chosen).expanduser() if chosen else _user_cache()


def cache_directory() -> Path:
    """The folder for files computed from data: ``BAI_GYM_CACHE`` where it is set, else in the user's cache folder."""
    chosen = os.environ.get("BAI_GYM_CACHE")
    return Path(chosen).expanduser() if chosen else _user_cache() / "derived"


def find(name: str, file: str | None = None) -> Path | None:
    """Look for a file of a data set in the data directory.

    Args:
        name: Name of the data set.
        file: Name of one of its files; None means the main one.

    Returns:
        The first of the accepted places where there is a file, or None.

    Raises:
        UnknownNameError: There is no such data set or file.
    """
    entry = _file(registry.get(name), file)
    folder = data_directory()
    return next((folder / place for place in entry.paths if (folder / place).is_file()), None)


def require(name: str, file: str | None = None) -> Path:
    """Like :func:`find`, but raises if the file is missing.

    Args:
        name: Name of the data set.
        file: Name of one of its files; None means the main one.

    Returns:
        The path of the file.

    Raises:
        UnknownNameError: There is no such data set or file.
        MissingDataError: The file is not there; the message names the expected paths and how to get it.
    """
    path = find(name, file)
    if path is None:
        dataset = registry.get(name)
        command = "" if dataset.archive is None else f"run `bai-gym data fetch {name}`, or offline "
        raise MissingDataError(
            f"data set {name!r} is not in {data_directory()}: {command}{_recipe(dataset, _file(dataset, file))}"
        )
    return path


def fetch(name: str) -> Path:
    """Download a data set into the data directory, check it, and unpack the members that are read unpacked.

    Nothing is downloaded if all files are there. The caller must show the data set's ``terms``.

    Args:
        name: Name of the data set.

    Returns:
        The path of its main file.

    Raises:
        UnknownNameError: There is no such data set.
        MissingDataError: The archive cannot be downloaded, or the data directory cannot be written. The message
            explains how to get it by hand, which is the only way if the publisher requires an account.
        DataError: The download is not the published archive: its checksum or its members differ.
    """
    dataset = registry.get(name)
    if dataset.archive is not None and any(find(name, file.name) is None for file in dataset.files):
        archive = _download(dataset)
        packed = [file for file in dataset.files if file.member is not None]
        if packed:
            _unpack(dataset, archive, packed)
            archive.unlink(missing_ok=True)
    return require(name)


def status() -> list[Status]:
    """The state of every file of every data set, by name."""
    records = []
    for name in registry.names():
        dataset = registry.get(name)
        for file in dataset.files:
            path = find(name, file.name)
            place = path or data_directory() / file.paths[0]
            size = path.stat().st_size if path else 0
            published = path is not None and _digest(path) in file.sha256
            records.append(Status(name, file.name, path is not None, place, size, published, dataset.licence))
    return records


def _user_cache() -> Path:
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("bai-gym"))


def _file(dataset: DataSet, name: str | None) -> DataFile:
    """The file of that name, or the main one."""
    if name is None:
        return dataset.files[0]
    known = {file.name: file for file in dataset.files}
    if name not in known:
        raise unknown_name(f"file of data set {dataset.name}", name, known, f"it has {', '.join(known)}")
    return known[name]


def _recipe(dataset: DataSet, file: DataFile | None = None) -> str:
    """How to get a data set without this library, as part of a sentence."""
    file = file or dataset.files[0]
    place = Path(file.paths[0])
    if dataset.archive is None:
        how = f"{dataset.by_hand} and place it in {place.parent}"
        what = f"download {place.name} from {dataset.page} {how}"
    elif file.member is None:
        what = f"put {dataset.archive_path} from {dataset.archive}"
    else:
        what = f"unpack {dataset.archive} and put {file.member} into {place.parent}"
    return f"{what} in that folder, or set BAI_GYM_DATA to a folder that has {file.paths[0]}"


def _download(dataset: DataSet) -> Path:
    """The publisher's archive in the data directory, with the right checksum."""
    import pooch

    folder = data_directory()
    try:
        place = (folder / dataset.archive_path).parent
        place.mkdir(parents=True, exist_ok=True)
        writable = os.access(place, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise MissingDataError(
            f"data set {dataset.name!r} cannot be fetched: {folder} is no folder that can be written;"
            " set BAI_GYM_DATA to one that can"
        )
    bar = _Bar(dataset.title) if sys.stderr.isatty() else None
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        return Path(
            pooch.retrieve(
                dataset.archive,
                known_hash=f"sha256:{dataset.archive_sha256}",
                fname=dataset.archive_path,
                path=folder,
                progressbar=bar or False,
            )
        )
    except OSError as error:  # base class of all network errors
        raise MissingDataError(
            f"data set {dataset.name!r} could not be downloaded to {folder} ({type(error).__name__}:"
            f" {' '.join(str(error).split())[:160]}); offline, {_recipe(dataset)}"
        ) from None
    except ValueError:
        raise DataError(
            f"what {dataset.archive} sent is not the published archive of {dataset.name} (expected sha256"
            f" {dataset.archive_sha256}); nothing was kept: try again, or {_recipe(dataset)}"
        ) from None
    finally:
        logger.setLevel(level)
        if bar is not None:
            bar.close()


class _Bar:
    """A progress bar on standard error that pooch drives: it sets ``total`` and calls the three methods."""

    total = 0  # bytes

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        columns = (TextColumn(f"fetching {title}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True))
        self._task = self._progress.add_task("", total=None)
        self._progress.start()

    def update(self, size: int) -> None:
        self._progress.update(self._task, total=self.total or None, advance=size)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.stop()


def _unpack(dataset: DataSet, archive: Path, files: list[DataFile]) -> None:
    """Unpack members of the archive atomically, after a check of their checksums."""
    for file in files:
        try:
            with zipfile.ZipFile(archive) as packed:
                content = packed.read(str(file.member))
        except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(f"{archive} has no readable {file.member} ({error}); delete it and fetch again") from None
        if file.sha256 and hashlib.sha256(content).hexdigest() not in file.sha256:
            raise DataError(f"{file.member} in {archive} is not the published file of {dataset.name}: checksum differs")
        target = data_directory() / file.paths[0]
        draft = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(content)
            os.replace(draft, target)
        except OSError as error:
            raise MissingDataError(
                f"{target} cannot be written ({error.strerror}); set BAI_GYM_DATA to a folder that can"
            ) from None
        finally:
            draft.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
