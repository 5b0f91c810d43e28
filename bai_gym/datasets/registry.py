"""The known data sets: sources, checksums, terms and citations.

Nothing of them ships with the package. ``bai_gym.datasets.locate`` finds and fetches them. (What ships is in the folder
``bundled``, see ``bai_gym.datasets.agentopt``.) A new data set is one more
entry of ``_DATASETS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bai_gym.errors import unknown_name

__all__ = ["DataFile", "DataSet", "get", "names"]


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes:
        name: Its name in this library, for example ``"ratings"``.
        paths: Accepted paths in the data directory, the preferred one first.
        member: Its name inside the archive, from which :func:`~bai_gym.datasets.fetch` unpacks it to ``paths[0]``;
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


_MOVIELENS_1M = DataSet(
    name="movielens-1m",
    title="MovieLens 1M",
    page="https://grouplens.org/datasets/movielens/1m/",
    archive="https://files.grouplens.org/datasets/movielens/ml-1m.zip",
    archive_path="ml-1m.zip",
    archive_sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
    files=(
        DataFile(
            name="ratings",
            paths=("ml-1m/ratings.dat", "ml-1m/ratings.dat.gz", "ml-1m.zip", "ratings.dat", "ratings.dat.gz"),
            sha256=(
                "506d64ca44484487c11dc2d9a28de5c54948213e6b96285e298afe28d6ea4e0f",  # ratings.dat
                "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",  # ml-1m.zip
            ),
        ),
    ),
    licence="research use only, no redistribution",
    terms=(
        "Research use only: no redistribution without separate permission, no commercial use without permission from"
        " GroupLens, no implied endorsement, and the paper must be cited."
    ),
    citation=(
        "F. M. Harper and J. A. Konstan (2015). The MovieLens Datasets: History and Context."
        " ACM Transactions on Interactive Intelligent Systems 5(4), article 19. doi:10.1145/2827872"
    ),
)

_WINE_QUALITY = DataSet(
    name="wine-quality",
    title="UCI Wine Quality",
    page="https://archive.ics.uci.edu/dataset/186/wine+quality",
    archive="https://archive.ics.uci.edu/static/public/186/wine+quality.zip",
    archive_path="wine+quality.zip",
    archive_sha256="3ed56667f4b828242bd732d7d1dd7f2861e54432239d7fa63877014cbb0304d4",
    files=(
        DataFile(
            name="red",
            paths=("wine-quality/winequality-red.csv", "winequality-red.csv"),
            member="winequality-red.csv",
            sha256=("4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",),
        ),
        DataFile(
            name="white",
            paths=("wine-quality/winequality-white.csv", "winequality-white.csv"),
            member="winequality-white.csv",
            sha256=("76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",),
        ),
    ),
    licence="CC BY 4.0",
    terms="Creative Commons Attribution 4.0: free to use and share with the citation.",
    citation=(
        "P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis (2009). Modeling wine preferences by data mining from"
        " physicochemical properties. Decision Support Systems 47(4), 547-553. Data: doi:10.24432/C56S3T"
    ),
)

_AUTOMOBILE = DataSet(
    name="automobile",
    title="UCI Automobile",
    page="https://archive.ics.uci.edu/dataset/10/automobile",
    archive="https://archive.ics.uci.edu/ml/machine-learning-databases/autos/imports-85.data",
    archive_path="automobile/imports-85.data",
    archive_sha256="125db8bd36a84801f7223faf54071d15f85f26c13a9a7aee63375ac46098fb7f",
    files=(
        DataFile(
            name="cars",
            paths=("automobile/imports-85.data", "imports-85.data"),
            sha256=("125db8bd36a84801f7223faf54071d15f85f26c13a9a7aee63375ac46098fb7f",),
        ),
    ),
    licence="CC BY 4.0",
    terms="Creative Commons Attribution 4.0: free to use and share with the citation.",
    citation="J. C. Schlimmer (1987). Automobile. UCI Machine Learning Repository. doi:10.24432/C5B01C",
)

_ELECTRIC_MOTOR = DataSet(
    name="electric-motor",
    title="Electric Motor Temperature",
    page="https://www.kaggle.com/datasets/wkirgsn/electric-motor-temperature",
    archive=None,  # Kaggle requires an account
    archive_path="electric-motor-temperature.zip",
    archive_sha256=None,
    files=(
        DataFile(
            name="measures",
            paths=(
                "electric-motor/measures_v2.csv",
                "electric-motor/measures_v2.csv.gz",
                "measures_v2.csv",
                "electric-motor-temperature.zip",
                "electric-motor/pmsm_temperature_data.csv",  # the older version, 998 thousand rows
            ),
            sha256=("78f3d150f0f2ad9c5dc7ff24dd12c00d386ad530f48c1589ad24fcd88867d3ad",),  # measures_v2.csv
        ),
    ),
    licence="CC BY-SA 4.0",
    terms=(
        "Creative Commons Attribution-ShareAlike 4.0: free to use and share with the citation; what is made of it is"
        " shared under the same licence."
    ),
    citation=(
        "W. Kirchgässner, O. Wallscheid and J. Böcker (2021). Electric Motor Temperature. Kaggle."
        " doi:10.34740/KAGGLE/DSV/2161054"
    ),
)

_LOS_LOOP = DataSet(
    name="los-loop",
    title="Los-loop",
    page="https://github.com/lehaifeng/T-GCN",
    archive=None,  # a file in a repository that may move
    archive_path="los-loop/los_speed.csv",
    archive_sha256=None,
    files=(
        DataFile(
            name="speeds",
            paths=("los-loop/los_speed.csv", "los-loop/los_speed.csv.gz", "los_speed.csv", "los_speed.csv.gz"),
            sha256=(
                "7b732d86ae32b2930595becba28aff39dacbfb2197e250fc0332e1744ce2cbf4",  # los_speed.csv
                "cd62cbd55e1c4580e9fef78b64e699e25a83fd011b786a94b67e174952341e07",  # the same, gzipped
            ),
        ),
    ),
    licence="none stated",
    terms="No licence is stated by the publisher: ask before you share it.",
    citation=(
        "L. Zhao, Y. Song, C. Zhang et al. (2020). T-GCN: A Temporal Graph Convolutional Network for Traffic"
        " Prediction. IEEE Transactions on Intelligent Transportation Systems 21(9), 3848-3858."
        " doi:10.1109/TITS.2019.2935152"
    ),
    by_hand="from its folder data",
)

_OBP = "https://raw.githubusercontent.com/st-tech/zr-obp/8cbd5fa4558b7ad2ba4781546d6604e4cc3e07c4/obd/random"


def _open_bandit(campaign: str, sha256: str) -> DataSet:
    """The log of one campaign of the Open Bandit Dataset, small version, random policy."""
    return DataSet(
        name=f"open-bandit-{campaign}",
        title=f"Open Bandit Dataset, {campaign}, items displayed at random",
        page="https://github.com/st-tech/zr-obp/tree/master/obd",
        archive=f"{_OBP}/{campaign}/{campaign}.csv",
        archive_path=f"open-bandit/{campaign}.csv",
        archive_sha256=sha256,
        files=(
            DataFile(
                name="displays",
                paths=(f"open-bandit/{campaign}.csv", f"obd/random/{campaign}/{campaign}.csv"),
                sha256=(sha256,),
            ),
        ),
        licence="Apache License 2.0 (of the repository)",
        terms="The repository that holds the data is under the Apache License 2.0; its folder of data names no other.",
        citation=(
            "Y. Saito, S. Aihara, M. Matsutani and Y. Narita (2021). Open Bandit Dataset and Pipeline: Towards"
            " Realistic and Reproducible Off-Policy Evaluation. NeurIPS Datasets and Benchmarks. arXiv:2008.07146"
        ),
    )


_OPEN_BANDIT = (
    _open_bandit("men", "ede6d08c6877f99cd3770f7d09e26c738e6aa6de4445ccccfb1356ba5d06b1eb"),
    _open_bandit("women", "e65f3bd3beb17664fa69cc129bf7bf852a775f8ffa630506e505fc905315bb34"),
)

_DATASETS: Mapping[str, DataSet] = MappingProxyType(
    {
        entry.name: entry
        for entry in (_MOVIELENS_1M, _WINE_QUALITY, _AUTOMOBILE, _ELECTRIC_MOTOR, _LOS_LOOP, *_OPEN_BANDIT)
    }
)
