"""What is installed: packages, data files, version; and who has to import the library before Gymnasium knows our ids.

The latter is tested in fresh interpreters, because this one has imported the library already.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

import bai_gym

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = {"bai_gym": ROOT / "bai_gym", "bai_gym.agents": ROOT / "agents"}
ENV_ID = "BAI-Gaussian64-v0"


def python(code: str, *options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a fresh interpreter whose working folder is ``cwd``."""
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


# Packages and the version


def test_every_package_has_an_init_file() -> None:
    folders = {file.parent for folder in FOLDERS.values() for file in folder.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_every_data_file_is_packaged() -> None:
    cached = ("*.pyc", "*.nbi", "*.nbc")  # by Python and Numba
    patterns = [*SETTINGS["tool"]["setuptools"]["package-data"]["*"], "*.py", *cached]
    files = [file for folder in FOLDERS.values() for file in folder.rglob("*") if file.is_file()]
    assert [file for file in files if not any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns)] == []


def test_the_project_is_described_the_same_everywhere() -> None:
    """Versions, requirements, licence and public addresses, in what an index, an archive or a feedstock reads."""
    project, expected = SETTINGS["project"], SETTINGS["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    archive = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))
    stated = {citation["version"], archive["version"], recipe["context"]["version"], version("bai-gym")}
    assert stated == {bai_gym.__version__} == {expected}
    assert f"## [{expected}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    python, *requirements = (line.replace(" ", "") for line in recipe["requirements"]["run"])
    assert python == "python>=${{python_min}}" and project["requires-python"] == f">={recipe['context']['python_min']}"
    assert requirements == [line.split(";")[0] for line in project["dependencies"]]
    assert (recipe["about"]["license"], archive["license"]) == (project["license"], citation["license"])
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    repeated = {citation.get("repository-code"), recipe["about"].get("repository")}
    repeated |= set(re.findall(r"^repo_url: (\S+)$", settings, re.MULTILINE))
    assert repeated <= ({*project["urls"].values()} or {None})


# The ids


def test_an_id_is_there_after_an_import_or_with_the_librarys_name(tmp_path: Path) -> None:
    for code in (
        f"import bai_gym, gymnasium; env = gymnasium.make({ENV_ID!r})",
        f"import gymnasium; env = gymnasium.make('bai_gym:{ENV_ID}')",
        f"import gymnasium; env = gymnasium.make_vec('bai_gym:{ENV_ID}', num_envs=2)",
    ):
        done = python(f"{code}; env.reset(seed=0); print(env.spec.id)", "-W", "error", cwd=tmp_path)
        assert (done.stdout.strip(), done.stderr) == (ENV_ID, ""), code


def test_nothing_of_ours_runs_at_interpreter_start(tmp_path: Path) -> None:
    code = "import gymnasium, sys; print([name for name in sys.modules if name.startswith('bai_gym')])"
    assert python(code, cwd=tmp_path).stdout.strip() == "[]"


SPAWNED = f"""
import gymnasium as gym

if __name__ == "__main__":
    envs = gym.make_vec("bai_gym:{ENV_ID}", 2, vectorization_mode="async", vector_kwargs={{"context": "spawn"}})
    observations, _ = envs.reset(seed=0)
    print(observations["pulls"].shape)
    envs.close()
"""


def test_spawned_workers_find_the_ids(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPAWNED)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.splitlines() == ["(2, 64)"], done.stderr


# What is built


@pytest.fixture(scope="module")
def source_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build reads, so that building leaves nothing in the checkout."""
    pytest.importorskip("setuptools", minversion="77")
    tree = tmp_path_factory.mktemp("source")
    for name in ("agents", "bai_gym"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, tree / name)
    return tree


def build(tree: Path, kind: str) -> Path:
    """Build a ``"wheel"`` or ``"sdist"`` in ``tree`` and return its path."""
    backend = SETTINGS["build-system"]["build-backend"]
    code = f"import {backend} as backend; print('made', backend.build_{kind}('.'))"
    done = python(code, cwd=tree)
    assert done.returncode == 0, done.stderr
    return tree / done.stdout.splitlines()[-1].removeprefix("made ")


def expected() -> set[str]:
    """Return the names that a wheel gives to the modules, assets and the type marker of the checkout."""
    kinds = (".bib", ".css", ".csv", ".html", ".js", ".json", ".md", ".npz", ".py", ".toml", ".txt")
    return {
        Path(package.replace(".", "/"), file.relative_to(folder)).as_posix()
        for package, folder in FOLDERS.items()
        for file in folder.rglob("*")
        if file.suffix in kinds or file.name == "py.typed"
    }


def test_a_wheel_of_the_source_distribution_holds_the_library_and_nothing_else(
    source_tree: Path, tmp_path: Path
) -> None:
    with tarfile.open(build(source_tree, "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    with zipfile.ZipFile(build(tree, "wheel")) as wheel:
        names = set(wheel.namelist())
    assert "bai_gym/agents/__init__.py" in names
    assert {name for name in names if ".dist-info/" not in name} == expected()
