"""The examples of training learn, and TorchRL accepts every id."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bai_gym.envs.registration import IDS
from bai_gym.errors import MissingDataError

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "training"

# Example, arguments, what is changed in it to take less time, what it needs, and the largest errors by labels.
# Chance errs .75 in the first, .833 in the second, .5 in the last, and .667 in the others.
LEARNED: list[tuple[str, list[str], dict[str, str], str, dict[str, float]]] = [
    ("ppo.py", ["--steps", "400_000", "--learning-rate", "0.002"], {}, "torch", {"PPO, drawn": 0.4}),
    (
        "policy_gradient.py",
        ["--seconds", "30", "--env", "BAI-TopM-Bernoulli10-v0", "--budget", "20", "--with", "num_arms=4", "m=2"],
        {},
        "torch",
        {"PPO": 0.45, "PPO, drawn": 0.45},
    ),
    (
        "sb3.py",
        ["PPO", "DQN"],
        {"1_000_000": "150_000", "500_000": "100_000"},
        "stable_baselines3",
        {"PPO": 0.37, "DQN": 0.4},
    ),
    ("sb3.py", ["RecurrentPPO", "MaskablePPO"], {}, "sb3_contrib", {"RecurrentPPO": 0.6, "MaskablePPO": 0.34}),
    ("torchrl_ppo.py", [], {}, "torchrl", {"TorchRL": 0.25}),  # optimum .22
]


@pytest.mark.parametrize(("file", "arguments", "changes", "needed", "most"), LEARNED)
def test_an_example_learns(
    file: str, arguments: list[str], changes: dict[str, str], needed: str, most: dict[str, float], tmp_path: Path
) -> None:
    pytest.importorskip(needed)
    program = (EXAMPLES / file).read_text(encoding="utf-8")
    for full, shorter in changes.items():
        assert full in program
        program = program.replace(full, shorter)
    (tmp_path / file).write_text(program, encoding="utf-8")
    command = [sys.executable, str(tmp_path / file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stderr
    for label, error in most.items():
        found = re.search(rf"^{label}(?: \[\d\])? +[\d,]+ +[\d,]+ +(0\.\d+)", done.stdout, re.MULTILINE)
        assert found and float(found[1]) <= error, (label, done.stdout)


def test_torchrl_finds_nothing_wrong() -> None:
    pytest.importorskip("torchrl")
    from torchrl.envs import GymEnv
    from torchrl.envs.utils import check_env_specs

    for entry in IDS:
        with suppress(MissingDataError):
            check_env_specs(GymEnv(entry.id, budget=200, observation="scaled"))
