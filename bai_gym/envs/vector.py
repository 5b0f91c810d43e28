"""A batch of episodes as one environment: one step is a constant number of NumPy calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from bai_gym.common.seeding import check_seed
from bai_gym.envs.actions import DecodedActions
from bai_gym.envs.episodes import Episodes
from bai_gym.envs.specification import EpisodeSpec, make_episode
from bai_gym.errors import ParameterError
from bai_gym.parallel import check_memory
from bai_gym.problems import Problem, ProblemInfo
from bai_gym.problems.base import ARM_BYTES
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray, Observation
from bai_gym.validation import integer

__all__ = ["BestArmVectorEnv"]

OWN_KEYWORDS = ("num_envs", "autoreset_mode", "copy", "render_mode")  # of the batch itself

Step = tuple[Observation, FloatArray, BoolArray, BoolArray, dict[str, Any]]


class BestArmVectorEnv(VectorEnv[Observation, IntArray, AnyArray]):
    """N episodes of :class:`bai_gym.envs.scalar.BestArmEnv` as one batch.

    With fixed confidence they end at different times. Actions, observations, rewards and infos are those of the scalar
    environment with a leading axis of N; infos follow Gymnasium's convention for vector environments
    (``info["correct"]`` and the mask ``info["_correct"]``).

    Args:
        problem: A family name or a problem object, fixed by the id.
        num_envs: N, at least 1.
        spec: The specification of the episodes, or ``budget`` and the other keywords of :meth:`EpisodeSpec.of`.
        autoreset_mode: ``AutoresetMode.NEXT_STEP`` (default), ``SAME_STEP`` or ``DISABLED``, or its value as a string.
        copy: If False, observations are the live arrays, overwritten by the next step: faster, for callers that do not
            keep them. Features, where there are any, are read-only then.
        render_mode: Must be None: render a scalar environment instead.
        **keywords: Passed to the problem, as in the scalar form.

    Raises:
        BaiGymError: If an argument is invalid; the message is one line.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        problem: Problem | str,
        num_envs: int = 1,
        spec: EpisodeSpec | float | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        """Build the problem, the spaces and the arrays."""
        if render_mode is not None:
            raise ParameterError(
                "a native batch has no render_mode: use gym.make(...), or vectorization_mode='sync' in gym.make_vec"
            )
        num_envs = integer(num_envs, "num_envs", least=1)
        self._mode = _check_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self._mode}
        self.render_mode = None
        self.problem, spec = make_episode(problem, spec, keywords, OWN_KEYWORDS)
        self.num_envs = num_envs
        self.num_arms = self.problem.num_arms
        self.episode_spec = spec
        arm_bytes = ARM_BYTES + 8 * self.problem.state_size
        check_memory(num_envs, arm_bytes * self.num_arms, "num_envs", ParameterError)
        self._episodes = Episodes(self.problem, spec, num_envs)
        self.action_encoding = self._episodes.action_encoding
        self.single_observation_space = self._episodes.observation_space()
        self.single_action_space = self._episodes.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.copy = copy
        self._everywhere = np.ones(num_envs, dtype=bool)
        self._phases = {phase: np.full(num_envs, phase, dtype=object) for phase in ("explore", "recommend")}
        # Steps until some episode does something else than pull: until then no masks are needed.
        self._steady = 0

    @property
    def budget(self) -> Any:
        """Pulls per episode, over all arms, or money where they have costs: fixed when the environment is made."""
        return self.episode_spec.budget

    @budget.setter
    def budget(self, value: object) -> None:
        raise ParameterError(f"the budget is fixed when the environment is made: give budget={value!r} to gym.make_vec")

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: Seed of the whole batch, or a list of one for each episode. The episodes of a native batch share one
                generator, so a list is one seed made of several numbers, which affects every episode.
            options: ``{"reset_mask": (N,) bool}`` restarts only those episodes; ``{"budget": pulls}`` sets the budget,
                where that of each episode is drawn.

        Raises:
            ParameterError: If the list has another length, the mask is malformed, or there are other options.
        """
        given = self.episode_spec.given_budget(options, "reset_mask")
        super().reset(seed=self._one_seed(seed) if isinstance(seed, list | tuple) else seed)
        mask = (options or {}).get("reset_mask")
        if mask is None:
            self._episodes.begin(self.np_random, budget=given)
            mask = self._everywhere
        else:
            mask = np.asarray(mask)
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise ParameterError(f"reset_mask must be {self.num_envs} booleans, at least one of them True")
            if not hasattr(self._episodes, "bandit"):
                raise ResetNeeded("the first reset must start all episodes: call reset() without a reset_mask")
            self._episodes.begin(self.np_random, np.flatnonzero(mask), given)
        self._find_steady()
        info = {"phase": _where(mask, "explore"), "_phase": mask.copy(), **self._declared(mask)}
        return self._observation(), {**info, **self._masks()}

    def _one_seed(self, seeds: Sequence[int | None]) -> int | None:
        """Return a seed made of several ones; None where all are None."""
        if len(seeds) != self.num_envs:
            raise ParameterError(f"seed must be a number, or a list of {self.num_envs}, not of {len(seeds)}")
        if all(seed is None for seed in seeds):
            return None
        return int(np.random.SeedSequence([check_seed(seed) for seed in seeds]).generate_state(1, np.uint64)[0])

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode.

        Args:
            actions: ``(N,)`` or ``(N, ...)`` actions.

        Raises:
            ParameterError: If an action is not an arm, or a recommendation that is due is not of the task's form.
            BudgetError: If a pull costs more than the money left in its episode; nothing changes.
            ResetNeeded: Before the first reset, or (without autoreset) for an episode that is over.
        """
        decoded = self.action_encoding.read(actions, self.num_envs)
        if self._steady == 0 or (decoded.stops is not None and decoded.stops.any()):
            return self._mixed_step(decoded)
        self.action_encoding.check_pulls(decoded.arms)
        paid = self._episodes.pull_all(decoded.arms, self.np_random)
        self._steady -= 1
        nowhere = np.zeros(self.num_envs, dtype=bool)
        rewards = np.zeros(self.num_envs) - self.episode_spec.pull_cost * paid
        if self._steady == 0 and not self.episode_spec.fixed_confidence:
            info = {"phase": self._phase_names(nowhere), "_phase": self._everywhere.copy()}
        else:
            info = {"phase": self._phases["explore"].copy(), "_phase": self._everywhere.copy()}
        info |= {"outcome": self._episodes.outcomes, "_outcome": self._everywhere.copy(), **self._masks()}
        return self._observation(), rewards, nowhere, nowhere.copy(), info

    def action_masks(self) -> BoolArray:
        """Return ``(N, n)`` which actions are allowed next, as MaskablePPO of sb3-contrib asks for them.

        All are, but for pulls that cost more than is left, and where the recommendation is a candidate. Values of
        ``MultiDiscrete`` stand one entry after another.
        """
        return self._episodes.masks()

    def _mixed_step(self, decoded: DecodedActions) -> Step:
        """Step a batch in which some episodes pull, some recommend and some restart."""
        episodes, rng, spec = self._episodes, self.np_random, self.episode_spec
        if not hasattr(episodes, "bandit"):
            raise ResetNeeded("call reset() before the first step()")
        starting = episodes.over.copy()
        if self._mode is AutoresetMode.DISABLED and starting.any():
            raise ResetNeeded("some episodes are over: reset(options={'reset_mask': mask}) them before the next step()")
        ended = ~starting & (episodes.remaining[:, 0] == 0 if decoded.stops is None else decoded.stops)
        pulling = np.flatnonzero(~starting & ~ended)
        rewards = np.zeros(self.num_envs)
        truncated = np.zeros(self.num_envs, dtype=bool)
        info: dict[str, Any] = {}
        last: dict[str, Any] = {}
        rows = np.flatnonzero(ended)
        arms = decoded.arms[pulling]
        episodes.check_pulls(pulling, arms)
        if rows.size:  # first, because it rejects invalid recommendations
            rewards[rows], scored = episodes.recommend(rows, decoded.recommendations[rows])
            last = self._in_batch(scored, rows, ended)
        if pulling.size:
            rewards[pulling] -= spec.pull_cost * episodes.pull_rows(pulling, arms, rng)
            if spec.fixed_confidence:
                truncated[pulling] = episodes.pulls_left[pulling] == 0
                episodes.over |= truncated
            cut = truncated if self._mode is AutoresetMode.SAME_STEP else np.zeros_like(truncated)
            outcomes = np.zeros(self.num_envs)
            outcomes[pulling] = episodes.outcomes
            going = ~starting & ~ended & ~cut
            for said, there in ((info, going), (last, cut)):
                if there.any():
                    said |= {"outcome": np.where(there, outcomes, 0.0), "_outcome": there.copy()}
        if starting.any():
            episodes.begin(rng, np.flatnonzero(starting))
            info |= self._declared(starting)
        over = ended | truncated
        if over.any() and self._mode is AutoresetMode.SAME_STEP:
            last |= {"phase": _where(over, "done"), "_phase": over.copy(), **self._masks(over)}
            info |= {"final_obs": self._single_observations(np.flatnonzero(over)), "_final_obs": over.copy()}
            info |= {"final_info": last, "_final_info": over.copy()}
            episodes.begin(rng, np.flatnonzero(over))
            info |= self._declared(over)
        else:
            info |= last
        self._find_steady()
        info |= {"phase": self._phase_names(episodes.over), "_phase": self._everywhere.copy(), **self._masks()}
        return self._observation(), rewards, ended, truncated, info

    def _find_steady(self) -> None:
        # With fixed confidence the last pull ends the episode.
        safe = self._episodes.funds.safe_pulls(self._episodes.remaining.min())
        self._steady = 0 if self._episodes.over.any() else max(safe - self.episode_spec.fixed_confidence, 0)

    def _declared(self, starting: BoolArray) -> dict[str, AnyArray]:
        """Return what the infos of the starting episodes declare."""
        return {"rewards": _where(starting, str(self._episodes.bandit.rewards)), "_rewards": starting.copy()}

    def _masks(self, told: BoolArray | None = None) -> dict[str, AnyArray]:
        """Return what the infos of some episodes, by default of all, say about the actions that are allowed next."""
        if not self.action_encoding.masked:
            return {}
        told = self._everywhere if told is None else told
        mask = self.action_encoding.mask(self._episodes.pulls_left <= 0)
        return {"action_mask": mask * told[:, None], "_action_mask": told.copy()}

    def _phase_names(self, over: BoolArray) -> AnyArray:
        names = np.where(self._episodes.pulls_left > 0, self._phases["explore"], self._phases["recommend"])
        return np.where(over, "done", names).astype(object)

    def _in_batch(self, scored: dict[str, AnyArray], rows: IntArray, ended: BoolArray) -> dict[str, AnyArray]:
        full: dict[str, AnyArray] = {}
        for name, values in scored.items():
            full[name] = np.zeros((self.num_envs, *values.shape[1:]), values.dtype)
            full[name][rows] = values
            full[f"_{name}"] = ended.copy()
        return full

    def _single_observations(self, rows: IntArray) -> AnyArray:
        batch = self._episodes.arrays()
        single = np.full(self.num_envs, None, dtype=object)
        for row in rows:
            single[row] = {name: array[row].copy() for name, array in batch.items()}
        return single

    def _observation(self) -> Observation:
        arrays = self._episodes.arrays()
        return {key: array.copy() for key, array in arrays.items()} if self.copy else arrays

    def problem_info(self, knows: Iterable[str] = ()) -> ProblemInfo:
        """Return what agents receive before these episodes, after ``reset``; see :meth:`Episodes.problem_info`."""
        return self._episodes.problem_info(knows)


def _where(mask: BoolArray, word: str) -> AnyArray:
    """Return ``word`` where the mask says so, and None elsewhere."""
    words = np.full(mask.shape, None, dtype=object)
    words[mask] = word
    return words


def _check_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        allowed = ", ".join(repr(m.value) for m in AutoresetMode)
        raise ParameterError(f"autoreset_mode must be one of {allowed}, not {mode!r}") from None
