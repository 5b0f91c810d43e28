"""The checks of the lessons: right solutions pass, and typical mistakes get the sentence that helps."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow

LESSONS = Path(__file__).resolve().parents[2] / "examples" / "lessons"
SOLUTIONS = sorted(path for path in (LESSONS / "solutions").rglob("[1-9]_*.py"))


def right(name: str) -> Callable[..., Any]:
    """Return the solution of an exercise."""
    for path in SOLUTIONS:
        namespace: dict[str, Any] = {}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
        if name in namespace:
            return namespace[name]
    raise LookupError(name)


def exercise_names() -> list[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOLUTIONS)
    return [line.split()[-1] for line in text.splitlines() if line.startswith("# %% ")]


# What others write who are right, too
OTHERS: dict[str, Callable[..., Any]] = {
    "recommend": lambda o: max(np.flatnonzero(o["pulls"]), key=lambda arm: o["means"][arm]),
    "greedy": lambda o: next((arm for arm in range(3) if not o["pulls"][arm]), np.argmax(o["means"])),
    "number_of_rounds": lambda k: len(bin(k - 1)) - 2,
    "cumulative_regret": lambda n, m: n.sum() * m.max() - n @ m,
    "ucb_indices": lambda n, m: [
        m[i] + math.sqrt(2 * math.log(sum(n)) / t) if t else math.inf for i, t in enumerate(n)
    ],
    "thompson": lambda s, n, rng: max(range(3), key=lambda arm: rng.beta(1 + s[arm], 1 + n[arm] - s[arm])),
    "shares": lambda v, n: [n * x / sum(v) for x in v],
    "least_squares": lambda x, n, m: np.linalg.lstsq(x * np.sqrt(n)[:, None], m * np.sqrt(n), rcond=None)[0],
    "share_significant": lambda p, level: (p.min(axis=1) < level).sum() / len(p),
    "first_stop": lambda m, level: next((n for n, ratio in enumerate(m, 1) if ratio >= 1 / level), 0),
}


@pytest.mark.each("name", OTHERS)
def test_another_right_solution_passes(name: str, checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    getattr(checks, name)(OTHERS[name])
    assert capsys.readouterr().out.startswith("Right: ")


@pytest.mark.each("name", exercise_names())
def test_an_empty_template_is_not_done_and_there_are_three_hints(
    name: str, checks: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    getattr(checks, name)(lambda *_: None)
    assert capsys.readouterr().out.startswith(f"Not done yet: {name} returns nothing.")
    assert not checks.passed(name)
    assert capsys.readouterr().out == f"This cell waits for a right solution of: {name}.\n"
    for step in (1, 2, 3, 4):
        checks.hint(step)
    said = capsys.readouterr().out.splitlines()
    assert [line[:6] for line in said[:3]] == ["Hint 1", "Hint 2", "Hint 3"]
    assert said[3:] == [f"{name} has the hints 1 to 3."]


# Lesson 2, whole algorithms: what students write, with one mistake each


def halving(
    rounds: Callable[[int], int] = lambda arms: math.ceil(math.log2(arms)),
    times: Callable[[int, int, int, int], int] = lambda budget, rounds, active, arms: budget // (rounds * active),
    better: Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray] | None = None,
    answer: Callable[[np.ndarray], Any] = lambda active: int(active[0]),
) -> Callable[..., Any]:
    """Return sequential halving with some parts replaced."""
    keep = better or right("better_half")

    def sequential_halving(pull: Any, num_arms: int, budget: int, rng: np.random.Generator) -> Any:
        active = np.arange(num_arms)
        for _ in range(rounds(num_arms)):
            pulls = times(budget, rounds(num_arms), len(active), num_arms)
            means = np.array([pull(arm, pulls).mean() for arm in active])
            active = keep(active, means, rng)
        return answer(active)

    return sequential_halving


def never_drops(pull: Any, num_arms: int, budget: int, rng: np.random.Generator) -> int:
    return int(np.argmax([pull(arm, budget // num_arms).mean() for arm in range(num_arms)]))


def right_halving(pull: Any, num_arms: int, budget: int, rng: np.random.Generator) -> int:
    return int(halving()(pull, num_arms, budget, rng))


def later_rounds_first(pull: Any, num_arms: int, budget: int, rng: np.random.Generator) -> int:
    log: list[tuple[int, int]] = []

    def noted(arm: int, times: int) -> np.ndarray:
        log.append((int(arm), times))
        return np.full(times, pull.means[arm])

    answer = right_halving(noted, num_arms, budget, rng)
    for arm, times in reversed(log):
        pull(arm, times)
    return answer


def keeps_samples(pull: Any, num_arms: int, budget: int, rng: np.random.Generator) -> int:
    """Halving by the means of all rewards so far."""
    seen: dict[int, list[float]] = {arm: [] for arm in range(num_arms)}

    def pooled(arm: int, times: int) -> np.ndarray:
        seen[int(arm)].extend(pull(arm, times))
        return np.array(seen[int(arm)])

    return right_halving(pooled, num_arms, budget, rng)


def random_pull(pull: Any, num_arms: int, budget: int, rng: np.random.Generator) -> int:
    for _ in range(budget):
        pull(rng.integers(num_arms), 1)
    return 0


WRONG: dict[str, tuple[str, Callable[..., Any], str]] = {
    # Lesson 1
    "the arm pulled most": (
        "recommend",
        lambda o: int(o["pulls"].argmax()),
        "arm 2, the arm pulled most; expected arm 1",
    ),
    "the mean of an arm never pulled": (
        "recommend",
        lambda o: int(o["means"].argmax()),
        "returned arm 1, which has never been pulled:",
    ),
    "never tries the others": ("greedy", lambda o: int(o["means"].argmax()), "returned arm 0, which has been pulled"),
    "always the least pulled": (
        "greedy",
        lambda o: int(o["pulls"].argmin()),
        "returned arm 0 of mean 0.0; expected arm 2",
    ),
    "the plain interval": (
        "interval",
        lambda e, n: (
            e / n - 1.96 * math.sqrt(e / n * (1 - e / n) / n),
            e / n + 1.96 * math.sqrt(e / n * (1 - e / n) / n),
        ),
        "interval(30, 100) is 0.2102 to 0.3898;",
    ),
    "ends the wrong way round": ("interval", lambda e, n: right("interval")(e, n)[::-1], "the lower end comes first"),
    # Lesson 2
    "rounded down": ("number_of_rounds", lambda k: int(math.log2(k)), "number_of_rounds(5) is 2 (rounded down, or"),
    "the natural logarithm": ("number_of_rounds", lambda k: math.log(k), "is 2.079 (yours is the natural logarithm);"),
    "powers of two alone": (
        "number_of_rounds",
        lambda k: next((r for r in range(11) if 2**r == k), None),
        "(5) returned nothing, while ",
    ),
    "the budget of one round": (
        "pulls_per_arm",
        lambda n, k, active: n // active,
        "pulls_per_arm(240, 8, 8) is 30; expected 10",
    ),
    "shares for dropped arms": (
        "pulls_per_arm",
        lambda n, k, active: n // (math.ceil(math.log2(k)) * k),
        "pulls_per_arm(240, 8, 2) is 10; expected 40",
    ),
    "independent, whatever is asked": (
        "standard_error",
        lambda a, b, n, same: math.sqrt((np.var(a) + np.var(b)) / n),
        "4, True) is 0.3307; expected 0.2165, the square root of 3/16,",
    ),
    "a variance": (
        "standard_error",
        lambda a, b, n, same: (np.var(a - b) if same else np.var(a) + np.var(b)) / n,
        "; yours is the variance.",
    ),
    "models that are out": (
        "questions_each",
        lambda money, prices, active: int(money // prices.sum()),
        "; yours pays for models that are no longer asked.",
    ),
    "the highest price": (
        "questions_each",
        lambda money, prices, active: int(money // (len(active) * prices[active].max())),
        "; yours takes the highest price for all.",
    ),
    "the worse half": (
        "better_half",
        lambda active, means, rng: active[np.argsort(means)[: (len(active) + 1) // 2]],
        "kept 3 and 8; expected 5 and 9: yours is the",
    ),
    "positions": (
        "better_half",
        lambda active, means, rng: np.argsort(-means)[: (len(active) + 1) // 2],
        "kept 1 and 3, but arm 1 is not active: these",
    ),
    "the first of the list wins ties": (
        "better_half",
        lambda active, means, rng: active[np.argsort(-means, kind="stable")[: (len(active) + 1) // 2]],
        "of four arms of the same mean, arm 10 was",
    ),
    "sorts what it was given": (
        "better_half",
        lambda active, means, rng: (active.sort(), means.sort(), right("better_half")(active, means, rng))[-1],
        "changed an array that it was given, the",
    ),
    "a round too few": (
        "sequential_halving",
        halving(rounds=lambda arms: int(math.log2(arms))),
        "with 5 arms and a budget of 200, your code",
    ),
    "the worse half goes on": (
        "sequential_halving",
        halving(better=lambda active, means, rng: active[np.argsort(means)[: (len(active) + 1) // 2]]),
        "the arm pulled most, 70 times, is arm 1 of",
    ),
    "no arm is dropped": ("sequential_halving", never_drops, "your code pulls every arm 30 times and drops"),
    "rounds in the wrong order": (
        "sequential_halving",
        later_rounds_first,
        "gets its pull number 11, of round 2, when",
    ),
    "ties by number": (
        "sequential_halving",
        halving(better=lambda active, means, rng: active[np.argsort(-means, kind="stable")[: (len(active) + 1) // 2]]),
        "of four arms of the same rewards, arm 0 was",
    ),
    "samples of earlier rounds": ("sequential_halving", keeps_samples, "recommended arm 0; expected arm 1: each round"),
    "pulls at random": ("sequential_halving", random_pull, "with 8 arms and a budget of 240, "),
    "an arm that does not exist": (
        "sequential_halving",
        lambda pull, k, n, rng: pull(k, 1),
        "your code calls pull(8, 1); expected an arm",
    ),
    "no pull at all": ("sequential_halving", lambda pull, k, n, rng: 5, "your code makes no pull; expected 240 pulls"),
    # Lesson 3
    "rewards in place of regret": ("cumulative_regret", lambda n, m: n @ m, "is 71; expected 19: yours is the reward"),
    "the regret of a pull": (
        "cumulative_regret",
        lambda n, m: n @ (m.max() - m) / n.sum(),
        "is 0.19; expected 19: yours is the regret of an average pull",
    ),
    "an arm without a pull": (
        "ucb_indices",
        lambda n, m: m + np.sqrt(2 * np.log(n.sum()) / np.maximum(n, 1)),
        "is 1.665 for arm 1, which has never been pulled; expected inf",
    ),
    "the arm's own logarithm": (
        "ucb_indices",
        lambda n, m: m + np.sqrt(2 * np.log(n) / n),
        "that of all pulls together, not of the arm's own",
    ),
    "no draw": ("thompson", lambda s, n, rng: int(((1 + s) / (2 + n)).argmax()), "yours draws nothing"),
    "failures are not pulls": (
        "thompson",
        lambda s, n, rng: int(rng.beta(1 + s, 1 + n).argmax()),
        "b is 1 + failures, and yours is 1 + pulls",
    ),
    "another generator": (
        "thompson",
        lambda s, n, rng: int(np.random.default_rng().beta(1 + s, 1 + n - s).argmax()),
        "draw with rng alone",
    ),
    "Thompson sampling": ("top_two", lambda s, n, rng: right("thompson")(s, n, rng), "yours is Thompson sampling"),
    "the second of one draw": (
        "top_two",
        lambda s, n, rng: int((-rng.beta(1 + s, 1 + n - s)).argsort()[rng.integers(2)]),
        "yours takes the second of one draw",
    ),
    # Lesson 4
    "standard deviations": (
        "shares",
        lambda v, n: n * np.sqrt(v) / np.sqrt(v).sum(),
        "shares([1.0, 4.0, 3.0], 80) is [16.91,",
    ),
    "fewer pulls for noise": (
        "shares",
        lambda v, n: n / v / (1 / v).sum(),
        "yours gives the noisy arms fewer pulls, not",
    ),
    "shares of 1": ("shares", lambda v, n: v / v.sum(), "yours are shares of 1, not of the budget of"),
    "the noisiest arm": (
        "next_arm",
        lambda v, p: int(v.argmax()) if p.all() else int(p.argmin()),
        "is 1, of variance / pulls 0.667; expected 0,",
    ),
    "division by no pulls": (
        "next_arm",
        lambda v, p: int(np.nan_to_num(v / p, posinf=0.0).argmax()),
        "next_arm([1.0, 4.0, 3.0], [1, 0, 5]) is 0;",
    ),
    "divisor n": (
        "upper_bound",
        lambda r, d: (
            np.var(r) / (1 - 2 * math.sqrt(math.log(1 / d) / (len(r) - 1)))
            if len(r) - 1 > 4 * math.log(1 / d)
            else math.inf
        ),
        "the sample variance divides by n - 1 (in",
    ),
    "no bound for few rewards": (
        "upper_bound",
        lambda r, d: np.var(r, ddof=1) / (1 - 2 * math.sqrt(math.log(1 / d) / (len(r) - 1))),
        "expected inf, because n - 1 = 11 is not",
    ),
    # Lesson 5
    "every arm once": (
        "least_squares",
        lambda x, n, m: np.linalg.lstsq(x, m, rcond=None)[0],
        "yours counts every arm once; an arm with 20",
    ),
    "pulls forgotten in b": (
        "least_squares",
        lambda x, n, m: np.linalg.solve(x.T @ (n[:, None] * x), x.T @ m),
        "in b, too, the mean of an arm counts as",
    ),
    "not inverted": (
        "arm_variances",
        lambda x, w: (x @ (x.T @ (w[:, None] * x)) * x).sum(axis=1),
        "yours has V in place of its inverse",
    ),
    "no weights": (
        "arm_variances",
        lambda x, w: (x @ np.linalg.inv(x.T @ x) * x).sum(axis=1),
        "yours leaves the weights out of V",
    ),
    "equal weights": ("design", lambda x, s: np.full(len(x), 1 / len(x)), "as equal weights"),
    "negative weights": (
        "design",
        lambda x, s: np.r_[-0.5, 1.5, np.zeros(len(x) - 2)],
        "has a weight of -0.5 for arm 0; expected at",
    ),
    # Lesson 6
    "the last look": ("share_significant", lambda p, level: (p[:, -1] < level).mean(), "yours looks once, at the end"),
    "looks, not experiments": ("share_significant", lambda p, level: (p < level).mean(), "is the share of looks, not"),
    "a logarithm": (
        "mixture_ratio",
        lambda s, n: s**2 / (2 * (1 + n)) - np.log(1 + n) / 2,
        "is 0.901388; expected 2.46302: yours is its logarithm",
    ),
    "half of the formula": ("mixture_ratio", lambda s, n: np.exp(s**2 / (2 * (1 + n))), "leaves out the factor"),
    "never stops": ("first_stop", lambda m, level: int((m >= 1 / level).argmax()) + 1, "ask any() first"),
    "as a p-value": ("first_stop", lambda m, level: int((m <= level).argmax()) + 1, "as if it were a p-value"),
    # Lesson 7
    "the other way round": (
        "discordant",
        lambda a, b: right("discordant")(b, a),
        "first the runs in which only A is wrong",
    ),
    "Bonferroni": ("holm", lambda p: np.minimum(1, p * len(p)), "yours is Bonferroni's; by Holm only the"),
    "p-values above 1": (
        "holm",
        lambda p: right("holm")(p) if p.max() < 0.5 else right("holm")(p) * np.where(right("holm")(p) == 1.0, 1.2, 1.0),
        "a p-value is at most 1",
    ),
    "one order for all episodes": (
        "shuffled",
        lambda m, v, rng: (lambda order: (m[:, order], v[:, order]))(rng.permutation(m.shape[1])),
        "in all 200 episodes; expected an order of",
    ),
    "two orders": (
        "shuffled",
        lambda m, v, rng: (rng.permuted(m, axis=1), rng.permuted(v, axis=1)),
        "use the same order for both",
    ),
    "nothing is moved": (
        "shuffled",
        lambda m, v, rng: (m.copy(), v.copy()),
        "returned the means in the order in which",
    ),
    # Lesson 8
    "a leader without noise": (
        "z_scores",
        lambda t, m, v: (m.amax(dim=1, keepdim=True) - m) / (v / t).sqrt(),
        "the leader's mean is uncertain, too",
    ),
    "deviations of rewards": (
        "z_scores",
        lambda t, m, v: right("z_scores")(t / t, m, v),
        "the variance of a mean is v / T, not v",
    ),
    "no gradient": ("z_scores", lambda t, m, v: right("z_scores")(t, m, v).detach(), "no gradient passes through"),
    "pulls rounded down": ("whole_counts", lambda p, n, u: (p * n).floor(), "yours sum to 16 instead of 17"),
    "always the same": ("whole_counts", lambda p, n, u: right("whole_counts")(p, n, 0.5 + 0 * u), "; expected ["),
    "the best arm's probability": (
        "soft_error",
        lambda z, b: 1 - right("soft_error")(z, b),
        "yours is the probability",
    ),
    "cross-entropy": (
        "soft_error",
        lambda z, b: -z.log_softmax(dim=1).gather(1, b[:, None]).mean(),
        "yours is the cross-entropy",
    ),
}


@pytest.mark.each("mistake", WRONG)
def test_a_mistake_gets_its_sentence(mistake: str, checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    name, solution, words = WRONG[mistake]
    getattr(checks, name)(solution)
    said = capsys.readouterr().out
    assert said.startswith("Not right yet: ") and said.count("\n") == 1
    assert words in said
    assert not checks.passed(name)


def test_there_is_a_mistake_for_every_exercise() -> None:
    assert {name for name, *_ in WRONG.values()} == set(exercise_names())


def test_an_exception_is_told_with_its_line(checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def pulls_per_arm(budget: int, num_arms: int, num_active: int) -> float:
        rounds = 0
        return budget / rounds

    checks.pulls_per_arm(pulls_per_arm)
    line = inspect.getsourcelines(pulls_per_arm)[1] + 2
    assert capsys.readouterr().out == (
        "Not right yet: pulls_per_arm(240, 8, 8) raised ZeroDivisionError: division by zero, in line "
        f"{line} of its cell: `return budget / rounds`.\n"
    )


def test_a_loop_that_never_ends_is_interrupted(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def number_of_rounds(num_arms: int) -> int:
        while num_arms > 0:
            num_arms = (num_arms + 1) // 2
        return 0

    monkeypatch.setattr(checks, "SECONDS", 0.2)
    started = time.perf_counter()
    checks.number_of_rounds(number_of_rounds)
    assert time.perf_counter() - started < 5
    assert (
        "number_of_rounds(8) had not ended after 0.2 seconds; is there a loop that never ends?"
        in capsys.readouterr().out
    )
