"""The plain rule of a sequential agent, as its page shows it."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from bai_gym.sampling import Rule, State
from bai_gym.tasks import BestArm

__all__ = ["plain_rule"]


def plain_rule(agent: Any) -> list[str]:
    """Return the paragraphs of the page that show the rules of an agent; none for agents without one."""
    rule = getattr(agent, "rule", None)
    rules = {"": rule} if isinstance(rule, Rule) else {}
    agent.task = BestArm()  # on which the fast form may depend
    parts: list[str] = []
    seen: list[Any] = []
    for values, each in {**rules, **agent.other_rules}.items():
        parts += paragraphs(each, values, seen)
    if getattr(agent, "fast", None) is not None:
        parts.append(
            "By default a faster form with the same distribution is played; `plain=True` plays the rule as shown."
        )
    return parts


def paragraphs(rule: Rule, values: str, seen: list[Any]) -> list[str]:
    """Return the paragraphs that show one rule.

    Args:
        rule: The rule.
        values: The values of parameters with which it is played; empty for the defaults.
        seen: Functions and classes that the page has shown already; those of the rule are added.
    """
    functions = [part for part in (rule.index, rule.choose, rule.refresh, rule.stops) if part is not None]
    module = inspect.getmodule(rule.choose or rule.refresh or rule.index)
    home = getattr(module, "__name__", "")
    used: list[Any] = [kind for kind in rule.state.__mro__ if issubclass(kind, State) and kind is not State]
    for function in functions:
        used += [part for part in called(function, home) if part not in used]
    shown = [part for part in used if part.__module__ == home and part not in seen]
    elsewhere = {part.__name__: part.__module__ for part in used if part.__module__ != home and part not in seen}
    condition = f" with `{values}`" if values else ""
    omitted = " What is shown above is left out." if seen else ""
    seen += used
    parts = [
        f"The rule{condition}, as it is written and runs: `e` is the episode, `s` has the numbers of the rule's state, "
        "and `w` its arrays. "
        f"{roles(rule)}{omitted}",
        "```python\n" + "\n\n\n".join(source_of(part) for part in in_order(shown)) + "\n```",
    ]
    if elsewhere:
        names = ", ".join(f"`{name}` (`{place}`)" for name, place in sorted(elsewhere.items()))
        parts.append(f"From other modules: {names}.")
    return parts


def roles(rule: Rule) -> str:
    """Return what each function of a rule is for."""
    said = []
    if rule.index is not None and rule.choose is None:
        said.append(f"The arm of largest `{rule.index.__name__}` is pulled.")
    elif rule.choose is not None:
        said.append(f"`{rule.choose.__name__}` chooses each pull.")
    if rule.refresh is not None:
        said.append(f"`{rule.refresh.__name__}` starts a phase, and returns when the next one starts.")
    if rule.stops is not None:
        said.append(f"The episode ends when `{rule.stops.__name__}` holds.")
    return " ".join(said)


def called(function: Callable[..., Any], home: str) -> Iterator[types.FunctionType]:
    """Yield a function, and all that it and others of its home module call, without those of the engine."""
    seen: list[Any] = []
    waiting: list[Any] = [function]
    while waiting:
        current = waiting.pop(0)
        if current in seen or not isinstance(current, types.FunctionType):
            continue
        if current.__module__.startswith("bai_gym.sampling"):
            continue
        seen.append(current)
        yield current
        if current.__module__ == home:
            waiting += [current.__globals__.get(name) for name in current.__code__.co_names]


def source_of(part: Any) -> str:
    """Return the source of a function or class, with names in place of references in its docstring."""
    return re.sub(r":\w+:`[~.]*(?:[\w.]*\.)?(\w+)`", r"\1", inspect.getsource(part).strip())


def in_order(parts: list[Any]) -> list[Any]:
    """Return functions and classes in the order of their module."""
    return sorted(parts, key=lambda part: inspect.getsourcelines(part)[1])
