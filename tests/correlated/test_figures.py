"""The figure of a posterior: what is drawn where, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym.correlated.figures import posterior_plot
from bai_gym.errors import OutputError, ParameterError
from bai_gym.report import canvas

GIVEN: dict[str, Any] = {
    "points": [0.0, 0.5, 1.0],
    "means": [0.1, 0.2, 0.3],
    "deviations": [1.0, 0.5, 0.0],
    "sample": [0.0, 0.4, 0.3],
    "arms": [0, 2],
    "truth": [0.2, 0.35],
    "observed": ([1.0, 1.0], [0.3, 0.4]),
}


def test_arms_have_intervals_of_95_percent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(canvas, "write", lambda figure, target: drawn.setdefault("figure", figure))
    posterior_plot(**GIVEN, path=tmp_path / "figure.png", title="A title")
    (axes,) = drawn["figure"].axes
    assert axes.get_title(loc="left") == "A title"
    (bars,) = axes.containers
    assert bars.lines[0].get_xydata().tolist() == [[0.0, 0.1], [1.0, 0.3]]
    lower, upper = bars.lines[2][0].get_segments()[0][:, 1]
    assert (lower, upper) == (pytest.approx(0.1 - 1.96, abs=1e-3), pytest.approx(0.1 + 1.96, abs=1e-3))
    words = [text.get_text() for text in drawn["figure"].legends[0].get_texts()]
    assert len(words) == 5 and "a draw from the posterior" in words


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"means": [0.1, 0.2]}, "points, means, deviations and sample must have equal lengths"),
        ({"truth": [0.1]}, "one true mean for each arm"),
        ({"observed": ([1.0], [])}, "one point for each observed reward"),
        ({"arms": [0, 3]}, "arms are indices of the 3 points, from 0 to 2"),
        ({"deviations": [1.0, -1.0, 0.0]}, "finite numbers, and deviations at least 0"),
        ({"sample": [0.0, np.nan, 0.0]}, "finite numbers"),
        ({"path": "figure.doc"}, "cannot draw a .doc; use .png, .svg or .pdf"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        posterior_plot(**{"path": "figure.png", **GIVEN, **change})


def test_unwritable_paths_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="figure.png"):
        posterior_plot(**GIVEN, path=tmp_path / "file" / "figure.png")
