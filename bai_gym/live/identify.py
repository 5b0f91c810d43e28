"""Best-arm identification on user functions."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bai_gym.api import agent_source
from bai_gym.bandits.executor import Executor
from bai_gym.bandits.linear import check_features
from bai_gym.benchmark.protocol import allocates, describe, knowledge, notes, reset
from bai_gym.envs.actions import ActionEncoding
from bai_gym.envs.specification import check_budget
from bai_gym.errors import AgentError, BudgetError, InstanceError, OutputError, PullError
from bai_gym.live.evidence import Identification, Pull
from bai_gym.live.journal import Journal
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Stepper
from bai_gym.seeding import check_seed, generator
from bai_gym.statistics import FloatArray, Observation, Statistics
from bai_gym.tasks import BestArm

__all__ = ["identify"]

_OWN = frozenset({"prior"})  # knowledge in the agent's parameters, which users provide

_PARAMETERS = {
    "complexity": "a",
    "range": "b",
    "variances": "noise_variance",
}  # agent parameters that replace that knowledge


def identify(
    pull: Callable[..., Any] | Sequence[Callable[..., Any]],
    num_arms: int | None = None,
    budget: int | None = None,
    agent: Any = "SR",
    *,
    seed: int = 0,
    features: object = None,
    timeout: float | None = None,
    on_error: str = "raise",
    retries: int | None = None,
    worst: float | None = None,
    run_in: str = "auto",
    journal: str | os.PathLike[str] | None = None,
) -> Identification:
    """Find the best of several alternatives by a fixed number of noisy experiments.

    The alternatives are the arms 0 to K-1. An agent decides which of them to try next, given the rewards so far, and
    finally recommends the one that is best on average. Larger rewards are better: for a cost, return its negative.

    With a timeout, pulls run in a worker process, which is killed when time is up. It has copies of the functions and
    of what they refer to (sent by cloudpickle): changes they make to variables do not come back, and what they print
    goes to standard error. Functions that cannot be sent run in a thread, and a warning says so: a pull that takes too
    long is then abandoned, but continues in the background.

    Args:
        pull: The experiment: a function of the arm that returns its reward, a finite number; or a list of functions
            without arguments, one for each arm. A parameter named ``rng`` receives a NumPy generator, so that
            simulations are reproducible.
        num_arms: K, at least 2; may be left out with a list.
        budget: Pulls over all arms, at least 1.
        agent: A name (``"SR"``, ``"SHAdaVar(delta=0.1)"``), a class or an instance, as for :func:`bai_gym.evaluate`;
            `bai-gym list agents` shows all. Default: successive rejects, which requires no oracle knowledge and has no
            parameters. Agents that require oracle knowledge (true variances, complexity) are rejected; a prior is
            allowed, as a parameter of the agent.
        seed: Seed of the agent and of ``rng``, at least 0.
        features: ``(K, d)`` numbers that describe the arms, for agents that use them.
        timeout: Time limit of a pull in seconds, above 0; None: no limit.
        on_error: What happens when a pull raises, takes too long, or returns no finite number. ``"raise"`` (default):
            the experiment ends with an error. ``"retry"``: the pull is made again, up to ``retries`` times; then
            ``worst`` counts, if it is given, else the experiment ends with an error. ``"worst"``: ``worst`` counts as
            its reward.
        retries: For ``on_error="retry"``, at least 1; None: 3.
        worst: A reward that is worse than any real one.
        run_in: ``"auto"`` (default, see above), or always ``"here"``, in a ``"thread"``, or in a ``"process"``, which
            also survives functions that crash.
        journal: A file that keeps every observation, as JSON lines, each safely on the disk before the next pull. The
            same call resumes one that failed or was killed: no pull in the journal is repeated, and the result is that
            of an uninterrupted experiment, if the functions are deterministic or draw from ``rng``.

    Returns:
        The recommended arm with its evidence.

    Raises:
        PullError: A pull has failed, and ``on_error`` requires an error. Its cause is the original error, and its
            ``log`` has the pulls before it.
        OutputError: The journal cannot be written, or is of another experiment.
        BudgetError: The agent needs a larger budget.
        AgentError: The agent needs knowledge or features that are missing, or makes an impossible request.
        ParameterError: Another argument is invalid.
    """
    if budget is None:
        raise BudgetError("budget is missing: give the total number of pulls over all arms")
    budget, seed = check_budget(budget), check_seed(seed)
    player = agent_source(agent).make()
    declared = _check_knowledge(player)
    executor = Executor(pull, num_arms, timeout=timeout, on_error=on_error, retries=retries, worst=worst, run_in=run_in)
    with executor, contextlib.ExitStack() as stack:
        known = _features(features, executor.num_arms)
        info = ProblemInfo(executor.num_arms, budget, knows=declared)
        info.features = known
        reset(player, info, generator(seed, "agent"))
        kept = None
        if journal is not None:
            facts = {
                "agent": describe(player),
                "num_arms": executor.num_arms,
                "budget": budget,
                "seed": seed,
                "features": None if known is None else hashlib.sha256(known.tobytes()).hexdigest()[:16],
            }
            kept = stack.enter_context(Journal(journal, facts, executor.num_arms))
        experiment = _Experiment(executor, budget, seed, known, kept)
        try:
            recommendation = (_play_allocator if allocates(player) else _play_actor)(player, experiment)
        except PullError as error:
            error.log = tuple(experiment.log)
            raise
    found = Identification.of(
        recommendation, experiment.log, executor.num_arms, agent=describe(player), budget=budget, seed=seed
    )
    capped: tuple[str, ...] = ()
    if getattr(player, "stops", False) and len(experiment.log) == budget:
        capped = (f"{describe(player)} was stopped by the budget of {budget} pulls: its confidence was not reached",)
    prior = (f"{describe(player)} uses a prior, given by its parameters",) if declared else ()
    return dataclasses.replace(found, notes=(*found.notes, *capped, *notes(player), *prior))


class _Experiment:
    """The observation of the agent; pulls in the journal come first."""

    def __init__(
        self, executor: Executor, budget: int, seed: int, features: FloatArray | None, journal: Journal | None
    ) -> None:
        self.num_arms = executor.num_arms
        self.left = budget
        self.log: list[Pull] = []
        self._puller = executor
        self._seed = seed
        self._features = features
        self._journal = journal
        self._replayed = journal.pulls if journal is not None else []
        self._statistics = Statistics.zeros((1, self.num_arms))

    def observation(self) -> Observation:
        """Return the observation of one episode, ``(K,)``, as copies."""
        statistics = self._statistics
        seen: dict[str, Any] = {
            "pulls": statistics.pulls[0].copy(),
            "means": statistics.means[0].copy(),
            "variances": statistics.variances[0].copy(),
            "remaining": np.array([self.left]),
        }
        return seen if self._features is None else {**seen, "features": self._features[0]}

    def pull(self, arm: int) -> None:
        """Pull an arm, or read its reward from the journal."""
        number = len(self.log) + 1
        if len(self._replayed) >= number:
            made = self._replayed[number - 1]
            if made.arm != arm:
                raise OutputError(
                    f"pull {number} in the journal is of arm {made.arm}, and the agent now asks for arm {arm}: the "
                    "journal is of another experiment or another version of the agent; give another file"
                )
        else:
            outcome = self._puller.pull(arm, (self._seed, "pull", number), f"pull {number}")
            made = Pull(arm, outcome.reward, outcome.error)
            if self._journal is not None:
                self._journal.append(made)
        self.log.append(made)
        self._statistics.add(arm, made.reward)
        self.left -= 1


def _play_allocator(agent: Any, experiment: _Experiment) -> int:
    """Run an agent that requests blocks, until it makes no more requests."""
    stepper = Stepper(agent, ActionEncoding(experiment.num_arms, BestArm(), fixed_confidence=False))
    while experiment.left > 0:
        arm = stepper.act(experiment.observation())
        if stepper.stopped:
            break
        experiment.pull(int(arm))
    if experiment.left == 0:  # so that the agent observes the last pull
        return int(stepper.act(experiment.observation()))
    return int(stepper.recommendation[0])


def _play_actor(agent: Any, experiment: _Experiment) -> int:
    """Run an agent that only has ``act``."""
    encoding = ActionEncoding(experiment.num_arms, BestArm(), fixed_confidence=False)

    def act() -> int:
        action = agent.act(experiment.observation())
        try:
            return int(encoding.read(np.asarray(action)[None], 1).arms[0])
        except ValueError:  # ParameterError is one
            raise AgentError(f"act must return {encoding.words()}, not {' '.join(repr(action).split())[:80]}") from None

    while experiment.left > 0:
        experiment.pull(act())
    return act()


def _check_knowledge(agent: Any) -> frozenset[str]:
    """Return the oracle knowledge that the agent's parameters provide.

    Raises:
        AgentError: If it requires more.
    """
    wanted = knowledge(agent)
    secret = sorted(wanted - _OWN)
    if secret:
        ways = [name for word, name in _PARAMETERS.items() if word in secret and getattr(agent, name, False) is None]
        way = f"give it {' and '.join(f'{name}=...' for name in ways)}, or take" if len(ways) == len(secret) else "take"
        raise AgentError(
            f"{describe(agent)} requires oracle knowledge, unknown in a real experiment: {', '.join(secret)}; {way} an "
            "agent that requires none, such as SR, SH or A-UGapEb (`bai-gym list agents`)"
        )
    return wanted & _OWN


def _features(features: object, num_arms: int) -> FloatArray | None:
    """Return the features as ``(1, K, d)``, read-only.

    Raises:
        InstanceError: If they are not finite numbers of that shape.
    """
    if features is None:
        return None
    matrices = check_features(features, num_arms)
    if len(matrices) != 1:
        raise InstanceError("features are given for several instances, and there is one: give them as shape (K, d)")
    return matrices
