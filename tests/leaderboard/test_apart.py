"""An agent in a process of its own: plays as it plays here, knows no instance, and harms nobody by what it does."""

from __future__ import annotations

import copy
import dataclasses
import linecache
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym import Comparison, compare
from bai_gym.errors import AgentError
from bai_gym.leaderboard.apart import Apart

SINGLE = """
import os
class Mine:
    def reset(self, info, rng):
        {reset}
        self.arms, self.rng = info.num_arms, rng
    def act(self, observation):
        {act}
        if observation["remaining"][0] > 0:
            return int(self.rng.integers(self.arms))
        return int(observation["means"].argmax())
"""


def play(agent: Any, env: str = "BAI-Gaussian8-v0", path: str = "auto", seed: int = 3, **keywords: Any) -> Comparison:
    return compare([agent], env, budgets=[60], runs=20, seed=seed, path=path, progress=False, env_kwargs=keywords)


def runs_of(comparison: Comparison) -> list[list[Any]]:
    """Return all that is known of the runs, but for the time that they took."""
    return [
        [str(getattr(runs, field.name)) for field in dataclasses.fields(runs) if field.name != "seconds"]
        for runs in comparison.outcomes.values()
    ]


def mine(tmp_path: Path, reset: str = "pass", act: str = "pass") -> str:
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(SINGLE).format(reset=reset, act=act), encoding="utf-8")
    return f"{path}:Mine"


def test_plays_as_the_agent_itself(tmp_path: Path) -> None:
    """An agent with stages (which leaves pulls unspent), and a plain class.

    By itself, only the class, which the library does not know, gets shuffled arms.
    """
    halving = Path(__file__).resolve().parents[2] / "leaderboard" / "numpy_halving.py"
    for agent, keywords in (("SHVar", {"shuffle": False}), (f"{halving}:Halving", {})):
        with Apart(agent) as apart:
            there, here = play(apart, **keywords), play(agent, path="steps", **keywords)
        assert runs_of(there) == runs_of(here)
        assert (there[0].agent, there[0].knows, there[0].notes) == (here[0].agent, here[0].knows, here[0].notes)


def test_an_agent_of_one_episode_plays_all_at_once(tmp_path: Path) -> None:
    """It pulls arms at random: other random numbers, the same distribution, within five standard errors."""
    with Apart(mine(tmp_path)) as apart:
        there, again = (compare([apart], "BAI-Gaussian8-v0", budgets=[60], runs=100, progress=False) for _ in range(2))
    assert runs_of(there) == runs_of(again)
    here = compare([mine(tmp_path)], "BAI-Gaussian8-v0", budgets=[60], runs=100, seed=1, progress=False)
    assert abs(there[0].error_probability - here[0].error_probability) < 5 * np.sqrt(2 * 0.25 / 100)


class First:
    """Recommends the first arm that it sees."""

    def allocate(self, observation: Any) -> Any:
        return None

    def recommend(self, observation: Any) -> Any:
        return np.zeros(len(observation["pulls"]), int)


def test_shuffled_arms_are_named_back() -> None:
    """The first of 20 arms of this environment is the best; by chance, 95 % are wrong, plus and minus five errors."""
    with Apart(First) as agent:
        first, other, again = (
            compare([agent], "BAI-Bernoulli-Setup1-v0", budgets=[20], runs=300, progress=False, env_kwargs=keywords)
            for keywords in ({"shuffle": False}, {}, {})
        )
    assert first[0].errors == 0 and abs(other[0].error_probability - 19 / 20) < 0.063
    assert runs_of(again) == runs_of(other)
    assert not first[0].mean_pulls.any() and not other[0].mean_pulls.any()  # it has asked for none


class Noisiest:
    """Recommends the arm of largest variance."""

    knows = frozenset({"variances"})

    def reset(self, info: Any, rng: Any) -> None:
        self.arm = int(info.variances[0].argmax())

    def act(self, observation: Any) -> int:
        return self.arm


def test_each_episode_has_its_own_knowledge() -> None:
    with Apart(Noisiest) as agent:
        played = [play(one, "BAI-Bernoulli10-v0").recommendations("Noisiest").tolist() for one in (agent, Noisiest)]
    assert played[0] == played[1]


def test_an_agent_of_many_episodes_has_one_prior_only_where_arms_are_not_shuffled() -> None:
    pytest.importorskip("bai_gym.correlated", reason="normal priors are part of that wing")
    with Apart("BayesElim") as agent:
        there, here = (play(one, "BAI-GaussianPrior10-v0", path="steps", shuffle=False) for one in (agent, "BayesElim"))
        assert runs_of(there) == runs_of(here)
        with pytest.raises(AgentError, match="plans for one prior"):
            play(agent, "BAI-GaussianPrior10-v0")


@pytest.mark.slow
def test_what_is_known_is_shuffled_too() -> None:
    with Apart("SHVar") as halving:
        (easy,) = compare([halving], "BAI-Gaussian8-v0", budgets=[800], runs=50, progress=False)
    assert easy.errors <= 10 and easy.knows == ("variances",)


def test_the_instance_is_not_in_the_process(tmp_path: Path) -> None:
    """Nothing that Python's garbage collector knows there is a bandit, nor has the problem info what is not granted."""
    search = "import gc; held = [x for x in gc.get_objects() if type(x).__name__.endswith('Bandit')]"
    told = "print('no answer'); os.write(1, b'nor this')"
    reset = f"{told}; {search}; assert not held, held; assert info._truth is None; self.found = info.variances"
    with Apart(mine(tmp_path, reset=reset)) as agent, pytest.raises(AgentError, match="'variances' without declaring"):
        play(agent)
    code = (
        Path(mine(tmp_path)[:-5])
        .read_text(encoding="utf-8")
        .replace("class Mine:", "class Mine:\n    knows = {'complexity'}")
    )
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    with pytest.raises(AgentError, match="would tell it the true means"):
        Apart(f"{tmp_path / 'mine.py'}:Mine")


def check_errors(tmp_path: Path, cases: dict[str, dict[str, str]]) -> None:
    for words, body in cases.items():
        with Apart(mine(tmp_path, **body), seconds=0.5) as agent:
            with pytest.raises(AgentError) as caught:
                play(agent)
            assert words in str(caught.value) and "\n" not in str(caught.value)
        with pytest.raises(AgentError, match="process has ended"):
            play(agent)


def test_what_goes_wrong_ends_in_one_line(tmp_path: Path) -> None:
    """A crash of the process, an exception and rubbish; afterwards there is no process."""
    cases = {
        "the agent's process ended by itself, with exit code 3 (asked for an action)": {"act": "os._exit(3)"},
        "act raised ZeroDivisionError: division by zero (line 8 of mine.py: 1 / 0)": {"act": "1 / 0"},
        "act: actions must be": {"act": "return 'left'"},
    }
    check_errors(tmp_path, cases)


@pytest.mark.slow
def test_other_things_that_go_wrong_do_so_too(tmp_path: Path) -> None:
    cases = {
        "took longer than the time limit of 0.5 seconds (asked for an action)": {"act": "while True: pass"},
        "took longer than the time limit of 0.5 seconds (asked to reset)": {"reset": "import time; time.sleep(100)"},
        "act raised SystemExit": {"act": "raise SystemExit"},
        "act: actions must": {"act": "return None"},
        "not JSON serializable": {"act": "return object()"},
        "process ended by itself": {"act": "[os.write(pipe, bytes([255]) * 8) for pipe in (4, 5)]"},
    }
    check_errors(tmp_path, cases)
    with pytest.raises(AgentError, match="^there is no file .* give the path of the agent's file$"):
        Apart(f"{tmp_path / 'none.py'}:Mine")


def test_the_time_limit_is_for_all_answers_until_it_is_renewed(tmp_path: Path) -> None:
    """Each episode takes 0.1 seconds, 20 take too long."""
    with Apart(mine(tmp_path, reset="import time; time.sleep(0.1)"), seconds=0.6) as agent:
        with pytest.raises(AgentError, match="time limit of 0.6 seconds"):
            play(agent)
        assert agent._process.left < 0.5
        agent.renew()
        assert agent._process.left == 0.6


@pytest.mark.slow
def test_copies_share_the_process_and_workers_have_their_own() -> None:
    with Apart("SH") as agent:
        assert copy.deepcopy(agent)._process is agent._process
        keywords = {"shuffle": False}  # as it is played by itself
        here = compare(
            [agent], "BAI-Gaussian8-v0", budgets=[60], runs=20, seed=3, workers=2, progress=False, env_kwargs=keywords
        )
        assert runs_of(here) == runs_of(play("SH", path="steps", **keywords))


CELL = """
class Mine:
    def allocate(self, observation):
        return None
    def recommend(self, observation):
        return helper(observation)
def helper(observation):
    return 1 / 0
"""


def test_errors_name_the_function_and_the_line_of_a_notebook() -> None:
    """Jupyter has the lines of a cell where Python looks for them, and no file."""
    name, namespace = "/nowhere/123.py", {"__name__": "__main__"}
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(keepends=True), name)
    exec(compile(CELL, name, "exec"), namespace)
    with Apart(namespace["Mine"]) as agent, pytest.raises(AgentError) as caught:
        play(agent)
    assert str(caught.value) == (
        "recommend raised ZeroDivisionError: division by zero (line 8 of its cell: return 1 / 0)"
    )


def test_a_class_of_a_notebook_can_be_given() -> None:
    class Local:
        def allocate(self, observation: Any) -> Any:
            pulls = observation["pulls"]
            return None if pulls.any() else np.full(pulls.shape, 7)

        def recommend(self, observation: Any) -> Any:
            return observation["means"].argmax(axis=1)

    with Apart(Local) as agent:
        assert runs_of(play(agent)) == runs_of(play(Local, path="steps"))
