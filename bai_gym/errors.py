"""Exceptions; each message names the problem, the rule and the remedy.

Every user mistake raises a subclass of :class:`BaiGymError`; the command line prints its one line and exits with code
2. Any other exception is a bug in this library.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from typing_extensions import override

__all__ = [
    "AgentError",
    "BaiGymError",
    "BudgetError",
    "ClusterError",
    "DataError",
    "InstanceError",
    "MissingDataError",
    "MissingPackageError",
    "OutputError",
    "ParameterError",
    "PullError",
    "SchemaError",
    "UnknownAttributeError",
    "UnknownKeywordError",
    "UnknownNameError",
    "unknown_name",
]


class BaiGymError(Exception):
    """Base class of all errors raised for user mistakes."""

    @override
    def __str__(self) -> str:
        """The message in one line."""
        return " ".join(line.strip() for line in super().__str__().splitlines())


class UnknownNameError(BaiGymError, LookupError):
    """An environment, agent, experiment or data set of that name does not exist."""


class UnknownAttributeError(BaiGymError, AttributeError):
    """An environment has no attribute or method of that name, or not one for each episode."""


class ParameterError(BaiGymError, ValueError):
    """A keyword or option has a value outside its range."""


class UnknownKeywordError(ParameterError, TypeError):
    """An environment has no keyword of that name; as the error of Python, so that callers can try without it."""

    @override
    def __str__(self) -> str:
        """The message without what gym.make adds to it, which are all keywords."""
        return super().__str__().partition(" was raised from the environment creator")[0]


class InstanceError(ParameterError):
    """The arms of a bandit instance are malformed: NaN mean, negative variance, fewer than two arms."""


class BudgetError(ParameterError):
    """The budget is below the minimum of the environment or the agent."""


class AgentError(BaiGymError, RuntimeError):
    """An agent broke the contract: wrong shape, arm out of range, or more pulls than the budget."""


class DataError(BaiGymError, ValueError):
    """A data file cannot be read as what it should be: missing column, non-numeric reward, empty arm."""


class MissingDataError(BaiGymError, FileNotFoundError):
    """A data set is not in the data directory."""


class MissingPackageError(BaiGymError, ImportError):
    """A required optional package is not installed."""


class OutputError(BaiGymError, OSError):
    """Results cannot be written to, or read from, the output folder or a journal."""


class SchemaError(BaiGymError, ValueError):
    """A file of results was written by a version of this library that this one cannot read."""


class ClusterError(BaiGymError, ConnectionError):
    """Workers were lost too often, or have other code or data than this process."""


class PullError(BaiGymError, RuntimeError):
    """A pull of the user's own function failed: it raised, took too long, or returned no finite number.

    Attributes:
        log: The pulls that were made before it, as in :class:`bai_gym.live.Identification`; empty in an environment.
    """

    log: tuple[Any, ...] = ()


def unknown_name(kind: str, name: str, known: Iterable[str], hint: str) -> UnknownNameError:
    """Build the error for an unknown name, with the nearest known ones.

    Args:
        kind: Kind of name, for example ``"agent"``.
        name: The unknown name.
        known: All names that exist.
        hint: Where to see them all, for example ``"`bai-gym list agents` shows all"``.

    Returns:
        The error, to be raised by the caller.
    """
    lowered = {candidate.lower(): candidate for candidate in known}
    near = [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.5)]
    guess = f" Did you mean {' or '.join(near)}?" if near else ""
    return UnknownNameError(f"unknown {kind} {name!r}.{guess} ({hint})")
