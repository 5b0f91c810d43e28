"""The examples of training reach what their page says, and TorchRL accepts every id."""

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

# Example, arguments, what it needs, label in its table, largest error.
REACHED = [
    ("ppo.py", ["--steps", "2_000_000", "--learning-rate", "0.001"], "torch", "PPO, drawn", 0.305),  # SR .31
    ("policy_gradient.py", [], "torch", "policy gradient", 0.30),  # optimum .272
    ("sb3.py", ["PPO"], "stable_baselines3", "PPO", 0.30),
    ("sb3.py", ["DQN"], "stable_baselines3", "DQN", 0.37),  # chance .667
    ("sb3.py", ["RecurrentPPO"], "sb3_contrib", "RecurrentPPO", 0.60),
    ("sb3.py", ["MaskablePPO"], "sb3_contrib", "MaskablePPO", 0.34),
    ("torchrl_ppo.py", [], "torchrl", "TorchRL", 0.25),  # optimum .22
]


@pytest.mark.parametrize(("file", "arguments", "needed", "label", "most"), REACHED)
def test_an_example_learns(file: str, arguments: list[str], needed: str, label: str, most: float) -> None:
    pytest.importorskip(needed)
    command = [sys.executable, str(EXAMPLES / file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stderr
    found = re.search(rf"^{label}(?: \[\d\])? +[\d,]+ +[\d,]+ +(0\.\d+)", done.stdout, re.MULTILINE)
    assert found and float(found[1]) <= most, done.stdout


def test_torchrl_finds_nothing_wrong() -> None:
    pytest.importorskip("torchrl")
    from torchrl.envs import GymEnv
    from torchrl.envs.utils import check_env_specs

    for entry in IDS:
        with suppress(MissingDataError):
            check_env_specs(GymEnv(entry.id, budget=200, observation="scaled"))
