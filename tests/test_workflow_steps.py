"""`.ci/steps.py` runs workflows as the forge does: in a clone of the last commit, step by step, until one fails."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "steps.py"

pytestmark = [
    pytest.mark.skipif(not SCRIPT.is_file(), reason="no part of the source distribution"),
    pytest.mark.skipif(platform.system() != "Linux", reason="the workflow of these tests runs on Linux"),
]

WORKFLOW = """
name: made up
on:
  push:
    tags: ["v*"]
jobs:
  good:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - run: "cat file; test ! -e uncommitted; echo $GITHUB_REF_NAME"
      - uses: actions/upload-artifact@v7
  bad:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - run: "false | true"
      - run: echo never
  legs:
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
        python: ["HERE", "9.99"]
    steps:
      - uses: actions/setup-python@v6
        with:
          python-version: ${{ matrix.python }}
      - run: python -c 'import sys; print("%d.%d" % sys.version_info[:2], "runs")'
  unknown:
    runs-on: ubuntu-latest
    steps:
      - run: echo ${{ secrets.token }}
"""


@pytest.fixture
def steps() -> ModuleType:
    spec = importlib.util.spec_from_file_location("steps", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    folder = root / ".github" / "workflows"
    folder.mkdir(parents=True)
    here = "{}.{}".format(*sys.version_info)
    (folder / "made.yml").write_text(WORKFLOW.replace("HERE", here), encoding="utf-8")
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2"\n', encoding="utf-8")
    (root / "file").write_text("committed\n", encoding="utf-8")
    git = ["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run([*git, *command], check=True)
    (root / "uncommitted").touch()
    return root


def test_a_job_runs_in_a_clone_until_a_step_fails(
    steps: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for arguments, code, said, unsaid in [
        (["made", "good"], 0, ["committed", "v1.2", "left out: actions/upload-artifact@v7", "made good: passed"], ""),
        (["made", "bad"], 1, ["made bad: failed with code 1: false | true"], "never"),
        (["--list"], 0, ["made good", "made legs ubuntu-latest 9.99"], "passed"),
        (["made", "none"], 1, ["there is no such job"], "passed"),
    ]:
        monkeypatch.setattr(sys, "argv", ["steps.py", *arguments])
        assert steps.main(project) == code, arguments
        out = "".join(capfd.readouterr())
        assert [text for text in said if text not in out] == [], arguments
        assert not unsaid or unsaid not in out.replace("echo never", ""), arguments


def test_legs_for_other_systems_and_pythons_are_left_out(
    steps: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    here = "{}.{}".format(*sys.version_info)
    monkeypatch.setattr(steps, "python_here", {here: sys.executable}.get)
    monkeypatch.setattr(sys, "argv", ["steps.py", "made", "legs"])
    assert steps.main(project) == 0
    out = capfd.readouterr().out
    assert f"{here} runs" in out
    for line in (
        f"made legs ubuntu-latest {here}: passed",
        "made legs ubuntu-latest 9.99: left out: there is no Python 9.99 here",
        "made legs windows-latest 9.99: left out: another system",
    ):
        assert line in out.splitlines()
    monkeypatch.setattr(sys, "argv", ["steps.py", "made", "unknown"])
    with pytest.raises(SystemExit, match=r"secrets\.token.*forge alone"):
        steps.main(project)


def test_each_kernel_of_openblas_that_can_run_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    specification = importlib.util.spec_from_file_location("kernels", SCRIPT.with_name("kernels.py"))
    assert specification is not None and specification.loader is not None
    kernels = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(kernels)
    usual = kernels.taken(None)  # empty where another library is used
    assert not usual or all(kernel in usual.split() for kernel in kernels.taken(usual.split()[0]).split())
    # New cannot run, Zen is Haswell, and Unknown what is taken anyway.
    answers = {None: "Skylake", "Old": "Old", "Haswell": "Haswell", "Zen": "Haswell", "Unknown": "Skylake", "New": ""}
    monkeypatch.setattr(kernels, "taken", answers.__getitem__)
    assert kernels.others(("Old", "Haswell", "Zen", "Unknown", "New")) == ["Old", "Haswell"]
