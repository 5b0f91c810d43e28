"""Wings: parts of the suite, and of other distributions, that the core finds by what they declare.

A wing of the suite is a folder below ``bai_gym`` with a file ``wing.py`` that assigns ``WING``; all of its files are in
folders of its name, and without them the rest works as before. It imports the core, and those wings that it needs.
Another distribution offers a wing as an entry point of the group ``bai_gym.wings``::

    [project.entry-points."bai_gym.wings"]
    mine = "mine.wing:WING"

Declarations name modules and import none of them: what a wing adds is imported when it is first used.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

from typing_extensions import override

from bai_gym.errors import UnknownNameError

__all__ = [
    *("ANY", "BINARY", "CAP", "FIXED_CONFIDENCE", "NAMED", "UNIT", "Command", "Entry", "References", "Registration"),
    *("Wing", "gathered", "hook", "load_reference", "wings"),
]

ENTRY_POINTS = "bai_gym.wings"
CAP = 1_000_000  # pulls at which an episode of fixed confidence is truncated
FIXED_CONFIDENCE = {"fixed_confidence": True, "pull_cost": 1e-4}  # a cost, so that learners have a reason to stop
NAMED = ("families", "groups", "agents", "tasks", "data", "commands", "hooks")
"""What a wing adds by name, each of which only one wing has."""
ANY, UNIT, BINARY = "any rewards", "rewards in [0, 1]", "rewards of 0 and 1"


@dataclass(frozen=True)
class Registration:
    """One id.

    Attributes:
        id: For example ``"BAI-Gaussian64-v0"``.
        family: Problem family, a key of ``bai_gym.problems.FAMILIES``.
        budget: Default number of pulls per episode.
        summary: One line for listings.
        keywords: Keyword arguments that the id fixes; ``gym.make`` can override them.
        data: Name of the required data set, or None.
        rewards: The kind of rewards, with the keywords above, as text, see :class:`bai_gym.rewards.Rewards`.
    """

    id: str
    family: str
    budget: int
    summary: str
    keywords: dict[str, Any] = field(default_factory=dict)
    data: str | None = None
    rewards: str = "real"


@dataclass(frozen=True)
class Entry:
    """Where an agent is, and what it is for with its default parameters.

    What its class declares, such as ``tasks`` and ``knows``, is not repeated here.

    Attributes:
        path: Module, a colon, and the class; a module that begins with a dot is below ``bai_gym.agents``.
        arms: The number of arms that it is for; None: any.
        rewards: The rewards that it accepts: :data:`ANY`, :data:`UNIT` or :data:`BINARY`.
        largest_budget: The largest budget that it can plan for five arms in advance; None: any.
        spends_budget: Whether it makes all pulls of the budget, unless it stops because it is confident.
        draws_arms: Whether each pull is of a randomly drawn arm, so that some arms may get none.
        own: Whether this library introduces it, so that there is no paper to cite.
    """

    path: str
    _: KW_ONLY
    arms: int | None = None
    rewards: str = ANY
    largest_budget: int | None = None
    spends_budget: bool = True
    draws_arms: bool = False
    own: bool = False

    @property
    def folder(self) -> str:
        """The package that its module is in: for one of this library, a folder of ``agents/``."""
        return self.path.removeprefix(".").partition(":")[0].partition(".")[0]

    @property
    def restrictions(self) -> tuple[str, ...]:
        """What it needs: ``("2 arms",)``, ``("rewards of 0 and 1",)``; nothing for most agents."""
        arms = () if self.arms is None else (f"{self.arms} arms",)
        return arms if self.rewards == ANY else (*arms, self.rewards)

    @property
    def class_name(self) -> str:
        """The name of its class."""
        return self.path.partition(":")[2]

    def load(self) -> Callable[..., Any]:
        """Import its module, and return its class."""
        return load_reference(self.path, "bai_gym.agents")  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Command:
    """A command of ``bai-gym``.

    Attributes:
        path: Module, a colon, and a function for Typer, or a ``typer.Typer`` with commands of its own.
        summary: What the list of commands says.
    """

    path: str
    summary: str


@dataclass(frozen=True)
class Wing:
    """What a wing adds to the suite.

    Attributes:
        families: By name, where the class or function is that makes a problem: ``"package.module:name"``.
        ids: Environments; those whose family is not there, as its wing is not, are left out.
        groups: Headings of the packages that agents are in, such as ``{"linear": "Structured arms"}``.
        agents: Agents by name.
        tasks: By the name for ``gym.make(id, task=)``, where the :class:`bai_gym.tasks.Task` is; of the keywords ``m``,
            ``num_bandits``, ``epsilon`` and ``threshold`` it is given those that its constructor has.
        data: By name, where the :class:`bai_gym.data.DataSet` is.
        commands: Commands by name.
        experiments: Where tuples of experiments are, for ``bai-gym reproduce``.
        catalogue: Where a function is that returns rows of the catalogue of listings, by kind.
        hooks: Where what others call is, by the names that :func:`hook` is asked for.
        needs: Names of the wings that it imports.
    """

    families: Mapping[str, str] = field(default_factory=dict)
    ids: tuple[Registration, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, Entry] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    experiments: tuple[str, ...] = ()
    catalogue: str = ""
    hooks: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@cache
def wings() -> Mapping[str, Wing]:
    """Return the core, as ``"bai_gym"``, the wings of the suite by the names of their folders, and those of others.

    Warns of one of another distribution that cannot be loaded, or whose names are taken; it is left out.
    """
    here = Path(__file__).parent
    found = {path.parent.name: _declared(path) for path in (here / "wing.py", *sorted(here.glob("*/wing.py")))}
    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            wing = point.load()
        except Exception as error:
            _leave_out(point, f"it cannot be loaded ({type(error).__name__}: {error})")
            continue
        if not isinstance(wing, Wing):
            _leave_out(point, "it is no bai_gym.wings.Wing")
        elif point.name in found:
            _leave_out(point, f"there is one named {point.name!r} already")
        elif taken := _taken(wing, found.values()):
            _leave_out(point, f"{taken} is taken")
        else:
            found[point.name] = wing
    return found


def _leave_out(point: metadata.EntryPoint, reason: str) -> None:
    """Warn of a wing of another distribution, which must not keep the suite from being imported."""
    whose = "another distribution" if point.dist is None else point.dist.name
    warnings.warn(f"the wing {point.value} of {whose} is left out: {reason}", stacklevel=2)


def _taken(wing: Wing, others: Iterable[Wing]) -> str | None:
    """Return what a wing adds under a name that another wing has."""
    for other in others:
        for kind in NAMED:
            for name in getattr(wing, kind).keys() & getattr(other, kind).keys():
                return f"{name!r}, one of its {kind},"
        if ids := {entry.id for entry in wing.ids} & {entry.id for entry in other.ids}:
            return f"the id {min(ids)!r}"
    return None


def gathered(kind: str) -> dict[str, Any]:
    """Return what the core and all wings declare of a kind, by name.

    Args:
        kind: One of :data:`NAMED`.
    """
    return {name: thing for wing in wings().values() for name, thing in getattr(wing, kind).items()}


def hook(name: str, otherwise: Any = None) -> Any:
    """Return what a wing has for others under a name.

    Args:
        name: One of its ``hooks``.
        otherwise: What is returned if no wing has it.

    Raises:
        UnknownNameError: If no wing has it, and nothing else is given.
    """
    place = gathered("hooks").get(name)
    if place is None and otherwise is None:
        raise UnknownNameError(f"{name!r} is of a wing that this copy lacks: install the whole of bai-gym")
    return otherwise if place is None else load_reference(place)


class References(Mapping[str, Any]):
    """Things by name, each imported when it is first asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Keep the places, ``"package.module:name"``."""
        self._places = dict(places)

    @override
    def __getitem__(self, name: str) -> Any:
        return load_reference(self._places[name])

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    @override
    def __len__(self) -> int:
        return len(self._places)

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._places


def load_reference(place: str, package: str | None = None) -> Any:
    """Import and return what is at ``"package.module:name"``; modules that begin with a dot are below ``package``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module, package), name)


def _declared(path: Path) -> Wing:
    """Return the declaration of a folder, without importing its package, which takes longer than all declarations."""
    name = "bai_gym.wing" if path.parent.name == "bai_gym" else f"bai_gym.{path.parent.name}.wing"
    if name not in sys.modules:
        spec = util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    wing: Wing = sys.modules[name].WING
    return wing
