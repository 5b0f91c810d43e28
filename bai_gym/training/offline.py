"""Episodes as a data set of Minari, the format of the Farama Foundation for offline reinforcement learning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from bai_gym.api import make_cells
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.protocol import knowledge, reset
from bai_gym.benchmark.recordings import Actor
from bai_gym.benchmark.runner import check_cells
from bai_gym.common.seeding import generator
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.wrappers import make_env
from bai_gym.errors import MissingPackageError, OutputError, ParameterError
from bai_gym.validation import integer

__all__ = ["export_episodes"]


def export_episodes(
    dataset: str,
    agent: Any,
    env: str | BestArmEnv,
    *,
    runs: int = 100,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    description: str | None = None,
    **details: Any,
) -> Any:
    """Play episodes step by step, and store them as a data set of Minari.

    An episode has the observations, actions and rewards of the environment, so the last action is the recommendation.
    Rewards of pulls are in the observations, as means. The data set names the environment with its keywords, the agent
    and this version of the library; ``recover_environment()`` makes the environment, after ``import bai_gym``. It is
    stored in Minari's folder, ``MINARI_DATASETS_PATH`` or ``~/.minari/datasets``, with Arrow.

    Args:
        dataset: Id of the data set, such as ``"bandits/gaussian8/ttts-v0"``.
        agent: As for :func:`bai_gym.evaluate`.
        env: A registered id, or an environment object, as ``gym.make`` returns it.
        runs: Episodes, at least 1.
        seed: At least 0. The same seed gives the same episodes.
        env_kwargs: Keyword arguments for ``gym.make``, such as ``{"budget": 100}``.
        description: Of the data set; None: one that names agent, environment and seed.
        **details: What else Minari asks for: ``author``, ``author_email``, ``code_permalink``.

    Returns:
        The ``minari.MinariDataset``.

    Raises:
        MissingPackageError: If Minari is not installed.
        ParameterError: If the id is none for Minari, or the number of runs is below 1.
        OutputError: If there is such a data set.
        BaiGymError: If the agent cannot play there.
    """
    try:
        import minari
        from minari.dataset.minari_dataset import parse_dataset_id
    except ImportError as error:
        raise MissingPackageError('a data set of Minari needs it; pip install "bai-gym[minari]"') from error
    integer(runs, "runs", least=1)
    try:
        parse_dataset_id(dataset)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"dataset must be an id of Minari, such as bandits/ttts-v0, not {dataset!r}") from error
    if dataset in minari.list_local_datasets():
        raise OutputError(f"there is a data set {dataset}: choose another id, or `minari delete {dataset}` first")
    keywords = dict(env_kwargs or {})
    (cell,) = make_cells([agent], env, None, seed, keywords)
    if isinstance(env, str) and cell.traits.uses_pairs:  # which has to see differences on common items
        (cell,) = make_cells([agent], env, None, seed, {**keywords, "pairs": True})
    check_cells([cell])
    spec, played = cell.env.built.spec, _environment(cell)
    said = f"{runs} episodes of {cell.label} on {cell.env.label} with budget {cell.budget_name}, seed {seed}"
    try:
        return minari.create_dataset_from_buffers(
            dataset,
            _episodes(cell, runs),
            env=spec,
            eval_env=spec,
            algorithm_name=cell.label,
            observation_space=played.observation_space,
            action_space=played.action_space,
            description=said if description is None else description,
            requirements=[f"bai-gym=={version('bai-gym')}"],
            data_format="arrow",
            **details,
        )
    except BaseException:
        if dataset in minari.list_local_datasets():  # with a part of the episodes
            minari.delete_dataset(dataset)
        raise


def _environment(cell: Cell) -> Any:
    """Return the environment of the cell, with the wrappers that its specification needs."""
    return make_env(cell.env.built.problem, cell.env.built.episode_spec)


def _episodes(cell: Cell, runs: int) -> Iterator[Any]:
    """Yield episodes, one at a time, as buffers of Minari."""
    from minari.data_collector import EpisodeBuffer

    agent, env = cell.agent.make(), _environment(cell)
    for run in range(runs):
        start = int(generator(cell.seed, "exported rewards", run).integers(2**31))
        observation, _ = env.reset(seed=start)
        info = env.problem_info(knowledge(agent))
        reset(agent, info, generator(cell.seed, "exported agent", run))
        actor = Actor(agent, env.action_encoding, info)
        observations, actions, rewards, over = [observation], [], [], [False, False]
        while not any(over):
            action = np.asarray(actor.act(observation), np.int64)
            observation, reward, *over, _ = env.step(action)
            observations.append(observation)
            actions.append(action)
            rewards.append(reward)
        terminated, truncated = over
        yield EpisodeBuffer(
            id=run,
            seed=start,
            observations={name: np.stack([seen[name] for seen in observations]) for name in observation},
            actions=np.stack(actions),
            rewards=rewards,
            terminations=[False] * (len(rewards) - 1) + [terminated],
            truncations=[False] * (len(rewards) - 1) + [truncated],
        )
