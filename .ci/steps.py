#!/usr/bin/env python3
"""Run the steps of the forge's workflows here, as far as they go.

    .ci/steps.py [WORKFLOW [JOB]] [--list]

Each job runs in a fresh clone of the last commit, as on the forge, with its `run:` steps in bash. Of the actions of
others, checkout is that clone, setup-python takes a Python of that version from the path, and the rest (artifacts,
publishing) is left out, with a line that says so. So are the legs of a matrix for other systems or for Pythons that are
not here. Needs PyYAML, which `make lint` installs: .venv-test/bin/python .ci/steps.py
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
SYSTEM = {"Linux": "ubuntu", "Darwin": "macos", "Windows": "windows"}[platform.system()]
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


def filled(value: Any, known: dict[str, str]) -> str:
    """Return a text with the values of its expressions, such as ``${{ matrix.os }}``."""

    def replace(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise SystemExit(f"steps: {match[0]} is known on the forge alone")
        return known[match[1]]

    return EXPRESSION.sub(replace, str(value))


def legs(job: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the values of the matrix, one dict for each leg."""
    matrix = job.get("strategy", {}).get("matrix", {})
    for values in itertools.product(*matrix.values()):
        yield {f"matrix.{name}": str(value) for name, value in zip(matrix, values, strict=True)}


def python_here(version: str) -> str | None:
    """Return the interpreter of a version, such as "3.11"; None: there is none."""
    found = shutil.which(f"python{version}")
    if found is None:
        return None
    done = subprocess.run([found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def run_job(name: str, job: dict[str, Any], known: dict[str, str], ref: str, root: Path) -> str:
    """Run one leg of a job; return how it went."""
    if not filled(job["runs-on"], known).startswith(SYSTEM):
        return "left out: another system"
    with tempfile.TemporaryDirectory(prefix="bai-gym-steps-") as folder:
        clone, tools = Path(folder, "clone"), Path(folder, "bin")
        tools.mkdir()
        environment = {**os.environ, "CI": "true", "GITHUB_REF_NAME": ref}
        environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
        for step in job["steps"]:
            action = step.get("uses", "")
            if action.startswith("actions/checkout@"):
                subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(root), str(clone)], check=True)
            elif action.startswith("actions/setup-python@"):
                version = filled(step["with"]["python-version"], known)
                interpreter = python_here(version)
                if interpreter is None:
                    return f"left out: there is no Python {version} here"
                for link in ("python", "python3"):
                    (tools / link).symlink_to(interpreter)
            elif action:
                print(f"{name}: left out: {action}", flush=True)
            else:
                command = filled(step["run"], known)
                print(f"{name}: {command}", flush=True)
                shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
                done = subprocess.run(shell, cwd=clone if clone.is_dir() else folder, env=environment)
                if done.returncode:
                    return f"failed with code {done.returncode}: {command}"
    return "passed"


def main(root: Path = ROOT) -> int:
    """Run the jobs that are asked for; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workflow", nargs="?", help="a file of .github/workflows without .yml; default: all")
    parser.add_argument("job", nargs="?", help="one of its jobs; default: all")
    parser.add_argument("--list", action="store_true", help="only say which jobs there are")
    options = parser.parse_args()
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    outcomes = {}
    for file in sorted((root / ".github" / "workflows").glob("*.yml")):
        workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
        tagged = "tags" in ((workflow[True] or {}).get("push") or {})  # YAML reads the key `on` so
        for key, job in workflow["jobs"].items():
            if options.workflow not in (None, file.stem) or options.job not in (None, key):
                continue
            for known in legs(job):
                name = " ".join([file.stem, key, *known.values()])
                ref = f"v{version}" if tagged else "main"
                outcomes[name] = "" if options.list else run_job(name, job, known, ref, root)
    print("\n".join(f"{name}: {outcome}".rstrip(": ") for name, outcome in outcomes.items()))
    if not outcomes:
        print("steps: there is no such job; --list shows all", file=sys.stderr)
    return int(not outcomes or any(outcome.startswith("failed") for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
