"""Builds the page: markup, style, script, data, plotly, and the recordings that fit."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from bai_gym.analysis.intervals import z_score
from bai_gym.errors import MissingPackageError, ParameterError
from bai_gym.page.bundle import bundle, read_asset
from bai_gym.page.content import Content
from bai_gym.page.data import to_json
from bai_gym.page.episodes import facts, instance, pack
from bai_gym.page.standings import Standings
from bai_gym.results.recording import Recording

__all__ = ["SIZE_LIMIT", "Page", "build_page"]

SIZE_LIMIT = 5_500_000
"""Default size limit of a page in bytes, small enough for e-mail."""
LIBRARY = "package_data/plotly.min.js"


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        html: The whole file.
        left_out: A sentence about recordings that did not fit; empty if all did.
        size: Bytes of the file.
    """

    html: str
    left_out: str
    size: int


def build_page(content: Content, standings: Sequence[Standings], size_limit: int = SIZE_LIMIT) -> Page:
    """Return the page: the same bytes for the same content.

    Args:
        content: Its content.
        standings: Ranks and scores of each of its groups.
        size_limit: Maximum size of the page in bytes. Recordings that do not fit are left out, largest budgets first,
            and later runs first within a budget; results are always complete.

    Raises:
        MissingPackageError: If plotly is not installed.
        ParameterError: If the limit is not a positive number.
    """
    if size_limit <= 0:
        raise ParameterError(f"the size limit must be a positive number of bytes, not {size_limit}")
    script, library = bundle("main.js"), plotly_text()
    data = to_json(content, standings)
    empty = _page(script, library, data, [], [], "")
    chosen, texts, left_out = _fitting(content.recordings, size_limit - len(empty.encode()))
    html = _page(script, library, data, chosen, texts, left_out) if content.recordings else empty
    return Page(html, left_out, len(html.encode()))


def _fitting(recordings: tuple[Recording, ...], space: int) -> tuple[list[dict[str, Any]], list[str], str]:
    """Return the episodes that fit, as facts and as packed pulls, and a sentence about the others.

    The episodes of all agents on one instance with one budget are kept or left out as a group, so that agents can
    always be compared.
    """
    draws = _draws(recordings)
    complete: dict[tuple[int, int, int, str, int], list[Recording]] = {}
    for recording in recordings:
        key = recording.budget, recording.run, recording.seed, recording.env, draws[id(recording)]
        complete.setdefault(key, []).append(recording)
    chosen: set[int] = set()
    packed: dict[int, tuple[dict[str, Any], str]] = {}
    space -= 300 if recordings else 0  # the sentence on what is missing
    missing: dict[tuple[str, int], int] = {}
    instances: dict[str, int] = {}
    for key in sorted(complete):
        episodes = complete[key]
        forms = [({**facts(episode), "draw": key[4]}, pack(episode)) for episode in episodes]
        # With a comma or line break each, and space for the number of the instance.
        cost = sum(len(_json({**entry, **form})) + 24 + len(text) for entry, (form, text) in forms)
        shared = {_json(instance(episode)) for episode in episodes} - set(instances)
        cost += sum(len(text) + 1 for text in shared)
        if cost > space:
            missing[key[3], key[0]] = missing.get((key[3], key[0]), 0) + len(episodes)
            continue
        space -= cost
        for text in shared:
            instances[text] = len(instances)
        for episode, (entry, (form, text)) in zip(episodes, forms, strict=True):
            packed[id(episode)] = ({**entry, **form}, text)
            chosen.add(id(episode))
    choice = [recording for recording in recordings if id(recording) in chosen]
    return (
        [packed[id(recording)][0] | {"instance": instance(recording)} for recording in choice],
        [packed[id(recording)][1] for recording in choice],
        _sentence(missing, len(recordings)),
    )


def _draws(recordings: Sequence[Recording]) -> dict[int, int]:
    """Number the instances of each run, from 0, and return the numbers by the ids of the recordings.

    A chunk draws its instances in one pass, so in evaluations with different numbers of runs, a run may have different
    ones.
    """
    counts: dict[tuple[str, int, int], dict[bytes, int]] = {}
    numbers = {}
    for recording in recordings:
        instances = counts.setdefault((recording.env, recording.seed, recording.run), {})
        drawn = recording.means.tobytes() + recording.variances.tobytes()
        numbers[id(recording)] = instances.setdefault(drawn, len(instances))
    return numbers


def _sentence(missing: Mapping[tuple[str, int], int], count: int) -> str:
    if not missing:
        return ""
    smallest: dict[str, int] = {}
    for env, budget in missing:
        smallest[env] = min(budget, smallest.get(env, budget))
    settings = [f"{env} with budget {budget:,} and more" for env, budget in sorted(smallest.items())]
    text = "; ".join(settings[:3]) + (f"; and {len(settings) - 3} more environments" if len(settings) > 3 else "")
    return (
        f"{sum(missing.values()):,} of {count:,} recorded episodes are left out to keep the page small, "
        f"of the largest budgets first ({text}); a larger --size-limit brings them back."
    )


def _page(
    script: str, library: str, data: Mapping[str, Any], episodes: list[dict[str, Any]], texts: list[str], left_out: str
) -> str:
    instances: dict[str, int] = {}
    entries = []
    for episode in episodes:
        number = instances.setdefault(_json(episode["instance"]), len(instances))
        entries.append({**episode, "instance": number})
    recorded = {
        "episodes": entries,
        "instances": [json.loads(text) for text in instances],
        "leftOut": left_out,
        "z": z_score(0.95),  # of the intervals in the player, which change with every pull
    }
    parts = {
        "style": read_asset("page.css"),
        "script": script,
        "hashes": f"'sha256-{_digest(script)}' 'sha256-{_plotly_digest()}'",
        "data": _json({**data, "recorded": recorded}),
        "library": library,
        "recordings": "\n".join(texts),
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda place: parts[place[1]], read_asset("page.html"))


def _json(value: Any) -> str:
    """Return JSON that is safe in a script element, for any names."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@functools.cache
def plotly_source() -> bytes:
    try:
        return resources.files("plotly").joinpath(LIBRARY).read_bytes()
    except ModuleNotFoundError:
        raise MissingPackageError(
            'the web page needs plotly, which is not installed; pip install "bai-gym[plots]"'
        ) from None


@functools.cache
def plotly_text() -> str:
    """Return plotly.js, compressed, as text."""
    return base64.b64encode(gzip.compress(plotly_source(), 9, mtime=0)).decode("ascii")


@functools.cache
def _plotly_digest() -> str:
    return _sha(plotly_source())


def _digest(script: str) -> str:
    return _sha(script.encode())


def _sha(source: bytes) -> str:
    """Return the hash that allows a browser to run a script."""
    return base64.b64encode(hashlib.sha256(source).digest()).decode("ascii")
