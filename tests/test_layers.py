"""Six layers: a module of the core imports from its own layer and from those below it, never from one above.

Wings import the core, themselves, and the wings that they need; the core does not know their modules. Neither packages
nor modules import each other in a circle.

All import statements count: at the top of a module, within functions, and under ``if TYPE_CHECKING``. Names in strings,
as in entry points, do not.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from bai_gym.content.library import LATER
from bai_gym.wings import wings

ROOT = Path(__file__).resolve().parents[1]
WINGS = {name: wing for name, wing in wings().items() if name != "bai_gym"}

# From the lowest to the highest. A package is a folder or a file under bai_gym/; `agents` is the folder agents/, and
# `__init__` the front page of the library. Wings are above all of them.
LAYERS: dict[str, frozenset[str]] = {
    "core": frozenset(
        {"analysis", "common", "content", "errors", "parallel", "rewards", "statistics", "validation", "wings"}
    ),
    "models": frozenset({"bandits", "data", "problems", "tasks", "theory"}),
    "envs": frozenset({"envs"}),
    "agents": frozenset({"adapters", "agents", "sampling"}),
    "benchmark": frozenset({"benchmark", "results"}),
    "interface": frozenset({"__init__", "__main__", "api", "cli", "report", "wing"}),
}
HEIGHT = {package: height for height, packages in enumerate(LAYERS.values()) for package in packages}


# What packages import within their layer.
BESIDE: dict[str, set[str]] = {
    "analysis": {"common", "errors", "rewards", "statistics", "validation"},
    "common": {"errors", "statistics", "validation", "wings"},
    "parallel": {"content", "errors", "validation"},
    "rewards": {"errors", "statistics", "validation"},
    "validation": {"errors"},
    "wings": {"errors"},
    "theory": {"tasks"},
    "problems": {"bandits", "data", "tasks", "theory"},
    "adapters": {"sampling"},
    "agents": {"adapters", "sampling"},
    "benchmark": {"results"},
    "api": {"report"},
    "cli": {"api", "report"},
    "__init__": {"api", "report"},
    "__main__": {"cli"},
}

# Packages that do not import each other although their layers could: agents are handed to the runner, which takes
# anything with the methods of an agent.
APART = {("benchmark", "agents"), ("results", "agents")}

# Optional or slow to import: within functions only, so that `import bai_gym` is light and works without the extras.
HEAVY = {
    "dask",
    "distributed",
    "matplotlib",
    "minari",
    "moviepy",
    "numba",
    "plotly",
    "psycopg",
    "pygame",
    "ray",
    "scipy.stats",
    "sklearn",
    "sqlalchemy",
    "stable_baselines3",
    "torch",
    "wandb",
}

# The only packages whose modules may import a heavy package at their top, or one of each other that does.
HEAVY_PACKAGES = ("bai_gym.live.search", "bai_gym.training.")


@dataclass(frozen=True)
class Import:
    """One imported name: the module it comes from, the line, and whether it runs when the module is imported."""

    name: str
    line: int
    eager: bool


@cache
def modules() -> dict[str, Path]:
    """Return all modules of the library, by the name under which they are imported."""
    found = {}
    for folder, package in ((ROOT / "bai_gym", "bai_gym"), (ROOT / "agents", "bai_gym.agents")):
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


def package_of(module: str) -> str:
    """Return the package of ``module``, for example ``"bandits"`` for ``bai_gym.bandits.gaussian``."""
    return module.split(".")[1] if "." in module else "__init__"


def imports(source: str, package: str, known: frozenset[str]) -> Iterator[Import]:
    """Yield the imports in ``source``, a module of ``package``.

    ``from x import y`` counts as ``x.y`` where that is one of the ``known`` modules, else as ``x``.
    """

    def walk(node: ast.AST, eager: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, eager)
        elif isinstance(node, ast.ImportFrom):
            start = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                start = ".".join([*base, start] if start else base)
            for alias in node.names:
                full = f"{start}.{alias.name}"
                yield Import(full if full in known else start, node.lineno, eager)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for child in node.body:
                yield from walk(child, False)
            for child in node.orelse:
                yield from walk(child, eager)
        else:
            lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, eager and not lazy)

    return walk(ast.parse(source), True)


@cache
def imports_of(module: str) -> tuple[Import, ...]:
    """Return the imports of a module of the library."""
    path = modules()[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(imports(path.read_text(encoding="utf-8"), package, frozenset(modules())))


def wing_of(module: str) -> str | None:
    """Return the wing that a module belongs to."""
    top = module.removeprefix("bai_gym.").removeprefix("agents.").partition(".")[0]
    return top if top in WINGS else None


def may_import(here: str, other: str) -> bool:
    """Return whether a package of the core may import another one, or itself."""
    if here == other or (HEIGHT[here] == HEIGHT[other] and other in BESIDE.get(here, set())):
        return True
    return HEIGHT[other] < HEIGHT[here] and (here, other) not in APART


def allowed(module: str, other: str) -> bool:
    """Return whether a module may import another one of the library."""
    own, its = wing_of(module), wing_of(other)
    if own is None and its is None:
        return may_import(package_of(module), package_of(other))
    return its is None or its == own or (own is not None and its in WINGS[own].needs)


@cache
def heavy(module: str) -> frozenset[str]:
    """Return the heavy packages that are imported with a module."""
    found = {item.name for item in imports_of(module) if item.eager}
    own = {package for package in HEAVY if any(f"{name}.".startswith(f"{package}.") for name in found)}
    return frozenset(own).union(*(heavy(name) for name in found if name in modules() and name != module))


def test_every_package_of_the_core_is_in_a_layer() -> None:
    assert {package_of(module) for module in modules() if wing_of(module) is None} == set(HEIGHT)


def circle(graph: Mapping[str, set[str]]) -> str:
    """Return a circle of a graph, or nothing."""
    try:
        TopologicalSorter({here: others - {here} for here, others in graph.items()}).prepare()
    except CycleError as error:
        return " -> ".join(error.args[1])
    return ""


def test_packages_and_wings_do_not_import_each_other_in_circles() -> None:
    graph: dict[str, set[str]] = {}
    for module in modules():
        graph.setdefault(wing_of(module) or package_of(module), set()).update(
            wing_of(item.name) or package_of(item.name)
            for item in imports_of(module)
            if item.name.split(".")[0] == "bai_gym"
        )
    assert circle(graph) == ""
    assert {need for wing in WINGS.values() for need in wing.needs} <= set(graph)


def test_modules_do_not_import_each_other_in_circles() -> None:
    known = modules()
    graph = {module: {item.name for item in imports_of(module) if item.name in known} for module in known}
    assert circle(graph) == ""


def test_imports_run_downhill_and_a_wing_is_imported_where_it_is_needed() -> None:
    wrong = [
        f"{module}, line {item.line}: may not import {item.name}"
        for module in modules()
        for item in imports_of(module)
        if item.name.split(".")[0] == "bai_gym" and not allowed(module, item.name)
    ]
    assert wrong == []


def test_the_core_names_no_module_of_a_wing() -> None:
    """Not in strings and docstrings either."""
    named = re.compile(rf"\bbai_gym\.(agents\.)?({'|'.join(WINGS)})\b")
    core = {module: path for module, path in modules().items() if wing_of(module) is None}
    assert [module for module, path in core.items() if WINGS and named.search(path.read_text(encoding="utf-8"))] == []


def test_programs_that_import_a_wing_are_in_its_folders() -> None:
    """Tests and examples: what imports a wing at its top, or one that needs it."""
    wrong = []
    for path in (path for top in ("tests", "examples", "benchmarks") for path in (ROOT / top).rglob("*.py")):
        own = WINGS.keys() & {*path.relative_to(ROOT).parts[:-1]}
        theirs = {None, *own, *(need for name in own for need in WINGS[name].needs)}
        for item in imports(path.read_text(encoding="utf-8"), "", frozenset(modules())):
            if item.eager and item.name.startswith("bai_gym.") and wing_of(item.name) not in theirs:
                wrong.append(f"{path.relative_to(ROOT)}, line {item.line}: {item.name}")
    assert wrong == []


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    assert [module for module in modules() if heavy(module) and not module.startswith(HEAVY_PACKAGES)] == []


def test_importing_is_light(tmp_path: Path) -> None:
    code = "import sys, bai_gym, bai_gym.agents, bai_gym.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert HEAVY & set(done.stdout.split()) == set()


@pytest.mark.each("words", ["--help", "list agents", "list envs", "list experiments --json", "run --help", "cite SH"])
def test_commands_that_compute_nothing_load_nothing(words: str, tmp_path: Path) -> None:
    """NumPy is there, because Gymnasium imports it, with which `import bai_gym` registers the ids."""
    code = (
        "import sys\nfrom bai_gym.cli import main\n"
        f"sys.argv = ['bai-gym', *{words.split()}]\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = set(done.stderr.split())
    assert "bai_gym.cli.main" in loaded
    wrong = {
        "joblib",
        "pooch",
        "pyarrow",
        "scipy",
        "bai_gym.api",
        "bai_gym.agents.base",
        "bai_gym.problems",
        *HEAVY,
    } & loaded
    assert not wrong


def test_results_depend_on_all_that_agents_play_with() -> None:
    """Of what lies below the interface, the digest of the library leaves out none that plays."""
    below = {name for layer in ("models", "envs", "agents", "benchmark") for name in LAYERS[layer]}
    assert not below & LATER
