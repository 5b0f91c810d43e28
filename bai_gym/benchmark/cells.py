"""A cell: one agent on one environment with one budget, a row of a table."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bai_gym.adapters import Checkpoints, checkpoints_of
from bai_gym.bandits import Bandit
from bai_gym.benchmark.identity import digest_of, hash_of
from bai_gym.benchmark.protocol import Traits, confidence, describe, knowledge, reset, suited
from bai_gym.benchmark.sources import AgentSource, EnvSource
from bai_gym.common.budget import Costs
from bai_gym.common.seeding import generator
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.errors import BaiGymError, ParameterError
from bai_gym.problems import FixedProblem, ProblemInfo
from bai_gym.problems.numbering import Numbering
from bai_gym.results.writer import CHUNK_RUNS, CellKey
from bai_gym.statistics import Statistics
from bai_gym.validation import choice

__all__ = ["CHUNK_BYTES", "Cell"]

CHUNK_BYTES = 2**28
"""Memory of a chunk, about: with many arms it has fewer runs. Another number would be other random numbers."""

ARM_NUMBERS = 10
"""Floats that an arm of a run takes, without its features and what a bandit keeps of it."""

INSTANCES = 1000  # random instances over which bounds are averaged
PATHS = ("auto", "blocks", "steps")


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

    @functools.cached_property
    def traits(self) -> Traits:
        """What the agent can do."""
        return Traits.of(self.agent.prototype)

    @functools.cached_property
    def in_steps(self) -> bool:
        """Whether episodes are played pull by pull through the environments, not by blocks."""
        return self.path == "steps" or not self.traits.allocates

    @functools.cached_property
    def episode_spec(self) -> EpisodeSpec:
        """The specification of the episodes, with the budget of the cell: in pulls, where all cost the same."""
        return replace(self.env.episode_spec, budget=self.budget, least_budget=None).in_pulls()

    @property
    def budget_name(self) -> int | str:
        """The budget in the names of random streams: pulls, where all cost the same."""
        budget = self.episode_spec.budget
        return budget if isinstance(budget, int) else repr(budget)

    @property
    def costs(self) -> Costs | None:
        """Costs of the arms, in the unit of the budget; None: the budget counts pulls."""
        return self.env.episode_spec.costs

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
            checkpoints: See :func:`bai_gym.adapters.checkpoints.checkpoint_grid`.

        Raises:
            ParameterError: If the path does not exist, the agent cannot take it, or a checkpoint is invalid.
            AgentError: If there are checkpoints, and the agent cannot recommend at any time.
        """
        prototype = agent.prototype
        if not env.problem.known:
            raise ParameterError(
                f"{env.label} is a real experiment with unknown true means, so agents cannot be compared by their "
                "errors; `identify` finds its best arm"
            )
        choice(path, PATHS, "path")
        traits = Traits.of(prototype)
        if path == "blocks" and not traits.allocates:
            raise ParameterError(
                f"{describe(prototype)} has no allocate(observation): it can only be run with path='steps'"
            )
        points = checkpoints_of(checkpoints, budget, env.episode_spec, describe(prototype), anytime=traits.any_time)
        return cls(env, agent, agent.label or describe(prototype), budget, seed, path, points)

    @property
    def start(self) -> Statistics:
        """``(1, K)`` statistics from which the agent starts: those of rewards observed before, if it can use them."""
        problem = self.env.problem
        return problem.start if self.traits.starts_from_earlier else Statistics.zeros((1, problem.num_arms))

    def chunk_sizes(self, runs: int) -> list[int]:
        """Return the number of runs of each chunk."""
        chunks, rest = divmod(runs, self.chunk_runs)
        return [self.chunk_runs] * chunks + [rest] * (rest > 0)

    @property
    def prototype(self) -> Any:
        """The agent before its reset, suited to the kind of rewards of the environment."""
        return suited(self.agent.prototype, self.env.rewards)

    @property
    def delta(self) -> float | None:
        """The error probability that the agent allows itself, where it decides when to stop; None if unknown."""
        return confidence(self.agent.prototype) if self.episode_spec.fixed_confidence else None

    def numbering(self, chunk: int, runs: int) -> Numbering | None:
        """Return how the runs of a chunk number their arms, the same for all agents; None: as the problem lists them.

        That is also how agents that are known to treat all arms alike are played: it makes no difference, and is
        faster.
        """
        if self.agent.alike:
            return None
        rng = generator(self.seed, "numbering", chunk)
        return self.episode_spec.number(self.env.problem, runs, rng)

    def info_for(self, agent: Any, bandit: Bandit, numbering: Numbering | None = None) -> ProblemInfo:
        """Return what the agent is told at its reset about some instances, with their arms numbered already."""
        info = self.episode_spec.problem_info(bandit, knowledge(agent), numbering, self.env.problem.arm_names)
        info.checkpoints = self.checkpoints
        return info

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
        with self.named_in_errors():
            agent = self.agent.make()
            bandit = self.env.problem.draw(1, rng)
            numbering = None if self.agent.alike else self.episode_spec.number(self.env.problem, 1, rng)
            bandit = bandit if numbering is None else numbering.arrange(bandit)
            reset(agent, self.info_for(agent, bandit, numbering), rng)
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
        own_rules = repr(self.env.episode_spec)  # with the environment's budget, as in stored chunks
        facts = [self.digest, self.budget, self.seed, self.path, self.chunk_runs, own_rules, *self.checkpoints]
        return hash_of(facts)

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
        return digest_of(self.env, self.agent, self.label)
