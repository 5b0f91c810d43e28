"""The data sets behind correlated arms: sources, checksums, terms and citations."""

from __future__ import annotations

from bai_gym.data.registry import DataFile, DataSet

__all__ = ["LOS_LOOP", "WINE_QUALITY"]

WINE_QUALITY = DataSet(
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

LOS_LOOP = DataSet(
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
