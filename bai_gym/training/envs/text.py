"""Any environment of this library with observations and actions as text, for language models."""

from __future__ import annotations

import string
from typing import Any

import gymnasium as gym
import numpy as np
from typing_extensions import override

from bai_gym.common.budget import Costs
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import ParameterError
from bai_gym.training.envs.text_encoding import TextEncoding, UnreadableReplyError

__all__ = ["TextWrapper"]

REPLY_LENGTH = 10_000  # of sampled actions; step takes longer ones, too


class TextWrapper(gym.Wrapper[str, str, Any, Any], gym.utils.RecordConstructorArgs):
    """An environment of best-arm identification in plain English.

    An observation is the rules (with the kind of rewards) and the state of the episode: pulls, mean and standard
    deviation of each arm, its name, features and cost where it has some, and the pulls or money left. An action is a
    text such as ``"pull arm 3"``, ``"pull 1 x5, 3 x2"`` or ``"recommend arm 5"``, see
    :class:`bai_gym.training.envs.text_encoding.TextEncoding`. An action that names several pulls makes them all, and returns the
    sum of their rewards.

    An action that cannot be read never fails: a random arm is pulled, or recommended, in its place, the next
    observation says so, and ``info["unreadable"]`` counts such actions in the episode.

    Args:
        env: An environment of this library, as ``gym.make`` returns it.

    Raises:
        ParameterError: Another environment, or one whose rewards arrive late, or that has candidates.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        """Build the spaces."""
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        base = env.unwrapped
        if not isinstance(base, BestArmEnv):
            raise ParameterError(f"TextWrapper takes an environment of bai-gym, not a {type(base).__name__}")
        spec, problem = base.episode_spec, base.problem
        if spec.task.answer != "arm":
            raise ParameterError(
                f"a text recommends arms, and here {spec.task.answer}s are recommended: play the arrays"
            )
        if spec.rounds.late:
            raise ParameterError("a text shows every reward at once: leave out batch_size and delay")
        self._base = base
        self.text_encoding = self._encoding(problem.arm_names, spec.costs)
        self._introduction = ""
        letters = frozenset(string.printable).union(*(problem.arm_names or ()))
        length = self.text_encoding.max_length(spec.budget, problem.num_features)
        self.observation_space = gym.spaces.Text(length, charset=letters)
        self.action_space = gym.spaces.Text(REPLY_LENGTH, charset=letters)
        self._remaining: float = 0
        self._unreadable = 0

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode; the same seed and replies give the same episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._rng = np.random.default_rng(self._base.np_random.bit_generator.seed_seq.spawn(1)[0])  # type: ignore[attr-defined]
        self._unreadable = 0
        told = self._base.problem_info()
        self.text_encoding = self._encoding(told.arm_names, told.costs)
        self._introduction = self.text_encoding.introduction(self._base.budget, told.rewards)
        return self._text(observation), {**info, "unreadable": 0}

    @override
    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Make the pulls that the text names, or give its recommendation.

        Raises:
            ParameterError: If the action is not text.
            ResetNeeded: If the episode is over.
        """
        if not isinstance(action, str):
            raise ParameterError(f"an action must be text, such as 'pull arm 3', not {action!r}"[:200])
        remark = ""
        try:
            reply = self.text_encoding.read(action, self._remaining)
        except UnreadableReplyError as error:
            reply = self.text_encoding.random_reply(self._remaining, self._rng)
            self._unreadable += 1
            remark = f"Your last reply could not be used ({error}). A random arm was pulled instead.\n\n"
        encoding = self._base.action_encoding
        if reply.recommendation is not None:
            actions = encoding.recommend(reply.recommendation[None])
        else:
            actions = encoding.pull(np.array(reply.pulls))
        total = 0.0
        for one in actions:
            observation, reward, terminated, truncated, info = self.env.step(one)
            total += float(reward)
            if terminated or truncated:
                break
        return remark + self._text(observation), total, terminated, truncated, {**info, "unreadable": self._unreadable}

    def _encoding(self, arm_names: tuple[str, ...] | None, costs: Costs | None) -> TextEncoding:
        """Return the encoding of an episode, with names and costs in its order of the arms."""
        num_arms, spec = self._base.num_arms, self._base.episode_spec
        confidence = spec.fixed_confidence
        return TextEncoding(num_arms, spec.task, fixed_confidence=confidence, arm_names=arm_names, costs=costs)

    def _text(self, observation: Any) -> str:
        self._remaining = observation["remaining"][0].item()
        return f"{self._introduction}\n\n{self.text_encoding.describe(observation)}"
