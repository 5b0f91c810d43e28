import re

import pytest

from bai_gym import data
from bai_gym.errors import UnknownNameError


@pytest.mark.each("name", data.names())
def test_every_entry_is_complete(name: str) -> None:
    entry = data.get(name)
    assert entry.name == name and entry.title and entry.licence and entry.terms and entry.citation
    assert entry.page.startswith("https://")
    assert (entry.archive is None) == (entry.archive_sha256 is None)
    digests = [digest for file in entry.files for digest in file.sha256]
    if entry.archive_sha256 is not None:
        digests.append(entry.archive_sha256)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    for file in entry.files:
        assert file.paths and not any(path.startswith(("/", "..")) for path in file.paths)
        assert file.member is not None or entry.archive_path in file.paths  # else nothing would read what is fetched


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown data set 'movielens1m'\. Did you mean movielens-1m\?"):
        data.get("movielens1m")
