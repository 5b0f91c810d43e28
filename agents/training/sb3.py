"""Models of stable-baselines3 as agents, saved or in memory."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.envs.actions import ActionEncoding
from bai_gym.envs.spaces import action_space
from bai_gym.errors import AgentError, DataError, MissingPackageError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import batched
from bai_gym.statistics import Observation

__all__ = ["SB3Agent", "check_device"]


@dataclass(kw_only=True)
class SB3Agent:
    """Acts as a model of stable-baselines3 or sb3-contrib does, in batches; give its file, or the model itself.

    Only the policy is used, so models of all algorithms work: PPO, A2C, DQN and so on. A recurrent policy
    (``RecurrentPPO``) receives its state of the step before, and a maskable one (``MaskablePPO``) the mask of the
    actions that are allowed, where the environment has one. A model that was trained with
    ``bai_gym.training.ArmPolicy`` plays with any number of arms; any other with as many as it was trained on. A model
    that was trained where rewards arrive late reads ``pending``; for others such pulls count, as near the mean.

    With the task ``top-m`` a recommended set that has not m arms is made one, as in training: see
    :meth:`bai_gym.tasks.TopM.completed`. With fixed confidence it stops at the cap, if it has not by then: no model has
    learned to, because its training episodes were cut off there.

    A saved model holds pickled Python objects: load only files that you trust.

    Args:
        path: What ``model.save(path)`` has written.
        model: In place of ``path``, the model: anything that has ``predict(observation, state, episode_start,
            deterministic, action_masks)``, or fewer of these parameters, and returns the actions of a batch, alone or
            as a pair with the next state. Copies of the agent share it.
        label: Name in tables. Empty (default): ``SB3(file)``, or the name of the model's class.
        deterministic: If True (default) the most probable action is taken, else one is drawn. DQN, which has no
            probabilities, takes the best one in either case.
        device: Where PyTorch computes for a saved model: ``"cpu"`` (default), ``"cuda"`` or ``"auto"`` (a GPU where
            there is one).

    Raises:
        MissingPackageError: If stable-baselines3 or PyTorch is not installed.
        ParameterError: If there is no such file or device, both or neither of ``path`` and ``model`` are given, or the
            model does not act in these environments, or acts on observations that ``VecNormalize`` has changed.
        DataError: If the file is damaged, or no model of stable-baselines3.

    Knows the prior: it was trained on instances from it.
    """

    path: str | Path | None = None
    model: Any = None
    label: str = ""
    deterministic: bool = True
    device: str = "cpu"
    digest: str = field(init=False, default="", repr=False)

    batched: ClassVar[bool] = True
    name: ClassVar[str] = "SB3Agent"
    knows: ClassVar[frozenset[str]] = frozenset({"prior"})

    @classmethod
    def load(cls, path: str | Path, *, deterministic: bool = True, device: str = "cpu") -> Self:
        """Return the agent of a saved model, see the class."""
        return cls(path=path, deterministic=deterministic, device=device)

    def __post_init__(self) -> None:
        """Load a saved model once, to report a wrong file immediately."""
        if (self.path is None) == (self.model is None):
            raise ParameterError(f"{self.name} takes path=, of a saved model, or model=, one of the two")
        if self.path is None:
            self.model = self.model if isinstance(self.model, _Shared) else _Shared.of(self.model)
            self.label = self.label or self.model.name
        else:
            self._find(self.path)
        self.policy  # noqa: B018 (loading is what may fail)

    def _find(self, path: str | Path) -> None:
        file = Path(path)
        if not file.is_file():
            file = Path(f"{path}.zip")  # stable-baselines3 adds the ending
        if not file.is_file():
            raise ParameterError(f"there is no saved model {str(path)!r}")
        self.path = file.absolute()
        self.digest = hashlib.sha256(file.read_bytes()).hexdigest()
        short = (file.name == "model.zip" and self.path.parent.name) or file.stem
        self.label = self.label or (f"SB3({short})" if self.deterministic else f"SB3({short}, deterministic=False)")

    @property
    def policy(self) -> Any:
        """The policy of the model; that of a file is read once."""
        # Kept out of the agent: copies and worker processes then carry a path, not a network.
        return self.model.policy if self.path is None else _load(str(self.path), self.digest, self.device)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for tables: what the model knows."""
        return (f"{self.label}: its prior is the distribution of the instances that it was trained on",)

    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Begin new episodes.

        Args:
            info: Number of arms, task and rules.
            rng: Source of randomness, where actions are drawn. None: a fresh unseeded one.

        Raises:
            AgentError: If the model was trained on another number of arms and cannot play with this one, or for other
                recommendations.
        """
        policy, spaces = self.policy, self._spaces
        trained = info.num_arms if spaces is None else int(spaces["pulls"].shape[0])
        if trained != info.num_arms and not hasattr(policy, "arm_logits"):
            raise AgentError(
                f"{self.label} was trained on {trained} arms and cannot play with {info.num_arms}: train it there, "
                "or with the policy bai_gym.training.ArmPolicy, which plays with any number"
            )
        space = action_space(trained, info.task, fixed_confidence=info.fixed_confidence)
        if getattr(policy, "action_space", space) != space:
            rule = "fixed confidence" if info.fixed_confidence else "a fixed budget"
            raise AgentError(
                f"{self.label} was trained for another kind of recommendation than the task {info.task.name!r} "
                f"with {rule} asks for: train it there"
            )
        self._problem_info = info
        self._moves = ActionEncoding(info.num_arms, info.task, fixed_confidence=info.fixed_confidence)
        self._rng = np.random.default_rng() if rng is None else rng
        self._state: Any = None  # of a recurrent policy, after the last step
        self._begins, self._number = True, 0

    @property
    def _spaces(self) -> Any:
        """The spaces of the parts of an observation that the model was trained on; None where it does not say."""
        return getattr(getattr(self.policy, "observation_space", None), "spaces", None)

    @property
    def reads_pending(self) -> bool:
        """Whether it was trained where rewards arrive late, and acts on ``pending``."""
        return "pending" in (self._spaces or ())

    def act(self, observation: Observation) -> Any:
        """Return the actions: an int for one episode, ``(N, ...)`` for a batch.

        Raises:
            AgentError: If the agent has not been reset, since then or for as many episodes where it is recurrent.
        """
        if not hasattr(self, "_problem_info"):
            call = "agent.reset(env.unwrapped.problem_info(agent.knows))"
            raise AgentError(f"{self.label} has not been reset: call {call}")
        batch = self._seen(batched(observation))
        with self._seeded():
            actions = self._actions(batch)
        if self._problem_info.fixed_confidence:
            actions = self._stopped_at_the_cap(actions, batch)
        actions = self._moves.completed(actions, batch["means"], batch["remaining"])
        if observation["pulls"].ndim == 2:
            return actions
        return int(actions[0]) if actions.ndim == 1 else actions[0]

    def _seen(self, batch: Observation) -> Observation:
        """Return what the model was trained on: without features, unless it has seen such features.

        Where every reward arrives at once, none is pending.
        """
        known = self._spaces
        if known is None:
            return batch
        batch = {"pending": np.zeros_like(batch["pulls"]), **batch}
        if "features" in known:
            here = batch["features"].shape[2:] if "features" in batch else "none"
            if here != known["features"].shape[1:]:
                raise AgentError(
                    f"{self.label} was trained on features of shape {known['features'].shape}, which this environment "
                    "does not have: train it there"
                )
        missing = [name for name in known if name not in batch]
        if missing:
            raise AgentError(
                f"{self.label} was trained on {' and '.join(missing)}, which this environment does not show: train it "
                "there"
            )
        return {name: batch[name] for name in known}

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        """Seed PyTorch from the agent's generator, and restore its global state afterwards."""
        if self.deterministic or "torch" not in sys.modules:
            yield
            return
        import torch

        device = getattr(self.policy, "device", torch.device("cpu"))
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(int(self._rng.integers(2**63)))
            yield

    def _actions(self, batch: Observation) -> npt.NDArray[Any]:
        policy = self.policy
        if not hasattr(policy, "arm_logits"):
            return self._predicted(policy, batch)
        import torch

        with torch.no_grad():
            logits = policy.arm_logits(
                {
                    name: torch.as_tensor(array, dtype=torch.float32, device=policy.device)
                    for name, array in batch.items()
                    if name != "features"  # no arm's logit depends on it
                }
            )
            if self.deterministic:
                return np.asarray(logits.argmax(dim=-1).cpu())
            return np.asarray(torch.multinomial(torch.softmax(logits, dim=-1), 1)[:, 0].cpu())

    def _predicted(self, policy: Any, batch: Observation) -> npt.NDArray[Any]:
        number = len(batch["pulls"])
        if self._state is not None and number != self._number:
            raise AgentError(f"{self.label} remembers {self._number} episodes, and {number} go on: reset it first")
        self._number = number
        offered = {
            "state": self._state,
            "episode_start": np.full(number, self._begins),
            "deterministic": self.deterministic,
        }
        if self._moves.masked:
            offered["action_masks"] = self._moves.mask(batch["remaining"][:, 0] == 0)
        taken = inspect.signature(policy.predict).parameters
        if not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
            offered = {name: value for name, value in offered.items() if name in taken}
        prediction = policy.predict(dict(batch), **offered)
        actions, self._state = prediction if isinstance(prediction, tuple) else (prediction, None)
        self._begins = False
        return np.asarray(actions)

    def _stopped_at_the_cap(self, actions: npt.NDArray[Any], batch: Observation) -> npt.NDArray[Any]:
        num_arms, actions = self._problem_info.num_arms, np.array(actions)
        if actions.ndim == 2:
            actions[batch["remaining"][:, 0] == 0, 0] = num_arms
            return actions
        pulls = (batch["remaining"][:, 0] == 0) & (actions < num_arms)
        return np.where(pulls, num_arms + batch["means"].argmax(axis=1), actions)


class _Shared:
    """A policy in memory, which copies of an agent share: a network cannot be copied while gradients refer to it.

    Attributes:
        name: The name of the model's class.
    """

    def __init__(self, policy: Any, name: str) -> None:
        self.name = name
        self.__dict__["policy"] = policy

    @cached_property
    def policy(self) -> Any:
        """What predicts. Digests of results leave a cached property out: the content in the state stands for it."""
        raise AttributeError("policy")

    @override
    def __getstate__(self) -> dict[str, Any]:
        policy = self.policy
        content: tuple[Any, ...] = (policy,)
        if callable(getattr(policy, "state_dict", None)) and callable(getattr(policy, "modules", None)):  # a network
            digest = hashlib.sha256()
            for name, tensor in policy.state_dict().items():
                digest.update(name.encode() + np.asarray(tensor.detach().cpu()).tobytes())
            content = (digest.hexdigest(), *(type(module) for module in policy.modules()))
        return {**self.__dict__, "content": content}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @classmethod
    def of(cls, model: Any) -> Self:
        """Check a model, and hold its policy.

        Raises:
            ParameterError: If it cannot act here.
        """
        name, normalizer = type(model).__name__, getattr(model, "get_vec_normalize_env", None)
        normalized = normalizer() if callable(normalizer) else None
        if normalized is not None and normalized.norm_obs:
            raise ParameterError(
                f"{name} acts on observations that VecNormalize has changed: train it without norm_obs, or give an "
                "agent whose act(observation) changes them in the same way"
            )
        policy = model.policy if callable(getattr(getattr(model, "policy", None), "predict", None)) else model
        if not callable(getattr(policy, "predict", None)):
            raise ParameterError(f"model must have a method predict(observation), which a {name} does not")
        _check_spaces(getattr(policy, "observation_space", None), name)
        return cls(policy, name)


def _check_spaces(space: Any, what: str) -> None:
    names = getattr(space, "spaces", {})
    if space is not None and any(name not in names for name in ("pulls", "means", "variances", "remaining")):
        way = "; train it with MultiInputPolicy, and without FlattenObservation" if hasattr(space, "shape") else ""
        raise ParameterError(f"{what} was trained on other observations than those of best-arm identification{way}")


def check_device(device: str) -> None:
    """Check that PyTorch can compute there.

    Raises:
        ParameterError: If it cannot.
    """
    import torch

    try:
        torch.zeros(1, device=torch.device("cpu" if device == "auto" else device)).cpu()
    except Exception:  # of many kinds, by what is missing
        raise ParameterError(
            f"PyTorch cannot compute on the device {device!r} here: take 'auto', 'cpu', or 'cuda' where there is a GPU"
        ) from None


@lru_cache(maxsize=4)
def _load(path: str, digest: str, device: str) -> Any:
    """Return the policy of a saved model; a changed ``digest`` means that the file has changed."""
    try:
        from stable_baselines3.common.save_util import load_from_zip_file
        from stable_baselines3.common.utils import get_device
    except ImportError as error:
        raise MissingPackageError(
            'models of stable-baselines3 need it and PyTorch; pip install "bai-gym[learn]"'
        ) from error
    check_device(device)
    try:
        data, parameters, _ = load_from_zip_file(path, device=get_device(device))
        if data is None:
            raise ValueError
        policy_class, spaces = data["policy_class"], (data["observation_space"], data["action_space"])
        policy = policy_class(*spaces, lambda _: 0.0, **data["policy_kwargs"])
        policy.load_state_dict(parameters["policy"])
    except Exception:  # unpickling a foreign file can raise anything
        raise DataError(
            f"{path!r} is no model of stable-baselines3, or is damaged: give what model.save(path) has written"
        ) from None
    _check_spaces(spaces[0], repr(path))
    policy.to(get_device(device))
    policy.set_training_mode(False)
    return policy
