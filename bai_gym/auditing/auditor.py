"""Audits a stopping rule: searches instances on which it errs, certifies them on fresh seeds, and simplifies the worst.

An audit can refute the promise that the error probability is at most delta. It cannot prove it: a rule that is not
refuted may fail on instances that were not searched, or after more pulls than the cap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.auditing.certificate import Certificate, certify
from bai_gym.auditing.families import CLASSES, Goal
from bai_gym.auditing.players import AgentPlayer, Audited, audited
from bai_gym.auditing.search import Plan, finalists
from bai_gym.auditing.simplify import Simplest, simplify
from bai_gym.auditing.streams import look_rounds
from bai_gym.content.library import library_digest
from bai_gym.errors import OutputError, ParameterError
from bai_gym.progress import progress_bars
from bai_gym.results.writer import ResultsWriter
from bai_gym.seeding import check_seed
from bai_gym.statistics import IntArray
from bai_gym.validation import choice, flag, integer, probability, real

__all__ = ["REFUTED", "Audit", "audit", "repeat"]

REFUTED, NOT_REFUTED = "refuted", "not refuted"
ROUNDS = "audit-rounds.json"
"""File with the errors of the rounds that are finished, and the certificates."""
SIMPLE_RUNS = 5000  # fresh runs of each try of a simpler counterexample


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    Attributes:
        rule: Name of the rule.
        delta: Error probability that it allows.
        goal: Class of rewards, numbers of arms, and what an error is.
        cap: Largest number of pulls.
        looks: Pulls from one look to the next, or ``"geometric"``.
        seed: The seed.
        certificates: The finalists, of largest bound first.
        simplest: A simple counterexample, if the rule is refuted.
        script: Text of a Python file that repeats the counterexample; empty if there is none.
    """

    rule: str
    delta: float
    goal: Goal
    cap: int
    looks: int | str
    seed: int
    certificates: tuple[Certificate, ...]
    simplest: Simplest | None
    script: str

    @property
    def refuted(self) -> bool:
        """Whether the error probability on some instance exceeds delta, at level 0.999."""
        return self.certificates[0].bound > self.delta

    @property
    def verdict(self) -> str:
        """``"refuted"`` or ``"not refuted"``."""
        return REFUTED if self.refuted else NOT_REFUTED

    @property
    def worst(self) -> Certificate:
        """The simple counterexample; the finalist of largest bound, if the rule is not refuted."""
        return self.certificates[0] if self.simplest is None else self.simplest.certificate

    @property
    def fails_by(self) -> int | None:
        """Pulls of the counterexample by which the share of wrong runs exceeds delta; None: it does not."""
        needed = int(np.floor(self.delta * self.worst.runs))
        return self.worst.times[needed] if len(self.worst.times) > needed else None

    @property
    def num_looks(self) -> int:
        """Looks at the counterexample until the cap."""
        return int(self._rounds.size)

    @property
    def _rounds(self) -> IntArray:
        cap = self.cap if self.simplest is None else self.simplest.cap
        return look_rounds(_looks_within(self.looks, cap), cap, self.worst.instance.num_arms)

    def curve(self) -> tuple[list[int], list[float]]:
        """Return numbers of looks, and the shares of runs that have stopped with a wrong arm by then.

        The instance is :attr:`worst`. Agents look after every pull, and count here with every round of all arms.
        """
        times, counts = np.unique(self.worst.times, return_counts=True)
        rounds = -(-times // self.worst.instance.num_arms)
        looks = np.searchsorted(self._rounds, rounds) + 1
        return looks.tolist(), (np.cumsum(counts) / self.worst.runs).tolist()

    def __str__(self) -> str:
        """Return the verdict in a few sentences."""
        first, worst = self.certificates[0], self.worst
        asked = f"delta {self.delta:g}, {self.goal.rewards} rewards, cap {self.cap:,}"
        if self.looks != 1:
            asked += f", looks: {self.looks}"
        lines = [
            f"{self.rule}: {self.verdict} ({asked})",
            f"The worst instance found: {first.errors:,} errors in {first.runs:,} fresh runs, {100 * first.rate:.2f} "
            f"%; the error probability is at least {first.bound:.4f}, at level .999.",
        ]
        if not self.refuted:
            lines.append("This proves nothing: other instances, or more pulls, may refute it.")
            return "\n".join(lines)
        assert self.simplest is not None
        lines += [
            f"A simple counterexample: {worst.errors:,} errors in {worst.runs:,} fresh runs of at most "
            f"{self.simplest.cap:,} pulls, so at least {worst.bound:.4f}.",
            worst.instance.in_words(),
        ]
        if self.fails_by is not None:
            lines.append(f"It has erred in more than {100 * self.delta:g} % of the runs after {self.fails_by:,} pulls.")
        name, keywords = worst.instance.environment()
        given = "".join(f", {word}={value!r}" for word, value in keywords.items())
        lines.append(f'The arms as an environment: gymnasium.make("{name}"{given})')
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        found = {
            "rule": self.rule,
            "verdict": self.verdict,
            "delta": self.delta,
            **asdict(self.goal),
            "cap": self.cap,
            "looks": self.looks,
            "seed": self.seed,
            "fails_by": self.fails_by,
            "finalists": [_plain(certificate) for certificate in self.certificates],
            "counterexample": None,
        }
        if self.simplest is not None:
            name, keywords = self.worst.instance.environment()
            found["counterexample"] = {
                **_plain(self.worst),
                "cap": self.simplest.cap,
                "environment": name,
                "keywords": keywords,
            }
        return found

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``audit.json``, and of a counterexample its script, and its rewards if they are a table.

        Raises:
            OutputError: If a file cannot be written.
        """
        writer = ResultsWriter(Path(folder))
        paths = [writer.save_text("audit.json", json.dumps(self.as_dict(), indent=1) + "\n")]
        if self.script:
            paths.append(writer.save_text("counterexample.py", self.script))
            if self.worst.instance.environment()[0] == "BAI-Table-v0":
                paths.append(writer.save_text("counterexample.csv", self.worst.instance.csv()))
        return paths


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
    plan: Plan | None = None,
    seed: int = 0,
    workers: int | None = 1,
    out: str | Path | None = None,
    progress: bool | None = None,
) -> Audit:
    """Search for instances on which a stopping rule errs more often than it promises.

    An error is a run that stops before the cap and recommends an arm whose mean is below the best one by more than
    epsilon. Rules are shown round-robin pulls; agents choose their own.

    Args:
        rule: A name of :data:`bai_gym.auditing.GALLERY` (``"gk16-plugin"``), an agent that stops
            (``"T3C(threshold='gk16')"``, a class or an instance), or a function ``f(statistics, delta)`` that returns
            None, or the arm that it recommends, by itself or as ``"FILE.py:f"``. Its statistics are
            :class:`bai_gym.auditing.Looks`, with arrays ``pulls``, ``means`` and ``variances`` of shape ``(K,)``.
        delta: Error probability that it promises. None (default): the agent's own, or 0.05.
        rewards: Class of rewards: ``"bernoulli"``, ``"bounded"`` (in [0, 1]), ``"gaussian"`` (standard deviations of at
            most sigma), or ``"subgaussian"`` (these, and rewards in [0, 2 sigma]). None (default): that of the
            gallery's rule, else ``"bounded"``.
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
        plan: Sizes of the search; None: 512 instances, and 20,000 runs of each of five finalists.
        seed: At least 0. The same seed gives the same result, for any number of workers.
        workers: Processes, see :func:`bai_gym.evaluate`.
        out: Folder for the results and finished rounds of the search: the same call resumes an interrupted one.
        progress: Whether to show it; None: in terminals and notebooks.

    Returns:
        The verdict, ``"refuted"`` or ``"not refuted"``, with the instances that it rests on.

    Raises:
        BaiGymError: If an argument is invalid; the message is one line.
    """
    level = None if delta is None else probability(delta, "delta")
    known = audited(rule, level, arrays=flag(arrays, "arrays"), intervals=flag(intervals, "intervals"))
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
    if looks is not None and isinstance(player, AgentPlayer):
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
    rounds = _Rounds(settings, None if out is None else Path(out))
    with progress_bars(progress) as on_stage:
        found = finalists(player, goal, sizes, seed, workers, rounds.recall, on_stage)
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
                lambda smaller: known.make(smaller, _looks_within(chosen, smaller)),
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
    script = "" if simplest is None else _script(known, goal, simplest, chosen)
    result = Audit(known.name, known.delta, goal, cap, chosen, seed, tuple(certificates), simplest, script)
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

    Raises:
        BaiGymError: If an argument is invalid.
    """
    player = audited(rule, delta, arrays=arrays, intervals=intervals).make(cap, looks)
    return certify(player, [instance], epsilon, runs, check_seed(seed), ("audit", "repeat"), 1)[0]


def _goal(known: Audited, rewards: str | None, arms: Iterable[int] | None, epsilon: float, sigma: float) -> Goal:
    if rewards is None:
        rewards = known.entry.rewards[0] if known.entry is not None else "bounded"
    choice(rewards, CLASSES, "rewards")
    if arms is None:
        arms = (2, 2) if known.entry is not None and known.entry.two_arms else (2, 20)
    limits = [integer(number, "arms", least=2) for number in arms]
    if len(limits) != 2 or limits[0] > limits[1]:
        raise ParameterError(f"arms must be the smallest and the largest number of arms, such as (2, 20), not {limits}")
    real(epsilon, "epsilon", least=0)
    return Goal(rewards, (limits[0], limits[1]), float(epsilon), real(sigma, "sigma", above=0))


def _looks_within(looks: int | str, cap: int) -> int | str:
    """Return the looks of a smaller cap: the same, at most one at the cap."""
    return looks if isinstance(looks, str) else min(looks, cap)


class _Rounds:
    """The results of finished rounds, in a file that belongs to one audit."""

    def __init__(self, settings: dict[str, Any], folder: Path | None) -> None:
        self._settings = json.loads(json.dumps(settings))
        self._writer = None if folder is None else ResultsWriter(folder)
        self._rounds: dict[str, list[Any]] = {}
        if folder is not None and (folder / ROUNDS).exists() and settings["code"]:
            try:
                stored = json.loads((folder / ROUNDS).read_text(encoding="utf-8"))
                if stored["settings"] == self._settings:
                    self._rounds = stored["rounds"]
            except (OSError, ValueError, KeyError, TypeError):
                raise OutputError(f"{folder / ROUNDS} cannot be read: remove it, or choose another folder") from None

    def recall(self, name: str, count: Callable[[], list[Any]]) -> list[Any]:
        """Return the results of a round, which is played if they are not stored."""
        if name not in self._rounds:
            self._rounds[name] = count()
            if self._writer is not None:
                stored = {"settings": self._settings, "rounds": self._rounds}
                self._writer.save_text(ROUNDS, json.dumps(stored) + "\n")
        return self._rounds[name]


def _plain(certificate: Certificate) -> dict[str, Any]:
    found = asdict(replace(certificate, times=()))
    return {name: value for name, value in found.items() if name != "times"} | {"rate": certificate.rate}


def _script(known: Audited, goal: Goal, simplest: Simplest, looks: int | str) -> str:
    certificate = simplest.certificate
    fields = {
        name: value
        for name, value in vars(certificate.instance).items()
        if value and (name != "bounds" or value[1] != 1)
    }
    words = [
        known.script,
        "instance",
        f"delta={known.delta!r}",
        f"cap={simplest.cap}",
        f"looks={_looks_within(looks, simplest.cap)!r}",
        f"runs={certificate.runs}",
    ]
    if goal.epsilon:
        words.append(f"epsilon={goal.epsilon!r}")
    if known.arrays:
        words.append("arrays=True")
    if known.intervals:
        words.append("intervals=True")
    lines = [
        f'"""Repeats a counterexample: {known.name} errs more often than delta = {known.delta:g}."""',
        "",
        "from bai_gym.auditing import Instance, repeat",
        "",
        "instance = Instance(",
        *(f"    {name}={value!r}," for name, value in fields.items()),
        ")",
        f"result = repeat({', '.join(words)})",
        "print(instance.in_words())",
        'print(f"{result.errors:,} errors in {result.runs:,} runs, at least {result.bound:.4f}")',
    ]
    return "\n".join(lines) + "\n"
