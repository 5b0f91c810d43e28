"""The problem families behind the ids, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bai_gym.common.seeding import check_seed
from bai_gym.errors import ParameterError, UnknownKeywordError, unknown_name
from bai_gym.problems.base import FrozenProblem, Problem
from bai_gym.validation import choice
from bai_gym.wings import References, gathered

__all__ = ["FAMILIES", "build"]


FAMILIES: Mapping[str, Callable[..., Problem]] = References(gathered("families"))
"""Classes and functions that make a problem, by the name of the family; ids accept their keywords."""


def build(
    family: str,
    others: Iterable[str] = (),
    /,
    *,
    instance: str = "random",
    instance_seed: int | None = None,
    **keywords: Any,
) -> Problem:
    """Return the problem of a family.

    Args:
        family: A key of :data:`FAMILIES`.
        others: Keywords that the caller has taken, such as those of an environment; the error for an unknown keyword
            lists them, too.
        instance: ``"random"``: fresh instance per episode. ``"fixed"``: fixed instance, drawn once from
            ``instance_seed``.
        instance_seed: Seed of the fixed instance, at least 0; 0 unless given.
        **keywords: Keyword arguments of the family's builder.

    Raises:
        UnknownNameError: If there is no such family.
        ParameterError: If a keyword is unknown, or a value outside its range.
    """
    if family not in FAMILIES:
        raise unknown_name("problem family", family, FAMILIES, f"known: {', '.join(FAMILIES)}")
    builder = FAMILIES[family]
    allowed = inspect.signature(builder).parameters
    for keyword in keywords:
        if keyword not in allowed:
            names = ", ".join([*allowed, "instance", "instance_seed", *others])
            raise UnknownKeywordError(
                f"unexpected keyword argument {keyword!r} of the {family} environments; allowed: {names}"
            )
    if choice(instance, ("random", "fixed"), "instance") == "random":
        if instance_seed is not None:
            raise ParameterError("instance_seed is the seed of a fixed instance: give instance='fixed' with it")
        return builder(**keywords)
    return FrozenProblem(builder(**keywords), check_seed(0 if instance_seed is None else instance_seed))
