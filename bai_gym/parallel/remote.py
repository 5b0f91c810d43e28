"""Single calls on the workers of the enclosing cluster, for experiments that decide call by call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bai_gym.errors import ClusterError, ParameterError
from bai_gym.parallel import backend
from bai_gym.parallel.task import opened, packed

__all__ = ["LateCallError", "RemoteCalls"]


class LateCallError(Exception):
    """A call has taken longer than its timeout."""


class RemoteCalls:
    """Makes calls on the workers of the cluster that encloses the construction, see :func:`bai_gym.cluster`.

    Args:
        function: What the calls call, with any arguments.

    Raises:
        ParameterError: If there is no cluster, or the function cannot be sent there.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Find the cluster: threads in which calls are made later are not enclosed themselves."""
        from joblib.parallel import get_active_backend

        active = get_active_backend()[0]
        if not isinstance(active, backend.ClusterBackend):
            raise ParameterError("run_in='cluster' needs a cluster: write `with bai_gym.cluster(...):` around the call")
        packed(function)
        self._connection = active.connection

    def call(self, function: Callable[[], Any], timeout: float | None = None) -> Any:
        """Return the result of a call.

        Args:
            function: Without arguments; it travels by cloudpickle.
            timeout: Seconds; None: no limit. A call that takes longer is cancelled, where the cluster can.

        Raises:
            LateCallError: It took longer.
            ClusterError: The cluster is lost, or its worker was.
            Exception: An exception of the function.
        """
        name, end = self._connection.name, None if timeout is None else time.monotonic() + timeout
        future = self._connection.submit(packed(function))
        while True:
            left = backend.LOST_SECONDS if end is None else min(backend.LOST_SECONDS, end - time.monotonic())
            try:
                result = future.result(max(left, 0.0))
                break
            except TimeoutError:
                if future.done():  # the error of a worker, not of this wait
                    raise ClusterError(f"{name} failed") from None
                if end is not None and time.monotonic() >= end:
                    future.cancel()
                    raise LateCallError from None
                if not self._connection.cores():
                    raise ClusterError(f"{name} is lost: it has no workers") from None
            except Exception as error:
                raise ClusterError(self._connection.explain(error) or f"{name} failed ({error})") from None
        return opened(result)
