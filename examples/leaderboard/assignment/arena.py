"""Plays the agent of the assignment, in a process of its own, against agents of the library on the same instances."""

import functools
import sys

import bai_gym
import bai_gym.errors
from bai_gym.leaderboard.apart import Apart

PARTS = {
    "noisy": ("BAI-Gaussian64-v0", 2000),
    "clicks": ("BAI-Bernoulli10-v0", 100),
    "close": ("BAI-Bernoulli-Setup1-v0", 2000),
}
RIVALS = ("Uniform", "SH", "SHVar")
RUNS = 1000  # episodes of each agent in each part
SECONDS = 120.0  # for all answers of the agent in a part
LEVEL = 0.01  # of each significance test


_failures = {}  # what an agent that has failed in a part is told in all tests; under None, for all parts


@functools.cache
def play(agent, part, seed):
    """Return the comparison of an agent with all rivals."""
    assert agent is not None, f"there is no MyAgent: {_why_missing()}"
    for known in (part, None):
        assert (agent, known) not in _failures, _failures[agent, known]
    env, budget = PARTS[part]
    try:
        with Apart(agent, SECONDS) as apart:
            assert not apart.knows, f"it declares to know {', '.join(sorted(apart.knows))}; here agents know nothing"
            apart.label = "your agent"
            return bai_gym.compare([apart, *RIVALS], env, budgets=[budget], runs=RUNS, seed=seed, progress=False)
    except bai_gym.errors.BaiGymError as error:
        _failures[agent, None if "time limit" in str(error) else part] = f"{part}: {error}"
        raise


def _why_missing():
    """Return in words why the notebook has no such class: run its cell again, which Jupyter keeps in `In`."""
    notebook = vars(sys.modules["__main__"])
    cells = [cell for cell in notebook.get("In", ()) if "MyAgent" in cell and "grader." not in cell]
    if not cells:
        return "no cell defines it"
    try:
        exec(cells[-1], dict(notebook))
    except Exception as error:
        line = f" (line {error.lineno}: {(error.text or '').strip()})" if isinstance(error, SyntaxError) else ""
        return f"its cell raises {type(error).__name__}: {getattr(error, 'msg', error)}{line}"
    return "its cell defines none"


def plays(agent, part, seed):
    """Fail unless the agent plays all episodes by the rules, within its budget and the time limit."""
    own = play(agent, part, seed).find("your agent")
    print(f"{part}: wrong in {own.error_probability:.1%} of {own.runs:,} episodes")


def difference(agent, part, rival, seed):
    """Return by how much more often the agent is wrong than a rival, where that is significant, else 0; and say so."""
    comparison = play(agent, part, seed)
    test = comparison.paired("your agent", rival, level=1 - LEVEL)
    own, other = (comparison.find(name).error_probability for name in ("your agent", rival))
    words = f"{part}: wrong in {own:.1%}, {rival} in {other:.1%} of the episodes, p = {test.p_value:.2g}"
    return (test.difference if test.p_value < LEVEL else 0.0), words


def beats(agent, part, rival, seed):
    """Fail unless the agent is wrong significantly less often than a rival."""
    found, words = difference(agent, part, rival, seed)
    assert found < 0, words


def not_worse(agent, part, rival, seed):
    """Fail if the agent is wrong significantly more often than a rival."""
    found, words = difference(agent, part, rival, seed)
    assert found <= 0, words
