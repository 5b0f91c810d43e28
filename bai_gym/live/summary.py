"""What the page of an experiment says, in the words of those who decide: observations and per cent, no jargon."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bai_gym.analysis.posterior import PRIOR
from bai_gym.live.estimates import Estimates, Pull
from bai_gym.live.page import Growth, Numbers, Page, PageRow
from bai_gym.live.posterior import Posterior
from bai_gym.statistics import IntArray, Statistics

__all__ = ["chance", "lasting_sentence", "lead_sentence", "listed", "summary"]

_ENOUGH = 0.95  # probability of being best with which one can decide
_GAIN = 0.01  # probability that the rest of the budget must add
_LOOKS = 24  # points of the figure
_LINES = 4  # arms in the figure
_SHORT = Numbers(rates=False, decimals=None)


def summary(
    estimates: Estimates,
    log: Sequence[Pull],
    names: Sequence[str],
    order: IntArray,
    *,
    control: int | None,
    before: Statistics | None,
    ended: bool | None,
    left: int | None = None,
    items: int | None = None,
    details: Sequence[str],
) -> Page:
    """Return the content of the page.

    Args:
        estimates: Estimates from the log and from earlier results.
        log: The pulls with rewards.
        names: ``(K,)`` names of the arms.
        order: ``(K,)`` arms: the recommended one, then the others by decreasing mean, those without a pull last.
        control: The arm with which the others are compared; None: there is none.
        before: ``(1, K)`` statistics of earlier results; None: there are none.
        ended: Whether the agent has made its recommendation; None: there is no agent.
        left: Observations that the budget leaves; None: no budget is known.
        items: Number of items on which all arms are played; None: observations are independent.
        details: What is of interest to analysts.
    """
    first, posterior, rates, guards = int(order[0]), estimates.posterior, estimates.binary, estimates.guards
    numbers = Numbers.of(estimates.means, estimates.intervals, rates=rates)
    earlier = estimates.earlier
    source = f"{len(log):,} observations of {len(names) - (guards is not None)} alternatives"
    if earlier is not None:
        source += f", and {earlier.sum():,} earlier ones"
    sentences = [
        f"{names[first]} has {_mean(estimates, first, numbers)}, from {source}.",
        lead_sentence(estimates, names, order, numbers),
    ]
    if control is not None and control != first:
        sentences.append(_control_sentence(estimates, posterior, names, first, control, numbers))
    failed = sum(pull.error is not None for pull in log)
    if failed:
        sentences.append(f"{failed:,} of {len(log):,} observations failed and count as the worst value.")
    if not posterior.known:
        sentences.append(
            "How probably it is the best cannot be said before there are observations of every alternative."
        )
    if ended is False:
        sentences.append("The experiment has not ended: this is the best alternative so far.")
    headings = ["observations", "rate" if rates else "average", "95 % interval", "at all times"]
    headings[1:1] = [] if earlier is None else ["earlier observations"]
    headings += [] if control is None else [f"compared with {names[control]}"]
    headings.append("probability of being the best")
    rows = [
        PageRow(
            name=names[arm],
            cells=tuple(_cells(estimates, posterior, arm, control, numbers)),
            mean=float(estimates.means[arm]),
            interval=(float(estimates.intervals[arm, 0]), float(estimates.intervals[arm, 1])),
            recommended=arm == first,
        )
        for arm in map(int, order)
    ]
    title = f"{names[first]} is recommended" if ended else f"{names[first]} is ahead so far"
    decision = _decision(estimates, posterior, names, first, left=left, items=items)
    growth = _growth(log, names, before, estimates)
    if posterior.known:
        details = (
            *details,
            f"Probabilities and losses: the posterior given the observations, with a prior of {PRIOR}.",
        )
    page = Page(title, decision, sentences, headings, rows, numbers, growth, lasting_sentence(estimates), details)
    return guards.extended(page, names, order) if guards else page


def lead_sentence(estimates: Estimates, names: Sequence[str], order: IntArray, numbers: Numbers = _SHORT) -> str:
    """Return how far the first arm in an order, the recommended one, is ahead of the second, the runner-up."""
    first, rival = int(order[0]), int(order[1])
    if math.isnan(estimates.means[first] - estimates.means[rival]):
        return "No other alternative is in question, so there is no runner-up."
    difference, low, high = estimates.difference(first, rival)
    above = (
        f"Its {'rate' if numbers.rates else 'mean'} is {_gap(numbers, difference)} above that of the runner-up, "
        f"{names[rival]}{_common(estimates, first, rival)}"
    )
    if math.isnan(low):
        return f"{above}; no interval can be estimated."
    sentence = f"{above} (95 % interval {numbers.range(low, high)})."
    return sentence if low > 0.0 else f"{sentence} The interval includes 0: the two may be equally good."


def lasting_sentence(estimates: Estimates) -> str:
    """Return what the intervals at all times promise, and what they assume."""
    rewards = estimates.rewards
    if rewards.kind == "counts":
        return "For counts no intervals at all times are known."
    assumed = f"that are {rewards.words}"
    if rewards.kind == "real":
        assumed = "that are normally distributed; for others nothing is proved"
    return (
        f"With a probability of at least 95 % all {np.count_nonzero(estimates.pulls)} intervals at all times contain "
        "their true averages whenever one looks, also that of the recommended one. "
        f"They assume independent observations {assumed}."
    )


def _control_sentence(
    estimates: Estimates, posterior: Posterior, names: Sequence[str], arm: int, control: int, numbers: Numbers
) -> str:
    difference, low, high = estimates.difference(arm, control)
    if math.isnan(difference):
        return f"There are no observations of {names[control]}, so nothing can be compared with it."
    sentence = (
        f"Compared with {names[control]} the difference is {_change(estimates, arm, control, numbers)}"
        f"{_common(estimates, arm, control)}"
    )
    if not math.isnan(low):
        sentence += f", with a 95 % interval of {numbers.range(low, high)}"
    if posterior.known:
        sentence += f"; it is the better one with a probability of {chance(posterior.better(arm, control))}"
    return f"{sentence}."


def _decision(
    estimates: Estimates,
    posterior: Posterior,
    names: Sequence[str],
    first: int,
    *,
    left: int | None,
    items: int | None,
) -> str:
    """Return whether to decide now or to collect more, as a sentence; empty where nothing can be said."""
    if not posterior.known:
        return ""
    now = float(posterior.best[first])
    best = f"{names[first]} is the best with a probability of {chance(now)}"
    if now >= _ENOUGH:
        return f"Decide now: {best}."
    if estimates.guards:
        return f"Collect more, if an error would matter: {best}. Otherwise decide now."
    loss = posterior.loss(first)
    price = f"a loss of {f'{100.0 * loss:.2g} percentage points' if estimates.binary else f'{loss:.2g}'} on average"
    room = None if items is None else items - estimates.pulls
    more, then = posterior.further(_ENOUGH, left or math.inf, room)
    if left and then < now + _GAIN:  # the rest of the budget tells nothing more
        left = None
        more, then = posterior.further(_ENOUGH, math.inf, room)
    if more == 0:
        return f"Decide now: {best}, with {price}, and no observations are left that could tell more."
    among = listed([names[arm] for arm in posterior.candidates if room is None or room[arm] > 0])
    of_budget = f", and {left:,} observations of the budget are left" if left else ""
    return (
        f"Collect more, if {price} would matter: {best}{of_budget}; after about {_rounded(more):,} more observations, "
        f"split equally among {among}, the one that is then ahead is the best with a probability of "
        f"{'' if then >= _ENOUGH else 'only '}{chance(then)}. Otherwise decide now."
    )


def _cells(estimates: Estimates, posterior: Posterior, arm: int, control: int | None, numbers: Numbers) -> list[str]:
    earlier = 0 if estimates.earlier is None else int(estimates.earlier[arm])
    mean = estimates.means[arm]
    cells = [
        f"{estimates.pulls[arm] - earlier:,}",
        numbers.mean(mean) if math.isfinite(mean) else "-",
        *(
            "not estimable" if math.isnan(low) else numbers.range(low, high, points=False)
            for low, high in (estimates.intervals[arm], estimates.lasting[arm])
        ),
    ]
    cells[1:1] = [] if estimates.earlier is None else [f"{earlier:,}"]
    if control is not None:
        cells.append("-" if arm == control else _change(estimates, arm, control, numbers))
    return [*cells, chance(posterior.best[arm]) if posterior.known else "-"]


def _growth(log: Sequence[Pull], names: Sequence[str], before: Statistics | None, whole: Estimates) -> Growth | None:
    """Return the probabilities after parts of the log; None where nothing can be estimated at its end."""
    ends = sorted({round(len(log) * look / _LOOKS) for look in range(_LOOKS + 1)})
    if len(ends) < 2 or not whole.posterior.known:
        return None
    given = len(names), before, whole.rewards, whole.guards and whole.guards.guardrails
    looks = [*(Estimates.of(log[:end], *given) for end in ends[:-1]), whole]
    posteriors = [look.posterior for look in looks]
    shown = np.argsort(-posteriors[-1].best, kind="stable")[:_LINES]
    lines = tuple(tuple(float(posterior.best[arm]) for posterior in posteriors) for arm in shown)
    counts = tuple(int(look.pulls.sum()) for look in looks)
    now = tuple(chance(posteriors[-1].best[arm]) for arm in shown)
    return Growth(counts, tuple(names[arm] for arm in shown), lines, now)


def _mean(estimates: Estimates, arm: int, numbers: Numbers) -> str:
    low, high = estimates.intervals[arm]
    mean = estimates.means[arm]
    if math.isnan(mean):
        return "no observations"
    kind = "a rate of" if numbers.rates else "an average of"
    interval = "" if math.isnan(low) else f" (95 % interval {numbers.range(low, high, points=False)})"
    return f"{kind} {numbers.mean(mean)}{interval}"


def _change(estimates: Estimates, arm: int, control: int, numbers: Numbers) -> str:
    """Return the difference of two means, also as a share of the second where that is above 0."""
    difference, _, _ = estimates.difference(arm, control)
    if math.isnan(difference):
        return "-"
    base = float(estimates.means[control])
    share = f" ({100.0 * difference / base:+.0f} %)" if base > 0.0 else ""
    return f"{numbers.change(difference)}{share}"


def _common(estimates: Estimates, one: int, other: int) -> str:
    """Return on how many items a difference is, in words; empty without items."""
    common = 0 if estimates.pairs is None else estimates.pairs.difference(one, other)[0]
    return f" on the {common:,} items that both were tried on" if common >= 2 else ""


def _gap(numbers: Numbers, difference: float) -> str:
    return f"{numbers.mean(difference, unit=False)}{' percentage points' if numbers.rates else ''}"


def chance(probability: float) -> str:
    """Return a probability in per cent; 4,000 draws cannot show more than 99.9."""
    percent = 100.0 * probability
    return "over 99.9 %" if percent > 99.9 else "under 0.1 %" if percent < 0.1 else f"{percent:.1f} %"


def _rounded(number: int) -> int:
    """Return a number with two digits, rounded down."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return number // step * step


def listed(names: Sequence[str]) -> str:
    """Return names as a text, at most five of them."""
    shown = list(names[:5])
    more = [f"{len(names) - 5} more"] if len(names) > 5 else []
    *some, last = shown + more
    return f"{', '.join(some)} and {last}" if some else last
