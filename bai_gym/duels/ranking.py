"""``bai-gym rank``: what a log of battles says about the strengths of those who fought, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy import special, stats

from bai_gym.cli.console import OUT
from bai_gym.duels.problems import counted
from bai_gym.duels.strengths import differences, fitted, reductions
from bai_gym.duels.tasks import pairs
from bai_gym.errors import DataError
from bai_gym.results.layout import Column, Table
from bai_gym.statistics import FloatArray

__all__ = ["Ranked", "Ranking", "rank", "ranked", "ranking"]

DRAWS = 20_000  # of strengths, from a fixed seed
QUANTILE = 1.959964
MISFIT = 0.01  # p-value


@dataclass(frozen=True)
class Ranked:
    """An item.

    Attributes:
        name: Its name.
        strength: Its strength, that of an average item being 0: the logarithm of the odds against such an item.
        half: Half the width of the 95 % interval of the strength.
        duels: Its duels.
        wins: How many of them it has won, a tie counting half.
        best: The probability that it is the strongest.
        loss: The expected value of how far its chance in its hardest duel falls below 1/2.
    """

    name: str
    strength: float
    half: float
    duels: int
    wins: float
    best: float
    loss: float


@dataclass(frozen=True)
class Ranking:
    """What a log of battles says.

    Attributes:
        items: The strongest first.
        next_duel: Names of the two whose duel says most about the strongest and its closest rival.
        misfit: The p-value of the hypothesis that all chances follow from strengths.
    """

    items: tuple[Ranked, ...]
    next_duel: tuple[str, str]
    misfit: float

    def sentences(self) -> tuple[str, ...]:
        """Return the decision, what a wrong one costs, and what to do next."""
        first, second = self.items[:2]
        found = [
            f"{first.name} is the strongest with probability {first.best:.3f}; {second.name} with {second.best:.3f}.",
            f"To take {first.name} now loses {first.loss:.2g} of the chance in a duel, on average.",
            "The next duel that says most is {} against {}.".format(*self.next_duel),
        ]
        if self.misfit < MISFIT:
            found.append(
                f"The outcomes do not follow from strengths (p = {self.misfit:.2g}): who beats whom is no ranking, and "
                "the intervals are too short."
            )
        return tuple(found)


def ranking(
    battles: str | PathLike[str] | Mapping[str, Iterable[Any]],
    first_column: str = "model_a",
    second_column: str = "model_b",
    winner_column: str = "winner",
) -> Ranking:
    """Return what a log of battles says, by the model of Bradley and Terry (:func:`bai_gym.duels.strengths.fitted`).

    Args:
        battles: A CSV or Parquet file or a data frame with a row for each battle.
        first_column: The column that names one side.
        second_column: The column that names the other side.
        winner_column: Who won: the name of a column above or of a side, or that it was a tie.

    Raises:
        BaiGymError: The log cannot be used, or has fewer than three sides.
    """
    return ranked(*counted(battles, first_column, second_column, winner_column))


def ranked(names: Sequence[str], wins: FloatArray, ties: FloatArray) -> Ranking:
    """Return what duels of n sides say.

    Args:
        names: Their names.
        wins: ``(n, n)`` how often the side of a row has won against that of a column.
        ties: The same, symmetric, of ties.

    Raises:
        DataError: If there are fewer than three sides.
    """
    if len(names) < 3:
        raise DataError(f"a ranking is of three or more sides, and the log has {len(names)}")
    left, right = pairs(len(names))
    met, won = wins + wins.T + ties, wins + 0.5 * ties
    duels = met[left, right]
    shares = won[left, right] / np.maximum(duels, 1.0)
    centre, covariance = (array[0] for array in fitted(duels[None], shares[None]))
    drawn = np.random.default_rng(0).multivariate_normal(centre, covariance, DRAWS, method="cholesky")
    best = np.bincount(drawn.argmax(axis=1), minlength=len(names)) / DRAWS
    losses = (special.expit(drawn.max(axis=1, keepdims=True) - drawn) - 0.5).mean(axis=0)
    order = np.argsort(-centre, kind="stable")
    about = np.eye(len(names)) - 1.0 / len(names)  # differences from the average item
    half = QUANTILE * np.sqrt(np.diagonal(about @ covariance @ about))
    strengths = about @ centre
    rival = max(order[1:].tolist(), key=lambda item: best[item])
    told = int(reductions(centre[None], covariance[None], order[:1], np.array([rival])).argmax())
    p = special.expit(differences(len(names)) @ centre)
    deviance = 2 * duels * (special.rel_entr(shares, p) + special.rel_entr(1 - shares, 1 - p))
    freedom = np.count_nonzero(duels) - len(names) + 1
    rows = (
        Ranked(
            names[item],
            float(strengths[item]),
            float(half[item]),
            int(met[item].sum()),
            float(won[item].sum()),
            float(best[item]),
            float(losses[item]),
        )
        for item in order.tolist()
    )
    misfit = float(stats.chi2.sf(deviance.sum(), freedom)) if freedom > 0 else 1.0
    return Ranking(tuple(rows), (names[left[told]], names[right[told]]), misfit)


def rank(
    log: Annotated[Path, typer.Argument(help="A CSV or Parquet file with one row per battle.")],
    first: Annotated[str, typer.Option(help="The column that names one side.")] = "model_a",
    second: Annotated[str, typer.Option(help="The column that names the other side.")] = "model_b",
    winner: Annotated[
        str, typer.Option(help="The column that says who won: a side, or a column above, or tie.")
    ] = "winner",
) -> None:
    """Rank the sides of a log of battles, and say how sure that is."""
    found = ranking(log, first, second, winner)
    for sentence in found.sentences():
        OUT.print(sentence)
    columns = [
        Column[Ranked]("side", lambda row: row.name, False),
        Column[Ranked]("strength [95 %]", lambda row: f"{row.strength:+.2f} ± {row.half:.2f}"),
        Column[Ranked]("battles", lambda row: f"{row.duels:,}"),
        Column[Ranked]("won", lambda row: f"{row.wins / row.duels:.3f}"),
        Column[Ranked]("probability of being the strongest", lambda row: f"{row.best:.3f}"),
    ]
    OUT.print(Table(found.items, columns, {}).rich())
