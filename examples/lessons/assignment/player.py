"""The student's side of the grader: a process that knows one agent, sees observations, and never the truth.

Messages are a JSON header and plain arrays, so that nothing a student's process sends is ever executed. Standard input
and output carry them; what the student's code prints goes to standard error.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import random
import struct
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.benchmark.protocol import acts_on_batches, allocates, check_agent, knowledge, reset
from bai_gym.errors import AgentError, BaiGymError
from bai_gym.problems import Briefing
from bai_gym.pulling.worker import listen, write
from bai_gym.sampling import Block, SamplingRule
from bai_gym.sampling.requests import check_request
from bai_gym.statistics import Statistics
from bai_gym.tasks import BestArm

Arrays = dict[str, np.ndarray]
_HEAD = struct.Struct(">I")
STATISTICS = ("pulls", "means", "variances")


def pack(header: dict[str, Any], arrays: Arrays | None = None) -> bytes:
    """Return a message."""
    named = {name: np.asarray(array, order="C") for name, array in (arrays or {}).items()}
    shapes = [[name, array.dtype.str, array.shape] for name, array in named.items()]
    head = json.dumps({**header, "arrays": shapes}).encode()
    return b"".join([_HEAD.pack(len(head)), head, *(array.tobytes() for array in named.values())])


def unpack(message: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a message.

    Raises:
        ValueError: If it is none.
    """
    try:
        (length,) = _HEAD.unpack_from(message)
        header: dict[str, Any] = json.loads(message[_HEAD.size : _HEAD.size + length])
        place, arrays, data = _HEAD.size + length, {}, bytearray(message)
        for name, kind, shape in header.pop("arrays"):
            dtype, count = np.dtype(kind), int(np.prod(shape, dtype=int))
            arrays[name] = np.frombuffer(data, dtype, count, place).reshape(shape)
            place += count * dtype.itemsize
        return header, arrays
    except Exception as error:  # of many kinds: the sender may have written anything
        raise ValueError(f"this is no message: {error}") from None


class Told(Briefing):
    """A briefing for a process that must not hold the truth: it has the granted facts alone."""

    def __init__(self, header: dict[str, Any], facts: Arrays) -> None:
        super().__init__(
            header["num_arms"],
            header["budget"],
            header["batch"],
            task=BestArm(header["epsilon"]),
            knows=header["knows"],
        )
        self.features = facts.get("features")
        self._facts = facts

    def check_granted(self, fact: str) -> None:
        """Refuse what is not declared; to declare more would not help, where the rubric does not allow it."""
        if fact not in self.knows:
            raise AgentError(f"the agent reads {fact!r} without having declared it in its `knows`")

    @property
    def variances(self) -> np.ndarray:
        """The true variances, (N, K)."""
        self.check_granted("variances")
        return self._facts["variances"].copy()

    @property
    def reward_bound(self) -> np.ndarray:
        """Bounds on the rewards, (N,)."""
        self.check_granted("range")
        return self._facts["range"].copy()

    def of_one(self, episode: int) -> Told:
        """Return the briefing of one episode of the batch."""
        header = {
            "num_arms": self.num_arms,
            "budget": self.budget,
            "batch": 1,
            "epsilon": self.task.epsilon,
            "knows": sorted(self.knows),
        }
        return Told(header, {name: array[episode : episode + 1] for name, array in self._facts.items()})


class Player:
    """Answers the grader's questions with the student's agent."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._class: type = object
        self._agents: list[Any] = []
        self._single = False  # whether there is an agent for each episode
        self._rule: SamplingRule | None = None
        self._window: Statistics | None = None

    def load(self, header: dict[str, Any], arrays: Arrays) -> bytes:
        """Load the student's file, and say what the agent is."""
        sys.path.insert(0, str(self._file.parent))
        spec = importlib.util.spec_from_file_location("submission", self._file)
        if spec is None or spec.loader is None:
            raise BaiGymError(f"{self._file.name} is no Python file")
        module = sys.modules["submission"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found = getattr(module, header["class_name"], None)
        if not inspect.isclass(found):
            own = [name for name, value in vars(module).items() if inspect.isclass(value)]
            there = f"its classes are {', '.join(own)}" if own else "it has no class at all"
            raise BaiGymError(f"there is no class {header['class_name']} in {self._file.name}; {there}")
        self._class, agent = found, found()
        check_agent(agent)
        acts = not allocates(agent)
        self._single = acts and not acts_on_batches(agent)
        self._uses_variances = bool(getattr(agent, "uses_variances", True))
        return pack({"knows": sorted(knowledge(agent)), "acts": acts, "uses_variances": self._uses_variances})

    def reset(self, header: dict[str, Any], facts: Arrays) -> bytes:
        """Begin new episodes, with fresh agents: one for all, or one for each where it acts on one observation."""
        briefing, seed = Told(header, facts), header["seed"]
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002 (for students who use it)
        self._rule = None
        if self._single:
            streams = np.random.default_rng(seed).spawn(briefing.batch)
            self._agents = [self._class() for _ in streams]
            for episode, (agent, rng) in enumerate(zip(self._agents, streams, strict=True)):
                reset(agent, briefing.of_one(episode), rng)
        else:
            self._agents = [self._class()]
            reset(self._agents[0], briefing, np.random.default_rng(seed))
        return pack({})

    def act(self, header: dict[str, Any], observation: Arrays) -> bytes:
        """Give the actions of all episodes."""
        if not self._single:
            answer = self._agents[0].act(observation)
            return pack({}, {"actions": BestArm().check(answer, *observation["pulls"].shape, "act")})
        actions = []
        for episode, agent in enumerate(self._agents):
            action = agent.act({name: array[episode] for name, array in observation.items()})
            number = np.asarray(action)
            if number.shape not in ((), (1,)) or not np.issubdtype(number.dtype, np.integer):
                shown = " ".join(repr(action).split())[:80]
                raise BaiGymError(f"act must return the number of an arm, an int, not {shown}")
            actions.append(int(number.item()))
        return pack({}, {"actions": np.array(actions)})

    def allocate(self, header: dict[str, Any], observation: Arrays) -> bytes:
        """Give the next request."""
        if self._rule is not None and self._window is not None:
            self._rule.answer, self._rule = self._window.unwindow(), None
        answer = self._agents[0].allocate(observation)
        batch, arms = observation["pulls"].shape
        request, pulls = check_request(answer, batch, arms, int(observation["remaining"].flat[0]))
        if request is None:
            return pack({"request": "none"})
        given = {} if request.arms is None else {"arms": request.arms}
        if isinstance(request, Block):
            return pack({"request": "block"}, {"counts": request.counts, **given})
        self._rule = request
        self._window = request.first_window(lambda: Statistics.of(observation))
        if request.window is not None:
            given |= {name: getattr(request.window, name) for name in STATISTICS}
        return pack({"request": "rule", "steps": pulls}, given)

    def start(self, header: dict[str, Any], arrays: Arrays) -> bytes:
        """Give the first choice of a sampling rule."""
        assert self._rule is not None and self._window is not None
        self._rule.start(self._window)
        return pack({}, {"flat": self._rule.choose()})

    def update(self, header: dict[str, Any], arrays: Arrays) -> bytes:
        """Take in a reward of each episode, and give the next choice of the sampling rule, if there is one."""
        assert self._rule is not None and self._window is not None
        flat = arrays["flat"]
        for name in STATISTICS if self._uses_variances else STATISTICS[:2]:
            getattr(self._window, name).reshape(-1)[flat] = arrays[name]
        self._rule.update(flat, *(arrays[name] for name in STATISTICS))
        return pack({}, {"flat": self._rule.choose()} if header["more"] else {})

    def recommend(self, header: dict[str, Any], observation: Arrays) -> bytes:
        """Give the recommendations."""
        if self._rule is not None and self._window is not None:
            self._rule.answer, self._rule = self._window.unwindow(), None
        answer = BestArm().check(self._agents[0].recommend(observation), *observation["pulls"].shape)
        return pack({}, {"recommendation": answer})

    def sentence(self, error: BaseException, where: str) -> str:
        """Return what went wrong, with the line of the student's file."""
        lines = [one for one in traceback.extract_tb(error.__traceback__) if Path(one.filename) == self._file]
        place = f", in line {lines[-1].lineno} of {self._file.name}: `{lines[-1].line}`" if lines else ""
        if isinstance(error, SyntaxError) and error.filename and Path(error.filename) == self._file:
            place = f", in line {error.lineno} of {self._file.name}"
            return f"loading the file raised {type(error).__name__}: {error.msg}{place}"
        if isinstance(error, BaiGymError):
            return f"{error}{place}"
        where = "loading the file" if where == "load" else where
        return f"{where} raised {type(error).__name__}{f': {error}' if str(error) else ''}{place}"


def main(file: Path) -> None:
    """Answer the grader's questions until it is gone."""
    waiting, answers = listen()
    write(answers, pack({"ready": True}))
    player = Player(file)
    while True:
        header, arrays = unpack(waiting.get())
        what = header["do"]
        try:
            answer = getattr(player, what)(header, arrays)
        except BaseException as error:  # noqa: B036 (whatever a student's code does, sys.exit included)
            answer = pack({"error": player.sentence(error, what)})
        write(answers, answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
