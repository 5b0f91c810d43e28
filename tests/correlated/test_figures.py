"""The figure of a posterior: what is drawn where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.correlated.figures import instance_posterior
from bai_gym.problems import build


def test_arms_have_intervals_of_95_percent(tmp_path: Path, drawn: dict[str, Any]) -> None:
    problem: Any = build("gaussian-process", num_arms=10)
    instance_posterior(problem, 3, np.random.default_rng(0), tmp_path / "figure.png", title="A title")
    (axes,) = drawn["figure"].axes
    assert axes.get_title(loc="left") == "A title"
    (bars,) = axes.containers
    places, means = bars.lines[0].get_xydata().T
    np.testing.assert_allclose(places, problem.locations[:, 0])
    widths = np.array([np.ptp(segment[:, 1]) for segment in bars.lines[2][0].get_segments()])
    seen = np.isin(places, axes.lines[-2].get_xdata())
    assert seen.sum() == 3 and widths[seen].max() < widths[~seen].min()
    words = [text.get_text() for text in drawn["figure"].legends[0].get_texts()]
    assert len(words) == 5 and "a draw from the posterior" in words
