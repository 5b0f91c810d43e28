"""A cell: one agent on one environment with one budget, a row of a table."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.bandits import Bandit, BernoulliBandit, FeatureBandit, GaussianBandit
from bai_gym.benchmark.protocol import (
    allocates,
    confidence,
    describe,
    knowledge,
    least_budget,
    notes,
    recommends_any_time,
    reset,
    starts_from_earlier,
    suited,
    unmet_assumptions,
    uses_costs,
)
from bai_gym.benchmark.sources import AgentSource, EnvSource
from bai_gym.budget import Costs
from bai_gym.content.library import library_digest
from bai_gym.content.sources import sources_digest
from bai_gym.content.values import UnknownContentError, Values
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.errors import AgentError, BaiGymError, ParameterError
from bai_gym.parallel import check_memory
from bai_gym.problems import FixedProblem
from bai_gym.results.writer import CHUNK_RUNS, CellKey
from bai_gym.seeding import generator
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm, BestCandidate
from bai_gym.theory import bernoulli_kl, fixed_confidence_bound, linear_characteristic_time
from bai_gym.validation import choice, integer

__all__ = ["CHUNK_BYTES", "Cell", "Checkpoints", "checkpoint_grid"]

Checkpoints = int | Sequence[int] | None
"""Intermediate budgets at which recommendations are scored: a step, or a list of pull counts; None: none."""

CHUNK_BYTES = 2**28
"""Memory of a chunk, about: with many arms it has fewer runs. Fixed likewise."""

ARM_NUMBERS = 10
"""The same, without features and what a bandit keeps."""

INSTANCES = 1000  # random instances over which bounds are averaged
POINT_BYTES = 200  # of a checkpoint in a list
PATHS = ("auto", "blocks", "steps")


def linear_bound(bandit: FeatureBandit, delta: float, candidates: FloatArray | None = None) -> float | None:
    """Return kl(delta, 1 - delta) T* of the first instance of linear arms with Gaussian noise; None for others.

    Args:
        bandit: The arms.
        delta: Error probability.
        candidates: ``(m, d)`` what may be recommended; None: the arms.
    """
    x, means, variances = bandit.features[0], bandit.means[0], bandit.variances[0]
    theta = np.linalg.lstsq(x, means, rcond=None)[0]
    is_linear = np.allclose(x @ theta, means, rtol=0.0, atol=1e-9 * float(np.abs(means).max()))
    if not isinstance(bandit.inner, GaussianBandit) or not is_linear or np.ptp(variances) or not variances[0] > 0:
        return None
    time = linear_characteristic_time(x, theta, float(variances[0]), candidates=candidates).lower
    bound = float(bernoulli_kl(delta, 1.0 - delta)) * time
    return bound if delta < 0.5 and 0 < bound < np.inf else None


def checkpoint_grid(checkpoints: Checkpoints, budget: int) -> tuple[int, ...]:
    """Return the pull counts below the budget at which recommendations are scored; the budget is always one of them.

    Args:
        checkpoints: A number: its multiples. A list: its entries, in any order. None: none.
        budget: Pulls of the run.

    Raises:
        ParameterError: If one is no integer from 1 to the budget.
    """
    if checkpoints is None:
        return ()
    points: list[Any] = (
        [checkpoints] if not isinstance(checkpoints, list | tuple | range | np.ndarray) else list(checkpoints)
    )
    for point in points:
        rule = f"an integer number of pulls from 1 to the budget, {budget}, or a list of such"
        integer(point, "checkpoints", least=1, most=budget, rule=rule)
    if not points:
        raise ParameterError("checkpoints must not be an empty list; leave them out, or write 100 for every 100 pulls")
    if isinstance(checkpoints, int | np.integer):
        check_memory(budget // int(checkpoints), POINT_BYTES, "number of checkpoints", ParameterError)
        points = list(range(int(checkpoints), budget, int(checkpoints)))
    return tuple(sorted({int(point) for point in points} - {budget}))


@dataclass(frozen=True, eq=False)
class Cell:
    """One agent on one environment with one budget: a row of a table.

    Attributes:
        env: The environment.
        agent: The agent.
        label: The agent's name in the results.
        budget: Pulls per episode; money where arms have costs.
        seed: The user's seed.
        path: ``"auto"``: by blocks if the agent requests blocks, else step by step. ``"blocks"`` or ``"steps"``
            force one.
        checkpoints: Intermediate budgets, ascending, at which recommendations are scored too.
    """

    env: EnvSource
    agent: AgentSource
    label: str
    budget: Any
    seed: int
    path: str = "auto"
    checkpoints: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        env: EnvSource,
        agent: AgentSource,
        budget: Any,
        seed: int,
        path: str = "auto",
        checkpoints: Checkpoints = None,
    ) -> Cell:
        """Return the cell, labelled by the agent.

        Args:
            env: The environment.
            agent: The agent.
            budget: Pulls per episode.
            seed: The user's seed.
            path: See :class:`Cell`.
            checkpoints: See :func:`checkpoint_grid`.

        Raises:
            ParameterError: If the path does not exist, the agent cannot take it, or a checkpoint is invalid.
            AgentError: If there are checkpoints, and the agent cannot recommend at any time.
        """
        made = agent.prototype
        if not env.problem.known:
            raise ParameterError(
                f"{env.label} is a real experiment with unknown true means, so agents cannot be compared by their "
                "errors; use bai_gym.identify to find its best arm"
            )
        choice(path, PATHS, "path")
        if path == "blocks" and not allocates(made):
            raise ParameterError(f"{describe(made)} has no allocate(observation): it can only be run with path='steps'")
        points = checkpoint_grid(checkpoints, budget)
        if checkpoints is not None and env.built.episode_spec.fixed_confidence:
            raise ParameterError("checkpoints need a fixed budget, and here the agent decides when to stop")
        if checkpoints is not None and env.built.episode_spec.costs is not None:
            raise ParameterError("checkpoints count pulls, and here the budget is money: compare budgets instead")
        if checkpoints is not None and env.built.episode_spec.rounds.late:
            raise ParameterError(
                "checkpoints need every reward at once: leave out batch_size and delay, or checkpoints"
            )
        if checkpoints is not None and not recommends_any_time(made):
            raise AgentError(
                f"{describe(made)} has no recommendation before the end of its budget, which checkpoints need: leave "
                "them out, or choose an agent that can recommend at any time (anytime = True), such as Uniform"
            )
        return cls(env, agent, agent.label or describe(made), budget, seed, path, points)

    @property
    def earlier(self) -> Statistics | None:
        """``(1, K)`` statistics of earlier rewards from which the agent starts; None where there are none.

        None also if the agent cannot start from them.
        """
        return self.env.problem.earlier if starts_from_earlier(self.agent.prototype) else None

    @property
    def arm_numbers(self) -> int:
        """Floats that an arm of a run takes while its chunk is played."""
        problem = self.env.problem
        return ARM_NUMBERS + (problem.num_features or 0) + problem.state_size

    @property
    def chunk_runs(self) -> int:
        """Runs of a full chunk; they depend on the environment alone, so all agents play the same."""
        run_bytes = 8 * self.env.problem.num_arms * self.arm_numbers
        return min(CHUNK_RUNS, max(1, CHUNK_BYTES // run_bytes))

    def chunk_sizes(self, runs: int) -> list[int]:
        """Return the number of runs of each chunk."""
        return [min(self.chunk_runs, runs - start) for start in range(0, runs, self.chunk_runs)]

    @property
    def prototype(self) -> Any:
        """The agent before its reset, suited to the kind of rewards of the environment."""
        return suited(self.agent.prototype, self.env.rewards)

    def describe_agent(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the agent's oracle knowledge, and the notes about it and about the problem."""
        agent = self.prototype
        extra: tuple[str, ...] = ()
        least = least_budget(agent, self.env.problem.num_arms, self.env.problem.num_features)
        if self.episode_spec.most_pulls < least:
            extra = (f"{describe(agent)}: budget below its minimum of {least}",)
        if self.env.problem.earlier is not None and self.earlier is None:
            extra += (
                f"{describe(agent)}: it decides by the pulls of its phases and starts without the earlier results",
            )
        unmet = (
            unmet_assumptions(agent, self.instances()) if callable(getattr(agent, "unmet_assumptions", None)) else ()
        )
        return tuple(sorted(knowledge(agent))), (*notes(agent), *unmet, *extra, *self.env.problem.notes)

    @property
    def rewards(self) -> str:
        """The kind of the rewards, as text."""
        return str(self.env.rewards)

    def named_arms(self) -> tuple[tuple[str, float], ...]:
        """Return name and true mean of each arm; none if arms have no names, or no fixed means."""
        problem = self.env.problem
        if problem.arm_names is None or not isinstance(problem, FixedProblem):
            return ()
        return tuple(zip(problem.arm_names, self.instances().means[0].tolist(), strict=True))

    @property
    def delta(self) -> float | None:
        """The error probability that the agent allows itself, where it decides when to stop; None if unknown."""
        return confidence(self.agent.prototype) if self.episode_spec.fixed_confidence else None

    def lower_bound(self) -> float | None:
        """Return kl(delta, 1 - delta) T*, see :func:`bai_gym.theory.fixed_confidence_bound`; None where unknown.

        It is known for the best arm of a fixed instance of Gaussian or Bernoulli arms, and of Gaussian arms of equal
        variances whose means are linear in their features.
        """
        task = self.episode_spec.task
        if self.delta is None or not isinstance(task, BestArm | BestCandidate) or task.epsilon > 0:
            return None
        bandit = self.instances()
        if isinstance(self.env.problem, FixedProblem) and isinstance(bandit, FeatureBandit) and self.costs is None:
            return linear_bound(bandit, self.delta, task.candidates if isinstance(task, BestCandidate) else None)
        if isinstance(task, BestCandidate):
            return None
        if not isinstance(self.env.problem, FixedProblem) or not isinstance(bandit, BernoulliBandit | GaussianBandit):
            return None
        variances = bandit.variances[0] if isinstance(bandit, GaussianBandit) else None
        if variances is not None and not (variances > 0).all():
            return None
        if self.costs is not None:  # the bound is then money, and known for Gaussian arms
            if variances is None:
                return None
            variances = variances * np.array(self.costs)
        bound = float(fixed_confidence_bound(bandit.means[0], self.delta, variances))
        return bound if 0 < bound < np.inf else None

    def instances(self) -> Bandit:
        """Return the first instances of the cell, for notes, bounds and optima."""
        problem = self.env.problem
        number = 1 if isinstance(problem, FixedProblem) else min(INSTANCES, self.chunk_runs)
        return problem.draw(number, generator(self.seed, "instances", 0))

    def check(self) -> Any:
        """Fail early: reset an agent for one run, as a chunk would, and return it.

        Raises:
            BaiGymError: If the budget is too small, a parameter is invalid, or the agent reads undeclared knowledge.
        """
        rng = generator(self.seed, "check")
        self.episode_spec.funds.check_agent(self.label, uses_costs(self.agent.prototype))
        with self.named_in_errors():
            agent = self.agent.make()
            bandit = self.env.problem.draw(1, rng)
            reset(agent, self.episode_spec.problem_info(bandit, knowledge(agent), self.checkpoints), rng)
        return agent

    @contextlib.contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Name the agent in errors of its code, and in errors for lack of memory."""
        where = f"{self.label} on {self.env.label} with budget {self.budget}"
        try:
            yield
        except BaiGymError:
            raise
        except MemoryError:
            raise ParameterError(
                f"there is not enough memory for {where}, of which {self.chunk_runs} runs are played at once; use "
                "fewer arms, runs or workers"
            ) from None
        except Exception as error:
            error.add_note(f"raised while {where} was played")
            raise

    @property
    def episode_spec(self) -> EpisodeSpec:
        """The specification of the episodes, with the budget of the cell: in pulls, where all cost the same."""
        return replace(self.env.built.episode_spec, budget=self.budget).in_pulls()

    @property
    def budget_name(self) -> int | str:
        """The budget in the names of random streams: pulls, where all cost the same."""
        budget = self.episode_spec.budget
        return budget if isinstance(budget, int) else repr(budget)

    @property
    def costs(self) -> Costs | None:
        """Costs of the arms, in the unit of the budget; None: the budget counts pulls."""
        return self.env.built.episode_spec.costs

    def ends_at_cap(self, pulls: IntArray) -> npt.NDArray[np.bool_]:
        """Return whether ``(R, K)`` pulls have used up the budget: no more is left than the largest cost."""
        return self.episode_spec.funds.is_used_up(pulls)

    @property
    def key(self) -> CellKey:
        """What identifies the cell in a folder of results."""
        return CellKey(
            agent=self.label,
            env=self.env.label,
            budget=self.budget,
            checkpoints=self.checkpoints,
            chunk_runs=self.chunk_runs,
            fingerprint=self.fingerprint,
        )

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hash of everything that the outcome depends on."""
        own_rules = repr(self.env.built.episode_spec)  # with the environment's budget, as in stored chunks
        facts = [self.digest, self.budget, self.seed, self.path, self.chunk_runs, own_rules, *self.checkpoints]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """Hash of code, parameters and data, independent of the budget and the checkpoints.

        It starts with ``"?"`` where the code cannot be known, see :attr:`doubt`.
        """
        return self._content[0]

    @property
    def doubt(self) -> str | None:
        """The reason why two runs cannot be known to have the same code and data; None: equal digests say so."""
        return self._content[1]

    @functools.cached_property
    def _content(self) -> tuple[str, str | None]:
        facts, doubt = [library_digest(), self.env.label, self.label], None
        try:
            values = Values()
            facts.append(values.digest(self.agent.make, self.agent.prototype, self.env.problem))
            if values.has_own_code:
                files = values.files if self.agent.file is None else {*values.files, self.agent.file}
                facts.append(sources_digest(files))
        except UnknownContentError as error:
            doubt = str(error)
        digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
        return f"?{digest}" if doubt else digest, doubt
