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

FACTS: dict[str, list[Callable[[ProblemInfo], object]]] = {
    "variances": [lambda problem_info: problem_info.variances],
    "prior": [lambda problem_info: problem_info.check_granted("prior") or 0.0],
    "range": [lambda problem_info: problem_info.reward_bound],
    "complexity": [lambda problem_info: problem_info.means],
}


def test_every_fact_is_tested_here() -> None:
    assert set(FACTS) == set(KNOWLEDGE)


@pytest.mark.each("declared", [(), *FACTS])
@pytest.mark.each("fact", FACTS)
def test_only_what_is_declared_is_granted(fact: str, declared: str | tuple[str, ...]) -> None:
    problem_info = ProblemInfo(2, 100, 2, truth=TRUTH, knows={declared} if declared else ())
    for read in FACTS[fact]:
        if fact == declared or (fact, declared) == ("variances", "complexity"):
            assert np.all(np.isfinite(np.asarray(read(problem_info))))
        else:
            with pytest.raises(AgentError, match=f"reads '{fact}' without declaring it"):
                read(problem_info)


def test_what_is_granted_is_true() -> None:
    problem_info = ProblemInfo(2, 100, 2, truth=TRUTH, knows={"variances", "range", "complexity"})
    assert problem_info.variances.tolist() == [[1.0, 4.0], [0.25, 9.0]]
    # Largest mean + sigma sqrt(log 100): 0.5 + 2 sqrt(log 100), and 0.5 + 3 sqrt(log 100).
    root = math.sqrt(math.log(100))
    assert problem_info.reward_bound == pytest.approx([0.5 + 2 * root, 0.5 + 3 * root])
    assert problem_info.means.tolist() == [[0.0, 0.5], [1.0, 0.5]]


def test_a_complexity_may_depend_on_the_variances() -> None:
    assert ProblemInfo(2, 100, 2, truth=TRUTH, knows={"complexity"}).variances.tolist() == TRUTH.variances.tolist()


def test_what_is_granted_is_a_copy() -> None:
    problem_info = ProblemInfo(2, 100, 2, truth=TRUTH, knows={"variances"})
    problem_info.variances[:] = 0.0
    assert TRUTH.variances[0, 0] == 1.0


def test_the_truth_is_not_kept_where_nothing_is_granted() -> None:
    problem_info = ProblemInfo(2, 100, 2, truth=TRUTH)
    assert all(value is not TRUTH for value in vars(problem_info).values())


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
