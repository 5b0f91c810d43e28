"""Real clusters of two workers on this machine: the bytes of one process, whoever is killed, and errors in one line."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import bai_gym
import bai_gym.agents
from bai_gym.bandits import BernoulliBandit
from bai_gym.errors import AgentError, BaiGymError, ClusterError, MissingPackageError, ParameterError, UnknownNameError
from bai_gym.parallel import on_dask, on_ray

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups"),
    # Of Dask, Ray and their parts; ours would come from the lines of this repository.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]
slow = pytest.mark.slow
with_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
with_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")

Contents = Callable[[Path], dict[str, bytes]]
PATIENCE = 180.0  # seconds; far more than a loaded machine needs
CHUNKS = 8
# A chunk takes about 0.3 s, thirty times as long as the look for it: what is killed is killed in the middle.
LONG = f"BAI-Custom-v0 --agent GapE --budget 8000 --runs {CHUNKS}000"
SHORT = "BAI-Bernoulli4-v0 --agent SH --agent VBR --budget 40 --budget 60 --runs 1500 --seed 7 --record 2"


def command(words: str, out: Path) -> list[str]:
    return [sys.executable, "-c", "from bai_gym.cli import main; main()", "run", *words.split(), "--out", str(out)]


def run(words: str, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(words, out), capture_output=True, text=True, timeout=PATIENCE)


@contextlib.contextmanager
def started(words: str, out: Path) -> Iterator[subprocess.Popen[str]]:
    """A command whose first chunk is finished."""
    patience = time.monotonic() + PATIENCE
    with subprocess.Popen(
        command(words, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            while not chunks(out) and process.poll() is None and time.monotonic() < patience:
                time.sleep(0.01)
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def chunks(out: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of every finished chunk."""
    files = {str(file.relative_to(out)): file.stat() for file in out.glob("chunks/*/[0-9]*.parquet")}
    return {name: (facts.st_ino, facts.st_mtime_ns) for name, facts in files.items()}


def assert_one_line(stderr: str, *parts: str) -> None:
    assert "Traceback" not in stderr
    *_, last = stderr.strip().splitlines()
    assert last.startswith("error: ")
    assert [part for part in parts if part not in last] == []


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder that a command leaves which plays in its own process."""
    folders: dict[str, Path] = {}

    def folder(words: str) -> Path:
        if words not in folders:
            out = tmp_path_factory.mktemp("alone") / "out"
            done = run(words, out)
            assert done.returncode == 0, done.stderr
            folders[words] = out
        return folders[words]

    return folder


class DaskCluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path, background: Any, workers: int = 2) -> None:
        self.folder, self.background = folder, background
        contact = folder / "scheduler.json"
        self.scheduler = background(
            *("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"),
            *("--scheduler-file", str(contact)),
            log=folder / "scheduler.log",
            until="Scheduler at:",
        )
        patience = time.monotonic() + PATIENCE
        while not contact.exists() and time.monotonic() < patience:
            time.sleep(0.05)
        self.address = json.loads(contact.read_text())["address"]
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(workers):
            self.add()
        self.options = f" --backend dask --address {self.address}"

    def add(self, **env: str) -> None:
        number = len(self.workers)
        worker = self.background(
            *("dask", "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"),
            *("--local-directory", str(self.folder)),
            log=self.folder / f"worker-{number}.log",
            until="Registered to:",
            env=env,
        )
        self.workers.append(worker)


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory, background: Any) -> DaskCluster:
    """A Dask cluster that lasts."""
    pytest.importorskip("distributed")
    return DaskCluster(tmp_path_factory.mktemp("dask"), background)


@pytest.fixture
def mortal(tmp_path: Path, background: Any) -> Iterator[DaskCluster]:
    """A Dask cluster to be killed."""
    pytest.importorskip("distributed")
    folder = tmp_path / "mortal"
    folder.mkdir()
    cluster = DaskCluster(folder, background)
    yield cluster
    for process in (*cluster.workers, cluster.scheduler):
        process.kill()
        process.wait()


# ------------------------------------------------------------------------------------------------ Dask


@slow
def test_a_dask_cluster_gives_the_bytes_of_one_process(
    dask: DaskCluster, alone: Callable[[str], Path], tmp_path: Path, contents: Contents
) -> None:
    done = run(SHORT + dask.options, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "out") == contents(alone(SHORT))


@slow
def test_a_killed_worker_changes_no_byte(
    mortal: DaskCluster, alone: Callable[[str], Path], tmp_path: Path, contents: Contents
) -> None:
    out = tmp_path / "out"
    with started(LONG + mortal.options, out) as process:
        mortal.workers[0].kill()
        assert 1 <= len(chunks(out)) < CHUNKS - 2
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
    assert mortal.workers[0].wait() == -signal.SIGKILL
    assert mortal.workers[1].poll() is None
    assert contents(out) == contents(alone(LONG))


@slow
def test_a_lost_scheduler_is_one_line_and_the_command_goes_on(
    mortal: DaskCluster, alone: Callable[[str], Path], tmp_path: Path, contents: Contents
) -> None:
    out = tmp_path / "out"
    with started(LONG + mortal.options, out) as process:
        mortal.scheduler.kill()
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert (process.returncode, stdout) == (2, "")
        assert_one_line(stderr, mortal.address, "is lost", "the same command resumes")
    finished = chunks(out)
    assert 1 <= len(finished) < CHUNKS
    assert run(LONG, out).returncode == 0
    assert {name: facts for name, facts in chunks(out).items() if name in finished} == finished
    assert contents(out) == contents(alone(LONG))


@slow
def test_own_classes_and_ids_travel(dask: DaskCluster) -> None:
    class Own:
        batched = True

        def act(self, observation: Any) -> Any:
            return observation["pulls"].argmin(axis=-1)

    class Beyond:
        def act(self, observation: Any) -> int:
            return 9

    name = "Own/TwoArms-v0"
    gym.register(name, entry_point=lambda budget=10, **_: _two_arms(budget))
    try:
        with bai_gym.cluster("dask", dask.address):
            away = bai_gym.compare([Own, "SH"], name, runs=1200)
            with pytest.raises(AgentError) as caught:
                bai_gym.evaluate(Beyond, name, runs=5)
        assert str(caught.value).endswith("not 9")
        here = bai_gym.compare([Own, "SH"], name, runs=1200)
    finally:
        del gym.registry[name]
    assert [(r.agent, r.errors, r.simple_regret, r.mean_pulls.tolist()) for r in away] == [
        (r.agent, r.errors, r.simple_regret, r.mean_pulls.tolist()) for r in here
    ]


def _two_arms(budget: int) -> Any:
    from bai_gym.envs.scalar import BestArmEnv
    from bai_gym.problems import FixedProblem

    return BestArmEnv(FixedProblem(BernoulliBandit([0.5, 0.4])), budget=budget)


@slow
def test_a_chunk_that_kills_its_workers_ends_with_an_error(mortal: DaskCluster) -> None:
    class Fatal:
        def act(self, observation: Any) -> int:
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

    for _ in range(3):  # Dask gives a task up after four workers
        mortal.add()
    with (
        bai_gym.cluster("dask", mortal.address),
        pytest.raises(ClusterError, match="that played a certain chunk was lost .*out of memory"),
    ):
        bai_gym.evaluate(Fatal, "BAI-Custom-v0", budget=5, runs=5)


@slow
def test_an_open_client_is_used_and_left_open(dask: DaskCluster) -> None:
    import distributed

    with distributed.Client(dask.address, set_as_default=False) as client:
        with bai_gym.cluster("dask", client):
            assert bai_gym.evaluate("SH", "BAI-Custom-v0", budget=20, runs=5).runs == 5
        assert client.status == "running"


@slow
def test_the_address_may_be_a_setting_of_dask(dask: DaskCluster) -> None:
    import dask as settings

    with settings.config.set({"scheduler-address": dask.address}), bai_gym.cluster("dask"):
        assert bai_gym.evaluate("SH", "BAI-Custom-v0", budget=20, runs=5).runs == 5


@slow
def test_workers_with_other_versions_are_refused_before_any_work(mortal: DaskCluster, tmp_path: Path) -> None:
    other = tmp_path / "other" / "numpy-0.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.9\n")
    mortal.add(PYTHONPATH=str(other.parent))
    done = run(SHORT + mortal.options, tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_line(
        done.stderr, "worker tcp://127.0.0.1:", "has numpy 0.9, and this process numpy ", "install the same"
    )
    assert not (tmp_path / "out").exists()


@slow
def test_workers_with_another_copy_of_the_same_version_are_refused(mortal: DaskCluster, tmp_path: Path) -> None:
    package = Path(bai_gym.__file__).parent
    shutil.copytree(package, tmp_path / "copy" / "bai_gym")
    shutil.copytree(Path(bai_gym.agents.__file__).parent, tmp_path / "copy" / "bai_gym" / "agents", dirs_exist_ok=True)
    with (tmp_path / "copy" / "bai_gym" / "bandits" / "bernoulli.py").open("a") as file:
        file.write("# another\n")
    mortal.add(PYTHONPATH=str(tmp_path / "copy"), PYTHONSAFEPATH="1")  # not the current folder first
    done = run(SHORT + mortal.options, tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_line(done.stderr, "worker tcp://127.0.0.1:", "has code of bai-gym ", "install the same")
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------------------ refusals


@contextlib.contextmanager
def mute_port() -> Iterator[str]:
    """A port where somebody listens and says nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def free_port() -> str:
    with mute_port() as place:
        return place


def refuse(backend: str, address: Any = None) -> BaiGymError:
    with pytest.raises(BaiGymError) as caught, bai_gym.cluster(backend, address):
        pass
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.each("name", ["dusk", "loky", "", None, 5])
def test_an_unknown_backend(name: Any) -> None:
    error = refuse(name, "tcp://localhost:8786")
    assert isinstance(error, UnknownNameError)
    assert "there are dask, ray" in str(error)


@pytest.mark.each(("backend", "package", "extra"), [("dask", "distributed", "cluster"), ("ray", "ray", "ray")])
def test_a_missing_package(monkeypatch: pytest.MonkeyPatch, backend: str, package: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    error = refuse(backend, "localhost:1")
    assert isinstance(error, MissingPackageError)
    assert f'pip install "bai-gym[{extra}]"' in str(error)


@with_dask
@pytest.mark.each("address", [None, "", 8786])
def test_dask_needs_an_address(address: Any) -> None:
    error = refuse("dask", address)
    assert isinstance(error, ParameterError)
    assert f"such as tcp://localhost:8786, not {address!r}; start one with `dask scheduler`" in str(error)


@with_dask
@pytest.mark.each("address", ["nowhere", "foo://localhost:8786"])
def test_what_is_no_address_of_dask(address: str) -> None:
    assert f"no Dask scheduler answers at {address} (" in str(refuse("dask", address))


@pytest.mark.slow
@with_dask
def test_no_dask_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_dask.PATIENCE == on_ray.PATIENCE == 10
    monkeypatch.setattr(on_dask, "PATIENCE", 1.0)
    before = time.monotonic()
    error = refuse("dask", f"tcp://{free_port()}")
    assert isinstance(error, ClusterError)
    assert "start one with `dask scheduler`" in str(error)
    with mute_port() as place:  # another program, with which Dask's own client would wait for ever
        assert isinstance(refuse("dask", f"tcp://{place}"), ClusterError)
    assert time.monotonic() - before < 60


@slow
def test_a_dask_cluster_without_workers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, background: Any) -> None:
    pytest.importorskip("distributed")
    empty = DaskCluster(tmp_path, background, workers=0)
    monkeypatch.setattr(on_dask, "PATIENCE", 3.0)
    error = refuse("dask", empty.address)
    assert f"has no workers; start some: dask worker {empty.address} --nthreads 1" in str(error)


@with_ray
@pytest.mark.each("address", ["nowhere", "tcp://localhost:8786", "localhost:70000", "", 6379])
def test_what_is_no_address_of_ray(address: Any) -> None:
    error = refuse("ray", address)
    assert isinstance(error, ParameterError)
    assert f"HOST:PORT, such as localhost:6379, or ray://HOST:PORT, not {address!r}" in str(error)


@with_ray
@pytest.mark.each("form", ["{}", "ray://{}"])
def test_no_ray_cluster_answers(form: str) -> None:
    error = refuse("ray", form.format(free_port()))
    assert isinstance(error, ClusterError)
    assert "(Connection refused); start one with `ray start --head`" in str(error)


# ------------------------------------------------------------------------------------------------ Ray


@pytest.fixture
def ray(tmp_path: Path, background: Any) -> Iterator[Any]:
    """The options of a Ray cluster of two workers, and its head."""
    pytest.importorskip("ray")
    port, other = (free_port().rpartition(":")[2] for _ in range(2))
    head = background(
        *("ray.scripts.scripts", "start", "--head", "--block", "--port", port, "--ray-client-server-port", other),
        *("--num-cpus", "2", "--include-dashboard=false", "--object-store-memory", "100000000"),
        "--disable-usage-stats",
        log=tmp_path / "ray.log",
        until="Ray runtime started",
    )
    yield f" --backend ray --address 127.0.0.1:{port}", head
    head.terminate()
    head.wait(60)


def ray_workers(head: int) -> list[Any]:
    """The processes below a head of Ray that play a chunk right now."""
    psutil = pytest.importorskip("psutil")
    found = []
    for child in psutil.Process(head).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if any("ray::bai_gym_task" in word for word in child.cmdline()):
                found.append(child)
    return found


@slow
def test_a_ray_cluster_gives_the_bytes_of_one_process_even_if_a_worker_is_killed(
    ray: Any, alone: Callable[[str], Path], tmp_path: Path, contents: Contents
) -> None:
    options, head = ray
    done = run(SHORT + options, tmp_path / "short")
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "short") == contents(alone(SHORT))
    with started(LONG + options, tmp_path / "long") as process:
        while not (playing := ray_workers(head.pid)):  # between two chunks a worker has another title
            assert process.poll() is None
        playing[0].kill()
        assert 1 <= len(chunks(tmp_path / "long")) < CHUNKS - 2
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
    assert contents(tmp_path / "long") == contents(alone(LONG))


@slow
def test_a_lost_ray_cluster_is_an_error_and_the_command_goes_on(
    ray: Any, alone: Callable[[str], Path], tmp_path: Path, contents: Contents
) -> None:
    options, head = ray
    out = tmp_path / "out"
    with started(LONG + options, out) as process:
        head.terminate()
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert_one_line(stderr, "the Ray cluster at 127.0.0.1:", "the same command resumes")
    assert 1 <= len(chunks(out)) < CHUNKS
    assert run(LONG, out).returncode == 0
    assert contents(out) == contents(alone(LONG))
