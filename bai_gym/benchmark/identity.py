"""Whether two runs have the same code, parameters and data: their digests are then equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from bai_gym.benchmark.sources import AgentSource, EnvSource
from bai_gym.content.library import own_versions
from bai_gym.content.sources import content_digest

__all__ = ["digest_of", "hash_of"]


def digest_of(env: EnvSource, agent: AgentSource, label: str) -> tuple[str, str | None]:
    """Return a hash of code, parameters and data, and the reason why these cannot be known; None if they are.

    The hash begins with ``"?"`` where they are not.

    Args:
        env: The environment.
        agent: The agent.
        label: Its name in the results.
    """
    content, doubt = content_digest(agent.make, agent.prototype, env.problem, files=[agent.file])
    found = hash_of([own_versions(), env.label, label, content])
    return f"?{found}" if doubt else found, doubt


def hash_of(facts: Sequence[object]) -> str:
    """Return 16 hexadecimal digits that identify facts, which are numbers and texts."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
