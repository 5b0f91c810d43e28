"""What an agent receives: the knowledge that it declares, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bai_gym.bandits import GaussianBandit
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import KNOWLEDGE, ProblemInfo
from bai_gym.problems.info import check_knowledge

TRUTH = GaussianBandit([[0.0, 0.5], [1.0, 0.5]], [[1.0, 4.0], [0.25, 9.0]])

FACTS: dict[str, Callable[[ProblemInfo], object]] = {
    "variances": lambda info: info.variances,
    "prior": lambda info: info.check_granted("prior") or 0.0,
    "range": lambda info: info.reward_bound,
    "complexity": lambda info: info.means,
}


@pytest.mark.each("declared", [(), *KNOWLEDGE])
@pytest.mark.each("fact", FACTS)
def test_only_what_is_declared_is_granted(fact: str, declared: str | tuple[str, ...]) -> None:
    problem_info = ProblemInfo(2, 100, 2, truth=TRUTH, knows={declared} if declared else ())
    if fact == declared or (fact, declared) == ("variances", "complexity"):
        assert np.all(np.isfinite(np.asarray(FACTS[fact](problem_info))))
    else:
        with pytest.raises(AgentError, match=f"reads '{fact}' without declaring it"):
            FACTS[fact](problem_info)


def test_what_is_granted_is_true() -> None:
    problem_info = ProblemInfo(2, 100, 2, truth=TRUTH, knows={"variances", "range", "complexity"})
    assert problem_info.variances.tolist() == [[1.0, 4.0], [0.25, 9.0]]
    # Largest mean + sigma sqrt(log 100): 0.5 + 2 sqrt(log 100), and 0.5 + 3 sqrt(log 100).
    root = math.sqrt(math.log(100))
    assert problem_info.reward_bound == pytest.approx([0.5 + 2 * root, 0.5 + 3 * root])
    assert problem_info.means.tolist() == [[0.0, 0.5], [1.0, 0.5]]


def test_what_is_granted_is_a_copy() -> None:
    problem_info = ProblemInfo(2, 100, 2, truth=TRUTH, knows={"complexity"})
    problem_info.variances[:] = problem_info.means[:] = 9.0
    assert (TRUTH.variances[0, 0], TRUTH.means[0, 0]) == (1.0, 0.0)


def test_a_briefing_without_the_truth_says_so() -> None:
    with pytest.raises(AgentError, match="without the true instances"):
        _ = ProblemInfo(2, 100, knows={"variances"}).variances


def test_knowledge_is_checked() -> None:
    assert check_knowledge(["range", "range"]) == {"range"}
    for wrong in ("variances", 5, None):
        with pytest.raises(ParameterError, match="knows must be a set"):
            check_knowledge(wrong)  # type: ignore[arg-type]
    with pytest.raises(
        ParameterError, match="cannot declare to know 'means'; allowed: complexity, prior, range, variances"
    ):
        check_knowledge({"means"})
