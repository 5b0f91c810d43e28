"""What is installed: packages, data files, version, and the hook that makes Gymnasium know our ids.

The hook is tested in fresh interpreters, because this one has imported Gymnasium already.
"""

from __future__ import annotations

import base64
import csv
import fnmatch
import hashlib
import io
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

import bai_gym

ROOT = Path(__file__).resolve().parents[1]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = {"bai_gym": ROOT / "bai_gym", "bai_gym.agents": ROOT / "agents"}
ENV_ID = "BAI-Gaussian64-v0"


def python(code: str, *options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a fresh interpreter whose working folder is ``cwd``."""
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


# The list of packages and the version


def test_the_list_of_packages_equals_the_folders() -> None:
    found = set()
    for package, folder in FOLDERS.items():
        for file in folder.rglob("*.py"):
            found.add(".".join((package, *file.parent.relative_to(folder).parts)))
    assert set(SETTINGS["tool"]["setuptools"]["packages"]) == found


def test_every_package_has_an_init_file() -> None:
    folders = {file.parent for folder in FOLDERS.values() for file in folder.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_every_data_file_is_packaged() -> None:
    cached = ("*.pyc", "*.nbi", "*.nbc")  # by Python and Numba
    patterns = [*SETTINGS["tool"]["setuptools"]["package-data"]["*"], "*.py", *cached]
    files = [file for folder in FOLDERS.values() for file in folder.rglob("*") if file.is_file()]
    assert [file for file in files if not any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns)] == []


def test_the_version_is_the_same_everywhere() -> None:
    expected = SETTINGS["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {expected}" in citation
    assert f"## [{expected}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert version("bai-gym") == expected
    assert bai_gym.__version__ == expected


def test_every_requirement_is_pinned_once() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split("==")[0] for line in lines if not line.startswith("#")]
    extras = SETTINGS["project"]["optional-dependencies"]
    wanted = [
        *SETTINGS["project"]["dependencies"],
        *(line for name in extras if name != "all" for line in extras[name]),
    ]
    assert {re.split(r"[^\w-]", line)[0] for line in wanted} - set(pinned) == set()
    assert len(pinned) == len(set(pinned))


# The hook


def test_an_id_is_known_without_importing_the_library(tmp_path: Path) -> None:
    code = f"import gymnasium, sys; env = gymnasium.make({ENV_ID!r}); print(env.spec.id)"
    done = python(code, "-W", "error", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, ENV_ID, "")


def test_an_id_is_known_where_gymnasium_is_imported_by_a_part(tmp_path: Path) -> None:
    code = f"from gymnasium.envs.registration import registry; print({ENV_ID!r} in registry)"
    assert python(code, "-W", "error", cwd=tmp_path).stdout.strip() == "True"


def test_an_id_is_known_after_a_look_at_the_spec(tmp_path: Path) -> None:
    code = f"""if True:
        from importlib.util import find_spec
        find_spec("gymnasium"), find_spec("gymnasium")
        import gymnasium
        print({ENV_ID!r} in gymnasium.registry)
    """
    assert python(code, "-W", "error", cwd=tmp_path).stdout.strip() == "True"


def test_an_id_is_known_where_gymnasium_came_before_the_hook(tmp_path: Path) -> None:
    code = f"""if True:
        import sys
        import _bai_gym_gymnasium_hook as hook
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, hook.GymnasiumWatcher)]
        import gymnasium
        before = {ENV_ID!r} in gymnasium.registry
        hook.install()
        print(before, {ENV_ID!r} in gymnasium.registry)
    """
    assert python(code, "-W", "error", cwd=tmp_path).stdout.strip() == "False True"


def test_importing_the_library_first_registers_once(tmp_path: Path) -> None:
    code = f"import bai_gym, gymnasium; print({ENV_ID!r} in gymnasium.registry)"
    done = python(code, "-W", "error", cwd=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("True", "")


def test_an_interpreter_start_imports_neither_the_library_nor_gymnasium(tmp_path: Path) -> None:
    code = "import sys; print(*({'_bai_gym_gymnasium_hook', 'bai_gym', 'gymnasium', 'numpy'} & sys.modules.keys()))"
    assert python(code, cwd=tmp_path).stdout.split() == ["_bai_gym_gymnasium_hook"]


def test_the_hook_leaves_no_trace(tmp_path: Path) -> None:
    code = """if True:
        import gymnasium, sys
        import _bai_gym_gymnasium_hook as hook
        spec, loader = gymnasium.__spec__, gymnasium.__loader__
        print(any(isinstance(finder, hook.GymnasiumWatcher) for finder in sys.meta_path))
        print("exec_module" in loader.__dict__, spec.loader is loader, spec.origin == gymnasium.__file__)
    """
    assert python(code, cwd=tmp_path).stdout.split() == ["False", "False", "True", "True"]


BROKEN = "import sys; sys.path.insert(0, '.')"  # a bai_gym that cannot be imported comes first
GONE = """if True:
    import sys
    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name == "bai_gym":
                raise ModuleNotFoundError("No module named 'bai_gym'", name="bai_gym")
    sys.meta_path.insert(0, Blocker())
"""


@pytest.mark.parametrize(("setting", "reason"), [(BROKEN, "half an upgrade"), (GONE, "No module named 'bai_gym'")])
@pytest.mark.parametrize("filters", ["default", "error"])
def test_a_broken_library_leaves_gymnasium_usable(tmp_path: Path, setting: str, reason: str, filters: str) -> None:
    (tmp_path / "bai_gym").mkdir()
    (tmp_path / "bai_gym" / "__init__.py").write_text("raise OSError('half an upgrade')\n")
    code = f"{setting}\nimport gymnasium\nprint(gymnasium.make('CartPole-v1').spec.id)"
    done = python(code, "-W", filters, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "CartPole-v1"), done.stderr
    assert done.stderr.count("the environments of bai-gym are not available") == 1
    assert reason in done.stderr


def test_without_gymnasium_the_hook_is_silent(tmp_path: Path) -> None:
    (tmp_path / "gymnasium.py").write_text("raise ImportError('no gymnasium here')\n")
    code = """if True:
        import sys
        sys.path.insert(0, ".")
        for _ in range(2):
            try:
                import gymnasium
            except ImportError as error:
                print(error)
    """
    done = python(code, "-W", "error", cwd=tmp_path)
    assert (done.stdout.splitlines(), done.stderr) == (["no gymnasium here"] * 2, "")


# What the build backend makes


@pytest.fixture(scope="module")
def source_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build reads, so that building leaves nothing in the checkout."""
    pytest.importorskip("setuptools", minversion="77")
    tree = tmp_path_factory.mktemp("source")
    for name in ("agents", "bai_gym", "build_backend"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tree / name)
    return tree


def build(tree: Path, kind: str) -> Path:
    """Build a ``"wheel"``, ``"editable"`` or ``"sdist"`` in ``tree`` and return its path."""
    code = f"""if True:
        import sys
        sys.path.insert(0, "build_backend")
        import bai_gym_build
        print("made", bai_gym_build.build_{kind}("."))
    """
    done = python(code, cwd=tree)
    assert done.returncode == 0, done.stderr
    return tree / done.stdout.splitlines()[-1].removeprefix("made ")


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_a_wheel_holds_the_hook_and_records_every_file(source_tree: Path, kind: str) -> None:
    with zipfile.ZipFile(build(source_tree, kind)) as wheel:
        names = wheel.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
        assert wheel.read("bai_gym_gymnasium.pth") == b"import _bai_gym_gymnasium_hook\n"
        assert "_bai_gym_gymnasium_hook.py" in names
        assert sorted(rows) == sorted(names)
        for name in set(names) - {record}:
            content = wheel.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert rows[name] == [f"sha256={digest}", str(len(content))]


def test_a_wheel_holds_every_module_asset_and_type_marker(source_tree: Path) -> None:
    with zipfile.ZipFile(build(source_tree, "wheel")) as wheel:
        names = set(wheel.namelist())
    expected = {"bai_gym/py.typed"}
    for package, folder in FOLDERS.items():
        expected |= {
            Path(package.replace(".", "/"), file.relative_to(folder)).as_posix()
            for file in folder.rglob("*")
            if file.suffix in (".css", ".html", ".js", ".py")
        }
    assert expected - names == set()
    assert [name for name in names if name.startswith(("agents/", "tests/", "build_backend/"))] == []


def test_a_source_distribution_can_build_a_wheel(source_tree: Path, tmp_path: Path) -> None:
    with tarfile.open(build(source_tree, "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    with zipfile.ZipFile(build(tree, "wheel")) as wheel:
        names = wheel.namelist()
    assert {"_bai_gym_gymnasium_hook.py", "bai_gym/agents/__init__.py"} <= set(names)
