"""Shows an agent the differences of paired arms on common items: an adapter, which adds to the observation."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.paired.bandits.differences import PairStatistics
from bai_gym.sampling import Part, Plan, Start, execute
from bai_gym.statistics import AnyArray, Observation

__all__ = ["comparing"]

KEYS = ("differences", "difference_variances")


def comparing(begin: Start, bandit: Bandit) -> Start:
    """Return the same plan, whose observation also has ``differences`` and ``difference_variances``, ``(N, K, K)``.

    Args:
        begin: Starts the plan.
        bandit: Paired arms, fresh ones.
    """

    def started(seen: Observation) -> Plan:
        bandit.keep_items()
        whole = PairStatistics(*seen["pulls"].shape)
        view = _View(seen, bandit, whole)

        def play(asked: Any) -> Generator[Any, Any, Any]:
            outcome = yield asked
            # What is read between two parts of a request is computed on a copy, so that reading changes no numbers.
            view.pairs = whole.copy() if isinstance(asked, Part) and not asked.last else whole
            return outcome

        return (yield from execute(begin(view), play))

    return started


class _View(Mapping[str, AnyArray]):
    """The observation as the agent sees it; differences are computed when they are read."""

    def __init__(self, seen: Observation, bandit: Bandit, pairs: PairStatistics) -> None:
        self._seen, self._bandit, self.pairs = seen, bandit, pairs

    @override
    def __getitem__(self, key: str) -> AnyArray:
        if key not in KEYS:
            return self._seen[key]
        self.pairs.advance(self._bandit, self._seen["pulls"])
        array = (self.pairs.means if key == "differences" else self.pairs.variances).view()
        array.flags.writeable = False
        return array

    @override
    def __iter__(self) -> Iterator[str]:
        return iter((*self._seen, *KEYS))

    @override
    def __len__(self) -> int:
        return len(self._seen) + len(KEYS)
