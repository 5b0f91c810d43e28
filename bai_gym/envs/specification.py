"""The episode specification, set by keyword arguments of an environment."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.common.budget import Budget, Costs, check_budget, check_costs
from bai_gym.envs.views import View
from bai_gym.errors import ParameterError, UnknownKeywordError
from bai_gym.problems import Problem, ProblemInfo, build
from bai_gym.problems.numbering import Numbering
from bai_gym.tasks import Task, make_task
from bai_gym.validation import choice, flag, integer, real

__all__ = ["KEYWORDS", "EpisodeSpec", "RewardKind", "make_episode", "make_problem"]

RewardKind = Literal["correct", "simple_regret", "estimate", "progress"]
"""Reward of the last step: 1 or 0 for a correct or wrong recommendation, minus the simple regret, or the mean of the
rewards of the recommended arms, which needs no true means; "progress" is "correct" with a potential."""


@dataclass(frozen=True)
class EpisodeSpec(View):
    """The specification of an episode, with its view; :meth:`of` makes one of the keywords of an environment.

    Attributes:
        budget: Pulls of an episode, or money where arms have costs; with fixed confidence the cap at which it is
            truncated.
        task: What is to be recommended.
        reward: Kind of the last reward.
        fixed_confidence: Whether the agent decides when to stop.
        pull_cost: Cost of a pull, with fixed confidence; where arms have costs, it multiplies them.
        costs: Costs of a pull of each arm, in the unit of the budget; None: the budget counts pulls.
        shuffle: Whether each episode numbers its arms at random, see :mod:`bai_gym.problems.numbering`.
        rotate: Whether each episode rotates the features of its arms.
        least_budget: Where the budget of each episode is drawn: the smallest one, ``budget`` being the largest.
    """

    budget: Any
    task: Task
    reward: RewardKind
    fixed_confidence: bool = False
    pull_cost: float = 0.0
    costs: Costs | None = None
    shuffle: bool = True
    rotate: bool = True
    least_budget: int | None = None

    def draw_budget(self, given: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the budget of new episodes: the given one, or ``(size, 1)`` drawn ones, or that of all episodes."""
        if given is not None or self.least_budget is None:
            return self.budget if given is None else given
        return rng.integers(self.least_budget, self.budget, (size, 1), endpoint=True)

    def given_budget(self, options: dict[str, Any] | None, *others: str) -> int | None:
        """Return the budget that the options of ``reset`` name, if any.

        Raises:
            ParameterError: If there are options that are neither this one nor ``others``, or it is out of its range.
        """
        allowed = (*others, *(("budget",) if self.least_budget is not None else ()))
        if options is not None and not isinstance(options, dict):
            raise ParameterError(
                f"options must be a dict with {' or '.join(allowed) or 'nothing'}, or None, not {options!r}"
            )
        for name in options or {}:
            if name not in allowed:
                raise ParameterError(f"reset has no option {name!r}; it has {', '.join(map(repr, allowed)) or 'none'}")
        if not options or "budget" not in options:
            return None
        rule = f"an integer from {self.least_budget} to {self.budget}"
        return integer(options["budget"], "budget", least=self.least_budget, most=self.budget, rule=rule)

    @property
    def most_pulls(self) -> int:
        """The largest number of pulls that an episode can have."""
        return self.funds.most_pulls

    @property
    def funds(self) -> Budget:
        """The budget, of pulls or of money, as an object that is asked what it pays for."""
        return Budget.of(self.budget, self.costs)

    @property
    def tells_arms_apart(self) -> bool:
        """Whether agents are told of costs or candidates, which each episode has in an order of its own."""
        return self.costs is not None or self.task.answer == "candidate"

    @property
    def may_stop(self) -> bool:
        """Whether an action can end the episode: with fixed confidence, and where arms have costs."""
        return self.fixed_confidence or self.funds.may_remain

    def in_pulls(self) -> EpisodeSpec:
        """Return the same with a budget of pulls, where all pulls cost the same; else this one."""
        funds = self.funds.in_pulls()
        if funds.costs == self.costs:
            return self
        return replace(self, budget=funds.total, pull_cost=self.pull_cost * self.funds.price(0), costs=None)

    def number(self, problem: Problem, batch: int, rng: np.random.Generator) -> Numbering | None:
        """Return how new episodes of a problem number their arms; None: as the problem lists them."""
        return problem.number(self.task, batch, rng, shuffle=self.shuffle, rotate=self.rotate)

    @classmethod
    def of(
        cls,
        problem: Problem,
        budget: float | tuple[int, int] = 1000,
        reward: str = "correct",
        task: Task | str = "best-arm",
        *,
        m: int | None = None,
        num_bandits: int | None = None,
        epsilon: float | None = None,
        threshold: float | None = None,
        fixed_confidence: bool = False,
        pull_cost: float = 0.0,
        costs: Mapping[str, float] | Iterable[float] | None = None,
        pairs: bool = False,
        batch_size: int = 1,
        delay: int = 0,
        observation: str = "statistics",
        shuffle: bool = True,
        rotate: bool = True,
    ) -> EpisodeSpec:
        """Return the specification of the episodes of a problem: the keywords of all environments, checked.

        Args:
            problem: The problem.
            budget: Pulls of an episode, at least 1, or money, which pays for a pull of any arm. A pair, such as
                ``(10, 40)``: the budget of each episode is drawn, from the first to the second.
            reward: Of the recommendation. ``"correct"``: 1 or 0. ``"simple_regret"``: minus it. ``"estimate"``: the
                mean of the rewards of the recommended arms, which needs no true means. ``"progress"``: as
                ``"correct"``, with a potential that rewards every step.
            task: ``"best-arm"``, ``"top-m"``, ``"best-of-each"``, ``"thresholding"``, ``"good-arm"``, ``"all-within"``,
                the name of one that a wing declares, or a task.
            m: Arms to find, at least 1; of ``"top-m"``.
            num_bandits: Bandits that share the arms, at least 1; of ``"best-of-each"``.
            epsilon: Largest simple regret of a correct recommendation, at least 0; None: 0. Of ``"all-within"`` how
                much worse than the best one an arm may be.
            threshold: Border of the means; of ``"thresholding"`` and ``"good-arm"``.
            fixed_confidence: Whether the agent decides when an episode stops; the budget is then a cap.
            pull_cost: What a pull takes from the return, at least 0, with fixed confidence (times the arm's cost).
            costs: K positive numbers, in order or by the names of the arms; the budget is then money. None: those of
                the problem, if it has any.
            pairs: Whether differences on common items are observed, of paired arms.
            batch_size: Pulls of a round, at least 1, at whose end rewards arrive.
            delay: Rounds by which they arrive later, at least 0.
            observation: ``"statistics"``, or ``"scaled"``: a flat vector of bounded numbers, for networks.
            shuffle: Whether each episode numbers its arms at random, so that nothing can be learned from the number of
                an arm. False: all episodes number them as the problem lists them, for demonstrations. Functions of
                unknown means are never shuffled.
            rotate: Whether each episode multiplies the features of all arms, and the unknown parameter, by a random
                orthogonal matrix, so that nothing can be learned from the features before the first pull but from
                their inner products. False: features stay as they are.

        Raises:
            BaiGymError: If one is invalid; the message is one line.
        """
        choice(reward, get_args(RewardKind), "reward")
        pull_cost = real(pull_cost, "pull_cost", least=0)
        fixed_confidence = flag(fixed_confidence, "fixed_confidence")
        if pull_cost and not fixed_confidence:
            raise ParameterError("pull_cost needs fixed_confidence=True: a fixed budget is spent in any case")
        num_arms = problem.num_arms
        made = make_task(task, num_arms=num_arms, m=m, num_bandits=num_bandits, epsilon=epsilon, threshold=threshold)
        if problem.task is not None:
            made = problem.task.in_place_of(made)
        elif made.answer != "arm":
            raise ParameterError(f"the task {made.name!r} is about {made.answer}s, and here are none: leave task= out")
        if reward == "estimate" and made.answer != "arm":
            raise ParameterError(
                f"reward='estimate' is the mean of an arm, and {made.answer}s need not be arms: leave it out"
            )
        checked = check_costs(problem.costs if costs is None else costs, num_arms, problem.arm_names)
        least, budget = budget if isinstance(budget, tuple | list) and len(budget) == 2 else (None, budget)
        limit = check_budget(budget, checked)
        if least is not None and (checked or batch_size != 1 or delay):
            raise ParameterError("a budget that is drawn is one of pulls: leave out costs, batch_size and delay")
        least = least if least is None else integer(least, "the smallest budget", least=1, most=limit)
        view = View.checked(problem, checked, pairs=pairs, batch_size=batch_size, delay=delay, observation=observation)
        view["progress"] = reward == "progress"
        if not problem.known and reward != "estimate":
            raise ParameterError(
                f"reward={reward!r} needs the true means, which are unknown in a real experiment: leave "
                "reward out, or give reward='estimate'"
            )
        shuffle, rotate = flag(shuffle, "shuffle"), flag(rotate, "rotate")
        kind = cast(RewardKind, reward)
        return cls(limit, made, kind, fixed_confidence, pull_cost, checked, shuffle, rotate, least, **view)

    def problem_info(
        self,
        bandit: Bandit,
        knows: Iterable[str] = (),
        numbering: Numbering | None = None,
        arm_names: tuple[str, ...] | None = None,
    ) -> ProblemInfo:
        """Return what agents receive before they play the given instances.

        Args:
            bandit: The instances, one for each episode.
            knows: Knowledge to grant from them, elements of ``bai_gym.problems.KNOWLEDGE``.
            numbering: How the episodes number their arms; None: as the problem lists them.
            arm_names: Names of the arms, as the problem lists them.

        Raises:
            ParameterError: If there are several episodes, each with costs or candidates in an order of its own.
        """
        costs, task = self.costs, self.task
        if bandit.batch > 1:
            arm_names = None
            if numbering is not None and self.tells_arms_apart:
                raise ParameterError(
                    "each episode of this batch has its costs or candidates in another order, so that no agent can be "
                    "told them for all: play one episode at a time, or make the batch with shuffle=False, rotate=False"
                )
        elif numbering is not None:
            arm_names, costs = numbering.of_one(arm_names), numbering.of_one(costs)
            task = numbering.task_of_one(task)
        return ProblemInfo(
            bandit.num_arms,
            self.budget,
            bandit.batch,
            task=task,
            fixed_confidence=self.fixed_confidence,
            truth=bandit,
            knows=knows,
            costs=costs,
            rounds=self.rounds,
            arm_names=arm_names,
            shuffled=numbering is not None and self.shuffle,
        )


KEYWORDS = tuple(inspect.signature(EpisodeSpec.of).parameters)[1:]
"""The keywords of an episode."""


def make_problem(problem: Problem | str, keywords: dict[str, Any], others: Iterable[str]) -> Problem:
    """Return a problem, built from the name of its family if necessary.

    Args:
        problem: The name, or a problem.
        keywords: Keywords of the family.
        others: Keywords that the caller has taken, for the error for an unknown one.

    Raises:
        UnknownNameError: If there is no such family.
        ParameterError: Neither a name nor a problem, unknown keywords, or values outside their range.
    """
    if isinstance(problem, str):
        return build(problem, others, **keywords)
    if not isinstance(problem, Problem):
        raise ParameterError(f"problem must be the name of a family or a Problem, not a {type(problem).__name__}")
    if keywords:
        raise UnknownKeywordError(
            f"unexpected keyword argument {next(iter(keywords))!r} cannot be given with a problem object"
        )
    return problem


def make_episode(
    problem: Problem | str,
    spec: EpisodeSpec | float | None,
    keywords: dict[str, Any],
    others: Iterable[str],
    *,
    plain: bool = True,
) -> tuple[Problem, EpisodeSpec]:
    """Return problem and specification of the keywords of an environment.

    Args:
        problem: The name of a family, or a problem.
        spec: The specification, or the budget if it was given by position.
        keywords: Keywords of the episode (:data:`KEYWORDS`) and of the family.
        others: Keywords of the environment itself, for the error for an unknown one.
        plain: Whether nothing will wrap the environment: keywords that need it are then refused.

    Raises:
        BaiGymError: If one is invalid, or there are others with a specification; the message is one line.
    """
    episode = {word: keywords[word] for word in KEYWORDS if word in keywords}
    rest = {word: value for word, value in keywords.items() if word not in episode}
    made = make_problem(problem, rest, (*KEYWORDS, *others))
    if isinstance(spec, EpisodeSpec):
        if episode:
            raise ParameterError(f"{next(iter(episode))!r} cannot be given with a specification of the episode")
        spec.task.check_arms(made.num_arms)
        return made, spec
    checked = EpisodeSpec.of(made, *(() if spec is None else (spec,)), **episode)
    if plain:
        checked.check_plain()
    return made, checked
