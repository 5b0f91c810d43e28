"""Without stable-baselines3 or PyTorch there is one line that says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = ("bai_gym.training", "bai_gym.training.vec_env", "bai_gym.training.arrays")
TRAINING = 'training needs stable-baselines3 and torch; pip install "bai-gym[learn]"'
ARRAYS = 'bai_gym.training.arrays needs torch; pip install "bai-gym[learn]"'


@pytest.mark.each(
    ("package", "expected"),
    [("stable_baselines3", [TRAINING, TRAINING]), ("torch", [TRAINING, TRAINING, ARRAYS])],
)
def test_a_missing_package_names_the_extra(package: str, expected: list[str]) -> None:
    code = f"""if True:
        import importlib, sys
        sys.modules[{package!r}] = None  # as if it were not installed
        from bai_gym.errors import MissingPackageError
        for module in {MODULES!r}:
            try:
                importlib.import_module(module)
            except MissingPackageError as error:
                print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == expected
