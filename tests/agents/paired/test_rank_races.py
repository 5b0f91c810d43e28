"""F-race and WilcoxonRace: item by item in plain Python, and how often they err."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel, wilcoxon

from bai_gym.agents import FRace, WilcoxonRace
from bai_gym.agents.paired.rank_tests import friedman_worse

Play = Callable[..., Any]


def rewards(episodes: int, items: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(episodes, items, 4)) + 2.0 * rng.normal(size=(episodes, items, 1)) + [0.9, 0.5, 0.3, 0.0]
    return X.round(1)


def adjusted(p: dict[int, float], how: str) -> dict[int, float]:
    if how == "bonferroni":
        return {i: value * len(p) for i, value in p.items()}
    if how == "none":
        return p
    found, largest = {}, 0.0
    for place, i in enumerate(sorted(p, key=p.__getitem__)):
        largest = max(largest, p[i] * (len(p) - place))
        found[i] = largest
    return found


@pytest.mark.each(
    "options",
    [
        {},
        {"first_test": 8, "each_test": 3},
        {"test": "t"},
        *({"test": "t", "adjust": a} for a in ("bonferroni", "holm")),
    ],
)
def test_races_are_those_of_plain_python(both: Play, options: dict[str, Any]) -> None:
    X, n = rewards(8, 60), 60
    played = both(FRace(**options), X, 4 * n, num_items=n)
    first, each = options.get("first_test", 5), options.get("each_test", 1)
    lengths = set()
    for number, x in enumerate(X):
        active, pulls = [0, 1, 2, 3], [0] * 4
        for t in range(1, n + 1):
            if len(active) == 1:
                break
            for i in active:
                pulls[i] += 1
            seen = x[:t, active]
            if t < first or (t - first) % each:
                continue
            if options.get("test") == "t":
                best = int(seen.mean(axis=0).argmax())
                others = [i for i in range(len(active)) if i != best]
                p = {i: float(ttest_rel(seen[:, best], seen[:, i]).pvalue) for i in others}
                worse = {active[i] for i, value in adjusted(p, options.get("adjust", "none")).items() if value < 0.05}
            elif len(active) > 2:
                worse = {i for i, lost in zip(active, friedman_worse(seen[None], 0.95)[0], strict=True) if lost}
            else:
                d = seen[:, 0] - seen[:, 1]
                d[np.abs(d) < 1e-9] = 0.0
                p_value = wilcoxon(d.round(9), correction=False, method="approx").pvalue if d.any() else 1.0
                ahead = wilcoxon(d.round(9), correction=False, method="approx", alternative="greater").pvalue < 0.5
                worse = {active[1] if ahead else active[0]} if p_value < 0.05 else set()
            active = [i for i in active if i not in worse]
        lengths.add(sum(pulls))
        assert played.pulls[number].tolist() == pulls, number
        assert played.recommendation[number] in active, number
    assert len(lengths) > 2


@pytest.mark.each("startup", [0, 10])
def test_challengers_are_those_of_plain_python(both: Play, startup: int) -> None:
    X, n = rewards(10, 30, seed=3), 30
    played = both(WilcoxonRace(startup=startup, tie="first"), X, 4 * n, num_items=n)
    pruned = 0
    for number, x in enumerate(X):
        pulls, incumbent = [0] * 4, -1
        for arm in range(4):
            for t in range(1, n + 1):
                pulls[arm] += 1
                if incumbent < 0 or t < max(2, startup):
                    continue
                d = (x[:t, incumbent] - x[:t, arm]).round(9)
                whole = np.unique(np.abs(d)).size == t and d.all()
                method = "exact" if whole else "approx"
                p = wilcoxon(d, alternative="greater", zero_method="zsplit", correction=False, method=method).pvalue
                if p < 0.1 and x[:t, arm].mean() < x[:, incumbent].mean():
                    pruned += 1
                    break
            else:
                if incumbent < 0 or x[:, arm].mean() > x[:, incumbent].mean():
                    incumbent = arm
        assert (played.pulls[number].tolist(), played.recommendation[number]) == (pulls, incumbent), number
    assert pruned > 5


def test_the_cap_comes_before_the_end(both: Play) -> None:
    X = rewards(4, 30)
    # The first arm alone has been played on all items: it is the incumbent. Without one, the largest mean.
    assert both(WilcoxonRace(tie="first", startup=100), X, 45, num_items=30).recommendation.tolist() == [0] * 4
    # The last pull of the budget is the last item of arm 3: it can still win.
    better = np.broadcast_to(np.arange(4.0) + np.arange(5.0)[:, None], (1, 5, 4))
    assert both(WilcoxonRace(tie="first"), better, 20).recommendation.tolist() == [3]
    assert both(WilcoxonRace(tie="first", items=50), X, 20).pulls.tolist() == [[20, 0, 0, 0]] * 4
