"""A Dask or Ray cluster in place of the processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bai_gym.errors import ClusterError, unknown_name
from bai_gym.parallel.task import differences, own_versions

if TYPE_CHECKING:
    from bai_gym.parallel.backend import Connection

__all__ = ["BACKENDS", "check_backend", "cluster"]

LOCAL = "loky"
CLUSTERS = ("dask", "ray")
BACKENDS = (LOCAL, *CLUSTERS)


def check_backend(backend: Any, known: tuple[str, ...] = BACKENDS) -> None:
    """Check the name of a backend.

    Raises:
        UnknownNameError: If there is none of that name.
    """
    if backend not in known:
        raise unknown_name("backend", str(backend), known, f"there are {', '.join(known)}")


@contextmanager
def cluster(backend: str, address: Any = None) -> Iterator[None]:
    """Work on an existing Dask or Ray cluster.

    Inside, everything that can use several processes runs on the cluster: :func:`bai_gym.evaluate` and
    :func:`bai_gym.compare`, which then need no ``workers=``, models that ``BAI-AutoML160-v0`` trains, and the pulls of
    :func:`bai_gym.identify` with ``parallel``. Results are those of one process. A lost worker's chunks run again elsewhere. Workers need no access to the output folder: this
    process writes a chunk as soon as it arrives, so a killed program loses only unfinished chunks.

    Workers need the same bai-gym, file by file, and the same NumPy, SciPy, scikit-learn and Python; this is checked.
    Classes that are defined in a script or notebook travel to them; files that an environment reads do not.

    Args:
        backend: ``"dask"`` or ``"ray"``.
        address: Of Dask's scheduler, such as ``"tcp://10.0.0.1:8786"``, or an open ``distributed.Client`` (which stays
            open); None: what Dask's setting ``scheduler-address`` says. Of Ray: ``"10.0.0.1:6379"`` on a machine of
            the cluster, ``"ray://10.0.0.1:10001"`` elsewhere; None: the one that this process is connected to, or
            that runs on this machine.

    Raises:
        UnknownNameError: If the backend is neither.
        MissingPackageError: If the package is not installed.
        ParameterError: If the address is none, or there is none.
        ClusterError: If nothing responds there within ten seconds, the cluster has no workers, or a worker has other
            versions. Later, inside: if the cluster is lost.
    """
    check_backend(backend, CLUSTERS)
    import joblib

    from bai_gym.parallel.backend import ClusterBackend

    connection = _connectors()[backend](address)
    try:
        try:
            found = connection.versions()
        except OSError as error:
            raise ClusterError(f"{connection.name} is lost ({error})") from None
        for worker, versions in found.items():
            refusal = differences(worker, versions, own_versions())
            if refusal is not None:
                raise ClusterError(refusal)
        with joblib.parallel_config(backend=ClusterBackend(connection), n_jobs=-1):
            yield
    finally:
        connection.close()


def _connectors() -> dict[str, Callable[[Any], Connection]]:
    from bai_gym.parallel.on_dask import DaskConnection
    from bai_gym.parallel.on_ray import RayConnection

    return {"dask": DaskConnection, "ray": RayConnection}
