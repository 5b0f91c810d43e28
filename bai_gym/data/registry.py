"""The known data sets: sources, checksums, terms and citations.

Nothing of them ships with the package. ``bai_gym.data.locate`` finds and fetches them. (What ships is in the folder
``bundled``, see ``bai_gym.datasets.agentopt``.) Wings declare them as ``data``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bai_gym.errors import unknown_name
from bai_gym.wings import References, gathered

__all__ = ["DataFile", "DataSet", "get", "names"]


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes:
        name: Its name in this library, for example ``"ratings"``.
        paths: Accepted paths in the data directory, the preferred one first.
        member: Its name inside the archive, from which :func:`~bai_gym.data.fetch` unpacks it to ``paths[0]``;
            None where the archive itself is read.
        sha256: Checksums (hexadecimal) of the published bytes, in each form that has one. Files repacked by the user
            have other checksums and are read, too.
    """

    name: str
    paths: tuple[str, ...]
    member: str | None = None
    sha256: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet:
    """A data set that is used but not shipped.

    Attributes:
        name: As typed, for example ``"movielens-1m"``.
        title: Title for display.
        page: The publisher's page.
        archive: Address of the publisher's archive, or of the only file; None if it must be downloaded by hand.
        archive_path: Its path in the data directory after fetching.
        archive_sha256: Its checksum, hexadecimal; None where it cannot be fetched.
        files: The files that are read; the first is the main one.
        licence: Licence or terms in a few words.
        terms: Conditions of use, in a sentence or two.
        citation: The citation.
        by_hand: How to get it from the page, if it cannot be fetched.
    """

    name: str
    title: str
    page: str
    archive: str | None
    archive_path: str
    archive_sha256: str | None
    files: tuple[DataFile, ...]
    licence: str
    terms: str
    citation: str
    by_hand: str = "in a browser (it wants you to sign in)"


def names() -> tuple[str, ...]:
    """Names of all data sets, sorted."""
    return tuple(sorted(_DATASETS))


def get(name: str) -> DataSet:
    """Return a data set.

    Args:
        name: One of :func:`names`.

    Returns: The data set.

    Raises:
        UnknownNameError: There is no data set of that name.
    """
    try:
        return _DATASETS[name]
    except KeyError:
        raise unknown_name("data set", name, _DATASETS, "`bai-gym data` shows all") from None


_DATASETS: Mapping[str, DataSet] = References(gathered("data"))
