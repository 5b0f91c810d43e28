"""The page of an experiment, for those who decide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym.errors import ParameterError
from bai_gym.live.estimates import Pull
from bai_gym.live.evidence import Identification
from bai_gym.rewards import Rewards
from bai_gym.statistics import Statistics


def identification(ones: list[int], of: list[int], **keywords: Any) -> Identification:
    """A result of rewards 0 and 1, those of the arms by turns."""
    log = [
        Pull(arm, float((number + 1) * ones[arm] // total - number * ones[arm] // total))
        for number in range(max(of))
        for arm, total in enumerate(of)
        if number < total
    ]
    given = {"agent": "X", "budget": sum(of), "seed": 5, "names": ("control", "large", "small")[: len(of)], **keywords}
    return Identification.of(1, log, len(of), **given)


def saved(found: Identification, tmp_path: Path, **keywords: Any) -> tuple[str, list[list[str]]]:
    """The text of the page before its details, and the cells of its table."""
    found.save(tmp_path / "page.html", **keywords)
    body = (tmp_path / "page.html").read_text().partition("<body>")[2].partition("<details>")[0]
    rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall("<tr.*?</tr>", body)]
    return " ".join(re.sub("<[^>]*>", " ", body).replace("\xa0", " ").split()), [
        [cell.replace("\xa0", " ") for cell in row[:-1]] for row in rows
    ]


def test_rates_are_in_per_cent_and_compared_with_the_control(tmp_path: Path) -> None:
    before = Statistics(np.array([[100, 0, 50]]), np.array([[0.1, 0.0, 0.1]]), np.array([[9 / 99, 0.0, 4.5 / 49]]))
    text, rows = saved(identification([20, 60, 5], [200, 300, 50], earlier=before), tmp_path, control="control")
    assert rows[0] == [
        *("alternative", "observations", "earlier observations", "rate", "95 % interval", "at all times"),
        *("compared with control", "probability of being the best"),
    ]
    # 30 of 300, 60 of 300, 10 of 100; Wilson's intervals.
    assert [row[:5] + row[6:7] for row in rows[1:-1]] == [
        ["large", "300", "0", "20.0 %", "15.9 to 24.9 %", "+10.0 points (+100 %)"],
        ["control", "200", "100", "10.0 %", "7.1 to 13.9 %", "-"],
        ["small", "50", "50", "10.0 %", "5.5 to 17.4 %", "+0.0 points (+0 %)"],
    ]
    assert text.startswith("large is recommended Decide now: large is the best with a probability of ")
    assert "from 550 observations of 3 alternatives, and 150 earlier ones" in text
    # 0.1 +- 1.96 sqrt(0.16 / 299 + 0.09 / 299)
    assert "the difference is +10.0 points (+100 %), with a 95 % interval of 4.3 to 15.7 points" in text
    assert "How the evidence grew" in text and "150 observations 700" in text
    assert not re.search("pull|seed|reward|arm", text)
    assert saved(identification([20, 60, 5], [200, 300, 50], earlier=before), tmp_path, control=0)[0] == text
    for wrong in ("contrl", 3, -1, 1.5):
        with pytest.raises(ParameterError, match="is no arm: give one of control, large"):
            identification([1, 2], [3, 3]).save(tmp_path / "page.html", control=wrong)  # type: ignore[arg-type]


def test_the_page_says_whether_to_decide(tmp_path: Path) -> None:
    for ones, of, keywords, words in (
        ([100, 150], [1000, 1000], {}, "Decide now: large is the best with a probability of "),
        (
            [90, 120],
            [1000, 1000],
            {},
            r"Collect more, if a loss of 0\.\d+ percentage points on average would matter: large is the best",
        ),
        (
            [100, 100],
            [1000, 1000],
            {},
            r"Collect more, if a loss of 0\.\d+ percentage points .* of only [\d.]+ %. Otherwise decide now",
        ),
        (
            [100, 100],
            [1000, 1000],
            {"budget": 2601},
            r"Collect more, if .*, and 601 observations of the budget are left; after about 600 more observations",
        ),
        ([100, 100], [1000, 1000], {"budget": 2003}, "the best with a probability of [\\d.]+ %; after about"),
        ([100, 100], [1000, 1000], {"items": 1000, "budget": 9000}, "no observations are left that could tell more"),
        ([100, 100], [1000, 1000], {"items": 1010, "budget": 9000}, "after about 20 more observations"),
    ):
        text, _ = saved(identification(ones, of, **keywords), tmp_path)
        assert re.search(words, text), (ones, keywords, text)
    text, _ = saved(identification([100, 100], [1000, 1000]), tmp_path)
    assert "0: the two may be equally good" in text and "split equally among" in text


def test_text_page_and_data_frame_show_the_same_intervals_at_all_times_and_what_they_assume(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    for rewards, assumed in (
        ("real", "observations that are normally distributed"),
        ("bounded(-1, 3)", "observations that are numbers from -1 to 3"),
        ("binary", "observations that are 0 or 1"),
        ("counts", "For counts no intervals at all times are known"),
    ):
        log = [Pull(arm, float(rng.random() < 0.4 + 0.1 * arm)) for _ in range(60) for arm in range(3)]
        found = Identification.of(1, log, 3, rewards=Rewards.of(rewards), agent="X", budget=180, seed=5)
        text, rows = saved(found, tmp_path)
        assert assumed in text and assumed in str(found), rewards
        ends = found.to_pandas()[["lasting_lower", "lasting_upper"]].to_numpy()
        np.testing.assert_array_equal(ends, found.lasting)
        if rewards == "counts":
            assert np.isnan(ends).all() and rows[1][4] == "not estimable"
            continue
        for arm, row, line in zip(found.order, rows[1:], str(found).splitlines()[2:], strict=False):
            shown = [float(value) for value in re.findall(r"-?[\d.]+", row[4])]
            assert shown == pytest.approx(100.0 * ends[arm], rel=5e-3), rewards  # rates, in per cent
            assert line.endswith("  {:.4g} to {:.4g}".format(*ends[arm])), rewards


def test_other_rewards_and_a_study_that_runs(tmp_path: Path) -> None:
    study = bai_gym.live.Study(["a", "b"], 40, "Uniform", seed=1)
    study.optimize(lambda pull: float(np.random.default_rng(pull.number).normal(3.0 * pull.arm)), pulls=11)
    study.tell(*[(pull, -5.0) for pull in study.ask()][0], error="broken")
    text, rows = saved(study.result(), tmp_path, control="a")
    assert text.startswith("b is ahead so far") and "The experiment has not ended" in text
    assert (
        rows[0][1:3] == ["observations", "average"]
        and "1 of 12 observations failed and count as the worst value" in text
    )
    assert rows[2][5] == "-" and re.fullmatch(r"[+]\d.*", rows[1][5]) and "points" not in text
