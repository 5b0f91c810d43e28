"""A language model as an agent: any function from a prompt to a reply."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from bai_gym.envs.actions import ActionEncoding
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import Observation
from bai_gym.training.envs.text_encoding import Reply, TextEncoding, UnreadableReplyError
from bai_gym.validation import flag, integer

__all__ = ["LanguageModel"]


class LanguageModel:
    """Asks a language model which arms to pull, and which to recommend.

    Every prompt is complete: the rules, and pulls, mean and standard deviation of each arm; the model needs no memory.
    A reply may name several pulls ("pull 0 x5, 1 x2"), which are made without asking again; see
    :class:`bai_gym.training.envs.text_encoding.TextEncoding` for what can be read. After a reply that cannot be read, the prompt
    is repeated with a remark. If no attempt can be read, a random arm is pulled, or recommended: no credit for that.
    The agent counts these cases, and results show the counts of all runs in their notes.

    It plays one episode after another. It is evaluated like any other agent, but results are reproducible only as far
    as the model's replies are.

    Args:
        ask: Returns the reply to a prompt, both text. It is not copied: all episodes of a process share it. For several
            workers it must be picklable.
        name: Name in results.
        arm_names: Whether prompts show the names of the arms with their numbers, where the environment has names.
        attempts: Prompts for one decision before a random arm is taken, at least 1.

    Attributes:
        tally: Replies so far, those of them that could not be read, and the decisions that were left to chance. Every
            run of an evaluation has a copy of the agent, and counts from 0.

    Raises:
        AgentError: ``ask`` cannot be called.
        ParameterError: Another value out of range.
    """

    def __init__(
        self,
        ask: Callable[[str], str],
        *,
        name: str = "LanguageModel",
        arm_names: bool = False,
        attempts: int = 2,
    ) -> None:
        """Keep the parameters."""
        if not callable(ask):
            raise AgentError(f"ask must be a function from a prompt to a reply, both text, not {ask!r}"[:200])
        self.ask = ask
        self.name = str(name)
        self.arm_names = flag(arm_names, "arm_names")
        self.attempts = integer(attempts, "attempts", least=1)
        self.tally = {"replies": 0, "unreadable replies": 0, "random arms in their place": 0}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a fresh agent that asks the same model, which may hold connections or locks."""
        return type(self)(self.ask, name=self.name, arm_names=self.arm_names, attempts=self.attempts)

    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Begin an episode.

        Args:
            info: Number of arms, budget, task.
            rng: Source of the random arms after replies that cannot be read; None: a fresh unseeded one.

        Raises:
            AgentError: If it is to show names, and arms have none.
        """
        if self.arm_names and info.arm_names is None:
            raise AgentError(f"{self.name} is to show the names of arms, and they have none here: leave out arm_names")

        self._rng = np.random.default_rng() if rng is None else rng
        self._text = TextEncoding(
            info.num_arms,
            info.task,
            fixed_confidence=info.fixed_confidence,
            arm_names=info.arm_names if self.arm_names else None,
        )
        self._actions = ActionEncoding(info.num_arms, info.task, fixed_confidence=info.fixed_confidence)
        self._introduction = self._text.introduction(info.budget, info.rewards)
        self._planned: deque[int] = deque()

    def act(self, observation: Observation) -> Any:
        """Return the next action of one episode.

        Raises:
            AgentError: If the agent has not been reset, or the reply is not text.
        """
        if not hasattr(self, "_text"):
            raise AgentError(f"{self.name} has not been reset: call agent.reset(env.unwrapped.problem_info(), rng)")
        if not self._planned:
            reply = self._reply(observation)
            if reply.recommendation is not None:
                return self._actions.recommend(reply.recommendation[None])[0]
            self._planned.extend(reply.pulls)
        return self._actions.pull(np.array([self._planned.popleft()]))[0]

    def _reply(self, observation: Observation) -> Reply:
        prompt = f"{self._introduction}\n\n{self._text.describe(observation)}"
        remaining = int(observation["remaining"][0])
        remark = ""
        for _ in range(self.attempts):
            text = self.ask(prompt + remark)
            if not isinstance(text, str):
                raise AgentError(f"ask of {self.name} must return text, not a {type(text).__name__}")
            self.tally["replies"] += 1
            try:
                return self._text.read(text, remaining)
            except UnreadableReplyError as error:
                self.tally["unreadable replies"] += 1
                remark = f"\n\nYour last reply could not be used: {error}."
        self.tally["random arms in their place"] += 1
        return self._text.random_reply(remaining, self._rng)
