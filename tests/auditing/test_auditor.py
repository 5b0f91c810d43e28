"""Audits find planted bugs, spare rules that are right, and leave a script that repeats what they found."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

import bai_gym
from bai_gym.auditing import GALLERY, Audit, Instance, Looks, Plan, audit, auditor, repeat
from bai_gym.errors import AgentError, BaiGymError, ParameterError

POCOCK = 2.122
"""Two-sided level .10 at five equal looks, so a wrong arm with probability at most .05."""
Rule = Callable[[Looks, float], np.ndarray]


def rule_with(bug: str = "") -> Rule:
    """Return a rule of known variances at five equal looks, right but for a bug.

    It keeps delta by Pocock's boundary for two arms, and by Bonferroni over rivals and looks for more.
    """

    def rule(looks: Looks, delta: float) -> np.ndarray:
        rivals, n = looks.means.shape[-1] - 1, looks.pulls[..., :1]
        noise = np.broadcast_to(looks.sigma ** (4.0 if bug == "squared variance" else 2.0) / n, looks.means.shape)
        if bug == "pulls counted twice":
            noise = noise / 2.0
        best = looks.means.argmax(axis=-1)
        own = np.take_along_axis(noise, best[..., None], axis=-1)
        spread = own + (0.0 if bug == "noise of the rival forgotten" else noise)
        z = (looks.means.max(axis=-1, keepdims=True) - looks.means) / np.sqrt(spread)
        boundary = POCOCK if rivals == 1 else -ndtri(delta / rivals / 5.0)
        if bug == "level of one look":
            boundary = -ndtri(delta / rivals)
        if bug == "any rival":
            return np.where(z.max(axis=-1) > boundary, best, -1)
        np.put_along_axis(z, best[..., None], np.inf, axis=-1)
        return np.where(z.min(axis=-1) > boundary, best, -1)

    return rule


BUGS = ("squared variance", "pulls counted twice", "noise of the rival forgotten", "level of one look", "any rival")


def found(rule: object, plan: Plan, **keywords: Any) -> Audit:
    """Return a small audit of Gaussian rewards."""
    words: dict[str, Any] = {
        "rewards": "gaussian",
        "cap": 500,
        "looks": 100,
        "arrays": True,
        "plan": plan,
        "progress": False,
    }
    return audit(rule, **{**words, **keywords})


def test_planted_bugs_are_found_and_no_right_rule(small: Plan) -> None:
    verdicts = {bug: found(rule_with(bug), small).verdict for bug in BUGS}
    assert set(verdicts.values()) == {"refuted"}, verdicts
    assert found(rule_with(), small).verdict == "not refuted"
    assert found(rule_with(), small, looks=1).verdict == "refuted"  # many looks too many
    assert found("pocock", small, looks=None, arrays=False).verdict == "not refuted"


def test_a_counterexample_is_simple_and_its_script_repeats_it(small: Plan, tmp_path: Path) -> None:
    result = audit("gk16-plugin", cap=1000, plan=small, arms=(2, 5), out=tmp_path, progress=False)
    assert result.refuted and result.certificates[0].bound > 0.5 and result.simplest is not None
    instance = result.worst.instance
    assert instance.num_arms == 2 and result.simplest.cap < 1000 and result.simplest.certificate.m > 5
    assert result.fails_by is not None and result.fails_by <= result.simplest.cap
    looks, shares = result.curve()
    assert looks == sorted(looks) and shares == sorted(shares) and shares[-1] == result.worst.rate
    again = runpy.run_path(str(tmp_path / "counterexample.py"))["result"]
    assert abs(again.rate - result.worst.rate) < 0.1 and again.bound > 0.05
    stored = json.loads((tmp_path / "audit.json").read_text())
    assert stored["verdict"] == "refuted" and stored["counterexample"]["bound"] == result.worst.bound
    env = bai_gym.compare(
        ["Uniform"],
        stored["counterexample"]["environment"],
        budgets=[10],
        runs=2,
        env_kwargs={**stored["counterexample"]["keywords"], "path": str(tmp_path / "counterexample.csv")},
    )
    assert len(env) == 1 and "always" in str(result) and "BAI-Table-v0" in str(result)


def test_the_same_seed_gives_the_same_bytes_and_an_interrupted_audit_resumes(
    small: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: dict[str, Any] = {"cap": 200, "plan": small, "progress": False}
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    audit("t-peek", **words, out=one)
    audit("t-peek", **words, out=two, workers=2)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(auditor, "certify", interrupted)
        with pytest.raises(KeyboardInterrupt):
            audit("t-peek", **words, out=three)
    with monkeypatch.context() as patch:
        patch.setattr("bai_gym.auditing.search.play_all", interrupted)  # every round is stored
        audit("t-peek", **words, out=three)
        with pytest.raises(KeyboardInterrupt):  # another audit, in the same folder
            audit("t-peek", **words, seed=1, out=three)
    files = ["audit.json", "counterexample.py"]
    assert len({tuple((folder / name).read_bytes() for name in files) for folder in (one, two, three)}) == 1


def test_agents_play_by_their_own_sampling_rule() -> None:
    plan = Plan(instances=2, variations=1, runs=10, most=20, certified=20)
    words: dict[str, Any] = {"cap": 200, "arms": (2, 2), "plan": plan, "progress": False}
    right = audit("EB-TCI", rewards="bernoulli", **words)
    assert right.delta == 0.1 and right.verdict == "not refuted"  # the agent's own delta
    given = audit("EB-TCI(threshold=gk16)", rewards="gaussian", delta=0.2, **words)
    assert given.delta == 0.2 and "delta=0.2" in given.rule
    far = Instance(low=(0.0, 0.9), high=(0.1, 1.0), p=(0.5, 0.5))
    assert repeat("EB-TCI", far, delta=0.1, cap=400, runs=50).errors == 0
    for agent, keywords, words_ in (
        ("Uniform", {}, "never stops"),
        ("EB-TCI(delta=0.2)", {"delta": 0.1}, "delta"),
        ("EB-TCI", {"looks": 10}, "every pull"),
    ):
        with pytest.raises((AgentError, ParameterError), match=words_):
            audit(agent, **words, **keywords)  # type: ignore[arg-type]


def test_a_plain_function_is_called_for_one_run(small: Plan, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def hasty(statistics, delta):\n"
        "    if statistics.pulls.min() < 5 or statistics.number < 2:\n"
        "        return None\n"
        "    return int(statistics.means.argmax())\n"
    )
    plan = Plan(instances=4, variations=2, runs=10, most=20, certified=500)
    words: dict[str, Any] = {"rewards": "bernoulli", "cap": 60, "plan": plan, "progress": False}
    result = audit(f"{file}:hasty", **words)
    assert result.refuted and result.looks == "geometric" and repr(f"{file}:hasty") in result.script
    with pytest.raises(ParameterError, match="recommends arm"):
        audit(lambda statistics, delta: statistics.means.size, **words)


def test_a_rate_above_delta_by_chance_is_no_counterexample() -> None:
    plan = Plan(instances=4, variations=2, runs=10, most=20, certified=20)
    words: dict[str, Any] = {"rewards": "gaussian", "arms": (2, 2), "cap": 20, "plan": plan, "progress": False}
    result = audit(lambda statistics, delta: int(statistics.means.argmax()), delta=0.45, **words)  # of one pull
    assert result.certificates[0].rate > 0.45 and not result.refuted and result.simplest is None


def test_intervals_must_hold_at_all_looks() -> None:
    def normal(looks: Looks, delta: float, *, union: bool) -> tuple[np.ndarray, np.ndarray]:
        n, num_arms = looks.pulls, looks.means.shape[-1]
        share = delta / num_arms / (n * (n + 1.0) if union else 1.0)
        half = -ndtri(share / 2.0) * looks.sigma / np.sqrt(n)
        return looks.means - half, looks.means + half

    plan = Plan(instances=8, variations=2, runs=25, most=50, certified=1000)
    for union, verdict in ((True, "not refuted"), (False, "refuted")):
        rule = partial(normal, union=union)
        words: dict[str, Any] = {"rewards": "gaussian", "cap": 1000, "arms": (2, 2), "plan": plan}
        result = audit(rule, intervals=True, progress=False, **words)
        assert result.verdict == verdict
    with pytest.raises(ParameterError, match="two arrays"):
        audit("gk16-plugin", intervals=True)


def test_arguments_are_checked() -> None:
    wrong = {
        "rewards": "cauchy",
        "looks": "often",
        "arms": (5, 2),
        "cap": 1,
        "delta": 1.5,
        "epsilon": -1.0,
        "sigma": 0.0,
        "seed": -1,
    }
    for name, value in wrong.items():
        with pytest.raises(BaiGymError, match=name):
            audit("gk16-plugin", **{name: value})  # type: ignore[arg-type]
    assert set(GALLERY) >= {"gk16-plugin", "howard"}
