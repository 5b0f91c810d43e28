"""The figure of README is the one that `make demo` draws."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def demo() -> list[str]:
    """Return the arguments of `bai-gym` in `make demo`."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    arguments = re.search(r"^DEMO_ARGS \?= (.*)$", makefile, re.MULTILINE)
    command = re.search(r"/\$\(BIN\)/bai-gym (run .*?)\$\(DEMO_ARGS\)", makefile, re.DOTALL)
    assert arguments and command
    return shlex.split(command[1].replace("\\\n", " ") + arguments[1])


@pytest.mark.slow
def test_the_figure_of_the_readme_is_drawn_by_the_demo(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    if f"matplotlib=={matplotlib.__version__}\n" not in (ROOT / "constraints.txt").read_text(encoding="utf-8"):
        pytest.skip("another version of matplotlib may draw other letters")
    line = [sys.executable, "-c", "from bai_gym.cli import main; main()", *demo()]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True)
    from matplotlib.image import imread

    shown, found = (imread(path) for path in (ROOT / "docs/images/demo.png", tmp_path / "results/demo/figure.png"))
    assert np.array_equal(shown, found), "run `make figure`"
