"""Tasks on workers: how they travel, run and return."""

from __future__ import annotations

import pickle
import socket
import threading
import traceback
from collections.abc import Callable
from typing import Any

import cloudpickle
from typing_extensions import override

from bai_gym.content.library import own_versions
from bai_gym.errors import ClusterError, ParameterError

__all__ = ["differences", "opened", "packed", "within_task"]

_HERE = threading.local()


def within_task() -> bool:
    """Return whether this thread runs a task."""
    return getattr(_HERE, "tasks", 0) > 0


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
    has, have = (", ".join(f"{name} {own.get(name) or '(none)'}" for name in odd) for own in (there, here))
    return (
        f"worker {worker} has {has}, and this process {have}; other versions give other numbers: install the same "
        "ones on all workers"
    )


def packed(call: Callable[..., Any], attempt: int = 0) -> bytes:
    """Return a call as bytes, the user's own functions and classes included; ``pickle.loads`` makes the call.

    So a worker is sent nothing but bytes and a function of the standard library. One without bai-gym raises an
    ImportError; sent a function that it cannot import, a worker of Dask would close.

    Args:
        call: A function without arguments.
        attempt: Other bytes for the same call: Dask would return the error of equal bytes again.

    Raises:
        ParameterError: If something in it cannot be pickled.
    """
    try:
        return pickle.dumps(_Call(own_versions(), _pickled(call), attempt))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ParameterError(
            f"the agent or the environment cannot be sent to other processes ({error}); use workers=1"
        ) from None


def _pickled(value: Any) -> bytes:
    return bytes(cloudpickle.dumps(value))


class _Call:
    """Pickled, a call of :func:`run_task`."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    @override
    def __reduce__(self) -> tuple[Callable[..., bytes], tuple[Any, ...]]:
        return run_task, self.arguments


def run_task(versions: dict[str, str | None], call: bytes, attempt: int) -> bytes:
    """Make a call on a worker, and return the outcome for :func:`opened`, errors included.

    Args:
        versions: Of the user's process.
        call: The pickled call.
        attempt: How often it was sent before.
    """
    _HERE.tasks = getattr(_HERE, "tasks", 0) + 1
    try:
        refusal = differences(socket.gethostname(), own_versions(), versions)
        if refusal is not None:
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
    finally:
        _HERE.tasks -= 1


def opened(result: bytes) -> Any:
    """Return what a task returned, or raise what it raised."""
    fine, outcome = pickle.loads(result)
    if fine:
        return outcome
    raise outcome
