"""Data sets: where they are, how they are read, and what the environments need of them.

``registry`` knows names, addresses, checksums, terms and citations; ``locate`` finds and fetches the files, none of
which ship with the package; ``ratings`` reads MovieLens formats, ``completion`` fills the matrix of ratings and keeps
it on disk, ``synthetic`` makes ratings of the same shape without any data, and ``table`` reads the user's own log.
"""

from __future__ import annotations

from bai_gym.datasets.completion import CompletedRatings, Factors, complete, completed, factorize
from bai_gym.datasets.locate import Status, cache_directory, data_directory, fetch, find, require, status
from bai_gym.datasets.ratings import Ratings, read_ratings
from bai_gym.datasets.registry import DataFile, DataSet, get, names
from bai_gym.datasets.synthetic import movielens_like
from bai_gym.datasets.table import ArmSamples, read_table

__all__ = [
    # which data sets there are
    "DataFile",
    "DataSet",
    "get",
    "names",
    # where they are
    "Status",
    "cache_directory",
    "data_directory",
    "fetch",
    "find",
    "require",
    "status",
    # ratings
    "CompletedRatings",
    "Factors",
    "Ratings",
    "complete",
    "completed",
    "factorize",
    "movielens_like",
    "read_ratings",
    # the user's own log
    "ArmSamples",
    "read_table",
]
