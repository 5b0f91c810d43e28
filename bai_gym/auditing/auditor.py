"""Audits a stopping rule: searches instances on which it errs, certifies them on fresh seeds, and simplifies the worst.

An audit can refute the promise that the error probability is at most delta. It cannot prove it: a rule that is not
refuted may fail on instances that were not searched, or after more pulls than the cap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from bai_gym.auditing.certificate import Certificate, certify
from bai_gym.auditing.claims import BoundPlayer
from bai_gym.auditing.families import CLASSES, Goal
from bai_gym.auditing.players import AgentPlayer, Audited, audited
from bai_gym.auditing.result import Audit, looks_within, script_of
from bai_gym.auditing.rounds import Rounds
from bai_gym.auditing.search import Plan, finalists
from bai_gym.auditing.simplify import Simplest, simplify
from bai_gym.common.progress import progress_bars
from bai_gym.common.seeding import check_seed
from bai_gym.content.library import library_digest
from bai_gym.errors import ParameterError
from bai_gym.parallel import Workers
from bai_gym.validation import choice, flag, integer, probability, real

__all__ = ["audit", "repeat"]

SIMPLE_RUNS = 5000  # fresh runs of each try of a simpler counterexample


def audit(
    rule: Any,
    *,
    delta: float | None = None,
    rewards: str | None = None,
    cap: int = 10_000,
    looks: int | str | None = None,
    arms: Iterable[int] | None = None,
    epsilon: float | None = None,
    sigma: float = 1.0,
    arrays: bool = False,
    intervals: bool = False,
    bound: Any = None,
    plan: Plan | None = None,
    seed: int = 0,
    workers: Workers = 1,
    out: str | Path | None = None,
    progress: bool | None = None,
) -> Audit:
    """Search for instances on which a stopping rule errs more often than it promises.

    An error is a run that stops before the cap and recommends an arm whose mean is below the best one by more than
    epsilon. Rules are shown round-robin pulls; agents choose their own. An agent with a fixed budget is audited by a
    bound of its error probability: on each instance it has the smallest budget for which that is at most delta. Agents
    that compare arms on common items are played on such items.

    Args:
        rule: A name of :data:`bai_gym.auditing.GALLERY` (``"gk16-plugin"``), an agent that stops
            (``"T3C(threshold='gk16')"``, a class or an instance) or has a bound (``"SH"``), or a function
            ``f(statistics, delta)`` that returns None, or the arm that it recommends, by itself or as ``"FILE.py:f"``.
            Its statistics are :class:`bai_gym.auditing.Looks`, with arrays ``pulls``, ``means`` and ``variances`` of
            shape ``(K,)``.
        delta: Error probability that it promises. None (default): the agent's own, or 0.05.
        rewards: Class of rewards: ``"bernoulli"``, ``"bounded"`` (in [0, 1]), ``"gaussian"`` (standard deviations of at
            most sigma), or ``"subgaussian"`` (these, and rewards in [0, 2 sigma]). None (default): that of the
            gallery's rule or of the bound, else ``"bounded"``.
        cap: Largest number of pulls of a run.
        looks: Pulls from one look to the next, each at the end of a round of all arms; or ``"geometric"``. None
            (default): the plan of the gallery's rule; ``"geometric"`` for a function of one run, which is slow; else
            every round. Agents look after every pull.
        arms: Smallest and largest number of arms. None (default): 2 and 20; two for a gallery's rule of two arms.
        epsilon: Largest gap of a recommendation that is no error. None (default): the agent's own, or 0.
        sigma: See ``rewards``.
        arrays: Whether a function takes the statistics of many runs at once, arrays of shape ``(..., K)`` that
            broadcast, and returns ``(...)`` arms, -1 where it goes on. Such functions are a thousand times faster.
        intervals: Whether a function returns confidence intervals in place of an arm: two arrays ``(..., K)``, the
            lower and upper ends, from arrays as above. An error is a run in which an interval misses the mean of its
            arm at any look.
        bound: Of an agent with a fixed budget, what is audited in place of its bound in :mod:`bai_gym.theory`: a
            function of ``(1, K)`` means and variances and of the budget, or ``"FILE.py:NAME"``, that returns an upper
            bound of the error probability, or NaN where it says nothing.
        plan: Sizes of the search; None: 512 instances, and 20,000 runs of each of five finalists.
        seed: At least 0. The same seed gives the same result, for any number of workers.
        workers: Processes, or an executor, see :func:`bai_gym.evaluate`.
        out: Folder for the results and finished rounds of the search: the same call resumes an interrupted one.
        progress: Whether to show it; None: in terminals and notebooks.

    Returns:
        The verdict, ``"refuted"`` or ``"not refuted"``, with the instances that it rests on.

    Raises:
        BaiGymError: If an argument is invalid; the message is one line.
    """
    level = None if delta is None else probability(delta, "delta")
    known = audited(rule, level, arrays=flag(arrays, "arrays"), intervals=flag(intervals, "intervals"), bound=bound)
    goal = _goal(known, rewards, arms, known.epsilon if epsilon is None else epsilon, sigma)
    integer(cap, "cap", least=goal.arms[0])
    if isinstance(looks, str):
        choice(looks, ("geometric",), "looks")
    elif looks is not None:
        integer(looks, "looks", least=1, most=cap)
    elif known.entry is not None and known.entry.num_looks:
        looks = max(1, cap // known.entry.num_looks)
    chosen: int | str = known.looks if looks is None else looks
    check_seed(seed)
    sizes = plan or Plan()
    player = known.make(cap, chosen)
    if looks is not None and isinstance(player, AgentPlayer | BoundPlayer):
        raise ParameterError("looks are for rules that are shown round-robin pulls; an agent looks after every pull")
    settings = {
        "rule": known.name,
        "code": known.digest,
        "library": library_digest(),
        "delta": known.delta,
        "goal": asdict(goal),
        "cap": cap,
        "looks": chosen,
        "plan": asdict(sizes),
        "seed": seed,
    }
    rounds = Rounds(settings, None if out is None else Path(out))
    with progress_bars(progress) as on_stage:
        accepts = player.covers if isinstance(player, BoundPlayer) else lambda instance: True
        found = finalists(player, goal, sizes, seed, workers, rounds.recall, on_stage, accepts)
        instances = [candidate.instance for candidate in found]
        stage = f"fresh runs of {len(instances)} instances"

        def fresh() -> list[Any]:
            made = certify(
                player,
                instances,
                goal.epsilon,
                sizes.certified,
                seed,
                ("audit", "certify"),
                len(instances),
                workers,
                partial(on_stage, stage),
            )
            return [asdict(certificate) for certificate in made]

        certificates = [Certificate.restored(each) for each in rounds.recall("fresh runs", fresh)]
        certificates.sort(key=lambda certificate: -certificate.bound)

        def simpler() -> list[Any]:
            on_stage("a simpler counterexample", 0, None)
            runs = min(sizes.certified, SIMPLE_RUNS)
            found = simplify(
                lambda smaller: known.make(smaller, looks_within(chosen, smaller)),
                certificates[0],
                goal,
                known.delta,
                cap,
                runs,
                seed,
                workers,
            )
            return [asdict(found.certificate), found.cap]

        simplest = None
        if certificates[0].bound > known.delta:
            stored, least = rounds.recall("simpler", simpler)
            simplest = Simplest(Certificate.restored(stored), least)
    script = "" if simplest is None else script_of(known, goal, simplest, chosen)
    result = Audit(known.name, known.delta, goal, cap, chosen, seed, tuple(certificates), simplest, script, known.claim)
    if out is not None:
        result.save(out)
    return result


def repeat(
    rule: Any,
    instance: Any,
    *,
    delta: float,
    cap: int,
    looks: int | str = 1,
    epsilon: float = 0.0,
    runs: int = 5000,
    seed: int = 0,
    arrays: bool = False,
    intervals: bool = False,
    bound: Any = None,
) -> Certificate:
    """Play a rule on one instance, and return its errors with a lower bound of the error probability at level 0.999.

    Args:
        rule: See :func:`audit`.
        instance: The instance.
        delta: Error probability that the rule promises.
        cap: Largest number of pulls of a run.
        looks: See :func:`audit`.
        epsilon: Largest gap of a recommendation that is no error.
        runs: Number of runs.
        seed: At least 0.
        arrays: See :func:`audit`.
        intervals: See :func:`audit`.
        bound: See :func:`audit`.

    Raises:
        BaiGymError: If an argument is invalid.
    """
    player = audited(rule, delta, arrays=arrays, intervals=intervals, bound=bound).make(cap, looks)
    return certify(player, [instance], epsilon, runs, check_seed(seed), ("audit", "repeat"), 1)[0]


def _goal(known: Audited, rewards: str | None, arms: Iterable[int] | None, epsilon: float, sigma: float) -> Goal:
    own = known.classes if known.entry is None else known.entry.rewards
    rewards = choice((own or ("bounded",))[0] if rewards is None else rewards, CLASSES, "rewards")
    if known.classes and rewards not in known.classes:
        raise ParameterError(
            f"rewards of the audit of {known.name} must be {' or '.join(known.classes)}, and not {rewards}"
        )
    if arms is None:
        arms = (2, 2) if known.entry is not None and known.entry.two_arms else (2, 20)
    limits = [integer(number, "arms", least=2) for number in arms]
    if len(limits) != 2 or limits[0] > limits[1]:
        raise ParameterError(f"arms must be the smallest and the largest number of arms, such as (2, 20), not {limits}")
    real(epsilon, "epsilon", least=0)
    return Goal(rewards, (limits[0], limits[1]), float(epsilon), real(sigma, "sigma", above=0), known.paired)
