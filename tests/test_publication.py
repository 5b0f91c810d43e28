"""What a public forge, an index or a journal reads says what the project says: commands, versions, names, addresses."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PAPER = ROOT / "paper" / "paper.md"
JOSS = (  # the sections that the journal requires, in its order, with those at the end
    *("Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"),
    *("AI usage disclosure", "Acknowledgements", "References"),
)


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(read(f".github/workflows/{name}.yml"))
    return found


def commands() -> Iterator[tuple[str, str]]:
    """Yield every command of every workflow, with the file's name."""
    for file in WORKFLOWS:
        for job in workflow(file.stem)["jobs"].values():
            for step in job["steps"]:
                if "run" in step:
                    yield file.name, step["run"]


# Workflows


def test_workflows_call_targets_and_scripts_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    called = [(name, target) for name, run in commands() for target in re.findall(r"\bmake ([a-z-]+)", run)]
    assert {target for _, target in called} >= {"test", "test-lowest", "lint", "docs", "release"}
    assert [(name, target) for name, target in called if target not in targets] == []
    scripts = [(name, run) for name, run in commands() if run.startswith(".ci/")]
    if (ROOT / ".ci").is_dir():  # no part of the source distribution
        assert scripts and [(name, run) for name, run in scripts if not (ROOT / run).is_file()] == []


def test_the_fast_tests_run_on_three_systems_and_every_python() -> None:
    job = workflow("tests")["jobs"]["fast"]
    matrix = job["strategy"]["matrix"]
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"][0] == PROJECT["requires-python"].removeprefix(">=")
    stated = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert stated <= set(matrix["python"])
    command = job["steps"][-1]["run"]
    assert command.startswith("make test ") and re.search(r"^make test\b", read("README.md"), re.MULTILINE)


def test_only_the_step_that_publishes_may_publish() -> None:
    release = workflow("release")
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key `on` so
    build, publish = release["jobs"]["build"], release["jobs"]["publish"]
    assert release["permissions"] == {"contents": "read"} and "permissions" not in build
    assert publish["permissions"] == {"id-token": "write"} and publish["needs"] == "build"
    assert not any("run" in step or "checkout" in step["uses"] for step in publish["steps"])
    assert "make release" in [step.get("run") for step in build["steps"]]
    uploaded, downloaded = build["steps"][-1]["with"], publish["steps"][0]["with"]
    assert (uploaded["name"], uploaded["path"]) == (downloaded["name"], downloaded["path"])
    (line,) = (run for _, run in commands() if "GITHUB_REF_NAME" in run)
    expression = re.search(r"s/(.*)/\\1/p", line)
    assert expression is not None
    pattern = expression[1].replace(r"\(", "(").replace(r"\)", ")")
    assert re.findall(pattern, read("pyproject.toml"), re.MULTILINE) == [PROJECT["version"]]


def test_forms_have_what_the_forge_requires() -> None:
    forms = [file for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if file.name != "config.yml"]
    assert len(forms) == 2
    for file in forms:
        form = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert form["name"] and form["description"], file.name
        names = [part["id"] for part in form["body"]]
        assert len(names) == len(set(names)), file.name
        assert all(part["attributes"]["label"] for part in form["body"]), file.name


# Where the project is described again


def test_the_recipe_has_the_requirements_of_the_project() -> None:
    recipe = yaml.safe_load(read("packaging/conda/recipe.yaml"))
    context = recipe["context"]
    assert (context["name"], context["version"]) == (PROJECT["name"], PROJECT["version"])
    assert f">={context['python_min']}" == PROJECT["requires-python"]
    (python, *requirements) = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert [line.replace(" ", "") for line in requirements] == [line.split(";")[0] for line in PROJECT["dependencies"]]
    (script,) = recipe["build"]["python"]["entry_points"]
    assert dict([script.split(" = ")]) == PROJECT["scripts"]
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (PROJECT["description"], PROJECT["license"])
    assert about["license_file"] == PROJECT["license-files"]


def test_the_archive_has_the_facts_of_the_citation() -> None:
    archive = json.loads(read(".zenodo.json"))
    for key in ("title", "version", "license", "keywords"):
        assert archive[key] == CITATION[key], key
    assert [person["name"] for person in archive["creators"]] == [person["name"] for person in CITATION["authors"]]


def test_addresses_stand_everywhere_or_nowhere() -> None:
    addresses = list(PROJECT.get("urls", {}).values())
    repeated = {
        "CITATION.cff": CITATION.get("repository-code"),
        "mkdocs.yml": next(iter(re.findall(r"^repo_url: (\S+)$", read("mkdocs.yml"), re.MULTILINE)), None),
        "recipe.yaml": yaml.safe_load(read("packaging/conda/recipe.yaml"))["about"].get("repository"),
    }
    assert {name: address for name, address in repeated.items() if address not in (addresses or [None])} == {}


def test_the_entry_for_gymnasium_has_its_form() -> None:
    text = read("packaging/gymnasium/README.md")
    pinned = re.search(r"^gymnasium==(\S+)$", read("constraints.txt"), re.MULTILINE)
    assert pinned and f"Gymnasium-v{pinned[1]}-blue" in text
    entry = text.split("```markdown\n")[1].split("```")[0].strip().split("\n\n")
    assert len(entry) == 3 and entry[0].startswith("- [bai-gym: ")
    assert 2 <= len(re.findall(r"\.(?: |$)", entry[2])) <= 5


# The paper


def test_the_paper_has_the_form_of_the_journal() -> None:
    front, text = PAPER.read_text(encoding="utf-8").split("---\n", 2)[1:]
    facts = yaml.safe_load(front)
    assert [person["name"] for person in facts["authors"]] == [person["name"] for person in CITATION["authors"]]
    assert tuple(re.findall(r"^# (.+)$", text, re.MULTILINE)) == JOSS
    assert 750 <= len(text.split()) <= 1750
    assert (PAPER.parent / facts["bibliography"]).is_file()


def test_every_reference_of_the_paper_is_used() -> None:
    cited = set(re.findall(r"@([\w-]+)", PAPER.read_text(encoding="utf-8").split("---\n", 2)[2]))
    assert cited == set(re.findall(r"^@\w+\{([\w-]+),", read("paper/paper.bib"), re.MULTILINE))


@pytest.mark.each("name", ["CODE_OF_CONDUCT.md", "SECURITY.md", "packaging/gymnasium/README.md", "paper/paper.md"])
def test_links_to_files_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!https?:|#|ADDRESS)([^)\s#]+)", read(name))
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []
