"""Tasks on the workers of a cluster: how they travel, run and return."""

from __future__ import annotations

import functools
import pickle
import platform
import socket
import traceback
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import cloudpickle
from typing_extensions import override

from bai_gym.content.library import library_digest
from bai_gym.errors import ClusterError, ParameterError

__all__ = ["QUESTION", "answered", "differences", "opened", "own_versions", "packed"]

LIBRARY = "bai-gym"
PACKAGES = (LIBRARY, "numpy", "scipy", "scikit-learn")
"""Packages that affect the numbers."""
PYTHON = "Python"
CODE = "code of bai-gym"


@functools.cache
def own_versions() -> dict[str, str | None]:
    """Return the versions of this process: of Python the first two numbers, of packages all; None: not installed.

    Of this library also a digest of its files, since a changed copy may have the same version.
    """
    found: dict[str, str | None] = {PYTHON: ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    found[CODE] = library_digest()
    return found


def answered(answer: object) -> dict[str, str | None] | None:
    """Return the versions in a worker's answer to :data:`QUESTION`; None if it was lost.

    Args:
        answer: What the worker returned, or its error.
    """
    if isinstance(answer, ImportError | AttributeError):  # without this library, or with a very different one
        return {LIBRARY: None}
    return answer if isinstance(answer, dict) else None


def differences(worker: str, there: dict[str, str | None], here: dict[str, str | None]) -> str | None:
    """Return a sentence about versions of a worker that differ from those of the user's process, or None.

    Args:
        worker: Its name.
        there: Its :func:`own_versions`.
        here: Those of the user's process.
    """
    odd = [name for name in here if there.get(name) != here[name]]
    if not odd:
        return None
    if there.get(LIBRARY) is None:
        return f"worker {worker} has no bai-gym; install version {here[LIBRARY]} on all workers"
    has, have = (", ".join(f"{name} {own.get(name) or '(none)'}" for name in odd) for own in (there, here))
    return (
        f"worker {worker} has {has}, and this process {have}; other versions give other numbers: install the same "
        "ones on all workers"
    )


class _Question:
    """Pickled, a call of :func:`own_versions`."""

    @override
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[()]]:
        return own_versions, ()


QUESTION = pickle.dumps(_Question())
"""``pickle.loads`` of it returns a worker's own versions; without this library it raises an ImportError."""


def packed(call: Callable[[], Any]) -> bytes:
    """Return a call as bytes, the user's own functions and classes included; ``pickle.loads`` makes the call.

    So a worker is sent nothing but bytes and a function of the standard library. One without bai-gym raises an
    ImportError; sent a function that it cannot import, a worker of Dask would close.

    Raises:
        ParameterError: If something in it cannot be pickled.
    """
    try:
        return pickle.dumps(_Call(own_versions(), _pickled(call)))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ParameterError(
            f"the agent or the environment cannot be sent to a cluster ({error}); play it on this machine"
        ) from None


def _pickled(value: Any) -> bytes:
    return bytes(cloudpickle.dumps(value))


class _Call:
    """Pickled, a call of :func:`run_task`."""

    def __init__(self, versions: dict[str, str | None], call: bytes) -> None:
        self.arguments = (versions, call)

    @override
    def __reduce__(self) -> tuple[Callable[..., bytes], tuple[dict[str, str | None], bytes]]:
        return run_task, self.arguments


def run_task(versions: dict[str, str | None], call: bytes) -> bytes:
    """Make a call on a worker, and return the outcome for :func:`opened`, errors included.

    Args:
        versions: Of the user's process.
        call: The pickled call.
    """
    try:
        refusal = differences(socket.gethostname(), own_versions(), versions)
        if refusal is not None:  # a worker that has joined after the check
            raise ClusterError(refusal)
        try:
            function = cloudpickle.loads(call)
        except ImportError as error:
            raise ClusterError(
                f"worker {socket.gethostname()} cannot import what the agent or the environment needs ({error}); "
                "install it there, or define the class in the script that you start"
            ) from None
        return _pickled((True, function()))
    except Exception as error:
        error.add_note(f"On worker {socket.gethostname()}:\n{traceback.format_exc()}")
        error.__traceback__ = None
        try:
            return _pickled((False, error))
        except Exception:  # a user's exception can hold anything
            return _pickled((False, RuntimeError(traceback.format_exc())))


def opened(result: bytes) -> Any:
    """Return what a task returned, or raise what it raised."""
    fine, outcome = pickle.loads(result)
    if fine:
        return outcome
    raise outcome
