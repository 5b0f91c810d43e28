"""The data sets behind environments of real data: sources, checksums, terms and citations.

Apart from their readers, since a listing needs no reader.
"""

from __future__ import annotations

from bai_gym.data.registry import DataFile, DataSet

__all__ = ["AUTOMOBILE", "ELECTRIC_MOTOR", "MOVIELENS_1M", "OPEN_BANDIT_MEN", "OPEN_BANDIT_WOMEN"]

MOVIELENS_1M = DataSet(
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

AUTOMOBILE = DataSet(
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

ELECTRIC_MOTOR = DataSet(
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


OPEN_BANDIT_MEN = _open_bandit("men", "ede6d08c6877f99cd3770f7d09e26c738e6aa6de4445ccccfb1356ba5d06b1eb")
OPEN_BANDIT_WOMEN = _open_bandit("women", "e65f3bd3beb17664fa69cc129bf7bf852a775f8ffa630506e505fc905315bb34")
