"""What cannot fit into memory is refused, with what does."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import bai_gym
from bai_gym.envs.registration import IDS
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.parallel import memory

GAUSSIAN = "BAI-Gaussian8-v0"

KNOWN = {entry.id for entry in IDS}
LINEAR = pytest.mark.skipif("BAI-LinearSphere64-v0" not in KNOWN, reason="linear arms are a wing")  # pairs of arms


@pytest.mark.each(
    ("env", "arguments", "name"),
    [
        (GAUSSIAN, {"runs": 10**12}, "runs"),
        (GAUSSIAN, {"runs": 10**400}, "runs"),
        (GAUSSIAN, {"runs": 2, "env_kwargs": {"num_arms": 10**10}}, "num_arms"),
        (GAUSSIAN, {"runs": 1000, "env_kwargs": {"num_arms": 10**9}}, "num_arms"),
        pytest.param("BAI-LinearSphere64-v0", {"runs": 2, "env_kwargs": {"num_arms": 10**5}}, "num_arms", marks=LINEAR),
        (GAUSSIAN, {"runs": 10, "budget": 10**9, "checkpoints": 1}, "number of checkpoints"),
        (GAUSSIAN, {"runs": 1000, "budget": 10**6, "checkpoints": 5}, "number of checkpoints"),
    ],
)
def test_the_largest_that_fits_is_named(
    env: str, arguments: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 8e9)
    with pytest.raises((ParameterError, InstanceError), match=rf"^{name}=.* the largest {name} that fits is \d+$"):
        bai_gym.evaluate("Uniform", env, **arguments)


def test_batches_must_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 8e9)
    with pytest.raises(ParameterError, match=r"^num_envs=.* the largest num_envs that fits is 7812500$"):
        gym.make_vec(GAUSSIAN, num_envs=10**12, vectorization_mode="vector_entry_point")


def test_recorded_pulls_must_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 8e9)
    with pytest.raises(ParameterError, match=r"^budget=.* the largest budget that fits is 40000000$"):
        bai_gym.compare(["SH"], GAUSSIAN, budgets=[10**9], runs=2, record=1, out=tmp_path)


@pytest.mark.each(
    ("agent", "arguments", "fits"),
    [  # 30 days at 3e-8 seconds per pull are 8.64e13 pulls
        ("UCB-E", {"runs": 1000, "budget": 10**12}, "86400000000 pulls or 86 runs"),
        ("UCB-E", {"runs": 10**5, "budget": 10**15}, "864000000 pulls"),
        ("SH", {"runs": 1000, "budget": 10**12, "path": "steps"}, "86400000000 pulls or 86 runs"),
    ],
)
def test_what_takes_months_is_refused(agent: str, arguments: dict[str, Any], fits: str) -> None:
    with pytest.raises(ParameterError, match=f"in 30 days it makes at most {fits}$"):
        bai_gym.evaluate(agent, GAUSSIAN, **arguments)


def test_blocks_of_any_size_take_no_time() -> None:
    assert bai_gym.evaluate("SH", GAUSSIAN, runs=10, budget=10**12).errors == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_many_arms_stay_within_memory() -> None:
    # Three chunks of 335 runs; more of them take no more.
    words = f"bai_gym.evaluate('SHVar', {GAUSSIAN!r}, budget=10**6, runs=700, env_kwargs={{'num_arms': 10**4}})"
    # Not ru_maxrss, which is at least that of the process which started this one.
    code = f"import bai_gym; {words}; print(open('/proc/self/status').read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(re.search(r"VmHWM:\s*(\d+) kB", done.stdout)[1]) * 1024 < 0.7e9  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space")
def test_a_limit_of_memory_ends_in_one_line() -> None:
    arguments = "'SH', 'BAI-Gaussian8-v0', budget=10**6, runs=400, env_kwargs={'num_arms': 10**4}"
    code = (
        "import resource, bai_gym\n"
        "from bai_gym.parallel import memory\n"
        "bai_gym.evaluate('SH', 'BAI-Gaussian8-v0', runs=2)\n"
        "limit = memory._address_space() + 2 * 10**8\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        f"    bai_gym.evaluate({arguments})\n"
        "except bai_gym.errors.ParameterError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"(there is not enough memory for SH|num_arms=10000 would take) .*\n", done.stdout)


def test_what_is_named_fits() -> None:
    for power in (1, 2):
        with pytest.raises(InstanceError) as caught:
            memory.check_memory(10**15, 8, "things", InstanceError, power=power)
        largest = int(re.findall(r"\d+$", str(caught.value))[0])
        memory.check_memory(largest, 8, "things", InstanceError, power=power)
        with pytest.raises(InstanceError):
            memory.check_memory(largest + 2, 8, "things", InstanceError, power=power)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_an_error_of_a_limit_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    loky = UnboundLocalError("cannot access local variable 'child_r'")
    loky.__context__ = OSError(errno.EMFILE, "Too many open files")
    for error, says in (
        (loky, "too many open files: raise their limit, such as by `ulimit -n"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "`ulimit -u`"),
        (OSError("Could not find libllvmlite.so"), None),
        (OSError(errno.ENOSPC, "No space left on device"), None),
    ):
        said = memory.exceeded_limit(error)
        assert said is None if says is None else said is not None and says in said
    monkeypatch.setattr(memory, "_limited", lambda: True)
    said = memory.exceeded_limit(OSError("Could not find libllvmlite.so"))
    assert said == "too little memory (Could not find libllvmlite.so): raise its limit (`ulimit -v`)"
    assert memory.exceeded_limit(SystemError("error return without exception set"))
    assert memory.exceeded_limit(OSError(errno.ENOSPC, "No space left on device")) is None
    code = "import resource\nfrom bai_gym.cli import main\nresource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))\nmain()"
    words = "run BAI-Bernoulli4-v0 --agent SH --runs 3000 --workers 2".split()
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and "too many open files" in done.stderr and "memory" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="says how much address space is in use")
def test_without_memory_for_its_libraries_a_command_ends_in_a_line() -> None:
    code = (
        "import resource\nfrom bai_gym.cli import main\nfrom bai_gym.parallel import memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (memory._address_space() + {room},) * 2)\nmain()"
    )
    for room in (45_000_000, 85_000_000):
        command = [sys.executable, "-c", code.format(room=room), "run", "BAI-Bernoulli4-v0", "--agent", "SH"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 2 and "memory" in done.stderr and done.stderr.count("\n") == 1, (room, done.stderr)
