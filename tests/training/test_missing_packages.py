"""Without stable-baselines3 or PyTorch there is one line that says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["stable_baselines3", "torch"])
@pytest.mark.parametrize("module", ["bai_gym.training", "bai_gym.training.vec_env", "bai_gym.arrays"])
def test_a_missing_package_names_the_extra(package: str, module: str) -> None:
    code = f"""if True:
        import sys
        sys.modules[{package!r}] = None  # as if it were not installed
        from bai_gym.errors import MissingPackageError
        try:
            import {module}
        except MissingPackageError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    expected = {
        "training": 'training needs stable-baselines3 and torch; pip install "bai-gym[learn]"',
        "arrays": 'bai_gym.arrays needs torch; pip install "bai-gym[learn]"',
    }[module.split(".")[1]]
    assert done.stdout.splitlines() == (
        [] if (package, module) == ("stable_baselines3", "bai_gym.arrays") else [expected]
    )
