"""Data sets: their files, readers, and the data that environments need.

``registry`` knows names, addresses, checksums, terms and citations; ``locate`` finds and fetches the files, none of
which ship with the package. ``ratings`` reads MovieLens formats, ``completion`` fills the matrix of ratings and keeps
it on disk, and ``synthetic`` makes ratings of the same shape without any data. ``csv_file`` reads columns of CSV files:
for a user's log (``table``), for tables of features (``columns``: ``automobile`` and ``motor``), and for regression
tables (``regression``). ``signals`` reads matrices time x sensors, and makes synthetic ones. ``item_response`` makes
matrices of models x questions. ``matrix`` is a matrix of scores with missing cells: those of ``agentopt`` ship with the
package, in the folder ``bundled``, while ``alpaca_eval`` and ``aslib`` read a user's copy. A name is loaded when it is
first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.correlated.data.regression import REGRESSION_TABLES, RegressionTable, regression_table
    from bai_gym.correlated.data.signals import Signals, read_signals, traffic_like
    from bai_gym.data.columns import FeatureTable
    from bai_gym.data.locate import Status, cache_directory, data_directory, fetch, find, require, status
    from bai_gym.data.matrix import MISSING, ScoreMatrix
    from bai_gym.data.registry import DataFile, DataSet, get, names
    from bai_gym.data.table import ArmSamples, read_scores, read_table
    from bai_gym.datasets.agentopt import LLM_AGENTS, llm_agents
    from bai_gym.datasets.alpaca_eval import PREFERENCES, read_alpaca_eval
    from bai_gym.datasets.aslib import PENALTY, RUNTIMES, read_aslib
    from bai_gym.datasets.automobile import PRICE, automobile_like, read_automobile
    from bai_gym.datasets.completion import CompletedRatings, Factors, complete, completed, factorize
    from bai_gym.datasets.item_response import item_response_scores
    from bai_gym.datasets.motor import MOTOR_TARGETS, read_motor
    from bai_gym.datasets.ratings import Ratings, read_ratings
    from bai_gym.datasets.synthetic import movielens_like

__all__ = [
    # known data sets
    "DataFile",
    "DataSet",
    "get",
    "names",
    # files
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
    # rows with features
    "MOTOR_TARGETS",
    "PRICE",
    "FeatureTable",
    "automobile_like",
    "read_automobile",
    "read_motor",
    # tables for regression
    "REGRESSION_TABLES",
    "RegressionTable",
    "regression_table",
    # signals of sensors
    "Signals",
    "read_signals",
    "traffic_like",
    # synthetic scores of models on questions
    "item_response_scores",
    # published scores of arms on items
    "LLM_AGENTS",
    "MISSING",
    "PENALTY",
    "PREFERENCES",
    "RUNTIMES",
    "ScoreMatrix",
    "llm_agents",
    "read_alpaca_eval",
    "read_aslib",
    # the user's own log, or matrix of scores
    "ArmSamples",
    "read_scores",
    "read_table",
]

__getattr__, __dir__ = lazily(__name__)
