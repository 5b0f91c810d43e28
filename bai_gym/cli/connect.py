"""``--backend`` and ``--address``: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from bai_gym.errors import ParameterError

__all__ = ["Address", "Backend", "check_backend_options", "connected"]

BACKENDS = "loky", "dask", "ray"  # a test compares them with those of bai_gym.parallel, which takes time to import
LOCAL = BACKENDS[0]
Backend = Annotated[
    str,
    typer.Option(
        metavar="[" + "|".join(BACKENDS) + "]",
        help="Where to run: on processes of this machine, or on a Dask or Ray cluster.",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="<address>", help="Address of the cluster: tcp://localhost:8786 (Dask), localhost:6379 (Ray)."
    ),
]


def check_backend_options(backend: str, address: str | None, workers: int | None) -> None:
    """Check ``--backend``, ``--address`` and ``--workers``, which is None if not given.

    Raises:
        UnknownNameError: If there is no such backend.
        ParameterError: If they contradict each other.
    """
    from bai_gym.parallel import check_backend

    check_backend(backend)
    if backend == LOCAL and address is not None:
        raise ParameterError(f"--address {address} needs a cluster: add --backend dask or --backend ray")
    if backend != LOCAL and workers is not None:
        raise ParameterError(
            f"--workers {workers} counts processes of this machine, and a cluster has the workers that were started "
            "there; leave --workers out"
        )


@contextmanager
def connected(backend: str, address: str | None, workers: int | None, default: int) -> Iterator[int]:
    """Connect to the cluster, if any, and yield the number of local processes.

    Args:
        backend: See :data:`BACKENDS`.
        address: Of the cluster.
        workers: The option, or None.
        default: Number of processes without the option.
    """
    from bai_gym.parallel import cluster

    if backend == LOCAL:
        yield default if workers is None else workers
        return
    with cluster(backend, address):
        yield default
