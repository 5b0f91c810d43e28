"""Executors and shards: the bytes of one process, whoever is killed, and errors in one line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import bai_gym
import bai_gym.agents
from bai_gym.bandits import BernoulliBandit
from bai_gym.cli.main import app
from bai_gym.errors import AgentError, ClusterError

# Of Dask and its parts; ours would come from the lines of this repository.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    "ignore::ResourceWarning",
    "ignore::UserWarning",
    "ignore:Mismatched",
)
Contents = Callable[[Path], dict[str, bytes]]
PATIENCE = 180.0  # seconds; far more than a loaded machine needs
SHORT: dict[str, Any] = {
    "agents": ["SH", "VBR"],
    "env": "BAI-Bernoulli4-v0",
    "budgets": [40, 60],
    "runs": 1500,
    "seed": 7,
    "record": 2,
}
CHUNKS = 8
# A chunk takes a good while longer than the call that kills a worker: what is killed is killed in the middle.
LONG: dict[str, Any] = {"agents": ["GapE"], "env": "BAI-Custom-v0", "budgets": [8000], "runs": CHUNKS * 1000}


class Own:
    batched = True

    def act(self, observation: Any) -> Any:
        return observation["pulls"].argmin(axis=-1)


# ------------------------------------------------------------------------------------------------ any executor


def test_a_pool_of_processes_gives_the_bytes_of_one_process(tmp_path: Path, contents: Contents) -> None:
    class Inner(Own):  # as of a notebook, it cannot be imported
        label = "Inner"

    how = {**SHORT, "agents": ["SH", Inner], "budgets": [40]}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        bai_gym.compare(**how, executor=pool, out=tmp_path / "pool")
    bai_gym.compare(**how, out=tmp_path / "here")
    assert contents(tmp_path / "pool") == contents(tmp_path / "here") != {}


# ------------------------------------------------------------------------------------------------ shards


def run(*words: str) -> None:
    assert not app(["run", *words], standalone_mode=False, prog_name="bai-gym")


def test_shards_share_a_folder_and_the_last_one_writes_the_tables(
    tmp_path: Path, contents: Contents, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "BAI-Bernoulli4-v0 --agent SH --agent VBR --budget 40 --runs 3500 --seed 7 --record 2".split()
    run(*words, "--out", str(tmp_path / "alone"))
    for number, missing in ((2, 5), (3, 3), (3, 3), (1, 0)):  # 8 chunks; one shard is played again
        assert not (tmp_path / "shared" / "results.parquet").exists()
        capsys.readouterr()
        run(*words, "--out", str(tmp_path / "shared"), "--shard", f"{number}/3")
        assert (f"{missing} chunks of other parts are missing" in capsys.readouterr().out) is (missing > 0)
    assert contents(tmp_path / "shared") == contents(tmp_path / "alone")


# ------------------------------------------------------------------------------------------------ Dask


@pytest.fixture
def client() -> Any:
    """A Dask cluster of two workers, which itself repeats nothing that a killed worker has not finished."""
    distributed = pytest.importorskip("distributed")
    with (
        pytest.importorskip("dask").config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_dask_cluster_gives_the_bytes_of_one_process_and_a_killed_worker_changes_none(
    client: Any, tmp_path: Path, contents: Contents
) -> None:
    executor = client.get_executor()
    bai_gym.compare(**SHORT, executor=executor, out=tmp_path / "short")
    bai_gym.compare(**SHORT, out=tmp_path / "short alone")
    assert contents(tmp_path / "short") == contents(tmp_path / "short alone") != {}
    finished = []

    def kill(done: int, total: int) -> None:
        finished.append(done)
        if done == 2:
            os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

    workers = set(client.run(os.getpid).values())
    bai_gym.compare(**LONG, executor=executor, out=tmp_path / "long", on_chunk=kill)
    assert finished == list(range(CHUNKS + 1))
    assert len(workers & set(client.run(os.getpid).values())) == 1
    bai_gym.compare(**LONG, out=tmp_path / "long alone")
    assert contents(tmp_path / "long") == contents(tmp_path / "long alone")


@pytest.mark.slow
def test_own_classes_ids_and_errors_travel_and_what_kills_workers_ends(client: Any) -> None:
    class Beyond:
        def act(self, observation: Any) -> int:
            return 9

    class Fatal:
        def act(self, observation: Any) -> int:
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

    executor = client.get_executor()
    name = "Own/TwoArms-v0"
    gym.register(name, entry_point=lambda budget=10, **_: _two_arms(budget))
    try:
        away, here = (bai_gym.compare([Own, "SH"], name, runs=1200, executor=each) for each in (executor, None))
        with pytest.raises(AgentError, match="not 9$"):
            bai_gym.evaluate(Beyond, name, runs=5, executor=executor)
        with pytest.raises(ClusterError, match=r"^the workers of the same work were lost 3 times .* too little memory"):
            bai_gym.evaluate(Fatal, name, runs=5, executor=executor)
    finally:
        del gym.registry[name]
    results = [[(r.agent, r.errors, r.simple_regret, r.mean_pulls.tolist()) for r in each] for each in (away, here)]
    assert results[0] == results[1]


def _two_arms(budget: int) -> Any:
    from bai_gym.envs.scalar import BestArmEnv
    from bai_gym.problems import FixedProblem

    return BestArmEnv(FixedProblem(BernoulliBandit([0.5, 0.4])), budget=budget)


def start(folder: Path, background: Any, **env: str) -> tuple[Any, Any, str]:
    """Return a scheduler and a worker, each a process of its own, and the address."""
    pytest.importorskip("distributed")
    contact = folder / "scheduler.json"
    scheduler = background(
        *("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"),
        *("--scheduler-file", str(contact)),
        log=folder / "scheduler.log",
        until="Scheduler at:",
    )
    patience = time.monotonic() + PATIENCE
    while not contact.exists() and time.monotonic() < patience:
        time.sleep(0.05)
    address = json.loads(contact.read_text())["address"]
    worker = background(
        *("dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"),
        *("--local-directory", str(folder)),
        log=folder / "worker.log",
        until="Registered to:",
        env=env,
    )
    return scheduler, worker, address


@pytest.mark.slow
@pytest.mark.each("other", ["version", "copy"])
def test_workers_with_other_code_are_refused(other: str, tmp_path: Path, background: Any) -> None:
    place = tmp_path / other
    if other == "version":
        (place / "numpy-0.9.dist-info").mkdir(parents=True)
        text = "Metadata-Version: 2.1\nName: numpy\nVersion: 0.9\n"
        (place / "numpy-0.9.dist-info" / "METADATA").write_text(text)
        words = "has numpy 0.9, and this process numpy "
    else:
        shutil.copytree(Path(bai_gym.__file__).parent, place / "bai_gym")
        agents = Path(bai_gym.agents.__file__).parent
        shutil.copytree(agents, place / "bai_gym" / "agents", dirs_exist_ok=True)
        with (place / "bai_gym" / "bandits" / "bernoulli.py").open("a") as file:
            file.write("# another\n")
        words = "has code of bai-gym "
    _, _, address = start(tmp_path, background, PYTHONPATH=str(place), PYTHONSAFEPATH="1")
    import distributed

    with distributed.Client(address, set_as_default=False) as client, pytest.raises(ClusterError) as caught:
        bai_gym.compare(**SHORT, executor=client.get_executor(), out=tmp_path / "out")
    assert words in str(caught.value) and "install the same" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "out").rglob("*.parquet"))


LOST = """
import sys, bai_gym
from distributed import Client
with Client(sys.argv[1]) as client:
    try:
        bai_gym.compare(["GapE"], "BAI-Custom-v0", budgets=[8000], runs=8000, executor=client.get_executor(),
            out=sys.argv[2], on_chunk=lambda done, total: print(done, flush=True))
    except bai_gym.errors.ClusterError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_lost_scheduler_is_one_line_and_the_call_resumes(tmp_path: Path, background: Any, contents: Contents) -> None:
    scheduler, _, address = start(tmp_path, background)
    words = [sys.executable, "-c", LOST, address, str(tmp_path / "out")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "1":
                scheduler.kill()
                break
        rest, _ = process.communicate(timeout=PATIENCE)
    assert rest.splitlines()[-1].endswith("with an output folder, the same call resumes")
    finished = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").glob("chunks/*/*")}
    assert 1 <= len(finished) < CHUNKS
    bai_gym.compare(**LONG, out=tmp_path / "out")
    assert {file: file.stat().st_mtime_ns for file in finished} == finished
    bai_gym.compare(**LONG, out=tmp_path / "alone")
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")
