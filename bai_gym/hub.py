"""Weights of learned agents on and from the Hugging Face Hub.

Only files of weights travel, which are read without pickle: those of strangers cannot run code here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bai_gym.agents import DPT, Learned, Universal
from bai_gym.errors import DataError, MissingDataError, MissingPackageError, OutputError, ParameterError

__all__ = ["download", "upload"]

FILE = "weights.npz"
AGENTS = (Learned, Universal, DPT)  # each with weights of its own form; those of DPT are ICPE's, too


def download(repo: str, *, file: str = FILE, revision: str | None = None) -> Path:
    """Return weights from the Hub, for ``agents.make("Learned", path=...)`` and the like.

    They are kept in the cache of ``huggingface_hub``, and fetched again only if they have changed. The variables of
    that package apply, among them ``HF_TOKEN``, ``HF_HUB_CACHE`` and ``HF_HUB_OFFLINE``.

    Args:
        repo: The repository, ``"user/name"``.
        file: The file in it.
        revision: A branch, a tag or a commit; a commit always gives the same weights. None: the newest ones.

    Returns:
        The file in the cache.

    Raises:
        MissingDataError: If there is no such repository, revision or file, or the Hub cannot be reached.
        ParameterError: If that can be no repository.
        DataError: If the file holds no weights of a learned agent.
        MissingPackageError: If huggingface_hub is not installed.
    """
    with _errors(MissingDataError, f"{file} of {repo} cannot be fetched") as api:
        path = Path(api.hf_hub_download(repo, file, revision=revision))
    _read(path)
    return path


def upload(path: str | os.PathLike[str], repo: str, *, private: bool = False, message: str | None = None) -> str:
    """Put weights on the Hub, as ``weights.npz``; with a card that says what they are, if there is none yet.

    Args:
        path: The file, which ``bai-gym train`` has written.
        repo: The repository, ``"user/name"``, which is created if it is missing.
        private: Whether a new repository is private.
        message: Of the commit; None: one that names the agent.

    Returns:
        The commit, to be given to :func:`download` as ``revision``.

    Raises:
        OutputError: If the Hub cannot be reached, or refuses.
        ParameterError: If that can be no repository, or there is no such file.
        DataError: If the file holds no weights of a learned agent.
        MissingPackageError: If huggingface_hub is not installed.
    """
    path = Path(path)
    name, facts = _read(path)
    with _errors(OutputError, f"{path} cannot be uploaded to {repo}") as api:
        from huggingface_hub import CommitOperationAdd

        card = _card(repo, name, facts)
        api.create_repo(repo, private=private, exist_ok=True)
        files = [CommitOperationAdd(FILE, str(path))]
        if not api.file_exists(repo, "README.md"):
            files.append(CommitOperationAdd("README.md", card.encode()))
        commit = api.create_commit(repo, files, commit_message=message or f"Weights of {name} of bai-gym")
    return str(commit.oid)


@contextmanager
def _errors(kind: type[MissingDataError | OutputError], what: str) -> Iterator[Any]:
    """Yield the interface of the Hub, and turn its errors into one line."""
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HFValidationError
    except ImportError as error:
        raise MissingPackageError('the Hub needs huggingface_hub; pip install "bai-gym[hub]"') from error
    try:
        yield HfApi(library_name="bai-gym", library_version=version("bai-gym"))
    except HFValidationError as error:
        raise ParameterError(f"{what}: {error}") from None
    except Exception as error:  # it has no base class for those of the repository, of HTTP and of the network
        raise kind(f"{what}: {error}") from error


def _read(path: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the agent that weights are for, and their provenance.

    Raises:
        ParameterError: If there is no such file.
        DataError: If it holds no weights of a learned agent.
    """
    for agent in AGENTS:
        try:
            return agent.name, agent(path=path).trained_on
        except DataError as error:
            refused = error
    raise refused


def _card(repo: str, name: str, facts: Mapping[str, Any]) -> str:
    """Return the text of a model card."""
    command = f"They were trained by `{facts['command']}`.\n\n" if "command" in facts else ""
    return f"""---
library_name: bai-gym
tags: [best-arm-identification, multi-armed-bandits, reinforcement-learning]
---

# Weights of {name}

For the agent {name} of bai-gym. {command}```python
from bai_gym import agents, hub

agent = agents.make("{name}", path=hub.download("{repo}"))
```

Provenance:

```json
{json.dumps(dict(facts), indent=2, sort_keys=True)}
```
"""
