"""One episode at a time: the Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

from bai_gym.envs.episodes import Episodes, make_problem
from bai_gym.envs.rendering import Snapshot, Window, to_rgb, to_text
from bai_gym.envs.spaces import action_space, observation_space
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing, Problem
from bai_gym.statistics import Observation

__all__ = ["BestArmEnv", "check_render_mode"]

RENDER_FPS = 30


def check_render_mode(mode: str | None, modes: Iterable[str]) -> str | None:
    """Return the render mode.

    Raises:
        ParameterError: If there is no such mode.
    """
    if mode is not None and mode not in modes:
        raise ParameterError(f"render_mode must be None or one of {', '.join(modes)}, not {mode!r}")
    return mode


class BestArmEnv(gym.Env[Observation, np.int64]):
    """Fixed-budget best-arm identification: spend a budget of pulls, then recommend an arm.

    ## Description
    A bandit has K arms with unknown reward distributions. Each of the first ``budget`` steps pulls one arm and observes
    its reward. The step after the last pull recommends an arm and ends the episode.

    ## Action space
    ``Discrete(K)``: the arm to pull, and in the last step the arm to recommend. ``info["phase"]`` says which:
    ``"explore"`` or ``"recommend"`` (``"done"`` at the end); in the observation, ``remaining == 0`` says the same.

    ## Observation space
    The sufficient statistics of the episode, see :func:`bai_gym.envs.spaces.observation_space`: ``pulls``, ``means``
    and ``variances`` of shape (K,), and ``remaining`` of shape (1,).

    ## Rewards
    0 for every pull. For the recommendation, by ``reward``: ``"correct"`` (default) 1 if no arm has a larger mean, else
    0; ``"simple_regret"`` minus the best mean plus the recommended arm's mean.

    ## Starting state
    No pulls. The instance is drawn anew at each reset or always the same, by ``instance``.

    ## Episode end
    Terminates with the recommendation, after exactly ``budget`` + 1 steps; never truncates. The last ``info`` holds
    ``correct``, ``simple_regret`` and ``answer`` (the best arm); nothing of the truth is shown earlier.

    ## Arguments
    ``problem``: a family name or a :class:`bai_gym.problems.Problem`, fixed by the id. ``budget``: pulls, at least 1.
    ``reward``: see above. ``render_mode``: ``"ansi"``, ``"rgb_array"``, ``"human"`` or None. All others go to the
    problem, for example ``num_arms``, ``instance="fixed"``, ``instance_seed``.

    ## Vectorised form
    ``gym.make_vec`` gives :class:`bai_gym.envs.vector.BestArmVectorEnv`, where a batch of one is this environment, step
    for step, from the same seed.

    ## Version history
    v0: first version.
    """

    metadata: dict[str, Any] = {
        "render_modes": ["ansi", "rgb_array", "human"],
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        problem: Problem | str,
        budget: int = 1000,
        reward: str = "correct",
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        """Build the problem and the spaces.

        Raises:
            BaiGymError: Whatever is wrong with an argument, in one line.
        """
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        self.problem = make_problem(problem, keywords)
        self._episode = Episodes(self.problem, budget, reward, 1)
        self.num_arms = self.problem.num_arms
        self.budget = self._episode.budget
        self.observation_space = cast("gym.Space[Observation]", observation_space(self.num_arms, self.budget))
        self.action_space = action_space(self.num_arms)
        self._left = -1
        self._last_arm: int | None = None
        self._recommendation: int | None = None
        self._correct: bool | None = None
        self._window: Window | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same instance and rewards."""
        super().reset(seed=seed)
        self._episode.begin(self.np_random)
        self._left = self.budget
        self._last_arm = self._recommendation = self._correct = None
        if self.render_mode == "human":
            self.render()
        return self._observation(), {"phase": "explore"}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pull an arm, or recommend one.

        Raises:
            ParameterError: If the action is not an arm.
            ResetNeeded: If the episode is over.
        """
        try:
            arm = int(action)
        except (TypeError, ValueError, OverflowError):
            arm = -1  # not a number, or none that is finite
        if not 0 <= arm < self.num_arms or arm != action:
            shown = " ".join(repr(action).split())[:60]
            raise ParameterError(f"action {shown} is not an arm; arms are numbered 0 to {self.num_arms - 1}")
        if self._left > 0:
            self._episode.pull_one(arm, self.np_random)
            self._left -= 1
            self._last_arm = arm
            reward, info = 0.0, {"phase": "explore" if self._left else "recommend"}
        elif self._left == 0:
            reward, info = self._recommend(arm)
        else:
            raise ResetNeeded("the episode is over: call reset() before the next step()")
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, self._left < 0, False, info

    def _recommend(self, arm: int) -> tuple[float, dict[str, Any]]:
        rewards, truth = self._episode.recommend(np.zeros(1, np.int64), np.array([arm]))
        info = {name: values[0].item() for name, values in truth.items()}
        self._left = -1
        self._recommendation, self._correct = arm, info["correct"]
        return float(rewards[0]), {"phase": "done", **info}

    def _observation(self) -> Observation:
        statistics = self._episode.statistics
        return {
            "pulls": statistics.pulls[0].copy(),
            "means": statistics.means[0].copy(),
            "variances": statistics.variances[0].copy(),
            "remaining": self._episode.remaining[0].copy(),
        }

    def briefing(self, knows: Iterable[str] = ()) -> Briefing:
        """Return what an agent is told before this episode, see :meth:`Episodes.briefing`; call it after ``reset``.

        Raises:
            ResetNeeded: Before the first reset.
        """
        if not hasattr(self._episode, "bandit"):
            raise ResetNeeded("the instance is drawn by reset(): call it before briefing()")
        return self._episode.briefing(knows)

    def render(self) -> Any:
        """Return text (``"ansi"``) or a picture (``"rgb_array"``), or show the picture in a window (``"human"``).

        Raises:
            ResetNeeded: Before the first reset.
            MissingPackageError: If a picture is wanted and pygame is not installed.
        """
        if self.render_mode is None:
            gym.logger.warn("render() does nothing: give render_mode='ansi', 'rgb_array' or 'human' to gym.make")
            return None
        if not hasattr(self._episode, "bandit"):
            raise ResetNeeded("there is nothing to see before the first episode: call reset() before render()")
        statistics = self._episode.statistics
        snapshot = Snapshot(
            pulls=statistics.pulls[0].copy(),
            means=statistics.means[0].copy(),
            variances=statistics.variances[0].copy(),
            remaining=int(self._episode.remaining[0, 0]),
            budget=self.budget,
            last_arm=self._last_arm,
            recommendation=self._recommendation,
            correct=self._correct,
        )
        if self.render_mode == "ansi":
            return to_text(snapshot)
        if self.render_mode == "rgb_array":
            return to_rgb(snapshot)
        if self._window is None:
            self._window = Window(RENDER_FPS)
        self._window.show(snapshot)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None
