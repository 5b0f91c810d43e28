"""The result of an audit: its verdict in words and as JSON, and a script that repeats the counterexample."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.auditing.certificate import Certificate
from bai_gym.auditing.families import Goal
from bai_gym.auditing.players import Audited
from bai_gym.auditing.simplify import Simplest
from bai_gym.auditing.streams import look_rounds
from bai_gym.results.writer import ResultsWriter
from bai_gym.statistics import IntArray

__all__ = ["Audit", "looks_within", "script_of"]

REFUTED, NOT_REFUTED = "refuted", "not refuted"


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
        claim: The bound that promises delta, of an agent with a fixed budget; else empty.
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
    claim: str = ""

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
        return look_rounds(looks_within(self.looks, cap), cap, self.worst.instance.num_arms)

    def curve(self) -> tuple[list[int], list[float]]:
        """Return numbers of looks, and the shares of runs that have stopped with a wrong arm by then.

        The instance is :attr:`worst`. Agents look after every pull, and count here with every round of all arms.
        """
        times, counts = np.unique(self.worst.times, return_counts=True)
        rounds = -(-times // self.worst.instance.num_arms)
        looks = np.searchsorted(self._rounds, rounds) + 1
        return looks.tolist(), (np.cumsum(counts) / self.worst.runs).tolist()

    @override
    def __str__(self) -> str:
        """Return the verdict in a few sentences."""
        first, worst = self.certificates[0], self.worst
        asked = f"delta {self.delta:g}, {self.goal.rewards} rewards, cap {self.cap:,}"
        if self.goal.paired:
            asked += ", common items"
        if self.looks != 1:
            asked += f", looks: {self.looks}"
        lines = [f"{self.rule}: {self.verdict} ({asked})"]
        if self.claim:
            lines.append(
                f"On each instance it has the smallest budget for which its bound is at most delta: {self.claim}."
            )
        lines += [
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
        text = "".join(f", {word}={value!r}" for word, value in keywords.items())
        lines.append(f'The arms as an environment: gymnasium.make("{name}"{text})')
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        fields = {
            "rule": self.rule,
            "claim": self.claim,
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
            fields["counterexample"] = {
                **_plain(self.worst),
                "cap": self.simplest.cap,
                "environment": name,
                "keywords": keywords,
            }
        return fields

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


def looks_within(looks: int | str, cap: int) -> int | str:
    """Return the looks of a smaller cap: the same, at most one at the cap."""
    return looks if isinstance(looks, str) else min(looks, cap)


def _plain(certificate: Certificate) -> dict[str, Any]:
    fields = asdict(replace(certificate, times=()))
    return {name: value for name, value in fields.items() if name != "times"} | {"rate": certificate.rate}


def script_of(known: Audited, goal: Goal, simplest: Simplest, looks: int | str) -> str:
    """Return a Python file that repeats the counterexample."""
    certificate = simplest.certificate
    fields = {
        name: value
        for name, value in vars(certificate.instance).items()
        if value and (name != "bounds" or value[1] != 1)
    }
    arguments = [
        known.script,
        "instance",
        f"delta={known.delta!r}",
        f"cap={simplest.cap}",
        f"looks={looks_within(looks, simplest.cap)!r}",
        f"runs={certificate.runs}",
    ]
    if goal.epsilon:
        arguments.append(f"epsilon={goal.epsilon!r}")
    if known.arrays:
        arguments.append("arrays=True")
    if known.intervals:
        arguments.append("intervals=True")
    if known.given:
        arguments.append(f"bound={known.given}")
    lines = [
        f'"""Repeats a counterexample: {known.name} errs more often than delta = {known.delta:g}."""',
        "",
        "from bai_gym.auditing import Instance, repeat",
        "",
        "instance = Instance(",
        *(f"    {name}={value!r}," for name, value in fields.items()),
        ")",
        f"result = repeat({', '.join(arguments)})",
        "print(instance.in_words())",
        'print(f"{result.errors:,} errors in {result.runs:,} runs, at least {result.bound:.4f}")',
    ]
    return "\n".join(lines) + "\n"
