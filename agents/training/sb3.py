"""Trained models as agents: those of stable-baselines3, saved or in memory, and any network or function."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from gymnasium.spaces import Box
from typing_extensions import override

from bai_gym.agents.training.features import ARM_FEATURES, STATE_FEATURES
from bai_gym.agents.training.scaling import STATISTICS, Scaling
from bai_gym.envs.actions import ActionEncoding
from bai_gym.envs.spaces import action_space
from bai_gym.errors import AgentError, DataError, MissingPackageError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import batched
from bai_gym.statistics import AnyArray, Observation

__all__ = ["SB3Agent", "check_device"]


@dataclass(kw_only=True)
class SB3Agent:
    """Acts as a model of stable-baselines3 or sb3-contrib does, in batches; give its file, or the model itself.

    Only the policy is used, so models of all algorithms work: PPO, A2C, DQN and so on. A recurrent policy
    (``RecurrentPPO``) receives its state of the step before, and a maskable one (``MaskablePPO``) the mask of the
    actions that are allowed, where the environment has one. A model that was trained with
    ``bai_gym.training.ArmPolicy`` plays with any number of arms; any other with as many as it was trained on. A model
    that was trained where rewards arrive late reads ``pending``; for others such pulls count, as near the mean.

    What the model sees follows from its ``observation_space``: the statistics, or the vectors of
    ``observation="scaled"``. A ``torch.nn.Module``, or a function, that has no ``predict`` sees these vectors,
    ``(N, D)``, and returns ``(N, n)`` floats, of which the largest is the action, or the actions as integers.

    With the task ``top-m`` a recommended set that has not m arms is made one, as in training: see
    :meth:`bai_gym.tasks.TopM.completed`. With fixed confidence it stops at the cap, if it has not by then: no model has
    learned to, because its training episodes were cut off there.

    A saved model holds pickled Python objects: load only files that you trust.

    Args:
        path: What ``model.save(path)`` has written.
        model: In place of ``path``, the model: anything that has ``predict(observation, state, episode_start,
            deterministic, action_masks)``, or fewer of these parameters, and returns the actions of a batch, alone or
            as a pair with the next state; or a network or a function, see above. Copies of the agent share it.
        normalize: What was put around the environments to normalise observations: a ``VecNormalize``, or its file. None
            (default): that of the model, if it has one, as it is now.
        label: Name in tables. Empty (default): ``SB3(file)``, or the name of the model's class.
        deterministic: If True (default) the most probable action is taken, else one is drawn. DQN, which has no
            probabilities, takes the best one in either case.
        device: Where PyTorch computes for a saved model: ``"cpu"`` (default), ``"cuda"`` or ``"auto"`` (a GPU where
            there is one).

    Raises:
        MissingPackageError: If stable-baselines3 or PyTorch is not installed.
        ParameterError: If there is no such file or device, both or neither of ``path`` and ``model`` are given, or the
            model does not act in these environments.
        DataError: If the file is damaged, or no model of stable-baselines3.

    Knows the prior: it was trained on instances from it.
    """

    path: str | Path | None = None
    model: Any = None
    normalize: Any = None
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
        if self.normalize is None:
            self.normalize = getattr(self.model, "get_vec_normalize_env", lambda: None)()
        if self.normalize is not None and not isinstance(self.normalize, bytes):
            self.normalize = _normalizer(self.normalize)
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
        self._scaling = Scaling.of(info) if spaces is None and not _sees_anything(policy) else None
        own = getattr(getattr(policy, "observation_space", None), "shape", None)
        fits = self._scaling is None or own in (None, self._scaling.space.shape)
        trained = _trained_arms(policy, spaces, info, fits=fits)
        if trained != info.num_arms and not hasattr(policy, "arm_logits"):
            raise AgentError(
                f"{self.label} was trained on {trained} arms and cannot play with {info.num_arms}: train it there, "
                "or with the policy bai_gym.training.ArmPolicy, which plays with any number"
            )
        if self._scaling is not None and not fits and trained == info.num_arms:
            raise AgentError(
                f"{self.label} was trained on vectors of shape {own}, and here they have {self._scaling.space.shape}: "
                "train it there"
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
        batch = batched(observation)
        seen = self._seen(batch) if self._scaling is None else self._scaling(batch)
        if self.normalize is not None:
            seen = _unpickled(self.normalize).normalize_obs(seen)
        with self._seeded():
            actions = self._actions(seen, batch)
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

    def _actions(self, seen: Any, batch: Observation) -> AnyArray:
        policy = self.policy
        if hasattr(policy, "arm_logits"):
            if self._scaling is None:
                seen = {name: array for name, array in seen.items() if name != "features"}  # no logit depends on it
            else:
                seen = seen[:, : self._problem_info.num_arms * (ARM_FEATURES + 1) + STATE_FEATURES]
            return self._chosen(_computed(policy.arm_logits, seen, policy.device), batch)
        if not callable(getattr(policy, "predict", None)):
            return self._chosen(_computed(policy, seen), batch)
        return self._predicted(policy, seen, batch)

    def _chosen(self, values: AnyArray, batch: Observation) -> AnyArray:
        """Return actions as they are, or those of the largest of ``(N, n)`` logits, or drawn by them."""
        if values.dtype.kind != "f":
            return values
        if self._moves.masked:
            due = batch["remaining"][:, 0] == 0
            values = np.where(self._moves.mask(due), values, -np.inf)
        if not self.deterministic:
            values = values + self._rng.gumbel(size=values.shape)
        return np.asarray(values.argmax(axis=-1))

    def _predicted(self, policy: Any, seen: Any, batch: Observation) -> AnyArray:
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
        prediction = policy.predict(seen, **offered)
        actions, self._state = prediction if isinstance(prediction, tuple) else (prediction, None)
        self._begins = False
        return np.asarray(actions)

    def _stopped_at_the_cap(self, actions: AnyArray, batch: Observation) -> AnyArray:
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
        name = getattr(model, "__name__", type(model).__name__)
        policy = model.policy if callable(getattr(getattr(model, "policy", None), "predict", None)) else model
        if not (callable(policy) or callable(getattr(policy, "predict", None))):
            raise ParameterError(f"model must be callable, or have predict(observation), which a {name} does not")
        _check_spaces(getattr(policy, "observation_space", None), name)
        return cls(policy, name)


def _check_spaces(space: Any, what: str) -> None:
    names = getattr(space, "spaces", {})
    is_vector = isinstance(space, Box) and len(space.shape) == 1 and bool(np.isfinite(space.high).all())
    if space is None or is_vector or all(name in names for name in STATISTICS):
        return
    way = '; train it with observation="scaled", or on statistics without FlattenObservation'
    raise ParameterError(f"{what} was trained on other observations than those of best-arm identification{way}")


def _sees_anything(policy: Any) -> bool:
    """Return whether a model does not say what it sees, but predicts: it is given the statistics."""
    return getattr(policy, "observation_space", None) is None and callable(getattr(policy, "predict", None))


def _trained_arms(policy: Any, spaces: Any, info: ProblemInfo, *, fits: bool) -> int:
    """Return the number of arms that a model was trained on, or the one here where it does not say, or vectors fit."""
    if spaces is not None:
        return int(spaces["pulls"].shape[0])
    if fits:
        return info.num_arms
    actions = getattr(policy, "action_space", None)
    return int(getattr(actions, "n", info.num_arms)) // (1 + info.fixed_confidence)


def _computed(network: Any, seen: Any, device: Any = None) -> AnyArray:
    """Return what a network or a function makes of observations."""
    if "torch" in sys.modules and (device is not None or hasattr(network, "parameters")):
        import torch

        device = next((one.device for one in network.parameters()), None) if device is None else device
        with torch.no_grad():
            if isinstance(seen, dict):
                seen = {name: torch.as_tensor(one, dtype=torch.float32, device=device) for name, one in seen.items()}
            else:
                seen = torch.as_tensor(seen, device=device)
            return np.asarray(network(seen).cpu())
    return np.asarray(network(seen))


@lru_cache(maxsize=8)
def _unpickled(kept: bytes) -> Any:
    """Return a ``VecNormalize``, which cannot be copied without its environments."""
    return pickle.loads(kept)


def _normalizer(source: Any) -> bytes | None:
    """Return a ``VecNormalize``, given itself or as a file, as bytes; None if it leaves observations as they are."""
    try:
        kept = Path(source).read_bytes() if isinstance(source, str | Path) else pickle.dumps(source)
        return kept if _unpickled(kept).norm_obs else None
    except Exception:  # unpickling a foreign file can raise anything
        raise DataError(f"normalize is no VecNormalize, or a damaged file: {str(source)[:80]!r}") from None


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
