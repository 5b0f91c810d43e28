"""A batch of episodes in PyTorch as a Gymnasium environment: tensors in and out, on any device."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from bai_gym.agents.training.scaling import Scaling
from bai_gym.envs.late import pending_space
from bai_gym.envs.registration import IDS, check_id
from bai_gym.envs.spaces import action_space, observation_space
from bai_gym.envs.specification import EpisodeSpec, make_problem
from bai_gym.errors import ParameterError
from bai_gym.problems import Problem
from bai_gym.training.arrays.blocks import Arms, State, arms_of, draw, merge, start
from bai_gym.validation import integer

__all__ = ["TorchVectorEnv"]

Observation = Any  # a dict of tensors, or a tensor
Step = tuple[Observation, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]


class TorchVectorEnv(VectorEnv[Observation, torch.Tensor, torch.Tensor]):
    """N episodes with a fixed budget and one arm to recommend; they end in the same step.

    Rewards of arms have the distribution of :class:`bai_gym.envs.vector.BestArmVectorEnv`, and steps the same meaning:
    an action is the arm to pull or, when no pull is left, the recommendation. The step after that begins new episodes
    (``AutoresetMode.NEXT_STEP``). Infos hold tensors only: ``outcome`` after a pull (unless rewards arrive late), and
    ``correct``, ``simple_regret`` and ``correct_recommendation`` in the last step.

    Args:
        env: A registered id, or a problem.
        num_envs: N, at least 1.
        budget: Pulls per episode. None: that of the id; 1,000 for a problem.
        reward: ``"correct"`` or ``"simple_regret"``, of the last step.
        device: Where the tensors are, for example ``"cuda"``.
        dtype: Of all floats.
        **keywords: ``observation``, ``shuffle``, ``batch_size`` and ``delay``, see
            :meth:`bai_gym.envs.specification.EpisodeSpec.of` (with the last two statistics hold ``pending``); the
            others are passed to the problem.

    Raises:
        UnknownNameError: If there is no such id.
        ParameterError: If an argument is invalid, or the id has another task, or other rewards than Gaussian or 0 and 1
            (the latter at :meth:`reset`).
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
    _state: State

    def __init__(
        self,
        env: str | Problem,
        num_envs: int = 1,
        budget: int | None = None,
        reward: str = "correct",
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
            if entry is None or {"task", "fixed_confidence"} & set(entry.keywords):
                raise ParameterError(f"{env} has no torch batch: choose an id of a fixed budget and one best arm")
            source, keywords = entry.family, {**entry.keywords, **keywords}
            budget = entry.budget if budget is None else budget
        others = ("num_envs", "budget", "reward", "batch_size", "delay", "shuffle", "observation", "device", "dtype")
        words = ("batch_size", "delay", "shuffle", "observation")
        own = {word: keywords.pop(word) for word in words if word in keywords}
        self.problem = make_problem(source, keywords, others)
        self.num_envs = integer(num_envs, "num_envs", least=1)
        self.num_arms = self.problem.num_arms
        if self.problem.task is not None:
            answer = self.problem.task.answer
            raise ParameterError(f"a torch batch recommends arms, and this problem has {answer}s: use gym.make_vec")
        if reward not in ("correct", "simple_regret"):
            raise ParameterError(f"reward must be 'correct' or 'simple_regret', not {reward!r}")
        budget = 1000 if budget is None else budget
        self.episode_spec = EpisodeSpec.of(self.problem, budget, reward, **own)
        self.budget = self.episode_spec.budget
        self.device = torch.device(device)
        self.dtype = dtype
        statistics = observation_space(self.num_arms, self.budget, rewards=self.problem.rewards)
        if self.episode_spec.rounds.late:
            statistics["pending"] = pending_space(self.num_arms, self.episode_spec)
        self._scaling: Any = None
        if self.episode_spec.observation == "scaled":
            self._scaling = Scaling(statistics, self.problem.rewards, self.episode_spec.task)
        self.single_observation_space = self._scaling.space if self._scaling else _of_floats(statistics, dtype)
        self.single_action_space = action_space(self.num_arms, self.episode_spec.task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._generator = torch.Generator(self.device)
        self._remaining = 0
        self._over = False
        self._arms: Arms | None = None
        self._arriving: deque[State] = deque()  # the states at the ends of rounds, the last that has arrived first

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: Seed of the whole batch; None: continue its random streams.
            options: Must be empty.

        Raises:
            ParameterError: If there are options or several seeds, or the rewards are of another kind.
        """
        if options or isinstance(seed, list | tuple):
            raise ParameterError("a torch batch has no options, and one seed for all episodes")
        first = self._arms is None or seed is not None
        super().reset(seed=seed)
        if first:
            self._generator.manual_seed(int(self.np_random.integers(2**62)))
        self._begin()
        return self._observation(), {}

    @override
    def step(self, actions: Any) -> Step:
        """Pull an arm, or give the recommendation, in every episode.

        Args:
            actions: ``(N,)`` arms, a tensor or anything that can become one.

        Raises:
            ParameterError: If an action is not an arm.
            ResetNeeded: Before the first reset.
        """
        arms, chosen = self._checked(), self._chosen(actions)
        rewards = torch.zeros(self.num_envs, dtype=self.dtype, device=self.device)
        ended = torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)
        info: dict[str, Any] = {}
        if self._over:
            self._begin()
        elif self._remaining > 0:
            outcome = self._pull_one(arms, chosen)
            info = {} if self.episode_spec.rounds.late else {"outcome": outcome}
        else:
            best = arms.means.amax(1)
            regret = best - arms.means.gather(1, chosen[:, None])[:, 0]
            correct = regret <= 0.0
            info = {"correct": correct, "simple_regret": regret, "correct_recommendation": arms.means.argmax(1)}
            rewards = -regret if self.episode_spec.reward == "simple_regret" else correct.to(self.dtype)
            ended = ~ended
            self._over = True
        return self._observation(), rewards, ended, torch.zeros_like(ended), info

    def pull(self, counts: torch.Tensor) -> Observation:
        """Make a block of pulls, equally many in each episode, and return the observation.

        Args:
            counts: ``(N, K)`` whole counts, from the exact distribution. Counts that require a gradient may be real
                numbers: the observation is then differentiable in them, see :func:`bai_gym.training.arrays.draw`.

        Raises:
            ParameterError: If the shape is wrong, counts are negative, or totals differ or exceed what is left, or
                where rewards arrive late what is left of the round.
            ResetNeeded: Before the first reset.
        """
        arms = self._checked()
        totals = counts.detach().sum(1)
        if counts.shape != arms.means.shape or counts.min() < 0 or (totals - totals[0]).abs().max() > 0.5:
            raise ParameterError(
                f"counts must be of shape {tuple(arms.means.shape)}, at least 0, and of one total in all episodes"
            )
        pulls = round(float(totals[0]))
        if pulls > self._remaining:
            raise ParameterError(f"the counts are {pulls} pulls with {self._remaining} left of the budget")
        rounds, made = self.episode_spec.rounds, self.budget - self._remaining
        if rounds.late and pulls > (left := rounds.left(made, self.budget)):
            raise ParameterError(f"the counts are {pulls} pulls with {left} left of the round")
        if not counts.requires_grad and counts.is_floating_point() and (counts != counts.round()).any():
            raise ParameterError("counts must be integers, unless they require a gradient")
        self._state = merge(self._state, draw(arms, counts.to(self.device), self._generator))
        self._made(pulls)
        return self._observation()

    def _begin(self) -> None:
        arms = arms_of(self.problem.draw(self.num_envs, self.np_random), device=self.device, dtype=self.dtype)
        numbering = self.episode_spec.number(self.problem, self.num_envs, self.np_random)
        self._arms = arms if numbering is None else arms.arranged(torch.as_tensor(numbering.arms, device=self.device))
        self._state = start(self._arms)
        self._arriving = deque([self._state] * (self.episode_spec.rounds.delay + 1))
        self._remaining = self.budget
        self._over = False

    def _pull_one(self, arms: Arms, chosen: torch.Tensor) -> torch.Tensor:
        """Pull one arm in each episode, by Welford's update, and return the ``(N,)`` rewards that the pulls drew."""
        at = chosen[:, None]
        means, deviations = arms.means.gather(1, at), arms.deviations.gather(1, at)
        if arms.kind == "bernoulli":
            rewards = torch.bernoulli(means, generator=self._generator)
        else:
            normal = torch.randn(means.shape, generator=self._generator, dtype=self.dtype, device=self.device)
            rewards = means + deviations * normal
        pulls = self._state.pulls.gather(1, at) + 1.0
        before = self._state.means.gather(1, at)
        mean = before + (rewards - before) / pulls
        squares = self._state.squares.gather(1, at) + (rewards - before) * (rewards - mean)
        now = zip(self._state, (pulls, mean, squares), strict=True)
        self._state = State(*(values.scatter(1, at, value) for values, value in now))
        self._made(1)
        return rewards[:, 0]

    def _made(self, pulls: int) -> None:
        """Count pulls, and let the rewards arrive whose time has come."""
        self._remaining -= pulls
        rounds, made = self.episode_spec.rounds, self.budget - self._remaining
        if self._remaining == 0:
            self._arriving = deque([self._state])
        elif made % rounds.batch_size == 0:
            self._arriving.append(self._state)
            if len(self._arriving) > rounds.delay + 1:
                self._arriving.popleft()

    def _checked(self) -> Arms:
        if self._arms is None:
            raise ResetNeeded("call reset() before the first pull")
        return self._arms

    def _chosen(self, actions: Any) -> torch.Tensor:
        chosen = torch.as_tensor(np.asarray(actions) if isinstance(actions, list) else actions, device=self.device)
        wrong = chosen.shape != (self.num_envs,) or chosen.is_floating_point() or chosen.dtype == torch.bool
        if wrong or chosen.min() < 0 or chosen.max() >= self.num_arms:
            raise ParameterError(f"actions must be {self.num_envs} arms, from 0 to {self.num_arms - 1}")
        return chosen.long()

    def _observation(self) -> Observation:
        state = self._arriving[0]
        remaining = torch.full((self.num_envs, 1), float(self._remaining), dtype=self.dtype, device=self.device)
        fields = {"pulls": state.pulls, "means": state.means, "variances": state.variances, "remaining": remaining}
        if self.episode_spec.rounds.late:
            fields["pending"] = self._state.pulls - state.pulls
        return fields if self._scaling is None else self._scaling.flat(fields, torch)


def _of_floats(statistics: spaces.Dict, dtype: torch.dtype) -> spaces.Dict:
    """Return the space of statistics that are all floats of a type."""
    kind: Any = torch.empty(0, dtype=dtype).numpy().dtype.type
    parts: dict[str, Any] = dict(statistics.spaces)
    return spaces.Dict(
        {name: spaces.Box(one.low.astype(kind), one.high.astype(kind), dtype=kind) for name, one in parts.items()}
    )
