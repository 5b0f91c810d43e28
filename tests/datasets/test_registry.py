import dataclasses
import re

import pytest

from bai_gym import datasets
from bai_gym.errors import UnknownNameError


def test_the_data_sets_of_this_library() -> None:
    bandits = ("open-bandit-men", "open-bandit-women")
    assert datasets.names() == ("automobile", "electric-motor", "los-loop", "movielens-1m", *bandits, "wine-quality")


@pytest.mark.parametrize("name", datasets.names())
def test_every_entry_is_complete(name: str) -> None:
    entry = datasets.get(name)
    assert entry.name == name
    assert entry.page.startswith("https://")
    assert entry.archive is None or entry.archive.startswith("https://")
    assert entry.title and entry.licence and entry.terms and entry.citation
    digests = [digest for file in entry.files for digest in file.sha256]
    assert (entry.archive is None) == (entry.archive_sha256 is None)
    if entry.archive_sha256 is not None:
        digests.append(entry.archive_sha256)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    for file in entry.files:
        assert file.paths
        assert not any(path.startswith(("/", "..")) for path in file.paths)
        assert file.member is not None or entry.archive_path in file.paths  # else nothing would read what is fetched


def test_an_entry_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        datasets.get("movielens-1m").title = "mine"  # type: ignore[misc]


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown data set 'movielens1m'\. Did you mean movielens-1m\?"):
        datasets.get("movielens1m")


def test_the_public_face_is_what_is_promised() -> None:
    assert all(hasattr(datasets, name) for name in datasets.__all__)
    assert len(set(datasets.__all__)) == len(datasets.__all__)
