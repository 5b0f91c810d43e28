"""Guardrails in real experiments: functions, ask and tell, and logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import make
from bai_gym.cli.main import app
from bai_gym.common.seeding import generator
from bai_gym.errors import BaiGymError
from bai_gym.live import Study, identify
from bai_gym.live.overview import Overview
from bai_gym.metrics import Feasible
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import Statistics

TRUTH = {"old": (0.3, 250.0), "new": (0.6, 270.0), "flashy": (0.9, 400.0), "poor": (0.1, 280.0)}
LIMITS = {"latency": "<= 300"}


def measured(arm: str, rng: np.random.Generator) -> dict[str, float]:
    return dict(zip(("revenue", "latency"), rng.normal(TRUTH[arm], (0.2, 20.0)), strict=True))


def found_by(pull: Callable[..., Any] = measured, **keywords: Any) -> Any:
    return identify(pull, **{"arms": TRUTH, "budget": 160, "guardrails": LIMITS, **keywords})


def test_general_agents_find_the_best_arm_that_keeps_the_limits_or_none(tmp_path: Path) -> None:
    for agent in ("SR", "LUCB"):
        assert found_by(agent=agent).name == "new", agent
        none = found_by(agent=agent, guardrails={"latency": "<= 200"})
        assert (none.name, none.recommendation) == ("none", 4)
    given: dict[str, Any] = {"budget": 5000, "agent": "EB-TCI", "journal": tmp_path / "journal"}
    stopped = found_by(**given)
    assert str(found_by(lambda arm: 1 / 0, **given)) == str(stopped)
    assert stopped.name == "new" and len(stopped.log) < 2500 and "stopped by the budget" not in str(stopped)
    assert "all guardrails, by their averages: old, new and poor." in str(stopped)


def test_a_study_asks_for_what_the_agent_wants_and_keeps_all_metrics(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    agent, cells = make("EB-TCI"), Statistics.zeros((4, 2))
    agent.reset(ProblemInfo(4, 60, task=Feasible(("max", "<= 300"))), generator(0, "agent"))
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    for made in range(0, 60, 20):
        with Study([*TRUTH], 60, "EB-TCI", guardrails=LIMITS, storage=storage) as study:
            for left in range(60 - made, 40 - made, -1):
                (pull,) = study.ask()
                seen = {name: getattr(cells, name)[:, 0] for name in ("pulls", "means", "variances")}
                metrics = {"metric_means": cells.means, "metric_variances": cells.variances}
                assert pull.arm == agent.act({**seen, **metrics, "remaining": np.array([left])})[0]
                numbers = measured(pull.name, np.random.default_rng(left))
                study.tell(pull, numbers)
                cells.add(2 * pull.arm + np.arange(2), np.array([*numbers.values()]))
            assert study.ended == (left == 1)
            found = str(study.result())
    assert str(Overview.of(storage).found) in found


def test_a_log_says_what_is_feasible_how_surely_and_what_is_dominated(tmp_path: Path) -> None:
    log, page = tmp_path / "log.csv", tmp_path / "page.html"
    rows = [
        f"{arm},{int(i % 10 < 10 * TRUTH[arm][0])},{TRUTH[arm][1] + 40 * (-1) ** i}"
        for i in range(400)
        for arm in TRUTH
    ]
    log.write_text("\n".join(["arm,sold,ms", *rows, "old,,3", "new,1,NaN"]), encoding="utf-8")
    for limit, texts in (
        # poor: the mean is 280, its standard error 2
        (
            "ms<=283",
            "Decide now: new is|left out: 2|in all metrics: poor.|trade-off: ms|280 (276 to 284), holds with 9",
        ),
        ("ms>=500", "Decide now: none is"),
    ):
        words = f"decide {log} --arm arm --reward sold --missing drop --out {page} --guardrail {limit}"
        app(words.split(), standalone_mode=False)
        assert [text for text in texts.split("|") if text not in page.read_text(encoding="utf-8")] == []


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm,sold,ms,no\na,1,2,\nb,1,,\n", encoding="utf-8")
    words = f"decide {tmp_path / 'log.csv'} --arm arm --reward sold"
    cases: Any = (
        (
            {"pull": lambda arm: {"revenue": 1}},
            r"pull 1 \(arm 0\) .* must give .* reward .* and latency, by name, not {",
        ),
        ({"pull": lambda arm: {"revenue": 1, "x": 2, "latency": 3}}, "reward= names it"),
        ({"pull": lambda arm: {"revenue": 1, "latency": np.nan}}, "latency of what it returned must be a finite"),
        ({"guardrails": {"latency": "fast"}}, "guardrails must be limits of metrics, .*'fast'"),
        (" --guardrail arm<=1", "names the arms"),
        ({"rewards": "binary"}, "rewards= and earlier= are for studies without guardrails"),
        (" --guardrail no<=1 --missing drop", "no row of .* both 'arm' and .* 'no'"),
        (" --guardrail sold<=1", "'sold' is the reward"),
        (" --guardrail ms<=1 --guardrail ms>=0", "two guardrails"),
    )
    for given, said in cases:
        with pytest.raises(BaiGymError, match=said):
            app((words + given).split(), standalone_mode=False) if isinstance(given, str) else found_by(**given)
