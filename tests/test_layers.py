"""Six layers: a module imports from its own layer and from those below it, never from one above.

Neither packages nor modules import each other in a circle.

All import statements count: at the top of a module, within functions, and under ``if TYPE_CHECKING``. Names in strings,
as in entry points, do not.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from bai_gym.content.library import LATER_PACKAGES

ROOT = Path(__file__).resolve().parents[1]

# From the lowest to the highest. A package is a folder or a file under bai_gym/; `agents` is the folder agents/, and
# `__init__` the front page of the library.
LAYERS: dict[str, frozenset[str]] = {
    "core": frozenset(
        {"analysis", "budget", "content", "errors", "lazy", "parallel", "rewards", "rounds", "seeding"}
        | {"statistics", "validation", "wings"}
    ),
    "models": frozenset(
        {"bandits", "datasets", "designs", "gaussian_process", "linear", "problems"} | {"regression", "tasks", "theory"}
    ),
    "envs": frozenset({"arrays", "envs"}),
    "agents": frozenset({"adapters", "agents", "sampling"}),
    "benchmark": frozenset({"benchmark", "results"}),
    "interface": frozenset(
        {
            "__init__",
            "__main__",
            "api",
            "apart",
            "auditing",
            "cli",
            "experiments",
            "live",
            "official",
            "offline",
            "paired",
            "planning",
            "progress",
            "report",
            "rerun",
            "training",
            "tuning",
            "wing",
        }
    ),
}
HEIGHT = {package: height for height, packages in enumerate(LAYERS.values()) for package in packages}


# What packages import within their layer.
BESIDE: dict[str, set[str]] = {
    "analysis": {"errors", "rewards", "seeding", "statistics", "validation"},
    "budget": {"errors", "statistics", "validation"},
    "parallel": {"content", "errors", "validation"},
    "rewards": {"errors", "statistics", "validation"},
    "seeding": {"validation"},
    "validation": {"errors"},
    "bandits": {"gaussian_process"},
    "linear": {"bandits", "tasks", "theory"},
    "regression": {"designs"},
    "theory": {"designs", "tasks"},
    "arrays": {"envs"},
    "problems": {"bandits", "datasets", "gaussian_process", "linear", "tasks", "theory"},
    "adapters": {"sampling"},
    "agents": {"adapters", "sampling"},
    "benchmark": {"results"},
    "api": {"progress", "rerun"},
    "auditing": {"api", "progress"},
    "apart": {"api"},
    "experiments": {"wing"},
    "live": {"api"},
    "offline": {"api"},
    "official": {"api", "apart"},
    "training": {"api"},
    "tuning": {"api", "live"},
    "planning": {"api", "rerun"},
    "report": {"auditing", "official", "planning"},
    "cli": {
        "api",
        "auditing",
        "experiments",
        "live",
        "official",
        "planning",
        "progress",
        "report",
        "rerun",
        "training",
    },
    "__init__": {"api", "auditing", "live", "planning", "report"},
    "__main__": {"cli"},
}

# Packages that do not import each other although their layers could: agents are handed to the runner, which takes
# anything with the methods of an agent.
APART = {("benchmark", "agents"), ("experiments", "agents"), ("results", "agents")}

# Optional or slow to import: within functions only, so that `import bai_gym` is light and works without the extras.
HEAVY = {
    "dask",
    "distributed",
    "matplotlib",
    "minari",
    "moviepy",
    "numba",
    "optuna",
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

# The only places that may import a heavy package at the top of their modules; nothing outside may import one of them at
# its top in turn.
HEAVY_PACKAGES = ("arrays", "training", "tuning")


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


def may_import(here: str, other: str) -> bool:
    """Return whether a package may import another one, or itself."""
    if here == other or (HEIGHT[here] == HEIGHT[other] and other in BESIDE.get(here, set())):
        return True
    return HEIGHT[other] < HEIGHT[here] and (here, other) not in APART


def uphill(module: str, found: Iterable[Import]) -> list[str]:
    """Return one sentence for each import in ``found`` that ``module`` may not make."""
    here = package_of(module)
    ours = [item for item in found if item.name.split(".")[0] == "bai_gym"]
    return [
        f"{module}, line {item.line}: {here} may not import {item.name}"
        for item in ours
        if not may_import(here, package_of(item.name))
    ]


def heavy(module: str, found: Iterable[Import]) -> list[str]:
    """Return one sentence for each heavy import in ``found`` that runs when ``module`` is imported."""
    if package_of(module) in HEAVY_PACKAGES:
        return []

    def is_heavy(name: str) -> bool:
        ours = f"{name}.".startswith(tuple(f"bai_gym.{heavy}." for heavy in HEAVY_PACKAGES))
        return ours or any(f"{name}.".startswith(f"{package}.") for package in HEAVY)

    return [
        f"{module}, line {item.line}: import {item.name} within the function that needs it"
        for item in found
        if item.eager and is_heavy(item.name)
    ]


@cache
def wings() -> dict[str, list[str]]:
    """Return the files and folders of each wing, see ``pyproject.toml``."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tables: dict[str, list[str]] = settings["tool"]["bai-gym"]["wings"]
    return tables


def wings_of(module: str) -> set[str]:
    """Return the wings that a module belongs to: it needs all of them."""
    path = modules()[module].relative_to(ROOT)
    places = {path.as_posix(), *map(Path.as_posix, path.parents)}
    return {wing for wing, paths in wings().items() if places & set(paths)}


def test_every_package_is_in_a_layer(is_whole: bool) -> None:
    found = {package_of(module) for module in modules()}
    assert found == set(HEIGHT) if is_whole else found <= set(HEIGHT)


def circle(graph: Mapping[str, set[str]]) -> str:
    """Return a circle of a graph, or nothing."""
    try:
        TopologicalSorter({here: others - {here} for here, others in graph.items()}).prepare()
    except CycleError as error:
        return " -> ".join(error.args[1])
    return ""


def test_packages_do_not_import_each_other_in_circles() -> None:
    graph: dict[str, set[str]] = {}
    for module in modules():
        graph.setdefault(package_of(module), set()).update(
            package_of(item.name) for item in imports_of(module) if item.name.split(".")[0] == "bai_gym"
        )
    assert circle(graph) == ""


def test_modules_do_not_import_each_other_in_circles() -> None:
    known = modules()
    graph = {module: {item.name for item in imports_of(module) if item.name in known} for module in known}
    assert circle(graph) == ""


def test_imports_run_downhill() -> None:
    assert [line for module in modules() for line in uphill(module, imports_of(module))] == []


def test_nothing_imports_a_wing_at_its_top_that_it_does_not_belong_to() -> None:
    wrong = [
        f"{module}, line {item.line}: {item.name} is of a wing"
        for module in modules()
        for item in imports_of(module)
        if item.eager and item.name in modules() and not wings_of(item.name) <= wings_of(module)
    ]
    assert wrong == []


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    assert [line for module in modules() for line in heavy(module, imports_of(module))] == []


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
    assert not below & {name.removesuffix(".py") for name in LATER_PACKAGES}
