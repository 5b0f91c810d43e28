"""A Ray cluster."""

from __future__ import annotations

import logging
import pickle
import re
import socket
import warnings
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from typing import Any

from bai_gym.errors import ClusterError, MissingPackageError, ParameterError
from bai_gym.parallel.task import QUESTION, answered

__all__ = ["RayConnection"]

PATIENCE = 10.0  # seconds, for a response
ADDRESS = re.compile(r"(?P<client>ray://)?(?P<host>[^:/\s]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})/?")
START = "start one with `ray start --head`"
RETRIES = 3  # of a task whose worker is lost; Dask's default


class RayConnection:
    """A driver of a Ray cluster.

    Args:
        address: See :func:`bai_gym.cluster`.

    Raises:
        BaiGymError: If there is no way to work there.
    """

    def __init__(self, address: Any) -> None:
        try:
            ray: Any = import_module("ray")
        except ImportError as error:
            raise MissingPackageError(f'a Ray cluster needs Ray: pip install "bai-gym[ray]" ({error})') from None
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            _check(address)
            where = "on this machine" if address in (None, "auto") else f"at {address}"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ray.init(address or "auto", logging_level=logging.CRITICAL, log_to_driver=False)
            except (OSError, RuntimeError, ValueError, ImportError) as error:
                reason = " ".join(str(error).split()) or type(error).__name__
                raise ClusterError(f"no Ray cluster answers {where} ({reason}); {START}") from None
        elif address is not None:
            raise ParameterError(
                "this process is connected to a Ray cluster: leave address out, or ray.shutdown() first"
            )
        place = ray.get_runtime_context().gcs_address
        self.name = f"the Ray cluster at {place if address in (None, 'auto') else address}"
        match = ADDRESS.fullmatch(address if address not in (None, "auto") else place)
        self._door = (match["host"].strip("[]"), int(match["port"])) if match else None
        self._tasks: set[Any] = set()

        def bai_gym_task(task: bytes) -> Any:  # within a function, so that it travels by value
            return pickle.loads(task)

        self._run = ray.remote(bai_gym_task).options(max_retries=RETRIES, num_cpus=1)
        if not self.cores():
            self.close()
            raise ClusterError(f"{self.name} has no CPUs to work with; add some: ray start --address ADDRESS")

    def submit(self, task: bytes) -> Future[bytes]:
        """Submit a task; Ray runs it again if a worker is lost, up to three times."""
        reference = self._run.remote(task)
        self._tasks.add(reference)
        future: Future[bytes] = reference.future()
        future.add_done_callback(lambda _: self._tasks.discard(reference))
        return future

    def cores(self) -> int:
        """Return the CPUs of the cluster, 0 if its head does not respond."""
        try:
            if self._door is not None:  # Ray itself would wait, and then end this process
                socket.create_connection(self._door, timeout=PATIENCE).close()
            return int(self._ray.cluster_resources().get("CPU", 0))
        except Exception:  # a connection that is being lost can raise anything
            return 0

    def versions(self) -> dict[str, dict[str, str | None]]:
        """Ask every machine of the cluster; those that are lost meanwhile are left out."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        found: dict[str, dict[str, str | None]] = {}
        for node in self._ray.nodes():
            if not node["Alive"] or not node["Resources"].get("CPU"):
                continue
            here = {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)}
            # A function of the standard library, which machines without bai-gym have, too.
            asked = self._ray.remote(pickle.loads).options(**here).remote(QUESTION)
            try:
                answer = self._ray.get(asked)
            except self._ray.exceptions.RayTaskError as error:
                answer = error.cause
            except self._ray.exceptions.RayError:
                continue
            versions = answered(answer)
            if versions is not None:
                found[node["NodeManagerAddress"]] = versions
        return found

    def explain(self, error: BaseException) -> str | None:
        """Return the meaning of a Ray error."""
        kinds = self._ray.exceptions
        if isinstance(error, kinds.WorkerCrashedError | kinds.OutOfMemoryError | kinds.NodeDiedError):
            return (
                f"every worker of {self.name} that played a certain chunk was lost (out of memory?); take machines "
                "with more memory, or fewer CPUs of each"
            )
        return f"{self.name} failed ({' '.join(str(error).split())})" if isinstance(error, kinds.RayError) else None

    def cancel(self) -> None:
        """Cancel all tasks."""
        for reference in list(self._tasks):
            with suppress(Exception):  # the cluster may be gone
                self._ray.cancel(reference)
        self._tasks.clear()

    def close(self) -> None:
        """Leave the cluster."""
        if self._ours:
            with suppress(Exception):
                self._ray.shutdown()


def _check(address: Any) -> None:
    """Check an address, and that something listens there: Ray would try for two minutes.

    Raises:
        ParameterError: If it is none.
        ClusterError: If nothing listens there.
    """
    if address is None or address == "auto":
        return
    match = ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if match is None or int(match["port"]) > 65535:
        raise ParameterError(
            f"the address of a Ray cluster is HOST:PORT, such as localhost:6379, or ray://HOST:PORT, not {address!r}"
        )
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), timeout=PATIENCE).close()
    except OSError as error:
        raise ClusterError(f"no Ray cluster answers at {address} ({error.strerror or error}); {START}") from None
