"""Copy the repository without some wings, and check that the rest works there.

    .venv-test/bin/python .ci/without.py linear training
    .venv-test/bin/python .ci/without.py all --only commands --only docs

A wing is the folders of its name, wherever they are; those that need it go with it; "all" are all wings. The checks:
the rest is imported, makes its agents and environments and plays; `bai-gym list` and `show` run; the Makefile's demo
runs; the documentation is built; the fast tests pass. The copy is printed, and kept if a check fails, or with --keep.
"""

import argparse
import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

from bai_gym.wings import wings as found_wings

ROOT = Path(__file__).resolve().parents[1]
# An editable installation offers the folders of this checkout that the copy lacks.
ALONE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", "")]
"""
IMPORTS = """
import importlib, pkgutil
import gymnasium as gym
import bai_gym, bai_gym.agents

def failed(name):
    raise ImportError(name)

for module in pkgutil.walk_packages(bai_gym.__path__, "bai_gym.", onerror=failed):
    if not module.name.endswith(("parallel.worker", "__main__")):  # the body of another process
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            if str(error.name).startswith("bai_gym"):
                raise
from bai_gym.agents import make, names
for name in names():
    make(name)
from bai_gym.data import get, names as data_sets
from bai_gym.envs.registration import IDS
for entry in IDS:
    if entry.data is None:
        gym.make(entry.id)
    else:
        get(entry.data)
error = bai_gym.evaluate("SH", "BAI-Gaussian64-v0", runs=20).error_probability
print(f"{len(names())} agents, {len(IDS)} ids, {len(data_sets())} data sets; SH errs in {error:.0%} of the runs")
"""
DEMO = "--budget 2000 --runs 20 --workers 1"
COMMANDS = ("list agents", "list envs", "list experiments", "show SH", "show BAI-Gaussian64-v0", "cite SH")
MAIN = """
import sys
from bai_gym.cli.main import main
for line in sys.argv[1:]:  # one after the other in one process: to start takes longer than most of them
    sys.argv = ["bai-gym", *line.split()]
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            sys.exit(f"bai-gym {line}")
"""
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def with_needing(names: list[str]) -> set[str]:
    """Return wings, and those that need one of them."""
    needing = {name for name, wing in found_wings().items() if {*wing.needs} & {*names}} - {*names}
    return with_needing([*names, *needing]) if needing else {*names}


def copied(target: Path, gone: set[str]) -> None:
    """Copy the files that git knows or would add, but for folders of the given names."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listing.stdout.splitlines():
        path = Path(name)
        if not gone & {*path.parent.parts} and (ROOT / path).is_file():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, target / path)
    (target / "bai_gym" / "agents").symlink_to("../agents")
    (target / "sitecustomize.py").write_text(ALONE, encoding="utf-8")


def code_lines(path: Path) -> int:
    """Return the lines of a module without comments, docstrings and blank lines."""
    text = path.read_text(encoding="utf-8")
    texts: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, SCOPES) and ast.get_docstring(node, clean=False) is not None:
            texts |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED and token.start[0] not in texts:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines)


def of_library(root: Path) -> int:
    """Return the code lines of the library below a folder."""
    return sum(code_lines(path) for top in ("bai_gym", "agents") for path in (root / top).rglob("*.py"))


def arguments_of(check: str, folder: Path) -> list[str]:
    """Return the arguments of Python for a check."""
    if check == "imports":
        return ["-c", IMPORTS]
    if check == "docs":
        return ["-m", "mkdocs", "build", "--strict", "--quiet"]
    if check == "tests":
        return ["-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "tests"]
    if check == "commands":
        return ["-c", MAIN, *COMMANDS]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    demo = re.search(r"/bai-gym (run .*)\$\(DEMO_ARGS\)", makefile)
    assert demo is not None
    return ["-c", MAIN, f"{demo[1]} {DEMO} --out {folder / 'demo'}"]


def main() -> None:
    """Run the checks one after another."""
    checks = ("imports", "commands", "demo", "docs", "tests")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    names = [path.parent.name for path in sorted((ROOT / "bai_gym").glob("*/wing.py"))]
    parser.add_argument("wings", nargs="+", choices=["all", *names], metavar="WING", help=", ".join(names))
    parser.add_argument("--only", action="append", choices=checks, help="this check; may be repeated")
    parser.add_argument("--keep", action="store_true", help="keep the copy")
    parser.add_argument("--lines", action="store_true", help="say how many lines of code are left")
    given = parser.parse_args()
    wings = sorted(with_needing(names if "all" in given.wings else given.wings))
    folder = Path(tempfile.mkdtemp(prefix="bai-gym-without-"))
    copied(folder, {*wings})
    print(f"{folder}: without {', '.join(wings)}")
    if given.lines:
        print(f"{of_library(folder):,} of {of_library(ROOT):,} lines of code")
    environ = {**os.environ, "PYTHONPATH": str(folder), "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": ""}
    environ["BAI_GYM_WITHOUT"] = " ".join(wings)
    for check in given.only or checks:
        arguments = arguments_of(check, folder)
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{check}: failed\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
        print(f"{check}: {(done.stdout.strip().splitlines() or ['done'])[-1]}", flush=True)
    if not given.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
