"""Comparisons: results of several agents on the same instances, with paired tests between any two of them."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.analysis.intervals import check_level
from bai_gym.analysis.paired import PairedTest, compare_paired
from bai_gym.analysis.pulls import PairedPulls, compare_pulls
from bai_gym.errors import MissingPackageError, ParameterError, UnknownNameError, unknown_name
from bai_gym.results.layout import Table
from bai_gym.results.pairs import Pair, pairs_table
from bai_gym.results.paper import paper_table
from bai_gym.results.result import Checkpoint, Outcomes, Result, Runs
from bai_gym.results.rows import to_arrow
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Comparison", "Picture", "PullsAgainst", "Rival", "against_fewest"]


@dataclass(frozen=True, slots=True)
class Rival:
    """A paired comparison of a reference agent with another one, on one environment with one budget.

    Attributes:
        agent: Name of the other agent.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode, over all arms.
        test: The reference is its agent A, the other agent B: differences below 0 favour the reference.
    """

    agent: str
    env: str
    budget: int
    test: PairedTest


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure that a notebook shows.

    Attributes:
        svg: The figure as SVG.
    """

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        """Show it in a notebook."""
        return self.svg


@dataclass(frozen=True, eq=False)
class Comparison(Sequence[Result]):
    """Results of several agents (and budgets, and checkpoints) on the same instances: a sequence of :class:`Result`.

    Attributes:
        results: In the order in which agents and budgets were given.
        outcomes: The runs behind them, by (agent, env, budget). Methods that need those of a result raise
            :class:`bai_gym.errors.ParameterError` where they are missing.
    """

    results: tuple[Result, ...]
    outcomes: Outcomes = field(repr=False)

    @property
    def final(self) -> tuple[Result, ...]:
        """The results at the end of the runs, all of them where there are no checkpoints."""
        return tuple(result for result in self.results if result.at_end)

    @override
    def __getitem__(self, index: int) -> Result:  # type: ignore[override]
        """Return one result."""
        return self.results[index]

    @override
    def __len__(self) -> int:
        """Return the number of results."""
        return len(self.results)

    @override
    def __str__(self) -> str:
        """The tables that the command line prints, with their notes, as text."""
        return str(import_module("bai_gym.report.tables").text(self))  # by name, because tables are a layer above

    def find(
        self, agent: str, budget: int | None = None, env: str | None = None, checkpoint: int | None = None
    ) -> Result:
        """Return the result of an agent.

        Args:
            agent: Its name in the results.
            budget: Needed where there are several.
            env: Needed where there are several.
            checkpoint: Intermediate budget; None: the end of the runs.

        Raises:
            UnknownNameError: If there is no such result.
            ParameterError: If there are several.
        """
        matches = [
            result
            for result in (self.final if checkpoint is None else self.results)
            if result.agent == agent
            and budget in (None, result.budget)
            and env in (None, result.env)
            and checkpoint in (None, result.checkpoint)
        ]
        if not matches:
            known = dict.fromkeys(result.agent for result in self.results)
            cells = sorted({(result.env, result.budget) for result in self.results})
            there = ", ".join(f"{env} with budget {pulls}" for env, pulls in cells)
            if agent in known and checkpoint is not None:
                points = sorted({result.checkpoint for result in self.results if result.checkpoint is not None})
                text = ", ".join(map(str, points[:20])) + (", ..." if len(points) > 20 else "")
                raise UnknownNameError(f"no result of {agent} after {checkpoint} pulls; there are: {text or 'none'}")
            if agent in known:
                asked = f"{env or 'any environment'} with {'any budget' if budget is None else f'budget {budget}'}"
                raise UnknownNameError(f"no result of {agent} on {asked}; there are: {there}")
            raise unknown_name("result", agent, known, f"agents compared: {', '.join(known)}; on {there}")
        if len(matches) > 1:
            raise ParameterError(f"there are {len(matches)} results of {agent}: say which budget (and env) is meant")
        return matches[0]

    def paired(
        self,
        agent_a: str,
        agent_b: str,
        budget: int | None = None,
        env: str | None = None,
        level: float = 0.95,
        checkpoint: int | None = None,
    ) -> PairedTest:
        """Compare two agents run by run, on their common instances.

        Args:
            agent_a: Name of the first agent in the results.
            agent_b: Name of the second agent.
            budget: Needed where there are several.
            env: Needed where there are several.
            level: Confidence level of the interval, in (0, 1).
            checkpoint: Intermediate budget; None: the end of the runs.

        Returns:
            The difference of the error probabilities, first minus second, with interval and exact p-value.
        """
        a, b = (self.outcome(self.find(agent, budget, env, checkpoint)) for agent in (agent_a, agent_b))
        return replace(compare_paired(~a.correct, ~b.correct, level), agents=(agent_a, agent_b))

    def regrets(
        self, agent: str, budget: int | None = None, env: str | None = None, checkpoint: int | None = None
    ) -> FloatArray:
        """Return the simple regret of each run of an agent, ``(R,)``; the arguments are those of :meth:`find`.

        Two agents had the same instance in runs of the same number.
        """
        return self.outcome(self.find(agent, budget, env, checkpoint)).simple_regret

    def pulls(self, agent: str, budget: int | None = None, env: str | None = None) -> IntArray:
        """Return the number of pulls of each run of an agent, ``(R,)``; the arguments are those of :meth:`find`.

        Runs that reach the cap of an environment of fixed confidence count with it.
        """
        return self._runs(self.find(agent, budget, env)).spent

    def paired_pulls(
        self, agent_a: str, agent_b: str, budget: int | None = None, env: str | None = None, level: float = 0.95
    ) -> PairedPulls:
        """Compare the numbers of pulls of two agents run by run, on their common instances.

        Args:
            agent_a: Name of the first agent in the results.
            agent_b: Name of the second agent.
            budget: Needed where there are several.
            env: Needed where there are several.
            level: Confidence level of the interval, in (0, 1).

        Returns:
            The difference of the mean numbers of pulls, first minus second, with interval and p-value.
        """
        test = compare_pulls(self.pulls(agent_a, budget, env), self.pulls(agent_b, budget, env), level)
        return replace(test, agents=(agent_a, agent_b))

    def to_pandas(self) -> Any:
        """Return the results as a pandas data frame, a row for each, with the columns of ``results.parquet``.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        try:
            return to_arrow(self.results).to_pandas()
        except ImportError as error:
            raise MissingPackageError("to_pandas() needs pandas; pip install pandas") from error

    def to_latex(
        self,
        measure: str = "error_probability",
        level: float = 0.95,
        *,
        intervals: bool = True,
        digits: int | None = None,
        grouped: bool = False,
        names: Mapping[str, str] | None = None,
    ) -> str:
        r"""Return the table of a paper: agents as rows, environments and budgets as columns, the best in bold.

        In bold is also every agent that is not significantly worse than the best one on the same instances, by paired
        tests at joint level ``level`` in each column. The preamble needs ``\usepackage{booktabs}``.

        Args:
            measure: ``"error_probability"``, or ``"pulls"`` for agents that decide when to stop.
            level: In (0, 1).
            intervals: Whether to show intervals or standard errors.
            digits: Decimals of all numbers; None: as many as the uncertainty leaves.
            grouped: Whether the budgets of an environment have a common heading.
            names: Names to show in place of those of agents and environments: ``{"BAI-Gaussian64-v0": "Gaussian"}``.

        Raises:
            ParameterError: If there is no such measure, or a parameter is out of range.
        """
        options: dict[str, Any] = {"intervals": intervals, "digits": digits, "grouped": grouped, "names": names}
        return paper_table(self.final, self.outcomes, measure, level, **options).latex()

    def to_markdown(
        self,
        measure: str = "error_probability",
        level: float = 0.95,
        *,
        intervals: bool = True,
        digits: int | None = None,
        names: Mapping[str, str] | None = None,
    ) -> str:
        """Return the same table as :meth:`to_latex` in Markdown."""
        options: dict[str, Any] = {"intervals": intervals, "digits": digits, "names": names}
        return paper_table(self.final, self.outcomes, measure, level, **options).markdown()

    def _repr_html_(self) -> str:
        """Show the same table in a notebook."""
        if any((row.agent, row.env, row.budget) not in self.outcomes for row in self.final):
            return f"<pre>{html.escape(str(self))}</pre>"
        return paper_table(self.final, self.outcomes).html()

    def pairs(self, level: float = 0.95) -> Table[Pair]:
        """Return the table of all paired tests: every two agents on each environment with each budget.

        It is shown in notebooks, printed as Markdown, and has ``latex()`` and ``csv()``; its ``rows`` are the tests.

        Args:
            level: Confidence level of each interval, in (0, 1).

        Raises:
            ParameterError: If the level is out of range.
        """
        check_level(level)
        return pairs_table(self.final, self.outcomes, level)

    def plot(self, path: str | Path | None = None, *, env: str | None = None, **options: Any) -> Path | Picture:
        """Draw error probabilities with their intervals, against the budget, the checkpoint or the number of arms.

        Args:
            path: The file to write: ``.png``, ``.svg`` or ``.pdf``, or ``.*`` for all three. None: none is written, and
                a notebook shows the picture.
            env: Needed where there are several environments, unless each has another number of arms and one budget.
            **options: See :func:`bai_gym.report.error_curves`.

        Returns:
            The path of the file, or the picture.

        Raises:
            ParameterError: If there are several environments, and several budgets or checkpoints of one; or an option
                is invalid.
            MissingPackageError: If matplotlib is not installed.
        """
        rows = [row for row in self.results if env in (None, row.env)]
        if not rows:
            raise unknown_name("environment", str(env), {row.env for row in self.results}, "see the results")
        inside = any(row.checkpoint is not None for row in rows)
        several = len({row.env for row in rows}) > 1
        if several and len({(row.env, row.budget, row.checkpoint) for row in rows}) > len({row.env for row in rows}):
            raise ParameterError("there are several budgets or checkpoints on several environments; give one, env=")
        defaults = {"x": "num_arms" if several else "checkpoint" if inside else "budget", "chance": None, "log": True}
        draw = import_module("bai_gym.report.figures").error_curves  # by name, because figures are a layer above
        options = {**defaults, **options}
        if path is not None:
            return Path(draw(rows, path, **options))
        with tempfile.TemporaryDirectory() as folder:
            return Picture(draw(rows, Path(folder) / "figure.svg", **options).read_text(encoding="utf-8"))

    def recommendations(self, agent: str, budget: int | None = None, env: str | None = None) -> IntArray:
        """Return the final recommendation of an agent in each run, ``(R, ...)``, in the form of the task.

        The arguments are those of :meth:`find`.
        """
        return self._runs(self.find(agent, budget, env)).recommendation

    def outcome(self, result: Result) -> Runs | Checkpoint:
        """Return the single runs behind a result."""
        runs = self._runs(result)
        if result.at_end:
            return runs
        return next(point for point in runs.checkpoints if point.pulls_made == result.checkpoint)

    def _runs(self, result: Result) -> Runs:
        key = result.agent, result.env, result.budget
        if key not in self.outcomes:
            raise ParameterError(f"the single runs of {result.agent} on {result.env} are not known, only their counts")
        return self.outcomes[key]

    def against(self, reference: str, level: float = 0.95) -> list[Rival]:
        """Compare an agent run by run with each other agent on the same settings, at the end of the runs.

        Args:
            reference: Name of the agent in the results.
            level: Confidence level of each interval, in (0, 1).

        Returns:
            One paired comparison for each result of another agent, in the order of the results.

        Raises:
            UnknownNameError: If that agent has not played where another one has.
        """
        return [
            Rival(r.agent, r.env, r.budget, self.paired(reference, r.agent, r.budget, r.env, level))
            for r in self.final
            if r.agent != reference
        ]


@dataclass(frozen=True, slots=True)
class PullsAgainst:
    """An agent's pulls against those of the agent that needs the fewest, on one environment with one cap.

    Attributes:
        agent: Name of the agent, A of the test.
        reference: Name of the agent with the fewest pulls on average, B of the test.
        env: Id of the environment, with the keyword arguments given.
        budget: The cap.
        test: The comparison.
    """

    agent: str
    reference: str
    env: str
    budget: int
    test: PairedPulls


def against_fewest(
    pulls: Mapping[tuple[str, str, int], Sequence[int] | IntArray], level: float = 0.95
) -> list[PullsAgainst]:
    """Compare each agent that decides when to stop with the one that needs the fewest pulls.

    Args:
        pulls: ``(R,)`` pulls of each run, by (agent, env, budget). Environments where no number varies, as with a fixed
            budget, are left out, and agents with another number of runs than the reference.
        level: Confidence level of each interval.

    Returns:
        The comparisons, by environment and budget in order of appearance; those of one by the difference.
    """
    settings: dict[tuple[str, int], dict[str, IntArray]] = {}
    for (agent, env, budget), values in pulls.items():
        settings.setdefault((env, budget), {})[agent] = np.asarray(values)
    comparisons = []
    for (env, budget), agents in settings.items():
        if not any(np.ptp(values) for values in agents.values()):
            continue
        reference = min(agents, key=lambda agent: (agents[agent].mean(), agent))
        rows = [
            PullsAgainst(agent, reference, env, budget, compare_pulls(values, agents[reference], level))
            for agent, values in agents.items()
            if agent != reference and values.size == agents[reference].size
        ]
        comparisons += sorted(rows, key=lambda row: row.test.difference)
    return comparisons
