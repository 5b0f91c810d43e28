"""Does a damaged file ever change a number silently? Random damages of results, journals and databases.

    python benchmarks/live/damage.py                # 2,000 damages: half a minute
    python benchmarks/live/damage.py --damages 100  # a first look

Each damage hits one file: a bit is flipped, a digit changed, the end cut off, or up to 64 bytes are zeroed. Then the
file is read as its next user would read it: a chunk and a recording by the command that is repeated and by the report,
results by the report, a journal and a database by the study that resumes and by `bai-gym study`. Either all numbers are
the same, or there is an error or a warning of one line that names the file; everything else is silent.
"""

from __future__ import annotations

import argparse
import pickle
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

import bai_gym
from bai_gym.api import make_cells
from bai_gym.errors import BaiGymError
from bai_gym.live.overview import Overview
from bai_gym.results.reader import read_outcomes, read_recordings, read_results
from bai_gym.results.writer import ResultsWriter

ENV, AGENTS, RUNS = "BAI-Bernoulli4-v0", ["Uniform", "TTTS(posterior=bernoulli)"], 200
DAMAGES: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {}


def damage(function: Callable[[bytes, np.random.Generator], bytes]) -> Callable[[bytes, np.random.Generator], bytes]:
    DAMAGES[function.__name__.replace("_", " ")] = function
    return function


@damage
def flipped_bit(content: bytes, rng: np.random.Generator) -> bytes:
    place = rng.integers(len(content))
    return content[:place] + bytes([content[place] ^ (1 << rng.integers(8))]) + content[place + 1 :]


@damage
def changed_digit(content: bytes, rng: np.random.Generator) -> bytes:
    place = rng.choice([found.start() for found in re.finditer(rb"\d", content)])
    digit = (content[place] - ord("0") + rng.integers(1, 10)) % 10
    return content[:place] + str(digit).encode() + content[place + 1 :]


@damage
def cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: rng.integers(1, len(content))]


@damage
def zeroed_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    length = int(rng.integers(1, 65))
    place = rng.integers(len(content) - length)
    return content[:place] + bytes(length) + content[place + length :]


def plain(value: Any) -> Any:
    """Return what two readings are compared by."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "__dataclass_fields__"):
        return [plain(getattr(value, item.name)) for item in fields(value)]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else repr(value)


class Place:
    """A file, and how it is read."""

    def __init__(self, path: Path, *readers: Callable[[], Any]) -> None:
        self.path, self.readers = path, readers
        self.content = path.read_bytes()
        self.expected = [pickle.dumps(plain(read())) for read in readers]
        self.path.write_bytes(self.content)

    def outcome(self, content: bytes) -> tuple[str, str]:
        """Return what damage comes to, and what was said."""
        said = ""
        for read, expected in zip(self.readers, self.expected, strict=True):
            self.path.write_bytes(content)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    found = pickle.dumps(plain(read()))
                except BaiGymError as error:
                    said = str(error)
                except Exception as error:
                    return "traceback", repr(error)
                else:
                    said = str(caught[0].message) if caught else ""
                    if not said and found != expected:
                        return "SILENT", str(read)
            if said and ("\n" in said or str(self.path) not in said):
                return "unclear", said
        return ("error or warning" if said else "the same numbers"), said


def stored(folder: Path) -> list[Place]:
    """Write results, and return their files."""
    comparison = bai_gym.compare(AGENTS, ENV, budgets=[40], runs=RUNS, record=1, checkpoints=[20], out=folder)
    writer, places = ResultsWriter(folder), []
    for cell in make_cells(AGENTS, ENV, [40], 0, checkpoints=[20]):
        places.append(
            Place(
                writer.chunk_path(cell.key, 0, RUNS),
                lambda cell=cell: writer.load(cell.key, 0, RUNS),
                lambda: read_outcomes(folder, comparison),
            )
        )
        places.append(
            Place(
                writer.recording_path(cell.key, 0, RUNS),
                lambda cell=cell: writer.has_recording(cell.key, 0, RUNS),
                lambda: read_recordings(folder),
            )
        )
    return [*places, Place(folder / "results.parquet", lambda: read_results(folder))]


def logged(path: Path, **place: Any) -> Place:
    """Play a study to its half, and return its file."""
    arguments: dict[str, Any] = {"agent": "TTTS", "items": [f"question {number}" for number in range(40)], **place}

    def resumed() -> Any:
        with bai_gym.live.Study(["red", "green", "blue"], 60, **arguments) as study:
            return [study.log, study.outstanding]

    with bai_gym.live.Study(["red", "green", "blue"], 60, **arguments) as study:
        study.optimize(lambda pull: len(pull.name) + 0.1 * (pull.number % 7), pulls=30)
        study.ask()
    (shown,) = place.values()
    return Place(path, resumed, lambda: Overview.of(shown).log)


def main() -> None:
    """Damage files, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = tally(arguments.damages, arguments.seed)
    names = sorted({outcome for _, outcome in counts})
    print("| damage |", " | ".join(names), "|")
    print("| --- |", " | ".join("---:" for _ in names), "|")
    for what in sorted({what for what, _ in counts}):
        print(f"| {what} |", " | ".join(str(counts[what, name]) for name in names), "|")


def tally(damages: int, seed: int) -> Counter[tuple[str, str]]:
    """Return how often damages of each kind came to what."""
    rng = np.random.default_rng(seed)
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal, database = folder / "journal.jsonl", folder / "studies.db"
        places = {
            "results": stored(folder / "results"),
            "journal": [logged(journal, journal=journal)],
            "database": [logged(database, storage=f"sqlite:///{database}")],
        }
        for number in range(damages):
            kind = list(places)[number % 3]
            place = places[kind][rng.integers(len(places[kind]))]
            what = list(DAMAGES)[rng.integers(len(DAMAGES))]
            outcome, said = place.outcome(DAMAGES[what](place.content, rng))
            counts[f"{kind}, {what}", outcome] += 1
            if outcome not in ("error or warning", "the same numbers"):
                print(f"{kind}, {what}: {outcome}: {said}")
            place.path.write_bytes(place.content)
    return counts


if __name__ == "__main__":
    main()
