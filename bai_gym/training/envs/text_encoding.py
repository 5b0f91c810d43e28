"""The text encoding: an observation as plain English, and a reply as pulls or a recommendation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bai_gym.common.budget import Costs, pulls_for
from bai_gym.errors import ParameterError
from bai_gym.rewards import Rewards
from bai_gym.statistics import IntArray, Observation
from bai_gym.tasks import ArmsAbove, BestOfEach, GoodArm, Task, TopM

__all__ = ["Reply", "TextEncoding", "UnreadableReplyError"]

SHOWN = 60  # characters of a reply in a message
_ARM = r"(?<![\w.+-])(\d{1,18})"
_PULLS = re.compile(_ARM + r"(?: ?[x*×] ?(\d{1,18})| (\d{1,18}) times?)?(?![\w.*×])")  # 3, 3 x 5, 3x5, 3 5 times
_IGNORED = re.compile(r"[`\"'“”’#()\[\]{}:;,!&_>]|\*(?! ?\d)|\.(?!\d)|(?<!\S)[-–•](?=\s)|\barms?(?=\d)")
_FILLERS = frozenset(
    "i ll will would want to like let s us me my the a is are and then now answer action choice decision final "
    "best good arm arms number please next also".split()
)
_PULL_WORDS, _END_WORDS = frozenset({"pull", "play", "try", "sample"}), frozenset({"recommend", "recommendation"})


class UnreadableReplyError(ParameterError):
    """A reply that names neither pulls nor a recommendation; the message says what was expected."""


@dataclass(frozen=True)
class Reply:
    """What a reply says.

    Attributes:
        pulls: Arms to pull, in this order; empty for a recommendation.
        recommendation: The recommendation of one episode, in the form of the task; None for pulls.
    """

    pulls: tuple[int, ...] = ()
    recommendation: IntArray | None = None


class TextEncoding:
    """Writes observations of one episode as text, and reads replies.

    Arms are numbered from 0, as everywhere. The last line of a reply that is not empty counts, so that reasoning may
    come before it. It names pulls, one or several, or the recommendation::

        3
        Pull arm 3.
        pull 1 x5, 3 x2
        recommend arm 5
        Recommend arms 1, 4 and 6.
        recommend none

    Case, punctuation, quotes and Markdown do not matter, and an arm may be called by its name. Before the last pull, a
    line without "recommend" means pulls; after it, the recommendation needs no such word. With a fixed budget, a
    recommendation before the last pull is unreadable; pulls beyond the budget are left out. Where arms have costs, the
    budget is money, and a recommendation may come before all is spent.

    Args:
        num_arms: K.
        task: What to recommend.
        fixed_confidence: Whether the agent decides when to stop.
        arm_names: K names; None: arms have numbers alone.
        costs: K costs of a pull; None: the budget counts pulls.

    Raises:
        ParameterError: If there are not K distinct names.
    """

    def __init__(
        self,
        num_arms: int,
        task: Task,
        *,
        fixed_confidence: bool = False,
        arm_names: Sequence[str] | None = None,
        costs: Costs | None = None,
    ) -> None:
        """Compile the pattern that finds names."""
        self.num_arms = num_arms
        self.task = task
        self.fixed_confidence = fixed_confidence
        self.costs = costs
        self._may_stop = fixed_confidence or costs is not None
        self.arm_names = None if arm_names is None else tuple(map(str, arm_names))
        names = self.arm_names or ()
        if arm_names is not None and (
            isinstance(arm_names, str) or len(set(names)) != num_arms or len(names) != num_arms
        ):
            raise ParameterError(
                f"arm_names must be {num_arms} distinct names, one for each arm, not {arm_names!r}"[:200]
            )
        self._by_name = {name.lower(): arm for arm, name in enumerate(names)}
        # The longest first, so that "small 2" is not taken for "small". Of plain numbers, those of the arms count.
        words = sorted((name for name in self._by_name if not name.strip().isdigit() and name.strip()), key=len)[::-1]
        self._names = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, words)) + r")(?!\w)") if words else None

    def introduction(self, budget: float, rewards: Rewards) -> str:
        """Return the rules of the episode, the same in all of its steps.

        Args:
            budget: Pulls of the episode, or money; with fixed confidence the cap.
            rewards: The kind of the arms' rewards.
        """
        task = self.task
        lines = [
            f"There are {self.num_arms} arms, numbered 0 to {self.num_arms - 1}. Each pull of an arm gives a random "
            f"reward, whose mean depends on the arm. Rewards are {rewards.words}. The best arm has the largest mean.",
            f"Your task: find {task.describe()}. Rewards during the search do not count; only the recommendation does.",
        ]
        if isinstance(task, BestOfEach):
            each = self.num_arms // task.num_bandits
            lines.append(
                f"The arms belong to {task.num_bandits} bandits of {each} arms: bandit 0 has the first {each}."
            )
        if self.costs is not None:
            lines.append("Each pull of an arm costs money; how much is said beside the arm.")
        if self.fixed_confidence and self.costs is not None:
            lines.append(f"You decide when to stop and recommend. Spend little, and less than {budget:.12g}.")
        elif self.costs is not None:
            lines.append(
                f"You have {budget:.12g} to spend; then, or earlier, you recommend. Money left is worth nothing."
            )
        elif self.fixed_confidence:
            lines.append(f"You decide when to stop and recommend. Use few pulls, and fewer than {budget}.")
        else:
            lines.append(f"You have {budget} pulls in all; after the last one you recommend.")
        lines.append(
            'The last line of your reply counts. To pull arms, write for example "pull 0", or several pulls at a time '
            f'as "pull 0 x5, 1 x2". To recommend, write {self._example()}.'
        )
        return "\n".join(lines)

    def describe(self, observation: Observation) -> str:
        """Return an observation as text.

        Args:
            observation: Of one episode: arrays of shape ``(K,)``, ``remaining`` ``(1,)``, ``features`` ``(K, d)``.
        """
        pulls, means, variances = (observation[name] for name in ("pulls", "means", "variances"))
        features = observation.get("features")
        lines = []
        for arm in range(self.num_arms):
            parts = ["1 pull" if pulls[arm] == 1 else f"{pulls[arm]} pulls"]
            if pulls[arm] > 0:
                parts.append(f"mean {means[arm]:.4g}")
            if pulls[arm] > 1:
                parts.append(f"standard deviation {np.sqrt(variances[arm]):.4g}")
            if self.costs is not None:
                parts.append(f"a pull costs {self.costs[arm]:.6g}")
            if features is not None:
                parts.append(f"features ({', '.join(f'{value:.4g}' for value in features[arm])})")
            name = "" if self.arm_names is None else f" ({self.arm_names[arm]})"
            lines.append(f"Arm {arm}{name}: {', '.join(parts)}")
        left = observation["remaining"][0].item()
        if not self._affordable(left):
            lines.append(f"No pulls are left. Recommend now: write {self._example()}.")
        else:
            lines.append(f"Pulls left: {left}" if self.costs is None else f"Money left: {left:.6g}")
        return "\n".join(lines)

    def read(self, text: str, remaining: float) -> Reply:
        """Read a reply.

        Args:
            text: The reply.
            remaining: Pulls, or money, left.

        Raises:
            UnreadableReplyError: If it cannot be read, names an arm that does not exist, only pulls that are too
                expensive, or a recommendation that is not due or not of the task's form.
        """
        remaining = remaining if self._affordable(remaining) else 0
        line = next((line for line in reversed(text.splitlines()) if line.strip(" \t`*_#>.-")), "")
        shown = " ".join(line.split())[:SHOWN]
        plain = line.lower()
        if self._names is not None:
            plain = self._names.sub(lambda found: f" {self._by_name[found[0]]} ", plain)
        plain = " ".join(_IGNORED.sub(" ", plain.replace("**", " ")).split())
        numbers = [(int(arm), int(often or times or 1)) for arm, often, times in _PULLS.findall(plain)]
        words = _PULLS.sub(" ", plain).split()
        verbs = {word for word in words if word in _PULL_WORDS | _END_WORDS}
        stops = {word for word in words if word in ("stop", "none")}
        if [word for word in words if word not in _FILLERS | verbs | stops] or not (numbers or stops):
            raise UnreadableReplyError(f"{shown!r} names no arms; {self._expected(remaining)}")
        for arm, _ in numbers:
            if arm >= self.num_arms:
                raise UnreadableReplyError(f"there is no arm {arm} in {shown!r}; {self._expected(remaining)}")
        recommends = bool(verbs & _END_WORDS or stops) or (remaining == 0 and not verbs)
        if verbs & _PULL_WORDS and recommends:
            raise UnreadableReplyError(f"{shown!r} both pulls and recommends; {self._expected(remaining)}")
        if recommends:
            return Reply(recommendation=self._recommendation([arm for arm, _ in numbers], shown, remaining))
        if remaining == 0:
            raise UnreadableReplyError(f"no pulls are left for {shown!r}; {self._expected(remaining)}")
        pulls = self._pulls(numbers, remaining)
        if not pulls:
            affordable = "" if self.costs is None else " that the money left pays for"
            raise UnreadableReplyError(f"{shown!r} asks for no pull{affordable}; {self._expected(remaining)}")
        return Reply(pulls=pulls)

    def random_reply(self, remaining: float, rng: np.random.Generator) -> Reply:
        """Return a pull of a random arm that can be paid for or, where there is none, a random recommendation."""
        affordable = self._affordable(remaining)
        if affordable:
            return Reply(pulls=(affordable[rng.integers(len(affordable))],))
        recommendation = rng.integers(self.task.sizes(self.num_arms))
        if isinstance(self.task, TopM):
            recommendation = self.task.of_arms(rng.permutation(self.num_arms)[: self.task.m].tolist(), self.num_arms)
        return Reply(recommendation=recommendation[0] if self.task.one_number else recommendation)

    def max_length(self, budget: float, num_features: int | None) -> int:
        """Return a number of characters that no introduction with an observation exceeds."""
        names = sum(map(len, self.arm_names or ()))
        number = 24  # of a float with 4 digits, its comma and space, generously
        return 2000 + 4 * len(str(budget)) + names + self.num_arms * (150 + number * (num_features or 0))

    def _most_pulls(self, arm: int, remaining: float) -> int:
        return int(remaining) if self.costs is None else pulls_for(remaining, self.costs[arm], remaining)

    def _affordable(self, remaining: float) -> list[int]:
        """Return the arms that can be pulled with what is left."""
        return [arm for arm in range(self.num_arms) if self._most_pulls(arm, remaining)]

    def _pulls(self, numbers: list[tuple[int, int]], remaining: float) -> tuple[int, ...]:
        pulls: list[int] = []
        for arm, often in numbers:
            number = min(often, self._most_pulls(arm, remaining))
            pulls += [arm] * number
            remaining = max(remaining - number * (1.0 if self.costs is None else self.costs[arm]), 0.0)
        return tuple(pulls)

    def _recommendation(self, arms: list[int], shown: str, remaining: float) -> IntArray:
        if remaining and not self._may_stop:
            raise UnreadableReplyError(f"{shown!r} recommends, but pulls are left; {self._expected(remaining)}")
        try:
            return self.task.of_arms(list(dict.fromkeys(arms)), self.num_arms)
        except ParameterError as error:
            raise UnreadableReplyError(f"{shown!r} is no recommendation: {error}") from None

    def _expected(self, remaining: float) -> str:
        if remaining and not self._may_stop:
            return f'write "pull" and one or several of the arms 0 to {self.num_arms - 1}'
        pull = f'write "pull" and some of the arms 0 to {self.num_arms - 1}, or ' if remaining else "write "
        return pull + self._example()

    def _example(self) -> str:
        """Return an example of a recommendation."""
        task = self.task
        if isinstance(task, TopM | BestOfEach):
            number = task.m if isinstance(task, TopM) else task.num_bandits
            arms = task.arms(task.correct_recommendation(np.zeros(self.num_arms)), self.num_arms)
            return f'"recommend {", ".join(map(str, arms))}" ({number} arms)'
        if isinstance(task, ArmsAbove):
            return '"recommend 0, 1" (all such arms), or "recommend none"'
        if isinstance(task, GoodArm):
            return '"recommend 0", or "recommend none"'
        return '"recommend 0" (the number of one arm)'
