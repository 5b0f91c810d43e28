"""An agent in a process of its own, which sees observations and never an instance.

The runner keeps bandits, pulls and budget; the agent's process receives what :class:`~bai_gym.problems.ProblemInfo`
grants and one observation after another, and answers with actions. Requests are pickles; answers are JSON, of which
nothing is executed. So an agent cannot read the true means from its memory, or hang, and whatever its code does ends as
an :class:`~bai_gym.errors.AgentError` of one line.

This is no sandbox: the process may do all that its user may, see docs/leaderboard/untrusted-code.md.
"""

from __future__ import annotations

import contextlib
import copy
import json
import linecache
import os
import pickle
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import traceback
import weakref
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
from typing_extensions import override

from bai_gym import agents, errors
from bai_gym.adapters import stepper_of
from bai_gym.benchmark.protocol import Traits, confidence, describe, knowledge, notes, reset
from bai_gym.envs.actions import ActionEncoding
from bai_gym.errors import AgentError, BaiGymError
from bai_gym.parallel.worker import listen, read, write
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, IntArray, Observation

if TYPE_CHECKING:
    from bai_gym.bandits import GaussianPrior

__all__ = ["Apart"]

STARTUP = 120.0  # seconds for Python, bai_gym and the agent's file to load
MOST_ANSWER = 2**26  # bytes
DECLARED = ("uses_pairs", "uses_costs", "stops", "reads_pending")
NOT_THE_AGENTS = (os.path.dirname(errors.__file__), *agents.__path__, sysconfig.get_path("stdlib"), "<frozen ")


class Apart:
    """An agent that plays in a process of its own, by ``act``: pull by pull, as ``path="steps"`` of ``evaluate`` does.

    With the same seed the results have the same bytes as with the agent itself and ``path="steps"``, unless the agent
    acts on one episode at a time: then all episodes are played at once, with an agent each. (An agent of the library is
    played on arms as the problem lists them by itself, and on shuffled arms in a process of its own.) End the process
    by :meth:`close`, or use the agent in a ``with`` statement.

    Args:
        agent: As for :func:`bai_gym.evaluate`: a name, ``"mine.py:Thirds"``, a class, or an instance. A file is
            loaded in the process alone.
        seconds: Time limit of all its answers, in total, since the start or :meth:`renew`.

    Raises:
        AgentError: If the agent cannot be loaded, or declares to know the complexity, which tells the true means.
    """

    batched = True
    label: str
    knows: frozenset[str]

    def __init__(self, agent: Any, seconds: float = 60.0) -> None:
        self._arguments = agent, seconds
        self._process = _Process(seconds)
        try:
            facts = self._process.ask("load", (cloudpickle.dumps(agent), _cells()), limit=STARTUP)
            vars(self).update(facts, knows=frozenset(facts["knows"]))
            if "complexity" in self.knows:
                raise AgentError(f"{self.label} declares to know the complexity, which would tell it the true means")
        except BaseException:
            self.close()
            raise

    def __deepcopy__(self, memo: dict[int, Any]) -> Apart:
        """Share the process, which makes a fresh agent at every reset."""
        same = object.__new__(type(self))
        vars(same).update(vars(self))
        return same

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        """Start a process of its own where it is unpickled."""
        agent, seconds = self._arguments
        return _apart, (cloudpickle.dumps(agent), seconds)

    def reset(self, info: ProblemInfo, rng: np.random.Generator) -> None:
        """Begin new episodes with a fresh agent."""
        process, stream = self._process, None
        if rng is not process.rng:  # else the process continues its own copy
            process.rng = rng
            bits = rng.bit_generator
            stream = type(bits), bits.seed_seq, bits.state
        self.idle_pulls: IntArray | None = None
        process.ask("reset", (GrantedInfo(info), stream))

    def act(self, observation: Observation) -> Any:
        """Return the agent's action: of one episode, or of a batch."""
        answer = self._process.ask("act", {name: np.asarray(observation[name]) for name in observation})
        if "idle" in answer:
            self.idle_pulls = np.array(answer["idle"])
        return answer["action"]  # the runner checks it

    def renew(self) -> None:
        """Give the agent the whole time again."""
        self._process.left = self._arguments[1]

    def close(self) -> None:
        """End the process, with what it has started."""
        self._process.end()

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class GrantedInfo(ProblemInfo):
    """A problem info without the instances: of the oracle knowledge it has what is granted."""

    def __init__(self, info: ProblemInfo) -> None:
        vars(self).update(vars(info), _truth=None)
        knows = self.knows
        self._variances = info.variances if "variances" in knows else None
        self._bound = info.reward_bound if "range" in knows else None
        self._prior = info.prior if "prior" in knows else None

    def of_one(self, episode: int) -> GrantedInfo:
        """Return the problem info of one episode."""
        one, rows = copy.copy(self), slice(episode, episode + 1)
        one.batch = 1
        one.features = None if self.features is None else self.features[rows]
        one._variances = None if self._variances is None else self._variances[rows]
        one._bound = None if self._bound is None else self._bound[rows]
        one._prior = None if self._prior is None else self._prior.of_run(episode)
        return one

    @property
    @override
    def variances(self) -> FloatArray:
        self.check_granted("variances")
        return np.array(self._variances)

    @property
    @override
    def reward_bound(self) -> FloatArray:
        self.check_granted("range")
        return np.array(self._bound)

    @property
    @override
    def prior(self) -> GaussianPrior | None:
        self.check_granted("prior")
        return self._prior


class _Process:
    """The process, with one question at a time, and a time limit for its answers."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds
        self.rng: np.random.Generator | None = None  # of which the process has a copy
        path = os.pathsep.join(map(os.path.abspath, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bai_gym.leaderboard.apart"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a group of its own: what the agent has started is killed with it
        )
        self.end = weakref.finalize(self, _end, self._process)

    def ask(self, what: str, given: Any, limit: float | None = None) -> dict[str, Any]:
        """Return the answer; a process that fails to give one is ended."""
        process, started = self._process, time.perf_counter()
        assert process.stdin is not None and process.stdout is not None
        if not self.end.alive:
            raise AgentError("the agent's process has ended")
        late = threading.Event()

        def expire() -> None:
            late.set()
            _kill(process)

        alarm = threading.Timer(max(self.left if limit is None else limit, 0.0), expire)
        alarm.start()
        try:
            write(process.stdin, pickle.dumps((what, given)))
            message = read(process.stdout, most=MOST_ANSWER)
            answer: Any = None if message is None else json.loads(message)
        except (OSError, ValueError):
            answer = None
        finally:
            alarm.cancel()
        if limit is None:
            self.left -= time.perf_counter() - started
        if isinstance(answer, dict) and not late.is_set():
            if "error" in answer:
                raise AgentError(str(answer["error"]))
            return answer
        self.end()
        asked = "asked for an action" if what == "act" else f"asked to {what}"  # to agents that never heard of `act`
        if late.is_set():
            raise AgentError(
                f"the agent took longer than the time limit of {self.seconds if limit is None else limit:g} seconds "
                f"({asked}); is there a loop that never ends?"
            )
        raise AgentError(f"the agent's process ended by itself, with exit code {process.returncode} ({asked})")


def _apart(agent: bytes, seconds: float) -> Apart:
    return Apart(pickle.loads(agent), seconds)


def _cells() -> dict[str, Any]:
    """Return the lines of code that is in no file: a notebook's cells, which errors quote."""
    lines = {name: entry[2] for name, entry in linecache.cache.items() if len(entry) == 4 and not os.path.exists(name)}
    return {name: (0, None, cell, name) for name, cell in lines.items()}


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # it is gone
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):  # one that is about to end keeps its exit code
        process.wait(0.0 if process.stdin is None or process.stdin.closed else 0.2)
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # an unread question
                pipe.close()


class _Player:
    """The other side: answers the questions with an agent."""

    def load(self, given: tuple[bytes, dict[str, Any]]) -> dict[str, Any]:
        """Load the agent, and say what it declares."""
        from bai_gym.api import agent_source

        agent, cells = given
        linecache.cache.update(cells)
        source = agent_source(pickle.loads(agent))
        self._make, first = source.make, source.prototype
        declared = {name: bool(getattr(first, name, False)) for name in DECLARED}
        return {
            "label": source.label or describe(first),
            "knows": sorted(knowledge(first)),
            "notes": notes(first),
            "delta": confidence(first),
            **declared,
        }

    def reset(self, given: tuple[GrantedInfo, Any]) -> dict[str, Any]:
        """Begin new episodes."""
        info, stream = given
        if stream is not None:
            kind, seed, state = stream
            self._rng = np.random.Generator(kind(seed))
            self._rng.bit_generator.state = state
        agent = self._make()
        self._agents, traits = [agent], Traits.of(agent)
        self._acts_on_batches = traits.acts_on_batches
        if not traits.allocates and not traits.acts_on_batches and info.batch > 1:
            self._agents = [self._make() for _ in range(info.batch)]
            for episode, rng in enumerate(self._rng.spawn(info.batch)):
                reset(self._agents[episode], info.of_one(episode), rng)
            return {}
        reset(agent, info, self._rng)
        # Where episodes may stop, the runner plays one at a time.
        acts = callable(getattr(agent, "act", None)) if info.may_stop else traits.acts_on_batches
        if traits.allocates and not acts:
            encoding = ActionEncoding(info.num_arms, info.task, fixed_confidence=info.may_stop)
            self._agents = [stepper_of(agent, encoding, info)]
            self._acts_on_batches = True
        return {}

    def act(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Return the action; at the end of the budget with the pulls that the agent has not asked for."""
        agent = self._agents[0]
        if observation["pulls"].ndim == 2 and not self._acts_on_batches:
            actions = []
            for episode, one in enumerate(self._agents):
                actions.append(one.act({name: array[episode] for name, array in observation.items()}))
            return {"action": np.asarray(actions).tolist()}
        answer = {"action": np.asarray(agent.act(observation)).tolist()}
        idle = getattr(agent, "idle_pulls", getattr(agent, "idle", None))
        if idle is not None and not observation["remaining"].any():
            answer["idle"] = np.asarray(idle).tolist()
        return answer


def _sentence(error: BaseException, what: str) -> str:
    """Return an error in one line, with the agent's function and its own line."""
    own = [
        step
        for step in traceback.extract_tb(error.__traceback__)
        if "site-packages" not in step.filename and not step.filename.startswith(NOT_THE_AGENTS)
    ]
    function = own[0].name if own and own[0].name.isidentifier() else what
    said = str(error) if isinstance(error, BaiGymError) else f"{function} raised {type(error).__name__}: {error}"
    if own and own[-1].line:
        file = os.path.basename(own[-1].filename) if os.path.exists(own[-1].filename) else "its cell"
        said += f" (line {own[-1].lineno} of {file}: {own[-1].line})"
    return " ".join(said.split())[:1000]


def _serve() -> None:
    """Answer questions until the other side is gone."""
    questions, answers = listen()
    player = _Player()
    while True:
        what, given = pickle.loads(questions.get())
        try:
            answer = json.dumps(getattr(player, what)(given))
        except BaseException as error:  # noqa: B036 (whatever the agent's code does, sys.exit included)
            answer = json.dumps({"error": _sentence(error, what)})
        write(answers, answer.encode())


if __name__ == "__main__":
    _serve()
