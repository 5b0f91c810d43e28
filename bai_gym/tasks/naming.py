"""Tasks by name."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature

from bai_gym.errors import ParameterError, unknown_name
from bai_gym.tasks.base import Task
from bai_gym.wings import References, gathered

__all__ = ["TASKS", "make_task"]


TASKS: Mapping[str, type[Task]] = References(gathered("tasks"))
"""Every task that has a name for ``gym.make``; others come with a problem, as candidates do."""


def make_task(
    task: Task | str,
    *,
    num_arms: int,
    m: int | None = None,
    num_bandits: int | None = None,
    epsilon: float | None = None,
    threshold: float | None = None,
) -> Task:
    """Return a task, made from its name if necessary.

    Args:
        task: A key of :data:`TASKS`, or a task.
        num_arms: K.
        m: Size of the set; needed by ``"top-m"`` and by no other.
        num_bandits: Needed by ``"best-of-each"`` and by no other.
        epsilon: Accuracy; None: 0. Needed by ``"all-within"``.
        threshold: Needed by ``"thresholding"`` and ``"good-arm"``, and by no other.

    Raises:
        UnknownNameError: If there is no such task.
        ParameterError: If a parameter is missing, out of range, or belongs to another task.
    """
    parameters = {"m": m, "num_bandits": num_bandits, "epsilon": epsilon, "threshold": threshold}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(task, Task):
        result = task
        if parameters:
            raise ParameterError(f"{next(iter(parameters))} cannot be given with a task object")
    else:
        if not isinstance(task, str) or task not in TASKS:
            raise unknown_name("task", str(task), TASKS, f"allowed: {', '.join(TASKS)}")
        own = signature(TASKS[task]).parameters
        for name in ("m", "num_bandits", "threshold", "epsilon"):
            if name in parameters and name not in own:
                owners = " or ".join(repr(other) for other in TASKS if name in signature(TASKS[other]).parameters)
                raise ParameterError(f"{name} is a keyword of the task {owners}; this one is {task!r}")
            if name not in parameters and name in own and own[name].default is Parameter.empty:
                raise ParameterError(f"the task {task!r} needs the keyword {name}")
        result = TASKS[task](**parameters)  # type: ignore[arg-type]
    result.check_arms(num_arms)
    return result
