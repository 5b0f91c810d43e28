"""Data files and tables: the user's own, and known data sets.

``registry`` knows names, addresses, checksums, terms and citations of data sets; ``locate`` finds and fetches the
files, none of which ship with the package. ``csv_file`` reads columns of CSV files: for a user's log (``table``), and
for tables of features (``columns``). ``matrix`` is a matrix of scores with missing cells.
"""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.data.columns import FeatureTable
    from bai_gym.data.locate import cache_directory, data_directory, fetch, find, require, status
    from bai_gym.data.matrix import MISSING, ScoreMatrix
    from bai_gym.data.registry import DataFile, DataSet, get, names
    from bai_gym.data.table import ArmSamples, read_names, read_scores, read_table

__all__ = [
    "ArmSamples",
    "DataFile",
    "DataSet",
    "FeatureTable",
    "MISSING",
    "ScoreMatrix",
    "cache_directory",
    "data_directory",
    "fetch",
    "find",
    "get",
    "names",
    "read_names",
    "read_scores",
    "read_table",
    "require",
    "status",
]

__getattr__, __dir__ = lazily(__name__)
