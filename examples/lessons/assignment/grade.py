"""Grades agents: `python grade.py agent.py` prints a report; `--out FOLDER` writes one for each of many files.

Each agent runs in a process of its own, with time limits, and plays against the rubric's agents on the same instances.
After a first time-out it is not asked again. Progress goes to standard error.
The same seed gives the same report. A file that fails in any way gets a sentence that says why, and the exit code 0;
the exit code 2 is for mistakes in the rubric or on the command line.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import bai_gym
from bai_gym import agents
from bai_gym.api import agent_source
from bai_gym.benchmark.sources import EnvSource
from bai_gym.errors import BaiGymError
from bai_gym.tasks import BestArm
from referee import LABEL, Process, StudentError, TimeLimitError, student

HERE = Path(__file__).resolve().parent
ASKS = ("plays", "better", "not worse")
MOST_WORDS = 1000  # characters of a reason
GRANTED = ("variances", "range")  # oracle knowledge that can be sent to another process
ANSWER_SECONDS = 15.0  # for a single answer, where the rubric does not say


class RubricError(Exception):
    """The rubric cannot be used; the message says what to change."""


@dataclass(frozen=True)
class Part:
    """An environment with a budget."""

    name: str
    env: str
    budget: int
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Criterion:
    """What points are given for, in equal shares for its parts."""

    asks: str
    points: float
    than: str = ""
    bonus: bool = False
    parts: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is asked for, in a few words."""
        return {
            "plays": "plays by the rules",
            "better": f"beats {self.than}",
            "not worse": f"not worse than {self.than}",
        }[self.asks]


@dataclass(frozen=True)
class Rubric:
    """What a teacher sets, see rubric.toml."""

    title: str
    class_name: str
    seed: int
    runs: int
    level: float
    seconds: float
    answer_seconds: float
    allowed_knowledge: tuple[str, ...]
    parts: tuple[Part, ...]
    criteria: tuple[Criterion, ...]

    def rivals(self, part: Part) -> list[str]:
        """Return the agents that are needed in a part."""
        return list(dict.fromkeys(c.than for c in self.criteria if c.than and part.name in c.parts))


@dataclass(frozen=True)
class Line:
    """Points of one criterion in one part, and why."""

    part: str
    criterion: str
    points: float
    of: float
    bonus: bool
    reason: str


@dataclass(frozen=True)
class Grade:
    """The grade of one file."""

    file: str
    title: str
    points: float
    of: float
    bonus: float
    lines: tuple[Line, ...]

    def markdown(self) -> str:
        """Return the report for people."""
        bonus = f", and {self.bonus:g} bonus" if self.bonus else ""
        rows = [
            f"| {line.part} | {line.criterion}{' (bonus)' if line.bonus else ''} | {line.points:g} of {line.of:g} | "
            f"{line.reason.replace('|', '&#124;')} |"
            for line in self.lines
        ]
        head = [f"# {self.title}: {self.file}", "", f"**{self.points:g} of {self.of:g} points{bonus}**", ""]
        return "\n".join([*head, "| part | asked for | points | why |", "| --- | --- | --- | --- |", *rows, ""])

    def json(self) -> str:
        """Return the report for programs."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def load_rubric(path: Path) -> Rubric:
    """Read and check a rubric.

    Raises:
        RubricError: Whatever is wrong with it, in one line.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RubricError(f"the rubric {path} cannot be read: {error}") from None
    wanted = {
        "title": str,
        "class": str,
        "seed": int,
        "runs": int,
        "level": float,
        "seconds": float,
        "answer_seconds": float,
        "allowed_knowledge": list,
        "parts": list,
        "criteria": list,
    }
    data = {"answer_seconds": ANSWER_SECONDS, **data}
    _check_keys(data, wanted, wanted, "the rubric")
    for name, least in (("seed", 0), ("runs", 1)):
        if data[name] < least:
            raise RubricError(f"{name} must be at least {least}, not {data[name]}")
    if not 0 < data["level"] < 1:
        raise RubricError(f"level must be between 0 and 1, not {data['level']}")
    for name in ("seconds", "answer_seconds"):
        if not data[name] > 0:
            raise RubricError(f"{name} must be above 0, not {data[name]}")
    for word in data["allowed_knowledge"]:
        if word not in GRANTED:
            raise RubricError(f"allowed_knowledge can hold {' and '.join(GRANTED)}, not {word!r}")
    parts = tuple(_part(table) for table in data["parts"])
    names = [part.name for part in parts]
    if not names or len(set(names)) < len(names):
        raise RubricError("there must be at least one part, and each needs a name of its own")
    criteria = tuple(_criterion(table, names) for table in data["criteria"])
    if not criteria:
        raise RubricError("there must be at least one criterion")
    return Rubric(
        title=data["title"],
        class_name=data["class"],
        seed=data["seed"],
        runs=data["runs"],
        level=float(data["level"]),
        seconds=float(data["seconds"]),
        answer_seconds=float(data["answer_seconds"]),
        allowed_knowledge=tuple(data["allowed_knowledge"]),
        parts=parts,
        criteria=criteria,
    )


def _check_keys(table: Any, kinds: dict[str, type], needed: Iterable[str], where: str) -> None:
    if not isinstance(table, dict):
        raise RubricError(f"{where} must be a table, not {table!r}")
    for name in table:
        if name not in kinds:
            raise RubricError(f"{where} has no entry {name!r}; it can have: {', '.join(kinds)}")
    for name in needed:
        if name not in table:
            raise RubricError(f"{where} needs the entry {name!r}")
    for name, value in table.items():
        allowed = (int, float) if kinds[name] is float else (kinds[name],)
        if not isinstance(value, allowed) or (isinstance(value, bool) and kinds[name] is not bool):
            raise RubricError(f"{name} of {where} must be of the type {kinds[name].__name__}, not {value!r}")


def _part(table: Any) -> Part:
    kinds: dict[str, type] = {"name": str, "env": str, "budget": int, "settings": dict}
    _check_keys(table, kinds, ("name", "env", "budget"), "a part")
    part = Part(**table)
    where = f"part {part.name!r}"
    try:
        rules = EnvSource(part.env, part.settings).built.episode_spec
        agents_rules = not rules.fixed_confidence and isinstance(rules.task, BestArm)
    except BaiGymError as error:
        raise RubricError(f"{where}: {error}") from None
    if not agents_rules or part.budget < 1:
        raise RubricError(f"{where} must ask for the best arm, with a fixed budget of at least 1")
    return part


def _criterion(table: Any, names: list[str]) -> Criterion:
    kinds: dict[str, type] = {"asks": str, "points": float, "than": str, "bonus": bool, "parts": list}
    _check_keys(table, kinds, ("asks", "points"), "a criterion")
    criterion = Criterion(**{**table, "parts": tuple(table.get("parts", names))})
    if criterion.asks not in ASKS:
        raise RubricError(f"asks must be one of {', '.join(map(repr, ASKS))}, not {criterion.asks!r}")
    if (criterion.asks == "plays") == bool(criterion.than):
        raise RubricError(
            f"'than' names an agent where asks is 'better' or 'not worse', not where it is {criterion.asks!r}"
        )
    if criterion.than:
        try:
            agent_source(criterion.than)
        except BaiGymError as error:
            raise RubricError(f"a criterion compares with {criterion.than!r}: {error}") from None
    if not criterion.parts or set(criterion.parts) - set(names):
        raise RubricError(f"parts of a criterion must be some of {', '.join(names)}, not {list(criterion.parts)}")
    if criterion.points < 0:
        raise RubricError(f"points must be at least 0, not {criterion.points}")
    return criterion


def grade(
    file: Path,
    rubric: Rubric,
    *,
    name: str | None = None,
    log: IO[bytes] | None = None,
    on_part: Callable[[str], object] | None = None,
) -> Grade:
    """Grade a student's file.

    Args:
        file: The file.
        rubric: What is asked for.
        name: What the report calls the file; None: its name.
        log: Where the prints of the student's code go; None: nowhere.
        on_part: Called with the name of each part before it is played.

    Raises:
        BaiGymError: If the rubric's own agents cannot play.
    """
    lines: list[Line] = []
    too_slow_in = ""
    for part in rubric.parts:
        comparison: bai_gym.Comparison | str
        try:
            if too_slow_in:
                raise StudentError(f"not played, because the agent ran out of time in part {too_slow_in}")
            _check_rivals(rubric, part)
            if on_part is not None:
                on_part(part.name)
            comparison = _play(file, rubric, part, log)
        except StudentError as error:
            comparison = _in_one_line(str(error))
            if isinstance(error, TimeLimitError):
                too_slow_in = part.name
        for criterion in rubric.criteria:
            if part.name not in criterion.parts:
                continue
            of = criterion.points / len(criterion.parts)
            met, reason = False, comparison
            if isinstance(comparison, bai_gym.Comparison):
                met, reason = _judge(comparison, criterion, rubric.level)
            elif criterion.asks != "plays":
                reason = "Not played to the end."
            lines.append(Line(part.name, criterion.words, of if met else 0.0, of, criterion.bonus, str(reason)))
    return Grade(
        name or file.name,
        rubric.title,
        points=round(sum(line.points for line in lines if not line.bonus), 6),
        of=round(sum(line.of for line in lines if not line.bonus), 6),
        bonus=round(sum(line.points for line in lines if line.bonus), 6),
        lines=tuple(lines),
    )


def _in_one_line(words: str) -> str:
    """Return what a student's code may have said so that it stays in its cell of the report, as a sentence."""
    line = " ".join(words.split())
    line = line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]}..."
    return line if line.endswith("?") else f"{line.rstrip('.')}."


def _play(file: Path, rubric: Rubric, part: Part, log: IO[bytes] | None) -> bai_gym.Comparison:
    """Play a part, in a fresh process."""
    with Process(file, rubric.seconds, rubric.answer_seconds, log) as process:
        player = student(process, rubric.class_name, rubric.allowed_knowledge)
        try:
            return _compare([player, *rubric.rivals(part)], part, rubric, rubric.runs)
        except BaiGymError as error:
            raise StudentError(str(error)) from None


def _check_rivals(rubric: Rubric, part: Part) -> None:
    """Let the rubric's agents play briefly, without the student's: errors in this are mistakes in the rubric."""
    if rivals := rubric.rivals(part):
        _compare(rivals, part, rubric, runs=1)


def _compare(players: list[Any], part: Part, rubric: Rubric, runs: int) -> bai_gym.Comparison:
    return bai_gym.compare(
        players, part.env, budgets=[part.budget], runs=runs, seed=rubric.seed, env_kwargs=part.settings
    )


def _judge(comparison: bai_gym.Comparison, criterion: Criterion, level: float) -> tuple[bool, str]:
    """Return whether a criterion is met, and why."""
    own = comparison.find(LABEL)
    if criterion.asks == "plays":
        low, high = own.interval
        spent = f"spends {own.budget - own.unspent:.6g} of {own.budget} pulls" + (" on average" if own.unspent else "")
        knowledge = f", oracle knowledge {', '.join(own.knows)}" if own.knows else ""
        return True, (
            f"Plays {own.runs} episodes, {spent}{knowledge}, and is wrong in {own.error_probability:.1%} of them "
            f"[{low:.1%}, {high:.1%}]."
        )
    label = next(row.agent for row in comparison if row.agent == _label(criterion.than))
    rival, test = comparison.find(label), comparison.paired(LABEL, label, level=1 - level)
    low, high = test.interval
    significant = test.p_value < level
    better, worse = significant and test.difference < 0, significant and test.difference > 0
    verdict = "significantly better" if better else "significantly worse" if worse else "no significant difference"
    reason = (
        f"Wrong in {own.error_probability:.1%}, {label} in {rival.error_probability:.1%}: a difference of "
        f"{test.difference:+.1%} [{low:+.1%}, {high:+.1%}], p = {test.p_value:.2g}, {verdict}."
    )
    return (better if criterion.asks == "better" else not worse), reason


def _label(agent: str) -> str:
    """Return what the runner calls one of the library's agents."""
    made = agent_source(agent).make()
    return str(made.label if isinstance(made, agents.Agent) else agent)


def names_of(files: Sequence[Path]) -> list[str]:
    """Return a name for each file: its own, or that of its folder too where several have the same one."""
    stems = [file.stem for file in files]
    names = [
        stem if stems.count(stem) == 1 else f"{file.resolve().parent.name}-{stem}"
        for file, stem in zip(files, stems, strict=True)
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RubricError(f"several files would be called {twice!r}: give them, or their folders, different names")
    return names


def main(words: Sequence[str] | None = None) -> None:
    """Grade the files of a command line."""
    parser = argparse.ArgumentParser(description="Grades agents for best-arm identification.")
    parser.add_argument("files", nargs="+", type=Path, help="students' files, such as submissions/*/agent.py")
    parser.add_argument(
        "--rubric", type=Path, default=HERE / "rubric.toml", help="default: rubric.toml beside this file"
    )
    parser.add_argument("--seed", type=int, help="in place of the rubric's: keep it to yourself")
    parser.add_argument("--out", type=Path, help="folder for NAME.md, NAME.json, NAME.log and grades.csv")
    given = parser.parse_args(words)
    try:
        rubric = load_rubric(given.rubric)
        if given.seed is not None:
            if given.seed < 0:
                raise RubricError(f"the seed must be at least 0, not {given.seed}")
            rubric = Rubric(**{**vars(rubric), "seed": given.seed})
        for file in given.files:
            if not file.is_file():
                raise RubricError(f"there is no file {file}")
        names, grades = names_of(given.files), []
        for number, (file, name) in enumerate(zip(given.files, names, strict=True), 1):
            where = f"{name}, file {number} of {len(names)}"
            grades.append(_grade_and_write(file, name, rubric, given.out, where))
        if given.out is not None:
            with (given.out / "grades.csv").open("w", newline="", encoding="utf-8") as table:
                writer = csv.writer(table)
                writer.writerow(["name", "points", "of", "bonus"])
                writer.writerows([one.file, one.points, one.of, one.bonus] for one in grades)
    except (RubricError, BaiGymError, OSError) as error:
        print(f"grade.py: {error}", file=sys.stderr)
        sys.exit(2)


def _grade_and_write(file: Path, name: str, rubric: Rubric, out: Path | None, where: str) -> Grade:
    """Grade a file, with its progress on standard error; print its report, or write it and print a line."""

    def show(part: str) -> None:
        print(f"{where}: playing {part}", file=sys.stderr, flush=True)

    if out is None:
        result = grade(file, rubric, on_part=show)
        print(result.markdown())
        return result
    out.mkdir(parents=True, exist_ok=True)
    with (out / f"{name}.log").open("wb") as log:
        result = grade(file, rubric, name=name, log=log, on_part=show)
    (out / f"{name}.md").write_text(result.markdown(), encoding="utf-8")
    (out / f"{name}.json").write_text(result.json(), encoding="utf-8")
    print(f"{name}: {result.points:g} of {result.of:g} points, bonus {result.bonus:g}", flush=True)
    return result


if __name__ == "__main__":
    main()
