"""What the page of an experiment says, in the words of those who decide: observations and per cent, no jargon."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bai_gym.live.estimates import Estimates, Pull
from bai_gym.live.page import Growth, Page, PageRow, amount
from bai_gym.live.posterior import Posterior
from bai_gym.statistics import IntArray, Statistics

__all__ = ["lasting_sentence", "lead_sentence", "summary"]

_ENOUGH = 0.95  # probability of being best with which one can decide
_LOOKS = 24  # points of the figure
_LINES = 4  # arms in the figure


def summary(
    estimates: Estimates,
    log: Sequence[Pull],
    names: Sequence[str],
    order: IntArray,
    *,
    control: int | None,
    before: Statistics | None,
    ended: bool,
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
        ended: Whether the agent has made its recommendation.
        details: What is of interest to analysts.
    """
    first, posterior, rates = int(order[0]), estimates.posterior, estimates.binary
    earlier = estimates.earlier
    source = f"{len(log):,} observations of {len(names)} alternatives"
    if earlier is not None:
        source += f", and {earlier.sum():,} earlier ones"
    sentences = [
        f"{names[first]} has {_mean(estimates, first)}, from {source}.",
        lead_sentence(estimates, names, order, rates=rates),
    ]
    if control is not None and control != first:
        sentences.append(_control_sentence(estimates, posterior, names, first, control))
    failed = sum(pull.error is not None for pull in log)
    if failed:
        sentences.append(f"{failed:,} of {len(log):,} observations failed and count as the worst value.")
    if not posterior.known:
        sentences.append(
            "How probably it is the best cannot be said before there are observations of every alternative."
        )
    if not ended:
        sentences.append("The experiment has not ended: this is the best alternative so far.")
    headings = ["observations", "rate" if rates else "average", "95 % interval", "at all times"]
    headings[1:1] = [] if earlier is None else ["earlier observations"]
    headings += [] if control is None else [f"compared with {names[control]}"]
    headings.append("probability of being the best")
    rows = [
        PageRow(
            name=names[arm],
            cells=tuple(_cells(estimates, posterior, arm, control)),
            pulls=int(estimates.pulls[arm]),
            mean=float(estimates.means[arm]),
            interval=(float(estimates.intervals[arm, 0]), float(estimates.intervals[arm, 1])),
            recommended=arm == first,
        )
        for arm in map(int, order)
    ]
    title = f"{names[first]} is recommended" if ended else f"{names[first]} is ahead so far"
    decision, growth = _decision(posterior, names, first, rates), _growth(log, names, before)
    return Page(title, decision, sentences, headings, rows, rates, growth, lasting_sentence(estimates), details)


def lead_sentence(estimates: Estimates, names: Sequence[str], order: IntArray, *, rates: bool = False) -> str:
    """Return how far the first arm in an order, the recommended one, is ahead of the second, the runner-up."""
    first, rival = int(order[0]), int(order[1])
    if math.isnan(estimates.means[rival]):
        return "No other alternative has been tried, so there is no runner-up."
    difference, low, high = estimates.difference(first, rival)
    above = (
        f"Its {'rate' if rates else 'mean'} is {_gap(difference, rates)} above that of the runner-up, {names[rival]}"
    )
    if math.isnan(low):
        return f"{above}; no interval can be estimated."
    sentence = f"{above} (95 % interval {_range(low, high, rates)})."
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
        f"With a probability of at least 95 % all {estimates.pulls.size} intervals at all times contain their true "
        "averages whenever one looks, also that of the recommended one. "
        f"They assume independent observations {assumed}."
    )


def _control_sentence(estimates: Estimates, posterior: Posterior, names: Sequence[str], arm: int, control: int) -> str:
    difference, low, high = estimates.difference(arm, control)
    if math.isnan(difference):
        return f"There are no observations of {names[control]}, so nothing can be compared with it."
    sentence = f"Compared with {names[control]} the difference is {_change(estimates, arm, control)}"
    if not math.isnan(low):
        sentence += f", with a 95 % interval of {_range(low, high, estimates.binary)}"
    if posterior.known:
        sentence += f"; it is the better one with a probability of {_chance(posterior.better(arm, control))}"
    return f"{sentence}."


def _decision(posterior: Posterior, names: Sequence[str], first: int, rates: bool) -> str:
    """Return whether to decide now or to collect more, as a sentence; empty where nothing can be said."""
    if not posterior.known:
        return ""
    now = float(posterior.best[first])
    best = f"{names[first]} is the best with a probability of {_chance(now)}"
    if now >= _ENOUGH:
        return f"Decide now: {best}."
    price = f"a loss of {_gap(posterior.loss(first), rates)} on average"
    more, then = posterior.further(_ENOUGH)
    among = _listed([names[arm] for arm in posterior.candidates])
    collected = f"about {_rounded(more):,} more observations, split equally among {among}"
    if then >= _ENOUGH:
        return (
            f"Collect more, if {price} would matter: {best}; after {collected}, the one that is then ahead is "
            f"the best with a probability of {_chance(then)}."
        )
    return (
        f"Decide now, unless {price} would matter: {best}, and even after {collected}, the one that is then "
        f"ahead would be the best with a probability of only {_chance(then)}."
    )


def _cells(estimates: Estimates, posterior: Posterior, arm: int, control: int | None) -> list[str]:
    earlier = 0 if estimates.earlier is None else int(estimates.earlier[arm])
    mean = estimates.means[arm]
    cells = [
        f"{estimates.pulls[arm] - earlier:,}",
        amount(mean, estimates.binary) if math.isfinite(mean) else "-",
        *(
            "not estimable" if math.isnan(low) else _range(low, high, estimates.binary, points=False)
            for low, high in (estimates.intervals[arm], estimates.lasting[arm])
        ),
    ]
    cells[1:1] = [] if estimates.earlier is None else [f"{earlier:,}"]
    if control is not None:
        cells.append("-" if arm == control else _change(estimates, arm, control))
    return [*cells, _chance(posterior.best[arm]) if posterior.known else "-"]


def _growth(log: Sequence[Pull], names: Sequence[str], before: Statistics | None) -> Growth | None:
    """Return the probabilities after parts of the log; None where nothing can be estimated at its end."""
    ends = sorted({round(len(log) * look / _LOOKS) for look in range(_LOOKS + 1)})
    looks = [Estimates.of(log[:end], len(names), before) for end in ends]
    posteriors = [look.posterior for look in looks]
    if len(ends) < 2 or not posteriors[-1].known:
        return None
    shown = np.argsort(-posteriors[-1].best, kind="stable")[:_LINES]
    lines = tuple(tuple(float(posterior.best[arm]) for posterior in posteriors) for arm in shown)
    counts = tuple(int(look.pulls.sum()) for look in looks)
    now = tuple(_chance(posteriors[-1].best[arm]) for arm in shown)
    return Growth(counts, tuple(names[arm] for arm in shown), lines, now)


def _mean(estimates: Estimates, arm: int) -> str:
    low, high = estimates.intervals[arm]
    mean = estimates.means[arm]
    if math.isnan(mean):
        return "no observations"
    kind = "a rate of" if estimates.binary else "an average of"
    interval = "" if math.isnan(low) else f" (95 % interval {_range(low, high, estimates.binary, points=False)})"
    return f"{kind} {amount(mean, estimates.binary)}{interval}"


def _change(estimates: Estimates, arm: int, control: int) -> str:
    """Return the difference of two means, also as a share of the second where that is above 0."""
    difference, _, _ = estimates.difference(arm, control)
    if math.isnan(difference):
        return "-"
    base = float(estimates.means[control])
    share = f" ({100.0 * difference / base:+.0f} %)" if base > 0.0 else ""
    return f"{100.0 * difference:+.3g} points{share}" if estimates.binary else f"{difference:+.4g}{share}"


def _gap(difference: float, rates: bool) -> str:
    return f"{100.0 * difference:.3g} percentage points" if rates else f"{difference:.4g}"


def _range(low: float, high: float, rates: bool, *, points: bool = True) -> str:
    if not rates:
        return f"{low:.4g} to {high:.4g}"
    return f"{100.0 * low:.3g} to {100.0 * high:.3g}{' points' if points else ' %'}"


def _chance(probability: float) -> str:
    """Return a probability in per cent; 4,000 draws cannot show more than 99.9."""
    percent = 100.0 * probability
    return "over 99.9 %" if percent > 99.9 else "under 0.1 %" if percent < 0.1 else f"{percent:.3g} %"


def _rounded(number: int) -> int:
    """Return a number with two digits."""
    return int(float(f"{number:.2g}"))


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:5])
    more = [f"{len(names) - 5} others"] if len(names) > 5 else []
    *some, last = shown + more
    return f"{', '.join(some)} and {last}" if some else last
