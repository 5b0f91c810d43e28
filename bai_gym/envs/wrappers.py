"""What ``gym.make`` puts around the plain environments: late rewards, differences of pairs, metrics, scaled vectors.

The wrappers read what they do in the specification of the episode, ``env.unwrapped.episode_spec``.
"""

from __future__ import annotations

from typing import Any

from gymnasium.vector import AutoresetMode

from bai_gym.envs import scalar, vector
from bai_gym.envs.late import LateRewards, LateRewardsBatch
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.specification import EpisodeSpec, make_episode
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.problems import Problem
from bai_gym.wings import hook

__all__ = ["make_env", "make_vec_env", "wrapped"]


def make_env(
    problem: Problem | str,
    spec: EpisodeSpec | float | None = None,
    render_mode: str | None = None,
    **keywords: Any,
) -> Any:
    """Return the environment of an episode, with the wrappers that it needs: the entry point of all ids.

    The arguments and the errors are those of :class:`bai_gym.envs.scalar.BestArmEnv`.
    """
    made, spec = make_episode(problem, spec, keywords, scalar.OWN_KEYWORDS, plain=False)
    return wrapped(BestArmEnv(made, spec, render_mode))


make_env.metadata = BestArmEnv.metadata  # type: ignore[attr-defined]  # where gym.make looks for the render modes


def make_vec_env(
    problem: Problem | str,
    num_envs: int = 1,
    spec: EpisodeSpec | float | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    copy: bool = True,
    render_mode: str | None = None,
    **keywords: Any,
) -> Any:
    """Return a batch of episodes, with the wrappers that it needs: the vector entry point of all ids.

    The arguments and the errors are those of :class:`bai_gym.envs.vector.BestArmVectorEnv`.
    """
    made, spec = make_episode(problem, spec, keywords, vector.OWN_KEYWORDS, plain=False)
    return wrapped(BestArmVectorEnv(made, num_envs, spec, autoreset_mode, copy, render_mode))


def wrapped(env: BestArmEnv | BestArmVectorEnv) -> Any:
    """Return the environment in the wrappers that its specification needs, if any."""
    spec = env.episode_spec
    wrappers = [
        *([(LateRewards, LateRewardsBatch)] if spec.rounds.late else []),
        *([hook("differences")] if spec.pairs else []),
        *([hook("measured")] if spec.task.metrics > 1 else []),
        *([hook("scaled")] if spec.observation == "scaled" else []),
        *([hook("progress")] if spec.progress else []),  # last, for it reads scaled vectors where there are any
    ]
    shown: Any = env
    for one, batch in wrappers:
        shown = batch(shown) if isinstance(env, BestArmVectorEnv) else one(shown)
    return shown
