"""Any model saved by stable-baselines3 as an agent for the runner."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bai_gym.errors import AgentError, DataError, MissingPackageError, ParameterError
from bai_gym.problems import Briefing
from bai_gym.statistics import Observation

__all__ = ["SB3Agent"]


@dataclass(kw_only=True)
class SB3Agent:
    """Acts as a model of stable-baselines3 does, in batches.

    Only the policy is loaded, so models of all its algorithms work: PPO, A2C, DQN and so on. One that was trained with
    ``bai_gym.training.ArmPolicy`` plays with any number of arms; any other with as many as it was trained on.

    A saved model holds pickled Python objects: load only files that you trust.

    Args:
        path: What ``model.save(path)`` has written.
        deterministic: If True (default) the most probable action is taken, else one is drawn.
        device: Where PyTorch computes: ``"cpu"`` (default), ``"cuda"`` or ``"auto"``.

    Raises:
        MissingPackageError: If stable-baselines3 or PyTorch is not installed.
        ParameterError: If there is no such file, or it does not act in these environments.
        DataError: If it is damaged, or no model of stable-baselines3.

    Knows the prior: it was trained on instances from it.
    """

    path: str | Path
    deterministic: bool = True
    device: str = "cpu"
    digest: str = field(init=False, repr=False)

    batched: ClassVar[bool] = True
    name: ClassVar[str] = "SB3Agent"
    knows: ClassVar[frozenset[str]] = frozenset({"prior"})

    @classmethod
    def load(cls, path: str | Path, *, deterministic: bool = True, device: str = "cpu") -> Self:
        """Return the agent of a saved model, see the class."""
        return cls(path=path, deterministic=deterministic, device=device)

    def __post_init__(self) -> None:
        """Load the model once, so that a wrong file is told at once."""
        file = Path(self.path)
        if not file.is_file() and file.with_name(f"{file.name}.zip").is_file():
            file = file.with_name(f"{file.name}.zip")  # stable-baselines3 adds the ending
        if not file.is_file():
            raise ParameterError(f"there is no saved model {str(self.path)!r}")
        self.path = file.absolute()
        self.digest = hashlib.sha256(file.read_bytes()).hexdigest()
        self._policy  # noqa: B018 (loading is what may fail)

    @property
    def label(self) -> str:
        """The file's name."""
        return f"SB3({Path(self.path).stem})"

    @property
    def _policy(self) -> Any:
        # Kept out of the agent: copies and worker processes then carry a path, not a network.
        return _load(str(self.path), self.digest, self.device)

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Begin new episodes.

        Raises:
            AgentError: If the model was trained on another number of arms and cannot play with this one.
        """
        policy = self._policy
        trained = int(policy.observation_space["pulls"].shape[0])
        if trained != briefing.num_arms and not hasattr(policy, "arm_logits"):
            raise AgentError(
                f"{self.label} was trained on {trained} arms and cannot play with {briefing.num_arms}: train it there, "
                "or with the policy bai_gym.training.ArmPolicy, which plays with any number"
            )
        if not self.deterministic:
            import torch

            torch.manual_seed(int(rng.integers(2**63)))

    def act(self, observation: Observation) -> Any:
        """Return the actions: an int for one episode, ``(N, ...)`` for a batch."""
        single = observation["pulls"].ndim == 1
        policy = self._policy
        if hasattr(policy, "arm_logits"):
            actions = self._act_on_arms(policy, observation, single)
        else:
            actions, _ = policy.predict(dict(observation), deterministic=self.deterministic)
        if single and np.ndim(actions) == 0:
            return int(actions)
        return actions

    def _act_on_arms(self, policy: Any, observation: Observation, single: bool) -> npt.NDArray[Any]:
        import torch

        batch: Mapping[str, Any] = {
            name: torch.as_tensor(np.atleast_2d(array), dtype=torch.float32, device=policy.device)
            for name, array in observation.items()
        }
        with torch.no_grad():
            logits = policy.arm_logits(batch)
            if self.deterministic:
                actions = logits.argmax(dim=-1)
            else:
                actions = torch.multinomial(torch.softmax(logits, dim=-1), 1)[:, 0]
        chosen: npt.NDArray[Any] = actions.cpu().numpy()
        return chosen[0] if single else chosen


@lru_cache(maxsize=4)
def _load(path: str, digest: str, device: str) -> Any:
    """Return the policy of a saved model; ``digest`` tells a changed file from the one before."""
    try:
        from stable_baselines3.common.save_util import load_from_zip_file
        from stable_baselines3.common.utils import get_device
    except ImportError as error:
        raise MissingPackageError(
            'models of stable-baselines3 need it and PyTorch; pip install "bai-gym[learn]"'
        ) from error
    try:
        data, parameters, _ = load_from_zip_file(path, device=get_device(device))
        if data is None:
            raise ValueError
        policy_class, spaces = data["policy_class"], (data["observation_space"], data["action_space"])
        policy = policy_class(*spaces, lambda _: 0.0, **data["policy_kwargs"])
        policy.load_state_dict(parameters["policy"])
    except Exception:  # whatever unpickling a foreign file runs into
        raise DataError(
            f"{path!r} is no model of stable-baselines3, or is damaged: give what model.save(path) has written"
        ) from None
    names = getattr(spaces[0], "spaces", {})
    if any(name not in names for name in ("pulls", "means", "variances", "remaining")):
        raise ParameterError(f"{path!r} was trained on other observations than those of best-arm identification")
    policy.to(get_device(device))
    policy.set_training_mode(False)
    return policy
