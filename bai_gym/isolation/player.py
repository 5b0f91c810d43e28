"""The isolated side: a process that knows one agent, sees observations, and never the truth.

Standard input and output carry the messages; what the agent's code prints goes to standard error. It runs as
``python -m bai_gym.isolation.player MEMORY``, with the largest number of bytes of a process.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import random
import sys
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.bandits.executor.worker import listen, write
from bai_gym.benchmark.merged import MergedStatistics
from bai_gym.benchmark.protocol import acts_on_batches, allocates, check_agent, knowledge, reset
from bai_gym.errors import AgentError, BaiGymError
from bai_gym.isolation.messages import STATISTICS, Arrays, pack, unpack
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Block, Engine, Outcome, check_request, start
from bai_gym.statistics import Statistics
from bai_gym.tasks import BestArm

MOST_FILE = 64 * 2**20  # bytes of a file


class GrantedInfo(ProblemInfo):
    """A problem info for a process that must not hold the truth: it has the granted facts alone."""

    def __init__(self, header: dict[str, Any], facts: Arrays) -> None:
        super().__init__(
            header["num_arms"],
            header["budget"],
            header["batch"],
            task=BestArm(header["epsilon"]),
            knows=header["knows"],
        )
        self.features = facts.get("features")
        self.rewards = Rewards.of(header["rewards"])
        self._facts = facts

    @override
    def check_granted(self, fact: str) -> None:
        """Refuse what is not declared; the other side may refuse what is."""
        if fact not in self.knows:
            raise AgentError(f"the agent reads {fact!r} without having declared it in its `knows`")

    @property
    @override
    def variances(self) -> np.ndarray:
        """The true variances, (N, K)."""
        self.check_granted("variances")
        return self._facts["variances"].copy()

    @property
    @override
    def reward_bound(self) -> np.ndarray:
        """Bounds on the rewards, (N,)."""
        self.check_granted("range")
        return self._facts["range"].copy()

    def of_one(self, episode: int) -> GrantedInfo:
        """Return the problem info of one episode of the batch."""
        header = {
            "num_arms": self.num_arms,
            "budget": self.budget,
            "batch": 1,
            "epsilon": self.task.epsilon,
            "rewards": str(self.rewards),
            "knows": sorted(self.knows),
        }
        return GrantedInfo(header, {name: array[episode : episode + 1] for name, array in self._facts.items()})


class Player:
    """Answers the questions of the other side with an agent."""

    def __init__(self) -> None:
        self._file = Path()
        self._make: Callable[[], Any] = object
        self._agents: list[Any] = []
        self._single = False  # whether there is an agent for each episode
        self._blocks: Generator[Block, Any, np.ndarray] | None = None

    def name(self, header: dict[str, Any], _: Arrays) -> bytes:
        """Make an agent of the library, and say what it is."""
        from bai_gym.api import agent_source

        self._make = agent_source(header["agent"]).make
        return self._described()

    def load(self, header: dict[str, Any], arrays: Arrays) -> bytes:
        """Write a file into the current folder, load it, and say what the agent is."""
        self._file = Path.cwd() / header["file"]
        self._file.write_bytes(arrays["code"].tobytes())
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
        self._make = found
        return self._described()

    def _described(self) -> bytes:
        agent = self._make()
        check_agent(agent)
        acts = not allocates(agent)
        self._single = acts and not acts_on_batches(agent)
        self._uses_variances = bool(getattr(agent, "uses_variances", True))
        return pack({"knows": sorted(knowledge(agent)), "acts": acts, "uses_variances": self._uses_variances})

    def reset(self, header: dict[str, Any], facts: Arrays) -> bytes:
        """Begin new episodes, with fresh agents: one for all, or one for each where it acts on one observation."""
        info, seed = GrantedInfo(header, facts), header["seed"]
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002 (for agents that use it)
        if self._single:
            streams = np.random.default_rng(seed).spawn(info.batch)
            self._agents = [self._make() for _ in streams]
            for episode, (agent, rng) in enumerate(zip(self._agents, streams, strict=True)):
                reset(agent, info.of_one(episode), rng)
        else:
            self._agents = [self._make()]
            reset(self._agents[0], info, np.random.default_rng(seed))
            self._blocks = self._unrolled(self._agents[0], info)
        return pack({})

    def act(self, header: dict[str, Any], observation: Arrays) -> bytes:
        """Give the actions of all episodes."""
        if not self._single:
            batch, num_arms = observation["pulls"].shape
            answer = self._agents[0].act(observation)
            return pack({}, {"actions": BestArm().check(answer, batch, num_arms, "act")})
        actions = []
        for episode, agent in enumerate(self._agents):
            action = agent.act({name: array[episode] for name, array in observation.items()})
            number = np.asarray(action)
            if number.shape not in ((), (1,)) or not np.issubdtype(number.dtype, np.integer):
                shown = " ".join(repr(action).split())[:80]
                raise BaiGymError(f"act must return the number of an arm, an int, not {shown}")
            actions.append(int(number.item()))
        return pack({}, {"actions": np.array(actions)})

    def allocate(self, header: dict[str, Any], made: Arrays) -> bytes:
        """Send the outcome of the last block, and return the next one, or at the end the recommendations."""
        assert self._blocks is not None
        try:
            block = self._blocks.send(Statistics(*(made[name] for name in STATISTICS)) if made else None)
        except StopIteration as end:
            return pack({"request": "none"}, {"recommendation": end.value})
        return pack(
            {"request": "block"}, {"counts": block.counts, **({} if block.arms is None else {"arms": block.arms})}
        )

    def _unrolled(self, agent: Any, info: GrantedInfo) -> Generator[Block, Any, np.ndarray]:
        """Execute the agent's plan: yield blocks, whose outcomes are sent back, and return the recommendations."""
        batch, num_arms = info.batch, info.num_arms
        record = MergedStatistics(batch, num_arms, info.budget, variances=self._uses_variances, features=info.features)

        def pulled(block: Block, pulls: int) -> Generator[Block, Statistics, Statistics]:
            outcome = yield block
            record.add(block.arms, outcome)
            record.spend(pulls)
            return outcome

        plan = start(agent, record)
        outcome: Statistics | Outcome | None = None
        while True:
            try:
                wanted = plan.send(outcome)
            except StopIteration as end:
                return BestArm().check(end.value, batch, num_arms)
            request, pulls = check_request(wanted, batch, num_arms, record.left)
            if isinstance(request, Block):
                outcome = yield from pulled(request, pulls)
                continue
            # A rule decides here, one pull after another; the other side sees blocks of single pulls.
            arms = np.tile(np.arange(num_arms), (batch, 1)) if request.arms is None else request.arms
            window = record.statistics.take(arms) if request.window is None else request.window
            made = info.budget - record.left
            engine = Engine(request, window, made, info.features, variances=self._uses_variances)
            for _ in range(request.steps):
                slots = engine.choose()
                if (slots < 0).all():
                    break
                # Episodes that have stopped pull an arm whose reward is not read.
                named = np.take_along_axis(arms, np.maximum(slots, 0)[:, None], 1)[:, 0]
                reward = yield from pulled(Block.single(named), 1)
                engine.update(slots, reward.means[:, 0].copy())
            outcome = engine.outcome

    def sentence(self, error: BaseException, where: str) -> str:
        """Return what went wrong, with the line of the agent's file."""
        lines = [one for one in traceback.extract_tb(error.__traceback__) if Path(one.filename) == self._file]
        place = f", in line {lines[-1].lineno} of {self._file.name}: `{lines[-1].line}`" if lines else ""
        if isinstance(error, SyntaxError) and error.filename and Path(error.filename) == self._file:
            place = f", in line {error.lineno} of {self._file.name}"
            return f"loading the file raised {type(error).__name__}: {error.msg}{place}"
        if isinstance(error, BaiGymError):
            return f"{error}{place}"
        if where in ("load", "name"):
            where = "loading the file" if where == "load" else "making the agent"
        elif where == "allocate" and lines:
            where = lines[0].name  # plan, allocate or recommend
        return f"{where} raised {type(error).__name__}{f': {error}' if str(error) else ''}{place}"


def limit_resources(memory: int) -> None:
    """Bound the memory, in bytes, of each process of the agent's code, and the size of its files."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, MOST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # not on every system
            resource.setrlimit(what, (most, most))


def main() -> None:
    """Answer the questions of the other side until it is gone."""
    limit_resources(int(sys.argv[1]))
    waiting, answers = listen()
    write(answers, pack({"ready": True}))
    player = Player()
    while True:
        header, arrays = unpack(waiting.get())
        what = header["do"]
        try:
            answer = getattr(player, what)(header, arrays)
        except BaseException as error:  # noqa: B036 (whatever the agent's code does, sys.exit included)
            answer = pack({"error": player.sentence(error, what)})
        write(answers, answer)


if __name__ == "__main__":
    main()
