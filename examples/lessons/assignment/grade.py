"""Grades agents: `python grade.py agent.py` prints a report; `--out FOLDER` writes one for each of many files.

Each agent runs in a process of its own (bai_gym.isolation), with time limits, and plays against the rubric's agents on
the same instances. After a first time-out it is not asked again. Progress goes to standard error.
Instances and rewards are drawn from a secret that no such process receives; the same secret gives the same report. A
file that fails in any way gets a sentence that says why, and the exit code 0; the exit code 2 is for mistakes in the
rubric or on the command line.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import bai_gym
from bai_gym import agents
from bai_gym.api import agent_source
from bai_gym.benchmark.sources import EnvSource
from bai_gym.errors import BaiGymError, DataError
from bai_gym.isolation.agent import GRANTED, IsolatedAgent, load_agent
from bai_gym.isolation.box import protect_memory, strongest
from bai_gym.isolation.process import Process, Submission, SubmissionError, SubmissionTimeoutError, blamed, sentence
from bai_gym.submissions.tables import check_entries, read_table
from bai_gym.tasks import BestArm

HERE = Path(__file__).resolve().parent
ASKS = ("plays", "better", "not worse")
LABEL = "your agent"  # in the runner's results
ANSWER_SECONDS = 15.0  # for a single answer, where the rubric does not say


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
    protection: str
    lines: tuple[Line, ...]

    def markdown(self) -> str:
        """Return the report for people."""
        bonus = f", and {self.bonus:g} bonus" if self.bonus else ""
        rows = [
            f"| {line.part} | {line.criterion}{' (bonus)' if line.bonus else ''} | {line.points:g} of {line.of:g} | "
            f"{_as_text(line.reason)} |"
            for line in self.lines
        ]
        head = [f"# {self.title}: {self.file}", "", f"**{self.points:g} of {self.of:g} points{bonus}**", ""]
        head += [self.protection, ""]
        return "\n".join([*head, "| part | asked for | points | why |", "| --- | --- | --- | --- |", *rows, ""])

    def json(self) -> str:
        """Return the report for programs."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def _as_text(words: str) -> str:
    """Return words that may be a student's so that Markdown shows them: no cells, no HTML, no links or images."""
    return words.replace("|", "&#124;").replace("<", "&lt;").replace("](", "] (")


def load_rubric(path: Path) -> Rubric:
    """Read and check a rubric.

    Raises:
        BaiGymError: Whatever is wrong with it, in one line.
    """
    data = read_table(path, "the rubric")
    wanted = {
        "title": str,
        "class": str,
        "runs": int,
        "level": float,
        "seconds": float,
        "answer_seconds": float,
        "allowed_knowledge": list,
        "parts": list,
        "criteria": list,
    }
    data = {"answer_seconds": ANSWER_SECONDS, **data}
    check_entries(data, wanted, wanted, "the rubric")
    if data["runs"] < 1:
        raise DataError(f"runs must be at least 1, not {data['runs']}")
    if not 0 < data["level"] < 1:
        raise DataError(f"level must be between 0 and 1, not {data['level']}")
    for name in ("seconds", "answer_seconds"):
        if not data[name] > 0:
            raise DataError(f"{name} must be above 0, not {data[name]}")
    for word in data["allowed_knowledge"]:
        if word not in GRANTED:
            raise DataError(f"allowed_knowledge can hold {' and '.join(GRANTED)}, not {word!r}")
    parts = tuple(_part(table) for table in data["parts"])
    names = [part.name for part in parts]
    if not names or len(set(names)) < len(names):
        raise DataError("there must be at least one part, and each needs a name of its own")
    criteria = tuple(_criterion(table, names) for table in data["criteria"])
    if not criteria:
        raise DataError("there must be at least one criterion")
    return Rubric(
        title=data["title"],
        class_name=data["class"],
        runs=data["runs"],
        level=float(data["level"]),
        seconds=float(data["seconds"]),
        answer_seconds=float(data["answer_seconds"]),
        allowed_knowledge=tuple(data["allowed_knowledge"]),
        parts=parts,
        criteria=criteria,
    )


def _part(table: Any) -> Part:
    kinds: dict[str, type] = {"name": str, "env": str, "budget": int, "settings": dict}
    check_entries(table, kinds, ("name", "env", "budget"), "a part")
    part = Part(**table)
    where = f"part {part.name!r}"
    try:
        rules = EnvSource(part.env, part.settings).built.episode_spec
        agents_rules = not rules.fixed_confidence and isinstance(rules.task, BestArm)
    except BaiGymError as error:
        raise DataError(f"{where}: {error}") from None
    if not agents_rules or part.budget < 1:
        raise DataError(f"{where} must ask for the best arm, with a fixed budget of at least 1")
    return part


def _criterion(table: Any, names: list[str]) -> Criterion:
    kinds: dict[str, type] = {"asks": str, "points": float, "than": str, "bonus": bool, "parts": list}
    check_entries(table, kinds, ("asks", "points"), "a criterion")
    criterion = Criterion(**{**table, "parts": tuple(table.get("parts", names))})
    if criterion.asks not in ASKS:
        raise DataError(f"asks must be one of {', '.join(map(repr, ASKS))}, not {criterion.asks!r}")
    if (criterion.asks == "plays") == bool(criterion.than):
        raise DataError(
            f"'than' names an agent where asks is 'better' or 'not worse', not where it is {criterion.asks!r}"
        )
    if criterion.than:
        try:
            agent_source(criterion.than)
        except BaiGymError as error:
            raise DataError(f"a criterion compares with {criterion.than!r}: {error}") from None
    if not criterion.parts or set(criterion.parts) - set(names):
        raise DataError(f"parts of a criterion must be some of {', '.join(names)}, not {list(criterion.parts)}")
    if criterion.points < 0:
        raise DataError(f"points must be at least 0, not {criterion.points}")
    return criterion


def grade(
    submission: Submission,
    rubric: Rubric,
    secret: bytes,
    *,
    log: IO[bytes] | None = None,
    on_part: Callable[[str], object] | None = None,
) -> Grade:
    """Grade a submission.

    Args:
        submission: The student's file.
        rubric: What is asked for.
        secret: Instances and rewards depend on it, on the submission's name, and on the part: nothing that one process
            has seen is of use to another.
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
                raise SubmissionError(f"not played, because the agent ran out of time in part {too_slow_in}")
            if submission.problem:
                raise SubmissionError(submission.problem)
            _check_rivals(rubric, part)
            if on_part is not None:
                on_part(part.name)
            comparison = _play(submission, rubric, part, _seed(secret, submission, part), log)
        except SubmissionError as error:
            comparison = sentence(str(error))
            if isinstance(error, SubmissionTimeoutError):
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
        submission.name,
        rubric.title,
        points=round(sum(line.points for line in lines if not line.bonus), 6),
        of=round(sum(line.of for line in lines if not line.bonus), 6),
        bonus=round(sum(line.points for line in lines if line.bonus), 6),
        protection=strongest().words,
        lines=tuple(lines),
    )


def _seed(secret: bytes, submission: Submission, part: Part) -> int:
    """Return the seed of what a submission plays in a part; neither the secret nor another seed follows from it."""
    where = f"{submission.name}\n{part.name}".encode()
    return int.from_bytes(hashlib.blake2b(where, key=secret, digest_size=16).digest(), "big")


def _play(submission: Submission, rubric: Rubric, part: Part, seed: int, log: IO[bytes] | None) -> bai_gym.Comparison:
    """Play a part in a fresh process; whatever a submission does, return a comparison or raise `SubmissionError`."""
    with blamed(), Process(rubric.seconds, rubric.answer_seconds, log=log) as process:
        player = load_agent(process, submission, rubric.class_name, LABEL)
        _check_knowledge(player, rubric.allowed_knowledge)
        return _compare([player, *rubric.rivals(part)], part, rubric.runs, seed)


def _check_knowledge(player: IsolatedAgent, allowed: tuple[str, ...]) -> None:
    excess = sorted(player.knows - set(allowed))
    if excess:
        may = f"it may know only {', '.join(allowed)}" if allowed else "an agent receives only arms and budget"
        raise SubmissionError(f"it declares to know {', '.join(excess)}; in this assignment {may}")


def _check_rivals(rubric: Rubric, part: Part) -> None:
    """Let the rubric's agents play briefly, without the student's: errors in this are mistakes in the rubric."""
    if rivals := rubric.rivals(part):
        _compare(rivals, part, runs=1, seed=0)


def _compare(players: list[Any], part: Part, runs: int, seed: int) -> bai_gym.Comparison:
    return bai_gym.compare(players, part.env, budgets=[part.budget], runs=runs, seed=seed, env_kwargs=part.settings)


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
    """Return a name for each file: its own, or that of its folder too where several have the same one.

    Signs that mean something to a terminal, a spreadsheet or a shell become underscores, as folders may be students'.
    """
    stems = [file.stem for file in files]
    names: list[str] = []
    for file, stem in zip(files, stems, strict=True):
        name = stem if stems.count(stem) == 1 else f"{file.absolute().parent.name}-{stem}"
        name = "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in name).lstrip("-.") or "_"
        while name in names:
            name += "_"
        names.append(name)
    return names


def main(words: Sequence[str] | None = None) -> None:
    """Grade the files of a command line."""
    parser = argparse.ArgumentParser(description="Grades agents for best-arm identification.")
    parser.add_argument("files", nargs="+", type=Path, help="students' files, such as submissions/*/agent.py")
    parser.add_argument(
        "--rubric", type=Path, default=HERE / "rubric.toml", help="default: rubric.toml beside this file"
    )
    parser.add_argument(
        "--secret",
        type=Path,
        help="file that makes grades repeatable; if there is none, it is written after the last file was graded",
    )
    parser.add_argument("--out", type=Path, help="folder for NAME.md, NAME.json, NAME.log and grades.csv")
    given = parser.parse_args(words)
    protect_memory()
    try:
        rubric = load_rubric(given.rubric)
        for file in given.files:
            if not os.path.lexists(file):
                raise DataError(f"there is no file {file}")
        submissions = list(map(Submission.read, given.files, names_of(given.files)))
        secret, is_new = _secret(given.secret)
        done: list[tuple[Grade, bytes]] = []
        for number, submission in enumerate(submissions, 1):
            where = f"{submission.name}, file {number} of {len(submissions)}"
            done.append(_grade(submission, rubric, secret.encode(), where))
            if given.out is None:
                print(done[-1][0].markdown())
            else:
                _write(given.out, done)
                result = done[-1][0]
                print(f"{result.file}: {result.points:g} of {result.of:g} points, bonus {result.bonus:g}", flush=True)
        if is_new:
            given.secret.touch(mode=0o600)
            given.secret.write_text(secret + "\n", encoding="ascii")
    except (BaiGymError, OSError) as error:
        print(f"grade.py: {error}", file=sys.stderr)
        sys.exit(2)


def _secret(path: Path | None) -> tuple[str, bool]:
    """Return the secret, and whether it is to be written."""
    if path is None or not path.exists():
        return secrets.token_hex(32), path is not None
    try:
        secret = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the secret {path} cannot be read: {error}") from None
    if not 32 <= len(secret) <= 64:
        raise DataError(
            f"the secret {path} must have 32 to 64 characters, not {len(secret)}, so that nobody finds it by "
            "trying; name a new file, which is then written"
        )
    return secret, False


def _grade(submission: Submission, rubric: Rubric, secret: bytes, where: str) -> tuple[Grade, bytes]:
    """Return the grade of a submission and its prints; progress goes to standard error."""
    log = io.BytesIO()

    def show(part: str) -> None:
        print(f"{where}: playing {part}", file=sys.stderr, flush=True)

    return grade(submission, rubric, secret, log=log, on_part=show), log.getvalue()


def _write(out: Path, done: list[tuple[Grade, bytes]]) -> None:
    """Write all reports so far, also again: a submission outside of a box could have changed those before it."""
    out.mkdir(parents=True, exist_ok=True)
    for result, log in done:
        (out / f"{result.file}.log").write_bytes(log)
        (out / f"{result.file}.md").write_text(result.markdown(), encoding="utf-8")
        (out / f"{result.file}.json").write_text(result.json(), encoding="utf-8")
    with (out / "grades.csv").open("w", newline="", encoding="utf-8") as table:
        writer = csv.writer(table)
        writer.writerow(["name", "points", "of", "bonus"])
        writer.writerows([one.file, one.points, one.of, one.bonus] for one, _ in done)


if __name__ == "__main__":
    main()
