"""Whether two runs have the same code, parameters and data: their digests are then equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from bai_gym.benchmark.sources import AgentSource, EnvSource
from bai_gym.content.library import library_digest
from bai_gym.content.sources import sources_digest
from bai_gym.content.values import UnknownContentError, Values

__all__ = ["digest_of", "hash_of"]


def digest_of(env: EnvSource, agent: AgentSource, label: str) -> tuple[str, str | None]:
    """Return a hash of code, parameters and data, and the reason why these cannot be known; None if they are.

    The hash begins with ``"?"`` where they are not.

    Args:
        env: The environment.
        agent: The agent.
        label: Its name in the results.
    """
    facts, doubt = [library_digest(), env.label, label], None
    try:
        values = Values()
        facts.append(values.digest(agent.make, agent.prototype, env.problem))
        if values.has_own_code:
            files = values.files if agent.file is None else {*values.files, agent.file}
            facts.append(sources_digest(files))
    except UnknownContentError as error:
        doubt = str(error)
    return f"?{hash_of(facts)}" if doubt else hash_of(facts), doubt


def hash_of(facts: Sequence[object]) -> str:
    """Return 16 hexadecimal digits that identify facts, which are numbers and texts."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
