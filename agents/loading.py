"""Agents that are named by where they are.

``mine.py:Thirds`` is in a file, ``package.module:Thirds`` in a module, and ``model.zip`` a model of stable-baselines3.
"""

from __future__ import annotations

import copy
import dis
import functools
import importlib.machinery
import importlib.util
import inspect
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cloudpickle
from typing_extensions import override

from bai_gym.content.sources import files_of_import
from bai_gym.errors import AgentError, ParameterError, UnknownNameError, unknown_name
from bai_gym.wings import hook

__all__ = ["MODEL", "SUFFIX", "as_agent", "file_of", "load"]

METHODS = ("act", "allocate", "plan")
SUFFIX = ".py"
MODEL = ".zip"

_PLAYING: dict[str, types.ModuleType] = {}  # modules of agents' folders that are left in sys.modules, see _with


def file_of(reference: str) -> Path | None:
    """Return the file in which a reference looks for its agent; None if there is none."""
    if reference.endswith(MODEL):
        return None  # no code
    place = reference.rpartition(":")[0]
    if place.endswith(SUFFIX):
        return Path(place).resolve()
    return next(reversed([*files_of_import(place, Path.cwd())]), None)


def load(reference: str) -> Callable[..., Any]:
    """Return the factory of the agent that a reference names: a class, a function, or one that copies the agent.

    The file runs at every call, so that a changed file gives a changed agent. It may import modules of its own folder,
    and a module those of the current folder. Such modules are private to this call: they are not left in
    ``sys.modules``, so that worker processes receive their code by value, and files in different folders may import
    different modules of one name. What functions of a file import is imported with the file, and put into
    ``sys.modules`` when an agent is made, here and in worker processes; where two such agents use different modules of
    one name, the last one made decides.

    Args:
        reference: ``"<path>.py:<name>"`` or ``"<module>:<name>"``, the name of a class, of a function that returns an
            agent, of an agent, or of a model; or ``"<path>.zip"``, what ``model.save`` has written.

    Raises:
        UnknownNameError: If there is no such file, module or name.
        AgentError: If the file cannot be run, or the name is that of something else.
    """
    if reference.endswith(MODEL):
        return functools.partial(hook("model_agent"), path=reference)
    place, colon, name = reference.rpartition(":")
    if not colon:
        raise ParameterError(f"agent {reference!r} names a file without an agent: write {reference}:NAME")
    module, late = _run(Path(place)) if place.endswith(SUFFIX) else (_import(place), {})
    if not hasattr(module, name):
        defined = {w: value for w, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
        own = [word for word, value in defined.items() if not word.startswith("_") and _may_be_agent(value)]
        raise unknown_name("agent", name, own, f"{place} has: {', '.join(own) or 'no agents'}")
    value = getattr(module, name)
    if not _may_be_agent(value):
        raise AgentError(
            f"{reference} is a {type(value).__name__}: name a class, an agent, or a function that returns an agent"
        )
    factory = functools.partial(_copy, reference, as_agent(value)) if _is_instance(value) else value
    return functools.update_wrapper(functools.partial(_with, late, factory), factory, updated=()) if late else factory


def as_agent(value: Any) -> Any:
    """Return a trained model or network, which has ``predict`` or ``forward`` and does not act, as an agent."""
    is_model = callable(getattr(value, "predict", None)) or callable(getattr(value, "forward", None))
    if inspect.isclass(value) or not is_model or _acts(value):
        return value
    return hook("model_agent")(model=value)


def _copy(reference: str, agent: Any, **parameters: Any) -> Any:
    if parameters:
        raise ParameterError(f"{reference} is an agent, not a class, and takes no parameters: leave out the brackets")
    return copy.deepcopy(agent)


def _is_instance(value: Any) -> bool:
    return not inspect.isclass(value) and (_acts(value) or callable(getattr(value, "predict", None)))


def _acts(value: Any) -> bool:
    return any(callable(getattr(value, method, None)) for method in METHODS)


def _may_be_agent(value: Any) -> bool:
    return callable(value) or _is_instance(value)


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the file each time: bytecode on the disk may be of what the file was a moment ago."""

    @override
    def get_code(self, fullname: str) -> types.CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _run(path: Path) -> tuple[types.ModuleType, dict[str, types.ModuleType]]:
    """Run a file as a module; return it, and the modules of its folder if its functions import any."""
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise UnknownNameError(f"there is no file {path} in {Path.cwd()}; give the path of the agent's file") from None
    except OSError as error:
        raise UnknownNameError(f"{path} cannot be read: {error.strerror}; give the path of the agent's file") from None
    # The name differs from that of any module: a file called math.py is not the math of Python.
    loader = _Loader(f"agent-file-{path.stem}", str(path.resolve()))
    spec = importlib.util.spec_from_file_location(loader.name, loader.path, loader=loader)
    assert spec is not None
    module, folder = importlib.util.module_from_spec(spec), path.resolve().parent
    with _explained(str(path)), _private_modules(folder) as own:
        sys.modules[module.__name__] = module  # dataclasses look their module up
        try:
            loader.exec_module(module)
            late = [found for found in _late_imports(loader.get_code(loader.name)) if _homes(folder, found[0])]
            for name, members in late:
                __import__(name, fromlist=members)
        finally:
            del sys.modules[module.__name__]
    return module, own if late else {}


def _late_imports(code: types.CodeType) -> Iterator[tuple[str, list[str]]]:
    """Yield the modules that functions of a file import, each with the names that may be imported from it."""
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            steps = [step for step in dis.get_instructions(part) if step.opname in ("IMPORT_NAME", "IMPORT_FROM")]
            members = [step.argval for step in steps if step.opname == "IMPORT_FROM"]
            yield from ((step.argval, members) for step in steps if step.opname == "IMPORT_NAME")
            yield from _late_imports(part)


def _with(modules: dict[str, types.ModuleType], factory: Callable[..., Any], *given: Any, **parameters: Any) -> Any:
    """Call a factory whose functions import modules while the agent plays, here or in a worker process."""
    for name, module in modules.items():
        sys.modules[name] = _PLAYING[name] = module
        cloudpickle.register_pickle_by_value(module)
    return factory(*given, **parameters)


def _import(name: str) -> types.ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UnknownNameError(f"there is no module {name!r}; write FILE.py:NAME or package.module:NAME")
    with _private_modules(Path.cwd()), _explained(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):  # missing is what it imports
                raise
            raise UnknownNameError(
                f"there is no module {name!r}, installed or in {Path.cwd()}; write FILE.py:NAME or package.module:NAME"
            ) from None


@contextmanager
def _private_modules(folder: Path) -> Iterator[dict[str, types.ModuleType]]:
    """Let modules of a folder be imported, and take those that have been out of ``sys.modules``, into the dict."""
    own: dict[str, types.ModuleType] = {}
    playing = {name: sys.modules.pop(name) for name in _PLAYING if name in sys.modules}
    before = set(sys.modules)
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        yield own
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            homes = _homes(folder, name)
            if file and any(Path(file).is_relative_to(home) for home in homes):
                own[name] = sys.modules.pop(name)
        sys.modules.update(playing)


def _homes(folder: Path, module: str) -> list[Path]:
    """Return where a module of a folder is; none if it has no such module."""
    top = module.partition(".")[0]
    places = (folder / f"{top}{SUFFIX}", folder / top)
    return [place for place in places if top != "bai_gym" and place.exists()]


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Report errors of code that is run in one line."""
    try:
        yield
    except UnknownNameError:
        raise
    except (Exception, SystemExit) as error:
        steps, file = traceback.extract_tb(error.__traceback__), str(Path(what).resolve())
        inside = [step.lineno for step in steps if step.filename == file]
        place = f" (line {inside[-1]})" if inside else ""  # the text of a SyntaxError says where it is
        raise AgentError(f"{what} cannot be loaded: {type(error).__name__}: {error}{place}") from None
