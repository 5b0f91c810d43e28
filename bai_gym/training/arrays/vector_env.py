"""A batch of episodes in PyTorch as a Gymnasium environment: tensors in and out, on any device."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from bai_gym.agents.training.scaled import whole_sets
from bai_gym.agents.training.scaling import Scaling
from bai_gym.envs.episodes import Episodes
from bai_gym.envs.late import pending_space
from bai_gym.envs.registration import IDS, check_id
from bai_gym.envs.specification import EpisodeSpec, make_episode
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import ParameterError
from bai_gym.problems import Problem
from bai_gym.statistics import IntArray
from bai_gym.training.arrays.blocks import Arms, State, arms_of, draw, merge

__all__ = ["TorchVectorEnv"]


class TorchEpisodes(Episodes):
    """Episodes whose arms and statistics are tensors.

    Attributes:
        arms: The instances.
        state: The statistics of all pulls.
        arriving: The statistics at the ends of rounds, those of the last round that has arrived first.
    """

    arms: Arms
    state: State
    shown: Any

    def __init__(
        self, problem: Problem, spec: EpisodeSpec, batch: int, device: torch.device | str, dtype: torch.dtype
    ) -> None:
        """Allocate the arrays."""
        super().__init__(problem, spec, batch)
        self.device = torch.device(device)
        self.dtype = dtype
        self.generator = torch.Generator(self.device)
        self.arriving: deque[State] = deque()

    @override
    def begin(self, rng: np.random.Generator, rows: IntArray | None = None, budget: Any = None) -> None:
        super().begin(rng, rows, budget)
        self.arms = arms_of(self.bandit, device=self.device, dtype=self.dtype)
        first = self.statistics  # pulls change the tensors alone
        arrays = first.pulls, first.means, first.variances * np.maximum(first.pulls - 1, 0)
        state = State(*(self.tensor(array) for array in arrays))
        if rows is not None and rows.size < self.batch:
            new = torch.as_tensor(np.isin(self.everyone, rows)[:, None], device=self.device)
            state = State(*(torch.where(new, one, other) for one, other in zip(state, self.state, strict=True)))
        self.state = state
        self.arriving = deque([state] * (self.episode_spec.rounds.delay + 1))
        self.shown = self.arriving[0]

    @override
    def pull_all(self, arms: IntArray, rng: np.random.Generator) -> Any:
        paid = super().pull_all(arms, rng)
        self.arrive()
        return paid

    @override
    def pull_rows(self, rows: IntArray, arms: IntArray, rng: np.random.Generator) -> Any:
        paid = super().pull_rows(rows, arms, rng)
        self.outcomes = self.outcomes.cpu().numpy()  # to be merged with those of the other episodes
        self.arrive()
        return paid

    @override
    def _draw(self, flat: IntArray, rng: np.random.Generator) -> torch.Tensor:
        """Pull arms by Welford's update."""
        at = torch.as_tensor(flat, device=self.device)
        means, deviations = self.arms.means.take(at), self.arms.deviations.take(at)
        if self.arms.kind == "bernoulli":
            rewards = torch.bernoulli(means, generator=self.generator)
        else:
            normal = torch.randn(at.shape, generator=self.generator, dtype=self.dtype, device=self.device)
            rewards = means + deviations * normal
        pulls, before, squares = (values.take(at) for values in self.state)
        pulls = pulls + 1.0
        mean = before + (rewards - before) / pulls
        squares = squares + (rewards - before) * (rewards - mean)
        now = zip(self.state, (pulls, mean, squares), strict=True)
        self.state = State(*(values.put(at, value) for values, value in now))
        return rewards

    def arrive(self) -> None:
        """Let the rewards arrive whose time has come, where all episodes have made equally many pulls."""
        rounds, left = self.episode_spec.rounds, self.remaining[0, 0]
        if not rounds.late or left == 0:
            self.arriving = deque([self.state])
        elif (self.episode_spec.most_pulls - left) % rounds.batch_size == 0:
            self.arriving.append(self.state)
            if len(self.arriving) > rounds.delay + 1:
                self.arriving.popleft()
        self.shown = self.arriving[0]

    @override
    def arrays(self) -> dict[str, Any]:
        shown = self.shown
        fields = {"pulls": shown.pulls, "means": shown.means, "variances": shown.variances}
        if self.episode_spec.rounds.late:
            fields["pending"] = self.state.pulls - shown.pulls
        others = {"remaining": self.remaining, **self._constants}
        return {**fields, **{name: self.tensor(array) for name, array in others.items()}}

    def tensor(self, numbers: Any) -> torch.Tensor:
        """Return a copy of numbers as floats."""
        return torch.tensor(numbers, dtype=self.dtype, device=self.device)


class TorchVectorEnv(BestArmVectorEnv):
    """N episodes of :class:`bai_gym.envs.vector.BestArmVectorEnv` whose observations, rewards and infos are tensors.

    All tasks, fixed confidence and costs mean the same, and so do steps: the step after the last one of an episode
    begins a new one (``AutoresetMode.NEXT_STEP``). Rewards of arms have the same distribution, from random numbers of
    their own. Infos have the same keys, tensors but for ``phase`` and ``rewards``, which are words.

    Args:
        env: A registered id, or a problem.
        num_envs: N, at least 1.
        budget: Pulls per episode. None: that of the id; 1,000 for a problem.
        device: Where the tensors are, for example ``"cuda"``.
        dtype: Of all floats.
        **keywords: Those of :meth:`bai_gym.envs.specification.EpisodeSpec.of`, but for ``pairs`` and the rewards
            ``"estimate"`` and ``"progress"``; the others are passed to the problem. With ``batch_size`` or ``delay``
            statistics hold ``pending``.

    Raises:
        UnknownNameError: If there is no such id.
        ParameterError: If an argument is invalid, or (at :meth:`reset`) rewards are neither Gaussian nor 0 and 1.
    """

    _episodes: TorchEpisodes

    def __init__(
        self,
        env: str | Problem,
        num_envs: int = 1,
        budget: float | tuple[int, int] | None = None,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        **keywords: Any,
    ) -> None:
        """Build the problem and the spaces."""
        source: str | Problem = env
        if isinstance(env, str):
            check_id(env)
            entry = next((entry for entry in IDS if entry.id == env), None)
            if entry is None:
                raise ParameterError(f"{env} is no id of this library: give the problem instead")
            source, keywords = entry.family, {**entry.keywords, **keywords}
            budget = entry.budget if budget is None else budget
        keywords |= {} if budget is None else {"budget": budget}
        problem, spec = make_episode(source, None, keywords, ("num_envs", "device", "dtype"), plain=False)
        late = spec.rounds.late
        if spec.pairs or spec.progress or spec.reward == "estimate" or (late and spec.may_stop):
            raise ParameterError(
                "a torch batch has no pairs, no reward='estimate' or 'progress', and no rewards that arrive late with "
                "fixed confidence or costs: use gym.make_vec"
            )
        super().__init__(problem, num_envs, spec)
        self._episodes = TorchEpisodes(problem, spec, num_envs, device, dtype)
        statistics = self._episodes.observation_space()
        if late:
            statistics["pending"] = pending_space(self.num_arms, spec)
        self._scaling = Scaling(statistics, problem.rewards, spec.task) if spec.observation == "scaled" else None
        space: Any = self._scaling.space if self._scaling else _of_floats(statistics, dtype)
        self.single_observation_space, self.observation_space = space, batch_space(space, num_envs)

    @override
    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start new episodes, see :meth:`BestArmVectorEnv.reset`; where rewards arrive late, all of them."""
        if options and self.episode_spec.rounds.late:
            raise ParameterError("where rewards arrive late all episodes of a torch batch start at once: no options")
        first = not hasattr(self._episodes, "state")
        observation, info = super().reset(seed=seed, options=options)
        if first or seed is not None:
            self._episodes.generator.manual_seed(int(self.np_random.integers(2**62)))
        return observation, self._in_tensors(info)

    @override
    def step(self, actions: Any) -> Any:
        """Pull an arm, or give the recommendation, in every episode, see :meth:`BestArmVectorEnv.step`.

        Args:
            actions: ``(N,)`` or ``(N, ...)`` actions, a tensor or anything that can become an array.
        """
        whole = actions.cpu().numpy() if isinstance(actions, torch.Tensor) else actions
        observation, rewards, *ends, info = super().step(whole if self._scaling is None else whole_sets(self, whole))
        ended, truncated = (torch.as_tensor(flags, device=self._episodes.device) for flags in ends)
        return observation, self._episodes.tensor(rewards), ended, truncated, self._in_tensors(info)

    def pull(self, counts: torch.Tensor) -> Any:
        """Make a block of pulls, equally many in each episode, and return the observation.

        Args:
            counts: ``(N, K)`` whole counts, from the exact distribution. Counts that require a gradient may be real
                numbers: the observation is then differentiable in them, see :func:`bai_gym.training.arrays.draw`.

        Raises:
            ParameterError: If the shape is wrong, counts are negative, or totals differ or exceed what is left, or
                where rewards arrive late what is left of the round; or where arms have costs.
            ResetNeeded: Before the first reset.
        """
        episodes = self._episodes
        if not hasattr(episodes, "state"):
            raise ResetNeeded("call reset() before the first pull")
        totals, shape = counts.detach().sum(1), (self.num_envs, self.num_arms)
        if counts.shape != shape or counts.min() < 0 or (totals - totals[0]).abs().max() > 0.5:
            raise ParameterError(f"counts must be of shape {shape}, at least 0, and of one total in all episodes")
        pulls, left = round(float(totals[0])), episodes.remaining.min() - self.episode_spec.fixed_confidence
        if self.episode_spec.costs is not None or pulls > left:
            raise ParameterError(f"the counts are {pulls} pulls with {left} left of the budget, which must be of pulls")
        rounds, most = self.episode_spec.rounds, self.episode_spec.most_pulls
        if rounds.late and pulls > (rest := rounds.left(most - left, most)):
            raise ParameterError(f"the counts are {pulls} pulls with {rest} left of the round")
        if not counts.requires_grad and counts.is_floating_point() and (counts != counts.round()).any():
            raise ParameterError("counts must be integers, unless they require a gradient")
        episodes.state = merge(episodes.state, draw(episodes.arms, counts.to(episodes.device), episodes.generator))
        episodes.remaining -= pulls
        episodes.arrive()
        self._find_steady()
        return self._observation()

    def _in_tensors(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return an info with tensors for numbers, and without what pulls drew where rewards arrive late."""
        hidden = ("outcome", "_outcome") if self.episode_spec.rounds.late else ()
        device = self._episodes.device
        return {
            name: value if name in ("phase", "rewards") else torch.as_tensor(value, device=device)
            for name, value in info.items()
            if name not in hidden
        }

    @override
    def _observation(self) -> Any:
        shown = self._episodes.arrays()
        return shown if self._scaling is None else self._scaling.flat(shown, torch)


def _of_floats(statistics: spaces.Dict, dtype: torch.dtype) -> spaces.Dict:
    """Return the space of statistics that are all floats of a type."""
    kind: Any = torch.empty(0, dtype=dtype).numpy().dtype.type
    parts: dict[str, Any] = dict(statistics.spaces)
    return spaces.Dict(
        {name: spaces.Box(one.low.astype(kind), one.high.astype(kind), dtype=kind) for name, one in parts.items()}
    )
