"""Published matrices of scores: the best of the models, agents or algorithms that were all given the same items."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bai_gym.bandits import FiniteBandit, FinitePopulations, SampleTable
from bai_gym.data import ScoreMatrix
from bai_gym.datasets.agentopt import llm_agents
from bai_gym.datasets.alpaca_eval import PREFERENCES, read_alpaca_eval
from bai_gym.datasets.aslib import PENALTY, RUNTIMES, read_aslib
from bai_gym.datasets.item_response import item_response_scores
from bai_gym.datasets.problems.scores import ScoresProblem
from bai_gym.errors import ParameterError
from bai_gym.problems.base import FixedProblem, Problem
from bai_gym.validation import flag

__all__ = ["alpaca_eval_problem", "aslib_problem", "llm_agents_problem", "matrix_problem"]

SYNTHETIC = "no path was given: these are synthetic scores of {} that do not exist"
ALPACA_MODELS, ALPACA_ITEMS = 221, 805
SOLVERS, INSTANCES = 8, 200
DEMO_SEED = 1


def matrix_problem(
    matrix: ScoreMatrix,
    num_arms: int | None = None,
    missing: str = "items",
    notes: tuple[str, ...] = (),
    paired: bool = False,
) -> Problem:
    """Return the problem of finding the arm with the largest mean; a pull reads a score of it that was not yet read.

    Args:
        matrix: The scores.
        num_arms: None: all arms, in every episode. K: every episode draws K of them, see :class:`ScoresProblem`.
        missing: What is done about missing cells, a key of :data:`bai_gym.data.MISSING`.
        notes: Further sentences for every report.
        paired: Whether all arms read the items in the same random order, see
            :class:`bai_gym.paired.PairedFiniteBandit`.

    Raises:
        ParameterError: An unknown value of ``missing``.
        DataError: Too few arms or items are left.
        InstanceError: Fewer than two arms.
    """
    used, notes = matrix.complete(missing), (*notes, *matrix.notes(missing))
    if num_arms is not None:
        return ScoresProblem(used.scores, num_arms, notes=notes, paired=paired, kind=used.rewards)
    best, (arms, items) = used.best(), used.scores.shape
    if len(best) > 1:
        notes = (*notes, f"{len(best)} arms have the largest mean, and each of them is correct: {'; '.join(best)}")
    if flag(paired, "paired"):
        from bai_gym.paired.problems import paired_problem  # of a wing

        return paired_problem(used, missing, notes)
    table = SampleTable.of(used.scores.reshape(-1), np.arange(arms + 1) * items, used.rewards)
    populations = FinitePopulations.of(table)
    return FixedProblem(FiniteBandit(populations, np.arange(arms)[None, :]), notes, used.names)


def llm_agents_problem(
    data: str = "gpqa",
    num_arms: int | None = None,
    missing: str = "items",
    paired: bool = False,
    cells: bool = False,
) -> Problem:
    """Return the problem of finding the configuration of a language-model agent that answers most questions.

    The scores are those of real runs, and ship with the package; :func:`bai_gym.datasets.llm_agents` returns them with
    the price of a question for each configuration. A pull asks a question that the arm has not been asked before; after
    all of them its mean is exact, and it starts again, see :class:`bai_gym.bandits.FiniteBandit`. Where two arms have
    the same largest mean, as three do on `bfcl`, each of them is correct.

    Scores are missing by the model that answers, not at random, and on `mathqa` what is done about them decides which
    arm is best: two pairs that Claude Opus 4.6 answers with complete rows, a pair of Claude Haiku 4.5 with the others.
    Every report says so.

    These are scores of those runs, and no statement about products. An earlier dump of the source has other accuracies
    on `gpqa` (0.803 for the best, not 0.747), probably because calls that failed were scored 0 in one of the two.

    Args:
        data: ``"gpqa"`` (9 models, 198 questions), ``"bfcl"`` (9, 200), ``"hotpotqa"`` (81 pairs of a planner and a
            solver, 200) or ``"mathqa"`` (81 pairs of a model that answers and a critic, 200).
        num_arms: None: all configurations, in every episode. K: every episode draws K of them.
        missing: What is done about missing scores. ``"items"``: questions that some configuration has no score for are
            left out (190 questions of `hotpotqa` and 135 of `mathqa` remain). ``"arms"``: configurations without a
            score for some question are left out (68 and 18 remain). ``"zero"``: a missing score counts as 0.
        paired: Whether the j-th pull of every arm is on the same question.
        cells: Whether agents choose the questions: arms are cells, and a row is sought, see
            :mod:`bai_gym.paired.cells`.

    Raises:
        ParameterError: Unknown data, an unknown value of ``missing``, or ``cells`` with ``num_arms`` or ``paired``.
        DataError: More arms than there are.
        InstanceError: Fewer than two arms.

    Source: AgentOpt (https://github.com/AgentOptimizer/agentopt, Apache License 2.0), scores at commit eb1983e, prices
    at commit 4659265.
    """
    if flag(cells, "cells"):
        from bai_gym.paired.cells import cells_problem  # of a wing

        if paired or num_arms is not None:
            raise ParameterError(
                "with cells=True all agents play, in no order of questions: leave out num_arms, paired"
            )
        return cells_problem(llm_agents(data), missing)
    return matrix_problem(llm_agents(data), num_arms, missing, paired=paired)


def alpaca_eval_problem(
    path: str | Path | None = None, num_arms: int | None = 32, missing: str = "items", paired: bool = False
) -> Problem:
    """Return the problem of finding the model whose outputs a judge prefers most often to those of a reference model.

    A score is 1 plus the probability, by the judge, that the output of the model is better. A pull compares the outputs
    for an instruction that the arm has not been compared on before, see :class:`bai_gym.bandits.FiniteBandit`. The
    scores of 221 models on 805 instructions (at commit cd543a1) are read from your clone of the repository of
    AlpacaEval, which takes some ten seconds. They say what this judge prefers.

    Args:
        path: The clone, or its folder ``results``, see :func:`bai_gym.datasets.read_alpaca_eval`. None: synthetic
            scores, 1 or 2, of 221 models and 805 instructions.
        num_arms: K: every episode draws K of the models. None: all models, in every episode.
        missing: What is done about missing scores: instructions (``"items"``) or models (``"arms"``) with some are left
            out. 0 is no possible score.
        paired: Whether the j-th pull of every arm is on the same instruction.

    Raises:
        MissingDataError: There are no such files.
        ParameterError: An unknown value of ``missing``.
        DataError: The files cannot be used, or there are fewer models than arms.
        InstanceError: Fewer than two arms.

    Source: Dubois et al. (2024), "Length-Controlled AlpacaEval: A Simple Way to Debias Automatic Evaluators" (arXiv
    2404.04475); data: https://github.com/tatsu-lab/alpaca_eval, Apache License 2.0.
    """
    if path is not None:
        return matrix_problem(read_alpaca_eval(path), num_arms, missing, paired=paired)
    scores = 1.0 + item_response_scores(ALPACA_MODELS, ALPACA_ITEMS, DEMO_SEED)
    matrix = ScoreMatrix(tuple(f"model {number}" for number in range(ALPACA_MODELS)), scores, PREFERENCES)
    return matrix_problem(matrix, num_arms, missing, (SYNTHETIC.format("models"),), paired)


def aslib_problem(
    path: str | Path | None = None, num_arms: int | None = None, missing: str = "items", paired: bool = False
) -> Problem:
    """Return the problem of finding the algorithm that does best on average over the instances of a scenario of ASlib.

    A pull runs an algorithm on an instance that it has not been run on before, see
    :class:`bai_gym.bandits.FiniteBandit`. Where the scenario measures runtimes, a reward is minus PAR10 in units of the
    cut-off time: minus the runtime, or -10 for a run that fails. Else it is the quality of the solution.

    Args:
        path: The folder of a scenario, see :func:`bai_gym.datasets.read_aslib`. None: synthetic runtimes of 8 solvers
            on 200 instances.
        num_arms: None: all algorithms, in every episode. K: every episode draws K of them.
        missing: What is done about missing scores: instances (``"items"``) or algorithms (``"arms"``) with some are
            left out, or they count as 0 (``"zero"``).
        paired: Whether the j-th pull of every arm is on the same instance.

    Raises:
        MissingDataError: There is no such scenario.
        ParameterError: An unknown value of ``missing``.
        DataError: The scenario cannot be used, or has fewer algorithms than arms.
        InstanceError: Fewer than two arms.

    Source: Bischl et al. (2016), "ASlib: A Benchmark Library for Algorithm Selection"; data:
    https://github.com/coseal/aslib_data, GNU General Public License 3.
    """
    if path is not None:
        return matrix_problem(read_aslib(path), num_arms, missing, paired=paired)
    rng = np.random.default_rng(DEMO_SEED)
    hardness, solvers = rng.normal(-3.0, 2.0, INSTANCES), np.linspace(0.0, 1.0, SOLVERS)[:, None]
    runtimes = np.exp(hardness + solvers + rng.normal(0.0, 1.0, (SOLVERS, INSTANCES)))  # in cut-off times
    scores = np.where(runtimes <= 1.0, -runtimes, -PENALTY)
    matrix = ScoreMatrix(tuple(f"solver {letter}" for letter in "ABCDEFGH"), scores, RUNTIMES)
    return matrix_problem(matrix, num_arms, missing, (SYNTHETIC.format("solvers"),), paired)
