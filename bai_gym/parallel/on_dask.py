"""A Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import pickle
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from typing import Any

from bai_gym.errors import ClusterError, MissingPackageError, ParameterError
from bai_gym.parallel.task import QUESTION, answered

__all__ = ["DaskConnection"]

# A client that loses its scheduler logs it here, sometimes with a traceback; the user gets one line from this library.
NOISY = (
    "distributed.batched",
    "distributed.client",
    "distributed.comm",
    "distributed.core",
    "distributed.utils",
    "tornado.application",
)
PATIENCE = 10.0  # seconds, for a response, and then for the first worker
START = "start one with `dask scheduler` and, in other terminals, `dask worker ADDRESS --nthreads 1`"


class DaskConnection:
    """A client of a Dask scheduler.

    Args:
        address: See :func:`bai_gym.cluster`.

    Raises:
        BaiGymError: If there is no way to work there.
    """

    def __init__(self, address: Any) -> None:
        try:
            dask: Any = import_module("dask")
            distributed: Any = import_module("distributed")
        except ImportError as error:
            raise MissingPackageError(f'a Dask cluster needs Dask: pip install "bai-gym[cluster]" ({error})') from None
        self._ours = not isinstance(address, distributed.Client)
        if not self._ours:
            self._client = address
            self.name = f"the Dask cluster of the client of {address.scheduler.address}"
        else:
            if address is None:
                address = dask.config.get("scheduler-address", None)
            if not (isinstance(address, str) and address):
                raise ParameterError(
                    f"give the address of a Dask scheduler, such as tcp://localhost:8786, not {address!r}; {START}"
                )
            self.name = f"the Dask cluster at {address}"
            self._levels = {name: logging.getLogger(name).level for name in NOISY}
            _set_levels(dict.fromkeys(NOISY, logging.CRITICAL))
            try:
                with ThreadPoolExecutor(1) as thread:  # a notebook's own thread has an event loop already
                    thread.submit(asyncio.run, _knock(address)).result()
                self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False, name="bai-gym")
            except (OSError, TimeoutError, ValueError, TypeError, ImportError) as error:
                _set_levels(self._levels)
                reason = " ".join(str(error).split()) or f"no answer in {PATIENCE:.0f} s"
                raise ClusterError(f"no Dask scheduler answers at {address} ({reason}); {START}") from None
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError):
            place = self._client.scheduler.address
            self.close()
            raise ClusterError(f"{self.name} has no workers; start some: dask worker {place} --nthreads 1") from None
        self._executor = self._client.get_executor(pure=False)

    def submit(self, task: bytes) -> Future[bytes]:
        """Submit a task; Dask runs it again if a worker is lost, up to `allowed-failures` times."""
        future: Future[bytes] = self._executor.submit(pickle.loads, task)
        return future

    def cores(self) -> int:
        """Return the threads of all workers, 0 if the scheduler does not respond."""
        try:
            return sum(self._client.ncores().values())
        except Exception:  # a connection that is being lost can raise anything
            return 0

    def versions(self) -> dict[str, dict[str, str | None]]:
        """Ask every worker; those that are lost meanwhile are left out."""
        # A function of the standard library, which workers without bai-gym have, too.
        answers = self._client.run(pickle.loads, QUESTION, on_error="return")
        found = {worker: answered(answer) for worker, answer in answers.items()}
        return {worker: versions for worker, versions in found.items() if versions is not None}

    def explain(self, error: BaseException) -> str | None:
        """Return the meaning of a Dask error."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            return (
                f"every worker of {self.name} that played a certain chunk was lost (out of memory?); start workers "
                "with more memory, or fewer on one machine"
            )
        return None

    def cancel(self) -> None:
        """Cancel all tasks."""
        with suppress(Exception):  # the scheduler may be gone
            self._executor.shutdown(wait=False)
            self._executor = self._client.get_executor(pure=False)

    def close(self) -> None:
        """Leave the cluster."""
        if self._ours:
            with suppress(Exception):
                self._client.close(timeout=2)
            _set_levels(self._levels)


def _set_levels(levels: dict[str, int]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


async def _knock(address: str) -> None:
    """Contact a scheduler, or raise an error: a client would hang on a port of another program.

    Raises:
        OSError: If nothing responds, or not as Dask does.
        ValueError: If it is no address.
    """
    comm: Any = import_module("distributed.comm")
    security = import_module("distributed").Security().get_connection_args("client")

    async def greet() -> None:
        await (await comm.connect(address, timeout=PATIENCE, **security)).close()

    await asyncio.wait_for(greet(), PATIENCE + 1)
