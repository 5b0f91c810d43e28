import hashlib
import http.server
import io
import os
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bai_gym.datasets import cache_directory, data_directory, fetch, find, registry, require, status
from bai_gym.datasets.registry import DataFile, DataSet
from bai_gym.errors import DataError, MissingDataError, UnknownNameError

CONTENT = b'"a";"b"\n1;2\n'


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data directory."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("BAI_GYM_DATA", str(folder))
    return folder


def put(folder: Path, name: str, content: bytes = b"x") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.csv", content)
    return packed.getvalue()


def toy(
    url: str,
    content: bytes,
    *,
    member: str | None = "one.csv",
    archive_path: str = "toy.zip",
    archive_sha256: str | None = None,
) -> DataSet:
    return DataSet(
        name="toy",
        title="Toy",
        page=url,
        archive=url,
        archive_path=archive_path,
        archive_sha256=archive_sha256 or hashlib.sha256(content).hexdigest(),
        files=(
            DataFile(
                "one", ("toy/one.csv" if member else archive_path,), member, (hashlib.sha256(CONTENT).hexdigest(),)
            ),
        ),
        licence="none",
        terms="none",
        citation="none",
    )


class Server:
    """A web server on this machine with one file, and the addresses asked of it."""

    def __init__(self) -> None:
        self.content = b""
        self.asked: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                self.send_response(200 if self.path == "/toy.zip" else 404)
                self.send_header("Content-Length", str(len(outer.content)))
                self.end_headers()
                self.wfile.write(outer.content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.server.shutdown()
    thread.join()
    server.server.server_close()


def register(monkeypatch: pytest.MonkeyPatch, entry: DataSet) -> None:
    monkeypatch.setattr(registry, "_DATASETS", {entry.name: entry})


def test_the_environment_chooses_both_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path / "d"))
    monkeypatch.setenv("BAI_GYM_CACHE", str(tmp_path / "c"))
    assert (data_directory(), cache_directory()) == (tmp_path / "d", tmp_path / "c")


def test_without_it_both_are_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("BAI_GYM_DATA", raising=False)
    monkeypatch.delenv("BAI_GYM_CACHE", raising=False)
    assert data_directory().name.startswith("bai-gym")
    assert cache_directory() == data_directory() / "derived"


def test_derived_files_never_go_to_a_chosen_data_directory(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAI_GYM_CACHE", raising=False)
    assert data not in cache_directory().parents


@pytest.mark.parametrize("place", ["ml-1m/ratings.dat", "ml-1m/ratings.dat.gz", "ml-1m.zip"])
def test_each_accepted_place_is_found(data: Path, place: str) -> None:
    path = put(data, place)
    assert find("movielens-1m") == require("movielens-1m") == path


def test_the_preferred_place_wins(data: Path) -> None:
    put(data, "ml-1m.zip")
    path = put(data, "ml-1m/ratings.dat")
    assert find("movielens-1m") == path


def test_a_folder_is_not_a_file(data: Path) -> None:
    (data / "ml-1m.zip").mkdir()
    assert find("movielens-1m") is None


def test_other_files_of_a_data_set_go_by_name(data: Path) -> None:
    red = put(data, "wine-quality/winequality-red.csv")
    white = put(data, "winequality-white.csv")
    assert find("wine-quality") == find("wine-quality", "red") == red
    assert find("wine-quality", "white") == white


def test_an_unknown_file_names_those_there_are(data: Path) -> None:
    with pytest.raises(UnknownNameError, match="it has red, white"):
        find("wine-quality", "rose")


def test_missing_data_says_where_it_was_looked_for_and_how_to_get_it(data: Path) -> None:
    with pytest.raises(MissingDataError) as caught:
        require("movielens-1m")
    message = str(caught.value)
    assert "\n" not in message
    for part in ("'movielens-1m'", str(data), "`bai-gym data fetch movielens-1m`", "ml-1m.zip", "BAI_GYM_DATA"):
        assert part in message


def test_missing_data_names_the_file_that_is_missing(data: Path) -> None:
    with pytest.raises(MissingDataError, match=r"put winequality-white\.csv into wine-quality"):
        require("wine-quality", "white")


def test_status_has_a_record_of_each_file(data: Path) -> None:
    path = put(data, "ml-1m/ratings.dat", b"not the published bytes")
    cars, measures, speeds, ratings, men, women, red, white = status()
    assert (cars.dataset, cars.file, cars.present) == ("automobile", "cars", False)
    assert (measures.dataset, measures.path) == ("electric-motor", data / "electric-motor/measures_v2.csv")
    assert (ratings.dataset, ratings.file, ratings.present, ratings.path) == ("movielens-1m", "ratings", True, path)
    assert (ratings.size, ratings.published) == (23, False)
    assert ratings.licence == "research use only, no redistribution"
    assert (red.present, red.size, red.published) == (False, 0, False)
    assert white.path == data / "wine-quality/winequality-white.csv"


def test_fetch_downloads_checks_and_unpacks(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = archive(one=CONTENT, other=b"")
    register(monkeypatch, toy(f"{server.address}/toy.zip", server.content))
    assert fetch("toy") == data / "toy/one.csv"
    assert (data / "toy/one.csv").read_bytes() == CONTENT
    assert [path.name for path in data.iterdir()] == ["toy"]  # the archive is gone
    (record,) = status()
    assert record.published
    assert fetch("toy") == data / "toy/one.csv"
    assert server.asked == ["/toy.zip"]  # what is there is not downloaded again


def test_fetch_keeps_an_archive_that_is_read_as_it_is(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.content = archive(one=CONTENT)
    register(monkeypatch, toy(f"{server.address}/toy.zip", server.content, member=None))
    assert fetch("toy").read_bytes() == server.content


def test_fetch_puts_a_single_file_into_its_folder(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = CONTENT
    register(monkeypatch, toy(f"{server.address}/toy.zip", CONTENT, member=None, archive_path="toy/one.csv"))
    assert fetch("toy") == data / "toy/one.csv"
    assert (data / "toy/one.csv").read_bytes() == CONTENT
    assert status()[0].published


def test_what_can_only_be_had_by_hand_says_how(data: Path) -> None:
    for get in (fetch, require):
        with pytest.raises(MissingDataError) as caught:
            get("electric-motor")
        message = str(caught.value)
        assert message == (
            f"data set 'electric-motor' is not in {data}: download measures_v2.csv from"
            " https://www.kaggle.com/datasets/wkirgsn/electric-motor-temperature in a browser (it wants you to sign in)"
            " and place it in electric-motor in that folder, or set BAI_GYM_DATA to a folder that has"
            " electric-motor/measures_v2.csv"
        )
    path = put(data, "measures_v2.csv")
    assert fetch("electric-motor") == path


def test_fetch_shows_a_bar_on_a_terminal_and_nothing_elsewhere(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    server.content = archive(one=CONTENT)
    register(monkeypatch, toy(f"{server.address}/toy.zip", server.content))
    fetch("toy").unlink()
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    fetch("toy")
    assert "fetching Toy" in capfd.readouterr().err


def test_a_wrong_checksum_keeps_nothing(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = archive(one=CONTENT)
    register(monkeypatch, toy(f"{server.address}/toy.zip", server.content, archive_sha256="0" * 64))
    with pytest.raises(DataError, match=r"is not the published archive of toy \(expected sha256 0000"):
        fetch("toy")
    assert list(data.iterdir()) == []


def test_a_wrong_member_is_refused(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = archive(one=b"something else")
    register(monkeypatch, toy(f"{server.address}/toy.zip", server.content))
    with pytest.raises(DataError, match=r"one\.csv in .* is not the published file of toy"):
        fetch("toy")
    assert find("toy") is None


def test_an_address_that_is_gone_gives_the_offline_recipe(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, toy(f"{server.address}/gone.zip", b""))
    with pytest.raises(MissingDataError, match=r"could not be downloaded .*404.*offline, unpack .* put one\.csv"):
        fetch("toy")


def test_no_network_gives_the_offline_recipe(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, toy("http://127.0.0.1:1/toy.zip", b""))  # nothing listens there
    with pytest.raises(
        MissingDataError, match=r"could not be downloaded .*; offline, .* or set BAI_GYM_DATA"
    ) as caught:
        fetch("toy")
    assert "\n" not in str(caught.value)


def test_a_data_directory_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.touch()
    monkeypatch.setenv("BAI_GYM_DATA", str(blocked))
    with pytest.raises(MissingDataError, match="no folder that can be written; set BAI_GYM_DATA"):
        fetch("movielens-1m")


@pytest.mark.skipif(
    not os.environ.get("BAI_GYM_DATA") or find("wine-quality") is None,
    reason="needs Wine Quality: set BAI_GYM_DATA to a folder that has wine-quality/winequality-red.csv",
)
def test_the_real_wine_files_are_the_published_ones() -> None:
    published = {(record.dataset, record.file): record.published for record in status() if record.present}
    assert published["wine-quality", "red"]
