"""``bai-gym decide``: what a log says, in the terminal and on a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bai_gym.errors import BaiGymError
from bai_gym.live.logged import log_page

Command = Callable[..., tuple[str, str]]

LOGS = Path(__file__).parents[2] / "live" / "evaluations"  # its README.md says what wrote them
ONES = {"present": 20, "large": 60, "video": 22}  # of 200


def write_log(path: Path) -> None:
    rows = [
        f"{name},{int(visit * ones // 200 < (visit + 1) * ones // 200)}"
        for visit in range(200)
        for name, ones in ONES.items()
    ]
    path.write_text("\n".join(["page,bought", *rows]), encoding="utf-8")


def test_a_log_says_which_whether_to_stop_and_what_is_missing(command: Command, tmp_path: Path) -> None:
    write_log(tmp_path / "log.csv")
    words = ("decide", str(tmp_path / "log.csv"), "--arm", "page", "--reward", "bought", "--control", "present")
    out, _ = command(*words, "--out", str(tmp_path / "page.html"))
    text, page = " ".join(out.split()), (tmp_path / "page.html").read_text(encoding="utf-8")
    for said in (
        "large is ahead so far. Decide now: large is the best with a probability of ",
        "Compared with present the difference is +20.0 points (+200 %)",
        "600 observations of 3 alternatives",
        "Rewards: binary, as far as the log shows.",
    ):
        assert said in text, said
    assert "Decide now: large" in page and "How the evidence grew" in page and "has not ended" not in text + page
    out, _ = command(*words[:-2])
    assert "Compared with" not in out


def test_a_log_of_common_items_compares_on_these() -> None:
    rng = np.random.default_rng(0)
    hard = rng.normal(size=80)
    frame = {
        "model": ["small", "large"] * 80,
        "question": np.repeat(np.arange(80), 2).tolist(),
        "right": [int(skill + 0.5 * rng.normal() > one) for one in hard for skill in (0.0, 0.1)],
    }
    read = {"arm_column": "model", "reward_column": "right"}
    paired, alone = log_page(frame, item_column="question", **read), log_page(frame, **read)
    assert "on the 80 items that both were tried on" in paired.sentences[1] and "items" not in alone.sentences[1]
    assert "no observations are left that could tell more" in paired.decision


def test_a_log_that_cannot_be_used() -> None:
    frame = {"arm": ["a", "b", "a"], "item": [1, 1, 1], "reward": [1, 0, 3]}
    for keywords, said in (
        ({"control": "c"}, "control 'c' is not in column 'arm', which has a, b"),
        ({"item_column": "item"}, "'a' has two rows of one item"),
        ({"rewards": "binary"}, "which is not binary"),
        ({"reward_column": "price"}, "has no column 'price'"),
    ):
        with pytest.raises(BaiGymError, match=said):
            log_page(frame, **{"arm_column": "arm", "reward_column": "reward", **keywords})  # type: ignore[arg-type]


def test_logs_of_evaluation_tools_say_which_model_and_whether_to_stop(command: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("--metric", "match", "--control", "mockllm/small", "--out", str(page))
    out, _ = command("decide", str(LOGS / "inspect"), *words)
    for text in (" ".join(out.split()), page.read_text(encoding="utf-8")):
        for said in (
            "mockllm/large is ahead so far",
            "Collect more, if a loss of",
            "The 3 models are compared on the 6 questions for which all of them have a score; 2 others are left out.",
            "on the 6 items that both were tried on (95 % interval",
            "Compared with mockllm/small",
        ):
            assert said in text, said
    files = sorted(map(str, (LOGS / "lm-eval").rglob("*.jsonl")))[:2]
    out, _ = command("decide", *files, "--metric", "exact_match,flexible-extract")
    assert "The 2 models are compared on the 8 questions" in " ".join(out.split())


@pytest.mark.parametrize(
    "words",
    [
        ("log.csv",),
        ("log.csv", "--arm", "page"),
        ("log.csv", "log.csv", "--arm", "page", "--reward", "bought"),
        ("log.csv", "--arm", "page", "--reward", "bought", "--metric", "acc"),
        (str(LOGS), "--arm", "page", "--reward", "bought"),
        (str(LOGS), "--metric", "match", "--item", "question"),
    ],
)
def test_options_belong_to_tables_or_to_logs_of_evaluation_tools(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    write_log(tmp_path / "log.csv")
    with pytest.raises(BaiGymError, match="a table is a single file, with --arm and --reward"):
        command("decide", *words)
