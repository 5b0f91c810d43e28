"""Has the library become slower? CPU time per pull, here and at a reference commit.

    python benchmarks/speed.py                     # all rows, against the commit that speed.toml names
    python benchmarks/speed.py --short             # some of them, in about two minutes
    python benchmarks/speed.py --reference COMMIT  # against another commit
    python benchmarks/speed.py --measure           # only the library that is installed, as JSON

A row is what a user pays: ``evaluate``, with its statistics, after it has compiled. The reference is installed in an
environment of its own in `.venv-speed/`, with the packages of this one. Both take turns, and the best of all turns
counts, since the machine may be busy; a row above the limit is measured again before it fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import time
import tomllib
import venv
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import bai_gym

LIMIT = 1.25  # times the reference
AGAIN = 5  # times that rows above the limit are measured again
ROOT = Path(__file__).resolve().parents[1]
STEP = "env.step"


@dataclass(frozen=True)
class Row:
    """An agent on some arms: one of `ARMS`, or an id. Runs take about 0.1 s each time."""

    agent: str
    arms: str
    budget: int | None  # None: fixed confidence
    runs: int
    short: bool = False

    @property
    def name(self) -> str:
        return f"{self.agent}, {self.arms}"


def _gaussian(num_arms: int) -> dict[str, Any]:
    means = 1 - np.sqrt(np.arange(num_arms) / num_arms)
    return {"means": means.tolist(), "variances": np.linspace(0.1, 0.9, num_arms).tolist()}


def _bernoulli(num_arms: int) -> dict[str, Any]:
    return {"means": np.linspace(0.6, 0.2, num_arms).tolist(), "distribution": "bernoulli"}


# Keywords of BAI-Custom-v0.
ARMS = {
    "10 Gaussian arms": _gaussian(10),
    "64 Gaussian arms": _gaussian(64),
    "10 Bernoulli arms": _bernoulli(10),
    "64 Bernoulli arms": _bernoulli(64),
}
ROWS = (
    # Stages
    Row("Uniform", "64 Gaussian arms", 5000, 10_000),
    Row("SH", "64 Gaussian arms", 5000, 10_000, short=True),
    Row("SH", "10 Bernoulli arms", 2000, 20_000),
    Row("SHVar", "64 Gaussian arms", 5000, 5000),
    Row("SR", "64 Gaussian arms", 5000, 1000, short=True),
    Row("SHAdaVar", "64 Gaussian arms", 5000, 500, short=True),
    # An index for each arm
    Row("UCB-E", "10 Gaussian arms", 2000, 1000),
    Row("UCB-E", "64 Gaussian arms", 5000, 500, short=True),
    Row("UCB-E", "10 Bernoulli arms", 2000, 1000),
    Row("A-UCB-E", "64 Gaussian arms", 5000, 300),
    Row("VBR", "64 Gaussian arms", 5000, 400, short=True),
    Row("VBR", "64 Bernoulli arms", 5000, 300),
    # A look at all arms before each pull
    Row("GapE", "64 Gaussian arms", 5000, 300, short=True),
    Row("GapE-V", "10 Bernoulli arms", 2000, 500),
    Row("OCBA", "10 Gaussian arms", 2000, 500),
    Row("OCBA", "64 Gaussian arms", 5000, 80, short=True),
    Row("UCB1", "64 Gaussian arms", 5000, 200),
    Row("UCB1", "64 Bernoulli arms", 5000, 200, short=True),
    Row("UGapEb-V", "64 Gaussian arms", 5000, 200),
    # Samples of the posterior
    Row("TS", "64 Gaussian arms", 5000, 50, short=True),
    Row("TS", "10 Bernoulli arms", 2000, 150),
    Row("TTTS", "10 Gaussian arms", 2000, 50),
    Row("TTTS", "64 Bernoulli arms", 5000, 10),
    Row("TTTS-GLR(family=gaussian)", "64 Gaussian arms", 5000, 10, short=True),
    # Fixed confidence
    Row("T3C", "BAI-FC-GK1-v0", None, 30),
    Row("T3C", "BAI-FC-GK2-v0", None, 60, short=True),
    Row("TrackAndStop", "BAI-FC-GK2-v0", None, 15, short=True),
    Row("KL-LUCB", "BAI-FC-GK2-v0", None, 10, short=True),
    Row("LUCB", "BAI-FC-GK2-v0", None, 100),
    Row("SE", "64 Gaussian arms", 5000, 100),
    Row("Rinott", "64 Gaussian arms", 5000, 200, short=True),
    # Features, thresholds, single steps
    Row("LinGapE", "BAI-LinearSphere64-v0", 1000, 4, short=True),
    Row("LinUCB", "BAI-LinearSphere64-v0", 1000, 100),
    Row("APT", "BAI-Thresholding100-Arithmetic-v0", 5000, 300, short=True),
    Row(STEP, "BAI-Gaussian64-v0", 2000, 8, short=True),
)


def play(row: Row, runs: int) -> tuple[float, float]:
    """Return the CPU time of some runs in seconds, and their pulls."""
    if row.agent == STEP:
        return _steps(row, runs)
    env, keywords = ("BAI-Custom-v0", ARMS[row.arms]) if row.arms in ARMS else (row.arms, None)
    started = time.process_time()
    result = bai_gym.evaluate(row.agent, env, budget=row.budget, runs=runs, seed=1, env_kwargs=keywords)
    seconds = time.process_time() - started
    return seconds, runs * float(np.sum(result.mean_pulls))


def _steps(row: Row, runs: int) -> tuple[float, float]:
    assert row.budget is not None
    env = gym.make(row.arms, budget=row.budget)
    arms = np.random.default_rng(0).integers(64, size=row.budget).tolist()
    started = time.process_time()
    for seed in range(runs):
        env.reset(seed=seed)
        for arm in arms:
            env.step(arm)
    return time.process_time() - started, runs * float(row.budget)


def best(row: Row, repeats: int) -> float:
    """Return the shortest CPU time per pull in ns; infinity for no repeats."""
    played = (play(row, row.runs) for _ in range(repeats))
    return min((1e9 * seconds / pulls for seconds, pulls in played), default=float("inf"))


def known(row: Row) -> bool:
    """Return whether the installed library has the agent and the arms."""
    name, _, _ = row.agent.partition("(")
    return name in (STEP, *bai_gym.agents.names()) and row.arms in {*ARMS, *gym.registry}


def measure(rows: Iterable[Row], repeats: int) -> dict[str, float]:
    """Return the best time per pull, in ns, of each row that is known; with no repeats, compile."""
    times = {}
    for row in filter(known, rows):
        play(row, 2)
        times[row.name] = best(row, repeats)
    return times


@dataclass
class Side:
    """One of the two libraries: the interpreter that has it, and the best time per pull of each row so far."""

    python: Path
    folder: Path
    best: dict[str, float] = field(default_factory=dict)

    def start(self, rows: Iterable[Row], repeats: int) -> subprocess.Popen[str]:
        names = [f"--row={row.name}" for row in rows]
        command = [str(self.python), __file__, "--measure", f"--repeats={repeats}", *names]
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # the time of all threads would count
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads})

    def finish(self, process: subprocess.Popen[str]) -> None:
        output, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"speed: {self.python} failed")
        found = json.loads(output)
        if not Path(found["library"]).resolve().is_relative_to(self.folder):
            raise SystemExit(f"speed: {self.python} has another bai_gym: {found['library']}, not in {self.folder}")
        for name, value in found["times"].items():
            self.best[name] = min(value, self.best.get(name, value))


def too_slow(reference: dict[str, float], now: dict[str, float]) -> list[str]:
    """Return the rows that take more than `LIMIT` times as long as the reference, which may not know all of them."""
    return [name for name, value in now.items() if name in reference and value > LIMIT * reference[name]]


def compare(reference: Side, now: Side, rows: list[Row], rounds: int, repeats: int) -> list[str]:
    """Measure both sides in turn, and rows above the limit again; return those that stay above it."""
    both = (reference, now)
    compiling = [side.start(rows, 0) for side in both]  # at the same time: no clock runs
    for side, process in zip(both, compiling, strict=True):
        side.finish(process)
    slow = [row.name for row in rows]
    for done in range(rounds + AGAIN):
        for side in both:
            side.finish(side.start([row for row in rows if row.name in slow], repeats))
        if done >= rounds - 1:
            slow = too_slow(reference.best, now.best)
            if not slow:
                break
    return slow


def install(commit: str) -> Side:
    """Install a commit in an environment of its own, which sees the packages of this one."""
    folder = ROOT / ".venv-speed" / f"{commit[:12]}-{sys.version_info.major}.{sys.version_info.minor}"
    base = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=base))
    python = Path(sysconfig.get_path("scripts", "venv", vars=base), "python")
    if not (folder / "ready").exists():
        venv.create(folder, clear=True)
        shared = [entry for entry in sys.path if entry.endswith("-packages")]
        (packages / "shared.pth").write_text("\n".join(shared), encoding="utf-8")
        source = str(folder / "bai-gym.tar.gz")
        subprocess.run(["git", "archive", "--prefix=bai-gym/", "-o", source, commit], cwd=ROOT, check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", source]
        subprocess.run(pip, check=True)
        (folder / "ready").touch()
    return Side(python, folder)


def main() -> int:
    """Compare or measure; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", metavar="COMMIT", help="compare with this commit; default: that of speed.toml")
    parser.add_argument("--short", action="store_true", help="fewer rows and rounds")
    parser.add_argument("--row", action="append", metavar="NAME", help="only this row, such as 'SR, 64 Gaussian arms'")
    parser.add_argument("--measure", action="store_true", help="only measure the library that is installed")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = [row for row in ROWS if row.name in (options.row or [row.name]) and (row.short or not options.short)]
    if not rows:
        parser.error(f"there is no such row; there are: {'; '.join(row.name for row in ROWS)}")
    if options.measure:
        warnings.simplefilter("ignore")
        print(json.dumps({"library": bai_gym.__file__, "times": measure(rows, options.repeats)}))
        return 0

    recorded = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["reference"]
    name = options.reference or recorded
    found = subprocess.run(["git", "rev-parse", "-q", "--verify", f"{name}^{{commit}}"], cwd=ROOT, capture_output=True)
    if found.returncode:
        print(f"speed: nothing compared, since this clone has no commit {name}; try `git fetch --unshallow`")
        return int(options.reference is not None)
    reference, now = install(found.stdout.decode().strip()), Side(Path(sys.executable), ROOT)
    slow = compare(reference, now, rows, rounds=2 if options.short else 5, repeats=options.repeats)
    print(f"| CPU time per pull, ns | {name[:8]} | now | ratio, at most {LIMIT} |\n| --- | ---: | ---: | ---: |")
    for row_name, value in now.best.items():
        before = reference.best.get(row_name, float("nan"))  # nan: unknown there
        print(f"| {row_name} | {before:.1f} | {value:.1f} | {value / before:.2f} |")
    print(f"TOO SLOW: {'; '.join(slow)}" if slow else "ok")
    return int(bool(slow))


if __name__ == "__main__":
    sys.exit(main())
