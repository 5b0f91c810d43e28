"""Print constraints: the lowest versions that pyproject.toml allows, and for tools those of constraints.txt."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOWEST = ("learn", "plots", "render", "sql")
TOOLS = ("docs", "test")
FREE = {"pandas", "statsmodels"}  # of the tools, those whose tested versions ask for more than the lowest NumPy


def name(requirement: str) -> str:
    """Return what a line requires, without version and extras."""
    return re.split(r"[^\w-]", requirement)[0]


project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
lines = [*project["dependencies"], *(line for extra in LOWEST for line in extras[extra])]
lowest = {name(line): line for line in lines}
del lowest["torch"]  # gigabytes, and CPU builds are offered for few versions
del lowest["typing-extensions"]  # tools ask for newer ones
tools = {name(line) for extra in TOOLS for line in extras[extra]} - lowest.keys() - FREE | {"torch"}
for line in lowest.values():
    print(re.sub(r"\[.*\]", "", line).replace(">=", "=="))
for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
    if name(line) in tools:
        print(line)
