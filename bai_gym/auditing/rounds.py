"""The finished rounds of an audit on disk, so that an interrupted one resumes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bai_gym.errors import OutputError
from bai_gym.results.writer import ResultsWriter

__all__ = ["Rounds"]

ROUNDS = "audit-rounds.json"
"""File with the errors of the rounds that are finished, and the certificates."""


class Rounds:
    """The results of finished rounds, in a file that belongs to one audit."""

    def __init__(self, settings: dict[str, Any], folder: Path | None) -> None:
        self._settings = json.loads(json.dumps(settings))
        self._writer = None if folder is None else ResultsWriter(folder)
        self._rounds: dict[str, list[Any]] = {}
        if folder is not None and (folder / ROUNDS).exists() and settings["code"]:
            try:
                stored = json.loads((folder / ROUNDS).read_text(encoding="utf-8"))
                if stored["settings"] == self._settings:
                    self._rounds = stored["rounds"]
            except (OSError, ValueError, KeyError, TypeError):
                raise OutputError(f"{folder / ROUNDS} cannot be read: remove it, or choose another folder") from None

    def recall(self, name: str, count: Callable[[], list[Any]]) -> list[Any]:
        """Return the results of a round, which is played if they are not stored."""
        if name not in self._rounds:
            self._rounds[name] = count()
            if self._writer is not None:
                stored = {"settings": self._settings, "rounds": self._rounds}
                self._writer.save_text(ROUNDS, json.dumps(stored) + "\n")
        return self._rounds[name]
