"""The Gymnasium environment, one episode at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from typing_extensions import override

from bai_gym.envs.episodes import Episodes
from bai_gym.envs.rendering import Snapshot, Window, to_rgb, to_text
from bai_gym.envs.specification import EpisodeSpec, make_episode
from bai_gym.errors import ParameterError
from bai_gym.problems import Problem, ProblemInfo
from bai_gym.statistics import AnyArray, BoolArray, IntArray, Observation

__all__ = ["BestArmEnv", "check_render_mode"]

RENDER_FPS = 30
OWN_KEYWORDS = ("render_mode",)  # of the environment itself, beside those of the episode and the problem


def check_render_mode(mode: str | None, modes: Iterable[str]) -> str | None:
    """Return the render mode.

    Raises:
        ParameterError: If there is no such mode.
    """
    if mode is not None and mode not in modes:
        raise ParameterError(f"render_mode must be None or one of {', '.join(modes)}, not {mode!r}")
    return mode


class BestArmEnv(gym.Env[Observation, Any]):
    """Best-arm identification: pull arms, then recommend one (or several).

    ## Description
    A bandit has K arms with unknown reward distributions. Each of the first ``budget`` steps pulls one arm and observes
    its reward. The step after the last pull gives the recommendation and ends the episode. With
    ``fixed_confidence=True`` the agent decides when to stop, and the budget is a cap.

    ## Task
    ``task="best-arm"`` (default): recommend one arm. ``"top-m"``: a set of ``m`` arms. ``"best-of-each"``: the arms are
    those of ``num_bandits`` bandits that share the budget, and the recommendation names an arm of each.
    ``"thresholding"``: all arms with a mean of at least ``threshold``. ``"good-arm"``: one of them, or none if there is
    none. ``"all-within"``: all arms at most ``epsilon`` worse than the best one. Of the others a recommendation is
    correct if its simple regret is at most ``epsilon`` (default 0); see :mod:`bai_gym.tasks`.

    ## Action space
    For one arm ``Discrete(K)``: the arm to pull, and in the last step the arm to recommend. For several
    ``MultiDiscrete([K, ...])``: the arm to pull, then the recommendation, which is read only in the last step: a zero
    or one for every arm, the number of an arm for every bandit, or that of a good arm, K for none. With fixed
    confidence ``Discrete(2K)``, where K + i stops and recommends arm i, and ``MultiDiscrete([K + 1, ...])``, where K in
    the first entry stops. ``info["phase"]`` names the next step: ``"explore"`` or ``"recommend"`` (``"done"`` at the
    end); with a fixed budget ``remaining == 0`` in the observation means the same.

    ## Candidates
    In transductive environments, and in `BAI-CustomLinear-v0` with ``candidates``, K_Z rows of d numbers, the
    recommendation is a candidate, which need not be an arm; its mean is its product with the unknown parameter. The
    observation holds ``candidates`` of shape (K_Z, d). The action space is ``Discrete(max(K, K_Z))``, and
    ``info["action_mask"]`` of its length says which actions are allowed next: the arms, and in the last step the
    candidates. With fixed confidence or costs it is ``Discrete(K + K_Z)``, where K + j stops and recommends
    candidate j.

    ## Costs
    With ``costs``, K positive numbers (in order, or a dict by the names of the arms), a pull of arm i costs
    ``costs[i]``, and ``budget`` is money, a positive number that pays for a pull of any arm. ``remaining`` is then the
    money left (float64), and the observation holds ``costs`` of shape (K,). A pull that costs more than is left raises
    :class:`bai_gym.BudgetError`, and changes nothing. The recommendation is due when no arm can be paid for
    (``info["phase"]``), and may be given before: actions are those of fixed confidence, K + i recommends arm i. Its
    ``info`` holds ``unspent``, the money left.

    ## Observation space
    The sufficient statistics of the episode, see :func:`bai_gym.envs.spaces.observation_space`: ``pulls``, ``means``
    and ``variances`` of shape (K,), and ``remaining`` of shape (1,). Where arms have features, as in the linear
    environments, also ``features`` of shape (K, d), the same throughout an episode.

    With ``batch_size``, ``delay`` (:class:`bai_gym.envs.late.LateRewards`) or ``pairs`` the environment comes in a
    wrapper, which adds to the observation. With ``observation="scaled"`` it is a flat vector of bounded numbers, for
    networks.

    ## Rewards
    0 for every pull, or minus ``pull_cost`` with fixed confidence (times the arm's cost, where arms have costs). For
    the recommendation, by ``reward``: ``"correct"`` (default) 1 if it is correct, else 0; ``"simple_regret"`` minus the
    simple regret; ``"estimate"`` the sample mean of the recommended arms, where an arm without a pull counts as the
    worst arm pulled; ``"progress"`` as ``"correct"``, with the change of the estimated probability that the best guess
    is right after every step.

    ## Starting state
    No pulls; in `BAI-Pilot-v0` the statistics of the pilot, which do not count towards the budget. Each reset draws a
    fresh instance, or keeps a fixed one, by ``instance``; and it numbers the arms at random, and multiplies their
    features by a random orthogonal matrix, so that nothing is won without a pull. Costs, names, candidates and a pilot
    move with their arms. ``shuffle=False`` keeps the order in which the problem lists the arms, ``rotate=False`` their
    features; functions of unknown means are never shuffled. :attr:`order` says which arm is which, for people.

    With ``budget=(10, 40)`` the budget of each episode is drawn, from 10 to 40 pulls, and ``reset(options={"budget":
    20})`` sets that of the next one.

    The ``info`` of ``reset`` declares the kind of the arms' rewards, which is no secret: ``info["rewards"]`` is
    ``"binary"`` (0 and 1), ``"bounded(low, high)"``, ``"counts"`` or ``"real"``, see
    :class:`bai_gym.rewards.Rewards`; the infos of steps do not repeat it.

    ## Episode end
    Terminates with the recommendation: after exactly ``budget`` + 1 steps, or when the agent stops. With fixed
    confidence it is truncated by the pull that uses up the budget; otherwise it never is. The ``info`` of the
    recommendation holds ``correct``, ``simple_regret`` and ``correct_recommendation``; no other ``info`` does. That of
    a pull holds ``outcome``, the reward that it drew, unless rewards arrive late. In a
    real experiment (`BAI-Function-v0`) the true means are unknown: there ``info`` holds ``estimate``, the reward of
    that name, which is the only one possible.

    A truncated episode ends without a recommendation, so its last ``info`` has no ``correct``. Tables of
    :func:`bai_gym.compare` ask the agent for a recommendation at the cap, count whether that is correct, and show the
    share of truncated runs beside. To judge one of your own in the same way, before the next ``reset``, with ``truth``
    for ``env.unwrapped.problem_info({"complexity"})``:
    ``truth.task.correct(truth.means, np.array([recommendation]))[0]``.

    ## Arguments
    ``problem``: a family name or a :class:`bai_gym.problems.Problem`, fixed by the id. ``spec``: an
    :class:`bai_gym.envs.specification.EpisodeSpec`, or ``budget`` and the other keywords of ``EpisodeSpec.of``, where
    they are described. ``render_mode``: ``"ansi"``,
    ``"rgb_array"``, ``"human"`` or None.
    All others are passed to the problem, for example ``num_arms``, ``instance="fixed"``, ``instance_seed``.

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
        spec: EpisodeSpec | float | None = None,
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        """Build the problem and the spaces.

        Raises:
            BaiGymError: If an argument is invalid; the message is one line.
        """
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        self.problem, spec = make_episode(problem, spec, keywords, OWN_KEYWORDS)
        self.num_arms = self.problem.num_arms
        self.episode_spec = spec
        self._episode = Episodes(self.problem, spec, 1)
        self.action_encoding = self._episode.action_encoding
        self.observation_space = cast("gym.Space[Observation]", self._episode.observation_space())
        self.action_space = self._episode.action_space()
        self._masked = self.action_encoding.masked
        self._plain = self.action_encoding.shape == () and not spec.may_stop and not self._masked
        self._arrays: dict[str, AnyArray] = {}
        self._left = -1
        self._last_arm: int | None = None
        self._recommendation: tuple[int, ...] | None = None
        self._correct: bool | None = None
        self._window: Window | None = None

    @property
    def order(self) -> IntArray:
        """``(K,)`` the arm of the problem's list that each number stands for in this episode; agents must not see it.

        Raises:
            ResetNeeded: Before the first reset.
        """
        if not hasattr(self._episode, "bandit"):
            raise ResetNeeded("arms are numbered by reset(): call it first")
        numbering = self._episode.numbering
        return np.arange(self.num_arms) if numbering is None else numbering.arms[0].copy()

    @property
    def budget(self) -> Any:
        """Pulls per episode, over all arms, or money where they have costs: fixed when the environment is made."""
        return self.episode_spec.budget

    @budget.setter
    def budget(self, value: object) -> None:
        raise ParameterError(f"the budget is fixed when the environment is made: give budget={value!r} to gym.make")

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same instance and rewards.

        Args:
            seed: Of the environment's random numbers; None: go on with them.
            options: ``{"budget": pulls}``, where the budget of each episode is drawn: this one is not.

        Raises:
            ParameterError: If there are other options.
        """
        given = self.episode_spec.given_budget(options)
        super().reset(seed=seed)
        self._episode.begin(self.np_random, budget=given)
        self._arrays = self._episode.arrays()
        self._left = int(self._episode.pulls_left[0])
        self._last_arm = self._recommendation = self._correct = None
        if self.render_mode == "human":
            self.render()
        info: dict[str, Any] = {"phase": "explore", "rewards": str(self._episode.bandit.rewards)}
        if self._masked:
            info |= self._mask()
        return self._observation(), info

    @override
    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pull an arm, or give the recommendation.

        Raises:
            ParameterError: If the action is not an arm, or a recommendation that is due is not of the task's form.
            BudgetError: If a pull costs more than the money left; nothing changes.
            ResetNeeded: If the episode is over.
        """
        arm, recommendation = self._read(action)
        truncated = False
        if self._left < 0:
            raise ResetNeeded("the episode is over: call reset() before the next step()")
        if recommendation is None:
            episode = self._episode
            episode.check_pulls(0, arm)
            reward = 0.0 - self.episode_spec.pull_cost * episode.pull_one(arm, self.np_random)  # 0 - 0 is 0, not -0.0
            self._left = episode.funds.pulls_left(episode.remaining).item()
            self._last_arm = arm
            info: dict[str, Any] = {"phase": "explore" if self._left else "recommend", "outcome": episode.outcomes}
            if self._left == 0 and self.episode_spec.fixed_confidence:
                self._left, truncated, info["phase"] = -1, True, "done"
        else:
            reward, info = self._recommend(recommendation)
        if self._masked:
            info |= self._mask()
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, self._left < 0 and not truncated, truncated, info

    def action_masks(self) -> BoolArray:
        """Return ``(n,)`` which actions are allowed next, as MaskablePPO of sb3-contrib asks for them.

        All are, but for pulls that cost more than is left, and where the recommendation is a candidate. Values of
        ``MultiDiscrete`` stand one entry after another.
        """
        return np.asarray(self._episode.masks()[0])

    def _mask(self) -> dict[str, Any]:
        """Return what ``info`` says about the actions that are allowed next."""
        return {"action_mask": self.action_encoding.mask(np.array(self._left <= 0))}

    def _read(self, action: Any) -> tuple[int, IntArray | None]:
        """Return the arm to pull, or the recommendation."""
        if self._plain:  # the common case, which must be fast
            try:
                arm = int(action)
            except (TypeError, ValueError, OverflowError):
                arm = -1  # not a number, or none that is finite
            if not 0 <= arm < self.num_arms or arm != action:
                shown = " ".join(repr(action).split())[:60]
                raise ParameterError(f"action {shown} is not an arm; arms are numbered 0 to {self.num_arms - 1}")
            return arm, None if self._left else np.array([arm])
        try:
            actions = np.asarray(action)[None]
        except ValueError:  # lists of unequal lengths
            actions = np.empty(0)
        decoded = self.action_encoding.read(actions, 1)
        stops = self._left == 0 if decoded.stops is None else bool(decoded.stops[0])
        return int(decoded.arms[0]), decoded.recommendations if stops else None

    def _recommend(self, recommendation: IntArray) -> tuple[float, dict[str, Any]]:
        rewards, scored = self._episode.recommend(np.zeros(1, np.int64), recommendation)
        info = {name: values[0].item() if values.ndim == 1 else values[0] for name, values in scored.items()}
        self._left = -1
        self._recommendation, self._correct = (
            self.episode_spec.task.arms(recommendation[0], self.num_arms),
            info.get("correct"),
        )
        return float(rewards[0]), {"phase": "done", **info}

    def _observation(self) -> Observation:
        return {key: array[0].copy() for key, array in self._arrays.items()}

    def problem_info(self, knows: Iterable[str] = ()) -> ProblemInfo:
        """Return what agents receive before this episode, after ``reset``; see :meth:`Episodes.problem_info`."""
        return self._episode.problem_info(knows)

    @override
    def render(self) -> Any:
        """Return text (``"ansi"``) or a picture (``"rgb_array"``), or show the picture in a window (``"human"``).

        Raises:
            ResetNeeded: Before the first reset.
            MissingPackageError: If a picture needs pygame, and it is not installed.
        """
        if self.render_mode is None:
            gym.logger.warn("render() does nothing: give render_mode='ansi', 'rgb_array' or 'human' to gym.make")
            return None
        if not hasattr(self._episode, "bandit"):
            raise ResetNeeded("no episode has begun: call reset() before render()")
        statistics = self._episode.shown
        snapshot = Snapshot(
            pulls=statistics.pulls[0].copy(),
            means=statistics.means[0].copy(),
            variances=statistics.variances[0].copy(),
            remaining=self._episode.remaining[0, 0].item(),
            budget=self.budget,
            last_arm=self._last_arm,
            recommendation=self._recommendation,
            correct=self._correct,
            truncated=self._left < 0 and self._recommendation is None,
            cheapest=self._episode.funds.cheapest,
            threshold=getattr(self.episode_spec.task, "threshold", None),
        )
        if self.render_mode == "ansi":
            return to_text(snapshot)
        if self.render_mode == "rgb_array":
            return to_rgb(snapshot)
        if self._window is None:
            self._window = Window(RENDER_FPS)
        self._window.show(snapshot)
        return None

    @override
    def close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None
