"""Checks for the exercises of the lessons. Each prints one sentence: right, not right yet (and why), or not done yet.

A check takes what the student has written. What is not right is said with the numbers: what was seen, what was
expected. `passed("name", ...)` tells the cells further down whether they can use it. `hint(1)` helps with the exercise
that was checked last, `hint(2)` more, and `hint(3)` is nearly the solution.
"""

from __future__ import annotations

import functools
import inspect
import math
import signal
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

SECONDS = 10.0  # after which a call counts as one that never ends
DRAWS = 400  # random choices that are looked at where ties must be broken at random
_PASSED: dict[str, bool] = {}
_HINTS: dict[str, tuple[str, ...]] = {}  # of each exercise, the gentlest first
_CHECKED: list[str] = []  # exercises in the order in which they were checked
_ANSWERED: list[str] = []  # calls of the present check that have returned something


class NotDone(Exception):
    """There is no solution yet."""


class NotRight(Exception):
    """The solution is not right; the message says what was seen and what was expected."""


def passed(*names: str) -> bool:
    """Return whether all these checks have found a right solution; say so if they have not."""
    missing = [name for name in names if not _PASSED.get(name, False)]
    if missing:
        print(f"This cell waits for a right solution of: {', '.join(missing)}.")
    return not missing


def hint(step: int, exercise: str | None = None) -> None:
    """Print a hint for the exercise that was checked last, or for the one that is named; hint 1 is the gentlest."""
    name = exercise or (_CHECKED[-1] if _CHECKED else "")
    if name not in _HINTS:
        print('Run the check of an exercise first, or name it: checks.hint(1, "recommend").')
    elif step not in range(1, len(_HINTS[name]) + 1):
        print(f"{name} has the hints 1 to {len(_HINTS[name])}.")
    else:
        print(f"Hint {step} of {len(_HINTS[name])} for {name}: {_HINTS[name][step - 1]}")


def _check(say: str, *hints: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function that raises into one that prints, and keeps what `passed` and `hint` ask for."""

    def wrap(check: Callable[..., None]) -> Callable[..., None]:
        name = check.__name__
        _HINTS[name] = hints

        @functools.wraps(check)
        def run(solution: Any) -> None:
            _PASSED[name] = False
            _CHECKED.append(name)
            _ANSWERED.clear()
            try:
                if not callable(solution):
                    raise NotRight(f"{name} should be a function, and it is {_shown(solution)}.")
                check(solution)
            except NotDone as call:
                if _ANSWERED:  # no template: some path of it has no return
                    print(f"Not right yet: {call} returned nothing, while {_ANSWERED[0]} returned an answer.")
                else:
                    how = "Write your code, run its cell, then this one. Stuck? Call checks.hint(1)."
                    print(f"Not done yet: {name} returns nothing. {how}")
            except NotRight as reason:
                print(f"Not right yet: {reason}")
            else:
                _PASSED[name] = True
                print(f"Right: {say}")

        return run

    return wrap


# What the checks have in common


def _shown(value: Any) -> str:
    """Return a value as a student would read it: short, without NumPy's type names."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        text = np.array2string(value, precision=4, separator=", ", threshold=12)
        return f"an array {text} of shape {value.shape}" if value.ndim != 1 else f"the array {text}"
    if isinstance(value, float):
        return f"{value:.6g}.0" if value.is_integer() and abs(value) < 1e6 else f"{value:.6g}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _arms(arms: Any) -> str:
    listed = [str(int(arm)) for arm in arms]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


@contextmanager
def _limited(what: str) -> Iterator[None]:
    """Interrupt a loop that never ends, where the system has an alarm."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise NotRight(f"{what} had not ended after {SECONDS:g} seconds; is there a loop that never ends?")

    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, SECONDS)  # of somebody else's alarm; 0 if there is none
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)


def _call(function: Callable[..., Any], *arguments: Any, words: str = "") -> Any:
    """Call the student's function; an exception becomes a sentence with its line."""
    name = getattr(function, "__name__", "your function")
    what = f"{name}({words or ', '.join(map(_shown, arguments))})"
    try:
        with _limited(what), np.errstate(all="ignore"):
            answer = function(*arguments)
    except (NotDone, NotRight):
        raise
    except NotImplementedError:
        raise NotDone(what) from None
    except Exception as error:
        raise NotRight(f"{what} raised {type(error).__name__}: {error}{_place(function, error)}.") from None
    if answer is None or answer is Ellipsis:
        raise NotDone(what)
    _ANSWERED.append(what)
    return answer


def _place(function: Callable[..., Any], error: BaseException) -> str:
    """Return the line of the student's own code at which it was raised."""
    try:
        home = inspect.getsourcefile(function) or function.__code__.co_filename
    except (AttributeError, TypeError):
        return ""
    lines = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename == home]
    return f", in line {lines[-1].lineno} of its cell: `{lines[-1].line}`" if lines and lines[-1].line else ""


def _whole(value: Any, call: str, expected: str) -> int:
    """Return a whole number that the student has returned as an int."""
    if not _is_whole(value):
        raise NotRight(f"{call} returned {_shown(value)}; expected {expected}, as a whole number (an int).")
    return int(value)


def _is_whole(value: Any) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _numbers(value: Any, call: str, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Return numbers that the student has returned as an array of floats of the given shape."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise NotRight(f"{call} returned {_shown(value)}; expected {what}.") from None
    if array.shape != shape:
        raise NotRight(f"{call} returned an array of shape {array.shape}; expected shape {shape}: {what}.")
    return array


def _untouched(arrays: Sequence[np.ndarray], copies: Sequence[np.ndarray], call: str) -> None:
    for array, copy in zip(arrays, copies, strict=True):
        if not np.array_equal(array, copy):
            raise NotRight(f"{call} changed an array that it was given, {_shown(copy)}, to {_shown(array)}; copy it.")


# Lesson 1


@_check(
    "your recommendation is the pulled arm of largest sample mean.",
    "Which entries of means stand for something? Only those of arms with at least one pull.",
    "Replace the means of arms without a pull by a number that never wins, then take the position of the largest.",
    'means = np.where(observation["pulls"] > 0, observation["means"], ...), and the arm is int(means.argmax()).',
)
def recommend(solution: Callable[..., Any]) -> None:
    """`recommend(observation)` returns the arm of largest sample mean among those pulled."""
    for pulls, means in (([2, 5, 9], [0.2, 0.9, 0.5]), ([4, 1, 1], [0.7, 0.6, 0.1]), ([3, 0, 2], [-1.0, 0.0, -0.5])):
        observation = _observation(pulls, means)
        call = f"recommend, with pulls {pulls} and means {means},"
        best = max((arm for arm in range(3) if pulls[arm]), key=lambda arm: means[arm])
        answer = _call(solution, observation, words=f"pulls {pulls}, means {means}")
        if isinstance(answer, float | np.floating) and float(answer) == means[best]:
            raise NotRight(f"{call} returned {means[best]}, the largest mean itself; expected {best}, its arm.")
        arm = _whole(answer, call, f"arm {best}")
        if arm == best:
            continue
        if not 0 <= arm < 3:
            raise NotRight(f"{call} returned arm {arm}; there are the arms 0, 1 and 2, and expected was arm {best}.")
        if not pulls[arm]:
            raise NotRight(
                f"{call} returned arm {arm}, which has never been pulled: its mean 0 stands for nothing; "
                f"expected arm {best}, the best of those pulled."
            )
        if pulls[arm] == max(pulls):
            raise NotRight(
                f"{call} returned arm {arm}, the arm pulled most; expected arm {best}, whose mean {means[best]} is the "
                "largest."
            )
        raise NotRight(f"{call} returned arm {arm} of mean {means[arm]}; expected arm {best} of mean {means[best]}.")


@_check(
    "greedy tries every arm once, and then goes on with the best mean.",
    "There are two cases: some arm has no pull yet, or every arm has one.",
    "pulls.all() is True if no entry is 0; pulls.argmin() is an arm of fewest pulls.",
    'if not observation["pulls"].all(): return int(observation["pulls"].argmin()); otherwise the arm of largest mean.',
)
def greedy(solution: Callable[..., Any]) -> None:
    """`greedy(observation)` returns an arm without a pull, if there is one, else the arm of largest mean."""
    for pulls, means in (([1, 0, 1], [1.0, 0.0, 0.0]), ([0, 0, 0], [0.0, 0.0, 0.0]), ([1, 4, 2], [0.0, 0.5, 1.0])):
        call = f"greedy, with pulls {pulls} and means {means},"
        arm = _whole(_call(solution, _observation(pulls, means), words=f"pulls {pulls}, means {means}"), call, "an arm")
        if not 0 <= arm < 3:
            raise NotRight(f"{call} returned arm {arm}; there are the arms 0, 1 and 2.")
        unpulled = [other for other in range(3) if not pulls[other]]
        if unpulled and arm not in unpulled:
            raise NotRight(
                f"{call} returned arm {arm}, which has been pulled already; expected arm {_arms(unpulled[:1])}, which "
                "has never been pulled."
            )
        best = int(np.argmax(means))
        if not unpulled and arm != best:
            raise NotRight(
                f"{call} returned arm {arm} of mean {means[arm]}; expected arm {best} of mean {means[best]}."
            )


@_check(
    "this is Wilson's interval, the one that bai-gym prints.",
    "Compute centre and half width, each in a line of its own; p = errors / runs.",
    "Both have the denominator 1 + z**2 / n. Try 0 errors of 100: the interval goes from 0 to 0.037.",
    "half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)); return centre - half, centre + half.",
)
def interval(solution: Callable[..., Any]) -> None:
    """`interval(errors, runs)` returns the two ends of Wilson's interval at level 95 %."""
    for errors, runs in ((30, 100), (0, 100), (1000, 5000), (50, 50)):
        call = f"interval({errors}, {runs})"
        low, high = _wilson(errors, runs)
        expected = f"{low:.4f} and {high:.4f}"
        ends = _numbers(_call(solution, errors, runs), call, (2,), f"two numbers, {expected}")
        if np.allclose(ends, (low, high), atol=2e-4):
            continue
        share = errors / runs
        half = 1.96 * math.sqrt(share * (1 - share) / runs)
        seen = f"{call} is {ends[0]:.4f} to {ends[1]:.4f}; expected {expected}"
        if np.allclose(ends, (share - half, share + half), atol=2e-4):
            raise NotRight(f"{seen}: yours is the plain interval p +- 1.96 sqrt(p (1 - p) / n), not Wilson's.")
        if np.allclose(ends, (high, low), atol=2e-4):
            raise NotRight(f"{seen}: the lower end comes first.")
        if np.allclose(ends, (100 * low, 100 * high), atol=2e-2):
            raise NotRight(f"{seen}: shares, not percent.")
        if np.allclose(ends, _wilson(errors, runs, 1.0), atol=2e-4):
            raise NotRight(f"{seen}: yours has z = 1, which is a level of 68 %; take z = 1.96.")
        raise NotRight(
            f"{seen}: its centre should be {(low + high) / 2:.4f} and its half width {(high - low) / 2:.4f}."
        )


def _observation(pulls: Sequence[int], means: Sequence[float]) -> dict[str, np.ndarray]:
    return {
        "pulls": np.array(pulls),
        "means": np.array(means),
        "variances": np.zeros(len(pulls)),
        "remaining": np.array([100]),
    }


def _wilson(errors: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    share, more = errors / runs, z**2 / runs
    half = z * math.sqrt(share * (1 - share) / runs + more / (4 * runs)) / (1 + more)
    centre = (share + more / 2) / (1 + more)
    return centre - half, centre + half


# Lesson 2


def _rounds(num_arms: int) -> int:
    return (num_arms - 1).bit_length()


@_check(
    "that many halvings, rounded up, leave one arm.",
    "Write down how many arms are left after each round: 8, 4, 2, 1 and 5, 3, 2, 1.",
    "R halvings leave one arm if 2**R is at least K: a logarithm to base 2, rounded up. Or count in a loop.",
    "int(np.ceil(np.log2(num_arms))); or count how often num_arms = (num_arms + 1) // 2 is done until it is 1.",
)
def number_of_rounds(solution: Callable[..., Any]) -> None:
    """`number_of_rounds(num_arms)` returns the base-2 logarithm, rounded up."""
    for num_arms in (8, 2, 5, 64, 65, 1000):
        call, expected = f"number_of_rounds({num_arms})", _rounds(num_arms)
        answer = _call(solution, num_arms)
        if isinstance(answer, float | np.floating) and float(answer) != expected:
            rounded = ", rounded up" if math.isclose(answer, math.log2(num_arms)) else ""
            natural = " (yours is the natural logarithm)" if math.isclose(answer, math.log(num_arms)) else ""
            raise NotRight(f"{call} is {answer:.4g}{natural}; expected {expected}{rounded}: a whole number of rounds.")
        rounds = _whole(answer, call, str(expected))
        if rounds != expected:
            left, course = num_arms, [num_arms]
            for _ in range(expected):
                left = -(-left // 2)
                course.append(left)
            shown = " -> ".join(map(str, course if len(course) <= 8 else [*course[:3], "...", *course[-2:]]))
            down = " (rounded down, or the natural logarithm?)" if rounds == math.floor(math.log2(num_arms)) else ""
            raise NotRight(f"{call} is {rounds}{down}; expected {expected}: {shown}, half of the arms, rounded up.")


@_check(
    "every round gets the same share of the budget, and every arm in it the same number of pulls.",
    "First the pulls of one round: the budget over the number of rounds, which all arms determine, dropped ones too.",
    "Divide the pulls of the round among the arms that are still active. The operator // rounds down.",
    "budget // (rounds * num_active), with rounds from exercise 1, for num_arms.",
)
def pulls_per_arm(solution: Callable[..., Any]) -> None:
    """`pulls_per_arm(budget, num_arms, num_active)` returns budget / (rounds x active arms), rounded down."""
    for budget, num_arms, active in ((240, 8, 8), (240, 8, 2), (100, 8, 8), (100, 5, 3), (1000, 64, 16)):
        call, rounds = f"pulls_per_arm({budget}, {num_arms}, {active})", _rounds(num_arms)
        expected = budget // (rounds * active)
        sum_ = f"{expected} = {budget} / ({rounds} rounds x {active} active arms), rounded down"
        answer = _call(solution, budget, num_arms, active)
        if isinstance(answer, float | np.floating):
            raise NotRight(f"{call} is {_shown(answer)}; expected the whole number {sum_}.")
        pulls = _whole(answer, call, sum_)
        if pulls == expected:
            continue
        why = ""
        if pulls == budget // active:
            why = f"; yours is the whole budget for a single round, {rounds} of which would spend {rounds} budgets"
        elif pulls == budget // (rounds * num_arms):
            why = f"; yours shares among all {num_arms} arms, also those that are dropped"
        elif pulls == -(-budget // (rounds * active)):
            spent = rounds * active * pulls
            why = f"; rounded up, {rounds} rounds of {active} x {pulls} would spend {spent} pulls"
        raise NotRight(f"{call} is {pulls}; expected {sum_}{why}.")


@_check(
    "the better half survives, rounded up, and ties are broken at random.",
    "How many survive? (len(active) + 1) // 2. Sort positions by mean, the largest first, then look up their arms.",
    "np.lexsort sorts by its last key, and by the one before where that is equal: it can be rng.random(len(means)).",
    "order = np.lexsort([rng.random(len(means)), -means]); return active[order[: ...]].",
)
def better_half(solution: Callable[..., Any]) -> None:
    """`better_half(active, means, rng)` returns the arms of the larger half of the means, half rounded up."""
    cases = (([3, 5, 8, 9], [0.1, 0.9, 0.4, 0.7]), ([2, 4, 6], [0.5, 0.2, 0.8]), ([7, 1], [0.3, 0.6]))
    for active, means in cases:
        arrays = np.array(active), np.array(means)
        copies = tuple(array.copy() for array in arrays)
        call = f"better_half({active}, {means})"
        kept = _kept(_call(solution, *arrays, np.random.default_rng(0), words=f"{active}, {means}, rng"), active, call)
        _untouched(arrays, copies, call)
        order = sorted(range(len(active)), key=lambda slot: -means[slot])
        size = -(-len(active) // 2)
        best = [active[slot] for slot in order[:size]]
        seen = f"{call} kept {_arms(kept)}; expected {_arms(sorted(best))}"
        if len(set(kept)) != len(kept):
            raise NotRight(f"{seen}: an arm is there twice.")
        if sorted(kept) == sorted(active[slot] for slot in order[-size:]) != sorted(best):
            raise NotRight(f"{seen}: yours is the worse half.")
        if len(kept) != size:
            raise NotRight(f"{seen}: of {len(active)} arms {size} survive (half, rounded up), not {len(kept)}.")
        if sorted(kept) != sorted(best):
            raise NotRight(f"{seen}, those of the {size} largest means.")
    active, rng = [10, 11, 12, 13], np.random.default_rng(1)
    survived: Counter[int] = Counter()
    for _ in range(DRAWS):
        survived.update(_kept(_call(solution, np.array(active), np.full(4, 0.5), rng), active, "better_half"))
    _at_random([survived[arm] for arm in active], active, 0.5, "four arms of the same mean", "kept")


def _kept(answer: Any, active: list[int], call: str) -> list[int]:
    try:
        kept = np.asarray(answer)
        wrong = kept.ndim != 1 or not np.issubdtype(kept.dtype, np.integer)
    except ValueError:
        wrong = True
    if wrong:
        if isinstance(answer, list | np.ndarray) and np.asarray(answer).dtype.kind == "f":
            raise NotRight(f"{call} returned {_shown(answer)}: means or other numbers; expected arms out of {active}.")
        raise NotRight(f"{call} returned {_shown(answer)}; expected a list or an array of arms out of {active}.")
    foreign = [int(arm) for arm in kept if arm not in active]
    if foreign:
        raise NotRight(
            f"{call} kept {_arms(kept)}, but arm {foreign[0]} is not active: these are positions in the list, expected "
            f"are arms, such as {active[0]} for position 0."
        )
    return [int(arm) for arm in kept]


def _at_random(counts: list[int], arms: list[int], share: float, when: str, what: str) -> None:
    """Refuse counts that ties broken at random would not give once in a million times."""
    expected, bound = DRAWS * share, 5.5 * math.sqrt(DRAWS * share * (1 - share))
    for arm, count in zip(arms, counts, strict=True):
        if abs(count - expected) > bound:
            raise NotRight(
                f"of {when}, arm {arm} was {what} {count} of {DRAWS} times; expected about {expected:.0f}: break "
                "ties at random with rng, or the order of the arms decides."
            )


class Pulls:
    """A bandit without noise that keeps a record: `pull(arm, times)` gives the arm's mean `times` times.

    With `early`, the first `early_pulls` rewards of each arm are these.
    """

    def __init__(
        self, means: Sequence[float], budget: int, early: Sequence[float] | None = None, early_pulls: int = 0
    ) -> None:
        self.means = means
        self.budget = budget
        self.early = means if early is None else early
        self.early_pulls = early_pulls
        self.log: list[tuple[int, int]] = []

    def __call__(self, arm: Any, times: Any) -> np.ndarray:
        expected = f"an arm from 0 to {len(self.means) - 1}"
        for value, what in ((arm, "the arm"), (times, "the number of pulls")):
            if not _is_whole(value):
                raise NotRight(
                    f"your code calls pull({_shown(arm)}, {_shown(times)}); expected {what} as a whole number (an "
                    f"int), not {_shown(value)}."
                )
        arm, times = int(arm), int(times)
        if not 0 <= arm < len(self.means) or times < 1:
            raise NotRight(f"your code calls pull({arm}, {times}); expected {expected} and at least 1 pull.")
        spent = sum(made for _, made in self.log)
        if spent + times > self.budget:
            raise NotRight(
                f"your code asks for pull number {spent + times} with a budget of {self.budget} ({len(self.means)} "
                f"arms, {spent} pulls made, then pull({arm}, {times})); expected at most {self.budget}."
            )
        before = self.totals[arm]
        self.log.append((arm, times))
        return np.where(np.arange(before, before + times) < self.early_pulls, self.early[arm], self.means[arm])

    @property
    def totals(self) -> list[int]:
        """How often each arm has been pulled."""
        counts: Counter[int] = Counter()
        for arm, times in self.log:
            counts[arm] += times
        return [counts[arm] for arm in range(len(self.means))]


@_check(
    "your sequential halving does, pull for pull, what the algorithm says.",
    "Begin with active = np.arange(num_arms), and loop while more than one arm is active.",
    "In a round: the pulls per arm, the mean of pull(arm, times) for each active arm, the better half.",
    "means = np.array([pull(arm, times).mean() for arm in active]), then better_half; at the end int(active[0]).",
)
def sequential_halving(solution: Callable[..., Any]) -> None:
    """`sequential_halving(pull, num_arms, budget, rng)` makes the pulls of Karnin et al. (2013), and recommends."""
    eight, five = [0.3, 0.1, 0.8, 0.5, 0.2, 0.9, 0.4, 0.6], [0.2, 0.7, 0.1, 0.9, 0.4]
    for means, budget in ((eight, 240), (five, 200), ([0.4, 0.6], 11)):
        pull, arms = Pulls(means, budget), len(means)
        best = int(np.argmax(means))
        call = f"with {arms} arms of means {means}, your code"
        try:
            answer = _call(solution, pull, arms, budget, np.random.default_rng(0), words=f"pull, {arms}, {budget}, rng")
        except NotDone:
            if not pull.log:
                raise
            _check_course(pull)
            raise NotRight(f"{call} makes {sum(pull.totals)} pulls and returns nothing; expected arm {best}.") from None
        _check_course(pull)
        arm = _whole(answer, call, f"the arm that is left, {best}")
        if arm != best:
            raise NotRight(
                f"{call} recommended arm {arm}; expected arm {best}, the only one left after the last round."
            )
    changing = Pulls([0.5, 0.6, 0.0, 0.0], 16, early=[1.0, 0.6, 0.1, 0.0], early_pulls=2)
    if int(_call(solution, changing, 4, 16, np.random.default_rng(0), words="pull, 4, 16, rng")) == 0:
        raise NotRight(
            "with 4 arms and a budget of 16, arm 0 gave 1.0 in round 1 and 0.5 in round 2, arm 1 gave 0.6 in both, and "
            "your code recommended arm 0; expected arm 1: each round forgets the rewards of the rounds before."
        )
    recommended: Counter[int] = Counter()
    for seed in range(DRAWS):
        recommended[int(_call(solution, Pulls([0.5] * 4, 16), 4, 16, np.random.default_rng(seed)))] += 1
    _at_random(
        [recommended[arm] for arm in range(4)], [0, 1, 2, 3], 0.25, "four arms of the same rewards", "recommended"
    )


def _check_course(pull: Pulls) -> None:
    """Compare the pulls with those of sequential halving on the same means."""
    arms, rounds, totals = len(pull.means), _rounds(len(pull.means)), pull.totals
    active = sorted(range(arms), key=lambda arm: -pull.means[arm])  # the best first
    each, dropped_after = [], [rounds] * arms
    for stage in range(1, rounds + 1):
        each.append(pull.budget // (rounds * len(active)))
        size = -(-len(active) // 2)
        for arm in active[size:]:
            dropped_after[arm] = stage
        active = active[:size]
    expected = [sum(each[: dropped_after[arm]]) for arm in range(arms)]
    case = f"with {arms} arms and a budget of {pull.budget}"
    first = f"{each[0]} = {pull.budget} / ({rounds} rounds x {arms} arms), rounded down"
    if totals != expected:
        worse = [arm for arm in range(arms) if dropped_after[arm] == 1]
        better = [arm for arm in range(arms) if dropped_after[arm] > 1 or rounds == 1]
        if not pull.log:
            raise NotRight(f"{case}, your code makes no pull; expected {sum(expected)} pulls in {rounds} rounds.")
        if 0 in totals:
            raise NotRight(f"{case}, your code never pulls arm {totals.index(0)}; expected {first} pulls in round 1.")
        if len(set(totals)) == 1 and totals[0] == each[0]:
            raise NotRight(
                f"{case}, your code stops after round 1, with {sum(totals)} pulls; expected {rounds} rounds, and "
                f"{sum(expected)} pulls."
            )
        if len(set(totals)) == 1:
            raise NotRight(
                f"{case}, your code pulls every arm {_times(totals[0])} and drops none; expected {first} pulls in "
                "round 1, and round 2 with the better half only."
            )
        if max(totals[arm] for arm in better) < max(totals[arm] for arm in worse):
            most = totals.index(max(totals))
            raise NotRight(
                f"{case}, the arm pulled most, {_times(totals[most])}, is arm {most} of mean {pull.means[most]}, one "
                f"of the worse half; expected the better half to go on, and arm {int(np.argmax(pull.means))} to be "
                f"pulled most, {_times(max(expected))}."
            )
        if len({totals[arm] for arm in worse}) == 1 and totals[worse[0]] != each[0]:
            raise NotRight(
                f"{case}, your code pulls each arm that is dropped after round 1 {_times(totals[worse[0]])}; expected "
                f"{first}."
            )
        arm = min((arm for arm in range(arms) if totals[arm] != expected[arm]), key=lambda arm: dropped_after[arm])
        course = " + ".join(map(str, each[: dropped_after[arm]]))
        end = "the last round" if dropped_after[arm] == rounds else f"round {dropped_after[arm]}"
        shown = f"{course} = {expected[arm]}" if "+" in course else course
        raise NotRight(
            f"{case}, arm {arm} (mean {pull.means[arm]}) is pulled {_times(totals[arm])}; it takes part until {end}, "
            f"so expected {shown}."
        )
    made = [0] * arms
    for arm, times in pull.log:
        made[arm] += times
        late = [other for other in range(arms) if made[other] < each[0]]
        if made[arm] > each[0] and late:
            raise NotRight(
                f"{case}, arm {arm} gets its pull number {each[0] + 1}, of round 2, when arm {late[0]} has had "
                f"{made[late[0]]} of its {each[0]} pulls of round 1; expected round 1 to end before round 2 begins."
            )


# Lesson 3


@_check(
    "every pull of an arm costs its gap, and the best arm costs nothing.",
    "What does one pull of an arm cost, compared with a pull of the best arm?",
    "means.max() - means are the gaps, one for each arm; an arm's gap is paid as often as the arm is pulled.",
    "(pulls * (means.max() - ...)).sum()",
)
def cumulative_regret(solution: Callable[..., Any]) -> None:
    """`cumulative_regret(pulls, means)` returns the sum of pulls x (largest mean - mean)."""
    for pulls, means in (([10, 30, 60], [0.2, 0.5, 0.9]), ([0, 7], [0.75, 0.5]), ([5, 5, 5], [-1.0, 1.0, 1.0])):
        counts, values = np.array(pulls), np.array(means)
        call = f"cumulative_regret({pulls}, {means})"
        answer = _numbers(_call(solution, counts, values), call, (), "one number")
        gaps = values.max() - values
        expected = (counts * gaps).sum()
        wrong = {
            "yours is the regret of an average pull, not of all": expected / counts.sum(),
            "yours is the reward collected; the regret is what was lost against the best arm": (counts * values).sum(),
            "yours counts pulls of worse arms; each of them costs the gap of its arm": counts[gaps > 0].sum(),
            "yours is a simple regret, of one recommended arm": gaps[counts.argmax()],
            "yours sums the gaps, whatever the pulls": gaps.sum(),
            "the largest mean minus the arm's, so that nothing is below 0": -expected,
        }
        _compare(answer, expected, call, wrong)


def _compare(answer: Any, expected: Any, call: str, wrong: dict[str, Any]) -> None:
    """Refuse other numbers than those expected; where they are those of a known mistake, say which."""
    if np.allclose(answer, expected):
        return
    shown = [_list(np.asarray(value)) if np.ndim(value) else f"{float(value):.6g}" for value in (answer, expected)]
    seen = f"{call} is {shown[0]}; expected {shown[1]}"
    for mistake, value in wrong.items():
        if np.allclose(answer, value):
            raise NotRight(f"{seen}: {mistake}.")
    raise NotRight(f"{seen}.")


@_check(
    "a large mean or few pulls make an index large, and an arm without a pull comes first.",
    "t, the number of all pulls so far, is pulls.sum(); T is pulls, an array.",
    "Arms without a pull would divide by 0: begin with np.full(len(pulls), np.inf), and fill in the others.",
    "seen = pulls > 0; indices[seen] = means[seen] + np.sqrt(... / pulls[seen]).",
)
def ucb_indices(solution: Callable[..., Any]) -> None:
    """`ucb_indices(pulls, means)` returns mean + sqrt(2 log t / T) of each arm; inf for an arm without a pull."""
    for pulls, means in (([10, 30, 60], [0.2, 0.5, 0.4]), ([3, 0, 1], [0.5, 0.0, 1.0])):
        counts, values = np.array(pulls), np.array(means)
        call = f"ucb_indices({pulls}, {means})"
        answer = _numbers(_call(solution, counts, values), call, (3,), "one index for each arm")
        unpulled = np.flatnonzero((counts == 0) & ~np.isposinf(answer))
        if unpulled.size:
            arm = int(unpulled[0])
            raise NotRight(f"{call} is {answer[arm]:.4g} for arm {arm}, which has never been pulled; expected inf.")
        with np.errstate(all="ignore"):
            expected = _index(values, 2 * math.log(counts.sum()), counts)
            wrong = {
                "yours has no factor 2 below the root": _index(values, math.log(counts.sum()), counts),
                "the logarithm is that of all pulls together, not of the arm's own": _index(
                    values, 2 * np.log(counts), counts
                ),
                "the natural logarithm (np.log)": _index(values, 2 * math.log10(counts.sum()), counts),
                "an upper bound: add the root, do not subtract it": 2 * values - expected,
                "yours has no root": np.where(counts, values + 2 * math.log(counts.sum()) / counts, np.inf),
            }
        _compare(answer, expected, call, wrong)


def _index(means: np.ndarray, square: Any, pulls: np.ndarray) -> np.ndarray:
    return np.where(pulls > 0, means + np.sqrt(square / pulls), np.inf)


@_check(
    "each arm is pulled as often as the posterior holds it to be the best.",
    "rng.beta(a, b) draws; a and b may be arrays, and then it draws a number for each arm.",
    "After s successes in n pulls a is 1 + s and b is 1 + the number of failures, n - s.",
    "draws = rng.beta(1 + successes, ...); return int(draws.argmax()).",
)
def thompson(solution: Callable[..., Any]) -> None:
    """`thompson(successes, pulls, rng)` returns the arm of the largest draw from Beta(1 + s, 1 + n - s)."""
    for successes, pulls in (([6, 5, 0], [10, 10, 1]), ([3, 0, 2], [6, 0, 3])):
        s, n = np.array(successes), np.array(pulls)
        call = f"thompson({successes}, {pulls}, rng)"
        best = _best_chances(1 + s, 1 + n - s)
        wrong = {
            "yours draws nothing: it always takes the largest mean": np.eye(3)[((1 + s) / (2 + n)).argmax()],
            "b is 1 + failures, and yours is 1 + pulls": _best_chances(1 + s, 1 + n),
            "yours takes all arms equally often": np.full(3, 1 / 3),
            "yours takes the smallest draw": _best_chances(1 + n - s, 1 + s),
        }
        _choices(solution, s, n, call, best, wrong)


@_check(
    "every second pull goes to another arm than the best one of a draw.",
    "Call thompson for the first arm. A fair coin is rng.random() < 0.5.",
    "Tails: call thompson again, at most 100 times, until it returns another arm than the first one.",
    "for _ in range(100): arm = thompson(...); if arm != first: return arm. After the loop: the largest mean "
    "(1 + s) / (2 + n) without the first arm, np.delete or a mean of -1 for it.",
)
def top_two(solution: Callable[..., Any]) -> None:
    """`top_two(successes, pulls, rng)` returns the arm of a draw, or half of the time that of another draw."""
    for successes, pulls in (([90, 60, 0], [100, 100, 0]), ([900, 300, 100], [1000, 1000, 1000])):
        s, n = np.array(successes), np.array(pulls)
        call = f"top_two({successes}, {pulls}, rng)"
        best = _best_chances(1 + s, 1 + n - s)
        sure = best.max() > 1 - 1e-9
        others = (
            np.eye(3)[1]
            if sure
            else sum(best[i] * np.where(np.arange(3) == i, 0, best) / (1 - best[i]) for i in range(3))
        )
        wrong = {
            "yours is Thompson sampling: half of the pulls must go to another arm": best,
            "yours never pulls the first arm: half of the pulls are its own": others,
            "yours takes the second of one draw; draw again until another arm is the largest": (
                best / 2 + _best_chances(1 + s, 1 + n - s, place=1) / 2
            ),
        }
        _choices(solution, s, n, call, best / 2 + others / 2, wrong)


def _best_chances(a: np.ndarray, b: np.ndarray, place: int = 0) -> np.ndarray:
    """Return how often each arm has the largest draw from Beta(a, b), or the largest but `place`."""
    draws = np.random.default_rng(0).beta(a, b, (200_000, len(a)))
    return np.bincount((-draws).argsort(axis=1)[:, place], minlength=len(a)) / len(draws)


def _choices(
    solution: Callable[..., Any],
    successes: np.ndarray,
    pulls: np.ndarray,
    call: str,
    expected: np.ndarray,
    wrong: dict[str, np.ndarray],
) -> None:
    """Compare how often a random rule chooses each arm with the chances that it should have, and those of mistakes."""
    given, rng, number = (successes.copy(), pulls.copy()), np.random.default_rng(0), 1000
    words = f"{successes.tolist()}, {pulls.tolist()}, rng"
    counts = np.zeros(len(pulls))
    for _ in range(number):
        arm = _whole(_call(solution, *given, rng, words=words), call, "an arm")
        if not 0 <= arm < len(pulls):
            raise NotRight(f"{call} returned arm {arm}; there are the arms 0, 1 and 2.")
        counts[arm] += 1
    _untouched(given, (successes, pulls), call)
    again = [[int(solution(*given, np.random.default_rng(seed))) for seed in range(20)] for _ in range(2)]
    if again[0] != again[1]:
        raise NotRight(
            f"{call} returns different arms for the same generator; draw with rng alone, not with np.random."
        )

    def far(chances: np.ndarray) -> float:  # in standard errors
        return float((np.abs(counts / number - chances) / np.sqrt(chances * (1 - chances) / number + 1e-6)).max())

    if far(expected) > 5.5:
        shares, right = (
            ", ".join(f"{100 * value:.0f} %" for value in values) for values in (counts / number, expected)
        )
        seen = f"{call} chose the arms 0, 1 and 2 in {shares} of {number:,} calls; expected about {right}"
        mistake = min(wrong, key=lambda one: far(wrong[one]))
        raise NotRight(f"{seen}: {mistake}." if far(wrong[mistake]) < 5.5 else f"{seen}.")


# Lesson 4


@_check(
    "pulls in proportion to the variances make all means equally uncertain.",
    "If variance / n is the same number c for all arms, what is n?",
    "n = variance / c, and all n sum to the budget. That determines c.",
    "c = variances.sum() / budget.",
)
def shares(solution: Callable[..., Any]) -> None:
    """`shares(variances, budget)` returns budget x variance / sum of the variances."""
    for variances, budget in ((np.array([1.0, 4.0, 3.0]), 80), (np.array([0.1, 0.9]), 50), (np.ones(3), 20)):
        copy, call = variances.copy(), f"shares({variances.tolist()}, {budget})"
        answer = _numbers(_call(solution, variances, budget), call, variances.shape, "one number of pulls for each arm")
        _untouched([variances], [copy], call)
        expected = budget * variances / variances.sum()
        if np.allclose(answer, expected):
            continue
        seen = f"{call} is {_list(answer)}; expected {_list(expected)}"
        deviations = np.sqrt(variances)
        if np.allclose(answer, budget * deviations / deviations.sum()):
            raise NotRight(f"{seen}: yours is in proportion to the standard deviations, not to the variances.")
        if np.allclose(answer, budget / variances / (1 / variances).sum()):
            raise NotRight(f"{seen}: yours gives the noisy arms fewer pulls, not more.")
        if any(np.array_equal(answer, whole(expected)) for whole in (np.floor, np.rint, np.ceil)):
            raise NotRight(f"{seen}: yours are rounded; shares need not be whole numbers.")
        if np.allclose(answer, variances / variances.sum()):
            raise NotRight(f"{seen}: yours are shares of 1, not of the budget of {budget}.")
        if not np.isclose(answer.sum(), budget):
            raise NotRight(f"{seen}: yours are {answer.sum():.6g} pulls together, not {budget}.")
        raise NotRight(f"{seen}.")


@_check(
    "pulled like this, variance / pulls is as equal as whole numbers allow.",
    "As in lesson 1 there are two cases: arms without a pull come first.",
    "Ask pulls.all() before you divide; variances / pulls is an array, and argmax finds its largest entry.",
    "if not pulls.all(): return int(pulls.argmin()); otherwise int((...).argmax()).",
)
def next_arm(solution: Callable[..., Any]) -> None:
    """`next_arm(variances, pulls)` returns an arm without a pull, if there is one, else that of largest ratio."""
    cases = (([1.0, 4.0, 3.0], [1, 0, 5]), ([1.0, 4.0, 3.0], [1, 6, 3]), ([4.0, 9.0], [2, 5]), ([1.0, 9.0], [2, 8]))
    for variances, pulls in cases:
        call = f"next_arm({variances}, {pulls})"
        arm = _whole(_call(solution, np.array(variances), np.array(pulls)), call, "an arm")
        if not 0 <= arm < len(pulls):
            raise NotRight(f"{call} is {arm}; there are the arms 0 to {len(pulls) - 1}.")
        if 0 in pulls:
            if pulls[arm]:
                raise NotRight(f"{call} is {arm}; expected {pulls.index(0)}, the arm that has never been pulled.")
            continue
        ratios = [variance / made for variance, made in zip(variances, pulls, strict=True)]
        best = int(np.argmax(ratios))
        if arm != best:
            why = ""
            if arm == int(np.argmax([math.sqrt(v) / made for v, made in zip(variances, pulls, strict=True)])):
                why = " (by the variance, not by the standard deviation)"
            elif arm == int(np.argmax(variances)):
                why = " (not the noisiest arm: that would get all pulls)"
            raise NotRight(
                f"{call} is {arm}, of variance / pulls {ratios[arm]:.3g}; expected {best}, of variance / pulls "
                f"{ratios[best]:.3g}, the largest{why}."
            )


@_check(
    "an upper bound from the sample variance, and infinite while there are too few rewards.",
    "Two cases: too few rewards, n - 1 <= 4 L, and the formula. The variance has the divisor n - 1.",
    "np.var(rewards, ddof=1) is s^2, np.log the natural logarithm, np.inf infinity.",
    "log = np.log(1 / delta); if len(rewards) - 1 <= 4 * log: return np.inf; otherwise s^2 / (1 - 2 * np.sqrt(...)).",
)
def upper_bound(solution: Callable[..., Any]) -> None:
    """`upper_bound(rewards, delta)`: U = s^2 / (1 - 2 sqrt(L / (n - 1))), L = log(1 / delta); inf for n - 1 <= 4 L."""
    rng = np.random.default_rng(0)
    for count, delta in ((50, 0.05), (200, 0.01), (12, 0.05), (1, 0.05)):
        rewards = rng.normal(0.0, 2.0, count)
        call = f"upper_bound of {count} reward{'s' * (count > 1)} with delta = {delta}"
        value = _numbers(_call(solution, rewards, delta, words=f"{count} rewards, {delta}"), call, (), "one number")
        log = math.log(1 / delta)
        if count - 1 <= 4 * log:
            if not np.isposinf(value):
                raise NotRight(
                    f"{call} is {float(value):.4g}; expected inf, because n - 1 = {count - 1} is not above "
                    f"4 log(1/delta) = {4 * log:.4g}: so few rewards bound nothing."
                )
            continue
        factor = 1 / (1 - 2 * math.sqrt(log / (count - 1)))
        expected = float(rewards.var(ddof=1)) * factor
        if math.isclose(float(value), expected, rel_tol=1e-9):
            continue
        seen = f"{call} is {float(value):.6g}; expected {expected:.6g}"
        if math.isclose(float(value), float(rewards.var()) * factor, rel_tol=1e-9):
            raise NotRight(f"{seen}: the sample variance divides by n - 1 (in NumPy: var(ddof=1)), yours by n.")
        if math.isclose(float(value), float(rewards.std(ddof=1)) * factor, rel_tol=1e-9):
            raise NotRight(f"{seen}: yours has the standard deviation in place of the variance.")
        if math.isclose(float(value), float(rewards.var(ddof=1)), rel_tol=1e-9):
            raise NotRight(f"{seen}: yours is the sample variance itself, which is too small about every second time.")
        raise NotRight(f"{seen}: the sample variance {rewards.var(ddof=1):.6g} times {factor:.6g}.")


def _list(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:.4g}" for value in values) + "]"


# Lesson 5


@_check(
    "pulls of all arms together estimate theta.",
    "V is a d x d matrix, b a vector of d numbers. Both are sums over arms, which are matrix products.",
    "V = features.T @ (pulls[:, None] * features): the row of an arm counts as often as the arm was pulled.",
    "b = features.T @ (pulls * means); np.linalg.solve solves V theta = b.",
)
def least_squares(solution: Callable[..., Any]) -> None:
    """`least_squares(features, pulls, means)` returns theta, V theta = b with V = sum n x x^T and b = sum n mean x."""
    rng = np.random.default_rng(0)
    for arms, dimensions in ((5, 2), (12, 4)):
        features, pulls = rng.normal(size=(arms, dimensions)), rng.integers(1, 30, arms)
        theta = rng.normal(size=dimensions)
        for noise in (0.0, 0.5):
            means = features @ theta + noise * rng.normal(size=arms)
            call = f"least_squares for {arms} arms with {dimensions} features"
            answer = _call(solution, features.copy(), pulls.copy(), means.copy(), words="features, pulls, means")
            value = _numbers(answer, call, (dimensions,), f"theta, {dimensions} numbers")
            expected = np.linalg.solve(features.T @ (pulls[:, None] * features), features.T @ (pulls * means))
            if np.allclose(value, expected, rtol=1e-6, atol=1e-9):
                continue
            seen = f"{call} is {_list(value)}; expected {_list(expected)}"
            if np.allclose(value, np.linalg.lstsq(features, means, rcond=None)[0]):
                raise NotRight(f"{seen}: yours counts every arm once; an arm with 20 pulls counts 20 times.")
            if np.allclose(value, np.linalg.solve(features.T @ (pulls[:, None] * features), features.T @ means)):
                raise NotRight(f"{seen}: in b, too, the mean of an arm counts as often as it was pulled.")
            if np.allclose(value, features.T @ (pulls * means)):
                raise NotRight(f"{seen}: yours is b; theta solves V theta = b.")
            raise NotRight(f"{seen}{' (rewards without noise: theta itself)' if noise == 0.0 else ''}.")


@_check(
    "one number for each arm: how uncertain the estimate of its mean is.",
    "V is that of exercise 1, with weights in place of pulls.",
    "features @ np.linalg.inv(V) has the row x^T V^-1 for each arm x.",
    "Multiply features @ np.linalg.inv(V) with features, entry by entry, and sum each row (axis=1).",
)
def arm_variances(solution: Callable[..., Any]) -> None:
    """`arm_variances(features, weights)` returns x^T V^-1 x of each arm, V = sum w x x^T."""
    for features, weights in (
        (np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([0.5, 0.25, 0.25])),
        (np.random.default_rng(1).normal(size=(9, 3)), np.full(9, 1 / 9)),
    ):
        arms, dimensions = features.shape
        call = f"arm_variances for {arms} arms with {dimensions} features"
        answer = _call(solution, features.copy(), weights.copy(), words="features, weights")
        matrix = features.T @ (weights[:, None] * features)
        inverse = np.linalg.inv(matrix)
        if np.shape(answer) == (arms, arms) and np.allclose(answer, features @ inverse @ features.T):
            raise NotRight(
                f"{call} is a matrix of shape ({arms}, {arms}); expected its diagonal alone, {arms} numbers, one "
                "for each arm."
            )
        value = _numbers(answer, call, (arms,), "one number for each arm")
        expected = np.einsum("ki,ij,kj->k", features, inverse, features)
        if np.allclose(value, expected):
            continue
        seen = f"{call} is {_list(value[:4])}; expected {_list(expected[:4])}"
        if np.allclose(value, np.sqrt(expected)):
            raise NotRight(f"{seen}: yours are the standard deviations, the roots.")
        if np.allclose(value, np.einsum("ki,ij,kj->k", features, matrix, features)):
            raise NotRight(f"{seen}: yours has V in place of its inverse.")
        if np.allclose(value, np.einsum("ki,ij,kj->k", features, np.linalg.inv(features.T @ features), features)):
            raise NotRight(f"{seen}: yours leaves the weights out of V.")
        raise NotRight(f"{seen}, x^T V^-1 x{' (first four arms)' if arms > 4 else ''}.")


@_check(
    "your design is within 5 % of the best possible one.",
    "Begin with np.full(K, 1 / K). Each step needs the variances of all arms with the present weights.",
    "arm = variances.argmax(), v = variances[arm], then the step length; d is features.shape[1].",
    "weights = (1 - step) * weights; weights[arm] += step; repeat, and return weights after the last step.",
)
def design(solution: Callable[..., Any]) -> None:
    """`design(features, steps)` returns weights whose largest variance is at most 1.05 d after 400 steps."""
    rng = np.random.default_rng(2)
    crowd = np.array([[math.cos(angle), math.sin(angle)] for angle in (0.0, *rng.normal(0.8, 0.05, 10), 2.4)])
    for features in (crowd, rng.normal(size=(20, 4))):
        arms, dimensions = features.shape
        call = f"design for {arms} arms with {dimensions} features, 400 steps,"
        answer = _call(solution, features.copy(), 400, words="features, 400")
        weights = _numbers(answer, call, (arms,), "one weight for each arm")
        if not np.isclose(weights.sum(), 1.0, atol=1e-6):
            raise NotRight(f"{call} has weights with the sum {weights.sum():.4g}; expected 1.")
        if weights.min() < -1e-9:
            raise NotRight(
                f"{call} has a weight of {weights.min():.4g} for arm {weights.argmin()}; expected at least 0."
            )
        largest, equal = (_largest(features, w) for w in (weights, np.full(arms, 1 / arms)))
        if not largest <= 1.05 * dimensions:
            if largest > 1.05 * equal:
                why = ": does it move weight to the arm of the least variance?"
            else:
                why = (
                    f", as equal weights ({equal:.4g})"
                    if np.isclose(largest, equal)
                    else f" ({equal:.4g} at the start)"
                )
            raise NotRight(
                f"{call} has a largest variance of {largest:.4g}{why}; expected at most {1.05 * dimensions:.4g}, 5 % "
                f"above the optimum, which is the number of features, {dimensions}."
            )


def _largest(features: np.ndarray, weights: np.ndarray) -> float:
    matrix = features.T @ (weights[:, None] * features)
    if np.linalg.matrix_rank(matrix) < len(matrix):
        return math.inf
    return float(np.einsum("ki,ij,kj->k", features, np.linalg.inv(matrix), features).max())


# Lesson 6


@_check(
    "an experiment is significant at some look if any of its p-values is below the level.",
    "p_values has a row for each experiment and a column for each look. When does a row count?",
    "p_values < level is an array of True and False; .any(axis=1) says it for each row.",
    "The share of True in an array is its mean(): (p_values < level).any(axis=1)...",
)
def share_significant(solution: Callable[..., Any]) -> None:
    """`share_significant(p_values, level)` returns the share of rows in which any p-value is below the level."""
    p_values = np.array([[0.5, 0.04, 0.3], [0.2, 0.2, 0.2], [0.03, 0.02, 0.01], [0.9, 0.06, 0.04], [0.6, 0.5, 0.9]])
    for level in (0.05, 0.01, 0.035):
        given, call = p_values.copy(), f"share_significant of 5 experiments with 3 looks at the level {level}"
        answer = _numbers(_call(solution, given, level, words=f"p_values, {level}"), call, (), "one share")
        _untouched([given], [p_values], call)
        below = p_values < level
        wrong = {
            "yours looks once, at the end": below[:, -1].mean(),
            "yours looks once, at the beginning": below[:, 0].mean(),
            "yours is the share of looks, not of experiments": below.mean(),
            "yours asks that all looks be significant; one is enough to stop": below.all(axis=1).mean(),
            "yours counts experiments; divide by their number": below.any(axis=1).sum(),
            "yours is the share without any": 1 - below.any(axis=1).mean(),
            "`any` over the experiments (axis=0) is not `any` over the looks of one (axis=1)": below.any(axis=0).mean(),
            "below the level, not at it": (p_values <= level).any(axis=1).mean(),
        }
        _compare(answer, below.any(axis=1).mean(), call, wrong)


@_check(
    "without a difference its mean is 1 at any time, so it hardly ever becomes large.",
    "total may be an array of sums, and pairs of numbers of pairs; NumPy's functions work on both.",
    "The exponent is total**2 / (2 * (1 + pairs)), the factor before it 1 / np.sqrt(1 + pairs).",
    "np.exp(total**2 / (...)) / np.sqrt(...)",
)
def mixture_ratio(solution: Callable[..., Any]) -> None:
    """`mixture_ratio(total, pairs)` returns exp(total^2 / (2 (1 + pairs))) / sqrt(1 + pairs)."""
    for total, pairs in ((6.0, 8), (-6.0, 8), (0.0, 99), (np.array([1.0, -3.0, 20.0]), np.array([1, 4, 50]))):
        call = f"mixture_ratio({_shown(total)}, {_shown(pairs)})"
        answer = _numbers(_call(solution, total, pairs), call, np.shape(total), "one ratio for each sum")
        square, more = np.square(total), 1 + np.asarray(pairs)
        expected = np.exp(square / (2 * more)) / np.sqrt(more)
        wrong = {
            "yours is its logarithm": np.log(expected),
            "yours is turned over, no difference against a difference": 1 / expected,
            "yours leaves out the factor 1 / sqrt(1 + n)": np.exp(square / (2 * more)),
            "the exponent has the square of the sum": np.exp(np.asarray(total) / (2 * more)) / np.sqrt(more),
            "the sum of the differences, and yours squares their mean": np.exp(square / pairs**2 / (2 * more))
            / np.sqrt(more),
            "yours has n where 1 + n should be": np.exp(square / (2 * np.asarray(pairs))) / np.sqrt(pairs),
            "divide the square by 2 (1 + n), not by 1 + n": np.exp(square / more) / np.sqrt(more),
        }
        _compare(answer, expected, call, wrong)


@_check(
    "stop at the first pair whose ratio has reached 1 / level.",
    "The threshold is 1 / level: 20 for the level 0.05. Which entries of ratios reach it?",
    "(ratios >= 1 / level).argmax() is the first position that does, counted from 0, if there is one.",
    "reached = ratios >= 1 / level; return int(reached.argmax()) + 1 if reached.any() else ...",
)
def first_stop(solution: Callable[..., Any]) -> None:
    """`first_stop(ratios, level)` returns the number of pairs at the first ratio >= 1 / level; 0 if there is none."""
    for ratios, level in (([0.5, 3.0, 25.0, 2.0, 30.0], 0.05), ([1.0, 0.01, 5.0], 0.05), ([11.0, 0.02, 40.0], 0.1)):
        given = np.array(ratios)
        call, reached = f"first_stop({ratios}, {level})", np.array(ratios) >= 1 / level
        expected = int(reached.argmax()) + 1 if reached.any() else 0
        stop = _whole(_call(solution, given, level), call, str(expected))
        _untouched([given], [np.array(ratios)], call)
        below = np.array(ratios) <= level
        wrong = {
            "no ratio reaches 1 / level: return 0": len(ratios) if not expected else -1,
            "yours never stops": 0 if expected else -1,
            "yours stops where a ratio is below the level, as if it were a p-value": int(below.argmax()) + 1,
            "yours is the last such pair": int(np.flatnonzero(reached)[-1]) + 1 if expected else -1,
            "yours stops at the largest ratio": int(given.argmax()) + 1,
            "pairs count from 1": expected - 1,
        }
        if not expected and stop == 1:
            wrong = {"no ratio reaches 1 / level, and argmax of nothing but False is 0: ask any() first": 1}
        _compare(stop, expected, call, wrong)


# Lesson 7


@_check(
    "only runs in which exactly one of the two is wrong tell them apart.",
    "wrong_a and wrong_b are arrays of True and False with an entry for each run. When is only A wrong?",
    "~wrong_b is True where B is right; & is `and`, entry by entry.",
    "(wrong_a & ~wrong_b).sum() is the first of the two numbers.",
)
def discordant(solution: Callable[..., Any]) -> None:
    """`discordant(wrong_a, wrong_b)` returns how often only A is wrong, and how often only B is."""
    rng = np.random.default_rng(0)
    for size, share_a, share_b in ((8, 0.5, 0.5), (1000, 0.3, 0.2)):
        a, b = rng.random(size) < share_a, rng.random(size) < share_b
        call = f"discordant of {size} runs ({a.sum()} errors of A, {b.sum()} of B)"
        value = _numbers(_call(solution, a.copy(), b.copy(), words="wrong_a, wrong_b"), call, (2,), "two counts")
        expected = int((a & ~b).sum()), int((b & ~a).sum())
        if tuple(value) == expected:
            continue
        seen = f"{call} is {value[0]:g} and {value[1]:g}; expected {expected[0]} and {expected[1]}"
        if tuple(value) == (a.sum(), b.sum()):
            raise NotRight(f"{seen}: yours also counts the {int((a & b).sum())} runs in which both are wrong.")
        if tuple(value) == expected[::-1]:
            raise NotRight(f"{seen}: first the runs in which only A is wrong.")
        if np.allclose(value, np.array(expected) / size):
            raise NotRight(f"{seen}: counts, not shares.")
        raise NotRight(f"{seen}: first those in which only A is wrong, then those in which only B is.")


@_check(
    "with these p-values, the chance of any false alarm is at most the level.",
    "Sort first, and remember where each p-value came from: order = np.argsort(p_values).",
    "Multiply the sorted ones by m, m - 1, ..., 1; np.maximum.accumulate lets none be smaller than the one before.",
    "adjusted = np.empty(m); adjusted[order] = np.minimum(1, np.maximum.accumulate(steps)). What are steps?",
)
def holm(solution: Callable[..., Any]) -> None:
    """`holm(p_values)` returns the p-values adjusted by Holm (1979), in the order in which they were given."""
    for values in ([0.01], [0.01, 0.04, 0.03], [0.5, 0.001, 0.02, 0.021], [0.6, 0.7]):
        given, call, count = np.array(values), f"holm({values})", len(values)
        answer = _numbers(_call(solution, given), call, (count,), "one p-value for each")
        _untouched([given], [np.array(values)], call)
        order = np.argsort(values, kind="stable")
        steps = np.array(values)[order] * np.arange(count, 0, -1)
        adjusted = np.minimum(1.0, np.maximum.accumulate(steps))
        expected = np.empty(count)
        expected[order] = adjusted
        if np.allclose(answer, expected):
            continue
        seen = f"{call} is {_list(answer)}; expected {_list(expected)}"
        unsorted = np.empty(count)
        unsorted[order] = np.minimum(1.0, steps)
        if np.allclose(answer, values):
            raise NotRight(f"{seen}: yours are the p-values as they were given.")
        if np.allclose(answer, np.minimum(1.0, given * count)):
            raise NotRight(f"{seen}: yours is Bonferroni's; by Holm only the smallest is multiplied by {count}.")
        if (answer > 1).any():
            raise NotRight(f"{seen}: a p-value is at most 1.")
        if np.allclose(answer, adjusted):
            raise NotRight(f"{seen}: yours are sorted; give them back in the order in which they came.")
        if np.allclose(answer, unsorted):
            raise NotRight(f"{seen}: none may be smaller than the one before it in the sorted order.")
        raise NotRight(f"{seen}.")


@_check(
    "every episode has its own order of the arms, and each arm keeps its variance.",
    "Each row needs an order of its own, and it is the same for means and variances: make orders first.",
    "rng.permuted(..., axis=1) shuffles each row by itself; np.take_along_axis reorders each row by its own.",
    "order = rng.permuted(np.tile(np.arange(arms), (episodes, 1)), axis=1); then np.take_along_axis, twice.",
)
def shuffled(solution: Callable[..., Any]) -> None:
    """`shuffled(means, variances, rng)` returns both, each row in a random order of its own, the same for both."""
    episodes, arms = 200, 6
    means = np.tile(np.arange(arms, 0, -1.0), (episodes, 1)) + 0.01 * np.arange(episodes)[:, None]
    variances = means**2
    given = means.copy(), variances.copy()
    answer = _call(solution, *given, np.random.default_rng(3), words="means, variances, rng")
    _untouched(given, (means, variances), "shuffled")
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise NotRight(f"shuffled returned {_shown(answer)}; expected two arrays, means and variances.")
    new_means, new_variances = (
        _numbers(value, "shuffled", means.shape, "(episodes, arms), as given") for value in answer
    )
    if not np.allclose(np.sort(new_means), np.sort(means)):
        if np.allclose(np.sort(new_means, axis=None), np.sort(means, axis=None)):
            raise NotRight(
                "shuffled moved means from one episode (row) to another; expected a new order within each row."
            )
        raise NotRight("shuffled returned other means than it was given; expected the same ones in another order.")
    if np.array_equal(new_means, means):
        raise NotRight("shuffled returned the means in the order in which they came; expected another order.")
    moved = np.flatnonzero(~np.isclose(new_variances, new_means**2).all(axis=1))
    if moved.size:
        row = int(moved[0])
        arm = int(np.flatnonzero(~np.isclose(new_variances[row], new_means[row] ** 2))[0])
        raise NotRight(
            f"in episode {row} the arm of mean {new_means[row, arm]:.4g} came out with the variance "
            f"{new_variances[row, arm]:.4g}; it had {new_means[row, arm] ** 2:.4g}: use the same order for both."
        )
    best = np.bincount(new_means.argmax(axis=1), minlength=arms)
    if best.max() == episodes:
        raise NotRight(
            f"after shuffled the best arm is arm {best.argmax()} in all {episodes} episodes; expected an order of its "
            f"own for each episode, so that each of {arms} arms is the best about {episodes // arms} times."
        )
    if best.max() > episodes / arms + 5.5 * math.sqrt(episodes * (1 / arms) * (1 - 1 / arms)):
        raise NotRight(
            f"after shuffled the best arm is arm {best.argmax()} in {best.max()} of {episodes} episodes; expected "
            f"about {episodes // arms}."
        )


# Lesson 8


def _tensors(*values: Any, needs_gradient: bool = False) -> list[Any]:
    import torch

    tensors = [torch.tensor(value, dtype=torch.float64) for value in values]
    for tensor in tensors:
        tensor.requires_grad_(needs_gradient)
    return tensors


def _from_tensor(answer: Any, call: str, shape: tuple[int, ...], what: str, passes_gradient: bool) -> np.ndarray:
    """Return the numbers of a tensor that the student has returned."""
    import torch

    if not isinstance(answer, torch.Tensor):
        raise NotRight(f"{call} returned an object of type {type(answer).__name__}; expected a PyTorch tensor: {what}.")
    if passes_gradient and not answer.requires_grad:
        raise NotRight(f"no gradient passes through {call}; use PyTorch's functions alone, without detach or item.")
    return _numbers(answer.detach().numpy(), call, shape, what)


@_check(
    "no unit is left, and each arm is compared with the leader of its own episode.",
    "noise = variances / pulls; means.argmax(dim=1, keepdim=True) is the leader of each row.",
    "x.gather(1, best) takes the entry of the leader from each row, as a column.",
    "Divide means.gather(1, best) - means by the square root of noise + ..., with torch.sqrt.",
)
def z_scores(solution: Callable[..., Any]) -> None:
    """`z_scores(pulls, means, variances)` returns the standard errors between each arm's mean and the largest one."""
    pulls = np.array([[4.0, 4.0, 1.0], [2.0, 8.0, 2.0]])
    means = np.array([[1.0, 0.5, 0.0], [0.0, 3.0, 1.0]])
    variances = np.array([[1.0, 3.0, 3.75], [1.0, 4.0, 7.0]])
    call, row = "z_scores", np.arange(2)
    answer = _call(solution, *_tensors(pulls, means, variances, needs_gradient=True), words="pulls, means, variances")
    values = _from_tensor(answer, call, (2, 3), "one number for each arm of each episode", passes_gradient=True)
    best, noise = means.argmax(axis=1), variances / pulls
    gaps = means[row, best][:, None] - means
    expected = gaps / np.sqrt(noise + noise[row, best][:, None])
    if np.allclose(values, expected):
        return
    episode = int(np.flatnonzero(~np.isclose(values, expected).all(axis=1))[0])
    seen = (
        f"with pulls {_list(pulls[episode])}, means {_list(means[episode])} and variances {_list(variances[episode])} "
        f"{call} is {_list(values[episode])}; expected {_list(expected[episode])}"
    )
    if np.allclose(values, -expected):
        raise NotRight(f"{seen}: the leader's mean minus the arm's, so that no arm is below 0.")
    with np.errstate(all="ignore"):
        alone = gaps / np.sqrt(noise)
        spread = gaps / np.sqrt(variances + variances[row, best][:, None])
        squared = gaps / (noise + noise[row, best][:, None])
    if np.allclose(values, alone):
        raise NotRight(f"{seen}: the leader's mean is uncertain, too; add its v / T.")
    if np.allclose(values, spread):
        raise NotRight(f"{seen}: the variance of a mean is v / T, not v.")
    if np.allclose(values, squared):
        raise NotRight(f"{seen}: take the square root of the sum.")
    raise NotRight(f"{seen}.")


@_check(
    "the counts are whole, sum to the total, and are right on average.",
    "The ends C of the pieces are cumulative sums, total * torch.cumsum(shares, dim=1).",
    "Set the last end to the total, add start, round down (torch.floor), and take differences along each row.",
    "torch.diff(torch.floor(ends + start), dim=1, prepend=torch.zeros_like(start)). What is ends[:, -1]?",
)
def whole_counts(solution: Callable[..., Any]) -> None:
    """`whole_counts(shares, total, start)` rounds shares of a total by systematic sampling."""
    rng, total, episodes = np.random.default_rng(0), 17, 400
    shares = np.tile(rng.dirichlet(np.ones(5)), (episodes, 1))
    starts = (np.arange(episodes)[:, None] + 0.5) / episodes
    given = _tensors(shares, starts)
    answer = _call(solution, given[0], total, given[1], words=f"shares, {total}, start")
    call = f"whole_counts(shares, {total}, start)"
    counts = _from_tensor(answer, call, shares.shape, "a count for each arm of each episode", passes_gradient=False)
    _untouched([given[0].numpy()], [shares], call)
    exact = total * shares[0]
    for at in (0, episodes // 2, episodes - 1):
        marks = np.floor(np.append(0.0, np.append(np.cumsum(exact)[:-1], total)) + starts[at])
        expected = np.diff(marks)
        seen = (
            f"for {_list(exact)} pulls and start {starts[at, 0]:.4g} whole_counts is {_list(counts[at])}; "
            f"expected {_list(expected)}"
        )
        if np.allclose(counts[at], expected):
            continue
        if (counts[at] != np.round(counts[at])).any():
            raise NotRight(f"{seen}: numbers of pulls are whole.")
        if counts[at].sum() != total:
            raise NotRight(f"{seen}: yours sum to {counts[at].sum():g} instead of {total}.")
        raise NotRight(f"{seen}.")
    off = np.abs(counts.mean(axis=0) - exact)
    if off.max() > 0.05:
        arm = int(off.argmax())
        raise NotRight(
            f"over all starts arm {arm} gets {counts[:, arm].mean():.4g} pulls on average; expected {exact[arm]:.4g}."
        )


@_check(
    "it falls smoothly as the best arm's score rises.",
    "torch.softmax(scores, dim=1) has the probability of each arm.",
    "chances.gather(1, best[:, None]) takes that of the best arm from each row.",
    "1 - (the mean of those probabilities).",
)
def soft_error(solution: Callable[..., Any]) -> None:
    """`soft_error(scores, best)` returns the mean probability that an arm drawn by softmax is not the best."""
    import torch

    scores, best = np.log([[3.0, 1.0, 4.0], [1.0, 1.0, 8.0]]), np.array([0, 2])
    (given,) = _tensors(scores, needs_gradient=True)
    answer = _call(solution, given, torch.tensor(best), words="scores, best")
    call = "soft_error(log([[3, 1, 4], [1, 1, 8]]), [0, 2])"
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    right = chances[np.arange(2), best]
    value = float(_from_tensor(answer, call, (), "one number, the mean over the episodes", passes_gradient=True))
    expected = float(1.0 - right.mean())
    if math.isclose(value, expected, rel_tol=1e-6):
        return
    seen = f"{call} is {value:.4g}; expected {expected:.4g} (the mean of 5/8 and 2/10)"
    if math.isclose(value, float(right.mean()), rel_tol=1e-6):
        raise NotRight(f"{seen}: yours is the probability of the best arm.")
    if math.isclose(value, float(2.0 - right.sum()), rel_tol=1e-6):
        raise NotRight(f"{seen}: yours is the sum over the episodes.")
    if math.isclose(value, float(-np.log(right).mean()), rel_tol=1e-6):
        raise NotRight(f"{seen}: yours is the cross-entropy.")
    raise NotRight(f"{seen}.")


# Lesson 9


@_check(
    "scores on the same questions are subtracted before the variance is taken.",
    "There are two formulas, one for each value of `same`. Which variance does a difference have?",
    "np.var(first - second) for the same questions; the sum of two variances for different ones.",
    "np.sqrt(variance / number), with the variance of hint 2.",
)
def standard_error(solution: Callable[..., Any]) -> None:
    """`standard_error(first, second, number, same)` is that of a difference of mean scores."""
    first, second = np.array([1.0, 1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    for number, same, variance, words in (
        (4, False, 7 / 16, "3/16 + 1/4, the variances of the two models"),
        (4, True, 3 / 16, "3/16, the variance of the differences 0, 1, 0, 0"),
        (100, True, 3 / 16, "3/16, the variance of the differences 0, 1, 0, 0"),
    ):
        call = f"standard_error([1, 1, 1, 0], [1, 0, 1, 0], {number}, {same})"
        given = first.copy(), second.copy()
        answer = _numbers(_call(solution, *given, number, same), call, (), "one number")
        _untouched(given, (first, second), call)
        value, expected = float(answer), math.sqrt(variance / number)
        if math.isclose(value, expected, rel_tol=1e-9):
            continue
        why = f"the square root of {words}, over {number} questions"
        if math.isclose(value, expected**2, rel_tol=1e-9):
            why += "; yours is the variance"
        elif math.isclose(value, math.sqrt(variance), rel_tol=1e-9):
            why += "; yours is for a single question"
        raise NotRight(f"{call} is {value:.4g}; expected {expected:.4g}, {why}.")


@_check(
    "all active models are asked equally often, and the money suffices.",
    "What does one question to each active model cost?",
    "prices[active] are their prices. How often does their sum fit into the money?",
    "int(dollars // ...).",
)
def questions_each(solution: Callable[..., Any]) -> None:
    """`questions_each(dollars, prices, active)` is the money over the price of one question to each, rounded down."""
    prices = np.array([0.5, 0.25, 0.125, 2.0])
    for dollars, arms in ((10.0, [0, 1, 2, 3]), (10.0, [1, 2]), (0.25, [0, 1])):
        active, given = np.array(arms), prices.copy()
        call = f"questions_each({dollars:g}, {_shown(prices)}, {_arms(arms)})"
        each = float(prices[active].sum())
        expected = int(dollars // each)
        sum_ = f"{expected} = {dollars:g} / {each:g} dollars for a question to each, rounded down"
        number = _whole(_call(solution, dollars, given, active), call, sum_)
        _untouched([given], [prices], call)
        if number == expected:
            continue
        why = ""
        if number == int(dollars // prices.sum()):
            why = "; yours pays for models that are no longer asked"
        elif number == int(dollars // (len(arms) * prices[active].max())):
            why = "; yours takes the highest price for all"
        raise NotRight(f"{call} is {number}; expected {sum_}{why}.")
