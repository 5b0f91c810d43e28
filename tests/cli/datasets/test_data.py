"""``bai-gym data``: where data sets are, or how to get them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bai_gym.data import registry

Command = Callable[..., tuple[str, str]]


def test_data_says_where_and_how(command: Command, tmp_path: Path) -> None:
    out, _ = command("data")
    cells = [line.split("│")[1].strip() for line in out.splitlines() if line.startswith("│")]
    assert set(cells) == set(registry.names())
    assert f"data directory: {tmp_path / 'data'} " in out and f"derived files:  {tmp_path / 'derived'} " in out
    for name in registry.names():
        entry = registry.get(name)
        by_hand = f"download {Path(entry.archive_path).name} from" if name == "los-loop" else "download measures_v2.csv"
        way_out = f"run `bai-gym data fetch {name}`" if entry.archive is not None else by_hand
        assert f"missing: data set '{name}' is not in {tmp_path / 'data'}: {way_out}" in out
        for file in entry.files:
            path = tmp_path / "data" / file.paths[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("12345")
    assert "missing: " not in command("data")[0] + command("list", "envs")[0]
    # What is there is not fetched again.
    assert command("data", "fetch", name)[0].startswith(f"{name}: {tmp_path / 'data'}")


def test_unknown_data_sets_are_answered_with_the_nearest(refused: Callable[..., None]) -> None:
    refused(("data", "fetch", "movielens"), "unknown data set 'movielens'", "Did you mean movielens-1m")
